//! Instances found by a timer: in, a kind, a timer of it, and how many keys are said; out, the C
//! function that finds the instance whose timer expires first, of those with these keys.

use super::Stack;
use super::containers::timer_of;
use super::keys;
use super::scope::Scope;
use super::state::{member, pointer};
use crate::c::tree::{Expression as C, Function, Statement as S, assign, atom, binary, call};
use crate::types::expression::Instance;
use crate::types::program::{KindId, TimerId};

/// Returns the name of the function for a timer, where so many keys are said.
pub fn name(stack: &Stack, id: KindId, timer: TimerId, keys: usize) -> String {
    let name = format!("soonest_{}_{}", stack.names.kinds[id.at()], timer.at());
    match keys {
        0 => name,
        _ => format!("{name}_by_{keys}"),
    }
}

/// Returns the functions for all timers of a kind, and for as many keys as may be said.
pub fn functions(stack: &Stack, id: KindId) -> Vec<Function> {
    let kind = &stack.program.kinds[id.at()];
    let timers = (0..kind.timers.len() as u32).map(TimerId);
    let each = |timer| (0..=kind.keys.len()).map(move |keys| function(stack, id, timer, keys));
    timers.flat_map(each).collect()
}

/// The function looks at every instance, so its cost is the capacity of the kind.
fn function(stack: &Stack, id: KindId, timer: TimerId, count: usize) -> Function {
    let mut kind = stack.program.kinds[id.at()].clone();
    kind.keys.truncate(count);
    let [pool, next, ended] = ["pool", "next", "ended"].map(|suffix| member(stack, id, suffix));
    let [n, first] = ["n", "first"].map(atom);
    let each = |from: C| {
        call(
            "sl_pool_each",
            vec![pool.clone().address(), next.clone(), from],
        )
    };
    let timer_of = |index: &C| {
        let mut scope = Scope::new(stack, &[]);
        scope.own = Some(index.clone());
        timer_of(&scope, Instance::Own, id, timer)
    };
    let is_first = binary("==", first.clone(), atom("SL_NONE"));
    let sooner = call("sl_timer_sooner", vec![timer_of(&n), timer_of(&first)]);
    let runs = call("sl_timer_runs", vec![timer_of(&n)]);
    let mut there = binary("&&", ended.element(n.clone()).negated(), runs);
    if count > 0 {
        there = binary("&&", there, keys::differs(stack, id, &kind, "n").negated());
    }
    let uint32 = |name: &str, value: C| S::Declare {
        kind: "uint32_t".to_string(),
        name: name.to_string(),
        value: Some(value),
    };
    let called = &kind.timers[timer.at()];
    let these = if count > 0 {
        ", of those with these keys"
    } else {
        ""
    };
    Function {
        comment: format!(
            "The one whose `{called}` expires first{these}; SL_NONE if it runs for none."
        ),
        result: "static uint32_t".to_string(),
        name: name(stack, id, timer, count),
        parameters: [
            vec![pointer(stack, true)],
            keys::parameters_of(stack, &kind),
        ]
        .concat(),
        body: vec![
            uint32("first", atom("SL_NONE")),
            uint32("n", each(atom("0"))),
            S::While {
                condition: binary("!=", n.clone(), atom("SL_NONE")),
                body: vec![
                    S::If {
                        condition: binary("&&", there, binary("||", is_first, sooner)),
                        then: vec![assign(first.clone(), n.clone())],
                        otherwise: Vec::new(),
                    },
                    assign(n.clone(), each(binary("+", n, atom("1")))),
                ],
            },
            S::Return(Some(first)),
        ],
    }
}
