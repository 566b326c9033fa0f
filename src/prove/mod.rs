//! Translation validation: each function behind a pass means what it meant before (Pnueli, Siegel
//! and Singerman, "Translation validation", 1998; Necula, "Translation validation for an optimizing
//! compiler", 2000).
//!
//! In: a module before and behind a pass, and a solver that reads SMT-LIB. Out: a verdict for each
//! function that the pass has changed: proved, or differs with a counterexample, or undecided with
//! a reason.
//!
//! Both functions are executed symbolically into one graph of terms; what is the same term is
//! equal, and the solver is asked for the rest. Called functions are executed at their calls, so a
//! function that is only called is judged with its callers. `proved` rests on this model: numbers,
//! fields and bytes of messages have their meaning, and events and outputs their order; of all else
//! is known that it is the same if it is given the same operands and the same state, and the table
//! of effects says of which state. An event that is put on the agenda has a place there, and an
//! output has room. An operation that traps is not modelled: the verifier sees to that.
//!
//! ```text
//! terms/           terms of SMT-LIB, each made once
//! symbolic.rs      values, and parts of the state
//! executor/        executes a function: its ends, each with a condition and a state
//! outcome.rs       all of what others can see of a function
//! naming.rs        names that both modules share
//! relation/        functions that are compared, and what a pass may do between functions
//! claim.rs         compares two functions
//! script.rs        text of SMT-LIB
//! counterexample.rs inputs for which two functions differ
//! reachable.rs     states in which counterexamples are searched first
//! ```

mod claim;
mod counterexample;
mod executor;
mod naming;
mod outcome;
mod reachable;
mod relation;
mod script;
mod symbolic;
mod terms;

pub use claim::{Solver, Verdict};
pub use counterexample::{Argument, Counterexample};
pub use reachable::{MOST_ELEMENTS, Reachable};
pub use relation::{Asked, Judged, from_outside, prove};
