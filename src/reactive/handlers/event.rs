//! What is done at one event: in, the automaton of all; out, its nodes without questions whether an
//! input is given, or what a header says that was asked before.

use crate::reactive::reads;
use crate::tree::automaton::{Automaton, Node, NodeId, Question, StateId};
use crate::types::expression::{Binary, Expression, ExpressionKind, Unary};
use crate::types::process::DataId;
use crate::types::program::Event;
use crate::types::reactive::Computation;
use crate::types::statement::StatementKind;
use std::collections::HashMap;

use super::{Making, STAYS};

/// What is known of a header, condition by condition.
type Facts = Vec<(Expression, bool)>;

/// One state's nodes, at one event.
struct Settling<'a> {
    whole: &'a Automaton,
    from: StateId,
    known: HashMap<(NodeId, Facts), NodeId>,
}

impl Making<'_> {
    /// What is done in each state in which the event can come.
    pub(super) fn roots(&mut self, whole: &Automaton, event: Event) -> Vec<(StateId, NodeId)> {
        let states = 0..whole.states.len() as u32;
        let states = states.map(StateId);
        let states = states.filter(|state| (state.0 == 0) == (event == Event::Start));
        let roots = states.map(|state| {
            let mut settling = Settling {
                whole,
                from: state,
                known: HashMap::new(),
            };
            let root = whole.states[state.at()];
            (state, self.at_this_event(&mut settling, root, Facts::new()))
        });
        roots.collect()
    }

    /// The same nodes, without questions whether an input is given, or what a header says that was
    /// asked before.
    fn at_this_event(&mut self, settling: &mut Settling, node: NodeId, facts: Facts) -> NodeId {
        let key = (node, facts);
        if let Some(settled) = settling.known.get(&key) {
            return *settled;
        }
        let facts = key.1.clone();
        let settled = match settling.whole.node(node).clone() {
            Node::Test {
                question: Question::Given(signal),
                then,
                otherwise,
            } => {
                let way = if signal == self.input {
                    then
                } else {
                    otherwise
                };
                self.at_this_event(settling, way, facts)
            }
            Node::Test {
                question: Question::Data(data),
                then,
                otherwise,
            } => self.choice(settling, data, (then, otherwise), facts),
            Node::Act { act, next } => {
                let next = self.at_this_event(settling, next, facts);
                self.automaton.add(Node::Act { act, next })
            }
            Node::Leaf(state) if state == settling.from => self.automaton.add(Node::Leaf(STAYS)),
            leaf @ (Node::Leaf(_) | Node::Twice(_)) => self.automaton.add(leaf),
        };
        settling.known.insert(key, settled);
        settled
    }

    fn choice(
        &mut self,
        settling: &mut Settling,
        data: DataId,
        (then, otherwise): (NodeId, NodeId),
        facts: Facts,
    ) -> NodeId {
        let asked = self.asked_of_header(data);
        if let Some((condition, holds)) = &asked
            && let Some((_, known)) = facts.iter().find(|(fact, _)| fact == condition)
        {
            let way = if known == holds { then } else { otherwise };
            return self.at_this_event(settling, way, facts);
        }
        let with = |holds: bool| match &asked {
            None => facts.clone(),
            Some((condition, meant)) => {
                [&facts[..], &[(condition.clone(), holds == *meant)]].concat()
            }
        };
        let then = self.at_this_event(settling, then, with(true));
        let otherwise = self.at_this_event(settling, otherwise, with(false));
        self.automaton.test(Question::Data(data), then, otherwise)
    }

    /// A condition that holds all through the instant or never, since it is of a header; and
    /// whether it is meant to hold.
    fn asked_of_header(&self, data: DataId) -> Option<(Expression, bool)> {
        let Computation::Choice(choice) = self.reactive.computation(data) else {
            return None;
        };
        let (StatementKind::If { condition, .. } | StatementKind::Require { condition, .. }) =
            &choice.kind
        else {
            return None;
        };
        let lasts = |part: &Expression| {
            matches!(
                *part.kind,
                ExpressionKind::Header(..)
                    | ExpressionKind::HeaderPresent(..)
                    | ExpressionKind::Constant(_)
                    | ExpressionKind::Config(_)
                    | ExpressionKind::Key(..)
                    | ExpressionKind::Binary(..)
                    | ExpressionKind::Unary(..)
                    | ExpressionKind::Cast(_)
            )
        };
        if reads::any(condition, &|part| !lasts(part)) {
            return None;
        }
        let (mut condition, mut meant) = (condition.clone(), true);
        loop {
            condition = match *condition.kind {
                ExpressionKind::Unary(Unary::Not, inner) => {
                    meant = !meant;
                    inner
                }
                ExpressionKind::Binary(Binary::Unequal, one, other) => {
                    meant = !meant;
                    Expression::binary(Binary::Equal, one, other, condition.result)
                }
                kind => return Some((Expression::new(kind, condition.result), meant)),
            };
        }
    }
}
