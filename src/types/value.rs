//! Types and constant values.

use super::program::{EnumId, HeaderId, KindId, RecordId};

/// Types of values, of fields and of locals.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// `u1` to `u64`.
    Unsigned(u8),
    /// `i8` to `i64`.
    Signed(u8),
    /// True or false.
    Bool,
    /// `seq8`, `seq16`, `seq32`: ordered modulo its width.
    Sequence(u8),
    /// Nanoseconds: a duration, or the time since an epoch of the host's.
    Time,
    /// So many bytes.
    Bytes(u32),
    /// `bytes[at most N]`: a length, and as many bytes.
    BoundedBytes(u32),
    /// A part of a header without a bound: it is skipped, and has no value. No expression has it.
    UnboundedBytes,
    /// An enum.
    Enum(EnumId),
    /// A record.
    Record(RecordId),
    /// A value, or none.
    Optional(Box<Type>),
    /// A message (a local, or what a container holds).
    Message,
    /// `queue<T>[N]`.
    Queue(Box<Type>, u32),
    /// `window<T>[N]` by a modular number of this width.
    Window(Box<Type>, u8, u32),
    /// `stream<P>[N]`: N bytes by positions of type P.
    Stream(Box<Type>, u32),
    /// `array<T>[N]`.
    Array(Box<Type>, u32),
    /// `set[N]`.
    Set(u32),
    /// An instance found or created.
    Instance(KindId),
    /// A header that was peeked at.
    Header(HeaderId),
    /// What a layer checked alone does not know: `type address` of a service it requires.
    Abstract(String),
    /// Nothing: of statements, and of expressions that a diagnostic refused.
    Nothing,
}

impl Type {
    /// Whether it is a container of messages.
    pub fn holds_messages(&self) -> bool {
        match self {
            Type::Queue(of, _) | Type::Window(of, ..) => **of == Type::Message,
            Type::Stream(..) => true,
            Type::Unsigned(_)
            | Type::Signed(_)
            | Type::Bool
            | Type::Sequence(_)
            | Type::Time
            | Type::Bytes(_)
            | Type::BoundedBytes(_)
            | Type::UnboundedBytes
            | Type::Enum(_)
            | Type::Record(_)
            | Type::Optional(_)
            | Type::Message
            | Type::Array(..)
            | Type::Set(_)
            | Type::Instance(_)
            | Type::Header(_)
            | Type::Abstract(_)
            | Type::Nothing => false,
        }
    }
}

/// A constant value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// Unsigned, sequence, enum, bool (0 or 1) and time; signed as two's complement of 64 bits.
    Number(u64),
    /// Bytes.
    Bytes(Vec<u8>),
    /// An optional's none.
    None,
    /// A record's fields, in order.
    Record(Vec<Value>),
}
