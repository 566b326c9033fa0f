//! Fast paths: in, the stack IR behind all passes, and the counters of its C; out, the functions
//! that are tried before each reaction, and the exits at which the whole reaction runs instead.

use super::{Explained, line};
use crate::back::c::Path;
use crate::ir::Function;
use crate::ir::op::Op;
use crate::tool::terminal::counted;

/// Lists the fast paths of all reactions.
pub fn fast_paths(explained: &Explained<'_>, text: &mut String) {
    let module = &explained.analysed.module;
    for path in &explained.analysed.paths {
        let functions = path.tried.iter().map(|id| module.function(*id));
        let mut sizes = functions.map(|function| (&function.name, size(function)));
        let Some((_, own)) = sizes.next() else {
            continue;
        };
        let name = &path.reaction;
        let left = "control leaves it where a guard fails";
        line(text, &format!("\n{name} has a fast path: {own}; {left}"));
        for (first, size) in sizes {
            line(text, &format!("  {first} is tried before it: {size}"));
        }
        exits(path, text);
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

/// Lists the exits of a fast path by the names of their counters, with the lines of their guards.
fn exits(path: &Path, text: &mut String) {
    let name = &path.reaction;
    let counters =
        format!("  counters: `taken {name}` for the path, `left {name} EXIT` for each exit:");
    line(text, &counters);
    let names = path.exits.iter().map(|exit| exit.name.chars().count());
    let width = names.max().unwrap_or(0);
    for exit in &path.exits {
        let lines = exit.at.join(", ");
        let row = format!("    {:width$}  {lines}", exit.name);
        line(text, row.trim_end());
    }
}
