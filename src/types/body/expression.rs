//! Values: every form of an expression, with the type that is expected of it.
//!
//! `hint` is the type that the surroundings would like; a value may come out with another one, and
//! [`Body::expect`] makes it fit or says why it does not.

use super::super::expression::{Expression, ExpressionKind, Unary};
use super::super::program::{FilterId, LocalId};
use super::super::scope::Named;
use super::super::statement::Block;
use super::super::value::{Type, Value};
use super::access::Meaning;
use super::external::is_external;
use super::words::{Body, constant_number, make, nothing, number};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;

impl Body<'_, '_> {
    /// A value of exactly this type.
    pub fn expect(&mut self, source: &ast::Expression, expected: &Type) -> Expression {
        let value = self.check_raw(source, Some(expected));
        let value = match matches!(expected, Type::Optional(_)) {
            true => value,
            false => self.settle(value),
        };
        self.coerce(value, expected, source.span)
    }

    /// A condition.
    pub fn condition(&mut self, source: &ast::Expression) -> Expression {
        if let ast::ExpressionKind::Boolean(holds) = source.kind {
            let title = format!("this condition is always {holds}");
            let span = source.span;
            let warning = Diagnostic::warning(Id::ConstantCondition, title, span, "");
            self.report(warning.help("compare with something that can vary, or remove the test"));
        }
        self.expect(source, &Type::Bool)
    }

    /// The condition of a statement, which may ask for signals.
    pub fn question(&mut self, source: &ast::Expression) -> Expression {
        let around = std::mem::replace(&mut self.asks, true);
        let condition = self.condition(source);
        self.asks = around;
        condition
    }

    /// A value; an optional that is known to be there is its value.
    pub fn check(&mut self, source: &ast::Expression, hint: Option<&Type>) -> Expression {
        let value = self.check_raw(source, hint);
        self.settle(value)
    }

    /// An optional that is known to be there is its value.
    pub fn settle(&mut self, value: Expression) -> Expression {
        let Type::Optional(inner) = &value.result else {
            return value;
        };
        let inner = (**inner).clone();
        let present = make(ExpressionKind::Present(value.clone()), Type::Bool);
        match self.holds(&present) {
            true => make(ExpressionKind::Unwrap(value), inner),
            false => value,
        }
    }

    /// A value as it stands.
    pub fn check_raw(&mut self, source: &ast::Expression, hint: Option<&Type>) -> Expression {
        let around = self.asks;
        self.asks &= joins_questions(&source.kind);
        let value = self.as_it_stands(source, hint);
        self.asks = around;
        value
    }

    fn as_it_stands(&mut self, source: &ast::Expression, hint: Option<&Type>) -> Expression {
        if let Some(meaning) = self.meaning(source, hint) {
            return self.value_of(meaning, source.span);
        }
        let span = source.span;
        match &source.kind {
            ast::ExpressionKind::Number(value) => self.literal(*value, hint, span),
            ast::ExpressionKind::Duration(nanoseconds) => number(*nanoseconds, Type::Time),
            ast::ExpressionKind::Boolean(value) => number(u64::from(*value), Type::Bool),
            ast::ExpressionKind::None => self.none(hint, span),
            ast::ExpressionKind::List(_) => {
                let title = "a list of joints is no value";
                self.report(Diagnostic::error(Id::NotHere, title, span, ""));
                nothing()
            }
            ast::ExpressionKind::Now => make(ExpressionKind::Now, Type::Time),
            ast::ExpressionKind::Group(inner) => self.check_raw(inner, hint),
            ast::ExpressionKind::Call {
                function,
                arguments,
            } => self.call(function, arguments, hint, span),
            ast::ExpressionKind::Unary { operator, operand } => {
                self.unary(*operator, operand, hint)
            }
            ast::ExpressionKind::Binary {
                operator,
                left,
                right,
            } => self.binary(*operator, left, right, hint, span),
            ast::ExpressionKind::Cast { operand, to } => self.cast(operand, to, span),
            ast::ExpressionKind::Else { value, otherwise } => {
                self.value_or_else(value, otherwise, hint)
            }
            ast::ExpressionKind::Through { data, filter } => self.through(data, filter),
            ast::ExpressionKind::If {
                condition,
                then,
                otherwise,
                ..
            } => self.one_of_two(condition, then, otherwise, hint),
            ast::ExpressionKind::Find(_)
            | ast::ExpressionKind::FindByTimer { .. }
            | ast::ExpressionKind::Create(_)
            | ast::ExpressionKind::New { .. }
            | ast::ExpressionKind::Share(_) => {
                let title = format!("`{}` is not a value", self.text(span));
                let refused = Diagnostic::error(Id::NotAValue, title, span, "not a value");
                self.refuse(refused.help("name it first, with `let`"))
            }
            ast::ExpressionKind::Name(_)
            | ast::ExpressionKind::Field { .. }
            | ast::ExpressionKind::Index { .. } => nothing(),
        }
    }

