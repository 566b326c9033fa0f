//! The trees of reactions: in, a tree; out, the function that an event starts.
//!
//! Nodes are lowered in an order in which each stands behind all that lead to it, so that at a node
//! to which several lead it is known which names have different values: those become parameters of
//! its block.
//!
//! ```text
//! entry.rs    what a reaction is given, and whether its instance is still there
//! live.rs     the names that are read from a node on
//! action.rs   actions
//! attempt.rs  what may fail
//! output.rs   leaves, events, families
//! ```

pub mod action;
pub mod attempt;
pub mod entry;
pub mod live;
pub mod output;

pub use entry::Entry;

use super::Lower;
use super::code::{Code, Name, Way};
use super::value::statement::within_one;
use crate::ir::build::Builder;
use crate::ir::types::ones;
use crate::ir::{Edge, Function, Op, Probability, Role, Terminator};
use crate::tree::{self, Action, Node, NodeId, Tree};
use crate::types::expression::Expression;
use live::Live;
use std::collections::BTreeMap;

/// Nodes that are still to be lowered, with the ways that lead to each. Children have smaller
/// indices than what leads to them.
type Pending = BTreeMap<NodeId, Vec<Way>>;

impl<'a> Lower<'a> {
    /// Lowers the tree of a reaction.
    pub fn reaction(&mut self, tree: &'a Tree) {
        let place = self.reactions[&tree.reaction].function;
        let stub = self.module.function(place);
        let (name, kept) = (stub.name.clone(), stub.kept);
        let function = self.body(tree, &name, Role::Reaction);
        self.module.functions[place.at()] = Function { kept, ..function };
    }

    /// Lowers the woven tree of a reaction to a fast function, which commits at once.
    pub fn woven_reaction(&mut self, tree: &'a Tree) {
        let place = self.reactions[&tree.reaction].function;
        let name = format!("{}.woven", self.module.function(place).name);
        let name = self.unique(&name);
        let function = self.body(tree, &name, Role::Fast);
        let fast = self.add(function);
        self.module.functions[place.at()].fast = Some(fast);
    }

    /// The function in which a tree of a reaction stands.
    fn body(&mut self, tree: &'a Tree, name: &str, role: Role) -> Function {
        let entry = self.reactions[&tree.reaction].clone();
        let owner = self.module.function(entry.function).owner.clone();
        let parameters = self.parameters(tree, &entry);
        let parameters = parameters.iter().map(|(of, hint)| (*of, hint.as_str()));
        let parameters: Vec<_> = parameters.collect();
        let mut build = Builder::new(name, &owner, role, &parameters);
        build.set_function_span(entry::place(self.program, tree.reaction));
        if role == Role::Fast {
            build.op(&self.module, Op::Commit, &[]);
        }
        let live = Live::of(self, tree.root);
        let forest = self.forest;
        let mut code = Code::new(self, build, &forest.locals);
        code.begin(tree, &entry);
        code.graph(tree.root, &live);
        code.build.finish(Vec::new())
    }
}

impl Code<'_, '_> {
    /// Lowers all nodes from a root on.
    pub fn graph(&mut self, root: NodeId, live: &Live) {
        let mut pending = Pending::new();
        pending.insert(root, vec![self.way()]);
        while let Some((id, ways)) = pending.pop_last() {
            let needed = live.at(id);
            let carried = self.turn.as_ref().map(|turn| turn.carried.clone());
            let carried = carried.unwrap_or_default();
            let forest = self.lower.forest;
            let node = forest.arena.node(id);
            for ways in apart(node, ways) {
                self.meet(ways, |name| {
                    needed.contains(name) || carried.contains(name) || *name == Name::Takes
                });
                self.build.set_span(forest.places.get(&id).copied());
                self.node(node, live, &mut pending);
            }
        }
    }

    /// The way on which building goes on.
    pub fn way(&self) -> Way {
        Way::new(self.build.here(), self.environment.clone())
    }

    fn node(&mut self, node: &Node, live: &Live, pending: &mut Pending) {
        match node {
            Node::Test {
                condition,
                likely,
                then,
                otherwise,
            } => {
                let bit = self.plain(condition);
                let (one, other) = self.build.branch(bit, probability(*likely));
                for (block, node) in [(one, *then), (other, *otherwise)] {
                    let way = Way::new(block, self.environment.clone());
                    pending.entry(node).or_default().push(way);
                }
            }
            Node::Case {
                value,
                cases,
                otherwise,
            } => self.case(value, cases, *otherwise, pending),
            Node::Try {
                attempt,
                bind,
                likely,
                done,
                failed,
            } => {
                let (succeeds, fails) = self.attempt(attempt, *bind, probability(*likely));
                pending.entry(*done).or_default().extend(succeeds);
                pending.entry(*failed).or_default().extend(fails);
            }
            Node::Act { action, next } => {
                let forest = self.lower.forest;
                let ends = matches!(forest.arena.node(*next), Node::Leaf { .. });
                match action {
                    Action::Free(instance, kind) if ends => {
                        let owner = self.instance(*instance, *kind);
                        self.environment.freed = Some((*kind, owner));
                    }
                    action => self.act(action, live),
                }
                let way = self.way();
                pending.entry(*next).or_default().push(way);
            }
            Node::Leaf { outputs } => self.leaf(outputs, live),
        }
    }

    fn case(
        &mut self,
        value: &Expression,
        cases: &[(u64, tree::Probability, NodeId)],
        otherwise: NodeId,
        pending: &mut Pending,
    ) {
        let value = self.plain(value);
        let bits = self.bits_of(value);
        let nodes = cases.iter().map(|(_, _, node)| *node).chain([otherwise]);
        let mut blocks = Vec::new();
        for node in nodes {
            let block = self.build.block(&[]);
            let way = Way::new(block, self.environment.clone());
            pending.entry(node).or_default().push(way);
            blocks.push(block);
        }
        let edges = cases
            .iter()
            .zip(&blocks)
            .map(|((number, share, _), block)| {
                (number & ones(bits), probability(*share), Edge::to(*block))
            });
        let cases = within_one(edges.collect());
        let rest = blocks.last().expect("there is a way for all other values");
        self.build.end(Terminator::Switch {
            value,
            cases,
            otherwise: Edge::to(*rest),
        });
    }
}

/// Ways to a leaf that takes what was put on the agenda, and ways to one that does not, end apart,
/// and so does each on which an instance is freed.
fn apart(node: &Node, ways: Vec<Way>) -> Vec<Vec<Way>> {
    let Node::Leaf { .. } = node else {
        return vec![ways];
    };
    let frees = |way: &Way| way.environment.freed.is_some();
    let (frees, others): (Vec<Way>, Vec<Way>) = ways.into_iter().partition(frees);
    let takes = |way: &Way| way.environment.names.contains_key(&Name::Takes);
    let (takes, others): (Vec<Way>, Vec<Way>) = others.into_iter().partition(takes);
    let all = [takes, others].into_iter();
    let all = all.filter(|ways| !ways.is_empty());
    all.chain(frees.into_iter().map(|way| vec![way])).collect()
}

/// The share of runs in which a test of a tree holds.
pub fn probability(likely: tree::Probability) -> Probability {
    Probability(likely.0.min(1_000_000))
}

/// The names of locals.
pub fn locals(all: impl IntoIterator<Item = crate::types::program::LocalId>) -> Vec<Name> {
    all.into_iter().map(Name::Local).collect()
}
