//! Estelle (ISO 9074): text to tree, one specification a file; and its canonical form.
//!
//! In: a text. Out: its [`ast::Specification`], and all mistakes of its grammar. Names have no
//! meaning here.
//!
//! ```text
//! ast        the syntax tree
//! token      words, numbers, strings and signs
//! lexer      text -> tokens and comments
//! parser     tokens -> tree, mistakes, and the tokens that begin a line of the canonical form
//! printer    text -> canonical form
//! ```

pub mod ast;

mod lexer;
mod parser;
mod printer;
mod token;

#[cfg(test)]
mod tests;

pub use parser::parse;
pub use printer::{format, in_one_line};