    fn value_of(&mut self, meaning: Meaning, span: Span) -> Expression {
        let help = match (&meaning, &self.reacts) {
            (Meaning::Signal, Some(_)) => {
                "bind the value that it carries: `on NAME(value)` or `await NAME(value)`"
            }
            (Meaning::Signal, None) => "pass the result of `present` as an argument",
            (Meaning::Message(_), _) => "`share message` makes a second handle of the same bytes",
            (Meaning::Data(_), _) => {
                "declare the bytes as fields of a `header`, and read them with `let x = \
                message.peek(HEADER) else …`; a filter processes the rest"
            }
            _of_another_kind => "",
        };
        let what = match meaning {
            Meaning::Value(value) if value.result == Type::Nothing => return nothing(),
            Meaning::Value(value) if is_external(self.context.program, &value.result) => {
                "a value of an `extern type`"
            }
            Meaning::Value(value) => return value,
            Meaning::Unknown => return nothing(),
            Meaning::Message(_) => "a message",
            Meaning::Data(_) => "the data of a message",
            Meaning::Header(_) | Meaning::Peeked(..) => "a whole header",
            Meaning::Option(..) => "an option: `present` tests for it, and its fields have values",
            Meaning::Instance(..) => "an instance",
            Meaning::Timer(..) => "a timer",
            Meaning::Kind(_) => "a kind of instances",
            Meaning::Function(_) => "a function",
            Meaning::Filter(_) => "a filter",
            Meaning::Format(_) => "a header format",
            Meaning::Signal => "a signal: `present` tests for it",
            Meaning::Process(_) => "a process",
        };
        let title = format!("`{}` is not a value", self.text(span));
        let refused = Diagnostic::error(Id::NotAValue, title, span, format!("this is {what}"));
        self.refuse(match help {
            "" => refused,
            help => refused.help(help),
        })
    }

    /// A number as it is written: of the type that is expected, if it fits there.
    fn literal(&mut self, value: u64, hint: Option<&Type>, span: Span) -> Expression {
        let inner = match hint {
            Some(Type::Optional(inner)) => Some(inner.as_ref()),
            other => other,
        };
        let kind = match inner {
            Some(Type::Unsigned(width)) if value <= super::range::mask(*width) => {
                Type::Unsigned(*width)
            }
            _ if value <= u64::from(u32::MAX) => Type::Unsigned(32),
            _ => Type::Unsigned(64),
        };
        let text = self.text(span);
        self.context.program.writings.note(&kind, value, text);
        number(value, kind)
    }

    fn none(&mut self, hint: Option<&Type>, span: Span) -> Expression {
        match hint {
            Some(optional @ Type::Optional(_)) => {
                make(ExpressionKind::Constant(Value::None), optional.clone())
            }
            Some(Type::Nothing) => nothing(),
            Some(_) | None => {
                let title = "`none` cannot stand here";
                let refused =
                    Diagnostic::error(Id::PerhapsNone, title, span, "not of an optional type");
                self.refuse(refused.help("to test for a value, write `present x`"))
            }
        }
    }

    fn cast(&mut self, operand: &ast::Expression, to: &ast::Type, span: Span) -> Expression {
        let to = self.written_type(to);
        let operand = self.check(operand, None);
        if operand.result == Type::Nothing || to == Type::Nothing || operand.result == to {
            return match operand.result == to {
                true => operand,
                false => nothing(),
            };
        }
        let numeric = |of: &Type| {
            matches!(
                of,
                Type::Unsigned(_) | Type::Signed(_) | Type::Sequence(_) | Type::Time
            )
        };
        let from = &operand.result;
        let fits = matches!(from, Type::Enum(_) | Type::Bool) || numeric(from);
        if fits && numeric(&to) {
            if let Some(number) = constant_number(&operand) {
                let writings = &mut self.context.program.writings;
                writings.adapt(&operand.result, &to, number);
            }
            return self.folded(make(ExpressionKind::Cast(operand), to));
        }
        let (from, to) = (self.describe(from), self.describe(&to));
        let title = format!("`{from}` cannot be converted to `{to}`");
        self.refuse(Diagnostic::error(
            Id::TypeMismatch,
            title,
            span,
            "not a number",
        ))
    }

