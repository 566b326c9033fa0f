//! The way from trees to C: by the stack IR.
//!
//! In: a stack whose trees are not woven, and the rewrites and passes that run. Out: its stack IR
//! before all passes, or behind them with its C.

pub use crate::back::c::Variant;
use crate::back::c::{Printed, print};
use crate::ir::Module;
use crate::lower::{lower, lower_woven};
use crate::optimise::extend::{self, Trees, extend};
use crate::optimise::{rewrite, rewritten};
pub use crate::passes::Passes;
use crate::passes::verified;
use crate::source::Sources;
use crate::tree::Forest;
use crate::tree::rewrites::{Rewrite, Rewrites};
use crate::types::program::Program;
use crate::weave::{Limits, weave};

/// Returns the trees of which the stack IR is made: behind these rewrites, but not woven. Trees of
/// reactions that have a woven copy are extended in the copy alone. Fields that rewrites keep are
/// added to the program.
pub fn unwoven(program: &mut Program, forest: Forest, rewrites: Rewrites) -> Forest {
    let later = Rewrites::only(Rewrite::Inline).and(Rewrites::only(Rewrite::Extend));
    let forest = rewritten(program, forest, rewrites.without(later));
    let trees = match rewrites.has(Rewrite::Inline) {
        true => Trees::OfOthers,
        false => Trees::All,
    };
    extended(program, forest, rewrites, trees)
}

/// Returns trees of which some are extended, if they are to be, and then pruned again.
fn extended(program: &mut Program, forest: Forest, rewrites: Rewrites, trees: Trees) -> Forest {
    if !rewrites.has(Rewrite::Extend) {
        return forest;
    }
    let limits = extend::Limits {
        trees,
        ..extend::Limits::default()
    };
    let forest = extend(program, forest, limits);
    pruned(program, forest, rewrites)
}

/// Returns trees behind the rewrites that follow each that makes copies.
fn pruned(program: &mut Program, forest: Forest, rewrites: Rewrites) -> Forest {
    let chosen = [Rewrite::Branches, Rewrite::Frequent].into_iter();
    chosen
        .filter(|one| rewrites.has(*one))
        .fold(forest, |forest, one| rewrite(program, forest, one))
}

/// Returns the stack IR behind these passes of a stack whose trees are [`unwoven`], and its C in a
/// variant.
pub fn printed(
    (sources, program, forest): (&Sources, &Program, &Forest),
    variant: Variant<'_>,
    (rewrites, passes): (Rewrites, Passes),
) -> (Module, Printed) {
    let mut module = lowered(program, forest, rewrites);
    passes.prepare(&mut module);
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
    let woven = extended(&mut program, forest.clone(), rewrites, Trees::OfWoven);
    let woven = weave(&program, woven, limits);
    let mut woven = pruned(&mut program, woven, rewrites);
    let mut trees = std::mem::take(&mut woven.trees);
    trees.retain(|tree| limits.weave_into(&program, tree.reaction));
    woven.trees = trees;
    lower_woven(&program, forest, &woven)
}
