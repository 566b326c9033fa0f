//! What a run of a stack says about its ways, and trees that go by it.
//!
//! In: the trees of a program, and traces. Out: the profile of these traces, as a build that
//! records would write it; and one that nobody recorded, which a rewrite must bear all the same.

use crate::run::supplied;
use fastrand::Rng;
use stackloom::profile::{Profile, Recorded, known, recorded};
use stackloom::simulate::trace::Trace;
use stackloom::simulate::trees::Trees;
use stackloom::tool::case::run;
use stackloom::tree::Forest;
use stackloom::tree::ways::{counted, ways};
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
        let run = run::interpreted(control, program, supplied(program, false), trace);
        for (way, count) in run.passed {
            *all.entry(way).or_insert(0) += count;
        }
    }
    profile(program, forest, &all)
}

/// Trees whose shares say anything: often, never, or that nobody came there; other tests ask less.
#[allow(dead_code)]
pub fn guessed(program: &Program, forest: &Forest, seed: u64) -> Forest {
    let mut rng = Rng::with_seed(seed);
    let counts = (0..ways(forest).len() as u32).filter_map(|way| {
        let count = [0, 1, 1, 3, 97, 5000][rng.usize(0..6)];
        (count > 0).then_some((way, count))
    });
    let recorded = profile(program, forest, &counts.collect());
    known(forest.clone(), &Profile::Recorded(recorded))
}
