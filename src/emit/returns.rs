//! Exits that say nothing, for what follows leaves as well.
//!
//! In: statements. Out: the same, without returns before another return or the end.

use crate::c::tree::Statement as S;

/// A way that comes to an exit anyhow need not leave by itself.
pub fn strip_before_exit(statements: &mut [S]) {
    if let [
        ..,
        S::If {
            then, otherwise, ..
        },
        S::Return(None) | S::Continue,
    ] = statements
    {
        // What is done there is all that the test is for.
        if then.len() > 1 {
            strip_last(then);
        }
        if otherwise.len() > 1 {
            strip_last(otherwise);
        }
    }
}

/// A return at the very end says nothing.
pub fn strip_last(statements: &mut Vec<S>) {
    while matches!(statements.last(), Some(S::Return(None) | S::Continue)) {
        statements.pop();
    }
    if let Some(S::If {
        condition,
        then,
        otherwise,
    }) = statements.last_mut()
    {
        strip_last(then);
        strip_last(otherwise);
        if then.is_empty() && !otherwise.is_empty() {
            std::mem::swap(then, otherwise);
            *condition = condition.clone().negated();
        }
    }
}
