//! `let`, and operations of messages and containers: which of them may fail, and who owns what
//! when they do.
//!
//! What an operation refuses, its `else` still owns: it starts from what was known before.

use super::super::expression::{Binary, Expression, ExpressionKind, Instance, Query, Variable};
use super::super::opening::LISTENER;
use super::super::program::{HeaderId, KeyId, KindId, LocalId, Population, Role, Target, TimerId};
use super::super::statement::{Attempt, Search, Source, StatementKind};
use super::super::value::Type;
use super::access::Meaning;
use super::flow::Flow;
use super::kinds::holds_things;
use super::operation::Operated;
use super::statement::Exit;
use super::words::{Body, Place, make, nothing, number};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;

/// What may fail, what it binds, and the locals that its binding owns or shares.
pub(super) struct Tried {
    pub attempt: Attempt,
    pub binds: Option<Type>,
    shared: bool,
}

impl Body<'_, '_> {
    /// `let x = …`, with an `else` where it may fail.
    pub fn let_statement(
        &mut self,
        name: &ast::Name,
        value: &ast::Expression,
        otherwise: Option<&ast::Block>,
        span: Span,
        exits: &mut Vec<Exit>,
    ) -> Option<StatementKind> {
        let failing = self.flow.clone();
        let tried = match self.tried(value) {
            Some(tried) => tried,
            None => return self.plain_let(name, value, otherwise, failing, exits),
        };
        let Some(tried) = tried else {
            self.declare(name, Type::Nothing);
            return None;
        };
        let Some(otherwise) = otherwise else {
            self.declare(name, Type::Nothing);
            return self.needs_else(value, span);
        };
        let statement = self.attempt(tried.attempt, otherwise, failing, value.span, exits);
        let kind = tried
            .binds
            .expect("what stands behind a `let` binds something");
        let is_message = kind == Type::Message;
        let local = self.declare(name, kind);
        if is_message {
            self.own(local);
            if tried.shared {
                self.flow.shared.insert(local, span);
            }
        }
        Some(with_binding(statement, local))
    }

    fn plain_let(
        &mut self,
        name: &ast::Name,
        source: &ast::Expression,
        otherwise: Option<&ast::Block>,
        failing: Flow,
        exits: &mut Vec<Exit>,
    ) -> Option<StatementKind> {
        let Some(otherwise) = otherwise else {
            let value = self.check(source, None);
            let value = self.only_values(value, source.span);
            let local = self.declare(name, value.result.clone());
            if matches!(self.place, Place::Function | Place::Filter(_)) {
                self.assignable.push(local);
            }
            let read = self.read_local(local);
            self.assume_value(read, &value);
            return Some(StatementKind::Let(local, value));
        };
        let value = self.check_raw(source, None);
        let kind = match &value.result {
            Type::Optional(inner) => (**inner).clone(),
            Type::Nothing => Type::Nothing,
            _ => {
                let title = format!("`{}` always has a value", self.text(source.span));
                let label = "this cannot fail";
                let refused = Diagnostic::error(Id::CannotFail, title, source.span, label);
                self.report(refused.help("remove the `else`"));
                Type::Nothing
            }
        };
        let present = make(ExpressionKind::Present(value.clone()), Type::Bool);
        let attempt = Attempt::Value(value);
        let statement = self.attempt(attempt, otherwise, failing, source.span, exits);
        if kind != Type::Nothing {
            self.assume(&present, true);
        }
        let local = self.declare(name, kind);
        Some(with_binding(statement, local))
    }

    /// Containers stay where they are.
    fn only_values(&mut self, value: Expression, span: Span) -> Expression {
        if !holds_things(&value.result) {
            return value;
        }
        let title = format!(
            "`{}` is a container, and cannot be a value",
            self.text(span)
        );
        self.refuse(Diagnostic::error(Id::NotAValue, title, span, "a container"))
    }

    /// A statement that may fail, with what takes the place of the rest of the block.
    pub fn attempt(
        &mut self,
        attempt: Attempt,
        otherwise: &ast::Block,
        failing: Flow,
        span: Span,
        exits: &mut Vec<Exit>,
    ) -> StatementKind {
        let (holds, fails) = self.ways(span);
        let (mut succeeds, mut failed) = (holds, fails);
        succeeds.text = "when this succeeds".to_string();
        failed.text = "when this fails".to_string();
        let otherwise = self.exit(otherwise, failing, (failed, succeeds), exits);
        StatementKind::Attempt {
            attempt,
            bind: None,
            likely: None,
            otherwise,
        }
    }

