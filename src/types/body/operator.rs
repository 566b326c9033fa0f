//! Operators, and the type in which they compute.
//!
//! * Both operands are widened to the wider of the two, and to the type that is expected, if that
//!   is wider: `sum: u32 = a + b` cannot lose a carry. What is narrower than a byte, or lies
//!   between two sizes of C, is computed in the next of 8, 16, 32 and 64 bits, unless exactly its
//!   own type is expected; `x += 1` is computed in the type of `x`. There it wraps.
//! * A literal has the type of the other operand.
//! * `seq + number` and `seq - number` are a `seq`; `seq - seq` is how far the one is behind the
//!   other, a number; `seq < seq` is modular order.
//! * `time + time`, `time - time`, `time * number` and `time / number` are a time; `time / time` is
//!   a number.
//! * Where a divisor may be zero, the division is refused. Shifting by more than the width gives
//!   0; where that is written as a number it is a mistake.

use super::super::constant::fold;
use super::super::expression::{Binary, Expression, ExpressionKind, Unary};
use super::super::value::Type;
use super::words::{Body, constant_number, make, nothing, number};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;

/// One side of an operator.
pub(super) struct Operand {
    /// Its value.
    pub value: Expression,
    /// Whether it is written as a number, and so has whatever type the other side has.
    pub literal: bool,
    /// Where it stands.
    pub span: Span,
}

impl Body<'_, '_> {
    /// Two operands.
    pub fn binary(
        &mut self,
        operator: ast::BinaryOperator,
        left: &ast::Expression,
        right: &ast::Expression,
        hint: Option<&Type>,
        span: Span,
    ) -> Expression {
        let operator = checked_operator(operator);
        match operator {
            Binary::Or | Binary::And => self.logical(operator, left, right),
            Binary::Equal
            | Binary::Unequal
            | Binary::Less
            | Binary::AtMost
            | Binary::Greater
            | Binary::AtLeast => self.compare(operator, left, right, span),
            Binary::BitOr
            | Binary::BitXor
            | Binary::BitAnd
            | Binary::ShiftLeft
            | Binary::ShiftRight
            | Binary::Add
            | Binary::Subtract
            | Binary::Multiply
            | Binary::Divide
            | Binary::Remainder => {
                let inner = hint.filter(|hint| matches!(hint, Type::Unsigned(_) | Type::Signed(_)));
                let shift = matches!(operator, Binary::ShiftLeft | Binary::ShiftRight);
                let left = self.operand(left, inner);
                let right = self.operand(right, inner.filter(|_| !shift));
                self.operate(operator, left, right, hint, span)
            }
        }
    }

    fn logical(
        &mut self,
        operator: Binary,
        left: &ast::Expression,
        right: &ast::Expression,
    ) -> Expression {
        let left = self.condition(left);
        let before = self.flow.facts.clone();
        self.assume(&left, operator == Binary::And);
        let span = right.span;
        let (right, done) = self.perhaps(|body| body.condition(right));
        self.flow.facts = before;
        if !done.is_empty() {
            return self.one_after_the_other(operator, left, (done, right), span);
        }
        self.folded(make(
            ExpressionKind::Binary(operator, left, right),
            Type::Bool,
        ))
    }

    fn compare(
        &mut self,
        operator: Binary,
        left: &ast::Expression,
        right: &ast::Expression,
        span: Span,
    ) -> Expression {
        let left_value = self.check(left, None);
        let right_value = self.check(right, Some(&left_value.result));
        if left_value.result == Type::Nothing || right_value.result == Type::Nothing {
            return nothing();
        }
        let sources = [left, right];
        let values = vec![(left_value, left), (right_value, right)];
        for ((value, _), source) in values.iter().zip(sources) {
            if let Type::Optional(inner) = &value.result {
                let inner = (**inner).clone();
                return self.coerce(value.clone(), &inner, source.span);
            }
        }
        let Some(values) = self.of_one_type(values, None) else {
            return nothing();
        };
        let [left, right] = <[Expression; 2]>::try_from(values).expect("two in, two out");
        let equality = matches!(operator, Binary::Equal | Binary::Unequal);
        let fits = match left.result {
            Type::Unsigned(_)
            | Type::Signed(_)
            | Type::Sequence(_)
            | Type::Time
            | Type::Enum(_) => true,
            Type::Bool | Type::Bytes(_) | Type::BoundedBytes(_) | Type::Abstract(_) => equality,
            Type::Record(_)
            | Type::Optional(_)
            | Type::Message
            | Type::Queue(..)
            | Type::Window(..)
            | Type::Stream(..)
            | Type::Array(..)
            | Type::Set(_)
            | Type::Instance(_)
            | Type::Header(_)
            | Type::UnboundedBytes
            | Type::Nothing => false,
        };
        if !fits {
            let title = format!(
                "`{}` cannot be compared like this",
                self.describe(&left.result)
            );
            let label = format!("`{}` does not apply to this type", operator.sign());
            return self.refuse(Diagnostic::error(Id::TypeMismatch, title, span, label).misfit());
        }
        self.warn_of_constant(operator, [&left, &right], sources);
        self.folded(make(
            ExpressionKind::Binary(operator, left, right),
            Type::Bool,
        ))
    }

