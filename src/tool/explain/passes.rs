//! `loom explain STACK --after PASS`: the stack IR of a stack behind a pass.
//!
//! In: a stack, and the name of a pass. Out: the text of the module, with places in the sources.

use crate::ir::Module;
use crate::ir::text::write_of;
use crate::lower::lower;
use crate::pipeline::{self, Checked, Known};
use crate::tool::compiler::{self, Options};
use crate::tool::failure::Failure;
use crate::tool::terminal::result;
use std::path::Path;

/// The passes of the stack IR, in order.
const PASSES: [&str; 1] = ["lower"];

/// Prints the stack IR behind a pass.
pub fn after(pass: &str, stack: &Path, options: &Options) -> Result<(), Failure> {
    if !PASSES.contains(&pass) {
        let passes = PASSES.join("`, `");
        let message = format!("there is no pass `{pass}`; the passes are `{passes}`");
        return Err(Failure::refused(message));
    }
    let (sources, module) = compiler::with_stack(stack, options, lowered)?;
    result(write_of(&module, &sources))
}

/// A stack in the stack IR, made of its woven trees.
fn lowered(checked: &mut Checked, stack: &str) -> Option<Module> {
    let Known {
        mut program,
        forest,
        ..
    } = pipeline::known(checked, stack)?;
    let forest = pipeline::woven(&mut program, forest, checked.rewrites);
    Some(lower(&program, &forest))
}
