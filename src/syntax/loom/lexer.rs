//! Text to tokens and comments. What belongs to other languages is pointed out, and read as what
//! it stands for in Loom, so that the parser need not stumble over it again.

use super::token::{Comment, CommentKind, OPERATORS, Token, TokenKind};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::{FileId, Sources, Span};
use crate::syntax::cursor::Cursor;

/// What is in a text.
pub(super) struct Lexed<'a> {
    /// In order; the last is the only `End`.
    pub tokens: Vec<Token<'a>>,
    /// In order.
    pub comments: Vec<Comment<'a>>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Cuts a text into tokens and comments.
pub(super) fn lex(file: FileId, sources: &Sources) -> Lexed<'_> {
    let mut lexer = Lexer {
        cursor: Cursor::new(file, sources),
        newline: None,
        angles: 0,
        foreign: Vec::new(),
        lexed: Lexed {
            tokens: Vec::new(),
            comments: Vec::new(),
            diagnostics: Vec::new(),
        },
    };
    while let Some(first) = lexer.cursor.peek() {
        lexer.one(first);
    }
    let end = lexer.cursor.span(lexer.cursor.at);
    lexer.push(TokenKind::End, "", end);
    lexer.report_foreign();
    lexer.lexed
}

struct Lexer<'a> {
    cursor: Cursor<'a>,
    /// The newline since the last token, if there was one.
    newline: Option<Span>,
    /// How many `<` of types are open.
    angles: usize,
    /// Signs of other languages: which, what to write instead, where.
    foreign: Vec<(&'static str, &'static str, Span)>,
    lexed: Lexed<'a>,
}

impl<'a> Lexer<'a> {
    fn one(&mut self, first: char) {
        let start = self.cursor.at;
        match first {
            '\n' => {
                self.cursor.at += 1;
                self.newline
                    .get_or_insert(Span::new(self.cursor.file, start as u32, start as u32));
            }
            ' ' | '\t' | '\r' => self.cursor.at += 1,
            '\u{feff}' if start == 0 => self.cursor.at += first.len_utf8(),
            'a'..='z' | 'A'..='Z' | '_' => {
                self.cursor.skip_while(is_word);
                self.push_from(TokenKind::Word, start);
            }
            '0'..='9' => self.number(),
            '"' | '\'' => self.string(first),
            _ if self.cursor.rest().starts_with("//") => self.comment(),
            _ if self.cursor.rest().starts_with("/*") => self.block_comment(),
            _ => self.sign(),
        }
    }

    fn number(&mut self) {
        let start = self.cursor.at;
        self.cursor.skip_while(is_word);
        let mut behind = self.cursor.rest().chars();
        if behind.next() == Some('.') && behind.next().is_some_and(|c| c.is_ascii_digit()) {
            self.cursor.at += 1;
            self.cursor.skip_while(is_word);
        }
        let mut behind = self.cursor.rest().chars();
        // `70%` is a share, unless it goes on like a remainder: `70%3`.
        let is_share =
            behind.next() == Some('%') && !behind.next().is_some_and(|c| is_word(c) || c == '(');
        if is_share {
            self.cursor.at += 1;
        }
        self.push_from(
            if is_share {
                TokenKind::Share
            } else {
                TokenKind::Number
            },
            start,
        );
    }

    fn comment(&mut self) {
        let start = self.cursor.at;
        self.cursor.skip_while(|c| c != '\n');
        let text = self.cursor.since(start).trim_end();
        let kind = if text.starts_with("//=") {
            CommentKind::Rule
        } else if text.starts_with("///") && !text.starts_with("////") {
            CommentKind::Documentation
        } else {
            CommentKind::Plain
        };
        let span = Span::new(self.cursor.file, start as u32, (start + text.len()) as u32);
        let line = self.cursor.text[..start]
            .rsplit('\n')
            .next()
            .unwrap_or_default();
        let trailing = !line.trim_start_matches('\u{feff}').trim().is_empty();
        self.lexed.comments.push(Comment {
            kind,
            text,
            span,
            trailing,
        });
    }

