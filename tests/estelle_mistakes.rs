//! Wrong Estelle specifications: each is refused, or warned of, in the words that stand beside it.
//!
//! In: `tests/estelle_mistakes/NAME.stl`, whose first line is a comment with the fact that it
//! shows; a second comment may hold settings, `--set NAME=VALUE`. Out: its diagnostics, compared
//! with `NAME.txt`; `BLESS=1` rewrites these. Also: examples and sound specifications are accepted,
//! and broken ones never stop the check: `SEED=n` breaks them elsewhere, `COUNT=n` so many times.

#[path = "estelle_mistakes/broken.rs"]
mod broken;

use stackloom::diagnostic::{Diagnostic, Id, Severity, render};
use stackloom::source::Sources;
use stackloom::syntax::estelle::parse;
use stackloom::types::estelle::program::Program;
use stackloom::types::estelle::{Settings, check};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A checked text.
struct Checked {
    program: Option<Program>,
    /// True if the parser found no mistake.
    is_parsed: bool,
    diagnostics: Vec<Diagnostic>,
    sources: Sources,
}

#[test]
fn each_wrong_specification_is_told_in_the_words_beside_it() {
    let is_blessed = std::env::var_os("BLESS").is_some();
    let mut complaints = Vec::new();
    for path in specifications(&folder()) {
        let text = fs::read_to_string(&path).expect("a specification can be read");
        let name = name_of(&path);
        let fact = text.lines().next().unwrap_or_default();
        if !(fact.starts_with("{ ") && fact.ends_with(". }")) {
            complaints.push(format!("{name}: the first line is not `{{ A sentence. }}`"));
        }
        let checked = checked(&name, &text, &settings(&text));
        let is_error = |it: &Diagnostic| it.severity == Severity::Error;
        let is_refused = checked.diagnostics.iter().any(is_error);
        if is_refused == checked.program.is_some() || checked.diagnostics.is_empty() {
            complaints.push(format!("{name}: neither refused nor warned of"));
        }
        if checked.diagnostics.iter().any(|it| it.help.is_none()) {
            complaints.push(format!("{name}: a diagnostic does not say what to do"));
        }
        let mut all = checked.diagnostics.iter();
        if checked.is_parsed && all.any(|it| it.why.is_none()) {
            complaints.push(format!("{name}: a diagnostic does not say why"));
        }
        let told = render(&checked.diagnostics, &checked.sources, false);
        let beside = path.with_extension("txt");
        if is_blessed {
            fs::write(&beside, &told).expect("the words can be written");
        } else if fs::read_to_string(&beside).unwrap_or_default() != told {
            complaints.push(format!("{name}: told otherwise:\n{told}"));
        }
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn each_id_of_estelle_has_a_wrong_specification() {
    let mut shown = BTreeSet::new();
    for path in specifications(&folder()) {
        let text = fs::read_to_string(&path).expect("a specification can be read");
        let checked = checked(&name_of(&path), &text, &settings(&text));
        shown.extend(checked.diagnostics.iter().map(|it| it.id));
    }
    let is_ours = |id: &&Id| id.name().starts_with("estelle-");
    let missing: Vec<&str> = Id::ALL
        .iter()
        .filter(is_ours)
        .filter(|id| !shown.contains(id))
        .map(|id| id.name())
        .collect();
    assert!(missing.is_empty(), "nothing shows {}", missing.join(", "));
}

#[test]
fn sound_specifications_are_accepted_without_a_word() {
    for (name, text) in sound() {
        let checked = checked(&name, &text, &settings(&text));
        let told = render(&checked.diagnostics, &checked.sources, false);
        assert!(checked.program.is_some() && told.is_empty(), "{told}");
    }
}

#[test]
fn broken_specifications_never_stop_the_check() {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let seed = number("SEED").unwrap_or(1);
    let count = number("COUNT").unwrap_or(2_000);
    println!("SEED={seed} COUNT={count}");
    let texts = sound();
    let mut random = broken::Random(seed);
    for turn in 0..count {
        let (name, text) = &texts[(turn as usize) % texts.len()];
        let text = broken::broken(text, &mut random);
        let checked = checked(name, &text, &settings(&text));
        // Rendering looks at all places of all diagnostics.
        let told = render(&checked.diagnostics, &checked.sources, false);
        let is_refused = told.contains("error[");
        let is_checked = checked.program.is_some();
        assert!(is_refused != is_checked, "turn {turn}:\n{text}\n{told}");
    }
}

/// Parses a text, and checks it if the parser found no mistake.
fn checked(name: &str, text: &str, settings: &Settings) -> Checked {
    let mut sources = Sources::new();
    let file = sources.add(name, text);
    let (tree, mut diagnostics) = parse(file, &sources);
    let is_parsed = diagnostics.is_empty();
    let mut program = None;
    if let Some(tree) = &tree {
        let (made, found) = check(tree, settings, tree.name.span);
        if is_parsed {
            diagnostics.extend(found);
            program = made;
        }
    }
    Checked {
        program,
        is_parsed,
        diagnostics,
        sources,
    }
}

/// Reads the settings of the second line.
fn settings(text: &str) -> Settings {
    let line = text.lines().nth(1).unwrap_or_default();
    let line = line.strip_prefix("{ ").and_then(|it| it.strip_suffix(" }"));
    let mut settings = Settings::default();
    for setting in line.unwrap_or_default().split("--").skip(1) {
        match setting.trim().strip_prefix("set ") {
            Some(given) => {
                let (name, value) = given.split_once('=').expect("a setting is NAME=VALUE");
                settings
                    .constants
                    .push((name.to_string(), value.to_string()));
            }
            None => settings.externs = setting.trim() == "externs",
        }
    }
    settings
}

/// Sound specifications: those of this test, and the examples that need no settings.
fn sound() -> Vec<(String, String)> {
    let examples = folder().join("../../examples/estelle");
    let mut found = Vec::new();
    for path in specifications(&folder().join("sound")) {
        let text = fs::read_to_string(&path).expect("a specification can be read");
        found.push((name_of(&path), text));
    }
    assert!(!found.is_empty(), "there are sound specifications");
    if examples.is_dir() {
        for path in specifications(&examples) {
            let text = fs::read_to_string(&path).expect("an example can be read");
            if !text.contains("= any ") {
                found.push((name_of(&path), text));
            }
        }
    }
    found
}

fn specifications(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder can be listed");
    let paths = entries.map(|entry| entry.expect("the folder can be listed").path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "stl"))
        .collect();
    paths.sort();
    paths
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().and_then(|name| name.to_str());
    name.expect("names here are plain").to_string()
}

/// The folder of this test, found through links also.
fn folder() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/estelle_mistakes.rs");
    let own = fs::canonicalize(own).expect("this file exists");
    own.with_extension("")
}
