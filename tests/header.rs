//! Headers of the back end for C, against those of `emit`.
//!
//! In: examples, stacks of the bench and stacks that are written for tests. Out: where the two
//! headers of a stack differ, up to the macros of its memory and to outputs that a function of the
//! stack takes, or the sizes of this memory do.

use stackloom::back::c::{Stack, header};
use stackloom::diagnostic::render;
use stackloom::emit::Memory;
use stackloom::lower::lower;
use stackloom::pipeline::{self, Checked};
use stackloom::tool::library::{Folders, read};
use stackloom::tree::rewrites::Rewrites;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders in which stacks stand.
const FOLDERS: [&str; 3] = ["examples", "bench", "tests/c_agrees/stacks"];

#[test]
fn headers_of_both_back_ends_agree() {
    let mut paths = Vec::new();
    for folder in FOLDERS {
        add_stacks(Path::new(folder), &mut paths);
    }
    assert!(
        paths.len() > 40,
        "there are more stacks than {}",
        paths.len()
    );
    let wrong: Vec<String> = paths.iter().flat_map(|path| differences(path)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Adds the paths of all files below a folder that declare a stack.
fn add_stacks(folder: &Path, paths: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).expect("a folder can be listed");
    let entries = entries.map(|entry| entry.expect("a folder can be listed").path());
    let mut entries: Vec<PathBuf> = entries.collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            add_stacks(&path, paths);
        } else if path.extension().is_some_and(|ending| ending == "loom") {
            let text = fs::read_to_string(&path).expect("a source can be read");
            let declares = text.lines().any(|line| line.starts_with("stack "));
            paths.extend(declares.then_some(path));
        }
    }
}

/// Returns the differences between the two headers of each stack of a file.
fn differences(path: &Path) -> Vec<String> {
    let checked = || {
        let search = vec![PathBuf::from("tests/c_agrees/stacks")];
        let texts = read(path).expect("a stack can be read");
        Checked {
            rewrites: Rewrites::NONE,
            ..pipeline::read(texts, &Folders { search })
        }
    };
    let stacks = pipeline::stacks(&checked());
    let stacks = stacks.iter();
    let wrong = stacks.filter_map(|stack| {
        let mut checked = checked();
        let Some(compiled) = pipeline::compile(&mut checked, stack, stack) else {
            panic!("{}", render(&checked.diagnostics, &checked.sources, false));
        };
        let module = lower(&compiled.program, &compiled.forest);
        let own = header::text(&Stack::new(&module, &checked.sources));
        let (memory, emitted) = (&module.memory, &compiled.emitted);
        let of_ports = module.ports.iter().map(|port| port.longest);
        let sizes = [
            module.headroom,
            memory.room,
            memory.buffers,
            memory.reserve,
            memory.outputs,
            memory.events,
            memory.least_events,
        ];
        let place =
            match sizes != sizes_of(&emitted.memory) || !of_ports.eq(emitted.longest.clone()) {
                true => format!("{memory:?}, not {:?}", emitted.memory),
                false => first_difference(&without_others(&emitted.h), &without_others(&own))?,
            };
        Some(format!("{}, {stack}: {place}", path.display()))
    });
    wrong.collect()
}

/// The sizes of memory, in the order of its fields.
fn sizes_of(memory: &Memory) -> [u32; 7] {
    [
        memory.headroom,
        memory.room,
        memory.buffers,
        memory.reserve,
        memory.outputs,
        memory.events,
        memory.least_events,
    ]
}

/// A header without the test for outputs that a function of the stack takes: `emit` counts a
/// session that was handed over at the next call, and the other back end when it is taken.
fn without_others(header: &str) -> String {
    let mut kept = String::new();
    let mut lines = header.lines();
    while let Some(line) = lines.next() {
        if line.contains("_next_other(struct") {
            let end = lines.find(|line| *line == "    }");
            end.expect("the test has an end");
            continue;
        }
        kept += line;
        kept.push('\n');
    }
    kept
}

/// The first line in which two headers differ, up to the end of the shorter one.
fn first_difference(wanted: &str, own: &str) -> Option<String> {
    let mut wanted = wanted.lines();
    for (at, line) in own.lines().enumerate() {
        let other = wanted.next().unwrap_or_default();
        if line != other {
            return Some(format!(
                "line {}\n  wanted {other}\n  is     {line}",
                at + 1
            ));
        }
    }
    let rest = wanted.next().unwrap_or_default();
    let is_end = rest == header::END.trim_end() || rest.starts_with("/* Bytes of memory");
    (!is_end).then(|| format!("this is missing: {rest}"))
}
