//! Operators: the types of their operands and of their results (ISO 7185, 6.7.2).

use super::super::checker::Checker;
use super::super::program::{
    BinaryOperator, Expression, ExpressionKind, Type, TypeId, UnaryOperator,
};
use super::assign::to_real;
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;

/// The kinds of operands that an operator takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operands {
    Integers,
    Reals,
    Booleans,
    Ordinals,
    Strings,
    Sets,
    Externals,
}

impl Checker<'_> {
    /// Checks an operator with one operand.
    pub fn unary(
        &mut self,
        operator: UnaryOperator,
        operand: Expression,
        span: Span,
    ) -> Option<Expression> {
        let host = self.host(operand.type_id);
        let is_number = host == TypeId::INTEGER || host == TypeId::REAL;
        match operator {
            UnaryOperator::Not if host != TypeId::BOOLEAN => {
                self.expected(&operand, "a boolean");
                return None;
            }
            UnaryOperator::Minus | UnaryOperator::Plus if !is_number => {
                self.expected(&operand, "a number");
                return None;
            }
            UnaryOperator::Not | UnaryOperator::Minus | UnaryOperator::Plus => {}
        }
        let kind = match (operator, operand.kind) {
            (UnaryOperator::Plus, kind) => kind,
            (UnaryOperator::Minus, ExpressionKind::Ordinal(value)) => {
                ExpressionKind::Ordinal(value.saturating_neg())
            }
            (UnaryOperator::Minus, ExpressionKind::Real(value)) => ExpressionKind::Real(-value),
            (UnaryOperator::Not | UnaryOperator::Minus, kind) => {
                let operand = Expression {
                    kind,
                    type_id: operand.type_id,
                    span: operand.span,
                };
                ExpressionKind::Unary(operator, Box::new(operand))
            }
        };
        Some(Expression {
            kind,
            type_id: host,
            span,
        })
    }

    /// Checks an operator with two operands.
    pub fn binary(
        &mut self,
        operator: BinaryOperator,
        left: Expression,
        right: Expression,
        span: Span,
    ) -> Option<Expression> {
        if operator == BinaryOperator::In {
            return self.member(left, right, span);
        }
        let operands = match operator {
            BinaryOperator::Divide => self.as_reals(&left, &right),
            _ => self.operands(&left, &right),
        };
        let allowed = operands.filter(|operands| takes(operator, *operands));
        let Some(operands) = allowed else {
            self.wrong_operands(operator, &left, &right, span);
            return None;
        };
        let type_id = match operands {
            _ if is_comparison(operator) => TypeId::BOOLEAN,
            Operands::Integers => TypeId::INTEGER,
            Operands::Reals => TypeId::REAL,
            Operands::Booleans => TypeId::BOOLEAN,
            Operands::Sets => self.united(left.type_id, right.type_id),
            Operands::Ordinals | Operands::Strings | Operands::Externals => TypeId::BOOLEAN,
        };
        let (left, right) = match operands {
            Operands::Reals => (self.real_operand(left), self.real_operand(right)),
            _ => (left, right),
        };
        let kind = ExpressionKind::Binary(operator, Box::new(left), Box::new(right));
        Some(Expression {
            kind,
            type_id,
            span,
        })
    }

    fn real_operand(&self, operand: Expression) -> Expression {
        match self.host(operand.type_id) == TypeId::INTEGER {
            true => to_real(operand),
            false => operand,
        }
    }

    /// Returns the kind of two operands of `/`.
    fn as_reals(&self, left: &Expression, right: &Expression) -> Option<Operands> {
        let is_number = |operand: &Expression| {
            let host = self.host(operand.type_id);
            host == TypeId::INTEGER || host == TypeId::REAL
        };
        (is_number(left) && is_number(right)).then_some(Operands::Reals)
    }

    /// Returns the kind of two operands, if they go together.
    fn operands(&self, left: &Expression, right: &Expression) -> Option<Operands> {
        let (one, other) = (self.host(left.type_id), self.host(right.type_id));
        if one == other {
            return match self.kind(one) {
                Type::Integer => Some(Operands::Integers),
                Type::Real => Some(Operands::Reals),
                Type::Boolean => Some(Operands::Booleans),
                Type::Char | Type::Enumeration { .. } | Type::Subrange { .. } => {
                    Some(Operands::Ordinals)
                }
                Type::Array { .. } => self.string_length(one).map(|_| Operands::Strings),
                Type::Record { .. } => None,
                Type::Set(_) => Some(Operands::Sets),
                Type::External(_) => Some(Operands::Externals),
            };
        }
        if let Some(reals) = self.as_reals(left, right) {
            return Some(reals);
        }
        let is_set = matches!(self.kind(one), Type::Set(_));
        let kind = if is_set {
            Operands::Sets
        } else {
            Operands::Strings
        };
        self.are_compatible(one, other).then_some(kind)
    }

    /// Returns the type of the union of two sets.
    fn united(&mut self, one: TypeId, other: TypeId) -> TypeId {
        if one == other || other == self.empty_set {
            return one;
        }
        if one == self.empty_set {
            return other;
        }
        let Type::Set(base) = *self.kind(one) else {
            return one;
        };
        self.set_type(self.host(base))
    }

    /// Returns the type of sets of an ordinal type.
    pub fn set_type(&mut self, host: TypeId) -> TypeId {
        if let Some(id) = self.sets.get(&host) {
            return *id;
        }
        let id = self.add_type(Type::Set(host));
        self.sets.insert(host, id);
        id
    }

    fn member(&mut self, left: Expression, right: Expression, span: Span) -> Option<Expression> {
        let Type::Set(base) = *self.kind(right.type_id) else {
            self.expected(&right, "a set");
            return None;
        };
        let is_empty = right.type_id == self.empty_set && self.range(left.type_id).is_some();
        if !is_empty && self.host(base) != self.host(left.type_id) {
            self.wrong_operands(BinaryOperator::In, &left, &right, span);
            return None;
        }
        let kind = ExpressionKind::Binary(BinaryOperator::In, Box::new(left), Box::new(right));
        Some(Expression {
            kind,
            type_id: TypeId::BOOLEAN,
            span,
        })
    }

    fn wrong_operands(
        &mut self,
        operator: BinaryOperator,
        left: &Expression,
        right: &Expression,
        span: Span,
    ) {
        let (one, other) = (self.name_of(left.type_id), self.name_of(right.type_id));
        let (sign, why, help) = about(operator);
        let title = format!("`{sign}` does not take {one} and {other}");
        let wrong = Diagnostic::error(Id::EstelleTypeMismatch, title, span, "wrong operands");
        let wrong = wrong.label(left.span, one).label(right.span, other);
        self.report(wrong.misfit().why(why).help(help));
    }
}

