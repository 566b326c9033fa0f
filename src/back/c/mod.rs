//! The stack IR as C.
//!
//! In: a module that the verifier has passed. Out: `NAME.c` and `NAME.h`. Nothing is decided here
//! that changes what is done, or how much: each function of the module becomes a function of C,
//! each kind a struct, each instruction an expression or a statement.
//!
//! ```text
//! containers.rs the members that hold containers
//! instances/    functions that find, make and end instances
//! layout.rs     what stands beside instances, and the numbers of timers
//! message.rs    the struct of a message, and its defaults
//! names.rs      what all things are called in C
//! types.rs      types of values, as locals and in memory
//! prototype.rs  how functions of the module are declared and called
//! records.rs    structs of kinds, settings, results, caches
//! ```

pub mod containers;
pub mod instances;
pub mod layout;
pub mod message;
pub mod names;
pub mod prototype;
pub mod records;
pub mod types;

use crate::c::tree::{Expression, Function, Statement, atom};
use crate::c::walk::is_named;
use crate::ir::Module;
use crate::ir::op::Place;
use crate::source::Sources;
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
    /// Streams into which bytes are put behind a gap.
    pub gaps: BTreeSet<Place>,
}

impl<'m> Stack<'m> {
    /// Names for all of a module.
    pub fn new(module: &'m Module, sources: &'m Sources) -> Stack<'m> {
        Stack {
            module,
            sources,
            names: Names::new(module),
            reach: prototype::reaches(module),
            gaps: containers::with_gaps(module),
        }
    }
}

/// The same function, in which each parameter that it does not look at is said to be there.
pub fn with_all_used(mut function: Function) -> Function {
    let names = function.parameters.iter().map(|parameter| {
        let name = parameter.rsplit([' ', '*']).next();
        name.expect("a text has a last word").to_string()
    });
    let unused = names.filter(|name| !is_named(name, &function.body));
    let unused = unused.map(|name| {
        let named = Box::new(atom(name));
        Statement::Do(Expression::Cast("void".to_string(), named))
    });
    let unused: Vec<Statement> = unused.collect();
    function.body.splice(0..0, unused);
    function
}
