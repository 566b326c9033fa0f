//! The checker of trees: whether a forest keeps the rules that all of its readers rely on.
//!
//! In: a forest and its program. Out: every violation, as a sentence. Asserted in tests behind
//! each pass. The rules:
//!
//! - **Arena.** The children of a node stand before it.
//! - **Trees.** Reactions are distinct, and in order. Parameters are what the reaction is given:
//!   an instance where its index is not fixed, a message if its event carries one, the others of
//!   the event, each of its type.
//! - **Locals.** What is read was bound before, on each path, once on each, with its type.
//! - **Messages.** Each is moved exactly once on each path: sent, kept, dropped or consumed. An
//!   attempt that fails has not moved its message. A turn of a loop moves its own messages alone.
//! - **Instances.** `Own` does not occur. A local that stands for an instance is of its kind, or of
//!   one that lives and ends with it; the record is that of an entity; an index that is fixed is
//!   one that always exists.
//! - **Headers.** They are read where they were stripped, or came with the message.
//! - **Types.** A condition is a bool, a case a number with distinct values; what is written has
//!   the type of its place; a timer starts after a time.
//! - **Probabilities.** None is more than one; nor are those of a case together.
//! - **Attempts.** One looks for exactly one instance at a time, never for an optional's value;
//!   what it binds has the type of what it finds.
//! - **Outputs.** A reaction that follows has a tree, and is given what the tree wants. What
//!   leaves by a link is a message; what comes to a port is one, or a notice that it lists. An
//!   answer is one of these.
//! - **Loops.** The body of a loop that is no family ends in empty leaves.

mod flow;
mod types;

use super::walk::{children, reachable};
use super::{Forest, Index, Node, NodeId, Parameters, Probability, Reaction, Tree};
use crate::types::program::{Event, LocalId, Program, Shape};
use crate::types::value::Type;
use flow::Flow;
pub use flow::{Inside, Known};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A rule that is not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// In which tree; none where it is about the whole forest.
    pub reaction: Option<Reaction>,
    /// At which node.
    pub node: Option<NodeId>,
    /// What is wrong.
    pub sentence: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(reaction) = &self.reaction {
            write!(out, "{reaction:?}, ")?;
        }
        if let Some(node) = self.node {
            write!(out, "node {}, ", node.0)?;
        }
        write!(out, "{}", self.sentence)
    }
}

/// All violations of a forest.
pub fn check(program: &Program, forest: &Forest) -> Vec<Violation> {
    let mut found = arena(forest);
    if !found.is_empty() {
        return found;
    }
    for (tree, next) in forest.trees.iter().zip(forest.trees.iter().skip(1)) {
        if tree.reaction == next.reaction {
            found.push(Violation {
                reaction: Some(tree.reaction),
                node: None,
                sentence: "has two trees".to_string(),
            });
        }
    }
    for tree in &forest.trees {
        let mut checked = Checked {
            program,
            forest,
            tree,
            found: Vec::new(),
            ways: None,
        };
        checked.parameters();
        for id in reachable(forest, tree.root) {
            checked.node(id);
        }
        Flow::check(&mut checked);
        found.append(&mut checked.found);
    }
    found
}

/// What is known where a tree begins; and on the ways out of its nodes, in order.
pub fn known(
    program: &Program,
    forest: &Forest,
    tree: &Tree,
) -> (Known, BTreeMap<NodeId, Vec<Known>>) {
    let mut checked = Checked {
        program,
        forest,
        tree,
        found: Vec::new(),
        ways: Some(BTreeMap::new()),
    };
    let start = Flow::check(&mut checked);
    (start, checked.ways.unwrap_or_default())
}

/// Nodes whose children do not stand before them; no walk ends there.
fn arena(forest: &Forest) -> Vec<Violation> {
    let mut found = Vec::new();
    for place in 0..forest.arena.len() as u32 {
        let node = forest.arena.node(NodeId(place));
        if children(node).iter().any(|child| child.0 >= place) {
            found.push(Violation {
                reaction: None,
                node: Some(NodeId(place)),
                sentence: "a child does not stand before its node".to_string(),
            });
        }
    }
    let beyond = |tree: &&Tree| tree.root.at() >= forest.arena.len();
    found.extend(forest.trees.iter().filter(beyond).map(|tree| Violation {
        reaction: Some(tree.reaction),
        node: None,
        sentence: "its root is no node".to_string(),
    }));
    found
}

/// One tree that is being checked.
struct Checked<'a> {
    program: &'a Program,
    forest: &'a Forest,
    tree: &'a Tree,
    found: Vec<Violation>,
    /// What is known on each way out of a node, if somebody wants to know.
    ways: Option<BTreeMap<NodeId, Vec<Known>>>,
}

