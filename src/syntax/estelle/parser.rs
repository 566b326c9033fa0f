//! Tokens to tree.
//!
//! Each function reads one thing. One that fails has reported why; the list in which that thing
//! stands goes on behind it, so that one run points out every mistake.
//!
//! ```text
//! parser/body          the specification, its bodies, and what they declare
//! parser/types         Pascal types, domains and parameters
//! parser/routine       functions, procedures and blocks
//! parser/transition    the clauses of transitions, and how they nest
//! parser/statement     statements
//! parser/expression    expressions, and references to modules and interaction points
//! parser/lines         the tokens that begin a line of the canonical form
//! ```

mod body;
mod expression;
mod lines;
mod routine;
mod statement;
mod transition;
mod types;

use std::collections::HashSet;

use super::ast::{Name, Specification};
use super::lexer::{lex, shown};
use super::token::{Comment, KEYWORDS, Token, TokenKind};
use crate::diagnostic::{Diagnostic, Id, closest};
use crate::source::{FileId, Sources, Span};
use lines::Lines;

/// The greatest nesting of types, statements and expressions.
const NESTING_LIMIT: usize = 100;

/// The number of mistakes of one file that are reported.
const MISTAKE_LIMIT: usize = 20;

/// Words that begin something new behind a `;`.
const FOLLOWS: &[&str] = &[
    "const",
    "type",
    "var",
    "procedure",
    "function",
    "pure",
    "state",
    "stateset",
    "channel",
    "module",
    "modvar",
    "ip",
    "export",
    "by",
    "initialize",
    "trans",
    "default",
    "timescale",
    "end",
    "begin",
];

/// Reads one file. The tree holds all that could be read; it is whole if there is no diagnostic.
pub fn parse(file: FileId, sources: &Sources) -> (Option<Specification>, Vec<Diagnostic>) {
    let read = read(file, sources);
    (read.tree, read.diagnostics)
}

/// The content of a file.
pub(super) struct Read<'a> {
    pub tree: Option<Specification>,
    pub diagnostics: Vec<Diagnostic>,
    pub tokens: Vec<Token<'a>>,
    pub comments: Vec<Comment<'a>>,
    pub lines: Lines,
}

/// Reads one file, and keeps its tokens and comments.
pub(super) fn read(file: FileId, sources: &Sources) -> Read<'_> {
    let lexed = lex(file, sources);
    let lines = Lines::new(lexed.tokens.len());
    let mut parser = Parser {
        tokens: lexed.tokens,
        at: 0,
        nesting: 0,
        height: 0,
        lines,
        routines: HashSet::new(),
        refusals: Vec::new(),
        diagnostics: Vec::new(),
    };
    let tree = parser.file();
    // The predefined procedures are names like others, and a program may declare its own.
    let routines = &parser.routines;
    let refused = parser.refusals.drain(..);
    let refused = refused.filter(|(name, _)| !routines.contains(name));
    parser.diagnostics.extend(refused.map(|(_, found)| found));
    // A comment without an end hides the rest of the file, so nothing is said of the file's end.
    let mut diagnostics = lexed.diagnostics;
    let is_open = |comment: &Comment<'_>| !comment.text.ends_with(['}', ')']);
    let is_cut = lexed.comments.last().is_some_and(is_open);
    let end = parser.last().span;
    let found = parser.diagnostics.into_iter();
    diagnostics.extend(found.filter(|one| !is_cut || one.primary.span.end < end.start));
    Read {
        tree,
        diagnostics: first_mistakes(diagnostics),
        tokens: parser.tokens,
        comments: lexed.comments,
        lines: parser.lines,
    }
}