    fn value_or_else(
        &mut self,
        value: &ast::Expression,
        otherwise: &ast::Expression,
        hint: Option<&Type>,
    ) -> Expression {
        let inner_hint = hint.map(|hint| match hint {
            Type::Optional(inner) => inner.as_ref().clone(),
            plain => plain.clone(),
        });
        let optional = self.check_raw(value, inner_hint.as_ref());
        let inner = match &optional.result {
            Type::Optional(inner) => (**inner).clone(),
            Type::Nothing => return nothing(),
            other => {
                let title = format!("`{}` always has a value", self.text(value.span));
                let label = format!("the type is `{}`, not `{0}?`", self.describe(other));
                let refused = Diagnostic::error(Id::CannotFail, title, value.span, label);
                return self.refuse(refused.help("remove the `else`"));
            }
        };
        // What remains may itself be none, as in `a else b else 0`.
        let (otherwise, done) = match hint {
            Some(Type::Optional(_)) => self.perhaps(|body| body.check_raw(otherwise, hint)),
            Some(_) | None => self.perhaps(|body| body.check(otherwise, Some(&inner))),
        };
        let result = match &otherwise.result {
            Type::Optional(other) if **other == inner => {
                let some = make(ExpressionKind::Unwrap(optional.clone()), inner);
                let kind = otherwise.result.clone();
                let some = make(ExpressionKind::Some(some), kind.clone());
                let present = make(ExpressionKind::Present(optional), Type::Bool);
                return self.one_of(present, (Block::new(), some), (done, otherwise), value.span);
            }
            other if self.widens(&inner, other) && *other != inner => {
                let wide = other.clone();
                let wider = make(ExpressionKind::Unwrap(optional.clone()), inner);
                let wider = make(ExpressionKind::Cast(wider), wide.clone());
                let present = make(ExpressionKind::Present(optional), Type::Bool);
                return self.one_of(
                    present,
                    (Block::new(), wider),
                    (done, otherwise),
                    value.span,
                );
            }
            _ => inner,
        };
        let span = value.span;
        let otherwise = self.coerce(otherwise, &result, span);
        if !done.is_empty() {
            let there = make(ExpressionKind::Unwrap(optional.clone()), result);
            let present = make(ExpressionKind::Present(optional), Type::Bool);
            return self.one_of(present, (Block::new(), there), (done, otherwise), span);
        }
        self.folded(make(ExpressionKind::Else(optional, otherwise), result))
    }

    fn one_of_two(
        &mut self,
        condition: &ast::Expression,
        then: &ast::Expression,
        otherwise: &ast::Expression,
        hint: Option<&Type>,
    ) -> Expression {
        let spans = (then.span, otherwise.span);
        let condition = self.condition(condition);
        let before = self.flow.facts.clone();
        self.assume(&condition, true);
        let (then, for_then) = self.perhaps(|body| body.check(then, hint));
        self.flow.facts = before.clone();
        self.assume(&condition, false);
        let wanted = hint.or(Some(&then.result));
        let (otherwise, for_otherwise) = self.perhaps(|body| body.check(otherwise, wanted));
        self.flow.facts = before;
        let result = match hint {
            Some(Type::Optional(_)) => hint.cloned().expect("there is a hint in this branch"),
            Some(_) | None => self.type_of_both(&then, &otherwise),
        };
        let then = self.coerce(then, &result, spans.0);
        let otherwise = self.coerce(otherwise, &result, spans.1);
        let ways = ((for_then, then), (for_otherwise, otherwise));
        self.one_of(condition, ways.0, ways.1, spans.0.to(spans.1))
    }

    /// `message.data through internet_checksum()`, as a value.
    fn through(&mut self, data: &ast::Expression, filter: &ast::Expression) -> Expression {
        let Some((message, filter, arguments)) = self.filtered(data, filter) else {
            return nothing();
        };
        self.check_owned(message, data.span, "read");
        let definition = &self.context.program.filters[filter.at()];
        let Some(result) = definition
            .result
            .as_ref()
            .map(|result| result.result.clone())
        else {
            let title = format!("`{}` does not return a result", definition.name);
            let refused = Diagnostic::error(Id::NotAValue, title, data.span, "not a value");
            return self.refuse(refused.help("write `message.data = message.data through …`"));
        };
        make(ExpressionKind::Through(filter, arguments, message), result)
    }

