//! The way from woven trees to C: `emit`, or the stack IR.
//!
//! In: the name of a way, and a stack that `emit` has made C of. Out: the C that the way makes.

pub use crate::back::c::Variant;
use crate::back::c::{Printed, print};
use crate::emit::Emitted;
use crate::lower::lower;
pub use crate::passes::Passes;
use crate::passes::verified;
use crate::source::Sources;
use crate::tree::Forest;
use crate::tree::rewrites::{Rewrite, Rewrites};
use crate::types::program::Program;

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
    /// alone.
    pub fn rewrites(self, rewrites: Rewrites) -> Rewrites {
        match self {
            Back::Emit => rewrites,
            Back::Ir => rewrites.without(Rewrites::only(Rewrite::Bypass)),
        }
    }

    /// Returns the C of a stack in a variant, of which `emit` has made this. Only the stack IR has
    /// passes. Both ways make the same interface, so a loader needs no other description.
    pub fn of_emitted(
        self,
        (sources, program, forest): (&Sources, &Program, &Forest),
        variant: Variant<'_>,
        passes: Passes,
        emitted: Emitted,
    ) -> Emitted {
        match self {
            Back::Emit => emitted,
            Back::Ir => {
                let module = verified(lower(program, forest), &passes.chosen());
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
