//! What an interpreter does in a trace, where what is written in C is supplied to it.
//!
//! In: an interpreter, and a trace. Out: all that a host sees.

use crate::externs;
use stackloom::ir::Module;
use stackloom::simulate::externs::Externs;
use stackloom::simulate::stack::Control;
use stackloom::simulate::trace::Trace;
use stackloom::tool::case::run::{self, Run};
use stackloom::types::program::Program;

/// What an interpreter makes of a trace.
pub fn interpreted<'p, C: Control<'p>>(control: C, program: &'p Program, trace: &Trace) -> Run {
    let has_many = trace.limits.buffers >= MANY;
    run::interpreted(control, program, supplied(program, has_many), trace)
}

/// Runs a module of the stack IR in a trace.
#[allow(
    dead_code,
    reason = "not each test binary that has this file runs modules"
)]
pub fn played<'p>(module: &'p Module, program: &'p Program, trace: &Trace) -> Run {
    let has_many = trace.limits.buffers >= MANY;
    run::played(module, program, supplied(program, has_many), trace)
}

/// With so many buffers there are more than frames will need.
pub const MANY: u32 = 1024;

/// All that a program calls. It lives as long as the test, since a stack borrows it.
pub fn supplied(program: &Program, has_many: bool) -> &Externs<'_> {
    Box::leak(Box::new(externs::all(program, has_many)))
}
