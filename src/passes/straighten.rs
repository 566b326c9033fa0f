//! Control flow made straight: blocks that only lead on, jumps to a block that nothing else
//! reaches, and branches whose outcome an edge decides.
//!
//! In: a function. Out: the same with fewer blocks and edges.
//!
//! ```text
//! b1: jump b3(1)                          b1: jump b4
//! b2: jump b3(0)                          b2: jump b5
//! b3(%c: i1): branch %c, b4, b5
//! ```

use crate::ir::definitions::Definitions;
use crate::ir::edit::{compact, substitute_in_turn};
use crate::ir::op::Op;
use crate::ir::{Block, BlockId, Edge, Function, Module, Terminator, Value};
use std::collections::BTreeMap;

/// Straightens all functions of a module.
pub fn run(module: &mut Module) {
    module.functions.iter_mut().for_each(straighten);
}

/// Straightens a function.
pub fn straighten(function: &mut Function) {
    while thread(function) | merge(function) {
        compact(function);
    }
}

/// Edges to a block that only leads on lead where it does; true if one was changed.
fn thread(function: &mut Function) -> bool {
    let used_elsewhere = used_elsewhere(function);
    let definitions = Definitions::of(function);
    let mut changes: Vec<(BlockId, usize, Edge)> = Vec::new();
    for (id, block) in function.all_blocks() {
        for (at, edge) in block.terminator.edges().into_iter().enumerate() {
            let target = function.block(edge.block);
            // The last parameters take the results of an attempt: its edge has fewer arguments.
            let is_whole = edge.arguments.len() == target.parameters.len();
            if is_whole
                && edge.block != BlockId(0)
                && !used_elsewhere[edge.block.at()]
                && let Some(next) = leads_on((function, &definitions), target, &edge.arguments)
                && next.block != id
            {
                changes.push((id, at, next));
            }
        }
    }
    let changed = !changes.is_empty();
    for (id, at, next) in changes {
        let mut edges = function.blocks[id.at()].terminator.edges_mut();
        *edges.swap_remove(at) = next;
    }
    changed
}

/// By block: another block uses a value that it defines.
fn used_elsewhere(function: &Function) -> Vec<bool> {
    let mut home = vec![None; function.values.len()];
    for (id, block) in function.all_blocks() {
        let results = block.instructions.iter().flat_map(|one| &one.results);
        for value in block.parameters.iter().chain(results) {
            home[value.at()] = Some(id);
        }
    }
    let mut used = vec![false; function.blocks.len()];
    for (id, block) in function.all_blocks() {
        let operands = block.instructions.iter().flat_map(|one| &one.operands);
        for value in operands.copied().chain(block.terminator.uses()) {
            if let Some(home) = home[value.at()].filter(|home| *home != id) {
                used[home.at()] = true;
            }
        }
    }
    used
}

/// The edge by which control leaves a block that does nothing, if it comes with these values.
fn leads_on(
    (function, definitions): (&Function, &Definitions<'_>),
    block: &Block,
    given: &[Value],
) -> Option<Edge> {
    let parameters = block.parameters.iter().copied();
    let by: BTreeMap<Value, Value> = parameters.zip(given.iter().copied()).collect();
    let mut known: BTreeMap<Value, u64> = BTreeMap::new();
    for (parameter, value) in &by {
        known.extend(
            definitions
                .constant(*value)
                .map(|number| (*parameter, number)),
        );
    }
    for instruction in &block.instructions {
        // A bit that is turned is all that stands before a branch on what an edge brings.
        match (&instruction.op, &instruction.operands[..]) {
            (Op::Not, [of]) if function.type_of(*of) == crate::ir::Type::BIT => {
                let bit = known.get(of)?;
                known.insert(instruction.results[0], 1 - bit);
            }
            _other => return None,
        }
    }
    let edge = match &block.terminator {
        Terminator::Jump(edge) if block.instructions.is_empty() => edge,
        Terminator::Branch {
            condition,
            then,
            otherwise,
            ..
        } => match known.get(condition)? {
            0 => otherwise,
            _ => then,
        },
        Terminator::Switch {
            value,
            cases,
            otherwise,
        } => {
            let number = known.get(value)?;
            let case = cases.iter().find(|(case, _, _)| case == number);
            case.map_or(otherwise, |(_, _, edge)| edge)
        }
        _ends => return None,
    };
    let arguments = edge.arguments.iter().map(|value| {
        let is_own = block
            .instructions
            .iter()
            .any(|one| one.results.contains(value));
        (!is_own).then(|| by.get(value).copied().unwrap_or(*value))
    });
    Some(Edge {
        block: edge.block,
        arguments: arguments.collect::<Option<Vec<Value>>>()?,
    })
}

/// A block to which one jump leads is part of the block that jumps; true if there was one.
fn merge(function: &mut Function) -> bool {
    let mut edges = function.edges_into();
    let mut by: Vec<Value> = (0..function.values.len() as u32).map(Value).collect();
    let mut changed = false;
    for at in 0..function.blocks.len() {
        while let Terminator::Jump(edge) = &function.blocks[at].terminator
            && edges[edge.block.at()] == 1
            && edge.block != BlockId(0)
            && edge.block.at() != at
        {
            let edge = edge.clone();
            let empty = Block {
                parameters: Vec::new(),
                instructions: Vec::new(),
                terminator: Terminator::Never,
                span: None,
            };
            let behind = std::mem::replace(&mut function.blocks[edge.block.at()], empty);
            for (parameter, value) in behind.parameters.iter().zip(&edge.arguments) {
                by[parameter.at()] = *value;
            }
            let own = &mut function.blocks[at];
            own.instructions.extend(behind.instructions);
            own.terminator = behind.terminator;
            own.span = behind.span;
            edges[edge.block.at()] = 0;
            changed = true;
        }
    }
    substitute_in_turn(function, by);
    changed
}
