//! Tokens to tree, after the grammar.
//!
//! Each function reads one thing, and stands in the file of what it reads. One that fails has
//! reported why; the list in which that thing stands goes on behind it, so that one run points out
//! every mistake. Where it is clear what was meant, the mistake is reported and the parser goes on
//! as if it had been written right.

mod expression;
mod file;
mod header;
mod instance;
mod item;
mod notes;
mod process;
mod stack;
mod statement;
mod types;

#[cfg(test)]
mod tests;

use super::ast::{File, Name, Path};
use super::brackets::balance;
use super::lexer::lex;
use super::token::{Comment, KEYWORDS, STATEMENTS, Token, TokenKind};
use crate::diagnostic::{Diagnostic, Id, closest};
use crate::source::{FileId, Sources, Span};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// How deep blocks, brackets and operators may nest.
const NESTING_LIMIT: usize = 100;

/// How many statements and conditions one body may have: what follows a condition stands deeper in
/// the tree of a handler.
const STATEMENT_LIMIT: usize = 1_000;

/// How many elements a list may have, and a file declarations.
const LIST_LIMIT: usize = 4_096;

/// How many mistakes of one file are told.
const MISTAKE_LIMIT: usize = 20;

/// Reads one file. The tree holds all that could be read; it is whole if there is no diagnostic.
pub fn parse(file: FileId, sources: &Sources) -> (File, Vec<Diagnostic>) {
    let lexed = lex(file, sources);
    let balanced = balance(lexed.tokens, sources);
    let mut parser = Parser {
        text: sources.text(file),
        tokens: balanced.tokens,
        partners: balanced.partners,
        at: 0,
        claimed: vec![false; lexed.comments.len()],
        comments: lexed.comments,
        nesting: 0,
        statements: 0,
        code: Code::Handler,
        reserved: Vec::new(),
        diagnostics: Vec::new(),
    };
    let tree = parser.file(sources.span(file));
    let is_new = |found: &Diagnostic| {
        let place = found.primary.span;
        let mut lexical = lexed.diagnostics.iter();
        !lexical.any(|it| it.primary.span == place)
    };
    let mut diagnostics = parser.diagnostics;
    diagnostics.retain(is_new);
    diagnostics.extend(balanced.diagnostics);
    let mut diagnostics = without_followers(diagnostics, file, sources);
    diagnostics.extend(lexed.diagnostics);
    diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
    if let Some(first) = diagnostics.get(MISTAKE_LIMIT) {
        let title = format!(
            "there are {} more mistakes",
            diagnostics.len() - MISTAKE_LIMIT
        );
        let rest = Diagnostic::error(
            Id::TooManyMistakes,
            title,
            first.primary.span,
            "the next one",
        );
        diagnostics.truncate(MISTAKE_LIMIT);
        diagnostics.push(rest);
    }
    (tree, diagnostics)
}

