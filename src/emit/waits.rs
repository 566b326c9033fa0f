//! Which ways of what frames start are followed by a look at the agenda: those alone that may have
//! put an event there.
//!
//! In: the functions of all reactions. Out: the same, where those that frames start handle what
//! they put on the agenda themselves. That is so where nothing else calls them: what an event of
//! the agenda calls would handle the others within itself.
//!
//! ```text
//! tell(stack, later);                       tell(stack, later);
//! return;                           =>      run(stack);
//!                                           return;
//! ```

use super::Stack;
use super::driver;
use super::external;
use super::output::Queued;
use crate::c::tree::{Expression as C, Function, Statement as S, atom, call_statement, leaves};
use crate::c::walk;
use crate::tree::Reaction;
use crate::types::program::Event;
use std::collections::BTreeSet;

/// What all stacks have, and puts nothing on the agenda.
const QUIET: [&str; 6] = ["consume", "cut", "drop", "goes_on", "send_frame", "skip"];

/// Lets what frames start handle what it put on the agenda; false if it stays for who calls it.
/// `others` are functions beside them that put nothing there.
pub fn look_where_needed(
    stack: &Stack,
    functions: &mut [&mut Function],
    queued: &BTreeSet<Queued>,
    others: &BTreeSet<String>,
) -> bool {
    let links = stack.program.links.iter();
    let started: Vec<Reaction> = links
        .flat_map(|link| driver::above_link(stack, link, Event::Deliver))
        .collect();
    let name = |reaction: &Reaction| stack.names.reactions[reaction].as_str();
    let names: BTreeSet<&str> = started.iter().map(name).collect();
    let mut bodies = functions.iter().map(|one| &one.body);
    let called = bodies.any(|body| is_called(body, &|callee| names.contains(callee)));
    let waits = |one: &Reaction| queued.contains(&Queued::Reaction(*one));
    if called || started.iter().any(waits) || external::calls_applications(stack.program) {
        return false;
    }
    let ports = stack.names.ports.iter();
    let handed = ports.filter(|((_, event), _)| *event != Event::Start);
    let handed: BTreeSet<&str> = handed.map(|(_, name)| name.as_str()).collect();
    let reactions: BTreeSet<String> = functions.iter().map(|one| one.name.clone()).collect();
    let mut quiet: BTreeSet<String> = others.union(&reactions).cloned().collect();
    let may_put = |callee: &str, quiet: &BTreeSet<String>| {
        let of_all = callee.starts_with("sl_") || callee.starts_with("find_");
        let is_quiet = of_all && !reactions.contains(callee)
            || QUIET.contains(&callee)
            || quiet.contains(callee);
        !is_quiet && !handed.contains(callee)
    };
    loop {
        let before = quiet.len();
        for function in functions.iter() {
            let puts = is_called(&function.body, &|callee| may_put(callee, &quiet));
            if puts {
                quiet.remove(&function.name);
            }
        }
        if quiet.len() == before {
            break;
        }
    }
    let may_put = |callee: &str| may_put(callee, &quiet);
    for function in functions.iter_mut() {
        if names.contains(function.name.as_str())
            && statements(&mut function.body, false, &may_put)
            && !leaves(&function.body)
        {
            function.body.push(run());
        }
    }
    true
}

/// What reactions call, and is defined behind all of them.
pub fn declared(stack: &Stack, functions: &[&Function]) -> String {
    let own = &stack.names.stack;
    let mut bodies = functions.iter().map(|one| &one.body);
    match bodies.any(|body| is_called(body, &|callee| callee == "run")) {
        true => format!("static inline bool run(struct {own} *stack);\n"),
        false => String::new(),
    }
}

fn run() -> S {
    call_statement("run", vec![atom("stack")])
}

fn is_called(all: &[S], which: &dyn Fn(&str) -> bool) -> bool {
    let mut found = false;
    walk::each(all, &mut |one| found |= is_in(one, which));
    found
}

fn is_in(statement: &S, which: &dyn Fn(&str) -> bool) -> bool {
    let mut values = statement.expressions().into_iter();
    values.any(|value| calls(value, which))
}

fn calls(value: &C, which: &dyn Fn(&str) -> bool) -> bool {
    let this = matches!(value, C::Call(name, _) if which(name));
    this || value.parts().into_iter().any(|part| calls(part, which))
}

/// Looks at the agenda where these statements return after they may have put something there, or
/// after something before them has; gives whether that is so where they go on.
fn statements(all: &mut Vec<S>, before: bool, may_put: &dyn Fn(&str) -> bool) -> bool {
    let mut put = before;
    let mut at = 0;
    while at < all.len() {
        put |= is_in(&all[at], may_put);
        match &mut all[at] {
            S::If {
                then, otherwise, ..
            } => {
                let goes_on = |way: &mut Vec<S>| statements(way, put, may_put) && !leaves(way);
                put = [then, otherwise].map(goes_on).contains(&true) || put;
            }
            S::Switch {
                cases, otherwise, ..
            } => {
                let ways = cases.iter_mut().map(|(_, way)| way).chain(otherwise);
                // A way that does not return goes on behind the switch, or in the next turn.
                ways.for_each(|way| put |= statements(way, put, may_put));
            }
            S::For { body, .. } | S::While { body, .. } => {
                // What one turn puts there is there in the next.
                put |= is_called(body, may_put);
                statements(body, put, may_put);
            }
            S::Return(_) if put => {
                all.insert(at, run());
                at += 1;
            }
            S::Comment(_)
            | S::Declare { .. }
            | S::Assign(..)
            | S::Do(_)
            | S::Return(_)
            | S::Continue
            | S::Break => {}
        }
        at += 1;
    }
    put
}
