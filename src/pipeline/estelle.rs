//! The way from a text of Estelle to a checked specification.
//!
//! In: a text, and what the command line sets. Out: its syntax tree and its checked program.

use super::refused;
use crate::diagnostic::Diagnostic;
use crate::source::Sources;
use crate::syntax;
use crate::syntax::estelle::ast::Specification;
use crate::types::estelle::program::Program;
use crate::types::estelle::{self, Settings};

/// A specification of Estelle.
#[derive(Debug)]
pub struct Specified {
    /// Its syntax tree.
    pub tree: Specification,
    /// The checked specification: its meaning is what the reference interpreter makes of it.
    pub program: Program,
}

/// Checks a text of Estelle. Mistakes and warnings come beside the result.
pub fn estelle(
    sources: &mut Sources,
    text: (String, String),
    settings: &Settings,
) -> (Option<Specified>, Vec<Diagnostic>) {
    let file = sources.add(text.0, text.1);
    let (tree, mut diagnostics) = syntax::estelle::parse(file, sources);
    let Some(tree) = tree.filter(|_| !refused(&diagnostics)) else {
        return (None, diagnostics);
    };
    let (program, found) = estelle::check(&tree, settings, sources.span(file).before());
    diagnostics.extend(found);
    match program.filter(|_| !refused(&diagnostics)) {
        Some(program) => (Some(Specified { tree, program }), diagnostics),
        None => (None, diagnostics),
    }
}
