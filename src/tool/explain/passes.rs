//! `loom explain STACK --after PASS`: the stack IR of a stack behind a pass.
//!
//! In: a stack, and the name of a pass. Out: the text of the module, with places in the sources.

use crate::ir::Module;
use crate::ir::text::write_of;
use crate::lower::lower;
use crate::passes::{PASSES, verified};
use crate::pipeline::{self, Back, Checked, Known};
use crate::tool::compiler::{self, Options};
use crate::tool::failure::Failure;
use crate::tool::terminal::result;
use std::path::Path;

/// The name for the stack IR before all passes.
const LOWER: &str = "lower";

/// Prints the stack IR behind a pass.
pub fn after(pass: &str, stack: &Path, options: &Options) -> Result<(), Failure> {
    let names = PASSES.iter().map(|pass| pass.name);
    let names: Vec<&str> = std::iter::once(LOWER).chain(names).collect();
    let Some(count) = names.iter().position(|name| *name == pass) else {
        let passes = names.join("`, `");
        let message = format!("there is no pass `{pass}`; the passes are `{passes}`");
        return Err(Failure::refused(message));
    };
    let (sources, module) = compiler::with_stack(stack, options, lowered)?;
    let module = verified(module, &PASSES[..count]);
    result(write_of(&module, &sources))
}

/// A stack in the stack IR, made of its woven trees.
fn lowered(checked: &mut Checked, stack: &str) -> Option<Module> {
    let Known {
        mut program,
        forest,
        ..
    } = pipeline::known(checked, stack)?;
    let rewrites = Back::Ir.rewrites(checked.rewrites);
    let forest = pipeline::woven(&mut program, forest, rewrites);
    Some(lower(&program, &forest))
}
