//! Statements that are one step of a tree.

use super::Lowering;
use super::frame::Frame;
use crate::tree::{Action, NodeId};
use crate::types::expression::{Expression, ExpressionKind};
use crate::types::program::LocalId;
use crate::types::statement::{Block, Dropped, Statement, StatementKind};

impl<'a> Lowering<'a> {
    /// What is done before anything is looked for.
    pub fn before(&mut self, frame: &Frame<'a>, block: &'a Block, mut next: NodeId) -> NodeId {
        for statement in block.iter().rev() {
            next = match &statement.kind {
                StatementKind::If {
                    condition,
                    likely,
                    then,
                    otherwise,
                } => {
                    let then = self.before(frame, then, next);
                    let otherwise = self.before(frame, otherwise, next);
                    self.at(Some(statement.span), |lowering| {
                        lowering.test(frame.expression(condition), *likely, then, otherwise)
                    })
                }
                _ => self.act(step(frame, statement), next),
            };
        }
        next
    }
}

/// A statement that is one step.
pub fn step(frame: &Frame<'_>, statement: &Statement) -> Action {
    frame.renamed(|renaming| {
        let local = |l: LocalId| (renaming.local)(l);
        match &statement.kind {
            StatementKind::Let(l, value) => let_step(frame, local(*l), value),
            StatementKind::Assign(variable, value) => {
                Action::Assign(renaming.variable(variable), renaming.expression(value))
            }
            StatementKind::Do(operation) => Action::Do(renaming.operation(operation)),
            StatementKind::Drop(Dropped::Message(l), reason) => Action::Drop(local(*l), *reason),
            StatementKind::Drop(Dropped::Container(variable), reason) => {
                Action::DropAll(renaming.variable(variable), *reason)
            }
            StatementKind::Consume(l) => Action::Consume(local(*l)),
            StatementKind::Count(count) => Action::Count(*count),
            StatementKind::StartTimer(instance, kind, timer, after) => Action::StartTimer(
                (renaming.instance)(*instance),
                *kind,
                *timer,
                renaming.expression(after),
            ),
            StatementKind::StopTimer(instance, kind, timer) => {
                Action::StopTimer((renaming.instance)(*instance), *kind, *timer)
            }
            other => unreachable!("one step, not {other:?}"),
        }
    })
}

fn let_step(frame: &Frame<'_>, bind: LocalId, value: &Expression) -> Action {
    let value = frame.expression(value);
    match *value.kind {
        ExpressionKind::Through(filter, arguments, message) => Action::Scan {
            bind,
            message,
            filter,
            arguments,
        },
        kind => Action::Let(bind, Expression::new(kind, value.result)),
    }
}
