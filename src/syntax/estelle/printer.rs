//! The canonical form of a specification: what `loom fmt` writes.
//!
//! The printer changes white space and the letter case of reserved words. The parser says which
//! tokens begin a line; one that is too long is broken. Comments stay between the tokens between
//! which they stand: behind code, or on lines of their own. One empty line is kept.
//!
//! ```text
//! FROM idle TO open{ calls }WHEN u.CONreq Begin n:=1 End;
//!
//! from idle
//!   to open { calls }
//!     when u.CONreq
//!       begin
//!         n := 1
//!       end;
//! ```

use super::ast::Specification;
use super::lexer::lex;
use super::parser::{Read, read};
use super::token::{Comment, Token, TokenKind};
use crate::source::Sources;

/// The greatest length of a line, in characters.
const WIDTH: usize = 100;

/// The indentation of a level, in characters.
const INDENTATION: usize = 2;

/// The further indentation of the rest of a broken line, in levels.
const CONTINUATION: usize = 2;

/// Formats `text`, the text of `specification`, in which there must be no mistake of grammar.
pub fn format(specification: &Specification, text: &str) -> String {
    let mut sources = Sources::new();
    let file = sources.add("", text);
    let read = read(file, &sources);
    let is_same = |tree: &Specification| tree.name.span.start == specification.name.span.start;
    debug_assert!(
        read.tree.as_ref().is_some_and(is_same),
        "the text is that of the tree"
    );
    let mut printer = Printer {
        text,
        read: &read,
        lines: Vec::new(),
        end: 0,
    };
    printer.all();
    let mut formatted = String::new();
    for line in &printer.lines {
        line.write(&mut formatted);
    }
    formatted
}

/// Writes a part of a specification on one line, without its comments.
pub fn in_one_line(part: &str) -> String {
    let mut sources = Sources::new();
    let file = sources.add("", part);
    let tokens = lex(file, &sources).tokens;
    let mut line = String::new();
    for (at, token) in tokens.iter().enumerate() {
        if is_spaced(at, &tokens) && token.kind != TokenKind::End {
            line.push(' ');
        }
        line.push_str(spelled(token));
    }
    line
}

struct Printer<'a> {
    text: &'a str,
    read: &'a Read<'a>,
    lines: Vec<Line<'a>>,
    /// The end of the token or comment before.
    end: usize,
}

/// A line as it would be if lines could be long.
struct Line<'a> {
    /// Its indentation, in levels.
    indentation: usize,
    /// True if an empty line stands before it.
    is_apart: bool,
    /// True if it has comments only.
    has_comments_only: bool,
    pieces: Vec<Piece<'a>>,
}

/// A token or a comment.
struct Piece<'a> {
    text: std::borrow::Cow<'a, str>,
    /// True if a blank stands before it, where the line may also be broken.
    is_spaced: bool,
    /// The number of open brackets.
    depth: usize,
}

impl<'a> Printer<'a> {
    /// Distributes tokens and comments over lines.
    fn all(&mut self) {
        let read = self.read;
        let mut comments = read.comments.iter().peekable();
        let mut depth = 0;
        for (at, token) in read.tokens.iter().enumerate() {
            let line = match token.kind == TokenKind::End {
                true => Some(0),
                false => read.lines.of(at).map(usize::from),
            };
            while let Some(comment) = comments.next_if(|it| it.span.start < token.span.start) {
                self.comment(comment, token, line, depth);
            }
            if token.kind == TokenKind::End {
                return;
            }
            let is_first = self.begins_line(token, line);
            if let Some(indentation) = line.filter(|_| is_first) {
                self.begin(indentation, token.span.start, depth > 0 || closes(token));
            }
            if matches!(token.word, ")" | "]") {
                depth = depth.saturating_sub(1);
            }
            let is_spaced = !is_first && self.is_spaced(at);
            self.push(spelled(token).into(), is_spaced, depth);
            if let Some(line) = self.lines.last_mut() {
                line.has_comments_only = false;
            }
            if matches!(token.word, "(" | "[") {
                depth += 1;
            }
            self.end = token.span.end as usize;
        }
    }

    /// Returns true if a token begins a line: one that the parser has marked, unless a comment
    /// stands before it on its line.
    fn begins_line(&self, token: &Token<'_>, line: Option<usize>) -> bool {
        let follows_comment = self.lines.last().is_some_and(|line| line.has_comments_only)
            && self.newlines(token.span.start) == 0;
        self.lines.is_empty() || line.is_some() && !follows_comment
    }

    /// Adds a comment in front of a token.
    fn comment(
        &mut self,
        comment: &Comment<'a>,
        token: &Token<'_>,
        line: Option<usize>,
        depth: usize,
    ) {
        let start = comment.span.start;
        let is_first = self.lines.is_empty() || line.is_some() && self.newlines(start) > 0;
        let trimmed = |line: &'a str| line.trim_end();
        let mut text = comment.text.split('\n').map(trimmed).collect::<Vec<_>>();
        let moved: Vec<String>;
        if is_first {
            let indentation = line.unwrap_or_default() + usize::from(closes(token));
            self.begin(indentation, start, depth > 0);
            let before = &self.text[..start as usize];
            let column = before.rsplit('\n').next().unwrap_or_default();
            let column = column.chars().count();
            moved = shifted(&text[1..], column, indentation * INDENTATION);
            text.splice(1.., moved.iter().map(String::as_str));
            self.push(text.join("\n").into(), false, depth);
        } else {
            self.push(text.join("\n").into(), true, depth);
        }
        self.end = comment.span.end as usize;
    }

