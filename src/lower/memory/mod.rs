//! Memory: the trees of a stack come in; how long its buffers are goes out, and with which settings
//! it starts unless its host says otherwise.
//!
//! ```text
//! link wire(mtu = 64) { checked { … } }     room     66 = 64 + 2, the header of `checked`
//! on send(message) { send message }         reserve  1: only the application makes messages
//! held: queue<message>[32]                  buffers  40 instead of 8
//! ```
//!
//! `room` is the longest frame: the `mtu` of a link and the header of its bottom layer. A message
//! that a layer takes from a stream, or makes of bytes, has room where its length has a bound
//! (`sizes`).

mod appended;
mod payload;
mod sizes;

pub use appended::is_only_appended;
pub use payload::longest;

use crate::ir::interface::Memory;
use crate::tree::walk::{children, reachable};
use crate::tree::{Action, Forest, Loop, Node, NodeId, Output, Range, Reaction, Tree, starts};
use crate::types::program::{Entity, Event, KindId, LinkId, Place, Program};
use crate::types::statement::{Attempt, Source};
use crate::types::value::Type;
use rustc_hash::FxHashMap;

/// Returns what the trees of a stack need.
pub fn memory(program: &Program, forest: &Forest) -> Memory {
    let room = room(program, forest);
    let buffers = buffers(program, forest, room);
    let sends = program.ports.iter().any(|port| port.passes);
    let reserve = match makes_messages(forest) {
        true => (buffers / 4).min(RESERVE),
        false => u32::from(sends),
    };
    let least_events = told_at_start(program, forest).max(1);
    let widest = widest(program, forest, buffers);
    Memory {
        room,
        buffers,
        reserve,
        outputs: buffers.min(OUTPUTS),
        events: (widest + buffers.min(OUTPUTS)).max(least_events),
        least_events,
        kept: kept(program, forest),
    }
}

/// Returns how many bytes of headers stand before a message at most.
pub fn headroom(program: &Program) -> u32 {
    let headers = program.entities.iter().filter_map(|entity| entity.header);
    headers
        .map(|header| program.headers[header.at()].most)
        .sum()
}

/// Returns how many events tell layers at the start that links are up.
fn told_at_start(program: &Program, forest: &Forest) -> u32 {
    let has_tree = |reaction| forest.trees.iter().any(|tree| tree.reaction == reaction);
    let heard = program.links.iter().map(|link| {
        let notice = link.carrier.map(Event::Notice);
        let heard = notice.map(|event| starts::above(program, link.above, event, has_tree));
        heard.map_or(0, |heard| heard.len() as u32)
    });
    heard.sum()
}

/// Buffers of a stack for messages on their way.
const PASSING: u32 = 8;

/// The same of a stack with streams, whose applications send in bursts.
const STREAMING: u32 = 64;

/// The most buffers that are left to a stack unless its host says otherwise.
const RESERVE: u32 = 8;

/// The most events, or messages, that are counted of one reaction.
const MOST_COUNTED: u32 = 1 << 16;

/// The most outputs that wait unless its host says otherwise.
const OUTPUTS: u32 = 64;

/// Returns how many messages there can be at a time: those on their way, and those that wait in the
/// queues and windows of one instance of each kind. A reaction that makes more finds twice as many
/// as the longest message fills frames of the narrowest link.
fn buffers(program: &Program, forest: &Forest, room: u32) -> u32 {
    let mut attempts = attempts(forest);
    let appends = attempts.any(|attempt| matches!(attempt, Attempt::AppendStream(..)));
    let usual = if appends { STREAMING } else { PASSING };
    let links = (0..program.links.len() as u32).map(LinkId);
    let narrowest = links.map(|link| mtu_of(program, link)).min();
    let pieces = room.div_ceil(narrowest.unwrap_or(1).max(1));
    let made = made_at_once(forest).min(2 * pieces) + PASSING;
    waiting(program).saturating_add(usual.max(made))
}

/// Returns true if a layer makes messages of its own.
fn makes_messages(forest: &Forest) -> bool {
    attempts(forest).any(makes)
}

/// Returns true if a new message is tried to make.
fn makes(attempt: &Attempt) -> bool {
    match attempt {
        Attempt::Message(source)
        | Attempt::Push(_, source)
        | Attempt::InsertWindow(_, _, source) => !matches!(source, Source::Local(_)),
        Attempt::Rewrite(..) | Attempt::ShareWindow(..) => true,
        _other_attempts => false,
    }
}

/// Returns how many messages wait in the queues and windows of one instance of each kind at most.
pub fn waiting(program: &Program) -> u32 {
    let fields = program.kinds.iter().flat_map(|kind| &kind.fields);
    let capacities = fields.map(|field| match &field.kind {
        Type::Queue(of, capacity) | Type::Window(of, _, capacity) if **of == Type::Message => {
            *capacity
        }
        _other_types => 0,
    });
    capacities.fold(0, u32::saturating_add)
}

/// Returns the longest frame of any link, or what a layer makes a message of if that is longer, in
/// bytes.
fn room(program: &Program, forest: &Forest) -> u32 {
    let links = (0..program.links.len() as u32).map(LinkId);
    let frames = links.map(|link| mtu_of(program, link));
    frames
        .chain(sizes::lengths(program, forest))
        .max()
        .unwrap_or(0)
}