    /// Which message's data goes through which filter.
    pub fn filtered(
        &mut self,
        data: &ast::Expression,
        filter: &ast::Expression,
    ) -> Option<(LocalId, FilterId, Vec<Expression>)> {
        let message = match self.meaning(data, None) {
            Some(Meaning::Data(message)) => Some(message),
            Some(Meaning::Unknown) => None,
            _ => {
                let title = "a filter applies only to the data of a message";
                let refused =
                    Diagnostic::error(Id::NotAValue, title, data.span, "not the data of a message");
                self.report(refused.help("write `message.data through …`"));
                None
            }
        };
        let (filter, arguments) = self.filter_call(filter)?;
        Some((message?, filter, arguments))
    }

    /// A filter with its arguments.
    pub fn filter_call(&mut self, source: &ast::Expression) -> Option<(FilterId, Vec<Expression>)> {
        let (mut name, mut arguments) = (source, [].as_slice());
        if let ast::ExpressionKind::Call {
            function,
            arguments: given,
        } = &source.kind
        {
            (name, arguments) = (function, given);
        }
        let filter = match self.meaning(name, None) {
            Some(Meaning::Filter(filter)) => filter,
            Some(Meaning::Unknown) => return None,
            _ => {
                let title = format!("`{}` is not a filter", self.text(name.span));
                self.report(Diagnostic::error(
                    Id::UnknownName,
                    title,
                    name.span,
                    "not a filter",
                ));
                return None;
            }
        };
        let definition = &self.context.program.filters[filter.at()];
        let count = definition.parameters as usize;
        let wanted: Vec<Type> = definition.locals[..count]
            .iter()
            .map(|local| local.kind.clone())
            .collect();
        let (title, defaults) = (definition.name.clone(), definition.defaults.clone());
        let arguments = self.arguments(&title, &wanted, &defaults, arguments, source.span);
        Some((filter, arguments))
    }

    /// What `present`, `not` and the signs make of a value.
    fn unary(
        &mut self,
        operator: ast::UnaryOperator,
        operand: &ast::Expression,
        hint: Option<&Type>,
    ) -> Expression {
        match operator {
            ast::UnaryOperator::Not => {
                let operand = self.condition(operand);
                self.folded(make(ExpressionKind::Unary(Unary::Not, operand), Type::Bool))
            }
            ast::UnaryOperator::Present => self.present(operand),
            ast::UnaryOperator::Pre => self.previous(operand, hint),
            ast::UnaryOperator::Negate => self.signed_unary(Unary::Negate, operand, hint),
            ast::UnaryOperator::Complement => self.signed_unary(Unary::Complement, operand, hint),
        }
    }

    fn present(&mut self, operand: &ast::Expression) -> Expression {
        if let Some(present) = self.presence(operand) {
            return self.answered(present, operand.span);
        }
        self.asks = false;
        if let ast::ExpressionKind::Call {
            function,
            arguments,
        } = &operand.kind
            && let ast::ExpressionKind::Name(name) = &function.kind
            && let Some(Named::Kind(_)) = self.scope.names.get(&name.text)
        {
            return self.exists(name, arguments, operand.span);
        }
        let value = match self.meaning(operand, None) {
            Some(Meaning::Option(local, header, option)) => {
                return self.header_presence(local, header, option);
            }
            Some(meaning) => self.value_of(meaning, operand.span),
            None => self.check_raw(operand, None),
        };
        match (&*value.kind, &value.result) {
            (ExpressionKind::If(there, ..), Type::Optional(_))
                if matches!(
                    *there.kind,
                    ExpressionKind::HeaderPresent(..) | ExpressionKind::PeekedPresent(..)
                ) =>
            {
                there.clone()
            }
            (_, Type::Optional(_)) => make(ExpressionKind::Present(value), Type::Bool),
            (_, Type::Nothing) => nothing(),
            _ => {
                let title = format!("`{}` always has a value", self.text(operand.span));
                let label = format!(
                    "the type is `{}`, which is not optional",
                    self.describe(&value.result)
                );
                self.refuse(Diagnostic::error(
                    Id::CannotFail,
                    title,
                    operand.span,
                    label,
                ))
            }
        }
    }
}

/// Whether a condition is made of others.
fn joins_questions(source: &ast::ExpressionKind) -> bool {
    match source {
        ast::ExpressionKind::Group(_) => true,
        ast::ExpressionKind::Unary { operator, .. } => matches!(
            operator,
            ast::UnaryOperator::Not | ast::UnaryOperator::Present | ast::UnaryOperator::Pre
        ),
        ast::ExpressionKind::Binary { operator, .. } => {
            matches!(operator, ast::BinaryOperator::And | ast::BinaryOperator::Or)
        }
        _of_values => false,
    }
}
