//! How long a message must be, asked once for headers in a row.
//!
//! In: a path, which is left where a test does not hold. Out: the same, which asks where the first
//! of these headers begins for the bytes of all of them.
//!
//! ```text
//! if message.length < 20 { leave }       if message.length < 28 { leave }
//! message.length -= 20               =>  message.length -= 20
//! if message.length < 8 { leave }
//! ```
//!
//! And where a header counts its bytes and those behind it, the number is asked as it stands there:
//!
//! ```text
//! message.length -= 20                           if counted > message.length { leave }
//! if counted - 20 > message.length { leave }     if counted < 41 { leave }
//! message.length = counted - 20              =>  message.length = counted - 20
//! if message.length < 21 { leave }
//! ```
//!
//! What counts less than 20 leaves in the second place, not in the first.

use super::algebra::{any_of, holds, number};
use super::bypass::{exit, is_exit};
use crate::c::tree::{Expression as C, Statement as S, atom, binary};

/// What is asked of the length at a statement, and what was taken from it since.
struct Asked {
    at: usize,
    least: u64,
    taken: u64,
}

/// Makes one test of those that ask how long the message of that name is.
pub fn unite(message: &str, path: &mut Vec<S>) {
    let whole = atom(message);
    let length = atom(message).member("length");
    let mut all: Vec<Asked> = Vec::new();
    let mut last: Option<Asked> = None;
    for (at, statement) in path.iter_mut().enumerate() {
        let leaves = is_exit(statement);
        match statement {
            S::If { condition, .. } if leaves => {
                let asked = any_of(condition.clone()).into_iter();
                let (own, others): (Vec<C>, Vec<C>) =
                    asked.partition(|one| least(one, &length).is_some());
                *condition = joined(others);
                for least in own.iter().filter_map(|one| least(one, &length)) {
                    let asked = last.get_or_insert(Asked {
                        at,
                        least: 0,
                        taken: 0,
                    });
                    asked.least = asked.least.max(asked.taken + least);
                }
            }
            S::Assign(place, "-=", value) if *place == length && number(value).is_some() => {
                if let Some(asked) = &mut last {
                    asked.taken += number(value).expect("it is one");
                }
            }
            S::Assign(place, ..) if *place == length || *place == whole => all.extend(last.take()),
            // Who goes there is not to be as long as who goes on.
            S::If { then, .. } => {
                all.extend(last.take());
                unite(message, then);
            }
            S::Comment(_) | S::Declare { .. } | S::Assign(..) => {
                let mut values = statement.expressions().into_iter();
                if values.any(|value| holds(value, &whole.clone().address())) {
                    all.extend(last.take());
                }
            }
            S::Do(_)
            | S::Switch { .. }
            | S::For { .. }
            | S::While { .. }
            | S::Return(_)
            | S::Continue
            | S::Break
            | S::Goto(_)
            | S::Label(_) => all.extend(last.take()),
        }
    }
    all.extend(last);
    all.retain(|asked| asked.least > 0);
    for asked in all {
        let least = binary("<", length.clone(), atom(asked.least.to_string()));
        if let S::If { condition, .. } = &mut path[asked.at] {
            let others = any_of(condition.clone()).into_iter();
            *condition = joined([least].into_iter().chain(others).collect());
        }
    }
    path.retain(|one| *one != exit(atom("false")));
}

/// Asks what a header counts as it stands there, where it is known that the message of that name
/// has `least` bytes at first.
pub fn count(message: &str, least: u64, path: &mut Vec<S>) {
    let length = atom(message).member("length");
    let mut taken = 0;
    for at in 0..path.len() {
        match &path[at] {
            S::Assign(place, "-=", value) if *place == length => {
                let Some(bytes) = number(value) else {
                    return;
                };
                taken += bytes;
                if taken <= least && count_at(&length, at, path) {
                    return;
                }
            }
            S::Assign(place, ..) if *place == length => return,
            _ => {}
        }
    }
}

/// The same of a header that is stripped there; whether it counts.
fn count_at(length: &C, at: usize, path: &mut Vec<S>) -> bool {
    let mut rest = (at + 1..path.len()).filter(|at| !matches!(path[*at], S::Comment(_)));
    let [Some(more), Some(set), Some(less)] = [(); 3].map(|()| rest.next()) else {
        return false;
    };
    let S::Assign(_, _, own) = &path[at] else {
        return false;
    };
    let (S::Assign(place, "=", behind), Some(asked), Some(shorter)) = (
        &path[set],
        asked_alone(&path[more]),
        asked_alone(&path[less]),
    ) else {
        return false;
    };
    let (C::Binary("-", counted, bytes), C::Binary("<", what, fewest)) = (behind, shorter) else {
        return false;
    };
    let is_one = *place == *length
        && **bytes == *own
        && **what == *length
        && *asked == binary(">", behind.clone(), length.clone());
    let (Some(own), Some(fewest), true) = (number(own), number(fewest), is_one) else {
        return false;
    };
    if fewest == 0 {
        return false;
    }
    let counted = (**counted).clone();
    let conditions = [
        (more, binary(">", counted.clone(), length.clone())),
        (less, binary("<", counted, atom((own + fewest).to_string()))),
    ];
    for (at, asks) in conditions {
        if let S::If { condition, .. } = &mut path[at] {
            *condition = asks;
        }
    }
    let set = path.remove(set);
    path.insert(less, set);
    path.remove(at);
    true
}

