//! Recorded profiles: how often each way of a stack was taken when it ran.
//!
//! In: the text that a build which records has written. Out: trees whose shares are those counts.
//!
//! ```text
//! stackloom profile 1
//! stack host
//! trees 8f3a6c51d2e97b04
//!       4034  arrive sequencer 0 only 0 deliver
//!       4030  sequencer.loom:24 yes
//!          4  sequencer.loom:24 no
//! ```
//!
//! The counts stand in the order of [`crate::tree::ways`]; what is behind a count is for people
//! alone. Behind `trees` stands a sum of their text: what was recorded of others says nothing.

use super::reactions::came;
use crate::tree::text::{compact, write};
use crate::tree::walk::with_children;
use crate::tree::ways::{Way, ways};
use crate::tree::{Arena, Forest, Node, NodeId, Probability, Reaction};
use crate::types::program::Program;
use std::collections::{BTreeMap, HashMap};

/// The first line of such a file.
const FIRST: &str = "stackloom profile 1";

/// What was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// The names of the files that it was read from.
    names: Vec<String>,
    /// Of which stack.
    stack: String,
    /// Of which trees.
    trees: u64,
    /// How often each way was taken.
    counts: Vec<u64>,
    /// How often events came from outside, by the trees that they start, once those are known.
    came: BTreeMap<Reaction, f64>,
}

/// The lines before the counts.
pub fn begins(program: &Program, forest: &Forest, stack: &str) -> String {
    let trees = sum(program, forest);
    format!("{FIRST}\nstack {stack}\ntrees {trees:016x}\n")
}

/// A sum of the text of trees (FNV-1a).
fn sum(program: &Program, forest: &Forest) -> u64 {
    let text = write(program, &compact(forest));
    let add = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, add)
}

impl Recorded {
    /// Reads a profile; what is wrong with it, if it is none.
    pub fn read(text: &str) -> Result<Recorded, String> {
        let mut lines = text.lines().enumerate();
        let mut behind = |word: &str| {
            let line = lines.next().map(|(_, line)| line.trim_end());
            let value = line.and_then(|line| line.strip_prefix(word));
            value.map(str::to_string)
        };
        behind(FIRST)
            .filter(|rest| rest.is_empty())
            .ok_or_else(|| format!("no profile: it does not begin with `{FIRST}`"))?;
        let stack = behind("stack ").ok_or("line 2 does not say of which stack it is")?;
        let trees = behind("trees ").and_then(|digits| u64::from_str_radix(&digits, 16).ok());
        let trees = trees.ok_or("line 3 does not say of which trees it is")?;
        let mut counts = Vec::new();
        for (at, line) in lines {
            let count = line.split_whitespace().next().map(str::parse);
            counts.push(match count {
                Some(Ok(count)) => count,
                Some(Err(_)) | None => return Err(format!("line {} has no count", at + 1)),
            });
        }
        Ok(Recorded {
            names: Vec::new(),
            stack,
            trees,
            counts,
            came: BTreeMap::new(),
        })
    }

    /// The same, from a file of this name.
    pub fn named(self, name: &str) -> Recorded {
        Recorded {
            names: vec![name.to_string()],
            ..self
        }
    }

    /// The names of the files that it was read from.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What was recorded in this and another run.
    pub fn and(mut self, other: &Recorded) -> Result<Recorded, String> {
        let same = |one: &Recorded| (one.stack.clone(), one.trees, one.counts.len());
        if same(&self) != same(other) {
            return Err("it was not recorded of the same stack as the one before it".to_string());
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count = count.saturating_add(*more);
        }
        self.names.extend_from_slice(&other.names);
        Ok(self)
    }

    /// What it says of a stack with these trees, or why it was not recorded of that.
    pub fn of(
        mut self,
        program: &Program,
        forest: &Forest,
        stack: &str,
    ) -> Result<Recorded, String> {
        if self.stack != stack {
            let own = &self.stack;
            return Err(format!("it was recorded of `{own}`, and this is `{stack}`"));
        }
        if self.trees != sum(program, forest) {
            return Err(format!(
                "`{stack}` is another since it was recorded: record it anew"
            ));
        }
        let (found, wanted) = (self.counts.len(), ways(forest).len());
        if found != wanted {
            return Err(format!(
                "it has {found} counts, and `{stack}` has {wanted} ways"
            ));
        }
        let runs = self.runs(forest);
        self.came = came(&self.shared(forest).0, &runs);
        Ok(self)
    }

