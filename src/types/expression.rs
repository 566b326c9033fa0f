//! Expressions of the checked program; state trees use them as they are.

use super::process::Presence;
use super::program::{
    AttributeId, ConfigId, FieldId, FilterId, FunctionId, HeaderFieldId, HeaderId, KeyId, KindId,
    LocalId, RecordId, TimerId,
};
use super::value::{Type, Value};

/// The instance that a statement or expression is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Instance {
    /// The one whose instant it is. State trees do not have it: they bind each instance.
    Own,
    /// The record of an entity (the kind that is named beside it says which).
    Entity,
    /// One that was found or created.
    Local(LocalId),
    /// One that always exists. Only in state trees.
    Only(u32),
}

/// A place that can be read and, if it is a field or a function's local, written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Variable {
    /// A field of an instance; the kind says of which table.
    Field(Instance, KindId, FieldId),
    /// A local.
    Local(LocalId),
    /// An element of an array or of bytes; the index is in range (refused or guarded before).
    Element(Box<Variable>, Box<Expression>),
    /// A field of a record.
    Part(Box<Variable>, RecordId, FieldId),
}

/// An expression: what it computes, and of which type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Expression {
    /// What it computes.
    pub kind: Box<ExpressionKind>,
    /// Its type.
    pub result: Type,
}

impl Expression {
    /// An expression of a type.
    pub fn new(kind: ExpressionKind, result: Type) -> Expression {
        Expression {
            kind: Box::new(kind),
            result,
        }
    }

    /// A constant.
    pub fn constant(value: Value, result: Type) -> Expression {
        Expression::new(ExpressionKind::Constant(value), result)
    }

    /// A number.
    pub fn number(number: u64, result: Type) -> Expression {
        Expression::constant(Value::Number(number), result)
    }

    /// What a local holds.
    pub fn local(local: LocalId, result: Type) -> Expression {
        Expression::new(ExpressionKind::Read(Variable::Local(local)), result)
    }

    /// Whether it asks for a signal.
    pub fn asks(&self) -> bool {
        let itself = matches!(*self.kind, ExpressionKind::Signal(_));
        itself || self.parts().into_iter().any(Expression::asks)
    }

    /// Two operands.
    pub fn binary(operator: Binary, a: Expression, b: Expression, result: Type) -> Expression {
        Expression::new(ExpressionKind::Binary(operator, a, b), result)
    }

