//! What a stack does in a trace, whatever runs it.
//!
//! In: an interpreter or a module, and a trace. Out: all that a host sees, and where two of them
//! differ.

use crate::ir::Module;
use crate::simulate::externs::Externs;
use crate::simulate::machine::driver::Driven;
use crate::simulate::stack::{Control, Stack};
use crate::simulate::trace::{Difference, Seen, Trace};
use crate::types::program::Program;
use std::collections::BTreeMap;

/// What a stack did in a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Whether it started at all.
    pub started: bool,
    /// After each step, up to where it broke.
    pub seen: Vec<Seen>,
    /// How many buffers the host could take at the end.
    pub free_buffers: u64,
    /// How often ways were taken, of trees that count them.
    pub passed: BTreeMap<u32, u64>,
}

/// What an interpreter makes of a trace.
pub fn interpreted<'p, C: Control<'p>>(
    control: C,
    program: &'p Program,
    externs: &'p Externs<'p>,
    trace: &Trace,
) -> Run {
    let config = trace.config.clone();
    let (limits, start_ns) = (trace.limits.clone(), trace.start_ns);
    let Some(mut stack) = Stack::start(control, program, externs, config, limits, start_ns) else {
        return Run::default();
    };
    Run {
        started: true,
        seen: trace.run(&mut stack),
        free_buffers: stack.state().clone().lend_buffers(usize::MAX) as u64,
        passed: stack.state().passed.clone(),
    }
}

/// Runs a module of the stack IR in a trace of its program.
pub fn played<'p>(
    module: &'p Module,
    program: &'p Program,
    externs: &'p Externs<'p>,
    trace: &Trace,
) -> Run {
    let (limits, start_ns) = (trace.limits.clone(), trace.start_ns);
    let started = Driven::start(module, program, externs, &trace.config, limits, start_ns);
    let Some(mut driven) = started else {
        return Run::default();
    };
    Run {
        started: true,
        seen: trace.run(&mut driven),
        free_buffers: driven.free_buffers(),
        passed: driven.passed().clone(),
    }
}

/// Where two runs of the same trace differ.
pub fn difference(one: &Run, other: &Run) -> Option<String> {
    if one.started != other.started {
        let says = |run: &Run| {
            if run.started {
                "starts"
            } else {
                "does not start"
            }
        };
        return Some(format!("- {}\n+ {}\n", says(one), says(other)));
    }
    if let Some(difference) = Difference::first(&one.seen, &other.seen) {
        return Some(difference.to_string());
    }
    let (one, other) = (one.free_buffers, other.free_buffers);
    (one != other).then(|| format!("at the end:\n- {one} buffers free\n+ {other} buffers free\n"))
}