    pub fn needs_else(&mut self, value: &ast::Expression, span: Span) -> Option<StatementKind> {
        let text = self.text(value.span);
        let title = format!("`{text}` may fail");
        let refused = Diagnostic::error(Id::MissingElse, title, span.after(), "expected `else`");
        self.report(
            refused
                .why(
                    "An operation that may fail needs an `else`, which replaces the rest of the \
                    block on failure.",
                )
                .help("add `else drop message as …`, or `else {}` to do nothing more"),
        );
        None
    }

    /// What may fail behind a `let`; `None` of a plain value, `Some(None)` if it is wrong.
    fn tried(&mut self, value: &ast::Expression) -> Option<Option<Tried>> {
        match &value.kind {
            ast::ExpressionKind::Group(inner) => self.tried(inner),
            ast::ExpressionKind::Find(_)
            | ast::ExpressionKind::FindByTimer { .. }
            | ast::ExpressionKind::Create(_) => Some(self.searches(value)),
            ast::ExpressionKind::Else { value: first, .. }
                if matches!(
                    first.kind,
                    ast::ExpressionKind::Find(_)
                        | ast::ExpressionKind::FindByTimer { .. }
                        | ast::ExpressionKind::Create(_)
                        | ast::ExpressionKind::Else { .. }
                ) && starts_with_search(first) =>
            {
                Some(self.searches(value))
            }
            ast::ExpressionKind::Share(_) | ast::ExpressionKind::New { .. } => {
                let shared = matches!(value.kind, ast::ExpressionKind::Share(_));
                let source = self.source(value);
                Some(source.map(|source| message_attempt(source, shared)))
            }
            ast::ExpressionKind::Call {
                function,
                arguments,
            } => {
                let ast::ExpressionKind::Field { of, name } = &function.kind else {
                    return None;
                };
                let operated = Operated {
                    name,
                    arguments,
                    span: value.span,
                };
                self.taken(of, operated)
            }
            _ => None,
        }
    }

    /// `held.pop()`, `early.take(n)`, `message.peek(format)` and their like.
    fn taken(&mut self, of: &ast::Expression, called: Operated) -> Option<Option<Tried>> {
        match called.name.text.as_str() {
            "pop" | "take" | "share" | "peek" | "piece" | "slice" => {}
            _ => return None,
        }
        let meaning = self.meaning(of, None)?;
        Some(match meaning {
            Meaning::Message(message) => self.taken_of_message(message, called),
            Meaning::Value(value) => match (*value.kind, value.result) {
                (ExpressionKind::Read(place), kind) => {
                    self.taken_of_container(place, &kind, called)
                }
                (_, Type::Nothing) => None,
                _ => self.no_operation(of.span, &called),
            },
            Meaning::Unknown => None,
            _ => self.no_operation(of.span, &called),
        })
    }

    fn taken_of_message(&mut self, message: LocalId, called: Operated) -> Option<Tried> {
        match called.name.text.as_str() {
            "peek" => {
                let header = self.format(&called)?;
                self.check_owned(message, called.span, "read");
                Some(Tried {
                    attempt: Attempt::Peek(message, header),
                    binds: Some(Type::Header(header)),
                    shared: false,
                })
            }
            "piece" => {
                let source = self.piece(message, &called);
                Some(message_attempt(source, false))
            }
            _ => self.no_operation(called.span, &called),
        }
    }

    fn taken_of_container(
        &mut self,
        place: Variable,
        kind: &Type,
        called: Operated,
    ) -> Option<Tried> {
        let tried = |attempt, binds, shared| {
            Some(Tried {
                attempt,
                binds: Some(binds),
                shared,
            })
        };
        match (kind, called.name.text.as_str()) {
            (Type::Queue(element, _), "pop") => {
                self.values(&called, &[]);
                self.forget(&place);
                let attempt = match **element == Type::Message {
                    true => Attempt::Pop(place),
                    false => Attempt::PopValue(place),
                };
                tried(attempt, (**element).clone(), false)
            }
            (Type::Window(element, width, _), "take") => {
                let [number] = self.one(&called, Type::Sequence(*width));
                self.forget(&place);
                let attempt = match **element == Type::Message {
                    true => Attempt::TakeWindow(place, number),
                    false => Attempt::TakeValue(place, number),
                };
                tried(attempt, (**element).clone(), false)
            }
            (Type::Window(element, width, _), "share") if **element == Type::Message => {
                let [number] = self.one(&called, Type::Sequence(*width));
                self.note_buffer();
                tried(Attempt::ShareWindow(place, number), Type::Message, true)
            }
            (Type::Stream(..), "take" | "slice") => {
                let source = self.stream_source(place, kind, &called);
                let shared = matches!(source, Source::SliceStream(..));
                Some(message_attempt(source, shared))
            }
            _ => self.no_operation(called.span, &called),
        }
    }

