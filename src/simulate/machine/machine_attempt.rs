//! Operations that may fail: in, one of them with its operands; out, its results, or the messages
//! that come back. If it fails, nothing has changed.

use super::Machine;
use super::compute::{exactly, part};
use super::containers::{Item, copy_bytes, insert_bytes, take_bytes};
use super::machine_operate::words;
use super::values::{Frame, Handle, Held, Trapped};
use crate::ir::Value;
use crate::ir::op::{Attempt, Place};

/// The results, or the messages that come back.
pub type Tried = Result<Vec<Held>, Vec<Held>>;

impl Machine<'_> {
    /// Tries something.
    pub(super) fn attempt(
        &mut self,
        frame: &mut Frame<'_>,
        attempt: &Attempt,
        operands: &[Value],
    ) -> Trapped<Tried> {
        match attempt {
            Attempt::New
            | Attempt::NewOf
            | Attempt::Share
            | Attempt::Copy
            | Attempt::Restore
            | Attempt::Pad
            | Attempt::Rewrite(_) => self.try_message(frame, attempt, operands),
            Attempt::Live(_)
            | Attempt::Find(_)
            | Attempt::Soonest(..)
            | Attempt::Standing(_)
            | Attempt::Recall(_)
            | Attempt::Create(_) => self.try_instance(frame, attempt, operands),
            Attempt::Pop(place)
            | Attempt::PushItem(place)
            | Attempt::Insert(place)
            | Attempt::Take(place)
            | Attempt::ShareItem(place)
            | Attempt::InsertBytes(place)
            | Attempt::AppendBytes(place)
            | Attempt::TakeBytes(place)
            | Attempt::CopyBytes(place)
            | Attempt::BorrowBytes(place) => self.try_place(frame, attempt, *place, operands),
        }
    }

    fn try_message(
        &mut self,
        frame: &mut Frame<'_>,
        attempt: &Attempt,
        operands: &[Value],
    ) -> Trapped<Tried> {
        match attempt {
            Attempt::New => Ok(made(self.messages.message(&[]))),
            Attempt::NewOf => {
                let [bytes, count] = exactly(operands)?;
                let bytes = frame.bytes(bytes)?;
                let first = part(&bytes, 0, frame.word(count)?.min(bytes.len() as u32))?;
                Ok(made(self.messages.message(first)))
            }
            Attempt::Share => {
                let message = frame.message(operands[0])?;
                Ok(made(self.messages.share(message)))
            }
            Attempt::Copy => {
                let [message, at, length] = exactly(operands)?;
                let (at, length) = (frame.word(at)?, frame.word(length)?);
                let message = frame.message(message)?;
                let piece = self.messages.piece(message, at as usize, length as usize);
                Ok(made(piece))
            }
            Attempt::Restore => {
                let [message, start] = exactly(operands)?;
                let start = frame.word(start)? as usize;
                let mut message = frame.take_message(message)?;
                let succeeds = message.restore(start);
                Ok(either(succeeds, message))
            }
            Attempt::Pad => {
                let [message, count] = exactly(operands)?;
                let count = frame.word(count)? as usize;
                let mut message = frame.take_message(message)?;
                let fits = self.messages.fits(&message, message.length + count);
                if fits {
                    self.messages.pad(&mut message, count);
                }
                Ok(either(fits, message))
            }
            Attempt::Rewrite(kernel) => {
                let (message, given) = operands.split_first().ok_or("a message is missing")?;
                let given = frame.take_all(given)?;
                let mut message = frame.take_message(*message)?;
                let data = self.messages.data(&message).to_vec();
                let written = self.run_kernel(*kernel, given, &data).1;
                let succeeds = self.messages.rewrite(&mut message, &written);
                Ok(either(succeeds, message))
            }
            other => unreachable!("{other:?} is not about a message"),
        }
    }

    fn try_instance(
        &mut self,
        frame: &mut Frame<'_>,
        attempt: &Attempt,
        operands: &[Value],
    ) -> Trapped<Tried> {
        let found = match attempt {
            Attempt::Live(kind) => {
                let index = frame.word(operands[0])?;
                self.memory.is_live(*kind, index).then_some(index)
            }
            Attempt::Find(kind) => {
                let keys = frame.take_all(operands)?;
                self.memory.find(*kind, &keys)
            }
            Attempt::Soonest(kind, timer) => {
                let keys = frame.take_all(operands)?;
                self.memory.soonest(*kind, *timer, &keys)
            }
            Attempt::Standing(kind) => {
                let below = frame.word(operands[0])?;
                self.memory.standing(*kind, below)?
            }
            Attempt::Recall(cache) => {
                let arguments = frame.take_all(operands)?;
                let found = self.memory.recall(*cache, &arguments);
                if let Some(index) = found {
                    self.check(*cache, &[index])?;
                }
                found
            }
            Attempt::Create(kind) => {
                let keys = frame.take_all(operands)?;
                self.memory.create(*kind, keys)?
            }
            other => unreachable!("{other:?} is not about an instance"),
        };
        let found = found.map(|index| vec![Held::Number(index.into())]);
        Ok(found.ok_or(Vec::new()))
    }

    fn try_place(
        &mut self,
        frame: &mut Frame<'_>,
        attempt: &Attempt,
        place: Place,
        operands: &[Value],
    ) -> Trapped<Tried> {
        let (place_of, rest) = self.split(place, operands);
        let at = words(frame, place_of)?;
        let cell = self.memory.cell(place, &at)?;
        let messages = &mut self.messages;
        match attempt {
            Attempt::Pop(_) => Ok(cell.queue()?.pop().ok_or(Vec::new())),
            Attempt::PushItem(_) => {
                let pushed = cell.queue()?.push(frame.take_all(rest)?);
                Ok(pushed.map_or_else(refused, |()| Ok(Vec::new())))
            }
            Attempt::Insert(_) => {
                let (number, item) = rest.split_first().ok_or("a number is missing")?;
                let number = frame.word(*number)?;
                let inserted = cell.window()?.insert(number, frame.take_all(item)?);
                Ok(inserted.map_or_else(refused, |()| Ok(Vec::new())))
            }
            Attempt::Take(_) => {
                let number = frame.word(rest[0])?;
                Ok(cell.window()?.take(number).ok_or(Vec::new()))
            }
            Attempt::ShareItem(_) => {
                let number = frame.word(rest[0])?;
                let held = cell.window()?.get(number);
                let mut held = held.into_iter().flatten();
                let message = held.find_map(Held::as_message);
                Ok(made(message.and_then(|message| messages.share(message))))
            }
            Attempt::InsertBytes(_) => {
                let [at, message] = exactly(rest)?;
                let at = frame.word(at)?;
                let message = frame.take_message(message)?;
                let inserted = insert_bytes(cell.stream()?, at, message, messages);
                Ok(inserted.map_or_else(back, |()| Ok(Vec::new())))
            }
            Attempt::AppendBytes(_) => {
                let message = frame.take_message(rest[0])?;
                let stream = cell.stream()?;
                let inserted = insert_bytes(stream, stream.bytes.end(), message, messages);
                Ok(inserted.map_or_else(back, |()| Ok(Vec::new())))
            }
            Attempt::TakeBytes(_) => {
                let count = frame.word(rest[0])?;
                Ok(made(take_bytes(cell.stream()?, count, messages)))
            }
            Attempt::CopyBytes(_) | Attempt::BorrowBytes(_) => {
                let [at, count] = exactly(rest)?;
                let (at, count) = (frame.word(at)?, frame.word(count)?);
                Ok(made(copy_bytes(cell.stream()?, at, count, messages)))
            }
            other => unreachable!("{other:?} has no place"),
        }
    }
}

fn made(message: Option<Handle>) -> Tried {
    message
        .map(|message| vec![Held::message(message)])
        .ok_or(Vec::new())
}

/// Hands a message to one edge or the other.
fn either(succeeds: bool, message: Handle) -> Tried {
    let message = vec![Held::message(message)];
    if succeeds { Ok(message) } else { Err(message) }
}

fn back(message: Handle) -> Tried {
    Err(vec![Held::message(message)])
}

/// The messages of an item that was not taken.
fn refused(item: Item) -> Tried {
    let messages = item.into_iter();
    Err(messages
        .filter(|part| part.as_message().is_some())
        .collect())
}