    /// Values that are compared: all of the widest of their types, literals as the others.
    pub fn of_one_type(
        &mut self,
        values: Vec<(Expression, &ast::Expression)>,
        hint: Option<&Type>,
    ) -> Option<Vec<Expression>> {
        if values
            .iter()
            .any(|(value, _)| value.result == Type::Nothing)
        {
            return None;
        }
        let fixed = values.iter().filter(|(_, source)| !is_literal(source));
        let mut shared: Option<Type> = None;
        for (value, source) in fixed {
            shared = Some(match shared {
                None => value.result.clone(),
                Some(known) => match self.wider(&known, value) {
                    Some(wider) => wider,
                    None => {
                        let one = self.describe(&known);
                        let other = self.describe(&value.result);
                        let title = format!("`{one}` and `{other}` have no common type");
                        let label = format!("the type is `{other}`");
                        let refused =
                            Diagnostic::error(Id::TypeMismatch, title, source.span, label).misfit();
                        self.report(refused.help("convert one of them with `as`"));
                        return None;
                    }
                },
            });
        }
        let widest = values
            .iter()
            .map(|(value, _)| &value.result)
            .max_by_key(|of| self.width(of));
        let mut shared = shared.or_else(|| widest.cloned())?;
        if let Some(hint @ Type::Unsigned(_)) = hint
            && self.widens(&shared, hint)
        {
            shared = hint.clone();
        }
        let coerced = values.into_iter();
        let coerced = coerced.map(|(value, source)| self.coerce(value, &shared, source.span));
        let coerced: Vec<_> = coerced.collect();
        let known = coerced.iter().all(|value| value.result != Type::Nothing);
        known.then_some(coerced)
    }

    /// The type of two values that both become.
    fn wider(&self, known: &Type, value: &Expression) -> Option<Type> {
        let other = &value.result;
        if known == other || self.widens(other, known) {
            return Some(known.clone());
        }
        if self.widens(known, other) {
            return Some(other.clone());
        }
        let constant = matches!(
            *value.kind,
            ExpressionKind::Constant(_) | ExpressionKind::Config(_)
        );
        match (known, other) {
            (
                Type::Bytes(one) | Type::BoundedBytes(one),
                Type::Bytes(other) | Type::BoundedBytes(other),
            ) if !matches!((known, &value.result), (Type::Bytes(_), Type::Bytes(_))) => {
                Some(Type::BoundedBytes(*one.max(other)))
            }
            (Type::Sequence(_), Type::Unsigned(_)) if constant => Some(known.clone()),
            (Type::Unsigned(_), Type::Sequence(_)) => None,
            (Type::Unsigned(known), Type::Enum(_)) => {
                let width = self.width(other)?.max(*known);
                Some(Type::Unsigned(width))
            }
            (Type::Enum(_), Type::Unsigned(other)) => {
                let width = self.width(known)?.max(*other);
                Some(Type::Unsigned(width))
            }
            _ => None,
        }
    }

    /// The type of one of two values.
    pub fn type_of_both(&self, one: &Expression, other: &Expression) -> Type {
        let constant = |value: &Expression| matches!(*value.kind, ExpressionKind::Constant(_));
        match (&one.result, &other.result) {
            (Type::Nothing, kind) | (kind, Type::Nothing) => kind.clone(),
            (_, kind) if constant(one) && !constant(other) => kind.clone(),
            (kind, _) if constant(other) && !constant(one) => kind.clone(),
            (kind, _) => self.wider(kind, other).unwrap_or_else(|| kind.clone()),
        }
    }

