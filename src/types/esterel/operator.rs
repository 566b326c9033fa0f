//! Operators that stand for a function of a copy: `run M [function not / inverted]`.
//!
//! In: a sign, and the types that a copy declares for the function. Out: the operator, or a
//! diagnostic where it takes other types or gives another one.

use super::{Checker, Type};
use crate::diagnostic::{Diagnostic, Id};
use crate::syntax::esterel::ast::{Binary, Name, Unary};

/// An operator of one operand or of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Unary(Unary),
    Binary(Binary),
}

impl Operator {
    /// Returns true if operands may be of this type.
    pub fn takes(self, kind: Type) -> bool {
        let is_number = matches!(kind, Type::Integer | Type::Float | Type::Double);
        match self {
            Operator::Unary(Unary::Not) | Operator::Binary(Binary::Or | Binary::And) => {
                kind == Type::Boolean
            }
            Operator::Binary(Binary::Equal | Binary::Unequal) => true,
            Operator::Binary(Binary::Modulo) => kind == Type::Integer,
            Operator::Unary(Unary::Negate)
            | Operator::Binary(
                Binary::Less
                | Binary::AtMost
                | Binary::Greater
                | Binary::AtLeast
                | Binary::Add
                | Binary::Subtract
                | Binary::Multiply
                | Binary::Divide,
            ) => is_number,
        }
    }

    /// Returns the type that it makes of operands of this type.
    pub fn result(self, kind: Type) -> Type {
        match self {
            Operator::Unary(_)
            | Operator::Binary(
                Binary::Or
                | Binary::And
                | Binary::Add
                | Binary::Subtract
                | Binary::Multiply
                | Binary::Divide
                | Binary::Modulo,
            ) => kind,
            Operator::Binary(
                Binary::Equal
                | Binary::Unequal
                | Binary::Less
                | Binary::AtMost
                | Binary::Greater
                | Binary::AtLeast,
            ) => Type::Boolean,
        }
    }
}

/// Returns the operator that a sign means before or between so many operands.
pub(super) fn operator(sign: &str, operands: usize) -> Option<Operator> {
    let binary = match (sign, operands) {
        ("not", 1) => return Some(Operator::Unary(Unary::Not)),
        ("-", 1) => return Some(Operator::Unary(Unary::Negate)),
        ("+", 2) => Binary::Add,
        ("-", 2) => Binary::Subtract,
        ("*", 2) => Binary::Multiply,
        ("/", 2) => Binary::Divide,
        ("mod", 2) => Binary::Modulo,
        ("=", 2) => Binary::Equal,
        ("<>", 2) => Binary::Unequal,
        ("<", 2) => Binary::Less,
        ("<=", 2) => Binary::AtMost,
        (">", 2) => Binary::Greater,
        (">=", 2) => Binary::AtLeast,
        ("and", 2) => Binary::And,
        ("or", 2) => Binary::Or,
        _ => return None,
    };
    Some(Operator::Binary(binary))
}

/// Returns true if this is the sign of an operator, and no name.
pub(super) fn is_sign(text: &str) -> bool {
    [1, 2].iter().any(|count| operator(text, *count).is_some())
}

/// Returns true if an operator can stand for a function with these types; reports it otherwise.
pub(super) fn stands_for(
    checker: &mut Checker,
    sign: &str,
    name: &Name,
    parameters: &[Type],
    result: Type,
) -> bool {
    let fits = operator(sign, parameters.len()).is_some_and(|operator| {
        let kind = parameters[0];
        let is_one = parameters.iter().all(|other| *other == kind);
        is_one && operator.takes(kind) && operator.result(kind) == result
    });
    if !fits {
        let title = format!("`{sign}` cannot replace `{}`", name.text);
        let label = "the types do not match";
        checker.report(Diagnostic::error(Id::TypeMismatch, title, name.span, label));
    }
    fits
}
