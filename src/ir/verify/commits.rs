//! Rule 10: guards and commits.
//!
//! In: a function with a graph. Out: breaches. A place is in the guard of a fast function, or
//! behind its commit; all ways to a block agree on that.

use super::breach::{Breach, Rule, Scope};
use crate::ir::effects::{Effects, called, called_by_attempt};
use crate::ir::{Attempt, FunctionId, Op, Role, Terminator};

/// Checks that a fast function changes nothing in its guard, and commits once on each path.
pub fn check(scope: &Scope<'_>) -> Vec<Breach> {
    if scope.function.role == Role::Fast {
        fast(scope)
    } else {
        other(scope)
    }
}

fn other(scope: &Scope<'_>) -> Vec<Breach> {
    let guards = |op: &Op| matches!(op, Op::Commit | Op::Exit(_));
    let found = scope.instructions().filter(|(_, one)| guards(&one.op));
    let message = "only a fast function has exits and a commit".to_string();
    found
        .map(|(spot, _)| scope.breach(Rule::Commits, spot, message.clone()))
        .collect()
}

fn fast(scope: &Scope<'_>) -> Vec<Breach> {
    let mut breaches = Vec::new();
    let mut committed: Vec<Option<bool>> = vec![None; scope.function.blocks.len()];
    for id in &scope.graph.order {
        let block = scope.function.block(*id);
        let mut behind = committed[id.at()].unwrap_or(false);
        for (at, instruction) in block.instructions.iter().enumerate() {
            let wrong = match (&instruction.op, behind) {
                (Op::Commit, true) => Some("a path commits once"),
                (Op::Exit(_), true) => Some("behind a commit stands no exit"),
                (op, false) if !may_guard(scope, op) => Some("a guard changes nothing"),
                _fine => None,
            };
            if let Some(wrong) = wrong {
                breaches.push(scope.breach(Rule::Commits, (*id, at), wrong.to_string()));
            }
            behind |= instruction.op == Op::Commit;
        }
        let mut say = |wrong: &str| {
            let spot = (*id, block.instructions.len());
            breaches.push(scope.breach(Rule::Commits, spot, wrong.to_string()));
        };
        match &block.terminator {
            Terminator::Try { attempt, .. } if !behind && !may_be_tried(scope, attempt) => {
                say("a guard changes nothing");
            }
            Terminator::Return(_) | Terminator::Tail(..) | Terminator::Take(_) if !behind => {
                say("a path ends without a commit");
            }
            _other => {}
        }
        for edge in block.terminator.edges() {
            if *committed[edge.block.at()].get_or_insert(behind) != behind {
                say("ways to a block are in the guard and behind a commit");
            }
        }
    }
    breaches
}

/// Returns true if an operation may stand before a commit.
fn may_guard(scope: &Scope<'_>, op: &Op) -> bool {
    match op {
        Op::Commit | Op::Exit(_) | Op::Recompute(_) => true,
        _ => {
            Effects::of(scope.module, op).are_none()
                && call_nothing(scope, called(scope.module, op))
        }
    }
}

fn may_be_tried(scope: &Scope<'_>, attempt: &Attempt) -> bool {
    let calls = called_by_attempt(scope.module, attempt);
    Effects::of_attempt(scope.module, attempt).are_none() && call_nothing(scope, calls)
}

fn call_nothing(scope: &Scope<'_>, calls: Vec<FunctionId>) -> bool {
    let mut calls = calls.iter();
    calls.all(|call| scope.effects[call.at()].are_none())
}
