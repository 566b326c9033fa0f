//! The reference interpreter of Estelle: a literal transcription of the meaning of ISO 9074.
//!
//! In: a checked specification and a seed. Out: one line for each transition that fires. Nothing
//! here is shared with the lowering. Decisions that the design takes where the standard leaves a
//! choice have the mark "(our decision)".
//!
//! ```text
//! value      values, range checks, texts        fault      faults by name
//! choice     sources of choice, generators      trace      lines as text and JSON
//! situation  instances, queues, links, clocks: situation_link moves, situation_encode bytes
//! machine    evaluates clauses, executes blocks, selects
//! stepper    select and execute of a system     recorder   what happens -> lines
//! run        one run by first choices or seed   explore    all choices, breadth first
//! turns      the system that acts next
//!
//! compiled   the same run for a specification that is compiled
//! ```

mod choice;
mod compiled;
mod explore;
mod fault;
mod machine;
mod recorder;
mod run;
mod situation;
mod situation_encode;
mod situation_link;
mod stepper;
#[cfg(test)]
mod tests;
mod trace;
mod turns;
mod value;

pub use choice::{Choices, Source, mixed};
pub use compiled::{Chooser, CompiledLine, CompiledRun, CompiledStep, IrTarget, Origin, Target};
pub use explore::{Bounds, Finding, Report, explore};
pub use fault::FaultKind;
pub use machine::Limits;
pub use run::{Options, Run};
pub use stepper::Refusal;
pub use trace::{Dump, Effect, End, Ending, FaultLine, Line, Message, Node, Selected, Start, Step};
pub use turns::{Choice, Course};
