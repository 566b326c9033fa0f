//! What nobody asks for any more is not bound: behind rewrites that take tests away.
//!
//! In: trees. Out: the same, without steps that give a name to a number which nothing behind them
//! reads, without tests all of whose ways are one, and without nodes that no tree reaches. What
//! turns of a loop bind stays, for the next turn may read it.
//!
//! Assumes: a name is read behind where it is bound. Ensures: the same outputs and state. Cost:
//! none.

use super::states::is_found_at_will;
use super::value::is_plain;
use super::value::named;
use crate::tree::walk::{children, reachable, remade};
use crate::tree::{Action, Forest, Node, NodeId};
use crate::types::program::{LocalId, Program};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Trees without names that are not asked for.
pub fn forget(program: &Program, forest: &Forest) -> Forest {
    let turning = turning(forest);
    let mut asked: FxHashMap<NodeId, BTreeSet<LocalId>> = FxHashMap::default();
    remade(forest, |arena, node| {
        match &node {
            Node::Act {
                action: Action::Let(local, value),
                next,
            } if is_plain(&value.result)
                && is_found_at_will(program, value)
                && !turning.contains(local)
                && !asked[next].contains(local) =>
            {
                return *next;
            }
            Node::Test {
                condition: value,
                then: one,
                ..
            }
            | Node::Case {
                value,
                otherwise: one,
                ..
            } if is_found_at_will(program, value)
                && children(&node).iter().all(|other| other == one) =>
            {
                return *one;
            }
            _stays => {}
        }
        let mut asks = named(|naming| drop(naming.node(&node)));
        for child in children(&node) {
            asks.extend(asked[&child].iter().copied());
        }
        let id = arena.add(node);
        asked.insert(id, asks);
        id
    })
}

/// The locals that turns bind.
fn turning(forest: &Forest) -> BTreeSet<LocalId> {
    let mut turning = BTreeSet::new();
    turns(forest, |node| {
        if let Node::Act {
            action: Action::Let(local, _),
            ..
        } = node
        {
            turning.insert(*local);
        }
    });
    turning
}

/// Looks at what stands in turns of loops.
pub fn turns(forest: &Forest, mut look: impl FnMut(&Node)) {
    for tree in &forest.trees {
        for node in reachable(forest, tree.root) {
            let node = forest.arena.node(node);
            let mut inside = children(node);
            match node {
                Node::Act { .. } => drop(inside.pop()),
                Node::Leaf { .. } => {}
                Node::Test { .. } | Node::Case { .. } | Node::Try { .. } => inside.clear(),
            }
            let inside = inside.into_iter().flat_map(|body| reachable(forest, body));
            inside.for_each(|node| look(forest.arena.node(node)));
        }
    }
}
