//! Text to tokens; comments are left out.

use super::token::{KEYWORDS, SIGNS, Token, TokenKind};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::{FileId, Sources};
use crate::syntax::cursor::Cursor;

/// Cuts a text into tokens; the last is the only `End`.
pub(super) fn lex(file: FileId, sources: &Sources) -> (Vec<Token<'_>>, Vec<Diagnostic>) {
    let mut lexer = Lexer {
        cursor: Cursor::new(file, sources),
        tokens: Vec::new(),
        diagnostics: Vec::new(),
    };
    while let Some(first) = lexer.cursor.peek() {
        lexer.one(first);
    }
    lexer.push(TokenKind::End, lexer.cursor.at);
    (lexer.tokens, lexer.diagnostics)
}

struct Lexer<'a> {
    cursor: Cursor<'a>,
    tokens: Vec<Token<'a>>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Lexer<'a> {
    fn one(&mut self, first: char) {
        let start = self.cursor.at;
        match first {
            _ if first.is_whitespace() => self.cursor.at += first.len_utf8(),
            '\u{feff}' if start == 0 => self.cursor.at += first.len_utf8(),
            '%' => self.comment(),
            'a'..='z' | 'A'..='Z' | '_' => {
                self.cursor
                    .skip_while(|c| c.is_ascii_alphanumeric() || c == '_');
                let kind = match KEYWORDS.contains(&self.cursor.since(start)) {
                    true => TokenKind::Keyword,
                    false => TokenKind::Name,
                };
                self.push(kind, start);
            }
            '0'..='9' => self.number(),
            '.' if self.cursor.rest()[1..].starts_with(|c: char| c.is_ascii_digit()) => {
                self.number()
            }
            '"' => self.quoted(),
            _ => match SIGNS
                .iter()
                .find(|sign| self.cursor.rest().starts_with(**sign))
            {
                Some(sign) => {
                    self.cursor.at += sign.len();
                    self.push(TokenKind::Sign, start);
                }
                None => {
                    self.cursor.at += first.len_utf8();
                    let title = format!("`{first}` has no meaning in Esterel");
                    self.report(Id::UnknownCharacter, title, start, "ignored");
                }
            },
        }
    }

    /// Skips `% to the end of the line` and `%{ over lines }%`, which nests.
    fn comment(&mut self) {
        let start = self.cursor.at;
        if !self.cursor.rest().starts_with("%{") {
            self.cursor.skip_while(|c| c != '\n');
            return;
        }
        let mut depth = 0_usize;
        while let Some(next) = self.cursor.peek() {
            let (width, inside) = match &self.cursor.rest()[next.len_utf8()..] {
                rest if next == '%' && rest.starts_with('{') => (2, depth + 1),
                rest if next == '}' && rest.starts_with('%') => (2, depth - 1),
                _ => (next.len_utf8(), depth),
            };
            self.cursor.at += width;
            depth = inside;
            if depth == 0 {
                return;
            }
        }
        let title = "this comment is never closed".to_string();
        self.report(Id::MissingBracket, title, start, "expected `}%`");
    }

    fn number(&mut self) {
        let start = self.cursor.at;
        self.cursor.skip_while(|c| c.is_ascii_digit());
        let mut real = false;
        if self.cursor.rest().starts_with('.') && !self.ends_module() {
            real = true;
            self.cursor.at += 1;
            self.cursor.skip_while(|c| c.is_ascii_digit());
        }
        let behind = self.cursor.rest().trim_start_matches(['e', 'E']);
        let exponent = behind.trim_start_matches(['+', '-']);
        if self.cursor.rest().len() - behind.len() == 1
            && exponent.starts_with(|c: char| c.is_ascii_digit())
        {
            real = true;
            self.cursor.at = self.cursor.text.len() - exponent.len();
            self.cursor.skip_while(|c| c.is_ascii_digit());
        }
        if self.cursor.rest().starts_with(['f', 'F']) {
            real = true;
            self.cursor.at += 1;
        }
        let word = self.cursor.at;
        self.cursor
            .skip_while(|c| c.is_ascii_alphanumeric() || c == '_');
        if self.cursor.at != word {
            let title = format!("`{}` is not a number", self.cursor.since(start));
            self.report(Id::BadNumber, title, start, "not a number");
        }
        let kind = if real {
            TokenKind::Real
        } else {
            TokenKind::Integer
        };
        self.push(kind, start);
    }

    /// Whether the dot here ends a module, as it may in old programs.
    fn ends_module(&self) -> bool {
        let behind = self.cursor.rest()[1..].trim_start();
        let digit = self.cursor.rest()[1..]
            .starts_with(|c: char| c.is_ascii_digit() || c == 'e' || c == 'E');
        !digit && (behind.is_empty() || behind.starts_with("module") || behind.starts_with('%'))
    }

    /// `"a ""quote"" in it"`
    fn quoted(&mut self) {
        let start = self.cursor.at;
        self.cursor.at += 1;
        loop {
            self.cursor.skip_while(|c| c != '"' && c != '\n');
            if self.cursor.rest().starts_with("\"\"") {
                self.cursor.at += 2;
            } else if self.cursor.rest().starts_with('"') {
                self.cursor.at += 1;
                break;
            } else {
                let title = "this string is never closed".to_string();
                self.report(
                    Id::MissingBracket,
                    title,
                    start,
                    "expected `\"` on the same line",
                );
                break;
            }
        }
        self.push(TokenKind::Text, start);
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        self.tokens.push(Token {
            kind,
            text: self.cursor.since(start),
            span: self.cursor.span(start),
        });
    }

    fn report(&mut self, id: Id, title: String, start: usize, label: &str) {
        let span = self.cursor.span(start);
        self.diagnostics
            .push(Diagnostic::error(id, title, span, label));
    }
}
