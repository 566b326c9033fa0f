//! A place in a text that moves forward: the part that all lexers have in common.

use crate::source::{FileId, Sources, Span};

/// A place in the text of a file.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    /// The file.
    pub file: FileId,
    /// Its text.
    pub text: &'a str,
    /// The place: an offset in bytes, between two characters.
    pub at: usize,
}

impl<'a> Cursor<'a> {
    /// Returns the start of a file.
    pub fn new(file: FileId, sources: &'a Sources) -> Cursor<'a> {
        Cursor {
            file,
            text: sources.text(file),
            at: 0,
        }
    }

    /// Returns the text from here on.
    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Returns the next character; none at the end.
    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Returns the text from an earlier place to here.
    pub fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.at]
    }

    /// Returns the span from an earlier place to here.
    pub fn span(&self, start: usize) -> Span {
        Span::new(self.file, start as u32, self.at as u32)
    }

    /// Moves behind all characters that belong to something.
    pub fn skip_while(&mut self, belongs: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|c| !belongs(c)).unwrap_or(rest.len());
    }
}
