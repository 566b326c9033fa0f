//! Types, as they are written.

use super::{Parsed, Parser, Separator};
use crate::syntax::loom::ast::{Type, TypeKind};
use crate::syntax::loom::token::TokenKind;

impl Parser<'_> {
    /// A type, as it stands behind a colon.
    pub(super) fn type_name(&mut self) -> Parsed<Type> {
        self.nested(|parser| {
            let start = parser.at;
            let mut kind = parser.plain_type()?;
            let span = parser.span_from(start);
            if parser.accept("?").is_some() {
                kind = TypeKind::Optional(Box::new(Type { kind, span }));
            }
            Ok(Type {
                kind,
                span: parser.span_from(start),
            })
        })
    }

    fn plain_type(&mut self) -> Parsed<TypeKind> {
        if self.accept("enum").is_some() {
            let names = self.list("{", Separator::CommaOrNewline, |it| {
                it.name("a value's name")
            })?;
            return Ok(TypeKind::Enum(names));
        }
        let name = self.name("a type")?;
        let mut element = None;
        if self.token().kind == TokenKind::Angle && self.token().text == "<" {
            self.take();
            element = Some(Box::new(self.type_name()?));
            if self.token().kind != TokenKind::Angle {
                return Err(self.unexpected("`>`"));
            }
            self.take();
        }
        let mut capacity = None;
        let mut at_most = false;
        let mut by = None;
        let mut start = Vec::new();
        if self.accept("[").is_some() {
            // `at` may also be the name of a constant.
            if self.is_at("at") && self.ahead(1).is("most") {
                self.take();
                self.take();
                at_most = true;
            }
            capacity = Some(Box::new(self.expression()?));
            self.expect("]")?;
            if self.accept("by").is_some() {
                by = Some(Box::new(self.type_name()?));
            }
            if self.is_at("(") {
                start = self.arguments()?;
            }
        }
        if element.is_none() && capacity.is_none() {
            return Ok(TypeKind::Named(name));
        }
        Ok(TypeKind::Container {
            name,
            element,
            capacity,
            at_most,
            by,
            start,
        })
    }
}
