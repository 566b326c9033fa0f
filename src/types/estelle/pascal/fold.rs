//! Values of constant expressions.
//!
//! In: a checked expression, and values of the names of `any`. Out: its value, or the reason why
//! none is known. `maxint - 1` is 2147483646; `maxint + 1` overflows.

use super::super::program::MAXINT;
use super::super::program::{
    BinaryOperator, Expression, ExpressionKind, Place, Predefined, Root, UnaryOperator,
};
use crate::source::Span;
use std::cmp::Ordering;

/// The value of a constant expression.
#[derive(Clone, PartialEq, Debug)]
pub enum Literal {
    /// A value of an ordinal type.
    Ordinal(i64),
    /// A real number.
    Real(f64),
    /// A string.
    Text(Vec<u8>),
}

impl Literal {
    /// Returns the literal as an expression.
    pub fn kind(self) -> ExpressionKind {
        match self {
            Literal::Ordinal(value) => ExpressionKind::Ordinal(value),
            Literal::Real(value) => ExpressionKind::Real(value),
            Literal::Text(value) => ExpressionKind::Text(value),
        }
    }
}

/// The reason why an expression has no known value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Unknown {
    /// It depends on something that is known at run time only.
    Variable(Span),
    /// A result is beyond the range of its type.
    Overflow(Span),
    /// A divisor is zero or negative.
    Division(Span),
}

/// Computes the value of an expression. `any` holds the values of the first locals of the frame.
pub fn fold(expression: &Expression, any: &[i64]) -> Result<Literal, Unknown> {
    let span = expression.span;
    match &expression.kind {
        ExpressionKind::Ordinal(value) => Ok(Literal::Ordinal(*value)),
        ExpressionKind::Real(value) => Ok(Literal::Real(*value)),
        ExpressionKind::Text(value) => Ok(Literal::Text(value.clone())),
        ExpressionKind::Read(place) => {
            let value = bound(place, any).map(Literal::Ordinal);
            value.ok_or(Unknown::Variable(span))
        }
        ExpressionKind::Unary(operator, operand) => unary(*operator, fold(operand, any)?, span),
        ExpressionKind::Binary(operator, left, right) => {
            let left = fold(left, any)?;
            match (operator, &left) {
                (BinaryOperator::And, Literal::Ordinal(0))
                | (BinaryOperator::Or, Literal::Ordinal(1)) => Ok(left),
                _ => binary(*operator, left, fold(right, any)?, span),
            }
        }
        ExpressionKind::ToReal(operand) => match fold(operand, any)? {
            Literal::Ordinal(value) => Ok(Literal::Real(value as f64)),
            other @ (Literal::Real(_) | Literal::Text(_)) => Ok(other),
        },
        ExpressionKind::Predefined(function, operand) => {
            predefined(*function, fold(operand, any)?, span)
        }
        ExpressionKind::Call(..) | ExpressionKind::Set(_) | ExpressionKind::Exist(..) => {
            Err(Unknown::Variable(span))
        }
    }
}

/// Returns the value of a name of `any`.
fn bound(place: &Place, any: &[i64]) -> Option<i64> {
    match &place.root {
        Root::Local(_, local) if place.steps.is_empty() => any.get(*local).copied(),
        Root::Local(..) | Root::Module(_) | Root::Exported(..) => None,
    }
}

fn unary(operator: UnaryOperator, value: Literal, span: Span) -> Result<Literal, Unknown> {
    match (operator, value) {
        (UnaryOperator::Not, Literal::Ordinal(value)) => Ok(Literal::Ordinal(1 - value)),
        (UnaryOperator::Minus, Literal::Ordinal(value)) => integer(value.checked_neg(), span),
        (UnaryOperator::Minus, Literal::Real(value)) => Ok(Literal::Real(-value)),
        (UnaryOperator::Plus, value) => Ok(value),
        (UnaryOperator::Not | UnaryOperator::Minus, _) => Err(Unknown::Variable(span)),
    }
}

/// An integer within the range of `integer`.
fn integer(value: Option<i64>, span: Span) -> Result<Literal, Unknown> {
    match value {
        Some(value) if (-MAXINT..=MAXINT).contains(&value) => Ok(Literal::Ordinal(value)),
        _ => Err(Unknown::Overflow(span)),
    }
}

/// A finite real number.
fn real(value: f64, span: Span) -> Result<Literal, Unknown> {
    match value.is_finite() {
        true => Ok(Literal::Real(value)),
        false => Err(Unknown::Overflow(span)),
    }
}

fn binary(
    operator: BinaryOperator,
    left: Literal,
    right: Literal,
    span: Span,
) -> Result<Literal, Unknown> {
    match (left, right) {
        (Literal::Ordinal(left), Literal::Ordinal(right)) => ordinals(operator, left, right, span),
        (Literal::Real(left), Literal::Real(right)) => reals(operator, left, right, span),
        (Literal::Text(left), Literal::Text(right)) => {
            compared(operator, Some(left.cmp(&right)), span)
        }
        _ => Err(Unknown::Variable(span)),
    }
}

