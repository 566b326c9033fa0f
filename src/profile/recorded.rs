//! Recorded profiles: how often each way of a stack was taken when it ran.
//!
//! In: the text that a build which records has written. Out: trees whose shares are those counts.
//!
//! ```text
//! stackloom profile 1
//! stack host
//! trees 8f3a6c51d2e97b04
//! frames wire 4034 alike 4011 elsewhere 4034
//!       4034  arrive sequencer 0 only 0 deliver
//!       4030  sequencer.loom:24 yes
//!          4  sequencer.loom:24 no
//! ```
//!
//! The counts stand in the order of [`crate::tree::ways`]; what is behind a count is for people
//! alone. Behind `trees` stands a sum of their text: what was recorded of others says nothing; then
//! how many frames came in by each link, how many of them were as long as the one before, and how
//! many stood elsewhere than in buffers that the stack had given to its host.

use super::reactions::came;
use crate::tree::text::{compact, write};
use crate::tree::walk::with_children;
use crate::tree::ways::{Way, ways};
use crate::tree::{Arena, Forest, Node, NodeId, Probability, Reaction};
use crate::types::program::Program;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The first line of such a file.
const FIRST: &str = "stackloom profile 1";

/// How many frames came in.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Frames {
    all: u64,
    /// Those that were as long as the one before.
    alike: u64,
    /// Those that did not stand in a buffer of the stack.
    elsewhere: u64,
}

