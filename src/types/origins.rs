//! Outputs that have no session to leave by: in, a complete program; out, a mistake for each
//! `send`, `deliver` or `tell` of an entity or a child that could go through any of several
//! sessions.
//!
//! A session knows what stands on it and below it. An entity and its children share all sessions,
//! so they can pass something on only where there is no choice; what they tell above without a
//! message goes to all.

use super::program::{EntityId, Event, NoticeId, Place, Population, Program, Role, SessionIndex};
use super::statement::{Block, Output, Statement, StatementKind, TellTarget};
use crate::diagnostic::{Diagnostic, Id};
use std::collections::BTreeSet;

/// Reports what could go through any of several sessions.
pub fn check_origins(program: &Program, diagnostics: &mut Vec<Diagnostic>) {
    for handler in &program.handlers {
        let kind = &program.kinds[handler.kind.at()];
        match kind.role {
            Role::Session => {}
            Role::Record | Role::Child => {
                let from = Origin {
                    entity: kind.entity,
                    role: kind.role,
                    is_from_below: false,
                };
                check_block(program, from, &handler.body, diagnostics);
            }
        }
    }
    for (place, entity) in program.entities.iter().enumerate() {
        let id = EntityId(place as u32);
        for finder in &entity.finders {
            let from = Origin {
                entity: id,
                role: Role::Record,
                is_from_below: true,
            };
            check_block(program, from, &finder.otherwise, diagnostics);
        }
    }
    check_beside(program, diagnostics);
}

/// Whose code it is.
#[derive(Clone, Copy)]
struct Origin {
    entity: EntityId,
    role: Role,
    /// Whether it handles what came from one session below.
    is_from_below: bool,
}

fn check_block(program: &Program, from: Origin, block: &Block, diagnostics: &mut Vec<Diagnostic>) {
    for statement in block {
        check_statement(program, from, statement, diagnostics);
        for inner in statement.blocks() {
            check_block(program, from, inner, diagnostics);
        }
    }
}

fn check_statement(
    program: &Program,
    from: Origin,
    statement: &Statement,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let Origin { entity, role, .. } = from;
    let StatementKind::Output(output) = &statement.kind else {
        return;
    };
    let described = &program.entities[entity.at()];
    let leaves_by_one = match output {
        Output::Send { joint, .. } => is_fixed(program, from, *joint),
        Output::Deliver { .. } => has_one_session(program, entity),
        Output::Tell {
            target: TellTarget::Above,
            event: Event::Notice(notice),
            message,
            ..
        } => {
            let to_all = role == Role::Record && message.is_none();
            to_all || described.beside.contains(notice) || has_one_session(program, entity)
        }
        Output::Tell {
            target: TellTarget::Below(joint),
            ..
        } => is_fixed(program, from, *joint),
        Output::Tell { .. } | Output::Again => true,
    };
    if !leaves_by_one {
        let what = match role {
            Role::Record => "the entity",
            Role::Child => "a child",
            Role::Session => "a session",
        };
        let title = format!(
            "the session of `{}` to use is not known here",
            described.name
        );
        diagnostics.push(
            Diagnostic::error(Id::NoSession, title, statement.span, "")
                .label(described.span, "has several sessions here")
                .why(format!(
                    "This is a handler of {what}, which does not belong to one session."
                ))
                .help(
                    "find the session and tell it, or move the handler to the top level of the \
                    layer",
                ),
        );
    }
}

/// Whether it is known which session below a joint is meant.
fn is_fixed(program: &Program, from: Origin, joint: u32) -> bool {
    let below = &program.entities[from.entity.at()].below;
    match below.get(joint as usize).map(|below| below.place) {
        Some(Place::Entity { index, .. }) => match index {
            SessionIndex::Only(_) => true,
            SessionIndex::Same => false,
            SessionIndex::Keyed => from.is_from_below,
            SessionIndex::Label(_) => {
                let session = program.entities[from.entity.at()].session;
                from.is_from_below && program.stands_on(session).is_some()
            }
        },
        Some(Place::Link(_) | Place::Port(_)) | None => true,
    }
}

