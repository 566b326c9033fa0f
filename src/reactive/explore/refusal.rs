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
                let label = "for all inputs";
                Diagnostic::error(Id::MultipleEmission, title, declared.span, label)
                    .help("declare how to merge two values, with `combine`")
            }
            Refusal::MayBeTwice(signal) => {
                let declared = processes.signal(*signal);
                let title = format!("`{}` may be emitted twice in one instant", declared.name);
                let label = "carries one value per instant";
                Diagnostic::error(Id::MultipleEmission, title, declared.span, label)
                    .help("declare how to merge two values, with `combine`")
            }
            Refusal::TooLong { most } => {
                let title = format!("an instant of `{name}` has more than {most} tests in a row");
                Diagnostic::error(Id::AutomatonTooLarge, title, at, "")
                    .help("move tests into a function in C, which counts as one test")
            }
            Refusal::TooLarge { states, nodes } => {
                let title = format!(
                    "the automaton of `{name}` is too large: {states} states, {nodes} nodes so far"
                );
                Diagnostic::error(Id::AutomatonTooLarge, title, at, "")
                    .help("raise the limit with `--budget`, or use fewer parallel branches")
            }
        }
    }
}

fn endless(processes: &Processes, statement: StatementId) -> Diagnostic {
    let title = "a loop's body can end in the instant in which it begins";
    let (id, span) = (Id::InstantaneousLoop, processes.span(statement));
    let mistake = Diagnostic::error(id, title, span, "would run forever");
    let bodies = processes.statement(statement).parts().into_iter();
    let ways = bodies.flat_map(|body| at_once::ways(processes, body));
    let label = "a path through this does not wait";
    let mistake = ways.fold(mistake, |mistake, way| mistake.label(way, label));
    mistake.help(match processes.start {
        None => "add a `pause`, which waits for the next instant",
        Some(_) => "add an `await`, which waits for a later instant",
    })
}

/// A warning: it depends on the environment whether a signal is emitted twice.
pub fn may_be_twice(processes: &Processes, signal: SignalId) -> Diagnostic {
    let declared = processes.signal(signal);
    let title = format!("`{}` may be emitted twice in one instant", declared.name);
    let label = "an error at run time";
    Diagnostic::warning(Id::MultipleEmission, title, declared.span, label)
        .help("declare how to merge two values, with `combine`")
}

/// Two branches may write a field in one instant.
fn written_twice(name: &str, link: &Link) -> Diagnostic {
    let title = format!("two parallel branches may write `{name}` in one instant");
    let mut mistake = Diagnostic::error(Id::CausalityCycle, title, link.waits, "written here");
    if link.emits != link.waits {
        mistake = mistake.label(link.emits, "and here, in parallel");
    }
    mistake
        .why("Parallel branches have no order, so the final value would be undefined.")
        .help("let only one process write it, and send it signals from the others")
}

fn circle(processes: &Processes, links: &[Link], at: Span) -> Diagnostic {
    let name = |signal: SignalId| processes.signal(signal).name.clone();
    let Some((first, others)) = links.split_first() else {
        let title = "the presence of signals is not defined here";
        return Diagnostic::error(Id::CausalityCycle, title, at, "");
    };
    let role = |signal: SignalId| processes.signal(signal).role;
    let title = match (others.len(), first.reads) {
        (0, _) if role(first.signal) == Role::Field => {
            return written_twice(&name(first.signal), first);
        }
        (0, true) => format!("the value of `{}` depends on itself", name(first.signal)),
        (0, false) => format!("the presence of `{}` depends on itself", name(first.signal)),
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
        (Role::Field, _) => format!("this waits for the writes of `{}`", name(link.signal)),
        (Role::Look, _) => "this waits for the reads of the message".to_string(),
        (_, true) => format!("this waits for the value of `{}`", name(link.signal)),
        (_, false) => format!("this waits for `{}`", name(link.signal)),
    };
    let does = |signal: SignalId| match role(signal) {
        Role::Field => format!("then this writes `{}`", name(signal)),
        Role::Look => "then this reads the message".to_string(),
        _that_is_emitted => format!("then this emits `{}`", name(signal)),
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
        None => "add a `pause` between them, so that one depends on the previous instant",
        Some(_) => "use `pre`, which reads the value of the previous instant",
    })
}
