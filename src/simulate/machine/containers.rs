//! Fields at run time: values, containers, and what only C knows.
//!
//! In: the questions, changes and attempts of the IR, with their operands. Out: results, and the
//! handles that leave a container. What becomes of those is counted in [`Messages`].

use super::messages::Messages;
use super::values::{Handle, Held, Trapped};
use crate::ir::op::{Change, Question};
use crate::ir::types::ones;
use crate::ir::{ReasonId, Stored};
use crate::simulate::containers::{Ring, Set, Window};
use crate::simulate::stream::Stream;
use crate::simulate::value::Pieces;

/// The parts of an item.
pub type Item = Vec<Held>;

/// A field, or an element of one that is an array.
#[derive(Clone, Debug)]
pub enum Cell {
    /// A value.
    Value(Held),
    /// A queue.
    Queue(Ring<Item>),
    /// A window.
    Window(Window<Item>),
    /// A stream, and how many messages that came in are in it.
    Stream(Pieces),
    /// A set.
    Set(Set),
    /// A record that only C knows.
    Foreign(Vec<u8>),
}

/// The messages of an item.
fn messages_of(item: Item) -> impl Iterator<Item = Handle> {
    item.into_iter().filter_map(|part| match part {
        Held::Message(handle) => Some(*handle),
        _plain => None,
    })
}

fn came_in(item: &Item) -> u64 {
    let handles = item.iter().filter_map(Held::as_message);
    handles.filter(|handle| handle.came_in).count() as u64
}

fn count(item: &Item) -> usize {
    item.iter().filter_map(Held::as_message).count()
}

/// An item that leaves a window has done its duty.
fn consume(messages: &mut Messages, item: Item) {
    messages_of(item).for_each(|handle| messages.consume(handle));
}

impl Cell {
    /// A field to which nothing was written.
    pub fn empty(stored: &Stored) -> Cell {
        let largest = |bits: u8| ones(bits.min(32)) as u32;
        match stored {
            Stored::Value(of) => Cell::Value(Held::zero(*of)),
            Stored::Queue(_, capacity) => Cell::Queue(Ring::new(*capacity as usize)),
            Stored::Window(_, bits, capacity) => {
                Cell::Window(Window::new(*capacity, largest(*bits)))
            }
            Stored::Stream(bits, capacity) => Cell::Stream(Pieces {
                bytes: Stream::new(*capacity, largest(*bits)),
                came_in: 0,
            }),
            Stored::Set(capacity) => Cell::Set(Set::new(*capacity)),
            Stored::Foreign(_) => Cell::Foreign(Vec::new()),
        }
    }

    /// The value that it is.
    pub fn value(&self) -> Trapped<&Held> {
        match self {
            Cell::Value(held) => Ok(held),
            other => Err(format!("a value is expected, not {other:?}")),
        }
    }

    /// The record of C, or the value of an opaque type, that it is.
    pub fn foreign(&self) -> Trapped<Vec<u8>> {
        match self {
            Cell::Foreign(bytes) => Ok(bytes.clone()),
            Cell::Value(Held::Bytes(bytes)) => Ok(bytes.to_vec()),
            other => Err(format!("only C knows this, which is {other:?}")),
        }
    }

    /// C has changed what it is.
    pub fn set_foreign(&mut self, changed: &[u8]) -> Trapped<()> {
        match self {
            Cell::Foreign(bytes) => *bytes = changed.to_vec(),
            Cell::Value(held @ Held::Bytes(_)) => *held = Held::bytes(changed),
            other => return Err(format!("only C knows this, which is {other:?}")),
        }
        Ok(())
    }

    /// Counts the messages in it that came in.
    pub fn held(&self) -> u64 {
        match self {
            Cell::Queue(queue) => queue.items().map(came_in).sum(),
            Cell::Window(window) => window.items().map(came_in).sum(),
            Cell::Stream(stream) => stream.came_in,
            Cell::Value(_) | Cell::Set(_) | Cell::Foreign(_) => 0,
        }
    }

    /// Counts the messages that it holds, whoever made them, without those of a stream.
    pub fn messages(&self) -> usize {
        match self {
            Cell::Queue(queue) => queue.items().map(count).sum(),
            Cell::Window(window) => window.items().map(count).sum(),
            Cell::Value(_) | Cell::Stream(_) | Cell::Set(_) | Cell::Foreign(_) => 0,
        }
    }

    /// All that it holds is dropped.
    pub fn discard_all(&mut self, messages: &mut Messages, reason: ReasonId) {
        let mut discard = |item: Item| {
            messages_of(item).for_each(|handle| messages.discard(handle, reason));
        };
        match self {
            Cell::Queue(queue) => {
                while let Some(item) = queue.pop() {
                    discard(item);
                }
            }
            Cell::Window(window) => {
                while let Some(item) = window.first().and_then(|first| window.take(first)) {
                    discard(item);
                }
            }
            Cell::Stream(stream) => {
                let holds = stream.bytes.begin() != stream.bytes.end();
                let own = stream.came_in == 0 && holds;
                messages.count_drop(stream.came_in, own, reason);
                stream.came_in = 0;
                stream.bytes.restart(stream.bytes.begin());
            }
            Cell::Value(_) | Cell::Set(_) | Cell::Foreign(_) => {}
        }
    }

