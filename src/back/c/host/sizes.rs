//! Sizes of a stack that no module knows: they follow from its links, and from what its layers do
//! at most.

use crate::ir::Op;

/// What a stack needs, and the settings that it begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Bytes of the longest message without the headers before it.
    pub room: u32,
    /// Message buffers, unless its host says otherwise.
    pub buffers: u32,
    /// Buffers of these that only the stack itself may take.
    pub reserve: u32,
    /// Places for outputs.
    pub outputs: u32,
    /// Places for events, without starts and ends of instances.
    pub events: u32,
    /// Events that one call handles at most.
    pub budget: u32,
    /// The fewest places for events with which it can start.
    pub least_events: u32,
    /// By port.
    pub ports: Vec<Sent>,
    /// By setting as a host gives it: the constants of its parts; none has to be given.
    pub defaults: Vec<Option<Vec<Op>>>,
}

/// What an application may send at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Bytes of the longest message.
    pub longest: u32,
    /// True if a message only becomes part of a stream: then it stands in no buffer.
    pub is_appended: bool,
}
