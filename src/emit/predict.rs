//! Header prediction: a path that asks for one field after the other first compares all of them at
//! once with those of the last frame that went it (Van Jacobson's idea, in RFC 1144; stacks write
//! it by hand for TCP).
//!
//! In: a fast path, which asks for bits of headers that are to be as the source says, or as
//! fields of an instance are, which it finds by other bits. Out: the same, which compares all these
//! bits with those that are expected, in a few wide words, and asks for the rest; and a function
//! that asks for all of it where they differ, and then takes note of the frame. Both are called by
//! whoever takes the frame (`paths`), which then goes the path: that itself calls nothing for it,
//! and so keeps what it knows where a call would leave it.
//!
//! ```text
//! if (header[0] != 0x45) { … }             if (!is_expected(stack, frame)) {
//! session = find(load(header + 12));           return unexpected(stack, frame);
//! if (session == SL_NONE) { … }        =>  }
//! if (load(header + 24) !=                 session = own->expected.of_session;
//!     session.next) { … }
//! ```
//!
//! Where the path finds one instance, each has what it expects of its own: a frame that is not like
//! the last one may be as that one expects whose keys it has.
//!
//! What a test says of bits that are as they were is as it was, too: a source that is somebody's
//! is not asked whether it is everybody's.
//!
//! Assumes: what `expected` keeps. Ensures: the same outputs, and the same counters but that a
//! frame which may leave the path in two places may leave it at the other. Cost: a frame that
//! differs from the one before is compared in vain, once or twice, and noted.

use super::Stack;
use super::algebra::{any_of, holds, number, replaced, straight};
use super::compared::{Bits, Compared, Found, LENGTH, loaded};
use super::exits::{Path, Predicted};
use super::expected::{Expected, LEFT, Own, Stands};
use super::guard::forget_unread;
use super::kept;
use super::names::c_name;
use super::narrow::ALWAYS;
use crate::c::tree::{Expression as C, Function, Statement as S, assign, atom, binary, call};
use crate::c::walk;
use crate::types::program::KindId;
use std::collections::{BTreeMap, BTreeSet};

/// Fewer tests are asked as they are.
const FEW: usize = 4;

/// The path as it goes on behind one compare, of which it is said, and the function that asks where
/// that is not so; `addressed` are fields which others write than assignments.
pub fn split(
    stack: &Stack,
    path: &mut Path,
    function: &mut Function,
    addressed: &BTreeSet<String>,
) -> Option<(Expected, Function)> {
    let own = ["expected", "last", "bits", "asks", "is_expected", "begins"];
    let own = own.map(|what| format!("{}_{what}", path.name));
    if own.iter().any(|name| stack.names.taken.has(name)) {
        return None;
    }
    let compared = Compared::of(stack, path, &function.body, addressed);
    let (expected, asks, predicted) = compared.split(function)?;
    path.predicted = Some(predicted);
    Some((expected, asks))
}

/// What is called so that asks all of a path.
pub fn asks_name(path: &str) -> String {
    format!("{path}_asks")
}

