//! Whole automata: states that behave alike become one (HIPPCO 7, M), and what is emitted twice.

use super::alike::classes;
use crate::tree::automaton::{Automaton, Node, NodeId, StateId};
use crate::types::process::SignalId;
use std::collections::{BTreeSet, HashMap};

/// The same automaton with one state for all that behave alike.
pub fn alike(automaton: &Automaton) -> Automaton {
    let classes = classes(automaton);
    // The first state of each class stands for it.
    let mut states: Vec<NodeId> = Vec::new();
    for (class, root) in classes.iter().zip(&automaton.states) {
        if *class as usize == states.len() {
            states.push(*root);
        }
    }
    rebuilt(automaton, &classes, &states)
}

/// One state for each class, with these roots.
fn rebuilt(automaton: &Automaton, classes: &[u32], wanted: &[NodeId]) -> Automaton {
    let mut whole = Automaton::new(automaton.risky.clone());
    let mut moved: HashMap<NodeId, NodeId> = HashMap::new();
    let reachable = reachable(automaton, wanted);
    for (at, node) in automaton.nodes.iter().enumerate() {
        let id = NodeId(at as u32);
        if !reachable.contains(&id) {
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

fn reachable(automaton: &Automaton, roots: &[NodeId]) -> BTreeSet<NodeId> {
    let mut found = BTreeSet::new();
    let mut open = roots.to_vec();
    while let Some(id) = open.pop() {
        if !found.insert(id) {
            continue;
        }
        match automaton.node(id) {
            Node::Test {
                then, otherwise, ..
            } => open.extend([*then, *otherwise]),
            Node::Act { next, .. } => open.push(*next),
            Node::Leaf(_) | Node::Twice(_) => {}
        }
    }
    found
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

    /// A random automaton of so many states.
    fn random(rng: &mut fastrand::Rng, states: u32) -> Automaton {
        let mut automaton = Automaton::default();
        for _ in 0..states {
            let mut leaf =
                |automaton: &mut Automaton| automaton.add(Node::Leaf(StateId(rng.u32(..states))));
            let (then, otherwise) = (leaf(&mut automaton), leaf(&mut automaton));
            let signal = SignalId(rng.u32(..2));
            let act = Act::Keep(signal);
            let then = match rng.u8(..4) {
                0 => automaton.add(Node::Act { act, next: then }),
                _ => then,
            };
            let root = automaton.test(Question::Given(SignalId(0)), then, otherwise);
            automaton.states.push(root);
        }
        automaton
    }

    /// Whether two states behave alike, as far as so many instants tell.
    fn same(automaton: &Automaton, one: StateId, other: StateId, instants: usize) -> bool {
        let run = |mut state: StateId, inputs: usize| {
            let mut did = Vec::new();
            for instant in 0..instants {
                let mut at = automaton.states[state.at()];
                loop {
                    at = match automaton.node(at) {
                        Node::Test {
                            then, otherwise, ..
                        } => [*otherwise, *then][inputs >> instant & 1],
                        Node::Act { act, next } => {
                            did.push((instant, *act));
                            *next
                        }
                        Node::Leaf(next) => {
                            state = *next;
                            break;
                        }
                        Node::Twice(_) => unreachable!("nothing is emitted"),
                    };
                }
            }
            did
        };
        (0..1 << instants).all(|inputs| run(one, inputs) == run(other, inputs))
    }

    #[test]
    fn states_are_one_exactly_if_nothing_tells_them_apart() {
        let mut rng = fastrand::Rng::with_seed(7);
        for _ in 0..300 {
            let states = rng.u32(2..9);
            let automaton = random(&mut rng, states);
            let classes = classes(&automaton);
            for one in 0..states {
                for other in 0..one {
                    let alike = classes[one as usize] == classes[other as usize];
                    // As many instants as there are states tell all apart that can be.
                    let same = same(&automaton, StateId(one), StateId(other), states as usize);
                    assert_eq!(alike, same, "{one} {other} {automaton:?}");
                }
            }
            let merged = alike(&automaton);
            let largest = classes.iter().max().expect("there are states");
            assert_eq!(merged.states.len() as u32, largest + 1);
        }
    }
}
