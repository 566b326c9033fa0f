//! Which parts of a tree stand in functions of their own: what is long and rare, and what is long
//! and follows several ways.

use super::Stack;
use super::output::Queued;
use super::tree::{Body, function};
use super::uses::facts;
use crate::c::tree::Function;
use crate::tree::walk::reachable;
use crate::tree::{Action, Goal, Node, NodeId, Output, Probability, Tree};
use crate::types::expression::Variable;
use crate::types::program::{EntityId, KindId};
use std::collections::{BTreeMap, BTreeSet};

/// What is rare and longer than this stands in a function of its own.
const LONG: u32 = 12;

/// What several ways lead to is repeated up to this size.
pub const SHORT: u32 = 8;

/// At most this rare: what is not as it is as a rule.
const RARE: Probability = Probability(100_000);

/// What is said of it.
const RARE_IN: &str = "What is rare in ";

/// Whether a function is a part of a tree that is rare.
pub fn is_rare(function: &Function) -> bool {
    function.comment.starts_with(RARE_IN)
}

/// The functions of a tree: its own, then those of its parts; and what they put on the agenda.
pub fn functions(stack: &Stack, tree: &Tree, queued: &mut BTreeSet<Queued>) -> Vec<Function> {
    let facts = facts(stack, &tree.parameters, tree.root);
    let whole = &stack.names.reactions[&tree.reaction];
    let own = Some(super::entity_of(stack, tree.reaction));
    let mut apart = BTreeMap::new();
    loop {
        let mut all = vec![function(stack, tree, &facts, &apart, tree.root, whole)];
        let nodes: Vec<(NodeId, String)> = apart
            .iter()
            .map(|(node, name)| (*node, name.clone()))
            .collect();
        for (node, name) in nodes.iter().rev() {
            let (mut part, body) = function(stack, tree, &facts, &apart, *node, name);
            part.comment = match name.contains("_rare") {
                true => format!("{RARE_IN}{whole}."),
                false => format!("What several ways of {whole} come to."),
            };
            all.push((part, body));
        }
        let mut written: BTreeMap<NodeId, u32> = BTreeMap::new();
        let mut may = BTreeSet::new();
        for (_, body) in &all {
            body.written
                .iter()
                .for_each(|(node, times)| *written.entry(*node).or_default() += times);
            may.extend(&body.may_be_apart);
        }
        let twice = may.iter().rev().find(|node| {
            written[node] > 1 && facts.size[node] > SHORT && !apart.contains_key(node)
        });
        let rare = all.iter().flat_map(|(_, body)| rare_parts(body)).max();
        let (node, suffix) = match (rare, twice) {
            (Some(node), _) if !apart.contains_key(&node) => (node, "rare"),
            (_, Some(node)) => (*node, "then"),
            _ => {
                all.iter()
                    .for_each(|(_, body)| queued.extend(body.queued.iter().copied()));
                return all.into_iter().map(|(function, _)| function).collect();
            }
        };
        let taken = |name: &String| {
            stack.names.taken.has(name) || apart.values().any(|other| other == name)
        };
        let plain = match entity_at(stack, node).filter(|at| Some(*at) != own) {
            Some(at) => format!("{whole}_{suffix}_{}", stack.program.entities[at.at()].name),
            None => format!("{whole}_{suffix}"),
        };
        let numbered = (2..).map(|n| format!("{plain}_{n}"));
        let free = std::iter::once(plain.clone())
            .chain(numbered)
            .find(|name| !taken(name));
        apart.insert(node, free.expect("there are more numbers than names"));
    }
}

/// Long parts that a function holds though they are rare.
fn rare_parts(body: &Body) -> Option<NodeId> {
    let held = body
        .may_be_apart
        .iter()
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

/// The entity whose reaction goes on at a node: it drops, counts, writes or passes on first.
fn entity_at(stack: &Stack, node: NodeId) -> Option<EntityId> {
    let program = stack.program;
    let of_kind = |kind: KindId| program.kinds[kind.at()].entity;
    let of_header = |header| {
        let mut entities = program.entities.iter();
        let at = entities.position(|one| one.header == Some(header));
        at.map(|at| EntityId(at as u32))
    };
    // Nodes stand behind those that they lead to.
    let nodes = reachable(stack.forest, node);
    nodes
        .into_iter()
        .rev()
        .find_map(|id| match stack.forest.arena.node(id) {
            Node::Act { action, .. } => match action {
                Action::Drop(_, reason) | Action::DropAll(_, reason) => {
                    Some(program.reasons[reason.at()].entity)
                }
                Action::Count(count) => Some(program.counts[count.at()].entity),
                Action::Assign(Variable::Field(_, kind, _), _)
                | Action::StartTimer(_, kind, ..)
                | Action::StopTimer(_, kind, _)
                | Action::End(_, kind) => Some(of_kind(*kind)),
                Action::Strip(_, header) | Action::Push { header, .. } => of_header(*header),
                _ => None,
            },
            Node::Leaf { outputs } => outputs.iter().find_map(|output| match output {
                Output::One {
                    goal: Goal::Reaction(reaction, _),
                    ..
                } => Some(super::entity_of(stack, *reaction)),
                _ => None,
            }),
            Node::Test { .. } | Node::Case { .. } | Node::Try { .. } => None,
        })
}
