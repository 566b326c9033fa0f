//! How instances begin and end: the starts and ends that are due among the outputs.

use super::block::Due;
use super::{Lowering, handler_of};
use crate::tree::{Action, Goal, Index, Node, NodeId, Output, Probability, Reaction};
use crate::types::expression::Instance;
use crate::types::program::{Event, KindId, LocalId, Role};
use crate::types::statement::{Attempt, Search};
use crate::types::value::Type;

impl Lowering<'_> {
    /// The new instance's start, and those of the sessions that live with it, from below.
    pub fn starts(&mut self, kind: KindId, own: Instance, due: &mut Due) {
        for kind in self.living_with(kind) {
            if handler_of(self.program, kind, Event::Start).is_some() {
                due.outputs.push(self.event_of(kind, own, Event::Start));
            }
        }
    }

    /// Instances are found no more; their ends are due, from above.
    pub fn ends(&mut self, kind: KindId, own: Instance, due: &mut Due) -> Vec<Action> {
        let mut kinds = self.living_with(kind);
        kinds.reverse();
        let mut steps = Vec::new();
        for kind in kinds {
            steps.push(Action::End(own, kind));
            due.outputs.push(self.event_of(kind, own, Event::End));
        }
        steps
    }

    /// A session ends when no session of a multiplexor stands on it any more: the first of those
    /// ends, and then its turn comes again.
    pub fn ends_above(
        &mut self,
        above: KindId,
        kind: KindId,
        own: LocalId,
        alone: NodeId,
    ) -> NodeId {
        let name = self.program.kinds[above.at()].name.clone();
        let first = self.fresh(name, Type::Instance(above));
        let own = Instance::Local(own);
        let mut due = Due::default();
        let steps = self.ends(above, Instance::Local(first), &mut due);
        due.outputs.push(self.event_of(kind, own, Event::End));
        let leaf = self.leaf(due.outputs);
        let done = self.steps(steps, leaf);
        self.arena.add(Node::Try {
            attempt: Attempt::Instance(vec![Search::Standing(above, own)]),
            bind: Some(first),
            likely: Probability::EVEN,
            done,
            failed: alone,
        })
    }

    /// A kind, and the kinds of sessions above whose instances live and end with it.
    pub fn living_with(&self, kind: KindId) -> Vec<KindId> {
        let mut kinds = vec![kind];
        let mut at = kind;
        while self.program.kinds[at.at()].role == Role::Session {
            match self.program.session_living_on(at) {
                Some(above) => at = above,
                None => break,
            }
            kinds.push(at);
        }
        kinds
    }

    /// An event of an instance, as an output without arguments.
    pub fn event_of(&mut self, kind: KindId, own: Instance, event: Event) -> Output {
        let (index, instance) = match own {
            Instance::Entity => (Index::Only(0), None),
            Instance::Only(at) => (Index::Only(at), None),
            Instance::Local(_) => (Index::Any, Some(own)),
            Instance::Own => unreachable!("own instances are known"),
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
