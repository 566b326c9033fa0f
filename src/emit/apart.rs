//! Which parts of a tree stand in functions of their own: what is long and rare, and what is long
//! and follows several ways.

use super::Stack;
use super::bypass;
use super::held::{Held, held};
use super::output::Queued;
use super::tree::function;
use super::uses::{Facts, facts};
use crate::c::tree::Function;
use crate::tree::rewrites::Rewrite;
use crate::tree::walk::two_ways;
use crate::tree::{NodeId, Probability, Reaction, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// What is rare and longer than this stands in a function of its own.
const LONG: u32 = 12;

/// What several ways lead to is repeated up to this size; what is longer and rare is apart anyway.
const SHORT: u32 = LONG;

/// The same where nothing is shared that need not be, and where of two ways one is rare: the other
/// one calls nobody for it.
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
    let apart = parts(stack, tree, &facts);
    let roots = std::iter::once(None).chain(apart.keys().rev().map(|node| Some(*node)));
    let functions = roots.map(|root| {
        let (function, puts) = function(stack, tree, &facts, &apart, root);
        queued.extend(puts);
        function
    });
    let functions: Vec<Function> = functions.collect();
    let path = bypass::function_of(stack, tree.reaction, &apart);
    let functions = functions.into_iter().chain(path);
    functions.map(super::with_all_used).collect()
}

/// The parts of a tree, those that stand higher first: none holds what is long and rare, and what
/// is long stands in one of them alone.
fn parts(stack: &Stack, tree: &Tree, facts: &Facts) -> BTreeMap<NodeId, Part> {
    let short = short(stack);
    let mut apart: BTreeMap<NodeId, Part> = BTreeMap::new();
    let mut all = BTreeMap::from([(None, held(stack, tree, facts, &apart, None))]);
    loop {
        // How often each node stands where it is rare, and elsewhere.
        let mut times: BTreeMap<NodeId, [u32; 2]> = BTreeMap::new();
        let mut may: BTreeMap<NodeId, Reaction> = BTreeMap::new();
        for (root, one) in &all {
            let is_rare = root.is_some_and(|root| apart[&root].is_rare);
            for (node, more) in &one.times {
                times.entry(*node).or_default()[usize::from(!is_rare)] += more;
            }
            one.may_be_apart.iter().for_each(|(node, origin)| {
                may.entry(*node).or_insert(*origin);
            });
        }
        let twice = may.keys().rev().find(|node| {
            let longest = match times[node] {
                [1, 1] => short.max(SHORT_ENOUGH),
                [rare, others] if rare + others > 1 => short,
                _ => return false,
            };
            facts.size[node] > longest && !apart.contains_key(node)
        });
        let rare = all
            .values()
            .filter_map(|one| rare_part(stack, facts, &apart, one));
        let (node, is_rare) = match (rare.max(), twice) {
            (Some(node), _) => (node, true),
            (None, Some(node)) => (*node, false),
            (None, None) => return apart,
        };
        let part = Part {
            name: name_of(stack, tree.reaction, (may[&node], is_rare), &apart),
            origin: may[&node],
            is_rare,
        };
        apart.insert(node, part);
        // All other functions stay as they are.
        for (root, one) in &mut all {
            if one.times.contains_key(&node) {
                *one = held(stack, tree, facts, &apart, *root);
            }
        }
        all.insert(Some(node), held(stack, tree, facts, &apart, Some(node)));
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

/// The last long part that a function holds though it is rare.
fn rare_part(
    stack: &Stack,
    facts: &Facts,
    apart: &BTreeMap<NodeId, Part>,
    held: &Held,
) -> Option<NodeId> {
    if !stack.rewrites.has(Rewrite::Outline) {
        return None;
    }
    let above = held
        .times
        .keys()
        .map(|above| stack.forest.arena.node(*above));
    let ways = above.filter_map(two_ways).flat_map(|(likely, one, other)| {
        let one = (likely <= RARE).then_some(one);
        [one, (likely.other() <= RARE).then_some(other)]
    });
    let is_part = |node: &NodeId| {
        held.may_be_apart.contains_key(node) && !apart.contains_key(node) && facts.size[node] > LONG
    };
    ways.flatten().filter(is_part).max()
}
