//! The parts of an instant that all states share: it initialises signals, dispatches on the state,
//! clears inputs and sensors, and reports outputs.

use super::code::Code;
use super::memory::Record;
use crate::ir::{Edge, FunctionId, Op, Probability, Terminator, Type as Plain, Value};
use crate::types::esterel::Type;

impl Code<'_, '_> {
    /// Signals get their first values, if they did not yet.
    pub(super) fn begin_first(&mut self, begin: Option<FunctionId>) {
        if let Some(begin) = begin {
            let begun = self.lower.memory.begun(&mut self.lower.module);
            let begun = self.load(begun);
            let waits = self.op(Op::Not, &[begun]);
            self.only_if(waits, |code| {
                code.all(Op::Call(begin), &[]);
            });
        }
    }

    /// -1 where a bit is 1.
    pub(super) fn fails_again(&mut self, failed: Value) {
        let behind = self.when(failed);
        self.answer(u64::from(u32::MAX));
        self.build.go_to(behind);
    }

    /// The state that follows on one.
    pub(super) fn next(&mut self, state: Value, states: &[FunctionId]) -> Value {
        let behind = self.build.block(&[(Plain::WORD, "next")]);
        let mut ways = Vec::new();
        let (last, others) = states.split_last().expect("there is a first state");
        let share = Probability(Probability::ONE.0 / states.len() as u32);
        for (at, id) in others.iter().enumerate() {
            ways.push((at as u64, *id, self.build.block(&[])));
        }
        let otherwise = self.build.block(&[]);
        let cases = ways
            .iter()
            .map(|(at, _, block)| (*at, share, Edge::to(*block)));
        self.build.end(match ways.is_empty() {
            true => Terminator::Jump(Edge::to(otherwise)),
            false => Terminator::Switch {
                value: state,
                cases: cases.collect(),
                otherwise: Edge::to(otherwise),
            },
        });
        let ways = ways.iter().map(|(_, id, block)| (*id, *block));
        for (id, block) in ways.chain([(*last, otherwise)]) {
            self.build.go_to(block);
            let next = self.op(Op::Call(id), &[]);
            self.build.end(Terminator::Jump(Edge {
                block: behind,
                arguments: vec![next],
            }));
        }
        self.build.go_to(behind);
        self.build.parameter_of(behind, 0)
    }

    /// Clears inputs and sensors at the end of an instant.
    pub(super) fn clear(&mut self) {
        for signal in self.lower.source.processes.signals() {
            for record in [Record::Given, Record::Sensed] {
                if let Some(place) = self.lower.memory.known(record, signal.0) {
                    self.set(place, false);
                }
            }
        }
    }

    /// Outputs, in the order of their declaration.
    pub(super) fn tell(&mut self) {
        for signal in self.lower.source.processes.signals() {
            let Some(emitted) = self.lower.memory.known(Record::Emitted, signal.0) else {
                continue;
            };
            let is_emitted = self.load(emitted);
            self.only_if(is_emitted, |code| {
                code.set(emitted, false);
                let carried = code.lower.source.channels[signal.at()].as_ref();
                let carried: Vec<Type> = carried.iter().map(|one| one.kind).collect();
                let mut value = Vec::new();
                if !carried.is_empty() {
                    let place = code.region(Record::Value, signal.0);
                    value.push(code.load(place));
                }
                let own = code.lower.outside_name("O", signal);
                let lower = &mut *code.lower;
                let module = &mut lower.module;
                let id = lower.outside.function(module, &own, &carried, None);
                code.all(Op::Foreign(id, Vec::new()), &value);
            });
        }
    }
}
