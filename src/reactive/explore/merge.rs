//! Whole automata: states that behave alike become one (HIPPCO 7, M), and what is emitted twice.

use super::alike::classes;
use crate::tree::automaton::{Automaton, Node, NodeId, StateId};
use crate::types::process::SignalId;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// The same automaton with one state for all that behave alike.
pub fn alike(automaton: &Automaton) -> Automaton {
    let classes = classes(automaton);
    // The first state of each class stands for it.
    let mut states: Vec<NodeId> = Vec::new();
    let mut rests = Vec::new();
    for (at, (class, root)) in classes.iter().zip(&automaton.states).enumerate() {
        if *class as usize == states.len() {
            states.push(*root);
            rests.push(automaton.rests.get(at).cloned().unwrap_or_default());
        }
    }
    let mut whole = rebuilt(automaton, &classes, &states);
    whole.rests = rests;
    whole
}

/// One state for each class, with these roots.
fn rebuilt(automaton: &Automaton, classes: &[u32], wanted: &[NodeId]) -> Automaton {
    let mut whole = Automaton::new(automaton.risky.clone());
    let mut moved: FxHashMap<NodeId, NodeId> = FxHashMap::default();
    let reached = automaton.reached(wanted.iter().copied());
    for (at, node) in automaton.nodes.iter().enumerate() {
        let id = NodeId(at as u32);
        if !reached.contains(&id) {
            continue;
        }
        let new = match node {
            Node::Test {
                question,
                then,
                otherwise,
            } => whole.test(*question, moved[then], moved[otherwise]),
            Node::Act { act, next } => whole.add(Node::Act {
                act: *act,
                next: moved[next],
            }),
            Node::Leaf(state) => whole.add(Node::Leaf(StateId(classes[state.at()]))),
            Node::Twice(signal) => whole.add(Node::Twice(*signal)),
        };
        moved.insert(id, new);
    }
    whole.states = wanted.iter().map(|root| moved[root]).collect();
    whole
}

/// A signal that is emitted twice sooner or later, whatever is given.
pub fn doomed(automaton: &Automaton) -> Option<SignalId> {
    let mut states: Vec<Option<SignalId>> = vec![None; automaton.states.len()];
    loop {
        let mut nodes: Vec<Option<SignalId>> = Vec::with_capacity(automaton.nodes.len());
        for node in &automaton.nodes {
            nodes.push(match node {
                Node::Test {
                    then, otherwise, ..
                } => nodes[then.at()].and(nodes[otherwise.at()]),
                Node::Act { next, .. } => nodes[next.at()],
                Node::Leaf(state) => states[state.at()],
                Node::Twice(signal) => Some(*signal),
            });
        }
        let mut changed = false;
        for (state, root) in states.iter_mut().zip(&automaton.states) {
            if state.is_none() && nodes[root.at()].is_some() {
                *state = nodes[root.at()];
                changed = true;
            }
        }
        if !changed || states[0].is_some() {
            return states[0];
        }
    }
}

/// The signals that may be emitted twice.
pub fn emitted_twice(automaton: &Automaton) -> Vec<SignalId> {
    let twice = automaton.nodes.iter().filter_map(|node| match node {
        Node::Twice(signal) => Some(*signal),
        Node::Test { .. } | Node::Act { .. } | Node::Leaf(_) => None,
    });
    let all: BTreeSet<SignalId> = twice.collect();
    all.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::automaton::{Act, Question};

    /// A random automaton of so many states, in each of which happens what happens in one of so
    /// many kinds.
    fn random(rng: &mut fastrand::Rng, states: u32, kinds: u32) -> Automaton {
        let kind = |rng: &mut fastrand::Rng| (rng.u32(..kinds), rng.u32(..kinds), rng.u8(..8));
        let all: Vec<(u32, u32, u8)> = (0..kinds).map(|_| kind(rng)).collect();
        let mut automaton = Automaton::default();
        for state in 0..states {
            let (then, otherwise, acts) = all[(state % kinds) as usize];
            let mut leaf = |kind: u32, automaton: &mut Automaton| {
                let copies = (states - kind).div_ceil(kinds);
                let state = StateId(kind + kinds * rng.u32(..copies));
                automaton.add(Node::Leaf(state))
            };
            let then = leaf(then, &mut automaton);
            let otherwise = leaf(otherwise, &mut automaton);
            let act = Act::Keep(SignalId(0));
            let then = match acts {
                0 => automaton.add(Node::Act { act, next: then }),
                _ => then,
            };
            let root = automaton.test(Question::Given(SignalId(0)), then, otherwise);
            automaton.states.push(root);
        }
        automaton
    }

    /// What an instant does, and the state after it.
    fn instant(automaton: &Automaton, state: StateId, given: bool) -> (Vec<Act>, StateId) {
        let mut did = Vec::new();
        let mut at = automaton.states[state.at()];
        loop {
            at = match automaton.node(at) {
                Node::Test {
                    then, otherwise, ..
                } => [*otherwise, *then][usize::from(given)],
                Node::Act { act, next } => {
                    did.push(*act);
                    *next
                }
                Node::Leaf(next) => return (did, *next),
                Node::Twice(_) => unreachable!("nothing is emitted"),
            };
        }
    }

    /// Whether so many instants tell two states apart.
    fn told_apart(
        automaton: &Automaton,
        (one, other): (StateId, StateId),
        instants: usize,
    ) -> bool {
        instants > 0
            && [false, true].into_iter().any(|given| {
                let (did, one) = instant(automaton, one, given);
                let (also, other) = instant(automaton, other, given);
                did != also || told_apart(automaton, (one, other), instants - 1)
            })
    }

    fn pairs(states: u32) -> impl Iterator<Item = (StateId, StateId)> {
        (0..states).flat_map(|one| (0..one).map(move |other| (StateId(one), StateId(other))))
    }

    #[test]
    fn states_are_one_exactly_if_nothing_tells_them_apart() {
        let mut rng = fastrand::Rng::with_seed(7);
        for _ in 0..300 {
            let states = rng.u32(2..9);
            let automaton = random(&mut rng, states, states);
            let classes = classes(&automaton);
            for (one, other) in pairs(states) {
                let same = classes[one.at()] == classes[other.at()];
                // As many instants as there are states tell all apart that can be.
                let told = told_apart(&automaton, (one, other), states as usize);
                assert_eq!(same, !told, "{one:?} {other:?} {automaton:?}");
            }
            let largest = classes.iter().max().expect("there are states");
            assert_eq!(alike(&automaton).states.len() as u32, largest + 1);
        }
    }

    #[test]
    fn states_that_are_one_do_the_same_and_go_on_alike() {
        let mut rng = fastrand::Rng::with_seed(8);
        for _ in 0..500 {
            let kinds = rng.u32(2..9);
            let states = rng.u32(9..60);
            let automaton = random(&mut rng, states, kinds);
            let classes = classes(&automaton);
            assert!(classes.iter().max() < Some(&kinds));
            let same = |(one, other): &(StateId, StateId)| classes[one.at()] == classes[other.at()];
            for (one, other) in pairs(states).filter(same) {
                for given in [false, true] {
                    let (did, one) = instant(&automaton, one, given);
                    let (also, other) = instant(&automaton, other, given);
                    assert_eq!((did, classes[one.at()]), (also, classes[other.at()]));
                }
            }
        }
    }
}
