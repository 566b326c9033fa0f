//! Handlers and finders: in, what a layer writes; out, the handlers of each kind and the finders
//! of its entity, and a handler that relays where a layer says nothing of `send` or `deliver`.

use super::body::{check_asked, check_finder, check_handler};
use super::compose::Composition;
use super::context::Context;
use super::instances::{KindSource, own_notice};
use super::layers::{Layer, kind_scope};
use super::names::{not_yet, suggest};
use super::once::once;
use super::processes;
use super::program::{Event, Field, KindId, Local, NoticeId, Population, Program, Role, TimerId};
use super::services::{locals, message_local};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;

/// Checks all finders and handlers of a layer.
pub fn handlers(context: &mut Context, composition: &Composition, layer: &Layer) {
    let first = context.program.handlers.len();
    finders(context, composition, layer);
    for kind in &layer.kinds {
        let scope = kind_scope(context.program, layer, kind.id);
        let mut all = sources(layer, kind);
        if context.program.kinds[kind.id.at()].reactive.is_some() {
            // The end is not an instant of processes: they are gone.
            let ends = |handler: &&ast::Handler| {
                let mut names = handler.event.names.iter();
                names.all(|name| name.single().is_some_and(|name| name.is("end")))
            };
            let (ends, others) = all.into_iter().partition(ends);
            all = ends;
            processes::check(context, composition, layer, kind, &others);
        }
        for (event, parameters, sources) in grouped(context, composition, layer, kind, all) {
            if kind.role == Role::Session {
                check_session(context, composition, layer, event, sources[0]);
            }
            let handler = check_handler(context, &scope, &sources, event, &parameters);
            context.program.handlers.push(handler);
        }
    }
    relay_messages(context, composition, layer);
    let kinds: Vec<KindId> = layer.kinds.iter().map(|kind| kind.id).collect();
    check_asked(context, &kinds);
    once(context, first);
    if layer
        .kinds
        .iter()
        .any(|kind| may_end_holding(context.program, kind.id))
    {
        context.reason(layer.entity, "ended");
    }
}

/// Whether instances of a kind end, and may still hold messages then.
fn may_end_holding(program: &Program, kind: KindId) -> bool {
    let kind = &program.kinds[kind.at()];
    let holds = |field: &Field| field.kind.holds_messages();
    let ends = !matches!(kind.population, Population::Static(_));
    ends && kind.fields.iter().any(holds)
}

/// What a kind does at one event, in the order of writing.
type Group<'a> = (Event, Vec<Local>, Vec<&'a ast::Handler>);

/// The handlers of a kind by event, in the order in which the events are first written.
fn grouped<'a>(
    context: &mut Context,
    composition: &Composition,
    layer: &Layer<'a>,
    kind: &KindSource<'a>,
    handlers: Vec<&'a ast::Handler>,
) -> Vec<Group<'a>> {
    let mut groups: Vec<Group> = Vec::new();
    for handler in handlers {
        for path in &handler.event.names {
            let Some(name) = path.single() else {
                let what = "an event of a process";
                context.report(not_yet(path.span, what));
                continue;
            };
            let Some((event, parameters)) = event(context, composition, layer, kind, name) else {
                let diagnostic = unknown_event(context, layer, kind, name);
                context.report(diagnostic);
                continue;
            };
            match groups.iter_mut().find(|(other, _, _)| *other == event) {
                Some((_, _, sources)) => sources.push(handler),
                None => groups.push((event, parameters, vec![handler])),
            }
        }
    }
    groups
}

/// All handlers of a kind: those at the top of a layer are the session's.
fn sources<'a>(layer: &Layer<'a>, kind: &KindSource<'a>) -> Vec<&'a ast::Handler> {
    let members = kind.members().filter_map(|member| match member {
        ast::Member::Handler(handler) => Some(handler),
        ast::Member::Field(_)
        | ast::Member::Timer(_)
        | ast::Member::Signal(_)
        | ast::Member::Notice(_)
        | ast::Member::Process(_)
        | ast::Member::Function(_) => None,
    });
    let mut handlers: Vec<_> = members.collect();
    if kind.role == Role::Session {
        for item in &layer.items {
            if let ast::Item::Handler(handler) = item {
                handlers.push(handler);
            }
        }
    }
    handlers
}

