//! Acts: in, one step of an instant; out, operations.

use super::code::Code;
use super::known::Read;
use super::memory::Record;
use super::outside::type_of;
use crate::ir::op::{Arithmetic, Compare};
use crate::ir::{Op, Type as Plain, Value};
use crate::tree::automaton::Act;
use crate::types::esterel::{Data, Expression, Type, VariableId};
use crate::types::process::{DataId, SignalId};

impl Code<'_, '_> {
    /// One step.
    pub fn act(&mut self, act: Act) {
        match act {
            Act::Do(data) => self.compute(data),
            Act::Emit {
                signal,
                value,
                again,
            } => self.emit(signal, value, again),
            Act::Keep(signal) => self.keep(signal),
        }
    }

    /// A value that is computed by itself: a condition, or what is emitted.
    pub fn computed(&mut self, data: DataId) -> Value {
        self.data = data;
        match &self.lower.source.data[data.at()] {
            Data::Value(value) => self.value(value),
            other => unreachable!("{other:?} has no value"),
        }
    }

    fn compute(&mut self, data: DataId) {
        self.data = data;
        match &self.lower.source.data[data.at()] {
            Data::Value(_) => unreachable!("a value by itself does nothing"),
            Data::Assign(variable, value) => {
                let value = self.value(value);
                let place = self.region(Record::Variable, variable.0);
                self.store(place, value);
            }
            Data::Down(variable) => {
                let place = self.region(Record::Variable, variable.0);
                let count = self.load(place);
                let zero = self.word(0);
                let runs = self.compare(Compare::Slt, zero, count);
                self.only_if(runs, |code| {
                    let one = code.word(1);
                    let less = code.op(Op::Arithmetic(Arithmetic::Sub), &[count, one]);
                    code.store(place, less);
                });
            }
            Data::Begin(all) => {
                for (signal, value) in all {
                    self.begin(*signal, value.as_ref());
                }
            }
            Data::Call {
                procedure,
                references,
                values,
            } => self.procedure(*procedure, references, values),
        }
    }

    /// A signal at the beginning of its scope.
    fn begin(&mut self, signal: SignalId, value: Option<&Expression>) {
        let both = [Read::Now(signal), Read::Before(signal)];
        let Some(value) = value else {
            for read in both {
                self.note(read, false);
            }
            return;
        };
        let value = self.value(value);
        let now = self.region(Record::Value, signal.0);
        self.store(now, value);
        self.note(Read::Now(signal), true);
        if self.lower.has_before(signal) {
            let before = self.region(Record::Before, signal.0);
            let value = self.load(now);
            self.store(before, value);
            self.note(Read::Before(signal), true);
        }
    }

    fn emit(&mut self, signal: SignalId, value: Option<DataId>, again: bool) {
        if let Some(data) = value {
            let value = self.computed(data);
            let value = match again {
                true => self.with(signal, value),
                false => value,
            };
            let place = self.region(Record::Value, signal.0);
            self.store(place, value);
            self.note(Read::Now(signal), true);
        }
        if self.lower.source.processes.signal(signal).role.is_told() {
            let emitted = self.region(Record::Emitted, signal.0);
            self.set(emitted, true);
        }
    }

    fn keep(&mut self, signal: SignalId) {
        let (now, before) = (Read::Now(signal), Read::Before(signal));
        if self.lower.known.has_flag(before) {
            let known = match self.lower.known.is_there(self.node, now) {
                true => self.bit(true),
                false => {
                    let known = self.region(Record::Known, signal.0);
                    self.load(known)
                }
            };
            let flag = self.region(Record::KnownBefore, signal.0);
            self.store(flag, known);
        }
        if self.lower.is_sensor(signal) {
            self.sense(signal);
        }
        let value = self.region(Record::Value, signal.0);
        let value = self.load(value);
        let kept = self.region(Record::Before, signal.0);
        self.store(kept, value);
    }

    /// Notes whether a value is there, where anybody asks.
    pub fn note(&mut self, read: Read, known: bool) {
        if self.lower.known.has_flag(read) {
            let flag = match read {
                Read::Now(signal) => self.region(Record::Known, signal.0),
                Read::Before(signal) => self.region(Record::KnownBefore, signal.0),
            };
            self.set(flag, known);
        }
    }

    /// A procedure of C: what it changes comes back, but for what only C knows, which changes where
    /// it stands.
    fn procedure(&mut self, procedure: u32, references: &[VariableId], values: &[Expression]) {
        let values = values.iter().map(|one| self.value(one));
        let values: Vec<Value> = values.collect();
        let source = self.lower.source;
        let kind = |variable: &VariableId| source.variables[variable.at()].kind;
        let mut operands = Vec::new();
        let (mut places, mut changed) = (Vec::new(), Vec::new());
        for variable in references {
            let region = self.region(Record::Variable, variable.0);
            match type_of(kind(variable)) {
                Plain::Opaque(_) => {
                    places.push(Self::place(region));
                    operands.push(self.instance(region));
                }
                of => {
                    let held = self.load(region);
                    operands.push(match of {
                        Plain::BIT => self.op(Op::ZeroExtend(32), &[held]),
                        _number => held,
                    });
                    changed.push((region, of));
                }
            }
        }
        operands.extend(values);
        let known = &source.procedures[procedure as usize];
        let (references, values): (&[Type], &[Type]) = (&known.references, &known.values);
        let lower = &mut *self.lower;
        let module = &mut lower.module;
        let id = lower
            .outside
            .procedure(module, &known.name, references, values);
        let results = self.all(Op::Foreign(id, places), &operands);
        for ((region, of), result) in changed.into_iter().zip(results) {
            let value = match of {
                Plain::BIT => {
                    let zero = self.word(0);
                    self.compare(Compare::Ne, result, zero)
                }
                _number => result,
            };
            self.store(region, value);
        }
    }
}
