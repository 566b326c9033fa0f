//! What can be said of a value in C from how it is written: its parts, what it is when some of them
//! are known, what it says when it is turned.
//!
//! In and out: expressions. Nothing here knows what their names stand for, but that a length is not
//! negative.

use crate::c::tree::{Expression as C, atom, binary};
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// The value of a literal, of whatever type it is.
pub fn number(value: &C) -> Option<u64> {
    let C::Atom(text) = value else {
        return None;
    };
    let text = text.trim_end_matches(['u', 'l']);
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Whether a value stands in another.
pub fn holds(value: &C, part: &C) -> bool {
    value == part || value.parts().into_iter().any(|one| holds(one, part))
}

/// The conditions of which any is to hold.
pub fn any_of(condition: C) -> Vec<C> {
    fn add(condition: C, all: &mut Vec<C>) {
        match condition {
            C::Binary("||", one, other) => {
                add(*one, all);
                add(*other, all);
            }
            other => all.push(other),
        }
    }
    let mut all = Vec::new();
    add(condition, &mut all);
    all
}

/// Returns what a value is about: the same number for a condition and for the one that holds where
/// it does not, and most often another one for anything else.
pub fn topic(value: &C) -> u64 {
    topics(value)[0].topic
}

/// A part of a value.
pub struct Part {
    /// Its [`topic`].
    pub topic: u64,
    /// The number of its parts, itself among them.
    pub parts: usize,
}

/// Returns all parts of a value, each before its own parts, and the value itself first.
pub fn topics(value: &C) -> Vec<Part> {
    let mut all = Vec::new();
    add_topics(value, &mut all);
    all
}

fn add_topics(value: &C, all: &mut Vec<Part>) -> u64 {
    let hash = |text: &str| FxBuildHasher.hash_one(text);
    let at = all.len();
    all.push(Part { topic: 0, parts: 0 });
    // Operators are left out, for the negation turns them, and so is which truth a name says.
    let own = match value {
        C::Atom(_) if truth(value).is_some() => 1,
        C::Atom(text) | C::Call(text, _) | C::Cast(text, _) | C::Struct(text, _) => hash(text),
        C::Member(_, field) | C::Behind(_, field) => hash(field),
        C::Element(..) | C::Unary(..) | C::Binary(..) | C::Conditional(..) => 0,
    };
    let parts = value.parts().into_iter();
    let topic = parts.fold(own, |sum: u64, part| {
        sum.wrapping_add(add_topics(part, all))
    });
    all[at] = Part {
        topic,
        parts: all.len() - at,
    };
    topic
}

/// A condition with what is negated turned.
pub fn straight(condition: C) -> C {
    match condition {
        C::Unary("!", inner) => {
            let inner = straight(*inner);
            match inner.clone().negated() {
                C::Unary("!", _) => inner.negated(),
                turned => straight(turned),
            }
        }
        C::Binary(operator @ ("&&" | "||"), one, other) => {
            binary(operator, straight(*one), straight(*other))
        }
        other => other,
    }
}

pub fn number_of_parts(value: &C) -> usize {
    1 + value
        .parts()
        .into_iter()
        .map(number_of_parts)
        .sum::<usize>()
}

/// A value in which some parts are others.
pub fn replaced(value: &C, other: &dyn Fn(&C) -> Option<C>) -> C {
    let mut value = value.clone();
    replace(&mut value, other);
    value
}

fn replace(value: &mut C, other: &dyn Fn(&C) -> Option<C>) {
    match other(value) {
        Some(other) => *value = other,
        None => value
            .parts_mut()
            .into_iter()
            .for_each(|part| replace(part, other)),
    }
}

/// Whether a value is how long a message is.
fn is_length(value: &C) -> bool {
    matches!(value, C::Member(_, name) if name == "length")
}

/// Returns the truth that a name stands for, if it is one.
fn truth(value: &C) -> Option<bool> {
    match value {
        C::Atom(name) if name == "true" => Some(true),
        C::Atom(name) if name == "false" => Some(false),
        _ => None,
    }
}

/// A value without what is known of numbers and of what holds or does not.
pub fn folded(value: C) -> C {
    let mut value = value;
    for part in value.parts_mut() {
        let inner = std::mem::replace(part, atom(""));
        *part = folded(inner);
    }
    let said = |holds: bool| atom(if holds { "true" } else { "false" });
    match &value {
        C::Unary("!", one) => truth(one).map(|one| said(!one)),
        // A number among others.
        C::Cast(_, one) => truth(one).map(|one| atom(if one { "1" } else { "0" })),
        C::Binary("+", one, zero) if **zero == atom("0") => Some((**one).clone()),
        C::Conditional(condition, then, otherwise) => {
            truth(condition).map(|holds| if holds { &**then } else { otherwise }.clone())
        }
        C::Binary(operator @ ("&&" | "||"), one, other) => {
            let ends = *operator == "||";
            match (truth(one), truth(other)) {
                (Some(holds), _) if holds == ends => Some(said(ends)),
                (Some(_), _) => Some((**other).clone()),
                (_, Some(holds)) if holds != ends => Some((**one).clone()),
                _ => None,
            }
        }
        C::Binary(operator, one, other) => match (*operator, number(one), number(other)) {
            ("-", Some(one), Some(other)) if one >= other => Some(atom((one - other).to_string())),
            ("<", Some(one), Some(other)) => Some(said(one < other)),
            (">", Some(one), Some(other)) => Some(said(one > other)),
            // A length is not less than nothing.
            (">", Some(0), None) if is_length(other) => Some(said(false)),
            ("<", None, Some(0)) if is_length(one) => Some(said(false)),
            _ => None,
        },
        _ => None,
    }
    .unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::tree::call;

    #[test]
    fn a_condition_and_its_negation_are_about_the_same() {
        let compared = |operator, number: &str| binary(operator, atom("n"), atom(number));
        let either = || binary("||", compared("==", "1"), compared("<", "2"));
        for one in [
            either(),
            either().negated(),
            atom("true"),
            call("f", vec![]),
        ] {
            assert_eq!(topic(&one.clone().negated()), topic(&one));
        }
        assert_ne!(topic(&either()), topic(&compared("==", "1")));
        let parts: Vec<usize> = topics(&either()).iter().map(|one| one.parts).collect();
        assert_eq!(parts, [7, 3, 1, 1, 3, 1, 1]);
    }

    #[test]
    fn no_length_is_less_than_nothing() {
        let length = || atom("message").member("length");
        let zero = || atom("0");
        let never = [binary("<", length(), zero()), binary(">", zero(), length())];
        for one in never {
            assert_eq!(folded(one), atom("false"));
        }
        let some = binary("<", length(), atom("1"));
        assert_eq!(folded(some.clone()), some);
    }
}
