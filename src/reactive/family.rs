//! Loops, and families of outputs: what a loop lets happen is made when all statements are done.
//!
//! In: a `for` of the checked program. Out: a loop among the steps, or a family among the outputs.
//! What the turns of a family read is taken where the loop stands, as far as it may change behind
//! it; what takes a buffer behind a family waits for its turn.

use super::block::{Body, Due, Rests};
use super::frame::Frame;
use super::{Lowering, reads};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::tree::{Action, Loop, NodeId, Output, Range};
use crate::types::expression::{Expression, Variable};
use crate::types::program::{FieldId, KindId, LocalId};
use crate::types::statement::{Block, Output as Written, Source, Statement, StatementKind};
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
        let mut frame = body.frame.clone();
        let family = reads::has_outputs(block);
        if family {
            let turn = Some(turn_of(statement));
            first.extend(self.take_what_changes(&mut frame, block, turn));
            let mut late = reads::fields_by_turn(block, turn);
            if let StatementKind::Drain { queue, .. } = &statement.kind {
                late.extend(reads::field_of(queue));
                self.asked_by_nobody(queue, &inside, statement.span);
            }
            self.stays_as_it_is(&late, &inside, statement.span);
            self.calls_in_order(block, &inside, statement.span);
        }
        let turn = self.body(&frame, block, Vec::new(), statement.span);
        let turns = Loop {
            range,
            local,
            body: turn,
        };
        let next = match &statement.kind {
            StatementKind::Drain { queue, .. } if family => {
                due.outputs.push(Output::Many(turns));
                let mut behind = body.frame.clone();
                behind.drained.push(queue.clone());
                self.rest(&mut body.with(&behind), inside, due)
            }
            _ if family => {
                due.outputs.push(Output::Many(turns));
                self.rest(body, inside, due)
            }
            _ => {
                first.push(Action::Loop(turns));
                self.rest(body, inside, due)
            }
        };
        self.steps(first, next)
    }

    /// What takes a buffer behind a family takes it behind that family's outputs, as a family of
    /// one turn.
    pub fn family_of_one(
        &mut self,
        body: &mut Body<'a, '_>,
        statement: &'a Statement,
        inside: Rests<'a>,
        mut due: Due,
    ) -> NodeId {
        let block = std::slice::from_ref(statement);
        let mut frame = body.frame.clone();
        let first = self.take_what_changes(&mut frame, block, None);
        let late = reads::fields_by_turn(block, None);
        self.stays_as_it_is(&late, &inside, statement.span);
        self.calls_in_order(block, &inside, statement.span);
        let kind = Type::Unsigned(32);
        let turn = self.body(&frame, block, Vec::new(), statement.span);
        due.outputs.push(Output::Many(Loop {
            range: Range::Numbers {
                from: Expression::number(0, kind.clone()),
                to: Expression::number(1, kind.clone()),
                at_most: 1,
                clamped: None,
            },
            local: self.fresh("turn".to_string(), kind),
            body: turn,
        }));
        let next = self.rest(body, inside, due);
        self.steps(first, next)
    }

    /// The outputs of a family are made when all statements are done: fields that each turn reads
    /// for itself must not change behind it.
    fn stays_as_it_is(&mut self, late: &[(KindId, FieldId)], inside: &Rests<'a>, family: Span) {
        let mut changed = inside.iter().flat_map(|rest| reads::written(rest));
        if !changed.any(|field| late.contains(&field)) {
            return;
        }
        let title = "what these outputs are made of is changed behind them";
        let mistake =
            Diagnostic::error(Id::NotYet, title, family, "read at the end of the instant");
        self.diagnostics
            .push(mistake.help("let `again` change it, in an instant of its own"));
    }

    /// The queue of a family is emptied when all statements are done: a function that reads it
    /// before would find what is in it still.
    fn asked_by_nobody(&mut self, queue: &Variable, inside: &Rests<'a>, family: Span) {
        let Some(field) = reads::field_of(queue) else {
            return;
        };
        let mut inside = inside.iter();
        if inside.any(|rest| reads::asks_by_call(self.program, rest, field)) {
            let title = "a function asks for a queue that is emptied behind it";
            let mistake = Diagnostic::error(
                Id::NotYet,
                title,
                family,
                "emptied at the end of the instant",
            );
            self.diagnostics
                .push(mistake.help("write `is_empty` itself, where the function is called"));
        }
    }

    /// So what a family calls in C is called behind all that its handler calls.
    fn calls_in_order(&mut self, block: &'a [Statement], inside: &Rests<'a>, family: Span) {
        let calls = |block: &[Statement]| reads::calls_c(self.program, block);
        if !calls(block) || !inside.iter().any(|rest| calls(rest)) {
            return;
        }
        let title = "these outputs call C, and so does what is written behind them";
        let label = "called at the end of the instant, when these outputs are made";
        let mistake = Diagnostic::error(Id::ExternCall, title, family, label);
        self.diagnostics.push(
            mistake
                .why("Functions in C are called in the order of writing.")
                .help("write what calls C first, and these outputs last"),
        );
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

    fn capacity_of(&self, queue: &crate::types::expression::Variable) -> u32 {
        let (kind, field) = reads::field_of(queue).expect("a queue is a field");
        match &self.program.kinds[kind.at()].fields[field.at()].kind {
            Type::Queue(_, capacity) => *capacity,
            other => unreachable!("what is drained is a queue, not {other:?}"),
        }
    }
}

/// Whether an output makes its message of a buffer that a family before it may want.
pub fn comes_behind_one(output: &Written, due: &Due) -> bool {
    let makes = output
        .message()
        .is_some_and(|source| !matches!(source, Source::Local(_)));
    let is_family = |output: &Output| matches!(output, Output::Many(_));
    makes && due.outputs.iter().any(is_family)
}

/// What is another in each turn of a loop.
fn turn_of(statement: &Statement) -> LocalId {
    match &statement.kind {
        StatementKind::For { local, .. } | StatementKind::Drain { local, .. } => *local,
        _ => unreachable!("a loop"),
    }
}
