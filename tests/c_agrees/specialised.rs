//! Stacks without what some traces never did: in, a stack and traces; out, its C.

use crate::{profiles, stacks};
use stackloom::pipeline::{self, Compiled};
use stackloom::profile::Profile;
use stackloom::simulate::trace::Trace;
use stackloom::types::program::Program;

/// A stack by a profile of its own, of these traces, and without what they never saw.
pub fn specialised(path: &str, traces: &dyn Fn(&Program) -> Vec<Trace>) -> Compiled {
    let mut checked = stacks::read(path);
    let name = stacks::first(&checked);
    let trees = pipeline::trees(&mut checked, &name);
    let (program, forest) = trees.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let recorded = profiles::of_traces(&program, &forest, &traces(&program));
    (checked.profile, checked.specialised) = (Profile::Recorded(recorded), true);
    let compiled = pipeline::compile(&mut checked, &name, &name);
    compiled.unwrap_or_else(|| panic!("{:?}", checked.unfit))
}
