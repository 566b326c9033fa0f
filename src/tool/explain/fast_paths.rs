//! Fast functions: in, the stack IR behind all passes; out, which functions are tried before each
//! reaction, and the exits of the last of them, at which the whole reaction runs instead.

use super::{Explained, line};
use crate::ir::op::Op;
use crate::ir::{Function, FunctionId, Role};
use crate::source::{Sources, Span};
use crate::tool::terminal::counted;
use std::collections::BTreeMap;

/// Lists the fast functions of all reactions.
pub fn fast_paths(explained: &Explained<'_>, text: &mut String) {
    let module = &explained.analysed.module;
    let all = (0..module.functions.len() as u32).map(FunctionId);
    for reaction in all.filter(|id| module.function(*id).role != Role::Fast) {
        let tried = module.tried(reaction);
        let Some((last, before)) = tried.split_first() else {
            continue;
        };
        let own = module.function(*last);
        let name = &module.function(reaction).name;
        let size = size(own);
        let left = "control leaves it where a guard fails";
        line(text, &format!("\n{name} has a fast path: {size}; {left}"));
        for first in before {
            let first = module.function(*first);
            let size = self::size(first);
            line(
                text,
                &format!("  {} is tried before it: {size}", first.name),
            );
        }
        exits(explained, own, text);
    }
}

/// The guards and commits of a fast function.
fn size(function: &Function) -> String {
    let count = |is: fn(&Op) -> bool| function.instructions().filter(|one| is(&one.op)).count();
    let guards = count(|op| matches!(op, Op::Exit(_)));
    let commits = count(|op| matches!(op, Op::Commit));
    let [guards, commits] = [(guards, "guard"), (commits, "commit")].map(|(n, of)| counted(n, of));
    format!("{guards}, {commits}")
}

/// Lists the exits of a fast function by their names, with the source lines of their guards.
fn exits(explained: &Explained<'_>, function: &Function, text: &mut String) {
    let mut names: Vec<&str> = Vec::new();
    let mut lines: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for one in function.instructions() {
        let Op::Exit(name) = &one.op else { continue };
        let at = one.span.map(|span| place(explained.sources, span));
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
        let known = lines.entry(name).or_default();
        known.extend(at.filter(|at| !known.contains(at)));
    }
    let width = names.iter().map(|name| name.chars().count()).max();
    for name in names {
        let lines = lines[name].join(", ");
        let row = format!("    {name:width$}  {lines}", width = width.unwrap_or(0));
        line(text, row.trim_end());
    }
}

/// A place in the sources: file and line.
fn place(sources: &Sources, span: Span) -> String {
    let line = sources.line(span.file, span.start);
    format!("{}:{line}", sources.name(span.file))
}