    /// One side of an operator; enums count as their numbers.
    pub fn operand(&mut self, source: &ast::Expression, hint: Option<&Type>) -> Operand {
        let mut value = self.check(source, hint);
        if let Type::Optional(inner) = &value.result {
            let inner = (**inner).clone();
            value = self.coerce(value, &inner, source.span);
        }
        if let Type::Enum(_) = value.result {
            let width = self.width(&value.result).expect("enums have a width");
            value = self.folded(make(ExpressionKind::Cast(value), Type::Unsigned(width)));
        }
        Operand {
            value,
            literal: is_literal(source),
            span: source.span,
        }
    }

    /// What an operator makes of two numbers.
    pub fn operate(
        &mut self,
        operator: Binary,
        left: Operand,
        right: Operand,
        hint: Option<&Type>,
        span: Span,
    ) -> Expression {
        use Binary::{Add, Divide, Multiply, Remainder, ShiftLeft, ShiftRight, Subtract};
        let build =
            |left, right, result| make(ExpressionKind::Binary(operator, left, right), result);
        let (left_type, right_type) = (left.value.result.clone(), right.value.result.clone());
        let value = match (&left_type, &right_type) {
            (Type::Nothing, _) | (_, Type::Nothing) => return nothing(),
            (_, Type::Unsigned(_)) if matches!(operator, ShiftLeft | ShiftRight) => {
                return self.shift(operator, left, right, hint, span);
            }
            (Type::Time, Type::Time) => match operator {
                Add | Subtract | Remainder => {
                    self.check_divisor(operator, &right);
                    build(left.value, right.value, Type::Time)
                }
                Divide => {
                    self.check_divisor(operator, &right);
                    let ratio = build(left.value, right.value, Type::Time);
                    make(ExpressionKind::Cast(ratio), Type::Unsigned(64))
                }
                _ => return self.no_operator(operator, &left_type, &right_type, span),
            },
            (Type::Time, Type::Unsigned(_)) if matches!(operator, Multiply | Divide) => {
                self.check_divisor(operator, &right);
                let right = self.folded(make(ExpressionKind::Cast(right.value), Type::Time));
                build(left.value, right, Type::Time)
            }
            (Type::Unsigned(_), Type::Time) if operator == Multiply => {
                let left = self.folded(make(ExpressionKind::Cast(left.value), Type::Time));
                build(left, right.value, Type::Time)
            }
            (Type::Sequence(width), Type::Sequence(other))
                if operator == Subtract && width == other =>
            {
                build(left.value, right.value, Type::Unsigned(*width))
            }
            (Type::Sequence(_), Type::Unsigned(_)) if matches!(operator, Add | Subtract) => {
                let right = self.step(right, &left_type);
                build(left.value, right, left_type)
            }
            (Type::Unsigned(_), Type::Sequence(_)) if operator == Add => {
                let left = self.step(left, &right_type);
                build(left, right.value, right_type)
            }
            (Type::Unsigned(_) | Type::Signed(_), Type::Unsigned(_) | Type::Signed(_)) => {
                return self.numbers(operator, left, right, hint, span);
            }
            _ => return self.no_operator(operator, &left_type, &right_type, span),
        };
        self.folded_if_known(value)
    }

    fn numbers(
        &mut self,
        operator: Binary,
        left: Operand,
        right: Operand,
        hint: Option<&Type>,
        span: Span,
    ) -> Expression {
        let Some(result) = self.computed_in(&left, &right, hint) else {
            let (left, right) = (left.value.result, right.value.result);
            return self.no_operator(operator, &left, &right, span);
        };
        self.check_divisor(operator, &right);
        let left = self.coerce(left.value, &result, left.span);
        let right = self.coerce(right.value, &result, right.span);
        self.folded_if_known(make(ExpressionKind::Binary(operator, left, right), result))
    }

    /// A number as a step of a sequence.
    fn step(&mut self, operand: Operand, sequence: &Type) -> Expression {
        let width = self.width(sequence).expect("sequences have a width");
        let number = self.coerce(operand.value, &Type::Unsigned(width), operand.span);
        match number.result == Type::Nothing {
            true => number,
            false => self.folded(make(ExpressionKind::Cast(number), sequence.clone())),
        }
    }

