//! What can be said of a value in C from how it is written: its parts, what it is when some of them
//! are known, what it says when it is turned.
//!
//! In and out: expressions. Nothing here knows what their names stand for, but that a length is not
//! negative.

use crate::c::tree::{Expression as C, atom, binary};

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
    match condition {
        C::Binary("||", one, other) => [any_of(*one), any_of(*other)].concat(),
        other => vec![other],
    }
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

/// A value without what is known of numbers and of what holds or does not.
pub fn folded(value: C) -> C {
    let mut value = value;
    for part in value.parts_mut() {
        let inner = std::mem::replace(part, atom(""));
        *part = folded(inner);
    }
    let truth = |one: &C| match one {
        C::Atom(name) if name == "true" => Some(true),
        C::Atom(name) if name == "false" => Some(false),
        _ => None,
    };
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
