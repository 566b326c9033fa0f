//! Tries the most frequent paths of a fast function first (superblock formation; Hwu et al., "The
//! Superblock", 1993).
//!
//! In: fast functions. Out: before each, another fast function with its most frequent group of
//! paths. This function is small, a compiler keeps its values in registers, and a frame that leaves
//! it has lost little.
//!
//! ```text
//! fast fn arrive.fast(%m: msg) {              fast fn arrive.hot(%m: msg) {
//!   branch (eq %type, 1), b1, b2 @ 90%   =>     exit arrive.fast (ne %type, 1)
//! b1: commit ..                                 commit ..
//! b2: commit ..                               fast fn arrive.fast(%m: msg), first arrive.hot {
//!                                               exit arrive.fast (eq %type, 1)
//!                                               commit ..
//! ```
//!
//! The paths behind a branch go together if their guards grow by few operations:
//! a cache of headers cannot hold the outcome of a guard that reads what a path writes. Of groups
//! of paths, the one that is taken often for the operations of its guards is tried first, and the
//! others behind it. One whose events go to reactions inside the stack alone stays only if there is
//! no other.

use crate::ir::definitions::Definitions;
use crate::ir::effects::Effects;
use crate::ir::op::{Event, Target};
use crate::ir::{Block, BlockId, Function, FunctionId, Module, Op, Role, Terminator, Value};
use crate::passes::fast::ways::{Ways, without};
use crate::passes::fast::{expect_header, order_guards};
use std::collections::{BTreeMap, BTreeSet};

/// Paths that go together have so many operations at most.
const LONGEST: usize = 900;

/// The guards of the paths that are taken most grow by so many operations at most where others
/// join. The number of these guards does not matter, as most of them follow from a header that is
/// expected.
const GROWS: f64 = 12.0;

/// Tries the most frequent paths of all fast functions first.
pub fn run(module: &mut Module) {
    let effects = Effects::of_functions(module);
    for at in 0..module.functions.len() {
        let function = &module.functions[at];
        if function.role == Role::Fast
            && let Some(group) = taken_most((module, &effects), function)
            && let Some(only) = only((module, &effects), function, &group)
        {
            match rest((module, &effects), function, &group) {
                None => module.functions[at] = only,
                Some(rest) => {
                    module.functions[at] = rest;
                    try_first(module, FunctionId(at as u32), only, "hot");
                }
            }
        }
    }
}

/// The module, and by function what it reads and changes.
type Known<'k> = (&'k Module, &'k [Effects]);

/// The group of paths of a fast function that is taken most for what its guards cost; none if the
/// function has no path.
fn taken_most(known: Known<'_>, function: &Function) -> Option<Path> {
    let ways = Ways::of(function);
    let groups = grouped(known, &ways, BlockId(0)).into_iter();
    let gain = |group: &Path| group.share() / cost(known, function, group);
    groups.max_by(|one, other| {
        let told = one.tells.cmp(&other.tells);
        told.then(gain(one).total_cmp(&gain(other)))
    })
}

/// Groups of the paths behind a block; the first has most. The first groups of both ways of a
/// branch become one if the guards grow little.
fn grouped(known: Known<'_>, ways: &Ways<'_>, id: BlockId) -> Vec<Path> {
    if let Some(path) = Path::to(ways, id) {
        return vec![path];
    }
    let edges = ways.function.block(id).terminator.edges().into_iter();
    let behind = edges.filter(|edge| ways.commits[edge.block.at()]);
    let behind = behind.map(|edge| grouped(known, ways, edge.block));
    let mut behind: Vec<Vec<Path>> = behind.collect();
    if let [one, other] = &mut behind[..] {
        let both = one[0].with(&other[0]);
        let [apart, besides, joint] =
            [&one[0], &other[0], &both].map(|path| cost(known, ways.function, path));
        let most = one[0].share().max(other[0].share());
        let is_cheap = joint - apart - besides <= most * GROWS;
        if one[0].tells == other[0].tells
            && operations(ways.function, &both.blocks) <= LONGEST
            && is_cheap
        {
            one[0] = both;
            other.remove(0);
        }
    }
    let mut all: Vec<Path> = behind.into_iter().flatten().collect();
    all.sort_by(|one, other| other.share().total_cmp(&one.share()));
    all
}

/// A fast function without some paths; none if no
/// other has an event for a port or a link.
fn rest((module, effects): Known<'_>, function: &Function, group: &Path) -> Option<Function> {
    let ways = Ways::of(function);
    let others = ways.leaves().into_iter();
    let others = others.filter(|(leaf, _)| !group.leaves.contains_key(leaf));
    let tells = |leaf: BlockId| Path::to(&ways, leaf).is_some_and(|path| path.tells);
    let leaves: BTreeMap<BlockId, f64> = others.filter(|(leaf, _)| tells(*leaf)).collect();
    if leaves.is_empty() {
        return None;
    }
    let mut rest = without(function, |ways, id| ways.not_to(id, &leaves))?;
    order_guards::order(module, effects, &mut rest);
    Some(rest)
}

