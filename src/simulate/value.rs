//! Values at run time: what fields, locals, attributes and arguments hold.
//!
//! In: types, and constant values of the checked program. Out: a [`Datum`] for each, and what all
//! operators have in common: how a number fits its type, and in which order values stand.
//! Numbers live in 64 bits, masked to their width; signed ones are extended by their sign.

use super::containers::{Ring, Set, Window};
use super::message::Message;
use super::stream::Stream;
use crate::types::program::{Field, Program};
use crate::types::value::{Type, Value};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::{Index, IndexMut};
use std::rc::Rc;

/// A value at run time.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    /// A local that is not bound, or whose message has moved away.
    Absent,
    /// A number, bool, enum, time, or the index of an instance.
    Number(u64),
    /// Bytes.
    Bytes(Vec<u8>),
    /// An optional.
    Optional(Option<Box<Datum>>),
    /// The fields of a record.
    Record(Vec<Datum>),
    /// The elements of an array.
    Array(Vec<Datum>),
    /// A message.
    Message(Box<Message>),
    /// What a peek has found: the bytes from the start of the header on.
    Header(Rc<[u8]>),
    /// A queue.
    Queue(Ring<Datum>),
    /// A window.
    Window(Window<Datum>),
    /// A stream, and the fate of what is in it.
    Stream(Pieces),
    /// A set.
    Set(Set),
}

/// What locals hold, by their place. Those that nothing is bound to are absent, and take no room:
/// of all that the trees of a stack have, one instant needs few.
#[derive(Clone, Debug, Default)]
pub struct Locals(BTreeMap<usize, Datum>);

impl Index<usize> for Locals {
    type Output = Datum;

    fn index(&self, local: usize) -> &Datum {
        self.0.get(&local).unwrap_or(&Datum::Absent)
    }
}

impl IndexMut<usize> for Locals {
    fn index_mut(&mut self, local: usize) -> &mut Datum {
        self.0.entry(local).or_insert(Datum::Absent)
    }
}

impl FromIterator<Datum> for Locals {
    fn from_iter<T: IntoIterator<Item = Datum>>(all: T) -> Locals {
        Locals(all.into_iter().enumerate().collect())
    }
}

/// A stream, and how many messages that came in by a link are in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Pieces {
    /// The bytes.
    pub bytes: Stream,
    /// Messages that came in, whose fate is that of the stream.
    pub came_in: u64,
}

impl Datum {
    /// A bool.
    pub fn of_bool(value: bool) -> Datum {
        Datum::Number(u64::from(value))
    }

    /// The value of a constant.
    pub fn of(program: &Program, value: &Value, kind: &Type) -> Datum {
        match (value, kind) {
            (Value::None, _) => Datum::Optional(None),
            (value, Type::Optional(inner)) => Datum::some(Datum::of(program, value, inner)),
            (Value::Number(number), _) => Datum::Number(fit(kind, *number)),
            (Value::Bytes(bytes), _) => Datum::Bytes(bytes.clone()),
            (Value::Record(values), Type::Record(record)) => {
                let fields = values.iter().zip(&program.records[record.at()].fields);
                let one = |(value, field): (&Value, &Field)| Datum::of(program, value, &field.kind);
                Datum::Record(fields.map(one).collect())
            }
            (Value::Record(_), _) => panic!("the checker gives a record's value the type of one"),
        }
    }

    /// An optional that is there.
    pub fn some(value: Datum) -> Datum {
        Datum::Optional(Some(Box::new(value)))
    }

    /// What a place of a type holds that nothing was written to.
    pub fn empty(program: &Program, kind: &Type) -> Datum {
        match kind {
            Type::Unsigned(_)
            | Type::Signed(_)
            | Type::Bool
            | Type::Sequence(_)
            | Type::Time
            | Type::Enum(_)
            | Type::Instance(_) => Datum::Number(0),
            Type::Bytes(length) => Datum::Bytes(vec![0; *length as usize]),
            Type::BoundedBytes(_) => Datum::Bytes(Vec::new()),
            Type::Record(record) if program.records[record.at()].external => {
                Datum::Bytes(Vec::new())
            }
            Type::Record(record) => {
                let fields = &program.records[record.at()].fields;
                let empty = |field| Datum::empty(program, field);
                Datum::Record(fields.iter().map(|field| empty(&field.kind)).collect())
            }
            Type::Optional(_) => Datum::Optional(None),
            Type::Queue(_, capacity) => Datum::Queue(Ring::new(*capacity as usize)),
            Type::Window(_, width, capacity) => {
                Datum::Window(Window::new(*capacity, largest(*width)))
            }
            Type::Stream(position, capacity) => Datum::Stream(Pieces {
                bytes: Stream::new(*capacity, largest(width(program, position))),
                came_in: 0,
            }),
            Type::Array(element, length) => {
                Datum::Array(vec![Datum::empty(program, element); *length as usize])
            }
            Type::Set(capacity) => Datum::Set(Set::new(*capacity)),
            Type::Message
            | Type::Header(_)
            | Type::Abstract(_)
            | Type::UnboundedBytes
            | Type::Nothing => Datum::Absent,
        }
    }

    /// Begins as a value: all elements of an array do, a stream begins at its position, and a
    /// window at its lower edge.
    pub fn begin(&mut self, value: Datum) {
        match self {
            Datum::Stream(stream) => stream.bytes.restart(value.number() as u32),
            Datum::Window(window) => window.begin(value.number() as u32),
            Datum::Array(elements) => elements.iter_mut().for_each(|one| *one = value.clone()),
            place => *place = value,
        }
    }

