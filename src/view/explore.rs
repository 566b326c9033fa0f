//! One process of a layer: in, the programs in which its layer runs; out, the view of its
//! automaton, which is explored by itself.

use super::{ProcessWords, Selected, View, view_with};
use crate::diagnostic::Diagnostic;
use crate::reactive::explore::process as explore;
use crate::source::Sources;
use crate::types::program::Program;

/// The reasons why a process cannot be shown.
pub enum Unseen {
    /// No instance runs it, and it has no handlers.
    NeverRun,
    /// It has no automaton within the budget.
    Refused(Box<Diagnostic>),
    /// Its automaton has too many questions to be shown.
    TooManyQuestions {
        /// The number of its states.
        states: usize,
    },
}

/// Shows the automaton of one process of a layer, in the first of the programs that runs it. Its
/// automaton has at most `budget` nodes; `show` is for [`view_with`].
pub fn view_process(
    sources: &Sources,
    programs: &[Program],
    selected: Selected,
    budget: usize,
    show: (usize, bool),
) -> Result<View, Unseen> {
    let layer = &selected.layer.name.text;
    let name = format!("{layer}.{}", selected.process.name);
    let source = selected.process.span;
    let kinds = programs.iter().flat_map(|program| {
        let kinds = program.kinds.iter();
        kinds.map(move |kind| (program, kind))
    });
    let mut found = kinds.filter_map(|(program, table)| {
        let own = table.reactive.as_ref()?;
        let is_of_layer = program.entities[table.entity.at()].layer == *layer;
        let processes = is_of_layer.then_some(&own.processes)?;
        let handlers = selected.handlers();
        let alone = explore::alone(processes, source, &handlers)?;
        Some(((program, own), alone))
    });
    let ((program, own), alone) = found.next().ok_or(Unseen::NeverRun)?;
    let events: Vec<_> = own.events.iter().map(|(_, event, _)| *event).collect();
    let explored = explore::explore(&alone, &events, events[0], budget);
    let automaton = explored.map_err(|refusal| {
        let diagnostic = refusal.diagnostic(&alone, &name, source.before());
        Unseen::Refused(Box::new(diagnostic))
    })?;
    let written = (sources, program, own);
    let words = ProcessWords::new(written, selected, (&alone, &automaton));
    let view = view_with(&name, &words, &automaton, show);
    let states = automaton.states.len();
    view.ok_or(Unseen::TooManyQuestions { states })
}
