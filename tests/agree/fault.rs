//! Faults planted in trees, to be found.

use stackloom::tree::walk::{reachable, with_children};
use stackloom::tree::{Action, Arena, Forest, Node, NodeId, Output, Tree};
use std::collections::{BTreeSet, HashMap};

/// Forests that are like this one but for one fault each in some of its trees, and what it is.
pub fn faults(forest: &Forest, among: &[Tree]) -> Vec<(String, Forest)> {
    let roots = among.iter();
    let nodes: BTreeSet<NodeId> = roots
        .flat_map(|tree| reachable(forest, tree.root))
        .collect();
    let mut all = Vec::new();
    for id in nodes {
        let node = forest.arena.node(id);
        for (what, faulty) in faulty(node, forest) {
            all.push((what, planted(forest, id, &faulty)));
        }
    }
    all
}

/// A node with a fault.
fn faulty(node: &Node, forest: &Forest) -> Vec<(String, Node)> {
    match node {
        Node::Test {
            condition,
            likely,
            then,
            otherwise,
        } => {
            let turned = Node::Test {
                condition: condition.clone(),
                likely: *likely,
                then: *otherwise,
                otherwise: *then,
            };
            vec![(format!("a test turned: {condition:?}"), turned)]
        }
        Node::Act { action, next } => match action {
            Action::Assign(..)
            | Action::Count(_)
            | Action::Pass(_)
            | Action::StartTimer(..)
            | Action::StopTimer(..)
            | Action::Push { .. }
            | Action::SetAttribute(..) => {
                let left_out = forest.arena.node(*next).clone();
                vec![(format!("a step left out: {action:?}"), left_out)]
            }
            Action::Answer(_) => {
                let left_out = forest.arena.node(*next).clone();
                vec![(format!("an answer left out: {action:?}"), left_out)]
            }
            Action::Let(..)
            | Action::Strip(..)
            | Action::StripRest(..)
            | Action::Sum { .. }
            | Action::Scan { .. }
            | Action::Do(_)
            | Action::Drop(..)
            | Action::DropAll(..)
            | Action::Consume(_)
            | Action::End(..)
            | Action::Free(..)
            | Action::Loop(_)
            | Action::Wait(_)
            | Action::Begin
            | Action::Put(_)
            | Action::Turn
            | Action::AtOnce
            | Action::Mark(_)
            | Action::Precede(..) => Vec::new(),
        },
        Node::Leaf { outputs } => faulty_outputs(outputs),
        Node::Case { .. } | Node::Try { .. } => Vec::new(),
    }
}

fn faulty_outputs(outputs: &[Output]) -> Vec<(String, Node)> {
    let mut all = Vec::new();
    if !outputs.is_empty() {
        let fewer = outputs[1..].to_vec();
        let what = format!("an output left out: {:?}", outputs[0]);
        all.push((what, Node::Leaf { outputs: fewer }));
    }
    if outputs.len() > 1 {
        let mut swapped = outputs.to_vec();
        swapped.swap(0, 1);
        let what = format!("outputs swapped: {outputs:?}");
        all.push((what, Node::Leaf { outputs: swapped }));
    }
    all
}

/// A forest with another node in the place of one.
fn planted(forest: &Forest, at: NodeId, faulty: &Node) -> Forest {
    let mut arena = Arena::default();
    let mut new = HashMap::new();
    for place in 0..forest.arena.len() as u32 {
        let id = NodeId(place);
        let node = if id == at {
            faulty
        } else {
            forest.arena.node(id)
        };
        let node = with_children(node.clone(), |child| new[&child]);
        new.insert(id, arena.add(node));
    }
    let mut trees = forest.trees.clone();
    for tree in &mut trees {
        tree.root = new[&tree.root];
    }
    Forest {
        arena,
        locals: forest.locals.clone(),
        trees,
        ..Forest::default()
    }
}
