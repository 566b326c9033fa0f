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

use super::appended::is_only_appended;
use super::{attempts_of, makes, mtu_of};
use crate::tree::walk::reachable;
use crate::tree::{Forest, Goal, Index, Node, Output, Reaction, Tree};
use crate::types::program::{EntityId, Event, Place, Port, Program, SessionIndex};
use crate::types::statement::Attempt;
use crate::types::value::Type;
use std::collections::BTreeSet;

/// Returns how many bytes a message of the application at a port can have, and whether they are
/// copied to streams alone. `room` is the longest message.
pub fn longest(program: &Program, forest: &Forest, port: &Port, room: u32) -> (u32, bool) {
    let Some(sent) = sent(program, forest, port) else {
        return (room, false);
    };
    let is_copied = is_only_appended(forest, sent);
    let calls = program.ports.iter().any(|port| port.calls.is_some());
    if is_copied && !calls {
        return (streams(program).max().unwrap_or(room), is_copied);
    }
    let longest = match makes_others(forest, sent) {
        true => room,
        false => fits(program, port.below, &mut BTreeSet::new()).unwrap_or(room),
    };
    (longest, is_copied)
}

/// Returns the tree of a session below a port to which an application sends.
fn sent<'f>(program: &Program, forest: &'f Forest, port: &Port) -> Option<&'f Tree> {
    let Place::Entity { entity, index, .. } = port.below else {
        return None;
    };
    let reaction = Reaction::Handle {
        kind: program.entities[entity.at()].session,
        index: match index {
            SessionIndex::Only(only) => Index::Only(only),
            SessionIndex::Same | SessionIndex::Keyed => Index::Any,
            SessionIndex::Label(label) => Index::Label(label),
        },
        event: Event::Send,
    };
    tree_of(forest, reaction).filter(|_| port.passes)
}

fn tree_of(forest: &Forest, reaction: Reaction) -> Option<&Tree> {
    forest.trees.iter().find(|tree| tree.reaction == reaction)
}

/// The capacities of all streams, in bytes.
fn streams(program: &Program) -> impl Iterator<Item = u32> {
    let fields = program.kinds.iter().flat_map(|kind| &kind.fields);
    fields.filter_map(|field| match &field.kind {
        Type::Stream(_, capacity) => Some(*capacity),
        _other_types => None,
    })
}

/// Returns true if a tree, or one that it calls at once, makes messages of another length.
fn makes_others(forest: &Forest, first: &Tree) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![first];
    while let Some(tree) = open.pop() {
        if !seen.insert(tree.reaction) {
            continue;
        }
        let is_another = |one: &Attempt| makes(one) && !matches!(one, Attempt::ShareWindow(..));
        if attempts_of(forest, tree).any(is_another) {
            return true;
        }
        open.extend(called_by(forest, tree));
    }
    false
}

/// Returns the trees to which the leaves of a tree hand their first output.
fn called_by<'f>(forest: &'f Forest, tree: &Tree) -> impl Iterator<Item = &'f Tree> {
    let nodes = reachable(forest, tree.root).into_iter();
    nodes.filter_map(|node| {
        let Node::Leaf { outputs } = forest.arena.node(node) else {
            return None;
        };
        match outputs.first() {
            Some(Output::One {
                goal: Goal::Reaction(reaction, _),
                ..
            }) => tree_of(forest, *reaction),
            _other_outputs => None,
        }
    })
}

/// Returns how many bytes can be given to a place, so that the frame fits its link, or the most of
/// several links. Returns none where no way leads to a link.
fn fits(program: &Program, place: Place, seen: &mut BTreeSet<EntityId>) -> Option<u32> {
    let entity = match place {
        Place::Link(link) => return Some(mtu_of(program, link)),
        Place::Entity { entity, .. } => entity,
        Place::Port(..) => return None,
    };
    if !seen.insert(entity) {
        return None;
    }
    let own = &program.entities[entity.at()];
    let header = own
        .header
        .map_or(0, |header| program.headers[header.at()].least);
    let below = own.below.iter();
    let fitting = below.filter_map(|one| fits(program, one.place, seen));
    fitting.max().map(|bytes| bytes.saturating_sub(header))
}
