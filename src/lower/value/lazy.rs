//! Expressions that can always be evaluated: in, an expression; out, whether it traps, calls or
//! changes anything where it is not needed.

use crate::types::expression::{Binary, Expression, ExpressionKind as Kind, Query, Variable};
use crate::types::program::{HeaderFieldId, HeaderId, Program};
use crate::types::value::Type;

/// Returns true if evaluating an expression where it is not needed does no harm: it cannot fail,
/// and changes nothing.
pub fn is_total(program: &Program, expression: &Expression) -> bool {
    let itself = match &*expression.kind {
        Kind::Constant(_)
        | Kind::Config(_)
        | Kind::Key(..)
        | Kind::Attribute(..)
        | Kind::Length(_)
        | Kind::WholeLength
        | Kind::Below
        | Kind::Now
        | Kind::Unary(..)
        | Kind::If(..)
        | Kind::Some(_)
        | Kind::Unwrap(_)
        | Kind::Present(_)
        | Kind::Else(..)
        | Kind::Cast(_)
        | Kind::BytesLength(_)
        | Kind::Bounded(_)
        | Kind::Least(..)
        | Kind::Greatest(..) => true,
        Kind::Read(variable) => is_in_range(variable),
        Kind::Header(header, field) | Kind::Peeked(_, header, field) => {
            is_always_there(program, *header, *field)
        }
        Kind::Binary(operator, ..) => !matches!(operator, Binary::Divide | Binary::Remainder),
        Kind::HeaderPresent(..)
        | Kind::PeekedPresent(..)
        | Kind::OptionsHold(_)
        | Kind::ByteAt(..)
        | Kind::Call(..)
        | Kind::Through(..)
        | Kind::Signal(_) => false,
        Kind::Query(query) => match query {
            Query::IsEmpty(_)
            | Query::Has(..)
            | Query::First(_)
            | Query::Covers(..)
            | Query::Ready(..)
            | Query::Begin(_)
            | Query::End(_)
            | Query::Running(..)
            | Query::Ended(..)
            | Query::GoesOn => true,
            Query::Exists(..) | Query::InsertSet(..) | Query::Release(..) => false,
        },
    };
    itself
        && expression
            .parts()
            .into_iter()
            .all(|part| is_total(program, part))
}

/// Returns true for a number of an option that can be read though the option may be absent: it is
/// then read of the first bytes of the header, which are always there.
pub fn is_option_in_reach(program: &Program, expression: &Expression) -> bool {
    let (Kind::Header(header, field) | Kind::Peeked(_, header, field)) = &*expression.kind else {
        return false;
    };
    let declared = &program.headers[header.at()];
    let of = declared.field(*field);
    let is_number = !matches!(of.kind, Type::Bytes(_) | Type::BoundedBytes(_));
    is_number && declared.option_of(*field).is_some() && of.bit + of.width <= 8 * declared.least
}

/// Returns true if a variable has no element whose index might be out of range.
fn is_in_range(variable: &Variable) -> bool {
    match variable {
        Variable::Field(..) | Variable::Local(_) => true,
        Variable::Element(..) => false,
        Variable::Part(record, ..) => is_in_range(record),
    }
}

/// Returns true if a field of a header stands in the part that is always there.
fn is_always_there(program: &Program, header: HeaderId, field: HeaderFieldId) -> bool {
    let header = &program.headers[header.at()];
    let of = header.field(field);
    header.option_of(field).is_none() && of.behind.is_empty() && !of.is_loose()
}
