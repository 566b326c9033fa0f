//! What is done: an act comes in, statements of C go out.

use super::Emitter;
use super::expression::{Writing, truth};
use super::known::Read;
use crate::c::tree::{Expression as C, Statement, assign, atom, binary, call, call_statement};
use crate::tree::automaton::Act;
use crate::types::esterel::{Combine, Data, Expression, Type, VariableId};
use crate::types::process::{DataId, SignalId};

impl Writing<'_> {
    /// One step.
    pub fn act(&mut self, act: Act, before: &mut Vec<Statement>) {
        match act {
            Act::Do(data) => self.compute(data, before),
            Act::Emit {
                signal,
                value,
                again,
            } => self.emit(signal, value, again, before),
            Act::Keep(signal) => self.keep(signal, before),
        }
    }

    /// A value that is computed by itself: a condition, or what is emitted.
    pub fn computed(&mut self, data: DataId, before: &mut Vec<Statement>) -> C {
        self.data = data;
        let value = self.emitter.expression(data);
        self.value(value, before)
    }

    fn compute(&mut self, data: DataId, before: &mut Vec<Statement>) {
        self.data = data;
        let emitter = self.emitter;
        match &emitter.module.data[data.at()] {
            Data::Value(_) => unreachable!("a value by itself does nothing"),
            Data::Assign(variable, value) => {
                let value = self.value(value, before);
                let kind = emitter.module.variables[variable.at()].kind;
                before.push(emitter.assigned(kind, emitter.variable(*variable), value));
            }
            Data::Down(variable) => {
                let count = emitter.variable(*variable);
                before.push(Statement::If {
                    condition: binary(">", count.clone(), atom("0")),
                    then: vec![Statement::Assign(count, "-=", atom("1"))],
                    otherwise: Vec::new(),
                });
            }
            Data::Begin(all) => {
                for (signal, value) in all {
                    self.begin(*signal, value.as_ref(), before);
                }
            }
            Data::Call {
                procedure,
                references,
                values,
            } => self.call(*procedure, references, values, before),
        }
    }

    /// A signal at the beginning of its scope.
    fn begin(&mut self, signal: SignalId, value: Option<&Expression>, before: &mut Vec<Statement>) {
        let emitter = self.emitter;
        let Some(value) = value else {
            before.extend(emitter.noted(Read::Now(signal), "false"));
            before.extend(emitter.noted(Read::Before(signal), "false"));
            return;
        };
        let value = self.value(value, before);
        let kind = emitter.carried(signal);
        let now = emitter.of_signal("value", signal);
        before.push(emitter.assigned(kind, now.clone(), value));
        before.extend(emitter.noted(Read::Now(signal), "true"));
        if emitter.has_before(signal) {
            let place = emitter.of_signal("before", signal);
            before.push(emitter.assigned(kind, place, now));
            before.extend(emitter.noted(Read::Before(signal), "true"));
        }
    }

    fn emit(
        &mut self,
        signal: SignalId,
        value: Option<DataId>,
        again: bool,
        before: &mut Vec<Statement>,
    ) {
        let emitter = self.emitter;
        if let Some(data) = value {
            let value = self.computed(data, before);
            let place = emitter.of_signal("value", signal);
            let value = match again {
                true => emitter.with(signal, place.clone(), value),
                false => value,
            };
            before.push(emitter.assigned(emitter.carried(signal), place, value));
            before.extend(emitter.noted(Read::Now(signal), "true"));
        }
        if emitter.module.processes.signal(signal).role.is_told() {
            before.push(assign(emitter.of_signal("emitted", signal), atom("true")));
        }
    }

    fn keep(&mut self, signal: SignalId, before: &mut Vec<Statement>) {
        let emitter = self.emitter;
        let (now, before_now) = (Read::Now(signal), Read::Before(signal));
        if emitter.known.has_flag(before_now) {
            let known = match emitter.known.is_there(self.node, now) {
                true => atom("true"),
                false => emitter.of_signal("known", signal),
            };
            before.push(assign(emitter.of_signal("known_before", signal), known));
        }
        if emitter.is_sensor(signal) {
            self.sense(signal, before);
        }
        let kept = emitter.of_signal("before", signal);
        let value = emitter.of_signal("value", signal);
        before.push(emitter.assigned(emitter.carried(signal), kept, value));
    }

    fn call(
        &mut self,
        procedure: u32,
        references: &[VariableId],
        values: &[Expression],
        before: &mut Vec<Statement>,
    ) {
        let emitter = self.emitter;
        let kind = |variable: &VariableId| emitter.module.variables[variable.at()].kind;
        let mut arguments: Vec<C> = references
            .iter()
            .map(|one| match kind(one) {
                // A text is where it begins.
                Type::Text => emitter.variable(*one),
                _ => emitter.variable(*one).address(),
            })
            .collect();
        for value in values {
            arguments.push(self.value(value, before));
        }
        let name = &emitter.module.procedures[procedure as usize].name;
        before.push(call_statement(name.clone(), arguments));
        for variable in references.iter().filter(|one| kind(one) == Type::Boolean) {
            let place = emitter.variable(*variable);
            before.push(assign(place.clone(), binary("!=", place, atom("0"))));
        }
    }
}

impl Emitter<'_> {
    /// An expression that is computed by itself.
    pub(super) fn expression(&self, data: DataId) -> &Expression {
        match &self.module.data[data.at()] {
            Data::Value(value) => value,
            other => unreachable!("{other:?} has no value"),
        }
    }

    /// A variable.
    pub(super) fn variable(&self, variable: VariableId) -> C {
        atom(self.own("variable")).member(self.names.variables[variable.at()].clone())
    }

    /// The type of what a signal carries.
    pub(super) fn carried(&self, signal: SignalId) -> Type {
        let channel = self.module.channels[signal.at()].as_ref();
        channel.expect("what has a value carries one").kind
    }

    /// The value that a signal has, combined with another.
    pub(super) fn with(&self, signal: SignalId, has: C, other: C) -> C {
        let channel = self.module.channels[signal.at()].as_ref();
        match channel.and_then(|channel| channel.combine) {
            Some(Combine::Operator(operator)) => {
                self.combined(operator, self.carried(signal), has, other)
            }
            Some(Combine::Function(function)) => {
                let function = &self.module.functions[function as usize];
                truth(
                    call(function.name.clone(), vec![has, other]),
                    function.result,
                )
            }
            None => other,
        }
    }

    /// Notes whether a value is there, where anybody asks.
    pub(super) fn noted(&self, read: Read, known: &str) -> Option<Statement> {
        let (record, signal) = match read {
            Read::Now(signal) => ("known", signal),
            Read::Before(signal) => ("known_before", signal),
        };
        let place = || self.of_signal(record, signal);
        let has_flag = self.known.has_flag(read);
        has_flag.then(|| assign(place(), atom(known)))
    }
}
