//! Which states behave alike: whatever happens, they do the same and go on alike.
//!
//! In: an automaton. Out: the class of each state; that of the first state is the first.
//!
//! All states begin in one class, and each node has a number, equal for equal trees where leaves
//! differ by the classes of their states. States whose roots have other numbers leave their class;
//! then their leaves have other numbers, and so has what leads to these: only that is looked at
//! again (after Hopcroft).

use crate::tree::automaton::{Automaton, Node, NodeId, StateId};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// The class of each state.
pub fn classes(automaton: &Automaton) -> Vec<u32> {
    let mut partition = Partition::new(automaton);
    let mut other: BTreeSet<StateId> = (0..automaton.states.len() as u32).map(StateId).collect();
    while !other.is_empty() {
        let left = partition.split(&other);
        other = partition.follow(&left);
    }
    let mut found: FxHashMap<u32, u32> = FxHashMap::default();
    let classes = partition.classes.iter().map(|class| {
        let next = found.len() as u32;
        *found.entry(*class).or_insert(next)
    });
    classes.collect()
}

struct Partition<'a> {
    automaton: &'a Automaton,
    /// The number of each node.
    numbers: Vec<u32>,
    known: FxHashMap<Node, u32>,
    /// Which nodes lead to each.
    parents: Vec<Vec<NodeId>>,
    /// Of which states each node is the root, and of which the end.
    roots: FxHashMap<NodeId, Vec<StateId>>,
    leaves: FxHashMap<StateId, NodeId>,
    /// The class of each state.
    classes: Vec<u32>,
    /// By class: how many states it has, and the number of their roots.
    sizes: Vec<usize>,
    behaves: Vec<u32>,
}

impl<'a> Partition<'a> {
    fn new(automaton: &'a Automaton) -> Partition<'a> {
        let states = automaton.states.len();
        let mut partition = Partition {
            automaton,
            numbers: Vec::with_capacity(automaton.nodes.len()),
            known: FxHashMap::default(),
            parents: vec![Vec::new(); automaton.nodes.len()],
            roots: FxHashMap::default(),
            leaves: FxHashMap::default(),
            classes: vec![0; states],
            sizes: vec![states],
            behaves: vec![0],
        };
        for (at, node) in automaton.nodes.iter().enumerate() {
            let id = NodeId(at as u32);
            let number = partition.number(id);
            partition.numbers.push(number);
            match node {
                Node::Test {
                    then, otherwise, ..
                } => {
                    partition.parents[then.at()].push(id);
                    partition.parents[otherwise.at()].push(id);
                }
                Node::Act { next, .. } => partition.parents[next.at()].push(id),
                Node::Leaf(state) => drop(partition.leaves.insert(*state, id)),
                Node::Twice(_) => {}
            }
        }
        for (state, root) in automaton.states.iter().enumerate() {
            let states = partition.roots.entry(*root).or_default();
            states.push(StateId(state as u32));
        }
        partition
    }

    /// The number of a node, from those of its children: equal numbers, equal trees.
    fn number(&mut self, id: NodeId) -> u32 {
        let child = |id: NodeId| NodeId(self.numbers[id.at()]);
        let node = match self.automaton.node(id) {
            Node::Test {
                question,
                then,
                otherwise,
            } => {
                let (then, otherwise) = (child(*then), child(*otherwise));
                if then == otherwise && self.automaton.is_harmless(*question) {
                    return then.0;
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
            Node::Leaf(state) => Node::Leaf(StateId(self.classes[state.at()])),
            Node::Twice(signal) => Node::Twice(*signal),
        };
        let next = self.known.len() as u32;
        *self.known.entry(node).or_insert(next)
    }

    /// These states may behave otherwise than the rest of their classes: those that do leave them.
    fn split(&mut self, states: &BTreeSet<StateId>) -> Vec<StateId> {
        let mut groups: BTreeMap<(u32, u32), Vec<StateId>> = BTreeMap::new();
        // How many of each class are still to be looked at.
        let mut others: BTreeMap<u32, usize> = BTreeMap::new();
        for state in states {
            let class = self.classes[state.at()];
            let number = self.numbers[self.automaton.states[state.at()].at()];
            groups.entry((class, number)).or_default().push(*state);
            *others.entry(class).or_default() += 1;
        }
        let mut left = Vec::new();
        for ((class, number), group) in groups {
            let at = class as usize;
            if others.get(&class) == Some(&self.sizes[at]) {
                // Nobody else is in this class: the first of them may as well stay.
                self.behaves[at] = number;
                others.remove(&class);
            }
            if self.behaves[at] == number {
                continue;
            }
            self.sizes[at] -= group.len();
            others
                .entry(class)
                .and_modify(|others| *others -= group.len());
            let new = self.sizes.len() as u32;
            self.sizes.push(group.len());
            self.behaves.push(number);
            for state in &group {
                self.classes[state.at()] = new;
            }
            left.extend(group);
        }
        left
    }

    /// What leads to these states has other numbers now: whose roots do?
    fn follow(&mut self, left: &[StateId]) -> BTreeSet<StateId> {
        let mut other = BTreeSet::new();
        let leaves = left.iter().filter_map(|state| self.leaves.get(state));
        let mut open: BTreeSet<NodeId> = leaves.copied().collect();
        // Children stand before those that lead to them.
        while let Some(id) = open.pop_first() {
            let number = self.number(id);
            if number == self.numbers[id.at()] {
                continue;
            }
            self.numbers[id.at()] = number;
            open.extend(&self.parents[id.at()]);
            other.extend(self.roots.get(&id).into_iter().flatten());
        }
        other
    }
}
