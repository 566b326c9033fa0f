//! Who may import whom: each folder only those above it, and only `tool` the machine.

use crate::{Complaint, code};

/// The modules in the order of the flow.
const FLOW: &[&str] = &[
    "source",
    "ir",
    "diagnostic",
    "syntax",
    "types",
    "tree",
    "reactive",
    "view",
    "weave",
    "profile",
    "optimise",
    "lower",
    "passes",
    "c",
    "back",
    "prove",
    "emit",
    "simulate",
    "pipeline",
    "tool",
];

/// Those that stand side by side: none of them uses another.
const APART: &[&str] = &["optimise", "passes", "back", "prove", "emit", "simulate"];

/// What only `tool` may use.
const MACHINE: &[&str] = &["fs", "process", "net", "env", "os", "thread"];
const CLOCKS: &[&str] = &["Instant", "SystemTime"];
const TERMINAL: &[&str] = &[
    "print!",
    "println!",
    "io::stdin",
    "io::stdout",
    "io::stderr",
];

/// A module uses those above it in the flow; its unit tests may use all.
pub fn folders_use_those_above_them(path: &str, text: &str) -> Vec<Complaint> {
    let Some(own) = module(path) else {
        return Vec::new();
    };
    let Some(own_place) = place(own) else {
        return vec![(1, format!("`{own}` has no place in the flow of DESIGN 4"))];
    };
    let mut complaints = Vec::new();
    for (line, used) in roots(&code::only(code::before_tests(text)), "crate::") {
        let above = place(&used).is_some_and(|place| place < own_place);
        let beside = APART.contains(&own) && APART.contains(&used.as_str());
        if used != own && (!above || beside) {
            complaints.push((line, format!("`{own}` does not use `{used}`")));
        }
    }
    complaints
}

/// Files, processes, sockets, environment, threads, clock and terminal belong to `tool`.
pub fn only_the_tool_touches_the_machine(path: &str, text: &str) -> Vec<Complaint> {
    if module(path).is_none_or(|own| own == "tool") {
        return Vec::new();
    }
    let code = code::only(code::before_tests(text));
    let imported = roots(&code, "std::")
        .into_iter()
        .filter(|(_, used)| MACHINE.contains(&used.as_str()));
    let mut named = Vec::new();
    for (line, text) in code.lines().enumerate() {
        // `Instant` alone is also a word of ours.
        let clocks = CLOCKS.iter().filter(|_| text.contains("time::"));
        let found = clocks.chain(TERMINAL).filter(|word| text.contains(**word));
        named.extend(found.map(|word| (line + 1, word.to_string())));
    }
    imported
        .chain(named)
        .map(|(line, used)| (line, format!("only `tool` uses `{used}`")))
        .collect()
}

/// The module of the flow that a file belongs to; none for the two at the top of the crate,
/// and for unit tests in files of their own.
fn module(path: &str) -> Option<&str> {
    let inside = path.strip_prefix("src/")?.strip_suffix(".rs")?;
    let is_test = inside.ends_with("/tests") || inside.contains("/tests/");
    let own = inside.split('/').next().expect("a split has a first part");
    (!is_test && !["lib", "main"].contains(&own)).then_some(own)
}

fn place(module: &str) -> Option<usize> {
    FLOW.iter().position(|known| *known == module)
}

/// The words right behind a prefix, also where several stand there in braces.
fn roots(code: &str, prefix: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices(prefix) {
        let line = code[..at].matches('\n').count() + 1;
        let behind = &code[at + prefix.len()..];
        let parts = match behind.strip_prefix('{') {
            Some(inside) => parts(inside),
            None => vec![behind],
        };
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        for part in parts {
            let part = part.trim_start();
            let end = part.find(|c| !is_word(c)).unwrap_or(part.len());
            if end > 0 {
                found.push((line, part[..end].to_string()));
            }
        }
    }
    found
}

/// What stands between the commas of an open brace, up to where it closes.
fn parts(inside: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut begin) = (0, 0);
    for (at, c) in inside.char_indices() {
        match c {
            ',' if depth == 0 => {
                parts.push(&inside[begin..at]);
                begin = at + 1;
            }
            '{' => depth += 1,
            '}' if depth == 0 => {
                parts.push(&inside[begin..at]);
                break;
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    parts
}

#[test]
fn a_folder_that_uses_one_below_it_is_found() {
    let text =
        "use crate::tree::Node;\nuse crate::{\n    types::{Type, Value},\n    weave::Stack,\n};\n";
    let found = folders_use_those_above_them("src/tree/text.rs", text);
    assert_eq!(found, [(2, "`tree` does not use `weave`".to_string())]);
}

#[test]
fn two_that_stand_side_by_side_are_found() {
    let found = folders_use_those_above_them("src/simulate/mod.rs", "fn f() { crate::emit::c() }");
    assert_eq!(found, [(1, "`simulate` does not use `emit`".to_string())]);
}

#[test]
fn unit_tests_and_comments_may_name_all() {
    let text = "// crate::tool\n#[cfg(test)]\nmod tests { use crate::tool; }\n";
    assert_eq!(folders_use_those_above_them("src/tree/mod.rs", text), []);
}

#[test]
fn a_folder_without_a_place_is_found() {
    assert_eq!(folders_use_those_above_them("src/extras.rs", "").len(), 1);
}

#[test]
fn a_clock_outside_the_tool_is_found() {
    let text = "use std::{fmt, fs};\nuse std::time::{Duration, Instant};\n\
        println!();\nlet own = Instant::new();\n";
    let found = only_the_tool_touches_the_machine("src/weave/mod.rs", text);
    let lines: Vec<_> = found.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [1, 2, 3]);
    assert_eq!(
        only_the_tool_touches_the_machine("src/tool/run.rs", text),
        []
    );
}
