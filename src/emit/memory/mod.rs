//! Memory in C: the sizes that `lower/memory` computes from the trees of a stack come in; the
//! configuration, and the macros that reserve memory, go out.

pub mod configuration;

mod macros;

pub use macros::macros;

use super::Stack;
use super::output::Queued;
use crate::lower::memory;
use crate::tree::{Index, Reaction};
use crate::types::program::{Event, KindId, Program};
use std::collections::BTreeSet;

/// What a stack needs, and the settings that it begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Bytes before a frame, for the headers of all layers.
    pub headroom: u32,
    /// Bytes of the longest message without these.
    pub room: u32,
    /// How many messages there can be at a time.
    pub buffers: u32,
    /// How many of these frames and applications leave to the stack.
    pub reserve: u32,
    /// How many outputs can wait for the host.
    pub outputs: u32,
    /// How many events can wait inside, without starts and ends of instances.
    pub events: u32,
    /// The fewest of these with which a stack can start.
    pub least_events: u32,
}

impl Memory {
    /// Returns what the trees of a stack need.
    pub(super) fn of(stack: &Stack) -> Memory {
        let (program, forest) = (stack.program, stack.forest);
        let needs = memory::memory(program, forest);
        Memory {
            headroom: memory::headroom(program),
            room: needs.room,
            buffers: needs.buffers,
            reserve: needs.reserve,
            outputs: needs.outputs,
            events: needs.events,
            least_events: needs.least_events,
        }
    }

    /// Returns how many bytes a buffer has, with its headroom.
    pub fn buffer(&self) -> u32 {
        self.headroom + self.room
    }
}

/// Returns true if messages wait in queues or windows, by the numbers of their buffers.
pub(super) fn holds(stack: &Stack) -> bool {
    memory::waiting(stack.program) > 0
}

/// Returns true if a place is kept for this event, beside those that `events` sets: for the start
/// and the end of an instance, and for what tells an application of a session.
pub(super) fn is_kept(program: &Program, queued: Queued) -> bool {
    match queued {
        Queued::Reaction(Reaction::Handle { event, .. }) => {
            matches!(event, Event::Start | Event::End)
        }
        Queued::Port(port, Event::Notice(notice)) => {
            let how = program.listened(port);
            how.is_some_and(|how| how.opened == Some(notice))
        }
        Queued::Port(_, event) => event == Event::Start,
        Queued::Reaction(Reaction::Arrive { .. }) | Queued::Frame(_) => false,
    }
}

/// Returns how many places on the agenda are kept for such events.
pub(super) fn kept(program: &Program, queued: &BTreeSet<Queued>) -> u32 {
    let kept = queued.iter().filter(|one| is_kept(program, **one));
    let capacity = |kind: KindId| program.kinds[kind.at()].capacity;
    kept.map(|one| match one {
        Queued::Reaction(Reaction::Handle {
            index: Index::Only(_),
            ..
        }) => 1,
        Queued::Reaction(Reaction::Handle { kind, .. }) => capacity(*kind),
        Queued::Port(port, _) => program.ports[port.at()].opens.map_or(1, capacity),
        Queued::Reaction(Reaction::Arrive { .. }) | Queued::Frame(_) => 0,
    })
    .sum()
}
