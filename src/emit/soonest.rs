//! Instances found by a timer: in, a kind and a timer of it; out, the C function that finds the
//! instance whose timer expires first.

use super::Stack;
use super::containers::timer_of;
use super::scope::Scope;
use super::state::{member, pointer};
use crate::c::tree::{Expression as C, Function, Statement as S, assign, atom, binary, call};
use crate::types::expression::Instance;
use crate::types::program::{KindId, TimerId};

/// The name of the function for a timer.
pub fn name(stack: &Stack, id: KindId, timer: TimerId) -> String {
    format!("soonest_{}_{}", stack.names.kinds[id.at()], timer.at())
}

/// The function for a timer: it looks at every instance, so its cost is the capacity of the kind.
pub fn function(stack: &Stack, id: KindId, timer: TimerId) -> Function {
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
    let there = binary("&&", ended.element(n.clone()).negated(), runs);
    let uint32 = |name: &str, value: C| S::Declare {
        kind: "uint32_t".to_string(),
        name: name.to_string(),
        value: Some(value),
    };
    let called = &stack.program.kinds[id.at()].timers[timer.at()];
    Function {
        comment: format!("The one whose `{called}` expires first; SL_NONE if it runs for none."),
        result: "static uint32_t".to_string(),
        name: name(stack, id, timer),
        parameters: vec![pointer(stack, true)],
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
