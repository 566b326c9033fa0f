//! The way from a text of Estelle to a checked specification.
//!
//! In: a text, and what the command line sets. Out: its syntax tree and its checked program; then
//! its stack IR and its C.

use super::{links, refused};
use crate::back::c::estelle::{Printed, print};
use crate::diagnostic::Diagnostic;
use crate::ir::Module;
use crate::lower::estelle::{Bounds, lower, lower_fixed};
use crate::passes::{PASSES, verified};
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

/// The passes of a specification, in their order.
const OF_SPECIFICATIONS: [&str; 12] = [
    "fold",
    "value-numbering",
    "inline",
    "fold",
    "straighten",
    "value-numbering",
    "fold",
    "straighten",
    "dead-fields",
    "dead-parameters",
    "dead-code",
    "fold-identical",
];

/// The stack IR of a specification, behind the passes.
///
/// # Errors
///
/// A sentence that says what of the specification has no C, or which bound is too small.
pub fn estelle_ir(program: &Program, bounds: &Bounds) -> Result<Module, String> {
    let module = lower(program, bounds)?;
    let module = match links::fixed(program, &module) {
        None => module,
        Some(fixed) => lower_fixed(program, bounds, &fixed)?,
    };
    let named = |name: &str| {
        let mut passes = PASSES.into_iter();
        let pass = passes.find(|pass| pass.name == name);
        pass.expect("each of these is a pass")
    };
    Ok(verified(module, &OF_SPECIFICATIONS.map(named)))
}

/// The C of a specification; `file` is where it is written.
///
/// # Errors
///
/// As [`estelle_ir`].
pub fn estelle_c(file: &str, program: &Program, bounds: &Bounds) -> Result<Printed, String> {
    let module = estelle_ir(program, bounds)?;
    Ok(print(file, program, &module))
}
