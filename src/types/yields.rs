//! How many words a filter yields: in, its blocks; out, the least and the most on any path.

use super::statement::{Statement, StatementKind};

/// The least and the most words that come of a block: an `otherwise` takes the place of all that
/// follows it.
pub fn yields(block: &[Statement]) -> (u64, u64) {
    let Some((first, rest)) = block.split_first() else {
        return (0, 0);
    };
    let rest = yields(rest);
    let then = |own: (u64, u64)| (own.0 + rest.0, own.1.saturating_add(rest.1));
    match &first.kind {
        StatementKind::Yield(_) => then((1, 1)),
        StatementKind::Attempt { otherwise, .. } | StatementKind::Require { otherwise, .. } => {
            either(rest, yields(otherwise))
        }
        StatementKind::If {
            then: one,
            otherwise,
            ..
        } => then(either(yields(one), yields(otherwise))),
        StatementKind::Match {
            cases, otherwise, ..
        } => {
            let cases = cases.iter().map(|(_, _, block)| yields(block));
            then(cases.fold(yields(otherwise), either))
        }
        StatementKind::For { at_most, body, .. } => {
            then((0, yields(body).1.saturating_mul(u64::from(*at_most))))
        }
        StatementKind::Return(_) => (0, 0),
        StatementKind::Let(..)
        | StatementKind::Assign(..)
        | StatementKind::Drain { .. }
        | StatementKind::Do(_)
        | StatementKind::Output(_)
        | StatementKind::Drop(..)
        | StatementKind::Consume(_)
        | StatementKind::Count(_)
        | StatementKind::StartTimer(..)
        | StatementKind::StopTimer(..)
        | StatementKind::End(..)
        | StatementKind::React(_)
        | StatementKind::Ordered(_) => rest,
    }
}

fn either(one: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    (one.0.min(other.0), one.1.max(other.1))
}
