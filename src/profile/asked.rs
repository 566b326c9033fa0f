//! How often what is written at a place is asked.
//!
//! In: trees, and how often each is run. Out: for each place in the sources how many nodes ask what
//! stands there, and how often they do for one event from outside.

use super::Analysis;
use crate::source::Span;
use crate::tree::walk::{masses, reachable};
use std::collections::{BTreeMap, BTreeSet};

/// What asks for what is written at a place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Asked {
    /// So many nodes.
    pub nodes: usize,
    /// So often for one event from outside.
    pub often: f64,
}

/// By place.
pub fn asked(analysis: &Analysis) -> BTreeMap<Span, Asked> {
    let forest = &analysis.forest;
    let mut all: BTreeMap<Span, Asked> = BTreeMap::new();
    let mut known = BTreeSet::new();
    for (tree, runs) in forest.trees.iter().zip(&analysis.runs) {
        let nodes = reachable(forest, tree.root);
        let masses = masses(forest, &nodes, tree.root, *runs);
        for node in nodes.iter().filter(|node| forest.arena.node(**node).asks()) {
            if let Some(place) = forest.places.get(node) {
                let asked = all.entry(*place).or_default();
                asked.often += masses[node];
                asked.nodes += usize::from(known.insert(*node));
            }
        }
    }
    all
}
