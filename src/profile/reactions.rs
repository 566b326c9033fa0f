//! Trees -> how often each is run, for each event that comes from outside.
//!
//! In: trees, and the shares of the events that come from outside. Out: runs of each tree: those
//! from outside, and those that other trees let happen, be it at once or from the agenda.

use super::Profile;
use super::visits::{Flow, visits};
use crate::tree::walk::{children, masses, reachable};
use crate::tree::{Action, Forest, Goal, Node, NodeId, Output, Reaction};
use crate::types::program::{Event, Place, Port, Program};
use std::collections::BTreeMap;

/// How often each tree is run, in the order of the forest.
pub fn runs(program: &Program, forest: &Forest, profile: &Profile) -> Vec<f64> {
    let places: BTreeMap<Reaction, usize> = forest
        .trees
        .iter()
        .enumerate()
        .map(|(at, tree)| (tree.reaction, at))
        .collect();
    let mut flow: Vec<Flow> = Vec::new();
    for (from, tree) in forest.trees.iter().enumerate() {
        for (reaction, often) in followers(forest, tree.root) {
            if let Some(to) = places.get(&reaction) {
                flow.push((from, *to, often));
            }
        }
    }
    visits(&shares(program, forest, profile), &flow)
}

/// How often events came from outside to trees that were run so often: beyond what others let
/// happen.
pub fn came(forest: &Forest, runs: &BTreeMap<Reaction, u64>) -> BTreeMap<Reaction, f64> {
    let often = |reaction| runs.get(&reaction).copied().unwrap_or_default() as f64;
    let trees = forest.trees.iter();
    let mut came: BTreeMap<Reaction, f64> = trees
        .map(|tree| (tree.reaction, often(tree.reaction)))
        .collect();
    for tree in &forest.trees {
        for (reaction, share) in followers(forest, tree.root) {
            if let Some(left) = came.get_mut(&reaction) {
                *left -= share * often(tree.reaction);
            }
        }
    }
    came
}

/// The shares of events from outside, of each tree; their sum is one.
fn shares(program: &Program, forest: &Forest, profile: &Profile) -> Vec<f64> {
    let comes = |at: usize| outside(program, forest.trees[at].reaction);
    let names: Vec<Option<String>> = (0..forest.trees.len()).map(comes).collect();
    if let Profile::Recorded(recorded) = profile {
        let came = |at: usize| recorded.came().get(&forest.trees[at].reaction);
        let from_outside = names.iter().enumerate().map(|(at, name)| match name {
            Some(_) => came(at).map_or(0.0, |often| often.max(0.0)),
            None => 0.0,
        });
        return of_one(from_outside.collect());
    }
    let mut each: BTreeMap<&String, usize> = BTreeMap::new();
    for name in names.iter().flatten() {
        *each.entry(name).or_default() += 1;
    }
    let said: BTreeMap<&String, f64> = match profile {
        Profile::Raw | Profile::Recorded(_) => BTreeMap::new(),
        Profile::Default => {
            let said = program.traffic.iter();
            let said = said.filter(|(name, _)| each.contains_key(name));
            said.map(|(name, percent)| (name, percent / 100.0))
                .collect()
        }
    };
    // What nobody speaks of shares what is left.
    let others: usize = each
        .iter()
        .filter(|(name, _)| !said.contains_key(*name))
        .map(|(_, count)| count)
        .sum();
    let left = (1.0 - said.values().sum::<f64>()).max(0.0);
    let share = |name: &Option<String>| match name {
        None => 0.0,
        Some(name) => match said.get(name) {
            Some(share) => share / each[name] as f64,
            None => left / others as f64,
        },
    };
    of_one(names.iter().map(share).collect())
}

/// The same shares, of one; if there are any.
fn of_one(shares: Vec<f64>) -> Vec<f64> {
    let sum: f64 = shares.iter().sum();
    match sum > 0.0 {
        true => shares.into_iter().map(|share| share / sum).collect(),
        false => shares,
    }
}

/// What `traffic` calls an event that comes from outside; none for what only follows from others.
fn outside(program: &Program, reaction: Reaction) -> Option<String> {
    match reaction {
        Reaction::Arrive { entity, .. } => {
            let on_link = program.links.iter().any(
                |link| matches!(link.above, Place::Entity { entity: above, .. } if above == entity),
            );
            on_link.then(|| "deliver".to_string())
        }
        Reaction::Handle { kind, event, .. } => {
            let told = |port: &Port| match port.below {
                Place::Entity { entity, .. } => {
                    let table = &program.entities[entity.at()];
                    kind == table.session || kind == table.record
                }
                Place::Link(_) | Place::Port(_) => false,
            };
            let mut ports = program.ports.iter().filter(|port| told(port));
            match event {
                Event::Send => ports.any(|port| port.passes).then(|| "send".to_string()),
                Event::Notice(notice) => ports
                    .any(|port| port.down.contains(&notice))
                    .then(|| program.notices[notice.at()].name.clone()),
                Event::Timer(_) => Some("expire".to_string()),
                Event::Deliver | Event::Start | Event::End | Event::Again => None,
            }
        }
    }
}

/// The reactions that follow from one run of a tree, and how often.
fn followers(forest: &Forest, root: NodeId) -> Vec<(Reaction, f64)> {
    let nodes = reachable(forest, root);
    let masses = masses(forest, &nodes, root, 1.0);
    let mut all = Vec::new();
    for id in nodes {
        let node = forest.arena.node(id);
        let outputs = match node {
            Node::Leaf { outputs } => outputs,
            Node::Act {
                action: Action::Wait(outputs) | Action::Put(outputs) | Action::Answer(outputs),
                ..
            } => outputs,
            Node::Act { .. } | Node::Test { .. } | Node::Case { .. } | Node::Try { .. } => continue,
        };
        for output in outputs {
            follow(forest, output, masses[&id], &mut all);
        }
    }
    all
}

/// What follows from an output that is made so often; a family has one turn.
fn follow(forest: &Forest, output: &Output, mass: f64, all: &mut Vec<(Reaction, f64)>) {
    let goal = match output {
        Output::One { goal, .. } | Output::Every { goal, .. } => goal,
        Output::Many(turns) => {
            let mut open = vec![turns.body];
            while let Some(id) = open.pop() {
                let node = forest.arena.node(id);
                match node {
                    Node::Leaf { outputs } => outputs
                        .iter()
                        .for_each(|output| follow(forest, output, mass, all)),
                    Node::Act { .. } | Node::Test { .. } | Node::Case { .. } | Node::Try { .. } => {
                        open.extend(children(node));
                    }
                }
            }
            return;
        }
    };
    match goal {
        Goal::Reaction(reaction, _) if mass > 0.0 => all.push((*reaction, mass)),
        Goal::Reaction(..) | Goal::Frame(_) | Goal::Port(..) => {}
    }
}