impl Compared<'_> {
    fn split(self, function: &mut Function) -> Option<(Expected, Function, Predicted)> {
        let body = &function.body;
        let known: Vec<usize> = body[..self.end].iter().map(|one| self.known(one)).collect();
        let last = known.iter().rposition(|count| *count > 0)?;
        let finds = self.found.iter().map(|found| found.at);
        let latch = self.latch.as_ref().map(|(_, at)| *at);
        let end = finds.chain(latch).fold(last, usize::max) + 1;
        let tests = known.iter().sum();
        let first = self.rows.first().filter(|_| tests >= FEW)?;
        let mut expected = self.expected(&body[..end])?;
        let mut rest = [self.rest(&expected, &body[..end]), body[end..].to_vec()].concat();
        self.read_at_hand(&expected, &mut rest);
        let kept = self.kept(&mut expected, &mut rest);
        let asks = self.asks(function, &expected, (&body[..end], &first, &kept));
        forget_unread(&mut rest);
        let left = assign(self.length(), expected.part(LEFT));
        if let Some(at) = rest.iter().position(|one| *one == left) {
            let least = self.least_left(&body[..end]);
            let has_least = binary(">=", self.length(), atom(least.to_string()));
            let known = (least != 0).then(|| S::Do(call("sl_known", vec![has_least])));
            rest.splice(at + 1..at + 1, known);
        }
        function.body = rest;
        function.comment += " The frame is as expected, or was asked.";
        let own = self.found.first().filter(|_| expected.own.is_some());
        let predicted = Predicted {
            bytes: self.mask.len(),
            alike: self.alike,
            tests,
            kept: own.map(|found| (found.kind, expected.bytes())),
        };
        Some((expected, asks, predicted))
    }

    /// The exits that a path keeps, which it takes no more.
    fn kept(&self, expected: &mut Expected, rest: &mut Vec<S>) -> Vec<S> {
        let Some(own) = &expected.own else {
            return Vec::new();
        };
        let there = own.numbered(atom(&own.instance));
        // What else is written than by assignments may have been written by anybody.
        let is_exit = |one: &S| self.is_exit(one);
        let own = (&there, &self.message);
        let (exits, fields) = kept::take(rest, own, self.addressed, &is_exit);
        expected.kept = fields;
        exits
    }

    /// What the frame has as a field of the instance at hand is read there, as long as neither the
    /// field is written nor bytes are.
    fn read_at_hand(&self, expected: &Expected, block: &mut [S]) {
        let Some(own) = &expected.own else {
            return;
        };
        let there = own.numbered(atom(&own.instance));
        let mut fields = expected.fields.clone();
        self.read_in(&there, &mut fields, block);
    }

    fn read_in(&self, there: &C, fields: &mut BTreeMap<(String, String), Stands>, block: &mut [S]) {
        for statement in block {
            // What one turn writes the next one reads.
            if matches!(statement, S::For { .. } | S::While { .. }) {
                fields.clear();
            }
            let field = |part: &C| {
                let (pointer, offset, bytes) = loaded(part)?;
                let at = self.rows.behind_begin(&pointer, offset)?;
                let mut known = fields.iter();
                let (place, _) = known.find(|(_, stands)| **stands == Stands { at, bytes })?;
                Some(there.clone().member(&place.1))
            };
            for value in statement.expressions_mut() {
                *value = replaced(value, &field);
            }
            for inner in statement.blocks_mut() {
                self.read_in(there, &mut fields.clone(), inner);
            }
            walk::each(std::slice::from_ref(statement), &mut |one| match one {
                S::Assign(C::Atom(_), ..) => {}
                S::Assign(C::Member(_, name), ..) => fields.retain(|(_, field), _| field != name),
                S::Assign(..) | S::Do(_) => fields.clear(),
                _ => {}
            });
        }
    }

    fn expected(&self, asked: &[S]) -> Option<Expected> {
        let name = |kind: KindId| self.stack.names.kinds[kind.at()].clone();
        let found = self.found.iter();
        let found: Vec<_> = found
            .map(|one| (one.instance.clone(), name(one.kind)))
            .collect();
        let stands = |bits: &Bits| Stands {
            at: bits.at,
            bytes: bits.bytes,
        };
        let fields = self.fields.iter();
        let latch = self.latch.as_ref().and_then(|((instance, field), _)| {
            let (_, kind) = found.iter().find(|(one, _)| one == instance)?;
            Some((kind.clone(), field.clone()))
        });
        (!found.is_empty()).then(|| Expected {
            path: self.path.name.clone(),
            mask: self.mask.clone(),
            own: self.own(asked),
            fields: fields
                .map(|(field, bits)| (field.clone(), stands(bits)))
                .collect(),
            found,
            latch,
            alike: self.alike,
            kept: BTreeSet::new(),
            answers: Vec::new(),
        })
    }

    /// The one instance that the path finds, without which it does not go on.
    fn own(&self, asked: &[S]) -> Option<Own> {
        let [found] = &self.found[..] else {
            return None;
        };
        let none = binary("==", atom(&found.instance), atom("SL_NONE"));
        let mut asked = asked.iter();
        let is_needed = asked.any(|statement| match statement {
            S::If { condition, .. } if self.is_exit(statement) => {
                any_of(straight(condition.clone())).contains(&none)
            }
            _ => false,
        });
        let kind = &self.stack.program.kinds[found.kind.at()];
        let own = format!("{}_expected", self.path.name);
        let is_free = kind.fields.iter().all(|field| c_name(&field.name) != own);
        (is_needed && is_free).then(|| Own {
            instance: found.instance.clone(),
            kind: self.stack.names.kinds[found.kind.at()].clone(),
            many: kind.capacity > 1,
        })
    }

    /// The frame may be the next one of another than whose the last was.
    fn other(&self, expected: &Expected) -> Option<S> {
        let (own, [found]) = (expected.own.as_ref()?, &self.found[..]) else {
            return None;
        };
        let keys = found.keys.iter().map(|key| self.at_begin(key));
        let keys = keys.collect::<Option<Vec<C>>>()?;
        let keys = [vec![atom("stack")], keys].concat();
        let find = call(format!("find_{}", own.kind), keys);
        let other = || own.numbered(atom("other"));
        let part = |part: &str| expected.of(other()).member(part);
        let is_there = binary("!=", atom("other"), atom("SL_NONE"));
        let of = |part: &str| self.message.clone().member(part);
        let is_expected = expected.is_expected(of, part);
        let length = atom(self.mask.len().to_string());
        Some(S::If {
            condition: binary(">=", self.message.clone().member("length"), length),
            then: vec![
                S::Declare {
                    kind: "const uint32_t".to_string(),
                    name: "other".to_string(),
                    value: Some(find),
                },
                S::If {
                    condition: binary("&&", is_there, is_expected),
                    then: vec![
                        expected.looks_at(other()),
                        S::Return(Some(atom(&self.path.constant))),
                    ],
                    otherwise: Vec::new(),
                },
            ],
            otherwise: Vec::new(),
        })
    }

    /// The function that asks whether a frame may go the path, and then expects such a one.
    fn asks(
        &self,
        function: &Function,
        expected: &Expected,
        (asked, first, kept): (&[S], &C, &[S]),
    ) -> Function {
        let mut body = Vec::from_iter(self.other(expected));
        body.extend(self.alike.then(|| S::Declare {
            kind: "const uint32_t".to_string(),
            name: LENGTH.to_string(),
            value: Some(self.length()),
        }));
        let notes = |at: usize| {
            // Of a frame that parts nothing else may be there.
            let parted = self.parted.filter(|_| at < asked.len());
            let notes = expected.notes(first, parted.unwrap_or(expected.mask.len()), self.length());
            let found = self.found.iter().filter(move |found| found.at < at);
            let whose = |one: &Found| assign(expected.whose(&one.instance), atom(&one.instance));
            let end = S::Return(Some(atom(&self.path.constant)));
            Vec::from_iter(notes.into_iter().chain(found.map(whose)).chain([end]))
        };
        for (at, statement) in asked.iter().enumerate() {
            match statement {
                S::If { condition, .. } if self.is_exit(statement) => {
                    let parts = any_of(condition.clone()).into_iter();
                    body.extend(exit(statement, parts.filter(|one| !is_long(one))));
                }
                S::If { condition, .. } if self.is_parting(statement) => body.push(S::If {
                    condition: condition.clone(),
                    then: notes(at),
                    otherwise: Vec::new(),
                }),
                other => body.push(other.clone()),
            }
        }
        body.extend(kept.iter().filter(|one| !asked.contains(one)).cloned());
        body.extend(notes(asked.len()));
        self.forget_unread(&mut body);
        Function {
            comment: format!(
                "Asks what the fast path of {} asks, of a frame that is not as expected; then \
                 the next one is expected to be like it.",
                self.path.name
            ),
            result: function.result.replace("static inline ", "static "),
            name: asks_name(&self.path.name),
            parameters: function.parameters.clone(),
            body,
        }
    }

    /// Takes away what is set beside the message and read nowhere, and names that nobody reads.
    fn forget_unread(&self, body: &mut Vec<S>) {
        for at in (0..body.len()).rev() {
            let S::Assign(place @ C::Member(of, member), "=", _) = &body[at] else {
                continue;
            };
            let is_beside = **of == self.message && !ALWAYS.contains(&&**member);
            let mut is_read = false;
            walk::each(&body[at + 1..], &mut |one| {
                let mut values = one.expressions().into_iter();
                is_read |= values.any(|value| holds(value, place) || holds(value, of));
            });
            if is_beside && !is_read {
                body.remove(at);
            }
        }
        forget_unread(body);
    }

    /// What the path still does of what it asked, if a frame is as expected.
    fn rest(&self, expected: &Expected, asked: &[S]) -> Vec<S> {
        let mut rest = Vec::new();
        let length = self.length();
        let mut is_whole = true;
        for (at, statement) in asked.iter().enumerate() {
            is_whole &= !matches!(statement, S::Assign(place, ..) if *place == length);
            let is_there = |one: &C| match one {
                C::Binary("<", of, least) if is_whole && **of == length => {
                    number(least).is_some_and(|least| least <= self.mask.len() as u64)
                }
                _ => false,
            };
            match statement {
                S::Declare { kind, name, .. } if self.found.iter().any(|one| one.at == at) => {
                    rest.push(S::Declare {
                        kind: kind.clone(),
                        name: name.clone(),
                        value: Some(expected.whose(name)),
                    });
                }
                S::If { condition, .. } if self.is_exit(statement) => {
                    let parts = any_of(straight(condition.clone())).into_iter();
                    let parts = parts.filter(|one| !self.is_known(one) && !is_there(one));
                    rest.extend(exit(statement, parts));
                }
                S::If { .. } if !self.is_parting(statement) => {}
                other => rest.push(other.clone()),
            }
        }
        if self.alike {
            self.keep_length(expected, &mut rest);
        }
        rest
    }

    /// So much is left at least of a frame of which all was asked.
    fn least_left(&self, asked: &[S]) -> u64 {
        let length = self.length();
        let least = |one: &C| match one {
            C::Binary("<", of, least) if **of == length => number(least),
            _ => None,
        };
        asked.iter().fold(0, |known, statement| match statement {
            S::If { condition, .. } if self.is_exit(statement) => {
                let parts = any_of(straight(condition.clone()));
                parts.iter().filter_map(least).fold(known, u64::max)
            }
            S::Assign(place, "-=", bytes) if *place == length => {
                known.saturating_sub(number(bytes).unwrap_or(known))
            }
            S::Assign(place, ..) if *place == length => 0,
            _ => known,
        })
    }

    /// How much is left of a frame that is as long as the last is known, too, unless somebody asks
    /// before all of it is stripped.
    fn keep_length(&self, expected: &Expected, rest: &mut Vec<S>) {
        let length = self.length();
        let is_stripped = |one: &S| matches!(one, S::Assign(place, ..) if *place == length);
        let Some(last) = rest.iter().rposition(is_stripped) else {
            return;
        };
        let is_read = |one: &S| {
            let mut is_read = false;
            walk::each(std::slice::from_ref(one), &mut |one| {
                let mut values = one.expressions().into_iter();
                is_read |= values.any(|value| holds(value, &length));
            });
            is_read
        };
        if rest[..last]
            .iter()
            .any(|one| !is_stripped(one) && is_read(one))
        {
            return;
        }
        rest[last] = assign(length.clone(), expected.part(LEFT));
        let mut at = 0;
        rest.retain(|one| {
            at += 1;
            at > last || !is_stripped(one)
        });
    }
}

/// Whether a value is found by more than a look at a few bytes.
fn is_long(value: &C) -> bool {
    let itself = matches!(value, C::Call(name, _)
        if !name.starts_with("sl_load_") && !name.starts_with("sl_differs_"));
    itself || value.parts().into_iter().any(is_long)
}

/// The same exit for some of what it asks.
fn exit(statement: &S, parts: impl Iterator<Item = C>) -> Option<S> {
    let S::If { then, .. } = statement else {
        return None;
    };
    Some(S::If {
        condition: parts.reduce(|one, other| binary("||", one, other))?,
        then: then.clone(),
        otherwise: Vec::new(),
    })
}
