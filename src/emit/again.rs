//! What a path has computed is not computed again: it has a name.
//!
//! In: a path as it is when all is known of it. Out: the same, which asks for the name of a value
//! where the value stood once more, as long as nothing that it is made of has been written.
//!
//! ```text
//! const uint32_t pre = own->edge;                const uint32_t pre = own->edge;
//! const uint32_t edge = own->open - (own->edge   const uint32_t edge = own->open - (own->edge
//!     + own->step) …;                                + own->step) …;
//! store(own->open - (pre + own->step) …)     =>  store(edge)
//! ```
//!
//! Assumes: only assignments and what is no part of all stacks write what instances hold; two equal
//! texts are of one type.

use super::algebra::{number_of_parts, replaced};
use crate::c::tree::{Expression as C, Statement as S, atom, leaves};
use crate::c::walk;

/// With fewer parts a value is as short as its name.
const FEW: usize = 5;

/// What all stacks have, and writes nothing that instances hold.
const APART: [&str; 8] = [
    "consume",
    "drop",
    "goes_on",
    "leave_last",
    "leave_now",
    "new_message",
    "new_message_in_place",
    "send_frame",
];

/// What is known where a statement stands.
#[derive(Clone, Default)]
struct Known {
    /// Names of what is only read: as it stands there.
    reads: Vec<(C, C)>,
    /// Names of what is computed, of what is read.
    values: Vec<(C, C)>,
}

/// Gives what is computed again the name that it has.
pub fn named(block: &mut [S]) {
    within(block, Known::default());
}

fn within(block: &mut [S], mut known: Known) {
    for statement in block {
        if matches!(statement, S::For { .. } | S::While { .. }) {
            known.forget(statement);
            continue;
        }
        for value in statement.expressions_mut() {
            *value = known.named(value);
        }
        for inner in statement.blocks_mut() {
            within(inner, known.clone());
        }
        known.forget(statement);
        known.learn(statement);
    }
}

impl Known {
    /// A value of which parts go by their names.
    fn named(&self, value: &C) -> C {
        replaced(value, &|part| {
            let all = (number_of_parts(part) >= FEW).then(|| self.as_read(part))?;
            let known = self.values.iter().find(|(value, _)| *value == all);
            known.map(|(_, name)| name.clone())
        })
    }

    /// A value in which nothing that is only read goes by a name.
    fn as_read(&self, value: &C) -> C {
        replaced(value, &|part| {
            let known = self.reads.iter().find(|(_, name)| name == part);
            known.map(|(read, _)| read.clone())
        })
    }

    fn learn(&mut self, statement: &S) {
        let S::Declare {
            kind,
            name,
            value: Some(value),
        } = statement
        else {
            return;
        };
        let as_read = self.as_read(value);
        let Some(kind) = kind.strip_prefix("const ") else {
            return;
        };
        let is_as_wide = match value {
            C::Cast(of, _) => of == kind,
            _ => ["uint32_t", "uint64_t"].contains(&kind),
        };
        match value {
            C::Member(..) | C::Behind(..) => self.reads.push((as_read, atom(name))),
            _ if is_as_wide && number_of_parts(value) >= FEW && is_of_fields(value) => {
                self.values.push((as_read, atom(name)));
            }
            _ => {}
        }
    }

    /// What a statement may write is not known any more; what leaves writes nothing for others.
    fn forget(&mut self, statement: &S) {
        let mut written = Vec::new();
        let mut calls = false;
        let mut look = |one: &S| {
            if let S::Assign(place, ..) = one {
                written.push(last(place).map(String::from));
            }
            for value in one.expressions() {
                calls |= changes(value);
                addressed(value, &mut written);
            }
        };
        look(statement);
        for block in statement.blocks() {
            match leaves(block) {
                true => {}
                false => walk::each(block, &mut look),
            }
        }
        let stays = |(value, _): &(C, C)| {
            let is_written = |name: &Option<String>| match name {
                Some(name) => reads(value, name),
                None => true,
            };
            !calls && !written.iter().any(is_written)
        };
        self.reads.retain(stays);
        self.values.retain(stays);
    }
}