/// Sorts diagnostics by their place, and says of those beyond the limit only how many they are.
fn first_mistakes(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
    if let Some(next) = diagnostics.get(MISTAKE_LIMIT) {
        let more = diagnostics.len() - MISTAKE_LIMIT;
        let title = match more {
            1 => "there is one more mistake".to_string(),
            _ => format!("there are {more} more mistakes"),
        };
        let span = next.primary.span;
        let rest = Diagnostic::error(Id::TooManyMistakes, title, span, "the next one");
        diagnostics.truncate(MISTAKE_LIMIT);
        diagnostics.push(rest);
    }
    diagnostics
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    /// The number of open constructs around the current one.
    nesting: usize,
    /// The height of the expression that was read last.
    height: usize,
    lines: Lines,
    /// The names of all functions and procedures, in lower case.
    routines: HashSet<String>,
    /// Refusals of calls, unless the program declares a routine with that name.
    refusals: Vec<(String, Diagnostic)>,
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

    /// Returns the end of the file.
    fn last(&self) -> Token<'a> {
        *self.tokens.last().expect("the last token is the end")
    }

    /// Returns the token behind this one.
    fn next(&self) -> Token<'a> {
        self.tokens[(self.at + 1).min(self.tokens.len() - 1)]
    }

    /// Returns the place of the token that was taken last.
    fn previous(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    fn take(&mut self) -> Token<'a> {
        let token = self.token();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    /// Returns true if this reserved word or sign is next.
    fn is_at(&self, word: &str) -> bool {
        self.token().word == word
    }

    /// Returns true if one of these reserved words or signs is next.
    fn is_at_any(&self, words: &[&str]) -> bool {
        words.contains(&self.token().word)
    }

    fn is_at_end(&self) -> bool {
        self.token().kind == TokenKind::End
    }

    fn is_at_name(&self) -> bool {
        self.token().kind == TokenKind::Name
    }

    fn accept(&mut self, word: &str) -> bool {
        let found = self.is_at(word);
        if found {
            self.take();
        }
        found
    }

    fn expect(&mut self, word: &str) -> Parsed<Span> {
        match self.is_at(word) {
            true => Ok(self.take().span),
            false => Err(self.unexpected(&format!("`{word}`"))),
        }
    }

    /// Reads `;`. At the end of a line, and in front of a word that begins something new, it may be
    /// missing: that is reported, and no failure.
    fn semicolon(&mut self) -> Parsed<()> {
        let token = self.token();
        if self.accept(";") {
            return Ok(());
        }
        let is_clear = token.begins_line || self.is_at_any(FOLLOWS);
        if !is_clear || token.kind == TokenKind::End {
            return Err(self.unexpected("`;`"));
        }
        self.missing_semicolon();
        Ok(())
    }

    fn missing_semicolon(&mut self) {
        let span = self.previous();
        self.report(
            Diagnostic::error(
                Id::UnexpectedWord,
                "a `;` is missing here",
                span,
                "expected `;` behind it",
            )
            .help("write `;`"),
        );
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
        let token = self.token();
        match token.kind {
            TokenKind::Name => {
                self.take();
                Ok(Name {
                    text: token.text.to_string(),
                    span: token.span,
                })
            }
            TokenKind::Keyword => {
                let title = format!("the reserved word `{}` cannot be a name", token.text);
                let label = format!("expected {what}");
                let found = Diagnostic::error(Id::EstelleReserved, title, token.span, label);
                let help = "if a name is meant, choose another one: Estelle reserves this word";
                Err(self.report(found.help(help)))
            }
            TokenKind::Integer
            | TokenKind::Real
            | TokenKind::Text
            | TokenKind::Sign
            | TokenKind::End => Err(self.unexpected(what)),
        }
    }

    fn names(&mut self, what: &str) -> Parsed<Vec<Name>> {
        self.listed(|parser| parser.name(what))
    }

    // Reporting.

    fn unexpected(&mut self, expected: &str) -> Reported {
        self.unexpected_with(expected, None)
    }

    /// Reports that the next token cannot stand here, and perhaps says what to do.
    fn unexpected_with(&mut self, expected: &str, help: Option<String>) -> Reported {
        let token = self.token();
        let title = match token.kind {
            TokenKind::End => "the file ends too early".to_string(),
            TokenKind::Keyword => {
                format!("the reserved word `{}` cannot stand here", token.text)
            }
            TokenKind::Name
            | TokenKind::Integer
            | TokenKind::Real
            | TokenKind::Text
            | TokenKind::Sign => format!("`{}` cannot stand here", shown(token.text)),
        };
        let label = format!("expected {expected}");
        let mut found = Diagnostic::error(Id::UnexpectedWord, title, token.span, label);
        found.help = help.or_else(|| self.misspelled(expected));
        self.report(found)
    }

    /// Returns advice if the next token is a name that is nearly one of the expected words.
    fn misspelled(&self, expected: &str) -> Option<String> {
        let token = self.token();
        if token.kind != TokenKind::Name || token.text.len() < 3 {
            return None;
        }
        let is_expected = |word: &&str| expected.contains(&format!("`{word}`"));
        let words = KEYWORDS.iter().copied().filter(is_expected);
        let word = closest(&token.text.to_lowercase(), words)?;
        Some(format!("perhaps you mean `{word}`"))
    }

    /// Adds a diagnostic, unless one with this place has been reported before.
    fn report(&mut self, found: Diagnostic) -> Reported {
        let place = found.primary.span;
        let last = self.diagnostics.last();
        if last.is_none_or(|one| one.primary.span != place) {
            self.diagnostics.push(found);
        }
        Reported
    }

    /// Returns the stretch from a place to the token that was taken last.
    fn since(&self, start: Span) -> Span {
        let last = self.previous();
        match last.end < start.end {
            true => start,
            false => start.to(last),
        }
    }

    // Nesting and lists.

    /// Reads something one level deeper.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.nesting == NESTING_LIMIT {
            return Err(self.too_deep(self.token().span));
        }
        self.nesting += 1;
        let read = read(self);
        self.nesting -= 1;
        read
    }

    fn too_deep(&mut self, span: Span) -> Reported {
        let title = format!("this nests more than {NESTING_LIMIT} levels deep");
        let found = Diagnostic::error(Id::NestedTooDeeply, title, span, "too deep");
        self.report(found.help("divide it: a function, a procedure or a variable holds a part"))
    }

    /// Reads things with commas between them.
    fn listed<T>(&mut self, read: impl Fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut all = vec![read(self)?];
        while self.accept(",") {
            all.push(read(self)?);
        }
        Ok(all)
    }

    // Going on behind a mistake.

    /// Skips to one of these words, but not into blocks: `begin`, `case` and `record` end with
    /// `end`. Stops in front of the word, or at the end of the file.
    fn skip_to(&mut self, words: &[&str]) {
        let mut depth = 0_usize;
        while !self.is_at_end() && (depth > 0 || !self.is_at_any(words)) {
            match self.take().word {
                "begin" | "case" | "record" => depth += 1,
                "end" => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    /// Goes on behind the next `;`, or in front of one of these words.
    fn skip_behind_semicolon(&mut self, words: &[&str]) {
        let stops: Vec<&str> = words.iter().copied().chain([";"]).collect();
        self.skip_to(&stops);
        self.accept(";");
    }
}
