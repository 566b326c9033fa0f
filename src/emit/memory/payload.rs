//! Longest messages of applications: a port comes in; how many bytes of one fit goes out.
//!
//! ```text
//! link wire(mtu = 64) { checked { numbered { port messages } } }     60 = 66 - 2 - 4
//! udp { fragment { ipv4 { … } } }                                    a whole buffer
//! tcp { port streams }                                               the capacity of the stream
//! ```
//!
//! A message leaves with the headers of the layers below it, in a frame that its link carries. A
//! layer that makes messages of its own, such as `fragment`, may send it in pieces: then it has as
//! many bytes as a buffer.

use super::{attempts_of, makes, mtu_of};
use crate::emit::Stack;
use crate::emit::appended::is_only_appended;
use crate::emit::external::calls_applications;
use crate::emit::port::below;
use crate::tree::Reaction;
use crate::types::program::{EntityId, Event, Place, Port};
use crate::types::statement::Attempt;
use crate::types::value::Type;
use std::collections::BTreeSet;

/// Returns how many bytes a message of the application at a port can have.
pub fn longest(stack: &Stack, port: &Port) -> u32 {
    let room = stack.memory().room;
    let Some(sent) = below(stack, port, Event::Send).filter(|_| port.passes) else {
        return room;
    };
    if is_only_appended(stack, sent) && !calls_applications(stack.program) {
        return streams(stack).max().unwrap_or(room);
    }
    match makes_others(stack, sent) {
        true => room,
        false => fits(stack, port.below, &mut BTreeSet::new()).unwrap_or(room),
    }
}

/// The capacities of all streams, in bytes.
fn streams(stack: &Stack) -> impl Iterator<Item = u32> {
    let fields = stack.program.kinds.iter().flat_map(|kind| &kind.fields);
    fields.filter_map(|field| match &field.kind {
        Type::Stream(_, capacity) => Some(*capacity),
        _other_types => None,
    })
}

/// Returns true if a reaction, or one that it leads to, makes messages of another length.
fn makes_others(stack: &Stack, first: Reaction) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![first];
    while let Some(reaction) = open.pop() {
        let Some(tree) = stack.tree(reaction).filter(|_| seen.insert(reaction)) else {
            continue;
        };
        let is_another = |one: &Attempt| makes(one) && !matches!(one, Attempt::ShareWindow(..));
        if attempts_of(stack.forest, tree).any(is_another) {
            return true;
        }
        open.extend(stack.called_by(tree));
    }
    false
}

/// Returns how many bytes can be given to a place, so that the frame fits its link, or the most of
/// several links. Returns none where no way leads to a link.
fn fits(stack: &Stack, place: Place, seen: &mut BTreeSet<EntityId>) -> Option<u32> {
    let entity = match place {
        Place::Link(link) => return Some(mtu_of(stack.program, link)),
        Place::Entity { entity, .. } => entity,
        Place::Port(..) => return None,
    };
    if !seen.insert(entity) {
        return None;
    }
    let own = &stack.program.entities[entity.at()];
    let header = own
        .header
        .map_or(0, |header| stack.program.headers[header.at()].least);
    let below = own.below.iter();
    let fitting = below.filter_map(|one| fits(stack, one.place, seen));
    fitting.max().map(|bytes| bytes.saturating_sub(header))
}
