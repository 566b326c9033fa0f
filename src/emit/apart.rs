//! Which parts of a tree stand in functions of their own: what is long and rare, and what is long
//! and follows several ways.

use super::Stack;
use super::bypass;
use super::output::Queued;
use super::tree::{Written, function};
use super::uses::{Facts, facts};
use crate::c::tree::Function;
use crate::tree::rewrites::Rewrite;
use crate::tree::{Node, NodeId, Probability, Reaction, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// What is rare and longer than this stands in a function of its own.
const LONG: u32 = 12;

/// What several ways lead to is repeated up to this size.
const SHORT: u32 = 8;

/// The same where nothing is shared that need not be.
const SHORT_ENOUGH: u32 = 64;

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

/// Up to which size what several ways lead to is repeated.
pub fn short(stack: &Stack) -> u32 {
    match stack.rewrites.has(Rewrite::Share) {
        true => SHORT,
        false => SHORT_ENOUGH,
    }
}

/// Whether a function is a part of a tree that is rare.
pub fn is_rare(function: &Function) -> bool {
    function.comment.starts_with(RARE_IN)
}

/// The functions of a tree: its own, those of its parts, and its bypass; and what they put on the
/// agenda.
pub fn functions(stack: &Stack, tree: &Tree, queued: &mut BTreeSet<Queued>) -> Vec<Function> {
    let facts = facts(stack, &tree.parameters, tree.root);
    let short = short(stack);
    let mut apart: BTreeMap<NodeId, Part> = BTreeMap::new();
    let mut whole = function(stack, tree, &facts, &apart, None);
    let mut parts: BTreeMap<NodeId, Written> = BTreeMap::new();
    loop {
        let all = || std::iter::once(&whole).chain(parts.values().rev());
        let mut times: BTreeMap<NodeId, u32> = BTreeMap::new();
        let mut may = BTreeMap::new();
        for one in all() {
            one.times
                .iter()
                .for_each(|(node, more)| *times.entry(*node).or_default() += more);
            may.extend(&one.may_be_apart);
        }
        let twice = may
            .keys()
            .rev()
            .find(|node| times[node] > 1 && facts.size[node] > short && !apart.contains_key(node));
        let rare = all().flat_map(|one| rare_part(stack, &facts, &apart, one));
        let (node, is_rare) = match (rare.max(), twice) {
            (Some(node), _) => (node, true),
            (None, Some(node)) => (*node, false),
            (None, None) => break,
        };
        let part = Part {
            name: name_of(stack, tree.reaction, (may[&node], is_rare), &apart),
            origin: may[&node],
            is_rare,
        };
        apart.insert(node, part);
        // All other functions stay as they are.
        if whole.times.contains_key(&node) {
            whole = function(stack, tree, &facts, &apart, None);
        }
        for (root, one) in &mut parts {
            if one.times.contains_key(&node) {
                *one = function(stack, tree, &facts, &apart, Some((*root, &apart[root])));
            }
        }
        let own = function(stack, tree, &facts, &apart, Some((node, &apart[&node])));
        parts.insert(node, own);
    }
    let all = std::iter::once(whole).chain(parts.into_values().rev());
    let functions = all.map(|one| {
        queued.extend(one.queued);
        one.function
    });
    let path = bypass::function_of(stack, tree.reaction, &apart);
    let functions = functions.chain(path).map(super::with_all_used);
    functions.collect()
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

/// The last long part that a function holds though it is rare.
fn rare_part(
    stack: &Stack,
    facts: &Facts,
    apart: &BTreeMap<NodeId, Part>,
    written: &Written,
) -> Option<NodeId> {
    if !stack.rewrites.has(Rewrite::Outline) {
        return None;
    }
    let held = written.may_be_apart.keys().rev();
    let mut held = held.filter(|node| !apart.contains_key(node) && facts.size[node] > LONG);
    let arena = &stack.forest.arena;
    let rare = |node: &NodeId| {
        written.times.keys().any(|above| {
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
                Node::Act { .. } | Node::Case { .. } | Node::Leaf { .. } => return false,
            };
            (*likely <= RARE && then == node) || (likely.other() <= RARE && otherwise == node)
        })
    };
    held.find(|node| rare(node)).copied()
}