impl<'a> Checked<'a> {
    /// Notes that a rule is not kept.
    fn violated(&mut self, node: Option<NodeId>, sentence: impl Into<String>) {
        self.found.push(Violation {
            reaction: Some(self.tree.reaction),
            node,
            sentence: sentence.into(),
        });
    }

    /// The name of a local.
    fn name(&self, local: LocalId) -> String {
        match self.forest.locals.get(local.at()) {
            Some(declared) => format!("`{}` ({})", declared.name, local.0),
            None => format!("local {}", local.0),
        }
    }

    /// The type of a local; none if there is no such local.
    fn local(&self, local: LocalId) -> Option<&'a Type> {
        let declared = self.forest.locals.get(local.at());
        declared.map(|declared| &declared.kind)
    }

    /// What the reaction is given is what its parameters hold.
    fn parameters(&mut self) {
        let Parameters {
            instance,
            message,
            arguments,
        } = &self.tree.parameters;
        let (event, wanted) = match self.tree.reaction {
            Reaction::Handle { kind, index, event } => {
                let given = match index {
                    Index::Only(_) => None,
                    Index::Any => Some(kind),
                    Index::Label(_) => self.program.stands_on(kind),
                };
                (event, given.map(Type::Instance))
            }
            Reaction::Arrive {
                entity,
                index,
                event,
                ..
            } => {
                let table = &self.program.entities[entity.at()];
                let given = index == Index::Any
                    && table.shape != Shape::Multiplexor
                    && event == Event::Deliver;
                let session = given.then_some(table.session);
                let named = session.or(self.program.stands_on(table.session));
                (event, named.map(Type::Instance))
            }
        };
        let given = instance.and_then(|local| self.local(local));
        if given != wanted.as_ref() {
            self.violated(None, format!("it is given {given:?}, not {wanted:?}"));
        }
        let carries = carries_message(self.program, event);
        let given = message.and_then(|local| self.local(local));
        if given != carries.then_some(&Type::Message) {
            self.violated(None, "it is given a message if its event carries one");
        }
        let wanted = argument_types(self.program, event);
        let given: Vec<Option<&Type>> = arguments.iter().map(|local| self.local(*local)).collect();
        if given != wanted.into_iter().map(Some).collect::<Vec<_>>() {
            self.violated(None, "its arguments are not those of its event");
        }
    }

    /// The rules that one node keeps or not, however it is reached.
    fn node(&mut self, id: NodeId) {
        match self.forest.arena.node(id) {
            Node::Test {
                condition, likely, ..
            } => {
                self.likely(id, &[*likely]);
                self.is_condition(id, condition);
            }
            Node::Case { value, cases, .. } => {
                let likely: Vec<Probability> = cases.iter().map(|(_, likely, _)| *likely).collect();
                self.likely(id, &likely);
                let values: BTreeSet<u64> = cases.iter().map(|(value, _, _)| *value).collect();
                if values.len() != cases.len() {
                    self.violated(Some(id), "two cases have one value");
                }
                self.is_case(id, value);
            }
            Node::Try {
                attempt,
                bind,
                likely,
                ..
            } => {
                self.likely(id, &[*likely]);
                self.is_attempt(id, attempt, *bind);
            }
            Node::Act { action, .. } => self.is_action(id, action),
            Node::Leaf { outputs } => {
                outputs.iter().for_each(|output| self.is_output(id, output));
            }
        }
    }

    fn likely(&mut self, id: NodeId, all: &[Probability]) {
        let one = all.iter().any(|likely| likely.0 > 1_000_000);
        let sum: u64 = all.iter().map(|likely| u64::from(likely.0)).sum();
        // What nobody knows is a half, also where there are many cases.
        let known = all.iter().all(|likely| *likely != Probability::EVEN);
        if one || known && sum > 1_000_000 {
            self.violated(Some(id), "a probability is more than one");
        }
    }
}

/// Whether an event carries a message.
fn carries_message(program: &Program, event: Event) -> bool {
    match event {
        Event::Send | Event::Deliver => true,
        Event::Notice(notice) => program.notices[notice.at()].message,
        Event::Timer(_) | Event::Start | Event::End | Event::Again => false,
    }
}

/// The types of an event's arguments, but for the message.
fn argument_types(program: &Program, event: Event) -> Vec<&Type> {
    match event {
        Event::Notice(notice) => {
            let parameters = program.notices[notice.at()].parameters.iter();
            parameters.map(|parameter| &parameter.kind).collect()
        }
        Event::Send
        | Event::Deliver
        | Event::Timer(_)
        | Event::Start
        | Event::End
        | Event::Again => Vec::new(),
    }
}
