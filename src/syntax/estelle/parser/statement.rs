//! Statements.

use super::{Parsed, Parser, Reported};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::estelle::ast::{Expression, Statement, StatementKind as Kind};
use crate::syntax::estelle::token::TokenKind;

/// Words behind which a list of statements may go on.
const GOES_ON: &[&str] = &[
    "end",
    "until",
    "begin",
    "if",
    "case",
    "while",
    "repeat",
    "for",
    "with",
    "init",
    "release",
    "terminate",
    "connect",
    "disconnect",
    "attach",
    "detach",
    "output",
    "all",
    "forone",
];

/// Words that stand in no statement: a mistake of statements ends here at the latest.
const BEYOND: &[&str] = &[
    "trans",
    "initialize",
    "module",
    "body",
    "channel",
    "from",
    "when",
    "provided",
    "priority",
    "delay",
    "modvar",
    "state",
    "stateset",
    "procedure",
    "function",
    "specification",
];

impl Parser<'_> {
    /// Reads statements with `;` between them, up to `end` or `until`. Mistakes are reported, and
    /// the list goes on behind them.
    pub(super) fn statements(&mut self) -> Vec<Statement> {
        let mut all = Vec::new();
        let indentation = self.lines.indentation;
        loop {
            if self.is_at_end() || self.is_at_any(BEYOND) {
                return all;
            }
            self.lines.indentation = indentation;
            let begin = self.at;
            let has_failed = match self.statement_on_line() {
                Ok(statement) => {
                    all.push(statement);
                    false
                }
                Err(Reported) => {
                    self.skip_statement(begin);
                    true
                }
            };
            if self.accept(";") {
                continue;
            }
            match self.token().word {
                "end" | "until" => return all,
                "else" => self.stray_else(),
                _ if self.is_at_end() || self.is_at_any(BEYOND) => return all,
                _ if self.begins_statement() && self.at > begin => {
                    if !has_failed {
                        self.missing_semicolon();
                    }
                }
                _ => {
                    let expected = if self.at == begin {
                        "a statement"
                    } else {
                        "`;` or `end`"
                    };
                    self.unexpected(expected);
                    let begin = self.at;
                    self.skip_statement(begin);
                    self.accept(";");
                }
            }
        }
    }

    /// Goes on at the end of a statement with a mistake.
    fn skip_statement(&mut self, begin: usize) {
        let words = [";", "else", "end", "until"];
        if self.at == begin {
            // A statement that is too deep is skipped whole.
            if !self.is_at_any(&["begin", "case", ";", "else", "end", "until"]) {
                self.take();
            }
            let stops: Vec<&str> = BEYOND.iter().copied().chain(words).collect();
            self.skip_to(&stops);
            return;
        }
        let stops: Vec<&str> = GOES_ON.iter().chain(BEYOND).copied().chain(words).collect();
        self.skip_to(&stops);
    }

    /// Reports an `else` behind a `;`.
    fn stray_else(&mut self) {
        let span = self.take().span;
        let before = self.tokens[self.at.saturating_sub(2)];
        let mut found = Diagnostic::error(
            Id::UnexpectedWord,
            "this `else` has no `if`",
            span,
            "no `if`",
        );
        found = match before.word {
            ";" => found
                .label(before.span, "this ends the statement `if`")
                .help("remove the `;` in front of `else`"),
            _ => found.help("write `if … then … else …`"),
        };
        self.report(found);
    }

    fn begins_statement(&self) -> bool {
        self.is_at_name() || (self.is_at_any(GOES_ON) && !self.is_at_any(&["end", "until"]))
    }

    /// Reads a statement that begins a line, if it is not empty.
    fn statement_on_line(&mut self) -> Parsed<Statement> {
        if !self.is_at_any(&[";", "end", "until"]) {
            self.lines.begin(self.at);
        }
        self.statement()
    }

    /// Reads the statement that another one contains: on a line of its own unless it is a
    /// compound statement, or one that may follow on the same line because it has one line.
    fn inner(&mut self, may_join: bool) -> Parsed<Box<Statement>> {
        if self.is_at("begin") || self.is_at_any(&[";", "end", "until", "else"]) {
            return Ok(Box::new(self.statement()?));
        }
        self.lines.indentation += 1;
        let (begin, lines) = (self.at, self.lines.count());
        self.lines.begin(begin);
        let statement = self.statement();
        self.lines.indentation -= 1;
        if may_join && self.lines.count() == lines + 1 {
            self.lines.join(begin);
        }
        Ok(Box::new(statement?))
    }

    fn statement(&mut self) -> Parsed<Statement> {
        self.nested(|parser| {
            let start = parser.token().span;
            let kind = parser.statement_kind()?;
            let span = match matches!(kind, Kind::Empty) {
                true => start.before(),
                false => parser.since(start),
            };
            Ok(Statement { kind, span })
        })
    }

    fn statement_kind(&mut self) -> Parsed<Kind> {
        while self.token().kind == TokenKind::Integer && self.next().word == ":" {
            self.refuse_label();
            self.take();
            self.take();
        }
        let token = self.token();
        match token.kind {
            TokenKind::Name => return self.assignment_or_call(),
            TokenKind::Keyword
            | TokenKind::Integer
            | TokenKind::Real
            | TokenKind::Text
            | TokenKind::Sign
            | TokenKind::End => {}
        }
        match token.word {
            ";" | "end" | "until" | "else" | "otherwise" => return Ok(Kind::Empty),
            "begin" | "if" | "case" | "while" | "repeat" | "for" | "with" => {}
            "goto" | "label" => return Err(self.refuse_label()),
            _ => return self.estelle_statement(),
        }
        self.take();
        match token.word {
            "begin" => self.compound(token.span).map(Kind::Compound),
            "if" => self.conditional(),
            "case" => self.case(token.span),
            "while" => {
                let condition = self.expression()?;
                self.expect("do")?;
                Ok(Kind::While(condition, self.inner(true)?))
            }
            "repeat" => self.repeat(),
            "for" => self.counted(),
            _ => {
                let records = self.listed(|parser| {
                    let name = parser.name("a record")?;
                    parser.selected(name)
                })?;
                self.expect("do")?;
                Ok(Kind::With(records, self.inner(true)?))
            }
        }
    }

    /// Reads the statements that only Estelle has.
    fn estelle_statement(&mut self) -> Parsed<Kind> {
        let word = self.token().word;
        match word {
            "init" | "release" | "terminate" | "connect" | "disconnect" | "attach" | "detach"
            | "output" | "all" | "forone" => self.take(),
            _ => return Err(self.unexpected("a statement")),
        };
        match word {
            "init" => {
                let module = self.module_reference()?;
                self.expect("with")?;
                let body = self.name("the name of a body")?;
                let arguments = self.in_parentheses()?;
                Ok(Kind::Init(module, body, arguments))
            }
            "release" => Ok(Kind::Release(self.module_reference()?)),
            "terminate" => Ok(Kind::Terminate(self.module_reference()?)),
            "connect" | "attach" => {
                let first = self.point_reference()?;
                self.expect("to")?;
                let second = self.point_reference()?;
                Ok(match word {
                    "connect" => Kind::Connect(first, second),
                    _ => Kind::Attach(first, second),
                })
            }
            "disconnect" => Ok(Kind::Disconnect(self.point_reference()?)),
            "detach" => Ok(Kind::Detach(self.point_reference()?)),
            "output" => {
                let (point, interaction) = self.point_and_interaction()?;
                let arguments = self.in_parentheses()?;
                Ok(Kind::Output(point, interaction, arguments))
            }
            "all" => {
                let domain = self.domain()?;
                self.expect("do")?;
                Ok(Kind::All(domain, self.inner(true)?))
            }
            _ => self.for_one(),
        }
    }

    fn for_one(&mut self) -> Parsed<Kind> {
        let domain = self.domain()?;
        self.expect("suchthat")?;
        let condition = self.expression()?;
        self.expect("do")?;
        let (first, lines) = (self.at, self.lines.count());
        let body = self.inner(false)?;
        let otherwise = match self.is_at("otherwise") {
            true => {
                self.lines.begin(self.at);
                self.take();
                Some(self.inner(false)?)
            }
            false => None,
        };
        if otherwise.is_none() && self.lines.count() == lines + 1 {
            self.lines.join(first);
        }
        Ok(Kind::ForOne {
            domain,
            condition,
            body,
            otherwise,
        })
    }

    /// Reads what follows `begin`, up to its `end`.
    pub(super) fn compound(&mut self, open: Span) -> Parsed<Vec<Statement>> {
        let begin = self.at;
        self.lines.indentation += 1;
        let indentation = self.lines.indentation;
        let statements = self.statements();
        self.lines.indentation = indentation - 1;
        if self.at > begin {
            self.lines.begin(self.at);
        }
        self.expect_end(open, "begin")?;
        Ok(statements)
    }

    fn conditional(&mut self) -> Parsed<Kind> {
        let condition = self.expression()?;
        self.expect("then")?;
        let (first, lines) = (self.at, self.lines.count());
        let then = self.inner(false)?;
        if !self.is_at("else") {
            if self.lines.count() == lines + 1 {
                self.lines.join(first);
            }
            return Ok(Kind::If(condition, then, None));
        }
        // `end else` stands on one line.
        if self.tokens[self.at - 1].word != "end" || self.lines.count() == lines {
            self.lines.begin(self.at);
        }
        self.take();
        let otherwise = match self.is_at("if") {
            true => Box::new(self.statement()?),
            false => self.inner(false)?,
        };
        Ok(Kind::If(condition, then, Some(otherwise)))
    }

    fn case(&mut self, open: Span) -> Parsed<Kind> {
        let value = self.expression()?;
        self.expect("of")?;
        let mut cases = Vec::new();
        self.lines.indentation += 1;
        let indentation = self.lines.indentation;
        while !self.is_at("end") && !self.is_at_end() && !self.is_at_any(BEYOND) {
            self.lines.indentation = indentation;
            if self.is_at_any(&["else", "otherwise"]) {
                self.refuse_otherwise();
                break;
            }
            self.lines.begin(self.at);
            match self.one_case() {
                Ok(case) => cases.push(case),
                Err(Reported) => {
                    let stops: Vec<&str> = BEYOND.iter().copied().chain(["end"]).collect();
                    self.skip_behind_semicolon(&stops);
                }
            }
        }
        self.lines.indentation = indentation - 1;
        self.lines.begin(self.at);
        self.expect_end(open, "case")?;
        Ok(Kind::Case(value, cases))
    }

    /// Reads `1, 2: …;`
    fn one_case(&mut self) -> Parsed<(Vec<Expression>, Statement)> {
        let labels = self.listed(Parser::constant)?;
        self.expect(":")?;
        let statement = self.inner(true)?;
        if !self.accept(";") && !self.is_at("end") {
            return Err(self.unexpected("`;` or `end`"));
        }
        Ok((labels, *statement))
    }

    /// Refuses `else` in `case`, which ISO 7185 does not have.
    fn refuse_otherwise(&mut self) {
        let token = self.take();
        let title = format!("`case` has no `{}`", token.word);
        let found = Diagnostic::error(Id::UnexpectedWord, title, token.span, "not in Pascal");
        self.report(
            found.help(
                "list the other values, or ask before: `if x in [1, 2] then case … end else …`",
            ),
        );
        self.accept(":");
        self.statements();
    }

    fn repeat(&mut self) -> Parsed<Kind> {
        self.lines.indentation += 1;
        let indentation = self.lines.indentation;
        let statements = self.statements();
        self.lines.indentation = indentation - 1;
        self.lines.begin(self.at);
        self.expect("until")?;
        Ok(Kind::Repeat(statements, self.expression()?))
    }

    fn counted(&mut self) -> Parsed<Kind> {
        let variable = self.name("the control variable")?;
        self.expect(":=")?;
        let from = self.expression()?;
        let is_down = self.is_at("downto");
        if !is_down && !self.is_at("to") {
            return Err(self.unexpected("`to` or `downto`"));
        }
        self.take();
        let to = self.expression()?;
        self.expect("do")?;
        let body = self.inner(true)?;
        Ok(Kind::For {
            variable,
            from,
            to,
            is_down,
            body,
        })
    }

    fn assignment_or_call(&mut self) -> Parsed<Kind> {
        let name = self.name("a name")?;
        if self.is_at("(") || self.ends_statement() {
            let arguments = self.arguments(&name)?;
            return Ok(Kind::Call(name, arguments));
        }
        let place = self.selected(name)?;
        if self.is_at("=") {
            let found = Diagnostic::error(
                Id::UnexpectedWord,
                "`=` does not assign",
                self.token().span,
                "expected `:=`",
            );
            self.report(found.help("write `:=` to assign; `=` compares"));
            while self.accept("=") {}
            return Ok(Kind::Assign(place, self.expression()?));
        }
        if !self.is_at(":=") {
            return Err(self.unexpected("`:=`"));
        }
        self.take();
        Ok(Kind::Assign(place, self.expression()?))
    }

    fn ends_statement(&self) -> bool {
        let begins_next = self.token().begins_line && self.begins_statement();
        begins_next || self.is_at_any(&[";", "end", "until", "else", "otherwise"])
    }

    /// Reports `goto` or a label.
    pub(super) fn refuse_label(&mut self) -> Reported {
        let token = self.token();
        let title = match token.word {
            "goto" => "Estelle here has no `goto`",
            _ => "Estelle here has no labels",
        };
        let found = Diagnostic::error(Id::EstelleGoto, title, token.span, "not available")
            .why("Control flow is nested, so that each block has one way in and one way out.")
            .help("use `while`, `repeat`, `if` or a procedure");
        self.report(found)
    }
}
