//! When a sum that came is right: what its filter says comes in, the test goes out.

use crate::types::expression::{Binary, Expression};
use crate::types::header::Header;
use crate::types::program::{Filter, HeaderFieldId, Same};
use crate::types::value::Type;

/// Whether a field is right, of which it is known what the sum is, and how it is read.
pub fn is_right(
    (header, at): (&Header, HeaderFieldId),
    filter: &Filter,
    unless: Option<u64>,
    (sum, read): (Expression, Expression),
) -> Expression {
    let field = &header.fields[at.at()];
    let equal = |one, other| Expression::binary(Binary::Equal, one, other, Type::Bool);
    let number = |number| Expression::number(number, field.kind.clone());
    let or = |one, other| Expression::binary(Binary::Or, one, other, Type::Bool);
    let holds = match header.over_itself(at.at(), filter) {
        Some(is) => equal(sum, number(field.complemented(is))),
        None => {
            let result = equal(sum.clone(), read.clone());
            filter.same.iter().fold(result, |holds, same| match same {
                Same::Held(held, is) => {
                    let held = equal(read.clone(), number(*held));
                    let is = equal(sum.clone(), number(*is));
                    or(holds, Expression::binary(Binary::And, held, is, Type::Bool))
                }
                Same::Itself(_) => holds,
            })
        }
    };
    match unless {
        Some(none) => or(equal(read, number(none)), holds),
        None => holds,
    }
}
