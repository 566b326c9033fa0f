//! Events without a handler: in, all handlers of some kinds of instances, and the finders of their
//! layers; out, a mistake for each `again` without `on again`, for each `tell` of an instance whose
//! kind does not handle it, and for each kind that a finder finds for a message which it does not
//! handle. Such an event would do nothing, and lose the message that it carries.

use super::super::context::Context;
use super::super::program::{Event, Finder, KindId, Program, Role};
use super::super::statement::{Block, Output, StatementKind, TellTarget};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;

/// An event that a statement causes for instances of a kind.
struct Asked {
    kind: KindId,
    event: Event,
    span: Span,
}

/// Checks all that the handlers of these kinds ask of instances.
pub(super) fn check(context: &mut Context, kinds: &[KindId]) {
    let program = &*context.program;
    let mut asked = Vec::new();
    for handler in &program.handlers {
        if kinds.contains(&handler.kind) {
            collect(&handler.body, handler.kind, &mut asked);
        }
    }
    for entity in &program.entities {
        if kinds.contains(&entity.record) {
            let finders = entity.finders.iter();
            finders.for_each(|finder| found(program, finder, &mut asked));
        }
    }
    let unheard = asked.into_iter().filter(|asked| !is_heard(program, asked));
    let found: Vec<_> = unheard.map(|asked| diagnostic(program, &asked)).collect();
    for diagnostic in found {
        context.report(diagnostic);
    }
}

/// Adds the children that a finder finds for a message. A session without a handler hands it on.
fn found(program: &Program, finder: &Finder, asked: &mut Vec<Asked>) {
    let has_message = match finder.event {
        Event::Deliver => true,
        Event::Notice(notice) => program.notices[notice.at()].message,
        Event::Send | Event::Timer(_) | Event::Start | Event::End | Event::Again => false,
    };
    let is_child = |kind: KindId| program.kinds[kind.at()].role == Role::Child;
    let targets = finder.targets.iter();
    let targets = targets.filter(|target| has_message && is_child(target.kind));
    asked.extend(targets.map(|target| Asked {
        kind: target.kind,
        event: finder.event,
        span: finder.span,
    }));
}

fn is_heard(program: &Program, asked: &Asked) -> bool {
    let mut handlers = program.handlers.iter();
    handlers.any(|handler| handler.kind == asked.kind && handler.event == asked.event)
}

fn diagnostic(program: &Program, asked: &Asked) -> Diagnostic {
    let kind = &program.kinds[asked.kind.at()].name;
    let event = match asked.event {
        Event::Again => {
            return Diagnostic::error(
                Id::NoReceiver,
                "`again` has no handler",
                asked.span,
                "asks for an event `again`",
            )
            .why("`again` sends an event to the same instance, which needs a handler for it.")
            .help("write `on again { … }` beside this handler");
        }
        Event::Notice(notice) => program.notices[notice.at()].name.as_str(),
        Event::Deliver => "deliver",
        Event::Send => "send",
        Event::Timer(_) | Event::Start | Event::End => {
            unreachable!("timers, starts and ends are told to nobody")
        }
    };
    let title = format!("`{kind}` does not handle `{event}`");
    Diagnostic::error(
        Id::NoReceiver,
        title,
        asked.span,
        "no handler receives this",
    )
    .help(format!("write `on {event} {{ … }}` in `{kind}`"))
}

fn collect(block: &Block, own: KindId, asked: &mut Vec<Asked>) {
    for statement in block {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Output(Output::Again) => asked.push(Asked {
                kind: own,
                event: Event::Again,
                span,
            }),
            StatementKind::Output(Output::Tell {
                target: TellTarget::Instance(_, kind),
                event,
                ..
            }) => asked.push(Asked {
                kind: *kind,
                event: *event,
                span,
            }),
            StatementKind::Attempt { .. }
            | StatementKind::Require { .. }
            | StatementKind::If { .. }
            | StatementKind::Match { .. }
            | StatementKind::For { .. }
            | StatementKind::Drain { .. }
            | StatementKind::Let(..)
            | StatementKind::Assign(..)
            | StatementKind::Do(_)
            | StatementKind::Output(
                Output::Send { .. } | Output::Deliver { .. } | Output::Tell { .. },
            )
            | StatementKind::Drop(..)
            | StatementKind::Consume(_)
            | StatementKind::Count(_)
            | StatementKind::StartTimer(..)
            | StatementKind::StopTimer(..)
            | StatementKind::End(..)
            | StatementKind::Return(_)
            | StatementKind::Yield(_)
            | StatementKind::React(_)
            | StatementKind::Ordered(_) => {}
        }
        for block in statement.blocks() {
            collect(block, own, asked);
        }
    }
}
