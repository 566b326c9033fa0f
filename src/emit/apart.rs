//! Which parts of a tree stand in functions of their own: what is long and rare, and what is long
//! and follows several ways.

use super::Stack;
use super::output::Queued;
use super::tree::{Body, function};
use super::uses::facts;
use crate::c::tree::Function;
use crate::tree::{Node, NodeId, Probability, Reaction, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// What is rare and longer than this stands in a function of its own.
const LONG: u32 = 12;

/// What several ways lead to is repeated up to this size.
pub const SHORT: u32 = 8;

/// At most this rare: what is not as it is as a rule.
const RARE: Probability = Probability(100_000);

/// What is said of it.
const RARE_IN: &str = "What is rare in ";

/// A part of a tree that stands in a function of its own.
pub struct Part {
    /// The function.
    pub name: String,
    /// Whose code it is: the tree's own, or that of one woven into it.
    pub origin: Reaction,
    /// Whether it is rare; else several ways lead to it.
    is_rare: bool,
}

impl Part {
    /// What is said above the function, which is a part of what `whole` does.
    pub fn comment(&self, stack: &Stack, whole: Reaction) -> String {
        let name = &stack.names.reactions[&whole];
        let what = match self.is_rare {
            true => format!("{RARE_IN}{name}"),
            false => format!("What several ways of {name} come to"),
        };
        match &stack.reaction_comment(self.origin)[..] {
            "" => format!("{what}."),
            line => format!("{what}; of {line}."),
        }
    }
}

/// Whether a function is a part of a tree that is rare.
pub fn is_rare(function: &Function) -> bool {
    function.comment.starts_with(RARE_IN)
}

/// The functions of a tree: its own, then those of its parts; and what they put on the agenda.
pub fn functions(stack: &Stack, tree: &Tree, queued: &mut BTreeSet<Queued>) -> Vec<Function> {
    let facts = facts(stack, &tree.parameters, tree.root);
    let mut apart: BTreeMap<NodeId, Part> = BTreeMap::new();
    loop {
        let mut all = vec![function(stack, tree, &facts, &apart, None)];
        for (node, part) in apart.iter().rev() {
            all.push(function(stack, tree, &facts, &apart, Some((*node, part))));
        }
        let mut written: BTreeMap<NodeId, u32> = BTreeMap::new();
        let mut may = BTreeMap::new();
        for (_, body) in &all {
            body.written
                .iter()
                .for_each(|(node, times)| *written.entry(*node).or_default() += times);
            may.extend(&body.may_be_apart);
        }
        let twice = may.keys().rev().find(|node| {
            written[node] > 1 && facts.size[node] > SHORT && !apart.contains_key(node)
        });
        let rare = all.iter().flat_map(|(_, body)| rare_parts(body)).max();
        let (node, is_rare) = match (rare, twice) {
            (Some(node), _) if !apart.contains_key(&node) => (node, true),
            (_, Some(node)) => (*node, false),
            _ => {
                all.iter()
                    .for_each(|(_, body)| queued.extend(body.queued.iter().copied()));
                return all.into_iter().map(|(function, _)| function).collect();
            }
        };
        let part = Part {
            name: name_of(stack, tree.reaction, (may[&node], is_rare), &apart),
            origin: may[&node],
            is_rare,
        };
        apart.insert(node, part);
    }
}

/// A name for another part of what `whole` does.
fn name_of(
    stack: &Stack,
    whole: Reaction,
    (origin, is_rare): (Reaction, bool),
    apart: &BTreeMap<NodeId, Part>,
) -> String {
    let suffix = if is_rare { "rare" } else { "then" };
    let mut plain = format!("{}_{suffix}", stack.names.reactions[&whole]);
    let at = super::entity_of(stack, origin);
    if at != super::entity_of(stack, whole) {
        plain += &format!("_{}", stack.program.entities[at.at()].name);
    }
    let taken = |name: &String| {
        stack.names.taken.has(name) || apart.values().any(|other| other.name == *name)
    };
    let numbered = (2..).map(|n| format!("{plain}_{n}"));
    let mut names = std::iter::once(plain.clone()).chain(numbered);
    let free = names.find(|name| !taken(name));
    free.expect("there are more numbers than names")
}

/// Long parts that a function holds though they are rare.
fn rare_parts(body: &Body) -> Option<NodeId> {
    let held = body
        .may_be_apart
        .keys()
        .filter(|node| !body.apart.contains_key(node));
    let arena = &body.stack.forest.arena;
    let rare = |node: &NodeId| {
        body.written.keys().any(|above| {
            let (likely, then, otherwise) = match arena.node(*above) {
                Node::Test {
                    likely,
                    then,
                    otherwise,
                    ..
                } => (likely, then, otherwise),
                Node::Try {
                    likely,
                    done,
                    failed,
                    ..
                } => (likely, done, failed),
                _ => return false,
            };
            (*likely <= RARE && then == node) || (likely.other() <= RARE && otherwise == node)
        })
    };
    held.filter(|node| body.facts.size[node] > LONG && rare(node))
        .max()
        .copied()
}
