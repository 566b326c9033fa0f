//! Processes of layers: in, what a layer writes; out, the fields, timers, signals and functions
//! that they declare, the scope of each, and what all of them do.
//!
//! ```text
//! process scan { signal valid  on deliver { … emit valid } }    at the top of a layer
//! session { signal transmit   run connection and scan }         or in the block of an instance
//! ```
//!
//! Fields and timers of a process stand among those of its instance, as `scan.last`; no word of a
//! layer can be written so.

use super::body::{Doings, check_field_type, check_reactive, check_value_type};
use super::compose::Composition;
use super::context::Context;
use super::expression::{Binary, Instance};
use super::instances::{KindSource, own_notice};
use super::items::fields;
use super::layers::{Layer, kind_scope};
use super::process::{Carries, Role as Emitter, Signal, SignalId};
use super::program::{Event, Field, FieldId, FunctionId, Handler, KindId, Local, Role, TimerId};
use super::reactive::Reactive;
use super::scope::{Named, Scope};
use super::services::{locals, message_local};
use crate::diagnostic::{Diagnostic, Id};
use crate::syntax::loom::ast;
use std::collections::BTreeMap;

/// A process, and what it declares.
#[derive(Clone, Debug)]
pub struct Process<'a> {
    /// Whose instances run it.
    pub kind: KindId,
    /// As it is written.
    pub source: &'a ast::Process,
    /// In which process it is declared.
    pub parent: Option<usize>,
    /// `connection.opening`
    pub path: String,
    /// What it declares, by name.
    pub names: BTreeMap<String, Named>,
}

/// All processes of a kind: those at the top of a layer are the session's.
pub fn processes_of<'a>(
    items: &[&'a ast::Item],
    kind: &KindSource<'a>,
    known: &mut Vec<Process<'a>>,
) {
    for member in kind.members() {
        if let ast::Member::Process(process) = member {
            add(kind.id, process, None, known);
        }
    }
    if kind.role == Role::Session {
        for item in items {
            if let ast::Item::Process(process) = item {
                add(kind.id, process, None, known);
            }
        }
    }
}

fn add<'a>(
    kind: KindId,
    source: &'a ast::Process,
    parent: Option<usize>,
    known: &mut Vec<Process<'a>>,
) {
    let at = known.len();
    let path = match parent {
        Some(parent) => format!("{}.{}", known[parent].path, source.name),
        None => source.name.text.clone(),
    };
    known.push(Process {
        kind,
        source,
        parent,
        path,
        names: BTreeMap::new(),
    });
    for member in &source.members {
        if let ast::Member::Process(inner) = member {
            let name = inner.name.text.clone();
            let named = Named::Process(known.len() as u32);
            known[at].names.insert(name, named);
            add(kind, inner, Some(at), known);
        }
    }
}

/// Whether instances of a kind have processes, and not single handlers.
pub fn is_reactive(kind: &KindSource, processes: &[Process]) -> bool {
    let signal = |member: &ast::Member| matches!(member, ast::Member::Signal(_));
    processes.iter().any(|process| process.kind == kind.id)
        || kind.members().any(signal)
        || kind.blocks.iter().any(|block| block.run.is_some())
}

