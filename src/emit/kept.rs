//! Guards that a fast path preserves: conditions of its instance that are true after the path if
//! they were true before, although the path writes the fields that they read.
//!
//! In: what a path does behind its compare. Out: which of its exits are asked of the instance it
//! has at hand alone, and can no more be taken behind the path than before it. Those are asked
//! where a frame is noted, and not again of frames that are as expected: whatever else writes one
//! of their fields makes the stack expect nothing (`expected`).
//!
//! ```text
//! if (int32_t)(own->next - own->seen) < 0 { leave }
//! seen = own->next, next = own->next + message.length         next' - seen' = message.length >= 0
//! ```
//!
//! Assumes: a message is shorter than half of what 32 bits count. Ensures: the same outputs.

use super::algebra::number;
use crate::c::tree::{Expression as C, Statement as S, call};
use crate::c::walk;
use std::collections::{BTreeMap, BTreeSet};

/// A number of 32 bits, as a sum: how often each part of it counts, and what is added.
#[derive(Clone, Debug, Default, PartialEq)]
struct Sum {
    parts: Vec<(C, i32)>,
    constant: u32,
}

impl Sum {
    fn of(part: C) -> Sum {
        Sum {
            parts: vec![(part, 1)],
            constant: 0,
        }
    }

    fn add(&mut self, other: &Sum, sign: i32) {
        let constant = other.constant.wrapping_mul(sign as u32);
        self.constant = self.constant.wrapping_add(constant);
        for (part, times) in &other.parts {
            match self.parts.iter_mut().find(|(known, _)| known == part) {
                Some((_, known)) => *known += sign * times,
                None => self.parts.push((part.clone(), sign * times)),
            }
        }
        self.parts.retain(|(_, times)| *times != 0);
    }

    /// Whether it is no less than 0, as a number with a sign.
    fn is_positive(&self, length: &C) -> bool {
        match &self.parts[..] {
            [] => self.constant as i32 >= 0,
            [(C::Call(_, read), 1)] => read[0] == *length && self.constant == 0,
            _ => false,
        }
    }
}

/// What a way of a path has computed and written so far.
#[derive(Clone, Default)]
struct Way {
    /// By name.
    values: BTreeMap<String, Sum>,
    /// By field of the instance.
    fields: BTreeMap<String, Sum>,
    /// How often something else was written, which others may read.
    times: usize,
}

impl Way {
    /// What is read as it is after so many writes.
    fn read(&self, value: &C) -> C {
        call(self.times.to_string(), vec![value.clone()])
    }

    fn sum(&self, value: &C, there: &C) -> Sum {
        if let Some(number) = number(value).and_then(|number| u32::try_from(number).ok()) {
            return Sum {
                parts: Vec::new(),
                constant: number,
            };
        }
        match value {
            C::Binary(operator @ ("+" | "-"), one, other) => {
                let mut sum = self.sum(one, there);
                let sign = if *operator == "+" { 1 } else { -1 };
                sum.add(&self.sum(other, there), sign);
                sum
            }
            C::Atom(name) if self.values.contains_key(name) => self.values[name].clone(),
            C::Member(of, field) if **of == *there => match self.fields.get(field) {
                Some(written) => written.clone(),
                None => Sum::of(value.clone()),
            },
            other => Sum::of(self.read(other)),
        }
    }
}

/// A condition by which a path is left: a difference of two fields of its instance is less than 0.
struct Asked {
    fields: [String; 2],
}

impl Asked {
    fn of(condition: &C, there: &C) -> Option<Asked> {
        let C::Binary("<", difference, zero) = condition else {
            return None;
        };
        let C::Cast(kind, difference) = &**difference else {
            return None;
        };
        let C::Binary("-", one, other) = &**difference else {
            return None;
        };
        let field = |value: &C| match value {
            C::Member(of, field) if **of == *there => Some(field.clone()),
            _ => None,
        };
        let is_signed = kind == "int32_t" && number(zero) == Some(0);
        let fields = [field(one)?, field(other)?];
        is_signed.then_some(Asked { fields })
    }

    /// Whether it is no less behind this block, and all ways that return from it.
    fn is_kept(&self, block: &[S], mut way: Way, (there, length): (&C, &C)) -> bool {
        for (at, statement) in block.iter().enumerate() {
            match statement {
                S::Declare {
                    kind,
                    name,
                    value: Some(value),
                } if kind == "const uint32_t" => {
                    let sum = way.sum(value, there);
                    way.values.insert(name.clone(), sum);
                }
                S::Assign(C::Member(of, field), operator, value) if **of == *there => {
                    if *operator != "=" && self.fields.contains(field) {
                        return false;
                    }
                    let sum = match *operator {
                        "=" => way.sum(value, there),
                        _ => Sum::of(way.read(value)),
                    };
                    way.times += 1;
                    way.fields.insert(field.clone(), sum);
                }
                S::If {
                    then, otherwise, ..
                } if self.is_in(statement) || returns(statement) => {
                    let behind = &block[at + 1..];
                    let ways = [then, otherwise];
                    return ways.into_iter().all(|inner| {
                        let all = [inner, behind].concat();
                        self.is_kept(&all, way.clone(), (there, length))
                    });
                }
                S::Return(_) => break,
                S::Switch { .. } | S::For { .. } | S::While { .. }
                    if self.is_in(statement) || returns(statement) =>
                {
                    return false;
                }
                S::Comment(_) | S::Declare { .. } => {}
                _ => way.times += 1,
            }
        }
        let [one, other] = self.fields.each_ref().map(|field| {
            let place = there.clone().member(field);
            way.sum(&place, there)
        });
        if self
            .fields
            .iter()
            .all(|field| !way.fields.contains_key(field))
        {
            return true;
        }
        let mut difference = one;
        difference.add(&other, -1);
        difference.is_positive(length)
    }

