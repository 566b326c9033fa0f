//! The way from woven trees to C: `emit`, or the stack IR.
//!
//! In: the name of a way, and a stack that `emit` has made C of. Out: the C that the way makes.

pub use crate::back::c::Variant;
use crate::back::c::{Printed, print};
use crate::emit::Emitted;
use crate::ir::Module;
use crate::lower::{lower, lower_woven};
use crate::optimise::rewrite;
pub use crate::passes::Passes;
use crate::passes::verified;
use crate::source::Sources;
use crate::tree::Forest;
use crate::tree::rewrites::{Rewrite, Rewrites};
use crate::types::program::Program;
use crate::weave::{Limits, weave};

/// The way from woven trees to C.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Back {
    /// `emit`
    #[default]
    Emit,
    /// The stack IR: `lower`, `passes`, `back`
    Ir,
}

impl Back {
    /// Returns those of some rewrites that this way needs. Fast paths as trees are for `emit`
    /// alone, and the stack IR weaves only what fast functions are formed of.
    pub fn rewrites(self, rewrites: Rewrites) -> Rewrites {
        match self {
            Back::Emit => rewrites,
            Back::Ir => {
                let of_emit = [Rewrite::Bypass, Rewrite::Inline].map(Rewrites::only);
                of_emit.into_iter().fold(rewrites, Rewrites::without)
            }
        }
    }

    /// Returns the C of a stack in a variant, of which `emit` has made this, with those of some
    /// rewrites that its trees do not have yet. Only the stack IR has passes. Both ways make the
    /// same interface, so a loader needs no other description.
    pub fn of_emitted(
        self,
        (sources, program, forest): (&Sources, &Program, &Forest),
        variant: Variant<'_>,
        (rewrites, passes): (Rewrites, Passes),
        emitted: Emitted,
    ) -> Emitted {
        match self {
            Back::Emit => emitted,
            Back::Ir => {
                let module = lowered(program, forest, rewrites);
                let module = verified(module, &passes.chosen());
                let Printed { c, h } = print(&module, sources, variant);
                Emitted {
                    c,
                    h,
                    paths: Vec::new(),
                    begun: Vec::new(),
                    held: Vec::new(),
                    ..emitted
                }
            }
        }
    }
}

/// Returns the stack IR of a stack whose trees are not woven, before all passes. If it is to be
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
