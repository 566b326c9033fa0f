//! `let`, and operations of messages and containers: which of them may fail, and who owns what
//! when they do.
//!
//! What an operation refuses, its `else` still owns: it starts from what was known before.

use super::super::expression::{Expression, ExpressionKind, Instance, Query, Variable};
use super::super::program::{HeaderId, KindId, LocalId, Target, TimerId};
use super::super::statement::{Attempt, Operation, Search, Source, StatementKind};
use super::super::value::Type;
use super::access::Meaning;
use super::flow::Flow;
use super::statement::Exit;
use super::words::{Body, Place, make};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;

/// What may fail, what it binds, and the locals that its binding owns or shares.
struct Tried {
    attempt: Attempt,
    binds: Option<Type>,
    shared: bool,
}

/// An operation of a message or container, as it is called.
struct Operated<'s> {
    name: &'s ast::Name,
    arguments: &'s [ast::Expression],
    span: Span,
}

/// What an operation turned out to be.
enum Outcome {
    Tried(Attempt),
    Done(Operation),
    /// Set insertion: true if it succeeds.
    Tested(Expression),
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
            if matches!(self.place, Place::Function | Place::Filter) {
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
                let title = format!("`{}` is always there", self.text(source.span));
                let label = "this cannot fail";
                let refused = Diagnostic::error(Id::CannotFail, title, source.span, label);
                self.report(refused.help("leave out the `else`"));
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
        match value.result {
            Type::Queue(..) | Type::Window(..) | Type::Stream(..) | Type::Set(_) => {
                let title = format!("`{}` stays where it is", self.text(span));
                let label = "holds things";
                self.refuse(Diagnostic::error(Id::NotAValue, title, span, label))
            }
            _ => value,
        }
    }

