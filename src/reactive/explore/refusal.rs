//! What is wrong with processes, told to who wrote them.

use super::{Link, Refusal, at_once};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::types::process::{Processes, Role, SignalId, StatementId};

impl Refusal {
    /// The same as a diagnostic about what has this name and is written there.
    pub fn diagnostic(&self, processes: &Processes, name: &str, at: Span) -> Diagnostic {
        match self {
            Refusal::Cycle(links) => circle(processes, links, at),
            Refusal::InstantaneousLoop(statement) => endless(processes, *statement),
            Refusal::Twice(signal) => {
                let declared = processes.signal(*signal);
                let title = format!("`{}` is emitted twice in one instant", declared.name);
                let label = "whatever the environment gives";
                Diagnostic::error(Id::MultipleEmission, title, declared.span, label)
                    .help("`combine` says what becomes of two values")
            }
            Refusal::MayBeTwice(signal) => {
                let declared = processes.signal(*signal);
                let title = format!("`{}` may be emitted twice in one instant", declared.name);
                let label = "it carries one value";
                Diagnostic::error(Id::MultipleEmission, title, declared.span, label)
                    .help("`combine` says what becomes of two values")
            }
            Refusal::TooLong { most } => {
                let title =
                    format!("an instant of `{name}` asks more than {most} questions in a row");
                Diagnostic::error(Id::AutomatonTooLarge, title, at, "")
                    .help("a function in C asks as much as it likes, and is one question")
            }
            Refusal::TooLarge { states, nodes } => {
                let title = format!(
                    "the automaton of `{name}` is too large: {states} states, {nodes} nodes so far"
                );
                Diagnostic::error(Id::AutomatonTooLarge, title, at, "")
                    .help("`--budget` allows more; fewer parallel branches need less")
            }
        }
    }
}

fn endless(processes: &Processes, statement: StatementId) -> Diagnostic {
    let title = "a loop's body can end in the instant in which it begins";
    let (id, span) = (Id::InstantaneousLoop, processes.span(statement));
    let mistake = Diagnostic::error(id, title, span, "it would run for ever");
    let bodies = processes.statement(statement).parts().into_iter();
    let ways = bodies.flat_map(|body| at_once::ways(processes, body));
    let label = "one way through this does not wait";
    let mistake = ways.fold(mistake, |mistake, way| mistake.label(way, label));
    mistake.help(match processes.start {
        None => "a `pause` in it lets it wait for the next instant",
        Some(_) => "an `await` in it lets it wait for a later instant",
    })
}

/// A warning: it depends on the environment whether a signal is emitted twice.
pub fn may_be_twice(processes: &Processes, signal: SignalId) -> Diagnostic {
    let declared = processes.signal(signal);
    let title = format!("`{}` may be emitted twice in one instant", declared.name);
    let label = "then it is an error";
    Diagnostic::warning(Id::MultipleEmission, title, declared.span, label)
        .help("`combine` says what becomes of two values")
}

/// Two branches may write a field in one instant.
fn written_twice(name: &str, link: &Link) -> Diagnostic {
    let title = format!("`{name}` may be written by two in one instant");
    let mut mistake = Diagnostic::error(Id::CausalityCycle, title, link.waits, "here");
    if link.emits != link.waits {
        mistake = mistake.label(link.emits, "and here, in parallel");
    }
    mistake
        .why("What runs in parallel has no order: of two that write, none would be the last.")
        .help("let one process own it, and the others emit a signal to that one")
}

fn circle(processes: &Processes, links: &[Link], at: Span) -> Diagnostic {
    let name = |signal: SignalId| processes.signal(signal).name.clone();
    let Some((first, others)) = links.split_first() else {
        let title = "this does not settle which signals are present";
        return Diagnostic::error(Id::CausalityCycle, title, at, "");
    };
    let role = |signal: SignalId| processes.signal(signal).role;
    let title = match (others.len(), first.reads) {
        (0, _) if role(first.signal) == Role::Field => {
            return written_twice(&name(first.signal), first);
        }
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
    let waits = |link: &Link| match (role(link.signal), link.reads) {
        (Role::Field, _) => format!("this waits for whoever writes `{}`", name(link.signal)),
        (Role::Look, _) => "this waits for whoever looks at the message".to_string(),
        (_, true) => format!("this waits for the value of `{}`", name(link.signal)),
        (_, false) => format!("this waits for `{}`", name(link.signal)),
    };
    let does = |signal: SignalId| match role(signal) {
        Role::Field => format!("and behind it this writes `{}`", name(signal)),
        Role::Look => "and behind it this looks at the message".to_string(),
        _that_is_emitted => format!("and behind it this emits `{}`", name(signal)),
    };
    let mut diagnostic = Diagnostic::error(Id::CausalityCycle, title, first.waits, waits(first));
    for (step, link) in links.iter().enumerate() {
        let next = links[(step + 1) % links.len()].signal;
        if step > 0 {
            diagnostic = diagnostic.label(link.waits, waits(link));
        }
        diagnostic = diagnostic.label(link.emits, does(next));
    }
    diagnostic.help(match processes.start {
        None => "a `pause` between them lets one wait for the instant before",
        Some(_) => "`pre` reads what was before the instant, and waits for nobody",
    })
}
