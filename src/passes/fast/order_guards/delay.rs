//! Delays guards: what an equality makes simpler is asked behind it.
//!
//! In: a fast function. Out: an exit that is computed of one of two values stands behind the exit
//! that leaves unless they are equal. Where a path forks, it stands on both ways if one of them
//! asks for that equality. So `implied.rs` knows of it, and asks less.
//!
//! ```text
//! exit a (ule %w, (sub %n, %m))           branch %x, b1, b2
//! branch %x, b1, b2                       b1: exit b (ne %n, %m)
//! b1: exit b (ne %n, %m)             =>       exit a (ule %w, (sub %n, %m))
//! b2: exit c (load s.open %i)             b2: exit c (load s.open %i)
//!                                             exit a (ule %w, (sub %n, %m))
//! ```
//!
//! An exit that keeps an operation behind it from a trap stays. A read needs bytes of the frame: an
//! exit moves only if it asks the state of a session and no length of a message. And an operation
//! that it passes and that may trap has no operand that is computed of what it asks.

use crate::ir::definitions::Definitions;
use crate::ir::effects::may_trap;
use crate::ir::op::{Compare, Op};
use crate::ir::{BlockId, Function, Instruction, Region, Terminator, Value};
use std::collections::BTreeSet;

/// A condition is followed to so many values at most.
const LARGEST: usize = 100;

/// Delays the guards of a function.
pub fn delayed(function: &Function) -> Function {
    let definitions = Definitions::of(function);
    let mut new = function.clone();
    for (id, _) in function.all_blocks() {
        let own = &mut new.blocks[id.at()].instructions;
        let end = before_last_exit(own).len();
        let passed = own[..end].to_vec();
        let equal = equal(&definitions, &passed);
        let exits = taken(&definitions, own, &equal, &passed);
        let end = end - exits.len();
        own.splice(end..end, exits);
        let Some(ways) = fork(function, id) else {
            continue;
        };
        let behind = ways.map(|way| before_last_exit(&new.blocks[way.at()].instructions).to_vec());
        let behind = behind.concat();
        let equal = self::equal(&definitions, &behind);
        let own = &mut new.blocks[id.at()].instructions;
        let passed = [own.clone(), behind].concat();
        let exits = taken(&definitions, own, &equal, &passed);
        for way in ways {
            let all = &mut new.blocks[way.at()].instructions;
            let end = before_last_exit(all).len();
            all.splice(end..end, exits.iter().cloned());
        }
    }
    new
}

/// Takes exits out of instructions that ask more than an equality, but a part of one. Nothing that
/// they pass traps because they have moved.
fn taken(
    definitions: &Definitions<'_>,
    own: &mut Vec<Instruction>,
    equal: &BTreeSet<Value>,
    passed: &[Instruction],
) -> Vec<Instruction> {
    let trapping = passed.iter().filter(|one| may_trap(&one.op));
    let trapping: Vec<Value> = trapping.flat_map(|one| one.operands.clone()).collect();
    let protected = sources(definitions, &trapping);
    let is_taken = |one: &Instruction| {
        let is_exit = matches!(one.op, Op::Exit(_));
        is_exit
            && self::equal(definitions, std::slice::from_ref(one)).is_empty()
            && !followed(definitions, &one.operands).is_disjoint(equal)
            && asks_state(definitions, &one.operands, &protected)
    };
    let exits = own.iter().filter(|one| is_taken(one)).cloned().collect();
    own.retain(|one| !is_taken(one));
    exits
}

/// A condition asks a field or a container, no length of a message, and nothing that is protected.
fn asks_state(
    definitions: &Definitions<'_>,
    condition: &[Value],
    protected: &BTreeSet<Value>,
) -> bool {
    let asked = sources(definitions, condition);
    let is_any = |is: fn(&Op) -> bool| {
        let mut ops = asked.iter().filter_map(|one| definitions.get(*one));
        ops.any(|one| is(&one.op))
    };
    asked.is_disjoint(protected)
        && is_any(|op| matches!(op, Op::Load(_) | Op::Ask(..)))
        && !is_any(|op| matches!(op, Op::Length))
}

/// The two blocks to which a block forks: nothing else leads there, and neither only leaves.
fn fork(function: &Function, id: BlockId) -> Option<[BlockId; 2]> {
    let Terminator::Branch {
        then, otherwise, ..
    } = &function.block(id).terminator
    else {
        return None;
    };
    let ways = [then.block, otherwise.block];
    let is_way = |way: &BlockId| {
        let edges = function.all_blocks();
        let edges = edges.flat_map(|(_, block)| block.terminator.edges());
        let leaves = matches!(function.block(*way).terminator, Terminator::Never);
        !leaves && edges.filter(|edge| edge.block == *way).count() == 1
    };
    (ways[0] != ways[1] && ways.iter().all(is_way)).then_some(ways)
}

/// The instructions up to the last exit, with that.
fn before_last_exit(all: &[Instruction]) -> &[Instruction] {
    let last = all.iter().rposition(|one| matches!(one.op, Op::Exit(_)));
    &all[..last.map_or(0, |last| last + 1)]
}

/// The values that are equal to others behind exits.
fn equal(definitions: &Definitions<'_>, all: &[Instruction]) -> BTreeSet<Value> {
    let exits = all.iter().filter(|one| matches!(one.op, Op::Exit(_)));
    let bits = exits.flat_map(|one| definitions.implied(one.operands[0], false));
    let equal = bits.filter_map(|(bit, holds)| {
        let Instruction { op, operands, .. } = definitions.get(bit)?;
        let is_equal = match op {
            Op::Compare(Compare::Eq) => holds,
            Op::Compare(Compare::Ne) => !holds,
            _ => false,
        };
        let mut operands = operands.iter().copied();
        is_equal.then(|| operands.find(|one| definitions.constant(*one).is_none()))?
    });
    equal.collect()
}

/// The values of which others are computed, and those.
fn followed(definitions: &Definitions<'_>, values: &[Value]) -> BTreeSet<Value> {
    let mut seen = BTreeSet::new();
    let mut open = values.to_vec();
    while let Some(value) = open.pop() {
        if seen.len() < LARGEST && seen.insert(value) {
            open.extend(
                definitions
                    .get(value)
                    .into_iter()
                    .flat_map(|one| &one.operands),
            );
        }
    }
    seen
}

/// Everything that is not computed of other numbers, of which values are computed.
fn sources(definitions: &Definitions<'_>, values: &[Value]) -> BTreeSet<Value> {
    let mut all = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut open = values.to_vec();
    while let Some(value) = open.pop() {
        if !seen.insert(value) {
            continue;
        }
        match definitions.get(value) {
            Some(one) if matches!(one.op, Op::Number(..) | Op::Load(Region::Setting(_))) => {}
            Some(one) if one.op.is_total() => open.extend(&one.operands),
            _ => {
                all.insert(value);
            }
        }
    }
    all
}
