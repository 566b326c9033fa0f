//! `loom explain STACK`: how often a stack does what, as far as its sources say.
//!
//! In: a stack. Out: how often each of its reactions is run for one event from outside, in which
//! states its instances mostly are, and the common path; what each rewrite cost and saved, which
//! common paths stand apart, and which joints stayed calls, and why.

use super::compiler::{self, Options};
use super::failure::Failure;
use super::terminal::result;
use crate::emit;
use crate::pipeline::{Analysed, Cost, SHARE};
use crate::profile::Register;
use crate::tree::text::Names;
use crate::tree::walk::reachable;
use crate::tree::{Goal, Node, Output, Reaction};
use crate::types::program::Program;
use crate::types::value::Type;
use crate::weave::{Stayed, Why};
use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

/// What comes less often than this is not shown.
const LEAST: f64 = 0.0005;

/// Whether a word names a stack, and no diagnostic: in which no dot stands.
pub fn is_stack(word: &str) -> bool {
    word.contains('.')
}

/// Prints it.
pub fn explain(stack: &Path, options: &Options) -> Result<(), Failure> {
    let (program, analysed) = compiler::analysed(stack, options)?;
    result(text(&program, &analysed))
}

fn text(program: &Program, analysed: &Analysed) -> String {
    let names = Names::new(program);
    let mut text = String::new();
    reactions(&names, analysed, &mut text);
    states(program, &names, &analysed.states, &mut text);
    common_path(&names, analysed, &mut text);
    costs(&analysed.costs, &mut text);
    bypasses(&names, analysed, &mut text);
    stayed(&names, analysed, &mut text);
    text
}

fn costs(costs: &[Cost], text: &mut String) {
    line(
        text,
        "\nwhat each rewrite cost and saved, with those before it:",
    );
    line(text, "   nodes  passed for one event from outside");
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

fn bypasses(names: &Names, analysed: &Analysed, text: &mut String) {
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
        let name = names.reaction(tree.reaction);
        let left = if leaves == 0 {
            "is never left"
        } else {
            "is left where one fails"
        };
        let ends = format!("{ends} end{}", if ends == 1 { "" } else { "s" });
        line(
            text,
            &format!("\n{name} has a common path apart: {tests} tests, {ends}; it {left}"),
        );
        let mut paths = analysed.exits.iter();
        if let Some(path) = paths.find(|path| path.reaction == tree.reaction) {
            exits(path, text);
        }
    }
}

/// Where the C of a common path is left: by which names that is counted, and what holds there.
fn exits(path: &emit::Path, text: &mut String) {
    let counted = format!(
        "  it is counted as `taken {}`, and where it is left",
        path.name
    );
    line(text, &counted);
    let names = path.exits.iter().map(|exit| exit.name.chars().count());
    let width = names.max().unwrap_or(0);
    for exit in &path.exits {
        line(text, &format!("    {:width$}  {}", exit.name, exit.asks));
    }
}

/// Whether a common path is left so.
fn is_left(outputs: &[Output]) -> bool {
    let is_left = |output: &Output| {
        let goal = Goal::Otherwise;
        matches!(output, Output::One { goal: one, .. } if *one == goal)
    };
    outputs.iter().any(is_left)
}

fn stayed(names: &Names, analysed: &Analysed, text: &mut String) {
    let trees = &analysed.woven.forest.trees;
    let runs: HashMap<Reaction, f64> = trees
        .iter()
        .zip(&analysed.woven.runs)
        .map(|(tree, runs)| (tree.reaction, *runs))
        .collect();
    let often = |one: &Stayed| one.often * runs[&one.from];
    let mut shown: Vec<&Stayed> = analysed.stayed.iter().collect();
    shown.retain(|one| often(one) >= LEAST);
    shown.sort_by(|one, other| {
        let by_name = || names.reaction(one.from).cmp(&names.reaction(other.from));
        often(other).total_cmp(&often(one)).then_with(by_name)
    });
    if shown.is_empty() {
        return;
    }
    line(
        text,
        "\nthese joints stayed calls, so often for one event from outside:",
    );
    for one in shown {
        let (from, to) = (names.reaction(one.from), names.reaction(one.to));
        let why = match one.why {
            Why::Second => "it waits behind what comes first".to_string(),
            Why::Called => "nothing is woven into what is itself called".to_string(),
            Why::Rare => "it is rare there".to_string(),
            Why::Large => format!("no room is left for its {} nodes", one.nodes),
        };
        line(text, &format!("{:8.3}  {from} -> {to}: {why}", often(one)));
    }
}

fn reactions(names: &Names, analysed: &Analysed, text: &mut String) {
    let trees = analysed.woven.forest.trees.iter();
    let mut all: Vec<(f64, String)> = trees
        .zip(&analysed.woven.runs)
        .filter(|(_, often)| **often >= LEAST)
        .map(|(tree, often)| (*often, names.reaction(tree.reaction)))
        .collect();
    all.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    line(text, "for one event from outside, this is run so often:");
    for (often, name) in all {
        line(text, &format!("{often:8.3}  {name}"));
    }
}

fn states(program: &Program, names: &Names, registers: &[Register], text: &mut String) {
    if registers.is_empty() {
        return;
    }
    line(text, "\ninstants begin in these control states:");
    for register in registers {
        let (kind, field) = (register.kind.at(), register.field.at());
        let enumeration = match &program.kinds[kind].fields[field].kind {
            Type::Enum(id) => Some(&program.enums[id.at()].names),
            _numbered => None,
        };
        let named = |value: u64| {
            let mut known = enumeration.into_iter().flatten();
            let known = known.find(|(_, other)| *other == value);
            known.map_or(value.to_string(), |(name, _)| name.clone())
        };
        let mut shares: Vec<(f64, u64)> = register
            .shares
            .iter()
            .copied()
            .zip(register.values.iter().copied())
            .filter(|(share, _)| *share >= LEAST)
            .collect();
        shares.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        let shares: Vec<String> = shares
            .into_iter()
            .map(|(share, value)| format!("{} {}", named(value), percent(share)))
            .collect();
        let name = format!("{}.{}", names.kinds[kind], names.fields[kind][field]);
        line(text, &format!("  {name}: {}", shares.join(", ")));
    }
}

fn common_path(names: &Names, analysed: &Analysed, text: &mut String) {
    let carried: f64 = analysed.path.iter().map(|one| one.share).sum();
    let count = analysed.path.len();
    line(
        text,
        &format!("\nthe common path: {count} ways carry {}", percent(carried)),
    );
    if carried < SHARE {
        line(text, "  there are too many ways to find more of it");
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
        let name = names.reaction(forest.trees[way.tree].reaction);
        let share = percent(way.share);
        line(
            text,
            &format!("{share:>8}  {name}: {tests} tests, {steps} steps"),
        );
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a string takes every line");
}
