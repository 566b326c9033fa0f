//! Dead code: values that nobody uses, parameters of blocks that nobody reads, and stores that are
//! written over before anybody looks.
//!
//! In: a function and the effects of all that it calls. Out: the same without them.
//!
//! ```text
//! store udp.port %u, 0          gone: nothing in between reads the field
//! store udp.port %u, %1
//! ```

use crate::ir::edit::compact;
use crate::ir::effects::{Effects, Resource};
use crate::ir::graph::Graph;
use crate::ir::op::Op;
use crate::ir::{BlockId, Function, Instruction, Module, Region, Value};
use std::collections::BTreeSet;

/// Removes dead code from all functions of a module.
pub fn run(module: &mut Module) {
    let effects = Effects::of_functions(module);
    for at in 0..module.functions.len() {
        let mut function = module.functions[at].clone();
        clean(module, &effects, &mut function);
        module.functions[at] = function;
    }
}

/// Removes dead code from a function.
pub fn clean(module: &Module, effects: &[Effects], function: &mut Function) {
    for block in &mut function.blocks {
        let instructions = std::mem::take(&mut block.instructions);
        block.instructions = without_lost_stores(module, effects, instructions);
    }
    remove_unused(module, effects, function);
}

/// The instructions of a block without stores to a place that is written again.
fn without_lost_stores(
    module: &Module,
    effects: &[Effects],
    instructions: Vec<Instruction>,
) -> Vec<Instruction> {
    let mut again: BTreeSet<(Region, Vec<Value>)> = BTreeSet::new();
    let mut kept = Vec::new();
    for instruction in instructions.into_iter().rev() {
        let op = &instruction.op;
        if let Op::Store(region) = op {
            let place = &instruction.operands[..instruction.operands.len() - 1];
            if !again.insert((*region, place.to_vec())) {
                continue;
            }
        } else {
            let own = Effects::with_called(module, effects, op);
            let is_plain = own.are_none() || matches!(op, Op::Change(..) | Op::Store(_));
            match is_plain {
                true => again.retain(|(region, _)| !own.reads.contains(&Resource::Region(*region))),
                // The host, or another event, may read any field here.
                false => again.clear(),
            }
        }
        kept.push(instruction);
    }
    kept.reverse();
    kept
}

/// Removes what nobody uses, until all that is left is used.
pub fn remove_unused(module: &Module, effects: &[Effects], function: &mut Function) {
    let used = used(module, effects, function);
    for block in &mut function.blocks {
        block.instructions.retain(|instruction| {
            let is_used = instruction.results.iter().any(|result| used[result.at()]);
            is_used || does_something(module, effects, instruction)
        });
    }
    without_parameters(function, &used);
    compact(function);
}

/// By value: something that stays uses it. Graphs have no cycles, so all users of a value are known
/// when a walk from the last block to the first comes to it.
fn used(module: &Module, effects: &[Effects], function: &Function) -> Vec<bool> {
    let graph = Graph::of(function).expect("the verifier passes acyclic graphs alone");
    let mut used = vec![false; function.values.len()];
    for id in graph.order.iter().rev() {
        let block = function.block(*id);
        for value in block.terminator.operands() {
            used[value.at()] = true;
        }
        for edge in block.terminator.edges() {
            let parameters = &function.block(edge.block).parameters;
            for (parameter, argument) in parameters.iter().zip(&edge.arguments) {
                let is_linear = function.type_of(*parameter).is_linear();
                used[argument.at()] |= is_linear || used[parameter.at()];
            }
        }
        for instruction in block.instructions.iter().rev() {
            let mut results = instruction.results.iter();
            if results.any(|one| used[one.at()]) || does_something(module, effects, instruction) {
                for operand in &instruction.operands {
                    used[operand.at()] = true;
                }
            }
        }
    }
    used
}

/// Returns true if an instruction does more than give values.
pub fn does_something(module: &Module, effects: &[Effects], instruction: &Instruction) -> bool {
    let op = &instruction.op;
    let own = Effects::with_called(module, effects, op);
    // A handle is used up, even by what writes nothing; but a function that writes nothing gives
    // all handles back.
    let is_call = matches!(op, Op::Call(_));
    !own.are_none() || instruction.results.is_empty() && !is_call
}

/// Removes parameters of blocks that nobody reads, and what edges give them.
fn without_parameters(function: &mut Function, used: &[bool]) {
    let is_linear = |value: Value| function.type_of(value).is_linear();
    let dead: Vec<Vec<bool>> = function
        .blocks
        .iter()
        .enumerate()
        .map(|(at, block)| {
            let all = block.parameters.iter();
            let dead = all.map(|one| at != 0 && !used[one.at()] && !is_linear(*one));
            dead.collect()
        })
        .collect();
    // The results of an attempt are the last parameters, and stay.
    let mut given: Vec<usize> = function
        .blocks
        .iter()
        .map(|one| one.parameters.len())
        .collect();
    for block in &function.blocks {
        for edge in block.terminator.edges() {
            let place = &mut given[edge.block.at()];
            *place = edge.arguments.len().min(*place);
        }
    }
    let goes = |block: BlockId, at: usize| at < given[block.at()] && dead[block.at()][at];
    for at in 0..function.blocks.len() {
        let id = BlockId(at as u32);
        let block = &mut function.blocks[at];
        let mut place = 0;
        block.parameters.retain(|_| {
            place += 1;
            !goes(id, place - 1)
        });
        for edge in block.terminator.edges_mut() {
            let mut place = 0;
            let target = edge.block;
            edge.arguments.retain(|_| {
                place += 1;
                !goes(target, place - 1)
            });
        }
    }
}
