//! Tokens to tree: modules and what they declare.
//!
//! Each function reads one thing. One that fails has reported why; the list in which that thing
//! stands goes on behind it, so that one run points out every mistake.

mod expression;
mod statement;

use super::ast::{
    Declaration, Direction, Expression, File, Module, Name, SignalDeclaration, Statement,
    StatementKind, VariableDeclaration,
};
use super::lexer::lex;
use super::token::{Token, TokenKind};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::{FileId, Sources, Span};

/// How deep statements and expressions may nest.
const NESTING_LIMIT: usize = 200;

/// Words of statements that may stand behind their `end`.
const CLOSED: [&str; 13] = [
    "present", "if", "loop", "every", "repeat", "await", "abort", "weak", "timeout", "trap",
    "signal", "var", "exec",
];

/// How many mistakes of one file are told.
const MISTAKE_LIMIT: usize = 20;

/// Reads one file. The tree holds all that could be read; it is whole if there is no diagnostic.
pub fn parse(file: FileId, sources: &Sources) -> (File, Vec<Diagnostic>) {
    let (tokens, mut diagnostics) = lex(file, sources);
    let mut parser = Parser {
        tokens,
        at: 0,
        nesting: 0,
        operators: 0,
        diagnostics: Vec::new(),
    };
    let tree = parser.file();
    // A comment without an end hides the rest of the file, so nothing is said of the file's end.
    let is_cut = diagnostics
        .iter()
        .any(|one| one.id == Id::MissingBracket && one.primary.span.end == parser.last().end);
    let end = parser.last();
    let found = parser.diagnostics.into_iter();
    diagnostics.extend(found.filter(|one| !is_cut || one.primary.span != end));
    diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
    if let Some(next) = diagnostics.get(MISTAKE_LIMIT) {
        let more = diagnostics.len() - MISTAKE_LIMIT;
        let title = format!("there are {more} more mistakes");
        let rest = Diagnostic::error(
            Id::TooManyMistakes,
            title,
            next.primary.span,
            "the next one",
        );
        diagnostics.truncate(MISTAKE_LIMIT);
        diagnostics.push(rest);
    }
    (tree, diagnostics)
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    nesting: usize,
    /// How many operators this statement or declaration has so far.
    operators: usize,
    diagnostics: Vec<Diagnostic>,
}

/// A failure that has been reported.
struct Reported;

type Parsed<T> = Result<T, Reported>;

impl<'a> Parser<'a> {
    // Looking at tokens and taking them.

