//! Names that are declared and never used: constants, functions, filters, parameters, and `use`s.

use super::mentions::Mentions;
use crate::diagnostic::{Diagnostic, Id};
use crate::source::{Sources, Span};
use crate::syntax::loom::{ast, words_of};
use crate::types::load::{Files, Unit, UnitId};
use std::collections::BTreeSet;

/// Warns of what a layer declares. Functions that a service promises are for others to call.
pub(super) fn of_layer(
    layer: &ast::Layer,
    mentions: &Mentions,
    promised: &BTreeSet<&str>,
    found: &mut Vec<Diagnostic>,
) {
    for parameter in &layer.parameters {
        unless_used(&parameter.name, "parameter", mentions, found);
    }
    of_items(&layer.items, mentions, promised, found);
}

/// Warns of what stands in no layer, in a file with a stack: other files are there to be used.
pub(super) fn of_stacks(unit: &Unit, found: &mut Vec<Diagnostic>) {
    if unit.stacks.is_empty() {
        return;
    }
    let mut mentions = Mentions::default();
    unit.items.iter().for_each(|item| mentions.item(item));
    unit.layers.iter().for_each(|layer| mentions.layer(layer));
    let services = unit.services.iter();
    services.for_each(|service| mentions.service(service));
    unit.stacks.iter().for_each(|stack| mentions.stack(stack));
    of_items(&unit.items, &mentions, &BTreeSet::new(), found);
}

/// The functions that services promise which a unit sees.
pub(super) fn promised(files: &Files, unit: UnitId) -> BTreeSet<&str> {
    let units = files.visible(unit).into_iter();
    let services = units.flat_map(|seen| &files.unit(seen).services);
    let items = services.flat_map(|service| &service.items);
    let names = items.filter_map(|item| match item {
        ast::ServiceItem::Function(function) => Some(function.name.text.as_str()),
        ast::ServiceItem::Type(_)
        | ast::ServiceItem::Enum(_)
        | ast::ServiceItem::Attribute(_)
        | ast::ServiceItem::Notice(_) => None,
    });
    names.collect()
}

fn of_items(
    items: &[ast::Item],
    mentions: &Mentions,
    promised: &BTreeSet<&str>,
    found: &mut Vec<Diagnostic>,
) {
    for item in items {
        match item {
            ast::Item::Constant(item) => unless_used(&item.name, "constant", mentions, found),
            ast::Item::Function(item) => of_function(item, mentions, promised, found),
            ast::Item::Filter(item) => unless_used(&item.name, "filter", mentions, found),
            ast::Item::Instance(item) => of_members(&item.members, mentions, promised, found),
            ast::Item::Process(item) => of_process(item, mentions, promised, found),
            ast::Item::Type(_)
            | ast::Item::Enum(_)
            | ast::Item::Record(_)
            | ast::Item::Attribute(_)
            | ast::Item::Header(_)
            | ast::Item::Finder(_)
            | ast::Item::Handler(_) => {}
        }
    }
}

fn of_members(
    members: &[ast::Member],
    mentions: &Mentions,
    promised: &BTreeSet<&str>,
    found: &mut Vec<Diagnostic>,
) {
    for member in members {
        match member {
            ast::Member::Function(item) => of_function(item, mentions, promised, found),
            ast::Member::Process(item) => of_process(item, mentions, promised, found),
            ast::Member::Field(_)
            | ast::Member::Timer(_)
            | ast::Member::Signal(_)
            | ast::Member::Notice(_)
            | ast::Member::Handler(_) => {}
        }
    }
}

fn of_process(
    process: &ast::Process,
    mentions: &Mentions,
    promised: &BTreeSet<&str>,
    found: &mut Vec<Diagnostic>,
) {
    of_members(&process.members, mentions, promised, found);
    let mut own = Mentions::default();
    own.process(process);
    for parameter in &process.parameters {
        unless_used(&parameter.name, "parameter", &own, found);
    }
}

fn of_function(
    function: &ast::Function,
    mentions: &Mentions,
    promised: &BTreeSet<&str>,
    found: &mut Vec<Diagnostic>,
) {
    if promised.contains(function.name.text.as_str()) {
        return;
    }
    unless_used(&function.name, "function", mentions, found);
    let mut own = Mentions::default();
    own.function(function);
    match &function.body {
        ast::FunctionBody::Promised | ast::FunctionBody::External | ast::FunctionBody::Runtime => {}
        ast::FunctionBody::Expression(_) | ast::FunctionBody::Block(_) => {
            for parameter in &function.parameters {
                unless_used(&parameter.name, "parameter", &own, found);
            }
        }
    }
}

fn unless_used(name: &ast::Name, what: &str, mentions: &Mentions, found: &mut Vec<Diagnostic>) {
    if !mentions.names(&name.text) {
        found.push(unused(
            format!("the {what} `{name}` is never used"),
            name.span,
        ));
    }
}

fn unused(title: String, span: Span) -> Diagnostic {
    let warning = Diagnostic::warning(Id::UnusedName, title, span, "declared here");
    warning.help("use it, or remove it")
}

/// Warns of each `use` that gives no name which its unit mentions, directly or by way of what is
/// used there, unless another `use` gives that name, too.
pub(super) fn unused_uses(
    sources: &Sources,
    files: &Files,
    unit: UnitId,
    found: &mut Vec<Diagnostic>,
) {
    let words = words(sources, files.unit(unit));
    let mentioned = |from: UnitId| -> BTreeSet<&str> {
        let names = files.unit(from).gives().into_iter();
        let names = names.map(|name| name.text.as_str());
        names.filter(|name| words.contains(name)).collect()
    };
    let reached = |from: UnitId| -> BTreeSet<&str> {
        files
            .visible(from)
            .into_iter()
            .flat_map(mentioned)
            .collect()
    };
    let mut uses: Vec<(UnitId, Span)> = files.unit(unit).uses.clone();
    let mut at = 0;
    while let Some((used, span)) = uses.get(at).copied() {
        let others = uses.iter().filter(|(other, _)| *other != used);
        let elsewhere: BTreeSet<&str> = others.flat_map(|(other, _)| reached(*other)).collect();
        let needed = !mentioned(used).is_empty() || !reached(used).is_subset(&elsewhere);
        if needed {
            at += 1;
            continue;
        }
        uses.remove(at);
        let title = "no name of this `use` is used";
        let label = "this file uses no name from it";
        let warning = Diagnostic::warning(Id::UnusedName, title, span, label);
        found.push(warning.help("remove the line"));
    }
}

/// All words of the texts of a unit, but for those of its `use`s.
fn words<'s>(sources: &'s Sources, unit: &Unit) -> BTreeSet<&'s str> {
    let words = unit.files.iter().flat_map(|file| words_of(*file, sources));
    let uses = |place: Span| unit.uses.iter().any(|(_, span)| span.covers(place));
    let words = words.filter(|(_, place)| !uses(*place));
    words.map(|(word, _)| word).collect()
}
