//! State that cannot be right: timers that nobody starts or hears, containers that are only filled
//! or only emptied, and fields that are only written or only read.

use super::mentions::Mentions;
use crate::diagnostic::{Diagnostic, Id};
use crate::syntax::loom::ast;
use std::collections::BTreeSet;

/// Warns of what the instances and processes of a layer hold.
pub(super) fn of_layer(layer: &ast::Layer, mentions: &Mentions, found: &mut Vec<Diagnostic>) {
    for item in &layer.items {
        match item {
            ast::Item::Instance(item) => of_members(&item.members, mentions, found),
            ast::Item::Process(item) => of_members(&item.members, mentions, found),
            ast::Item::Constant(_)
            | ast::Item::Type(_)
            | ast::Item::Enum(_)
            | ast::Item::Record(_)
            | ast::Item::Attribute(_)
            | ast::Item::Header(_)
            | ast::Item::Filter(_)
            | ast::Item::Function(_)
            | ast::Item::Finder(_)
            | ast::Item::Handler(_) => {}
        }
    }
}

fn of_members(members: &[ast::Member], mentions: &Mentions, found: &mut Vec<Diagnostic>) {
    for member in members {
        match member {
            ast::Member::Timer(timer) => found.extend(of_timer(timer, mentions)),
            ast::Member::Field(field) => found.extend(match container(&field.of) {
                Some(kind) => of_container(field, kind, mentions),
                None => of_field(field, mentions),
            }),
            ast::Member::Process(process) => of_members(&process.members, mentions, found),
            ast::Member::Signal(_)
            | ast::Member::Notice(_)
            | ast::Member::Handler(_)
            | ast::Member::Function(_) => {}
        }
    }
}

fn of_timer(timer: &ast::Timer, mentions: &Mentions) -> Option<Diagnostic> {
    let name = &timer.name;
    let started = mentions.started.contains(&name.text);
    let heard = mentions.heard.contains(&name.text) || mentions.read.contains(&name.text);
    let (title, help) = match (started, heard) {
        (true, true) => return None,
        (true, false) => (
            format!("the timer `{name}` has no handler"),
            format!("add `on {name} {{ … }}`, or remove the timer"),
        ),
        (false, true) => (
            format!("the timer `{name}` is never started"),
            format!("add `start {name} after …`, or remove the timer"),
        ),
        (false, false) => (
            format!("the timer `{name}` is never started and has no handler"),
            format!("add `start {name} after …` and `on {name} {{ … }}`, or remove the timer"),
        ),
    };
    Some(Diagnostic::warning(Id::IdleTimer, title, name.span, "declared here").help(help))
}

/// A container that can be full.
struct Container {
    /// What it is called.
    of: &'static str,
    /// Its operations that put something in.
    fill: &'static [&'static str],
    /// What takes something out, or makes room: operations, and statements.
    empty: &'static [&'static str],
}

const CONTAINERS: [Container; 3] = [
    Container {
        of: "queue",
        fill: &["push"],
        empty: &["pop", "drain", "drop"],
    },
    Container {
        of: "window",
        fill: &["insert", "replace"],
        empty: &["take", "release_to", "replace", "drop"],
    },
    Container {
        of: "stream",
        fill: &["append", "insert"],
        empty: &["take", "release", "begin", "drop"],
    },
];

fn container(of: &ast::Type) -> Option<&'static Container> {
    let ast::TypeKind::Container { name, .. } = &of.kind else {
        return None;
    };
    CONTAINERS.iter().find(|container| name.is(container.of))
}

fn of_container(field: &ast::Field, kind: &Container, mentions: &Mentions) -> Option<Diagnostic> {
    let name = &field.name;
    let none = BTreeSet::new();
    let operations = mentions.operations.get(&name.text).unwrap_or(&none);
    let does = |which: &[&str]| which.iter().any(|one| operations.contains(*one));
    let (fills, empties) = (does(kind.fill), does(kind.empty));
    let is_read = mentions.read.contains(&name.text)
        || operations
            .iter()
            .any(|one| !kind.fill.contains(&one.as_str()));
    let calls = |which: &[&str]| {
        let which = which
            .iter()
            .filter(|one| !["drop", "replace"].contains(*one));
        let calls = which.map(|one| format!("`{name}.{one}`"));
        calls.collect::<Vec<_>>().join(" or ")
    };
    let (id, title, help) = match (fills, empties) {
        // What is only looked at goes when its instance ends.
        (true, true) => return None,
        (true, false) if is_read && mentions.ends => return None,
        (true, false) => (
            Id::NeverEmptied,
            format!("`{name}` is filled but never emptied"),
            format!(
                "remove elements with {}, or remove the {}",
                calls(kind.empty),
                kind.of
            ),
        ),
        (false, _) if is_read => (
            Id::NeverWritten,
            format!("`{name}` is never filled"),
            format!(
                "add elements with {}, or remove the {}",
                calls(kind.fill),
                kind.of
            ),
        ),
        (false, _) => (
            Id::UnusedName,
            format!("`{name}` is never used"),
            "use it, or remove it".to_string(),
        ),
    };
    Some(Diagnostic::warning(id, title, name.span, "declared here").help(help))
}

fn of_field(field: &ast::Field, mentions: &Mentions) -> Option<Diagnostic> {
    let name = &field.name;
    let none = BTreeSet::new();
    let operations = mentions.operations.get(&name.text).unwrap_or(&none);
    // These change an array or bytes, and give nothing back.
    let changing = ["clear", "xor", "add", "scale"];
    let changes = |operation: &String| changing.contains(&operation.as_str());
    let read = mentions.read.contains(&name.text)
        || operations.iter().any(|operation| !changes(operation));
    let written = mentions.written.contains(&name.text) || !operations.is_empty();
    let (id, title, help) = match (read, written) {
        (true, true) => return None,
        (true, false) if !is_plain(&field.of) || !field.start.iter().all(is_literal) => {
            return None;
        }
        (true, false) => (
            Id::NeverWritten,
            format!("`{name}` is read but never written"),
            match &field.start {
                Some(_) => format!("assign it, or declare it as `const {name} = …`"),
                None => "assign it, or remove it".to_string(),
            },
        ),
        (false, true) => (
            Id::NeverRead,
            format!("`{name}` is written but never read"),
            "read it or remove it; to count events, use `count`".to_string(),
        ),
        (false, false) => (
            Id::UnusedName,
            format!("`{name}` is never used"),
            "use it, or remove it".to_string(),
        ),
    };
    Some(Diagnostic::warning(id, title, name.span, "declared here").help(help))
}

/// Whether a field of this type changes by an assignment alone: functions in C write what is of a
/// type of theirs.
fn is_plain(of: &ast::Type) -> bool {
    match &of.kind {
        ast::TypeKind::Named(name) => {
            let digits = name
                .text
                .trim_start_matches(|letter: char| letter.is_ascii_lowercase());
            let is_number = digits.parse::<u8>().is_ok();
            is_number || name.is("bool") || name.is("time")
        }
        ast::TypeKind::Optional(inner) => is_plain(inner),
        ast::TypeKind::Enum(_) => true,
        ast::TypeKind::Container { .. } => false,
    }
}

/// Whether a value is the same in each instance.
fn is_literal(value: &ast::Expression) -> bool {
    match &value.kind {
        ast::ExpressionKind::Number(_)
        | ast::ExpressionKind::Duration(_)
        | ast::ExpressionKind::Boolean(_)
        | ast::ExpressionKind::None => true,
        ast::ExpressionKind::Group(inner) => is_literal(inner),
        _that_is_computed => false,
    }
}