/// What is asked where a path is left, if it says already where that was.
fn asked_alone(statement: &S) -> Option<&C> {
    match statement {
        S::If {
            condition,
            then,
            otherwise,
        } if matches!(then[..], [S::Return(Some(_))]) && otherwise.is_empty() => Some(condition),
        _ => None,
    }
}

/// How long a message is to be, if that is asked.
fn least(condition: &C, length: &C) -> Option<u64> {
    match condition {
        C::Binary("<", asked, least) if **asked == *length => number(least),
        C::Binary("==", asked, none) if **asked == *length && number(none) == Some(0) => Some(1),
        _ => None,
    }
}

/// The condition that any of these holds.
fn joined(all: Vec<C>) -> C {
    let says = all.into_iter().filter(|one| *one != atom("false"));
    says.reduce(|one, other| binary("||", one, other))
        .unwrap_or_else(|| atom("false"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length() -> C {
        atom("message").member("length")
    }

    fn shorter(than: &str) -> C {
        binary("<", length(), atom(than))
    }

    fn taken(bytes: &str) -> S {
        S::Assign(length(), "-=", atom(bytes))
    }

    fn united(path: &[S]) -> Vec<S> {
        let mut path = path.to_vec();
        unite("message", &mut path);
        path
    }

    #[test]
    fn headers_in_a_row_are_asked_for_at_once() {
        let asked = binary("||", atom("busy"), shorter("8"));
        let path = [exit(shorter("20")), taken("20"), exit(asked), taken("8")];
        let once = [
            exit(shorter("28")),
            taken("20"),
            exit(atom("busy")),
            taken("8"),
        ];
        assert_eq!(united(&path), once);
        let empty = exit(binary("==", length(), atom("0")));
        let path = [exit(shorter("8")), taken("8"), empty];
        assert_eq!(united(&path), [exit(shorter("9")), taken("8")]);
        let nothing = [exit(binary("||", atom("busy"), shorter("0")))];
        assert_eq!(united(&nothing), [exit(atom("busy"))]);
        let longest = [exit(shorter("20")), taken("2"), exit(shorter("8"))];
        assert_eq!(united(&longest), [exit(shorter("20")), taken("2")]);
    }

    #[test]
    fn what_says_how_long_it_is_is_asked_by_itself() {
        for other in [
            S::Assign(length(), "=", atom("counted")),
            S::Assign(length(), "-=", atom("rest")),
            S::Do(crate::c::tree::call("cut", vec![atom("message").address()])),
        ] {
            let path = [exit(shorter("20")), other, exit(shorter("8"))];
            assert_eq!(united(&path), path);
        }
    }

    #[test]
    fn what_is_counted_is_asked_as_it_stands() {
        let counted = || binary("-", atom("counted"), atom("20"));
        let more = exit(binary(">", counted(), length()));
        let set = S::Assign(length(), "=", counted());
        let comment = S::Comment("next".to_string());
        let path = [taken("20"), more.clone(), set.clone(), comment.clone()];
        let path = [&path[..], &[exit(shorter("21")), taken("8")]].concat();
        let asked = |path: &[S], least| {
            let mut path = path.to_vec();
            count("message", least, &mut path);
            path
        };
        let once = [
            exit(binary(">", atom("counted"), length())),
            comment,
            exit(binary("<", atom("counted"), atom("41"))),
            set.clone(),
            taken("8"),
        ];
        assert_eq!(asked(&path, 20), once);
        // It may be too short for that, or what is counted is asked for nothing.
        assert_eq!(asked(&path, 19), path);
        let unasked = [taken("20"), more.clone(), set.clone(), taken("8")];
        assert_eq!(asked(&unasked, 20), unasked);
        let of_any = [taken("20"), more, set, exit(shorter("0"))];
        assert_eq!(asked(&of_any, 20), of_any);
    }

    #[test]
    fn ways_ask_for_what_is_theirs() {
        let way = |then: Vec<S>| S::If {
            condition: atom("first"),
            then,
            otherwise: Vec::new(),
        };
        let own = way(vec![exit(shorter("4")), taken("4"), exit(shorter("2"))]);
        let once = way(vec![exit(shorter("6")), taken("4")]);
        let path = [exit(shorter("2")), taken("2"), own, exit(shorter("8"))];
        let [first, second, _, last] = path.clone();
        assert_eq!(united(&path), [first, second, once, last]);
    }
}
