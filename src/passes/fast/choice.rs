//! Choice of the paths of a fast function that are formed.
//!
//! In: a fast function that was just formed, and the decisions on the way to each of its commits.
//! Out: for each path its gain, that is, its share of runs times the instructions that it saves;
//! the function with some of its paths alone, and the bytes of that.
//!
//! The instructions of a path are compared with those of the reaction itself, in which the same is
//! decided. Both are estimates. The share of a path is its share of the runs of the guard that
//! leave at no exit.

use crate::ir::edit::compact;
use crate::ir::effects::Effects;
use crate::ir::{BlockId, Function, FunctionId, Module};
use crate::passes::cost::way::{Decision, from_block, of_way};
use crate::passes::cost::{of_block, of_function};
use crate::passes::fast::ways::{Ways, without};
use crate::passes::{dead_code, fold, value_numbering};
use std::collections::{BTreeMap, BTreeSet};

/// The exit of paths that are not formed, since fewer are asked for.
const FEWER_PATHS: &str = "stack.fast_paths";

/// The paths of a fast function, numbered from 0.
pub struct Paths {
    /// The function, under the name of the exit of paths that are left out.
    function: Function,
    /// Each path.
    all: Vec<FastPath>,
}

/// A path of a fast function.
struct FastPath {
    /// The block of its commit.
    leaf: BlockId,
    /// The share of runs that come there.
    share: f64,
    /// The instructions that it saves.
    saved: f64,
}

impl Paths {
    /// The paths of the fast function of a reaction, with the decisions on the way to each commit.
    pub fn of(
        (module, effects): (&Module, &[Effects]),
        slow: FunctionId,
        fast: Function,
        decided: &BTreeMap<BlockId, Vec<Decision>>,
    ) -> Paths {
        let leaves = Ways::of(&fast).leaves();
        let clean = cleaned((module, effects), &fast, leaves.len());
        let ways = Ways::of(&clean);
        let places = ways.leaves().into_iter().map(|(place, _)| place);
        let all = leaves.into_iter().zip(places);
        let all = all.map(|((leaf, share), place)| {
            let decisions = decided.get(&leaf).map_or(&[][..], Vec::as_slice);
            let before = ways.before(place).into_iter().filter(|id| *id != place);
            let before = before.map(|id| of_block(clean.block(id)).instructions);
            let taken = before.sum::<f64>() + from_block(module, (&clean, place), decisions);
            FastPath {
                leaf,
                share,
                saved: of_way(module, slow, decisions) - taken,
            }
        });
        let all = all.collect();
        Paths {
            all,
            function: Function {
                name: FEWER_PATHS.to_string(),
                ..fast
            },
        }
    }

    /// The number of paths.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// The instructions that a path saves, for one run of the guard.
    pub fn gain(&self, number: usize) -> f64 {
        self.all[number].share * self.all[number].saved
    }

    /// The paths that gain most, at most so many, without some. Of those that gain the same, the
    /// most frequent come first.
    pub fn best(&self, most: Option<u32>, but: &BTreeSet<usize>) -> BTreeSet<usize> {
        let mut best: Vec<usize> = (0..self.count()).collect();
        best.sort_by(|one, other| {
            let gain = self.gain(*other).total_cmp(&self.gain(*one));
            gain.then(self.all[*other].share.total_cmp(&self.all[*one].share))
        });
        best.truncate(most.map_or(usize::MAX, |most| most as usize));
        best.into_iter().filter(|one| !but.contains(one)).collect()
    }

    /// The bytes of the function with these paths alone.
    pub fn bytes(&self, kept: &BTreeSet<usize>) -> f64 {
        self.only(kept).map_or(0.0, |one| of_function(&one).bytes)
    }

    /// The function with these paths alone; none without any.
    pub fn only(&self, kept: &BTreeSet<usize>) -> Option<Function> {
        if kept.is_empty() {
            return None;
        }
        let leaves = kept.iter().map(|one| &self.all[*one]);
        let leaves: BTreeMap<BlockId, f64> = leaves.map(|one| (one.leaf, one.share)).collect();
        let fewer = without(&self.function, |ways, id| ways.not_to(id, &leaves));
        Some(fewer.unwrap_or_else(|| self.function.clone()))
    }
}

/// A fast function that is cleaned as the pass does. Its blocks have other names then, and its
/// commits come in the same order; the same function if they are not so many.
fn cleaned(known: (&Module, &[Effects]), fast: &Function, commits: usize) -> Function {
    let mut clean = fast.clone();
    compact(&mut clean);
    fold::fold(&mut clean);
    value_numbering::number(known.0, known.1, &mut clean);
    dead_code::clean(known.0, known.1, &mut clean);
    let is_same = Ways::of(&clean).leaves().len() == commits;
    if is_same { clean } else { fast.clone() }
}
