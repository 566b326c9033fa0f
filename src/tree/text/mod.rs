//! The text form of trees: written, and read back.
//!
//! In: a forest, or its text, and the program whose names stand in it. Out: the other of the two.
//! Any pass can so be tried as a filter over text. Indentation mirrors nesting; a node that is
//! reached in several ways is written once, behind a label, and then gone to.
//!
//! ```text
//! tree arrive sequencer 0 only 0 deliver
//!   given message message@2
//!   test (length(message@2) >= 4:u32) likely 99.9%
//!     strip message@2 sequencer
//!     test (header(sequencer.number) > sequencer.session[0].last) likely 99%
//!       set sequencer.session[0].last = header(sequencer.number)
//!       leaf
//!         one port messages[0] deliver message message@2 ()
//!     else
//!       drop message@2 sequencer.late_or_repeated
//!       leaf
//!   else
//!     drop message@2 sequencer.too_short
//!     leaf
//!
//! local message@2: message
//! ```
//!
//! The type of an expression is written behind it where its parts do not say it: `5:u8`. Nodes have
//! no numbers here: [`compact`] gives them those that reading gives them, and leaves out what no
//! tree reaches. So `read(write(forest))` is `compact(forest)`, and `write(read(text))` the text.

mod names;
mod natural;
mod read;
mod scan;
mod write;

pub use names::Names;
pub use read::{Mistake, read};
pub use write::write;

use super::walk::{children, with_children};
use super::{Arena, Forest, NodeId};
use rustc_hash::FxHashMap;

/// The same trees, their nodes in the order in which they are read, children first.
pub fn compact(forest: &Forest) -> Forest {
    let mut arena = Arena::default();
    let mut new = FxHashMap::default();
    let mut trees = forest.trees.clone();
    for tree in &mut trees {
        tree.root = moved(forest, tree.root, &mut arena, &mut new);
    }
    Forest {
        arena,
        locals: forest.locals.clone(),
        trees,
        ..Forest::default()
    }
}

fn moved(
    forest: &Forest,
    id: NodeId,
    arena: &mut Arena,
    new: &mut FxHashMap<NodeId, NodeId>,
) -> NodeId {
    if let Some(known) = new.get(&id) {
        return *known;
    }
    let node = forest.arena.node(id);
    for child in children(node) {
        moved(forest, child, arena, new);
    }
    let moved = arena.add(with_children(node.clone(), |child| new[&child]));
    new.insert(id, moved);
    moved
}
