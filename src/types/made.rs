//! What is made and ended though it comes and goes by no handler's will: in, a complete program;
//! out, a mistake for each `create` and `end` of sessions that are always there, or that live and
//! end with those on which they stand.

use super::program::{EntityId, KindId, Population, Program};
use super::statement::{Attempt, Block, Search, Statement, StatementKind};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;

const BY_TIMER: &str = "found by a timer";

/// Reports who makes or ends sessions that are there by themselves.
pub fn check_made(program: &Program, diagnostics: &mut Vec<Diagnostic>) {
    let handlers = program.handlers.iter().map(|handler| &handler.body);
    let finders = program.entities.iter().flat_map(|entity| &entity.finders);
    let blocks = handlers.chain(finders.map(|finder| &finder.otherwise));
    for block in blocks {
        check_block(program, block, diagnostics);
    }
}

fn check_block(program: &Program, block: &Block, diagnostics: &mut Vec<Diagnostic>) {
    for statement in block {
        diagnostics.extend(misplaced(program, statement));
        for inner in statement.blocks() {
            check_block(program, inner, diagnostics);
        }
    }
}

fn misplaced(program: &Program, statement: &Statement) -> Option<Diagnostic> {
    let by_itself = |kind: &KindId| {
        let listed = match program.kinds[kind.at()].population {
            Population::Static(_) | Population::Labelled(_) => true,
            Population::Dynamic { .. } => false,
        };
        listed || program.lives_with(*kind) != *kind
    };
    match &statement.kind {
        StatementKind::Attempt {
            attempt: Attempt::Instance(steps),
            ..
        } => {
            let mut made = steps.iter().filter_map(|step| match step {
                Search::Create(kind, ..) => Some((*kind, "created")),
                Search::Soonest(kind, ..) => Some((*kind, BY_TIMER)),
                Search::Find(_) | Search::Standing(..) => None,
            });
            let (kind, what) = made.find(|(kind, _)| by_itself(kind))?;
            Some(refused(program, kind, statement.span, what))
        }
        StatementKind::End(_, kind) if by_itself(kind) => {
            Some(refused(program, *kind, statement.span, "ended"))
        }
        _ => None,
    }
}

fn refused(program: &Program, kind: KindId, span: Span, what: &str) -> Diagnostic {
    let entity: EntityId = program.kinds[kind.at()].entity;
    let described = &program.entities[entity.at()];
    let itself = if what == BY_TIMER { "" } else { " explicitly" };
    let title = format!("a session of `{}` cannot be {what}{itself}", described.name);
    let (label, why) = match program.kinds[kind.at()].population {
        Population::Static(_) => (
            "its sessions always exist",
            "Each joint above this layer has one session, which exists from start to end.",
        ),
        Population::Labelled(_) => (
            "the sessions below are created and ended at run time",
            "Each session below has one session per label, which starts and ends with it.",
        ),
        Population::Dynamic { .. } => (
            "the sessions below are created and ended at run time",
            "A worker has one session on each session below, which starts and ends with it.",
        ),
    };
    let help = match what {
        "created" => "look it up with `find`, and drop messages without a session",
        BY_TIMER => "look it up by its keys",
        _ => "notify the layer below: `tell below …`",
    };
    Diagnostic::error(Id::NotByItself, title, span, "")
        .label(described.span, label)
        .why(why)
        .help(help)
}
