//! The stack IR as C.
//!
//! In: a module that the verifier has passed. Out: `NAME.c` and `NAME.h`. Nothing is decided here
//! that changes what is done, or how much: each function of the module becomes a function of C,
//! each kind a struct, each instruction an expression or a statement.
//!
//! ```text
//! names.rs      what all things are called in C
//! types.rs      types of values, as locals and in memory
//! prototype.rs  how functions of the module are declared and called
//! shapes.rs     public values of a host, and their parts
//! text/         C that every stack has in common
//! host/         the host's side: constants, events, outputs, entries
//! header/       NAME.h
//! ```

pub mod header;
pub mod host;
pub mod names;
pub mod prototype;
pub mod shapes;
pub mod text;
pub mod types;

use crate::ir::Module;
use crate::source::Sources;
use names::Names;
use prototype::Reach;

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
}

impl<'m> Stack<'m> {
    /// Names for all of a module.
    pub fn new(module: &'m Module, sources: &'m Sources) -> Stack<'m> {
        Stack {
            module,
            sources,
            names: Names::new(module),
            reach: prototype::reaches(module),
        }
    }
}