    /// The header that a `peek` looks for.
    fn format(&mut self, called: &Operated) -> Option<HeaderId> {
        let meaning = match called.arguments {
            [source] => self.meaning(source, None),
            _ => None,
        };
        match meaning {
            Some(Meaning::Format(header)) => Some(header),
            Some(Meaning::Unknown) => None,
            _ => {
                let title = "`peek` needs the name of a header";
                let refused =
                    Diagnostic::error(Id::WrongArguments, title, called.span, "which header?");
                self.report(refused.help(
                    "declare one, such as `header quotation big { … }`, and \
                    write `message.peek(quotation)`",
                ));
                None
            }
        }
    }

    /// `find neighbour(a) else create neighbour(a)`
    pub fn searches(&mut self, source: &ast::Expression) -> Option<Tried> {
        let mut steps = Vec::new();
        self.collect_searches(source, &mut steps);
        let mut searches = Vec::new();
        let mut kind = None;
        for step in steps {
            let (search, of) = self.search(step)?;
            if kind.is_some_and(|kind| kind != of) {
                let title = "`find` and `create` need the same kind of instance";
                let label = "another kind";
                self.report(Diagnostic::error(Id::TypeMismatch, title, step.span, label));
                return None;
            }
            kind = Some(of);
            searches.push(search);
        }
        Some(Tried {
            attempt: Attempt::Instance(searches),
            binds: Some(Type::Instance(kind?)),
            shared: false,
        })
    }

    fn collect_searches<'s>(
        &mut self,
        source: &'s ast::Expression,
        steps: &mut Vec<&'s ast::Expression>,
    ) {
        match &source.kind {
            ast::ExpressionKind::Else { value, otherwise } => {
                self.collect_searches(value, steps);
                self.collect_searches(otherwise, steps);
            }
            ast::ExpressionKind::Group(inner) => self.collect_searches(inner, steps),
            _ => steps.push(source),
        }
    }

    fn search(&mut self, source: &ast::Expression) -> Option<(Search, KindId)> {
        let (key, creates) = match &source.kind {
            ast::ExpressionKind::Find(key) => (key, false),
            ast::ExpressionKind::Create(key) => (key, true),
            ast::ExpressionKind::FindByTimer { key, timer } => {
                return self.soonest(key, timer);
            }
            _ => {
                let title = "only `find` and `create` can stand here";
                let refused = Diagnostic::error(Id::TypeMismatch, title, source.span, "a value");
                self.report(refused.help("write `find …`, `create …`, or a statement"));
                return None;
            }
        };
        let target = match creates {
            true => self.target(&key.kind, &key.keys, source.span)?,
            false => self.sought(&key.kind, &key.keys, source.span)?,
        };
        let kind = target.kind;
        let search = match creates {
            true => Search::Create(kind, target.keys, self.listener_making(kind)),
            false => Search::Find(target),
        };
        Some((search, kind))
    }

    /// `present neighbour(next_hop)`: whether there is one. Those that always exist are known.
    pub fn exists(&mut self, name: &ast::Name, keys: &[ast::Expression], span: Span) -> Expression {
        let target = self.sought(name, keys, span);
        let Some(Target { kind, keys, .. }) = target else {
            return nothing();
        };
        self.reads.entity = true;
        let of_bool = |kind| make(kind, Type::Bool);
        let population = &self.context.program.kinds[kind.at()].population;
        let (Population::Static(instances) | Population::Labelled(instances)) = population else {
            return of_bool(ExpressionKind::Query(Query::Exists(kind, keys)));
        };
        let ways = instances.iter();
        let ways = ways.map(|one| Expression::all_equal(&keys, &one.keys));
        let any = |a, b| of_bool(ExpressionKind::Binary(Binary::Or, a, b));
        let ways = ways.reduce(any);
        ways.unwrap_or_else(|| number(0, Type::Bool))
    }

    /// Who makes a session, if it is a listener.
    fn listener_making(&self, made: KindId) -> Option<Instance> {
        let kinds = &self.context.program.kinds;
        let own = &kinds[self.scope.kind.at()];
        let is_listener = own.role == Role::Child && own.name == LISTENER;
        (is_listener && kinds[made.at()].role == Role::Session).then_some(Instance::Own)
    }

    /// What is looked for: one of many has keys.
    pub fn sought(
        &mut self,
        name: &ast::Name,
        keys: &[ast::Expression],
        span: Span,
    ) -> Option<Target> {
        let target = self.target(name, keys, span)?;
        let kind = &self.context.program.kinds[target.kind.at()];
        let dynamic = matches!(kind.population, Population::Dynamic { .. });
        if kind.keys.is_empty() && dynamic && kind.capacity > 1 {
            let title = format!("`{name}` has no keys, so it cannot be found");
            let label = format!("there may be {} of these", kind.capacity);
            self.report(Diagnostic::error(Id::NotAValue, title, span, label));
            return None;
        }
        Some(target)
    }

    /// `neighbour(next_hop)`: a kind, and as many keys as it has.
    pub fn target(
        &mut self,
        name: &ast::Name,
        keys: &[ast::Expression],
        span: Span,
    ) -> Option<Target> {
        let kind = self.kind_called(name)?;
        let wanted = self.context.program.kinds[kind.at()].keys.iter();
        let mut wanted: Vec<Type> = wanted.map(|key| key.kind.clone()).collect();
        let below = self.context.program.stands_on(kind);
        wanted.truncate(wanted.len() - usize::from(below.is_some()));
        let mut keys = self.arguments(&name.text, &wanted, &[], keys, span);
        if let Some(below) = below {
            keys.push(self.session_below(kind, below, span)?);
        }
        Some(Target {
            kind,
            keys,
            condition: None,
        })
    }

    /// `find session(port) by half_open`: of those with these first keys, the one whose timer
    /// expires first.
    fn soonest(&mut self, key: &ast::InstanceKey, timer: &ast::Path) -> Option<(Search, KindId)> {
        let kind = self.kind_called(&key.kind)?;
        let wanted = self.context.program.kinds[kind.at()].keys.iter();
        let mut wanted: Vec<Type> = wanted.map(|key| key.kind.clone()).collect();
        let hidden = usize::from(self.context.program.stands_on(kind).is_some());
        wanted.truncate(key.keys.len().min(wanted.len() - hidden));
        let name = &key.kind;
        let keys = self.arguments(&name.text, &wanted, &[], &key.keys, name.span);
        self.reads.entity = true;
        let known = self.context.program.kinds[kind.at()].timers.clone();
        let called = timer.to_string();
        if let Some(at) = known.iter().position(|one| *one == called) {
            return Some((Search::Soonest(kind, TimerId(at as u32), keys), kind));
        }
        let word = ast::Name {
            text: called,
            span: timer.span,
        };
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let what = format!("timer of {} called", self.describe(&Type::Instance(kind)));
        self.unknown(&what, &word, &known);
        None
    }

    /// A child, or `session`.
    fn kind_called(&mut self, name: &ast::Name) -> Option<KindId> {
        let word = ast::Expression {
            kind: ast::ExpressionKind::Name(name.clone()),
            span: name.span,
        };
        match self.meaning(&word, None) {
            Some(Meaning::Kind(kind)) => Some(kind),
            Some(Meaning::Unknown) => None,
            _ => {
                let title = format!("`{name}` is not a kind of instance");
                let label = "expected `session` or a child";
                self.report(Diagnostic::error(Id::UnknownName, title, name.span, label));
                None
            }
        }
    }
}

