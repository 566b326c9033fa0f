//! Text to tokens; comments are left out.

use super::token::{KEYWORDS, SIGNS, Token, TokenKind};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::{FileId, Sources, Span};

/// Cuts a text into tokens; the last is the only `End`.
pub(super) fn lex(file: FileId, sources: &Sources) -> (Vec<Token<'_>>, Vec<Diagnostic>) {
    let mut lexer = Lexer {
        file,
        text: sources.text(file),
        at: 0,
        tokens: Vec::new(),
        diagnostics: Vec::new(),
    };
    while let Some(first) = lexer.rest().chars().next() {
        lexer.one(first);
    }
    lexer.push(TokenKind::End, lexer.at);
    (lexer.tokens, lexer.diagnostics)
}

struct Lexer<'a> {
    file: FileId,
    text: &'a str,
    at: usize,
    tokens: Vec<Token<'a>>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Lexer<'a> {
    fn one(&mut self, first: char) {
        let start = self.at;
        match first {
            _ if first.is_whitespace() => self.at += first.len_utf8(),
            '\u{feff}' if start == 0 => self.at += first.len_utf8(),
            '%' => self.comment(),
            'a'..='z' | 'A'..='Z' | '_' => {
                self.skip_while(|c| c.is_ascii_alphanumeric() || c == '_');
                let kind = match KEYWORDS.contains(&&self.text[start..self.at]) {
                    true => TokenKind::Keyword,
                    false => TokenKind::Name,
                };
                self.push(kind, start);
            }
            '0'..='9' => self.number(),
            '.' if self.rest()[1..].starts_with(|c: char| c.is_ascii_digit()) => self.number(),
            '"' => self.quoted(),
            _ => match SIGNS.iter().find(|sign| self.rest().starts_with(**sign)) {
                Some(sign) => {
                    self.at += sign.len();
                    self.push(TokenKind::Sign, start);
                }
                None => {
                    self.at += first.len_utf8();
                    let title = format!("`{first}` has no meaning in Esterel");
                    self.report(Id::UnknownCharacter, title, start, "ignored");
                }
            },
        }
    }

    /// Skips `% to the end of the line` and `%{ over lines }%`, which nests.
    fn comment(&mut self) {
        let start = self.at;
        if !self.rest().starts_with("%{") {
            self.skip_while(|c| c != '\n');
            return;
        }
        let mut depth = 0_usize;
        while let Some(next) = self.rest().chars().next() {
            let (width, inside) = match &self.rest()[next.len_utf8()..] {
                rest if next == '%' && rest.starts_with('{') => (2, depth + 1),
                rest if next == '}' && rest.starts_with('%') => (2, depth - 1),
                _ => (next.len_utf8(), depth),
            };
            self.at += width;
            depth = inside;
            if depth == 0 {
                return;
            }
        }
        let title = "this comment is never closed".to_string();
        self.report(Id::MissingBracket, title, start, "expected `}%`");
    }

    fn number(&mut self) {
        let start = self.at;
        self.skip_while(|c| c.is_ascii_digit());
        let mut real = false;
        if self.rest().starts_with('.') && !self.ends_module() {
            real = true;
            self.at += 1;
            self.skip_while(|c| c.is_ascii_digit());
        }
        let behind = self.rest().trim_start_matches(['e', 'E']);
        let exponent = behind.trim_start_matches(['+', '-']);
        if self.rest().len() - behind.len() == 1
            && exponent.starts_with(|c: char| c.is_ascii_digit())
        {
            real = true;
            self.at = self.text.len() - exponent.len();
            self.skip_while(|c| c.is_ascii_digit());
        }
        if self.rest().starts_with(['f', 'F']) {
            real = true;
            self.at += 1;
        }
        let word = self.at;
        self.skip_while(|c| c.is_ascii_alphanumeric() || c == '_');
        if self.at != word {
            let title = format!("`{}` is not a number", &self.text[start..self.at]);
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
        let behind = self.rest()[1..].trim_start();
        let digit =
            self.rest()[1..].starts_with(|c: char| c.is_ascii_digit() || c == 'e' || c == 'E');
        !digit && (behind.is_empty() || behind.starts_with("module") || behind.starts_with('%'))
    }

    /// `"a ""quote"" in it"`
    fn quoted(&mut self) {
        let start = self.at;
        self.at += 1;
        loop {
            self.skip_while(|c| c != '"' && c != '\n');
            if self.rest().starts_with("\"\"") {
                self.at += 2;
            } else if self.rest().starts_with('"') {
                self.at += 1;
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

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_while(&mut self, belongs: impl Fn(char) -> bool) {
        let rest = self.rest();
        let end = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        self.at += end;
    }

    fn span(&self, start: usize) -> Span {
        Span::new(self.file, start as u32, self.at as u32)
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        self.tokens.push(Token {
            kind,
            text: &self.text[start..self.at],
            span: self.span(start),
        });
    }

    fn report(&mut self, id: Id, title: String, start: usize, label: &str) {
        let span = self.span(start);
        self.diagnostics
            .push(Diagnostic::error(id, title, span, label));
    }
}
