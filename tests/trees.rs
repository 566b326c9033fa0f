//! The checker of trees finds what it is there for; the text form says all that a tree is.

#[path = "agree/sequencer.rs"]
mod sequencer;
#[path = "agree/stacks.rs"]
mod stacks;

use stackloom::optimise::extend;
use stackloom::pipeline::woven;
use stackloom::reactive::handlers::Budget;
use stackloom::reactive::lower;
use stackloom::tree::check::check;
use stackloom::tree::rewrites::Rewrites;
use stackloom::tree::text::{compact, read, write};
use stackloom::tree::walk::{begins, reachable, ways, with_children};
use stackloom::tree::{Action, Arena, Forest, Goal, Node, NodeId, Output, Probability};
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
        let node = with_children(node, |child| new[&child]);
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
        ..Forest::default()
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
fn an_answer_to_nobody_is_found() {
    let (_, forest) = forest();
    let reaction = forest.trees[0].reaction;
    is_found("an answer goes to the host", |node| match node {
        Node::Act { next, .. } => Node::Act {
            action: Action::Answer(vec![Output::One {
                goal: Goal::Reaction(reaction, None),
                message: None,
                arguments: Vec::new(),
            }]),
            next,
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

#[test]
fn the_text_of_a_tree_mirrors_its_nesting() {
    let (program, forest) = forest();
    let text = write(&program, &forest);
    let arriving = "\
tree arrive sequencer 0 only 0 deliver
  given message message@2
  test (length(message@2) >= 4:u32) likely 99.9%
    strip message@2 sequencer
    test (header(sequencer.number) > sequencer.session[0].last) likely 99%
      set sequencer.session[0].last = header(sequencer.number)
      leaf
        one port messages[0] deliver message message@2 ()
    else
      drop message@2 sequencer.late_or_repeated
      leaf
  else
    drop message@2 sequencer.too_short
    leaf
";
    assert!(text.starts_with(arriving), "{text}");
}

#[test]
fn what_is_written_is_read_back_for_every_example() {
    for path in [
        "examples/radio/radio.loom",
        "examples/radio/two_ways.loom",
        "examples/ping/ping.loom",
        "examples/telemetry/telemetry.loom",
        "examples/dual/dual.loom",
        "examples/host/host.loom",
        "tests/c_agrees/stacks/asked.loom",
        "tests/c_agrees/stacks/kinds.loom",
    ] {
        let mut program = stacks::example(path);
        let plain = lower(&program).expect("the program has trees");
        let woven = woven(&mut program, plain.clone(), Rewrites::ALL);
        for forest in [plain, woven] {
            let text = write(&program, &compact(&forest));
            let again = read(&program, &text);
            let again = again.unwrap_or_else(|mistake| {
                let line = text.lines().nth(mistake.line - 1).unwrap_or("");
                panic!("{path}:{}: {}\n{line}", mistake.line, mistake.sentence)
            });
            assert!(again == compact(&forest), "{path}: the trees are others");
            assert_eq!(write(&program, &again), text);
        }
    }
}

#[test]
fn a_text_that_says_no_tree_is_refused_with_its_line() {
    let (program, forest) = forest();
    let text = write(&program, &forest);
    let refused = |from: &str, to: &str| {
        let text = text.replacen(from, to, 1);
        read(&program, &text).expect_err("it says no tree").sentence
    };
    assert_eq!(refused("  leaf", "  loaf"), "`loaf` is no step");
    assert_eq!(refused("last", "lost"), "nothing is called `lost` here");
    assert_eq!(refused("    else\n", ""), "this stands at another depth");
}

/// The trees of a stack whose branches stay apart, and those with fast paths.
fn paths(limits: extend::Limits) -> (Forest, Forest) {
    let apart = Budget {
        together: 0,
        ..Budget::default()
    };
    let program = stacks::budgeted("tests/c_agrees/stacks/passing.loom", apart);
    let plain = lower(&program).expect("the program has trees");
    let extended = extend::extend(&program, plain.clone(), limits);
    (plain, extended)
}

/// The nodes on the way from the root of the largest tree that is mostly taken, or first written.
fn mostly(forest: &Forest) -> Vec<Node> {
    let largest = forest
        .trees
        .iter()
        .max_by_key(|tree| reachable(forest, tree.root).len());
    let mut at = largest.expect("there are trees").root;
    let mut nodes = vec![forest.arena.node(at).clone()];
    while let Some((next, _)) = ways(nodes.last().expect("it begins"))
        .into_iter()
        .rev()
        .filter(|(_, share)| *share > 0.0)
        .max_by(|one, other| one.1.total_cmp(&other.1))
    {
        at = next;
        nodes.push(forest.arena.node(at).clone());
    }
    nodes
}

#[test]
fn on_a_common_path_outputs_stand_in_the_leaf() {
    let (plain, extended) = paths(extend::Limits::default());
    assert!(mostly(&plain).iter().any(begins));
    let path = mostly(&extended);
    assert!(!path.iter().any(begins), "{path:?}");
    let Some(Node::Leaf { outputs }) = path.last() else {
        panic!("a path ends in a leaf: {path:?}");
    };
    // Those of three branches, against the order of their turns, the signal, and the delivery.
    assert!(outputs.len() >= 4, "{outputs:?}");
}

#[test]
fn what_is_too_large_or_too_rare_has_no_common_path() {
    let usual = extend::Limits::default();
    for limits in [
        extend::Limits { nodes: 0, ..usual },
        extend::Limits {
            least: 1.1,
            ..usual
        },
        extend::Limits { rare: 1.0, ..usual },
    ] {
        let (plain, extended) = paths(limits);
        assert_eq!(mostly(&plain), mostly(&extended), "{limits:?}");
    }
}

#[test]
fn who_mostly_waits_for_something_else_is_on_the_common_path() {
    let apart = Budget {
        together: 0,
        ..Budget::default()
    };
    let is_common = |text: String| {
        let program = stacks::program("staying.loom", text, apart);
        let plain = lower(&program).expect("the program has trees");
        let extended = extend::extend(&program, plain.clone(), extend::Limits::default());
        assert!(mostly(&plain).iter().any(begins));
        !mostly(&extended).iter().any(begins)
    };
    let stays = include_str!("c_agrees/stacks/staying.loom");
    assert!(is_common(stays.to_string()), "of four states in one");
    let often = stays.replacen("await long", "await came", 1);
    assert!(!is_common(often.clone()), "of four states in two");
    let mostly = often.replacen("await long", "await came", 1);
    assert!(!is_common(mostly), "of four states in three");
}
