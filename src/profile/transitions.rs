//! Trees -> the most frequent paths: the fewest transitions that carry a given share of the work.
//!
//! In: trees, and how often each is run. Out: transitions, the most frequent first. A transition
//! is a way from the root of a tree to a leaf: an event, and what came out of each test on the way
//! (HIPPCO 3.2); its share is the product of theirs.

use crate::tree::walk::ways;
use crate::tree::{Forest, Node, NodeId};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// After so many steps of the search what is found is all.
const STEPS: usize = 200_000;

/// A way from the root of a tree to a leaf.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    /// Which tree, in the order of the forest.
    pub tree: usize,
    /// How much of the work it carries: its share of all transitions.
    pub share: f64,
    /// The nodes on the way, from the root to the leaf.
    pub nodes: Vec<NodeId>,
}

/// The fewest transitions with so large a share of all, the most frequent first; fewer of them
/// where the search takes too long. Trees are run so often.
pub fn transitions(forest: &Forest, runs: &[f64], share: f64) -> Vec<Transition> {
    let all: f64 = runs.iter().sum();
    let mut open: BinaryHeap<Open> = BinaryHeap::new();
    for (tree, often) in runs.iter().enumerate().filter(|(_, often)| **often > 0.0) {
        let nodes = vec![forest.trees[tree].root];
        open.push(Open(Transition {
            tree,
            share: often / all,
            nodes,
        }));
    }
    let (mut found, mut carried) = (Vec::new(), 0.0);
    for _ in 0..STEPS {
        let Some(Open(mut way)) = open.pop().filter(|_| carried < share) else {
            break;
        };
        let mut at = *way.nodes.last().expect("a way has a root");
        while let Node::Act { next, .. } = forest.arena.node(at) {
            way.nodes.push(*next);
            at = *next;
        }
        let node = forest.arena.node(at);
        if let Node::Leaf { .. } = node {
            carried += way.share;
            found.push(way);
            continue;
        }
        for (next, often) in ways(node).into_iter().filter(|(_, often)| *often > 0.0) {
            let mut other = way.clone();
            other.share *= often;
            other.nodes.push(next);
            open.push(Open(other));
        }
    }
    found
}

/// A transition that has not come to its leaf: the most frequent is the greatest.
struct Open(Transition);

impl Ord for Open {
    fn cmp(&self, other: &Open) -> Ordering {
        let (one, other) = (&self.0, &other.0);
        one.share
            .total_cmp(&other.share)
            .then_with(|| (other.tree, &other.nodes).cmp(&(one.tree, &one.nodes)))
    }
}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Open) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Open {
    fn eq(&self, other: &Open) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Open {}
