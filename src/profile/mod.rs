//! How often what is done, and which few ways carry most of it (HIPPCO 3.2).
//!
//! In: a program, its trees, and what is said of its traffic. Out: the same trees, in which each
//! `match` and test of a control state says how often it goes which way; and how often each tree is
//! run for one event from outside. On the way:
//!
//! ```text
//! recorded     a text, trees      ->  the trees with the shares of a run
//! visits       a chain of states  ->  how often each is visited, by linear equations
//! registers    trees              ->  fields that hold a control state, and shares of states
//! reactions    trees, traffic     ->  how often each tree is run
//! transitions  trees, runs        ->  the fewest transitions that carry a given share
//! asked        trees, runs        ->  how often what is written at a place is asked
//! ```
//!
//! States hang on how often which event comes, and events on states: both are found in turn, until
//! they stay.

mod asked;
mod reactions;
pub mod recorded;
mod registers;
pub mod transitions;
mod visits;

pub use asked::{Asked, asked};
pub use reactions::runs;
pub use recorded::Recorded;
pub use registers::Register;

use crate::tree::rewrites::Rewrite;
use crate::tree::walk::{masses, reachable, remade};
use crate::tree::{Forest, Node, Probability};
use crate::types::program::Program;
use std::collections::BTreeSet;

/// What is taken to be known of a stack's traffic.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Profile {
    /// Nothing: all events come alike, all tests go either way.
    Raw,
    /// What the sources say: `likely` and `traffic`.
    #[default]
    Default,
    /// How often what was done when it ran.
    Recorded(Recorded),
}

impl Profile {
    /// The same, of a host that asks for buffers for its frames, whatever it says.
    pub fn lent(self) -> Profile {
        match self {
            Profile::Raw | Profile::Default => self,
            Profile::Recorded(recorded) => Profile::Recorded(recorded.lent()),
        }
    }
}

/// How often what is done.
pub struct Analysis {
    /// The trees, with shares at all that control states decide.
    pub forest: Forest,
    /// How often each tree is run for one event from outside, in the order of the forest.
    pub runs: Vec<f64>,
    /// The fields that hold control states.
    pub registers: Vec<Register>,
}

/// The cost of trees.
pub struct Cost {
    /// After which rewrite; none if before any.
    pub after: Option<Rewrite>,
    /// How many nodes there are.
    pub nodes: usize,
    /// How many of them are passed for one event from outside.
    pub passed: f64,
}

impl Cost {
    /// Returns what analysed trees cost.
    pub fn of(after: Option<Rewrite>, analysis: &Analysis) -> Cost {
        let forest = &analysis.forest;
        let mut all = BTreeSet::new();
        let mut passed = 0.0;
        for (tree, runs) in forest.trees.iter().zip(&analysis.runs) {
            let nodes = reachable(forest, tree.root);
            passed += masses(forest, &nodes, tree.root, *runs)
                .values()
                .sum::<f64>();
            all.extend(nodes);
        }
        Cost {
            after,
            nodes: all.len(),
            passed,
        }
    }
}

/// In so many rounds states and events come to agree.
const ROUNDS: usize = 30;

/// What changes less than this stays.
const NEAR: f64 = 1e-5;

/// Finds how often what is done.
pub fn analyse(program: &Program, forest: Forest, profile: &Profile) -> Analysis {
    let plain = match profile {
        Profile::Raw => changed(&forest, &evened),
        Profile::Default | Profile::Recorded(_) => forest,
    };
    let mut registers = registers::registers(program, &plain);
    let mut round = 0;
    loop {
        let annotate = |node: Node| registers::annotated(program, &registers, node);
        let annotated = match profile {
            Profile::Raw => plain.clone(),
            Profile::Default | Profile::Recorded(_) => changed(&plain, &annotate),
        };
        let runs = reactions::runs(program, &annotated, profile);
        let before: Vec<Vec<f64>> = registers.iter().map(|one| one.shares.clone()).collect();
        for register in &mut registers {
            register.visit(program, &annotated, &runs);
        }
        let after = registers.iter().map(|one| &one.shares);
        let moved = before.iter().zip(after).flat_map(|(before, after)| {
            let pairs = before.iter().zip(after);
            pairs.map(|(one, other)| (one - other).abs())
        });
        round += 1;
        if moved.fold(0.0, f64::max) < NEAR || round == ROUNDS {
            return Analysis {
                forest: annotated,
                runs,
                registers,
            };
        }
    }
}

