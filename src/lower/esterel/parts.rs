//! Nodes of an automaton that begin functions: the roots of states, what several ways share, and
//! what would make a function long.
//!
//! In: an automaton. Out: by node, the name of its function.

use crate::tree::automaton::{Automaton, Node, NodeId};
use std::collections::BTreeMap;

/// A rest of at most this many nodes may be duplicated.
const SHORT: usize = 4;

/// A state of more nodes than this is split into several functions.
const LONG: usize = 50;

/// The nodes that begin functions.
pub struct Parts {
    /// By root: the first state that begins there.
    pub states: BTreeMap<NodeId, usize>,
    /// By node: the name of its function.
    pub names: BTreeMap<NodeId, String>,
    /// By node: how many lines it takes where it stands.
    pub lines: Vec<usize>,
}

impl Parts {
    /// The parts of an automaton.
    pub fn new(automaton: &Automaton) -> Parts {
        let mut ways = vec![0_u32; automaton.nodes.len()];
        for node in &automaton.nodes {
            for next in node.children() {
                ways[next.at()] += 1;
            }
        }
        let mut parts = Parts {
            states: BTreeMap::new(),
            names: BTreeMap::new(),
            lines: Vec::with_capacity(automaton.nodes.len()),
        };
        for (state, root) in automaton.states.iter().enumerate() {
            let name = || format!("state_{state}");
            parts.names.entry(*root).or_insert_with(name);
            parts.states.entry(*root).or_insert(state);
        }
        for (at, ways) in ways.into_iter().enumerate() {
            let node = NodeId(at as u32);
            let lines = parts.lines_of(automaton, node);
            parts.lines.push(lines);
            let shared = ways > 1 && lines > SHORT;
            if (shared || lines > LONG) && !parts.names.contains_key(&node) {
                let number = parts.names.len() + 1 - parts.states.len();
                parts.names.insert(node, format!("part_{number}"));
            }
        }
        parts
    }

    /// A node is called as a function; what is short stands where it is needed.
    pub fn is_called(&self, node: NodeId) -> bool {
        self.names.contains_key(&node) && self.lines[node.at()] > SHORT
    }

    /// How many lines a node takes in a function that it does not begin.
    fn lines_of(&self, automaton: &Automaton, node: NodeId) -> usize {
        let of = |next: NodeId| match self.is_called(next) {
            true => 1,
            false => self.lines[next.at()],
        };
        match automaton.node(node) {
            Node::Test {
                then, otherwise, ..
            } => 2 + of(*then) + of(*otherwise),
            Node::Act { next, .. } => 1 + of(*next),
            Node::Leaf(_) | Node::Twice(_) => 1,
        }
    }
}