    /// Answers a question.
    pub fn ask(&self, question: Question, numbers: &[u32]) -> Trapped<Vec<Held>> {
        Ok(match (question, self, numbers) {
            (Question::IsEmpty, Cell::Queue(queue), []) => vec![Held::bit(queue.is_empty())],
            (Question::Takes, Cell::Queue(queue), []) => vec![Held::bit(!queue.is_full())],
            (Question::Takes, Cell::Window(window), [n]) => vec![Held::bit(window.takes(*n))],
            (Question::Has, Cell::Window(window), [n]) => vec![Held::bit(window.has(*n))],
            (Question::Has, Cell::Set(set), [n]) => vec![Held::bit(set.has(*n))],
            (Question::First, Cell::Window(window), []) => {
                let first = window.first();
                let number = Held::Number(first.unwrap_or(0).into());
                vec![Held::bit(first.is_some()), number]
            }
            (Question::Covers, Cell::Stream(stream), [at, length]) => {
                vec![Held::bit(stream.bytes.covers(*at, *length))]
            }
            (Question::Ready, Cell::Stream(stream), [at]) => {
                vec![Held::Number(stream.bytes.ready(*at).into())]
            }
            (Question::Begin, Cell::Stream(stream), []) => {
                vec![Held::Number(stream.bytes.begin().into())]
            }
            (Question::End, Cell::Stream(stream), []) => {
                vec![Held::Number(stream.bytes.end().into())]
            }
            _ => return Err(format!("{self:?} is asked {question:?} of {numbers:?}")),
        })
    }

    /// Does what cannot fail. `item` is what is put in a window.
    pub fn change(
        &mut self,
        how: Change,
        stored: &Stored,
        (numbers, item): (&[u32], Item),
        messages: &mut Messages,
    ) -> Trapped<Vec<Held>> {
        match (how, &mut *self, numbers) {
            (Change::Empty, _, []) => {
                if self.messages() > 0 {
                    return Err("what is emptied still holds messages".to_string());
                }
                *self = Cell::empty(stored);
            }
            (Change::Restart, Cell::Window(window), [at]) => window.begin(*at),
            (Change::Restart, Cell::Stream(stream), [at]) => {
                stream.bytes.restart(*at);
                settle(stream, messages);
            }
            (Change::Add, Cell::Set(set), [n]) => return Ok(vec![Held::bit(set.insert(*n))]),
            (Change::Clear, Cell::Set(set), []) => set.clear(),
            (Change::Release, Cell::Window(window), [to]) => {
                while let Some(item) = window.release(*to) {
                    consume(messages, item);
                }
            }
            (Change::ReleaseBytes, Cell::Stream(stream), [to]) => {
                let freed = stream.bytes.release(*to);
                settle(stream, messages);
                return Ok(vec![Held::Number(freed.into())]);
            }
            (Change::Replace, Cell::Window(window), [n]) => {
                while let Some(old) = window.replace(*n) {
                    consume(messages, old);
                }
                if let Err(refused) = window.insert(*n, item) {
                    consume(messages, refused);
                }
            }
            (Change::DropAll(reason), cell, []) => cell.discard_all(messages, reason),
            _ => return Err(format!("{self:?} is changed by {how:?} {numbers:?}")),
        }
        Ok(Vec::new())
    }

    /// The queue that it is.
    pub fn queue(&mut self) -> Trapped<&mut Ring<Item>> {
        match self {
            Cell::Queue(queue) => Ok(queue),
            other => Err(format!("a queue is expected, not {other:?}")),
        }
    }

    /// The window that it is.
    pub fn window(&mut self) -> Trapped<&mut Window<Item>> {
        match self {
            Cell::Window(window) => Ok(window),
            other => Err(format!("a window is expected, not {other:?}")),
        }
    }

    /// The stream that it is.
    pub fn stream(&mut self) -> Trapped<&mut Pieces> {
        match self {
            Cell::Stream(stream) => Ok(stream),
            other => Err(format!("a stream is expected, not {other:?}")),
        }
    }
}

/// A message becomes part of a stream; or comes back.
pub fn insert_bytes(
    stream: &mut Pieces,
    at: u32,
    message: Handle,
    messages: &mut Messages,
) -> Result<(), Handle> {
    if !stream.bytes.insert(at, messages.data(&message)) {
        return Err(message);
    }
    stream.came_in += u64::from(message.came_in);
    messages.forget(message);
    Ok(())
}

/// A message of so many bytes from the start of a stream, which leave it.
pub fn take_bytes(stream: &mut Pieces, count: u32, messages: &mut Messages) -> Option<Handle> {
    let begin = stream.bytes.begin();
    let mut message = copy_bytes(stream, begin, count, messages)?;
    stream
        .bytes
        .release(begin.wrapping_add(message.length as u32));
    let came_in = std::mem::take(&mut stream.came_in);
    message.came_in = came_in > 0;
    messages.fates.merged += came_in.saturating_sub(1);
    Some(message)
}

/// A message of so many bytes of a stream at a position, as far as they are there.
pub fn copy_bytes(stream: &Pieces, at: u32, count: u32, messages: &mut Messages) -> Option<Handle> {
    let bytes = stream.bytes.copy(at, count.min(stream.bytes.ready(at)));
    messages.message_within(&bytes)
}

/// A stream was released: what came in and is no longer in it has done its duty.
fn settle(stream: &mut Pieces, messages: &mut Messages) {
    if stream.bytes.begin() == stream.bytes.end() {
        messages.fates.consumed += stream.came_in;
        stream.came_in = 0;
    }
}
