//! Assignments: to fields, to the locals of functions, and to the data of a message.

use super::super::expression::{Binary, Expression, ExpressionKind, Variable};
use super::super::program::LocalId;
use super::super::statement::{Attempt, Block, Operation, Statement, StatementKind};
use super::super::value::Type;
use super::access::Meaning;
use super::external::is_external;
use super::flow::Flow;
use super::kinds::holds_things;
use super::operator::{Operand, checked_operator, is_literal};
use super::statement::Exit;
use super::words::{Body, Place};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;

/// Of the local of a handler.
const NAMES_A_VALUE: &str = "is a local of a handler, and never changes";

impl Body<'_, '_> {
    pub fn assign(
        &mut self,
        place: &ast::Expression,
        operator: Option<ast::BinaryOperator>,
        value: &ast::Expression,
        span: Span,
    ) -> Option<StatementKind> {
        let target = match self.meaning(place, None) {
            Some(Meaning::Data(message)) if operator.is_none() => {
                return self.assign_data(message, value, span);
            }
            Some(Meaning::Value(target)) => target,
            Some(Meaning::Unknown) => {
                self.check(value, None);
                return None;
            }
            Some(_) | None => return self.refuse_assignment(place, "is not a field or a local"),
        };
        let ExpressionKind::Read(variable) = &*target.kind else {
            if target.result == Type::Nothing {
                return None;
            }
            let why = why_fixed(&target.kind);
            return self.refuse_assignment(place, why);
        };
        let variable = variable.clone();
        if let Some(why) = self.unassignable(&variable, &target.result) {
            return self.refuse_assignment(place, why);
        }
        if self.is_once(&variable) {
            let whole = matches!(variable, Variable::Field(..));
            if operator.is_some() {
                return self.refuse_assignment(
                    place,
                    "is `once`: it is written only once, so it cannot count",
                );
            } else if !whole {
                return self
                    .refuse_assignment(place, "is `once`: it is written only once, as a whole");
            }
        }
        let kind = target.result.clone();
        let value = match operator {
            None => self.expect(value, &kind),
            Some(operator) => self.combined_value(target.clone(), place, operator, value, span),
        };
        self.forget(&variable);
        if value.result != Type::Nothing && operator.is_none() {
            self.assume_value(target, &value);
        }
        Some(match variable {
            Variable::Local(local) => StatementKind::Let(local, value),
            variable => StatementKind::Assign(variable, value),
        })
    }

    /// `next += 1`: computed in the type of the place.
    fn combined_value(
        &mut self,
        target: Expression,
        place: &ast::Expression,
        operator: ast::BinaryOperator,
        source: &ast::Expression,
        span: Span,
    ) -> Expression {
        let kind = target.result.clone();
        let left = Operand {
            value: self.settle(target),
            literal: false,
            span: place.span,
        };
        let operator = checked_operator(operator);
        let shift = matches!(operator, Binary::ShiftLeft | Binary::ShiftRight);
        let hint = matches!(kind, Type::Unsigned(_) | Type::Signed(_)).then_some(&kind);
        let mut right = self.operand(source, hint.filter(|_| !shift));
        if !shift && let Some(kind) = hint {
            right.value = self.coerce(right.value, kind, right.span);
        }
        right.literal = is_literal(source);
        let value = self.operate(operator, left, right, hint, span);
        self.coerce(value, &kind, span)
    }

