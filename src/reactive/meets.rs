//! Handlers whose ways meet again: in, their turns, one behind the other; out, nodes that several
//! ways lead to, whatever these have made due. So each output is put on the agenda where its turn
//! ends.

use super::block::{Body, Rests};
use super::due::Due;
use super::frame::Frame;
use super::{Lowering, handler_of};
use crate::source::Span;
use crate::tree::{Action, NodeId};
use crate::types::expression::Expression;
use crate::types::program::{Event, LocalId};
use crate::types::statement::{Ordered, Statement, StatementKind};
use crate::types::value::Type;
use rustc_hash::FxHashMap;

impl<'a> Lowering<'a> {
    /// The tree of a whole body whose ways meet again: what follows is the same, whatever is due.
    pub fn body_that_meets(
        &mut self,
        frame: &Frame<'a>,
        block: &'a [Statement],
        last: Vec<Action>,
        span: Span,
    ) -> NodeId {
        let again = self.fresh("again".to_string(), Type::Bool);
        let mut body = Body {
            frame,
            last,
            span,
            turns: false,
            again: Some(again),
            built: FxHashMap::default(),
        };
        let due = Due {
            at_once: Some(Vec::new()),
            ..Due::default()
        };
        let root = self.rest(&mut body, vec![block], due);
        let not_yet = Action::Let(again, Expression::number(0, Type::Bool));
        self.steps(vec![not_yet, Action::Begin], root)
    }

    /// The end of all its ways.
    pub fn met(&mut self, body: &Body<'a, '_>, again: LocalId) -> NodeId {
        let leaf = self.leaf(Vec::new());
        let turn = [Action::Turn, Action::AtOnce].into_iter();
        let turn = turn.chain(body.last.iter().cloned());
        let ends = self.steps(turn.collect(), leaf);
        if handler_of(self.program, body.frame.kind, Event::Again).is_none() {
            return ends;
        }
        let (itself, known) = (body.frame.standing(), body.frame.known());
        let goes_on = Action::Put(vec![self.event_of(itself, known, Event::Again)]);
        let goes_on = self.act(goes_on, ends);
        let again = Expression::local(again, Type::Bool);
        self.test(again, None, goes_on, ends)
    }

    /// Notes how much waits on the agenda, or puts there what is due: behind what this instant has
    /// put there, or before what it has put there since a mark.
    pub fn put_in_order(
        &mut self,
        body: &mut Body<'a, '_>,
        statement: &'a Statement,
        inside: Rests<'a>,
        mut due: Due,
    ) -> NodeId {
        let frame = body.frame;
        let steps = match &statement.kind {
            StatementKind::Ordered(Ordered::Mark(mark)) => {
                vec![Action::Mark(frame.locals[mark.at()])]
            }
            StatementKind::Ordered(Ordered::Put(before)) => {
                due.settle(frame.places);
                (due.place, due.placed) = (None, Vec::new());
                let outputs = std::mem::take(&mut due.outputs);
                match (outputs.is_empty(), before) {
                    (true, _) => Vec::new(),
                    (false, None) => vec![Action::Put(outputs)],
                    (false, Some(first)) => {
                        let mark = self.fresh("mark".to_string(), Type::Unsigned(32));
                        let precede = Action::Precede(frame.locals[first.at()], mark);
                        vec![Action::Mark(mark), Action::Put(outputs), precede]
                    }
                }
            }
            other => unreachable!("{other:?} puts nothing on the agenda"),
        };
        let next = self.rest(body, inside, due);
        self.steps(steps, next)
    }
}
