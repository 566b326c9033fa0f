//! Expressions: what names mean, and which types go together.

use super::operator::{Operator, operator};
use super::scope::Scope;
use super::{Checker, Data, Expression, ExpressionKind as Kind, Type};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::esterel::ast::{self, Binary, Name, Unary};
use crate::types::process::{self, DataId, Role, SignalId};

impl Checker<'_> {
    /// Notes what is computed at a place.
    pub(super) fn data(&mut self, data: Data, span: Span) -> DataId {
        let mut reads = Vec::new();
        let mut open = data.expressions();
        while let Some(expression) = open.pop() {
            if let Kind::Value(signal) = &*expression.kind
                && !reads.contains(signal)
            {
                reads.push(*signal);
            }
            open.extend(expression.kind.operands());
        }
        let id = DataId(self.module.data.len() as u32);
        let is_risky = data.expressions().into_iter().any(|one| self.is_risky(one));
        let processes = &mut self.module.processes;
        if is_risky {
            processes.risky.insert(id);
        }
        processes.data.push(process::Data {
            reads,
            writes: Vec::new(),
            span,
        });
        self.module.data.push(data);
        id
    }

    /// Whether a value may not be there, or a number be divided by zero.
    fn is_risky(&self, expression: &Expression) -> bool {
        let has_none = |signal: &SignalId| {
            let channel = self.module.channels[signal.at()].as_ref();
            channel.is_none_or(|channel| !channel.initial)
        };
        let risky = match &*expression.kind {
            Kind::Value(signal) | Kind::Before(signal) => has_none(signal),
            Kind::Binary(Binary::Divide | Binary::Modulo, ..) => expression.result == Type::Integer,
            _ => false,
        };
        let operands = expression.kind.operands();
        risky || operands.into_iter().any(|one| self.is_risky(one))
    }

    /// An expression that must have a type.
    pub(super) fn expression_of(
        &mut self,
        expression: &ast::Expression,
        kind: Type,
        scope: &Scope,
    ) -> Option<Expression> {
        let checked = self.expression(expression, Some(kind), scope)?;
        if checked.result != kind {
            let (has, needs) = (self.named(checked.result), self.named(kind));
            let title = format!("expected `{needs}`, but this is `{has}`");
            let label = format!("`{has}`");
            let refused = Diagnostic::error(Id::TypeMismatch, title, expression.span, label);
            self.report(refused);
            return None;
        }
        Some(checked)
    }

    fn named(&self, kind: Type) -> String {
        kind.name(&self.module.types).to_string()
    }

    /// An expression; where a number with a fraction stands, of the type that is wanted.
    pub(super) fn expression(
        &mut self,
        expression: &ast::Expression,
        wanted: Option<Type>,
        scope: &Scope,
    ) -> Option<Expression> {
        let span = expression.span;
        Some(match &*expression.kind {
            ast::ExpressionKind::Integer(number) => {
                let Ok(number) = i32::try_from(*number) else {
                    let title = format!("`{number}` does not fit into 32 bits");
                    let refused = Diagnostic::error(Id::NumberTooLarge, title, span, "too large");
                    self.report(refused.help("the largest integer is 2147483647"));
                    return None;
                };
                Expression::new(Kind::Integer(number), Type::Integer)
            }
            ast::ExpressionKind::Real(text) => {
                let number = text.trim_end_matches(['f', 'F']);
                let single = number != text || wanted == Some(Type::Float);
                let kind = if single { Type::Float } else { Type::Double };
                Expression::new(Kind::Real(number.to_string()), kind)
            }
            ast::ExpressionKind::Text(text) => {
                Expression::new(Kind::Text(text.clone()), Type::Text)
            }
            ast::ExpressionKind::Boolean(truth) => {
                Expression::new(Kind::Boolean(*truth), Type::Boolean)
            }
            ast::ExpressionKind::Name(name) => self.name(name, scope)?,
            ast::ExpressionKind::Value(name) => {
                let (signal, kind) = self.valued(name, scope)?;
                Expression::new(Kind::Value(signal), kind)
            }
            ast::ExpressionKind::Before(name) => {
                let (signal, kind) = self.valued(name, scope)?;
                self.module.processes.signals[signal.at()].previous_value = true;
                Expression::new(Kind::Before(signal), kind)
            }
            ast::ExpressionKind::Exited(name) => {
                let Some(way) = scope.exited.get(&name.text).copied() else {
                    let all = scope.exited.keys().map(String::as_str);
                    self.unknown("trap", name, all.collect::<Vec<_>>());
                    return None;
                };
                let kind = self.channel(way.signal, name)?;
                Expression::new(Kind::Value(way.signal), kind)
            }
            ast::ExpressionKind::Call(name, arguments) => self.called(name, arguments, scope)?,
            ast::ExpressionKind::Unary(operator, operand) => {
                self.unary(*operator, operand, wanted, span, scope)?
            }
            ast::ExpressionKind::Binary(operator, left, right) => {
                self.binary(*operator, (left, right), wanted, span, scope)?
            }
        })
    }

    /// A variable or a constant.
    fn name(&mut self, name: &Name, scope: &Scope) -> Option<Expression> {
        if let Some(&variable) = scope.variables.get(&name.text) {
            let kind = self.module.variables[variable.at()].kind;
            return Some(Expression::new(Kind::Variable(variable), kind));
        }
        if let Some(constant) = scope.constants.get(&name.text) {
            return Some(constant.clone());
        }
        if scope.signals.contains_key(&name.text) {
            let title = format!("`{}` is a signal", name.text);
            let refused = Diagnostic::error(Id::NotAValue, title, name.span, "no value");
            self.report(refused.help(format!("write `?{}` for its value", name.text)));
            return None;
        }
        let all = scope.variables.keys().chain(scope.constants.keys());
        let all = all.map(String::as_str).collect::<Vec<_>>();
        self.unknown("variable or constant", name, all);
        None
    }

    /// A signal by its name.
    pub(super) fn signal(&mut self, name: &Name, scope: &Scope) -> Option<SignalId> {
        let found = scope.signals.get(&name.text).copied();
        if found.is_none() {
            let all = scope.signals.keys().map(String::as_str);
            self.unknown("signal", name, all.collect::<Vec<_>>());
        }
        found
    }

    /// A signal that carries a value, and the type of that.
    fn valued(&mut self, name: &Name, scope: &Scope) -> Option<(SignalId, Type)> {
        let signal = self.signal(name, scope)?;
        Some((signal, self.channel(signal, name)?))
    }

    /// The type of what a signal carries.
    pub(super) fn channel(&mut self, signal: SignalId, name: &Name) -> Option<Type> {
        let kind = self.module.channels[signal.at()]
            .as_ref()
            .map(|channel| channel.kind);
        if kind.is_none() {
            let trap = self.module.processes.signal(signal).role == Role::Exit;
            let what = if trap { "trap" } else { "signal" };
            let title = format!("the {what} `{}` carries no value", name.text);
            self.report(Diagnostic::error(Id::NotAValue, title, name.span, "pure"));
        }
        kind
    }

    /// A function by its name.
    pub(super) fn function_of(&mut self, name: &Name, scope: &Scope) -> Option<u32> {
        let own = scope.functions.get(&name.text);
        let place = own.and_then(|own| {
            let mut all = self.module.functions.iter();
            all.position(|function| function.name == *own)
        });
        if place.is_none() {
            let all = scope.functions.keys().map(String::as_str);
            self.unknown("function", name, all.collect::<Vec<_>>());
        }
        place.map(|at| at as u32)
    }

    fn called(
        &mut self,
        name: &Name,
        arguments: &[ast::Expression],
        scope: &Scope,
    ) -> Option<Expression> {
        let own = scope.functions.get(&name.text);
        let own = own.and_then(|own| operator(own, arguments.len()));
        match (own, arguments) {
            (Some(Operator::Unary(operator)), [operand]) => {
                return self.unary(operator, operand, None, name.span, scope);
            }
            (Some(Operator::Binary(operator)), [left, right]) => {
                return self.binary(operator, (left, right), None, name.span, scope);
            }
            _ => {}
        }
        let function = self.function_of(name, scope)?;
        let table = self.module.functions[function as usize].clone();
        let arguments = self.arguments(name, arguments, &table.parameters, scope)?;
        Some(Expression::new(
            Kind::Call(function, arguments),
            table.result,
        ))
    }

    /// Arguments of these types.
    pub(super) fn arguments(
        &mut self,
        name: &Name,
        arguments: &[ast::Expression],
        kinds: &[Type],
        scope: &Scope,
    ) -> Option<Vec<Expression>> {
        if arguments.len() != kinds.len() {
            self.wrong_number(name, arguments.len(), kinds.len());
            return None;
        }
        let pairs = arguments.iter().zip(kinds);
        let all = pairs.map(|(one, kind)| self.expression_of(one, *kind, scope));
        all.collect::<Vec<_>>().into_iter().collect()
    }

    pub(super) fn wrong_number(&mut self, name: &Name, given: usize, wanted: usize) {
        let title = format!("`{}` takes {wanted} values, but got {given}", name.text);
        let refused = Diagnostic::error(Id::WrongArguments, title, name.span, "");
        self.report(refused);
    }

    fn unary(
        &mut self,
        operator: Unary,
        operand: &ast::Expression,
        wanted: Option<Type>,
        span: Span,
        scope: &Scope,
    ) -> Option<Expression> {
        if let (Unary::Negate, ast::ExpressionKind::Integer(number)) = (operator, &*operand.kind) {
            // The least number has no positive counterpart.
            let number = i32::try_from(-i64::try_from(*number).unwrap_or(i64::MAX)).ok()?;
            return Some(Expression::new(Kind::Integer(number), Type::Integer));
        }
        let operand = self.expression(operand, wanted, scope)?;
        let kind = operand.result;
        if !Operator::Unary(operator).takes(kind) {
            let sign = if operator == Unary::Not { "not" } else { "-" };
            let title = format!("`{sign}` does not apply to `{}`", self.named(kind));
            self.report(Diagnostic::error(Id::TypeMismatch, title, span, "here"));
            return None;
        }
        Some(Expression::new(Kind::Unary(operator, operand), kind))
    }

    fn binary(
        &mut self,
        operator: Binary,
        (left, right): (&ast::Expression, &ast::Expression),
        wanted: Option<Type>,
        span: Span,
        scope: &Scope,
    ) -> Option<Expression> {
        let wanted = match operator {
            Binary::Add | Binary::Subtract | Binary::Multiply | Binary::Divide => wanted,
            _ => None,
        };
        let mut one = self.expression(left, wanted, scope)?;
        let other = self.expression(right, Some(one.result), scope)?;
        if one.result == Type::Double && other.result == Type::Float {
            // A number that is only written adapts to what it stands beside.
            one = self.expression(left, Some(Type::Float), scope)?;
        }
        let kind = one.result;
        let both = Operator::Binary(operator);
        let result = both.result(kind);
        if kind != other.result || !both.takes(kind) {
            let (one, other) = (self.named(kind), self.named(other.result));
            let title = format!(
                "`{}` does not apply to `{one}` and `{other}`",
                sign(operator)
            );
            self.report(Diagnostic::error(Id::TypeMismatch, title, span, "here"));
            return None;
        }
        Some(Expression::new(Kind::Binary(operator, one, other), result))
    }
}

/// How an operator is written.
pub fn sign(operator: Binary) -> &'static str {
    match operator {
        Binary::Or => "or",
        Binary::And => "and",
        Binary::Equal => "=",
        Binary::Unequal => "<>",
        Binary::Less => "<",
        Binary::AtMost => "<=",
        Binary::Greater => ">",
        Binary::AtLeast => ">=",
        Binary::Add => "+",
        Binary::Subtract => "-",
        Binary::Multiply => "*",
        Binary::Divide => "/",
        Binary::Modulo => "mod",
    }
}