/// Returns true if an operator compares.
fn is_comparison(operator: BinaryOperator) -> bool {
    match operator {
        BinaryOperator::Equal
        | BinaryOperator::Unequal
        | BinaryOperator::Less
        | BinaryOperator::LessOrEqual
        | BinaryOperator::Greater
        | BinaryOperator::GreaterOrEqual
        | BinaryOperator::In => true,
        BinaryOperator::Add
        | BinaryOperator::Subtract
        | BinaryOperator::Multiply
        | BinaryOperator::Divide
        | BinaryOperator::Div
        | BinaryOperator::Mod
        | BinaryOperator::And
        | BinaryOperator::Or => false,
    }
}

/// Returns true if an operator takes operands of a kind.
fn takes(operator: BinaryOperator, operands: Operands) -> bool {
    match operator {
        BinaryOperator::Add | BinaryOperator::Subtract | BinaryOperator::Multiply => {
            [Operands::Integers, Operands::Reals, Operands::Sets].contains(&operands)
        }
        BinaryOperator::Divide => operands == Operands::Reals,
        BinaryOperator::Div | BinaryOperator::Mod => operands == Operands::Integers,
        BinaryOperator::And | BinaryOperator::Or => operands == Operands::Booleans,
        BinaryOperator::Equal | BinaryOperator::Unequal => true,
        BinaryOperator::LessOrEqual | BinaryOperator::GreaterOrEqual => {
            operands != Operands::Externals
        }
        BinaryOperator::Less | BinaryOperator::Greater => {
            ![Operands::Externals, Operands::Sets].contains(&operands)
        }
        BinaryOperator::In => false,
    }
}

/// Returns the sign of an operator, the rule of its operands, and what to do.
fn about(operator: BinaryOperator) -> (&'static str, &'static str, &'static str) {
    let arithmetic = (
        "This operator takes two numbers, or two sets of one ordinal type.",
        "use two numbers or two sets",
    );
    let whole = (
        "This operator takes two integers.",
        "use `/` for real numbers",
    );
    let logical = (
        "This operator takes two booleans.",
        "compare a number first, for example `n > 0`",
    );
    let equal = (
        "Two values are compared if they have compatible simple types, or are strings of one \
         length, or sets.",
        "compare the elements or fields of arrays and records one by one",
    );
    let ordered = (
        "Two values have an order if they have compatible simple types, or are strings of one \
         length. Sets have `<=` and `>=` only.",
        "use two values of one simple type",
    );
    let member = (
        "The left operand of `in` is one value, the right one a set of such values.",
        "use a set of the type of the left operand",
    );
    let (sign, (why, help)) = match operator {
        BinaryOperator::Add => ("+", arithmetic),
        BinaryOperator::Subtract => ("-", arithmetic),
        BinaryOperator::Multiply => ("*", arithmetic),
        BinaryOperator::Divide => ("/", ("This operator takes two numbers.", "use two numbers")),
        BinaryOperator::Div => ("div", whole),
        BinaryOperator::Mod => ("mod", whole),
        BinaryOperator::And => ("and", logical),
        BinaryOperator::Or => ("or", logical),
        BinaryOperator::Equal => ("=", equal),
        BinaryOperator::Unequal => ("<>", equal),
        BinaryOperator::Less => ("<", ordered),
        BinaryOperator::LessOrEqual => ("<=", ordered),
        BinaryOperator::Greater => (">", ordered),
        BinaryOperator::GreaterOrEqual => (">=", ordered),
        BinaryOperator::In => ("in", member),
    };
    (sign, why, help)
}
