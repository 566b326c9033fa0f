//! Moves guards that one way of a branch alone needs to that way (sinking of partially dead code;
//! Knoop, Rüthing and Steffen, "Partial Dead Code Elimination", 1994).
//!
//! In: a fast function. Out: an exit whose condition is 0 on one side of a branch moves from before
//! the branch to the other side. There a part of its condition is known, and the first side pays
//! nothing for it.
//!
//! ```text
//! exit a (and %c, %x)        branch %c, b1, b2
//! branch %c, b1, b2      =>  b1: exit a %x
//! ```

use super::facts::Facts;
use crate::ir::definitions::Definitions;
use crate::ir::effects::may_trap;
use crate::ir::graph::Graph;
use crate::ir::{BlockId, Function, Instruction, Op, Terminator, Value};

/// Moves the exits of a function to the ways that need them.
pub fn moved(function: &Function) -> Function {
    let mut new = function.clone();
    let graph = Graph::of(function).expect("the verifier passes acyclic graphs alone");
    let edges = function.edges_into();
    let definitions = Definitions::of(function);
    for id in graph.order {
        let Terminator::Branch {
            condition,
            then,
            otherwise,
            ..
        } = &function.block(id).terminator
        else {
            continue;
        };
        let ways = [then.block, otherwise.block];
        let are_own = ways.iter().all(|way| edges[way.at()] == 1);
        if are_own && function.block(id).commit().is_none() {
            sink_exits(&mut new, &definitions, id, (*condition, ways));
        }
    }
    new
}

/// Moves exits of a block to one of the blocks behind it.
fn sink_exits(
    function: &mut Function,
    definitions: &Definitions<'_>,
    id: BlockId,
    (condition, ways): (Value, [BlockId; 2]),
) {
    let behind = [true, false].map(|holds| {
        let mut facts = Facts::default();
        facts.learn(definitions, condition, holds);
        facts
    });
    let mut stays: Vec<Instruction> = Vec::new();
    let mut goes: [Vec<Instruction>; 2] = [Vec::new(), Vec::new()];
    let mut all = std::mem::take(&mut function.blocks[id.at()].instructions);
    while let Some(instruction) = all.pop() {
        let Op::Exit(_) = instruction.op else {
            // An exit before this operation may keep it from a trap.
            let has_index = matches!(instruction.op, Op::Load(_) | Op::Ask(..))
                && instruction.operands.len() > 1;
            let is_cache = matches!(instruction.op, Op::Recompute(_) | Op::Disarm(_));
            let is_free = !may_trap(&instruction.op) && !has_index && !is_cache;
            stays.push(instruction);
            match is_free {
                true => continue,
                false => break,
            }
        };
        let bit = instruction.operands[0];
        let is_needed = behind
            .each_ref()
            .map(|facts| facts.number(definitions, bit) != Some(0));
        match is_needed {
            [true, false] => goes[0].push(instruction),
            [false, true] => goes[1].push(instruction),
            _both => stays.push(instruction),
        }
    }
    all.extend(stays.into_iter().rev());
    function.blocks[id.at()].instructions = all;
    for (way, exits) in ways.into_iter().zip(goes) {
        let own = &mut function.blocks[way.at()].instructions;
        own.splice(0..0, exits.into_iter().rev());
    }
}
