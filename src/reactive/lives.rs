//! How instances begin and end: the starts and ends that are due among the outputs.

use super::due::Due;
use super::{Lowering, handler_of};
use crate::tree::{Action, Goal, Index, Node, NodeId, Output, Probability, Reaction};
use crate::types::expression::{Binary, Expression, ExpressionKind, Instance};
use crate::types::lifetimes::Standing;
use crate::types::program::{Event, KindId, LocalId};
use crate::types::statement::{Attempt, Search};
use crate::types::value::Type;

impl Lowering<'_> {
    /// The new instance's start, and those of the sessions that live with it, from below.
    pub fn starts(&mut self, kind: KindId, own: Instance, due: &mut Due) {
        for standing in self.program.living_with(kind) {
            if handler_of(self.program, standing.kind, Event::Start).is_some() {
                due.outputs.push(self.event_of(standing, own, Event::Start));
            }
        }
    }

    /// Instances are found no more; their ends are due, from above.
    pub fn ends(&mut self, kind: KindId, own: Instance, due: &mut Due) -> Vec<Action> {
        let mut steps = Vec::new();
        for standing in self.program.living_with(kind).into_iter().rev() {
            let stops = !self.program.kinds[standing.kind.at()].timers.is_empty();
            if standing.label.is_none() || stops {
                let itself = self.instance_of(standing, own, &mut steps);
                steps.push(Action::End(itself, standing.kind));
            }
            due.outputs.push(self.event_of(standing, own, Event::End));
        }
        steps
    }

    /// The instance that lives with this one: that of a label has an index of its own.
    pub fn instance_of(
        &mut self,
        standing: Standing,
        below: Instance,
        steps: &mut Vec<Action>,
    ) -> Instance {
        let (Some(label), Instance::Local(local)) = (standing.label, below) else {
            return below;
        };
        let kind = self.locals[local.at()].kind.clone();
        let slot = self.slot(standing.kind, label, Expression::local(local, kind));
        let bind = self.fresh("own".to_string(), Type::Instance(standing.kind));
        steps.push(Action::Let(bind, slot));
        Instance::Local(bind)
    }

    /// The index of the session of a label that stands on this one.
    pub fn slot(&self, kind: KindId, label: u32, below: Expression) -> Expression {
        let of = Type::Instance(kind);
        match label * self.program.sessions_below(kind).expect("it has labels") {
            0 => Expression::new(ExpressionKind::Cast(below), of),
            first => {
                let first = Expression::number(u64::from(first), of.clone());
                Expression::binary(Binary::Add, below, first, of)
            }
        }
    }

    /// The session below one with a label.
    pub fn below_slot(&self, kind: KindId, label: u32, slot: Expression) -> Expression {
        let below = self.program.stands_on(kind).expect("it has labels");
        let of = Type::Instance(below);
        match label * self.program.sessions_below(kind).expect("it has labels") {
            0 => Expression::new(ExpressionKind::Cast(slot), of),
            first => {
                let first = Expression::number(u64::from(first), of.clone());
                Expression::binary(Binary::Subtract, slot, first, of)
            }
        }
    }

    /// A session ends when no session of a multiplexor stands on it any more: the first of those
    /// ends, and then its turn comes again.
    pub fn ends_above(
        &mut self,
        above: KindId,
        ending: Standing,
        own: LocalId,
        alone: NodeId,
    ) -> NodeId {
        let name = self.program.kinds[above.at()].name.clone();
        let first = self.fresh(name, Type::Instance(above));
        let own = Instance::Local(own);
        let mut due = Due::default();
        let steps = self.ends(above, Instance::Local(first), &mut due);
        due.outputs.push(self.event_of(ending, own, Event::End));
        let leaf = self.leaf(due.outputs);
        let done = self.steps(steps, leaf);
        self.branch(Node::Try {
            attempt: Attempt::Instance(vec![Search::Standing(above, own)]),
            bind: Some(first),
            likely: Probability::EVEN,
            done,
            failed: alone,
        })
    }

    /// An event of an instance, as an output without arguments; what has a label is known by the
    /// session below.
    pub fn event_of(&mut self, standing: Standing, own: Instance, event: Event) -> Output {
        let kind = standing.kind;
        let (index, instance) = match (own, standing.label) {
            (Instance::Entity, _) => (Index::Only(0), None),
            (Instance::Only(at), _) => (Index::Only(at), None),
            (Instance::Local(_), None) => (Index::Any, Some(own)),
            (Instance::Local(_), Some(label)) => (Index::Label(label), Some(own)),
            (Instance::Own, _) => unreachable!("own instances are known"),
        };
        let reaction = Reaction::Handle { kind, index, event };
        self.want(reaction);
        Output::One {
            goal: Goal::Reaction(reaction, instance),
            message: None,
            arguments: Vec::new(),
        }
    }
}
