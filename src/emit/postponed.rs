//! A handler that first asks whether it is to do more than write fields, and only then writes them.
//!
//! In: a handler of an instance at hand, which says at its ends whether it has done more. Out: the
//! same, which has done nothing where it says so.
//!
//! ```text
//! own->open += bytes                       const open = own->open + bytes
//! if own->open > own->edge {               if open > own->edge {
//!     tell(own)                       =>       return true
//!     return true                          }
//! }                                        own->open = open
//! return false                             return false
//! ```
//!
//! Whoever calls it then lets the whole handler do what more there is, and need keep nothing for
//! that where it is not so. A way on which more may be done is left to that, too.

use super::Stack;
use super::algebra::{holds, replaced};
use super::compared::is_pure;
use super::layout::c_type;
use super::names::c_name;
use crate::c::tree::{Expression as C, Statement as S, assign, atom, leaves, only_if};
use crate::c::walk;
use crate::types::program::Field;
use crate::types::value::Type;

/// The statements of a handler that writes these fields of what goes by that name last; none if
/// what it asks hangs on what it has done.
pub fn writes(stack: &Stack, fields: &[Field], own: &str, body: &[S]) -> Option<Vec<S>> {
    let kind = |name: &str| {
        let field = fields.iter().find(|field| c_name(&field.name) == name)?;
        // What is optional has two members.
        let is_plain = !matches!(field.kind, Type::Optional(_));
        is_plain.then(|| c_type(stack, &field.kind))
    };
    let mut postponed = Postponed::default();
    for (at, statement) in body.iter().enumerate() {
        if !may_do_more(&body[at..]) {
            let Postponed { asked, written, .. } = postponed;
            return Some([&asked, &written, &body[at..]].concat());
        }
        postponed.pass(statement, |name, value| {
            let local = !is_taken(name, body) && *value == atom(own);
            local.then(|| kind(name)).flatten()
        })?;
    }
    None
}

/// What is asked so far, and what is written behind all that.
#[derive(Default)]
struct Postponed {
    asked: Vec<S>,
    written: Vec<S>,
    /// Places of which it is not known any more what stands there.
    unknown: Vec<C>,
}

impl Postponed {
    /// Goes on with a statement; `kind` gives the type of a field that has a local of its name.
    fn pass(&mut self, statement: &S, kind: impl Fn(&str, &C) -> Option<String>) -> Option<()> {
        let early = |value: &C| self.early(value);
        match statement {
            S::Comment(_) => self.asked.push(statement.clone()),
            S::Declare {
                kind,
                name,
                value: Some(value),
            } => {
                let value = Some(early(value)?);
                let (kind, name) = (kind.clone(), name.clone());
                self.asked.push(S::Declare { kind, name, value });
            }
            S::If {
                condition,
                then,
                otherwise,
            } if otherwise.is_empty() && may_do_more(then) => {
                leaves(then).then_some(())?;
                self.asked
                    .push(only_if(early(condition)?, vec![said(true)]));
            }
            S::Assign(place @ C::Behind(of, name), "=", value)
                if self.is_known(place) && kind(name, of).is_some() =>
            {
                self.asked.push(S::Declare {
                    kind: format!("const {}", kind(name, of)?),
                    name: name.clone(),
                    value: Some(early(value)?),
                });
                self.written.push(assign(place.clone(), atom(name)));
            }
            other => {
                let mut only_writes = true;
                walk::each(std::slice::from_ref(other), &mut |one| {
                    let places = places(one);
                    only_writes &= places.is_some();
                    let places = places.unwrap_or_default();
                    self.unknown.extend(places.iter().map(whole));
                });
                only_writes.then(|| self.written.push(other.clone()))?;
            }
        }
        Some(())
    }

    /// What a value is before anything is written; none if that is not known, or to find it does
    /// more.
    fn early(&self, value: &C) -> Option<C> {
        let written = |part: &C| {
            let mut written = self.written.iter().rev();
            written.find_map(|one| match one {
                S::Assign(place, "=", local @ C::Atom(_)) => (place == part).then(|| local.clone()),
                _ => None,
            })
        };
        let is_known = self.unknown.iter().all(|place| !holds(value, place));
        (is_known && is_pure(value)).then(|| replaced(value, &written))
    }

    /// Whether a place is written for the first time.
    fn is_known(&self, place: &C) -> bool {
        let is_written = |one: &S| matches!(one, S::Assign(other, ..) if other == place);
        !self.unknown.contains(place) && !self.written.iter().any(is_written)
    }
}

