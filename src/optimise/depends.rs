//! On what of a message a value depends: its headers, its length, its attributes.
//!
//! In: a value, and a step of a message. Out: whether the step may change it.

use crate::tree::Action;
use crate::types::expression::{Binary, Expression, ExpressionKind, Variable};
use crate::types::program::{AttributeId, HeaderId};
use crate::types::value::Type;

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

/// Whether a value can be found whatever else holds.
pub fn is_total(value: &Expression) -> bool {
    let itself = match &*value.kind {
        ExpressionKind::Read(Variable::Field(..) | Variable::Local(_))
        | ExpressionKind::Constant(_)
        | ExpressionKind::Config(_)
        | ExpressionKind::Key(..)
        | ExpressionKind::Header(..)
        | ExpressionKind::HeaderPresent(..)
        | ExpressionKind::Attribute(..)
        | ExpressionKind::Length(_)
        | ExpressionKind::Unary(..)
        | ExpressionKind::If(..)
        | ExpressionKind::Present(_)
        | ExpressionKind::Cast(_)
        | ExpressionKind::Least(..)
        | ExpressionKind::Greatest(..) => true,
        ExpressionKind::Binary(operator, ..) => {
            !matches!(operator, Binary::Divide | Binary::Remainder)
        }
        _ => false,
    };
    itself && value.parts().into_iter().all(is_total)
}
