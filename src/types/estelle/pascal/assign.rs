//! Values for variables of a type: which types go together, and constants beyond a range.
//!
//! In: an expression, and the type of a variable, a parameter or an index. Out: the expression,
//! converted to `real` if needed. ISO 7185, 6.4.5 and 6.4.6.

use super::super::checker::Checker;
use super::super::program::MAXINT;
use super::super::program::{Expression, ExpressionKind, Type, TypeId};
use super::fold::{Literal, Unknown, fold};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;

impl Checker<'_> {
    /// Checks that a value can be assigned to a variable of a type.
    pub fn assigned(&mut self, value: Expression, target: TypeId) -> Option<Expression> {
        let of = value.type_id;
        if target == TypeId::REAL && self.host(of) == TypeId::INTEGER {
            return Some(to_real(value));
        }
        if !self.are_compatible(target, of) {
            self.mismatch(&value, target);
            return None;
        }
        match fold(&value, &[]) {
            Ok(Literal::Ordinal(number)) => self.in_range(number, target, value.span)?,
            Err(Unknown::Overflow(span)) => {
                self.overflow(span);
                return None;
            }
            Err(Unknown::Division(span)) => {
                self.division(span);
                return None;
            }
            Ok(Literal::Real(_) | Literal::Text(_)) | Err(Unknown::Variable(_)) => {}
        }
        Some(value)
    }

    /// Returns true if two types are compatible (ISO 7185, 6.4.5).
    pub fn are_compatible(&self, one: TypeId, other: TypeId) -> bool {
        if self.host(one) == self.host(other) {
            return true;
        }
        if let (Some(one), Some(other)) = (self.string_length(one), self.string_length(other)) {
            return one == other;
        }
        match (self.kind(one), self.kind(other)) {
            (Type::Set(_), Type::Set(_)) if one == self.empty_set || other == self.empty_set => {
                true
            }
            (Type::Set(one), Type::Set(other)) => self.host(*one) == self.host(*other),
            _ => false,
        }
    }

    /// Returns the length of a string type.
    pub fn string_length(&self, id: TypeId) -> Option<i64> {
        let Type::Array {
            index,
            element,
            is_packed: true,
        } = self.kind(id)
        else {
            return None;
        };
        let (low, high) = self.range(*index)?;
        let is_counted = self.host(*index) == TypeId::INTEGER && low == 1;
        (is_counted && *element == TypeId::CHAR).then_some(high)
    }

    /// Returns the type of a string of a length.
    pub fn string_type(&mut self, length: usize) -> TypeId {
        if let Some(id) = self.strings.get(&length) {
            return *id;
        }
        let index = self.add_type(Type::Subrange {
            of: TypeId::INTEGER,
            low: 1,
            high: i64::try_from(length).unwrap_or(MAXINT),
        });
        let id = self.add_type(Type::Array {
            index,
            element: TypeId::CHAR,
            is_packed: true,
        });
        self.strings.insert(length, id);
        id
    }

    /// Checks that a constant is one of the values of a type.
    fn in_range(&mut self, value: i64, target: TypeId, span: Span) -> Option<()> {
        if self.holds(target, value) {
            return Some(());
        }
        let shown = self.value(value, target);
        let title = format!("{shown} is not a value of {}", self.name_of(target));
        let label = match self.range(target) {
            Some((low, high)) => {
                format!(
                    "not in {}..{}",
                    self.value(low, target),
                    self.value(high, target)
                )
            }
            None => "out of range".to_string(),
        };
        let beyond = Diagnostic::error(Id::EstelleOutOfRange, title, span, label);
        let beyond = beyond.why("This assignment or index fails whenever it is executed.");
        self.report(beyond.help("use a value of the type, or widen the type"));
        None
    }

    /// Reports a value that is not of the type that is expected.
    pub fn mismatch(&mut self, value: &Expression, target: TypeId) {
        let (needs, has) = (self.name_of(target), self.name_of(value.type_id));
        let title = match needs == has {
            true => format!("expected {needs}, but this is another type {has}"),
            false => format!("expected {needs}, but this is {has}"),
        };
        let wrong = Diagnostic::error(Id::EstelleTypeMismatch, title, value.span, has);
        let wrong = wrong.misfit();
        let is_structured = matches!(
            self.kind(target),
            Type::Array { .. } | Type::Record { .. } | Type::Enumeration { .. }
        );
        let from_real = value.type_id == TypeId::REAL && self.host(target) == TypeId::INTEGER;
        let (why, help) = if from_real {
            (
                "A real number becomes an integer only by a function.",
                "write `trunc(…)` or `round(…)`",
            )
        } else if is_structured {
            (
                "Two arrays, records or enumerations are of one type only if they have one \
                 declaration.",
                "give the type a name, and use this name for both",
            )
        } else if self.host(target) == TypeId::INTEGER && self.range(value.type_id).is_some() {
            (
                "Only integers are numbers.",
                "write `ord(…)` for the ordinal number",
            )
        } else {
            (
                "Pascal converts only integers to real numbers.",
                "use a value of the expected type",
            )
        };
        self.report(wrong.why(why).help(help));
    }

    /// Reports a value of another kind than is needed, for example "an integer".
    pub fn expected(&mut self, value: &Expression, wanted: &str) {
        let has = self.name_of(value.type_id);
        let title = format!("expected {wanted}, but this is {has}");
        let wrong = Diagnostic::error(Id::EstelleTypeMismatch, title, value.span, has);
        let wrong = wrong
            .misfit()
            .why(format!("This place takes {wanted} only."));
        self.report(wrong.help(format!("write {wanted} here")));
    }
}

/// Converts an integer to a real number.
pub(super) fn to_real(value: Expression) -> Expression {
    let (type_id, span) = (TypeId::REAL, value.span);
    let kind = match value.kind {
        ExpressionKind::Ordinal(number) => ExpressionKind::Real(number as f64),
        _ => ExpressionKind::ToReal(Box::new(value)),
    };
    Expression {
        kind,
        type_id,
        span,
    }
}
