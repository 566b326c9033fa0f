//! Types of values.

use super::ids::{KindId, OpaqueId};
use std::fmt;

/// The type of an SSA value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// `iN`: a number of 1 to 64 bits. It has no sign; operations have.
    Int(u8),
    /// `bytes N`: so many bytes, as one value.
    Bytes(u32),
    /// `inst K`: the index of an instance of a kind that has a state.
    Instance(KindId),
    /// `msg`: the handle of a message. Linear: each path uses it up exactly once.
    Message,
    /// `view`: bytes that may be read: those of a message, or a part of them.
    View,
    /// `f32` or `f64`: a number of IEEE 754 of so many bits.
    Float(u8),
    /// `opaque NAME`: a value of a type that only C knows. It is used before the place from which
    /// it was loaded is written again, since its content may still stand there.
    Opaque(OpaqueId),
}

impl Type {
    /// `i1`: 0 or 1.
    pub const BIT: Type = Type::Int(1);
    /// `i8`: a byte.
    pub const BYTE: Type = Type::Int(8);
    /// `i32`: lengths, offsets and indices.
    pub const WORD: Type = Type::Int(32);
    /// `i64`: times in nanoseconds.
    pub const TIME: Type = Type::Int(64);

    /// Returns true for handles, which each path uses up exactly once.
    pub fn is_linear(self) -> bool {
        matches!(self, Type::Message)
    }

    /// The bits of a number; none of what is no number.
    pub fn bits(self) -> Option<u8> {
        match self {
            Type::Int(bits) => Some(bits),
            Type::Bytes(_)
            | Type::Instance(_)
            | Type::Message
            | Type::View
            | Type::Float(_)
            | Type::Opaque(_) => None,
        }
    }
}

/// All ones in so many bits, 1 to 64.
pub fn ones(bits: u8) -> u64 {
    u64::MAX >> (64 - u32::from(bits))
}

/// As a number of so many bits is read by an operation with a sign.
pub fn signed(number: u64, bits: u8) -> i64 {
    let beyond = 64 - u32::from(bits);
    (number << beyond) as i64 >> beyond
}

/// The names of kinds and opaque types are known to the module alone, so they are printed by their
/// numbers.
impl fmt::Display for Type {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Int(bits) => write!(out, "i{bits}"),
            Type::Bytes(length) => write!(out, "bytes {length}"),
            Type::Instance(kind) => write!(out, "inst {}", kind.0),
            Type::Message => out.write_str("msg"),
            Type::View => out.write_str("view"),
            Type::Float(bits) => write!(out, "f{bits}"),
            Type::Opaque(of) => write!(out, "opaque {}", of.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_a_sign_where_it_is_asked_for() {
        assert_eq!(ones(1), 1);
        assert_eq!(ones(64), u64::MAX);
        assert_eq!(signed(0xff, 8), -1);
        assert_eq!(signed(0x7f, 8), 127);
        assert_eq!(signed(u64::MAX, 64), -1);
    }
}
