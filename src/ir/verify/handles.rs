//! Rule 4: linear handles.
//!
//! In: a function with a graph. Out: breaches. A walk in order keeps the handles that exist at each
//! place; blocks that lead to the same block have to agree on them.

use super::breach::{Breach, Rule, Scope, Spot, name};
use crate::ir::effects::{attempt_moves, moves};
use crate::ir::{Instruction, Op, Terminator, Value};
use std::collections::BTreeSet;

/// Checks that each path uses up each handle exactly once.
pub fn check(scope: &Scope<'_>) -> Vec<Breach> {
    let mut walk = Walk {
        scope,
        held: BTreeSet::new(),
        breaches: Vec::new(),
    };
    let mut at_begin: Vec<Option<BTreeSet<Value>>> = vec![None; scope.function.blocks.len()];
    for id in &scope.graph.order {
        let block = scope.function.block(*id);
        walk.held = at_begin[id.at()].take().unwrap_or_default();
        walk.made(&block.parameters);
        for (at, instruction) in block.instructions.iter().enumerate() {
            walk.instruction((*id, at), instruction);
        }
        let spot = (*id, block.instructions.len());
        walk.end(spot, &block.terminator);
        for edge in block.terminator.edges() {
            let before = walk.held.clone();
            walk.used_up(spot, &edge.arguments);
            let held = std::mem::replace(&mut walk.held, before);
            let known = at_begin[edge.block.at()].take();
            let joined = walk.joined(spot, known, held);
            at_begin[edge.block.at()] = Some(joined);
        }
    }
    walk.breaches
}

struct Walk<'s> {
    scope: &'s Scope<'s>,
    held: BTreeSet<Value>,
    breaches: Vec<Breach>,
}

impl Walk<'_> {
    fn instruction(&mut self, spot: Spot, instruction: &Instruction) {
        if let Op::Loop(..) = instruction.op {
            let operands = &instruction.operands;
            let captured = operands.len() - instruction.results.len().min(operands.len());
            let mut captured = operands[..captured].iter();
            if captured.any(|value| self.is_linear(*value)) {
                self.say(
                    spot,
                    "a loop captures a handle; it may carry one".to_string(),
                );
            }
        }
        if moves(&instruction.op) {
            self.used_up(spot, &instruction.operands);
        } else {
            self.borrowed(spot, &instruction.operands);
        }
        self.made(&instruction.results);
    }

    fn end(&mut self, spot: Spot, terminator: &Terminator) {
        match terminator {
            Terminator::Jump(_)
            | Terminator::Branch { .. }
            | Terminator::Switch { .. }
            | Terminator::Never => {}
            Terminator::Try {
                attempt, operands, ..
            } => {
                if attempt_moves(attempt) {
                    self.used_up(spot, operands);
                } else {
                    self.borrowed(spot, operands);
                }
            }
            Terminator::Return(values) | Terminator::Tail(_, values) => {
                self.used_up(spot, values);
                self.nothing_left(spot);
            }
            Terminator::Take(_) => self.nothing_left(spot),
        }
    }

    fn made(&mut self, values: &[Value]) {
        let values = values.iter().copied();
        let handles: Vec<Value> = values.filter(|value| self.is_linear(*value)).collect();
        self.held.extend(handles);
    }

    fn used_up(&mut self, spot: Spot, values: &[Value]) {
        for value in values {
            if self.is_linear(*value) && !self.held.remove(value) {
                let name = name(self.scope.function, *value);
                self.say(spot, format!("the handle {name} is used up twice"));
            }
        }
    }

    fn borrowed(&mut self, spot: Spot, values: &[Value]) {
        for value in values {
            if self.is_linear(*value) && !self.held.contains(value) {
                let name = name(self.scope.function, *value);
                self.say(
                    spot,
                    format!("the handle {name} is used when it is used up"),
                );
            }
        }
    }

    fn nothing_left(&mut self, spot: Spot) {
        for value in std::mem::take(&mut self.held) {
            let name = name(self.scope.function, value);
            self.say(spot, format!("the handle {name} is not used up"));
        }
    }

    /// The handles that exist on all ways to a block.
    fn joined(
        &mut self,
        spot: Spot,
        known: Option<BTreeSet<Value>>,
        held: BTreeSet<Value>,
    ) -> BTreeSet<Value> {
        let Some(known) = known else { return held };
        for value in known.symmetric_difference(&held) {
            let name = name(self.scope.function, *value);
            self.say(
                spot,
                format!("the handle {name} is used up on one way, not on another"),
            );
        }
        known.intersection(&held).copied().collect()
    }

    fn is_linear(&self, value: Value) -> bool {
        self.scope.function.type_of(value).is_linear()
    }

    fn say(&mut self, spot: Spot, message: String) {
        self.breaches
            .push(self.scope.breach(Rule::Handles, spot, message));
    }
}
