//! The tokens that begin a line of the canonical form, and how far those lines are indented.
//!
//! The parser marks them while it reads, as it alone knows the structure.

/// The marks of all tokens of a file.
pub struct Lines {
    /// For each token: the indentation of the line that it begins, if it begins one.
    marks: Vec<Option<u16>>,
    /// The indentation of what is being read.
    pub indentation: u16,
    /// The number of tokens that begin a line.
    count: usize,
}

impl Lines {
    /// Returns marks for a number of tokens, none of which begins a line.
    pub fn new(tokens: usize) -> Lines {
        Lines {
            marks: vec![None; tokens],
            indentation: 0,
            count: 0,
        }
    }

    /// Returns the indentation of the line that a token begins.
    pub fn of(&self, token: usize) -> Option<u16> {
        self.marks[token]
    }

    /// Lets a token begin a line.
    pub fn begin(&mut self, token: usize) {
        self.count += usize::from(self.marks[token].is_none());
        self.marks[token] = Some(self.indentation);
    }

    /// Lets a token follow the one before it.
    pub fn join(&mut self, token: usize) {
        self.count -= usize::from(self.marks[token].is_some());
        self.marks[token] = None;
    }

    /// Returns how many tokens begin a line.
    pub fn count(&self) -> usize {
        self.count
    }
}