/// A fast function with some paths alone; none if it has no others.
fn only((module, effects): Known<'_>, function: &Function, group: &Path) -> Option<Function> {
    let mut only = without(function, |ways, id| ways.not_to(id, &group.leaves))?;
    order_guards::order(module, effects, &mut only);
    Some(only)
}

/// Operations that guards on some paths need for one run of the reaction, without what a cache of
/// headers saves.
fn cost(known: Known<'_>, function: &Function, group: &Path) -> f64 {
    let only = without(function, |ways, id| ways.not_to(id, &group.leaves));
    let only = only.as_ref().unwrap_or(function);
    let saved = expect_header::saved(known.0, known.1, only);
    let definitions = Definitions::of(only);
    let ways = Ways::of(only);
    // The blocks have other names, and come in the same order.
    let leaves = ways.leaves().into_iter().map(|(leaf, _)| leaf);
    let before = Ways::of(function).leaves().into_iter();
    let before = before.filter(|(leaf, _)| group.leaves.contains_key(leaf));
    let leaves = leaves.zip(before.map(|(_, share)| share));
    let leaves = leaves.map(|(leaf, share)| {
        let asked = ways.before(leaf).into_iter().flat_map(|id| {
            let block = only.block(id);
            let saved = saved.get(&id).map_or(&[][..], Vec::as_slice);
            let exits = block.instructions.iter().enumerate();
            let exits = exits.filter(|(_, one)| matches!(one.op, Op::Exit(_)));
            let exits = exits.filter(|(at, _)| !saved.contains(at));
            let exits = exits.map(|(_, one)| one.operands[0]);
            let branch = match &block.terminator {
                Terminator::Branch { condition, .. } => Some(*condition),
                _other => None,
            };
            exits.chain(branch).collect::<Vec<Value>>()
        });
        let asked: Vec<Value> = asked.collect();
        share * (asked.len() + needed(&definitions, asked)) as f64
    });
    leaves.sum()
}

/// The number of operations of which values are computed.
fn needed(definitions: &Definitions<'_>, values: Vec<Value>) -> usize {
    let mut open = values;
    let mut seen: BTreeSet<Value> = open.iter().copied().collect();
    let mut count = 0;
    while let Some(value) = open.pop() {
        if let Some(instruction) = definitions.get(value) {
            count += usize::from(instruction.op.number().is_none());
            let operands = instruction.operands.iter().copied();
            open.extend(operands.filter(|one| seen.insert(*one)));
        }
    }
    count
}

/// Has a function tried before another, under the name of the reaction with an end.
pub fn try_first(module: &mut Module, whole: FunctionId, hot: Function, end: &str) -> FunctionId {
    let reaction = hot.name.rsplit_once('.').map_or("", |(before, _)| before);
    let name = module.free_name(&format!("{reaction}.{end}"));
    let id = FunctionId(module.functions.len() as u32);
    module.functions.push(Function { name, ..hot });
    module.functions[whole.at()].fast = Some(id);
    id
}

/// Paths that go together.
struct Path {
    /// Their blocks with commits, each with the share of runs that come there.
    leaves: BTreeMap<BlockId, f64>,
    /// The blocks on the way there, and behind.
    blocks: BTreeSet<BlockId>,
    /// They tell somebody outside of the stack something.
    tells: bool,
}

impl Path {
    /// The path to a commit in a block, if one stands there.
    fn to(ways: &Ways<'_>, leaf: BlockId) -> Option<Path> {
        let mut leaves = ways.leaves().into_iter();
        let (_, share) = leaves.find(|(id, _)| *id == leaf)?;
        let behind = ways.function.behind(leaf);
        Some(Path {
            tells: behind.iter().any(|id| tells(ways.function.block(*id))),
            blocks: ways.before(leaf).into_iter().chain(behind).collect(),
            leaves: BTreeMap::from([(leaf, share)]),
        })
    }

    /// The share of runs that take them.
    fn share(&self) -> f64 {
        self.leaves.values().sum()
    }

    fn with(&self, other: &Path) -> Path {
        Path {
            leaves: self
                .leaves
                .iter()
                .chain(&other.leaves)
                .map(|(id, share)| (*id, *share))
                .collect(),
            blocks: &self.blocks | &other.blocks,
            tells: self.tells && other.tells,
        }
    }
}

/// The number of operations in blocks.
fn operations(function: &Function, blocks: &BTreeSet<BlockId>) -> usize {
    let blocks = blocks.iter().map(|id| function.block(*id));
    blocks.map(|block| block.instructions.len()).sum()
}

/// Returns true if a block has an event for a port or a link.
fn tells(block: &Block) -> bool {
    let is_told = |event: &Event| !matches!(event.target, Target::Function(_));
    let sent = block.instructions.iter().any(|one| match &one.op {
        Op::Output(events) | Op::Queue(_, events) => events.iter().any(is_told),
        _other => false,
    });
    sent || matches!(&block.terminator, Terminator::Tail(event, _) if is_told(event))
}
