//! Events that would go round in calls.
//!
//! In: a module. Out: pairs of a reaction and one to which it hands an event on within the same
//! step, without which no reaction leads back to itself by calls. Such an event goes by the agenda,
//! in a place that is always free, so that the calls of C end.

use crate::ir::op::Target;
use crate::ir::{FunctionId, Module, Terminator};
use std::collections::BTreeSet;

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    Open,
    Done,
}

/// The pairs, in the order of the functions.
pub fn of(module: &Module) -> BTreeSet<(FunctionId, FunctionId)> {
    let mut states = vec![State::New; module.functions.len()];
    let mut rounds = BTreeSet::new();
    for first in 0..module.functions.len() {
        if states[first] != State::New {
            continue;
        }
        let first = FunctionId(first as u32);
        states[first.at()] = State::Open;
        let mut open = vec![(first, handed_on(module, first))];
        while let Some((id, targets)) = open.last_mut() {
            let id = *id;
            let Some(target) = targets.pop() else {
                states[id.at()] = State::Done;
                open.pop();
                continue;
            };
            match states[target.at()] {
                State::New => {
                    states[target.at()] = State::Open;
                    open.push((target, handed_on(module, target)));
                }
                State::Open => {
                    rounds.insert((id, target));
                }
                State::Done => {}
            }
        }
    }
    rounds
}

/// The pairs of all reactions that hand an event on: none calls another.
pub fn all(module: &Module) -> BTreeSet<(FunctionId, FunctionId)> {
    let ids = (0..module.functions.len() as u32).map(FunctionId);
    let pairs = ids.flat_map(|id| handed_on(module, id).into_iter().map(move |to| (id, to)));
    pairs.collect()
}

/// The reactions to which one hands events on, the last first.
fn handed_on(module: &Module, id: FunctionId) -> Vec<FunctionId> {
    let blocks = module.function(id).blocks.iter();
    let targets = blocks.filter_map(|block| match &block.terminator {
        Terminator::Tail(event, _) => match event.target {
            Target::Function(target) => Some(target),
            Target::Link(_) | Target::Port(..) => None,
        },
        _other => None,
    });
    let all: BTreeSet<FunctionId> = targets.collect();
    all.into_iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::build::Builder;
    use crate::ir::op::Event;
    use crate::ir::{Function, Role};

    fn tail(name: &str, to: u32) -> Function {
        let mut build = Builder::new(name, "", Role::Reaction, &[]);
        let event = Event {
            target: Target::Function(FunctionId(to)),
            arguments: 0,
        };
        build.end(Terminator::Tail(event, Vec::new()));
        build.finish(Vec::new())
    }

    #[test]
    fn the_event_that_closes_a_circle_goes_by_the_agenda() {
        let module = Module {
            functions: vec![tail("a", 1), tail("b", 2), tail("c", 1)],
            ..Module::default()
        };
        let found = of(&module);
        assert_eq!(found, BTreeSet::from([(FunctionId(2), FunctionId(1))]));
        let pairs = [(0, 1), (1, 2), (2, 1)];
        let pairs = pairs.map(|(from, to)| (FunctionId(from), FunctionId(to)));
        assert_eq!(all(&module), BTreeSet::from(pairs));
    }
}
