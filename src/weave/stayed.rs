//! What was not woven: joints that stayed calls, and why.
//!
//! In: woven trees. Out: for each tree which others it calls, or lets wait, and how often.

use super::{Limits, is_entry};
use crate::tree::walk::{masses, reachable};
use crate::tree::{Action, Forest, Goal, Node, Output, Reaction};
use crate::types::program::Program;
use std::collections::BTreeMap;

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
    /// No room is left for so many nodes, or it is on its way already.
    Large,
}

/// The joints that stayed calls, those of each tree in order.
pub fn stayed(program: &Program, forest: &Forest, limits: Limits) -> Vec<Stayed> {
    let mut all = Vec::new();
    for tree in &forest.trees {
        let is_entry = is_entry(program, tree.reaction);
        let nodes = reachable(forest, tree.root);
        let masses = masses(forest, &nodes, tree.root, 1.0);
        let mut found: BTreeMap<(Reaction, Why), f64> = BTreeMap::new();
        for node in &nodes {
            let (first, waiting) = match forest.arena.node(*node) {
                Node::Leaf { outputs } => outputs.split_at(outputs.len().min(1)),
                Node::Act {
                    action: Action::Wait(outputs) | Action::Put(outputs),
                    ..
                } => (&[][..], &outputs[..]),
                _ => continue,
            };
            let often = masses[node];
            for to in first.iter().filter_map(goal) {
                let why = match is_entry {
                    false => Why::Called,
                    true if often < limits.least => Why::Rare,
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