/// Adds what processes declare to the tables of their kind, but for functions and what fields begin
/// as.
pub fn declare(context: &mut Context, layer: &mut Layer, scope: &Scope) {
    let reactive = layer.kinds.iter();
    let reactive = reactive.filter(|kind| is_reactive(kind, &layer.processes));
    let reactive: Vec<KindId> = reactive.map(|kind| kind.id).collect();
    for &kind in &reactive {
        context.program.kinds[kind.at()].reactive = Some(Reactive::default());
    }
    for source in &layer.kinds {
        for member in source.members() {
            if let ast::Member::Signal(signal) = member {
                let id = declare_signal(context, scope, source.id, "", signal);
                let name = signal.name.text.clone();
                layer.signals.push((source.id, name, id));
            }
        }
    }
    for at in 0..layer.processes.len() {
        let process = layer.processes[at].clone();
        let mut names = process.names;
        for member in &process.source.members {
            let (name, named) = match member {
                ast::Member::Field(field) => {
                    let id = declare_field(context, scope, &process.kind, &process.path, field);
                    (&field.name, Named::Field(Instance::Own, process.kind, id))
                }
                ast::Member::Timer(timer) => {
                    let timers = &mut context.program.kinds[process.kind.at()].timers;
                    timers.push(format!("{}.{}", process.path, timer.name));
                    let id = TimerId(timers.len() as u32 - 1);
                    (&timer.name, Named::Timer(Instance::Own, process.kind, id))
                }
                ast::Member::Signal(signal) => {
                    let id = declare_signal(context, scope, process.kind, &process.path, signal);
                    (&signal.name, Named::Signal(id))
                }
                ast::Member::Process(_) | ast::Member::Handler(_) | ast::Member::Function(_) => {
                    continue;
                }
                ast::Member::Notice(notice) => {
                    let title = "a process cannot declare a notice";
                    let mistake = Diagnostic::error(Id::NotHere, title, notice.span, "");
                    context.report(mistake.help("declare it in the instance"));
                    continue;
                }
            };
            if names.insert(name.text.clone(), named).is_some() {
                context.report(super::names::taken(&name.text, name.span, None));
            }
        }
        layer.processes[at].names = names;
    }
}

fn declare_field(
    context: &mut Context,
    scope: &Scope,
    kind: &KindId,
    path: &str,
    source: &ast::Field,
) -> FieldId {
    let mut made = fields(
        context,
        scope,
        std::slice::from_ref(source),
        check_field_type,
    );
    let mut field = made.remove(0);
    field.name = format!("{path}.{}", field.name);
    let fields = &mut context.program.kinds[kind.at()].fields;
    fields.push(field);
    FieldId(fields.len() as u32 - 1)
}

fn declare_signal(
    context: &mut Context,
    scope: &Scope,
    kind: KindId,
    path: &str,
    source: &ast::Signal,
) -> SignalId {
    let name = match path {
        "" => source.name.text.clone(),
        path => format!("{path}.{}", source.name),
    };
    let value = source.of.as_ref();
    let value = value.map(|of| check_value_type(context, scope, of));
    let combine = source.combine.map(combining);
    let table = &mut context.program.kinds[kind.at()];
    let reactive = table.reactive.as_mut().expect("who has signals reacts");
    let id = SignalId(reactive.processes.signals.len() as u32);
    reactive.processes.signals.push(Signal {
        name: name.clone(),
        role: Emitter::Local,
        value: match (&value, combine) {
            (None, _) => Carries::Nothing,
            (Some(_), None) => Carries::One,
            (Some(_), Some(_)) => Carries::Combined,
        },
        previous: false,
        previous_value: false,
        span: source.span,
    });
    if let Some(kind) = value {
        let field = FieldId(table.fields.len() as u32);
        reactive.values.push((id, field, combine));
        table.fields.push(Field {
            name: format!("{name}.value"),
            kind,
            initial: None,
            once: false,
            has_gaps: false,
        });
    }
    id
}

/// How two values of one instant become one, in whichever order they come.
fn combining(operator: ast::BinaryOperator) -> Binary {
    match operator {
        ast::BinaryOperator::Add => Binary::Add,
        ast::BinaryOperator::Multiply => Binary::Multiply,
        ast::BinaryOperator::BitAnd => Binary::BitAnd,
        ast::BinaryOperator::BitOr => Binary::BitOr,
        ast::BinaryOperator::BitXor => Binary::BitXor,
        ast::BinaryOperator::And => Binary::And,
        ast::BinaryOperator::Or => Binary::Or,
        ordered => unreachable!("the parser lets nothing combine like {ordered:?}"),
    }
}

/// What can be named in a process, or (without one) in the instance itself.
pub fn process_scope(context: &Context, layer: &Layer, kind: KindId, at: Option<usize>) -> Scope {
    let mut scope = kind_scope(context.program, layer, kind);
    let mut around = Vec::new();
    let mut next = at;
    while let Some(at) = next {
        around.push(at);
        next = layer.processes[at].parent;
    }
    for at in around.into_iter().rev() {
        let names = layer.processes[at].names.clone();
        scope.names.extend(names);
    }
    scope
}

