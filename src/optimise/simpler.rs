//! A condition without what is known of it: parts that are constants, halves that settle nothing.
//!
//! In: an expression. Out: one that has the same value, and does the same where finding it does
//! something.

use super::value::Looks;
use crate::types::constant::fold_number;
use crate::types::expression::{Binary, Expression, ExpressionKind, Unary};
use crate::types::program::Program;
use crate::types::value::Type;

/// A condition without what is known of it.
pub fn simpler(program: &Program, condition: Expression) -> Expression {
    if let Some(number) = fold_number(program, &condition) {
        return Expression::number(number, condition.result);
    }
    let Expression { kind, result } = condition;
    match *kind {
        ExpressionKind::Binary(operator @ (Binary::And | Binary::Or), one, other) => {
            let (one, other) = (simpler(program, one), simpler(program, other));
            let settles = operator == Binary::Or;
            match (one.truth(), other.truth()) {
                (Some(truth), _) if truth == settles => one,
                (_, Some(truth)) if truth == settles && does_nothing(program, &one) => other,
                (_, Some(truth)) if truth == settles => {
                    Expression::binary(operator, one, other, result)
                }
                (Some(_), _) => other,
                (_, Some(_)) => one,
                (None, None) => Expression::binary(operator, one, other, result),
            }
        }
        ExpressionKind::Unary(Unary::Not, one) => {
            let one = simpler(program, one);
            Expression::new(ExpressionKind::Unary(Unary::Not, one), result)
        }
        kind => Expression::new(kind, result),
    }
}

/// Whether nothing is done where a value is found.
fn does_nothing(program: &Program, value: &Expression) -> bool {
    let looks = Looks::of(program, value);
    !looks.changes && !looks.calls_c
}

/// The condition that holds where this one does not.
pub fn negated(condition: Expression) -> Expression {
    let Expression { kind, result } = condition;
    let kind = match *kind {
        ExpressionKind::Unary(Unary::Not, inner) => return inner,
        ExpressionKind::Binary(Binary::And, one, other) => {
            ExpressionKind::Binary(Binary::Or, negated(one), negated(other))
        }
        ExpressionKind::Binary(Binary::Or, one, other) => {
            ExpressionKind::Binary(Binary::And, negated(one), negated(other))
        }
        ExpressionKind::Binary(operator, one, other) => match opposite(operator) {
            Some(opposite) => ExpressionKind::Binary(opposite, one, other),
            None => return not(ExpressionKind::Binary(operator, one, other), result),
        },
        ExpressionKind::If(asked, one, other) => {
            ExpressionKind::If(asked, negated(one), negated(other))
        }
        other => return not(other, result),
    };
    Expression::new(kind, result)
}

fn not(kind: ExpressionKind, result: Type) -> Expression {
    let inner = Expression::new(kind, result);
    match inner.truth() {
        Some(truth) => Expression::number(u64::from(!truth), Type::Bool),
        None => Expression::new(ExpressionKind::Unary(Unary::Not, inner), Type::Bool),
    }
}

/// What is true where a comparison is not.
pub fn opposite(operator: Binary) -> Option<Binary> {
    match operator {
        Binary::Equal => Some(Binary::Unequal),
        Binary::Unequal => Some(Binary::Equal),
        Binary::Less => Some(Binary::AtLeast),
        Binary::AtLeast => Some(Binary::Less),
        Binary::Greater => Some(Binary::AtMost),
        Binary::AtMost => Some(Binary::Greater),
        _computes => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline;
    use crate::tool::library::Folders;
    use crate::types::expression::{Instance, Query, Variable};
    use crate::types::program::{Field, FieldId, KindId};

    const SEES: &str = "
/// sees: counts each number once
worker sees

header big { number: u8 = 0 }

session { seen: set[256], news: u32 = 0 }

on deliver(message) {
    if seen.insert(header.number) { news += 1 }
    deliver message
}

on send(message) { send message }

stack all { link wire { sees { port talk } } }
";

    #[test]
    fn what_changes_something_is_found_though_it_settles_nothing() {
        let library = Folders { search: Vec::new() };
        let root = vec![("sees.loom".to_string(), SEES.to_string())];
        let mut checked = pipeline::read(root, &library);
        let (program, _) = pipeline::trees(&mut checked, "all").expect("it is a stack");
        let is_set = |field: &&Field| matches!(field.kind, Type::Set(..));
        let kinds = program.kinds.iter().enumerate();
        let mut sets = kinds.flat_map(|(kind, one)| {
            let fields = one.fields.iter().enumerate();
            fields
                .filter(|(_, field)| is_set(field))
                .map(move |(field, _)| (KindId(kind as u32), FieldId(field as u32)))
        });
        let (kind, field) = sets.next().expect("there is a set");
        let seen = Variable::Field(Instance::Own, kind, field);
        let number = Expression::number(1, Type::Unsigned(8));
        let insert = ExpressionKind::Query(Query::InsertSet(seen, number));
        let insert = Expression::new(insert, Type::Bool);
        let [yes, no] = [1, 0].map(|truth| Expression::number(truth, Type::Bool));
        let both = |operator, other: &Expression| {
            let both = Expression::binary(operator, insert.clone(), other.clone(), Type::Bool);
            simpler(&program, both)
        };
        assert_eq!(both(Binary::And, &yes), insert);
        assert_eq!(both(Binary::Or, &no), insert);
        let stays = |operator, other: &Expression| {
            Expression::binary(operator, insert.clone(), other.clone(), Type::Bool)
        };
        assert_eq!(both(Binary::And, &no), stays(Binary::And, &no));
        assert_eq!(both(Binary::Or, &yes), stays(Binary::Or, &yes));
    }
}