impl Body<'_, '_> {
    /// The session below on which one of `kind` is looked for: that of the session at hand, or the
    /// one from which an event came that is still to be found.
    fn session_below(&mut self, kind: KindId, below: KindId, span: Span) -> Option<Expression> {
        let result = Type::Instance(below);
        if let Some(local) = self.below {
            return Some(Expression::local(local, result));
        }
        if self.scope.kind == kind {
            let last = self.context.program.kinds[kind.at()].keys.len() as u32 - 1;
            let key = ExpressionKind::Key(Instance::Own, kind, KeyId(last));
            return Some(make(key, result));
        }
        let entity = self.context.program.kinds[below.at()].entity;
        let entity = &self.context.program.entities[entity.at()].name;
        let title = format!("the session of `{entity}` to use is not known here");
        let refused = Diagnostic::error(
            Id::NoSession,
            title,
            span,
            "on which session of the layer \
            below?",
        )
        .why(format!(
            "Each session of this layer stands on one session of `{entity}`, and there are \
                several. This handler belongs to no session."
        ))
        .help("write this in a handler of the session, or in the `else` of `on deliver find`");
        self.report(refused);
        None
    }
}

fn message_attempt(source: Source, shared: bool) -> Tried {
    Tried {
        attempt: Attempt::Message(source),
        binds: Some(Type::Message),
        shared,
    }
}

/// Whether this looks for an instance, or makes one.
pub(super) fn starts_with_search(source: &ast::Expression) -> bool {
    match &source.kind {
        ast::ExpressionKind::Find(_)
        | ast::ExpressionKind::FindByTimer { .. }
        | ast::ExpressionKind::Create(_) => true,
        ast::ExpressionKind::Else { value, .. } => starts_with_search(value),
        ast::ExpressionKind::Group(inner) => starts_with_search(inner),
        _ => false,
    }
}

pub(super) fn with_binding(statement: StatementKind, local: LocalId) -> StatementKind {
    match statement {
        StatementKind::Attempt {
            attempt,
            likely,
            otherwise,
            ..
        } => StatementKind::Attempt {
            attempt,
            bind: Some(local),
            likely,
            otherwise,
        },
        other => other,
    }
}