    fn block_comment(&mut self) {
        let start = self.cursor.at;
        let length = self.cursor.rest().find("*/").map(|length| length + 2);
        self.cursor.at += length.unwrap_or(self.cursor.rest().len());
        let span = self.cursor.span(start);
        let newline = Span {
            end: span.start,
            ..span
        };
        if self.cursor.since(start).contains('\n') {
            self.newline.get_or_insert(newline);
        }
        let opening = Span {
            end: span.start + 2,
            ..span
        };
        let title = if length.is_some() {
            "Loom has no `/* */` comments"
        } else {
            "this comment is never closed, and Loom has no `/* */` comments"
        };
        self.lexed.diagnostics.push(
            Diagnostic::error(Id::NotLoom, title, opening, "the comment begins here")
                .help("begin each line of the comment with `//`"),
        );
    }

    fn string(&mut self, quote: char) {
        let start = self.cursor.at;
        self.cursor.at += 1;
        self.cursor.skip_while(|c| c != quote && c != '\n');
        let title = if self.cursor.rest().starts_with(quote) {
            self.cursor.at += 1;
            "Loom has no strings"
        } else {
            "this quote is never closed, and Loom has no strings"
        };
        let span = self.cursor.span(start);
        let refused = Diagnostic::error(Id::NotLoom, title, span, "not a value")
            .why("A layer handles numbers and bytes; only the host program handles text.");
        let letters = self.cursor.since(start).trim_matches(quote).bytes();
        let number: String = letters.map(|letter| format!("{letter:02x}")).collect();
        self.lexed.diagnostics.push(match number.len() {
            2..=16 => refused.help(format!(
                "as a big-endian number, its bytes are `0x{number}`"
            )),
            _ => refused,
        });
        // It was meant as a value, so it becomes one.
        self.push(TokenKind::Number, "0", span);
    }

    fn sign(&mut self) {
        const FOREIGN: &[(&str, &str)] = &[
            ("&&", "and"),
            ("||", "or"),
            ("!", "not"),
            ("<>", "!="),
            (";", ""),
        ];
        const OTHERS: &[&str] = &["(", ")", "[", "]", "{", "}", ",", ":", "?", "~"];
        let (start, rest) = (self.cursor.at, self.cursor.rest());
        let foreign = FOREIGN.iter().find(|(sign, _)| rest.starts_with(sign));
        if let Some((sign, instead)) = foreign.filter(|_| !rest.starts_with("!=")) {
            self.cursor.at += sign.len();
            let span = self.cursor.span(start);
            self.foreign.push((sign, instead, span));
            match *instead {
                "" => self.newline = Some(span),
                "!=" => self.push(TokenKind::Sign, "!=", span),
                word => self.push(TokenKind::Word, word, span),
            }
        } else if let Some(sign) = self.angle() {
            self.cursor.at += 1;
            self.push(TokenKind::Angle, sign, self.cursor.span(start));
        } else if let Some(sign) = OTHERS
            .iter()
            .chain(OPERATORS)
            .find(|sign| rest.starts_with(**sign))
        {
            self.cursor.at += sign.len();
            self.push_from(TokenKind::Sign, start);
        } else {
            self.unknown();
        }
    }