/// What a word behind `on` means to one kind, and what the event carries.
fn event(
    context: &Context,
    composition: &Composition,
    layer: &Layer,
    kind: &KindSource,
    name: &ast::Name,
) -> Option<(Event, Vec<Local>)> {
    match &*name.text {
        "send" => return Some((Event::Send, vec![message_local()])),
        "deliver" => return Some((Event::Deliver, vec![message_local()])),
        "start" => return Some((Event::Start, Vec::new())),
        "end" => return Some((Event::End, Vec::new())),
        "again" => return Some((Event::Again, Vec::new())),
        _another_word => {}
    }
    let timers = &context.program.kinds[kind.id.at()].timers;
    if let Some(timer) = timers.iter().position(|timer| name.is(timer)) {
        return Some((Event::Timer(TimerId(timer as u32)), Vec::new()));
    }
    let own = own_notice(context, composition, layer, kind, &name.text);
    let notice = own.or_else(|| arriving(layer, &name.text))?;
    let parameters = locals(&context.program.notices[notice.at()]);
    Some((Event::Notice(notice), parameters))
}

/// A notice that can come to a layer: from above, from below, or from beside.
fn arriving(layer: &Layer, name: &str) -> Option<NoticeId> {
    let down = layer.provides.down.get(name);
    let mut faces = layer.requires.iter().chain(&layer.sides);
    let up = || faces.find_map(|face| face.up.get(name));
    down.or_else(up).copied()
}

fn unknown_event(
    context: &Context,
    layer: &Layer,
    kind: &KindSource,
    name: &ast::Name,
) -> Diagnostic {
    let timers = &context.program.kinds[kind.id.at()].timers;
    let mut known: Vec<&str> = vec!["send", "deliver", "start", "end", "again"];
    known.extend(timers.iter().map(|timer| &**timer));
    known.extend(layer.provides.down.keys().map(|name| &**name));
    for face in layer.requires.iter().chain(&layer.sides) {
        known.extend(face.up.keys().map(|name| &**name));
    }
    let title = format!("this layer has no event `{name}`");
    let diagnostic = Diagnostic::error(Id::UnknownEvent, title, name.span, "").why(
        "A handler is for `send`, `deliver`, `start`, `end`, `again`, a timer of its instance, or \
        a notice of a service that the layer provides, requires or uses.",
    );
    match &*name.text {
        "receive" | "recv" | "input" | "rx" => {
            diagnostic.help("write `deliver` for messages from below")
        }
        "transmit" | "xmit" | "output" | "tx" => {
            diagnostic.help("write `send` for messages from above")
        }
        "timeout" | "timer" | "expire" | "expired" if !timers.is_empty() => {
            diagnostic.help(format!("write the name of the timer: `on {}`", timers[0]))
        }
        "init" | "create" => diagnostic.help("write `start` for the start of an instance"),
        _ => context.offer(suggest(diagnostic, &name.text, &known), &name.text),
    }
}

fn finders(context: &mut Context, composition: &Composition, layer: &Layer) {
    let node = composition.node(layer.entity);
    let is_multiplexor = node.layer.shape == ast::Shape::Multiplexor;
    let record = &layer.kinds[0];
    let scope = kind_scope(context.program, layer, record.id);
    let (mut found, mut unknown) = (Vec::new(), false);
    for item in &layer.items {
        let ast::Item::Finder(source) = item else {
            continue;
        };
        let name = &source.event;
        if !is_multiplexor {
            context.report(no_finder_here(source.span));
            continue;
        }
        let event = match event(context, composition, layer, record, name) {
            Some((event @ (Event::Deliver | Event::Notice(_)), parameters)) => {
                Some((event, parameters))
            }
            Some((Event::Send | Event::Timer(_) | Event::Start | Event::End | Event::Again, _))
            | None => None,
        };
        let Some((event, parameters)) = event else {
            let diagnostic = unknown_event(context, layer, record, name);
            context.report(diagnostic);
            unknown = true;
            continue;
        };
        if found.contains(&event) {
            let title = format!("a second finder for `{name}`");
            context.report(
                Diagnostic::error(Id::NameTaken, title, source.span, "")
                    .why("An event has one finder, which selects the instance that handles it.")
                    .help("extend the first finder with `or` and another `session(…)`"),
            );
            continue;
        }
        found.push(event);
        let finder = check_finder(context, &scope, source, event, &parameters);
        context.program.entities[layer.entity.at()]
            .finders
            .push(finder);
    }
    if is_multiplexor && !found.contains(&Event::Deliver) && !unknown {
        let title = format!(
            "`{}` does not find the session of a message",
            node.layer.name
        );
        context.report(
            Diagnostic::error(Id::MissingFinder, title, node.layer.name.span, "")
                .why("A multiplexor must find the session of each message from below, by its keys.")
                .help("add `on deliver find session(header.…) else drop message as …`"),
        );
    }
}

