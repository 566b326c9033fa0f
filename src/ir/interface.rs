//! The host's side of a stack: links, ports, settings, attributes, functions in C.
//!
//! Values of a host have a [`Shape`]; inside the stack each is a list of plain values, its parts,
//! in the order of [`Shape::parts`]. An optional value is a bit and the parts of the value, bounded
//! bytes are a length and bytes filled with zeros, a record is the parts of its fields.

use super::ids::{AttributeId, FieldId, FunctionId, KindId, OpaqueId};
use super::op::Op;
use super::types::Type;

/// A value as a host and the sources see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A number of so many bits, with a sign or without.
    Number {
        /// Bits.
        bits: u8,
        /// True if it has a sign.
        signed: bool,
    },
    /// True or false.
    Bool,
    /// Nanoseconds of a clock, in 64 bits.
    Time,
    /// A fixed number of bytes.
    Bytes(u32),
    /// Bytes, at most this number of them.
    Bounded(u32),
    /// A value or none.
    Optional(Box<Shape>),
    /// The name of a record, and its fields in order, with their names.
    Record(String, Vec<(String, Shape)>),
    /// A fixed number of values of one shape.
    Array(Box<Shape>, u32),
    /// Bytes whose meaning only C knows: a record type of this name.
    Foreign(String),
    /// A number with a fraction, of so many bits.
    Float(u8),
    /// A value of a type that only C knows.
    Opaque(OpaqueId),
}

impl Shape {
    /// The plain values of which it consists; those of an array stand element by element.
    pub fn parts(&self) -> Vec<Type> {
        match self {
            Shape::Number { bits, .. } => vec![Type::Int(*bits)],
            Shape::Bool => vec![Type::BIT],
            Shape::Time => vec![Type::Int(64)],
            Shape::Bytes(length) => vec![Type::Bytes(*length)],
            Shape::Bounded(most) => vec![Type::WORD, Type::Bytes(*most)],
            Shape::Optional(value) => {
                let mut parts = vec![Type::BIT];
                parts.extend(value.parts());
                parts
            }
            Shape::Record(_, fields) => {
                let fields = fields.iter();
                fields.flat_map(|(_, shape)| shape.parts()).collect()
            }
            Shape::Array(element, length) => {
                let parts = element.parts();
                let all = std::iter::repeat_n(parts, *length as usize);
                all.flatten().collect()
            }
            Shape::Foreign(_) => Vec::new(),
            Shape::Float(bits) => vec![Type::Float(*bits)],
            Shape::Opaque(of) => vec![Type::Opaque(*of)],
        }
    }
}

/// A name and a shape: a parameter, a key, an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name.
    pub name: String,
    /// The shape.
    pub shape: Shape,
}

/// A value set at the start, as a host gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingOfHost {
    /// Its name and shape.
    pub named: Named,
    /// The parts that it has unless a host says otherwise, numbers and bytes; empty if all are
    /// zero.
    pub default: Vec<Op>,
}

/// Names of numbers that a host sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enum {
    /// Its name.
    pub name: String,
    /// Bits of its values.
    pub bits: u8,
    /// Its values, in order of writing.
    pub values: Vec<EnumValue>,
}

/// A value of an enum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumValue {
    /// Its name.
    pub name: String,
    /// The number.
    pub number: u64,
    /// The hexadecimal digits with which the sources write it; 0 if they are decimal.
    pub digits: u8,
}

/// The memory of a stack: sizes, and the settings with which it starts unless a host says
/// otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Bytes of the longest message, without headers before it.
    pub room: u32,
    /// Buffers for messages.
    pub buffers: u32,
    /// Buffers that frames and applications leave to the stack.
    pub reserve: u32,
    /// Outputs that may wait for the host.
    pub outputs: u32,
    /// Events that may wait on the agenda, without those that always have a place.
    pub events: u32,
    /// The fewest of these with which the stack can start.
    pub least_events: u32,
    /// Places on the agenda for events that always have one.
    pub kept: u32,
}

/// The bottom of a stack: frames come in and leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its name.
    pub name: String,
    /// The function in C that is called with each frame that leaves; without, the host asks.
    pub calls: Option<String>,
    /// A frame leaves in two parts: the second may stand in a stream.
    pub gathers: bool,
    /// The reaction to a frame: `msg`.
    pub arrives: FunctionId,
    /// Its fast function is given frames where they stand, be it in memory of the host.
    pub in_place: bool,
    /// Tells that the link is up or down: `i1`. It puts events on the agenda, behind all else.
    pub carrier: Option<FunctionId>,
}

