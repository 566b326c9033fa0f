//! The automaton of one process of a layer, without the processes that run beside it.
//!
//! In: the [`Processes`] of an instance, and where the source of one of them stands. Out: the same
//! with the statements of that process alone, and their automaton. Signals that others emit become
//! inputs. A field that others write is read whenever it is needed.
//!
//! ```text
//! process blink { loop { await light; count blinks } }
//!
//! state 0   leaf 1                                    begins, with its instance
//! state 1   given light?  then  Do (count)  leaf 1    light: a signal of another process
//!                         else  leaf 1
//! ```

use super::apart::speaks;
use super::merge::alike;
use super::status::Signals;
use super::step::no_signals;
use super::{Explorer, Refusal};
use crate::source::Span;
use crate::tree::automaton::Automaton;
use crate::types::process::{Processes, Relation, Role, SignalId, Statement, StatementId};

/// Returns the statements of a process that is written within `source`, alone; none if it is never
/// run. `handlers` are the places of its handlers, which run in each instant. A process that runs
/// in several places is shown as in the first.
pub fn alone(processes: &Processes, source: Span, handlers: &[Span]) -> Option<Processes> {
    let mut found = Vec::new();
    outermost(processes, processes.root?, source, &mut found);
    let is_handler = |id: &StatementId| {
        let span = processes.span(*id);
        handlers.iter().any(|handler| handler.covers(span))
    };
    let (handlers, bodies): (Vec<_>, Vec<_>) = found.into_iter().partition(is_handler);
    let roots: Vec<StatementId> = handlers
        .into_iter()
        .chain(bodies.into_iter().take(1))
        .collect();
    let mut alone = processes.clone();
    alone.root = match roots[..] {
        [] => return None,
        [only] => Some(only),
        _ => Some(alone.add(Statement::Parallel(roots.clone()), source)),
    };
    let (own, hears) = signals(processes, &roots, &[]);
    let (others, _) = signals(processes, &[processes.root?], &roots);
    for (at, signal) in alone.signals.iter_mut().enumerate() {
        if signal.role == Role::Local {
            signal.role = match (own.contains(at), others.contains(at)) {
                (true, true) if hears.contains(at) => Role::InputOutput,
                (true, _) => Role::Output,
                (false, true) => Role::Input,
                (false, false) => Role::Local,
            };
        }
    }
    Some(alone)
}

/// Explores such a process; at most so many nodes. In each instant at most one event comes; the
/// first instant has `start` alone.
pub fn explore(
    alone: &Processes,
    events: &[SignalId],
    start: SignalId,
    budget: usize,
) -> Result<Automaton, Refusal> {
    let mut alone = alone.clone();
    alone.relations.push(Relation::Exclusive(events.to_vec()));
    let mut explorer = Explorer::new(&alone, budget);
    // Two branches never write a field in one instant: the check of the whole instance found that.
    // Alone, signals may seem to come together that never do.
    explorer.writers_wait = false;
    let mut next = 0;
    while let Some(state) = explorer.states.get_index(next) {
        let (term, mut statuses) = (state.term, state.statuses.clone());
        statuses.give(&alone, start, next == 0);
        if next == 0 {
            for event in events.iter().filter(|event| **event != start) {
                statuses.give(&alone, *event, false);
            }
        }
        explorer.automaton.rests.push(explorer.terms.rests(term));
        let term = explorer.terms.resumed(term);
        let root = explorer.instant(term, statuses)?;
        explorer.automaton.states.push(root);
        next += 1;
    }
    Ok(alike(&explorer.automaton))
}

/// Finds the outermost statements within a part of the source.
fn outermost(processes: &Processes, id: StatementId, source: Span, found: &mut Vec<StatementId>) {
    let parts = processes.statement(id).parts();
    let span = processes.span(id);
    let is_within = |part: &StatementId| source.covers(processes.span(*part));
    // The steps that give values to its parameters stand where it is run.
    let is_body = match processes.statement(id) {
        Statement::Sequence(all) => {
            let mut all = all.iter();
            all.any(is_within) && all.all(|part| is_within(part) || processes.span(*part) == span)
        }
        _of_another_kind => false,
    };
    if source.covers(span) || is_body {
        found.push(id);
        return;
    }
    for part in parts {
        outermost(processes, part, source, found);
    }
}

/// The signals that statements emit, and those that they ask or read; some statements are left out.
fn signals(
    processes: &Processes,
    roots: &[StatementId],
    without: &[StatementId],
) -> (Signals, Signals) {
    let (mut emits, mut hears) = (no_signals(processes), no_signals(processes));
    let mut open = roots.to_vec();
    while let Some(id) = open.pop() {
        if without.contains(&id) {
            continue;
        }
        let statement = processes.statement(id);
        speaks(processes, statement, &mut emits, &mut hears);
        open.extend(statement.parts());
    }
    (emits, hears)
}