    /// `<` and `>` enclose the element of a container only in a type, and what stands before a
    /// type tells: `held: queue<message>[3]`.
    fn angle(&mut self) -> Option<&'static str> {
        if self.newline.is_some() {
            self.angles = 0;
        }
        if self.cursor.rest().starts_with('>') && self.angles > 0 {
            self.angles -= 1;
            return Some(">");
        }
        let is_type = match self.lexed.tokens.as_slice() {
            [.., before, name] if name.kind == TokenKind::Word && self.newline.is_none() => {
                [":", "->", "by", "reads", "rewrites", "result"]
                    .iter()
                    .any(|it| before.is(it))
                    || before.kind == TokenKind::Angle && before.text == "<"
                    || matches!(
                        self.lexed.tokens.as_slice(),
                        [.., word, _, equals, _] if word.is("type") && equals.is("=")
                    )
            }
            _ => false,
        };
        if is_type && self.cursor.rest().starts_with('<') && !self.cursor.rest().starts_with("<=") {
            self.angles += 1;
            return Some("<");
        }
        None
    }

    fn unknown(&mut self) {
        let start = self.cursor.at;
        let is_unknown = |c: char| !c.is_ascii() || c.is_ascii_control() || "@#$\\`".contains(c);
        self.cursor.skip_while(|c| is_unknown(c) && c != '\n');
        assert!(self.cursor.at > start, "a character is known, or it is not");
        if self.cursor.since(start).chars().any(char::is_alphanumeric) {
            self.cursor
                .skip_while(|c| is_word(c) || c.is_alphanumeric());
        }
        let written = self.cursor.since(start);
        let is_comment = written.starts_with('#');
        let help = match written.chars().next() {
            Some('“' | '”' | '‘' | '’') => "Loom has no strings, and no quotes",
            Some('#') if self.cursor.rest().starts_with("define") => {
                "a constant is `const NAME: TYPE = VALUE`"
            }
            Some('#') if self.cursor.rest().starts_with("include") => {
                "write `use` to use the declarations of another file"
            }
            Some('#') => "comments begin with `//`",
            Some(c) if c.is_whitespace() => "write an ordinary space",
            Some(c) if c.is_alphanumeric() => "names consist of `a` to `z`, digits and `_`",
            Some(_) | None => "remove it",
        };
        let title = match written.chars().next() {
            Some(c) if c.is_whitespace() || c.is_control() => {
                format!("the character U+{:04X} has no meaning here", u32::from(c))
            }
            Some(_) | None => format!("`{written}` has no meaning here"),
        };
        let diagnostic =
            Diagnostic::error(Id::UnknownCharacter, title, self.cursor.span(start), "").help(help);
        self.lexed.diagnostics.push(diagnostic);
        if is_comment {
            self.cursor.skip_while(|c| c != '\n');
        }
    }

    /// One diagnostic for each of the signs of other languages, however often it is written.
    fn report_foreign(&mut self) {
        let mut seen: Vec<&str> = Vec::new();
        for &(sign, instead, span) in &self.foreign {
            if seen.contains(&sign) {
                continue;
            }
            seen.push(sign);
            let title = match instead {
                "" => "Loom has no semicolons: newlines end statements".to_owned(),
                word => format!("Loom writes `{word}` for `{sign}`"),
            };
            let more = self
                .foreign
                .iter()
                .filter(|(other, ..)| *other == sign)
                .count()
                - 1;
            let label = match more {
                0 => String::new(),
                1 => "here and at one more place".to_owned(),
                more => format!("here and at {more} more places"),
            };
            let help = match instead {
                "" => "remove it".to_owned(),
                word => format!("write `{word}`"),
            };
            let diagnostic = Diagnostic::error(Id::NotLoom, title, span, label).help(help);
            self.lexed.diagnostics.push(diagnostic);
        }
    }

    fn push_from(&mut self, kind: TokenKind, start: usize) {
        self.push(kind, self.cursor.since(start), self.cursor.span(start));
    }

    /// Adds a token, and before it the newline, if that ends something.
    fn push(&mut self, kind: TokenKind, text: &'a str, span: Span) {
        let token = Token { kind, text, span };
        // `combine +` ends with an operator, and yet with nothing to come; so does C's `x++`.
        let goes_on = match self.lexed.tokens.as_slice() {
            [] => true,
            [.., before, last] if before.is("combine") || before.is("+") && last.is("+") => false,
            [.., last] => last.wants_more(),
        };
        if let Some(newline) = self.newline.take()
            && !goes_on
            && !token.continues()
        {
            self.lexed.tokens.push(Token {
                kind: TokenKind::Newline,
                text: "",
                span: newline,
            });
        }
        self.lexed.tokens.push(token);
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        let mut sources = Sources::new();
        let file = sources.add("test.loom", text);
        let lexed = lex(file, &sources);
        assert_eq!(lexed.diagnostics, []);
        let texts = lexed.tokens.iter().map(|token| match token.kind {
            TokenKind::Newline => "newline".to_owned(),
            TokenKind::Angle => format!("angle {}", token.text),
            TokenKind::Word | TokenKind::Number | TokenKind::Share => token.text.to_owned(),
            TokenKind::Sign | TokenKind::End => token.text.to_owned(),
        });
        texts.collect()
    }

    fn titles(text: &str) -> Vec<String> {
        let mut sources = Sources::new();
        let file = sources.add("test.loom", text);
        lex(file, &sources)
            .diagnostics
            .into_iter()
            .map(|diagnostic| diagnostic.title)
            .collect()
    }

    #[test]
    fn a_newline_counts_only_where_the_line_does_not_go_on() {
        assert_eq!(texts("a\n\nb"), ["a", "newline", "b", ""]);
        assert_eq!(texts("a +\nb"), ["a", "+", "b", ""]);
        assert_eq!(texts("a // c\n  and b"), ["a", "and", "b", ""]);
        assert_eq!(
            texts("f(\na\nb\n)"),
            ["f", "(", "a", "newline", "b", ")", ""]
        );
        assert_eq!(texts("on x\n{ a }"), ["on", "x", "{", "a", "}", ""]);
    }

    #[test]
    fn a_share_is_one_word_and_a_range_is_three() {
        assert_eq!(
            texts("likely 99.9%\nx"),
            ["likely", "99.9%", "newline", "x", ""]
        );
        assert_eq!(texts("0..n % 2"), ["0", "..", "n", "%", "2", ""]);
        assert_eq!(texts("7%3"), ["7", "%", "3", ""]);
    }

    #[test]
    fn angles_of_types_are_no_comparisons() {
        assert_eq!(
            texts("x: set<u8>\ny"),
            [
                "x", ":", "set", "angle <", "u8", "angle >", "newline", "y", ""
            ]
        );
        assert_eq!(
            texts("x: a<b<c>>"),
            [
                "x", ":", "a", "angle <", "b", "angle <", "c", "angle >", "angle >", ""
            ]
        );
        assert_eq!(texts("a < b >> c"), ["a", "<", "b", ">>", "c", ""]);
        assert_eq!(texts("a as u8 < b"), ["a", "as", "u8", "<", "b", ""]);
        assert_eq!(texts("a as u8 << b"), ["a", "as", "u8", "<<", "b", ""]);
    }

    #[test]
    fn comments_know_their_kind_and_whether_they_follow_something() {
        let mut sources = Sources::new();
        let file = sources.add("test.loom", "/// d\nx //= rfc1#2  \n// p");
        let comments = lex(file, &sources).comments;
        let seen: Vec<_> = comments
            .iter()
            .map(|it| (it.kind, it.text, it.trailing))
            .collect();
        assert_eq!(
            seen,
            [
                (CommentKind::Documentation, "/// d", false),
                (CommentKind::Rule, "//= rfc1#2", true),
                (CommentKind::Plain, "// p", false),
            ]
        );
    }

    #[test]
    fn signs_of_other_languages_are_named_once_each() {
        assert_eq!(
            titles("a = 1; b = 2;\nif !x && y && z {}"),
            [
                "Loom has no semicolons: newlines end statements",
                "Loom writes `not` for `!`",
                "Loom writes `and` for `&&`",
            ]
        );
    }

    #[test]
    fn what_has_no_meaning_is_pointed_out() {
        assert_eq!(titles("größe"), ["`öße` has no meaning here"]);
        assert_eq!(
            titles("a\u{a0}b"),
            ["the character U+00A0 has no meaning here"]
        );
        assert_eq!(
            titles("x = \"abc"),
            ["this quote is never closed, and Loom has no strings"]
        );
        assert_eq!(
            titles("/* abc"),
            ["this comment is never closed, and Loom has no `/* */` comments"]
        );
    }
}