impl Profile {
    /// What is known of a stack with these trees, or why it was recorded of others.
    pub fn of(self, program: &Program, forest: &Forest, stack: &str) -> Result<Profile, String> {
        match self {
            Profile::Recorded(recorded) => {
                let recorded = recorded.of(program, forest, stack)?;
                Ok(Profile::Recorded(recorded))
            }
            Profile::Raw | Profile::Default => Ok(self),
        }
    }
}

/// The trees that no rewrite has seen, in which tests go as often this way as is taken to be known.
pub fn known(forest: Forest, profile: &Profile) -> Forest {
    match profile {
        Profile::Raw => changed(&forest, &evened),
        Profile::Default => forest,
        Profile::Recorded(recorded) => recorded.shared(&forest).0,
    }
}

/// A node of which nothing is known.
fn evened(mut node: Node) -> Node {
    match &mut node {
        Node::Test { likely, .. } | Node::Try { likely, .. } => *likely = Probability::EVEN,
        Node::Case { cases, .. } => {
            let even = Probability(1_000_000 / (cases.len() as u32 + 1));
            cases.iter_mut().for_each(|case| case.1 = even);
        }
        Node::Act { .. } | Node::Leaf { .. } => {}
    }
    node
}

/// The same trees with each node changed.
fn changed(forest: &Forest, change: &dyn Fn(Node) -> Node) -> Forest {
    remade(forest, |arena, node| arena.add(change(node)))
}

#[cfg(test)]
mod tests {
    use super::transitions::{Transition, transitions};
    use super::*;
    use crate::pipeline;
    use crate::tool::library::Folders;

    /// A worker that works on one message of ten for nine instants.
    const WORKS: &str = "
/// works: passes all on
worker works

header big { kind: u8 = 0 }

session { state: enum { idle, busy, tired } = idle, works: bool = false }

on deliver(message) {
    match state {
        case idle { if header.kind == 1 likely 10% { state = busy } }
        case busy { if header.kind == 2 likely 20% { state = tired } }
        else { if header.kind == 3 likely 50% { state = idle } }
    }
    works = state == busy
    deliver message
}

on send(message) { send message }

stack all {
    traffic { deliver 80%, send 20% }
    link wire { works { port talk } }
}
";

    fn program(text: &str) -> (Program, Forest) {
        let library = Folders { search: Vec::new() };
        let root = vec![("works.loom".to_string(), text.to_string())];
        let mut checked = pipeline::read(root, &library);
        pipeline::trees(&mut checked, "all").expect("it is a stack")
    }

    #[test]
    fn states_are_visited_as_often_as_it_takes_to_leave_them() {
        let (program, forest) = program(WORKS);
        let analysis = analyse(&program, forest, &Profile::Default);
        let [state] = &analysis.registers[..] else {
            panic!("one field holds a state, for `works` takes what is computed");
        };
        assert_eq!(state.values, [0, 1, 2]);
        // Ten instants idle, five busy, two tired, and again.
        for (share, instants) in state.shares.iter().zip([10.0, 5.0, 2.0]) {
            assert!((share - instants / 17.0).abs() < 1e-3, "{:?}", state.shares);
        }
    }

    #[test]
    fn events_come_as_often_as_it_is_said() {
        let (program, forest) = program(WORKS);
        for (profile, expected) in [(Profile::Default, [0.8, 0.2]), (Profile::Raw, [0.5, 0.5])] {
            let analysis = analyse(&program, forest.clone(), &profile);
            let mut outside: Vec<f64> = analysis.runs.clone();
            outside.sort_by(|one, other| other.total_cmp(one));
            // What arrives is delivered in a tree of its own.
            assert!((outside[0] - expected[0]).abs() < 1e-3, "{outside:?}");
            let least = outside.last().expect("there are trees");
            assert!((least - expected[1]).abs() < 2e-2, "{outside:?}");
        }
    }

    #[test]
    fn the_common_path_is_the_fewest_ways_that_carry_their_share() {
        let (program, forest) = program(WORKS);
        let analysis = analyse(&program, forest, &Profile::Default);
        let few = transitions(&analysis.forest, &analysis.runs, 0.5);
        let all = transitions(&analysis.forest, &analysis.runs, 1.0);
        let sum = |ways: &[Transition]| ways.iter().map(|way| way.share).sum::<f64>();
        assert!((sum(&all) - 1.0).abs() < 1e-9);
        assert!(sum(&few) >= 0.5 && sum(&few[..few.len() - 1]) < 0.5);
        assert_eq!(few, all[..few.len()]);
        assert!(all.is_sorted_by(|one, next| one.share >= next.share));
    }
}
