//! The operators and predefined functions of Pascal (ISO 7185, 6.6.6 and 6.7.2).

use super::Machine;
use crate::simulate::estelle::fault::{Fault, FaultKind, Faulty};
use crate::simulate::estelle::value::Value;
use crate::source::Span;
use crate::types::estelle::program::{
    BinaryOperator, Expression, MAXINT, Predefined, UnaryOperator,
};
use std::cmp::Ordering;

impl Machine<'_, '_> {
    /// Applies an operator with one operand.
    pub(super) fn unary(
        &self,
        operator: UnaryOperator,
        operand: Value,
        whole: &Expression,
    ) -> Faulty<Value> {
        match (operator, operand) {
            (UnaryOperator::Not, Value::Ordinal(number)) => Ok(Value::boolean(number == 0)),
            (UnaryOperator::Minus, Value::Ordinal(number)) => integer(-number, whole.span),
            (UnaryOperator::Minus, Value::Real(number)) => real(-number, whole.span),
            (UnaryOperator::Plus, operand) => Ok(operand),
            (UnaryOperator::Not | UnaryOperator::Minus, _) => unfit(whole.span),
        }
    }

    /// Applies an operator to two values. `and` and `or` of two values are complete here.
    pub(super) fn operate(
        &self,
        operator: BinaryOperator,
        left: Value,
        right: Value,
        whole: &Expression,
    ) -> Faulty<Value> {
        let span = whole.span;
        match (operator, &left, &right) {
            (BinaryOperator::Equal, _, _) => same(&left, &right, span).map(Value::boolean),
            (BinaryOperator::Unequal, _, _) => {
                same(&left, &right, span).map(|same| Value::boolean(!same))
            }
            (BinaryOperator::In, Value::Ordinal(number), Value::Set(set)) => {
                let is_member = (0..256).contains(number)
                    && set[(number / 64) as usize] >> (number % 64) & 1 == 1;
                Ok(Value::boolean(is_member))
            }
            (_, Value::Ordinal(left), Value::Ordinal(right)) => {
                ordinals(operator, *left, *right, span)
            }
            (_, Value::Real(left), Value::Real(right)) => reals(operator, *left, *right, span),
            (_, Value::Set(left), Value::Set(right)) => sets(operator, left, right, span),
            (_, Value::Array(left), Value::Array(right)) => {
                let order = text_order(left, right, span)?;
                compared(operator, Some(order), span)
            }
            _ => unfit(span),
        }
    }

    /// Applies a predefined function.
    pub(super) fn predefined(
        &self,
        function: Predefined,
        operand: Value,
        whole: &Expression,
    ) -> Faulty<Value> {
        let span = whole.span;
        match (function, operand) {
            (Predefined::Ord, Value::Ordinal(number)) => Ok(Value::Ordinal(number)),
            (Predefined::Chr, Value::Ordinal(number)) => {
                let number = self.in_range(number, whole.type_id, span)?;
                Ok(Value::Ordinal(number))
            }
            (Predefined::Succ, Value::Ordinal(number)) => {
                let number = self.in_range(number + 1, whole.type_id, span)?;
                Ok(Value::Ordinal(number))
            }
            (Predefined::Pred, Value::Ordinal(number)) => {
                let number = self.in_range(number - 1, whole.type_id, span)?;
                Ok(Value::Ordinal(number))
            }
            (Predefined::Abs, Value::Ordinal(number)) => integer(number.abs(), span),
            (Predefined::Abs, Value::Real(number)) => real(number.abs(), span),
            (Predefined::Sqr, Value::Ordinal(number)) => integer(number * number, span),
            (Predefined::Sqr, Value::Real(number)) => real(number * number, span),
            (Predefined::Odd, Value::Ordinal(number)) => Ok(Value::boolean(number % 2 != 0)),
            (Predefined::Trunc, Value::Real(number)) => from_real(number.trunc(), span),
            (Predefined::Round, Value::Real(number)) => from_real(number.round(), span),
            _ => unfit(span),
        }
    }
}

/// Integers, booleans, characters and enumeration values.
fn ordinals(operator: BinaryOperator, left: i64, right: i64, span: Span) -> Faulty<Value> {
    match operator {
        BinaryOperator::Add => integer(left + right, span),
        BinaryOperator::Subtract => integer(left - right, span),
        BinaryOperator::Multiply => integer(left * right, span),
        BinaryOperator::Divide => reals(operator, left as f64, right as f64, span),
        BinaryOperator::Div if right == 0 => Fault::err(FaultKind::Division, "by zero", span),
        BinaryOperator::Div => integer(left / right, span),
        BinaryOperator::Mod if right <= 0 => {
            let says = format!("`mod` by {right}, which is not above zero");
            Fault::err(FaultKind::Division, says, span)
        }
        BinaryOperator::Mod => integer(left.rem_euclid(right), span),
        BinaryOperator::And => Ok(Value::boolean(left != 0 && right != 0)),
        BinaryOperator::Or => Ok(Value::boolean(left != 0 || right != 0)),
        BinaryOperator::Equal
        | BinaryOperator::Unequal
        | BinaryOperator::Less
        | BinaryOperator::LessOrEqual
        | BinaryOperator::Greater
        | BinaryOperator::GreaterOrEqual => compared(operator, Some(left.cmp(&right)), span),
        BinaryOperator::In => unfit(span),
    }
}

