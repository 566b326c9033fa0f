//! Operations of messages and containers that stand by themselves: which of them may fail, and
//! what they are given.

use super::super::edges;
use super::super::expression::{Expression, ExpressionKind, Query, Variable};
use super::super::fields::field_of;
use super::super::program::LocalId;
use super::super::statement::{Attempt, Operation, Source, StatementKind, Term};
use super::super::value::{Type, Value};
use super::access::Meaning;
use super::attempt::{starts_with_search, with_binding};
use super::external::Use;
use super::statement::Exit;
use super::words::{Body, Place, make};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;

/// An operation of a message or container, as it is called.
pub(super) struct Operated<'s> {
    pub name: &'s ast::Name,
    pub arguments: &'s [ast::Expression],
    pub span: Span,
}

/// What an operation turned out to be.
enum Outcome {
    Tried(Attempt),
    Done(Operation),
    /// Set insertion: true if it succeeds.
    Tested(Expression),
}

impl Body<'_, '_> {
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
            let statement = self.attempt(tried.attempt, otherwise, failing, call.span, exits);
            let kind = tried.binds.expect("a search finds an instance");
            let local = self.add_local("unnamed", kind);
            return Some(with_binding(statement, local));
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
            return self.handlers_alone(span);
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
                self.report(refused.help("remove the `else`"));
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
        let title = "a value alone has no effect";
        let label = "computed, but not used";
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
        self.calls_c_alone(call.span, Use::Statement);
        let value = self.check_raw(call, None);
        match *value.kind {
            ExpressionKind::Call(function, arguments)
                if self.context.program.functions[function.at()].calls_c =>
            {
                if otherwise.is_some() {
                    let title = format!("`{}` cannot fail", self.text(call.span));
                    let label = "never fails";
                    self.report(Diagnostic::error(Id::CannotFail, title, call.span, label));
                }
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
        if !matches!(name, "skip" | "cut" | "pad" | "restore") {
            let known = ["skip", "cut", "pad", "restore", "peek", "piece"];
            self.unknown("operation of a message called", called.name, &known);
            return None;
        }
        match name {
            "pad" => self.check_rewritten(message, called.span),
            _ => self.check_owned(message, called.span, "changed"),
        }
        let (outcome, unit) = match name {
            "restore" => (self.restore(message, called)?, 1),
            _ => self.lengthened(message, called),
        };
        self.forget_length(message);
        self.assume_whole(message, unit);
        Some(outcome)
    }

    /// What changes the length of a message by a number, and the widest word of which that is then
    /// a multiple.
    fn lengthened(&mut self, message: LocalId, called: &Operated) -> (Outcome, u32) {
        let [count] = self.one(called, Type::Unsigned(32));
        match called.name.text.as_str() {
            "skip" => {
                let unit = self.unit_skipped(message, &count);
                (Outcome::Done(Operation::Skip(message, count)), unit)
            }
            "cut" => {
                let unit = self.unit_cut(message, &count);
                (Outcome::Done(Operation::Cut(message, count)), unit)
            }
            _ => {
                let unit = self.unit_padded(message, &count);
                (Outcome::Tried(Attempt::Pad(message, count)), unit)
            }
        }
    }

    fn restore(&mut self, message: LocalId, called: &Operated) -> Option<Outcome> {
        if let [source] = called.arguments
            && let ast::ExpressionKind::Name(name) = &source.kind
            && self.scope.services.contains(&name.text)
        {
            let mark = self.context.mark(&name.text);
            return Some(Outcome::Tried(Attempt::Restore(message, mark)));
        }
        let title = "`restore` needs the service below";
        let refused = Diagnostic::error(
            Id::WrongArguments,
            title,
            called.span,
            "expected the name of a service",
        );
        let known: Vec<&str> = self.scope.services.iter().map(String::as_str).collect();
        self.report(match known.as_slice() {
            [] => refused,
            known => refused.help(format!("choose one of {}", super::words::listed(known))),
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
            (Type::Window(..), _) => self.window_operation(here, kind, called)?,
            (Type::Stream(position, _), "insert") => {
                let at = self.first(called, (**position).clone())?;
                let message = self.only_message(called, 1)?;
                if let Some((kind, field)) = field_of(&here) {
                    self.context.program.kinds[kind.at()].fields[field.at()].has_gaps = true;
                }
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
                let one = Expression::constant(Value::Number(1), Type::Unsigned(8));
                let term = self.term(called, 0)?;
                Outcome::Done(Operation::Add(here, one, term))
            }
            (Type::Bytes(_), "add") => {
                let factor = self.first(called, Type::Unsigned(8))?;
                let term = self.term(called, 1)?;
                Outcome::Done(Operation::Add(here, factor, term))
            }
            (Type::Bytes(_), "scale") => {
                let [factor] = self.one(called, Type::Unsigned(8));
                Outcome::Done(Operation::Scale(here, factor))
            }
            _ => return self.unknown_operation(kind, called),
        })
    }

    fn window_operation(
        &mut self,
        here: Variable,
        kind: &Type,
        called: &Operated,
    ) -> Option<Outcome> {
        let name = called.name.text.as_str();
        Some(match (kind, name) {
            (Type::Window(element, width, _), "insert" | "replace")
                if **element != Type::Message =>
            {
                let wanted = (**element).clone();
                let [number, value] = self.two(called, Type::Sequence(*width), wanted);
                match name {
                    "insert" => Outcome::Tried(Attempt::InsertValue(here, number, value)),
                    _ => Outcome::Done(Operation::ReplaceValue(here, number, value)),
                }
            }
            (Type::Window(_, width, _), "insert" | "replace") => {
                let number = self.first(called, Type::Sequence(*width))?;
                let source = self.only_source(called, 1)?;
                match name {
                    "insert" => Outcome::Tried(Attempt::InsertWindow(here, number, source)),
                    _ => Outcome::Done(Operation::ReplaceWindow(here, number, source)),
                }
            }
            (Type::Window(_, width, _), "release_to") => {
                let [number] = self.one(called, Type::Sequence(*width));
                edges::note(self.context.program, &here, &number);
                Outcome::Done(Operation::Release(here, number))
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
            Type::Bytes(_) => &["xor", "add", "scale"],
            Type::Unsigned(_)
            | Type::Signed(_)
            | Type::Bool
            | Type::Sequence(_)
            | Type::Time
            | Type::BoundedBytes(_)
            | Type::UnboundedBytes
            | Type::Enum(_)
            | Type::Record(_)
            | Type::Optional(_)
            | Type::Message
            | Type::Instance(_)
            | Type::Header(_)
            | Type::Abstract(_)
            | Type::Nothing => &[],
        };
        if *kind == Type::Nothing {
            return None;
        }
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
        let title = format!("`{}` is called with wrong arguments", called.name);
        let label = "wrong number of arguments";
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
            Some(source) if called.arguments.len() == at + 1 => {
                let source = self.source(source)?;
                self.note_source(&source);
                Some(source)
            }
            _ => self.wrong_count(called),
        }
    }

    fn only_message(&mut self, called: &Operated, at: usize) -> Option<LocalId> {
        let span = called.span;
        let source = self.only_source(called, at)?;
        if let Source::Local(message) = source {
            return Some(message);
        }
        let title = "a stream takes an existing message";
        let label = "name it first, with `let`";
        self.report(Diagnostic::error(Id::NotAValue, title, span, label));
        None
    }

    /// The bytes that are added: the last argument.
    fn term(&mut self, called: &Operated, at: usize) -> Option<Term> {
        let source = match called.arguments.get(at) {
            Some(source) if called.arguments.len() == at + 1 => source,
            _ => return self.wrong_count(called),
        };
        if let Some(Meaning::Data(message)) = self.meaning(source, None) {
            self.check_owned(message, source.span, "read");
            return Some(Term::Data(message));
        }
        let value = self.check(source, None);
        match (*value.kind, value.result) {
            (ExpressionKind::Read(place), Type::Bytes(_)) => return Some(Term::Bytes(place)),
            (_, Type::Nothing) => return None,
            _ => {}
        }
        let title = format!("`{}` takes the data of a message, or bytes", called.name);
        let label = "neither the data of a message nor bytes";
        let refused = Diagnostic::error(Id::WrongArguments, title, source.span, label);
        self.report(refused.help("write `message.data`, or the name of a field of bytes"));
        None
    }

    pub fn no_operation<T>(&mut self, span: Span, called: &Operated) -> Option<T> {
        let text = self.text(span);
        let help = match called.name.text.as_str() {
            "start" | "set" | "restart" => {
                Some(format!("write `start {text} after …` to start a timer"))
            }
            "stop" | "cancel" => Some(format!("write `stop {text}` to stop a timer")),
            _ => None,
        };
        if let Some(help) = help.filter(|_| self.is_timer(text)) {
            let title = format!("a timer has no operation `{}`", called.name);
            let refused = Diagnostic::error(Id::UnknownName, title, called.name.span, "unknown");
            self.report(refused.help(help));
            return None;
        }
        let what = format!("operation of `{}` called", self.text(span));
        self.unknown(&what, called.name, &[]);
        None
    }

    pub fn values(&mut self, called: &Operated, wanted: &[Type]) -> Vec<Expression> {
        self.arguments(
            &called.name.text,
            wanted,
            &[],
            called.arguments,
            called.span,
        )
    }

    pub fn one(&mut self, called: &Operated, wanted: Type) -> [Expression; 1] {
        let values = self.values(called, &[wanted]);
        values.try_into().expect("as many values as parameters")
    }

    pub fn two(&mut self, called: &Operated, first: Type, second: Type) -> [Expression; 2] {
        let values = self.values(called, &[first, second]);
        values.try_into().expect("as many values as parameters")
    }
}
