//! Bytes of no fixed length as values: in, a field of a header, or bounded bytes and an index; out,
//! the type that the field has as a value, or a byte, which is perhaps none.

use super::super::expression::{Binary, Expression, ExpressionKind};
use super::super::header::HeaderField;
use super::super::program::{HeaderFieldId, HeaderId};
use super::super::value::{Type, Value};
use super::access::Meaning;
use super::words::{Body, make, nothing};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;

impl Body<'_, '_> {
    /// The type of a field of a header that is read or set; nothing, and a diagnostic, where the
    /// field has no value.
    pub fn kind_with_value(&mut self, field: &HeaderField, span: Span) -> Type {
        if field.kind == Type::UnboundedBytes {
            let text = self.text(span);
            let title = format!("`{text}` is unbounded, and cannot be read");
            let refused = Diagnostic::error(Id::NotAValue, title, span, "unbounded bytes");
            let refused = refused.label(field.span, "declared here").why(
                "The compiler cannot reserve memory for unbounded bytes: it skips them when it \
                reads a header, and writes none.",
            );
            self.report(match field.name.split_once('.') {
                Some(_) => refused.help("give the fields of the option a fixed length"),
                None => refused.help(format!("write `{}: bytes[at most N]`", field.name)),
            });
            return Type::Nothing;
        }
        field.kind.clone()
    }

    /// What a word of the scope stands for; a field of a header that is perhaps not there may be
    /// none.
    pub fn scope_value(&mut self, value: Expression, span: Span) -> Expression {
        if let ExpressionKind::Header(header, field) = *value.kind {
            // The fields of an option are words in its own rules alone, where it is there.
            let declared = &self.context.program.headers[header.at()];
            return match declared.option_of(field) {
                Some(_) => self.option_word(value, (header, field), span),
                None => self.header_field(None, header, field, span),
            };
        }
        value
    }

    /// A field of an option as a word of its own rules, where the option is there.
    fn option_word(
        &mut self,
        value: Expression,
        (header, field): (HeaderId, HeaderFieldId),
        span: Span,
    ) -> Expression {
        let field = self.context.program.headers[header.at()]
            .field(field)
            .clone();
        match self.kind_with_value(&field, span) {
            Type::Nothing => nothing(),
            _known => value,
        }
    }

    /// The length of bounded bytes: they have no other part.
    pub fn part_of_bytes(&mut self, bytes: Expression, span: Span, name: &ast::Name) -> Expression {
        match name.is("length") {
            true => length_of_bytes(bytes),
            false => self.no_part(&bytes, span, name, &["length"]),
        }
    }

    /// A byte of bounded bytes: plain behind a test of their length, else perhaps none.
    pub fn byte_of(&mut self, bytes: Expression, index: &ast::Expression) -> Meaning {
        let span = index.span;
        let index = self.check(index, Some(&Type::Unsigned(8)));
        let index = match index.result {
            Type::Unsigned(_) => index,
            _ => self.coerce(index, &Type::Unsigned(32), span),
        };
        if index.result == Type::Nothing {
            return Meaning::Unknown;
        }
        let length = length_of_bytes(bytes.clone());
        let known = self.is_within(&index, &length);
        let wide = |value: Expression| match value.result {
            Type::Unsigned(32..) => value,
            _ => make(ExpressionKind::Cast(value), Type::Unsigned(32)),
        };
        let (index, length) = (wide(index), wide(length));
        let there = ExpressionKind::Binary(Binary::Less, index.clone(), length);
        let there = self.folded(make(there, Type::Bool));
        let byte = make(ExpressionKind::ByteAt(bytes, index), Type::Unsigned(8));
        if known {
            return Meaning::Value(byte);
        }
        let optional = Type::Optional(Box::new(Type::Unsigned(8)));
        let some = make(ExpressionKind::Some(byte), optional.clone());
        let none = make(ExpressionKind::Constant(Value::None), optional.clone());
        Meaning::Value(make(ExpressionKind::If(there, some, none), optional))
    }
}

/// How many bounded bytes there are.
fn length_of_bytes(bytes: Expression) -> Expression {
    make(ExpressionKind::BytesLength(bytes), Type::Unsigned(8))
}
