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
            } if ends(processes, *then) != ends(processes, *otherwise) => {
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
        Statement::Trap { body, .. } => ends(*body) || exits(processes, *body),
        Statement::Abort { cases, body, .. } => {
            let mut at_once = cases.iter().filter(|case| case.delay.immediate);
            ends(*body) || at_once.any(|case| ends(case.then))
        }
    }
}

/// Whether a trap is left somewhere in a statement.
fn exits(processes: &Processes, id: StatementId) -> bool {
    let statement = processes.statement(id);
    let mut parts = statement.parts().into_iter();
    matches!(statement, Statement::Exit { .. }) || parts.any(|part| exits(processes, part))
}
