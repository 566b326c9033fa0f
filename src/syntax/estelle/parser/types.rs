//! Pascal types, domains, and lists of names with a type.

use super::{Parsed, Parser, Reported};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::estelle::ast::{
    Domain, Expression, ExpressionKind, Fields, Type, TypeKind, Variables, Variants,
};
use crate::syntax::estelle::token::TokenKind;

impl Parser<'_> {
    /// Reads a Pascal type.
    pub(super) fn a_type(&mut self) -> Parsed<Type> {
        self.nested(|parser| {
            let start = parser.token().span;
            let kind = parser.type_kind()?;
            let span = parser.since(start);
            Ok(Type { kind, span })
        })
    }

    fn type_kind(&mut self) -> Parsed<TypeKind> {
        let is_packed = self.accept("packed");
        match self.token().word {
            "array" => {
                self.take();
                let indices = self.indices()?;
                self.expect("of")?;
                let element = Box::new(self.a_type()?);
                Ok(TypeKind::Array {
                    indices,
                    element,
                    is_packed,
                })
            }
            "record" => self.record(),
            "set" => {
                self.take();
                self.expect("of")?;
                Ok(TypeKind::Set(Box::new(self.a_type()?)))
            }
            "file" => Err(self.refuse_file()),
            _ if is_packed => Err(self.unexpected("`array`, `record` or `set`")),
            "^" => {
                self.refuse_pointer();
                while self.accept("^") {}
                self.type_kind()
            }
            "(" => {
                self.take();
                let names = self.names("the name of a value")?;
                self.expect(")")?;
                Ok(TypeKind::Enumeration(names))
            }
            _ => self.name_or_subrange(),
        }
    }

    /// Reads `[T, U]`, the index types of an array.
    pub(super) fn indices(&mut self) -> Parsed<Vec<Type>> {
        self.expect("[")?;
        let indices = self.listed(Parser::a_type)?;
        self.expect("]")?;
        Ok(indices)
    }

    fn name_or_subrange(&mut self) -> Parsed<TypeKind> {
        let token = self.token();
        let begins_constant = match token.kind {
            TokenKind::Name | TokenKind::Integer | TokenKind::Real | TokenKind::Text => true,
            TokenKind::Sign => matches!(token.word, "+" | "-"),
            TokenKind::Keyword | TokenKind::End => false,
        };
        if !begins_constant {
            return Err(self.unexpected("a type"));
        }
        let low = self.constant()?;
        if !self.is_at("..") {
            if let ExpressionKind::Name(name) = low.kind {
                return Ok(TypeKind::Named(name));
            }
            return Err(self.unexpected("`..` and the last value of a subrange"));
        }
        self.take();
        let high = self.constant()?;
        Ok(TypeKind::Subrange(Box::new(low), Box::new(high)))
    }

    /// Reads `record … end`.
    fn record(&mut self) -> Parsed<TypeKind> {
        let open = self.take().span;
        let indentation = self.lines.indentation;
        self.lines.indentation += 1;
        let fields = self.fields(&["end"]);
        self.lines.indentation = indentation;
        let fields = fields?;
        self.lines.begin(self.at);
        self.expect_end(open, "record")?;
        Ok(TypeKind::Record(fields))
    }

    /// Reads the fields of a record or of a variant, up to one of these words.
    fn fields(&mut self, ends: &[&str]) -> Parsed<Fields> {
        let mut fields = Fields::default();
        let is_variant = ends == [")"];
        loop {
            if self.is_at_any(ends) || self.is_at_end() {
                return Ok(fields);
            }
            if !is_variant {
                self.lines.begin(self.at);
            }
            if self.is_at("case") {
                fields.variants = Some(Box::new(self.nested(Parser::variants)?));
                self.accept(";");
                return Ok(fields);
            }
            match self.field(ends) {
                Ok(field) => fields.fixed.push(field),
                Err(reported) if self.is_at_end() => return Err(reported),
                Err(Reported) => {
                    self.skip_to(&[";", ")", "end", "trans", "begin"]);
                    if !self.accept(";") && !self.is_at_any(ends) {
                        return Err(Reported);
                    }
                }
            }
        }
    }

    fn field(&mut self, ends: &[&str]) -> Parsed<Variables> {
        let field = self.variables("the name of a field")?;
        if !self.is_at_any(ends) {
            self.semicolon()?;
        }
        Ok(field)
    }

    /// Reads `case tag: T of 1, 2: (…); 3: (…)`.
    fn variants(&mut self) -> Parsed<Variants> {
        self.take();
        let first = self.name("the name of the tag, or its type")?;
        let (tag, kind) = match self.accept(":") {
            true => (Some(first), self.name("the type of the tag")?),
            false => (None, first),
        };
        self.expect("of")?;
        let mut cases = Vec::new();
        let indentation = self.lines.indentation;
        while !self.is_at_any(&["end", ")"]) && !self.is_at_end() {
            self.lines.indentation = indentation + 1;
            self.lines.begin(self.at);
            let values = self.listed(Parser::constant)?;
            self.expect(":")?;
            self.expect("(")?;
            let fields = self.fields(&[")"])?;
            self.expect(")")?;
            cases.push((values, fields));
            if !self.is_at_any(&["end", ")"]) {
                self.semicolon()?;
            }
        }
        self.lines.indentation = indentation;
        Ok(Variants { tag, kind, cases })
    }

    /// Reads `a, b: T`.
    pub(super) fn variables(&mut self, what: &str) -> Parsed<Variables> {
        let names = self.names(what)?;
        self.expect(":")?;
        let kind = self.a_type()?;
        Ok(Variables { names, kind })
    }

    /// Reads `i, j: 1..4; k: colour`, the names that `any`, `all`, `forone` or `exist` bind.
    pub(super) fn domain(&mut self) -> Parsed<Domain> {
        let mut domain = vec![self.variables("a name")?];
        while self.accept(";") {
            domain.push(self.variables("a name")?);
        }
        Ok(domain)
    }

    /// Reads `(a, b: T; c: U)`, parameters that are given by value; there may be none.
    pub(super) fn formals(&mut self) -> Parsed<Vec<Variables>> {
        if !self.accept("(") {
            return Ok(Vec::new());
        }
        let formals = self.domain()?;
        self.expect(")")?;
        Ok(formals)
    }

    /// Reads a constant: a number, a string or a name, perhaps with a sign.
    pub(super) fn constant(&mut self) -> Parsed<Expression> {
        let signed = self.is_at_any(&["+", "-"]);
        let operand = if signed { self.next() } else { self.token() };
        match operand.kind {
            TokenKind::Name | TokenKind::Integer | TokenKind::Real | TokenKind::Text => {}
            TokenKind::Keyword | TokenKind::Sign | TokenKind::End => {
                if signed {
                    self.take();
                }
                return Err(self.unexpected("a constant: a number, a string or a name"));
            }
        }
        let sign = signed.then(|| self.take());
        let operand = self.literal_or_name();
        Ok(match sign {
            Some(sign) => self.signed(sign, operand),
            None => operand,
        })
    }

    /// Reports a pointer.
    pub(super) fn refuse_pointer(&mut self) -> Reported {
        let span = self.token().span;
        self.report(no_pointers(
            "Estelle here has no pointers".to_string(),
            span,
        ))
    }

    fn refuse_file(&mut self) -> Reported {
        let span = self.token().span;
        self.report(no_files("Estelle here has no files".to_string(), span))
    }
}

/// Makes a refusal of pointers.
pub(super) fn no_pointers(title: String, span: Span) -> Diagnostic {
    Diagnostic::error(Id::EstellePointer, title, span, "not available")
        .why("There is no heap: all memory is laid out before the start.")
        .help("use an array and its index, or a type that C code defines (`type T = ..`)")
}

/// Makes a refusal of files.
pub(super) fn no_files(title: String, span: Span) -> Diagnostic {
    Diagnostic::error(Id::EstelleFiles, title, span, "not available")
        .why("A specification meets its environment only at interaction points.")
        .help("send an interaction, or call a `primitive` procedure, which C code defines")
}
