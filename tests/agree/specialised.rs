//! What a profile never saw is cut: exactly that, and what meets it ends.
//!
//! In: stacks, the profile of some traces, and other traces. Out: a panic where a specialised stack
//! does something else on what was recorded; or, on the rest, before it has counted a cut.

use crate::profiles::{of_traces, profile};
use crate::run::interpreted;
use crate::{LENGTH, checked, limits, stacks, traffic};
use stackloom::pipeline::woven;
use stackloom::profile::Recorded;
use stackloom::reactive::cut::{cut, is_whole};
use stackloom::reactive::lower;
use stackloom::simulate::reference::Reference;
use stackloom::simulate::trace::{Seen, Trace};
use stackloom::simulate::trees::Trees;
use stackloom::tree::rewrites::Rewrites;
use stackloom::tree::walk::children;
use stackloom::tree::ways::Way;
use stackloom::tree::{Action, Forest, Node, NodeId};
use stackloom::types::program::Program;
use std::collections::{BTreeMap, BTreeSet};

/// Stacks of all kinds: sessions that come and go, on others that do, with labels, and none at all.
const STACKS: [&str; 15] = [
    "examples/host/host.loom",
    "examples/dual/dual.loom",
    "examples/telemetry/telemetry.loom",
    "examples/stop_and_wait/stop_and_wait.loom",
    "tests/cases/conversations/who_calls_and_who_is_called.case",
    "tests/c_agrees/stacks/callers.loom",
    "tests/c_agrees/stacks/channels.loom",
    "tests/c_agrees/stacks/endings.loom",
    "tests/c_agrees/stacks/extensions.loom",
    "tests/c_agrees/stacks/families.loom",
    "tests/c_agrees/stacks/kinds.loom",
    "tests/c_agrees/stacks/meetings.loom",
    "tests/c_agrees/stacks/nested.loom",
    "tests/c_agrees/stacks/offices.loom",
    "tests/c_agrees/stacks/segments.loom",
];

/// A stack, whole and specialised.
struct Specialised {
    program: Program,
    forest: Forest,
    /// How often each way was taken.
    taken: BTreeMap<Way, u64>,
    cut_program: Program,
    cut_forest: Forest,
    cut: Vec<Way>,
}

impl Specialised {
    fn by(program: Program, forest: &Forest, recorded: &Recorded) -> Specialised {
        let (forest, taken) = recorded.shared(forest);
        let never = taken.iter().filter(|(_, count)| **count == 0);
        let never: BTreeSet<Way> = never.map(|(way, _)| *way).collect();
        let mut cut_program = program.clone();
        let named = |way: Way| match way.from {
            Some((node, out)) => format!("cut_{}_{out}", node.0),
            None => format!("cut_tree_{}", way.tree),
        };
        let done = cut(&mut cut_program, &forest, &never, &named);
        let (cut_forest, cut) = done.expect("no end is too large");
        Specialised {
            program,
            cut_forest: checked(&cut_program, cut_forest),
            forest,
            taken,
            cut_program,
            cut,
        }
    }

    /// What the host sees, but for the counters of cuts.
    fn seen(&self, forest: &Forest, trace: &Trace) -> (Vec<Seen>, Vec<u64>) {
        let control = Trees::new(&self.cut_program, forest);
        let run = interpreted(control, &self.cut_program, trace);
        let is_cut = |name: &str| name.starts_with("count ") && name.contains(".cut_");
        let is_drop = |name: &str| name.ends_with(".cut");
        let cuts = run.seen.iter().map(|seen| {
            let counted = seen.counters.iter().filter(|(name, _)| is_cut(name));
            counted.map(|(_, count)| count).sum()
        });
        let cuts = cuts.collect();
        let mut all = run.seen;
        for seen in &mut all {
            seen.counters
                .retain(|(name, _)| !is_cut(name) && !is_drop(name));
        }
        (all, cuts)
    }
}

fn trace(program: &Program, seed: u64) -> Trace {
    traffic::trace(program, seed, LENGTH, limits(seed))
}

/// A stack by the profile of some traces.
fn specialised(path: &str, seeds: std::ops::Range<u64>) -> Specialised {
    let program = stacks::example(path);
    let traces: Vec<Trace> = seeds.map(|seed| trace(&program, seed)).collect();
    specialised_by(program, &traces)
}

/// A stack that is specialised to little: the first calls of a host.
fn hardly_recorded(path: &str) -> Specialised {
    let program = stacks::example(path);
    let mut trace = trace(&program, 1);
    trace.steps.truncate(8);
    specialised_by(program, &[trace])
}

fn specialised_by(program: Program, traces: &[Trace]) -> Specialised {
    let forest = lower(&program).expect("the program has trees");
    let recorded = of_traces(&program, &forest, traces);
    Specialised::by(program, &forest, &recorded)
}

/// Where a tree begins.
fn begin(tree: usize) -> Way {
    Way { tree, from: None }
}

