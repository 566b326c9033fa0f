//! Symbolic execution of streams.
//!
//! In: an operation that changes a stream. Out: results and another state of the stream, of which
//! no more is known than what the operation promises.

use super::{Executor, Frame};
use crate::ir::effects::{Effects, Resource};
use crate::ir::op::{Arithmetic, Attempt, Compare, Op, Place, Question};
use crate::ir::types::ones;
use crate::ir::{Edge, Instruction, Stored, Type, Value};
use crate::prove::symbolic::{State, Symbolic};
use crate::prove::terms::Term;

use Symbolic::Plain;

impl Executor<'_> {
    /// Releases the bytes of a stream before a position. If the position lies in the stream, and
    /// that has no gaps, it begins there then, and its end stays.
    pub(super) fn releases(
        &mut self,
        frame: &mut Frame<'_>,
        instruction: &Instruction,
        place: Place,
    ) -> Vec<Symbolic> {
        let (bits, _) = self.stream(place);
        let given = instruction.operands.iter();
        let mut of: Vec<Term> = given.map(|one| frame.plain(*one)).collect();
        let to = of.pop().expect("it is given a position");
        let before = self.ends(&frame.state, place, &of);
        let results = self.abstracted(frame, instruction);
        if self.module.streams_with_gaps().contains(&place) {
            return results;
        }
        let behind = self.ends(&frame.state, place, &of);
        let freed = self.positions(bits, [before[0], to]);
        let held = self.positions(bits, before);
        let zero = self.terms.number(32, 0);
        let begins = self.positions(bits, [zero, to]);
        let fits = self.terms.compare(Compare::Ule, freed, held);
        let same = [(behind[0], begins), (behind[1], before[1])];
        let same = same.into_iter().chain(match results[..] {
            [Plain(result)] => Some((result, freed)),
            _ => None,
        });
        for (one, other) in same.collect::<Vec<(Term, Term)>>() {
            let same = self.terms.equal(one, other);
            let fact = self.terms.implies(fits, same);
            self.assumed.push(fact);
        }
        results
    }

    /// Appends a message to a stream. A stream without gaps takes a message that is not longer than
    /// its free room. Then its first position stays, and its end moves by the length. The buffer of
    /// the message becomes free.
    pub(super) fn appends(
        &mut self,
        frame: &mut Frame<'_>,
        (attempt, place): (&Attempt, Place),
        operands: &[Value],
        done: &Edge,
    ) -> (Term, Vec<Symbolic>) {
        let (bits, capacity) = self.stream(place);
        let (message, of) = operands.split_last().expect("it is given a message");
        let Symbolic::Message(message) = frame.value(*message) else {
            panic!("messages are appended");
        };
        let of: Vec<Term> = of.iter().map(|one| frame.plain(*one)).collect();
        let before = self.ends(&frame.state, place, &of);
        let had_buffer = self.has_buffer(frame);
        let (condition, results) = self.of_container(frame, attempt, operands, done);
        let has_buffer = self.has_buffer(frame);
        let stays_free = self.terms.implies(had_buffer, has_buffer);
        self.assumed.push(stays_free);
        if self.module.streams_with_gaps().contains(&place) {
            return (condition, results);
        }
        let behind = self.ends(&frame.state, place, &of);
        let held = self.positions(bits, before);
        let capacity = self.terms.number(32, capacity.into());
        let room = self.terms.subtract(capacity, held);
        let fits = self.terms.compare(Compare::Ule, message.length, room);
        let end = self
            .terms
            .arithmetic(Arithmetic::Add, before[1], message.length);
        let zero = self.terms.number(32, 0);
        let end = self.positions(bits, [zero, end]);
        let begins = self.terms.equal(behind[0], before[0]);
        let ends = self.terms.equal(behind[1], end);
        let moves = self.terms.and(begins, ends);
        let facts = [
            self.terms.equal(condition, fits),
            self.terms.implies(condition, moves),
        ];
        self.assumed.extend(facts);
        (condition, results)
    }

    /// Makes a message of bytes of a stream: it needs a free buffer with room for those that are
    /// there.
    pub(super) fn copies(
        &mut self,
        frame: &mut Frame<'_>,
        (attempt, place): (&Attempt, Place),
        operands: &[Value],
        done: &Edge,
    ) -> (Term, Vec<Symbolic>) {
        let given = operands.iter();
        let mut of: Vec<Term> = given.map(|one| frame.plain(*one)).collect();
        let count = of.pop().expect("it is given a number of bytes");
        let ready = self.asked(&frame.state, Question::Ready, place, &of);
        let length = self.terms.arithmetic(Arithmetic::Umin, count, ready);
        let room = self.terms.number(32, self.module.memory.room.into());
        let fits = self.terms.compare(Compare::Ule, length, room);
        let has_buffer = self.has_buffer(frame);
        let succeeds = self.terms.and(has_buffer, fits);
        let (condition, results) = self.of_container(frame, attempt, operands, done);
        let fact = self.terms.equal(condition, succeeds);
        self.assumed.push(fact);
        (condition, results)
    }

    /// Asks how many bytes of a stream are there from a position on. Without gaps that is all that
    /// it holds behind the position.
    pub(super) fn is_ready(
        &mut self,
        frame: &mut Frame<'_>,
        instruction: &Instruction,
        place: Place,
    ) -> Vec<Symbolic> {
        let results = self.abstracted(frame, instruction);
        let (bits, _) = self.stream(place);
        let given = instruction.operands.iter();
        let mut of: Vec<Term> = given.map(|one| frame.plain(*one)).collect();
        let at = of.pop().expect("it is given a position");
        let [Plain(ready)] = results[..] else {
            panic!("a question has one answer");
        };
        if !self.module.streams_with_gaps().contains(&place) {
            let ends = self.ends(&frame.state, place, &of);
            let held = self.positions(bits, ends);
            let ahead = self.positions(bits, [ends[0], at]);
            let before = self.terms.arithmetic(Arithmetic::Umin, held, ahead);
            let behind = self.terms.subtract(held, before);
            let fact = self.terms.equal(ready, behind);
            self.assumed.push(fact);
        }
        results
    }

    /// The bits of a position in a stream, and how many bytes the stream holds at most.
    fn stream(&self, place: Place) -> (u8, u32) {
        match self.module.field(place.kind, place.field).stored {
            Stored::Stream(bits, capacity) => (bits, capacity),
            _ => panic!("the verifier passes these operations on streams alone"),
        }
    }

    /// The first position of a stream in a state, and that behind its last byte.
    fn ends(&mut self, state: &State, place: Place, of: &[Term]) -> [Term; 2] {
        [Question::Begin, Question::End].map(|asked| self.asked(state, asked, place, of))
    }

    /// The number of positions from one to another; so many bits of them count.
    fn positions(&mut self, bits: u8, [from, to]: [Term; 2]) -> Term {
        let most = self.terms.number(32, ones(bits));
        let distance = self.terms.subtract(to, from);
        self.terms.arithmetic(Arithmetic::And, distance, most)
    }

    /// Returns the answer of a container in a state.
    pub(super) fn asked(
        &mut self,
        state: &State,
        question: Question,
        place: Place,
        of: &[Term],
    ) -> Term {
        let of_type = match question {
            Question::Takes => Type::BIT,
            _number => Type::WORD,
        };
        let op = Op::Ask(question, place);
        let mut effects = Effects::of(self.module, &op);
        effects.reads.remove(&Resource::Bytes);
        let known = (&format!("{op:?}")[..], of.to_vec());
        let answers = self.applied(&mut state.clone(), known, &effects, &[of_type]);
        match answers[..] {
            [Plain(answer)] => answer,
            _ => unreachable!("a question has one answer"),
        }
    }
}
