//! Words that stand nowhere, and those that every file and dependency has.

use crate::{Complaint, code};

/// Words that say nothing of what a thing is, and a shortened one.
const EMPTY: &[&str] = &[
    "util", "utils", "helper", "helpers", "manager", "misc", "ctx",
];

/// Where a hash table only looks things up.
const LOOKED_UP_ONLY: &[&str] = &["src/reactive/block.rs", "src/tree/arena.rs"];

/// Every Rust file begins with what comes in and what goes out.
pub fn files_say_what_they_are(path: &str, text: &str) -> Vec<Complaint> {
    if path.ends_with(".rs") && !text.starts_with("//! ") {
        return vec![(1, "the file does not begin with `//!`".to_string())];
    }
    Vec::new()
}

/// Names are whole words of the field; `common` is one only where the common path is meant.
pub fn names_are_whole_words(path: &str, text: &str) -> Vec<Complaint> {
    let Some((stem, "rs" | "c" | "h" | "loom")) = path.rsplit_once('.') else {
        return Vec::new();
    };
    let is_empty = |name: &str| {
        let name = name.to_lowercase();
        name == "common" || name.split('_').any(|part| EMPTY.contains(&part))
    };
    let say = |(line, name): (usize, &str)| (line, format!("`{name}` says too little"));
    let code = code::only(text);
    let files = stem.split('/').map(|name| (1, name));
    files
        .chain(code::identifiers(&code))
        .filter(|(_, name)| is_empty(name))
        .map(say)
        .collect()
}

/// Nothing is left for later, and no user's mistake becomes a panic.
pub fn nothing_unfinished(path: &str, text: &str) -> Vec<Complaint> {
    if !path.starts_with("src/") {
        return Vec::new();
    }
    let code = code::only(code::before_tests(text));
    let words = ["todo!", "unimplemented!", "dbg!", ".unwrap()", "Rc<RefCell"];
    let unsafe_words: &[&str] = if path.starts_with("src/tool/") {
        &[]
    } else {
        &["unsafe {", "unsafe fn"]
    };
    let mut complaints = Vec::new();
    for (at, line) in code.lines().enumerate() {
        for word in words.iter().chain(unsafe_words) {
            if line.contains(word) {
                complaints.push((at + 1, format!("`{word}` has no place here")));
            }
        }
    }
    complaints
}

/// What is walked in the order of a hash differs from run to run.
pub fn no_order_of_a_hash(path: &str, text: &str) -> Vec<Complaint> {
    if !path.starts_with("src/") || LOOKED_UP_ONLY.contains(&path) {
        return Vec::new();
    }
    code::identifiers(&code::only(text))
        .filter(|(_, name)| ["HashMap", "HashSet"].contains(name))
        .map(|(line, name)| (line, format!("`{name}` has no order; use a B-tree")))
        .collect()
}

/// What only one machine has is written nowhere.
pub fn no_paths_of_one_machine(_path: &str, text: &str) -> Vec<Complaint> {
    let folders = ["home", "root", "work", "tmp", "Users"].map(|name| format!("/{name}/"));
    let mut complaints = Vec::new();
    for (at, line) in text.lines().enumerate() {
        for folder in &folders {
            let is_start = |at: usize| !line[..at].ends_with(|c: char| c.is_alphanumeric());
            if line
                .match_indices(folder.as_str())
                .any(|(at, _)| is_start(at))
            {
                complaints.push((at + 1, format!("`{folder}` is a path of one machine")));
            }
        }
    }
    complaints
}

/// Each dependency has a line above it that says why it is there.
pub fn dependencies_say_why(path: &str, text: &str) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    if path != "Cargo.toml" {
        return complaints;
    }
    let (mut within, mut before) = (false, "");
    for (at, line) in text.lines().enumerate() {
        if line.starts_with('[') {
            within = line.ends_with("dependencies]");
        } else if within && line.starts_with(char::is_alphabetic) && !before.starts_with('#') {
            complaints.push((
                at + 1,
                "the dependency does not say why it is there".to_string(),
            ));
        }
        before = line;
    }
    complaints
}

#[test]
fn a_file_without_a_word_about_itself_is_found() {
    assert_eq!(files_say_what_they_are("src/a.rs", "use b;\n").len(), 1);
    assert_eq!(files_say_what_they_are("src/a.rs", "//! A.\n").len(), 0);
}

#[test]
fn words_that_say_nothing_are_found() {
    assert_eq!(names_are_whole_words("src/utils.rs", "").len(), 1);
    let text = "fn parse_helper(ctx: u8) {} // the manager's helper\nstruct CommonPath;\n";
    let lines: Vec<_> = names_are_whole_words("src/a.rs", text)
        .into_iter()
        .map(|c| c.0)
        .collect();
    assert_eq!(lines, [1, 1]);
}

#[test]
fn unfinished_work_is_found_outside_of_tests() {
    let text = "a.unwrap();\n\n#[cfg(test)]\nmod tests { b.unwrap() }\n";
    assert_eq!(nothing_unfinished("src/a.rs", text).len(), 1);
    assert_eq!(nothing_unfinished("src/a.rs", "unsafe { f() }\n").len(), 1);
    assert_eq!(
        nothing_unfinished("src/tool/stack.rs", "unsafe { f() }\n"),
        []
    );
}

#[test]
fn a_hash_table_is_found() {
    let text = "use std::collections::HashMap;\n";
    assert_eq!(no_order_of_a_hash("src/weave/mod.rs", text).len(), 1);
    assert_eq!(no_order_of_a_hash(LOOKED_UP_ONLY[0], text), []);
}

#[test]
fn a_path_of_one_machine_is_found() {
    let text = format!("see {}home{}ada\nframe{}work{}x", '/', '/', '/', '/');
    assert_eq!(no_paths_of_one_machine("a.md", &text).len(), 1);
}

#[test]
fn a_dependency_without_a_reason_is_found() {
    let text = "[dependencies]\n# reads the command line\nclap = \"4\"\nlibc = \"0.2\"\n";
    let found = dependencies_say_why("Cargo.toml", text);
    assert_eq!(found[0].0, 4);
}
