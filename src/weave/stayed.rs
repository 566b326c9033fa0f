//! What was woven, and what was not: joints that stayed calls, and why.
//!
//! In: woven trees. Out: for each tree which others stand in it, and which it calls, or lets wait,
//! and how often.

use super::{Limits, comes_again};
use crate::tree::walk::{masses, reachable};
use crate::tree::{Action, Forest, Goal, Node, NodeId, Output, Reaction};
use crate::types::program::Program;
use std::collections::{BTreeMap, BTreeSet};

/// A joint that stayed a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Stayed {
    /// From the tree of this reaction.
    pub from: Reaction,
    /// To the tree of this one.
    pub to: Reaction,
    /// How often for one run of the first.
    pub often: f64,
    /// How many nodes the second has.
    pub nodes: usize,
    /// Why it was not woven in.
    pub why: Why,
}

/// Why a tree does not stand in the leaf that lets it happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// Another output comes first: it waits on the agenda.
    Second,
    /// Trees are woven into those alone that an event from outside starts, or a timer.
    Called,
    /// The leaf is reached too rarely.
    Rare,
    /// It comes again, and has a fast path of its own, which stands once.
    Again,
    /// No room is left for so many nodes, or it is on its way already.
    Large,
}

/// A joint that is none any more: a tree that stands in the leaves of another.
#[derive(Clone, Debug, PartialEq)]
pub struct Joined {
    /// In the tree of this reaction.
    pub from: Reaction,
    /// That of this one.
    pub to: Reaction,
    /// How often for one run of the first.
    pub often: f64,
    /// At how many places.
    pub places: usize,
    /// How many nodes that are.
    pub nodes: usize,
}

/// The joints that are none any more, those of each tree in order.
pub fn joined(forest: &Forest) -> Vec<Joined> {
    let mut all = Vec::new();
    for tree in &forest.trees {
        let nodes = reachable(forest, tree.root);
        let masses = masses(forest, &nodes, tree.root, 1.0);
        let mut found: BTreeMap<Reaction, (f64, usize, BTreeSet<NodeId>)> = BTreeMap::new();
        for node in nodes.iter().filter(|node| **node != tree.root) {
            if let Some(to) = forest.origins.get(node) {
                let (often, places, own) = found.entry(*to).or_default();
                *often += masses[node];
                *places += 1;
                own.extend(reachable(forest, *node));
            }
        }
        all.extend(found.into_iter().map(|(to, (often, places, own))| Joined {
            from: tree.reaction,
            to,
            often,
            places,
            nodes: own.len(),
        }));
    }
    all
}

/// The joints that stayed calls, those of each tree in order.
pub fn stayed(program: &Program, forest: &Forest, limits: Limits) -> Vec<Stayed> {
    let mut all = Vec::new();
    for tree in &forest.trees {
        let is_woven = limits.weave_into(program, tree.reaction);
        let nodes = reachable(forest, tree.root);
        let masses = masses(forest, &nodes, tree.root, 1.0);
        let mut found: BTreeMap<(Reaction, Why), f64> = BTreeMap::new();
        for node in &nodes {
            let (first, waiting) = match forest.arena.node(*node) {
                Node::Leaf { outputs } => outputs.split_at(outputs.len().min(1)),
                Node::Act {
                    action: Action::Wait(outputs) | Action::Put(outputs) | Action::Answer(outputs),
                    ..
                } => (&[][..], &outputs[..]),
                _ => continue,
            };
            let often = masses[node];
            for to in first.iter().filter_map(goal) {
                let why = match is_woven {
                    false => Why::Called,
                    true if often < limits.least => Why::Rare,
                    true if comes_again(to) => Why::Again,
                    true => Why::Large,
                };
                *found.entry((to, why)).or_default() += often;
            }
            for to in waiting.iter().filter_map(goal) {
                *found.entry((to, Why::Second)).or_default() += often;
            }
        }
        let size = |to: Reaction| {
            let mut trees = forest.trees.iter();
            let tree = trees.find(|tree| tree.reaction == to);
            tree.map_or(0, |tree| reachable(forest, tree.root).len())
        };
        all.extend(found.into_iter().map(|((to, why), often)| Stayed {
            from: tree.reaction,
            to,
            often,
            nodes: size(to),
            why,
        }));
    }
    all
}

/// The tree that an output starts.
fn goal(output: &Output) -> Option<Reaction> {
    match output {
        Output::One {
            goal: Goal::Reaction(to, _),
            ..
        }
        | Output::Every {
            goal: Goal::Reaction(to, _),
            ..
        } => Some(*to),
        Output::One { .. } | Output::Every { .. } | Output::Many(_) => None,
    }
}
