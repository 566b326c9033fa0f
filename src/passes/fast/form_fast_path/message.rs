//! Messages and views in a guard: offsets into the frame, which no operation of a guard changes.
//!
//! A `pull` of a message that came as a parameter leaves its bytes where they are: the guard reads
//! them at their offset from the beginning of the parameter. So headers of all layers are read at
//! offsets of one view.

use crate::ir::{AttributeId, Value};
use std::collections::BTreeMap;

/// A message as it would be, had the operations been done that moved it.
#[derive(Clone, Debug)]
pub struct Message {
    /// The parameter whose bytes it has; none of a message that is made behind the commit.
    pub base: Option<Value>,
    /// The offset of its first byte from that of the parameter; it may be negative.
    pub at: Value,
    /// Its length.
    pub length: Value,
    /// The attributes that it was given.
    pub attributes: BTreeMap<AttributeId, Value>,
}

/// Bytes of a message.
#[derive(Clone, Debug)]
pub struct View {
    /// The parameter whose bytes it shows; none if the guard cannot read them.
    pub base: Option<Value>,
    /// The offset of its first byte from that of the parameter.
    pub at: Value,
    /// Its length.
    pub length: Value,
}
