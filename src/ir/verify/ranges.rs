//! Rules 6 and 9: bytes are there, indices in range, divisors not 0.
//!
//! In: a function with a graph that keeps the other rules. Out: breaches. `facts/` proves what
//! operations need; lowering inserts a test where the layers do not say enough.

use super::breach::{Breach, Rule, Scope};
use crate::ir::Terminator;
use crate::ir::facts::{Facts, Need};

/// Checks that operations that would trap cannot.
pub fn check(scope: &Scope<'_>) -> Vec<Breach> {
    let mut breaches = Vec::new();
    Facts::walk(
        scope.module,
        scope.function,
        scope.graph,
        &mut |facts, id, at| {
            let block = scope.function.block(id);
            let needs = match (block.instructions.get(at), &block.terminator) {
                (Some(instruction), _) => facts.needs(&instruction.op, &instruction.operands),
                (
                    None,
                    Terminator::Try {
                        attempt, operands, ..
                    },
                ) => facts.attempt_needs(attempt, operands),
                (None, _) => Vec::new(),
            };
            for Need {
                sum,
                is_range,
                otherwise,
            } in needs
            {
                if !facts.proves(sum.as_ref()) {
                    let rule = if is_range { Rule::Ranges } else { Rule::Traps };
                    breaches.push(scope.breach(rule, (id, at), otherwise.to_string()));
                }
            }
        },
    );
    breaches
}
