//! Walks over trees: what a node leads to, and how often.

use super::{Action, Arena, Forest, Goal, Node, NodeId, Output, Probability, Reaction};
use crate::types::constant::fold_number;
use crate::types::program::Program;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// The nodes below a root, children first.
pub fn reachable(forest: &Forest, root: NodeId) -> Vec<NodeId> {
    let mut found = BTreeSet::new();
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        if found.insert(node) {
            open.extend(children(forest.arena.node(node)));
        }
    }
    found.into_iter().collect()
}

/// How often each node is reached when the root is reached so often.
pub fn masses(
    forest: &Forest,
    nodes: &[NodeId],
    root: NodeId,
    mass: f64,
) -> FxHashMap<NodeId, f64> {
    let mut masses: FxHashMap<NodeId, f64> = nodes.iter().map(|node| (*node, 0.0)).collect();
    masses.insert(root, mass);
    for node in nodes.iter().rev() {
        let here = masses[node];
        for (child, share) in ways(forest.arena.node(*node)) {
            *masses.entry(child).or_default() += here * share;
        }
    }
    masses
}

/// A node's children and how often each is taken.
pub fn ways(node: &Node) -> Vec<(NodeId, f64)> {
    let share = |p: Probability| f64::from(p.0) / 1e6;
    match node {
        Node::Test {
            likely,
            then: a,
            otherwise: b,
            ..
        }
        | Node::Try {
            likely,
            done: a,
            failed: b,
            ..
        } => vec![(*a, share(*likely)), (*b, share(likely.other()))],
        Node::Case {
            cases, otherwise, ..
        } => {
            let sum: f64 = cases.iter().map(|(_, p, _)| share(*p)).sum();
            let scale = if sum > 1.0 { 1.0 / sum } else { 1.0 };
            let taken = cases.iter().map(|(_, p, node)| (*node, share(*p) * scale));
            let rest = (1.0 - sum).max(0.0);
            taken.chain([(*otherwise, rest)]).collect()
        }
        Node::Act { action, next } => match action {
            Action::Loop(turns) => vec![(*next, 1.0), (turns.body, 0.0)],
            _ => vec![(*next, 1.0)],
        },
        Node::Leaf { outputs } => outputs
            .iter()
            .filter_map(family)
            .map(|n| (n, 0.0))
            .collect(),
    }
}

/// All nodes that a node refers to, in the order of writing.
pub fn children(node: &Node) -> Vec<NodeId> {
    match node {
        Node::Act { action, next } => {
            let mut inside = match action {
                Action::Loop(turns) => vec![turns.body],
                Action::Wait(outputs) | Action::Put(outputs) | Action::Answer(outputs) => {
                    outputs.iter().filter_map(family).collect()
                }
                _ => Vec::new(),
            };
            inside.push(*next);
            inside
        }
        Node::Test { .. } | Node::Case { .. } | Node::Try { .. } | Node::Leaf { .. } => {
            ways(node).into_iter().map(|(child, _)| child).collect()
        }
    }
}

fn family(output: &Output) -> Option<NodeId> {
    match output {
        Output::Many(turns) => Some(turns.body),
        Output::One { .. } | Output::Every { .. } => None,
    }
}

/// The reactions that a node lets happen, at once or from the agenda.
pub fn lets_happen(node: &Node) -> Vec<Reaction> {
    let outputs = match node {
        Node::Leaf { outputs } => outputs,
        Node::Act { action, .. } => match action {
            Action::Wait(outputs) | Action::Put(outputs) | Action::Answer(outputs) => outputs,
            _another_step => return Vec::new(),
        },
        Node::Test { .. } | Node::Case { .. } | Node::Try { .. } => return Vec::new(),
    };
    let reactions = outputs.iter().filter_map(|output| match output {
        Output::One { goal, .. } | Output::Every { goal, .. } => match goal {
            Goal::Reaction(reaction, _) => Some(*reaction),
            Goal::Frame(_) | Goal::Port(..) => None,
        },
        // What its turns let happen stands in its body.
        Output::Many(_) => None,
    });
    reactions.collect()
}

