//! Values and operators.

use super::{Likely, Name, Path, Type};
use crate::source::Span;

/// A value as it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expression {
    /// What it is.
    pub kind: ExpressionKind,
    /// All of it.
    pub span: Span,
}

/// The ways to write a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExpressionKind {
    /// `0xffff`
    Number(u64),
    /// `200 ms`, in nanoseconds
    Duration(u64),
    /// `true`, `false`
    Boolean(bool),
    /// `none`
    None,
    /// `now`
    Now,
    /// `message`, `header`, `room`
    Name(Name),
    /// `header.source`
    Field {
        /// Of what.
        of: Box<Expression>,
        /// Which.
        name: Name,
    },
    /// `held.pop()`
    Call {
        /// What is called.
        function: Box<Expression>,
        /// What it is given.
        arguments: Vec<Expression>,
    },
    /// `rows[i]`
    Index {
        /// Of what.
        of: Box<Expression>,
        /// Which.
        index: Box<Expression>,
    },
    /// `(a + b)`
    Group(Box<Expression>),
    /// `not a`
    Unary {
        /// What is done.
        operator: UnaryOperator,
        /// To what.
        operand: Box<Expression>,
    },
    /// `a + b`
    Binary {
        /// What is done.
        operator: BinaryOperator,
        /// To this.
        left: Box<Expression>,
        /// And this.
        right: Box<Expression>,
    },
    /// `a as u8`
    Cast {
        /// What.
        operand: Box<Expression>,
        /// As what.
        to: Type,
    },
    /// `a else b`
    Else {
        /// This, if it is there.
        value: Box<Expression>,
        /// Or else this.
        otherwise: Box<Expression>,
    },
    /// `message.data through xor_stream(key)`
    Through {
        /// The bytes.
        data: Box<Expression>,
        /// The filter with its arguments.
        filter: Box<Expression>,
    },
    /// `if c likely 10% { a } else { b }`
    If {
        /// What must hold.
        condition: Box<Expression>,
        /// How often it does.
        likely: Option<Likely>,
        /// The value then.
        then: Box<Expression>,
        /// The value otherwise.
        otherwise: Box<Expression>,
    },
    /// `find neighbour(next_hop)`
    Find(InstanceKey),
    /// `create neighbour(next_hop)`
    Create(InstanceKey),
    /// `find neighbour by expiry`, `find session(port) by half_open`
    FindByTimer {
        /// Of which kind it is, and what its first keys are.
        key: InstanceKey,
        /// Its timer; that of a process has its name before it.
        timer: Path,
    },
    /// `new message`, `new message(bytes, length)`
    New {
        /// The word `message`.
        name: Name,
        /// What it holds.
        arguments: Vec<Expression>,
    },
    /// `share message`
    Share(Box<Expression>),
    /// `[near, far]`: the joints that a router stands on.
    List(Vec<Expression>),
}

/// `neighbour(next_hop)`: an instance by its keys.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InstanceKey {
    /// `session`, or the name of a child.
    pub kind: Name,
    /// Its keys.
    pub keys: Vec<Expression>,
}

/// Operators before a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum UnaryOperator {
    /// `-`
    Negate,
    /// `~`
    Complement,
    /// `not`
    Not,
    /// `present`: there is a value; this instant has the signal
    Present,
    /// `pre`: the value before this instant
    Pre,
}

/// Operators between two values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum BinaryOperator {
    /// `or`
    Or,
    /// `and`
    And,
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// `&`
    BitAnd,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
}

/// Gives each operator the text that stands for it.
macro_rules! operators {
    ($type:ident: $($variant:ident $text:literal)*) => {
        impl $type {
            /// How it is written.
            pub fn text(self) -> &'static str {
                match self { $($type::$variant => $text,)* }
            }
        }
    };
}

operators! { UnaryOperator: Negate "-" Complement "~" Not "not" Present "present" Pre "pre" }
operators! { BinaryOperator:
    Or "or" And "and"
    Equal "==" Unequal "!=" Less "<" LessOrEqual "<=" Greater ">" GreaterOrEqual ">="
    BitOr "|" BitXor "^" BitAnd "&" ShiftLeft "<<" ShiftRight ">>"
    Add "+" Subtract "-" Multiply "*" Divide "/" Remainder "%"
}
