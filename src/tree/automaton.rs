//! What processes become: a state tree for each state of their control.
//!
//! In: nothing, these are plain data. Out: what interpreters run and C is made of. A state says
//! where the processes rest between two instants; its tree is all that can happen in the next one.
//! Equal nodes are one, so what two ways have in common is there once.
//!
//! ```text
//! state 1    given R?  then leaf 1
//!                      else  given A?  then  given B?  then  emit O  leaf 4
//!                                                      else  leaf 3
//!                                      else  given B?  then  leaf 2  else  leaf 1
//! ```

use crate::types::process::{DataId, SignalId, StatementId};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// A state, among [`Automaton::states`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateId(pub u32);

/// A node, among [`Automaton::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl StateId {
    /// The place in its table.
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

impl NodeId {
    /// The place in its table.
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

/// All states of processes. They begin in the first.
#[derive(Clone, Debug, Default)]
pub struct Automaton {
    /// The root of each state's tree.
    pub states: Vec<NodeId>,
    /// All nodes; children stand before those that lead to them.
    pub nodes: Vec<Node>,
    /// By state, the statements in which it rests: of states that became one, those of the first.
    pub rests: Vec<Vec<StatementId>>,
    /// What may go wrong while it is computed.
    pub risky: BTreeSet<DataId>,
    known: FxHashMap<Node, NodeId>,
}

/// A node of a tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// Two ways.
    Test {
        /// What is asked.
        question: Question,
        /// Where it holds.
        then: NodeId,
        /// Where it does not.
        otherwise: NodeId,
    },
    /// One step.
    Act {
        /// What is done.
        act: Act,
        /// What comes then.
        next: NodeId,
    },
    /// The end of the instant: the next one begins in this state.
    Leaf(StateId),
    /// A signal that carries one value is emitted a second time: an error.
    Twice(SignalId),
}

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Question {
    /// Whether the environment gives a signal in this instant.
    Given(SignalId),
    /// Whether a condition holds.
    Data(DataId),
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Act {
    /// Something is computed.
    Do(DataId),
    /// A signal is emitted, with a value if it carries one.
    Emit {
        /// Which one.
        signal: SignalId,
        /// With which value.
        value: Option<DataId>,
        /// Whether it has a value of this instant, with which this one is combined.
        again: bool,
    },
    /// The value of a signal becomes that of the instant before.
    Keep(SignalId),
}

impl Node {
    /// What comes next, one way or the other.
    pub fn children(&self) -> Vec<NodeId> {
        match self {
            Node::Test {
                then, otherwise, ..
            } => vec![*then, *otherwise],
            Node::Act { next, .. } => vec![*next],
            Node::Leaf(_) | Node::Twice(_) => Vec::new(),
        }
    }
}

impl Automaton {
    /// Without states yet; this may go wrong while it is computed.
    pub fn new(risky: BTreeSet<DataId>) -> Automaton {
        Automaton {
            risky,
            ..Automaton::default()
        }
    }

    /// The node's index: that of an equal one if there is one.
    pub fn add(&mut self, node: Node) -> NodeId {
        if let Some(&id) = self.known.get(&node) {
            return id;
        }
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(node.clone());
        self.known.insert(node, id);
        id
    }

    /// All nodes that some lead to.
    pub fn reached(&self, from: impl IntoIterator<Item = NodeId>) -> BTreeSet<NodeId> {
        let mut found = BTreeSet::new();
        let mut open: Vec<NodeId> = from.into_iter().collect();
        while let Some(node) = open.pop() {
            if found.insert(node) {
                open.extend(self.node(node).children());
            }
        }
        found
    }

    /// A test, unless both ways are the same and nothing can go wrong on the way to them.
    pub fn test(&mut self, question: Question, then: NodeId, otherwise: NodeId) -> NodeId {
        if then == otherwise && self.is_harmless(question) {
            return then;
        }
        self.add(Node::Test {
            question,
            then,
            otherwise,
        })
    }

    /// All that is computed from some nodes on.
    pub fn computed(&self, from: impl IntoIterator<Item = NodeId>) -> BTreeSet<DataId> {
        let reached = self.reached(from).into_iter();
        let computed = reached.filter_map(|node| match self.node(node) {
            Node::Test { question, .. } => match question {
                Question::Given(_) => None,
                Question::Data(data) => Some(*data),
            },
            Node::Act { act, .. } => match act {
                Act::Do(data) => Some(*data),
                Act::Emit { value, .. } => *value,
                Act::Keep(_) => None,
            },
            Node::Leaf(_) | Node::Twice(_) => None,
        });
        computed.collect()
    }

    /// Whether a question need not be asked where nothing depends on the answer.
    pub fn is_harmless(&self, question: Question) -> bool {
        match question {
            Question::Given(_) => true,
            Question::Data(data) => !self.risky.contains(&data),
        }
    }

    /// The node with an index.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.at()]
    }
}
