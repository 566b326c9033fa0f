//! Anticipates guards: what both ways of a branch ask is asked before they part (code hoisting of
//! very busy expressions; Aho, Sethi and Ullman, "Compilers").
//!
//! In: a fast function. Out: exits with the same condition in both blocks behind a branch are one
//! exit before it. So guards that stand before the branch may follow from it.
//!
//! ```text
//!   branch %c, b1, b2                    exit a (ne %n, (load s.next %i))
//! b1: exit a (ne %n, (load s.next %i))   branch %c, b1, b2
//!     ..                              => b1: ..
//! b2: exit a (ne %n, (load s.next %i))   b2: ..
//!     ..
//! ```

use crate::ir::definitions::Definitions;
use crate::ir::effects::may_trap;
use crate::ir::graph::Graph;
use crate::ir::{BlockId, Function, Instruction, Op, Terminator, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A condition is followed to so many operations at most.
const LARGEST: usize = 60;

/// Anticipates the exits of a function.
pub fn anticipated(function: &Function) -> Function {
    let mut new = function.clone();
    let graph = Graph::of(function).expect("the verifier passes acyclic graphs alone");
    let edges = function.edges_into();
    for id in graph.order.iter().rev() {
        let Terminator::Branch {
            then, otherwise, ..
        } = &function.block(*id).terminator
        else {
            continue;
        };
        let ways = [then.block, otherwise.block];
        let are_own = ways
            .iter()
            .all(|way| edges[way.at()] == 1 && function.block(*way).parameters.is_empty());
        if are_own && function.block(*id).commit().is_none() {
            merge(&mut new, *id, ways);
        }
    }
    new
}

/// Moves the exits that two blocks have in common to the one before them.
fn merge(function: &mut Function, before: BlockId, ways: [BlockId; 2]) {
    let [one, other] = ways.map(|way| exits(function, way));
    let shared: Vec<(usize, usize)> = one
        .iter()
        .filter_map(|(what, at)| Some((*at, *other.get(what)?)))
        .collect();
    if shared.is_empty() {
        return;
    }
    let gone: BTreeSet<usize> = shared.iter().map(|(_, at)| *at).collect();
    let mut places = 0..;
    function.blocks[ways[1].at()]
        .instructions
        .retain(|_| !gone.contains(&places.next().expect("there is always a next place")));
    let moved = moved(function, ways[0], shared.iter().map(|(at, _)| *at));
    let (stays, goes): (Vec<_>, Vec<_>) =
        std::mem::take(&mut function.blocks[ways[0].at()].instructions)
            .into_iter()
            .enumerate()
            .partition(|(at, _)| !moved.contains(at));
    let plain = |all: Vec<(usize, Instruction)>| all.into_iter().map(|(_, one)| one);
    function.blocks[ways[0].at()].instructions = plain(stays).collect();
    function.blocks[before.at()]
        .instructions
        .extend(plain(goes));
}

/// The instructions of a block that give what some of its exits ask, and these exits.
fn moved(function: &Function, way: BlockId, exits: impl Iterator<Item = usize>) -> BTreeSet<usize> {
    let block = function.block(way);
    let results = block.instructions.iter().enumerate();
    let results = results.flat_map(|(at, one)| one.results.iter().map(move |value| (*value, at)));
    let given: BTreeMap<Value, usize> = results.collect();
    let mut open: Vec<usize> = exits.collect();
    let mut moved: BTreeSet<usize> = open.iter().copied().collect();
    while let Some(at) = open.pop() {
        let operands = block.instructions[at].operands.iter();
        let operands = operands.filter_map(|value| given.get(value));
        open.extend(operands.filter(|at| moved.insert(**at)));
    }
    moved
}

/// The exits of a block, by what they ask: those whose conditions are computed without a trap.
fn exits(function: &Function, way: BlockId) -> BTreeMap<String, usize> {
    let block = function.block(way);
    let own = block.instructions.iter().flat_map(|one| &one.results);
    let own: BTreeSet<Value> = own.copied().collect();
    let definitions = Definitions::of(function);
    let mut found = BTreeMap::new();
    let until = block
        .instructions
        .iter()
        .take_while(|one| one.op != Op::Commit);
    for (at, instruction) in until.enumerate() {
        if matches!(instruction.op, Op::Exit(_)) {
            let asked = what(&definitions, &own, instruction.operands[0], &mut 0);
            found.extend(asked.map(|asked| (asked, at)));
        }
    }
    found
}

/// A value in words: the operations of the block that give it. None if one of them may trap.
fn what(
    definitions: &Definitions<'_>,
    own: &BTreeSet<Value>,
    value: Value,
    seen: &mut usize,
) -> Option<String> {
    *seen += 1;
    let instruction = match definitions.get(value) {
        Some(one) if own.contains(&value) => one,
        _before => return Some(format!("{value:?}")),
    };
    // A guard before may say that an index is in range.
    let has_index = matches!(instruction.op, Op::Load(_)) && instruction.operands.len() > 1;
    if *seen > LARGEST || may_trap(&instruction.op) || has_index {
        return None;
    }
    let operands = instruction.operands.iter();
    let operands = operands.map(|one| what(definitions, own, *one, seen));
    let operands: Option<Vec<String>> = operands.collect();
    let at = instruction.results.iter().position(|one| *one == value);
    Some(format!(
        "{:?}.{at:?}({})",
        instruction.op,
        operands?.join(",")
    ))
}
