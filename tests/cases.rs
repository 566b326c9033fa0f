//! The one runner of all `.case` files.
//!
//! In: every case under `tests/cases`. Its first line is the fact that it shows, as a sentence;
//! then come its sections, each behind a line `=== NAME`: what goes in, and what must come out.
//! Out: the first difference of each case that does not hold. `BLESS=1` writes what comes out into
//! the cases instead, and then `git diff` says what changed. What is played to a stack is played
//! to its C, too: by gcc without optimisation, and with `EVERY_WAY=1` in all ways.

#[path = "c_agrees/compiled.rs"]
mod compiled;
#[path = "c_agrees/externs.rs"]
mod externs;
#[path = "case/format.rs"]
mod format;
#[path = "c_agrees/glue.rs"]
mod glue;
#[path = "agree/parts.rs"]
mod parts;
#[path = "case/play.rs"]
mod play;
#[path = "case/played.rs"]
mod played;
#[path = "c_agrees/run.rs"]
mod run;
#[path = "case/script.rs"]
mod script;
#[path = "case/sections.rs"]
mod sections;
#[path = "case/wire.rs"]
mod wire;

use format::Case;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

#[test]
fn every_case_holds() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut paths = Vec::new();
    collect(&root, &mut paths);
    assert!(!paths.is_empty(), "there are no cases");
    // Cases of one folder are mostly about one stack, which is compiled once.
    let mut folders: Vec<&[PathBuf]> = paths.chunk_by(|a, b| a.parent() == b.parent()).collect();
    folders.sort_by_key(|folder| folder.len());
    let folders = Mutex::new(folders);
    let failures = Mutex::new(Vec::new());
    let work = || {
        let next = || folders.lock().expect("nobody panics with the list").pop();
        while let Some(folder) = next() {
            let wrong = folder.iter().filter_map(|path| failure(&root, path));
            let wrong: Vec<String> = wrong.collect();
            let mut failures = failures.lock().expect("nobody panics with the list");
            failures.extend(wrong);
        }
    };
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
        (0..threads).for_each(|_| drop(scope.spawn(work)));
    });
    let mut failures = failures.into_inner().expect("all threads have ended");
    failures.sort();
    assert!(failures.is_empty(), "\n{}", failures.join("\n\n"));
}

/// What is wrong with the case of a file, which may also be blessed.
fn failure(root: &Path, path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).expect("a case can be read");
    let name = path
        .strip_prefix(root)
        .expect("cases stand under their root");
    let name = name.display();
    match blessed(&name.to_string(), &text) {
        Err(wrong) => Some(format!("{name}: {wrong}")),
        Ok(right) if right == text => None,
        Ok(right) if std::env::var_os("BLESS").is_some() => {
            fs::write(path, right).expect("a case can be written");
            None
        }
        Ok(right) => Some(format!("{name}: {}", difference(&text, &right))),
    }
}

/// The case as it must be: what goes in as it is, what comes out as it comes out.
fn blessed(name: &str, text: &str) -> Result<String, String> {
    let mut case = Case::read(text)?;
    sections::fill(name, &mut case)?;
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
    let right = blessed("one", text).expect("the case can be read");
    assert_ne!(right, text);
    assert!(difference(text, &right).contains("not-a-statement"));
    assert_eq!(blessed("one", &right).expect("the case can be read"), right);
}
