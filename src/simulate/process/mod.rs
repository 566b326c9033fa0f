//! Processes at run time: an instant comes in as signals that the environment gives; out come those
//! that are emitted.
//!
//! Two interpreters do the same. [`reference::Reference`] runs the statements as they stand, after
//! Berry's definition of what must and what can happen. [`trees::Trees`] runs an automaton, as the
//! generated C does. What is computed is left to a [`Computes`].

pub mod esterel;
pub mod instants;
pub mod machine;
pub mod reference;
pub mod trees;

pub use crate::types::process::Fault;
use crate::types::process::{DataId, SignalId};
use std::collections::BTreeSet;

/// Signals that the environment gives, or that are emitted.
pub type Present = BTreeSet<SignalId>;

/// What processes compute.
pub trait Computes {
    /// Something is done.
    fn act(&mut self, data: DataId) -> Result<(), Fault>;
    /// Whether a condition holds.
    fn holds(&mut self, data: DataId) -> Result<bool, Fault>;
    /// A signal is emitted, with a value; `again` combines it with the one that it has.
    fn emit(&mut self, signal: SignalId, value: Option<DataId>, again: bool) -> Result<(), Fault>;
    /// The instant is over: the value of a signal becomes that of the instant before.
    fn keep(&mut self, signal: SignalId);
}
