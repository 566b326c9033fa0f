//! Tests of the parser and the printer.
//!
//! ```text
//! mistakes   each mistake of the grammar: its place, its reason, and what to do
//! nesting    the clauses of each transition
//! printed    the canonical form: idempotent, and of the same tree
//! spoilt     random, cut and changed texts: no panic, no end that is not reached
//! ```

mod mistakes;
mod nesting;
mod printed;
mod spoilt;

use super::ast::Specification;
use crate::diagnostic::{Diagnostic, render};
use crate::source::Sources;

/// A specification with all of the grammar.
const SAMPLE: &str = include_str!("sample.stl");

/// Reads a text.
fn parse(text: &str) -> (Option<Specification>, Vec<Diagnostic>) {
    let mut sources = Sources::new();
    let file = sources.add("test.stl", text);
    super::parse(file, &sources)
}

/// Reads a text in which there must be no mistake.
fn parse_well(text: &str) -> Specification {
    let mut sources = Sources::new();
    let file = sources.add("test.stl", text);
    let (tree, diagnostics) = super::parse(file, &sources);
    assert!(
        diagnostics.is_empty(),
        "{}\n{text}",
        render(&diagnostics, &sources, false)
    );
    tree.expect("a text without mistakes has a tree")
}

/// Writes a tree without the places of its parts.
fn without_spans(tree: &Specification) -> String {
    let text = format!("{tree:?}");
    let mut parts = text.split("Span {");
    let mut rest = parts.next().unwrap_or_default().to_string();
    for part in parts {
        rest.push_str(part.split_once('}').map_or("", |(_, behind)| behind));
    }
    rest
}
