//! Where a message comes from that goes somewhere: it is owned and then gone, or made for this.

use super::super::expression::{ExpressionKind, Variable};
use super::super::program::LocalId;
use super::super::statement::Source;
use super::super::value::Type;
use super::access::Meaning;
use super::operation::Operated;
use super::words::Body;
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;

impl Body<'_, '_> {
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
        let refused = Diagnostic::error(Id::MissingElse, title, called.span, "may fail");
        self.report(refused.help(format!("bind it before: `let copy = {text} else …`")));
        None
    }

    fn no_message(&mut self, source: &ast::Expression) -> Option<Source> {
        let title = format!("`{}` is not a message", self.text(source.span));
        let label = "expected a message";
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
            let title = "`new message` takes no arguments, or bytes and their number";
            self.report(Diagnostic::error(
                Id::WrongArguments,
                title,
                span,
                "wrong arguments",
            ));
            return None;
        };
        let value = self.check(bytes, None);
        let count = self.expect(count, &Type::Unsigned(32));
        match (*value.kind, value.result) {
            (ExpressionKind::Read(place), Type::Bytes(_)) => Some(Source::NewFrom(place, count)),
            (_, Type::Nothing) => None,
            _ => {
                let title = "a new message can only copy bytes";
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

    pub fn piece(&mut self, message: LocalId, called: &Operated) -> Source {
        self.check_owned(message, called.span, "read");
        let length = Type::Unsigned(32);
        let [at, count] = self.two(called, length.clone(), length);
        Source::Piece(message, at, count)
    }

    pub fn stream_source(&mut self, place: Variable, kind: &Type, called: &Operated) -> Source {
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
}
