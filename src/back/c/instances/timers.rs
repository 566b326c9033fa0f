//! Timers: in, the kinds of a module; out, the statements that begin all their timers, and the
//! function that starts what follows the end of one.
//!
//! ```text
//! UDP_TIMERS + 0   timer 0 of instance 0
//! UDP_TIMERS + 1   timer 1 of instance 0
//! UDP_TIMERS + 2   timer 0 of instance 1
//! ```

use crate::back::c::Stack;
use crate::back::c::containers::instance;
use crate::back::c::layout::{first_timer, timer_count, timers};
use crate::back::c::prototype::{Reach, called};
use crate::c::tree::{
    Expression as C, Function, Item, Statement as S, assign, atom, binary, call_statement, only_if,
};
use crate::ir::KindId;

/// The statements that begin all timers, and the heap in which those are that run.
pub fn begin_timers(stack: &Stack<'_>) -> Vec<S> {
    let all = timers(stack.module);
    let heap = atom("stack").behind("timers").member("heap");
    let heap = assign(heap, atom("stack").behind("timer_heap"));
    let first = (!all.is_empty()).then_some(heap);
    let kinds = all.into_iter().flat_map(|(id, _)| begin(stack, id));
    first.into_iter().chain(kinds).collect()
}

/// The timers of all instances of a kind begin.
fn begin(stack: &Stack<'_>, id: KindId) -> Vec<S> {
    let names = &stack.names.kinds[id.at()].timers;
    let capacity = stack.module.kinds[id.at()].capacity;
    let index = || atom(if capacity == 1 { "0" } else { "n" });
    let before = match (capacity, names.len()) {
        (1, _) => None,
        (_, 1) => Some(index()),
        (_, count) => Some(binary("*", atom(count.to_string()), index())),
    };
    let each = names.iter().enumerate().map(|(at, name)| {
        let timer = instance(stack, id, index()).member("timers");
        let timer = timer.member(name.clone()).address();
        let within = (at > 0).then(|| atom(at.to_string()));
        let number = before.iter().cloned().chain(within);
        let first = atom(first_timer(stack, id));
        let number = number.fold(first, |sum, more| binary("+", sum, more));
        call_statement("sl_timer_begin", vec![timer, number])
    });
    let body: Vec<S> = each.collect();
    match capacity {
        1 => body,
        _several => vec![S::For {
            start: "uint32_t n = 0".to_string(),
            condition: binary("<", atom("n"), atom(capacity.to_string())),
            step: "n++".to_string(),
            body,
        }],
    }
}

/// The function that is called with the number of a timer that has expired; none without timers.
/// Those with the greatest numbers come first, so that one comparison tells the kind.
pub fn expire(stack: &Stack<'_>) -> Option<(String, Item)> {
    let mut body: Vec<S> = Vec::new();
    for (id, first) in timers(stack.module).into_iter().rev() {
        let mut then = of_timer(stack, id);
        if first == 0 {
            body.extend(then);
            continue;
        }
        then.push(S::Return(None));
        let own = binary(">=", atom("timer"), atom(first_timer(stack, id)));
        body.push(only_if(own, then));
    }
    let parameters = vec![
        format!("struct {} *stack", stack.names.stack),
        "uint32_t timer".to_string(),
    ];
    let function = Function {
        comment: "A timer has expired.".to_string(),
        result: "static void".to_string(),
        name: "expire".to_string(),
        parameters,
        body,
    };
    let function = crate::back::c::with_all_used(function);
    let named = (function.name.clone(), Item::Function(function));
    (timer_count(stack.module) > 0).then_some(named)
}

/// The calls of the reactions to timers of a kind.
fn of_timer(stack: &Stack<'_>, id: KindId) -> Vec<S> {
    let kind = &stack.module.kinds[id.at()];
    let own = &kind.timers;
    let passed = binary("-", atom("timer"), atom(first_timer(stack, id)));
    let count = || atom(own.len().to_string());
    let index = match (kind.capacity, own.len()) {
        (1, _) => atom("0"),
        (_, 1) => passed.clone(),
        _several => binary("/", passed.clone(), count()),
    };
    let handled = own.iter().enumerate().filter_map(|(at, timer)| {
        let reaction = called(stack, Reach::Stack, timer.expires?, vec![index.clone()]);
        Some((vec![atom(at.to_string())], vec![S::Do(reaction)]))
    });
    let mut cases: Vec<(Vec<C>, Vec<S>)> = handled.collect();
    let which = binary("%", passed, count());
    match (own.len(), cases.len()) {
        (_, 0) => Vec::new(),
        (1, _) => cases.swap_remove(0).1,
        (_, 1) => {
            let (mut values, then) = cases.swap_remove(0);
            let own = binary("==", which, values.remove(0));
            vec![only_if(own, then)]
        }
        _several => vec![S::Switch {
            value: which,
            cases,
            otherwise: None,
        }],
    }
}
