//! What is done at one event: in, the automaton of all; out, its nodes without questions whether an
//! input is given, or what a header says that was asked before.

use crate::reactive::reads;
use crate::tree::automaton::{Automaton, Node, NodeId, Question, StateId};
use crate::types::expression::{Binary, Expression, ExpressionKind, Unary};
use crate::types::process::DataId;
use crate::types::program::Event;
use crate::types::reactive::Computation;
use crate::types::statement::StatementKind;
use crate::types::value::{Type, Value};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

use super::{Making, STAYS};

/// What is known of a header, condition by condition.
type Facts = Vec<(Expression, bool)>;

/// One state's nodes, at one event.
struct Settling<'a> {
    whole: &'a Automaton,
    from: StateId,
    known: FxHashMap<(NodeId, Facts), NodeId>,
}

impl Making<'_> {
    /// What is done in each state in which the event can come.
    pub(super) fn roots(&mut self, whole: &Automaton, event: Event) -> Vec<(StateId, NodeId)> {
        let states = 0..whole.states.len() as u32;
        let states = states.map(StateId);
        let states = states.filter(|state| (state.0 == 0) == (event == Event::Start));
        let roots = states.map(|state| self.way(whole, state, whole.states[state.at()]));
        roots.collect()
    }

    /// What is done from a state on.
    pub(super) fn way(
        &mut self,
        whole: &Automaton,
        from: StateId,
        root: NodeId,
    ) -> (StateId, NodeId) {
        let mut settling = Settling {
            whole,
            from,
            known: FxHashMap::default(),
        };
        (from, self.at_this_event(&mut settling, root, Facts::new()))
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
                question: asked @ Question::Given(signal),
                then,
                otherwise,
            } if self.flags.contains_key(&signal) => {
                let then = self.at_this_event(settling, then, facts.clone());
                let otherwise = self.at_this_event(settling, otherwise, facts);
                self.automaton.test(asked, then, otherwise)
            }
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
        let Some(asked) = self.asked_of_header(data).cloned() else {
            let then = self.at_this_event(settling, then, facts.clone());
            let otherwise = self.at_this_event(settling, otherwise, facts);
            return self.automaton.test(Question::Data(data), then, otherwise);
        };
        if let Some(known) = self.known(&facts, &asked) {
            let way = if known { then } else { otherwise };
            return self.at_this_event(settling, way, facts);
        }
        let with = |holds: bool| {
            let mut facts = facts.clone();
            note(&asked, holds, &mut facts);
            facts
        };
        let then = self.at_this_event(settling, then, with(true));
        let otherwise = self.at_this_event(settling, otherwise, with(false));
        self.automaton.test(Question::Data(data), then, otherwise)
    }

    /// Whether a condition holds, where that is known: it was asked before, or what it compares has
    /// another value, or no other one that it can have.
    fn known(&self, facts: &Facts, condition: &Expression) -> Option<bool> {
        if let Some((_, known)) = facts.iter().find(|(fact, _)| fact == condition) {
            return Some(*known);
        }
        let both = |one, other| (self.known(facts, one), self.known(facts, other));
        match &*condition.kind {
            ExpressionKind::Unary(Unary::Not, inner) => {
                return self.known(facts, inner).map(|holds| !holds);
            }
            ExpressionKind::Binary(Binary::Unequal, one, other) => {
                let equal = equal(one, other);
                return self.known(facts, &equal).map(|holds| !holds);
            }
            ExpressionKind::Binary(Binary::And, one, other) => {
                return match both(one, other) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (one, other) => one.and(other),
                };
            }
            ExpressionKind::Binary(Binary::Or, one, other) => {
                return match both(one, other) {
                    (Some(true), _) | (_, Some(true)) => Some(true),
                    (one, other) => one.and(other),
                };
            }
            _that_compares => {}
        }
        let (of, value) = compared(condition)?;
        let mut others = BTreeSet::new();
        for (fact, holds) in facts {
            match compared(fact) {
                Some((same, _)) if same == of && *holds => return Some(false),
                Some((same, other)) if same == of => others.extend([other]),
                Some(_) | None => {}
            }
        }
        let Type::Enum(id) = of.result else {
            return None;
        };
        let all = &self.program.enums[id.at()];
        let mut rest = all.names.iter().map(|(_, value)| *value);
        let left = rest.all(|one| one == value || others.contains(&one));
        (left && all.other.is_none()).then_some(true)
    }

    /// A condition that holds all through the instant or never, since it is of a header.
    fn asked_of_header(&self, data: DataId) -> Option<&Expression> {
        let Computation::Choice(choice) = self.given.reactive.computation(data) else {
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
        (!reads::any(condition, &|part| !lasts(part))).then_some(condition)
    }
}

/// Keeps in mind that a condition holds, or does not.
fn note(condition: &Expression, holds: bool, facts: &mut Facts) {
    match &*condition.kind {
        ExpressionKind::Unary(Unary::Not, inner) => note(inner, !holds, facts),
        ExpressionKind::Binary(Binary::Unequal, one, other) => {
            note(&equal(one, other), !holds, facts);
        }
        ExpressionKind::Binary(Binary::And, one, other) if holds => {
            note(one, holds, facts);
            note(other, holds, facts);
        }
        ExpressionKind::Binary(Binary::Or, one, other) if !holds => {
            note(one, holds, facts);
            note(other, holds, facts);
        }
        _that_cannot_be_parted => facts.push((condition.clone(), holds)),
    }
}

fn equal(one: &Expression, other: &Expression) -> Expression {
    Expression::binary(Binary::Equal, one.clone(), other.clone(), Type::Bool)
}

/// What a condition compares with which number.
fn compared(condition: &Expression) -> Option<(&Expression, u64)> {
    let ExpressionKind::Binary(Binary::Equal, one, other) = &*condition.kind else {
        return None;
    };
    match (&*one.kind, &*other.kind) {
        (_, ExpressionKind::Constant(Value::Number(number))) => Some((one, *number)),
        (ExpressionKind::Constant(Value::Number(number)), _) => Some((other, *number)),
        _of_two_that_vary => None,
    }
}
