//! Whole automata: states that behave alike become one (HIPPCO 7, M), and what is emitted twice.

use crate::tree::automaton::{Automaton, Node, NodeId, StateId};
use crate::types::process::SignalId;
use std::collections::{BTreeSet, HashMap};

/// The same automaton with one state for all that behave alike: whatever happens, they do the same
/// and go on alike. States are told apart until nothing tells any more apart.
pub fn alike(automaton: &Automaton) -> Automaton {
    let mut classes = vec![0_u32; automaton.states.len()];
    let mut count = 1;
    loop {
        let told = told_apart(automaton, &classes);
        let now = told.iter().max().map_or(0, |last| last + 1);
        classes = told;
        if now == count {
            break;
        }
        count = now;
    }
    rebuilt(automaton, &classes, count)
}

/// The class of each state where leaves are told apart by these classes; that of the first state
/// is the first.
fn told_apart(automaton: &Automaton, classes: &[u32]) -> Vec<u32> {
    // Each node by what it is, children by their number: equal numbers, equal trees.
    let mut numbers: Vec<u32> = Vec::with_capacity(automaton.nodes.len());
    let mut known: HashMap<Node, u32> = HashMap::new();
    for node in &automaton.nodes {
        let child = |id: NodeId| NodeId(numbers[id.at()]);
        let node = match node {
            Node::Test {
                question,
                then,
                otherwise,
            } => {
                let (then, otherwise) = (child(*then), child(*otherwise));
                if then == otherwise && automaton.is_harmless(*question) {
                    numbers.push(then.0);
                    continue;
                }
                Node::Test {
                    question: *question,
                    then,
                    otherwise,
                }
            }
            Node::Act { act, next } => Node::Act {
                act: *act,
                next: child(*next),
            },
            Node::Leaf(state) => Node::Leaf(StateId(classes[state.at()])),
            Node::Twice(signal) => Node::Twice(*signal),
        };
        let next = known.len() as u32;
        numbers.push(*known.entry(node).or_insert(next));
    }
    let mut found: HashMap<(u32, u32), u32> = HashMap::new();
    let roots = automaton.states.iter().zip(classes);
    roots
        .map(|(root, class)| {
            let next = found.len() as u32;
            let told = (*class, numbers[root.at()]);
            *found.entry(told).or_insert(next)
        })
        .collect()
}

/// One state for each class.
fn rebuilt(automaton: &Automaton, classes: &[u32], count: u32) -> Automaton {
    let mut whole = Automaton::new(automaton.risky.clone());
    let mut moved: HashMap<NodeId, NodeId> = HashMap::new();
    let representative = |class: u32| {
        let mut all = classes.iter();
        all.position(|one| *one == class)
            .expect("a class has a state")
    };
    let wanted: Vec<NodeId> = (0..count)
        .map(|class| automaton.states[representative(class)])
        .collect();
    let reachable = reachable(automaton, &wanted);
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
