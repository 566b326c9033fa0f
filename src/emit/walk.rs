//! What an expression is made of.

use super::Stack;
use crate::types::expression::{Expression, ExpressionKind as Kind, Query, Variable};

/// Calls `visit` for an expression and for all that stand within it.
pub fn each(expression: &Expression, visit: &mut dyn FnMut(&Expression)) {
    visit(expression);
    for part in expression.parts() {
        each(part, visit);
    }
}

/// The expressions that say which element a variable is.
pub fn indices(variable: &Variable, visit: &mut dyn FnMut(&Expression)) {
    for index in variable.indices() {
        each(index, visit);
    }
}

/// The variable that an expression reads or asks something, if it is about one.
pub fn variable(expression: &Expression) -> Option<&Variable> {
    match &*expression.kind {
        Kind::Read(variable) => Some(variable),
        Kind::Query(query) => match query {
            Query::Has(variable, _)
            | Query::Ready(variable, _)
            | Query::InsertSet(variable, _)
            | Query::Release(variable, _)
            | Query::Covers(variable, ..)
            | Query::IsEmpty(variable)
            | Query::First(variable)
            | Query::Begin(variable)
            | Query::End(variable) => Some(variable),
            Query::Running(..) | Query::Exists(..) | Query::Ended(..) | Query::GoesOn => None,
        },
        Kind::Constant(_)
        | Kind::Config(_)
        | Kind::Key(..)
        | Kind::Header(..)
        | Kind::Peeked(..)
        | Kind::HeaderPresent(..)
        | Kind::PeekedPresent(..)
        | Kind::OptionsHold(_)
        | Kind::Attribute(..)
        | Kind::Length(_)
        | Kind::WholeLength
        | Kind::Below
        | Kind::Now
        | Kind::Signal(_)
        | Kind::Unary(..)
        | Kind::Some(_)
        | Kind::Unwrap(_)
        | Kind::Present(_)
        | Kind::Cast(_)
        | Kind::Binary(..)
        | Kind::Else(..)
        | Kind::Least(..)
        | Kind::Greatest(..)
        | Kind::If(..)
        | Kind::Call(..)
        | Kind::Through(..) => None,
    }
}

/// The field or local that a variable is, or is a part of.
pub fn base(variable: &Variable) -> &Variable {
    match variable {
        Variable::Field(..) | Variable::Local(_) => variable,
        Variable::Element(inner, _) | Variable::Part(inner, ..) => base(inner),
    }
}

/// Whether computing a value does something.
pub fn has_effects(stack: &Stack, expression: &Expression) -> bool {
    let mut found = false;
    each(expression, &mut |part| {
        found |= match &*part.kind {
            Kind::Query(Query::InsertSet(..) | Query::Release(..)) => true,
            Kind::Call(id, _) => stack.program.functions[id.at()].calls_c,
            _ => false,
        };
    });
    found
}
