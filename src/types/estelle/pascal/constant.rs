//! Declarations of constants, and expressions whose value must be known.
//!
//! In: `const N = 4`, `const N = any integer` and the settings of the command line, labels,
//! bounds. Out: literals.

use super::super::checker::Checker;
use super::super::program::MAXINT;
use super::super::program::{Expression, ExpressionKind, Type, TypeId};
use super::super::scope::Meaning;
use super::fold::{Literal, Unknown, fold};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::estelle::ast;

impl Checker<'_> {
    /// Declares a constant.
    pub fn constant_declaration(&mut self, tree: &ast::Constant) {
        let value = match &tree.value {
            ast::ConstantValue::Given(value) => self.constant(value),
            ast::ConstantValue::Any(kind) => {
                let kind = self.type_of(kind);
                kind.and_then(|kind| self.open_constant(&tree.name, kind))
            }
        };
        let meaning = value.map_or(Meaning::Refused, Meaning::Constant);
        self.declare(&tree.name, meaning);
    }

    /// Checks an expression whose value must be known, and returns it as a literal.
    pub fn constant(&mut self, tree: &ast::Expression) -> Option<Expression> {
        let value = self.expression(tree)?;
        self.known(&value, &[])
    }

    /// Checks a constant of an ordinal type, and returns its ordinal number and type.
    pub fn ordinal_constant(&mut self, tree: &ast::Expression) -> Option<(i64, TypeId)> {
        let value = self.constant(tree)?;
        match value.kind {
            ExpressionKind::Ordinal(number) => Some((number, value.type_id)),
            _ => {
                self.expected(&value, "a constant of an ordinal type");
                None
            }
        }
    }

    /// Computes the value of an expression, which must be known. `any` holds the values of the
    /// first locals of the frame.
    pub fn known(&mut self, expression: &Expression, any: &[i64]) -> Option<Expression> {
        let span = expression.span;
        let type_id = self.host(expression.type_id);
        match fold(expression, any) {
            Ok(Literal::Ordinal(value)) if !self.holds(type_id, value) => {
                self.overflow(span);
                None
            }
            Ok(literal) => Some(Expression {
                kind: literal.kind(),
                type_id,
                span,
            }),
            Err(Unknown::Overflow(span)) => {
                self.overflow(span);
                None
            }
            Err(Unknown::Division(span)) => {
                self.division(span);
                None
            }
            Err(Unknown::Variable(place)) => {
                let title = "the value of this is not known before the specification runs";
                let refused =
                    Diagnostic::error(Id::EstelleNotConstant, title, place, "no constant");
                let refused = refused.why("A constant is needed here.");
                self.report(refused.help("write a literal, or the name of a `const`"));
                None
            }
        }
    }

    /// Returns true if an ordinal number is one of the values of a type.
    pub fn holds(&self, kind: TypeId, value: i64) -> bool {
        let range = self.range(kind);
        range.is_none_or(|(low, high)| (low..=high).contains(&value))
    }

    /// Reports a constant expression with a result beyond the range of its type.
    pub fn overflow(&mut self, span: Span) {
        let title = "the result of this constant expression does not fit into its type";
        let refused = Diagnostic::error(Id::EstelleOverflow, title, span, "overflows");
        let refused = refused.why(format!(
            "Integers are from -{MAXINT} to {MAXINT} (`maxint`)."
        ));
        self.report(refused.help("use smaller numbers, or `real`"));
    }

    /// Reports a constant division that has no result.
    pub fn division(&mut self, span: Span) {
        let title = "this divisor is never valid";
        let refused = Diagnostic::error(Id::EstelleOverflow, title, span, "no result");
        let refused = refused.why("A divisor is not zero, and that of `mod` is positive.");
        self.report(refused.help("use another divisor"));
    }

    /// Takes the value of an open constant from the settings.
    fn open_constant(&mut self, name: &ast::Name, kind: TypeId) -> Option<Expression> {
        let settings: &[(String, String)] = &self.settings.constants;
        let is_given =
            |(_, (given, _)): &(usize, &(String, String))| given.eq_ignore_ascii_case(&name.text);
        let given: Vec<_> = settings.iter().enumerate().filter(is_given).collect();
        self.used_settings.extend(given.iter().map(|(at, _)| *at));
        // The last one counts, as on every command line.
        let Some((_, (_, text))) = given.last() else {
            let title = format!("the constant `{}` has no value", name.text);
            let id = Id::EstelleConstantUnset;
            let unset = Diagnostic::error(id, title, name.span, "declared by `any`");
            let unset = unset.why("The command line gives the values of such constants.");
            let example = self.example(kind);
            let help = format!(
                "add `--set {}={example}`, or write the value here",
                name.text
            );
            self.report(unset.help(help));
            return None;
        };
        let text = text.trim();
        let literal = self.literal(text, kind);
        let Some(literal) = literal else {
            let title = format!("`{text}` is no value of {}", self.name_of(kind));
            let id = Id::EstelleSetting;
            let wrong = Diagnostic::error(id, title, name.span, "this constant is set");
            let wrong = wrong.why("The value of `--set` has the type of the constant.");
            let example = self.example(kind);
            self.report(wrong.help(format!("for example `--set {}={example}`", name.text)));
            return None;
        };
        Some(Expression {
            kind: literal.kind(),
            type_id: self.host(kind),
            span: name.span,
        })
    }

    /// Reads a value of a type from the text of a setting.
    fn literal(&self, text: &str, kind: TypeId) -> Option<Literal> {
        let number = || text.parse::<i64>().ok();
        let value = match self.kind(self.host(kind)) {
            Type::Integer => number()?,
            Type::Real => {
                let value = text.parse::<f64>().ok()?;
                return value.is_finite().then_some(Literal::Real(value));
            }
            Type::Boolean => text
                .to_ascii_lowercase()
                .parse::<bool>()
                .ok()
                .map(i64::from)?,
            Type::Char => {
                let inner = text.strip_prefix('\'').and_then(|it| it.strip_suffix('\''));
                let mut letters = inner.unwrap_or(text).chars();
                let letter = letters.next()?;
                let letter = letters.next().is_none().then_some(letter)?;
                i64::from(u32::from(letter))
            }
            Type::Enumeration { values, .. } => {
                let same = |value: &String| value.eq_ignore_ascii_case(text);
                values.iter().position(same)? as i64
            }
            Type::Subrange { .. }
            | Type::Array { .. }
            | Type::Record { .. }
            | Type::Set(_)
            | Type::External(_) => return None,
        };
        self.holds(kind, value).then_some(Literal::Ordinal(value))
    }

    /// Returns a value of a type as `--set` takes it.
    fn example(&self, kind: TypeId) -> String {
        let (low, high) = self.range(kind).unwrap_or((0, 0));
        let value = 4.clamp(low, high.max(low));
        match self.kind(self.host(kind)) {
            Type::Integer => value.to_string(),
            Type::Real => "1.5".to_string(),
            Type::Boolean => "true".to_string(),
            Type::Char => u8::try_from(value.max(65))
                .map_or('A', char::from)
                .to_string(),
            Type::Enumeration { values, .. } => {
                let value = usize::try_from(low).ok().and_then(|at| values.get(at));
                value.cloned().unwrap_or_default()
            }
            Type::Subrange { .. }
            | Type::Array { .. }
            | Type::Record { .. }
            | Type::Set(_)
            | Type::External(_) => "VALUE".to_string(),
        }
    }

    /// Reports settings that no constant uses.
    pub fn unused_settings(&mut self, place: Span) {
        let settings = self.settings.constants.iter().enumerate();
        let unused = settings.filter(|(at, _)| !self.used_settings.contains(at));
        let names: Vec<String> = unused.map(|(_, (name, _))| format!("`{name}`")).collect();
        if names.is_empty() {
            return;
        }
        let title = format!("`--set` sets {}, which no constant is", names.join(", "));
        let id = Id::EstelleSetting;
        let unused = Diagnostic::error(id, title, place, "no such constant in here");
        let unused = unused.why("A setting gives the value of a `const NAME = any TYPE`.");
        self.report(unused.help("correct the name, or remove the setting"));
    }
}
