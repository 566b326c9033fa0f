//! `loom explain STACK`: how often a stack does what, as far as its sources say.
//!
//! In: a stack. Out: how often each of its reactions is run for one event from outside, in which
//! states its instances mostly are, and the fast path; what each rewrite cost and saved, which
//! fast paths stand apart and where they are left; what became of joints, branches and states,
//! in a few words or one by one.
//!
//! ```text
//! words      reactions and states, in the words of the sources
//! joints     which were woven, which stayed calls, and why
//! branches   how often each is asked, as written and behind the rewrites
//! states     in which instants begin, and in which nothing is ever found
//! ```

mod branches;
mod joints;
mod link_bytes;
pub mod passes;
mod slots;
mod states;
mod words;

use super::compiler::{self, Options};
use super::failure::Failure;
use super::terminal::{counted, result};
use crate::emit;
use crate::pipeline::{Analysed, SHARE};
use crate::profile::Cost;
use crate::source::Sources;
use crate::tree::walk::reachable;
use crate::tree::{Goal, Node, Output};
use crate::types::program::Program;
use std::fmt::Write;
use std::path::Path;
use words::Words;

/// What comes less often than this is not shown.
const LEAST: f64 = 0.0005;

/// Whether a word names a stack, and no diagnostic: in which no dot stands.
pub fn is_stack(word: &str) -> bool {
    word.contains('.')
}

/// Prints it; of joints, branches and states `all`.
pub fn explain(stack: &Path, options: &Options, all: bool) -> Result<(), Failure> {
    let (sources, program, analysed) = compiler::analysed(stack, options)?;
    let slots = slots::slots(&compiler::file_of(stack), &program.name, options)?;
    let rest = Explained::of(&sources, &program, &analysed).text(all);
    result(slots + &rest)
}

/// A stack that is explained.
struct Explained<'a> {
    sources: &'a Sources,
    analysed: &'a Analysed,
    words: Words<'a>,
}