/// Returns the longest frame of a link, in bytes.
fn mtu_of(program: &Program, link: LinkId) -> u32 {
    let stands_on_it = |entity: &&Entity| {
        let mut below = entity.below.iter();
        below.any(|one| one.place == Place::Link(link))
    };
    let bottom = program.entities.iter().find(stands_on_it);
    let header = bottom.and_then(|entity| entity.header);
    let header = header.map_or(0, |header| program.headers[header.at()].most);
    program.links[link.at()].mtu + header
}

/// Returns all attempts in the trees of a stack.
fn attempts(forest: &Forest) -> impl Iterator<Item = &Attempt> {
    let trees = forest.trees.iter();
    trees.flat_map(|tree| attempts_of(forest, tree))
}

/// Returns the attempts in a tree.
fn attempts_of<'f>(forest: &'f Forest, tree: &Tree) -> impl Iterator<Item = &'f Attempt> {
    let nodes = reachable(forest, tree.root).into_iter();
    nodes.filter_map(|id| match forest.arena.node(id) {
        Node::Try { attempt, .. } => Some(attempt),
        Node::Test { .. } | Node::Case { .. } | Node::Act { .. } | Node::Leaf { .. } => None,
    })
}

/// Returns how many events one reaction puts on the agenda at most. An event for one instance may
/// carry a message, so there are no more of these than buffers.
fn widest(program: &Program, forest: &Forest, buffers: u32) -> u32 {
    let capacity = |kind: KindId| program.kinds[kind.at()].capacity;
    let single = most(forest, &|node| {
        let outputs = outputs(node).iter();
        outputs
            .filter(|one| matches!(one, Output::One { .. }))
            .count() as u32
    });
    let told = most(forest, &|node| {
        let told = outputs(node).iter().map(|output| match output {
            Output::Every { kind, .. } => capacity(*kind),
            Output::One { .. } | Output::Many(_) => 0,
        });
        told.fold(0, u32::saturating_add)
    });
    told + single.min(buffers)
}

/// Returns how many messages one reaction makes at most.
fn made_at_once(forest: &Forest) -> u32 {
    most(forest, &|node| match node {
        Node::Try { attempt, .. } => u32::from(makes(attempt)),
        Node::Test { .. } | Node::Case { .. } | Node::Act { .. } | Node::Leaf { .. } => 0,
    })
}

/// Returns the most that the nodes of one path through any tree add up to, each turn of a loop
/// counted.
fn most(forest: &Forest, own: &dyn Fn(&Node) -> u32) -> u32 {
    let mut known: FxHashMap<NodeId, u32> = FxHashMap::default();
    for id in forest
        .trees
        .iter()
        .flat_map(|tree| reachable(forest, tree.root))
    {
        let node = forest.arena.node(id);
        let loops = loops(node);
        let inside = loops
            .iter()
            .map(|turns| turns_of(turns).saturating_mul(known[&turns.body]));
        let here = inside.fold(own(node), u32::saturating_add);
        let behind = children(node).into_iter().map(|child| known[&child]).max();
        known.insert(
            id,
            here.saturating_add(behind.unwrap_or(0)).min(MOST_COUNTED),
        );
    }
    let roots = forest.trees.iter().map(|tree| known[&tree.root]);
    roots.max().unwrap_or(0)
}

/// Returns what a node lets happen, at once or from the agenda.
fn outputs(node: &Node) -> &[Output] {
    match node {
        Node::Leaf { outputs } => outputs,
        Node::Act { action, .. } => match action {
            Action::Wait(outputs) | Action::Put(outputs) | Action::Answer(outputs) => outputs,
            _another_step => &[],
        },
        Node::Test { .. } | Node::Case { .. } | Node::Try { .. } => &[],
    }
}

/// Returns the loops that stand in a node.
fn loops(node: &Node) -> Vec<&Loop> {
    let families = outputs(node).iter().filter_map(|output| match output {
        Output::Many(turns) => Some(turns),
        Output::One { .. } | Output::Every { .. } => None,
    });
    let turning = match node {
        Node::Act {
            action: Action::Loop(turns),
            ..
        } => Some(turns),
        _other_nodes => None,
    };
    families.chain(turning).collect()
}

/// Returns how often a loop turns at most.
fn turns_of(turns: &Loop) -> u32 {
    match turns.range {
        Range::Numbers { at_most, .. } => at_most,
        Range::Queue(_, capacity) => capacity,
    }
}

/// Returns how many places on the agenda are kept: for starts and ends of instances, and for what
/// tells an application of a session that a listener made.
fn kept(program: &Program, forest: &Forest) -> u32 {
    let is_handled = |kind: KindId, wanted: Event| {
        forest.trees.iter().any(|tree| match tree.reaction {
            Reaction::Handle {
                kind: of, event, ..
            } => of == kind && event == wanted,
            Reaction::Arrive { .. } => false,
        })
    };
    let capacity = |kind: KindId| program.kinds[kind.at()].capacity;
    let kinds = (0..program.kinds.len() as u32).map(KindId);
    let handled = kinds.flat_map(|kind| [(kind, Event::Start), (kind, Event::End)]);
    let handled = handled.filter(|(kind, event)| is_handled(*kind, *event));
    let listening = program.ports.iter().filter(|port| port.listens.is_some());
    let told = listening.map(|port| port.opens.map_or(1, capacity));
    let places = handled.map(|(kind, _)| capacity(kind)).chain(told);
    places.fold(0, u32::saturating_add)
}
