//! `loom explain STACK --after PASS`: the stack IR of a stack behind a pass.
//!
//! In: a stack, the name of a pass, and the passes that are not skipped. Out: the text of the
//! module, with places in the sources.

use crate::ir::Module;
use crate::ir::text::write_of;
use crate::passes::{Passes, verified};
use crate::pipeline::{self, Checked, Known};
use crate::tool::compiler::{self, Options};
use crate::tool::failure::Failure;
use crate::tool::terminal::result;
use std::path::Path;

/// Prints the stack IR behind a pass, without the passes that the options skip.
pub fn after(pass: &str, stack: &Path, options: &Options) -> Result<(), Failure> {
    let skipped = Passes::ALL.without(options.passes);
    let passes = Passes::up_to(pass).map_err(Failure::refused)?;
    let passes = passes.without(skipped);
    let (sources, mut module) = compiler::with_stack(stack, options, lowered)?;
    options.passes.prepare(&mut module);
    let module = verified(module, &passes.chosen());
    result(write_of(&module, &sources))
}

/// A stack in the stack IR, before all passes.
pub fn lowered(checked: &mut Checked, stack: &str) -> Option<Module> {
    let Known {
        mut program,
        forest,
        ..
    } = pipeline::known(checked, stack)?;
    let forest = pipeline::unwoven(&mut program, forest, checked.rewrites);
    Some(pipeline::lowered(&program, &forest, checked.rewrites))
}