/// What fields of processes begin as; functions are known by now.
pub fn initials(context: &mut Context, layer: &Layer) {
    for (at, process) in layer.processes.iter().enumerate() {
        let scope = process_scope(context, layer, process.kind, Some(at));
        for member in &process.source.members {
            let ast::Member::Field(source) = member else {
                continue;
            };
            let Some(Named::Field(_, kind, field)) = process.names.get(&source.name.text) else {
                continue;
            };
            super::instances::initial(context, &scope, source, (*kind, *field));
        }
    }
}

/// Declares the functions of processes.
pub fn declare_functions<'a>(
    context: &mut Context,
    layer: &mut Layer<'a>,
) -> Vec<(FunctionId, usize, &'a ast::Function)> {
    let mut declared = Vec::new();
    for at in 0..layer.processes.len() {
        let source = layer.processes[at].source;
        for member in &source.members {
            let ast::Member::Function(function) = member else {
                continue;
            };
            let kind = layer.processes[at].kind;
            let mut scope = process_scope(context, layer, kind, Some(at));
            let id = super::items::declare(context, &mut scope, function);
            let names = &mut layer.processes[at].names;
            names.insert(function.name.text.clone(), Named::Function(id));
            declared.push((id, at, function));
        }
    }
    declared
}

/// Checks all that the processes and handlers of a kind do.
pub fn check<'a>(
    context: &mut Context,
    composition: &Composition,
    layer: &Layer<'a>,
    kind: &KindSource<'a>,
    handlers: &[&'a ast::Handler],
) {
    let own: Vec<usize> = (0..layer.processes.len())
        .filter(|at| layer.processes[*at].kind == kind.id)
        .collect();
    let scopes: Vec<Scope> = (0..layer.processes.len())
        .map(|at| process_scope(context, layer, layer.processes[at].kind, Some(at)))
        .collect();
    let runs = kind.blocks.iter().filter_map(|block| block.run.as_ref());
    let runs: Vec<&ast::Parallel> = runs.collect();
    if let [_, second, ..] = runs[..] {
        let title = "an instance has two `run`";
        let mistake = Diagnostic::error(Id::NameTaken, title, second.span, "the second");
        context.report(mistake.help("join them with `and`"));
    }
    let doings = Doings {
        scope: &process_scope(context, layer, kind.id, None),
        scopes: &scopes,
        processes: &layer.processes,
        own,
        handlers,
        run: runs.first().copied(),
        events: events(context, composition, layer, kind),
    };
    let handlers: Vec<Handler> = check_reactive(context, &doings);
    context.program.handlers.extend(handlers);
}

/// What words behind `on` and `await` mean to a kind, but for its timers and signals.
fn events(
    context: &Context,
    composition: &Composition,
    layer: &Layer,
    kind: &KindSource,
) -> BTreeMap<String, (Event, Vec<Local>)> {
    let mut events = BTreeMap::new();
    let faces = layer.requires.iter().chain(&layer.sides);
    let up = faces.flat_map(|face| &face.up);
    for (name, notice) in up.chain(&layer.provides.down) {
        let parameters = locals(&context.program.notices[notice.at()]);
        events.insert(name.clone(), (Event::Notice(*notice), parameters));
    }
    for member in kind.members() {
        if let ast::Member::Notice(source) = member
            && let Some(notice) = own_notice(context, composition, layer, kind, &source.name.text)
        {
            let parameters = locals(&context.program.notices[notice.at()]);
            let event = (Event::Notice(notice), parameters);
            events.insert(source.name.text.clone(), event);
        }
    }
    for (name, event) in [("send", Event::Send), ("deliver", Event::Deliver)] {
        events.insert(name.to_string(), (event, vec![message_local()]));
    }
    for (name, event) in [("start", Event::Start), ("again", Event::Again)] {
        events.insert(name.to_string(), (event, Vec::new()));
    }
    events
}
