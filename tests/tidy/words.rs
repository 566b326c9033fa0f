//! Words that stand nowhere, and those that every file and dependency has.

use crate::{Complaint, code};
use std::collections::BTreeSet;

/// Words that say nothing of what a thing is, and a shortened one.
const EMPTY: &[&str] = &[
    "util", "utils", "helper", "helpers", "manager", "misc", "ctx",
];

/// What walks a table.
const WALKS: [&str; 7] = [
    "iter",
    "iter_mut",
    "into_iter",
    "keys",
    "values",
    "drain",
    "retain",
];

/// Every Rust file begins with what comes in and what goes out.
pub fn files_say_what_they_are(path: &str, text: &str) -> Vec<Complaint> {
    if path.ends_with(".rs") && !text.starts_with("//! ") {
        return vec![(1, "the file does not begin with `//!`".to_string())];
    }
    Vec::new()
}

/// Names are whole words of the field; `common` is one only where the common path is meant, and in
/// Estelle, which has common queues.
pub fn names_are_whole_words(path: &str, text: &str) -> Vec<Complaint> {
    let Some((stem, "rs" | "c" | "h" | "loom")) = path.rsplit_once('.') else {
        return Vec::new();
    };
    let has_common_queues = path.contains("/estelle/");
    let is_empty = |name: &str| {
        let name = name.to_lowercase();
        name == "common" && !has_common_queues || name.split('_').any(|part| EMPTY.contains(&part))
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

/// What is told in units ends with its unit: a point in time is `now_ns`, not `now`.
pub fn units_come_last(path: &str, text: &str) -> Vec<Complaint> {
    if !path.starts_with("src/") && !path.starts_with("runtime/") {
        return Vec::new();
    }
    let code = code::only(code::before_tests(text));
    let mut complaints = Vec::new();
    for (at, line) in code.lines().enumerate() {
        // As Rust declares a number, and as C does.
        let rust = line.match_indices(": u64").map(|(end, _)| &line[..end]);
        let c = line.split("uint64_t ").skip(1);
        let named = rust
            .map(|before| before.rsplit(is_no_name).next())
            .chain(c.map(|behind| behind.split(is_no_name).next()));
        for name in named.flatten().filter(|name| TIMES.contains(name)) {
            complaints.push((at + 1, format!("`{name}` does not say its unit")));
        }
    }
    complaints
}

/// Words for what is counted in nanoseconds, or in other parts of a second.
const TIMES: &[&str] = &[
    "now", "deadline", "timeout", "duration", "delay", "pause", "elapsed", "interval",
];

fn is_no_name(c: char) -> bool {
    !c.is_alphanumeric() && c != '_'
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

/// A hash table looks things up; what is walked in its order differs from run to run.
pub fn no_order_of_a_hash(path: &str, text: &str) -> Vec<Complaint> {
    if !path.starts_with("src/") {
        return Vec::new();
    }
    let code = code::only(text);
    let tables: BTreeSet<&str> = code.lines().filter_map(hash_table).collect();
    let mut complaints = Vec::new();
    for (at, line) in code.lines().enumerate() {
        for table in &tables {
            let calls = WALKS.map(|walk| format!("{table}.{walk}("));
            let loops =
                ["", "&", "&mut ", "self.", "&self."].map(|by| format!(" in {by}{table} {{"));
            if calls.iter().chain(&loops).any(|walk| line.contains(walk)) {
                complaints.push((
                    at + 1,
                    format!("`{table}` is walked in the order of its hash"),
                ));
            }
        }
    }
    complaints
}

/// The name of the hash table that a line declares.
fn hash_table(line: &str) -> Option<&str> {
    let at = line.find("HashMap").or_else(|| line.find("HashSet"))?;
    let before = line[..at].trim_end_matches(|c: char| c != ':' && c != '=');
    let before = before.trim_end_matches([':', '=', ' ']);
    let name = before
        .rsplit(|c: char| !c.is_alphanumeric() && c != '_')
        .next()?;
    (!name.is_empty() && !line.trim_start().starts_with("use ")).then_some(name)
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
fn a_time_without_its_unit_is_found() {
    let text = "fn f(&self, now: u64, deadline_ns: u64) -> u64 {\nlet pause: u64 = 1;\n";
    assert_eq!(units_come_last("src/a.rs", text).len(), 2);
    let text = "void f(uint64_t timeout, uint64_t now_ns);\n";
    assert_eq!(units_come_last("runtime/a.h", text).len(), 1);
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
fn a_hash_table_that_is_walked_is_found() {
    let text = "use std::collections::HashMap;\nknown: HashMap<u8, u8>,\nself.known.get(a)\n";
    assert_eq!(no_order_of_a_hash("src/weave/mod.rs", text), []);
    let walked = format!("{text}for (a, b) in &self.known {{\nfoo(known.values())");
    assert_eq!(no_order_of_a_hash("src/weave/mod.rs", &walked).len(), 2);
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
