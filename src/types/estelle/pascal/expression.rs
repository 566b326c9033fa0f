//! Expressions: each has a type, and all its names have a meaning.

use super::super::checker::{Checker, Within};
use super::super::program::MAXINT;
use super::super::program::{Expression, ExpressionKind, TypeId};
use super::super::scope::{Meaning, Region};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::estelle::ast::{self, ExpressionKind as Tree, Name};

/// An element of a set: a value, or the first and the last value of a range.
type Element = (ast::Expression, Option<ast::Expression>);

impl Checker<'_> {
    /// Checks an expression.
    pub fn expression(&mut self, tree: &ast::Expression) -> Option<Expression> {
        let span = tree.span;
        match &tree.kind {
            Tree::Integer(value) => self.integer(*value, span),
            Tree::Real(value) => Some(Expression {
                kind: ExpressionKind::Real(*value),
                type_id: TypeId::REAL,
                span,
            }),
            Tree::Text(text) => self.text(text, span),
            Tree::Name(name) => self.named(name, tree),
            Tree::Call(name, arguments) => self.called(name, arguments, span),
            Tree::Index(..) | Tree::Field(..) => self.read(tree),
            Tree::Unary(operator, operand) => {
                let operand = self.expression(operand)?;
                self.unary(*operator, operand, span)
            }
            Tree::Binary(operator, left, right) => {
                let left = self.expression(left);
                let right = self.expression(right);
                self.binary(*operator, left?, right?, span)
            }
            Tree::Set(elements) => self.set(elements, span),
            Tree::Exist(domain, condition) => self.exist(domain, condition, span),
        }
    }

    /// Checks a condition.
    pub fn condition(&mut self, tree: &ast::Expression) -> Option<Expression> {
        let condition = self.expression(tree)?;
        if self.host(condition.type_id) == TypeId::BOOLEAN {
            return Some(condition);
        }
        self.expected(&condition, "a boolean");
        None
    }

    /// Checks an expression for a variable, a parameter or an index of a type.
    pub fn value_for(&mut self, tree: &ast::Expression, target: TypeId) -> Option<Expression> {
        let value = self.expression(tree)?;
        self.assigned(value, target)
    }

    fn integer(&mut self, value: i64, span: Span) -> Option<Expression> {
        if value > MAXINT {
            let title = format!("`{value}` is larger than `maxint`");
            let large = Diagnostic::error(Id::EstelleOverflow, title, span, "too large");
            let large = large.why(format!("Integers are from -{MAXINT} to {MAXINT}."));
            self.report(large.help("use a smaller number, or `real`"));
            return None;
        }
        Some(Expression::ordinal(value, TypeId::INTEGER, span))
    }

    fn text(&mut self, text: &str, span: Span) -> Option<Expression> {
        let bytes: Option<Vec<u8>> = text
            .chars()
            .map(|letter| u8::try_from(u32::from(letter)).ok())
            .collect();
        let bytes = bytes.filter(|bytes| !bytes.is_empty());
        let Some(bytes) = bytes else {
            let (title, help) = match text.is_empty() {
                true => (
                    "a string has at least one character",
                    "write `' '` for a space",
                ),
                false => (
                    "a character of this string has a number above 255",
                    "use characters of Latin-1 only",
                ),
            };
            let wrong = Diagnostic::error(Id::EstelleCharacter, title, span, "no Pascal string");
            let wrong = wrong.why("`char` has the values 0 to 255, and strings are not empty.");
            self.report(wrong.help(help));
            return None;
        };
        if let [byte] = bytes[..] {
            return Some(Expression::ordinal(i64::from(byte), TypeId::CHAR, span));
        }
        let type_id = self.string_type(bytes.len());
        Some(Expression {
            kind: ExpressionKind::Text(bytes),
            type_id,
            span,
        })
    }

    fn named(&mut self, name: &Name, tree: &ast::Expression) -> Option<Expression> {
        let found = self.scopes.find(&name.key()).map(|found| found.meaning);
        match found {
            Some(Meaning::Constant(literal)) => Some(Expression {
                span: name.span,
                ..literal
            }),
            Some(Meaning::Routine(_) | Meaning::Predefined(_)) => self.called(name, &[], tree.span),
            Some(
                Meaning::Type(_)
                | Meaning::Variable { .. }
                | Meaning::Field { .. }
                | Meaning::Channel(_)
                | Meaning::Header(_)
                | Meaning::Body(_)
                | Meaning::Points(_)
                | Meaning::ModuleVariable(_)
                | Meaning::Child(..)
                | Meaning::Refused,
            ) => self.read(tree),
            None if self.is_omitted(name) => None,
            None => self.read(tree),
        }
    }

    /// The value of a variable.
    fn read(&mut self, tree: &ast::Expression) -> Option<Expression> {
        let place = self.place(tree)?;
        Some(Expression {
            type_id: place.type_id,
            span: tree.span,
            kind: ExpressionKind::Read(place),
        })
    }

    fn set(&mut self, elements: &[Element], span: Span) -> Option<Expression> {
        let mut checked = Vec::new();
        let mut base = None;
        for (first, last) in elements {
            let first = self.element(first, &mut base);
            let last = last.as_ref().map(|last| self.element(last, &mut base));
            checked.push((first, last));
        }
        let mut right = Vec::new();
        for (first, last) in checked {
            right.push((first?, last.map_or(Some(None), |last| last.map(Some))?));
        }
        let type_id = match base {
            None => self.empty_set,
            Some(base) => {
                if base != TypeId::INTEGER {
                    self.set_base(base, span)?;
                }
                self.set_type(base)
            }
        };
        let kind = ExpressionKind::Set(right);
        Some(Expression {
            kind,
            type_id,
            span,
        })
    }

    /// One bound of an element of a set. All have one ordinal type, `base`.
    fn element(&mut self, tree: &ast::Expression, base: &mut Option<TypeId>) -> Option<Expression> {
        let value = self.expression(tree)?;
        let host = self.host(value.type_id);
        if self.range(host).is_none() {
            self.expected(&value, "a value of an ordinal type");
            return None;
        }
        let base = *base.get_or_insert(host);
        if base != host {
            self.mismatch(&value, base);
            return None;
        }
        match base == TypeId::INTEGER {
            true => self.small_integer(value),
            false => Some(value),
        }
    }

    /// An integer that can be in a set.
    fn small_integer(&mut self, value: Expression) -> Option<Expression> {
        let beyond = match super::fold(&value, &[]) {
            Ok(super::Literal::Ordinal(number)) => !(0..=255).contains(&number),
            _ => false,
        };
        if beyond {
            let title = "this integer cannot be in a set";
            let id = Id::EstelleOutOfRange;
            let refused = Diagnostic::error(id, title, value.span, "not in 0..255");
            let refused = refused.why("The values of a set have ordinal numbers from 0 to 255.");
            self.report(refused.help("compare with `=`, `<` or `>` instead"));
            return None;
        }
        Some(value)
    }

    fn exist(
        &mut self,
        domain: &[ast::Variables],
        condition: &ast::Expression,
        span: Span,
    ) -> Option<Expression> {
        if self.here.frame.is_none() {
            let title = "the value of `exist` is not known before the specification runs";
            let refused = Diagnostic::error(Id::EstelleNotConstant, title, span, "no constant");
            let refused = refused.why("A constant is needed here.");
            self.report(refused.help("write a literal, or the name of a `const`"));
            return None;
        }
        let (domain, condition) = self.inside(Region::Open, |checker| {
            let domain = checker.domain(domain);
            (domain, checker.such_that(condition))
        });
        Some(Expression {
            kind: ExpressionKind::Exist(domain?, Box::new(condition?)),
            type_id: TypeId::BOOLEAN,
            span,
        })
    }

    /// S17: checks the condition of a `suchthat` clause, which is evaluated for an open number of
    /// values. (our decision)
    pub fn such_that(&mut self, condition: &ast::Expression) -> Option<Expression> {
        self.within(Within::Clause, |checker| checker.condition(condition))
    }

    /// Returns true if the place demands expressions without effects.
    pub fn is_in_clause(&self) -> bool {
        self.here.within == Within::Clause
    }
}