/// Keeps one mistake of each item whose brackets do not balance: nobody knows where its blocks end,
/// so all else that is said of it follows from the bracket. The first is kept, but for what is said
/// of a bracket on the same line, which is nearer to the cause.
///
/// An item reaches from a line at the margin that begins one to the next such line.
fn without_followers(
    mut diagnostics: Vec<Diagnostic>,
    file: FileId,
    sources: &Sources,
) -> Vec<Diagnostic> {
    let mut begins = vec![0];
    let mut at = 0;
    for line in sources.text(file).split_inclusive('\n') {
        let word = line.split(|c: char| !c.is_alphanumeric()).next();
        if word.is_some_and(|word| file::BEGINNINGS.contains(&word)) {
            begins.push(at);
        }
        at += line.len() as u32;
    }
    let item = |place: Span| begins.partition_point(|begin| *begin <= place.start);
    let line = |of: &Diagnostic| sources.line(file, of.primary.span.start);
    let brackets = diagnostics.iter();
    let brackets = brackets.filter(|it| it.id == Id::MissingBracket);
    let brackets: BTreeSet<(usize, u32)> = brackets
        .map(|it| (item(it.primary.span), line(it)))
        .collect();
    // What is open before an item begins is closed there.
    let before = |place: Span| begins.partition_point(|begin| *begin < place.start);
    let reaches = |it: &Diagnostic| it.labels.iter().map(|label| before(label.span)).max();
    let stretches = diagnostics.iter();
    let stretches = stretches.filter(|it| it.id == Id::MissingBracket);
    let mut stretches: Vec<(usize, usize)> = stretches
        .map(|it| {
            let first = item(it.primary.span);
            (first, reaches(it).unwrap_or(first))
        })
        .collect();
    stretches.sort_unstable();
    // Each spoilt item, with the first item of the overlapping stretches that it belongs to.
    let mut spoilt: BTreeMap<usize, usize> = BTreeMap::new();
    for (first, last) in stretches {
        let group = spoilt.get(&first).copied().unwrap_or(first);
        let unseen = spoilt.last_key_value().map_or(0, |(seen, _)| seen + 1);
        spoilt.extend((first.max(unseen)..=last).map(|item| (item, group)));
    }
    diagnostics.sort_by_key(|it| (it.primary.span.start, it.id != Id::MissingBracket));
    let mut told: BTreeSet<usize> = BTreeSet::new();
    diagnostics.retain(|found| {
        let own = item(found.primary.span);
        let Some(group) = spoilt.get(&own) else {
            return true;
        };
        let better = found.id != Id::MissingBracket && brackets.contains(&(own, line(found)));
        !better && told.insert(*group)
    });
    diagnostics
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token<'a>>,
    partners: Vec<usize>,
    at: usize,
    comments: Vec<Comment<'a>>,
    /// Which comments have become a part of the tree.
    claimed: Vec<bool>,
    nesting: usize,
    /// How many there were in the body that is being read.
    statements: usize,
    code: Code,
    /// Words of the language of which was said that they are no names: what is wrong beside them
    /// follows from that.
    reserved: Vec<&'a str>,
    diagnostics: Vec<Diagnostic>,
}

/// The code that is being read, for what may be said only in some.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Code {
    Handler,
    Function,
    Filter,
}

/// A failure that has been reported.
struct Reported;

type Parsed<T> = Result<T, Reported>;

/// What stands between two elements of a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Separator {
    Newline,
    CommaOrNewline,
}

impl<'a> Parser<'a> {
    // Looking at tokens and taking them.