    /// Counts the newlines between what was printed last and a place.
    fn newlines(&self, start: u32) -> usize {
        let between = &self.text[self.end..start as usize];
        between.bytes().filter(|byte| *byte == b'\n').count()
    }

    fn begin(&mut self, indentation: usize, start: u32, is_close: bool) {
        self.lines.push(Line {
            indentation,
            is_apart: !self.lines.is_empty() && !is_close && self.newlines(start) > 1,
            has_comments_only: true,
            pieces: Vec::new(),
        });
    }

    fn push(&mut self, text: std::borrow::Cow<'a, str>, is_spaced: bool, depth: usize) {
        let piece = Piece {
            text,
            is_spaced,
            depth,
        };
        if let Some(line) = self.lines.last_mut() {
            line.pieces.push(piece);
        }
    }

    /// Returns true if a blank stands before a token that begins no line.
    fn is_spaced(&self, at: usize) -> bool {
        let tokens = &self.read.tokens;
        let before = at.checked_sub(1).map(|at| &tokens[at]);
        // A comment may stand between them.
        before.is_some_and(|before| self.end > before.span.end as usize) || is_spaced(at, tokens)
    }
}

/// Returns true if a blank stands between the token at a place and the one before it.
fn is_spaced(at: usize, tokens: &[Token<'_>]) -> bool {
    let (Some(before), token) = (at.checked_sub(1).map(|at| &tokens[at]), &tokens[at]) else {
        return false;
    };
    if matches!(token.word, ";" | "," | ")" | "]" | "." | ".." | ":") {
        return false;
    }
    if matches!(before.word, "(" | "[" | "." | "..") {
        return false;
    }
    match token.word {
        "(" => before.kind != TokenKind::Name && before.word != "delay",
        "[" => before.kind != TokenKind::Name && before.word != "]",
        _ => !matches!(before.word, "+" | "-") || ends_operand(at.checked_sub(2), tokens),
    }
}

/// Returns the canonical spelling of a token.
fn spelled<'a>(token: &Token<'a>) -> &'a str {
    match token.word {
        "" => token.text,
        word => word,
    }
}

/// Returns true for the words in front of which no empty line stands, and comments are indented.
fn closes(token: &Token<'_>) -> bool {
    matches!(token.word, "end" | "until" | "else")
}

/// Returns true if the token at a place may end an operand, so that a sign behind it has two.
fn ends_operand(at: Option<usize>, tokens: &[Token<'_>]) -> bool {
    let Some(at) = at else {
        return false;
    };
    match tokens[at].kind {
        TokenKind::Name | TokenKind::Integer | TokenKind::Real | TokenKind::Text => true,
        TokenKind::Keyword | TokenKind::Sign | TokenKind::End => {
            matches!(tokens[at].word, ")" | "]")
        }
    }
}

/// Moves the further lines of a comment as far as its first line.
fn shifted(lines: &[&str], from: usize, to: usize) -> Vec<String> {
    let moved = lines.iter().map(|line| {
        let inside = line.trim_start();
        let column = line.chars().count() - inside.chars().count();
        match from == to || inside.is_empty() {
            true => line.to_string(),
            false => " ".repeat((column + to).saturating_sub(from)) + inside,
        }
    });
    moved.collect()
}

impl Line<'_> {
    /// Writes the line, broken where it is too long.
    fn write(&self, out: &mut String) {
        if self.is_apart {
            out.push('\n');
        }
        let mut column = self.indentation * INDENTATION;
        out.extend(std::iter::repeat_n(' ', column));
        let mut first = 0;
        loop {
            let next = self.broken(first, column);
            for (at, piece) in self.pieces[first..next].iter().enumerate() {
                if at > 0 && piece.is_spaced {
                    out.push(' ');
                }
                out.push_str(&piece.text);
            }
            out.push('\n');
            if next == self.pieces.len() {
                return;
            }
            first = next;
            column = (self.indentation + CONTINUATION) * INDENTATION;
            out.extend(std::iter::repeat_n(' ', column));
        }
    }

    /// Returns the first piece of the next line if this one begins with piece `first`: all pieces
    /// if the rest fits. Breaks between outer brackets are better than those in inner ones.
    fn broken(&self, first: usize, start: usize) -> usize {
        let mut column = start;
        // The best break: how deep it is, and the piece behind it.
        let mut best: Option<(usize, usize)> = None;
        for (at, piece) in self.pieces.iter().enumerate().skip(first) {
            // A comment at the beginning of a line would stand there for itself.
            let is_comment = piece.text.starts_with('{') || piece.text.starts_with("(*");
            let may_begin = piece.is_spaced && !is_comment;
            if at > first && may_begin {
                let is_far = column > start + (WIDTH.saturating_sub(start)) / 2;
                let is_better = |(depth, _): (usize, usize)| !is_far || piece.depth <= depth;
                if best.is_none_or(is_better) {
                    // The first breaks are taken only if no later one fits.
                    best = Some((if is_far { piece.depth } else { usize::MAX }, at));
                }
            }
            column += usize::from(at > first && piece.is_spaced);
            match piece.text.rsplit_once('\n') {
                Some((_, last)) => column = last.chars().count(),
                None => column += piece.text.chars().count(),
            }
            if column > WIDTH
                && let Some((_, next)) = best
            {
                return next;
            }
        }
        self.pieces.len()
    }
}
