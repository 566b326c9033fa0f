//! Headers: bytes on the wire.

use super::{Expression, Name, Notes, Type};
use crate::source::Span;

/// `header quotation big { … }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// Its documentation.
    pub notes: Notes,
    /// What it is called; the layer's own header has no name.
    pub name: Option<Name>,
    /// Which byte of a number comes first.
    pub order: ByteOrder,
    /// What it is made of, in the order of the wire.
    pub parts: Vec<HeaderPart>,
    /// All of it.
    pub span: Span,
}

/// Which byte of a number comes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ByteOrder {
    /// The highest.
    Big,
    /// The lowest.
    Little,
}

/// A part of a header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HeaderPart {
    /// A number, or bytes.
    Field(HeaderField),
    /// Parts that say themselves which they are.
    Options(HeaderOptions),
}

impl HeaderPart {
    /// All of it.
    pub fn span(&self) -> Span {
        match self {
            HeaderPart::Field(field) => field.span,
            HeaderPart::Options(options) => options.span,
        }
    }
}

/// `ttl: u8 = message.ttl`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeaderField {
    /// Its documentation.
    pub notes: Notes,
    /// What it is called.
    pub name: Name,
    /// Its type.
    pub of: Type,
    /// What is written into it, or required of it.
    pub rule: Option<HeaderRule>,
    /// `where`: what must hold when it is read.
    pub constraint: Option<Expression>,
    /// `if`: when it is there at all.
    pub condition: Option<Expression>,
    /// All of it.
    pub span: Span,
}

/// What is written into a field of a header, or required of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HeaderRule {
    /// `= e`: written unless `with` says otherwise; anything is read.
    Written(Expression),
    /// `is e`: written, and required.
    Required(Expression),
    /// `counts ranges in e`: the length of the ranges.
    Counts {
        /// What is counted.
        ranges: Vec<HeaderRange>,
        /// How many bytes one unit has; none: one.
        unit: Option<Expression>,
    },
    /// `checks ranges through f(…) or e unless e`: the result of a filter over the ranges.
    Checks {
        /// What is summed.
        ranges: Vec<HeaderRange>,
        /// The filter, with its arguments.
        filter: Expression,
        /// The value that says that nothing was summed.
        absent: Option<Expression>,
        /// Where nothing is summed at all.
        left: Option<Expression>,
    },
}

/// A part of a message that a field counts or checks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HeaderRange {
    /// `header`: all of this header.
    Header(Span),
    /// `data`: all that follows this header.
    Data(Span),
    /// `option`: the option in which this field stands.
    Option(Span),
    /// `first..last`: from one field to another, both included.
    Fields {
        /// The first.
        first: Name,
        /// The last.
        last: Name,
    },
}

/// `options by u8 { case 0 end … else { length: u8 counts option } }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeaderOptions {
    /// Its documentation.
    pub notes: Notes,
    /// The type of what tells them apart.
    pub by: Type,
    /// Whether a malformed one ends them, and the header is taken all the same.
    pub until_malformed: bool,
    /// Those that are known.
    pub cases: Vec<OptionCase>,
    /// The fields of all others; without them they are refused.
    pub otherwise: Option<Vec<HeaderField>>,
    /// All of it.
    pub span: Span,
}

impl HeaderOptions {
    /// What those that have fields are called.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.cases.iter().filter_map(|case| match &case.kind {
            OptionKind::Fields { name, .. } => Some(name),
            OptionKind::End | OptionKind::Padding => None,
        })
    }
}

/// `case 2 largest { length: u8 is 4, size: u16 }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OptionCase {
    /// Its documentation.
    pub notes: Notes,
    /// What tells it from the others.
    pub value: Expression,
    /// What it is.
    pub kind: OptionKind,
    /// All of it.
    pub span: Span,
}

/// What an option of a header is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OptionKind {
    /// Nothing follows it.
    End,
    /// It stands for nothing.
    Padding,
    /// It holds fields.
    Fields {
        /// What it is called.
        name: Name,
        /// What follows the number that tells it from the others.
        fields: Vec<HeaderField>,
    },
}
