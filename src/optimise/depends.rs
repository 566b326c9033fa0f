//! On what of a message a value depends: its headers, its length, its attributes.
//!
//! In: a value, and a step of a message. Out: whether the step may change it.

use crate::tree::Action;
use crate::types::expression::{Binary, Expression, ExpressionKind, Query, Unary, Variable};
use crate::types::program::{AttributeId, HeaderId};
use crate::types::value::{Type, Value};

/// Whether a step of a message may change a value.
pub fn concerns(action: &Action, value: &Expression) -> bool {
    match action {
        Action::Let(_, bound) => bound.result == Type::Message && is_of_length(value),
        Action::Sum { .. } | Action::Scan { .. } => false,
        Action::SetAttribute(_, attribute, _) => is_of_attribute(*attribute, value),
        Action::Strip(_, header) => is_of_length(value) || is_of_header(*header, value),
        _ => is_of_length(value),
    }
}

/// Whether a value looks at a header.
fn is_of_header(header: HeaderId, value: &Expression) -> bool {
    let itself = match &*value.kind {
        ExpressionKind::Header(other, _)
        | ExpressionKind::HeaderPresent(other, _)
        | ExpressionKind::OptionsHold(other) => *other == header,
        _ => false,
    };
    let mut parts = value.parts().into_iter();
    itself || parts.any(|part| is_of_header(header, part))
}

/// Whether a value looks at an attribute of a message.
fn is_of_attribute(attribute: AttributeId, value: &Expression) -> bool {
    let itself = match &*value.kind {
        ExpressionKind::Attribute(_, other) => *other == attribute,
        ExpressionKind::Call(..) | ExpressionKind::Through(..) => true,
        _ => false,
    };
    let mut parts = value.parts().into_iter();
    itself || parts.any(|part| is_of_attribute(attribute, part))
}

/// Whether an expression looks at a message; a function may.
pub fn is_of_message(expression: &Expression) -> bool {
    let itself = matches!(
        *expression.kind,
        ExpressionKind::Header(..)
            | ExpressionKind::HeaderPresent(..)
            | ExpressionKind::OptionsHold(_)
            | ExpressionKind::Peeked(..)
            | ExpressionKind::PeekedPresent(..)
            | ExpressionKind::Attribute(..)
            | ExpressionKind::Length(_)
            | ExpressionKind::WholeLength
            | ExpressionKind::Below
            | ExpressionKind::Call(..)
            | ExpressionKind::Through(..)
    );
    itself || expression.parts().into_iter().any(is_of_message)
}

/// Whether a value looks at a message, but not at a header that was stripped.
pub fn is_of_length(value: &Expression) -> bool {
    match &*value.kind {
        ExpressionKind::Header(..)
        | ExpressionKind::HeaderPresent(..)
        | ExpressionKind::OptionsHold(_) => false,
        _ if value.parts().is_empty() => is_of_message(value),
        ExpressionKind::Call(..) | ExpressionKind::Through(..) => true,
        _ => value.parts().into_iter().any(is_of_length),
    }
}

/// Whether a value, and each part of it, can be found whatever else holds.
pub fn is_total(value: &Expression) -> bool {
    is_found(value, None)
}

/// Whether a value can be found whatever else holds: what it takes out of an optional it has seen
/// there.
pub fn is_safe(value: &Expression) -> bool {
    is_found(value, Some(&[]))
}

/// The same, where these are seen to be there; none if no part may lean on another.
fn is_found(value: &Expression, seen: Option<&[&Expression]>) -> bool {
    match &*value.kind {
        ExpressionKind::Binary(operator @ (Binary::And | Binary::Or), one, other) => {
            let holds = *operator == Binary::And;
            let more = seen.map(|seen| [seen, &shown(one, holds)].concat());
            is_found(one, seen) && is_found(other, more.as_deref())
        }
        ExpressionKind::If(asked, one, other) => {
            let more = |holds| seen.map(|seen| [seen, &shown(asked, holds)].concat());
            is_found(asked, seen)
                && is_found(one, more(true).as_deref())
                && is_found(other, more(false).as_deref())
        }
        ExpressionKind::Unwrap(of) => {
            seen.is_some_and(|seen| seen.contains(&of)) && is_found(of, seen)
        }
        ExpressionKind::Read(Variable::Field(..) | Variable::Local(_))
        | ExpressionKind::Constant(_)
        | ExpressionKind::Config(_)
        | ExpressionKind::Key(..)
        | ExpressionKind::Header(..)
        | ExpressionKind::HeaderPresent(..)
        | ExpressionKind::Attribute(..)
        | ExpressionKind::Length(_)
        | ExpressionKind::Now
        | ExpressionKind::Unary(..)
        | ExpressionKind::Some(_)
        | ExpressionKind::Present(_)
        | ExpressionKind::Else(..)
        | ExpressionKind::Cast(_)
        | ExpressionKind::Query(Query::IsEmpty(_) | Query::Begin(_) | Query::End(_))
        | ExpressionKind::Least(..)
        | ExpressionKind::Greatest(..) => parts_are_found(value, seen),
        ExpressionKind::Binary(operator, _, by) => {
            let divides = matches!(operator, Binary::Divide | Binary::Remainder);
            let is_number = matches!(*by.kind, ExpressionKind::Constant(Value::Number(1..)));
            (!divides || is_number) && parts_are_found(value, seen)
        }
        _ => false,
    }
}

fn parts_are_found(value: &Expression, seen: Option<&[&Expression]>) -> bool {
    let mut parts = value.parts().into_iter();
    parts.all(|part| is_found(part, seen))
}

/// What is there if a condition holds, or if it does not.
fn shown(condition: &Expression, holds: bool) -> Vec<&Expression> {
    match &*condition.kind {
        ExpressionKind::Present(of) if holds => vec![of],
        ExpressionKind::Unary(Unary::Not, inner) => shown(inner, !holds),
        ExpressionKind::Binary(Binary::And, one, other) if holds => {
            [shown(one, holds), shown(other, holds)].concat()
        }
        ExpressionKind::Binary(Binary::Or, one, other) if !holds => {
            [shown(one, holds), shown(other, holds)].concat()
        }
        _ => Vec::new(),
    }
}