    fn unassignable(&self, variable: &Variable, of: &Type) -> Option<&'static str> {
        if is_external(self.context.program, of) {
            return Some("has an `extern type`: only functions in C change it");
        }
        if holds_things(of) {
            return Some("is a container: only its operations change it");
        }
        let in_handler = matches!(self.place, Place::Handler(_));
        match variable {
            Variable::Local(local) if self.assignable.contains(local) => None,
            Variable::Local(_) if in_handler => Some(NAMES_A_VALUE),
            Variable::Local(_) => Some("does not change"),
            Variable::Field(..) if in_handler => None,
            Variable::Field(..) => Some("is a field: only handlers write it"),
            Variable::Element(inner, _) | Variable::Part(inner, ..) => {
                self.unassignable(inner, &Type::Nothing)
            }
        }
    }

    /// Whether the field is settled by its first write.
    fn is_once(&self, variable: &Variable) -> bool {
        match variable {
            Variable::Field(_, kind, field) => {
                self.context.program.kinds[kind.at()].fields[field.at()].once
            }
            Variable::Local(_) => false,
            Variable::Element(inner, _) | Variable::Part(inner, ..) => self.is_once(inner),
        }
    }

    fn refuse_assignment(&mut self, place: &ast::Expression, why: &str) -> Option<StatementKind> {
        let text = self.text(place.span);
        let title = format!("`{text}` cannot be assigned to");
        let label = format!("`{text}` {why}");
        let refused = Diagnostic::error(Id::NotAssignable, title, place.span, label);
        self.report(match why == NAMES_A_VALUE {
            true => refused.help(format!(
                "name the new value with another `let`; a value that persists is a field, `session \
                {{ {text}: u32 = 0 }}`; locals of a `fn` can be assigned"
            )),
            false => refused,
        });
        None
    }

    /// What an assignment has behind `else`: only where a filter grows it has something.
    pub fn or_otherwise(
        &mut self,
        assigned: StatementKind,
        value: &ast::Expression,
        otherwise: Option<&ast::Block>,
        failing: Flow,
        exits: &mut Vec<Exit>,
    ) -> Option<StatementKind> {
        match (assigned, otherwise) {
            (StatementKind::Attempt { attempt, .. }, Some(otherwise)) => {
                let tried = self.attempt(attempt, otherwise, failing, value.span, exits);
                Some(self.of_whole_words(tried, value.span))
            }
            (StatementKind::Attempt { .. }, None) => self.needs_else(value, value.span),
            (assigned, None) => Some(assigned),
            (_, Some(_)) => {
                let title = format!("`{}` cannot fail", self.text(value.span));
                let refused = Diagnostic::error(Id::CannotFail, title, value.span, "never fails");
                let why = "A filter fails only if it yields more words than it takes and finds no \
                    room, or if it is marked `whole` and the data has an incomplete word. A \
                    `pad`, `cut` or test before it can exclude that.";
                self.report(refused.why(why).help("remove the `else`"));
                None
            }
        }
    }

    /// A filter of whole words runs where the data has no other length, which is asked before.
    fn of_whole_words(&mut self, tried: StatementKind, span: Span) -> StatementKind {
        let StatementKind::Attempt {
            attempt: Attempt::Rewrite(message, id, arguments),
            otherwise,
            ..
        } = &tried
        else {
            return tried;
        };
        let filter = &self.context.program.filters[id.at()];
        if !filter.whole {
            return tried;
        }
        let (grows, keeps_length, unit) = (filter.grows, filter.keeps_length, filter.unit);
        let kind = StatementKind::Require {
            condition: Self::is_multiple(*message, unit),
            likely: None,
            otherwise: otherwise.clone(),
        };
        if keeps_length {
            self.assume_whole(*message, unit);
        }
        let before = self.before.get_or_insert_default();
        before.push(Statement { kind, span });
        match grows {
            true => tried,
            false => StatementKind::Do(Operation::Rewrite(*message, *id, arguments.clone())),
        }
    }

    /// `message.data = message.data through xor_stream(key)`; what may fail has no `else` yet.
    fn assign_data(
        &mut self,
        message: LocalId,
        value: &ast::Expression,
        span: Span,
    ) -> Option<StatementKind> {
        if let Some(called) = self.rewrite_in_c(message, value, span) {
            return called;
        }
        let ast::ExpressionKind::Through { data, filter } = &value.kind else {
            let title = "only a filter can rewrite the data of a message";
            let refused = Diagnostic::error(Id::TypeMismatch, title, value.span, "not a filter");
            self.report(refused.help("write `message.data = message.data through …`"));
            return None;
        };
        let (source, filter, arguments) = self.filtered(data, filter)?;
        if source != message {
            let (to, from) = (self.local_name(message), self.local_name(source));
            let title = format!("the data of `{from}` cannot be assigned to `{to}`");
            let label = "the data of another message";
            let help = format!("write `{from}.data = {from}.data through …`, and send `{from}`");
            let refused = Diagnostic::error(Id::TypeMismatch, title, data.span, label);
            let why = "A filter rewrites the data of a message in place.";
            self.report(refused.why(why).help(help));
            return None;
        }
        if !self.context.program.filters[filter.at()].rewrites {
            let name = self.context.program.filters[filter.at()].name.clone();
            let title = format!("`{name}` only reads data, and cannot rewrite it");
            let refused =
                Diagnostic::error(Id::TypeMismatch, title, value.span, "a filter that `reads`");
            self.report(refused.help("use its result: `let sum = message.data through …`"));
            return None;
        }
        self.check_rewritten(message, value.span);
        let known = self.whole_unit(message);
        self.forget_length(message);
        let of = &self.context.program.filters[filter.at()];
        let may_fail = of.grows || of.whole && known < of.unit;
        if of.keeps_length {
            self.assume_whole(message, known);
        }
        Some(match may_fail {
            false => StatementKind::Do(Operation::Rewrite(message, filter, arguments)),
            true => StatementKind::Attempt {
                attempt: Attempt::Rewrite(message, filter, arguments),
                bind: None,
                likely: None,
                otherwise: Block::new(),
            },
        })
    }
}

