//! What became of the joints between layers: which were woven, which stayed calls, and why.

use super::{Explained, LEAST, line};
use crate::tree::Reaction;
use crate::weave::{Joined, Stayed, Why};
use std::collections::HashMap;

/// What is said of joints; of `all` that were woven, one by one.
pub fn joints(of: &Explained, all: bool, text: &mut String) {
    let analysis = &of.analysed.woven;
    let trees = analysis.forest.trees.iter().zip(&analysis.runs);
    let runs: HashMap<Reaction, f64> = trees.map(|(tree, runs)| (tree.reaction, *runs)).collect();
    woven(of, &runs, all, text);
    stayed(of, &runs, all, text);
}

fn woven(of: &Explained, runs: &HashMap<Reaction, f64>, all: bool, text: &mut String) {
    let often = |one: &Joined| one.often * runs[&one.from];
    let mut joined: Vec<&Joined> = of.analysed.joined.iter().collect();
    if joined.is_empty() {
        return;
    }
    let woven = match joined.len() {
        1 => "1 joint was inlined".to_string(),
        joints => format!("{joints} joints were inlined"),
    };
    let saved = joined.iter().map(|one| often(one)).sum::<f64>();
    let hint = if all { "" } else { " (`--all` lists them)" };
    let says = format!("{woven}, which saves {saved:.3} calls per external");
    line(text, &format!("\n{says} event{hint}"));
    if !all {
        return;
    }
    let name = |reaction| of.words.reaction(reaction);
    joined.sort_by(|one, other| {
        let by_name = || (name(one.from), name(one.to)).cmp(&(name(other.from), name(other.to)));
        often(other).total_cmp(&often(one)).then_with(by_name)
    });
    for one in joined {
        let (from, to) = (name(one.from), name(one.to));
        let places = match one.places {
            1 => String::new(),
            places => format!(" at {places} places"),
        };
        let says = format!("{from} -> {to}: inlined{places}, {} nodes", one.nodes);
        line(text, &format!("{:8.3}  {says}", often(one)));
    }
}

fn stayed(of: &Explained, runs: &HashMap<Reaction, f64>, all: bool, text: &mut String) {
    let often = |one: &Stayed| one.often * runs[&one.from];
    let name = |reaction| of.words.reaction(reaction);
    let mut shown: Vec<&Stayed> = of.analysed.stayed.iter().collect();
    shown.retain(|one| all || often(one) >= LEAST);
    shown.sort_by(|one, other| {
        let by_name = || (name(one.from), name(one.to)).cmp(&(name(other.from), name(other.to)));
        often(other).total_cmp(&often(one)).then_with(by_name)
    });
    if shown.is_empty() {
        return;
    }
    line(
        text,
        "\njoints that remain calls, with their number per external event:",
    );
    for one in shown {
        let (from, to) = (name(one.from), name(one.to));
        let why = match one.why {
            Why::Second => "it waits for another output to be handled first".to_string(),
            Why::Called => "nothing is inlined into a tree that is itself called".to_string(),
            Why::Rare => "it is rare there".to_string(),
            Why::Again => "it repeats, and has a fast path of its own".to_string(),
            Why::Large => format!("its {} nodes exceed the size limit", one.nodes),
        };
        line(text, &format!("{:8.3}  {from} -> {to}: {why}", often(one)));
    }
}
