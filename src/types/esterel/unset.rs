//! Values that nothing ever sets: whoever reads one fails.
//!
//! In: a module, and what of it is ever computed. Out: a diagnostic for each read there of a signal
//! that has no first value, that nobody gives and nothing emits.

use super::{ExpressionKind, Module};
use crate::diagnostic::{Diagnostic, Id};
use crate::types::process::{DataId, SignalId, Statement};
use std::collections::BTreeSet;

/// What is wrong with what is computed somewhere.
pub fn never_set(module: &Module, computed: &BTreeSet<DataId>) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let set = set_somewhere(module);
    for data in computed.iter().chain(&module.begin) {
        let span = module.processes.data[data.at()].span;
        let mut open = module.data[data.at()].expressions();
        while let Some(expression) = open.pop() {
            if let ExpressionKind::Value(signal) | ExpressionKind::Before(signal) =
                &*expression.kind
                && !set.contains(signal)
            {
                let name = &module.processes.signal(*signal).name;
                let title = format!("`{name}` is read, but never has a value");
                let refused = Diagnostic::error(Id::NeverSet, title, span, "read here");
                let help = format!("declare it with an initial value: `{name} := …`");
                diagnostics.push(refused.help(help));
            }
            open.extend(expression.kind.operands());
        }
    }
    diagnostics
}

/// Signals that may come to have a value.
fn set_somewhere(module: &Module) -> BTreeSet<SignalId> {
    let processes = &module.processes;
    let is_given = |signal: &SignalId| {
        let role = processes.signal(*signal).role;
        let channel = module.channels[signal.at()].as_ref();
        role.is_given() || !role.is_emitted() || channel.is_some_and(|channel| channel.initial)
    };
    let mut set: BTreeSet<SignalId> = processes.signals().filter(is_given).collect();
    for placed in &processes.statements {
        if let Statement::Emit(signal, _) | Statement::Exit { way: signal, .. } = &placed.statement
        {
            set.insert(*signal);
        }
    }
    set
}
