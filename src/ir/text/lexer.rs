//! Text -> tokens, each with its position.
//!
//! A comment begins with `;`. A line ends a statement, unless it ends in `,` or `->`, or a bracket
//! is still open. A name is a word, or any text in quotes. The name of a value begins with `%`.

use crate::source::Position;
use std::fmt;

/// A text that cannot be read, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The line, counted from one.
    pub line: u32,
    /// The column, counted from one in characters.
    pub column: u32,
    /// A sentence that says the mistake.
    pub message: String,
}

impl Mistake {
    /// A mistake at a position.
    pub fn new(at: Position, message: impl Into<String>) -> Mistake {
        let message = message.into();
        Mistake {
            line: at.line,
            column: at.column,
            message,
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: {}", self.line, self.column, self.message)
    }
}

/// Something that is read, or a mistake.
pub type Read<T> = Result<T, Mistake>;

/// The class of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A letter or `_`, then letters, digits, `_` and `.`.
    Word,
    /// A digit, then the same characters.
    Number,
    /// `%` and a name.
    Value,
    /// A text in quotes.
    Quoted,
    /// A sign.
    Sign,
    /// The end of a statement.
    Line,
    /// The end of the text.
    End,
}

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'t> {
    /// Its class.
    pub class: Class,
    /// As it is written.
    pub text: &'t str,
    /// Its first byte.
    pub at: Position,
}

/// Signs of two characters.
const LONG_SIGNS: [&str; 2] = ["->", ".."];
/// Signs of one character.
const SIGNS: &str = "()[]{}:,=@#/+%";

/// The tokens of a text; the last is its end.
pub fn tokens(text: &str) -> Read<Vec<Token<'_>>> {
    let mut tokens: Vec<Token<'_>> = Vec::new();
    let mut open = 0_u32;
    let mut number = 0;
    for line in text.split('\n') {
        number += 1;
        for token in line_tokens(line, number)? {
            match token.text {
                "(" | "[" => open += 1,
                ")" | "]" => open = open.saturating_sub(1),
                _name => {}
            }
            tokens.push(token);
        }
        let goes_on = |token: &Token<'_>| [",", "->"].contains(&token.text);
        let is_line = |token: &Token<'_>| token.class == Class::Line;
        let last = tokens.last();
        if open == 0 && last.is_some_and(|token| !is_line(token) && !goes_on(token)) {
            tokens.push(Token {
                class: Class::Line,
                text: "",
                at: position(number, line),
            });
        }
    }
    let at = Position {
        line: number,
        column: text.lines().last().map_or(0, |line| line.chars().count()) as u32 + 1,
    };
    tokens.push(Token {
        class: Class::End,
        text: "",
        at,
    });
    Ok(tokens)
}

fn line_tokens(line: &str, number: u32) -> Read<Vec<Token<'_>>> {
    let mut tokens = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let at = position(number, &line[..line.len() - rest.len()]);
        if first == ';' {
            break;
        }
        let (class, length) = measure(rest, first).map_err(|said| Mistake::new(at, said))?;
        let (text, behind) = rest.split_at(length);
        tokens.push(Token { class, text, at });
        rest = behind.trim_start();
    }
    Ok(tokens)
}

/// The position behind the beginning of a line.
fn position(line: u32, before: &str) -> Position {
    let column = before.chars().count() as u32 + 1;
    Position { line, column }
}

/// The class and the length of the first token.
fn measure(rest: &str, first: char) -> Result<(Class, usize), String> {
    let word = |text: &str| text.find(|c| !is_letter(c)).unwrap_or(text.len());
    if first.is_ascii_alphabetic() || first == '_' {
        return Ok((Class::Word, word(rest)));
    }
    if first.is_ascii_digit() {
        let length = word(rest);
        return Ok((Class::Number, rest[..length].find("..").unwrap_or(length)));
    }
    if first == '"' {
        return Ok((Class::Quoted, quoted(rest)?));
    }
    let behind = &rest[first.len_utf8()..];
    if first == '%' && behind.starts_with('"') {
        let name = 1 + quoted(behind)?;
        return Ok((Class::Value, name + suffix(&rest[name..])));
    }
    if first == '%' && behind.starts_with(is_letter) {
        return Ok((Class::Value, 1 + word(behind)));
    }
    if let Some(sign) = LONG_SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
        return Ok((Class::Sign, sign.len()));
    }
    if SIGNS.contains(first) {
        return Ok((Class::Sign, first.len_utf8()));
    }
    Err(format!("`{}` begins nothing", first.escape_default()))
}

