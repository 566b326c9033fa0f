//! What lives: the entity, sessions, children, and the processes in them.

use super::{Code, Parsed, Parser, Separator};
use crate::diagnostic::{Diagnostic, Id};
use crate::syntax::loom::ast::{
    BinaryOperator, Block, Instance, InstanceKind, Member, Parallel, Process, Signal, Timer,
};
use crate::syntax::loom::token::TokenKind;

/// Words with which a member begins; all others are the names of fields.
const MEMBERS: &[&str] = &[
    "once", "timer", "signal", "notice", "process", "on", "fn", "extern",
];

impl Parser<'_> {
    /// `entity { … }`, `session(keys)[n] { … }`, `child neighbour(keys)[n] { … }`
    pub(super) fn instance(&mut self) -> Parsed<Instance> {
        let beginning = self.begin();
        let kind = match self.take().text {
            "entity" => InstanceKind::Entity,
            "session" => InstanceKind::Session,
            _ => InstanceKind::Child(self.name("the name of the child")?),
        };
        let keys = self.optional_parameters()?;
        let capacity = if self.accept("[").is_some() {
            let capacity = self.expression()?;
            self.expect("]")?;
            Some(capacity)
        } else {
            None
        };
        let (mut members, mut run) = (Vec::new(), None);
        if self.is_at("{") {
            self.list("{", Separator::CommaOrNewline, |parser| {
                if parser.is_at("run") {
                    return parser.instance_run(&mut run);
                }
                members.push(parser.member()?);
                Ok(())
            })?;
        }
        let (notes, span) = self.finish(beginning);
        Ok(Instance {
            notes,
            kind,
            keys,
            capacity,
            members,
            run,
            span,
        })
    }

    fn instance_run(&mut self, run: &mut Option<Parallel>) -> Parsed<()> {
        let word = self.take().span;
        let parallel = self.parallel()?;
        match run.replace(parallel) {
            None => Ok(()),
            Some(first) => {
                let title = "an instance has two `run`";
                Err(self.report(
                    Diagnostic::error(Id::WrittenTwice, title, word, "a second one")
                        .label(first.span, "the first one")
                        .help("run all of its processes in parallel: `run a and b`"),
                ))
            }
        }
    }

    fn member(&mut self) -> Parsed<Member> {
        if !self.ahead(1).is(":") && !MEMBERS.iter().any(|word| self.is_at(word)) {
            self.correct_spelling(MEMBERS);
        }
        match self.token().text {
            "timer" => self.timer().map(Member::Timer),
            "signal" => self.signal().map(Member::Signal),
            "notice" => self.notice().map(Member::Notice),
            "process" => self.process().map(Member::Process),
            "on" => self.handler().map(Member::Handler),
            "fn" | "extern" => self.function(false).map(Member::Function),
            "once" => self.field().map(Member::Field),
            _ if self.ahead(1).is(":") => self.field().map(Member::Field),
            _ if self.begins_statement(0) || self.ahead(1).is("=") => {
                let title = "a statement is outside of all handlers";
                let span = self.token().span;
                Err(
                    self.report(Diagnostic::error(Id::UnexpectedWord, title, span, "").help(
                        "write a field as `name: type = value`, or move the statement into a \
                        handler `on … { … }`",
                    )),
                )
            }
            _ => Err(self.unexpected("a field, `timer`, `on` or another member of an instance")),
        }
    }

    fn timer(&mut self) -> Parsed<Timer> {
        let beginning = self.begin();
        self.take();
        let name = self.name("the name of the timer")?;
        let (notes, span) = self.finish(beginning);
        Ok(Timer { notes, name, span })
    }

    fn signal(&mut self) -> Parsed<Signal> {
        let beginning = self.begin();
        self.take();
        let name = self.name("the name of the signal")?;
        let mut of = None;
        let mut combine = None;
        if self.accept(":").is_some() {
            of = Some(self.type_name()?);
            if self.accept("combine").is_some() {
                combine = Some(self.combination()?);
            }
        }
        let (notes, span) = self.finish(beginning);
        Ok(Signal {
            notes,
            name,
            of,
            combine,
            span,
        })
    }

    /// An operator for which the order of the values does not matter.
    fn combination(&mut self) -> Parsed<BinaryOperator> {
        let operator = match self.token().text {
            "+" => BinaryOperator::Add,
            "*" => BinaryOperator::Multiply,
            "|" => BinaryOperator::BitOr,
            "&" => BinaryOperator::BitAnd,
            "^" => BinaryOperator::BitXor,
            "or" => BinaryOperator::Or,
            "and" => BinaryOperator::And,
            _ => return Err(self.unexpected("one of `+ * | & ^ or and`")),
        };
        self.take();
        Ok(operator)
    }

    /// `process timers { … }`: members and statements, in any order.
    pub(super) fn process(&mut self) -> Parsed<Process> {
        let beginning = self.begin();
        self.take();
        let name = self.name("the name of the process")?;
        let parameters = self.optional_parameters()?;
        let open = self.at;
        let (mut members, mut statements) = (Vec::new(), Vec::new());
        let around = std::mem::replace(&mut self.code, Code::Handler);
        let body = self.nested(|parser| {
            parser.list("{", Separator::Newline, |parser| {
                let field = parser.token().kind == TokenKind::Word && parser.ahead(1).is(":");
                if field || MEMBERS.iter().any(|word| parser.is_at(word)) {
                    members.push(parser.member()?);
                } else {
                    statements.push(parser.statement()?);
                }
                Ok(())
            })
        });
        self.code = around;
        body?;
        let body = Block {
            statements,
            span: self.span_from(open),
        };
        let (notes, span) = self.finish(beginning);
        Ok(Process {
            notes,
            name,
            parameters,
            members,
            body,
            span,
        })
    }
}
