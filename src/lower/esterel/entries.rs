//! Functions that a program calls: an instant, the beginning of all, inputs; and those that begin
//! signals and read sensors.

use super::Lower;
use super::code::Code;
use super::known::Read;
use super::memory::{Record, first_value};
use super::outside::{NUMBER, shape, type_of};
use crate::ir::interface::{Export, Named};
use crate::ir::op::Compare;
use crate::ir::rename::remove_unnamed;
use crate::ir::{FunctionId, KindId, Op, Role, Terminator, Type as Plain};
use crate::tree::automaton::{Act, Node};
use crate::types::esterel::Type;
use crate::types::process::SignalId;

impl Lower<'_> {
    /// The first values of signals: 0, or -1 if one of them cannot be computed.
    pub(super) fn begin(&mut self) -> FunctionId {
        self.comments.insert(
            self.named("begin"),
            "The first values of signals.".to_string(),
        );
        let mut code = Code::new(self, "begin", Role::Plain, &[]);
        let begun = code.lower.memory.begun(&mut code.lower.module);
        code.set(begun, true);
        if let Some(data) = code.lower.source.begin {
            code.act(Act::Do(data));
        }
        code.answer(0);
        code.finish(vec![Plain::WORD])
    }

    /// Reads a sensor, once in an instant.
    pub(super) fn sensing(&mut self, signal: SignalId) -> FunctionId {
        let name = self.signal_name(signal);
        let of = self.carried(signal);
        let mut code = Code::new(self, &format!("sense_{name}"), Role::Plain, &[]);
        let sensed = code.region(Record::Sensed, signal.0);
        let known = code.load(sensed);
        let unknown = code.op(Op::Not, &[known]);
        code.only_if(unknown, |code| {
            let own = code.lower.outside_name("S", signal);
            let lower = &mut *code.lower;
            let module = &mut lower.module;
            let id = lower.outside.function(module, &own, &[], Some(of));
            let value = code.op(Op::Foreign(id, Vec::new()), &[]);
            let place = code.region(Record::Value, signal.0);
            code.store(place, value);
            code.set(sensed, true);
        });
        code.build.end(Terminator::Return(Vec::new()));
        code.finish(Vec::new())
    }

    /// All that a program calls.
    pub(super) fn exports(&mut self, begin: Option<FunctionId>, states: &[FunctionId]) {
        for signal in self.source.processes.signals() {
            if self.source.processes.signal(signal).role.is_given() {
                let calls = self.input(signal, begin);
                let name = self.outside_name("I", signal);
                let channel = self.source.channels[signal.at()].iter();
                let parameters = channel.map(|channel| Named {
                    name: "value".to_string(),
                    shape: shape(channel.kind),
                });
                self.module.exports.push(Export {
                    name,
                    parameters: parameters.collect(),
                    result: None,
                    calls,
                });
            }
        }
        let instant = self.instant(begin, states);
        let reset = self.reset(begin.is_some());
        let own = self.source.name.clone();
        for (name, calls) in [(format!("{own}_reset"), reset), (own, instant)] {
            self.module.exports.push(Export {
                name,
                parameters: Vec::new(),
                result: Some(NUMBER),
                calls,
            });
        }
        remove_unnamed(&mut self.module);
    }

    fn input(&mut self, signal: SignalId, begin: Option<FunctionId>) -> FunctionId {
        let name = format!("give_{}", self.signal_name(signal));
        let channel = self.source.channels[signal.at()].clone();
        let parameter = channel.as_ref().map(|one| (type_of(one.kind), "value"));
        let parameters = parameter.as_slice();
        let mut code = Code::new(self, &name, Role::Entry, parameters);
        let given = code.region(Record::Given, signal.0);
        if let Some(channel) = channel {
            code.begin_first(begin);
            let value = code.build.parameter(0);
            let place = code.region(Record::Value, signal.0);
            match channel.combine {
                None => code.store(place, value),
                Some(_) => {
                    let again = code.load(given);
                    let first = code.when(again);
                    let both = code.with(signal, value);
                    code.store(place, both);
                    let behind = code.build.block(&[]);
                    code.jump(behind);
                    code.build.go_to(first);
                    code.store(place, value);
                    code.jump(behind);
                    code.build.go_to(behind);
                }
            }
            code.note(Read::Now(signal), true);
        }
        code.set(given, true);
        if code.lower.source.processes.signal(signal).role.is_told() {
            let emitted = code.region(Record::Emitted, signal.0);
            code.set(emitted, true);
        }
        code.build.end(Terminator::Return(Vec::new()));
        code.finish(Vec::new())
    }

    /// An instant: 1, or 0 once nothing can happen any more; -1 if it has failed.
    fn instant(&mut self, begin: Option<FunctionId>, states: &[FunctionId]) -> FunctionId {
        let fails = !self.reasons.is_empty();
        let mut code = Code::new(self, "react", Role::Entry, &[]);
        code.begin_first(begin);
        if fails {
            let reason = code.lower.memory.reason(&mut code.lower.module);
            let reason = code.load(reason);
            let zero = code.word(0);
            let failed = code.compare(Compare::Ne, reason, zero);
            code.fails_again(failed);
        }
        let state = code.lower.memory.state(&mut code.lower.module);
        let now = code.load(state);
        let next = code.next(now, states);
        code.clear();
        if fails {
            let zero = code.word(0);
            let failed = code.compare(Compare::Slt, next, zero);
            code.fails_again(failed);
        }
        code.store(state, next);
        code.tell();
        let end = code.lower.end();
        match end {
            None => code.answer(1),
            Some(end) => {
                let end = code.word(end as u64);
                let goes_on = code.compare(Compare::Ne, next, end);
                let goes_on = code.op(Op::ZeroExtend(32), &[goes_on]);
                code.build.end(Terminator::Return(vec![goes_on]));
            }
        }
        code.finish(vec![Plain::WORD])
    }

    /// The state in which nothing may happen any more, if there is one.
    fn end(&self) -> Option<usize> {
        let states = self.automaton.states.iter().enumerate();
        let rests = |(at, root): &(usize, &_)| match self.automaton.node(**root) {
            Node::Leaf(state) => state.at() == *at,
            Node::Test { .. } | Node::Act { .. } | Node::Twice(_) => false,
        };
        let mut ends = states.filter(rests);
        ends.next().map(|(at, _)| at)
    }

    /// All is as it was at the beginning, but for what only C knows.
    fn reset(&mut self, begins: bool) -> FunctionId {
        let fails = !self.reasons.is_empty();
        let mut code = Code::new(self, "restart", Role::Entry, &[]);
        let zero = code.word(0);
        let state = code.lower.memory.state(&mut code.lower.module);
        code.store(state, zero);
        if begins {
            let begun = code.lower.memory.begun(&mut code.lower.module);
            code.set(begun, false);
        }
        if fails {
            let reason = code.lower.memory.reason(&mut code.lower.module);
            code.store(reason, zero);
        }
        code.clear();
        for signal in code.lower.source.processes.signals() {
            if let Some(emitted) = code.lower.memory.known(Record::Emitted, signal.0) {
                code.set(emitted, false);
            }
            code.note(Read::Now(signal), false);
            code.note(Read::Before(signal), false);
        }
        let variables = code.lower.source.variables.iter();
        for (at, variable) in (0..).zip(variables) {
            let place = code.lower.memory.known(Record::Variable, at);
            if let (Some(place), Some(first)) = (place, first_value(variable.kind)) {
                let first = code.op(first, &[]);
                code.store(place, first);
            }
        }
        code.answer(0);
        code.finish(vec![Plain::WORD])
    }

    /// The fields get their places: in C they are there from the start.
    pub(super) fn start(&mut self) {
        let mut code = Code::new(self, "start", Role::Entry, &[]);
        for kind in 0..code.lower.module.kinds.len() as u32 {
            let index = code.word(0);
            code.all(Op::Begin(KindId(kind)), &[index]);
        }
        code.build.end(Terminator::Return(Vec::new()));
        let id = code.finish(Vec::new());
        self.module.starts = Some(id);
    }

    /// The name of what somebody else writes or calls.
    pub(super) fn outside_name(&self, kind: &str, signal: SignalId) -> String {
        self.named(&format!("{kind}_{}", self.signal_name(signal)))
    }

    fn signal_name(&self, signal: SignalId) -> String {
        self.source.processes.signal(signal).name.clone()
    }

    fn carried(&self, signal: SignalId) -> Type {
        let channel = self.source.channels[signal.at()].as_ref();
        channel.expect("what has a value carries one").kind
    }
}