/// What is written by that name: a member, or a local.
fn last(place: &C) -> Option<&str> {
    match place {
        C::Member(_, name) | C::Behind(_, name) | C::Atom(name) => Some(name),
        C::Element(of, _) => last(of),
        _ => None,
    }
}

/// What a value takes the address of: whoever is given that may write there.
fn addressed(value: &C, all: &mut Vec<Option<String>>) {
    if let C::Unary("&", place) = value {
        all.push(last(place).map(String::from));
    }
    value
        .parts()
        .into_iter()
        .for_each(|part| addressed(part, all));
}

fn reads(value: &C, name: &str) -> bool {
    let this = matches!(value, C::Member(_, one) | C::Behind(_, one) | C::Atom(one) if one == name);
    this || value.parts().into_iter().any(|part| reads(part, name))
}

/// Whether a value is made of locals, fields and numbers alone.
fn is_of_fields(value: &C) -> bool {
    !matches!(value, C::Call(..) | C::Element(..) | C::Struct(..))
        && value.parts().into_iter().all(is_of_fields)
}

/// Whether a value calls what may write fields.
fn changes(value: &C) -> bool {
    let is_apart = |name: &str| name.starts_with("sl_") || APART.contains(&name);
    matches!(value, C::Call(name, _) if !is_apart(name)) || value.parts().into_iter().any(changes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::tree::{assign, binary, call};

    fn own(field: &str) -> C {
        atom("own").behind(field)
    }

    /// What is computed of fields and a name.
    fn sum(edge: C) -> C {
        binary("-", own("open"), binary("+", edge, own("step")))
    }

    fn declared(kind: &str, name: &str, value: C) -> S {
        S::Declare {
            kind: kind.to_string(),
            name: name.to_string(),
            value: Some(value),
        }
    }

    /// What a path tells that has computed it before, with this between.
    fn told(kind: &str, between: Vec<S>) -> C {
        let mut path = vec![
            declared("const uint32_t", "pre", own("edge")),
            declared(kind, "left", sum(own("edge"))),
        ];
        path.extend(between);
        path.push(S::Do(call("sl_store_big32", vec![sum(atom("pre"))])));
        named(&mut path);
        let Some(S::Do(C::Call(_, mut given))) = path.pop() else {
            panic!("it is told last");
        };
        given.remove(0)
    }

    fn exit(within: Vec<S>) -> S {
        let end = S::Return(None);
        S::If {
            condition: call("goes_on", vec![atom("stack")]).negated(),
            then: [within, vec![end]].concat(),
            otherwise: Vec::new(),
        }
    }

    #[test]
    fn what_was_computed_has_its_name() {
        assert_eq!(told("const uint32_t", Vec::new()), atom("left"));
        let other = assign(own("sent"), atom("1"));
        let between = vec![other, exit(vec![assign(own("step"), atom("0"))])];
        assert_eq!(told("const uint32_t", between), atom("left"));
    }

    #[test]
    fn what_may_be_another_by_now_is_computed() {
        let again = sum(atom("pre"));
        for between in [
            assign(own("step"), atom("0")),
            assign(atom("stack").behind("step"), atom("0")),
            assign(atom("own"), atom("other")),
            S::Do(call("tcp_again", vec![atom("stack")])),
            S::Do(call("sl_fill", vec![own("open").address()])),
            declared("const bool", "is", call("tcp_again", vec![atom("stack")])),
            S::If {
                condition: atom("late"),
                then: vec![assign(own("open"), atom("0"))],
                otherwise: Vec::new(),
            },
        ] {
            assert_eq!(told("const uint32_t", vec![between]), again);
        }
        // What has been cut to fewer bits is another value, and so is what does not stay.
        assert_eq!(told("const uint16_t", Vec::new()), again);
        assert_eq!(told("uint32_t", Vec::new()), again);
    }
}
