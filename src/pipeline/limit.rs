//! `--text-limit`: the fast paths that a stack gives up so that its text stays within a limit.
//!
//! In: a stack in the stack IR before all passes, how often each of its reactions runs, and the
//! passes. Out: the paths that are left out, and the estimated text then.
//!
//! Text is the machine code of gcc -Os on x86-64 for the whole file, as [`text`] estimates it.
//! First those paths are given up that save least instructions for their bytes. All paths of a
//! reaction may be given up at once, since their guards share bytes. How many have to go is found
//! by trying: each try runs the passes, and halves what is left to be tried.

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
    /// The frequency with which the reaction runs.
    runs: f64,
    paths: Paths,
    /// The numbers of the paths that are not given up.
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
    let runs: BTreeMap<String, f64> = names.zip(runs).collect();
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
    let forms = chosen.iter().position(|pass| pass.name == FORMS);
    let (first, rest) = chosen.split_at(forms.unwrap_or(0));
    let mut before = module.clone();
    passes.prepare(&mut before);
    let before = verified(before, first);
    let size = |left_out: &[(String, u32)]| {
        let mut module = before.clone();
        module.left_out = left_out.to_vec();
        text(&verified(module, rest))
    };
    let whole = size(&[]);
    if whole <= limit {
        return Ok(GivenUp {
            estimated: whole,
            ..GivenUp::default()
        });
    }
    if forms.is_none() {
        return Err(whole);
    }
    let reactions = paths(before.clone()).into_iter();
    let reactions = reactions.map(|(name, paths)| Reaction {
        runs: often(runs, &name),
        kept: paths.best(passes.fast_paths(), &BTreeSet::new()),
        name,
        paths,
    });
    let mut reactions: Vec<Reaction> = reactions.collect();
    let formed: Vec<usize> = reactions.iter().map(|one| one.kept.len()).collect();
    let steps = in_order(&mut reactions);
    let steps: Vec<(&str, Vec<usize>)> = steps
        .iter()
        .map(|(at, numbers)| (reactions[*at].name.as_str(), numbers.clone()))
        .collect();
    let found = fewest_paths(limit, &steps, size).map_err(|least| least.min(whole))?;
    let counts = reactions.iter().zip(formed).map(|(one, of)| {
        let own = found.0.iter().filter(|(name, _)| *name == one.name);
        (one.name.clone(), own.count(), of)
    });
    Ok(GivenUp {
        estimated: found.1,
        counts: counts.filter(|(_, gone, _)| *gone > 0).collect(),
        paths: found.0,
    })
}

/// The fewest paths of these steps that keep within a limit if they are given up, and the bytes
/// then; or the least bytes, if all of them are too few.
fn fewest_paths(
    limit: u64,
    steps: &[(&str, Vec<usize>)],
    size: impl Fn(&[(String, u32)]) -> u64,
) -> Result<(Vec<(String, u32)>, u64), u64> {
    let named = |name: &str, numbers: &[usize]| -> Vec<(String, u32)> {
        let numbers = numbers.iter();
        numbers.map(|one| (name.to_string(), *one as u32)).collect()
    };
    let until = |count: usize| -> Vec<(String, u32)> {
        let steps = steps[..count].iter();
        steps.flat_map(|(name, all)| named(name, all)).collect()
    };
    let least = size(&until(steps.len()));
    if least > limit {
        return Err(least);
    }
    let (last, bytes) = fewest(steps.len(), least, |count| size(&until(count)), limit);
    let Some((name, numbers)) = steps[..last].last() else {
        return Ok((until(last), bytes));
    };
    // Of the last step some paths may be enough.
    let some = |count: usize| [until(last - 1), named(name, &numbers[..count])].concat();
    let (count, bytes) = fewest(numbers.len(), bytes, |count| size(&some(count)), limit);
    Ok((some(count), bytes))
}

/// The fewest of so many that keep within a limit, and the bytes then; all of them do, and have so
/// many bytes, and none is too few.
fn fewest(all: usize, least: u64, size: impl Fn(usize) -> u64, limit: u64) -> (usize, u64) {
    let (mut few, mut enough, mut estimated) = (0, all, least);
    while enough - few > 1 {
        let middle = few.midpoint(enough);
        let bytes = size(middle);
        match bytes <= limit {
            true => (enough, estimated) = (middle, bytes),
            false => few = middle,
        }
    }
    (enough, estimated)
}

/// Returns the frequency of a reaction. The part of it that tests no instance has the name of the
/// reaction with an end.
fn often(runs: &BTreeMap<String, f64>, name: &str) -> f64 {
    let shorter = name.rsplit_once('.').map(|(before, _)| before);
    let names = [Some(name), shorter].into_iter().flatten();
    let found = names.filter_map(|name| runs.get(name)).next();
    found.copied().unwrap_or(1.0)
}

/// The order in which paths are given up: each time one path, or all of a reaction, by its place
/// and their numbers, the one that gains least first. In the end none is kept.
fn in_order(reactions: &mut [Reaction]) -> Vec<(usize, Vec<usize>)> {
    let worst = reactions.iter().map(Reaction::worst);
    let mut worst: Vec<Option<(f64, BTreeSet<usize>)>> = worst.collect();
    let mut steps = Vec::new();
    loop {
        let open = worst.iter().enumerate();
        let open = open.filter_map(|(at, one)| one.as_ref().map(|(gain, _)| (at, *gain)));
        let Some((at, _)) = open.min_by(|(_, one), (_, other)| one.total_cmp(other)) else {
            return steps;
        };
        if let Some((_, numbers)) = worst[at].take() {
            let reaction = &mut reactions[at];
            reaction.kept = &reaction.kept - &numbers;
            let mut numbers: Vec<usize> = numbers.into_iter().collect();
            let gain = |one: &usize| reaction.paths.gain(*one);
            numbers.sort_by(|one, other| gain(one).total_cmp(&gain(other)));
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
