//! Rule 11: lifetimes of instances.
//!
//! In: a function with a graph. Out: breaches. For each kind a walk in order keeps an age, which is
//! another behind each `free` of it; an instance is used only in the age in which it was found.

use super::breach::{Breach, Rule, Scope, Spot, name};
use crate::ir::{Instruction, KindId, Lives, Module, Op, Type, Value};
use std::collections::{BTreeMap, BTreeSet};

/// By function: the kinds of which it frees instances, with all that it calls.
pub fn freed(module: &Module) -> Vec<BTreeSet<KindId>> {
    let mut all: Vec<BTreeSet<KindId>> = Vec::new();
    for function in &module.functions {
        let mut own = BTreeSet::new();
        for instruction in function.instructions() {
            match &instruction.op {
                Op::Free(kind) => own.extend(living_with(module, *kind)),
                Op::Call(id) | Op::Loop(id, _) => own.extend(&all[id.at()]),
                _ => {}
            }
        }
        all.push(own);
    }
    all
}

/// A kind, and those whose instances live with it.
fn living_with(module: &Module, kind: KindId) -> impl Iterator<Item = KindId> {
    let all = (0..module.kinds.len() as u32).map(KindId);
    all.filter(move |other| *other == kind || module.kinds[other.at()].lives == Lives::With(kind))
}

/// Checks that no instance is used behind a `free` of one that may be the same.
pub fn check(scope: &Scope<'_>, freed: &[BTreeSet<KindId>]) -> Vec<Breach> {
    let mut walk = Walk {
        scope,
        freed,
        ages: Ages::new(),
        found_in: vec![0; scope.function.values.len()],
        last: 0,
        breaches: Vec::new(),
    };
    let mut at_begin: Vec<Option<Ages>> = vec![None; scope.function.blocks.len()];
    for id in &scope.graph.order {
        let block = scope.function.block(*id);
        walk.ages = at_begin[id.at()].take().unwrap_or_default();
        walk.found(&block.parameters);
        for (at, instruction) in block.instructions.iter().enumerate() {
            walk.instruction((*id, at), instruction);
        }
        let spot = (*id, block.instructions.len());
        walk.used(spot, &block.terminator.uses());
        for edge in block.terminator.edges() {
            let known = at_begin[edge.block.at()].take();
            at_begin[edge.block.at()] = Some(walk.joined(known));
        }
    }
    walk.breaches
}

/// By kind: its age; the first one, of those of which nothing was freed.
type Ages = BTreeMap<KindId, u32>;

struct Walk<'s> {
    scope: &'s Scope<'s>,
    freed: &'s [BTreeSet<KindId>],
    ages: Ages,
    /// By value: the age of its kind when it was found.
    found_in: Vec<u32>,
    last: u32,
    breaches: Vec<Breach>,
}

impl Walk<'_> {
    fn instruction(&mut self, spot: Spot, instruction: &Instruction) {
        self.used(spot, &instruction.operands);
        match &instruction.op {
            Op::Free(kind) => self.free(living_with(self.scope.module, *kind).collect()),
            Op::Call(id) => self.free(self.freed[id.at()].clone()),
            Op::Loop(id, _) => {
                let ends = self.freed[id.at()].clone();
                let operands = &instruction.operands;
                let captured = operands.len() - instruction.results.len();
                for value in &operands[..captured] {
                    if self.kind(*value).is_some_and(|kind| ends.contains(&kind)) {
                        let name = name(self.scope.function, *value);
                        let message = format!("a turn may free {name}, which the next turn has");
                        self.say(spot, message);
                    }
                }
                self.free(ends);
            }
            Op::Queue(..) | Op::Output(_) => {
                self.waits(spot, &instruction.operands);
            }
            _ => {}
        }
        self.found(&instruction.results);
    }

    /// An event that waits carries indices: instances may be gone when it is handled.
    fn waits(&mut self, spot: Spot, operands: &[Value]) {
        let comes_and_goes = |kind: KindId| {
            let root = self.scope.module.root(kind);
            self.scope.module.kinds[root.at()].lives != Lives::Always
        };
        let mut operands = operands.iter();
        if operands.any(|value| self.kind(*value).is_some_and(comes_and_goes)) {
            self.say(spot, "an event that waits carries no instance".to_string());
        }
    }

    fn found(&mut self, values: &[Value]) {
        for value in values {
            if let Some(kind) = self.kind(*value) {
                self.found_in[value.at()] = self.age(kind);
            }
        }
    }

    fn used(&mut self, spot: Spot, values: &[Value]) {
        for value in values {
            let Some(kind) = self.kind(*value) else {
                continue;
            };
            if self.found_in[value.at()] != self.age(kind) {
                let name = name(self.scope.function, *value);
                self.say(spot, format!("{name} may be free"));
            }
        }
    }

    fn free(&mut self, kinds: BTreeSet<KindId>) {
        for kind in kinds {
            self.last += 1;
            self.ages.insert(kind, self.last);
        }
    }

    fn joined(&mut self, known: Option<Ages>) -> Ages {
        let Some(known) = known else {
            return self.ages.clone();
        };
        let mut joined = known.clone();
        for kind in known.keys().chain(self.ages.keys()) {
            if known.get(kind) != self.ages.get(kind) {
                self.last += 1;
                joined.insert(*kind, self.last);
            }
        }
        joined
    }

    fn age(&self, kind: KindId) -> u32 {
        self.ages.get(&kind).copied().unwrap_or(0)
    }

    fn kind(&self, value: Value) -> Option<KindId> {
        match self.scope.function.type_of(value) {
            Type::Instance(kind) => Some(kind),
            _ => None,
        }
    }

    fn say(&mut self, spot: Spot, message: String) {
        self.breaches
            .push(self.scope.breach(Rule::Lifetimes, spot, message));
    }
}
