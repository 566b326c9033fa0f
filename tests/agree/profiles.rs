//! What a run of a stack says about its ways, and trees that go by it.
//!
//! In: the trees of a program, and traces. Out: the profile of these traces, as a build that
//! records would write it; and one that nobody recorded, which a rewrite must bear all the same.

use crate::run::supplied;
use crate::{LENGTH, limits, stacks, traffic};
use fastrand::Rng;
use stackloom::profile::{Profile, Recorded, known, recorded};
use stackloom::reactive::lower;
use stackloom::simulate::trace::Trace;
use stackloom::simulate::trees::Trees;
use stackloom::tool::case::run;
use stackloom::tree::walk::children;
use stackloom::tree::ways::{counted, ways};
use stackloom::tree::{Forest, Node, NodeId};
use stackloom::types::program::Program;
use std::collections::BTreeMap;

/// The profile with these counts; those that are missing are 0.
pub fn profile(program: &Program, forest: &Forest, counts: &BTreeMap<u32, u64>) -> Recorded {
    let mut text = recorded::begins(program, forest, &program.name);
    for way in 0..ways(forest).len() as u32 {
        let count = counts.get(&way).copied().unwrap_or_default();
        text += &format!("{count} way {way}\n");
    }
    let read = Recorded::read(&text).expect("it is a profile");
    let of = read.of(program, forest, &program.name);
    of.expect("it is one of these trees")
}

/// What is recorded where these traces are played.
pub fn of_traces(program: &Program, forest: &Forest, traces: &[Trace]) -> Recorded {
    let counted = counted(forest);
    let mut all = BTreeMap::new();
    for trace in traces {
        let control = Trees::new(program, &counted);
        let run = run::interpreted(control, program, supplied(program), trace);
        for (way, count) in run.passed {
            *all.entry(way).or_insert(0) += count;
        }
    }
    profile(program, forest, &all)
}

/// Trees whose shares say anything: often, never, or that nobody came there.
pub fn guessed(program: &Program, forest: &Forest, seed: u64) -> Forest {
    let mut rng = Rng::with_seed(seed);
    let counts = (0..ways(forest).len() as u32).filter_map(|way| {
        let count = [0, 1, 1, 3, 97, 5000][rng.usize(0..6)];
        (count > 0).then_some((way, count))
    });
    let recorded = profile(program, forest, &counts.collect());
    known(forest.clone(), &Profile::Recorded(recorded))
}

/// What leads to a node that asks is as often as what leads out of it; else the node, and both.
pub fn unbalanced(forest: &Forest, recorded: &Recorded) -> Option<(NodeId, u64, u64)> {
    let (mut inward, mut outward) = (BTreeMap::new(), BTreeMap::new());
    for (way, count) in recorded.taken(forest) {
        let mut at = match way.from {
            Some((node, out)) => {
                *outward.entry(node).or_insert(0) += count;
                children(forest.arena.node(node))[out]
            }
            None => forest.trees[way.tree].root,
        };
        while let Node::Act { next, .. } = forest.arena.node(at) {
            at = *next;
        }
        *inward.entry(at).or_insert(0) += count;
    }
    // Turns of loops begin by themselves.
    let known = |node: &NodeId| Some((*node, *inward.get(node)?, *outward.get(node)?));
    let mut all = outward.keys().filter_map(known);
    all.find(|(_, inward, outward)| inward != outward)
}

#[test]
fn as_often_as_a_node_is_reached_one_of_its_ways_is_taken() {
    for path in [
        "examples/host/host.loom",
        "examples/telemetry/telemetry.loom",
        "tests/c_agrees/stacks/segments.loom",
    ] {
        let program = stacks::example(path);
        let forest = lower(&program).expect("the program has trees");
        let traces = (0..8).map(|seed| traffic::trace(&program, seed, LENGTH, limits(seed)));
        let recorded = of_traces(&program, &forest, &traces.collect::<Vec<_>>());
        let (taken, all) = recorded.extent();
        assert!(taken > all / 3, "{path}: {taken} of {all}");
        assert_eq!(unbalanced(&forest, &recorded), None, "{path}");
        let mut wrong = BTreeMap::from([(1, 7)]);
        for (at, (_, count)) in (0..).zip(recorded.taken(&forest)) {
            *wrong.entry(at).or_insert(0) += count;
        }
        let wrong = profile(&program, &forest, &wrong);
        assert!(
            unbalanced(&forest, &wrong).is_some(),
            "a count too many is found"
        );
    }
}
