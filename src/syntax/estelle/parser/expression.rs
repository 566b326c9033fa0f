//! Expressions, and references to modules and interaction points.

use super::types::{no_files, no_pointers};
use super::{NESTING_LIMIT, Parsed, Parser, Reported};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::estelle::ast::{
    BinaryOperator as Binary, Expression, ExpressionKind as Kind, ModuleReference, Name,
    PointReference, UnaryOperator as Unary,
};
use crate::syntax::estelle::token::{Token, TokenKind};

/// Operators that compare; there is at most one of them in a row.
const RELATIONS: &[(&str, Binary)] = &[
    ("=", Binary::Equal),
    ("<>", Binary::Unequal),
    ("<", Binary::Less),
    ("<=", Binary::LessOrEqual),
    (">", Binary::Greater),
    (">=", Binary::GreaterOrEqual),
    ("in", Binary::In),
];

/// Operators that add.
const SUMS: &[(&str, Binary)] = &[
    ("+", Binary::Add),
    ("-", Binary::Subtract),
    ("or", Binary::Or),
];

/// Operators that multiply.
const PRODUCTS: &[(&str, Binary)] = &[
    ("*", Binary::Multiply),
    ("/", Binary::Divide),
    ("div", Binary::Div),
    ("mod", Binary::Mod),
    ("and", Binary::And),
];

/// Predefined procedures of files.
const FILE_PROCEDURES: [&str; 8] = [
    "read", "readln", "write", "writeln", "reset", "rewrite", "get", "put",
];

/// Predefined procedures of pointers.
const POINTER_PROCEDURES: [&str; 2] = ["new", "dispose"];