/// The length of a text in quotes.
fn quoted(text: &str) -> Result<usize, String> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == '"' && !escaped {
            return Ok(at + 1);
        }
        escaped = c == '\\' && !escaped;
    }
    Err("the quote is not closed in its line".to_string())
}

/// The length of `.2` behind the name of a value.
fn suffix(text: &str) -> usize {
    let digits = text.strip_prefix('.').unwrap_or("");
    let length = digits.find(|c: char| !c.is_ascii_digit());
    match length.unwrap_or(digits.len()) {
        0 => 0,
        length => 1 + length,
    }
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_.".contains(c)
}

/// Returns true for a text that is one word.
pub fn is_word(text: &str) -> bool {
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    begins && text.chars().all(is_letter)
}

/// A text in quotes, in which nothing but what one sees stands as it is.
pub fn quote(text: &str) -> String {
    let mut out = "\"".to_string();
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            _other => out += &c.escape_unicode().to_string(),
        }
    }
    out + "\""
}

/// The text that [`quote`] put in quotes.
pub fn unquote(quoted: &str) -> Result<String, String> {
    let inside = quoted.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    let mut rest = inside.ok_or("a text in quotes is expected")?;
    let mut out = String::new();
    while let Some(at) = rest.find('\\') {
        out += &rest[..at];
        let behind = &rest[at + 1..];
        let simple = behind.chars().next().filter(|c| "\"\\".contains(*c));
        if let Some(simple) = simple {
            out.push(simple);
            rest = &behind[1..];
            continue;
        }
        let code = behind.strip_prefix("u{").and_then(|it| it.split_once('}'));
        let (code, behind) = code.ok_or("`\\` stands before `\"`, `\\` or `u{..}`")?;
        let code = u32::from_str_radix(code, 16).ok().and_then(char::from_u32);
        out.push(code.ok_or("there is no such character")?);
        rest = behind;
    }
    Ok(out + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        let tokens = tokens(text).expect("the text has tokens");
        tokens.iter().map(|token| token.text).collect()
    }

    #[test]
    fn a_line_is_words_numbers_values_and_signs() {
        let line = "%next.2 = add %\"a b\".3, 0x10 ; sum";
        assert_eq!(
            texts(line),
            ["%next.2", "=", "add", "%\"a b\".3", ",", "0x10", "", ""]
        );
        assert_eq!(texts("@ 99.9%\n"), ["@", "99.9", "%", "", ""]);
    }

    #[test]
    fn a_statement_ends_with_its_line_unless_something_is_open() {
        assert_eq!(texts("a\n\nb"), ["a", "", "b", "", ""]);
        assert_eq!(texts("a,\nb ->\nc"), ["a", ",", "b", "->", "c", "", ""]);
        assert_eq!(texts("(a\nb)"), ["(", "a", "b", ")", "", ""]);
    }

    #[test]
    fn a_mistake_has_a_position() {
        let mistake = tokens("a\n é").expect_err("no token begins so");
        assert_eq!((mistake.line, mistake.column), (2, 2));
        assert!(tokens("\"open").is_err());
        let all = tokens("\"é\" a").expect("the text has tokens");
        assert_eq!(all[1].at.column, 5, "columns count characters");
    }

    #[test]
    fn quotes_hide_nothing() {
        for text in ["", "a b", "\"\\", "line\nline", "é\u{2028}", "x.2"] {
            assert_eq!(unquote(&quote(text)).as_deref(), Ok(text));
        }
        assert!(unquote("\"\\u{110000}\"").is_err());
        assert!(unquote("\"\\n\"").is_err());
    }
}
