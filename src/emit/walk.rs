//! What an expression is made of.

use super::Stack;
use crate::c::tree::Statement;
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
        | Kind::BytesLength(_)
        | Kind::ByteAt(..)
        | Kind::Bounded(_)
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

/// Whether a C compiler may know what a value is, and warn of what never happens: it is made of
/// nothing but constants, and locals that may be such.
pub fn may_be_known(expression: &Expression) -> bool {
    let mut known = true;
    each(expression, &mut |part| {
        let is_asked = match &*part.kind {
            Kind::Read(variable) => !matches!(variable, Variable::Local(_)),
            Kind::Constant(_) => false,
            _ => part.parts().is_empty(),
        };
        known &= !is_asked;
    });
    known
}

/// What is done where no case of a `switch` holds. Compilers miss a case where they know the value.
pub fn default_of(value: &Expression, body: Vec<Statement>) -> Option<Vec<Statement>> {
    (!body.is_empty() || may_be_known(value)).then_some(body)
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
