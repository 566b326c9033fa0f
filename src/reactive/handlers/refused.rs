//! Why processes have no handlers: their refusals, as diagnostics.
//!
//! In: the processes of a kind, and a budget. Out: the automaton, or what is wrong, with the names
//! that the user gave.

use super::Budget;
use crate::diagnostic::Diagnostic;
use crate::reactive::explore::apart::apart;
use crate::reactive::explore::{Refusal, explore};
use crate::reactive::reads;
use crate::tree::automaton::Automaton;
use crate::types::expression::ExpressionKind;
use crate::types::program::{KindId, Program};
use crate::types::reactive::{Computation, Reactive};
use crate::types::statement::Statement;

/// What is wrong with processes whatever a stack gives to their layer.
pub fn wrong_anywhere(program: &Program, budget: Budget) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for at in 0..program.kinds.len() as u32 {
        let kind = KindId(at);
        let Some(reactive) = &program.kinds[kind.at()].reactive else {
            continue;
        };
        // What is not known yet may leave out just the way that is wrong.
        let open = |choice: &Statement| {
            let mut values = choice.values().into_iter();
            values.any(|value| {
                reads::any(value, &|part| {
                    matches!(*part.kind, ExpressionKind::Config(_))
                })
            })
        };
        let open = reactive.computations.iter().any(|one| match one {
            Computation::Choice(choice) => open(choice),
            Computation::Steps(_) | Computation::Value(_) => false,
        });
        let mut refusals = refusals(reactive, budget);
        refusals.retain(|refusal| match refusal {
            Refusal::Cycle(_)
            | Refusal::InstantaneousLoop(_)
            | Refusal::Twice(_)
            | Refusal::MayBeTwice(_) => !open,
            Refusal::TooLong { .. } | Refusal::TooLarge { .. } => false,
        });
        diagnostics.extend(told(program, kind, reactive, &refusals));
    }
    diagnostics
}

/// Why processes have no automaton; nothing where they have one, or their branches have.
fn refusals(reactive: &Reactive, budget: Budget) -> Vec<Refusal> {
    match explored(reactive, budget.before_apart()) {
        Ok(_) => Vec::new(),
        Err(refusals) if !is_too_large(&refusals) => refusals,
        Err(_) if apart(&reactive.processes, budget.nodes).is_some() => Vec::new(),
        Err(_) => explored(reactive, budget.nodes).err().unwrap_or_default(),
    }
}

/// The automaton of the processes of a kind.
pub(super) fn explored(reactive: &Reactive, nodes: usize) -> Result<Automaton, Vec<Refusal>> {
    match explore(&reactive.processes, nodes) {
        Err(refusal) => Err(vec![refusal]),
        Ok((automaton, twice)) if twice.is_empty() => Ok(automaton),
        Ok((_, twice)) => Err(twice.into_iter().map(Refusal::MayBeTwice).collect()),
    }
}

pub(super) fn is_too_large(refusals: &[Refusal]) -> bool {
    matches!(refusals, [Refusal::TooLarge { .. }])
}

/// The same as diagnostics.
pub(super) fn told(
    program: &Program,
    kind: KindId,
    reactive: &Reactive,
    refusals: &[Refusal],
) -> Vec<Diagnostic> {
    let name = name_of(program, kind);
    let span = program.entities[program.kinds[kind.at()].entity.at()].span;
    let refusals = refusals.iter();
    let told = refusals.map(|refusal| refusal.diagnostic(&reactive.processes, &name, span));
    told.collect()
}

fn name_of(program: &Program, kind: KindId) -> String {
    let table = &program.kinds[kind.at()];
    let entity = &program.entities[table.entity.at()].name;
    match table.name == *entity {
        true => entity.clone(),
        false => format!("{entity}.{}", table.name),
    }
}
