//! What a function holds of a tree: the nodes whose code stands in it, how often, and which of
//! them could stand apart. It says where [`super::tree`] goes, before anything is written.

use super::Stack;
use super::apart::Part;
use super::tree::guarded_is_then;
use super::uses::Facts;
use crate::tree::{Action, Loop, Node, NodeId, Output, Reaction, Tree};
use std::collections::{BTreeMap, HashMap};

/// A node is not walked more often than this up to the same end. Whoever asks wants to know whether
/// a node stands there once or more often, and one walk more would say nothing new of what is
/// behind it.
const OFTEN: u32 = 2;

/// What one function holds.
#[derive(Default)]
pub struct Held {
    /// How often the code of each node stands there: once, or at least twice.
    pub times: BTreeMap<NodeId, u32>,
    /// Nodes that could stand apart, and whose code they are.
    pub may_be_apart: BTreeMap<NodeId, Reaction>,
}

struct Holding<'a> {
    stack: &'a Stack<'a>,
    facts: &'a Facts,
    apart: &'a BTreeMap<NodeId, Part>,
    is_bypass: bool,
    /// How many loops stand around.
    turns: u32,
    /// Whose code it is: that of the tree, or of one that was woven into it.
    origin: Reaction,
    held: Held,
    /// How often each node was walked, by where the walk ends, and whether a loop stands around.
    walks: HashMap<(NodeId, Option<NodeId>, bool), u32>,
}

/// What the function of a tree holds, or that of a part of it.
pub fn held(
    stack: &Stack,
    tree: &Tree,
    facts: &Facts,
    apart: &BTreeMap<NodeId, Part>,
    part: Option<NodeId>,
) -> Held {
    let mut holding = Holding {
        stack,
        facts,
        apart,
        is_bypass: stack.forest.bypasses.contains(tree),
        turns: 0,
        origin: part.map_or(tree.reaction, |node| apart[&node].origin),
        held: Held::default(),
        walks: HashMap::new(),
    };
    holding.from(part.unwrap_or(tree.root), None, true);
    holding.held
}

impl Holding<'_> {
    /// The code from a node to where it stops; `first` where the function begins with it.
    fn from(&mut self, from: NodeId, stop: Option<NodeId>, first: bool) {
        let around = self.origin;
        let mut at = Some(from).filter(|node| Some(*node) != stop);
        let mut first = first;
        while let Some(node) = at {
            if !first && self.apart.contains_key(&node) {
                break;
            }
            if let Some(origin) = self.stack.forest.origins.get(&node).filter(|_| !first) {
                self.origin = *origin;
            }
            *self.held.times.entry(node).or_default() += 1;
            let in_loop = self.turns > 0;
            let ends = stop.is_none() && !in_loop;
            if !first {
                let walks = self.walks.entry((node, stop, in_loop)).or_default();
                *walks += 1;
                if *walks > OFTEN {
                    break;
                }
            }
            if ends && !first {
                let origins = &mut self.held.may_be_apart;
                origins.entry(node).or_insert(self.origin);
            }
            first = false;
            at = self.next(node, stop).filter(|node| Some(*node) != stop);
        }
        self.origin = around;
    }

    /// What stands at a node; gives the node that goes on behind it.
    fn next(&mut self, node: NodeId, stop: Option<NodeId>) -> Option<NodeId> {
        let stack = self.stack;
        match stack.forest.arena.node(node) {
            Node::Act { action, next } => {
                match action {
                    Action::Loop(turns) => self.turn(turns),
                    Action::Put(outputs) | Action::Wait(outputs) => self.outputs(outputs),
                    _steps => {}
                }
                Some(*next)
            }
            Node::Test {
                then, otherwise, ..
            } => self.branch(node, (*then, *otherwise), stop),
            Node::Try { done, failed, .. } => self.branch(node, (*done, *failed), stop),
            Node::Case {
                cases, otherwise, ..
            } => {
                let join = self.facts.join[&node];
                let mut ways: Vec<NodeId> = Vec::new();
                for (.., to) in cases {
                    if !ways.contains(to) {
                        ways.push(*to);
                        self.from(*to, join, false);
                    }
                }
                if join.is_some() {
                    self.from(*otherwise, join, false);
                }
                join.or(Some(*otherwise))
            }
            Node::Leaf { outputs } => {
                self.outputs(outputs);
                None
            }
        }
    }

    fn branch(
        &mut self,
        node: NodeId,
        (then, otherwise): (NodeId, NodeId),
        stop: Option<NodeId>,
    ) -> Option<NodeId> {
        if let Some(join) = self.facts.join[&node] {
            self.from(then, Some(join), false);
            self.from(otherwise, Some(join), false);
            return Some(join);
        }
        let stays = self.facts.stays.get(&node).filter(|_| stop.is_some());
        let is_then = match stays {
            Some(next) => *next != then,
            None => guarded_is_then(self.stack, self.facts, node, self.is_bypass),
        };
        let (guarded, next) = match is_then {
            true => (then, otherwise),
            false => (otherwise, then),
        };
        self.from(guarded, None, false);
        Some(next)
    }

    fn turn(&mut self, turns: &Loop) {
        self.turns += 1;
        self.from(turns.body, None, false);
        self.turns -= 1;
    }

    fn outputs(&mut self, outputs: &[Output]) {
        for output in outputs {
            if let Output::Many(turns) = output {
                self.turn(turns);
            }
        }
    }
}