    /// How often events came from outside, by the trees that they start.
    pub fn came(&self) -> &BTreeMap<Reaction, f64> {
        &self.came
    }

    /// How many ways were taken, and how many there are.
    pub fn extent(&self) -> (usize, usize) {
        let taken = self.counts.iter().filter(|count| **count > 0);
        (taken.count(), self.counts.len())
    }

    /// How often each way of the trees was taken, in their order.
    pub fn taken(&self, forest: &Forest) -> Vec<(Way, u64)> {
        let all = ways(forest).into_iter();
        all.zip(self.counts.iter().copied()).collect()
    }

    /// How often each tree was run.
    pub fn runs(&self, forest: &Forest) -> BTreeMap<Reaction, u64> {
        let taken = self.taken(forest).into_iter();
        let begun = taken.filter(|(way, _)| way.from.is_none());
        begun
            .map(|(way, count)| (forest.trees[way.tree].reaction, count))
            .collect()
    }

    /// The trees, in which each node that was reached leads there as often as it did; and how often
    /// each of their ways was taken. What differed in nothing but a guess is one now.
    pub fn shared(&self, forest: &Forest) -> (Forest, BTreeMap<Way, u64>) {
        let taken = self.taken(forest);
        let out: HashMap<(NodeId, usize), u64> = taken
            .iter()
            .filter_map(|(way, count)| Some((way.from?, *count)))
            .collect();
        let mut shared = Forest {
            arena: Arena::default(),
            ..forest.clone()
        };
        let mut new: Vec<NodeId> = Vec::new();
        for at in 0..forest.arena.len() as u32 {
            let id = NodeId(at);
            let node = forest.arena.node(id).clone();
            let counts = (0..).map_while(|way| out.get(&(id, way)).copied());
            let node = with_shares(node, &counts.collect::<Vec<_>>());
            let node = with_children(node, |child| new[child.at()]);
            new.push(shared.arena.add(node));
        }
        let new = |id: NodeId| new[id.at()];
        for tree in &mut shared.trees {
            tree.root = new(tree.root);
        }
        let places = forest.places.iter().map(|(id, place)| (new(*id), *place));
        shared.places = places.collect();
        let mut counts: BTreeMap<Option<(NodeId, usize)>, u64> = BTreeMap::new();
        for (way, count) in taken.iter().filter(|(way, _)| way.from.is_some()) {
            let from = way.from.map(|(id, out)| (new(id), out));
            *counts.entry(from).or_default() += count;
        }
        let begun: HashMap<Way, u64> = taken.into_iter().collect();
        let often = |way: &Way| match way.from {
            Some(_) => counts.get(&way.from).copied(),
            None => begun.get(way).copied(),
        };
        let all = ways(&shared).into_iter();
        let all = all.map(|way| (way, often(&way).unwrap_or_default()));
        let all = all.collect();
        (shared, all)
    }
}

/// A node whose ways were taken so often; as it was, if it was never reached.
fn with_shares(mut node: Node, counts: &[u64]) -> Node {
    let all: u128 = counts.iter().map(|count| u128::from(*count)).sum();
    if all == 0 {
        return node;
    }
    let share = |at: usize| match (u128::from(counts[at]) * 1_000_000 / all) as u32 {
        // Of this one nothing would be known.
        500_000 => Probability(499_999),
        millionths => Probability(millionths),
    };
    match &mut node {
        Node::Test { likely, .. } | Node::Try { likely, .. } => *likely = share(0),
        Node::Case { cases, .. } => {
            let each = cases.iter_mut().enumerate();
            each.for_each(|(at, case)| case.1 = share(at));
        }
        Node::Act { .. } | Node::Leaf { .. } => {}
    }
    node
}
