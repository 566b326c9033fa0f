//! Where a loop's body may end in the instant in which it begins: in, its statements; out, those of
//! which one way takes no time, and another does.

use crate::source::Span;
use crate::types::process::{Processes, Statement, StatementId};

/// The places where a body that may end at once goes a way without a wait.
pub(super) fn ways(processes: &Processes, body: StatementId) -> Vec<Span> {
    let mut found = Vec::new();
    let mut open = vec![body];
    while let Some(id) = open.pop() {
        match processes.statement(id) {
            Statement::Present {
                then, otherwise, ..
            }
            | Statement::If {
                then, otherwise, ..
            } if parts(processes, *then, *otherwise) || parts(processes, *otherwise, *then) => {
                found.push(processes.span(id));
            }
            Statement::Loop(_) | Statement::Exit { .. } => {}
            statement => {
                let parts = statement.parts().into_iter();
                open.extend(parts.filter(|part| ends(processes, *part)));
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether one way may end at once, and the other one waits.
fn parts(processes: &Processes, one: StatementId, other: StatementId) -> bool {
    let waits = |statement: &Statement| matches!(statement, Statement::Pause);
    ends(processes, one) && !ends(processes, other) && has(processes, other, &waits)
}

/// Whether a statement may end in the instant in which it begins.
fn ends(processes: &Processes, id: StatementId) -> bool {
    let ends = |id: StatementId| ends(processes, id);
    match processes.statement(id) {
        Statement::Nothing | Statement::Emit(..) | Statement::Do(_) => true,
        Statement::Pause | Statement::Loop(_) | Statement::Exit { .. } => false,
        Statement::Present {
            then, otherwise, ..
        }
        | Statement::If {
            then, otherwise, ..
        } => ends(*then) || ends(*otherwise),
        Statement::Sequence(all) | Statement::Parallel(all) => all.iter().all(|one| ends(*one)),
        Statement::Suspend { body, .. } | Statement::Local { body, .. } => ends(*body),
        Statement::Trap { body, .. } => {
            let exits = |statement: &Statement| matches!(statement, Statement::Exit { .. });
            ends(*body) || has(processes, *body, &exits)
        }
        Statement::Abort { cases, body, .. } => {
            let mut at_once = cases.iter().filter(|case| case.delay.immediate);
            ends(*body) || at_once.any(|case| ends(case.then))
        }
    }
}

/// Whether a statement is of a kind, or holds one that is.
fn has(processes: &Processes, id: StatementId, is: &dyn Fn(&Statement) -> bool) -> bool {
    let statement = processes.statement(id);
    let mut parts = statement.parts().into_iter();
    is(statement) || parts.any(|part| has(processes, part, is))
}
