//! The one runner of all `.case` files.
//!
//! In: every case under `tests/cases`. Its first line is the fact that it shows, as a sentence;
//! then come its sections, each behind a line `=== NAME`: what goes in, and what must come out.
//! Out: the first difference of each case that does not hold. `BLESS=1` writes what comes out into
//! the cases instead, and then `git diff` says what changed.

#[path = "case/format.rs"]
mod format;
#[path = "case/play.rs"]
mod play;
#[path = "case/sections.rs"]
mod sections;

use format::Case;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn every_case_holds() {
    let bless = std::env::var_os("BLESS").is_some();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut paths = Vec::new();
    collect(&root, &mut paths);
    assert!(!paths.is_empty(), "there are no cases");
    let mut failures = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).expect("a case can be read");
        let name = path
            .strip_prefix(&root)
            .expect("cases stand under their root");
        match blessed(&text) {
            Err(wrong) => failures.push(format!("{}: {wrong}", name.display())),
            Ok(right) if right == text => {}
            Ok(right) if bless => fs::write(&path, right).expect("a case can be written"),
            Ok(right) => {
                failures.push(format!("{}: {}", name.display(), difference(&text, &right)));
            }
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n\n"));
}

/// The case as it must be: what goes in as it is, what comes out as it comes out.
fn blessed(text: &str) -> Result<String, String> {
    let mut case = Case::read(text)?;
    sections::fill(&mut case)?;
    Ok(case.to_string())
}

/// The first line that differs.
fn difference(written: &str, right: &str) -> String {
    let (mut ours, mut theirs) = (written.lines(), right.lines());
    for line in 1.. {
        match (ours.next(), theirs.next()) {
            (None, None) => break,
            (our, their) if our == their => {}
            (our, their) => {
                let show = |text: Option<&str>| text.unwrap_or("(the end)").to_string();
                return format!(
                    "line {line}\n  is written {}\n  comes out  {}",
                    show(our),
                    show(their)
                );
            }
        }
    }
    "an end of line is missing".to_string()
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).expect("the folder of cases can be listed");
    let mut inside: Vec<PathBuf> = entries
        .map(|entry| entry.expect("the folder of cases can be listed").path())
        .collect();
    inside.sort();
    for path in inside {
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|ending| ending == "case") {
            paths.push(path);
        }
    }
}

#[test]
fn a_case_that_expects_something_else_is_found() {
    let text =
        "A value alone does nothing.\n\n=== source\nfn f(a: u8) -> u8 {\n    a\n}\n\n=== error\n\n";
    let right = blessed(text).expect("the case can be read");
    assert_ne!(right, text);
    assert!(difference(text, &right).contains("not-a-statement"));
    assert_eq!(blessed(&right).expect("the case can be read"), right);
}
