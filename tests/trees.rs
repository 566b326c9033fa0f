//! The checker of trees finds what it is there for; the text form says all that a tree is.

#[path = "agree/sequencer.rs"]
mod sequencer;

use stackloom::reactive::lower;
use stackloom::tree::check::check;
use stackloom::tree::walk::with_children;
use stackloom::tree::{Action, Arena, Forest, Node, NodeId, Output, Probability};
use stackloom::types::expression::{Expression, Instance};
use stackloom::types::program::{KindId, LinkId, LocalId, Program, TimerId};
use stackloom::types::statement::Attempt;
use stackloom::types::value::Type;
use std::collections::HashMap;

fn forest() -> (Program, Forest) {
    let program = sequencer::program();
    let forest = lower(&program).expect("the program has trees");
    (program, forest)
}

/// The forest, each node of it changed.
fn changed(forest: &Forest, change: impl Fn(Node) -> Node) -> Forest {
    let mut arena = Arena::default();
    let mut new = HashMap::new();
    for place in 0..forest.arena.len() as u32 {
        let node = change(forest.arena.node(NodeId(place)).clone());
        let node = with_children(node, &new);
        new.insert(NodeId(place), arena.add(node));
    }
    let mut trees = forest.trees.clone();
    trees
        .iter_mut()
        .for_each(|tree| tree.root = new[&tree.root]);
    Forest {
        arena,
        locals: forest.locals.clone(),
        trees,
    }
}

/// Some violation of a forest whose nodes are changed says this.
fn is_found(said: &str, change: impl Fn(Node) -> Node) {
    let (program, forest) = forest();
    let found = check(&program, &changed(&forest, change));
    let all: Vec<String> = found
        .iter()
        .map(|violation| violation.to_string())
        .collect();
    assert!(
        all.iter().any(|sentence| sentence.contains(said)),
        "{all:?}"
    );
}

#[test]
fn a_forest_as_it_was_lowered_keeps_all_rules() {
    let (program, forest) = forest();
    assert_eq!(check(&program, &forest), []);
}

#[test]
fn a_message_that_nobody_takes_is_found() {
    is_found("is forgotten", |node| match node {
        Node::Leaf { .. } => Node::Leaf {
            outputs: Vec::new(),
        },
        node => node,
    });
}

#[test]
fn a_message_that_moves_twice_is_found() {
    is_found("moves and is not here", |node| match node {
        Node::Leaf { outputs } => Node::Leaf {
            outputs: outputs.iter().chain(&outputs).cloned().collect(),
        },
        node => node,
    });
}

#[test]
fn a_condition_that_is_no_bool_is_found() {
    is_found("a condition is", |node| match node {
        Node::Test {
            likely,
            then,
            otherwise,
            ..
        } => Node::Test {
            condition: Expression::number(1, Type::Time),
            likely,
            then,
            otherwise,
        },
        node => node,
    });
}

#[test]
fn a_probability_beyond_one_is_found() {
    is_found("more than one", |node| match node {
        Node::Test {
            condition,
            then,
            otherwise,
            ..
        } => Node::Test {
            condition,
            likely: Probability(1_000_001),
            then,
            otherwise,
        },
        node => node,
    });
}

#[test]
fn a_local_that_is_not_bound_is_found() {
    is_found("is read and not bound", |node| match node {
        Node::Act {
            action: Action::Assign(place, _),
            next,
        } => Node::Act {
            action: Action::Assign(place, Expression::local(LocalId(0), Type::Sequence(32))),
            next,
        },
        node => node,
    });
}

#[test]
fn an_own_instance_is_found() {
    is_found("is no instance of", |node| match node {
        Node::Act {
            action: Action::StartTimer(_, kind, timer, after),
            next,
        } => Node::Act {
            action: Action::StartTimer(Instance::Own, kind, timer, after),
            next,
        },
        node => node,
    });
}

#[test]
fn an_instance_that_does_not_exist_is_found() {
    is_found("is no instance of", |node| match node {
        Node::Act {
            action: Action::StartTimer(..),
            next,
        } => Node::Act {
            action: Action::StopTimer(Instance::Only(7), KindId(1), TimerId(0)),
            next,
        },
        node => node,
    });
}

#[test]
fn a_frame_for_no_link_is_found() {
    is_found("what leaves by a link", |node| match node {
        Node::Leaf { mut outputs } => {
            for output in &mut outputs {
                if let Output::One { goal, .. } = output {
                    *goal = stackloom::tree::Goal::Frame(LinkId(3));
                }
            }
            Node::Leaf { outputs }
        }
        node => node,
    });
}

#[test]
fn an_optional_that_is_tried_is_found() {
    is_found("is a test and a binding", |node| match node {
        Node::Try {
            likely,
            done,
            failed,
            ..
        } => Node::Try {
            attempt: Attempt::Value(Expression::number(0, Type::Bool)),
            bind: None,
            likely,
            done,
            failed,
        },
        node => node,
    });
}

#[test]
fn two_trees_of_one_reaction_are_found() {
    let (program, mut forest) = forest();
    forest.trees.insert(0, forest.trees[0].clone());
    let found = check(&program, &forest);
    assert!(
        found
            .iter()
            .any(|violation| violation.sentence == "has two trees")
    );
}

#[test]
fn parameters_that_nobody_gives_are_found() {
    let (program, mut forest) = forest();
    for tree in &mut forest.trees {
        tree.parameters.instance = tree.parameters.message;
    }
    let found = check(&program, &forest);
    let said = |violation: &stackloom::tree::check::Violation| violation.sentence.clone();
    assert!(
        found
            .iter()
            .map(said)
            .any(|sentence| sentence.starts_with("it is given"))
    );
}
