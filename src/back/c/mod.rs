//! The stack IR as C.
//!
//! In: a module that the verifier has passed. Out: `NAME.c` and `NAME.h`. Nothing is decided here
//! that changes what is done, or how much: each function of the module becomes a function of C,
//! each kind a struct, each instruction an expression or a statement.
//!
//! ```text
//! function/     functions of the module
//! rounds.rs      events that would go round in calls
//! constants.rs  bytes at the top of the file
//! names.rs      what all things are called in C
//! types.rs      types of values, as locals and in memory
//! prototype.rs  how functions of the module are declared and called
//! ```

pub mod constants;
pub mod function;
pub mod names;
pub mod prototype;
pub mod rounds;
pub mod types;

use crate::ir::effects::Effects;
use crate::ir::op::{Attempt, Place, Target, Told};
use crate::ir::{FunctionId, Module, Terminator};
use crate::source::Sources;
use constants::Constants;
use names::Names;
use prototype::Reach;
use std::collections::BTreeSet;

/// A module, and what all files of this folder look up of it.
pub struct Stack<'m> {
    /// The module.
    pub module: &'m Module,
    /// The texts of its layers.
    pub sources: &'m Sources,
    /// The names of all things.
    pub names: Names,
    /// By function: how much of the stack it touches.
    pub reach: Vec<Reach>,
    /// By function: what it reads and changes.
    pub effects: Vec<Effects>,
    /// Bytes that stand at the top of the file.
    pub constants: Constants,
    /// Streams in which bytes may be held behind a gap.
    ranges: BTreeSet<Place>,
    /// Events that a reaction hands on and that could lead back to it: they go by the agenda.
    rounds: BTreeSet<(FunctionId, FunctionId)>,
}

impl<'m> Stack<'m> {
    /// Names for all of a module.
    pub fn new(module: &'m Module, sources: &'m Sources) -> Stack<'m> {
        let mut names = Names::new(module);
        let constants = Constants::of(module, &mut names);
        Stack {
            module,
            sources,
            names,
            reach: prototype::reaches(module),
            effects: Effects::of_functions(module),
            constants,
            ranges: with_gaps(module),
            rounds: rounds::of(module),
        }
    }

    /// Bytes may be held behind a gap in a stream.
    pub fn has_ranges(&self, place: Place) -> bool {
        self.ranges.contains(&place)
    }

    /// An event that a reaction hands on goes by the agenda.
    pub fn goes_round(&self, from: FunctionId, to: FunctionId) -> bool {
        self.rounds.contains(&(from, to))
    }

    /// An event calls a function of an application.
    pub fn calls_application(&self, target: Target) -> bool {
        match target {
            Target::Port(_, Told::Started) | Target::Link(_) | Target::Function(_) => false,
            Target::Port(port, _) => self.module.ports[port.at()].calls.is_some(),
        }
    }
}

/// The streams into which bytes come at any position.
fn with_gaps(module: &Module) -> BTreeSet<Place> {
    let functions = module.functions.iter();
    let ends = functions.flat_map(|function| &function.blocks);
    let places = ends.filter_map(|block| match &block.terminator {
        Terminator::Try {
            attempt: Attempt::InsertBytes(place),
            ..
        } => Some(*place),
        _other => None,
    });
    places.collect()
}

/// All functions.
pub fn functions(stack: &Stack<'_>) -> String {
    use crate::c::tree::Item;
    let mut items = Vec::new();
    for at in 0..stack.module.kernels.len() as u32 {
        let all = function::kernel::functions(stack, crate::ir::KernelId(at));
        items.extend(all.into_iter().map(Item::Function));
    }
    for at in 0..stack.module.functions.len() as u32 {
        items.push(Item::Function(function::print(stack, FunctionId(at))));
    }
    crate::c::printer::file(&items)
}
