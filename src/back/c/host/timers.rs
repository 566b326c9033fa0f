//! Timers that expire: in, those of the kinds of a module; out, what finds the next one, and what
//! handles it.

use super::build::own;
use super::constant::first_timer;
use crate::back::c::Stack;
use crate::back::c::prototype::{Reach, called};
use crate::c::tree::{
    Expression as C, Function, Item, Statement as S, atom, binary, call, call_statement, only_if,
};
use crate::ir::Kind;

/// `next_deadline`, `expired` and `expire_next`.
pub fn items(stack: &Stack<'_>) -> Vec<Item> {
    let mut kinds = stack.module.kinds.iter();
    let has_timers = kinds.any(|kind| !kind.timers.is_empty());
    let timers = || atom("stack").behind("timers").address();
    let unused = || S::Do(atom("stack").cast("void"));
    let (deadline, expires) = match has_timers {
        true => {
            let deadline = call("sl_timers_deadline", vec![timers()]);
            (vec![S::Return(Some(deadline))], expires(timers()))
        }
        false => (
            vec![unused(), S::Return(Some(atom("UINT64_MAX")))],
            vec![unused(), S::Return(Some(atom("false")))],
        ),
    };
    let mut all = vec![function(
        stack,
        "When the next timer expires; UINT64_MAX if none is running.",
        ("static uint64_t", "next_deadline"),
        deadline,
    )];
    all.extend(has_timers.then(|| expired(stack)));
    all.push(function(
        stack,
        "Handles the next timer, in a step of its own; false if none is running.",
        ("static bool", "expire_next"),
        expires,
    ));
    all
}

fn function(stack: &Stack<'_>, comment: &str, (result, name): (&str, &str), body: Vec<S>) -> Item {
    Item::Function(Function {
        comment: comment.to_string(),
        result: result.to_string(),
        name: name.to_string(),
        parameters: vec![format!("struct {} *stack", stack.names.stack)],
        body,
    })
}

fn expires(timers: C) -> Vec<S> {
    let timer = || atom("timer");
    let steps = atom("stack").behind("shared").member("steps");
    vec![
        S::Declare {
            kind: "struct sl_timer *const".to_string(),
            name: "timer".to_string(),
            value: Some(call("sl_timers_first", vec![timers])),
        },
        only_if(
            binary("==", timer(), atom("NULL")),
            vec![S::Return(Some(atom("false")))],
        ),
        call_statement("sl_timer_stop", vec![timer()]),
        S::Assign(steps, "+=", atom("1")),
        call_statement("expired", vec![atom("stack"), timer().behind("id")]),
        S::Return(Some(atom("true"))),
    ]
}

/// The timers with the greatest numbers first, so that one comparison tells the kind.
fn expired(stack: &Stack<'_>) -> Item {
    let kinds = stack.module.kinds.iter().zip(&stack.names.kinds);
    let kinds = kinds.filter(|(kind, _)| !kind.timers.is_empty());
    let mut body: Vec<S> = Vec::new();
    for (at, (kind, names)) in kinds.enumerate().collect::<Vec<_>>().into_iter().rev() {
        let first = atom(first_timer(&names.name));
        let mut then = of_kind(stack, kind);
        if at == 0 {
            // The first kind has all that are left, and begins at 0.
            body.extend(then);
            continue;
        }
        then.insert(0, S::Assign(atom("timer"), "-=", first.clone()));
        then.push(S::Return(None));
        body.push(only_if(binary(">=", atom("timer"), first), then));
    }
    let mut timers = stack.module.kinds.iter().flat_map(|kind| &kind.timers);
    if !timers.any(|timer| timer.expires.is_some()) {
        body.extend(["stack", "timer"].map(|name| S::Do(atom(name).cast("void"))));
    }
    let parameters = vec![
        format!("struct {} *stack", stack.names.stack),
        "uint32_t timer".to_string(),
    ];
    own("A timer has expired.", "expired", parameters, body).1
}

/// The reactions to the timers of a kind, by the number of a timer among them.
fn of_kind(stack: &Stack<'_>, kind: &Kind) -> Vec<S> {
    let count = kind.timers.len();
    let index = match count {
        1 => atom("timer"),
        _ => binary("/", atom("timer"), atom(count.to_string())),
    };
    let reactions = kind.timers.iter().enumerate();
    let cases = reactions.filter_map(|(at, timer)| {
        let reaction = called(stack, Reach::Stack, timer.expires?, vec![index.clone()]);
        Some((vec![atom(at.to_string())], vec![S::Do(reaction)]))
    });
    let mut cases: Vec<(Vec<C>, Vec<S>)> = cases.collect();
    if count == 1 {
        return cases.pop().map(|(_, body)| body).unwrap_or_default();
    }
    cases.iter_mut().for_each(|(_, body)| body.push(S::Break));
    let value = binary("%", atom("timer"), atom(count.to_string()));
    let is_any = !cases.is_empty();
    let otherwise = None;
    Vec::from_iter(is_any.then_some(S::Switch {
        value,
        cases,
        otherwise,
    }))
}
