//! Where an output goes: in, a goal of a tree; out, the same with the instance that is meant.

use super::Running;
use crate::simulate::state::Goal;
use crate::tree::{self, Index, Reaction};
use crate::types::expression::Instance;

impl Running<'_, '_> {
    pub(super) fn goal(&mut self, goal: tree::Goal) -> Goal {
        match goal {
            tree::Goal::Frame(link) => Goal::Frame(link),
            tree::Goal::Port(port, instance, event) => {
                let index = self.given(Index::Any, Some(instance));
                Goal::Port(port, index.expect("a conversation has an index"), event)
            }
            tree::Goal::Reaction(reaction, instance) => match reaction {
                Reaction::Arrive {
                    entity,
                    joint,
                    index,
                    event,
                } => Goal::Arrive {
                    entity,
                    joint,
                    index: self.given(index, instance),
                    event,
                },
                Reaction::Handle { kind, index, event } => {
                    let given = self.given(index, instance);
                    let given = given.expect("an instance is fixed or given");
                    let index = match index {
                        Index::Label(label) => {
                            let below = self.state.program.sessions_below(kind);
                            label * below.expect("it has labels") + given
                        }
                        Index::Only(_) | Index::Any => given,
                    };
                    Goal::Handle { kind, index, event }
                }
            },
        }
    }

    pub(super) fn given(&mut self, index: Index, instance: Option<Instance>) -> Option<u32> {
        if let Index::Only(only) = index {
            return Some(only);
        }
        match instance? {
            Instance::Local(local) => Some(self.instant.locals[local.at()].number() as u32),
            Instance::Only(only) => Some(only),
            Instance::Entity => Some(0),
            Instance::Own => panic!("trees bind each instance"),
        }
    }
}
