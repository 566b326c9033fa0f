//! Of several values that one thing may have, the one that it mostly has is asked for first
//! (HIPPCO 4.1).
//!
//! In: trees. Out: the same, with tests that compare one thing with constants, one behind the
//! other, in the order of how often they hold; what a `match` mostly meets is tested before it.
//!
//! ```text
//! if kind == 1 likely 10% { one }            if kind == 2 likely 81% { two }
//! else { if kind == 2 likely 90% { two } =>  else { if kind == 1 likely 52% { one }
//! else { more } }                            else { more } }
//! ```
//!
//! Assumes: a probability is that of who comes to its test. Ensures: the same ways are taken, for
//! at most one of such tests holds. Cost: none; a `match` gets a node more.

use super::states::is_found_at_will;
use crate::source::Span;
use crate::tree::walk::{remade, swept};
use crate::tree::{Arena, Forest, Node, NodeId, Probability};
use crate::types::expression::{Binary, Expression, ExpressionKind};
use crate::types::program::Program;
use crate::types::value::{Type, Value};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// So many times as frequent is more than a guess: what is less so stays where it was written.
const CLEARLY: u32 = 2;

/// Trees in which what is frequent is asked for first.
pub fn first(program: &Program, forest: &Forest) -> Forest {
    let sorted = remade(forest, |arena, node| match apart(program, node) {
        (Some(test), rest) => {
            let otherwise = arena.add(rest);
            arena.add(test.before(otherwise))
        }
        (None, node) => placed(program, arena, node),
    });
    swept(&with_places(forest, sorted))
}

/// Sorted trees in which each condition is written where it was.
fn with_places(before: &Forest, mut sorted: Forest) -> Forest {
    let asked = |node: &Node| match node {
        Node::Test { condition, .. } => Some(condition.clone()),
        Node::Case { .. } | Node::Try { .. } | Node::Act { .. } | Node::Leaf { .. } => None,
    };
    let mut written: FxHashMap<Expression, BTreeSet<Span>> = FxHashMap::default();
    for (id, place) in &before.places {
        if let Some(condition) = asked(before.arena.node(*id)) {
            written.entry(condition).or_default().insert(*place);
        }
    }
    for id in (0..sorted.arena.len() as u32).map(NodeId) {
        let here = asked(sorted.arena.node(id)).and_then(|one| written.get(&one));
        let known = sorted.places.get(&id);
        let moved = here.filter(|here| known.is_none_or(|known| !here.contains(known)));
        if let Some(place) = moved.and_then(BTreeSet::first) {
            sorted.places.insert(id, *place);
        }
    }
    sorted
}

/// A test but for where it goes if it does not hold.
struct Test {
    condition: Expression,
    likely: Probability,
    then: NodeId,
}

impl Test {
    fn before(self, otherwise: NodeId) -> Node {
        Node::Test {
            condition: self.condition,
            likely: self.likely,
            then: self.then,
            otherwise,
        }
    }
}

/// What a `match` mostly meets, as a test of its own, and the others.
fn apart(program: &Program, mut node: Node) -> (Option<Test>, Node) {
    let Node::Case { value, cases, .. } = &mut node else {
        return (None, node);
    };
    let often = |(_, likely, _): &(u64, Probability, NodeId)| *likely > Probability::EVEN;
    let most = cases.iter().position(often);
    let Some(most) = most.filter(|_| is_found_at_will(program, value)) else {
        return (None, node);
    };
    let (number, likely, then) = cases.remove(most);
    // What nobody knows stays so.
    let known = cases.iter_mut().map(|(_, other, _)| other);
    for other in known.filter(|other| **other != Probability::EVEN) {
        *other = other.within(likely.other());
    }
    let test = Test {
        condition: Expression::binary(
            Binary::Equal,
            value.clone(),
            Expression::number(number, value.result.clone()),
            Type::Bool,
        ),
        likely,
        then,
    };
    (Some(test), node)
}

/// A node, at its place among the tests behind it.
fn placed(program: &Program, arena: &mut Arena, node: Node) -> NodeId {
    let Some((first, rest)) = test(program, &node) else {
        return arena.add(node);
    };
    let Some((second, rest)) = test(program, arena.node(rest)) else {
        return arena.add(node);
    };
    let often = second.likely.behind(first.likely.other());
    if !are_apart(&first.condition, &second.condition) || often.0 <= CLEARLY * first.likely.0 {
        return arena.add(node);
    }
    let later = Test {
        likely: first.likely.within(often.other()),
        ..first
    };
    let later = placed(program, arena, later.before(rest));
    let first = Test {
        likely: often,
        ..second
    };
    arena.add(first.before(later))
}

/// A test that may be asked before others, and where it goes if it does not hold.
fn test(program: &Program, node: &Node) -> Option<(Test, NodeId)> {
    match node {
        Node::Test {
            condition,
            likely,
            then,
            otherwise,
        } if is_found_at_will(program, condition) => {
            let test = Test {
                condition: condition.clone(),
                likely: *likely,
                then: *then,
            };
            Some((test, *otherwise))
        }
        _ => None,
    }
}

/// Whether two conditions say of one thing that it has different values.
fn are_apart(one: &Expression, other: &Expression) -> bool {
    let of = |condition: &Expression| match &*condition.kind {
        ExpressionKind::Binary(Binary::Equal, of, value) => match &*value.kind {
            ExpressionKind::Constant(Value::Number(number)) => Some((of.clone(), *number)),
            _ => None,
        },
        _ => None,
    };
    match (of(one), of(other)) {
        (Some((one, number)), Some((other, another))) => one == other && number != another,
        _ => false,
    }
}
