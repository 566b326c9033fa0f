//! What is known of the traffic of the host: nothing, what its sources say, or what a clean way
//! showed. In: the host. Out: its trees, woven by that; or without what the clean way never showed.

use crate::pair::Way;
use crate::profiles::profile;
use crate::{exchanged, stacks};
use stackloom::pipeline::woven;
use stackloom::profile::{Profile, Recorded, known};
use stackloom::reactive::cut::cut;
use stackloom::reactive::lower;
use stackloom::simulate::trees::Trees;
use stackloom::tree::Forest;
use stackloom::tree::check::check;
use stackloom::tree::rewrites::Rewrites;
use stackloom::tree::ways::{Way as TreeWay, counted};
use stackloom::types::program::Program;
use std::collections::{BTreeMap, BTreeSet};

/// A way on which nothing is lost.
pub const CLEAN: (Way, u64) = (
    Way {
        lost: 0,
        twice: 0,
        late: 0,
        delay_ns: 1_000_000,
    },
    1,
);

/// The host, and its trees, not yet woven.
fn plain() -> (Program, Forest) {
    let program = stacks::example("tests/tcp/host.loom");
    let forest = lower(&program).expect("the program has trees");
    (program, forest)
}

/// The host, and its trees, woven: `PROFILE=raw` and `PROFILE=recorded` choose what is known.
pub fn built() -> (Program, Forest) {
    let (mut program, forest) = plain();
    let profile = match std::env::var("PROFILE").as_deref() {
        Ok("raw") => Profile::Raw,
        Ok("recorded") => Profile::Recorded(recorded(&program, &forest)),
        Ok(other) => panic!("PROFILE={other}: there is raw and recorded"),
        Err(_) => Profile::Default,
    };
    let forest = woven(&mut program, known(forest, &profile), Rewrites::ALL);
    (program, forest)
}

/// What it does when both send something over a clean way, and close.
fn recorded(program: &Program, forest: &Forest) -> Recorded {
    let counted = counted(forest);
    let trees = [(); 2].map(|()| Trees::new(program, &counted));
    let pair = exchanged(program, trees, CLEAN, 100_000);
    let mut all = BTreeMap::new();
    for host in &pair.hosts {
        for (way, count) in host.passed() {
            *all.entry(*way).or_insert(0) += count;
        }
    }
    profile(program, forest, &all)
}

/// The host without what was not done then.
pub fn specialised() -> (Program, Forest) {
    let (mut program, forest) = plain();
    let (forest, taken) = recorded(&program, &forest).shared(&forest);
    let never = taken.into_iter().filter(|(_, count)| *count == 0);
    let never: BTreeSet<TreeWay> = never.map(|(way, _)| way).collect();
    let named = |way: TreeWay| format!("cut_{}_{:?}", way.tree, way.from);
    let cut = cut(&mut program, &forest, &never, &named);
    let (forest, _) = cut.expect("no end is too large");
    let forest = woven(&mut program, forest, Rewrites::ALL);
    assert_eq!(check(&program, &forest), []);
    (program, forest)
}
