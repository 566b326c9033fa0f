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
//!
//! A common path says at its end whether that may be so, for who takes its frame: that gives the
//! buffer of the frame back first.

use super::Stack;
use super::driver;
use super::external;
use super::granted;
use super::output::Queued;
use super::parts;
use crate::c::tree::{Expression as C, Function, Statement as S};
use crate::c::tree::{atom, call_statement, conditional, leaves};
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
    let mut look = |all: &mut Vec<S>, at: usize, put: bool| {
        if put {
            all.insert(at, run());
        }
        at + usize::from(put)
    };
    for function in functions.iter_mut() {
        if names.contains(function.name.as_str())
            && statements(&mut function.body, false, &may_put, &mut look)
            && !leaves(&function.body)
        {
            function.body.push(run());
        }
    }
    true
}

/// Lets a common path return `waits` instead of `end` where something may wait; whether it does.
pub fn said_at_ends(
    stack: &Stack,
    path: &mut Vec<S>,
    (end, waits): (&C, &C),
    known: &Known,
) -> bool {
    let own: BTreeSet<String> = granted::names(stack).collect();
    let mut may_wait = false;
    let mut say = |all: &mut Vec<S>, at: usize, put: bool| {
        if !put || all[at] != S::Return(Some(end.clone())) {
            return at;
        }
        may_wait = true;
        let said = match at.checked_sub(1).map(|before| &all[before]) {
            Some(S::Do(call @ C::Call(name, _))) if own.contains(name) => Some(call.clone()),
            _ => None,
        };
        let Some(said) = said else {
            all[at] = S::Return(Some(waits.clone()));
            return at;
        };
        let value = conditional(said, waits.clone(), end.clone());
        all[at] = S::Return(Some(value));
        all.remove(at - 1);
        at - 1
    };
    statements(path, false, &|callee| known.puts(callee), &mut say);
    may_wait
}

/// Lets what handles something return whether something may wait then.
pub fn said(body: &mut Vec<S>, known: &Known) {
    let may_put = |callee: &str| known.puts(callee);
    apart(body, &may_put);
    let said = |put: bool| S::Return(Some(atom(if put { "true" } else { "false" })));
    let mut say = |all: &mut Vec<S>, at: usize, put: bool| {
        all[at] = said(put);
        at
    };
    let put = statements(body, false, &may_put, &mut say);
    if !leaves(body) {
        body.push(said(put));
    }
}

/// A way that comes last, and puts something there, returns of its own.
fn apart(body: &mut [S], may_put: &dyn Fn(&str) -> bool) {
    if let Some(S::If {
        then, otherwise, ..
    }) = body.last_mut()
    {
        for way in [then, otherwise] {
            if is_called(way, may_put) && !leaves(way) {
                apart(way, may_put);
                way.push(S::Return(None));
            }
        }
    }
}

/// The functions that put nothing on the agenda, and those of reactions, which may.
#[derive(Clone, Debug)]
pub struct Known<'k> {
    /// Those that put nothing there, beside what all stacks have.
    pub others: &'k BTreeSet<String>,
    /// Those of reactions, however they are called.
    pub reactions: BTreeSet<String>,
}

impl Known<'_> {
    /// Whether a function may put something on the agenda, as far as its name says.
    fn puts(&self, callee: &str) -> bool {
        let is_of_all = || {
            let begins = callee.starts_with("sl_") || callee.starts_with("find_");
            begins || parts::names(parts::OWN).any(|name| name == callee)
        };
        let is_quiet = QUIET.contains(&callee) || self.others.contains(callee);
        self.reactions.contains(callee) || !is_quiet && !is_of_all()
    }
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

/// What is done where statements return, after they may have put something on the agenda or not;
/// gives where that then stands.
type Returned<'r> = dyn FnMut(&mut Vec<S>, usize, bool) -> usize + 'r;

/// Goes to where these statements return, and knows whether they may have put something on the
/// agenda, or something before them has; gives whether that is so where they go on.
fn statements(
    all: &mut Vec<S>,
    before: bool,
    may_put: &dyn Fn(&str) -> bool,
    returned: &mut Returned,
) -> bool {
    let mut put = before;
    let mut at = 0;
    while at < all.len() {
        put |= is_in(&all[at], may_put);
        match &mut all[at] {
            S::If {
                then, otherwise, ..
            } => {
                let goes_on =
                    |way: &mut Vec<S>| statements(way, put, may_put, returned) && !leaves(way);
                put = [then, otherwise].map(goes_on).contains(&true) || put;
            }
            S::Switch {
                cases, otherwise, ..
            } => {
                let ways = cases.iter_mut().map(|(_, way)| way).chain(otherwise);
                // A way that does not return goes on behind the switch, or in the next turn.
                ways.for_each(|way| put |= statements(way, put, may_put, returned));
            }
            S::For { body, .. } | S::While { body, .. } => {
                // What one turn puts there is there in the next.
                put |= is_called(body, may_put);
                statements(body, put, may_put, returned);
            }
            S::Return(_) => at = returned(all, at, put),
            S::Comment(_)
            | S::Declare { .. }
            | S::Assign(..)
            | S::Do(_)
            | S::Continue
            | S::Break => {}
        }
        at += 1;
    }
    put
}
