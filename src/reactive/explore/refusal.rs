//! What is wrong with processes, told to who wrote them.

use super::{Link, Refusal};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::{FileId, Span};
use crate::types::process::{Processes, SignalId};

impl Refusal {
    /// The same as a diagnostic about a module of this name, which stands in a file.
    pub fn diagnostic(&self, processes: &Processes, name: &str, file: FileId) -> Diagnostic {
        match self {
            Refusal::Cycle(links) => circle(processes, links, file),
            Refusal::InstantaneousLoop(span) => {
                let title = "a loop's body can end in the instant in which it begins";
                let id = Id::InstantaneousLoop;
                Diagnostic::error(id, title, *span, "it would run for ever")
                    .help("a `pause` in it lets it wait for the next instant")
            }
            Refusal::Twice(signal) => {
                let declared = processes.signal(*signal);
                let title = format!("`{}` is emitted twice in one instant", declared.name);
                let label = "whatever the environment gives";
                Diagnostic::error(Id::MultipleEmission, title, declared.span, label)
                    .help("`combine` says what becomes of two values")
            }
            Refusal::TooLong { most } => {
                let title =
                    format!("an instant of `{name}` asks more than {most} questions in a row");
                let span = Span::new(file, 0, 0);
                Diagnostic::error(Id::AutomatonTooLarge, title, span, "")
                    .help("a function in C asks as much as it likes, and is one question")
            }
            Refusal::TooLarge { states, nodes } => {
                let title = format!(
                    "the automaton of `{name}` is too large: {states} states, {nodes} nodes so far"
                );
                let span = Span::new(file, 0, 0);
                Diagnostic::error(Id::AutomatonTooLarge, title, span, "")
                    .help("`--budget` allows more; fewer parallel branches need less")
            }
        }
    }
}

/// A warning: it depends on the environment whether a signal is emitted twice.
pub fn may_be_twice(processes: &Processes, signal: SignalId) -> Diagnostic {
    let declared = processes.signal(signal);
    let title = format!("`{}` may be emitted twice in one instant", declared.name);
    let label = "then it is an error";
    Diagnostic::warning(Id::MultipleEmission, title, declared.span, label)
        .help("`combine` says what becomes of two values")
}

fn circle(processes: &Processes, links: &[Link], file: FileId) -> Diagnostic {
    let name = |signal: SignalId| processes.signal(signal).name.clone();
    let Some((first, others)) = links.split_first() else {
        let title = "this does not settle which signals are present";
        return Diagnostic::error(Id::CausalityCycle, title, Span::new(file, 0, 0), "");
    };
    let title = match (others.len(), first.reads) {
        (0, true) => format!("the value of `{}` depends on itself", name(first.signal)),
        (0, false) => format!(
            "whether `{}` is present depends on itself",
            name(first.signal)
        ),
        _ => {
            let names: Vec<String> = links
                .iter()
                .map(|one| format!("`{}`", name(one.signal)))
                .collect();
            let way = names.join(" -> ");
            format!("signals depend on each other: {way} -> {}", names[0])
        }
    };
    let waits = |link: &Link| match link.reads {
        true => format!("this waits for the value of `{}`", name(link.signal)),
        false => format!("this waits for `{}`", name(link.signal)),
    };
    let mut diagnostic = Diagnostic::error(Id::CausalityCycle, title, first.waits, waits(first));
    for (at, link) in links.iter().enumerate() {
        let next = links[(at + 1) % links.len()].signal;
        if at > 0 {
            diagnostic = diagnostic.label(link.waits, waits(link));
        }
        let emits = format!("and behind it this emits `{}`", name(next));
        diagnostic = diagnostic.label(link.emits, emits);
    }
    diagnostic.help("a `pause` between them lets one wait for the instant before")
}