impl Body<'_, '_> {
    /// Who rewrites data owns it alone.
    pub fn check_rewritten(&mut self, message: LocalId, span: Span) {
        self.check_owned(message, span, "rewritten");
        if let Some(shared) = self.flow.shared.get(&message) {
            let title = "the data of a shared message is read-only";
            let refused = Diagnostic::error(Id::MessageGone, title, span, "rewritten here");
            self.report(refused.label(*shared, "shared here"));
        }
    }
}

/// Why what is no variable cannot be assigned to.
fn why_fixed(of: &ExpressionKind) -> &'static str {
    match of {
        ExpressionKind::Key(..) => "is a key: the key of an instance never changes",
        ExpressionKind::ByteAt(..) => "is a byte of a value that can only be assigned as a whole",
        ExpressionKind::If(_, some, _) if is_byte(some) => {
            "is a byte of a value that can only be assigned as a whole"
        }
        ExpressionKind::Header(..)
        | ExpressionKind::HeaderPresent(..)
        | ExpressionKind::PeekedPresent(..)
        | ExpressionKind::OptionsHold(_)
        | ExpressionKind::Peeked(..)
        | ExpressionKind::If(..) => {
            "is received, and never changes; set fields of an outgoing header in a `with`"
        }
        ExpressionKind::Attribute(..) => "is an attribute of a message; set it in a `with`",
        ExpressionKind::Constant(_) | ExpressionKind::Config(_) => "is a parameter or a constant",
        ExpressionKind::Read(_)
        | ExpressionKind::Length(_)
        | ExpressionKind::WholeLength
        | ExpressionKind::Below
        | ExpressionKind::Now
        | ExpressionKind::Signal(_)
        | ExpressionKind::Unary(..)
        | ExpressionKind::Binary(..)
        | ExpressionKind::Some(_)
        | ExpressionKind::Unwrap(_)
        | ExpressionKind::Present(_)
        | ExpressionKind::Else(..)
        | ExpressionKind::Cast(_)
        | ExpressionKind::BytesLength(_)
        | ExpressionKind::Bounded(_)
        | ExpressionKind::Call(..)
        | ExpressionKind::Least(..)
        | ExpressionKind::Greatest(..)
        | ExpressionKind::Query(_)
        | ExpressionKind::Through(..) => "is computed, not stored",
    }
}

/// Whether this is a byte of bounded bytes, as an optional.
fn is_byte(value: &Expression) -> bool {
    let ExpressionKind::Some(inner) = &*value.kind else {
        return false;
    };
    matches!(*inner.kind, ExpressionKind::ByteAt(..))
}
