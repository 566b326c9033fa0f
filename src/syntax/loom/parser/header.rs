//! Headers.

use super::{Parsed, Parser, Separator};
use crate::diagnostic::{Diagnostic, Id};
use crate::syntax::loom::ast::{
    Header, HeaderField, HeaderOptions, HeaderPart, HeaderRange, HeaderRule, OptionCase, OptionKind,
};
use crate::syntax::loom::token::{Token, TokenKind};

impl Parser<'_> {
    /// `header quotation big { … }`
    pub(super) fn header(&mut self) -> Parsed<Header> {
        let beginning = self.begin();
        self.take();
        let mut order = self.byte_order();
        let name = match order {
            None if self.token().kind == TokenKind::Word => Some(self.name("a header's name")?),
            None | Some(_) => None,
        };
        order = order.or_else(|| self.byte_order());
        let Some(order) = order else {
            let title = "this header has no byte order";
            let span = self.here();
            return Err(self.report(
                Diagnostic::error(Id::MissingPart, title, span, "expected `big` or `little`").help(
                    "most Internet protocols are `big` endian: the most significant byte comes \
                    first",
                ),
            ));
        };
        let parts = self.list("{", Separator::CommaOrNewline, |parser| {
            if parser.is_at("options") && parser.ahead(1).is("by") {
                parser.options().map(HeaderPart::Options)
            } else {
                parser.header_field().map(HeaderPart::Field)
            }
        })?;
        let (notes, span) = self.finish(beginning);
        Ok(Header {
            notes,
            name,
            order,
            parts,
            span,
        })
    }

    fn header_field(&mut self) -> Parsed<HeaderField> {
        let beginning = self.begin();
        let name = self.name("the name of a field")?;
        self.expect(":")?;
        let of = self.type_name()?;
        let rule = self.header_rule()?;
        let constraint = if self.accept("where").is_some() {
            Some(self.condition()?)
        } else {
            None
        };
        let condition = self.guard()?;
        let (notes, span) = self.finish(beginning);
        Ok(HeaderField {
            notes,
            name,
            of,
            rule,
            constraint,
            condition,
            span,
        })
    }

    fn header_rule(&mut self) -> Parsed<Option<HeaderRule>> {
        Ok(Some(if self.accept("=").is_some() {
            HeaderRule::Written(self.expression()?)
        } else if self.accept("is").is_some() {
            HeaderRule::Required(self.expression()?)
        } else if self.accept("counts").is_some() {
            let ranges = self.ranges()?;
            let unit = if self.accept("in").is_some() {
                Some(self.simple()?)
            } else {
                None
            };
            HeaderRule::Counts { ranges, unit }
        } else if self.accept("checks").is_some() {
            let ranges = self.ranges()?;
            self.expect("through")?;
            let filter = self.place()?;
            let absent = if self.accept("or").is_some() {
                Some(self.place()?)
            } else {
                None
            };
            let left = if self.accept("unless").is_some() {
                Some(self.expression()?)
            } else {
                None
            };
            HeaderRule::Checks {
                ranges,
                filter,
                absent,
                left,
            }
        } else if self.is_at("==") {
            let span = self.token().span;
            return Err(self.report(
                Diagnostic::error(
                    Id::UnexpectedWord,
                    "a header field does not take `==`",
                    span,
                    "",
                )
                .help(
                    "write `is` for a value that is sent and required on receipt, `=` for a \
                        value that is only sent",
                ),
            ));
        } else {
            return Ok(None);
        }))
    }

    fn ranges(&mut self) -> Parsed<Vec<HeaderRange>> {
        let mut ranges = vec![self.range()?];
        // Behind a comma another range may stand, or another field.
        while self.is_at(",") && is_range(self.ahead(1), self.ahead(2)) {
            self.take();
            ranges.push(self.range()?);
        }
        Ok(ranges)
    }

    fn range(&mut self) -> Parsed<HeaderRange> {
        let token = self.token();
        if token.kind != TokenKind::Word {
            let expected = "`header`, `data`, a field, or two of them with `..` between them";
            return Err(self.unexpected(expected));
        }
        let first = self.word("the name of a field")?;
        if self.accept("..").is_some() {
            let last = self.name("the name of a field")?;
            return Ok(HeaderRange::Fields { first, last });
        }
        Ok(match token.text {
            "header" => HeaderRange::Header(token.span),
            "data" => HeaderRange::Data(token.span),
            "option" => HeaderRange::Option(token.span),
            _ => HeaderRange::Fields {
                last: first.clone(),
                first,
            },
        })
    }

    fn options(&mut self) -> Parsed<HeaderOptions> {
        let beginning = self.begin();
        self.take();
        self.take();
        let by = self.type_name()?;
        let until_malformed = self.accept("until").is_some();
        if until_malformed {
            self.expect("malformed")?;
        }
        let (mut cases, mut otherwise) = (Vec::new(), None);
        self.list("{", Separator::CommaOrNewline, |parser| {
            parser.cases_then_else(
                &mut cases,
                &mut otherwise,
                Self::option,
                Self::option_fields,
            )
        })?;
        let (notes, span) = self.finish(beginning);
        Ok(HeaderOptions {
            notes,
            by,
            until_malformed,
            cases,
            otherwise,
            span,
        })
    }

    fn option(&mut self) -> Parsed<OptionCase> {
        let beginning = self.begin();
        self.expect("case")?;
        let value = self.place()?;
        let kind = if self.accept("end").is_some() {
            OptionKind::End
        } else if self.is_at("padding") && !self.ahead(1).is("{") {
            self.take();
            OptionKind::Padding
        } else {
            let name = self.name("`end`, `padding`, or the name of an option")?;
            OptionKind::Fields {
                name,
                fields: self.option_fields()?,
            }
        };
        let (notes, span) = self.finish(beginning);
        Ok(OptionCase {
            notes,
            value,
            kind,
            span,
        })
    }

    fn option_fields(&mut self) -> Parsed<Vec<HeaderField>> {
        self.list("{", Separator::CommaOrNewline, Self::header_field)
    }
}

/// Whether a range begins with this token, before that one; and no field, and no options.
fn is_range(token: Token, next: Token) -> bool {
    token.kind == TokenKind::Word && !next.is(":") && !(token.is("options") && next.is("by"))
}