impl Parser<'_> {
    /// Reads an expression.
    pub(super) fn expression(&mut self) -> Parsed<Expression> {
        self.nested(|parser| {
            let left = parser.sum()?;
            let Some(operator) = parser.operator(RELATIONS) else {
                return Ok(left);
            };
            let height = parser.height;
            let right = parser.sum()?;
            if parser.operator_of(RELATIONS).is_some() {
                return Err(parser.chained());
            }
            parser.binary(operator, left, height, right)
        })
    }

    /// Reports a comparison behind a comparison.
    fn chained(&mut self) -> Reported {
        let token = self.token();
        let title = "comparisons cannot be chained";
        let label = "a second comparison";
        let found = Diagnostic::error(Id::ChainedComparison, title, token.span, label).help(
            "write `(a < b) and (b < c)`; in Pascal `and` and `or` bind more strongly than \
             comparisons, so parentheses are needed around these",
        );
        self.report(found)
    }

    /// Reads terms with `+`, `-` or `or` between them, perhaps with a sign before the first.
    fn sum(&mut self) -> Parsed<Expression> {
        let sign = self.is_at_any(&["+", "-"]).then(|| self.take());
        let mut left = self.product()?;
        if let Some(sign) = sign {
            left = self.signed(sign, left);
            self.grow()?;
        }
        while let Some(operator) = self.operator(SUMS) {
            let height = self.height;
            let right = self.product()?;
            left = self.binary(operator, left, height, right)?;
        }
        Ok(left)
    }

    /// Reads factors with `*`, `/`, `div`, `mod` or `and` between them.
    fn product(&mut self) -> Parsed<Expression> {
        let mut left = self.factor()?;
        while let Some(operator) = self.operator(PRODUCTS) {
            let height = self.height;
            let right = self.factor()?;
            left = self.binary(operator, left, height, right)?;
        }
        Ok(left)
    }

    fn operator_of(&self, operators: &[(&str, Binary)]) -> Option<Binary> {
        let found = operators.iter().find(|(sign, _)| self.is_at(sign));
        found.map(|(_, operator)| *operator)
    }

    fn operator(&mut self, operators: &[(&str, Binary)]) -> Option<Binary> {
        let operator = self.operator_of(operators)?;
        self.take();
        Some(operator)
    }

    fn binary(
        &mut self,
        operator: Binary,
        left: Expression,
        left_height: usize,
        right: Expression,
    ) -> Parsed<Expression> {
        self.height = self.height.max(left_height);
        self.grow()?;
        let span = left.span.to(right.span);
        let kind = Kind::Binary(operator, Box::new(left), Box::new(right));
        Ok(Expression { kind, span })
    }

    /// Makes a signed operand.
    pub(super) fn signed(&self, sign: Token<'_>, operand: Expression) -> Expression {
        let operator = match sign.word {
            "-" => Unary::Minus,
            _ => Unary::Plus,
        };
        Expression {
            span: sign.span.to(operand.span),
            kind: Kind::Unary(operator, Box::new(operand)),
        }
    }

    /// Counts one level more of the expression that was read last.
    fn grow(&mut self) -> Parsed<()> {
        self.height += 1;
        match self.height > NESTING_LIMIT {
            true => Err(self.too_deep(self.previous())),
            false => Ok(()),
        }
    }

    fn factor(&mut self) -> Parsed<Expression> {
        let start = self.token();
        self.height = 0;
        let kind = match (start.kind, start.word) {
            (TokenKind::Name, _) => return self.variable_or_call(),
            (TokenKind::Integer | TokenKind::Real | TokenKind::Text, _) => {
                return Ok(self.literal_or_name());
            }
            (_, "not") => {
                self.take();
                let operand = self.nested(Self::factor)?;
                self.grow()?;
                Kind::Unary(Unary::Not, Box::new(operand))
            }
            (_, "(") => {
                self.take();
                let inner = self.expression()?;
                self.closing(start.span, ")")?;
                return Ok(inner);
            }
            (_, "[") => self.set()?,
            (_, "exist") => {
                self.take();
                let domain = self.domain()?;
                self.expect("suchthat")?;
                let condition = self.expression()?;
                self.grow()?;
                Kind::Exist(domain, Box::new(condition))
            }
            (_, "nil" | "^") => {
                let found = no_pointers("Estelle here has no pointers".to_string(), start.span);
                return Err(self.report(found));
            }
            _ => return Err(self.unexpected("an expression")),
        };
        let span = self.since(start.span);
        Ok(Expression { kind, span })
    }

    /// Reads a closing bracket; if it is missing, the opening one is pointed at.
    fn closing(&mut self, open: Span, word: &str) -> Parsed<()> {
        if self.accept(word) {
            return Ok(());
        }
        let reported = self.unexpected(&format!("`{word}` or an operator"));
        if let Some(last) = self.diagnostics.last_mut()
            && last.id == Id::UnexpectedWord
            && last.labels.is_empty()
        {
            *last = last.clone().label(open, "opened here");
        }
        Err(reported)
    }

    /// Reads a number, a string or a name.
    pub(super) fn literal_or_name(&mut self) -> Expression {
        let token = self.take();
        let kind = match token.kind {
            // Numbers that are too large have been reported.
            TokenKind::Integer => Kind::Integer(token.text.parse().unwrap_or_default()),
            TokenKind::Real => Kind::Real(token.text.parse().unwrap_or_default()),
            TokenKind::Text => Kind::Text(content(token.text)),
            TokenKind::Name | TokenKind::Keyword | TokenKind::Sign | TokenKind::End => {
                Kind::Name(Name {
                    text: token.text.to_string(),
                    span: token.span,
                })
            }
        };
        let span = token.span;
        Expression { kind, span }
    }

    /// Reads `[1, 3..5]`.
    fn set(&mut self) -> Parsed<Kind> {
        let open = self.take().span;
        let mut elements = Vec::new();
        let mut height = 0;
        while !self.is_at("]") {
            let first = self.expression()?;
            height = height.max(self.height);
            let last = match self.accept("..") {
                true => Some(self.expression()?),
                false => None,
            };
            height = height.max(self.height);
            elements.push((first, last));
            if !self.accept(",") {
                break;
            }
        }
        self.closing(open, "]")?;
        self.height = height;
        self.grow()?;
        Ok(Kind::Set(elements))
    }

    fn variable_or_call(&mut self) -> Parsed<Expression> {
        let name = self.name("a name")?;
        if !self.is_at("(") {
            return self.selected(name);
        }
        let start = name.span;
        let arguments = self.arguments(&name)?;
        self.grow()?;
        let kind = Kind::Call(name, arguments);
        let span = self.since(start);
        Ok(Expression { kind, span })
    }

    /// Reads what selects a part of a variable: `[i, j]` and `.f`.
    pub(super) fn selected(&mut self, name: Name) -> Parsed<Expression> {
        let start = name.span;
        let mut kind = Kind::Name(name);
        let mut span = start;
        let mut height = 0;
        loop {
            let whole = Box::new(Expression { kind, span });
            kind = match self.token().word {
                "[" => {
                    let indices = self.in_brackets()?;
                    height = self.height.max(height);
                    Kind::Index(whole, indices)
                }
                "." => {
                    self.take();
                    Kind::Field(whole, self.name("the name of a field")?)
                }
                "^" => {
                    self.refuse_pointer();
                    self.take();
                    whole.kind
                }
                _ => {
                    self.height = height;
                    return Ok(*whole);
                }
            };
            span = self.since(start);
            self.height = height;
            self.grow()?;
            height = self.height;
        }
    }

    /// Reads `[i, j]`.
    fn in_brackets(&mut self) -> Parsed<Vec<Expression>> {
        let open = self.take().span;
        let all = self.expressions()?;
        self.closing(open, "]")?;
        Ok(all)
    }

    /// Reads expressions with commas between them.
    pub(super) fn expressions(&mut self) -> Parsed<Vec<Expression>> {
        let mut height = 0;
        let mut all = Vec::new();
        loop {
            all.push(self.expression()?);
            height = height.max(self.height);
            if !self.accept(",") {
                self.height = height;
                return Ok(all);
            }
        }
    }

    /// Reads `(a, b)` behind the name of a routine, or nothing.
    pub(super) fn arguments(&mut self, name: &Name) -> Parsed<Vec<Expression>> {
        if self.refuse_predefined(name) {
            self.skip_arguments();
            return Ok(Vec::new());
        }
        self.in_parentheses()
    }

    /// Reads `(a, b)`, or nothing.
    pub(super) fn in_parentheses(&mut self) -> Parsed<Vec<Expression>> {
        self.height = 0;
        if !self.is_at("(") {
            return Ok(Vec::new());
        }
        let open = self.take().span;
        if self.is_at(")") {
            let expected = "an argument";
            let help = "write no parentheses if there are no arguments";
            return Err(self.unexpected_with(expected, Some(help.to_string())));
        }
        let all = self.expressions()?;
        self.closing(open, ")")?;
        Ok(all)
    }

    /// Refuses procedures of files and pointers, unless the program declares one of that name.
    fn refuse_predefined(&mut self, name: &Name) -> bool {
        let key = name.key();
        let title = format!("`{}` is not available", name.text);
        let found = match key.as_str() {
            word if FILE_PROCEDURES.contains(&word) => no_files(title, name.span),
            word if POINTER_PROCEDURES.contains(&word) => no_pointers(title, name.span),
            _ => return false,
        };
        let is_formatted = matches!(key.as_str(), "write" | "writeln");
        self.refusals.push((key, found));
        is_formatted && self.is_at("(")
    }

    /// Skips the arguments of `write`, which may have widths: `(x: 5, y: 8: 2)`.
    fn skip_arguments(&mut self) {
        let mut depth = 0_usize;
        while !self.is_at_any(&[";", "end", "until", "else"]) && !self.is_at_end() {
            match self.take().word {
                "(" => depth += 1,
                ")" if depth <= 1 => return,
                ")" => depth -= 1,
                _ => {}
            }
        }
    }

    // References.

    /// Reads `m` or `m[i]`.
    pub(super) fn module_reference(&mut self) -> Parsed<ModuleReference> {
        self.module_or_point("the name of a module variable")
    }

    pub(super) fn optional_indices(&mut self) -> Parsed<Vec<Expression>> {
        match self.is_at("[") {
            true => self.in_brackets(),
            false => Ok(Vec::new()),
        }
    }

    /// Reads `p`, `p[i]`, `m.p` or `m[i].p[j]`.
    pub(super) fn point_reference(&mut self) -> Parsed<PointReference> {
        let first = self.module_or_point("the name of an interaction point or a module")?;
        if !self.accept(".") {
            return Ok(as_point(None, first));
        }
        let second = self.module_or_point("the name of an interaction point")?;
        Ok(as_point(Some(first), second))
    }

    /// Reads `p.DATA` or `m.p[i].DATA`: an interaction point, and an interaction.
    pub(super) fn point_and_interaction(&mut self) -> Parsed<(PointReference, Name)> {
        let first = self.module_or_point("the name of an interaction point")?;
        if !self.is_at(".") {
            let help = "write `output POINT.INTERACTION`, perhaps with arguments".to_string();
            return Err(self.unexpected_with("`.` and an interaction", Some(help)));
        }
        self.take();
        let second = self.module_or_point("the name of an interaction")?;
        if second.indices.is_empty() && !self.is_at(".") {
            return Ok((as_point(None, first), second.name));
        }
        self.expect(".")?;
        let interaction = self.name("the name of an interaction")?;
        Ok((as_point(Some(first), second), interaction))
    }

    /// Reads a name, perhaps with indices.
    fn module_or_point(&mut self, what: &str) -> Parsed<ModuleReference> {
        let name = self.name(what)?;
        let start = name.span;
        let indices = self.optional_indices()?;
        let span = self.since(start);
        Ok(ModuleReference {
            name,
            indices,
            span,
        })
    }
}

fn as_point(module: Option<ModuleReference>, point: ModuleReference) -> PointReference {
    let start = module.as_ref().map_or(point.span, |module| module.span);
    PointReference {
        span: start.to(point.span),
        module,
        name: point.name,
        indices: point.indices,
    }
}

/// Returns the characters of a string between its quotes, with `''` as `'`.
fn content(text: &str) -> String {
    let inside = text.strip_prefix('\'').unwrap_or(text);
    let inside = inside.strip_suffix('\'').unwrap_or(inside);
    inside.replace("''", "'")
}
