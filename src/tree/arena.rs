//! The arena of nodes: equal nodes are one.

use super::Node;
use rustc_hash::FxHashMap;

/// The index of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The place in the arena.
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

/// Nodes, each stored once. A node's children stand before it, so a walk in order of index meets
/// children first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arena {
    nodes: Vec<Node>,
    known: FxHashMap<Node, NodeId>,
}

impl Arena {
    /// The node's index: that of an equal one if there is one.
    pub fn add(&mut self, node: Node) -> NodeId {
        if let Some(&id) = self.known.get(&node) {
            return id;
        }
        let id = NodeId(self.nodes.len() as u32);
        self.known.insert(node.clone(), id);
        self.nodes.push(node);
        id
    }

    /// The node at an index.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.at()]
    }

    /// How many distinct nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}
