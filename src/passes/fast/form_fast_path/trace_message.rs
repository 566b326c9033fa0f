//! Operations on messages and views: they are owed, and the guard knows what comes of them.

use super::message::{Message, View};
use super::path::{Infallible, Key, Known, Owed, Path};
use super::trace::Trace;
use crate::ir::effects::{Effects, Resource};
use crate::ir::op::{Arithmetic, Attempt, Compare, Op, Place, Question};
use crate::ir::{AttributeId, Instruction, Type, Value};
use crate::source::Span;
use std::collections::BTreeMap;

impl Trace<'_> {
    /// An operation on a message or view: it is owed, and the guard knows what comes of it.
    pub fn moves(&mut self, path: &mut Path, instruction: &Instruction) {
        let results: Vec<Key> = instruction
            .results
            .iter()
            .map(|one| path.key(*one))
            .collect();
        let operands: Vec<Key> = instruction
            .operands
            .iter()
            .map(|one| path.key(*one))
            .collect();
        let known = self.moved(path, &instruction.op, &operands);
        match (known, &results[..]) {
            (Some(known @ Known::Now(_)), [result]) => path.learn(*result, known),
            (known, [result]) => {
                if let Some(known) = known {
                    path.learn(*result, known);
                }
                self.owe(path, instruction);
            }
            _ => self.owe(path, instruction),
        }
    }

    fn moved(&mut self, path: &mut Path, op: &Op, operands: &[Key]) -> Option<Known> {
        let count = |path: &Path| path.now(*operands.get(1)?);
        match (op, path.known(operands[0]).clone()) {
            (Op::Length, Known::Message(message)) => Some(Known::Now(message.length)),
            (Op::Length, Known::View(view)) => Some(Known::Now(view.length)),
            (Op::Start, Known::Message(message)) => {
                let start = self.evaluate(path, Op::Start, &[message.base?]);
                Some(Known::Now(self.sum(path, start, message.at)))
            }
            (Op::Attribute(id), Known::Message(message)) => {
                let given = message.attributes.get(id).copied();
                let value = match (given, message.base) {
                    (Some(value), _) => value,
                    (None, Some(base)) => self.evaluate(path, Op::Attribute(*id), &[base]),
                    (None, None) => {
                        let default = self.module.attributes[id.at()].default.clone();
                        self.evaluate(path, default, &[])
                    }
                };
                Some(Known::Now(value))
            }
            (Op::With(id), Known::Message(mut message)) => {
                message.attributes.insert(*id, count(path)?);
                Some(Known::Message(message))
            }
            (Op::Pull, Known::Message(mut message)) => {
                let bytes = count(path)?;
                message.at = self.sum(path, message.at, bytes);
                message.length = self.difference(path, message.length, bytes);
                Some(Known::Message(message))
            }
            (Op::Push, Known::Message(mut message)) => {
                let bytes = count(path)?;
                message.at = self.difference(path, message.at, bytes);
                message.length = self.sum(path, message.length, bytes);
                Some(Known::Message(message))
            }
            (Op::Cut, Known::Message(mut message)) => {
                message.length = count(path)?;
                Some(Known::Message(message))
            }
            (Op::Look, Known::Message(message)) => Some(Known::View(View {
                base: message.base,
                at: message.at,
                length: message.length,
            })),
            (Op::Before, Known::Message(message)) => {
                let length = count(path)?;
                let (base, at) = (message.base, self.difference(path, message.at, length));
                Some(Known::View(View { base, at, length }))
            }
            (Op::Around, Known::Message(message)) => {
                let bytes = count(path)?;
                Some(Known::View(View {
                    base: message.base,
                    at: self.difference(path, message.at, bytes),
                    length: self.sum(path, message.length, bytes),
                }))
            }
            (Op::SubView, Known::View(view)) => {
                let (offset, length) = (count(path)?, path.now(operands[2])?);
                let (base, at) = (view.base, self.sum(path, view.at, offset));
                Some(Known::View(View { base, at, length }))
            }
            _other => None,
        }
    }

    /// The view that the guard reads in the place of a view, and the offset in it; none if it
    /// cannot read it, or what is owed writes its bytes.
    pub fn shown(&mut self, path: &mut Path, key: Key) -> Option<(Value, Value, Value)> {
        let Known::View(view) = path.known(key).clone() else {
            return None;
        };
        let base = view.base?;
        if path.rewritten.contains(&Some(base)) || path.rewritten.contains(&None) {
            return None;
        }
        let whole = match self.build.type_of(base) {
            Type::Message => self.evaluate(path, Op::Look, &[base]),
            _view => base,
        };
        Some((whole, view.at, view.length))
    }

    /// The view of the guard that shows the same bytes as a view.
    pub fn view(&mut self, path: &mut Path, key: Key) -> Option<Value> {
        let (whole, at, length) = self.shown(path, key)?;
        Some(self.evaluate(path, Op::SubView, &[whole, at, length]))
    }

    fn sum(&mut self, path: &mut Path, one: Value, other: Value) -> Value {
        self.evaluate(path, Op::Arithmetic(Arithmetic::Add), &[one, other])
    }

    fn difference(&mut self, path: &mut Path, one: Value, other: Value) -> Value {
        self.evaluate(path, Op::Arithmetic(Arithmetic::Sub), &[one, other])
    }

    /// A parameter of the fast function, as the reaction knows it.
    pub fn parameter(&mut self, path: &mut Path, key: Key, value: Value) {
        let known = match self.build.type_of(value) {
            Type::Message => Known::Message(Message {
                base: Some(value),
                at: self.word(path, 0),
                length: self.evaluate(path, Op::Length, &[value]),
                attributes: BTreeMap::new(),
            }),
            Type::View => Known::View(View {
                base: Some(value),
                at: self.word(path, 0),
                length: self.evaluate(path, Op::Length, &[value]),
            }),
            _ => Known::Now(value),
        };
        path.learn(key, known);
    }

    /// Traces an attempt whose failure the guard can foresee: an exit if it would fail, and the
    /// attempt behind the commit. Returns its results; none, and no exit is added, if the guard
    /// cannot foresee that.
    pub fn infallible(
        &mut self,
        path: &mut Path,
        (attempt, operands): (&Attempt, &[Value]),
        span: Option<Span>,
    ) -> Option<Vec<Key>> {
        let (made, answers) = match attempt {
            made if makes_message(made) => (Some(self.made(path, attempt, operands)?), None),
            Attempt::Insert(place) => {
                self.takes(path, *place, operands)?;
                (None, None)
            }
            Attempt::AppendBytes(place) => (None, Some(self.appended(path, *place, operands)?)),
            _other => return None,
        };
        let operands = operands.iter().map(|one| path.key(*one)).collect();
        let results: Vec<Key> = made.into_iter().map(|one| path.own(one)).collect();
        let effects = Effects::of_attempt(self.module, attempt);
        path.written.extend(&effects.writes);
        path.answers.extend(answers.into_iter().flatten());
        path.owed.push(Owed::Infallible(Infallible {
            attempt: attempt.clone(),
            operands,
            results: results.clone(),
            span,
        }));
        Some(results)
    }

    /// Leaves unless a message can be made; returns what is known of it.
    fn made(&mut self, path: &mut Path, attempt: &Attempt, operands: &[Value]) -> Option<Known> {
        if self.takes_buffers(path) {
            return None;
        }
        let empty = |length: Value, at: Value| Message {
            base: None,
            at,
            length,
            attributes: BTreeMap::new(),
        };
        let at = self.word(path, 0);
        let made = match attempt {
            Attempt::Share => self.shared(path, operands[0])?,
            Attempt::CopyBytes(place) => {
                let given = self.operands(path, operands)?;
                let (count, of) = given.split_last().expect("bytes are counted");
                let ready = self.ready(path, *place, of)?;
                let length =
                    self.evaluate(path, Op::Arithmetic(Arithmetic::Umin), &[*count, ready]);
                let room = self.word(path, self.module.memory.room);
                let fits = self.evaluate(path, Op::Compare(Compare::Ule), &[length, room]);
                self.exit(path, "stack.too_long".to_string(), fits, true);
                Known::Message(empty(length, at))
            }
            Attempt::New => Known::Message(empty(at, at)),
            _other => return None,
        };
        let free = self.evaluate(path, Op::HasBuffer, &[]);
        self.exit(path, "stack.no_buffer".to_string(), free, true);
        Some(made)
    }

    /// A second handle of a message, without its marks. The guard reads the bytes of the original.
    fn shared(&mut self, path: &mut Path, of: Value) -> Option<Known> {
        let Known::Message(mut message) = path.known(path.key(of)).clone() else {
            return None;
        };
        for (at, row) in self.module.attributes.iter().enumerate() {
            if row.is_mark {
                let unmarked = self.evaluate(path, row.default.clone(), &[]);
                message.attributes.insert(AttributeId(at as u32), unmarked);
            }
        }
        Some(Known::Message(message))
    }

    /// Leaves unless a window takes an item with a number.
    fn takes(&mut self, path: &mut Path, place: Place, operands: &[Value]) -> Option<()> {
        let indices = self.module.field(place.kind, place.field).dimensions.len();
        let asked = &operands[..indices + 2];
        if path.owes(Resource::Container(place)) || path.under.is_some() && indices > 0 {
            return None;
        }
        let asked = self.operands(path, asked)?;
        let takes = self.evaluate(path, Op::Ask(Question::Takes, place), &asked);
        let name = self.field_name(place.kind, place.field);
        self.exit(path, name, takes, true);
        Some(())
    }

    /// Returns true if a deferred effect may take a buffer: then `has_buffer` says nothing of a
    /// message that is made behind it.
    fn takes_buffers(&self, path: &Path) -> bool {
        let calls = |op: &Op| matches!(op, Op::Call(_) | Op::Loop(..) | Op::Rewrite(_));
        let takes = |op: &Op| self.effects_of(op).writes.contains(&Resource::Buffers);
        let all = path.owed.iter().flat_map(Owed::each);
        all.into_iter().any(|owed| match owed {
            Owed::Operation(one) => calls(&one.op) && takes(&one.op),
            Owed::Infallible(one) => makes_message(&one.attempt),
            Owed::Diamond(_) => false,
        })
    }
}

/// Returns true for attempts whose result is a new message.
fn makes_message(attempt: &Attempt) -> bool {
    matches!(
        attempt,
        Attempt::New | Attempt::Share | Attempt::CopyBytes(_)
    )
}
