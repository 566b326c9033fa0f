//! The size of generated code: in, the examples and the stacks of `bench/`; out, the bytes of each
//! at `-Os` and `-O2`, at `-Os` also without the names of counters, and the instructions that the
//! compiler executes for `examples/web`.
//!
//! Bytes are those of instructions, constants and unwind tables, as `size` prints them.

use super::super::{Bench, Row};
use crate::tool::compiler::Options;
use crate::tool::counting;
use crate::tool::failure::{Failure, about};
use std::path::{Path, PathBuf};

/// The stacks of `bench/tcp.loom` and of `bench/udp.loom`.
const STACKS: [&str; 4] = ["offloaded", "summed", "called", "called_summed"];

/// How C is compiled: the name of the figures, the title, the level of optimisation, and whether
/// the names of counters are there.
type Column = (&'static str, &'static str, &'static str, bool);

const COLUMNS: [Column; 3] = [
    ("Os", "-Os", "-Os", true),
    ("nameless", "-Os, no names", "-Os", false),
    ("O2", "-O2", "-O2", true),
];

/// The source for which the work of the compiler is counted.
const WEB: &str = "examples/web/web.loom";

/// Measures all stacks, or with `is_quick` the examples at `-Os` alone.
pub fn rows(bench: &Bench, is_quick: bool) -> Result<Vec<Row>, Failure> {
    let mut sources = examples(Path::new("examples"))?;
    if !is_quick {
        for file in ["tcp", "udp"] {
            let path = |stack: &str| bench.folder.join(format!("{file}.loom:{stack}"));
            sources.extend(STACKS.map(|stack| (format!("{file}-{stack}"), path(stack))));
        }
    }
    let columns: &[Column] = if is_quick { &COLUMNS[..1] } else { &COLUMNS };
    let mut rows = Vec::new();
    for (name, source) in sources {
        (bench.say)(&name);
        let own = name.replace('-', "_");
        let (source, _) = counting::written(&source, &own, Options::default(), bench.work)?;
        let nameless = format!("-D{}_STACK_WITHOUT_NAMES", own.to_uppercase());
        for (variant, title, level, is_named) in columns {
            let flags = if *is_named {
                &[*level][..]
            } else {
                &[*level, &nameless]
            };
            let Some(size) = counting::size_of(&source, flags)? else {
                return Ok(Vec::new());
            };
            let row = Row::without_sums(["stackloom", variant, title], &name, "bytes", size.text);
            rows.push(Row {
                checksums: String::new(),
                ..row
            });
        }
    }
    if !is_quick && bench.counts {
        (bench.say)("loom build examples/web");
        let row = counting::work_for(Path::new(WEB))?;
        rows.push(Row {
            metric: "loom build examples/web".to_string(),
            ..row
        });
    }
    Ok(rows)
}

/// Returns the files of the examples that declare a stack, in order, each with its name.
fn examples(folder: &Path) -> Result<Vec<(String, PathBuf)>, Failure> {
    let mut found = Vec::new();
    for example in files(folder)?.iter().filter(|path| path.is_dir()) {
        for path in files(example)? {
            if path.extension().is_some_and(|ending| ending == "loom") {
                let text = std::fs::read_to_string(&path).map_err(about(&path))?;
                let name = path.file_stem().unwrap_or_default().to_string_lossy();
                if text.lines().any(|line| line.starts_with("stack ")) {
                    found.push((name.into_owned(), path));
                }
            }
        }
    }
    Ok(found)
}

/// Returns what is in a folder, in order.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = std::fs::read_dir(folder).map_err(about(folder))?;
    let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| Ok(entry?.path())).collect();
    let mut paths = paths.map_err(|error: std::io::Error| about(folder)(error))?;
    paths.sort();
    Ok(paths)
}