/// Whether from a node on outputs are put on the agenda where they are made.
pub fn begins(node: &Node) -> bool {
    let begin = |action: &Action| *action == Action::Begin;
    matches!(node, Node::Act { action, .. } if begin(action))
}

/// Of a node behind which there are two ways: how likely the first is, and both.
pub fn two_ways(node: &Node) -> Option<(Probability, NodeId, NodeId)> {
    match node {
        Node::Test {
            likely,
            then: one,
            otherwise: other,
            ..
        }
        | Node::Try {
            likely,
            done: one,
            failed: other,
            ..
        } => Some((*likely, *one, *other)),
        Node::Act { .. } | Node::Case { .. } | Node::Leaf { .. } => None,
    }
}

/// The only way behind a node that tests a constant, or has but one.
pub fn decided(program: &Program, node: &Node) -> Option<NodeId> {
    match node {
        Node::Test {
            condition,
            then,
            otherwise,
            ..
        } => match fold_number(program, condition)? {
            0 => Some(*otherwise),
            _ => Some(*then),
        },
        Node::Case {
            value,
            cases,
            otherwise,
        } => {
            if cases.is_empty() {
                return Some(*otherwise);
            }
            let number = fold_number(program, value)?;
            let case = cases.iter().find(|(case, ..)| *case == number);
            Some(case.map_or(*otherwise, |(.., node)| *node))
        }
        Node::Try { .. } | Node::Act { .. } | Node::Leaf { .. } => None,
    }
}

/// The same trees, without nodes that none of them reaches.
pub fn swept(forest: &Forest) -> Forest {
    remade(forest, |arena, node| arena.add(node))
}

/// The same trees, each node of which is made anew when its children have been.
pub fn remade(forest: &Forest, mut make: impl FnMut(&mut Arena, Node) -> NodeId) -> Forest {
    let mut remade = Forest {
        locals: forest.locals.clone(),
        trees: forest.trees.clone(),
        ..Forest::default()
    };
    let mut new = FxHashMap::default();
    for tree in &mut remade.trees {
        for id in reachable(forest, tree.root) {
            if !new.contains_key(&id) {
                let node = with_children(forest.arena.node(id).clone(), |child| new[&child]);
                new.insert(id, make(&mut remade.arena, node));
            }
        }
        tree.root = new[&tree.root];
    }
    let origins = forest.origins.iter();
    let origins = origins.filter_map(|(id, origin)| Some((*new.get(id)?, *origin)));
    remade.origins = origins.collect();
    // Children come first: where a node is gone, what stands there has its own place.
    for (id, place) in &forest.places {
        if let Some(new) = new.get(id).filter(|new| remade.arena.node(**new).asks()) {
            remade.places.entry(*new).or_insert(*place);
        }
    }
    remade
}

/// A node with new children, asked for in the order of [`children`].
pub fn with_children(mut node: Node, mut new: impl FnMut(NodeId) -> NodeId) -> Node {
    let mut families = |outputs: &mut Vec<Output>| {
        for output in outputs {
            if let Output::Many(turns) = output {
                turns.body = new(turns.body);
            }
        }
    };
    match &mut node {
        Node::Test {
            then: one,
            otherwise: other,
            ..
        }
        | Node::Try {
            done: one,
            failed: other,
            ..
        } => {
            *one = new(*one);
            *other = new(*other);
        }
        Node::Case {
            cases, otherwise, ..
        } => {
            cases.iter_mut().for_each(|case| case.2 = new(case.2));
            *otherwise = new(*otherwise);
        }
        Node::Act { action, next } => {
            match action {
                Action::Loop(turns) => turns.body = new(turns.body),
                Action::Wait(outputs) | Action::Put(outputs) | Action::Answer(outputs) => {
                    families(outputs)
                }
                _without_children => {}
            }
            *next = new(*next);
        }
        Node::Leaf { outputs } => families(outputs),
    }
    node
}
