//! Symbolic execution of operations on messages and views.
//!
//! In: an instruction on a handle. Out: another handle, as a record of terms; bytes of messages are
//! an array for each buffer. Bytes that are read or written as one value have their meaning if they
//! are few; else it is known of them that they are the same at the same place.

use super::{Executor, Frame, Modelled};
use crate::ir::effects::{Effects, Resource};
use crate::ir::op::Op;
use crate::ir::{Instruction, KindId, Lives, Value};
use crate::prove::symbolic::{Cell, Message, Symbolic, defaults};
use crate::prove::terms::{Sort, Term};

use Symbolic::{Plain, View};

/// Bytes that are read or written one by one.
const MOST_BYTES: u32 = 64;

impl Executor<'_> {
    /// Executes an operation on a message or view.
    pub(super) fn on_message(
        &mut self,
        frame: &mut Frame<'_>,
        instruction: &Instruction,
    ) -> Modelled<Vec<Symbolic>> {
        let operands = &instruction.operands[..];
        Ok(match (&instruction.op, frame.value(operands[0])) {
            (Op::Read(_) | Op::ReadBytes(_) | Op::ReadPart(_), _) => {
                vec![Plain(self.read(frame, instruction))]
            }
            (Op::Write(_) | Op::WriteBytes | Op::WritePart, Symbolic::Message(message)) => {
                self.write(frame, instruction, &message);
                Vec::new()
            }
            (Op::SubView, View(buffer, base, _)) => {
                let (at, length) = (frame.plain(operands[1]), frame.plain(operands[2]));
                vec![View(buffer, self.terms.add(base, at), length)]
            }
            (Op::Length, View(_, _, length)) => vec![Plain(length)],
            (Op::Drop(_) | Op::Consume, Symbolic::Message(message)) => {
                let effects = Effects::of(self.module, &instruction.op);
                let name = format!("{:?}", instruction.op);
                let given = vec![message.buffer];
                self.applied(&mut frame.state, (&name, given), &effects, &[])
            }
            (Op::Rewrite(_), Symbolic::Message(message)) => {
                self.rewritten(frame, instruction, message)
            }
            (op, Symbolic::Message(message)) => {
                let by = operands.get(1).map(|by| frame.value(*by));
                vec![self.moved(op, message, by)]
            }
            (op, other) => return Err(format!("{op:?} is given {other:?}")),
        })
    }

    fn moved(&mut self, op: &Op, mut message: Message, by: Option<Symbolic>) -> Symbolic {
        let terms = &mut *self.terms;
        let by = by.map(|by| by.terms()[0]);
        let by = || by.expect("it has a second operand");
        let (buffer, start, length) = (message.buffer, message.start, message.length);
        match op {
            Op::Length => Plain(length),
            Op::Start => Plain(start),
            Op::InBuffer => Plain(terms.applied("in_buffer", &[buffer], Sort::Bits(1))),
            Op::Attribute(id) => Plain(message.attributes[id.at()]),
            Op::With(id) => {
                message.attributes[id.at()] = by();
                Symbolic::Message(message)
            }
            Op::Look => View(buffer, start, length),
            Op::Before => View(buffer, terms.subtract(start, by()), by()),
            Op::Around => {
                let base = terms.subtract(start, by());
                View(buffer, base, terms.add(length, by()))
            }
            Op::Push => {
                message.start = terms.subtract(start, by());
                message.length = terms.add(length, by());
                Symbolic::Message(message)
            }
            Op::Pull => {
                message.start = terms.add(start, by());
                message.length = terms.subtract(length, by());
                Symbolic::Message(message)
            }
            Op::Cut => {
                message.length = by();
                Symbolic::Message(message)
            }
            other => unreachable!("{other:?} moves no message"),
        }
    }

    /// Returns an empty message in a buffer that was taken.
    pub(super) fn empty(&mut self, slot: Term) -> Message {
        let number = self.terms.applied("buffer of", &[slot], Sort::Bits(31));
        Message {
            buffer: self.made(number),
            start: self.terms.number(32, self.module.headroom.into()),
            length: self.terms.number(32, 0),
            attributes: defaults(self.terms, self.module),
        }
    }

    fn read(&mut self, frame: &mut Frame<'_>, instruction: &Instruction) -> Term {
        let operands = &instruction.operands[..];
        let view = frame.value(operands[0]);
        let View(_, base, _) = view else {
            panic!("bytes are read from a view");
        };
        let content = self.content_of(&frame.state, &view);
        let content = content.expect("a view has bytes");
        let at = self.terms.add(base, frame.plain(operands[1]));
        match &instruction.op {
            Op::Read(bits) => self.terms.read(content, at, *bits),
            Op::ReadBytes(count) if (1..=MOST_BYTES).contains(count) => {
                let bytes: Vec<Term> = (0..*count)
                    .map(|more| self.terms.byte(content, at, more))
                    .collect();
                self.terms.concat(&bytes)
            }
            op => {
                let mut given = vec![content, at];
                given.extend(operands.get(2).map(|count| frame.plain(*count)));
                let of = frame.function.type_of(instruction.results[0]);
                let sort = crate::prove::symbolic::sort_of(of);
                self.terms.applied(&format!("{op:?}"), &given, sort)
            }
        }
    }

    fn write(&mut self, frame: &mut Frame<'_>, instruction: &Instruction, message: &Message) {
        let operands = &instruction.operands[..];
        let (at, value) = (frame.plain(operands[1]), frame.plain(operands[2]));
        let at = self.terms.add(message.start, at);
        let bytes = self.cell(&frame.state, Resource::Bytes);
        let content = self.terms.select(bytes, message.buffer);
        let is_short = matches!(self.terms.sort(value), Sort::Bits(bits) if bits <= 8 * MOST_BYTES);
        let written = match &instruction.op {
            Op::Write(number) => {
                let value = self.terms.in_bytes(*number, value);
                self.terms.write(content, at, value)
            }
            Op::WriteBytes if is_short => self.terms.write(content, at, value),
            op => {
                let mut given = vec![content, at, value];
                given.extend(operands.get(3).map(|count| frame.plain(*count)));
                let name = format!("{op:?}");
                self.terms.applied(&name, &given, Sort::CONTENT)
            }
        };
        self.put_content(&mut frame.state, message.buffer, written);
    }

    /// Runs a kernel over a message, each word of which is replaced.
    fn rewritten(
        &mut self,
        frame: &mut Frame<'_>,
        instruction: &Instruction,
        mut message: Message,
    ) -> Vec<Symbolic> {
        let Op::Rewrite(kernel) = instruction.op else {
            panic!("a kernel rewrites a message");
        };
        let name = format!("rewrite {}", self.module.kernels[kernel.at()].name);
        let given = self.rewritten_of(frame, &message, &instruction.operands[1..]);
        let content = self.terms.applied(&name, &given, Sort::CONTENT);
        self.put_content(&mut frame.state, message.buffer, content);
        let length = format!("length of {name}");
        message.length = self.terms.applied(&length, &given, Sort::Bits(32));
        vec![Symbolic::Message(message)]
    }

    /// Returns the terms on which the bytes depend that a kernel makes of a message.
    pub(super) fn rewritten_of(
        &mut self,
        frame: &Frame<'_>,
        message: &Message,
        parameters: &[Value],
    ) -> Vec<Term> {
        let bytes = self.cell(&frame.state, Resource::Bytes);
        let content = self.terms.select(bytes, message.buffer);
        let mut given = vec![content, message.start, message.length];
        given.extend(parameters.iter().map(|one| frame.plain(*one)));
        given
    }

    /// Executes the beginning or the end of the life of an instance.
    pub(super) fn lives(
        &mut self,
        frame: &mut Frame<'_>,
        instruction: &Instruction,
    ) -> Vec<Symbolic> {
        let index = frame.plain(instruction.operands[0]);
        self.abstracted(frame, instruction);
        match &instruction.op {
            Op::Begin(kind) => {
                self.set_live(frame, *kind, index, true);
                vec![Plain(index)]
            }
            Op::Free(kind) => {
                for other in (0..self.module.kinds.len() as u32).map(KindId) {
                    if other != *kind && self.module.kinds[other.at()].lives == Lives::With(*kind) {
                        let cell = Cell::Live(other);
                        let live = frame.state.get(self.terms, self.module, cell);
                        let sort = self.terms.sort(live);
                        let freed = self.terms.applied("freed with", &[live, index], sort);
                        frame.state.cells.insert(cell, freed);
                    }
                }
                self.set_live(frame, *kind, index, false);
                Vec::new()
            }
            _other => panic!("a life begins or ends"),
        }
    }

    /// Says whether an instance has a state from here on.
    pub(super) fn set_live(
        &mut self,
        frame: &mut Frame<'_>,
        kind: KindId,
        index: Term,
        is_live: bool,
    ) {
        let cell = Cell::Live(kind);
        let live = frame.state.get(self.terms, self.module, cell);
        let bit = self.terms.bit(is_live);
        let live = self.terms.store(live, index, bit);
        frame.state.cells.insert(cell, live);
    }
}
