//! Estelle: the static rules of ISO 9074 and the types of Pascal (ISO 7185).
//!
//! In: the syntax tree of a specification. Out: the checked [`program::Program`], and all mistakes.
//!
//! ```text
//! settings   what the command line decides      program   the checked specification
//! scope      meanings of names                  checker   the state of the check
//! pascal/    constants, types, expressions, statements and routines
//! module/    modules, interaction points, transitions and Estelle's statements
//! ```

mod checker;
mod module;
mod pascal;
pub mod program;
mod scope;
mod settings;
#[cfg(test)]
mod tests;

pub use settings::Settings;

use crate::diagnostic::{Diagnostic, merged};
use crate::source::Span;
use crate::syntax::estelle::ast::Specification;
use checker::Checker;

/// Checks a specification. The program is there if no diagnostic is an error. Mistakes of the
/// settings point at `place`.
pub fn check(
    tree: &Specification,
    settings: &Settings,
    place: Span,
) -> (Option<program::Program>, Vec<Diagnostic>) {
    let mut checker = Checker::new(settings, &tree.name.text, place);
    checker.specification(tree);
    checker.recursion();
    checker.unused_settings(place);
    if checker.is_right() {
        checker.warnings();
    }
    let (program, diagnostics) = checker.finish();
    (program, merged(diagnostics))
}