    fn token(&self) -> Token<'a> {
        self.tokens[self.at]
    }

    /// The token so many places further on.
    fn ahead(&self, places: usize) -> Token<'a> {
        self.tokens[(self.at + places).min(self.tokens.len() - 1)]
    }

    fn take(&mut self) -> Token<'a> {
        let token = self.token();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    fn is_at(&self, text: &str) -> bool {
        self.token().is(text)
    }

    fn accept(&mut self, text: &str) -> Option<Span> {
        self.is_at(text).then(|| self.take().span)
    }

    fn expect(&mut self, text: &str) -> Parsed<Span> {
        self.accept(text)
            .ok_or_else(|| self.unexpected(&format!("`{text}`")))
    }

    /// From the token at `start` to the last one taken.
    fn span_from(&self, start: usize) -> Span {
        self.tokens[start]
            .span
            .to(self.tokens[self.at.max(start + 1) - 1].span)
    }

    // Names.

    /// A word that is none of the language's.
    fn name(&mut self, what: &str) -> Parsed<Name> {
        let token = self.token();
        if token.is_keyword() && self.reserved.contains(&token.text) {
            return Err(Reported);
        }
        if token.is_keyword() {
            self.reserved.push(token.text);
            let title = format!("`{}` is a keyword, and cannot be {what}", token.text);
            return Err(self.report(
                Diagnostic::error(
                    Id::UnexpectedWord,
                    title,
                    token.span,
                    format!("expected {what}"),
                )
                .help(another_name(token.text)),
            ));
        }
        self.word(what)
    }

    /// Any word: behind a dot, and as the name of an event, also the language's can stand.
    fn word(&mut self, what: &str) -> Parsed<Name> {
        let token = self.token();
        if token.kind != TokenKind::Word {
            return Err(self.unexpected(what));
        }
        self.take();
        Ok(Name {
            text: token.text.to_owned(),
            span: token.span,
        })
    }

    /// Words with dots between them.
    fn path(&mut self, what: &str) -> Parsed<Path> {
        let start = self.at;
        let mut names = vec![self.word(what)?];
        while self.accept(".").is_some() {
            names.push(self.word("a name")?);
        }
        Ok(Path {
            names,
            span: self.span_from(start),
        })
    }

    // Lists.

    /// Elements in brackets. What cannot be read is left out.
    fn list<T>(
        &mut self,
        opening: &str,
        separator: Separator,
        mut element: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let open = self.at;
        self.expect(opening)?;
        let close = self.partners[open];
        let mut elements = Vec::new();
        self.elements(close, separator, |parser| {
            elements.push(element(parser)?);
            Ok(())
        });
        self.at = close + 1;
        Ok(elements)
    }

    /// Reads elements up to the token at `close`.
    fn elements(
        &mut self,
        close: usize,
        separator: Separator,
        mut element: impl FnMut(&mut Self) -> Parsed<()>,
    ) {
        let (mut stray, mut count) = (false, 0);
        while self.at < close {
            if self.token().kind == TokenKind::Newline {
                self.at += 1;
                continue;
            }
            if count == LIST_LIMIT {
                self.too_many();
                self.at = close;
                return;
            }
            count += 1;
            let (start, told) = (self.at, self.diagnostics.len());
            let parsed = element(self);
            // A run of elements of which none can begin here is one mistake.
            let begins = parsed.is_ok() || self.at > start;
            if stray && !begins {
                self.diagnostics.truncate(told);
            }
            stray = !begins;
            match parsed {
                Ok(()) if self.ends(close, separator) => self.at += usize::from(self.at < close),
                Ok(()) => {
                    self.missing_separator(separator);
                    self.skip_element(start, close, separator);
                }
                Err(Reported) => self.skip_element(start, close, separator),
            }
        }
    }

    fn ends(&self, close: usize, separator: Separator) -> bool {
        self.at == close || self.separates(self.at, separator)
    }

    fn separates(&self, at: usize, separator: Separator) -> bool {
        let token = self.tokens[at];
        token.kind == TokenKind::Newline || separator == Separator::CommaOrNewline && token.is(",")
    }

    /// Goes on behind an element that could not be read.
    fn skip_element(&mut self, start: usize, close: usize, separator: Separator) {
        let mut at = start;
        while at < close && !(at >= self.at && self.separates(at, separator)) {
            at = if self.tokens[at].opens() {
                self.partners[at] + 1
            } else {
                at + 1
            };
        }
        self.at = (at + 1).min(close);
    }

    /// Runs `read` one level deeper, if that is not too deep.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.nesting == NESTING_LIMIT {
            return Err(self.too_deep());
        }
        self.nesting += 1;
        let result = read(self);
        self.nesting -= 1;
        result
    }

    /// Fails if there were too many in this body; the first too many is told.
    fn count_statement(&mut self) -> Parsed<()> {
        self.statements += 1;
        match self.statements.cmp(&(STATEMENT_LIMIT + 1)) {
            Ordering::Less => Ok(()),
            Ordering::Equal => {
                let (span, title) = (self.token().span, "this handler or function is too long");
                let label = format!("statement or condition {} begins here", STATEMENT_LIMIT + 1);
                Err(self.report(
                    Diagnostic::error(Id::NestedTooDeeply, title, span, label)
                        .help("move a part of it into a `fn`, or into another layer"),
                ))
            }
            Ordering::Greater => Err(Reported),
        }
    }

    // Mistakes.

    /// A list is longer than anything that a person, or a program for a real protocol, would write.
    /// That of a body with too many statements is told by these.
    fn too_many(&mut self) -> Reported {
        if self.statements > STATEMENT_LIMIT {
            return Reported;
        }
        let title = format!("this list has more than {LIST_LIMIT} elements");
        let span = self.token().span;
        let label = "the first element beyond the limit";
        self.report(
            Diagnostic::error(Id::NestedTooDeeply, title, span, label)
                .help("move some of them to another layer or file"),
        )
    }

    fn missing_separator(&mut self, separator: Separator) -> Reported {
        let token = self.token();
        if token.is("?") {
            let title = "Loom has no `? :`";
            return self.report(
                Diagnostic::error(Id::NotLoom, title, token.span, "")
                    .help("write `if c { a } else { b }`, which can be a value"),
            );
        }
        if separator == Separator::CommaOrNewline {
            return self.unexpected("`,` or the end of the line");
        }
        if separator == Separator::Newline && (token.is("case") || token.is(",")) {
            let title = match token.text {
                "case" => "two cases on one line",
                _ => "expected a newline instead of a comma",
            };
            return self.report(
                Diagnostic::error(Id::OneStatementPerLine, title, token.span, "")
                    .help("begin a new line here"),
            );
        }
        if let Some(foreign) = self.conversion().or_else(|| self.unit()) {
            return self.report(foreign);
        }
        const LATER: &[&str] = &[
            "with", "else", "likely", "after", "through", "and", "or", "as", "if",
        ];
        if ["elif", "elsif", "elseif"].contains(&token.text) {
            let title = format!("Loom writes `else if` for `{}`", token.text);
            let foreign = Diagnostic::error(Id::NotLoom, title, token.span, "");
            return self.report(foreign.help("write `else if`"));
        }
        if self.correct_spelling(LATER) {
            return Reported;
        }
        if token.kind == TokenKind::Word && STATEMENTS.contains(&token.text) {
            let title = "two statements on one line";
            return self.report(
                Diagnostic::error(Id::OneStatementPerLine, title, token.span, "a second one")
                    .help("begin a new line before it"),
            );
        }
        self.unexpected("the end of the line")
    }

    /// `(u32) x`, as C converts.
    fn conversion(&self) -> Option<Diagnostic> {
        let [.., open, of, close] = &self.tokens[..self.at] else {
            return None;
        };
        let is_one = open.is("(") && is_number_type(of.text) && close.is(")");
        let token = self.token();
        if !is_one || token.kind != TokenKind::Word {
            return None;
        }
        let title = "a conversion comes after its value";
        let place = open.span.to(close.span);
        let mut value = token.text.to_string();
        let behind = self.tokens[self.at + 1..].chunks_exact(2);
        for pair in behind.take_while(|pair| pair[0].is(".")) {
            value = format!("{value}.{}", pair[1].text);
        }
        let help = format!("write `{value} as {}`", of.text);
        Some(Diagnostic::error(Id::NotLoom, title, place, "").help(help))
    }

    /// `2 seconds`
    fn unit(&self) -> Option<Diagnostic> {
        const UNITS: &[&str] = &[
            "sec",
            "secs",
            "second",
            "seconds",
            "msec",
            "millis",
            "milliseconds",
            "usec",
            "micros",
            "nanos",
            "minute",
            "minutes",
            "mins",
            "hour",
            "hours",
            "m",
        ];
        let (token, before) = (self.token(), self.tokens[self.at.max(1) - 1]);
        let is_unit = before.kind == TokenKind::Number && UNITS.contains(&token.text);
        let title = format!("there is no unit `{}`", token.text);
        let refused = Diagnostic::error(Id::BadNumber, title, token.span, "");
        is_unit.then(|| refused.help("units are `ns`, `us`, `ms`, `s`, `min` and `h`"))
    }

    fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        let place = diagnostic.primary.span;
        // What follows from a mistake at the same place is not worth a second one.
        if self
            .diagnostics
            .last()
            .is_none_or(|last| last.primary.span != place)
        {
            self.diagnostics.push(diagnostic);
        }
        Reported
    }

    fn too_deep(&mut self) -> Reported {
        let span = self.token().span;
        let title = "this nests too deeply";
        self.report(
            Diagnostic::error(
                Id::NestedTooDeeply,
                title,
                span,
                "the 101st level begins here",
            )
            .help("move a part of it into a `let` or a `fn`"),
        )
    }

    fn unexpected(&mut self, expected: &str) -> Reported {
        let (token, here) = (self.token(), self.here());
        let before = self.tokens[self.at.max(1) - 1];
        if self.reserved.contains(&before.text) {
            return Reported;
        }
        let label = format!("expected {expected}");
        if here != token.span || token.kind == TokenKind::Newline {
            let title = "this line ends too early";
            return self.report(Diagnostic::error(Id::UnexpectedNewline, title, here, label));
        }
        let title = if token.kind == TokenKind::End {
            "the file ends too early".to_owned()
        } else {
            format!("`{}` cannot stand here", token.text)
        };
        let mistake = Diagnostic::error(Id::UnexpectedWord, title, here, label);
        self.report(match (token.text, expected) {
            (":", "`=`") | ("==", "`,` or the end of the line") => mistake.help("write `=`"),
            ("[", "a value") => Diagnostic::error(
                Id::NotLoom,
                "Loom has no list of values and no constant arrays",
                here,
                "",
            )
            .help(
                "write a function, `fn NAME(at: u32) -> u16 { match at { … } }`, with one line for \
                each `case`, which returns its value",
            ),
            (of, _) if is_number_type(of) && self.ahead(1).kind == TokenKind::Word => {
                let name = self.ahead(1).text;
                mistake.help(format!("the type follows the name: `{name}: {of}`"))
            }
            (behind, "`:`") if token.kind == TokenKind::Word => {
                let before = before.text;
                mistake.help(match is_number_type(before) || before.ends_with("_t") {
                    true => format!("the type follows the name: `{behind}: {before}`"),
                    false => format!("write `{before}: {behind}`"),
                })
            }
            _ => mistake,
        })
    }

    /// Where something is missing: at the token here, or behind the last one if the line ends.
    fn here(&self) -> Span {
        let token = self.token();
        let last = self.tokens[self.at.max(1) - 1];
        // A newline before a closing bracket separates nothing, and yet the line ended there.
        let closes_line = token.closes() && !last.opens() && {
            let between = last.span.end as usize..token.span.start.max(last.span.end) as usize;
            self.text[between].contains('\n')
        };
        let ends = token.kind == TokenKind::Newline || closes_line;
        if ends { last.span.after() } else { token.span }
    }

    /// If the word here is almost one of these, says so and goes on as if it were that one.
    fn correct_spelling(&mut self, candidates: &[&'static str]) -> bool {
        let token = self.token();
        let is_right = token.is_keyword() || candidates.contains(&token.text);
        if token.kind != TokenKind::Word || is_right {
            return false;
        }
        let Some(meant) = closest(token.text, candidates.iter().copied()) else {
            return false;
        };
        let title = format!("unknown word `{}`", token.text);
        self.report(
            Diagnostic::error(Id::UnknownWord, title, token.span, "")
                .help(format!("did you mean `{meant}`?")),
        );
        self.tokens[self.at].text = meant;
        true
    }

    /// If the word here is another language's for one of ours, says so and goes on with ours.
    fn correct_language(&mut self, theirs_and_ours: &[(&str, &'static str)]) -> bool {
        let token = self.token();
        let Some((_, ours)) = theirs_and_ours.iter().find(|(theirs, _)| token.is(theirs)) else {
            return false;
        };
        let title = format!("Loom writes `{ours}` for `{}`", token.text);
        self.report(
            Diagnostic::error(Id::NotLoom, title, token.span, "").help(format!("write `{ours}`")),
        );
        self.tokens[self.at].text = ours;
        debug_assert!(KEYWORDS.contains(ours), "it is corrected to a word of ours");
        true
    }
}

/// `u32`, `i8`
fn is_number_type(word: &str) -> bool {
    let digits = word.trim_start_matches(['u', 'i']);
    digits.len() < word.len() && digits.parse::<u8>().is_ok()
}

/// What else something can be called that has the name of a word of the language.
fn another_name(word: &str) -> String {
    let other = match word {
        "type" => "kind",
        "count" => "total",
        "start" => "first",
        "end" => "last",
        "case" => "option",
        "match" => "pattern",
        "port" | "link" | "key" | "send" | "deliver" | "message" | "header" => {
            return format!("choose another name, such as `the_{word}`");
        }
        _ => return "choose another name".to_string(),
    };
    format!("choose another name, such as `{other}`")
}
