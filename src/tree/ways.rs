//! The ways of a forest: where each tree begins, and whatever leads out of a node that asks.
//!
//! In: trees that no rewrite has seen. Out: their ways, in an order that the trees alone decide;
//! the same trees, each way of which says that it is taken; and what people call a way.
//!
//! ```text
//! tree arrive sequencer 0 only 0 deliver      0  arrive sequencer 0 only 0 deliver
//!   test (header(number) > last)              1  sequencer.loom:24 yes
//!     ..                                      2  sequencer.loom:24 no
//! ```

use super::text::Names;
use super::walk::{children, reachable, with_children};
use super::{Action, Arena, Forest, Node, NodeId};
use crate::source::Sources;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// A way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Way {
    /// The tree, by its place in the forest: the first that has it.
    pub tree: usize,
    /// From which node, and which of its children it leads to; none where the tree begins.
    pub from: Option<(NodeId, usize)>,
}

/// All ways, tree by tree, each node behind those that lead to it. A node that several trees share
/// has its ways once.
pub fn ways(forest: &Forest) -> Vec<Way> {
    let mut all = Vec::new();
    let mut known = BTreeSet::new();
    for (tree, beginning) in forest.trees.iter().enumerate() {
        all.push(Way { tree, from: None });
        for node in reachable(forest, beginning.root).into_iter().rev() {
            if forest.arena.node(node).asks() && known.insert(node) {
                let out = children(forest.arena.node(node)).len();
                all.extend((0..out).map(|way| Way {
                    tree,
                    from: Some((node, way)),
                }));
            }
        }
    }
    all
}

impl Node {
    /// Whether it has ways.
    pub fn asks(&self) -> bool {
        match self {
            Node::Test { .. } | Node::Case { .. } | Node::Try { .. } => true,
            Node::Act { .. } | Node::Leaf { .. } => false,
        }
    }
}

/// The same trees, in which each way says that it is taken, by its place among all.
pub fn counted(forest: &Forest) -> Forest {
    let numbers: FxHashMap<Way, u32> = ways(forest).into_iter().zip(0..).collect();
    let known = numbers
        .iter()
        .filter_map(|(way, at)| Some((way.from?, *at)));
    let known: FxHashMap<(NodeId, usize), u32> = known.collect();
    let mut arena = Arena::default();
    let mut new: FxHashMap<NodeId, NodeId> = FxHashMap::default();
    let mut trees = forest.trees.clone();
    for (at, tree) in trees.iter_mut().enumerate() {
        for id in reachable(forest, tree.root) {
            if new.contains_key(&id) {
                continue;
            }
            let mut way = 0..;
            let node = with_children(forest.arena.node(id).clone(), |child| {
                let passed = way.next().and_then(|way| known.get(&(id, way)));
                behind(&mut arena, passed, new[&child])
            });
            new.insert(id, arena.add(node));
        }
        let begins = Way {
            tree: at,
            from: None,
        };
        tree.root = behind(&mut arena, numbers.get(&begins), new[&tree.root]);
    }
    Forest {
        arena,
        trees,
        locals: forest.locals.clone(),
        ..Forest::default()
    }
}

/// A node behind the step that counts its way, if it has one.
fn behind(arena: &mut Arena, way: Option<&u32>, next: NodeId) -> NodeId {
    match way {
        Some(way) => arena.add(Node::Act {
            action: Action::Pass(*way),
            next,
        }),
        None => next,
    }
}

/// What people call a way: the line that asks, and the answer; or the reaction that begins.
pub fn called(sources: &Sources, names: &Names, forest: &Forest, way: Way) -> String {
    let reaction = || names.reaction(forest.trees[way.tree].reaction);
    let Some((node, out)) = way.from else {
        return reaction();
    };
    let place = forest.places.get(&node).map(|span| {
        let name = sources.name(span.file);
        let file = name.rsplit('/').next().unwrap_or(name);
        format!("{file}:{}", sources.position(*span).line)
    });
    let answer = answer(forest.arena.node(node), out);
    format!("{} {answer}", place.unwrap_or_else(reaction))
}

/// Which answer of a node leads there.
fn answer(node: &Node, out: usize) -> String {
    let word = |first: &str, second: &str| if out == 0 { first } else { second }.to_string();
    match node {
        Node::Test { .. } => word("yes", "no"),
        Node::Try { .. } => word("done", "failed"),
        Node::Case { cases, .. } => cases
            .get(out)
            .map_or("else".to_string(), |(value, ..)| format!("case {value}")),
        Node::Act { .. } | Node::Leaf { .. } => unreachable!("only a node that asks has ways"),
    }
}
