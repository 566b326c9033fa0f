//! Values.

use super::{Parsed, Parser, Separator};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast::{
    BinaryOperator, Expression, ExpressionKind, InstanceKey, Likely, Name, UnaryOperator,
};
use crate::syntax::loom::token::{STATEMENTS, Token, TokenKind};

/// How strongly operators bind; a higher number binds more strongly.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    Or,
    And,
    Not,
    Compare,
    BitOr,
    BitXor,
    BitAnd,
    Shift,
    Add,
    Multiply,
    Unary,
}

impl Parser<'_> {
    /// Any value.
    pub(super) fn expression(&mut self) -> Parsed<Expression> {
        self.nested(|parser| {
            let start = parser.at;
            let mut value = parser.operation(Strength::Or)?;
            let mut length = 0;
            loop {
                let before = Box::new(value);
                let kind = if parser.is_at("else") && !parser.begins_statement(1) {
                    parser.take();
                    let otherwise = Box::new(parser.operation(Strength::Or)?);
                    ExpressionKind::Else {
                        value: before,
                        otherwise,
                    }
                } else if parser.accept("through").is_some() {
                    let filter = Box::new(parser.place()?);
                    ExpressionKind::Through {
                        data: before,
                        filter,
                    }
                } else {
                    return Ok(*before);
                };
                length += 1;
                parser.check_length(length)?;
                value = Expression {
                    kind,
                    span: parser.span_from(start),
                };
            }
        })
    }

    /// A value that must hold: here `=` was meant to be `==`.
    pub(super) fn condition(&mut self) -> Parsed<Expression> {
        let start = self.at;
        let left = self.operation(Strength::Or)?;
        if !self.is_at("=") {
            return Ok(left);
        }
        let sign = self.take().span;
        self.report(
            Diagnostic::error(
                Id::AssignmentInCondition,
                "`=` does not compare values",
                sign,
                "",
            )
            .why("`=` is an assignment, which a condition cannot contain.")
            .help("write `==`"),
        );
        let right = Box::new(self.operation(Strength::Or)?);
        let kind = ExpressionKind::Binary {
            operator: BinaryOperator::Equal,
            left: Box::new(left),
            right,
        };
        Ok(Expression {
            kind,
            span: self.span_from(start),
        })
    }

    /// A value in which `else` and `through` stand in brackets only.
    pub(super) fn simple(&mut self) -> Parsed<Expression> {
        self.operation(Strength::Or)
    }

    /// A value that must hold, in which `or` stands in brackets only.
    pub(super) fn part_of_or(&mut self) -> Parsed<Expression> {
        self.operation(Strength::And)
    }

    /// `likely 99%`, if it stands here.
    pub(super) fn likely(&mut self) -> Parsed<Option<Likely>> {
        let start = self.at;
        if self.accept("likely").is_none() {
            return Ok(None);
        }
        let millionths = self.share()?;
        Ok(Some(Likely {
            millionths,
            span: self.span_from(start),
        }))
    }

    /// `99.9%`, in millionths.
    pub(super) fn share(&mut self) -> Parsed<u32> {
        let token = self.token();
        if token.kind != TokenKind::Share {
            return Err(self.unexpected("a share such as `99.9%`"));
        }
        self.take();
        let digits = token.text.trim_end_matches('%');
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        let millionths = format!("{whole}{part:0<4}").parse::<u32>();
        match millionths {
            Ok(millionths) if part.len() <= 4 && millionths <= 1_000_000 => Ok(millionths),
            Ok(_) | Err(_) => {
                let title = format!("`{}` is not a share", token.text);
                Err(self.report(
                    Diagnostic::error(Id::BadNumber, title, token.span, "").help(
                        "a share lies between `0%` and `100%`, with at most four decimal places",
                    ),
                ))
            }
        }
    }

    /// Whether what stands so many places further on begins a statement or a block.
    pub(super) fn begins_statement(&self, places: usize) -> bool {
        let token = self.ahead(places);
        token.is("{") || token.kind == TokenKind::Word && STATEMENTS.contains(&token.text)
    }

    fn operation(&mut self, weakest: Strength) -> Parsed<Expression> {
        let start = self.at;
        let mut left = if self.is_at("not") {
            self.negation(weakest)?
        } else {
            self.unary()?
        };
        let mut length = 0;
        while let Some((operator, strength)) = binary(self.token())
            && strength >= weakest
        {
            let sign = self.take().span;
            let right = Box::new(self.operation(stronger(strength))?);
            let kind = ExpressionKind::Binary {
                operator,
                left: Box::new(left),
                right,
            };
            left = Expression {
                kind,
                span: self.span_from(start),
            };
            if strength == Strength::Compare {
                self.refuse_chain(sign)?;
            }
            length += 1;
            self.check_length(length)?;
        }
        Ok(left)
    }

    fn negation(&mut self, weakest: Strength) -> Parsed<Expression> {
        self.nested(|parser| {
            let start = parser.at;
            let sign = parser.take().span;
            if weakest > Strength::Not {
                let title = "`not` needs parentheses here";
                let why = "`not` has a lower precedence than the operator before it.";
                parser.report(
                    Diagnostic::error(Id::UnexpectedWord, title, sign, "")
                        .why(why)
                        .help("write `(not …)`"),
                );
            }
            let operand = Box::new(parser.operation(Strength::Not)?);
            let kind = ExpressionKind::Unary {
                operator: UnaryOperator::Not,
                operand,
            };
            Ok(Expression {
                kind,
                span: parser.span_from(start),
            })
        })
    }

    fn refuse_chain(&mut self, first: Span) -> Parsed<()> {
        match binary(self.token()) {
            Some((_, Strength::Compare)) => {
                let title = "comparisons cannot be chained";
                let second = self.token().span;
                Err(self.report(
                    Diagnostic::error(Id::ChainedComparison, title, second, "a second comparison")
                        .label(first, "the first comparison")
                        .help("write `a < b and b < c`"),
                ))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// A tree of operators is as deep as it is long.
    fn check_length(&mut self, length: usize) -> Parsed<()> {
        if length > super::NESTING_LIMIT {
            Err(self.too_deep())
        } else {
            Ok(())
        }
    }

    fn unary(&mut self) -> Parsed<Expression> {
        let start = self.at;
        let operator = match self.token() {
            token if token.is("-") => UnaryOperator::Negate,
            token if token.is("~") => UnaryOperator::Complement,
            token if token.is("present") => UnaryOperator::Present,
            token if token.is("pre") => UnaryOperator::Pre,
            token if token.is("share") => {
                self.take();
                let kind = ExpressionKind::Share(Box::new(self.place()?));
                return Ok(Expression {
                    kind,
                    span: self.span_from(start),
                });
            }
            _ => return self.cast(),
        };
        self.nested(|parser| {
            parser.take();
            let event = operator == UnaryOperator::Present && parser.is_at_word_for_event();
            let operand = match event {
                true => parser.word_for_event()?,
                false => parser.unary()?,
            };
            let operand = Box::new(operand);
            let kind = ExpressionKind::Unary { operator, operand };
            Ok(Expression {
                kind,
                span: parser.span_from(start),
            })
        })
    }

    fn cast(&mut self) -> Parsed<Expression> {
        let start = self.at;
        let mut operand = self.place()?;
        let mut length = 0;
        while self.accept("as").is_some() {
            let to = self.type_name()?;
            let kind = ExpressionKind::Cast {
                operand: Box::new(operand),
                to,
            };
            operand = Expression {
                kind,
                span: self.span_from(start),
            };
            length += 1;
            self.check_length(length)?;
        }
        Ok(operand)
    }

    /// A value with fields, indices and arguments behind it, and no operators.
    pub(super) fn place(&mut self) -> Parsed<Expression> {
        let start = self.at;
        let mut value = self.primary()?;
        let mut length = 0;
        loop {
            let of = Box::new(value);
            if self.is_at("->") || (self.is_at(":") && self.ahead(1).is(":")) {
                let title = match self.is_at(":") {
                    true => "Loom writes `.` for `::`",
                    false => "Loom writes `.` for `->`",
                };
                let arrow = Diagnostic::error(Id::NotLoom, title, self.token().span, "");
                return Err(self.report(arrow.help("write `.`")));
            }
            let kind = if self.accept(".").is_some() {
                ExpressionKind::Field {
                    of,
                    name: self.word("the name of a field")?,
                }
            } else if self.is_at("(") {
                ExpressionKind::Call {
                    function: of,
                    arguments: self.arguments()?,
                }
            } else if self.accept("[").is_some() {
                let index = Box::new(self.expression()?);
                self.expect("]")?;
                ExpressionKind::Index { of, index }
            } else {
                return Ok(*of);
            };
            length += 1;
            self.check_length(length)?;
            value = Expression {
                kind,
                span: self.span_from(start),
            };
        }
    }

    /// Values in parentheses.
    pub(super) fn arguments(&mut self) -> Parsed<Vec<Expression>> {
        self.list("(", Separator::CommaOrNewline, Self::expression)
    }

    fn primary(&mut self) -> Parsed<Expression> {
        let start = self.at;
        let token = self.token();
        let kind = match token.kind {
            TokenKind::Number => self.number()?,
            TokenKind::Word => self.word_value()?,
            TokenKind::Sign if token.is("(") => {
                self.take();
                let inner = Box::new(self.expression()?);
                self.expect(")")?;
                ExpressionKind::Group(inner)
            }
            TokenKind::Share => {
                let title = format!("`{}` is not a value", token.text);
                return Err(self.report(
                    Diagnostic::error(Id::BadNumber, title, token.span, "a share")
                        .help("a share is allowed only after `likely` and in `traffic`"),
                ));
            }
            TokenKind::Sign if token.is("+") && start > 0 && self.tokens[start - 1].is("+") => {
                return Err(self.report(
                    Diagnostic::error(Id::NotLoom, "there is no `++`", token.span, "")
                        .help("write `x += 1`"),
                ));
            }
            TokenKind::Sign | TokenKind::Angle | TokenKind::Newline | TokenKind::End => {
                return Err(self.unexpected("a value"));
            }
        };
        Ok(Expression {
            kind,
            span: self.span_from(start),
        })
    }

    fn word_value(&mut self) -> Parsed<ExpressionKind> {
        let token = self.token();
        Ok(match token.text {
            "true" | "false" => ExpressionKind::Boolean(self.take().text == "true"),
            "none" => {
                self.take();
                ExpressionKind::None
            }
            "now" => {
                self.take();
                ExpressionKind::Now
            }
            "header" => ExpressionKind::Name(self.word("a value")?),
            "session" if self.tokens[self.at + 1].is("(") => {
                ExpressionKind::Name(self.word("a value")?)
            }
            "find" => {
                self.take();
                self.found()?
            }
            "create" => {
                self.take();
                ExpressionKind::Create(self.instance_key()?)
            }
            "new" => {
                self.take();
                let name = self.name("`message`")?;
                let arguments = if self.is_at("(") {
                    self.arguments()?
                } else {
                    Vec::new()
                };
                ExpressionKind::New { name, arguments }
            }
            "if" => self.nested(Self::if_value)?,
            _ if token.is_keyword() => {
                let title = format!("`{}` is a keyword, not a value", token.text);
                let label = "expected a value";
                let mistake = Diagnostic::error(Id::UnexpectedWord, title, token.span, label);
                return Err(self.report(match token.text {
                    "session" | "entity" if self.ahead(1).is(".") => mistake.help(format!(
                        "write only the name of the field, without `{}.`",
                        token.text
                    )),
                    "let" => mistake.help(
                        "write `if present x { … }`, in which `x` has a value, or `let x = … else \
                        …` before it",
                    ),
                    _ => mistake,
                }));
            }
            _ => ExpressionKind::Name(self.word("a value")?),
        })
    }

    /// `neighbour(next_hop)`, `neighbour by expiry`, or `session(port) by half_open`: the operand
    /// of `find`.
    fn found(&mut self) -> Parsed<ExpressionKind> {
        let key = if self.ahead(1).is("by") {
            let kind = self.instance_kind()?;
            let keys = Vec::new();
            InstanceKey { kind, keys }
        } else {
            self.instance_key()?
        };
        if !self.is_at("by") {
            return Ok(ExpressionKind::Find(key));
        }
        self.expect("by")?;
        let timer = self.path("a timer")?;
        Ok(ExpressionKind::FindByTimer { key, timer })
    }

    /// `neighbour(next_hop)`, `session(port, peer)`
    pub(super) fn instance_key(&mut self) -> Parsed<InstanceKey> {
        let kind = self.instance_kind()?;
        Ok(InstanceKey {
            kind,
            keys: self.arguments()?,
        })
    }

    /// `session`, or the name of a child.
    fn instance_kind(&mut self) -> Parsed<Name> {
        if self.is_at("session") {
            self.word("session")
        } else {
            self.name("`session` or a child")
        }
    }

    fn if_value(&mut self) -> Parsed<ExpressionKind> {
        self.expect("if")?;
        let condition = Box::new(self.condition()?);
        let likely = self.likely()?;
        let then = Box::new(self.braced_value()?);
        self.expect("else")?;
        let start = self.at;
        let otherwise = if self.is_at("if") {
            let kind = self.nested(Self::if_value)?;
            Box::new(Expression {
                kind,
                span: self.span_from(start),
            })
        } else {
            Box::new(self.braced_value()?)
        };
        Ok(ExpressionKind::If {
            condition,
            likely,
            then,
            otherwise,
        })
    }

    /// `{ value }`
    pub(super) fn braced_value(&mut self) -> Parsed<Expression> {
        self.expect("{")?;
        let value = self.expression()?;
        self.expect("}")?;
        Ok(value)
    }

    fn number(&mut self) -> Parsed<ExpressionKind> {
        let token = self.take();
        let digits = token.text.replace('_', "");
        if digits.len() > 1 && digits.starts_with('0') && digits.as_bytes()[1].is_ascii_digit() {
            return Err(self.bad_number(token));
        }
        let number = match digits.get(..2) {
            Some("0x") => u64::from_str_radix(&digits[2..], 16),
            Some("0b") => u64::from_str_radix(&digits[2..], 2),
            Some(_) | None => digits.parse(),
        };
        let Ok(number) = number else {
            return Err(self.bad_number(token));
        };
        let unit_ns = match self.token() {
            unit if unit.kind != TokenKind::Word => None,
            unit => unit_ns(unit.text),
        };
        let Some(unit_ns) = unit_ns else {
            return Ok(ExpressionKind::Number(number));
        };
        let unit = self.take();
        match number.checked_mul(unit_ns) {
            Some(duration_ns) => Ok(ExpressionKind::Duration(duration_ns)),
            None => {
                let span = token.span.to(unit.span);
                let title = "this duration is too long";
                Err(
                    self.report(Diagnostic::error(Id::BadNumber, title, span, "").why(
                        "Durations are 64-bit numbers of nanoseconds, so the longest has 584 \
                            years.",
                    )),
                )
            }
        }
    }

    fn bad_number(&mut self, token: Token) -> super::Reported {
        let text = token.text;
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let (title, help) = if unit_ns(&text[digits.len()..]).is_some() {
            let help = format!("write `{digits} {}`", &text[digits.len()..]);
            (
                "a number and its unit need a space between them".to_owned(),
                help,
            )
        } else if text.contains('.') {
            (
                format!("`{text}` is not a whole number"),
                "all values are whole numbers, and so are addresses: `0x0a000001` is 10.0.0.1"
                    .to_owned(),
            )
        } else if let Some(rest) = text
            .strip_prefix('0')
            .filter(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
        {
            (
                format!("`{text}` looks like an octal number, and Loom has none"),
                match rest.trim_start_matches('0') {
                    "" => "write `0`; an address is a single number, such as `0x001122334455`"
                        .to_owned(),
                    digits => format!("write `{digits}`"),
                },
            )
        } else if text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'_')
        {
            (
                format!("`{text}` does not fit into 64 bits"),
                "use a smaller number".to_owned(),
            )
        } else {
            let help = "write `1_500`, `0xffff` or `0b0101`, in at most 64 bits";
            (format!("`{text}` is not a number"), help.to_owned())
        };
        self.report(Diagnostic::error(Id::BadNumber, title, token.span, "").help(help))
    }
}

fn unit_ns(unit: &str) -> Option<u64> {
    Some(match unit {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

fn binary(token: Token) -> Option<(BinaryOperator, Strength)> {
    if !matches!(token.kind, TokenKind::Sign | TokenKind::Word) {
        return None;
    }
    Some(match token.text {
        "or" => (BinaryOperator::Or, Strength::Or),
        "and" => (BinaryOperator::And, Strength::And),
        "==" => (BinaryOperator::Equal, Strength::Compare),
        "!=" => (BinaryOperator::Unequal, Strength::Compare),
        "<" => (BinaryOperator::Less, Strength::Compare),
        "<=" => (BinaryOperator::LessOrEqual, Strength::Compare),
        ">" => (BinaryOperator::Greater, Strength::Compare),
        ">=" => (BinaryOperator::GreaterOrEqual, Strength::Compare),
        "|" => (BinaryOperator::BitOr, Strength::BitOr),
        "^" => (BinaryOperator::BitXor, Strength::BitXor),
        "&" => (BinaryOperator::BitAnd, Strength::BitAnd),
        "<<" => (BinaryOperator::ShiftLeft, Strength::Shift),
        ">>" => (BinaryOperator::ShiftRight, Strength::Shift),
        "+" => (BinaryOperator::Add, Strength::Add),
        "-" => (BinaryOperator::Subtract, Strength::Add),
        "*" => (BinaryOperator::Multiply, Strength::Multiply),
        "/" => (BinaryOperator::Divide, Strength::Multiply),
        "%" => (BinaryOperator::Remainder, Strength::Multiply),
        _ => return None,
    })
}

/// The operators that the right side of one of this strength may hold without parentheses.
fn stronger(strength: Strength) -> Strength {
    match strength {
        Strength::Or => Strength::And,
        Strength::And => Strength::Not,
        Strength::Not => Strength::Compare,
        Strength::Compare => Strength::BitOr,
        Strength::BitOr => Strength::BitXor,
        Strength::BitXor => Strength::BitAnd,
        Strength::BitAnd => Strength::Shift,
        Strength::Shift => Strength::Add,
        Strength::Add => Strength::Multiply,
        Strength::Multiply | Strength::Unary => Strength::Unary,
    }
}
