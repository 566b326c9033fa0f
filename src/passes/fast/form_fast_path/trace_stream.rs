//! Streams without gaps: all bytes from the first to the last are there.
//!
//! In: questions and changes of a stream on a path. Out: the guard knows how many bytes leave it or
//! fit into it, and what it answers behind the deferred effects. A stream has gaps if bytes are
//! inserted anywhere but at its end.
//!
//! ```text
//! begin' = begin, end' = end + length     behind `append_bytes`, if length <= capacity - held
//! begin' = to,    end' = end              behind `release`, if `to` lies in the stream
//! ready(at) = held - umin(held, at - begin)
//! ```

use super::path::{Answer, Known, Path};
use super::trace::Trace;
use crate::ir::effects::Resource;
use crate::ir::op::{Arithmetic, Compare, Op, Place, Question};
use crate::ir::types::ones;
use crate::ir::{Stored, Value};

/// The first position of a stream, and that behind its last byte.
#[derive(Clone, Copy)]
struct Ends {
    begin: Value,
    end: Value,
}

impl Trace<'_> {
    /// The number of bytes that will leave a stream. None for a stream that may have gaps. The
    /// guard leaves if the position lies outside of the stream.
    pub fn released(
        &mut self,
        path: &mut Path,
        place: Place,
        operands: &[Value],
    ) -> Option<(Value, [Answer; 2])> {
        let operands = self.operands(path, operands)?;
        let (to, of) = operands.split_last()?;
        let ends = self.ends(path, place, of)?;
        let to = self.position(path, place, *to);
        let released = self.positions(path, place, ends.begin, to);
        let held = self.positions(path, place, ends.begin, ends.end);
        let is_outside = self.evaluate(path, Op::Compare(Compare::Ult), &[held, released]);
        let name = self.field_name(place.kind, place.field);
        self.exit(path, name, is_outside, false);
        let behind = Ends {
            begin: to,
            end: ends.end,
        };
        Some((released, answers(place, of, behind)))
    }

    /// Leaves unless a message fits behind the last byte of a stream; returns what the stream
    /// answers behind that.
    pub fn appended(
        &mut self,
        path: &mut Path,
        place: Place,
        operands: &[Value],
    ) -> Option<[Answer; 2]> {
        let (message, of) = operands.split_last().expect("a message is appended");
        let Known::Message(message) = path.known(path.key(*message)).clone() else {
            return None;
        };
        let of = self.operands(path, of)?;
        let ends = self.ends(path, place, &of)?;
        let Stored::Stream(_, capacity) = self.module.field(place.kind, place.field).stored else {
            return None;
        };
        let held = self.positions(path, place, ends.begin, ends.end);
        let capacity = self.word(path, capacity);
        let room = self.evaluate(path, Op::Arithmetic(Arithmetic::Sub), &[capacity, held]);
        let fits = self.evaluate(path, Op::Compare(Compare::Ule), &[message.length, room]);
        let name = self.field_name(place.kind, place.field);
        self.exit(path, name, fits, true);
        let end = Op::Arithmetic(Arithmetic::Add);
        let end = self.evaluate(path, end, &[ends.end, message.length]);
        let end = self.position(path, place, end);
        Some(answers(place, &of, Ends { end, ..ends }))
    }

    /// The answer of a container behind the deferred effects.
    pub fn answer(
        &mut self,
        path: &mut Path,
        question: Question,
        place: Place,
        operands: &[Value],
    ) -> Option<Value> {
        let of = self.operands(path, operands)?;
        self.answered(path, question, place, &of)
    }

    fn answered(
        &mut self,
        path: &mut Path,
        question: Question,
        place: Place,
        of: &[Value],
    ) -> Option<Value> {
        if question == Question::Ready {
            let (at, of) = of.split_last()?;
            let begin = self.answered(path, Question::Begin, place, of)?;
            let end = self.answered(path, Question::End, place, of)?;
            let ahead = self.positions(path, place, begin, *at);
            let held = self.positions(path, place, begin, end);
            let before = self.evaluate(path, Op::Arithmetic(Arithmetic::Umin), &[held, ahead]);
            let ready = Op::Arithmetic(Arithmetic::Sub);
            return Some(self.evaluate(path, ready, &[held, before]));
        }
        let mut answers = path.answers.iter().rev();
        let found = answers.find(|one| (one.question, one.place) == (question, place))?;
        (found.of == of).then_some(found.value)
    }

    /// The number of bytes of a stream that are there from a position on. None if a deferred effect
    /// changes the stream in a way that the guard does not follow.
    pub fn ready(&mut self, path: &mut Path, place: Place, of: &[Value]) -> Option<Value> {
        // On a side an index may be out of range.
        if path.under.is_some() && of.len() > 2 {
            return None;
        }
        match path.owes(Resource::Container(place)) {
            true => self.answered(path, Question::Ready, place, of),
            false => Some(self.evaluate(path, Op::Ask(Question::Ready, place), of)),
        }
    }

    /// The ends of a stream without gaps that no deferred effect changes.
    fn ends(&mut self, path: &mut Path, place: Place, of: &[Value]) -> Option<Ends> {
        let is_settled = !self.gaps.contains(&place) && !path.owes(Resource::Container(place));
        // On a side an index may be out of range.
        if !is_settled || path.under.is_some() && of.len() > 1 {
            return None;
        }
        Some(Ends {
            begin: self.evaluate(path, Op::Ask(Question::Begin, place), of),
            end: self.evaluate(path, Op::Ask(Question::End, place), of),
        })
    }

    /// The number of positions from one to another.
    fn positions(&mut self, path: &mut Path, place: Place, from: Value, to: Value) -> Value {
        let distance = self.evaluate(path, Op::Arithmetic(Arithmetic::Sub), &[to, from]);
        self.position(path, place, distance)
    }

    /// Keeps those of the 32 bits of a number that count in a position of the stream.
    fn position(&mut self, path: &mut Path, place: Place, one: Value) -> Value {
        let Stored::Stream(bits, _) = self.module.field(place.kind, place.field).stored else {
            unreachable!("streams alone have positions");
        };
        let most = self.word(path, ones(bits) as u32);
        self.evaluate(path, Op::Arithmetic(Arithmetic::And), &[one, most])
    }
}

/// The answers of a stream with these ends.
fn answers(place: Place, of: &[Value], Ends { begin, end }: Ends) -> [Answer; 2] {
    [(Question::Begin, begin), (Question::End, end)].map(|(question, value)| Answer {
        question,
        place,
        of: of.to_vec(),
        value,
    })
}