/// The ways of a tree that were never taken, of nodes to which ways that were taken lead.
fn asked_to_be_cut(one: &Specialised, at: usize) -> BTreeSet<Option<(NodeId, usize)>> {
    let tree = &one.forest.trees[at];
    if is_whole(&one.program, tree.reaction) {
        return BTreeSet::new();
    }
    if one.taken[&begin(at)] == 0 {
        return BTreeSet::from([None]);
    }
    let often: BTreeMap<(NodeId, usize), u64> = (one.taken.iter())
        .filter_map(|(way, count)| Some((way.from?, *count)))
        .collect();
    let (mut asked, mut open, mut known) = (BTreeSet::new(), vec![tree.root], BTreeSet::new());
    while let Some(id) = open.pop() {
        if known.insert(id) {
            let node = one.forest.arena.node(id);
            for (out, child) in children(node).into_iter().enumerate() {
                match node.asks() && often[&(id, out)] == 0 {
                    true => drop(asked.insert(Some((id, out)))),
                    false => open.push(child),
                }
            }
        }
    }
    asked
}

#[test]
fn what_was_never_seen_is_cut_and_nothing_else() {
    let mut all = 0;
    for path in STACKS {
        let one = specialised(path, 0..2);
        for at in 0..one.forest.trees.len() {
            let cut = one.cut.iter().filter(|way| way.tree == at);
            let cut: BTreeSet<_> = cut.map(|way| way.from).collect();
            let reaction = one.forest.trees[at].reaction;
            let mut left = one.cut_forest.trees.iter();
            if left.any(|tree| tree.reaction == reaction) {
                assert_eq!(cut, asked_to_be_cut(&one, at), "{path}, tree {at}");
            } else {
                assert_eq!(
                    (one.taken[&begin(at)], cut.len()),
                    (0, 0),
                    "{path}, tree {at}"
                );
            }
        }
        // Each of them is counted once for each tree that has it; no other count is new.
        let known = one.program.counts.len() as u32;
        let mut counted = BTreeSet::new();
        for at in 0..one.cut_forest.arena.len() as u32 {
            if let Node::Act { action, .. } = one.cut_forest.arena.node(NodeId(at))
                && let Action::Count(count) = action
                && count.0 >= known
            {
                counted.insert(*count);
            }
        }
        let new = one.cut_program.counts.len() - one.program.counts.len();
        assert_eq!(counted.len(), new, "{path}: each counter has its cut");
        all += new;
    }
    assert!(all > 200, "something was never seen: {all}");
}

#[test]
fn a_cut_too_many_is_found() {
    let mut one = specialised("examples/host/host.loom", 0..2);
    let taken = one.taken.iter().find(|(way, count)| {
        let reaction = one.forest.trees[way.tree].reaction;
        way.from.is_some() && **count > 0 && !is_whole(&one.program, reaction)
    });
    let (planted, _) = taken.expect("some way was taken");
    let (planted, tree) = (*planted, planted.tree);
    one.cut.push(planted);
    let cut = one.cut.iter().filter(|way| way.tree == tree);
    let cut: BTreeSet<_> = cut.map(|way| way.from).collect();
    assert_ne!(cut, asked_to_be_cut(&one, tree));
}

#[test]
fn what_was_recorded_is_done_as_before() {
    for path in STACKS {
        let mut one = specialised(path, 0..3);
        let fast = woven(&mut one.cut_program, one.cut_forest.clone(), Rewrites::ALL);
        let fast = checked(&one.cut_program, fast);
        for seed in 0..3 {
            let trace = trace(&one.program, seed);
            let reference = interpreted(Reference::new(&one.program), &one.program, &trace);
            for forest in [&one.cut_forest, &fast] {
                let (seen, cuts) = one.seen(forest, &trace);
                assert!(seen == reference.seen, "{path}, SEED={seed}");
                assert!(cuts.iter().all(|count| *count == 0), "{path}, SEED={seed}");
            }
        }
    }
}

#[test]
fn what_was_not_recorded_is_done_as_before_until_it_meets_a_cut() {
    for path in STACKS {
        let mut one = hardly_recorded(path);
        let fast = woven(&mut one.cut_program, one.cut_forest.clone(), Rewrites::ALL);
        let fast = checked(&one.cut_program, fast);
        let mut met = 0;
        for seed in 2..9 {
            let trace = trace(&one.program, seed);
            let reference = interpreted(Reference::new(&one.program), &one.program, &trace);
            let (seen, cuts) = one.seen(&one.cut_forest, &trace);
            assert!(
                one.seen(&fast, &trace) == (seen.clone(), cuts.clone()),
                "{path}, SEED={seed}: rewrites change nothing"
            );
            let first = cuts.iter().position(|count| *count > 0);
            let until = first.unwrap_or(seen.len());
            assert!(
                seen[..until] == reference.seen[..until],
                "{path}, SEED={seed}: before a cut all is as it was"
            );
            met += u32::from(first.is_some());
        }
        assert!(met > 0, "{path}: some trace meets a cut");
    }
}

/// What leads to a node that asks is as often as what leads out of it; else the node, and both.
fn unbalanced(forest: &Forest, recorded: &Recorded) -> Option<(NodeId, u64, u64)> {
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
