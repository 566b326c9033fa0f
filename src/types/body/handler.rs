//! Handlers and finders: what happens at an event, and where an event belongs.

use super::super::context::Context;
use super::super::program::{Event, Finder, Handler, Local, LocalId, Target};
use super::super::scope::Scope;
use super::super::statement::{Block, Statement, StatementKind};
use super::super::value::Type;
use super::statement::last_brace;
use super::words::{Body, Place, number};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;

/// All handlers of one event, one after the other.
pub(super) fn handler(
    context: &mut Context,
    scope: &Scope,
    sources: &[&ast::Handler],
    event: Event,
    parameters: &[Local],
) -> Handler {
    let first = sources.first().expect("a handler is written somewhere");
    let mut body = Body::new(context, scope, Place::Handler(event));
    let parameters = body.event_parameters(parameters);
    body.assume_given();
    let block = body.handlers(sources, &parameters);
    let messages = body.messages(&parameters);
    let end = last_brace(sources.last().unwrap_or(first).body.span);
    body.check_gone(messages.into_iter(), end);
    let locals = std::mem::take(&mut body.locals);
    Handler {
        kind: scope.kind,
        event,
        locals,
        parameters,
        body: block,
        blocks: Vec::new(),
        places: Vec::new(),
        meets: false,
        span: first.span,
    }
}

/// Where an event belongs.
pub(super) fn finder(
    context: &mut Context,
    scope: &Scope,
    source: &ast::Finder,
    event: Event,
    parameters: &[Local],
) -> Finder {
    let mut body = Body::new(context, scope, Place::Finder(event));
    let parameters = body.event_parameters(parameters);
    body.assume_given();
    for local in &parameters {
        let name = body.local_name(*local).to_string();
        body.bind_unwritten(&name, *local);
    }
    let session = body.context.program.entities[scope.entity.at()].session;
    let below = body.context.program.stands_on(session);
    body.below = below.map(|below| body.add_local("below", Type::Instance(below)));
    let (targets, before) = body.ahead(|body| {
        let mut targets = Vec::new();
        for target in &source.targets {
            let condition = target.condition.as_ref();
            let condition = condition.map(|condition| body.condition(condition));
            if let Some(found) = body.sought(&target.kind, &target.keys, target.span) {
                targets.push(Target { condition, ..found });
            }
        }
        targets
    });
    body.place = Place::Handler(event);
    let messages = body.messages(&parameters);
    for message in &messages {
        body.own(*message);
    }
    let otherwise = body.block(&source.otherwise);
    body.check_gone(messages.into_iter(), last_brace(source.otherwise.span));
    let locals = std::mem::take(&mut body.locals);
    Finder {
        event,
        locals,
        parameters,
        below: body.below,
        before,
        targets,
        otherwise,
        span: source.span,
    }
}

impl Body<'_, '_> {
    fn event_parameters(&mut self, parameters: &[Local]) -> Vec<LocalId> {
        let locals = parameters.iter();
        let locals = locals.map(|local| self.add_local(&local.name, local.kind.clone()));
        locals.collect()
    }

    fn messages(&self, parameters: &[LocalId]) -> Vec<LocalId> {
        let messages = parameters.iter().copied();
        let messages = messages.filter(|local| *self.local_kind(*local) == Type::Message);
        messages.collect()
    }

    /// Handlers of one block run in the order of writing, each to its own end. A message goes to
    /// the first that would use it and whose condition holds, since only one can have it.
    fn handlers(&mut self, sources: &[&ast::Handler], parameters: &[LocalId]) -> Block {
        for message in self.messages(parameters) {
            self.own(message);
        }
        let several = sources.len() > 1;
        let sources = sources.iter();
        let sources: Vec<_> = sources
            .map(|&source| (source, several && self.uses(source, parameters)))
            .collect();
        self.handlers_from(&sources, parameters)
    }

    /// Whether a handler would use its message: it is checked for that alone.
    fn uses(&mut self, source: &ast::Handler, parameters: &[LocalId]) -> bool {
        let (words, locals) = (self.words.clone(), self.locals.clone());
        let (flow, reported) = (self.flow.clone(), self.context.diagnostics.len());
        self.bind_parameters(source, parameters);
        self.block(&source.body);
        let mut messages = self.messages(parameters).into_iter();
        let uses = messages.any(|message| !self.flow.owns(message));
        (self.words, self.locals, self.flow) = (words, locals, flow);
        self.context.diagnostics.truncate(reported);
        uses
    }