    fn token(&self) -> Token<'a> {
        self.tokens[self.at]
    }

    /// Returns the place of the end of the file.
    fn last(&self) -> Span {
        let last = self.tokens.last().expect("the last token is the end");
        last.span
    }

    /// The token behind this one.
    fn next(&self) -> Token<'a> {
        self.tokens[(self.at + 1).min(self.tokens.len() - 1)]
    }

    fn take(&mut self) -> Token<'a> {
        let token = self.token();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    /// Whether this word or sign is next.
    fn is_at(&self, text: &str) -> bool {
        is(self.token(), text)
    }

    fn accept(&mut self, text: &str) -> bool {
        let found = self.is_at(text);
        if found {
            self.take();
        }
        found
    }

    fn expect(&mut self, text: &str) -> Parsed<Span> {
        match self.is_at(text) {
            true => Ok(self.take().span),
            false => Err(self.unexpected(&format!("`{text}`"))),
        }
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
        match self.token().kind {
            TokenKind::Name => {
                let token = self.take();
                Ok(Name {
                    text: token.text.to_string(),
                    span: token.span,
                })
            }
            _ => Err(self.unexpected(what)),
        }
    }

    fn unexpected(&mut self, expected: &str) -> Reported {
        let token = self.token();
        let is_told = |one: &Diagnostic| one.primary.span == token.span;
        if token.kind == TokenKind::End && self.diagnostics.iter().any(is_told) {
            return Reported;
        }
        let title = match token.kind {
            TokenKind::End => "the file ends too early".to_string(),
            TokenKind::Keyword => {
                format!("the keyword `{}` cannot stand here", token.text)
            }
            _ => format!("`{}` cannot stand here", token.text),
        };
        let label = format!("expected {expected}");
        self.report(Id::UnexpectedWord, title, token.span, &label)
    }

    fn report(&mut self, id: Id, title: String, span: Span, label: &str) -> Reported {
        self.diagnostics
            .push(Diagnostic::error(id, title, span, label));
        Reported
    }

    /// The stretch from a token to the one that was taken last.
    fn since(&self, start: Span) -> Span {
        let last = self.tokens[self.at.saturating_sub(1)].span;
        if last.end < start.end {
            start
        } else {
            start.to(last)
        }
    }

    /// One level deeper.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.nesting == NESTING_LIMIT {
            let span = self.token().span;
            let title = format!("this nests more than {NESTING_LIMIT} levels deep");
            return Err(self.report(Id::NestedTooDeeply, title, span, "too deep"));
        }
        self.nesting += 1;
        let read = read(self);
        self.nesting -= 1;
        read
    }

    /// Things with commas between them.
    fn listed<T>(&mut self, read: impl Fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut all = vec![read(self)?];
        while self.accept(",") {
            all.push(read(self)?);
        }
        Ok(all)
    }

    /// Things with commas between them, in parentheses; there may be none.
    fn in_parentheses<T>(&mut self, read: impl Fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.expect("(")?;
        if self.accept(")") {
            return Ok(Vec::new());
        }
        let all = self.listed(read)?;
        self.expect(")")?;
        Ok(all)
    }

    // Modules.

    fn file(&mut self) -> File {
        let mut file = File::default();
        while self.token().kind != TokenKind::End {
            match self.module() {
                Ok(module) => file.modules.push(module),
                Err(Reported) => self.skip_to(&["module"]),
            }
        }
        file
    }

    /// Goes on at one of these words, or at the end.
    fn skip_to(&mut self, words: &[&str]) {
        while self.token().kind != TokenKind::End
            && !words
                .iter()
                .any(|word| self.is_at(word) && !self.closes(word))
        {
            self.take();
        }
    }

    /// Whether the word here only repeats what its `end` closes.
    fn closes(&self, word: &str) -> bool {
        word == "module" && self.at > 0 && is(self.tokens[self.at - 1], "end")
    }

    fn module(&mut self) -> Parsed<Module> {
        self.expect("module")?;
        let name = self.name("the name of the module")?;
        self.expect(":")?;
        let mut declarations = Vec::new();
        while self.is_at_declaration() {
            if let Err(Reported) = self.declaration(&mut declarations) {
                self.skip_to(&[";", "module"]);
            }
            if !self.accept(";") && self.is_at_declaration() {
                self.unexpected("`;`");
            }
        }
        let body = match self.is_at("end") || self.is_at(".") {
            true => Statement {
                kind: Box::new(StatementKind::Nothing),
                span: self.token().span,
            },
            false => self.parallel()?,
        };
        if self.accept(".") {
            return Ok(Module {
                name,
                declarations,
                body,
            });
        }
        if !self.is_at("end") {
            return Err(self.unexpected("`;`, `||` or `end module`"));
        }
        self.take();
        if CLOSED.iter().any(|word| self.is_at(word)) {
            return Err(self.end_of_nothing());
        }
        // A file of its own may follow at once.
        if self.is_at("module") && !is_module_head(self.next(), self.tokens.get(self.at + 2)) {
            self.take();
        }
        Ok(Module {
            name,
            declarations,
            body,
        })
    }

    /// Reports the word behind an `end` with which nothing ends.
    fn end_of_nothing(&mut self) -> Reported {
        let token = self.token();
        let title = format!("`end {}` closes nothing", token.text);
        let label = match token.text {
            "await" | "abort" | "weak" => "this statement has an `end` only after `do` or `case`",
            _ => "expected `end module`",
        };
        self.report(Id::UnexpectedWord, title, token.span, label)
    }

    fn is_at_declaration(&self) -> bool {
        const WORDS: [&str; 11] = [
            "type",
            "constant",
            "function",
            "procedure",
            "task",
            "input",
            "output",
            "inputoutput",
            "return",
            "sensor",
            "relation",
        ];
        WORDS.iter().any(|word| self.is_at(word))
    }

    fn declaration(&mut self, all: &mut Vec<Declaration>) -> Parsed<()> {
        self.operators = 0;
        let word = self.take().text;
        let direction = match word {
            "input" => Direction::Input,
            "output" => Direction::Output,
            "inputoutput" => Direction::InputOutput,
            "return" => Direction::Return,
            _ => return self.other_declaration(word, all),
        };
        let signals = self.signals()?;
        let declared = signals.into_iter();
        all.extend(declared.map(|signal| Declaration::Signal(direction, signal)));
        Ok(())
    }

    fn other_declaration(&mut self, word: &str, all: &mut Vec<Declaration>) -> Parsed<()> {
        match word {
            "type" => {
                let names = self.listed(|parser| parser.name("the name of a type"))?;
                all.extend(names.into_iter().map(Declaration::Type));
            }
            "constant" => {
                let constants = self.variables("=")?;
                all.extend(constants.into_iter().map(|one| Declaration::Constant {
                    name: one.name,
                    value: one.initial,
                    kind: one.kind,
                }));
            }
            "function" => {
                all.extend(self.listed(|parser| {
                    let name = parser.name("the name of a function")?;
                    let parameters = parser.in_parentheses(|parser| parser.name("a type"))?;
                    parser.expect(":")?;
                    let result = parser.name("the type of the result")?;
                    Ok(Declaration::Function {
                        name,
                        parameters,
                        result,
                    })
                })?);
            }
            "procedure" => {
                all.extend(self.listed(|parser| {
                    let name = parser.name("the name of a procedure")?;
                    let references = parser.in_parentheses(|parser| parser.name("a type"))?;
                    let values = parser.in_parentheses(|parser| parser.name("a type"))?;
                    Ok(Declaration::Procedure {
                        name,
                        references,
                        values,
                    })
                })?);
            }
            "task" => {
                all.extend(self.listed(|parser| {
                    let name = parser.name("the name of a task")?;
                    parser.in_parentheses(|parser| parser.name("a type"))?;
                    parser.in_parentheses(|parser| parser.name("a type"))?;
                    Ok(Declaration::Task(name))
                })?);
            }
            "sensor" => {
                all.extend(self.listed(|parser| {
                    let name = parser.name("the name of a sensor")?;
                    let parenthesis = parser.accept("(");
                    if !parenthesis {
                        parser.expect(":")?;
                    }
                    let kind = parser.name("the type of its value")?;
                    if parenthesis {
                        parser.expect(")")?;
                    }
                    Ok(Declaration::Sensor { name, kind })
                })?);
            }
            "relation" => all.extend(self.listed(Parser::relation)?),
            other => unreachable!("{other} begins no declaration"),
        }
        Ok(())
    }

    fn relation(&mut self) -> Parsed<Declaration> {
        let first = self.name("an input")?;
        if self.accept("=>") {
            let second = self.name("an input")?;
            return Ok(Declaration::Implies(first, second));
        }
        let mut all = vec![first];
        while self.accept("#") {
            all.push(self.name("an input")?);
        }
        match all.len() {
            1 => Err(self.unexpected("`#` or `=>`")),
            _ => Ok(Declaration::Exclusive(all)),
        }
    }

    /// `A, B : integer, C := 3 : integer, D (boolean), E : combine integer with +`
    fn signals(&mut self) -> Parsed<Vec<SignalDeclaration>> {
        self.listed(|parser| {
            let name = parser.name("the name of a signal")?;
            let mut signal = SignalDeclaration {
                name,
                initial: None,
                kind: None,
                combine: None,
            };
            if parser.accept("(") {
                parser.channel(&mut signal)?;
                parser.expect(")")?;
                return Ok(signal);
            }
            if parser.accept(":=") {
                signal.initial = Some(parser.expression()?);
            }
            if parser.accept(":") {
                parser.channel(&mut signal)?;
            } else if signal.initial.is_some() {
                return Err(parser.unexpected("`:` and the type of the value"));
            }
            Ok(signal)
        })
    }

    /// `integer`, `combine integer with +`
    fn channel(&mut self, signal: &mut SignalDeclaration) -> Parsed<()> {
        let combines = self.accept("combine");
        signal.kind = Some(self.name("a type")?);
        if combines {
            self.expect("with")?;
            let token = self.token();
            let operator = ["+", "*", "and", "or"].iter().any(|sign| self.is_at(sign));
            signal.combine = Some(match operator {
                true => {
                    self.take();
                    Name {
                        text: token.text.to_string(),
                        span: token.span,
                    }
                }
                false => self.name("`+`, `*`, `and`, `or` or a function")?,
            });
        }
        Ok(())
    }

    /// `X := e, Y : integer, Z : boolean`: a type is that of all names before it that have none.
    fn variables(&mut self, gives: &str) -> Parsed<Vec<VariableDeclaration>> {
        let mut all = Vec::new();
        loop {
            let mut group: Vec<(Name, Option<Expression>)> = Vec::new();
            loop {
                let name = self.name("a name")?;
                let initial = match self.accept(gives) {
                    true => Some(self.expression()?),
                    false => None,
                };
                group.push((name, initial));
                if !self.accept(",") {
                    break;
                }
            }
            self.expect(":")?;
            let kind = self.name("a type")?;
            all.extend(
                group
                    .into_iter()
                    .map(|(name, initial)| VariableDeclaration {
                        name,
                        initial,
                        kind: kind.clone(),
                    }),
            );
            if !self.accept(",") {
                return Ok(all);
            }
        }
    }
}

/// Whether a token is this word or sign.
fn is(token: Token<'_>, text: &str) -> bool {
    matches!(token.kind, TokenKind::Keyword | TokenKind::Sign) && token.text == text
}

/// Whether these follow the `module` of another module: `M :`.
fn is_module_head(name: Token<'_>, behind: Option<&Token<'_>>) -> bool {
    name.kind == TokenKind::Name && behind.is_some_and(|token| is(*token, ":"))
}