    /// A statement that may fail, with what takes the place of the rest of the block.
    fn attempt(
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

    fn needs_else(&mut self, value: &ast::Expression, span: Span) -> Option<StatementKind> {
        let text = self.text(value.span);
        let title = format!("`{text}` may fail");
        let refused = Diagnostic::error(Id::MissingElse, title, span.after(), "what happens then?");
        self.report(
            refused
                .why("What may fail says behind `else` what takes the place of the rest.")
                .help("write ` else drop message as …`, or ` else {}` if nothing is left to do"),
        );
        None
    }

    /// What may fail behind a `let`; `None` of a plain value, `Some(None)` if it is wrong.
    fn tried(&mut self, value: &ast::Expression) -> Option<Option<Tried>> {
        match &value.kind {
            ast::ExpressionKind::Group(inner) => self.tried(inner),
            ast::ExpressionKind::Find(_) | ast::ExpressionKind::Create(_) => {
                Some(self.searches(value))
            }
            ast::ExpressionKind::Else { value: first, .. }
                if matches!(
                    first.kind,
                    ast::ExpressionKind::Find(_)
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
                match **element {
                    Type::Message => tried(Attempt::Pop(place), Type::Message, false),
                    _ => tried(Attempt::PopValue(place), (**element).clone(), false),
                }
            }
            (Type::Window(width, _), "take") => {
                let [number] = self.one(&called, Type::Sequence(*width));
                self.forget(&place);
                tried(Attempt::TakeWindow(place, number), Type::Message, false)
            }
            (Type::Window(width, _), "share") => {
                let [number] = self.one(&called, Type::Sequence(*width));
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

    fn no_operation<T>(&mut self, span: Span, called: &Operated) -> Option<T> {
        let what = format!("operation of `{}` called", self.text(span));
        self.unknown(&what, called.name, &[]);
        None
    }

    fn values(&mut self, called: &Operated, wanted: &[Type]) -> Vec<Expression> {
        self.arguments(
            &called.name.text,
            wanted,
            &[],
            called.arguments,
            called.span,
        )
    }

    fn one(&mut self, called: &Operated, wanted: Type) -> [Expression; 1] {
        let values = self.values(called, &[wanted]);
        values.try_into().expect("as many values as parameters")
    }

    fn two(&mut self, called: &Operated, first: Type, second: Type) -> [Expression; 2] {
        let values = self.values(called, &[first, second]);
        values.try_into().expect("as many values as parameters")
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
                let title = "`peek` is given a header";
                let refused =
                    Diagnostic::error(Id::WrongArguments, title, called.span, "which header?");
                self.report(refused.help("declare one: `header quotation big { … }`"));
                None
            }
        }
    }

    fn piece(&mut self, message: LocalId, called: &Operated) -> Source {
        self.check_owned(message, called.span, "read");
        let length = Type::Unsigned(32);
        let [at, count] = self.two(called, length.clone(), length);
        Source::Piece(message, at, count)
    }

    fn stream_source(&mut self, place: Variable, kind: &Type, called: &Operated) -> Source {
        let Type::Stream(position, _) = kind else {
            unreachable!("only streams are taken from so");
        };
        self.forget(&place);
        match called.name.text.as_str() {
            "slice" => {
                let [at, count] = self.two(called, (**position).clone(), Type::Unsigned(32));
                Source::SliceStream(place, at, count)
            }
            _ => {
                let [count] = self.one(called, Type::Unsigned(32));
                Source::TakeStream(place, count)
            }
        }
    }

    /// `find neighbour(a) else create neighbour(a)`
    fn searches(&mut self, source: &ast::Expression) -> Option<Tried> {
        let mut steps = Vec::new();
        self.collect_searches(source, &mut steps);
        let mut searches = Vec::new();
        let mut kind = None;
        for step in steps {
            let (search, of) = self.search(step)?;
            if kind.is_some_and(|kind| kind != of) {
                let title = "what is found and what is created are not of one kind";
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
            _ => {
                let title = "only instances are found here";
                let refused = Diagnostic::error(Id::TypeMismatch, title, source.span, "a value");
                self.report(refused.help("write `find …`, `create …`, or a statement"));
                return None;
            }
        };
        let target = self.target(&key.kind, &key.keys, source.span)?;
        let kind = target.kind;
        let search = match creates {
            true => Search::Create(kind, target.keys),
            false => Search::Find(target),
        };
        Some((search, kind))
    }

    /// `neighbour(next_hop)`: a kind, and as many keys as it has.
    pub fn target(
        &mut self,
        name: &ast::Name,
        keys: &[ast::Expression],
        span: Span,
    ) -> Option<Target> {
        let word = ast::Expression {
            kind: ast::ExpressionKind::Name(name.clone()),
            span: name.span,
        };
        let kind = match self.meaning(&word, None) {
            Some(Meaning::Kind(kind)) => kind,
            Some(Meaning::Unknown) => return None,
            _ => {
                let title = format!("`{name}` is no kind of instances");
                let label = "a child or `session` is expected";
                self.report(Diagnostic::error(Id::UnknownName, title, name.span, label));
                return None;
            }
        };
        let wanted = self.context.program.kinds[kind.at()].keys.iter();
        let wanted: Vec<Type> = wanted.map(|key| key.kind.clone()).collect();
        let keys = self.arguments(&name.text, &wanted, &[], keys, span);
        Some(Target {
            kind,
            keys,
            condition: None,
        })
    }

    /// An operation that stands by itself.
    pub fn call_statement(
        &mut self,
        call: &ast::Expression,
        otherwise: Option<&ast::Block>,
        span: Span,
        exits: &mut Vec<Exit>,
    ) -> Option<StatementKind> {
        if starts_with_search(call) {
            let failing = self.flow.clone();
            let tried = self.searches(call)?;
            let Some(otherwise) = otherwise else {
                return self.needs_else(call, span);
            };
            return Some(self.attempt(tried.attempt, otherwise, failing, call.span, exits));
        }
        let ast::ExpressionKind::Call {
            function,
            arguments,
        } = &call.kind
        else {
            return self.not_a_statement(call);
        };
        let ast::ExpressionKind::Field { of, name } = &function.kind else {
            return self.extern_call(call, otherwise);
        };
        if !matches!(self.place, Place::Handler(_)) {
            let title = "this is done by handlers alone";
            self.report(Diagnostic::error(
                Id::NotHere,
                title,
                span,
                "changes something",
            ));
            return None;
        }
        let failing = self.flow.clone();
        let operated = Operated {
            name,
            arguments,
            span: call.span,
        };
        let outcome = self.operation(of, operated)?;
        match (outcome, otherwise) {
            (Outcome::Done(operation), None) => Some(StatementKind::Do(operation)),
            (Outcome::Done(_), Some(_)) => {
                let title = format!("`{name}` cannot fail");
                let refused = Diagnostic::error(Id::CannotFail, title, call.span, "never fails");
                self.report(refused.help("leave out the `else`"));
                None
            }
            (_, None) => self.needs_else(call, span),
            (Outcome::Tried(attempt), Some(otherwise)) => {
                Some(self.attempt(attempt, otherwise, failing, call.span, exits))
            }
            (Outcome::Tested(condition), Some(otherwise)) => {
                let ways = self.ways(call.span);
                let otherwise = self.exit(otherwise, failing, (ways.1, ways.0), exits);
                Some(StatementKind::Require {
                    condition,
                    likely: None,
                    otherwise,
                })
            }
        }
    }

    fn not_a_statement(&mut self, call: &ast::Expression) -> Option<StatementKind> {
        let title = "a value alone does nothing";
        let label = "computed, and not used";
        self.report(Diagnostic::error(
            Id::NotAStatement,
            title,
            call.span,
            label,
        ));
        None
    }

    /// A function that is called for what it does outside.
    fn extern_call(
        &mut self,
        call: &ast::Expression,
        otherwise: Option<&ast::Block>,
    ) -> Option<StatementKind> {
        let value = self.check(call, None);
        match *value.kind {
            ExpressionKind::Call(function, arguments)
                if otherwise.is_none()
                    && self.context.program.functions[function.at()].body.is_none() =>
            {
                Some(StatementKind::Do(Operation::Call(function, arguments)))
            }
            _ if value.result == Type::Nothing => None,
            _ => self.not_a_statement(call),
        }
    }

    fn operation(&mut self, of: &ast::Expression, called: Operated) -> Option<Outcome> {
        match self.meaning(of, None) {
            Some(Meaning::Message(message)) => self.message_operation(message, &called),
            Some(Meaning::Value(value)) => match (*value.kind, value.result) {
                (ExpressionKind::Read(place), kind) => {
                    let outcome = self.container_operation(&place, &kind, &called);
                    self.forget(&place);
                    outcome
                }
                (_, Type::Nothing) => None,
                _ => self.no_operation(of.span, &called),
            },
            Some(Meaning::Unknown) => None,
            _ => self.no_operation(of.span, &called),
        }
    }

    fn message_operation(&mut self, message: LocalId, called: &Operated) -> Option<Outcome> {
        let name = called.name.text.as_str();
        if !matches!(name, "skip" | "cut" | "restore") {
            let known = ["skip", "cut", "restore", "peek", "piece"];
            self.unknown("operation of a message called", called.name, &known);
            return None;
        }
        self.check_owned(message, called.span, "changed");
        let outcome = match name {
            "restore" => self.restore(message, called)?,
            _ => {
                let [count] = self.one(called, Type::Unsigned(32));
                Outcome::Done(match name {
                    "skip" => Operation::Skip(message, count),
                    _ => Operation::Cut(message, count),
                })
            }
        };
        self.forget_length(message);
        Some(outcome)
    }

    fn restore(&mut self, message: LocalId, called: &Operated) -> Option<Outcome> {
        if let [source] = called.arguments
            && let ast::ExpressionKind::Name(name) = &source.kind
            && let Some(mark) = self.scope.marks.get(&name.text)
        {
            return Some(Outcome::Tried(Attempt::Restore(message, *mark)));
        }
        let title = "`restore` is given a service below";
        let refused = Diagnostic::error(Id::WrongArguments, title, called.span, "which service?");
        let known: Vec<&str> = self.scope.marks.keys().map(String::as_str).collect();
        self.report(match known.as_slice() {
            [] => refused,
            known => refused.help(format!("there is {}", super::words::listed(known))),
        });
        None
    }

    fn container_operation(
        &mut self,
        place: &Variable,
        kind: &Type,
        called: &Operated,
    ) -> Option<Outcome> {
        let here = place.clone();
        let name = called.name.text.as_str();
        Some(match (kind, name) {
            (Type::Queue(element, _), "push") if **element == Type::Message => {
                let source = self.only_source(called, 0)?;
                Outcome::Tried(Attempt::Push(here, source))
            }
            (Type::Queue(element, _), "push") => {
                let [value] = self.one(called, (**element).clone());
                Outcome::Tried(Attempt::PushValue(here, value))
            }
            (Type::Window(width, _), "insert" | "replace") => {
                let number = self.first(called, Type::Sequence(*width))?;
                let source = self.only_source(called, 1)?;
                match name {
                    "insert" => Outcome::Tried(Attempt::InsertWindow(here, number, source)),
                    _ => Outcome::Done(Operation::ReplaceWindow(here, number, source)),
                }
            }
            (Type::Window(width, _), "release_to" | "release") => {
                let [number] = self.one(called, Type::Sequence(*width));
                Outcome::Done(Operation::Release(here, number))
            }
            (Type::Stream(position, _), "insert") => {
                let at = self.first(called, (**position).clone())?;
                let message = self.only_message(called, 1)?;
                Outcome::Tried(Attempt::InsertStream(here, at, message))
            }
            (Type::Stream(..), "append") => {
                let message = self.only_message(called, 0)?;
                Outcome::Tried(Attempt::AppendStream(here, message))
            }
            (Type::Stream(position, _), "release" | "begin") => {
                let [at] = self.one(called, (**position).clone());
                Outcome::Done(match name {
                    "release" => Operation::Release(here, at),
                    _ => Operation::Begin(here, at),
                })
            }
            (Type::Set(_), "insert") => {
                let index = self.first(called, Type::Unsigned(32))?;
                let query = Query::InsertSet(here, index);
                Outcome::Tested(make(ExpressionKind::Query(query), Type::Bool))
            }
            (Type::Set(_) | Type::Array(..), "clear") => {
                self.values(called, &[]);
                Outcome::Done(Operation::Clear(here))
            }
            (Type::Bytes(_), "xor") => {
                let message = self.data_argument(called)?;
                Outcome::Done(Operation::Xor(here, message))
            }
            _ => return self.unknown_operation(kind, called),
        })
    }

    fn unknown_operation(&mut self, kind: &Type, called: &Operated) -> Option<Outcome> {
        let known: &[&str] = match kind {
            Type::Queue(..) => &["push", "pop", "is_empty", "drain"],
            Type::Window(..) => &[
                "insert",
                "take",
                "share",
                "has",
                "first",
                "replace",
                "release_to",
            ],
            Type::Stream(..) => &[
                "append", "insert", "slice", "take", "ready", "covers", "release", "begin", "end",
            ],
            Type::Set(_) => &["insert", "has", "clear"],
            Type::Array(..) => &["clear"],
            Type::Bytes(_) => &["xor"],
            _ => &[],
        };
        let what = format!("operation of {} called", self.describe(kind));
        self.unknown(&what, called.name, known);
        None
    }

    /// The first of two arguments.
    fn first(&mut self, called: &Operated, wanted: Type) -> Option<Expression> {
        match called.arguments {
            [first, ..] => Some(self.expect(first, &wanted)),
            [] => self.wrong_count(called),
        }
    }

    fn wrong_count<T>(&mut self, called: &Operated) -> Option<T> {
        let title = format!("`{}` is given something else", called.name);
        let label = "not as many as there are parameters";
        self.report(Diagnostic::error(
            Id::WrongArguments,
            title,
            called.span,
            label,
        ));
        None
    }

    /// The message that goes into a container.
    fn only_source(&mut self, called: &Operated, at: usize) -> Option<Source> {
        match called.arguments.get(at) {
            Some(source) if called.arguments.len() == at + 1 => self.source(source),
            _ => self.wrong_count(called),
        }
    }

    fn only_message(&mut self, called: &Operated, at: usize) -> Option<LocalId> {
        let span = called.span;
        match self.only_source(called, at)? {
            Source::Local(message) => Some(message),
            _ => {
                let title = "a stream takes over a message that there is";
                let label = "give this a name first";
                self.report(Diagnostic::error(Id::NotAValue, title, span, label));
                None
            }
        }
    }

    fn data_argument(&mut self, called: &Operated) -> Option<LocalId> {
        if let [source] = called.arguments
            && let Some(Meaning::Data(message)) = self.meaning(source, None)
        {
            self.check_owned(message, source.span, "read");
            return Some(message);
        }
        let title = format!("`{}` is given the data of a message", called.name);
        let refused = Diagnostic::error(Id::WrongArguments, title, called.span, "which data?");
        self.report(refused.help("write `xor(message.data)`"));
        None
    }

    /// A message that goes somewhere: one that the body owns, and then no longer does, or one that
    /// is made for this.
    pub fn source(&mut self, source: &ast::Expression) -> Option<Source> {
        let span = source.span;
        match &source.kind {
            ast::ExpressionKind::Group(inner) => self.source(inner),
            ast::ExpressionKind::Share(inner) => match self.meaning(inner, None) {
                Some(Meaning::Message(message)) => {
                    self.check_owned(message, span, "shared");
                    self.flow.shared.insert(message, span);
                    Some(Source::Share(message))
                }
                Some(Meaning::Unknown) => None,
                _ => self.no_message(inner),
            },
            ast::ExpressionKind::New { arguments, .. } => self.new_message(arguments, span),
            ast::ExpressionKind::Call {
                function,
                arguments,
            } => {
                let ast::ExpressionKind::Field { of, name } = &function.kind else {
                    return self.no_message(source);
                };
                let called = Operated {
                    name,
                    arguments,
                    span,
                };
                self.made_message(of, called, source)
            }
            _ => match self.meaning(source, None) {
                Some(Meaning::Message(message)) => {
                    self.give_away(message, span);
                    Some(Source::Local(message))
                }
                Some(Meaning::Unknown) => None,
                _ => self.no_message(source),
            },
        }
    }

    fn made_message(
        &mut self,
        of: &ast::Expression,
        called: Operated,
        source: &ast::Expression,
    ) -> Option<Source> {
        match (self.meaning(of, None), called.name.text.as_str()) {
            (Some(Meaning::Message(message)), "piece") => Some(self.piece(message, &called)),
            (Some(Meaning::Value(value)), "take" | "slice") => match (*value.kind, value.result) {
                (ExpressionKind::Read(place), kind @ Type::Stream(..)) => {
                    Some(self.stream_source(place, &kind, &called))
                }
                _ => self.may_fail_first(&called),
            },
            (Some(Meaning::Value(_)), "pop" | "share") => self.may_fail_first(&called),
            (Some(Meaning::Unknown), _) => None,
            _ => self.no_message(source),
        }
    }

    fn may_fail_first(&mut self, called: &Operated) -> Option<Source> {
        let text = self.text(called.span);
        let title = format!("`{text}` may fail");
        let refused = Diagnostic::error(Id::MissingElse, title, called.span, "perhaps nothing");
        self.report(refused.help(format!("take it out first: `let copy = {text} else …`")));
        None
    }

    fn no_message(&mut self, source: &ast::Expression) -> Option<Source> {
        let title = format!("`{}` is no message", self.text(source.span));
        let label = "a message is expected";
        self.report(Diagnostic::error(
            Id::TypeMismatch,
            title,
            source.span,
            label,
        ));
        None
    }

    fn new_message(&mut self, arguments: &[ast::Expression], span: Span) -> Option<Source> {
        let [bytes, count] = arguments else {
            if arguments.is_empty() {
                return Some(Source::New);
            }
            let title = "a new message is empty, or is given bytes and how many of them";
            self.report(Diagnostic::error(
                Id::WrongArguments,
                title,
                span,
                "something else",
            ));
            return None;
        };
        let value = self.check(bytes, None);
        let count = self.expect(count, &Type::Unsigned(32));
        match (*value.kind, value.result) {
            (ExpressionKind::Read(place), Type::Bytes(_)) => Some(Source::NewFrom(place, count)),
            (_, Type::Nothing) => None,
            _ => {
                let title = "a new message is made of bytes";
                let label = "not a field of bytes";
                self.report(Diagnostic::error(
                    Id::TypeMismatch,
                    title,
                    bytes.span,
                    label,
                ));
                None
            }
        }
    }

    /// The timer of this name: `retry`, or `j.expiry` of an instance that was found.
    pub fn timer(&mut self, path: &ast::Path) -> Option<(Instance, KindId, TimerId)> {
        let mut source: Option<ast::Expression> = None;
        for name in &path.names {
            let kind = match source {
                None => ast::ExpressionKind::Name(name.clone()),
                Some(of) => ast::ExpressionKind::Field {
                    of: Box::new(of),
                    name: name.clone(),
                },
            };
            let span = path.span;
            source = Some(ast::Expression { kind, span });
        }
        match self.meaning(&source?, None) {
            Some(Meaning::Timer(instance, kind, timer)) => Some((instance, kind, timer)),
            Some(Meaning::Unknown) => None,
            _ => {
                let title = format!("`{path}` is no timer");
                let refused = Diagnostic::error(Id::TypeMismatch, title, path.span, "not a timer");
                self.report(refused.help("declare one in the instance: `timer retry`"));
                None
            }
        }
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
fn starts_with_search(source: &ast::Expression) -> bool {
    match &source.kind {
        ast::ExpressionKind::Find(_) | ast::ExpressionKind::Create(_) => true,
        ast::ExpressionKind::Else { value, .. } => starts_with_search(value),
        ast::ExpressionKind::Group(inner) => starts_with_search(inner),
        _ => false,
    }
}

fn with_binding(statement: StatementKind, local: LocalId) -> StatementKind {
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
