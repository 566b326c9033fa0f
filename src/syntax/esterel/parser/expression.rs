//! Expressions, what is asked of signals, and delays.

use super::{Parsed, Parser, is};
use crate::diagnostic::Id;
use crate::source::Span;
use crate::syntax::esterel::ast::{
    Binary, Delay, Expression, ExpressionKind as Kind, Name, Presence, Unary,
};
use crate::syntax::esterel::token::{Token, TokenKind};

/// Operators of two operands, the weakest first; those of a line are equally strong.
const OPERATORS: [&[(&str, Binary)]; 5] = [
    &[("or", Binary::Or)],
    &[("and", Binary::And)],
    &[
        ("=", Binary::Equal),
        ("<>", Binary::Unequal),
        ("<", Binary::Less),
        ("<=", Binary::AtMost),
        (">", Binary::Greater),
        (">=", Binary::AtLeast),
    ],
    &[("+", Binary::Add), ("-", Binary::Subtract)],
    &[
        ("*", Binary::Multiply),
        ("/", Binary::Divide),
        ("mod", Binary::Modulo),
    ],
];

/// How many operators may stand in the expressions of one statement.
const OPERATOR_LIMIT: usize = 500;

/// Where `not` stands: above `and`, below comparisons.
const NOT: usize = 2;

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parsed<Expression> {
        self.operators(0)
    }

    /// An expression of operators that are at least so strong.
    fn operators(&mut self, strength: usize) -> Parsed<Expression> {
        if strength == NOT && self.is_at("not") {
            return self.nested(|parser| {
                let start = parser.take().span;
                let operand = parser.operators(NOT)?;
                Ok(parser.made(Kind::Unary(Unary::Not, operand), start))
            });
        }
        let Some(level) = OPERATORS.get(strength) else {
            return self.operand();
        };
        let start = self.token().span;
        let mut left = self.operators(strength + 1)?;
        let mut is_first = true;
        while let Some((_, operator)) = level.iter().find(|(sign, _)| self.is_at(sign)) {
            let sign = self.take().span;
            self.one_operator_more(sign)?;
            if strength == NOT && !is_first {
                let title = "comparisons cannot be chained".to_string();
                return Err(self.report(Id::ChainedComparison, title, sign, "a second comparison"));
            }
            let right = self.operators(strength + 1)?;
            left = self.made(Kind::Binary(*operator, left, right), start);
            is_first = false;
        }
        Ok(left)
    }

    /// Each operator of a row stands deeper than the one before it.
    fn one_operator_more(&mut self, span: Span) -> Parsed<()> {
        if self.operators == OPERATOR_LIMIT {
            let title = format!("a statement has more than {OPERATOR_LIMIT} operators");
            return Err(self.report(Id::NestedTooDeeply, title, span, "too many"));
        }
        self.operators += 1;
        Ok(())
    }

    /// A value behind which a `/` means something else.
    pub(super) fn before_slash(&mut self) -> Parsed<Expression> {
        self.operand()
    }

    fn operand(&mut self) -> Parsed<Expression> {
        self.nested(Parser::one_operand)
    }

    fn one_operand(&mut self) -> Parsed<Expression> {
        let token = self.token();
        let start = token.span;
        match token.kind {
            TokenKind::Integer => {
                self.take();
                match token.text.parse() {
                    Ok(number) if number <= 1 << 31 => Ok(self.made(Kind::Integer(number), start)),
                    _ => {
                        let title = format!("`{}` does not fit into 32 bits", token.text);
                        Err(self.report(Id::BadNumber, title, start, "too large"))
                    }
                }
            }
            TokenKind::Real => {
                self.take();
                Ok(self.made(Kind::Real(token.text.to_string()), start))
            }
            TokenKind::Text => {
                self.take();
                let inner = token.text.strip_prefix('"').unwrap_or_default();
                let inner = inner.strip_suffix('"').unwrap_or(inner);
                Ok(self.made(Kind::Text(inner.replace("\"\"", "\"")), start))
            }
            TokenKind::Name => self.named(),
            TokenKind::Keyword => self.with_word(),
            TokenKind::Sign => self.with_sign(),
            TokenKind::End => Err(self.unexpected("a value")),
        }
    }

    fn named(&mut self) -> Parsed<Expression> {
        let name = self.name("a name")?;
        let start = name.span;
        if self.is_at("(") {
            let arguments = self.in_parentheses(Parser::expression)?;
            return Ok(self.made(Kind::Call(name, arguments), start));
        }
        Ok(self.made(Kind::Name(name), start))
    }

    fn with_word(&mut self) -> Parsed<Expression> {
        let start = self.token().span;
        if self.accept("true") {
            return Ok(self.made(Kind::Boolean(true), start));
        }
        if self.accept("false") {
            return Ok(self.made(Kind::Boolean(false), start));
        }
        if self.accept("not") {
            let operand = self.operators(NOT)?;
            return Ok(self.made(Kind::Unary(Unary::Not, operand), start));
        }
        if self.accept("pre") {
            self.expect("(")?;
            self.expect("?")?;
            let name = self.name("a signal")?;
            self.expect(")")?;
            return Ok(self.made(Kind::Before(name), start));
        }
        Err(self.unexpected("a value"))
    }

    fn with_sign(&mut self) -> Parsed<Expression> {
        let start = self.token().span;
        if self.accept("?") {
            let name = self.name("a signal")?;
            return Ok(self.made(Kind::Value(name), start));
        }
        if self.accept("??") {
            let name = self.name("a trap")?;
            return Ok(self.made(Kind::Exited(name), start));
        }
        if self.accept("(") {
            let mut inner = self.expression()?;
            self.expect(")")?;
            inner.span = self.since(start);
            return Ok(inner);
        }
        if self.accept("-") {
            let operand = self.operand()?;
            return Ok(self.made(Kind::Unary(Unary::Negate, operand), start));
        }
        if self.accept("+") {
            return self.operand();
        }
        Err(self.unexpected("a value"))
    }

    fn made(&self, kind: Kind, start: Span) -> Expression {
        Expression {
            kind: Box::new(kind),
            span: self.since(start),
        }
    }

    // What is asked of signals.

    pub(super) fn presence(&mut self) -> Parsed<Presence> {
        let mut left = self.presence_of_all()?;
        while self.accept("or") {
            self.one_operator_more(self.token().span)?;
            let right = self.presence_of_all()?;
            left = Presence::Or(Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn presence_of_all(&mut self) -> Parsed<Presence> {
        let mut left = self.presence_of_one()?;
        while self.accept("and") {
            self.one_operator_more(self.token().span)?;
            let right = self.presence_of_one()?;
            left = Presence::And(Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn presence_of_one(&mut self) -> Parsed<Presence> {
        self.nested(|parser| {
            if parser.accept("not") {
                return Ok(Presence::Not(Box::new(parser.presence_of_one()?)));
            }
            for (open, close) in [("(", ")"), ("[", "]")] {
                if parser.accept(open) {
                    let inner = parser.presence()?;
                    parser.expect(close)?;
                    return Ok(inner);
                }
            }
            if parser.accept("pre") {
                let parenthesis = parser.accept("(");
                let name = parser.name("a signal")?;
                if parenthesis {
                    parser.expect(")")?;
                }
                return Ok(Presence::Before(name));
            }
            Ok(Presence::Now(parser.name("a signal")?))
        })
    }

    // Delays.

    /// `S`, `[S and T]`, `3 S`, `immediate S`
    pub(super) fn delay(&mut self) -> Parsed<Delay> {
        let start = self.token().span;
        let immediate = self.accept("immediate");
        let count = match immediate || self.is_at("[") || self.is_plain() || self.is_before() {
            true => None,
            false => Some(self.expression()?),
        };
        let test = match self.is_at("[") || self.is_at("pre") {
            true => self.presence_of_one()?,
            false => Presence::Now(self.signal_of_delay()?),
        };
        Ok(Delay {
            count,
            immediate,
            test,
            span: self.since(start),
        })
    }

    fn signal_of_delay(&mut self) -> Parsed<Name> {
        if ["not", "("].iter().any(|word| self.is_at(word)) {
            return Err(self.unexpected("a signal, or an expression of signals in `[` and `]`"));
        }
        self.name("a signal, or an expression of signals in `[` and `]`")
    }

    /// Whether this is `pre S` or `pre(S)`, and not `pre(?S)`, which is a count.
    fn is_before(&self) -> bool {
        let inner = self.tokens.get(self.at + 2);
        let value = is(self.next(), "(") && inner.is_some_and(|token| is(*token, "?"));
        self.is_at("pre") && !value
    }

    /// Whether a delay is no more than a signal: what follows its name begins nothing.
    fn is_plain(&self) -> bool {
        let counts = |token: Token<'_>| {
            token.kind == TokenKind::Name
                || ["pre", "[", "(", "+", "-", "*", "/", "mod"]
                    .iter()
                    .any(|sign| is(token, sign))
        };
        self.token().kind == TokenKind::Name && !counts(self.next())
    }
}
