//! Specifications that are compiled: as stack IR or as C.
//!
//! In: a [`Target`] that runs a specification. Out: its run by first choices or by a seed, with the
//! choices of the reference interpreter. The rules of Estelle are those of the target alone.
//!
//! ```text
//! chooser  choices, by the paths of modules     ir  stack IR as a target
//! run      a trace of what fires
//! ```

mod chooser;
mod ir;
mod run;

pub use chooser::{Chooser, Origin};
pub use ir::IrTarget;
pub use run::{CompiledLine, CompiledRun, CompiledStep};

/// A specification that is compiled: the functions that a program calls, by their names behind that
/// of the specification. Where it has a choice it asks a [`Chooser`].
pub trait Target {
    /// Calls a function at a time in nanoseconds: its result.
    fn call(&mut self, name: &str, arguments: &[i64], now_ns: u64) -> i64;

    /// The next time at which a delay ends, in nanoseconds; none if no delay runs.
    fn deadline_ns(&mut self, now_ns: u64) -> Option<u64>;
}

impl<T: Target> Target for &mut T {
    fn call(&mut self, name: &str, arguments: &[i64], now_ns: u64) -> i64 {
        (**self).call(name, arguments, now_ns)
    }

    fn deadline_ns(&mut self, now_ns: u64) -> Option<u64> {
        (**self).deadline_ns(now_ns)
    }
}
