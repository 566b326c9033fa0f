//! Loops, and families of outputs.
//!
//! In: a `for` of the checked program. Out: a loop among the steps, or a family among the outputs.
//! A family is made where it stands: behind the last statement at the leaf, else at once, so that
//! nothing that it is made of has changed by then.

use super::Lowering;
use super::block::{Body, Rests};
use super::due::Due;
use super::frame::Frame;
use super::reads;
use crate::tree::{Action, Loop, NodeId, Output, Range};
use crate::types::expression::Variable;
use crate::types::fields::field_of;
use crate::types::program::LocalId;
use crate::types::statement::{Block, Statement, StatementKind};
use crate::types::value::Type;

impl<'a> Lowering<'a> {
    /// A loop: a family of outputs, or steps.
    pub fn loops(
        &mut self,
        body: &mut Body<'a, '_>,
        statement: &'a Statement,
        inside: Rests<'a>,
        mut due: Due,
    ) -> NodeId {
        let (local, range, block, mut first) = self.range(body.frame, statement);
        let family = reads::has_outputs(block);
        let turns = Loop {
            range,
            local,
            body: self.turn(body.frame, block, statement.span),
        };
        if !family {
            first.push(Action::Loop(turns));
            let next = self.rest(body, inside, due);
            return self.steps(first, next);
        }
        due.outputs.push(Output::Many(turns));
        if inside.iter().any(|rest| !rest.is_empty()) {
            first.extend(body.put(&mut due));
        }
        let next = self.rest(body, inside, due);
        self.steps(first, next)
    }

    /// Over what a loop runs; its bounds are taken where the loop stands.
    fn range(
        &mut self,
        frame: &Frame<'a>,
        statement: &'a Statement,
    ) -> (LocalId, Range, &'a Block, Vec<Action>) {
        match &statement.kind {
            StatementKind::For {
                local,
                from,
                to,
                at_most,
                clamped,
                body,
            } => {
                let mut steps = Vec::new();
                let from = self.settled(frame, frame.expression(from), from, &mut steps);
                let to = self.settled(frame, frame.expression(to), to, &mut steps);
                let range = Range::Numbers {
                    from,
                    to,
                    at_most: *at_most,
                    clamped: *clamped,
                };
                (frame.locals[local.at()], range, body, steps)
            }
            StatementKind::Drain { local, queue, body } => {
                let at_most = self.capacity_of(queue);
                let queue = frame.renamed(|renaming| renaming.variable(queue));
                let range = Range::Queue(queue, at_most);
                (frame.locals[local.at()], range, body, Vec::new())
            }
            _ => unreachable!("a loop"),
        }
    }

    fn capacity_of(&self, queue: &Variable) -> u32 {
        let (kind, field) = field_of(queue).expect("a queue is a field");
        match &self.program.kinds[kind.at()].fields[field.at()].kind {
            Type::Queue(_, capacity) => *capacity,
            other => unreachable!("what is drained is a queue, not {other:?}"),
        }
    }
}