impl<'a> Explained<'a> {
    fn of(sources: &'a Sources, program: &'a Program, analysed: &'a Analysed) -> Explained<'a> {
        Explained {
            sources,
            analysed,
            words: Words::new(program),
        }
    }

    fn text(&self, all: bool) -> String {
        let mut text = String::new();
        let analysed = self.analysed;
        reactions(&self.words, analysed, &mut text);
        if analysed.ignores_traffic {
            line(
                &mut text,
                "\n`traffic` changes only these figures, not the generated C",
            );
        }
        states::states(self, all, &mut text);
        common_path(&self.words, analysed, &mut text);
        costs(&analysed.costs, &mut text);
        bypasses(&self.words, analysed, &mut text);
        given_up(&self.words, analysed, &mut text);
        begun(&self.words, analysed, &mut text);
        joints::joints(self, all, &mut text);
        branches::branches(self, all, &mut text);
        text
    }
}

fn costs(costs: &[Cost], text: &mut String) {
    line(
        text,
        "\nsize and cost after each rewrite, with the rewrites before it:",
    );
    line(text, "   nodes  executed per external event");
    for cost in costs {
        let after = cost.after.map(|rewrite| rewrite.about());
        let after = after.map_or("the layers as written".to_string(), |about| {
            format!("{} {}: {}", about.letter, about.name, about.what)
        });
        line(
            text,
            &format!("{:>8} {:7.1}  {after}", cost.nodes, cost.passed),
        );
    }
}

fn bypasses(words: &Words, analysed: &Analysed, text: &mut String) {
    let forest = &analysed.bypasses;
    for tree in &forest.bypasses {
        let (mut tests, mut leaves, mut ends) = (0, 0, 0);
        for node in reachable(forest, tree.root) {
            match forest.arena.node(node) {
                Node::Test { .. } | Node::Case { .. } | Node::Try { .. } => tests += 1,
                Node::Leaf { outputs } if is_left(outputs) => leaves += 1,
                Node::Leaf { .. } => ends += 1,
                Node::Act { .. } => {}
            }
        }
        let name = words.reaction(tree.reaction);
        let left = if leaves == 0 {
            "no test leaves it"
        } else {
            "a test that fails leaves it"
        };
        let (tests, ends) = (counted(tests, "test"), counted(ends, "end"));
        line(
            text,
            &format!("\n{name} has a fast path: {tests}, {ends}; {left}"),
        );
        if forest.long_paths.contains(&tree.reaction) {
            let short = "too long to compare each test with all others";
            line(
                text,
                &format!("  the path is {short}, so some tests may be redundant"),
            );
        }
        let mut paths = analysed.exits.iter();
        if let Some(path) = paths.find(|path| path.reaction == tree.reaction) {
            exits(path, text);
        }
    }
}

/// Lists the reactions that frames start and that have no separate fast path.
fn given_up(words: &Words, analysed: &Analysed, text: &mut String) {
    for (reaction, most) in &analysed.given_up {
        let name = words.reaction(*reaction);
        let why = format!("it has more than {most} tests and steps");
        line(text, &format!("\n{name} has no fast path: {why}"));
    }
}

/// What sessions keep of what they send, and what is never read.
fn begun(words: &Words, analysed: &Analysed, text: &mut String) {
    for begun in &analysed.begun {
        let (name, bytes) = (words.reaction(begun.reaction), begun.bytes);
        let copies = format!("copies a header template of {bytes} bytes");
        line(
            text,
            &format!("\n{name} of a message without attributes {copies}"),
        );
        let often = "of its tests and writes run once for all messages of one length";
        line(text, &format!("  {} {often}", begun.settled));
    }
    if !analysed.held.is_empty() {
        line(
            text,
            "\nfields with a constant value, which the C never reads:",
        );
    }
    for held in &analysed.held {
        line(text, &format!("  {held}"));
    }
}

/// Lists the exits of a fast path: the names of their counters, and the guards.
fn exits(path: &emit::Path, text: &mut String) {
    let counted = format!(
        "  counters: `taken {}` for the path, and one for each exit:",
        path.name
    );
    if let Some(predicted) = path.predicted {
        let (bytes, tests) = (predicted.bytes, predicted.tests);
        let how = format!("  {tests} of these tests are one comparison of the first {bytes} bytes");
        let long = if predicted.alike {
            " and the length"
        } else {
            ""
        };
        line(
            text,
            &format!("{how}{long}, if a frame matches the prediction"),
        );
    }
    if let Some((_, bytes)) = &path.stands {
        let how = "is transmitted from its template, without a buffer";
        line(text, &format!("  a reply of {bytes} bytes {how}"));
    }
    if path.delivers {
        let follows = "the counter of the path implies their number";
        line(
            text,
            &format!("  delivered messages are not counted: {follows}"),
        );
    }
    line(text, &counted);
    let names = path.exits.iter().map(|exit| exit.name.chars().count());
    let width = names.max().unwrap_or(0);
    for exit in &path.exits {
        line(text, &format!("    {:width$}  {}", exit.name, exit.asks));
    }
}

/// Returns true if a path with these outputs leaves for the slow path.
fn is_left(outputs: &[Output]) -> bool {
    let is_left = |output: &Output| {
        let goal = Goal::Otherwise;
        matches!(output, Output::One { goal: one, .. } if *one == goal)
    };
    outputs.iter().any(is_left)
}

fn reactions(words: &Words, analysed: &Analysed, text: &mut String) {
    let trees = analysed.woven.forest.trees.iter();
    let mut all: Vec<(f64, String)> = trees
        .zip(&analysed.woven.runs)
        .filter(|(_, often)| **often >= LEAST)
        .map(|(tree, often)| (*often, words.reaction(tree.reaction)))
        .collect();
    all.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    line(text, "runs per external event:");
    for (often, name) in all {
        line(text, &format!("{often:8.3}  {name}"));
    }
}

fn common_path(words: &Words, analysed: &Analysed, text: &mut String) {
    let carried: f64 = analysed.path.iter().map(|one| one.share).sum();
    let carry = match analysed.path.len() {
        1 => "1 path carries".to_string(),
        ways => format!("{ways} paths carry"),
    };
    line(
        text,
        &format!("\nthe most frequent paths: {carry} {}", percent(carried)),
    );
    if carried < SHARE {
        line(text, "  the stack has too many paths to find the rest");
    }
    let forest = &analysed.woven.forest;
    for way in analysed.path.iter().take_while(|way| way.share >= LEAST) {
        let nodes = way.nodes.iter().map(|id| forest.arena.node(*id));
        let tests = nodes
            .clone()
            .filter(|node| {
                matches!(
                    node,
                    Node::Test { .. } | Node::Case { .. } | Node::Try { .. }
                )
            })
            .count();
        let steps = nodes
            .filter(|node| matches!(node, Node::Act { .. }))
            .count();
        let name = words.reaction(forest.trees[way.tree].reaction);
        let (tests, steps) = (counted(tests, "test"), counted(steps, "step"));
        let share = percent(way.share);
        line(text, &format!("{share:>8}  {name}: {tests}, {steps}"));
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a string takes every line");
}
