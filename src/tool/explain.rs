//! `loom explain STACK`: how often a stack does what, as far as its sources say.
//!
//! In: a stack. Out: how often each of its reactions is run for one event from outside, in which
//! states its instances mostly are, and the fast path; what each rewrite cost and saved, which
//! fast paths stand apart and where they are left; what became of joints, branches and states,
//! in a few words or one by one.
//!
//! ```text
//! words      reactions and states, in the words of the sources
//! fast_paths fast functions, and the exits by which frames leave them
//! paths      each path of each fast function; condition: what its guards ask, in words
//! joints     which were woven, which stayed calls, and why
//! branches   how often each is asked, as written and behind the rewrites
//! states     in which instants begin, and in which nothing is ever found
//! ```

mod branches;
mod condition;
mod fast_paths;
mod joints;
mod link_bytes;
pub mod passes;
pub mod paths;
mod slots;
mod states;
mod words;

use super::compiler::{self, Options};
use super::failure::Failure;
use super::terminal::{counted, result};
use crate::pipeline::{Analysed, SHARE};
use crate::profile::Cost;
use crate::source::Sources;
use crate::tree::Node;
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
        fast_paths::fast_paths(self, &mut text);
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
