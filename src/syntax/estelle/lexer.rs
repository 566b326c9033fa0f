//! Text to tokens and comments.

use super::token::{Comment, SIGNS, Token, TokenKind, keyword};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::{FileId, Sources, Span};
use crate::syntax::cursor::Cursor;

/// The content of a text.
pub(super) struct Lexed<'a> {
    /// The tokens; the last one is the only `End`.
    pub tokens: Vec<Token<'a>>,
    /// The comments, in the order of the text.
    pub comments: Vec<Comment<'a>>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Cuts a text into tokens and comments.
pub(super) fn lex(file: FileId, sources: &Sources) -> Lexed<'_> {
    let mut lexer = Lexer {
        cursor: Cursor::new(file, sources),
        begins_line: true,
        lexed: Lexed {
            tokens: Vec::new(),
            comments: Vec::new(),
            diagnostics: Vec::new(),
        },
    };
    while let Some(first) = lexer.cursor.peek() {
        lexer.one(first);
    }
    lexer.push(TokenKind::End, "", lexer.cursor.at);
    lexer.lexed
}

struct Lexer<'a> {
    cursor: Cursor<'a>,
    begins_line: bool,
    lexed: Lexed<'a>,
}

impl<'a> Lexer<'a> {
    fn one(&mut self, first: char) {
        let start = self.cursor.at;
        match first {
            _ if first.is_whitespace() => {
                self.cursor.at += first.len_utf8();
                self.begins_line |= first == '\n';
            }
            '\u{feff}' if start == 0 => self.cursor.at += first.len_utf8(),
            '{' => self.comment("{", "}"),
            '(' if self.cursor.rest().starts_with("(*") => self.comment("(*", "*)"),
            'a'..='z' | 'A'..='Z' | '_' => self.word(),
            '0'..='9' => self.number(),
            '\'' => self.string(),
            '"' => self.foreign_string(),
            _ => match SIGNS
                .iter()
                .find(|sign| self.cursor.rest().starts_with(sign.0))
            {
                Some((written, canonical)) => {
                    self.cursor.at += written.len();
                    self.push(TokenKind::Sign, canonical, start);
                }
                None => self.unknown(first),
            },
        }
    }

    /// Reads a comment, which does not nest.
    fn comment(&mut self, open: &str, close: &str) {
        let start = self.cursor.at;
        let inside = start + open.len();
        match self.cursor.text[inside..].find(close) {
            Some(length) => self.cursor.at = inside + length + close.len(),
            None => {
                self.cursor.at = self.cursor.text.len();
                let span = Span::new(self.cursor.file, start as u32, inside as u32);
                let title = "this comment is never closed";
                let label = format!("expected `{close}` somewhere behind it");
                let found = Diagnostic::error(Id::MissingBracket, title, span, label)
                    .help(format!("write `{close}` at the end of the comment"));
                self.lexed.diagnostics.push(found);
            }
        }
        self.lexed.comments.push(Comment {
            text: self.cursor.since(start),
            span: self.cursor.span(start),
        });
        self.begins_line |= self.cursor.since(start).contains('\n');
    }

    fn word(&mut self) {
        let start = self.cursor.at;
        self.cursor
            .skip_while(|c| c.is_ascii_alphanumeric() || c == '_');
        match keyword(self.cursor.since(start)) {
            Some(word) => self.push(TokenKind::Keyword, word, start),
            None => self.push(TokenKind::Name, "", start),
        }
    }

