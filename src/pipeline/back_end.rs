//! The way from trees to C: by the stack IR.
//!
//! In: a stack whose trees are not woven, and the rewrites and passes that run. Out: its stack IR
//! before all passes, or behind them with its C.

pub use crate::back::c::Variant;
use crate::back::c::{Printed, print};
use crate::ir::Module;
use crate::lower::{lower, lower_woven};
use crate::optimise::{rewrite, rewritten};
pub use crate::passes::Passes;
use crate::passes::verified;
use crate::source::Sources;
use crate::tree::Forest;
use crate::tree::rewrites::{Rewrite, Rewrites};
use crate::types::program::Program;
use crate::weave::{Limits, weave};

/// Returns the trees of which the stack IR is made: behind these rewrites, but not woven. Fields
/// that rewrites keep are added to the program.
pub fn unwoven(program: &mut Program, forest: Forest, rewrites: Rewrites) -> Forest {
    let apart = rewrites.without(Rewrites::only(Rewrite::Inline));
    rewritten(program, forest, apart)
}

/// Returns the stack IR behind these passes of a stack whose trees are [`unwoven`], and its C in a
/// variant.
pub fn printed(
    (sources, program, forest): (&Sources, &Program, &Forest),
    variant: Variant<'_>,
    (rewrites, passes): (Rewrites, Passes),
) -> (Module, Printed) {
    let module = lowered(program, forest, rewrites);
    let module = verified(module, &passes.chosen());
    let printed = print(&module, sources, variant);
    (module, printed)
}

/// Returns the stack IR of a stack whose trees are [`unwoven`], before all passes. If it is to be
/// woven, reactions of which fast functions are formed have a woven copy for this.
pub fn lowered(program: &Program, forest: &Forest, rewrites: Rewrites) -> Module {
    if !rewrites.has(Rewrite::Inline) {
        return lower(program, forest);
    }
    let mut program = program.clone();
    let limits = Limits::for_fast_functions();
    let woven = weave(&program, forest.clone(), limits);
    let shorter = [Rewrite::Branches, Rewrite::Frequent].into_iter();
    let mut woven = shorter
        .filter(|one| rewrites.has(*one))
        .fold(woven, |woven, one| rewrite(&mut program, woven, one));
    let mut trees = std::mem::take(&mut woven.trees);
    trees.retain(|tree| limits.weave_into(&program, tree.reaction));
    woven.trees = trees;
    lower_woven(&program, forest, &woven)
}
