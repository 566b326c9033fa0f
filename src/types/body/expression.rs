//! Values: every form of an expression, with the type that is expected of it.
//!
//! `hint` is the type that the surroundings would like; a value may come out with another one, and
//! [`Body::expect`] makes it fit or says why it does not.

use super::super::expression::{Expression, ExpressionKind, Query, Unary, Variable};
use super::super::program::{FilterId, FunctionId, LocalId};
use super::super::value::{Type, Value};
use super::access::Meaning;
use super::words::{Body, Place, make, nothing, number};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;

impl Body<'_, '_> {
    /// A value of exactly this type.
    pub fn expect(&mut self, source: &ast::Expression, expected: &Type) -> Expression {
        let value = self.check_raw(source, Some(expected));
        let value = match expected {
            Type::Optional(_) => value,
            _ => self.settle(value),
        };
        self.coerce(value, expected, source.span)
    }

    /// A condition.
    pub fn condition(&mut self, source: &ast::Expression) -> Expression {
        self.expect(source, &Type::Bool)
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
        if let Some(meaning) = self.meaning(source, hint) {
            return self.value_of(meaning, source.span);
        }
        let span = source.span;
        match &source.kind {
            ast::ExpressionKind::Number(value) => literal(*value, hint),
            ast::ExpressionKind::Duration(nanoseconds) => number(*nanoseconds, Type::Time),
            ast::ExpressionKind::Boolean(value) => number(u64::from(*value), Type::Bool),
            ast::ExpressionKind::None => self.none(hint, span),
            ast::ExpressionKind::Now => make(ExpressionKind::Now, Type::Time),
            ast::ExpressionKind::Group(inner) => self.check_raw(inner, hint),
            ast::ExpressionKind::Call {
                function,
                arguments,
            } => self.call(function, arguments, hint, span),
            ast::ExpressionKind::Unary { operator, operand } => {
                self.unary(*operator, operand, hint, span)
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
            | ast::ExpressionKind::Create(_)
            | ast::ExpressionKind::New { .. }
            | ast::ExpressionKind::Share(_) => {
                let title = format!("`{}` is no value", self.text(span));
                let refused = Diagnostic::error(Id::NotAValue, title, span, "not a value");
                self.refuse(refused.help("give it a name first, with `let`"))
            }
            ast::ExpressionKind::Name(_)
            | ast::ExpressionKind::Field { .. }
            | ast::ExpressionKind::Index { .. } => nothing(),
        }
    }

    fn value_of(&mut self, meaning: Meaning, span: Span) -> Expression {
        let what = match meaning {
            Meaning::Value(value) if value.result == Type::Nothing => return nothing(),
            Meaning::Value(value) => return value,
            Meaning::Unknown => return nothing(),
            Meaning::Message(_) => "a message",
            Meaning::Data(_) => "the data of a message",
            Meaning::Header(_) | Meaning::Peeked(..) => "a whole header",
            Meaning::Instance(..) => "an instance",
            Meaning::Timer(..) => "a timer",
            Meaning::Kind(_) => "a kind of instances",
            Meaning::Function(_) => "a function",
            Meaning::Filter(_) => "a filter",
            Meaning::Format(_) => "a header format",
        };
        let title = format!("`{}` is no value", self.text(span));
        self.refuse(Diagnostic::error(
            Id::NotAValue,
            title,
            span,
            format!("this is {what}"),
        ))
    }

    fn none(&mut self, hint: Option<&Type>, span: Span) -> Expression {
        match hint {
            Some(optional @ Type::Optional(_)) => {
                make(ExpressionKind::Constant(Value::None), optional.clone())
            }
            Some(Type::Nothing) => nothing(),
            Some(_) | None => {
                let title = "`none` stands where something is needed";
                let refused = Diagnostic::error(Id::PerhapsNone, title, span, "nothing optional");
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
            return self.folded(make(ExpressionKind::Cast(operand), to));
        }
        let (from, to) = (self.describe(from), self.describe(&to));
        let title = format!("{from} does not become {to}");
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
                let title = format!("`{}` is always there", self.text(value.span));
                let label = format!("this is {}, not {0}?", self.describe(other));
                let refused = Diagnostic::error(Id::CannotFail, title, value.span, label);
                return self.refuse(refused.help("leave out the `else`"));
            }
        };
        // What remains may itself be none, as in `a else b else 0`.
        let otherwise = match hint {
            Some(Type::Optional(_)) => self.check_raw(otherwise, hint),
            Some(_) | None => self.check(otherwise, Some(&inner)),
        };
        let result = match &otherwise.result {
            Type::Optional(other) if **other == inner => {
                let some = make(ExpressionKind::Unwrap(optional.clone()), inner);
                let kind = otherwise.result.clone();
                let some = make(ExpressionKind::Some(some), kind.clone());
                let present = make(ExpressionKind::Present(optional), Type::Bool);
                return make(ExpressionKind::If(present, some, otherwise), kind);
            }
            other if self.widens(&inner, other) && *other != inner => {
                let wide = other.clone();
                let value = make(ExpressionKind::Unwrap(optional.clone()), inner);
                let value = make(ExpressionKind::Cast(value), wide.clone());
                let present = make(ExpressionKind::Present(optional), Type::Bool);
                return make(ExpressionKind::If(present, value, otherwise), wide);
            }
            _ => inner,
        };
        let span = value.span;
        let otherwise = self.coerce(otherwise, &result, span);
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
        let then = self.check(then, hint);
        self.flow.facts = before.clone();
        self.assume(&condition, false);
        let otherwise = self.check(otherwise, hint.or(Some(&then.result)));
        self.flow.facts = before;
        let result = match hint {
            Some(Type::Optional(_)) => hint.cloned().expect("there is a hint in this branch"),
            Some(_) | None => self.common(&then, &otherwise),
        };
        let then = self.coerce(then, &result, spans.0);
        let otherwise = self.coerce(otherwise, &result, spans.1);
        self.folded(make(ExpressionKind::If(condition, then, otherwise), result))
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
            let title = format!("`{}` has no result", definition.name);
            let refused = Diagnostic::error(Id::NotAValue, title, data.span, "no value");
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
                let title = "only the data of a message goes through a filter";
                let refused = Diagnostic::error(Id::NotAValue, title, data.span, "not data");
                self.report(refused.help("write `message.data through …`"));
                None
            }
        };
        let (filter, arguments) = self.filter_call(filter)?;
        Some((message?, filter, arguments))
    }

    /// A filter with its arguments.
    pub fn filter_call(&mut self, source: &ast::Expression) -> Option<(FilterId, Vec<Expression>)> {
        let (name, arguments) = match &source.kind {
            ast::ExpressionKind::Call {
                function,
                arguments,
            } => (function.as_ref(), arguments.as_slice()),
            _ => (source, [].as_slice()),
        };
        let filter = match self.meaning(name, None) {
            Some(Meaning::Filter(filter)) => filter,
            Some(Meaning::Unknown) => return None,
            _ => {
                let title = format!("`{}` is no filter", self.text(name.span));
                self.report(Diagnostic::error(
                    Id::UnknownName,
                    title,
                    name.span,
                    "no filter",
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

    /// What a function, filter, notice or kind is given; what is left out has its default.
    pub fn arguments(
        &mut self,
        name: &str,
        wanted: &[Type],
        defaults: &[Option<Value>],
        sources: &[ast::Expression],
        span: Span,
    ) -> Vec<Expression> {
        let least = wanted.len() - defaults.iter().rev().take_while(|it| it.is_some()).count();
        if sources.len() < least || sources.len() > wanted.len() {
            let count = match wanted.len() {
                _ if least < wanted.len() => format!("{least} to {}", wanted.len()),
                0 => "nothing".to_string(),
                1 => "one value".to_string(),
                count => format!("{count} values"),
            };
            let title = format!("`{name}` takes {count}, and is given {}", sources.len());
            let label = "not as many as there are parameters";
            self.report(Diagnostic::error(Id::WrongArguments, title, span, label));
        }
        let mut values = Vec::new();
        for (place, kind) in wanted.iter().enumerate() {
            values.push(match (sources.get(place), defaults.get(place)) {
                (Some(source), _) => self.expect(source, kind),
                (None, Some(Some(default))) => {
                    make(ExpressionKind::Constant(default.clone()), kind.clone())
                }
                (None, _) => nothing(),
            });
        }
        values
    }

    fn call(
        &mut self,
        function: &ast::Expression,
        arguments: &[ast::Expression],
        hint: Option<&Type>,
        span: Span,
    ) -> Expression {
        if let ast::ExpressionKind::Field { of, name } = &function.kind {
            return self.query(of, name, arguments, span);
        }
        if let ast::ExpressionKind::Name(name) = &function.kind
            && !self.scope.names.contains_key(&name.text)
            && let Some(value) = self.built_in(name, arguments, hint, span)
        {
            return value;
        }
        match self.meaning(function, None) {
            Some(Meaning::Function(id)) => self.function_call(id, arguments, span),
            Some(Meaning::Unknown) => nothing(),
            Some(Meaning::Filter(_)) => {
                let title = "a filter runs over data";
                let refused = Diagnostic::error(Id::NotAValue, title, span, "over which data?");
                let text = self.text(span);
                self.refuse(refused.help(format!("write `message.data through {text}`")))
            }
            Some(_) | None => {
                let title = format!("`{}` is no function", self.text(function.span));
                let label = "cannot be called";
                self.refuse(Diagnostic::error(
                    Id::UnknownName,
                    title,
                    function.span,
                    label,
                ))
            }
        }
    }

    /// A call of a function of values; behind its arguments goes the message that it looks at.
    pub fn function_call(
        &mut self,
        id: FunctionId,
        sources: &[ast::Expression],
        span: Span,
    ) -> Expression {
        let function = &self.context.program.functions[id.at()];
        let count = function.parameters as usize;
        let wanted: Vec<Type> = function.locals[..count]
            .iter()
            .map(|local| local.kind.clone())
            .collect();
        let (name, defaults) = (function.name.clone(), function.defaults.clone());
        let (looks, reads_header) = (function.message.is_some(), function.reads_header);
        let result = function.result.clone();
        let mut arguments = self.arguments(&name, &wanted, &defaults, sources, span);
        if arguments.iter().any(|value| value.result == Type::Nothing) {
            return nothing();
        }
        if looks {
            let message = self.local("message").or(self.scope.message);
            let Some(message) = message else {
                let title = format!("`{name}` looks at a message, and there is none here");
                return self.refuse(Diagnostic::error(Id::NotHere, title, span, "no message"));
            };
            arguments.push(self.read_local(message));
        }
        self.check_reads(id, reads_header, span);
        self.folded(make(ExpressionKind::Call(id, arguments), result))
    }

    /// A function may read what whoever calls it may read.
    fn check_reads(&mut self, id: FunctionId, reads_header: bool, span: Span) {
        if reads_header && self.place == Place::Function {
            self.reads.header = true;
        }
        let function = &self.context.program.functions[id.at()];
        if function.entity == Some(self.scope.entity) {
            self.reads.entity = true;
            self.reads.own |= function.kind == Some(self.scope.kind);
        }
        let (kind, name) = (function.kind, function.name.clone());
        let foreign = kind.is_some_and(|kind| {
            kind != self.scope.kind
                && self.context.program.kinds[kind.at()].entity == self.scope.entity
        });
        if foreign {
            let title = format!("`{name}` reads fields of other instances");
            let label = "they are not at hand here";
            self.report(Diagnostic::error(Id::NotHere, title, span, label));
        }
    }

    /// `max`, `min` and `clamp` of numbers.
    fn built_in(
        &mut self,
        name: &ast::Name,
        arguments: &[ast::Expression],
        hint: Option<&Type>,
        span: Span,
    ) -> Option<Expression> {
        let wanted = match name.text.as_str() {
            "min" | "max" => 2,
            "clamp" => 3,
            _ => return None,
        };
        if arguments.len() != wanted {
            let title = format!(
                "`{name}` takes {wanted} numbers, and is given {}",
                arguments.len()
            );
            let label = "not as many as there are parameters";
            let refused = Diagnostic::error(Id::WrongArguments, title, span, label);
            return Some(self.refuse(refused));
        }
        let mut values = Vec::new();
        for argument in arguments {
            values.push((self.check(argument, hint), argument));
        }
        let values = self.of_one_type(values, hint)?;
        let kind = values[0].result.clone();
        let mut values = values.into_iter();
        let mut next = || values.next().expect("as many as were counted");
        let (first, second) = (next(), next());
        let value = match name.text.as_str() {
            "min" => ExpressionKind::Least(first, second),
            "max" => ExpressionKind::Greatest(first, second),
            _ => {
                let raised = make(ExpressionKind::Greatest(first, second), kind.clone());
                ExpressionKind::Least(raised, next())
            }
        };
        Some(self.folded(make(value, kind)))
    }

    /// What a container tells: `early.has(next)`, `data.covers(0, length)`.
    fn query(
        &mut self,
        of: &ast::Expression,
        name: &ast::Name,
        arguments: &[ast::Expression],
        span: Span,
    ) -> Expression {
        let container = match self.meaning(of, None) {
            Some(Meaning::Value(value)) => self.settle(value),
            Some(Meaning::Unknown) => return nothing(),
            Some(Meaning::Message(_)) => return self.fails_or_changes(name, span),
            _ => nothing(),
        };
        let ExpressionKind::Read(place) = &*container.kind else {
            let what = format!("operation of `{}` called", self.text(of.span));
            return self.unknown(&what, name, &[]);
        };
        let place: Variable = place.clone();
        let number = |width| Type::Unsigned(width);
        let (wanted, result) = match (&container.result, name.text.as_str()) {
            (Type::Window(width, _), "has") => (vec![Type::Sequence(*width)], Type::Bool),
            (Type::Set(_), "has" | "insert") => (vec![number(32)], Type::Bool),
            (Type::Stream(position, _), "covers") => {
                (vec![(**position).clone(), number(32)], Type::Bool)
            }
            (Type::Stream(position, _), "ready") => (vec![(**position).clone()], number(32)),
            (Type::Nothing, _) => return nothing(),
            _ => return self.fails_or_changes(name, span),
        };
        let mut values = self
            .arguments(&name.text, &wanted, &[], arguments, span)
            .into_iter();
        let mut next = || values.next().expect("as many values as parameters");
        let query = match (&container.result, name.text.as_str()) {
            (Type::Set(size), called) => {
                let index = next();
                self.check_member(&index, *size, span);
                match called {
                    "insert" => {
                        self.forget(&place);
                        Query::InsertSet(place, index)
                    }
                    _ => Query::Has(place, index),
                }
            }
            (_, "has") => Query::Has(place, next()),
            (_, "covers") => Query::Covers(place, next(), next()),
            _ => Query::Ready(place, next()),
        };
        make(ExpressionKind::Query(query), result)
    }

    /// A set has room for the numbers below its capacity.
    fn check_member(&mut self, index: &Expression, size: u32, span: Span) {
        let Some(range) = self.range(index) else {
            return;
        };
        if range.high < u64::from(size) || self.scope.alone {
            return;
        }
        let title = "this number may be too large for the set";
        let label = format!(
            "it may be up to {}, and the set holds 0 to {}",
            range.high,
            size - 1
        );
        let refused = Diagnostic::error(Id::IndexOutOfRange, title, span, label);
        self.report(refused.help(format!("test it before: `require … < {size} else …`")));
    }

    /// An operation that is a statement, where a value is expected.
    fn fails_or_changes(&mut self, name: &ast::Name, span: Span) -> Expression {
        let title = format!("`{name}` gives no value that can be computed with");
        let refused = Diagnostic::error(Id::NotAValue, title, span, "not a value");
        self.refuse(refused.help("what takes or makes something stands in a `let`, or by itself"))
    }

    /// What `present`, `not` and the signs make of a value.
    fn unary(
        &mut self,
        operator: ast::UnaryOperator,
        operand: &ast::Expression,
        hint: Option<&Type>,
        span: Span,
    ) -> Expression {
        match operator {
            ast::UnaryOperator::Not => {
                let operand = self.condition(operand);
                self.folded(make(ExpressionKind::Unary(Unary::Not, operand), Type::Bool))
            }
            ast::UnaryOperator::Present => self.present(operand),
            ast::UnaryOperator::Pre => {
                self.not_yet("`pre`", span);
                nothing()
            }
            ast::UnaryOperator::Negate => self.signed_unary(Unary::Negate, operand, hint),
            ast::UnaryOperator::Complement => self.signed_unary(Unary::Complement, operand, hint),
        }
    }

    fn present(&mut self, operand: &ast::Expression) -> Expression {
        let value = self.check_raw(operand, None);
        match (&*value.kind, &value.result) {
            (ExpressionKind::If(there, ..), Type::Optional(_))
                if matches!(*there.kind, ExpressionKind::HeaderPresent(..)) =>
            {
                there.clone()
            }
            (_, Type::Optional(_)) => make(ExpressionKind::Present(value), Type::Bool),
            (_, Type::Nothing) => nothing(),
            _ => {
                let title = format!("`{}` is always there", self.text(operand.span));
                let label = format!("this is {}, not optional", self.describe(&value.result));
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

/// A number as it is written: of the type that is expected, if it fits there.
fn literal(value: u64, hint: Option<&Type>) -> Expression {
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
    number(value, kind)
}
