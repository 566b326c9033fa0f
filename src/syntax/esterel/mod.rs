//! Esterel v5: text to tree, one file of modules.
//!
//! In: a text. Out: its [`ast::File`], and all mistakes of its grammar. What a name means is not
//! known here.

pub mod ast;

mod lexer;
mod parser;
mod token;

pub use parser::parse;
