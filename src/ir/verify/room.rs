//! Rule 13: room for outputs.
//!
//! In: a function with a graph, and the effects of all. Out: breaches. A walk in order keeps the
//! answers of `goes_on` that still hold: nothing was put on the agenda since, and fewer events left
//! than `goes_on` was asked for.

use super::breach::{Breach, Rule, Scope};
use crate::ir::definitions::Definitions;
use crate::ir::effects::{Effects, Resource, called};
use crate::ir::{Edge, Op, Terminator, Value};

/// Checks that `output` stands only where `goes_on` is known to be 1, for as many events.
pub fn check(scope: &Scope<'_>) -> Vec<Breach> {
    let definitions = Definitions::of(scope.function);
    let mut breaches = Vec::new();
    let mut at_begin: Vec<Option<Answers>> = vec![None; scope.function.blocks.len()];
    for id in &scope.graph.order {
        let block = scope.function.block(*id);
        let mut answers = at_begin[id.at()].take().unwrap_or_default();
        for (at, instruction) in block.instructions.iter().enumerate() {
            match &instruction.op {
                Op::Output(events) if !answers.give(events.len() as u32) => {
                    let message = "an output stands only where `goes_on` is 1 for as many outputs"
                        .to_string();
                    breaches.push(scope.breach(Rule::Room, (*id, at), message));
                }
                Op::Output(events) => {
                    let mut targets = events.iter().map(|event| event.target);
                    if !targets.any(|one| scope.module.calls_application(one)) {
                        continue;
                    }
                }
                Op::Step => {
                    answers.given.clear();
                    continue;
                }
                Op::GoesOn(steps) => {
                    let given = instruction.results.iter().map(|bit| (*bit, *steps));
                    answers.given.extend(given);
                }
                Op::Exit(_) => answers.learn(&definitions, instruction.operands[0], false),
                _ => {}
            }
            if takes_room(scope, &instruction.op) {
                answers = Answers::default();
            }
        }
        let edges = block.terminator.edges();
        for (at, edge) in edges.into_iter().enumerate() {
            let mut known = answers.clone();
            if let Terminator::Branch { condition, .. } = block.terminator {
                known.learn(&definitions, condition, at == 0);
            }
            known.join(&mut at_begin, edge);
        }
    }
    breaches
}

/// Answers of `goes_on` that still hold, and how many events may leave, as one of them is 1.
#[derive(Clone, Debug, Default)]
struct Answers {
    given: Vec<(Value, u32)>,
    left: u32,
}

impl Answers {
    fn learn(&mut self, definitions: &Definitions<'_>, bit: Value, holds: bool) {
        for (bit, holds) in definitions.implied(bit, holds) {
            let asked = self.given.iter().find(|(given, _)| *given == bit && holds);
            self.left = asked.map_or(self.left, |(_, steps)| self.left.max(*steps));
        }
    }

    /// So many events leave. Returns false if that is more than may.
    fn give(&mut self, events: u32) -> bool {
        self.given.clear();
        let has_room = events <= self.left;
        self.left = self.left.saturating_sub(events);
        has_room
    }

    fn join(self, at_begin: &mut [Option<Answers>], edge: &Edge) {
        let place = &mut at_begin[edge.block.at()];
        *place = Some(match place.take() {
            None => self,
            Some(mut other) => {
                other.given.retain(|one| self.given.contains(one));
                other.left = other.left.min(self.left);
                other
            }
        });
    }
}

fn takes_room(scope: &Scope<'_>, op: &Op) -> bool {
    let own = Effects::of(scope.module, op);
    let called = called(scope.module, op).into_iter();
    let called = called.map(|id| &scope.effects[id.at()]);
    let room = [Resource::Agenda, Resource::Outputs];
    let takes = |effects: &Effects| room.iter().any(|one| effects.writes.contains(one));
    takes(&own) || called.into_iter().any(takes)
}