    /// Reads `12`, `1.5`, `1.5e-3` or `2e10`, but of `1..4` only the `1`.
    fn number(&mut self) {
        let start = self.cursor.at;
        let mut kind = TokenKind::Integer;
        self.cursor.skip_while(|c| c.is_ascii_digit());
        let fraction = self.cursor.rest().strip_prefix('.').unwrap_or_default();
        if fraction.starts_with(|c: char| c.is_ascii_digit()) {
            kind = TokenKind::Real;
            self.cursor.at += 1;
            self.cursor.skip_while(|c| c.is_ascii_digit());
        }
        if let Some(behind) = self.cursor.rest().strip_prefix(['e', 'E']) {
            let digits = behind.strip_prefix(['+', '-']).unwrap_or(behind);
            if digits.starts_with(|c: char| c.is_ascii_digit()) {
                kind = TokenKind::Real;
                self.cursor.at = self.cursor.text.len() - digits.len();
                self.cursor.skip_while(|c| c.is_ascii_digit());
            }
        }
        let end = self.cursor.at;
        self.cursor
            .skip_while(|c| c.is_ascii_alphanumeric() || c == '_');
        let text = self.cursor.since(start);
        let advice = "leave a space between a number and a word; a name begins with a letter";
        let is_real = kind == TokenKind::Real;
        let wrong = if self.cursor.at != end {
            Some(("is neither a number nor a name", advice))
        } else if !is_real && text.parse::<i64>().is_err() {
            let advice = "an integer is at most `maxint`, which is 2147483647";
            Some(("is too large", advice))
        } else if is_real && !text.parse::<f64>().is_ok_and(f64::is_finite) {
            Some(("is too large", "a real number is at most about 1.7e308"))
        } else {
            None
        };
        if let Some((wrong, help)) = wrong {
            let title = format!("`{}` {wrong}", shown(text));
            let span = self.cursor.span(start);
            let found = Diagnostic::error(Id::EstelleNumber, title, span, "not a number");
            self.lexed.diagnostics.push(found.help(help));
        }
        self.push(kind, "", start);
    }

    /// Reads `'it''s'`.
    fn string(&mut self) {
        let start = self.cursor.at;
        self.cursor.at += 1;
        loop {
            self.cursor.skip_while(|c| c != '\'' && c != '\n');
            if self.cursor.rest().starts_with("''") {
                self.cursor.at += 2;
            } else if self.cursor.rest().starts_with('\'') {
                self.cursor.at += 1;
                break;
            } else {
                let span = self.cursor.span(start);
                let label = "expected `'` on the same line";
                let title = "this string is never closed";
                let found = Diagnostic::error(Id::MissingBracket, title, span, label)
                    .help("write `'` at its end; a quote inside a string is written twice: `''`");
                self.lexed.diagnostics.push(found);
                break;
            }
        }
        if self.cursor.since(start) == "''" {
            let span = self.cursor.span(start);
            let found = Diagnostic::error(Id::EstelleString, "this string is empty", span, "")
                .help("a string has one or more characters; a blank is `' '`");
            self.lexed.diagnostics.push(found);
        }
        self.push(TokenKind::Text, "", start);
    }

    /// Reads a string with double quotes, which Estelle does not have.
    fn foreign_string(&mut self) {
        let start = self.cursor.at;
        self.cursor.at += 1;
        self.cursor.skip_while(|c| c != '"' && c != '\n');
        if self.cursor.rest().starts_with('"') {
            self.cursor.at += 1;
        }
        let span = self.cursor.span(start);
        let title = "a string has single quotes";
        let found = Diagnostic::error(Id::EstelleString, title, span, "double quotes");
        self.lexed.diagnostics.push(found.help("write `'text'`"));
        self.push(TokenKind::Text, "", start);
    }

    fn unknown(&mut self, first: char) {
        let start = self.cursor.at;
        self.cursor.at += first.len_utf8();
        let help = match first {
            '!' => "write `<>` for unequal and `not` for negation",
            '&' => "write `and`",
            '|' => "write `or`",
            '}' => "this ends no comment: remove it, or write `{` where the comment begins",
            '%' => "write `mod`",
            _ => "remove it",
        };
        let title = format!("`{}` has no meaning in Estelle", shown_character(first));
        let span = self.cursor.span(start);
        let found = Diagnostic::error(Id::UnknownCharacter, title, span, "ignored").help(help);
        self.lexed.diagnostics.push(found);
    }

    fn push(&mut self, kind: TokenKind, word: &'static str, start: usize) {
        let token = Token {
            kind,
            text: self.cursor.since(start),
            word,
            span: self.cursor.span(start),
            begins_line: self.begins_line,
        };
        self.lexed.tokens.push(token);
        self.begins_line = false;
    }
}

/// Returns a character, or its code if it cannot be seen.
fn shown_character(character: char) -> String {
    match character.is_control() {
        true => character.escape_unicode().to_string(),
        false => character.to_string(),
    }
}

/// Returns the beginning of a text that may be long.
pub(super) fn shown(text: &str) -> String {
    const MOST: usize = 40;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}
