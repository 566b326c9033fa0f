//! What is declared for nothing: in, all that a kind does; out, warnings of processes that nobody
//! runs, and of signals that nobody hears or emits.

use crate::diagnostic::{Diagnostic, Id};
use crate::types::expression::{ExpressionKind, Variable};
use crate::types::process::{Processes, SignalId, Statement};
use crate::types::reactive::Reactive;
use crate::types::scope::Named;
use std::collections::BTreeSet;

use super::Doings;

/// Warns of them; `ran` are the processes that run somewhere.
pub(super) fn unused(
    doings: &Doings,
    reactive: &Reactive,
    ran: &BTreeSet<usize>,
) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    let words = doings.scope.names.iter();
    let mut declared: Vec<SignalId> = words.filter_map(|(_, named)| signal(named)).collect();
    for &at in &doings.own {
        let process = &doings.processes[at];
        if process.source.body.statements.is_empty() || ran.contains(&at) {
            declared.extend(process.names.values().filter_map(signal));
            continue;
        }
        let name = &process.source.name;
        let title = format!("`{name}` is never run");
        let warning = Diagnostic::warning(Id::UnusedName, title, name.span, "declared here");
        warnings.push(warning.help("`run` it, or remove it"));
    }
    declared.sort_unstable();
    let (heard, emitted) = (heard(reactive), emitted(&reactive.processes));
    for signal in declared {
        let (title, help) = match (heard.contains(&signal), emitted.contains(&signal)) {
            (true, true) => continue,
            (false, true) => (
                "is never tested or awaited",
                "test or await it, or remove it",
            ),
            (true, false) => ("is never emitted", "emit it, or remove it"),
            (false, false) => ("is never used", "use it, or remove it"),
        };
        let signal = reactive.processes.signal(signal);
        let title = format!("`{}` {title}", signal.name);
        let warning = Diagnostic::warning(Id::UnusedName, title, signal.span, "declared here");
        warnings.push(warning.help(help));
    }
    warnings
}

fn signal(named: &Named) -> Option<SignalId> {
    match named {
        Named::Signal(signal) => Some(*signal),
        _of_another_kind => None,
    }
}

/// The signals of which something asks, whether they are there or what they carry.
fn heard(reactive: &Reactive) -> BTreeSet<SignalId> {
    let processes = &reactive.processes;
    let read = processes.data.iter().flat_map(|data| data.reads.clone());
    let mut heard: BTreeSet<SignalId> = read.collect();
    for placed in &processes.statements {
        match &placed.statement {
            Statement::Present { test, .. } | Statement::Suspend { test, .. } => {
                heard.extend(test.signals());
            }
            Statement::Abort { cases, .. } => {
                heard.extend(cases.iter().flat_map(|case| case.delay.test.signals()));
            }
            _that_asks_nothing => {}
        }
    }
    for (_, value) in &reactive.before {
        if let ExpressionKind::Read(Variable::Field(_, _, field)) = &*value.kind {
            let mut values = reactive.values.iter();
            heard.extend(
                values
                    .find(|(_, of, _)| of == field)
                    .map(|(signal, ..)| *signal),
            );
        }
    }
    heard
}

fn emitted(processes: &Processes) -> BTreeSet<SignalId> {
    let all = processes.statements.iter();
    let emitted = all.filter_map(|placed| match &placed.statement {
        Statement::Emit(signal, _) => Some(*signal),
        _that_emits_nothing => None,
    });
    emitted.collect()
}
