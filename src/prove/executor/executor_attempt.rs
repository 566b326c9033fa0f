//! Symbolic execution of an operation that may fail.
//!
//! In: an attempt and its edges. Out: a way along each, with the condition under which it is taken.
//! If it fails nothing has changed, and messages come back.

use super::{Executor, Frame, Modelled, Way};
use crate::ir::effects::{Effects, Resource};
use crate::ir::op::{Arithmetic, Attempt, Compare, Question};
use crate::ir::{CacheId, Edge, KindId, Region, Value};
use crate::prove::symbolic::{Cell, Message, Symbolic};
use crate::prove::terms::{Sort, Term};

use Symbolic::Plain;

/// A message that an attempt makes: its condition, the message, and its bytes.
type Made = (Term, Message, Option<Term>);

impl Executor<'_> {
    /// Executes an attempt, and goes along its edges.
    pub(super) fn attempt(
        &mut self,
        frame: &mut Frame<'_>,
        (attempt, operands): (&Attempt, &[Value]),
        (done, failed): (&Edge, &Edge),
        ways: &mut [Vec<Way>],
    ) -> Modelled<()> {
        let back = operands.iter().map(|one| frame.value(*one));
        let back = back.filter(|one| matches!(one, Symbolic::Message(_)));
        let count = Self::outcomes(frame, failed).len();
        let back: Vec<Symbolic> = back.take(count).collect();
        let before = frame.state.clone();
        let (condition, results) = self.tried(frame, attempt, operands, done)?;
        self.go_with(frame, condition, (done, results), ways);
        frame.state = before;
        let not = self.terms.not(condition);
        self.go_with(frame, not, (failed, back), ways);
        Ok(())
    }

    /// Returns the condition under which an attempt succeeds, and its results then; the state is
    /// that behind it.
    fn tried(
        &mut self,
        frame: &mut Frame<'_>,
        attempt: &Attempt,
        operands: &[Value],
        done: &Edge,
    ) -> Modelled<(Term, Vec<Symbolic>)> {
        match attempt {
            Attempt::New | Attempt::NewOf | Attempt::Share | Attempt::Copy => {
                let (condition, message, content) = self.new_message(frame, attempt, operands);
                if let Some(content) = content {
                    self.put_content(&mut frame.state, message.buffer, content);
                }
                Ok((condition, vec![Symbolic::Message(message)]))
            }
            Attempt::Restore | Attempt::Pad | Attempt::Rewrite(_) => {
                self.lengthened(frame, attempt, operands)
            }
            Attempt::Live(kind) => {
                let index = frame.plain(operands[0]);
                let live = frame.state.get(self.terms, self.module, Cell::Live(*kind));
                let condition = self.terms.select(live, index);
                self.is_below_capacity(frame, *kind, condition, index);
                Ok((condition, vec![Plain(index)]))
            }
            Attempt::Recall(id) => {
                let (condition, index) = self.recalled(frame, *id, operands)?;
                Ok((condition, vec![Plain(index)]))
            }
            Attempt::Find(kind)
            | Attempt::Soonest(kind, _)
            | Attempt::Standing(kind)
            | Attempt::Create(kind) => {
                let (condition, found) = self.of_container(frame, attempt, operands, done);
                let index = found[0].terms()[0];
                self.found(frame, (attempt, *kind), condition, index);
                if !matches!(attempt, Attempt::Standing(_)) {
                    self.has_keys(frame, (*kind, operands), condition, index);
                }
                Ok((condition, found))
            }
            Attempt::AppendBytes(place) => {
                Ok(self.appends(frame, (attempt, *place), operands, done))
            }
            Attempt::CopyBytes(place) | Attempt::BorrowBytes(place) => {
                let copies = Attempt::CopyBytes(*place);
                Ok(self.copies(frame, (&copies, *place), operands, done))
            }
            Attempt::Insert(place) => {
                let indices = self.module.field(place.kind, place.field).dimensions.len();
                let asked = operands[..indices + 2].iter();
                let asked: Vec<Term> = asked.map(|one| frame.plain(*one)).collect();
                let takes = self.asked(&frame.state, Question::Takes, *place, &asked);
                let (condition, results) = self.of_container(frame, attempt, operands, done);
                let fact = self.terms.equal(condition, takes);
                self.assumed.push(fact);
                Ok((condition, results))
            }
            Attempt::Pop(_)
            | Attempt::PushItem(_)
            | Attempt::Take(_)
            | Attempt::ShareItem(_)
            | Attempt::InsertBytes(_)
            | Attempt::TakeBytes(_) => Ok(self.of_container(frame, attempt, operands, done)),
        }
    }

    /// Recalls an instance: the condition that it succeeds, of which nothing is known, and the
    /// index. Then the cache of the instance is valid, and holds what is given.
    fn recalled(
        &mut self,
        frame: &mut Frame<'_>,
        id: CacheId,
        operands: &[Value],
    ) -> Modelled<(Term, Term)> {
        let given: Vec<Term> = operands.iter().map(|one| frame.plain(*one)).collect();
        let valid = self.cell(&frame.state, Resource::Region(Region::Valid(id)));
        let mut known = given.clone();
        known.push(valid);
        let arguments = 0..given.len() as u32;
        let held: Vec<Term> = arguments
            .map(|at| self.cell(&frame.state, Resource::Region(Region::Cached(id, at))))
            .collect();
        known.extend(&held);
        let name = format!("recall {}", self.module.caches[id.at()].name);
        let index = self.terms.applied(&name, &known, Sort::Bits(32));
        let condition = self
            .terms
            .applied(&format!("{name} succeeds"), &known, Sort::Bits(1));
        let mut holds = self.terms.select(valid, index);
        for (given, held) in given.iter().zip(held) {
            let own = self.terms.select(held, index);
            let same = self.terms.equal(*given, own);
            holds = self.terms.and(holds, same);
        }
        let here = self.terms.and(self.path, frame.condition);
        let here = self.terms.and(here, condition);
        let fact = self.terms.implies(here, holds);
        self.assumed.push(fact);
        let kind = self.module.caches[id.at()].kind;
        let kind = kind.expect("the verifier passes recalls of instances alone");
        self.is_below_capacity(frame, kind, condition, index);
        self.remembers(frame, id, Some(index), condition)?;
        Ok((condition, index))
    }

    /// Assumes that an instance that is found has a state, and one that is made had none.
    fn found(
        &mut self,
        frame: &mut Frame<'_>,
        (attempt, kind): (&Attempt, KindId),
        condition: Term,
        index: Term,
    ) {
        let live = frame.state.get(self.terms, self.module, Cell::Live(kind));
        let is_live = self.terms.select(live, index);
        let is_new = matches!(attempt, Attempt::Create(_));
        let expected = if is_new {
            self.terms.not(is_live)
        } else {
            is_live
        };
        let here = self.terms.and(self.path, frame.condition);
        let here = self.terms.and(here, condition);
        let fact = self.terms.implies(here, expected);
        self.assumed.push(fact);
        self.is_below_capacity(frame, kind, condition, index);
        if is_new {
            self.set_live(frame, kind, index, true);
        }
    }

    /// Assumes that an instance has the keys by which it is found, or made.
    fn has_keys(
        &mut self,
        frame: &Frame<'_>,
        (kind, operands): (KindId, &[Value]),
        condition: Term,
        index: Term,
    ) {
        let here = self.terms.and(self.path, frame.condition);
        let here = self.terms.and(here, condition);
        let keys = self.module.kinds[kind.at()].keys.clone();
        for (key, operand) in keys.into_iter().zip(operands) {
            let field = Resource::Region(Region::Field(kind, key));
            let held = self.cell(&frame.state, field);
            let held = self.terms.select(held, index);
            let same = self.terms.equal(held, frame.plain(*operand));
            let fact = self.terms.implies(here, same);
            self.assumed.push(fact);
        }
    }

    /// Assumes that an instance with a state is one of those that its kind has.
    fn is_below_capacity(&mut self, frame: &Frame<'_>, kind: KindId, condition: Term, index: Term) {
        let capacity = self.module.kinds[kind.at()].capacity;
        let capacity = self.terms.number(32, capacity.into());
        let is_below = self.terms.compare(Compare::Ult, index, capacity);
        let here = self.terms.and(self.path, frame.condition);
        let here = self.terms.and(here, condition);
        let fact = self.terms.implies(here, is_below);
        self.assumed.push(fact);
    }

    /// Returns the condition that a buffer is free.
    pub(super) fn has_buffer(&mut self, frame: &Frame<'_>) -> Term {
        let buffers = self.cell(&frame.state, Resource::Buffers);
        let terms = &mut self.terms;
        terms.applied("a buffer is free", &[buffers], Sort::Bits(1))
    }

    /// Takes a free buffer: the condition that there is one, and the buffer.
    fn take_buffer(&mut self, frame: &mut Frame<'_>) -> (Term, Term) {
        let condition = self.has_buffer(frame);
        let buffers = self.cell(&frame.state, Resource::Buffers);
        let slot = self.terms.applied("free buffer", &[buffers], Sort::Token);
        let taken = self.terms.applied("buffer taken", &[buffers], Sort::Token);
        let cell = Cell::Resource(Resource::Buffers);
        frame.state.cells.insert(cell, taken);
        (condition, slot)
    }

    fn new_message(
        &mut self,
        frame: &mut Frame<'_>,
        attempt: &Attempt,
        operands: &[Value],
    ) -> Made {
        let (condition, slot) = self.take_buffer(frame);
        let mut made = self.empty(slot);
        let given = operands.iter().map(|one| frame.value(*one));
        let given: Vec<Symbolic> = given.collect();
        match (attempt, &given[..]) {
            (Attempt::NewOf, [Plain(bytes), Plain(count)]) => {
                let sort = Sort::CONTENT;
                let content = self.terms.applied("new of", &[*bytes, *count], sort);
                made.length = *count;
                (condition, made, Some(content))
            }
            (Attempt::Share, [Symbolic::Message(of)]) => {
                let content = self.content_of(&frame.state, &given[0]);
                made.start = of.start;
                made.length = of.length;
                self.copy_attributes(&mut made, of);
                (condition, made, content)
            }
            (Attempt::Copy, [Symbolic::Message(of), Plain(at), Plain(length)]) => {
                let content = self.content_of(&frame.state, &given[0]);
                let content = content.expect("a message has bytes");
                let least = Arithmetic::Umin;
                let from = self.terms.arithmetic(least, *at, of.length);
                let rest = self.terms.subtract(of.length, from);
                made.length = self.terms.arithmetic(least, *length, rest);
                let from = self.terms.add(of.start, from);
                let given = [content, from, made.length];
                let content = self.terms.applied("copied", &given, Sort::CONTENT);
                self.copy_attributes(&mut made, of);
                (condition, made, Some(content))
            }
            _new => (condition, made, None),
        }
    }

    fn copy_attributes(&self, made: &mut Message, of: &Message) {
        let all = self.module.attributes.iter().enumerate();
        for (at, attribute) in all {
            if !attribute.is_mark {
                made.attributes[at] = of.attributes[at];
            }
        }
    }

    /// A message that is longer, or replaced, if it has room.
    fn lengthened(
        &mut self,
        frame: &mut Frame<'_>,
        attempt: &Attempt,
        operands: &[Value],
    ) -> Modelled<(Term, Vec<Symbolic>)> {
        let Symbolic::Message(mut message) = frame.value(operands[0]) else {
            return Err("an attempt is given no message".to_string());
        };
        let given = self.rewritten_of(frame, &message, &operands[1..]);
        let terms = &mut *self.terms;
        let condition = match attempt {
            Attempt::Restore => {
                let (start, by) = (message.start, given[3]);
                let more = terms.subtract(start, by);
                message.length = terms.add(message.length, more);
                message.start = by;
                terms.compare(Compare::Ule, by, start)
            }
            Attempt::Pad => {
                let fits = [message.start, message.length, given[3]];
                let condition = terms.applied("a buffer has room", &fits, Sort::Bits(1));
                let content = terms.applied("padded", &given, Sort::CONTENT);
                message.length = terms.add(message.length, given[3]);
                self.put_content(&mut frame.state, message.buffer, content);
                condition
            }
            other => {
                let name = self.name_of_attempt(other);
                let buffers = self.cell(&frame.state, Resource::Buffers);
                let mut all = given.clone();
                all.push(buffers);
                let fits = format!("room for {name}");
                let condition = self.terms.applied(&fits, &all, Sort::Bits(1));
                let content = self.terms.applied(&name, &given, Sort::CONTENT);
                let length = format!("length of {name}");
                message.length = self.terms.applied(&length, &given, Sort::Bits(32));
                self.put_content(&mut frame.state, message.buffer, content);
                let taken = self.terms.applied("buffers used", &[buffers], Sort::Token);
                let cell = Cell::Resource(Resource::Buffers);
                frame.state.cells.insert(cell, taken);
                condition
            }
        };
        Ok((condition, vec![Symbolic::Message(message)]))
    }

    /// Executes an attempt of which only its effects are known.
    pub(super) fn of_container(
        &mut self,
        frame: &mut Frame<'_>,
        attempt: &Attempt,
        operands: &[Value],
        done: &Edge,
    ) -> (Term, Vec<Symbolic>) {
        let name = self.name_of_attempt(attempt);
        let mut effects = Effects::of_attempt(self.module, attempt);
        let reads = effects.reads.remove(&Resource::Bytes);
        let makes = effects.writes.remove(&Resource::Bytes);
        let mut given = Vec::new();
        for operand in operands {
            let value = frame.value(*operand);
            given.extend(self.naming.kept(&value));
            if reads && let Some(content) = self.content_of(&frame.state, &value) {
                given.push(content);
            }
        }
        let mut before = frame.state.clone();
        let asked = Effects {
            reads: effects.reads.union(&effects.writes).copied().collect(),
            ..Effects::default()
        };
        let succeeds = format!("{name} succeeds");
        let bit = [crate::ir::Type::BIT];
        let condition = self.applied(&mut before, (&succeeds, given.clone()), &asked, &bit);
        let types = Self::outcomes(frame, done);
        let known = (&name[..], given.clone());
        let results = self.applied(&mut frame.state, known, &effects, &types);
        for result in results.iter().filter(|_| makes) {
            if let Symbolic::Message(message) = result {
                given.push(message.buffer);
                let made = format!("{name} bytes");
                let content = self.terms.applied(&made, &given, Sort::CONTENT);
                self.put_content(&mut frame.state, message.buffer, content);
            }
        }
        (condition[0].terms()[0], results)
    }
}
