//! Signals and events: what a path stands for, and words for what it brings.

use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;
use crate::types::body::words::{Body, Word, make, number};
use crate::types::expression::{Expression, ExpressionKind, Instance};
use crate::types::process::{Carries, Presence, Role as Emitter, Signal, SignalId};
use crate::types::program::{Event, FieldId, Local, LocalId};
use crate::types::scope::Named;
use crate::types::statement::{Block, Statement, StatementKind};
use crate::types::value::Type;

use super::{Heard, asked};

impl<'a> Body<'a, '_> {
    /// The signals of an event, and words for what it brings; if they are needed after a wait,
    /// fields keep it.
    pub(super) fn heard(&mut self, source: &ast::Event, keeps: bool) -> Option<Heard> {
        let mut heard = Heard {
            signals: Vec::new(),
            first: Block::new(),
            message: None,
        };
        for path in &source.names {
            let (signal, event) = self.listened(path)?;
            heard.signals.push(signal);
            if source.names.len() > 1 {
                continue;
            }
            match event {
                Some(parameters) => self.brought(source, &parameters, keeps, &mut heard),
                None => self.carried(source, signal, keeps, &mut heard),
            }
        }
        if source.names.len() > 1 && !source.bindings.is_empty() {
            let title = "alternatives joined by `or` cannot bind values";
            self.report(Diagnostic::error(
                Id::WrongArguments,
                title,
                source.span,
                "",
            ));
        }
        Some(heard)
    }

    /// What an event from outside brings.
    pub(super) fn brought(
        &mut self,
        source: &ast::Event,
        parameters: &[LocalId],
        keeps: bool,
        heard: &mut Heard,
    ) {
        let is_message = |local: &&LocalId| *self.local_kind(**local) == Type::Message;
        heard.message = parameters.iter().find(is_message).copied();
        let bindings = &source.bindings;
        if !bindings.is_empty() && bindings.len() != parameters.len() {
            let title = format!("this event carries {} values", parameters.len());
            let label = format!("{} named here", bindings.len());
            let mistake = Diagnostic::error(Id::WrongArguments, title, source.span, label);
            self.report(mistake);
        }
        for (at, &parameter) in parameters.iter().enumerate() {
            let kind = self.local_kind(parameter).clone();
            let unwritten = self.local_name(parameter).to_string();
            match bindings.get(at) {
                Some(name) if keeps && kind != Type::Message => {
                    let value = self.read_local(parameter);
                    self.kept_from(name, value, source.span, heard);
                }
                Some(name) => {
                    // The message that was there before a wait is gone; this is the next one.
                    let again = |word: &Word| word.name == name.text && word.local == parameter;
                    if !self.words.iter().any(again) {
                        self.refuse_shadowing(name);
                    }
                    self.bind(name, parameter);
                }
                None if !self.scope.names.contains_key(&unwritten) => {
                    self.bind_unwritten(&unwritten, parameter);
                }
                None => {}
            }
        }
    }

    /// What a signal carries.
    pub(super) fn carried(
        &mut self,
        source: &ast::Event,
        signal: SignalId,
        keeps: bool,
        heard: &mut Heard,
    ) {
        match (self.value_of_signal(signal), &*source.bindings) {
            (_, []) => {}
            (Some((field, kind)), [name]) => {
                let value = make(ExpressionKind::Read(self.own_field(field)), kind.clone());
                match keeps {
                    true => self.kept_from(name, value, source.span, heard),
                    false => {
                        let local = self.declare(name, kind);
                        self.reacts().kept.insert(local, field);
                    }
                }
            }
            _ => {
                let title = "the type does not match the value of the signal";
                self.report(Diagnostic::error(
                    Id::WrongArguments,
                    title,
                    source.span,
                    "",
                ));
            }
        }
    }

    /// A field keeps a value across waits.
    pub(super) fn kept_from(
        &mut self,
        name: &ast::Name,
        value: Expression,
        span: Span,
        heard: &mut Heard,
    ) {
        let kind = value.result.clone();
        let field = self.keep(&name.text, &kind);
        let local = self.declare(name, kind);
        self.reacts().kept.insert(local, field);
        let kind = StatementKind::Assign(self.own_field(field), value);
        heard.first.push(Statement { kind, span });
    }

    /// What a path names: `connection.advanced`.
    pub(in crate::types::body) fn named_path(&self, path: &ast::Path) -> Option<Named> {
        self.scope.path(path)
    }

    /// The signal that is present when something comes; of what comes from outside, also the
    /// locals that hold what it brings.
    pub(super) fn listened(
        &mut self,
        path: &ast::Path,
    ) -> Option<(SignalId, Option<Vec<LocalId>>)> {
        match self.named_path(path) {
            Some(Named::Signal(signal)) => return Some((signal, None)),
            Some(Named::Timer(Instance::Own, _, timer)) => {
                let event = Event::Timer(timer);
                let (signal, locals) = self.input(event, &[], &path.to_string(), path.span);
                return Some((signal, Some(locals)));
            }
            _ => {}
        }
        let doings = self.reacts().doings;
        if let Some(name) = path.single()
            && let Some((event, parameters)) = doings.events.get(&name.text)
        {
            let (signal, locals) = self.input(*event, parameters, &name.text, path.span);
            return Some((signal, Some(locals)));
        }
        self.no_signal(path);
        None
    }

    /// Reports that a path leads to no process. All that is asked of one process is one mistake.
    pub(super) fn no_process(&mut self, path: &ast::Path) {
        let name = &path.names[0];
        let title = format!("there is no process `{name}` here");
        let mistake = Diagnostic::error(Id::UnknownName, title, name.span, "unknown");
        let names = self.scope.names.iter();
        let processes = names.filter(|(_, named)| matches!(named, Named::Process(_)));
        let known = processes.map(|(name, _)| name.as_str());
        let mistake = match crate::diagnostic::closest(&name.text, known) {
            Some(near) => mistake.help(format!("did you mean `{near}`?")),
            None => mistake,
        };
        self.report(mistake.cause(format!("name {name}")));
    }

    pub(super) fn no_signal(&mut self, path: &ast::Path) {
        if path.names.len() > 1 && !self.scope.names.contains_key(&path.names[0].text) {
            self.no_process(path);
            return;
        }
        let events: Vec<String> = self.reacts().doings.events.keys().cloned().collect();
        let names = self.scope.names.iter();
        let signals = names.filter(|(_, named)| matches!(named, Named::Signal(_)));
        let known = signals.map(|(name, _)| name.clone()).chain(events);
        let known: Vec<String> = known.collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let title = format!("there is no signal or event `{path}` here");
        let mut mistake = Diagnostic::error(Id::UnknownEvent, title, path.span, "unknown");
        if let Some(near) = crate::diagnostic::closest(&path.to_string(), known) {
            mistake = mistake.help(format!("did you mean `{near}`?"));
        }
        self.report(mistake);
    }

    /// The message that is there without a name: a header's own, or in processes the one that
    /// `deliver` brings.
    pub(in crate::types::body) fn message_of_instant(&mut self) -> Option<LocalId> {
        if self.scope.message.is_some() || self.reacts.is_none() {
            return self.scope.message;
        }
        let doings = self.reacts().doings;
        let (event, parameters) = doings.events.get("deliver")?;
        let span = self.entity_span();
        let (_, locals) = self.input(*event, parameters, "deliver", span);
        locals.first().copied()
    }

    /// The input that says that an event has come, and the locals that hold what it brings.
    pub(super) fn input(
        &mut self,
        event: Event,
        parameters: &[Local],
        name: &str,
        span: Span,
    ) -> (SignalId, Vec<LocalId>) {
        let mut known = self.reacts().events.iter();
        if let Some((_, signal, locals)) = known.find(|(other, ..)| *other == event) {
            return (*signal, locals.clone());
        }
        let signal = self.new_signal(name, Emitter::Input, span);
        let locals = parameters.iter();
        let locals = locals.map(|local| self.add_local(&local.name, local.kind.clone()));
        let locals: Vec<LocalId> = locals.collect();
        self.reacts().events.push((event, signal, locals.clone()));
        (signal, locals)
    }

    pub(super) fn new_signal(&mut self, name: &str, role: Emitter, span: Span) -> SignalId {
        let table = &mut self.context.program.kinds[self.scope.kind.at()];
        let reactive = table.reactive.as_mut().expect("who has processes reacts");
        let signals = &mut reactive.processes.signals;
        signals.push(Signal {
            name: name.to_string(),
            role,
            value: Carries::Nothing,
            previous: false,
            previous_value: false,
            span,
        });
        SignalId(signals.len() as u32 - 1)
    }

    /// The field that holds the value of a signal, and its type.
    pub(super) fn value_of_signal(&self, signal: SignalId) -> Option<(FieldId, Type)> {
        let table = &self.context.program.kinds[self.scope.kind.at()];
        let values = &table.reactive.as_ref()?.values;
        let (_, field, _) = values.iter().find(|(other, ..)| *other == signal)?;
        Some((*field, table.fields[field.at()].kind.clone()))
    }

    /// Whether a signal, or an event, is present: none if the path is neither.
    pub(in crate::types::body) fn presence(
        &mut self,
        operand: &ast::Expression,
    ) -> Option<Expression> {
        self.reacts.as_ref()?;
        let path = path_of(operand)?;
        let signal = match self.named_path(&path) {
            Some(Named::Signal(signal)) => signal,
            Some(Named::Timer(..)) => self.listened(&path)?.0,
            Some(_) => return None,
            None => {
                let name = path.single()?;
                let known = self.reacts().doings.events.contains_key(&name.text);
                let local = self.words.iter().any(|word| word.name == name.text);
                if !known || local {
                    return None;
                }
                self.listened(&path)?.0
            }
        };
        Some(asked(Presence::Now(signal)))
    }

    /// What is asked of signals: where it is no condition of a statement, one before says it.
    pub(in crate::types::body) fn answered(
        &mut self,
        condition: Expression,
        span: Span,
    ) -> Expression {
        if self.asks {
            return condition;
        }
        let local = self.add_local("present", Type::Bool);
        let Some(before) = self.before.as_mut() else {
            let title = "signals cannot be tested here";
            let mistake = Diagnostic::error(
                Id::NotHere,
                title,
                span,
                "evaluated before any process runs",
            );
            return self.refuse(mistake.help("test the signal in a statement of a process"));
        };
        let known = |truth: u64| {
            let kind = StatementKind::Let(local, number(truth, Type::Bool));
            vec![Statement { kind, span }]
        };
        let kind = StatementKind::If {
            condition,
            likely: None,
            then: known(1),
            otherwise: known(0),
        };
        before.push(Statement { kind, span });
        self.read_local(local)
    }
}

/// `scan.valid`, as a path.
pub(super) fn path_of(source: &ast::Expression) -> Option<ast::Path> {
    match &source.kind {
        ast::ExpressionKind::Name(name) => Some(ast::Path {
            names: vec![name.clone()],
            span: source.span,
        }),
        ast::ExpressionKind::Field { of, name } => {
            let mut path = path_of(of)?;
            path.names.push(name.clone());
            path.span = source.span;
            Some(path)
        }
        _of_no_path => None,
    }
}
