//! Tokens, one after the other: words, names, numbers, lists.

use crate::ir::text::lexer::{Class, Mistake, Read, Token, unquote};
use crate::ir::text::names::Table;
use crate::source::Position;

/// The tokens of a text, and how many of them are read.
#[derive(Clone, Debug)]
pub struct Cursor<'t> {
    tokens: &'t [Token<'t>],
    at: usize,
}

/// Shapes and operations stand within each other at most so deep.
pub const DEPTH: u32 = 64;

impl<'t> Cursor<'t> {
    /// At the first of the tokens, the last of which is the end of the text.
    pub fn new(tokens: &'t [Token<'t>]) -> Cursor<'t> {
        Cursor { tokens, at: 0 }
    }

    /// The next token.
    pub fn peek(&self) -> Token<'t> {
        self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    /// The token behind the next.
    pub fn peek_second(&self) -> Token<'t> {
        self.tokens[(self.at + 1).min(self.tokens.len() - 1)]
    }

    /// The next token, which is then read.
    pub fn next(&mut self) -> Token<'t> {
        let token = self.peek();
        self.at += 1;
        token
    }

    /// The position of the next token.
    pub fn position(&self) -> Position {
        self.peek().at
    }

    /// A mistake at the next token.
    pub fn mistake<T>(&self, message: impl Into<String>) -> Read<T> {
        Err(Mistake::new(self.position(), message))
    }

    /// A mistake at the next token, in whose place something else is expected.
    pub fn expected<T>(&self, what: &str) -> Read<T> {
        let found = match self.peek() {
            Token {
                class: Class::Line, ..
            } => "the end of the line".to_string(),
            Token {
                class: Class::End, ..
            } => "the end of the text".to_string(),
            token => format!("`{}`", token.text),
        };
        self.mistake(format!("{what} is expected, not {found}"))
    }

    /// Returns true if the next token is this word or sign.
    pub fn is(&self, text: &str) -> bool {
        let token = self.peek();
        matches!(token.class, Class::Word | Class::Sign) && token.text == text
    }

    /// Reads this word or sign, if it is next.
    pub fn takes(&mut self, text: &str) -> bool {
        let is_next = self.is(text);
        self.at += usize::from(is_next);
        is_next
    }

    /// Reads this word or sign.
    pub fn expect(&mut self, text: &str) -> Read<()> {
        match self.takes(text) {
            true => Ok(()),
            false => self.expected(&format!("`{text}`")),
        }
    }

    /// Returns true if the next token is of this class.
    pub fn is_class(&self, class: Class) -> bool {
        self.peek().class == class
    }

    /// Reads the end of a line, or of the text.
    pub fn end_line(&mut self) -> Read<()> {
        match self.peek().class {
            Class::Line => {
                self.at += 1;
                Ok(())
            }
            Class::End => Ok(()),
            _other => self.expected("the end of the line"),
        }
    }

    /// A word.
    pub fn word(&mut self, what: &str) -> Read<&'t str> {
        match self.is_class(Class::Word) {
            true => Ok(self.next().text),
            false => self.expected(what),
        }
    }

    /// Returns true if a name is next.
    pub fn is_name(&self) -> bool {
        matches!(self.peek().class, Class::Word | Class::Quoted)
    }

    /// A name: a word, or a text in quotes.
    pub fn name(&mut self) -> Read<String> {
        let token = self.peek();
        let name = match token.class {
            Class::Word => token.text.to_string(),
            Class::Quoted => unquote(token.text).map_err(|said| Mistake::new(token.at, said))?,
            _other => return self.expected("a name"),
        };
        self.at += 1;
        Ok(name)
    }

    /// A number that is at most as large as another.
    pub fn number(&mut self, most: u64) -> Read<u64> {
        if !self.is_class(Class::Number) {
            return self.expected("a number");
        }
        let text = self.peek().text;
        let number = match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => text.parse(),
        };
        match number {
            Ok(number) if number <= most => {
                self.at += 1;
                Ok(number)
            }
            Ok(_) => self.mistake(format!("`{text}` is more than {most}")),
            Err(_) => self.mistake(format!("`{text}` is no number of 64 bits")),
        }
    }

    /// A number of 32 bits.
    pub fn number32(&mut self) -> Read<u32> {
        self.number(u64::from(u32::MAX)).map(|number| number as u32)
    }

    /// A number of 8 bits.
    pub fn number8(&mut self) -> Read<u8> {
        self.number(u64::from(u8::MAX)).map(|number| number as u8)
    }

    /// The number behind letters, as in `i32`, if the next word is so.
    pub fn peek_letter(&self, letter: char) -> Option<u8> {
        let token = self.peek();
        let digits = token.text.strip_prefix(letter)?;
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits.parse().ok();
        number.filter(|_| is_number && token.class == Class::Word)
    }

    /// Reads a list between brackets, with commas between its entries.
    pub fn list<T>(
        &mut self,
        open: &str,
        close: &str,
        mut read: impl FnMut(&mut Self) -> Read<T>,
    ) -> Read<Vec<T>> {
        self.expect(open)?;
        let mut all = Vec::new();
        if self.takes(close) {
            return Ok(all);
        }
        loop {
            all.push(read(self)?);
            if self.takes(close) {
                return Ok(all);
            }
            if !self.takes(",") {
                return self.expected(&format!("`,` or `{close}`"));
            }
        }
    }

    /// An entry of a table, by its name or index.
    pub fn reference(&mut self, what: &str, table: &Table) -> Read<u32> {
        let at = self.position();
        if self.takes("#") {
            let index = self.number32()?;
            let known = table.name(index).is_some();
            let mistake = Mistake::new(at, format!("there is no {what} {index}"));
            return known.then_some(index).ok_or(mistake);
        }
        if !self.is_name() {
            return self.expected(&format!("a {what}"));
        }
        let name = self.name()?;
        let found = table.find(&name);
        if self.takes("#") {
            let index = self.number32()?;
            let mistake = Mistake::new(at, format!("the {what} {index} is not `{name}`"));
            return found.contains(&index).then_some(index).ok_or(mistake);
        }
        match found {
            [only] => Ok(*only),
            [] => Err(Mistake::new(at, format!("there is no {what} `{name}`"))),
            [first, ..] => {
                let message = format!("there are several: write `{name}#{first}`");
                Err(Mistake::new(at, message))
            }
        }
    }
}