    /// Handlers, and whether each would use the message.
    fn handlers_from(
        &mut self,
        sources: &[(&ast::Handler, bool)],
        parameters: &[LocalId],
    ) -> Block {
        let Some((&(source, uses), rest)) = sources.split_first() else {
            return Block::new();
        };
        let words = self.words.len();
        self.bind_parameters(source, parameters);
        let Some(condition) = &source.condition else {
            let block = self.block(&source.body);
            self.leave_parameters(words);
            let rest = self.refuse_second(source, uses, rest);
            return followed(block, self.handlers_from(&rest, parameters), source.span);
        };
        let span = condition.span;
        let (holds, fails) = self.ways(span);
        let (condition, mut block) = self.ahead(|body| body.condition(condition));
        let before = self.flow.clone();
        self.assume(&condition, true);
        let then = self.block(&source.body);
        self.leave_parameters(words);
        // Those that want the message, too, and what is written between them.
        let last = rest.iter().rposition(|(_, wants)| uses && *wants);
        let (others, rest) = rest.split_at(last.map_or(0, |last| last + 1));
        let between: Vec<_> = others.iter().copied().filter(|(_, uses)| !uses).collect();
        let then = followed(then, self.handlers_from(&between, parameters), source.span);
        let then_flow = std::mem::replace(&mut self.flow, before);
        self.assume(&condition, false);
        let otherwise = self.handlers_from(others, parameters);
        let else_flow = std::mem::take(&mut self.flow);
        self.flow = then_flow.join(&holds, else_flow, &fails);
        block.push(Statement {
            kind: StatementKind::If {
                condition,
                likely: None,
                then,
                otherwise,
            },
            span: source.span,
        });
        block.extend(self.handlers_from(rest, parameters));
        block
    }

    /// Behind a handler without an `if` that uses the message, no other of the event gets it: those
    /// are refused, and left out.
    fn refuse_second<'s>(
        &mut self,
        first: &ast::Handler,
        uses: bool,
        rest: &[(&'s ast::Handler, bool)],
    ) -> Vec<(&'s ast::Handler, bool)> {
        let (refused, rest): (Vec<_>, Vec<_>) = rest.iter().partition(|(_, wants)| uses && *wants);
        for (second, _) in refused {
            let title = format!("`on {}` is handled twice", self.text(second.event.span));
            let span = second.event.span;
            self.report(
                Diagnostic::error(Id::HandledTwice, title, span, "the second")
                    .label(first.event.span, "the first, which uses the message")
                    .help("merge the two handlers, or add an `if` to the first"),
            );
        }
        rest
    }

    /// The words under which a handler has what its event carries.
    fn bind_parameters(&mut self, source: &ast::Handler, parameters: &[LocalId]) {
        let bindings = &source.event.bindings;
        if bindings.is_empty() {
            // What it carries has the names of its declaration, where they mean nothing else.
            for local in parameters {
                let name = self.local_name(*local).to_string();
                if !self.scope.names.contains_key(&name) {
                    self.bind_unwritten(&name, *local);
                }
            }
            return;
        }
        if bindings.len() != parameters.len() {
            let names: Vec<_> = parameters
                .iter()
                .map(|local| self.local_name(*local))
                .collect();
            let carries = match names.as_slice() {
                [] => "nothing".to_string(),
                names => super::words::listed(names),
            };
            let title = format!("this event carries {carries}");
            let label = format!("{} are named here", bindings.len());
            self.report(Diagnostic::error(
                Id::WrongArguments,
                title,
                source.event.span,
                label,
            ));
        }
        for (name, local) in bindings.iter().zip(parameters) {
            self.refuse_shadowing(name);
            self.bind(name, *local);
            self.locals[local.at()].name = name.text.clone();
        }
    }

    /// What an event carries need not be used.
    fn leave_parameters(&mut self, words: usize) {
        self.words.truncate(words);
    }
}

/// A block, and what follows it whichever way the block ends.
fn followed(block: Block, then: Block, span: Span) -> Block {
    let may_end_early = |statement: &Statement| {
        let kind = &statement.kind;
        matches!(
            kind,
            StatementKind::Attempt { .. } | StatementKind::Require { .. }
        )
    };
    if then.is_empty() || !block.iter().any(may_end_early) {
        let mut all = block;
        all.extend(then);
        return all;
    }
    let whole = Statement {
        kind: StatementKind::If {
            condition: number(1, Type::Bool),
            likely: None,
            then: block,
            otherwise: Block::new(),
        },
        span,
    };
    [vec![whole], then].concat()
}