    fn is_in(&self, statement: &S) -> bool {
        let mut is_in = false;
        walk::each(std::slice::from_ref(statement), &mut |one| {
            is_in |= matches!(one, S::Assign(C::Member(_, name), ..) if self.fields.contains(name));
        });
        is_in
    }
}

fn returns(statement: &S) -> bool {
    let mut returns = false;
    walk::each(std::slice::from_ref(statement), &mut |one| {
        returns |= matches!(one, S::Return(_));
    });
    returns
}

/// Takes away the exits of a path that it keeps: those, and the fields which they ask. `there` is
/// its instance, `addressed` are fields that others write than assignments; `is_exit` says what
/// does nothing but leave it.
pub fn take(
    path: &mut Vec<S>,
    (there, message): (&C, &C),
    addressed: &BTreeSet<String>,
    is_exit: &dyn Fn(&S) -> bool,
) -> (Vec<S>, BTreeSet<String>) {
    let length = message.clone().member("length");
    let (mut exits, mut fields) = (Vec::new(), BTreeSet::new());
    for at in (0..path.len()).rev() {
        let S::If { condition, .. } = &path[at] else {
            continue;
        };
        let asked = Asked::of(condition, there).filter(|_| is_exit(&path[at]));
        let asked = asked.filter(|asked| asked.fields.iter().all(|one| !addressed.contains(one)));
        let written = |asked: &Asked| path[..at].iter().any(|one| asked.is_in(one));
        let is_kept = |asked: &Asked| {
            asked.is_kept(&path[at + 1..], Way::default(), (there, &length)) && !written(asked)
        };
        if let Some(asked) = asked.filter(is_kept) {
            fields.extend(asked.fields);
            exits.insert(0, path.remove(at));
        }
    }
    (exits, fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::tree::{atom, binary};

    fn there() -> C {
        atom("stack").behind("talk").element(atom("talk"))
    }

    fn field(name: &str) -> C {
        there().member(name)
    }

    fn exit() -> S {
        let difference = binary("-", field("next"), field("seen")).cast("int32_t");
        S::If {
            condition: binary("<", difference, atom("0")),
            then: vec![S::Return(Some(atom("LEFT")))],
            otherwise: Vec::new(),
        }
    }

    fn sum(name: &str, value: C) -> S {
        S::Declare {
            kind: "const uint32_t".to_string(),
            name: name.to_string(),
            value: Some(value),
        }
    }

    fn writes(name: &str, value: C) -> S {
        S::Assign(field(name), "=", value)
    }

    fn taken(path: Vec<S>) -> usize {
        let mut path = [vec![exit()], path, vec![S::Return(Some(atom("END")))]].concat();
        let before = path.len();
        let (exits, fields) = take(
            &mut path,
            (&there(), &atom("message")),
            &BTreeSet::new(),
            &|_| true,
        );
        assert_eq!(before - exits.len(), path.len());
        assert_eq!(fields.len(), 2 * exits.len());
        exits.len()
    }

    fn longer(by: C) -> Vec<S> {
        vec![
            sum("seen", field("next")),
            sum("next", binary("+", field("next"), by)),
            writes("seen", atom("seen")),
            writes("next", atom("next")),
        ]
    }

    #[test]
    fn what_grows_by_a_message_is_kept() {
        assert_eq!(taken(longer(atom("message").member("length"))), 1);
        assert_eq!(taken(Vec::new()), 1, "nothing is written");
        assert_eq!(taken(longer(atom("7"))), 1);
    }

    #[test]
    fn what_may_be_less_is_asked_again() {
        assert_eq!(taken(longer(atom("number"))), 0);
        assert_eq!(taken(longer(atom("0x80000000"))), 0);
        let one_of_them = vec![
            writes("seen", field("next")),
            writes("next", atom("number")),
        ];
        assert_eq!(taken(one_of_them), 0);
        let before_it_is_read = vec![
            writes("next", binary("-", field("next"), atom("1"))),
            writes("seen", field("next")),
            writes("next", binary("-", field("next"), atom("1"))),
        ];
        assert_eq!(taken(before_it_is_read), 0);
    }

    #[test]
    fn what_has_changed_is_something_else() {
        let length = || atom("message").member("length");
        let shortens = S::Assign(length(), "-=", atom("5"));
        let path = vec![
            sum("next", binary("+", field("next"), length())),
            shortens,
            sum("seen", binary("+", field("next"), length())),
            writes("seen", atom("seen")),
            writes("next", atom("next")),
        ];
        assert_eq!(taken(path), 0);
    }

    #[test]
    fn each_way_is_looked_at() {
        let way = |then: Vec<S>| S::If {
            condition: atom("waits"),
            then,
            otherwise: Vec::new(),
        };
        let length = || atom("message").member("length");
        let both = [vec![way(longer(length()))], longer(length())].concat();
        assert_eq!(taken(both), 1, "the second looks at what the first wrote");
        let further = writes("next", binary("+", field("next"), length()));
        let more = [vec![way(longer(length()))], vec![further]].concat();
        assert_eq!(taken(more), 0, "that may be too far");
        let leaves = [longer(length()), vec![S::Return(Some(atom("END")))]].concat();
        let either = [vec![way(leaves.clone())], longer(length())].concat();
        assert_eq!(taken(either), 1);
        let wrong = [vec![way(leaves)], longer(atom("number"))].concat();
        assert_eq!(taken(wrong), 0);
    }
}