    /// The number that it is.
    pub fn number(&self) -> u64 {
        match self {
            Datum::Number(number) => *number,
            Datum::Absent
            | Datum::Bytes(_)
            | Datum::Optional(_)
            | Datum::Record(_)
            | Datum::Array(_)
            | Datum::Message(_)
            | Datum::Header(_)
            | Datum::Queue(_)
            | Datum::Window(_)
            | Datum::Stream(_)
            | Datum::Set(_) => panic!("the checker has seen a number here, not {self:?}"),
        }
    }

    /// Whether it is true.
    pub fn is_true(&self) -> bool {
        self.number() != 0
    }

    /// The message that it is, if it has not moved away.
    pub fn message(&self) -> &Message {
        match self {
            Datum::Message(message) => message,
            Datum::Absent
            | Datum::Number(_)
            | Datum::Bytes(_)
            | Datum::Optional(_)
            | Datum::Record(_)
            | Datum::Array(_)
            | Datum::Header(_)
            | Datum::Queue(_)
            | Datum::Window(_)
            | Datum::Stream(_)
            | Datum::Set(_) => panic!("the checker has seen a message here, not {self:?}"),
        }
    }

    /// The message that it is, which moves away.
    pub fn take_message(&mut self) -> Message {
        match std::mem::replace(self, Datum::Absent) {
            Datum::Message(message) => *message,
            other => panic!("the checker has seen a message here, not {other:?}"),
        }
    }
}

/// A number as it fits its type: cut to its width, or extended by its sign.
pub fn fit(kind: &Type, number: u64) -> u64 {
    match kind {
        Type::Unsigned(width) | Type::Sequence(width) => number & mask(*width),
        Type::Signed(width) => {
            let beyond = 64 - u32::from(*width);
            ((number << beyond) as i64 >> beyond) as u64
        }
        Type::Bool => number & 1,
        Type::Bytes(_)
        | Type::BoundedBytes(_)
        | Type::UnboundedBytes
        | Type::Time
        | Type::Enum(_)
        | Type::Record(_)
        | Type::Optional(_)
        | Type::Message
        | Type::Queue(..)
        | Type::Window(..)
        | Type::Stream(..)
        | Type::Array(..)
        | Type::Set(_)
        | Type::Instance(_)
        | Type::Header(_)
        | Type::Abstract(_)
        | Type::Nothing => number,
    }
}

/// Bits of a number's type.
pub fn width(program: &Program, kind: &Type) -> u8 {
    match kind {
        Type::Unsigned(width) | Type::Signed(width) | Type::Sequence(width) => *width,
        Type::Bool => 1,
        Type::Enum(id) => program.enums[id.at()].width,
        Type::Time
        | Type::Bytes(_)
        | Type::BoundedBytes(_)
        | Type::UnboundedBytes
        | Type::Record(_)
        | Type::Optional(_)
        | Type::Message
        | Type::Queue(..)
        | Type::Window(..)
        | Type::Stream(..)
        | Type::Array(..)
        | Type::Set(_)
        | Type::Instance(_)
        | Type::Header(_)
        | Type::Abstract(_)
        | Type::Nothing => 64,
    }
}

/// All bits of a width.
pub fn mask(width: u8) -> u64 {
    u64::MAX >> (64 - u32::from(width))
}

/// The order of two numbers of one type: modular for sequences, that of writing for enums.
pub fn compare(program: &Program, kind: &Type, one: u64, other: u64) -> Ordering {
    match kind {
        Type::Signed(_) => (one as i64).cmp(&(other as i64)),
        Type::Sequence(width) => {
            let ahead = fit(&Type::Signed(*width), one.wrapping_sub(other));
            (ahead as i64).cmp(&0)
        }
        Type::Enum(id) => {
            let names = &program.enums[id.at()].names;
            let rank = |number: u64| {
                let place = names.iter().position(|(_, value)| *value == number);
                place.unwrap_or(names.len())
            };
            rank(one).cmp(&rank(other))
        }
        Type::Unsigned(_)
        | Type::Bool
        | Type::Time
        | Type::Bytes(_)
        | Type::BoundedBytes(_)
        | Type::UnboundedBytes
        | Type::Record(_)
        | Type::Optional(_)
        | Type::Message
        | Type::Queue(..)
        | Type::Window(..)
        | Type::Stream(..)
        | Type::Array(..)
        | Type::Set(_)
        | Type::Instance(_)
        | Type::Header(_)
        | Type::Abstract(_)
        | Type::Nothing => one.cmp(&other),
    }
}

fn largest(width: u8) -> u32 {
    mask(width.min(32)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap_at_their_width() {
        assert_eq!(fit(&Type::Unsigned(8), 0x1ff), 0xff);
        assert_eq!(fit(&Type::Signed(8), 0x80), (-128_i64) as u64);
        assert_eq!(fit(&Type::Unsigned(64), u64::MAX), u64::MAX);
    }

    #[test]
    fn sequences_are_ordered_modulo_their_width() {
        let program = Program::default();
        let order = |one, other| compare(&program, &Type::Sequence(8), one, other);
        assert_eq!(order(250, 3), Ordering::Less);
        assert_eq!(order(3, 250), Ordering::Greater);
        assert_eq!(order(0, 128), Ordering::Less);
        assert_eq!(order(7, 7), Ordering::Equal);
    }
}
