//! Loom: the language in which layers and stacks are written.
//!
//! ```text
//! lexer      text -> tokens and comments
//! brackets   tokens -> tokens whose brackets balance
//! parser     tokens -> tree
//! printer    tree and text -> the text as it should look
//! ```

pub mod ast;

mod token;

mod lexer;

mod brackets;

mod parser;

mod printer;

pub use parser::parse;
pub use printer::format;
