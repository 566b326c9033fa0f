//! Trees of all files -> the checked program: names, types, wire layout, linear messages, shapes.
//!
//! ```text
//! texts ──load──▶ Files ──compose──▶ who stands where ──layers──▶ tables and words of each layer
//!        ──headers, handlers (by way of body)──▶ bodies ──relays, ends──▶ program::Program
//! ```
//!
//! A layer is checked twice: by itself ([`check_layers`]), with types and parameters that it does
//! not know, and once for each place where it stands in a stack ([`check_stack`]), with all known.
//! Mistakes are collected; there is a program only if there are none.

pub mod body;
pub mod code;
pub mod constant;
pub mod context;
pub mod estelle;
pub mod esterel;
pub mod expression;
pub mod external;
pub mod fields;
pub mod header;
pub mod lifetimes;
pub mod load;
pub mod names;
pub mod opening;
pub mod process;
pub mod program;
pub mod reactive;
pub mod scope;
pub mod statement;
pub mod value;
pub mod writing;

mod attributes;
mod compose;
mod edges;
mod ends;
mod functions;
mod grants;
mod handlers;
mod headers;
mod instances;
mod items;
mod joints;
mod kernel;
mod layers;
mod lint;
mod made;
mod moved;
mod once;
mod origins;
mod parameters;
mod parts;
mod paths;
mod processes;
mod reads;
mod relays;
mod services;
mod yields;

pub use lint::warnings;

use crate::diagnostic::{Diagnostic, Id, Severity, merged};
use crate::source::Sources;
use crate::syntax::loom::ast;
use context::Context;
use load::Files;
use program::Program;
use services::Services;

/// The program of one stack that the root of `files` declares, and all that is wrong with it;
/// there is a program if nothing is.
pub fn check_stack(
    sources: &Sources,
    files: &Files,
    stack: &str,
) -> (Option<Program>, Vec<Diagnostic>) {
    let mut program = Program::default();
    let mut diagnostics = Vec::new();
    let stacks = &files.unit(files.root()).stacks;
    let Some(source) = stacks.iter().find(|source| source.name.is(stack)) else {
        diagnostics.push(unknown_stack(sources, files, stack));
        return (None, diagnostics);
    };
    let mut services = Services::collect(files, &mut diagnostics);
    let composition = compose::compose(files, &services, source, &mut diagnostics);
    if is_refused(&diagnostics) {
        return (None, merged(diagnostics));
    }
    program.name = source.name.text.clone();
    program.docs = source.notes.documentation.clone();
    program.traffic = source.traffic.iter().map(share).collect();
    let mut context = Context::new(&mut program, &mut diagnostics, sources);
    context.files = Some(files);
    elaborate(&mut context, files, &mut services, &composition);
    if !is_refused(&diagnostics) {
        origins::check_origins(&program, &mut diagnostics);
        made::check_made(&program, &mut diagnostics);
        attributes::check_attributes(&program, &mut diagnostics);
    }
    let diagnostics = merged(diagnostics);
    let program = (!is_refused(&diagnostics)).then_some(program);
    (program, diagnostics)
}

/// The layers that the root of `files` declares, each by itself, and all that is wrong with them;
/// there is a program of each with which nothing is.
pub fn check_layers(sources: &Sources, files: &Files) -> (Vec<Program>, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let mut programs = Vec::new();
    let layers = &files.unit(files.root()).layers;
    if layers.is_empty() {
        let mut program = Program::default();
        let mut context = Context::new(&mut program, &mut diagnostics, sources);
        context.files = Some(files);
        layers::items_alone(&mut context, files);
    }
    for layer in layers {
        let mut services = Services::collect(files, &mut diagnostics);
        let (unit, before) = (files.root(), diagnostics.len());
        let composition = compose::compose_alone(&services, unit, layer, &mut diagnostics);
        let mut said = diagnostics[before..].iter();
        if said.any(|said| said.id == Id::UnknownService) {
            // What such a service declares, its types and attributes, would be unknown, too.
            continue;
        }
        let mut program = Program::default();
        let mut context = Context::new(&mut program, &mut diagnostics, sources);
        context.files = Some(files);
        elaborate(&mut context, files, &mut services, &composition);
        if !is_refused(&diagnostics[before..]) {
            programs.push(program);
        }
    }
    (programs, merged(diagnostics))
}

/// Fills the tables of the program.
fn elaborate<'a>(
    context: &mut Context,
    files: &'a Files,
    services: &mut Services<'a>,
    composition: &compose::Composition<'a>,
) {
    context.offered = services.offered();
    let (mut layers, words) = layers::layers(context, files, composition, services);
    for layer in &mut layers {
        let unit = composition.node(layer.entity).unit;
        layer.scope.services = services.names(unit);
    }
    ends::below(context, composition);
    for layer in &layers {
        headers::rules(context, layer);
        handlers::handlers(context, composition, layer);
    }
    edges::begin(context.program);
    ends::marks(context, composition, services);
    if composition.alone {
        return;
    }
    external::check(context, composition);
    let notices = relays::Notices::new(context.program, composition, &layers);
    notices.check_receivers(context);
    let around = words.of_unit(files.root());
    ends::ends(context, &around, composition, &layers, &notices);
    grants::grants(context, composition, &notices);
    notices.relay(context);
    let program = &mut *context.program;
    let entity_of = |kind: program::KindId| program.kinds[kind.at()].entity;
    program
        .handlers
        .sort_by_key(|handler| entity_of(handler.kind));
    for kind in (0..program.kinds.len() as u32).map(program::KindId) {
        let entity = program.kinds[kind.at()].entity;
        if !program.left_at_end(kind).is_empty() && program.ended(entity).is_none() {
            let name = "ended".to_string();
            program.reasons.push(program::Reason { entity, name });
        }
    }
}

/// How often an event comes, in percent.
fn share(traffic: &ast::Traffic) -> (String, f64) {
    let percent = f64::from(traffic.millionths) / 10_000.0;
    (traffic.event.text.clone(), percent)
}

fn is_refused(diagnostics: &[Diagnostic]) -> bool {
    let mut diagnostics = diagnostics.iter();
    diagnostics.any(|diagnostic| diagnostic.severity == Severity::Error)
}

fn unknown_stack(sources: &Sources, files: &Files, stack: &str) -> Diagnostic {
    let root = files.unit(files.root());
    let title = format!("there is no stack `{stack}`");
    let span = sources.span(root.files[0]).before();
    let known: Vec<_> = root.stacks.iter().map(|stack| &*stack.name.text).collect();
    let diagnostic = Diagnostic::error(Id::UnknownEntity, title, span, "in this file");
    names::suggest(diagnostic, stack, &known)
}
