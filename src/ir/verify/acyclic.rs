//! Rule 1: the graphs of blocks and of calls have no cycle.
//!
//! In: a module whose functions may be anything. Out: the graph of each function, unless it has
//! none, and breaches.

use super::breach::{Breach, Rule};
use crate::ir::effects::{called, called_by_attempt};
use crate::ir::graph::{Cycle, Graph};
use crate::ir::{Function, FunctionId, Module, Terminator, Value};

/// Each function has blocks, which name blocks and values that it has.
pub fn names_exist(function: &Function) -> Vec<Breach> {
    let mut breaches = Vec::new();
    if function.blocks.is_empty() {
        let message = "a function has a block where it begins";
        return vec![Breach::of_function(Rule::Graphs, function, message)];
    }
    let is_known = |value: &Value| value.at() < function.values.len();
    for (id, block) in function.all_blocks() {
        let spot = (id, block.instructions.len());
        let edges = block.terminator.edges();
        if edges
            .iter()
            .any(|edge| edge.block.at() >= function.blocks.len())
        {
            let message = "an edge leads to a block that is not there".to_string();
            breaches.push(Breach::at(Rule::Graphs, function, spot, message));
        }
        let mut named = block.parameters.iter();
        let mut all_known = named.all(is_known) && block.terminator.uses().iter().all(is_known);
        for instruction in &block.instructions {
            let mut named = instruction.operands.iter().chain(&instruction.results);
            all_known &= named.all(is_known);
        }
        if !all_known {
            let message = "a value is not in the function's table".to_string();
            breaches.push(Breach::at(Rule::Values, function, spot, message));
        }
    }
    breaches
}

/// The graph of a function, all of whose blocks are reached.
pub fn graph(function: &Function) -> Result<Graph, Breach> {
    let breach = |message: &str| Breach::of_function(Rule::Graphs, function, message);
    match Graph::of(function) {
        Err(Cycle(block)) => Err(breach(&format!("b{} leads to itself", block.0))),
        Ok(graph) if graph.order.len() < function.blocks.len() => {
            let mut reached = vec![false; function.blocks.len()];
            for block in &graph.order {
                reached[block.at()] = true;
            }
            let lost = reached.iter().position(|reached| !reached);
            Err(breach(&format!("nothing leads to b{}", lost.unwrap_or(0))))
        }
        Ok(graph) => Ok(graph),
    }
}

/// A function calls only functions of the module that stand before it.
pub fn calls_go_back(module: &Module, id: FunctionId) -> Vec<Breach> {
    let function = module.function(id);
    let mut breaches = Vec::new();
    for (block, content) in function.all_blocks() {
        let instructions = content.instructions.iter();
        let mut calls: Vec<Vec<FunctionId>> = instructions
            .map(|instruction| called(module, &instruction.op))
            .collect();
        if let Terminator::Try { attempt, .. } = &content.terminator {
            calls.push(called_by_attempt(module, attempt));
        }
        for (at, calls) in calls.into_iter().enumerate() {
            if calls.iter().any(|other| *other >= id) {
                let message = "a function calls only functions before it".to_string();
                breaches.push(Breach::at(Rule::Graphs, function, (block, at), message));
            }
        }
    }
    breaches
}