/// The top of a stack, at which an application sits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// The function in C that is called with what comes up; without, the host asks.
    pub calls: Option<String>,
    /// The session that a conversation is about.
    pub session: Conversation,
    /// The reaction to a message: `index, msg`; none where an application sends no messages.
    pub sends: Option<FunctionId>,
    /// Bytes of the longest message that an application may send.
    pub longest: u32,
    /// True if the bytes of such a message are copied to streams, and not used otherwise.
    pub is_copied: bool,
    /// The opening of a conversation; none where all exist from the start.
    pub opens: Option<Opening>,
    /// The opening of a listener.
    pub listens: Option<Opening>,
    /// Attributes that are given with what an application sends, and told with what comes up.
    pub attributes: Vec<AttributeOfHost>,
    /// Notices that come up.
    pub up: Vec<Notice>,
    /// Notices that an application tells.
    pub down: Vec<Notice>,
    /// The notice among `down` whose argument a called function gives back.
    pub grants: Option<u32>,
}

impl Port {
    /// Returns the reaction to what a called function gives back.
    pub fn granted(&self) -> Option<FunctionId> {
        self.down[self.grants? as usize].handled
    }
}

/// An attribute of messages, as an application sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeOfHost {
    /// Its name and shape.
    pub named: Named,
    /// The service or layer that declares it.
    pub owner: String,
    /// The attributes that hold its parts, in order.
    pub parts: Vec<AttributeId>,
}

/// The session below a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// Its kind.
    pub kind: KindId,
    /// The index of the conversation with this number: always the same, or so much more.
    pub index: Numbered,
}

/// The instance for which a number of a host stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbered {
    /// The number is 0, and the instance always this one.
    Only(u32),
    /// The number, which is less than the second, and so much more.
    From(u32, u32),
}

/// The opening of conversations, or of listeners.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The kind that is made.
    pub kind: KindId,
    /// Its keys; of each whether it may be left out.
    pub keys: Vec<(Named, bool)>,
    /// `given i1 for each key that may be left out, parts of all keys.. -> i1, index`: makes an
    /// instance, and puts what follows on the agenda, behind all else. Of a listener the backlog
    /// comes last.
    pub opens: FunctionId,
    /// `index`: ends a listener; what follows goes on the agenda, behind all else.
    pub closes: Option<FunctionId>,
    /// The number of events that an instance may need on the agenda.
    pub events: u32,
}

/// A notice at a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Its name.
    pub name: String,
    /// True if it carries a message.
    pub message: bool,
    /// Its parameters.
    pub parameters: Vec<Named>,
    /// The reaction to it: `index, msg?, arguments..`; none of one that comes up, or that nobody
    /// hears.
    pub handled: Option<FunctionId>,
}

/// The fields in which sessions are counted that wait to be accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listening {
    /// The index of the port among [`Module::ports`](super::Module::ports).
    pub port: super::ids::PortId,
    /// The listeners.
    pub listener: KindId,
    /// A listener's number of sessions that may wait.
    pub backlog: FieldId,
    /// A listener's number of sessions that wait.
    pub waiting: FieldId,
    /// The sessions.
    pub session: KindId,
    /// A session's bit: it waits.
    pub waits: FieldId,
    /// A session's bit: the application has not heard of it.
    pub unknown: FieldId,
    /// The listener of a session that waits; all ones if that has ended.
    pub made_by: FieldId,
    /// The notice among [`Port::up`] in whose place a session is accepted; without, it is accepted
    /// when it is made.
    pub opened: Option<u32>,
}

/// A type that only C knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opaque {
    /// Its name in C.
    pub name: String,
    /// The room that memory has for one, if its values are texts; others are assigned by the
    /// function `_NAME` of C.
    pub room: Option<Room>,
}

/// The room that memory has for a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    /// The name that C has for the number of bytes.
    pub name: String,
    /// Bytes, with the zero behind a text. A longer text is cut.
    pub bytes: u32,
}

/// A function that a host calls by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Its name in C.
    pub name: String,
    /// Its parameters.
    pub parameters: Vec<Named>,
    /// Its result; none if it only does something.
    pub result: Option<Shape>,
    /// The function, whose parameters are the parts of these.
    pub calls: FunctionId,
}

/// The C in which a function stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// That of the host of a stack, by the name of the stack and its own; it is given the pointer
    /// that the host has set.
    Host,
    /// The same; it is given the stack too, and may call exports, so any field may change.
    Reentrant,
    /// The runtime.
    Runtime,
    /// Any other, by its own name.
    Program,
    /// Any other, and it is no function but a value, by its own name.
    Constant,
}

impl Home {
    /// Returns true for a function of the host.
    pub fn is_host(self) -> bool {
        match self {
            Home::Host | Home::Reentrant => true,
            Home::Runtime | Home::Program | Home::Constant => false,
        }
    }
}

/// A function in C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// Its name.
    pub name: String,
    /// The C in which it stands.
    pub home: Home,
    /// Its parameters, with their names.
    pub parameters: Vec<(String, Given)>,
    /// Its result; none if it only does something.
    pub result: Option<Shape>,
}

/// An argument of a function in C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// A value, by its parts.
    Value(Shape),
    /// `view`: bytes that it reads.
    Data,
    /// `msg`: the bytes of a message, which it overwrites; as many remain.
    Rewritten,
    /// A place whose content only C knows, by the operands of that: a record type of this name.
    State(String),
    /// A value that it may change, by its parts: the changed value follows the result.
    Changed(Shape),
}
