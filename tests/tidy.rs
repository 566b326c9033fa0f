//! What the compiler of this crate does not check of it: who imports whom, how long things are,
//! which words stand nowhere, how a layer's page begins, that each diagnostic is shown, what shape
//! folders and imports have, and that each name has a row in `glossary.toml`.
//!
//! In: every text of the repository. Out: each breach by path and line, all in one run. A rule is
//! a function from a text to complaints, and stands with the faults that it must find.

#[path = "tidy/allowed.rs"]
mod allowed;
#[path = "tidy/code.rs"]
mod code;
#[path = "tidy/editor.rs"]
mod editor;
#[path = "tidy/glossary.rs"]
mod glossary;
#[path = "tidy/imports.rs"]
mod imports;
#[path = "tidy/layers.rs"]
mod layers;
#[path = "tidy/lengths.rs"]
mod lengths;
#[path = "tidy/modules.rs"]
mod modules;
#[path = "tidy/shape.rs"]
mod shape;
#[path = "tidy/words.rs"]
mod words;

use allowed::Breaches;
use stackloom::diagnostic::Id;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A breach: the line, counted from one, and what is wrong there.
type Complaint = (usize, String);

/// A rule: what it finds in a text, given its path from the root of the repository.
type Rule = fn(&str, &str) -> Vec<Complaint>;

const RULES: &[Rule] = &[
    imports::folders_use_those_above_them,
    imports::only_the_tool_touches_the_machine,
    lengths::lines_files_and_functions_are_short,
    words::files_say_what_they_are,
    words::names_are_whole_words,
    words::units_come_last,
    words::nothing_unfinished,
    words::no_order_of_a_hash,
    words::no_paths_of_one_machine,
    words::dependencies_say_why,
    layers::pages_begin_alike,
    glossary::rows_are_sentences,
];

/// A rule about all texts together, whose breaches of today are listed.
type Listed = fn(&[(String, String)]) -> Breaches;

const LISTED: &[(&str, Listed)] = &[
    ("folder-files", shape::folders_are_small),
    ("own-imports", shape::files_import_few),
    ("import-circles", shape::files_import_in_one_direction),
    ("methods-elsewhere", shape::methods_stand_with_their_type),
    ("matches-text", shape::nobody_matches_text),
    ("names-without-a-row", glossary::names_have_a_row),
];

#[test]
fn every_text_follows_the_rules() {
    let mut breaches = Vec::new();
    for (path, text) in texts() {
        for rule in RULES {
            for (line, complaint) in rule(&path, &text) {
                breaches.push(format!("{path}:{line}: {complaint}"));
            }
        }
    }
    assert!(breaches.is_empty(), "\n{}", breaches.join("\n"));
}

#[test]
fn no_listed_breach_grows() {
    let texts = texts();
    let found: BTreeMap<&str, Breaches> = LISTED
        .iter()
        .map(|(name, rule)| (*name, rule(&texts)))
        .collect();
    let complaints = allowed::compared(&found);
    let complaints: Vec<String> = complaints.into_iter().map(|(_, said)| said).collect();
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn every_diagnostic_has_a_case_that_shows_it() {
    let cases: Vec<String> = texts()
        .into_iter()
        .filter(|(path, _)| path.ends_with(".case") || is_told_beside(path))
        .map(|(_, text)| text)
        .collect();
    let missing = not_shown(Id::ALL.iter().map(|id| id.name()), &cases);
    assert!(missing.is_empty(), "no case shows {}", missing.join(", "));
}

/// Returns true for the words that stand beside a wrong Estelle specification.
fn is_told_beside(path: &str) -> bool {
    path.starts_with("tests/estelle_mistakes/") && path.ends_with(".txt")
}

fn not_shown<'a>(ids: impl Iterator<Item = &'a str>, cases: &[String]) -> Vec<&'a str> {
    let shows = |case: &String, id: &str| {
        let heads = ["error", "warning"].map(|head| format!("{head}[{id}]: "));
        let mut lines = case.lines();
        lines.any(|line| heads.iter().any(|head| line.starts_with(head)))
    };
    ids.filter(|id| !cases.iter().any(|case| shows(case, id)))
        .collect()
}

/// All texts that somebody wrote, by their path from the root, in order of path.
fn texts() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    collect(root, root, &mut found);
    assert!(
        found.iter().any(|(path, _)| path == "src/lib.rs"),
        "the walk through the repository found nothing"
    );
    found.sort();
    found
}

fn collect(root: &Path, folder: &Path, found: &mut Vec<(String, String)>) {
    let entries = fs::read_dir(folder).expect("a folder of the repository can be listed");
    for entry in entries {
        let path = entry
            .expect("a folder of the repository can be listed")
            .path();
        let inside = path.strip_prefix(root).expect("the walk stays in the root");
        let name = inside
            .to_str()
            .expect("paths here are plain")
            .replace('\\', "/");
        let is_made = name == "build" || name.ends_with("/build");
        if is_made || [".git", "target", "fuzz/target"].contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            collect(root, &path, found);
        } else if name != "Cargo.lock"
            && let Ok(text) = fs::read_to_string(&path)
        {
            found.push((name, text));
        }
    }
}

#[test]
fn a_diagnostic_without_a_case_is_found() {
    let cases = ["error[message-leaked]: this path forgets its message".to_string()];
    let missing = not_shown(["message-leaked", "message-used-twice"].into_iter(), &cases);
    assert_eq!(missing, ["message-used-twice"]);
}