    /// Whether it holds, where that is a constant: no number is less than the least of its type, or
    /// greater than the greatest.
    pub fn truth(&self) -> Option<bool> {
        match &*self.kind {
            ExpressionKind::Constant(Value::Number(number)) => Some(*number != 0),
            ExpressionKind::Binary(operator, left, right) => {
                let ((least, most), (low, high)) = (left.range()?, right.range()?);
                match operator {
                    Binary::Less => always(most < low, least >= high),
                    Binary::AtMost => always(most <= low, least > high),
                    Binary::Greater => always(least > high, most <= low),
                    Binary::AtLeast => always(least >= high, most < low),
                    Binary::Equal => always(false, most < low || least > high),
                    Binary::Unequal => always(most < low || least > high, false),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The least and the greatest number that it can be, by its type; of what was made wider, by
    /// the type that it had.
    fn range(&self) -> Option<(i128, i128)> {
        let of_type = match self.result {
            Type::Unsigned(width) => (0, (1 << width) - 1),
            Type::Time => (0, (1 << 64) - 1),
            Type::Signed(width) => (-(1 << (width - 1)), (1 << (width - 1)) - 1),
            _ => return None,
        };
        let known = match &*self.kind {
            ExpressionKind::Constant(Value::Number(number)) => match self.result {
                Type::Signed(_) => Some(i128::from(*number as i64)),
                _ => Some(i128::from(*number)),
            }
            .map(|number| (number, number)),
            ExpressionKind::Cast(inner) => inner
                .range()
                .filter(|(least, most)| of_type.0 <= *least && *most <= of_type.1),
            _ => None,
        };
        Some(known.unwrap_or(of_type))
    }

    /// Whether keys have these values.
    pub fn all_equal(keys: &[Expression], values: &[Value]) -> Expression {
        let same = keys.iter().zip(values).map(|(key, value)| key.is(value));
        same.fold(Expression::number(1, Type::Bool), |all, one| {
            match (all.truth(), one.truth()) {
                (Some(true), _) | (_, Some(false)) => one,
                (Some(false), _) | (_, Some(true)) => all,
                (None, None) => Expression::binary(Binary::And, all, one, Type::Bool),
            }
        })
    }

    /// Whether a key has this value; that it is none needs no comparison.
    fn is(&self, value: &Value) -> Expression {
        match (value, &*self.kind) {
            (Value::None, ExpressionKind::Some(_)) => Expression::number(0, Type::Bool),
            (Value::None, ExpressionKind::Constant(known)) => {
                Expression::number(u64::from(*known == Value::None), Type::Bool)
            }
            (Value::None, _) => {
                let present = Expression::new(ExpressionKind::Present(self.clone()), Type::Bool);
                Expression::new(ExpressionKind::Unary(Unary::Not, present), Type::Bool)
            }
            (Value::Number(_) | Value::Bytes(_) | Value::Record(_), _) => {
                let value = Expression::constant(value.clone(), self.result.clone());
                Expression::binary(Binary::Equal, self.clone(), value, Type::Bool)
            }
        }
    }
}

/// What an expression computes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ExpressionKind {
    /// A constant.
    Constant(Value),
    /// A value set at start.
    Config(ConfigId),
    /// A field, local, element or part.
    Read(Variable),
    /// A key of an instance.
    Key(Instance, KindId, KeyId),
    /// A field of the header that the instant's `deliver` stripped.
    Header(HeaderId, HeaderFieldId),
    /// A field of a header that was peeked at.
    Peeked(LocalId, HeaderId, HeaderFieldId),
    /// Whether an optional field or an option of the header is there.
    HeaderPresent(HeaderId, HeaderFieldId),
    /// The same of a header that was peeked at.
    PeekedPresent(LocalId, HeaderId, HeaderFieldId),
    /// Whether the options of the header keep their rules, and end with it.
    OptionsHold(HeaderId),
    /// An attribute of a message.
    Attribute(LocalId, AttributeId),
    /// Bytes of a message.
    Length(LocalId),
    /// The length of bounded bytes.
    BytesLength(Expression),
    /// A byte of bounded bytes; the index is less than their length (guarded before).
    ByteAt(Expression, Expression),
    /// Fixed or bounded bytes as bounded bytes, of a bound that is no smaller.
    Bounded(Expression),
    /// Within a `checks` or `counts` of a header that is written or read: bytes of header and data.
    WholeLength,
    /// The session below that is asked, where it comes and goes; its kind is the type. Of state
    /// trees only in the sums of headers.
    Below,
    /// The time of the instant.
    Now,
    /// One operand.
    Unary(Unary, Expression),
    /// Two operands of one type, but for shifts; `and` and `or` read the right one if needed.
    Binary(Binary, Expression, Expression),
    /// One of two.
    If(Expression, Expression, Expression),
    /// An optional that is there.
    Some(Expression),
    /// An optional's value, known to be there.
    Unwrap(Expression),
    /// Whether an optional is there.
    Present(Expression),
    /// An optional's value, or another.
    Else(Expression, Expression),
    /// To another type of numbers: widened by its own sign, or cut to its width.
    Cast(Expression),
    /// A function of values.
    Call(FunctionId, Vec<Expression>),
    /// The least or greatest of two, by the order of their type.
    Least(Expression, Expression),
    /// The greatest.
    Greatest(Expression, Expression),
    /// Something a container can tell.
    Query(Query),
    /// What a filter makes of a message's data.
    Through(FilterId, Vec<Expression>, LocalId),
    /// Whether signals are present, or were in the instant before. Only in conditions of processes.
    Signal(Presence),
}

/// What a container or timer can tell.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Query {
    /// Whether a queue holds nothing.
    IsEmpty(Variable),
    /// Whether a window or set has this number.
    Has(Variable, Expression),
    /// The first number of a window, or none.
    First(Variable),
    /// Whether so many bytes of a stream are there from a position on.
    Covers(Variable, Expression, Expression),
    /// How many bytes of a stream are there from a position on.
    Ready(Variable, Expression),
    /// The position where a stream begins.
    Begin(Variable),
    /// The position after a stream's last byte.
    End(Variable),
    /// Whether a timer runs.
    Running(Instance, KindId, TimerId),
    /// Whether there is an instance of a dynamic kind with these keys.
    Exists(KindId, Vec<Expression>),
    /// Whether an instance is found no more, though its slot is not free yet. Trees only.
    Ended(Instance, KindId),
    /// Whether another step may be taken behind one more answer to the host: nothing waits, the
    /// budget of the call allows it, and there is room for its own answer. Trees only.
    GoesOn,
    /// Puts a number in a set, and tells whether it is new.
    InsertSet(Variable, Expression),
    /// Lets a stream begin at a position, and tells how many bytes have left it.
    Release(Variable, Expression),
}

/// Operators of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// `not`.
    Not,
    /// `-`, wrapping.
    Negate,
    /// `~`.
    Complement,
    /// The multiplicative inverse in GF(256); 0 of 0.
    Inverse,
}

/// Operators of two operands; numbers wrap at the width of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Binary {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
    BitOr,
    BitXor,
    BitAnd,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// What is so at all times, or never.
fn always(holds: bool, fails: bool) -> Option<bool> {
    (holds || fails).then_some(holds)
}

impl Binary {
    /// The same comparison with its sides exchanged.
    pub fn mirrored(self) -> Binary {
        match self {
            Binary::Less => Binary::Greater,
            Binary::AtMost => Binary::AtLeast,
            Binary::Greater => Binary::Less,
            Binary::AtLeast => Binary::AtMost,
            other => other,
        }
    }

    /// How it is written.
    pub fn sign(self) -> &'static str {
        match self {
            Binary::Or => "or",
            Binary::And => "and",
            Binary::Equal => "==",
            Binary::Unequal => "!=",
            Binary::Less => "<",
            Binary::AtMost => "<=",
            Binary::Greater => ">",
            Binary::AtLeast => ">=",
            Binary::BitOr => "|",
            Binary::BitXor => "^",
            Binary::BitAnd => "&",
            Binary::ShiftLeft => "<<",
            Binary::ShiftRight => ">>",
            Binary::Add => "+",
            Binary::Subtract => "-",
            Binary::Multiply => "*",
            Binary::Divide => "/",
            Binary::Remainder => "%",
        }
    }
}
