//! `--text-limit`: the fast paths that a stack gives up so that its text stays within a limit.
//!
//! In: a stack in the stack IR before all passes, how often each of its reactions runs, and the
//! passes. Out: the paths that are left out, and the estimated text then.
//!
//! Text is the machine code of gcc -Os on x86-64 for the whole file, as [`text`] estimates it. First
//! those paths are given up that save least instructions for their bytes. All paths of a reaction
//! may be given up at once, since their guards share bytes. How many have to go is found by trying:
//! each try runs all passes, and halves what is left to be tried.

use super::{Passes, lowered, unwoven};
use crate::ir::Module;
use crate::passes::cost::text;
use crate::passes::fast::choice::Paths;
use crate::passes::fast::form_fast_path::paths;
use crate::passes::verified;
use crate::profile::{self, Profile};
use crate::tree::Forest;
use crate::tree::rewrites::Rewrites;
use crate::types::program::Program;
use std::collections::{BTreeMap, BTreeSet};

/// The pass that forms paths.
const FORMS: &str = "form-fast-path";

/// The paths that a stack gives up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenUp {
    /// Its estimated bytes of text then.
    pub estimated: u64,
    /// Each path: the reaction, and the number of the path, from 0.
    pub paths: Vec<(String, u32)>,
    /// By reaction that gives up some: how many, and of how many.
    pub counts: Vec<(String, usize, usize)>,
}

/// The paths of a reaction.
struct Reaction {
    name: String,
    /// How often it runs.
    runs: f64,
    paths: Paths,
    /// Those that are not given up.
    kept: BTreeSet<usize>,
}

/// Returns the paths that a stack gives up to keep within so many bytes of text, or says that it
/// cannot.
pub fn given_up(
    limit: u64,
    (program, forest): (&Program, &Forest),
    profile: &Profile,
    (rewrites, passes): (Rewrites, Passes),
) -> Result<GivenUp, String> {
    let mut program = program.clone();
    let forest = unwoven(&mut program, forest.clone(), rewrites);
    let runs = profile::runs(&program, &forest, profile);
    let module = lowered(&program, &forest, rewrites);
    // Reactions stand in the order of their trees.
    let names = module.functions.iter().map(|one| one.name.clone());
    let runs = names.zip(runs).collect();
    within(limit, &module, passes, &runs).map_err(|least| {
        format!(
            "--text-limit {limit}: the stack has about {least} bytes of text even without fast \
             paths, by estimate"
        )
    })
}

/// Returns the paths that a stack gives up to keep within so many bytes of text, or the least
/// bytes that it needs. `runs` says how often each reaction runs; one that it does not name is
/// taken to run always.
pub fn within(
    limit: u64,
    module: &Module,
    passes: Passes,
    runs: &BTreeMap<String, f64>,
) -> Result<GivenUp, u64> {
    let chosen = passes.chosen();
    let size = |left_out: &[(String, u32)]| {
        let mut module = module.clone();
        passes.prepare(&mut module);
        module.left_out = left_out.to_vec();
        text(&verified(module, &chosen))
    };
    let whole = size(&[]);
    if whole <= limit {
        return Ok(GivenUp {
            estimated: whole,
            ..GivenUp::default()
        });
    }
    let Some(forms) = chosen.iter().position(|pass| pass.name == FORMS) else {
        return Err(whole);
    };
    let before = verified(module.clone(), &chosen[..forms]);
    let reactions = paths(before).into_iter().map(|(name, paths)| Reaction {
        runs: runs.get(&name).copied().unwrap_or(1.0),
        kept: paths.best(passes.fast_paths(), &BTreeSet::new()),
        name,
        paths,
    });
    let mut reactions: Vec<Reaction> = reactions.collect();
    let formed: Vec<usize> = reactions.iter().map(|one| one.kept.len()).collect();
    let steps = in_order(&mut reactions);
    let left_out = |until: usize| -> Vec<(String, u32)> {
        let all = steps[..until].iter().flat_map(|(at, numbers)| {
            let name = &reactions[*at].name;
            numbers.iter().map(|one| (name.clone(), *one as u32))
        });
        all.collect()
    };
    let least = size(&left_out(steps.len()));
    if least > limit {
        return Err(least.min(whole));
    }
    // So many steps are too few, and so many are enough.
    let (mut few, mut enough, mut estimated) = (0, steps.len(), least);
    while enough - few > 1 {
        let middle = few.midpoint(enough);
        let bytes = size(&left_out(middle));
        match bytes <= limit {
            true => (enough, estimated) = (middle, bytes),
            false => few = middle,
        }
    }
    let paths = left_out(enough);
    let counts = reactions.iter().zip(formed).map(|(one, of)| {
        let own = paths.iter().filter(|(name, _)| *name == one.name);
        (one.name.clone(), own.count(), of)
    });
    Ok(GivenUp {
        estimated,
        counts: counts.filter(|(_, gone, _)| *gone > 0).collect(),
        paths,
    })
}

/// The order in which paths are given up: each time one path, or all of a reaction, by its place
/// and their numbers. In the end none is kept.
fn in_order(reactions: &mut [Reaction]) -> Vec<(usize, BTreeSet<usize>)> {
    let mut worst: Vec<Option<(f64, BTreeSet<usize>)>> =
        reactions.iter().map(Reaction::worst).collect();
    let mut steps = Vec::new();
    loop {
        let open = worst.iter().enumerate();
        let open = open.filter_map(|(at, one)| one.as_ref().map(|(gain, _)| (at, *gain)));
        let Some((at, _)) = open.min_by(|(_, one), (_, other)| one.total_cmp(other)) else {
            return steps;
        };
        if let Some((_, numbers)) = worst[at].take() {
            reactions[at].kept = &reactions[at].kept - &numbers;
            steps.push((at, numbers));
        }
        worst[at] = reactions[at].worst();
    }
}

impl Reaction {
    /// The path whose gain is least for its bytes, or all paths, with the gain for a byte.
    fn worst(&self) -> Option<(f64, BTreeSet<usize>)> {
        let bytes = self.paths.bytes(&self.kept);
        let each = self.kept.iter().map(|one| BTreeSet::from([*one]));
        let groups = [self.kept.clone()].into_iter().chain(each);
        let groups = groups.filter(|group| !group.is_empty()).map(|group| {
            let gain: f64 = group.iter().map(|one| self.paths.gain(*one)).sum();
            let saved = bytes - self.paths.bytes(&(&self.kept - &group));
            (self.runs * gain / saved.max(1.0), group)
        });
        groups.min_by(|(one, _), (other, _)| one.total_cmp(other))
    }
}