fn reals(operator: BinaryOperator, left: f64, right: f64, span: Span) -> Faulty<Value> {
    match operator {
        BinaryOperator::Add => real(left + right, span),
        BinaryOperator::Subtract => real(left - right, span),
        BinaryOperator::Multiply => real(left * right, span),
        BinaryOperator::Divide if right == 0.0 => Fault::err(FaultKind::Division, "by zero", span),
        BinaryOperator::Divide => real(left / right, span),
        BinaryOperator::Equal
        | BinaryOperator::Unequal
        | BinaryOperator::Less
        | BinaryOperator::LessOrEqual
        | BinaryOperator::Greater
        | BinaryOperator::GreaterOrEqual => compared(operator, left.partial_cmp(&right), span),
        BinaryOperator::Div
        | BinaryOperator::Mod
        | BinaryOperator::And
        | BinaryOperator::Or
        | BinaryOperator::In => unfit(span),
    }
}

fn sets(operator: BinaryOperator, left: &[u64; 4], right: &[u64; 4], span: Span) -> Faulty<Value> {
    let each = |join: fn(u64, u64) -> u64| {
        let mut set = [0; 4];
        for (at, word) in set.iter_mut().enumerate() {
            *word = join(left[at], right[at]);
        }
        Ok(Value::Set(Box::new(set)))
    };
    let within = |inner: &[u64; 4], outer: &[u64; 4]| {
        let mut words = inner.iter().zip(outer);
        Ok(Value::boolean(
            words.all(|(inner, outer)| inner & !outer == 0),
        ))
    };
    match operator {
        BinaryOperator::Add => each(|left, right| left | right),
        BinaryOperator::Subtract => each(|left, right| left & !right),
        BinaryOperator::Multiply => each(|left, right| left & right),
        BinaryOperator::LessOrEqual => within(left, right),
        BinaryOperator::GreaterOrEqual => within(right, left),
        BinaryOperator::Divide
        | BinaryOperator::Div
        | BinaryOperator::Mod
        | BinaryOperator::And
        | BinaryOperator::Or
        | BinaryOperator::Equal
        | BinaryOperator::Unequal
        | BinaryOperator::Less
        | BinaryOperator::Greater
        | BinaryOperator::In => unfit(span),
    }
}

/// The outcome of a comparison, given the order of the operands.
fn compared(operator: BinaryOperator, order: Option<Ordering>, span: Span) -> Faulty<Value> {
    match operator.holds(order) {
        Some(holds) => Ok(Value::boolean(holds)),
        None => unfit(span),
    }
}

/// Equality; parts without a value are faults.
fn same(left: &Value, right: &Value, span: Span) -> Faulty<bool> {
    match (left, right) {
        (Value::Undefined, _) | (_, Value::Undefined) => {
            let says = "a part that is compared has no value yet";
            Fault::err(FaultKind::Uninitialised, says, span)
        }
        (Value::Array(left), Value::Array(right)) | (Value::Record(left), Value::Record(right)) => {
            for (left, right) in left.iter().zip(right) {
                if !same(left, right, span)? {
                    return Ok(false);
                }
            }
            Ok(left.len() == right.len())
        }
        (left, right) => Ok(left == right),
    }
}

/// The order of two strings, by their first different character.
fn text_order(left: &[Value], right: &[Value], span: Span) -> Faulty<Ordering> {
    for (left, right) in left.iter().zip(right) {
        let (Value::Ordinal(left), Value::Ordinal(right)) = (left, right) else {
            let says = "a character that is compared has no value yet";
            return Fault::err(FaultKind::Uninitialised, says, span);
        };
        if left != right {
            return Ok(left.cmp(right));
        }
    }
    Ok(left.len().cmp(&right.len()))
}

fn integer(number: i64, span: Span) -> Faulty<Value> {
    match (-MAXINT..=MAXINT).contains(&number) {
        true => Ok(Value::Ordinal(number)),
        false => {
            let says = format!("{number} is beyond {MAXINT}, the largest integer");
            Fault::err(FaultKind::Overflow, says, span)
        }
    }
}

fn real(number: f64, span: Span) -> Faulty<Value> {
    match number.is_finite() {
        true => Ok(Value::Real(number)),
        false => Fault::err(FaultKind::Overflow, "a result beyond the reals", span),
    }
}

fn from_real(number: f64, span: Span) -> Faulty<Value> {
    match number.abs() <= MAXINT as f64 {
        true => Ok(Value::Ordinal(number as i64)),
        false => {
            let says = format!("{number:?} is beyond {MAXINT}, the largest integer");
            Fault::err(FaultKind::Overflow, says, span)
        }
    }
}

/// A checked specification has no such operands: the fault is here so that nothing panics.
fn unfit<T>(span: Span) -> Faulty<T> {
    let says = "a value of another type is needed here";
    Fault::err(FaultKind::Uninitialised, says, span)
}