    fn shift(
        &mut self,
        operator: Binary,
        left: Operand,
        right: Operand,
        hint: Option<&Type>,
        span: Span,
    ) -> Expression {
        let alone = Operand {
            value: left.value.clone(),
            literal: left.literal,
            span,
        };
        let Some(result) = self.computed_in(&left, &alone, hint) else {
            let (left, right) = (left.value.result, right.value.result);
            return self.no_operator(operator, &left, &right, span);
        };
        let width = self.width(&result).expect("numbers have a width");
        if let Some(places) = constant_number(&right.value)
            && places >= u64::from(width)
        {
            // A parameter may well say so, and mean it.
            if !right.literal && !matches!(result, Type::Signed(_)) {
                return number(0, result);
            }
            return self.refuse_shift(places, width, &left, right.span);
        }
        let left = self.coerce(left.value, &result, left.span);
        self.folded_if_known(make(
            ExpressionKind::Binary(operator, left, right.value),
            result,
        ))
    }

    fn refuse_shift(&mut self, places: u64, width: u8, left: &Operand, span: Span) -> Expression {
        let title = format!("a shift of {width} bits by {places} always yields zero");
        let label = format!("not less than {width}");
        let refused = Diagnostic::error(Id::ShiftTooFar, title, span, label).misfit();
        let text = self.text(left.span);
        self.refuse(match u8::try_from(places) {
            Ok(places @ ..64) => refused.help(format!(
                "shift by less, or widen the number: `{text} as u{}`",
                (places + 1).next_power_of_two()
            )),
            Ok(64..) | Err(_) => refused.help("shift by less"),
        })
    }

    /// The type in which two numbers are computed.
    fn computed_in(&self, left: &Operand, right: &Operand, hint: Option<&Type>) -> Option<Type> {
        let width = |operand: &Operand| self.width(&operand.value.result).unwrap_or(64);
        let signed = |operand: &Operand| matches!(operand.value.result, Type::Signed(_));
        let written: Vec<&Operand> = [left, right]
            .into_iter()
            .filter(|operand| !operand.literal)
            .collect();
        let decisive = match written.as_slice() {
            [] => vec![left, right],
            written => written.to_vec(),
        };
        let widest = decisive.iter().map(|operand| width(operand)).max()?;
        let is_signed = decisive.iter().any(|operand| signed(operand));
        let unfit = |operand: &&&Operand| is_signed && !signed(operand) && width(operand) >= widest;
        if decisive.iter().find(unfit).is_some() {
            return None;
        }
        let sized = widest.next_power_of_two().max(8);
        Some(match hint {
            Some(Type::Unsigned(hint)) if !is_signed && *hint >= widest => Type::Unsigned(*hint),
            Some(Type::Signed(hint)) if is_signed && *hint >= widest => Type::Signed(*hint),
            _ if is_signed => Type::Signed(sized),
            _ => Type::Unsigned(sized),
        })
    }

    fn check_divisor(&mut self, operator: Binary, divisor: &Operand) {
        if !matches!(operator, Binary::Divide | Binary::Remainder) {
            return;
        }
        let constant = constant_number(&divisor.value);
        let never_zero = match self.range(&divisor.value) {
            Some(range) => range.low > 0,
            None => constant.is_some_and(|constant| constant != 0),
        };
        if never_zero || self.is_open(&divisor.value) {
            return;
        }
        let text = self.text(divisor.span);
        let title = match constant {
            Some(_) => "this divides by zero".to_string(),
            None => format!("`{text}` may be zero"),
        };
        let refused = Diagnostic::error(Id::DivisionByZero, title, divisor.span, "the divisor");
        let refused = refused.why("The compiler must know that a divisor is not zero.");
        self.report(match constant {
            Some(_) => refused,
            None => refused.help(format!(
                "test it before: `require {text} > 0 else …`, or divide by `max({text}, 1)`"
            )),
        });
    }

