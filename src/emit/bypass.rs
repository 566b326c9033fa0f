//! The common path of what a frame starts, in a function of its own, which guards it: a bypass
//! (Ensemble 4.1).
//!
//! In: the function of a reaction. Out: another one, of those of its ways that only look at things
//! until they do all that they do, and do that without a call. All other ways leave it at once: it
//! says so, nothing has been done, and the whole function begins anew. So the common path is short,
//! and needs no registers that others have to find as they left them.
//!
//! ```text
//! if (header[9] == 1) {                     if (header[9] == 1) {
//!     refuse(stack, message);                   return false;
//!     return;                       =>      }
//! }                                         datagrams_deliver(stack, 3, &message);
//! datagrams_deliver(stack, 3, &message);    return true;
//! ```
//!
//! Assumes that what a function of `values` gives depends on nothing but what it is given and what
//! stands in the stack. What the guard asks is said in [`guard`].

use super::guard;
use super::narrow::Read;
use super::settle::name_of;
use crate::c::tree::{Expression as C, Function, Statement as S, atom, leaves};
use crate::c::walk;
use std::collections::{BTreeMap, BTreeSet};

/// With fewer tests than this a path is left as it is.
const TESTS: usize = 6;

/// A path with more statements than this is not written twice.
const LONG: usize = 150;

/// What functions do that a path calls.
pub struct Called {
    /// These only find values.
    pub values: BTreeSet<String>,
    /// These take a few steps where they are called, at the end of a path.
    pub steps: BTreeSet<String>,
    /// What each of them reads of a message.
    pub read: BTreeMap<String, Read>,
}

/// The bypass of a function, if it has one that is worth it.
pub fn bypass(function: &Function, name: String, called: &Called) -> Option<Function> {
    let message = function.parameters.iter().find_map(|parameter| {
        let of_message = parameter.split_once("_message ");
        of_message.map(|_| name_of(parameter).to_string())
    })?;
    let path = Path { message, called };
    let mut body = function.body.clone();
    body.push(S::Return(None));
    let body = path.way(&body)?;
    let (mut tests, mut statements) = (0, 0);
    walk::each(&body, &mut |one| {
        statements += 1;
        tests += usize::from(is_exit(one));
    });
    if tests < TESTS || statements > LONG {
        return None;
    }
    let body = guard::guarded(&path.message, &called.read, body);
    Some(Function {
        comment: format!(
            "The common path of {}; false if this is another: then nothing has been done.",
            function.name
        ),
        result: "static inline bool".to_string(),
        name,
        parameters: function.parameters.clone(),
        body,
    })
}

/// Where the path is left.
pub fn exit(condition: C) -> S {
    S::If {
        condition,
        then: vec![returned(false)],
        otherwise: Vec::new(),
    }
}

/// Whether a path is left here.
pub fn is_exit(statement: &S) -> bool {
    matches!(statement, S::If { then, otherwise, .. }
        if *then == [returned(false)] && otherwise.is_empty())
}

fn returned(done: bool) -> S {
    S::Return(Some(atom(if done { "true" } else { "false" })))
}

struct Path<'a> {
    message: String,
    called: &'a Called,
}

impl Path<'_> {
    /// The common path of statements that leave the function; none if they do what cannot stand in
    /// one.
    fn way(&self, all: &[S]) -> Option<Vec<S>> {
        let mut path = Vec::new();
        for (at, statement) in all.iter().enumerate() {
            let rest = &all[at + 1..];
            match statement {
                one if self.is_plain(one) => path.push(one.clone()),
                S::If {
                    condition,
                    then,
                    otherwise,
                } if self.is_value(condition) => {
                    let [then, otherwise] = [then, otherwise].map(|way| self.way(&on(way, rest)?));
                    path.extend(branch(condition, then, otherwise)?);
                    return Some(path);
                }
                S::Switch {
                    value,
                    cases,
                    otherwise,
                } if self.is_value(value) && leaves(std::slice::from_ref(statement)) => {
                    path.push(self.switch(value, cases, otherwise.as_deref()?)?);
                    return Some(path);
                }
                _ => {
                    path.extend(self.end(&all[at..])?);
                    return Some(path);
                }
            }
        }
        None
    }

    fn switch(&self, value: &C, cases: &[(Vec<C>, Vec<S>)], otherwise: &[S]) -> Option<S> {
        let cases = cases.iter().filter_map(|(values, body)| {
            let body = self.way(body)?;
            Some((values.clone(), body))
        });
        let cases: Vec<_> = cases.collect();
        let otherwise = self.way(otherwise);
        (!cases.is_empty() || otherwise.is_some()).then(|| S::Switch {
            value: value.clone(),
            cases,
            otherwise: Some(otherwise.unwrap_or_else(|| vec![returned(false)])),
        })
    }

    /// The end of a path, where things are done.
    fn end(&self, all: &[S]) -> Option<Vec<S>> {
        let mut is_short = leaves(all);
        walk::each(all, &mut |one| {
            let is_loop = matches!(one, S::For { .. } | S::While { .. });
            let mut values = one.expressions().into_iter();
            is_short &= !is_loop && values.all(|value| self.takes_steps(value));
        });
        let mut all = all.to_vec();
        walk::each_mut(&mut all, &mut |one| {
            if *one == S::Return(None) {
                *one = returned(true);
            }
        });
        is_short.then_some(all)
    }

    /// Whether a statement only changes what nobody sees when the path is left.
    fn is_plain(&self, statement: &S) -> bool {
        match statement {
            S::Comment(_) => true,
            S::Declare { value, .. } => value.as_ref().is_none_or(|value| self.is_value(value)),
            S::Assign(place, _, value) => {
                let is_own = match place {
                    C::Member(of, _) => matches!(**of, C::Atom(_)),
                    other => matches!(other, C::Atom(_)),
                };
                is_own && self.is_value(value)
            }
            S::Do(C::Call(name, all)) => {
                let [first, rest @ ..] = &all[..] else {
                    return false;
                };
                (name == "cut" || name == "skip")
                    && *first == atom(&self.message).address()
                    && rest.iter().all(|one| self.is_value(one))
            }
            S::If {
                condition,
                then,
                otherwise,
            } => {
                let mut both = then.iter().chain(otherwise);
                self.is_value(condition) && both.all(|one| self.is_plain(one))
            }
            S::Do(_)
            | S::Switch { .. }
            | S::For { .. }
            | S::While { .. }
            | S::Return(_)
            | S::Continue
            | S::Break => false,
        }
    }

    /// Whether finding a value does nothing.
    fn is_value(&self, value: &C) -> bool {
        let finds = match value {
            C::Call(name, _) => name.starts_with("sl_load_") || self.called.values.contains(name),
            _ => true,
        };
        finds && value.parts().into_iter().all(|part| self.is_value(part))
    }

    /// Whether what an expression calls takes no more than a few steps.
    fn takes_steps(&self, value: &C) -> bool {
        let known = match value {
            C::Call(name, _) => {
                name.starts_with("sl_load_")
                    || name.starts_with("sl_store_")
                    || self.called.values.contains(name)
                    || self.called.steps.contains(name)
            }
            _ => true,
        };
        known && value.parts().into_iter().all(|part| self.takes_steps(part))
    }
}

