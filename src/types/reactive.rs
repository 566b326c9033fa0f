//! The processes of a kind of instances, with what they compute: plain data.

use super::expression::{Binary, Expression};
use super::process::{DataId, Processes, SignalId};
use super::program::{Event, FieldId, Local, LocalId};
use super::statement::{Block, Statement};

/// The processes of a kind, and its handlers, which run beside them (DESIGN 3.3).
#[derive(Clone, Debug, Default)]
pub struct Reactive {
    /// What they do.
    pub processes: Processes,
    /// What is computed, by [`DataId`].
    pub computations: Vec<Computation>,
    /// What can begin an instant, which input says so, and the locals that hold what it brings.
    /// The start comes first.
    pub events: Vec<(Event, SignalId, Vec<LocalId>)>,
    /// What holds the value of each signal that carries one, and how two become one.
    pub values: Vec<(SignalId, FieldId, Option<Binary>)>,
    /// The signal that stands for each field that is read or written, in [`Processes`].
    pub fields: Vec<(FieldId, SignalId)>,
    /// Fields that hold what something was before the instant, and what that is.
    pub before: Vec<(FieldId, Expression)>,
    /// All locals, of all that they do.
    pub locals: Vec<Local>,
    /// How many states they have between two instants, once `reactive` has found these.
    pub states: Option<u32>,
}

/// What is computed within an instant.
#[derive(Clone, Debug)]
pub enum Computation {
    /// Steps, without statements of processes.
    Steps(Block),
    /// Whether a statement with empty blocks succeeds, or its condition holds.
    Choice(Statement),
    /// The value of a signal.
    Value(Expression),
}

impl Reactive {
    /// What is computed.
    pub fn computation(&self, id: DataId) -> &Computation {
        &self.computations[id.at()]
    }
}
