//! What processes say: signals, waiting, what runs in parallel; and events, which handlers share.

use super::{Parsed, Parser, Separator};
use crate::diagnostic::{Diagnostic, Id};
use crate::syntax::loom::ast::{
    Block, Case, Delay, Event, Expression, ExpressionKind, Name, Parallel, ParallelBranch, Path,
    StatementKind,
};
use crate::syntax::loom::token::TokenKind;

impl Parser<'_> {
    pub(super) fn emit_statement(&mut self) -> Parsed<StatementKind> {
        let signal = self.path("a signal")?;
        if !self.is_at("(") {
            return Ok(StatementKind::Emit {
                signal,
                value: None,
            });
        }
        self.take();
        let value = Some(self.expression()?);
        self.expect(")")?;
        Ok(StatementKind::Emit { signal, value })
    }

    pub(super) fn run_statement(&mut self) -> Parsed<StatementKind> {
        let parallel = self.parallel()?;
        let unless = match self.accept("unless") {
            Some(_) => Some(self.event()?),
            None => None,
        };
        let mut until = Vec::new();
        let mut after = false;
        if self.accept("until").is_some() {
            after = self.accept("after").is_some();
            until = self.cases_or_delay()?;
        }
        Ok(StatementKind::Run {
            parallel,
            unless,
            until,
            after,
        })
    }

    /// `a and { … } and b`
    pub(super) fn parallel(&mut self) -> Parsed<Parallel> {
        let start = self.at;
        let mut branches = Vec::new();
        loop {
            branches.push(if self.is_at("{") {
                ParallelBranch::Block(self.block()?)
            } else {
                self.name_follows("a process, or a block")?;
                let name = self.path("a process")?;
                let arguments = if self.is_at("(") {
                    self.arguments()?
                } else {
                    Vec::new()
                };
                ParallelBranch::Process { name, arguments }
            });
            if self.accept("and").is_none() {
                return Ok(Parallel {
                    branches,
                    span: self.span_from(start),
                });
            }
        }
    }

    /// The cases of an `await` or an `until`: `{ case … }`, or one event, how likely it is,
    /// and perhaps a block.
    pub(super) fn cases_or_delay(&mut self) -> Parsed<Vec<Case>> {
        if self.is_at("{") {
            return self.list("{", Separator::Newline, |parser| {
                let start = parser.at;
                parser.expect("case")?;
                let delay = parser.delay()?;
                let likely = parser.likely()?;
                let body = parser.block()?;
                Ok(Case {
                    delay,
                    likely,
                    body,
                    span: parser.span_from(start),
                })
            });
        }
        let start = self.at;
        let delay = self.delay()?;
        let likely = self.likely()?;
        let body = if self.is_at("{") {
            self.block()?
        } else {
            Block {
                statements: Vec::new(),
                span: delay.span.after(),
            }
        };
        Ok(vec![Case {
            delay,
            likely,
            body,
            span: self.span_from(start),
        }])
    }

    pub(super) fn delay(&mut self) -> Parsed<Delay> {
        let start = self.at;
        let now = self.accept("now").is_some();
        let is_number = self.token().kind == TokenKind::Number;
        let times = match is_number || self.is_at("(") {
            true => Some(self.simple()?),
            false => None,
        };
        let event = self.event()?;
        let condition = self.guard()?;
        Ok(Delay {
            now,
            times,
            event,
            condition,
            span: self.span_from(start),
        })
    }

    /// `if c`, where it may stand behind something.
    pub(super) fn guard(&mut self) -> Parsed<Option<Expression>> {
        if self.accept("if").is_some() {
            self.condition().map(Some)
        } else {
            Ok(None)
        }
    }

    /// `deliver(message)`, `transmit or acknowledge`
    pub(super) fn event(&mut self) -> Parsed<Event> {
        let start = self.at;
        let mut names = vec![self.event_name()?];
        let mut bindings = Vec::new();
        if self.is_at("(") {
            bindings = self.list("(", Separator::CommaOrNewline, Self::binding)?;
        }
        while self.accept("or").is_some() {
            names.push(self.event_name()?);
        }
        Ok(Event {
            names,
            bindings,
            span: self.span_from(start),
        })
    }

    fn binding(&mut self) -> Parsed<Name> {
        let name = self.name("a name")?;
        if self.is_at(":") {
            let title = "the event defines the type of this value";
            let typed = Diagnostic::error(Id::NotLoom, title, self.token().span, "");
            return Err(self.report(typed.help(format!("remove the type: `{name}`"))));
        }
        Ok(name)
    }

    fn event_name(&mut self) -> Parsed<Path> {
        if !self.is_at_word_for_event() {
            self.name_follows("an event")?;
        }
        self.path("an event")
    }

    /// Whether an event comes whose name is a word of the language.
    pub(super) fn is_at_word_for_event(&self) -> bool {
        let events = ["send", "deliver", "start", "end", "again"];
        events.iter().any(|event| self.is_at(event))
    }

    /// Such an event, where `present` asks for it.
    pub(super) fn word_for_event(&mut self) -> Parsed<Expression> {
        let path = self.path("an event")?;
        let span = path.span;
        let name = path.names.into_iter().next();
        let kind = ExpressionKind::Name(name.expect("a path has a name"));
        Ok(Expression { kind, span })
    }
}
