//! What asks for a header alone is asked where the header begins.
//!
//! In: a path that tests first. Out: the same, its tests in another order: none of them does
//! anything, so that only what they look at must be there. Of a header its fixed part is, from
//! where it was taken off.
//!
//! ```text
//! header = message.data; message.data += 20       header = message.data; message.data += 20
//! if length > message.length { leave }        =>  if (header[13] & 2) != 0 { leave }
//! if (header[13] & 2) != 0 { leave }              if length > message.length { leave }
//! ```

use super::algebra::{any_of, number};
use super::bypass::{exit, is_exit};
use crate::c::tree::{Expression as C, Statement as S, atom, binary};

/// The path of a function with a message of that name.
pub fn hoisted(message: &str, path: Vec<S>) -> Vec<S> {
    let mut path = path;
    let mut at = 0;
    while at < path.len() {
        if let Some((header, size)) = begins(message, &path[at..]) {
            let early = taken(&mut path, at + 1, &header, size);
            let place = path[at..].iter().position(|one| is_taken_off(message, one));
            let place = at + place.expect("it was found") + 1;
            path.splice(place..place, early.into_iter().map(exit));
        }
        at += 1;
    }
    path
}

/// The header that a path begins with, and the bytes of its fixed part.
fn begins(message: &str, path: &[S]) -> Option<(String, u64)> {
    let [
        S::Declare {
            kind,
            name,
            value: Some(value),
        },
        rest @ ..,
    ] = path
    else {
        return None;
    };
    let is_header = kind == "uint8_t *const" && *value == atom(message).member("header");
    let off = rest.iter().take(3).find(|one| is_taken_off(message, one))?;
    let S::Assign(_, _, size) = off else {
        return None;
    };
    is_header.then_some((name.clone(), number(size)?))
}

/// Whether the data of a message begins so many bytes later.
fn is_taken_off(message: &str, statement: &S) -> bool {
    matches!(statement, S::Assign(place, "+=", size)
        if *place == atom(message).member("data") && number(size).is_some())
}

/// What is asked of a header alone before the path parts; it is asked no more there.
fn taken(path: &mut Vec<S>, from: usize, header: &str, size: u64) -> Vec<C> {
    let mut early: Vec<C> = Vec::new();
    for statement in &mut path[from..] {
        let leaves = is_exit(statement);
        match statement {
            S::If { condition, .. } if leaves => {
                let all = any_of(condition.clone()).into_iter();
                let (own, others): (Vec<C>, Vec<C>) =
                    all.partition(|one| is_of(one, header, size) && asks(one));
                early.extend(own);
                let others = others
                    .into_iter()
                    .reduce(|one, other| binary("||", one, other));
                *condition = others.unwrap_or_else(|| atom("false"));
            }
            S::Comment(_) | S::Declare { .. } | S::Assign(..) => {}
            _ways_or_deeds => break,
        }
    }
    path.retain(|one| !matches!(one, S::If { condition, .. } if *condition == atom("false")));
    early
}

/// Whether a value is made of numbers and of bytes of the fixed part of a header.
fn is_of(value: &C, header: &str, size: u64) -> bool {
    let within = |at: &C, bytes: u64| match at {
        C::Atom(name) => name == header && bytes <= size,
        C::Binary("+", base, offset) => {
            **base == atom(header) && number(offset).is_some_and(|offset| offset + bytes <= size)
        }
        _ => false,
    };
    match value {
        C::Atom(_) => number(value).is_some(),
        C::Element(base, at) => {
            **base == atom(header) && number(at).is_some_and(|offset| offset < size)
        }
        C::Call(name, all) => match (name.strip_prefix("sl_load_"), &all[..]) {
            (Some(how), [at]) => {
                let bits: Option<u64> = how.trim_start_matches(char::is_alphabetic).parse().ok();
                bits.is_some_and(|bits| within(at, bits / 8))
            }
            _ => false,
        },
        C::Unary("!" | "~" | "-", of) | C::Cast(_, of) => is_of(of, header, size),
        C::Binary(_, one, other) => is_of(one, header, size) && is_of(other, header, size),
        C::Conditional(condition, then, otherwise) => {
            let mut all = [condition, then, otherwise].into_iter();
            all.all(|part| is_of(part, header, size))
        }
        C::Unary(..) | C::Member(..) | C::Behind(..) | C::Struct(..) => false,
    }
}

/// Whether something is asked of the bytes at all.
fn asks(value: &C) -> bool {
    number(value).is_none()
}