/// At a multiplexor, a notice from below or beside is for a session only if a finder, or the
/// entity, says for which.
fn check_session(
    context: &mut Context,
    composition: &Composition,
    layer: &Layer,
    event: Event,
    source: &ast::Handler,
) {
    let Event::Notice(notice) = event else { return };
    let mut faces = layer.requires.iter().chain(&layer.sides);
    let comes_up = faces.any(|face| face.up.values().any(|up| *up == notice));
    let node = composition.node(layer.entity);
    let mut finders = context.program.entities[layer.entity.at()].finders.iter();
    let is_found = finders.any(|finder| finder.event == event);
    let record = layer.kinds[0].id;
    let mut handlers = context.program.handlers.iter();
    let is_told = handlers.any(|handler| handler.kind == record && handler.event == event);
    if node.layer.shape == ast::Shape::Multiplexor && comes_up && !is_found && !is_told {
        let name = &context.program.notices[notice.at()].name;
        let title = format!("the session of the event `{name}` is unknown");
        let help =
            format!("add `on {name} find session(…) else …`, or move the handler into `entity`");
        context.report(
            Diagnostic::error(Id::MissingFinder, title, source.event.span, "")
                .why("A multiplexor has many sessions; an event from below is for one of them.")
                .help(help),
        );
    }
}

fn no_finder_here(span: Span) -> Diagnostic {
    let title = "this layer cannot have a finder";
    Diagnostic::error(Id::MissingFinder, title, span, "")
        .why("Only a multiplexor finds sessions; other layers have one session per joint.")
}

/// Passing on is what a layer does that says nothing else.
fn relay_messages(context: &mut Context, composition: &Composition, layer: &Layer) {
    if composition.alone {
        return;
    }
    let node = composition.node(layer.entity);
    let session = layer.kinds[1].id;
    let handles = |context: &Context, event: Event| {
        let mut handlers = context.program.handlers.iter();
        handlers.any(|handler| handler.kind == session && handler.event == event)
    };
    let span = node.layer.name.span;
    let scope = kind_scope(context.program, layer, session);
    let relay = |context: &mut Context, event, statement| {
        let handler = relaying(span, statement);
        let parameters = [message_local()];
        let handler = check_handler(context, &scope, &[&handler], event, &parameters);
        context.program.handlers.push(handler);
    };
    if !node.above.is_empty() && !handles(context, Event::Send) {
        relay(
            context,
            Event::Send,
            ast::StatementKind::Send(passing(span)),
        );
    }
    if handles(context, Event::Deliver) {
        return;
    }
    if node.above.is_empty() {
        let title = format!(
            "`{}` delivers its messages, but nothing stands on it",
            node.name
        );
        context.report(
            Diagnostic::error(Id::NothingAbove, title, node.span, "")
                .why("A layer without `on deliver` passes each message to the layer above.")
                .help("add a layer or a `port` in braces: `{ port NAME }`"),
        );
        return;
    }
    relay(
        context,
        Event::Deliver,
        ast::StatementKind::Deliver(passing(span)),
    );
}

fn passing(span: Span) -> ast::Output {
    let name = ast::Name {
        text: "message".to_string(),
        span,
    };
    ast::Output {
        message: ast::Expression {
            kind: ast::ExpressionKind::Name(name),
            span,
        },
        to: None,
        with: Vec::new(),
    }
}

/// A handler that nobody wrote: `on send(message) { send message }`.
fn relaying(span: Span, kind: ast::StatementKind) -> ast::Handler {
    ast::Handler {
        notes: ast::Notes::default(),
        event: ast::Event {
            names: Vec::new(),
            bindings: Vec::new(),
            span,
        },
        condition: None,
        body: ast::Block {
            statements: vec![ast::Statement {
                notes: ast::Notes::default(),
                kind,
                span,
            }],
            span,
        },
        span,
    }
}