fn has_one_session(program: &Program, entity: EntityId) -> bool {
    let session = program.entities[entity.at()].session;
    match &program.kinds[session.at()].population {
        Population::Static(instances) => instances.len() == 1,
        Population::Dynamic { .. } | Population::Labelled(_) => false,
    }
}

/// Who is told which notice from beside the path.
fn told_beside(program: &Program) -> BTreeSet<(EntityId, NoticeId)> {
    let mut told = BTreeSet::new();
    for handler in &program.handlers {
        let entity = program.kinds[handler.kind.at()].entity;
        collect_told(program, entity, &handler.body, &mut told);
    }
    for (place, entity) in program.entities.iter().enumerate() {
        for finder in &entity.finders {
            collect_told(
                program,
                EntityId(place as u32),
                &finder.otherwise,
                &mut told,
            );
        }
    }
    told
}

fn collect_told(
    program: &Program,
    entity: EntityId,
    block: &Block,
    told: &mut BTreeSet<(EntityId, NoticeId)>,
) {
    for statement in block {
        if let StatementKind::Output(Output::Tell {
            target,
            event: Event::Notice(notice),
            ..
        }) = &statement.kind
        {
            let described = &program.entities[entity.at()];
            match target {
                TellTarget::Side(side) => {
                    told.insert((*side, *notice));
                }
                TellTarget::Above if described.beside.contains(notice) => {
                    told.extend(described.users.iter().map(|user| (*user, *notice)));
                }
                TellTarget::Above | TellTarget::Below(_) | TellTarget::Instance(..) => {}
            }
        }
        for inner in statement.blocks() {
            collect_told(program, entity, inner, told);
        }
    }
}

/// On sessions that come and go, what comes from beside belongs to none of them, so that no finder
/// can look for it.
fn check_found(
    program: &Program,
    entity: EntityId,
    notice: NoticeId,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let described = &program.entities[entity.at()];
    let mut finders = described.finders.iter();
    let finder = finders.find(|finder| finder.event == Event::Notice(notice));
    let Some(finder) = finder.filter(|_| program.stands_on(described.session).is_some()) else {
        return;
    };
    let name = &program.notices[notice.at()].name;
    let title = format!("the session below for the event `{name}` is unknown");
    diagnostics.push(
        Diagnostic::error(Id::NoSession, title, finder.span, "")
            .label(
                described.span,
                "the sessions below are created and ended at run time",
            )
            .why("An event from a side joint does not belong to a session below.")
            .help("put the layer on a layer whose sessions always exist"),
    );
}

/// What comes from beside comes to an entity, so a session can hear it only if it is the only one,
/// or a finder finds it.
fn check_beside(program: &Program, diagnostics: &mut Vec<Diagnostic>) {
    let told = told_beside(program);
    for (entity, notice) in &told {
        check_found(program, *entity, *notice, diagnostics);
    }
    for handler in &program.handlers {
        let Event::Notice(notice) = handler.event else {
            continue;
        };
        let kind = &program.kinds[handler.kind.at()];
        let described = &program.entities[kind.entity.at()];
        let mut finders = described.finders.iter();
        let is_found = finders.any(|finder| finder.event == handler.event);
        let mut others = program.handlers.iter();
        let record_hears =
            others.any(|other| other.kind == described.record && other.event == handler.event);
        if kind.role == Role::Session
            && told.contains(&(kind.entity, notice))
            && !is_found
            && !record_hears
            && !has_one_session(program, kind.entity)
        {
            let name = &program.notices[notice.at()].name;
            let title = format!("the session for the event `{name}` is unknown");
            diagnostics.push(
                Diagnostic::error(Id::NoSession, title, handler.span, "")
                    .label(described.span, "has several sessions here")
                    .why("An event from a side joint goes to the entity.")
                    .help("move the handler into `entity { … }`"),
            );
        }
    }
}