    /// `-x` and `~x`, in the type of `x`.
    pub fn signed_unary(
        &mut self,
        operator: Unary,
        operand: &ast::Expression,
        hint: Option<&Type>,
    ) -> Expression {
        let operand = self.operand(operand, hint);
        let result = match &operand.value.result {
            Type::Unsigned(_) if operand.literal && operator == Unary::Negate => {
                let signed = hint.filter(|hint| matches!(hint, Type::Signed(_)));
                signed.cloned().unwrap_or(Type::Signed(64))
            }
            number @ (Type::Unsigned(_) | Type::Signed(_)) => number.clone(),
            Type::Nothing => return nothing(),
            other => {
                let title = format!("this operator does not apply to `{}`", self.describe(other));
                let label = "expected a number";
                return self.refuse(Diagnostic::error(
                    Id::TypeMismatch,
                    title,
                    operand.span,
                    label,
                ));
            }
        };
        // The least number of a type has no opposite in it.
        if let (Type::Signed(width), Some(opposite), true) =
            (&result, constant_number(&operand.value), operand.literal)
            && operator == Unary::Negate
            && opposite == 1 << (width - 1)
        {
            return number(opposite.wrapping_neg(), result);
        }
        let value = self.coerce(operand.value, &result, operand.span);
        self.folded_if_known(make(ExpressionKind::Unary(operator, value), result))
    }

    /// The constant that an expression is, if it is one.
    pub fn folded(&self, value: Expression) -> Expression {
        match fold(self.context.program, &value) {
            Some(constant) => make(ExpressionKind::Constant(constant), value.result),
            None => value,
        }
    }

    fn folded_if_known(&self, value: Expression) -> Expression {
        let unknown = |operand: &Expression| operand.result == Type::Nothing;
        let is_unknown = match &*value.kind {
            ExpressionKind::Binary(_, left, right) => unknown(left) || unknown(right),
            ExpressionKind::Unary(_, operand) | ExpressionKind::Cast(operand) => unknown(operand),
            _ => false,
        };
        match is_unknown {
            true => nothing(),
            false => self.folded(value),
        }
    }

    fn no_operator(
        &mut self,
        operator: Binary,
        left: &Type,
        right: &Type,
        span: Span,
    ) -> Expression {
        let (one, other) = (self.describe(left), self.describe(right));
        let title = format!("`{one} {} {other}` is not defined", operator.sign());
        let refused = Diagnostic::error(Id::TypeMismatch, title, span, "wrong types of operands");
        let refused = refused.misfit();
        let number = |of: &Type| matches!(of, Type::Unsigned(_) | Type::Signed(_));
        self.refuse(match (left, right) {
            (Type::Bool, _) | (_, Type::Bool) => {
                refused.help("combine conditions with `and`, `or` and `not`")
            }
            (Type::Time, other) | (other, Type::Time) if number(other) => {
                refused.help("a length of time has a unit: `200 ms`, `1 s`, `2 min`")
            }
            (Type::Sequence(width), _) | (_, Type::Sequence(width)) => refused.help(format!(
                "add a number to a sequence number, or subtract two of them; convert it to a plain \
                number with `… as u{width}`"
            )),
            _ => refused.help("convert one operand with `as`"),
        })
    }
}

/// Whether an expression is made of written numbers alone.
pub(super) fn is_literal(source: &ast::Expression) -> bool {
    match &source.kind {
        ast::ExpressionKind::Number(_) => true,
        ast::ExpressionKind::Group(inner) => is_literal(inner),
        ast::ExpressionKind::Unary { operand, .. } => is_literal(operand),
        ast::ExpressionKind::Binary { left, right, .. } => is_literal(left) && is_literal(right),
        _ => false,
    }
}

/// The operator of the checked program.
pub(super) fn checked_operator(operator: ast::BinaryOperator) -> Binary {
    match operator {
        ast::BinaryOperator::Or => Binary::Or,
        ast::BinaryOperator::And => Binary::And,
        ast::BinaryOperator::Equal => Binary::Equal,
        ast::BinaryOperator::Unequal => Binary::Unequal,
        ast::BinaryOperator::Less => Binary::Less,
        ast::BinaryOperator::LessOrEqual => Binary::AtMost,
        ast::BinaryOperator::Greater => Binary::Greater,
        ast::BinaryOperator::GreaterOrEqual => Binary::AtLeast,
        ast::BinaryOperator::BitOr => Binary::BitOr,
        ast::BinaryOperator::BitXor => Binary::BitXor,
        ast::BinaryOperator::BitAnd => Binary::BitAnd,
        ast::BinaryOperator::ShiftLeft => Binary::ShiftLeft,
        ast::BinaryOperator::ShiftRight => Binary::ShiftRight,
        ast::BinaryOperator::Add => Binary::Add,
        ast::BinaryOperator::Subtract => Binary::Subtract,
        ast::BinaryOperator::Multiply => Binary::Multiply,
        ast::BinaryOperator::Divide => Binary::Divide,
        ast::BinaryOperator::Remainder => Binary::Remainder,
    }
}