/// What was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// The names of the files that it was read from.
    names: Vec<String>,
    /// Of which stack.
    stack: String,
    /// Of which trees.
    trees: u64,
    /// By link: how many frames came in.
    frames: BTreeMap<String, Frames>,
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
            .ok_or_else(|| format!("not a profile: the first line is not `{FIRST}`"))?;
        let stack = behind("stack ").ok_or("line 2 does not name the stack")?;
        let trees = behind("trees ").and_then(|digits| u64::from_str_radix(&digits, 16).ok());
        let trees = trees.ok_or("line 3 has no checksum of the stack")?;
        let (mut frames, mut counts) = (BTreeMap::new(), Vec::new());
        for (at, line) in lines {
            if let Some(line) = line.strip_prefix("frames ").filter(|_| counts.is_empty()) {
                let (link, came) = said_of_frames(line)
                    .ok_or_else(|| format!("line {} has no count of frames", at + 1))?;
                if frames.insert(link, came).is_some() {
                    return Err(format!(
                        "line {} counts the frames of a link a second time",
                        at + 1
                    ));
                }
                continue;
            }
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
            frames,
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
            return Err(
                "the profile was recorded from another stack than the profile before it"
                    .to_string(),
            );
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count = count.saturating_add(*more);
        }
        for (link, more) in &other.frames {
            let came = self.frames.entry(link.clone()).or_default();
            let all = came.all.saturating_add(more.all);
            // However many there are, those that were otherwise are not forgotten.
            let but = |one: u64, other: u64| {
                let otherwise = (came.all - one).saturating_add(more.all - other);
                all.saturating_sub(otherwise)
            };
            *came = Frames {
                all,
                alike: but(came.alike, more.alike),
                elsewhere: but(came.elsewhere, more.elsewhere),
            };
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
            return Err(format!(
                "the profile was recorded from `{own}`, but the stack is `{stack}`"
            ));
        }
        if self.trees != sum(program, forest) {
            return Err(format!(
                "`{stack}` has changed since the profile was recorded: record a new one"
            ));
        }
        let is_known = |name: &&String| program.links.iter().any(|link| link.name == **name);
        if let Some(other) = self.frames.keys().find(|name| !is_known(name)) {
            return Err(format!(
                "the profile counts frames of `{other}`, but `{stack}` has no such link"
            ));
        }
        let (found, wanted) = (self.counts.len(), ways(forest).len());
        if found != wanted {
            return Err(format!(
                "the profile has {found} counts, but `{stack}` has {wanted} paths"
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

    /// The same, of a host that asks for buffers though this one did not.
    pub fn lent(mut self) -> Recorded {
        let came = self.frames.values_mut();
        came.for_each(|one| one.elsewhere = 0);
        self
    }

    /// Whether frames came by these links, and none of them stood in a buffer of the stack.
    pub fn stood_elsewhere<'l>(&self, links: impl Iterator<Item = &'l str>) -> bool {
        let came = links.map(|link| self.frames.get(link).copied());
        let Some(came) = came.collect::<Option<Vec<Frames>>>() else {
            // Nothing is said of one.
            return false;
        };
        let all_stood = came.iter().all(|one| one.elsewhere == one.all);
        all_stood && came.iter().any(|one| one.all != 0)
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
        let out: FxHashMap<(NodeId, usize), u64> = taken
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
        let begun: FxHashMap<Way, u64> = taken.into_iter().collect();
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

/// What a line says of the frames of a link. Of where they stood older profiles say nothing.
fn said_of_frames(line: &str) -> Option<(String, Frames)> {
    let words = Vec::from_iter(line.split_whitespace());
    let (link, all, alike, elsewhere) = match words[..] {
        [link, all, "alike", alike] => (link, all, alike, "0"),
        [link, all, "alike", alike, "elsewhere", elsewhere] => (link, all, alike, elsewhere),
        _ => return None,
    };
    let came = Frames {
        all: all.parse().ok()?,
        alike: alike.parse().ok()?,
        elsewhere: elsewhere.parse().ok()?,
    };
    (came.alike.max(came.elsewhere) <= came.all).then(|| (link.to_string(), came))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(frames: &str) -> Result<Recorded, String> {
        Recorded::read(&format!(
            "{FIRST}\nstack one\ntrees 00\n{frames} 3  a way\n"
        ))
    }

    #[test]
    fn frames_stand_elsewhere_where_all_did() {
        let both = ["one", "two"];
        let of_one = |frames: &str| {
            let recorded = read(frames).expect("it is a profile");
            recorded.stood_elsewhere(both[..1].iter().copied())
        };
        assert!(of_one("frames one 100 alike 95 elsewhere 100\n"));
        assert!(!of_one("frames one 100 alike 95 elsewhere 99\n"));
        assert!(!of_one("frames one 0 alike 0 elsewhere 0\n"));
        assert!(!of_one("frames one 100 alike 95\n"), "nothing is said");
        assert!(!of_one("frames two 100 alike 95 elsewhere 100\n"));
        let of_both = |second: &str| {
            let most = u64::MAX;
            let first = format!("frames one {most} alike 0 elsewhere {most}\n");
            let recorded = read(&(first + second)).expect("it is a profile");
            let lent = recorded.clone().lent();
            assert!(!lent.stood_elsewhere(both.into_iter()));
            recorded.stood_elsewhere(both.into_iter())
        };
        assert!(of_both("frames two 0 alike 0 elsewhere 0\n"));
        assert!(of_both("frames two 7 alike 0 elsewhere 7\n"));
        assert!(!of_both("frames two 4 alike 0 elsewhere 0\n"));
        let most = format!("frames one {0} alike 4 elsewhere {0}\n", u64::MAX);
        let one = read("frames one 5 alike 4 elsewhere 4\n").expect("it is a profile");
        let sum = one.and(&read(&most).expect("it is a profile"));
        let sum = sum.expect("they are of one stack");
        assert!(!sum.stood_elsewhere(both[..1].iter().copied()));
        assert!(!of_both(""));
    }

    #[test]
    fn frames_of_several_runs_add_up() {
        let [one, other] = [0, 95].map(|alike| {
            read(&format!("frames wire 100 alike {alike}\n")).expect("it is a profile")
        });
        let sum = one.and(&other).expect("both are of one stack");
        let wire = sum.frames["wire"];
        assert_eq!((wire.all, wire.alike), (200, 95));
    }

    #[test]
    fn what_says_something_of_frames_twice_is_refused() {
        let said = read("frames wire 3 alike 1\nframes wire 3 alike 2\n");
        let said = said.expect_err("it is refused");
        assert_eq!(said, "line 5 counts the frames of a link a second time");
    }

    #[test]
    fn what_says_nothing_of_frames_is_refused() {
        for frames in [
            "frames wire 3\n",
            "frames wire 3 alike 4\n",
            "frames wire 3 unlike 1\n",
            "frames wire x alike 1\n",
            "frames wire 3 alike 1 elsewhere 4\n",
            "frames wire 3 alike 1 elsewhere\n",
            "frames wire 3 alike 1 anywhere 3\n",
            "frames wire 3 alike 1 2\n",
        ] {
            let said = read(frames).expect_err("it is refused");
            assert_eq!(said, "line 4 has no count of frames");
        }
    }
}