fn ordinals(
    operator: BinaryOperator,
    left: i64,
    right: i64,
    span: Span,
) -> Result<Literal, Unknown> {
    let divisor = |is_allowed: bool| match is_allowed {
        true => Ok(right),
        false => Err(Unknown::Division(span)),
    };
    match operator {
        BinaryOperator::Add => integer(left.checked_add(right), span),
        BinaryOperator::Subtract => integer(left.checked_sub(right), span),
        BinaryOperator::Multiply => integer(left.checked_mul(right), span),
        BinaryOperator::Div => integer(left.checked_div(divisor(right != 0)?), span),
        BinaryOperator::Mod => integer(left.checked_rem_euclid(divisor(right > 0)?), span),
        BinaryOperator::And => Ok(Literal::Ordinal(left & right)),
        BinaryOperator::Or => Ok(Literal::Ordinal(left | right)),
        BinaryOperator::Divide | BinaryOperator::In => Err(Unknown::Variable(span)),
        BinaryOperator::Equal
        | BinaryOperator::Unequal
        | BinaryOperator::Less
        | BinaryOperator::LessOrEqual
        | BinaryOperator::Greater
        | BinaryOperator::GreaterOrEqual => compared(operator, Some(left.cmp(&right)), span),
    }
}

fn reals(operator: BinaryOperator, left: f64, right: f64, span: Span) -> Result<Literal, Unknown> {
    match operator {
        BinaryOperator::Add => real(left + right, span),
        BinaryOperator::Subtract => real(left - right, span),
        BinaryOperator::Multiply => real(left * right, span),
        BinaryOperator::Divide if right == 0.0 => Err(Unknown::Division(span)),
        BinaryOperator::Divide => real(left / right, span),
        BinaryOperator::Div
        | BinaryOperator::Mod
        | BinaryOperator::And
        | BinaryOperator::Or
        | BinaryOperator::In => Err(Unknown::Variable(span)),
        BinaryOperator::Equal
        | BinaryOperator::Unequal
        | BinaryOperator::Less
        | BinaryOperator::LessOrEqual
        | BinaryOperator::Greater
        | BinaryOperator::GreaterOrEqual => compared(operator, left.partial_cmp(&right), span),
    }
}

fn compared(
    operator: BinaryOperator,
    ordering: Option<Ordering>,
    span: Span,
) -> Result<Literal, Unknown> {
    let ordering = ordering.ok_or(Unknown::Variable(span))?;
    let holds = operator.holds(Some(ordering));
    let holds = holds.ok_or(Unknown::Variable(span))?;
    Ok(Literal::Ordinal(i64::from(holds)))
}

fn predefined(function: Predefined, value: Literal, span: Span) -> Result<Literal, Unknown> {
    match (function, value) {
        (Predefined::Ord, value) => Ok(value),
        (Predefined::Chr, Literal::Ordinal(value)) => match value {
            0..=255 => Ok(Literal::Ordinal(value)),
            _ => Err(Unknown::Overflow(span)),
        },
        // The type of the operand, which may end before `maxint`, is checked where it is assigned.
        (Predefined::Succ, Literal::Ordinal(value)) => integer(value.checked_add(1), span),
        (Predefined::Pred, Literal::Ordinal(value)) => integer(value.checked_sub(1), span),
        (Predefined::Abs, Literal::Ordinal(value)) => integer(value.checked_abs(), span),
        (Predefined::Sqr, Literal::Ordinal(value)) => integer(value.checked_mul(value), span),
        (Predefined::Odd, Literal::Ordinal(value)) => Ok(Literal::Ordinal(value & 1)),
        (Predefined::Abs, Literal::Real(value)) => Ok(Literal::Real(value.abs())),
        (Predefined::Sqr, Literal::Real(value)) => real(value * value, span),
        (Predefined::Trunc, Literal::Real(value)) => whole(value.trunc(), span),
        (Predefined::Round, Literal::Real(value)) => whole(value.round(), span),
        (
            Predefined::Chr
            | Predefined::Succ
            | Predefined::Pred
            | Predefined::Abs
            | Predefined::Sqr
            | Predefined::Odd
            | Predefined::Trunc
            | Predefined::Round,
            _,
        ) => Err(Unknown::Variable(span)),
    }
}

/// A whole real number as an integer.
fn whole(value: f64, span: Span) -> Result<Literal, Unknown> {
    match value.abs() <= MAXINT as f64 {
        true => Ok(Literal::Ordinal(value as i64)),
        false => Err(Unknown::Overflow(span)),
    }
}
