//! Rule 2: static single assignment.
//!
//! In: a function with a graph. Out: breaches. Each use costs the logarithm of the graph's depth.

use super::breach::{Breach, Rule, Scope, Spot, name};
use crate::ir::signature::outcomes;
use crate::ir::{BlockId, Edge, Terminator, Type, Value};

/// Checks that each value is defined once, and used where its definition dominates, and that edges
/// give blocks their parameters.
pub fn check(scope: &Scope<'_>) -> Vec<Breach> {
    let mut breaches = Vec::new();
    let defined = definitions(scope, &mut breaches);
    let mut used = |spot: Spot, values: &[Value]| {
        for value in values {
            let dominates = defined[value.at()].is_some_and(|(block, at)| {
                let own = block == spot.0;
                if own {
                    at <= spot.1
                } else {
                    scope.graph.dominates(block, spot.0)
                }
            });
            if !dominates {
                let name = name(scope.function, *value);
                let message = format!("{name} is not defined on all ways to its use");
                breaches.push(scope.breach(Rule::Values, spot, message));
            }
        }
    };
    for (spot, instruction) in scope.instructions() {
        used(spot, &instruction.operands);
    }
    for (spot, terminator) in scope.terminators() {
        used(spot, &terminator.uses());
    }
    for (spot, terminator) in scope.terminators() {
        edges(scope, spot, terminator, &mut breaches);
    }
    breaches
}

/// By value: the block that defines it, and the first instruction that may use it.
fn definitions(scope: &Scope<'_>, breaches: &mut Vec<Breach>) -> Vec<Option<(BlockId, usize)>> {
    let mut defined = vec![None; scope.function.values.len()];
    let mut define = |block: BlockId, at: usize, values: &[Value]| {
        for value in values {
            if defined[value.at()].replace((block, at)).is_some() {
                let message = format!("{} is defined twice", name(scope.function, *value));
                breaches.push(scope.breach(Rule::Values, (block, at), message));
            }
        }
    };
    for id in &scope.graph.order {
        let block = scope.function.block(*id);
        define(*id, 0, &block.parameters);
        for (at, instruction) in block.instructions.iter().enumerate() {
            define(*id, at + 1, &instruction.results);
        }
    }
    defined
}

/// Edges and results of a `try` give the blocks behind them all parameters.
fn edges(scope: &Scope<'_>, spot: Spot, terminator: &Terminator, breaches: &mut Vec<Breach>) {
    let mut results = vec![Vec::new(); 2];
    if let Terminator::Try {
        attempt, operands, ..
    } = terminator
    {
        match outcomes(scope.module, attempt, &scope.types(operands)) {
            Ok((done, failed)) => results = vec![done, failed],
            // Rule 3 reports wrong operands.
            Err(_wrong) => return,
        }
    }
    let mut results = results.into_iter();
    for edge in terminator.edges() {
        let given = given(scope, edge, results.next().unwrap_or_default());
        let expected = scope.types(&scope.function.block(edge.block).parameters);
        if given != expected {
            let (given, expected) = (list(&given), list(&expected));
            let block = edge.block.0;
            let message = format!("b{block} has the parameters ({expected}), not ({given})");
            breaches.push(scope.breach(Rule::Values, spot, message));
        }
    }
}

fn given(scope: &Scope<'_>, edge: &Edge, results: Vec<Type>) -> Vec<Type> {
    let mut given = scope.types(&edge.arguments);
    given.extend(results);
    given
}

fn list(types: &[Type]) -> String {
    let all: Vec<String> = types.iter().map(Type::to_string).collect();
    all.join(", ")
}
