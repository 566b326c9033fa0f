//! Loom: the language in which layers and stacks are written.
//!
//! ```text
//! lexer      text -> tokens and comments
//! brackets   tokens -> tokens whose brackets balance
//! parser     tokens -> tree
//! slots      tree -> tree without slots
//! printer    tree and text -> the text as it should look
//! ```

pub mod ast;

mod token;

mod lexer;

mod brackets;

mod parser;

mod printer;

mod slots;

pub use parser::parse;
pub use printer::format;
pub use slots::{is_part_of_slots, slot_below, slot_names, without_slots};

use crate::source::{FileId, Sources, Span};
use token::TokenKind;

/// The words of a text that are no keywords, with their places; those of comments are left out.
pub fn words_of(file: FileId, sources: &Sources) -> Vec<(&str, Span)> {
    let tokens = lexer::lex(file, sources).tokens.into_iter();
    let words = tokens.filter(|token| token.kind == TokenKind::Word && !token.is_keyword());
    words.map(|token| (token.text, token.span)).collect()
}