/// A way, and what comes behind it if it does not leave.
fn on(way: &[S], rest: &[S]) -> Option<Vec<S>> {
    // What follows several ways is not repeated but where it is the end.
    let goes_on = !leaves(way);
    let is_end = way.is_empty() || rest.iter().all(|one| matches!(one, S::Return(_)));
    match (goes_on, is_end) {
        (false, _) => Some(way.to_vec()),
        (true, true) => Some([way, rest].concat()),
        (true, false) => None,
    }
}

/// Two ways, of which there must be one.
fn branch(condition: &C, then: Option<Vec<S>>, otherwise: Option<Vec<S>>) -> Option<Vec<S>> {
    let condition = condition.clone();
    Some(match (then, otherwise) {
        (None, None) => return None,
        (None, Some(rest)) => [vec![exit(condition)], rest].concat(),
        (Some(rest), None) => [vec![exit(condition.negated())], rest].concat(),
        (Some(then), Some(rest)) => {
            let other = S::If {
                condition,
                then,
                otherwise: Vec::new(),
            };
            [vec![other], rest].concat()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::tree::{assign, binary, call};

    fn tested(at: u32, then: Vec<S>) -> S {
        S::If {
            condition: binary(
                "==",
                atom("header").element(atom(at.to_string())),
                atom("1"),
            ),
            then,
            otherwise: Vec::new(),
        }
    }

    fn dropped() -> Vec<S> {
        vec![S::Do(call("drop", vec![atom("stack")])), S::Return(None)]
    }

    fn delivered(again: bool) -> Vec<S> {
        let all = vec![atom("stack"), atom("message").address()];
        let count = S::Assign(atom("stack").behind("number"), "+=", atom("1"));
        let end = again.then_some(S::Return(None));
        [
            vec![count, S::Do(call("deliver", all))],
            Vec::from_iter(end),
        ]
        .concat()
    }

    fn path(body: Vec<S>) -> Option<Vec<S>> {
        let called = Called {
            values: BTreeSet::from(["find".to_string()]),
            steps: BTreeSet::from(["deliver".to_string()]),
            read: BTreeMap::new(),
        };
        let whole = Function {
            comment: String::new(),
            result: "static void".to_string(),
            name: "arrive".to_string(),
            parameters: vec!["struct host_message message".to_string()],
            body,
        };
        bypass(&whole, "arrive_bypass".to_string(), &called).map(|one| one.body)
    }

    fn tests(count: u32) -> Vec<S> {
        (0..count).map(|at| tested(at, dropped())).collect()
    }

    #[test]
    fn what_is_dropped_leaves_the_path_and_the_rest_is_done() {
        let found = path([tests(6), delivered(false)].concat()).expect("there is a path");
        let mut done = delivered(false);
        done.push(returned(true));
        assert!(found[..6].iter().all(is_exit));
        assert_eq!(found[6..], done);
    }

    #[test]
    fn a_path_may_end_in_two_ways() {
        let one = tested(9, delivered(true));
        let found = path([tests(6), vec![one], delivered(false)].concat());
        let found = found.expect("there is a path");
        assert!(matches!(&found[6], S::If { then, .. } if then.last() == Some(&returned(true))));
    }

    #[test]
    fn nothing_is_tested_behind_what_is_done() {
        let count = S::Assign(atom("stack").behind("number"), "+=", atom("1"));
        let late = [tests(5), vec![count], tests(1), delivered(false)].concat();
        assert_eq!(path(late), None);
        let local = assign(atom("message").member("ttl"), atom("1"));
        let early = [tests(5), vec![local], tests(1), delivered(false)].concat();
        assert!(path(early).is_some());
    }

    #[test]
    fn what_is_called_on_it_is_short() {
        let other = vec![S::Do(call("send", vec![atom("stack")]))];
        assert_eq!(path([tests(6), other].concat()), None);
        assert_eq!(path([tests(5), delivered(false)].concat()), None);
    }
}
