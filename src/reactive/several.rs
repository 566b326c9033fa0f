//! Instances that always exist, of which one was found: each has a tree of its own.
//!
//! In: an event that is told to the instance with an index. Out: a tree that tests which one it is,
//! and lets the tree of that one follow, in which its keys are constants.

use super::{Lowering, handler_of};
use crate::tree::{Action, Goal, Index, NodeId, Output, Parameters, Reaction};
use crate::types::expression::{Binary, Expression, Instance};
use crate::types::program::{Event, KindId, LocalId};
use crate::types::value::Type;

impl Lowering<'_> {
    /// An instance that was found among those that always exist: each has a tree of its own.
    pub(super) fn handled_by_one_of(
        &mut self,
        kind: KindId,
        count: u32,
        event: Event,
    ) -> (Parameters, NodeId) {
        let parameters = self.parameters_of_one(kind, event);
        let found = parameters.instance.expect("a parameter holds it");
        let found = self.read(found);
        let mut root = None;
        for at in (0..count).rev() {
            let leaf = self.told_to_one(kind, at, event, &parameters);
            root = Some(match root {
                None => leaf,
                Some(others) => {
                    let is_it = self.is_one(kind, at, found.clone());
                    self.test(is_it, None, leaf, others)
                }
            });
        }
        (parameters, root.expect("a kind has an instance"))
    }

    /// What the reaction is given: which of them was found, then what its handler is given.
    fn parameters_of_one(&mut self, kind: KindId, event: Event) -> Parameters {
        let mut parameters = Parameters::default();
        self.own(kind, Index::Any, &mut parameters.instance, &mut Vec::new());
        let handler = handler_of(self.program, kind, event).expect("what is told has a handler");
        let given = handler
            .parameters
            .iter()
            .map(|local| &handler.locals[local.at()]);
        let mut given: Vec<LocalId> = given
            .map(|local| self.fresh(local.name.clone(), local.kind.clone()))
            .collect();
        if self.carries_message(event) {
            parameters.message = Some(given.remove(0));
        }
        parameters.arguments = given;
        parameters
    }

    /// A leaf at which one of them is told what the reaction was given.
    fn told_to_one(&mut self, kind: KindId, at: u32, event: Event, given: &Parameters) -> NodeId {
        let found = given.instance.expect("a parameter holds it");
        let (index, below) = self.one_of(kind, at, self.read(found));
        let reaction = Reaction::Handle { kind, index, event };
        self.want(reaction);
        let arguments = given.arguments.iter().map(|local| self.read(*local));
        let output = Output::One {
            goal: Goal::Reaction(
                reaction,
                below.as_ref().map(|(below, _)| Instance::Local(*below)),
            ),
            message: given.message,
            arguments: arguments.collect(),
        };
        let leaf = self.leaf(vec![output]);
        let step = below.map(|(below, value)| Action::Let(below, value));
        self.steps(step.into_iter().collect(), leaf)
    }

    /// Whether it is this one that was found, if it is none of those before.
    fn is_one(&self, kind: KindId, at: u32, found: Expression) -> Expression {
        let (is, number) = match self.program.sessions_below(kind) {
            Some(below) => (Binary::Less, (at + 1) * below),
            None => (Binary::Equal, at),
        };
        let number = Expression::number(u64::from(number), Type::Instance(kind));
        Expression::binary(is, found, number, Type::Bool)
    }

    fn read(&self, local: LocalId) -> Expression {
        Expression::local(local, self.locals[local.at()].kind.clone())
    }

    /// Which tree is that of one of several instances; for one with a label, what holds the session
    /// below, and what that is.
    fn one_of(
        &mut self,
        kind: KindId,
        at: u32,
        found: Expression,
    ) -> (Index, Option<(LocalId, Expression)>) {
        let Some(below) = self
            .program
            .sessions_below(kind)
            .and(self.program.stands_on(kind))
        else {
            return (Index::Only(at), None);
        };
        let name = self.program.kinds[below.at()].name.clone();
        let local = self.fresh(name, Type::Instance(below));
        let value = self.below_slot(kind, at, found);
        (Index::Label(at), Some((local, value)))
    }
}
