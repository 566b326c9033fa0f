//! Headers exactly as they are on the wire: where each field stands, and what becomes of it.
//!
//! Expressions of a header read its own fields as `ExpressionKind::Header` (on the way down: what
//! is being written) and the message as `LocalId::MESSAGE`; defaults may read the instance too.

use super::expression::Expression;
use super::program::{FilterId, HeaderFieldId, ReasonId};
use super::value::{Type, Value};
use crate::source::Span;

/// A header on the wire.
#[derive(Clone, Debug)]
pub struct Header {
    /// The layer's name, or its own where it is only peeked at.
    pub name: String,
    /// Whether the most significant byte, and bit, comes first.
    pub big: bool,
    /// In order on the wire.
    pub fields: Vec<HeaderField>,
    /// Bytes that are always there, before and after variable and optional fields together.
    pub least: u32,
    /// Bytes at most, when pushed.
    pub most: u32,
    /// The counter for `too_short`.
    pub too_short: Option<ReasonId>,
}

/// A field of a header.
#[derive(Clone, Debug)]
pub struct HeaderField {
    /// Its name.
    pub name: String,
    /// Its type: a number, bool, enum or fixed bytes; [`Type::Nothing`] for `NAME: bytes`, which
    /// goes up to the end that a `counts` gives the header, and is skipped.
    pub kind: Type,
    /// Bits from the start of the header, as far as they are fixed. In a big header bits count
    /// from the most significant of each byte, in a little one from the least.
    pub bit: u32,
    /// Bits wide; 0 for `NAME: bytes`.
    pub width: u32,
    /// The variable and optional fields before it, whose lengths add to `bit`.
    pub behind: Vec<HeaderFieldId>,
    /// What becomes of it.
    pub rule: Rule,
    /// `where`: what must hold of it (reads this header's fields), or `bad_FIELD`.
    pub constraint: Option<Expression>,
    /// `if`: when it is there at all.
    pub present: Option<Expression>,
    /// The counter for `bad_FIELD`, where something can be bad about it.
    pub bad: Option<ReasonId>,
    /// Where it is written.
    pub span: Span,
}

/// What the compiler does with a header field.
#[derive(Clone, Debug)]
pub enum Rule {
    /// Must be given in `with` (no default).
    Given,
    /// Written unless `with` says otherwise; anything is read. May read instance, attributes.
    Default(Expression),
    /// Written, and required.
    Is(Value),
    /// A length of ranges, in units of so many bytes: written; read, it cuts.
    Counts {
        /// What is counted.
        ranges: Ranges,
        /// Bytes a unit.
        unit: u32,
    },
    /// A sum over ranges; computed with this field as zero.
    Checks {
        /// What is summed.
        ranges: Ranges,
        /// By which filter.
        filter: FilterId,
        /// Its arguments; may read this header's fields and attributes.
        arguments: Vec<Expression>,
        /// A value that says that nothing was summed; a sum equal to it goes out complemented.
        unless: Option<u64>,
    },
}

/// Which bytes a length or sum is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranges {
    /// The header alone.
    Header,
    /// What follows the header.
    Data,
    /// Both.
    HeaderAndData,
    /// From the first byte of one field to the last of another.
    Between(HeaderFieldId, HeaderFieldId),
}