/// Where a statement writes itself, if it does nothing else; timers are started and stopped by
/// functions, which are given them.
fn places(statement: &S) -> Option<Vec<C>> {
    let given = |one: &C| match one {
        C::Unary("&", place) => Some((**place).clone()),
        _ => None,
    };
    let is_plain = statement.expressions().into_iter().all(is_pure);
    match statement {
        S::Assign(place, ..) if is_plain => Some(vec![place.clone()]),
        S::Comment(_) | S::If { .. } | S::Declare { .. } if is_plain => Some(Vec::new()),
        S::Do(C::Call(name, all)) if is_plain && name.starts_with("sl_timer") => {
            Some(all.iter().filter_map(given).collect())
        }
        _ => None,
    }
}

/// The field that a place is a part of.
fn whole(place: &C) -> C {
    match place {
        C::Element(of, _) | C::Member(of, _) => whole(of),
        other => other.clone(),
    }
}

/// Whether statements call, declare or read what goes by a name.
fn is_taken(name: &str, statements: &[S]) -> bool {
    fn calls(name: &str, value: &C) -> bool {
        let itself = matches!(value, C::Call(callee, _) if callee == name);
        itself || value.parts().into_iter().any(|one| calls(name, one))
    }
    let mut is_taken = walk::is_named(name, statements);
    walk::each(statements, &mut |one| {
        is_taken |= matches!(one, S::Declare { name: own, .. } if own == name);
        let mut values = one.expressions().into_iter();
        is_taken |= values.any(|value| calls(name, value));
    });
    is_taken
}

/// What a handler says at an end.
fn said(more: bool) -> S {
    S::Return(Some(atom(if more { "true" } else { "false" })))
}

/// Whether an end of these may say that more was done.
fn may_do_more(statements: &[S]) -> bool {
    let mut may = false;
    walk::each(statements, &mut |one| {
        may |= matches!(one, S::Return(_)) && *one != said(false);
    });
    may
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::tree::{binary, call};

    fn field(name: &str) -> C {
        atom("own").behind(name)
    }

    fn passed(body: &[S]) -> Option<Vec<S>> {
        let mut postponed = Postponed::default();
        for statement in body {
            postponed.pass(statement, |_, _| Some("uint32_t".to_string()))?;
        }
        Some([postponed.asked, postponed.written].concat())
    }

    fn more(condition: C) -> S {
        let tells = S::Do(call("tell", vec![atom("stack")]));
        only_if(condition, vec![tells, said(true)])
    }

    fn grows() -> S {
        assign(field("open"), binary("+", field("open"), atom("bytes")))
    }

    #[test]
    fn fields_are_written_behind_what_is_asked() {
        let asks = |open: C| binary(">", open, field("edge"));
        let late = passed(&[grows(), more(asks(field("open")))]);
        let open = S::Declare {
            kind: "const uint32_t".to_string(),
            name: "open".to_string(),
            value: Some(binary("+", field("open"), atom("bytes"))),
        };
        let asked = only_if(asks(atom("open")), vec![said(true)]);
        let written = assign(field("open"), atom("open"));
        assert_eq!(late, Some(vec![open, asked, written]));
    }

    #[test]
    fn what_is_written_on_some_way_is_not_asked_behind_it() {
        let sets = only_if(field("odd"), vec![assign(field("mode"), atom("1"))]);
        let other = more(field("full"));
        let late = passed(&[sets.clone(), other]).expect("it asks for something else");
        assert_eq!(
            late,
            [only_if(field("full"), vec![said(true)]), sets.clone()]
        );
        assert_eq!(passed(&[sets, more(field("mode"))]), None);
        assert_eq!(passed(&[grows(), grows(), more(field("open"))]), None);
    }

    #[test]
    fn what_is_written_in_part_is_not_asked_as_a_whole() {
        let first = || field("pair").member("first");
        let one = |at: &str| field("table").element(atom(at));
        for (written, asked) in [
            (first(), field("pair")),
            (one("0"), one("which")),
            (one("which"), one("1")),
        ] {
            let sets = assign(written, atom("3"));
            assert_eq!(passed(&[sets, more(asked)]), None);
        }
        assert!(is_taken("less", &[grows(), more(call("less", vec![]))]));
    }

    #[test]
    fn what_does_more_than_write_is_not_put_off() {
        let does = S::Do(call("tell", vec![atom("stack")]));
        assert_eq!(passed(&[does.clone(), more(field("full"))]), None);
        let some = only_if(field("odd"), vec![does.clone(), said(false)]);
        assert_eq!(passed(&[some, more(field("full"))]), None);
        let goes_on = only_if(field("odd"), vec![more(field("full")), does]);
        assert_eq!(passed(&[goes_on, more(field("full"))]), None);
    }
}
