//! What each section of a case means.
//!
//! In: a case. Out: the same case, with those sections that come out of the compiler filled anew.
//!
//! | section | |
//! |---|---|
//! | `source` | goes in: a file of Loom; `=== source NAME.loom` where there are several |
//! | `fmt` | comes out: the first file in its canonical form |
//! | `error` | comes out: all diagnostics; where it is missing, there must be none |

use crate::format::{Case, around};
use stackloom::diagnostic::{Diagnostic, render};
use stackloom::source::{FileId, Sources};
use stackloom::syntax::loom;

/// Runs the compiler as far as the sections need it.
pub fn fill(case: &mut Case) -> Result<(), String> {
    let mut sources = Sources::new();
    let mut files = Vec::new();
    for section in case.sections.iter().filter(|it| it.kind == "source") {
        let name = if section.name.is_empty() {
            "case.loom"
        } else {
            &section.name
        };
        files.push(sources.add(name, section.text.as_str()));
    }
    if files.is_empty() {
        return Err("there is no source".to_string());
    }
    let errors = errors(&files, &sources);
    if case.text("error").is_none() && !errors.is_empty() {
        return Err(format!(
            "there are errors, but no section for them\n{errors}"
        ));
    }
    let mut comes_out = false;
    for section in &mut case.sections {
        section.text = match section.kind.as_str() {
            "source" => continue,
            "error" => errors.clone(),
            "fmt" => around(&formatted(&sources)),
            other => return Err(format!("there is no section `{other}`")),
        };
        comes_out = true;
    }
    if comes_out {
        Ok(())
    } else {
        Err("nothing comes out of it".to_string())
    }
}

fn errors(files: &[FileId], sources: &Sources) -> String {
    let found: Vec<Diagnostic> = files
        .iter()
        .flat_map(|file| loom::parse(*file, sources).1)
        .collect();
    around(&render(&found, sources, false))
}

fn formatted(sources: &Sources) -> String {
    let first = sources.files().next().expect("there is a source");
    let (tree, _) = loom::parse(first, sources);
    loom::format(&tree, sources.text(first))
}

#[test]
fn cases_that_show_nothing_are_refused() {
    let refused = |text: &str| fill(&mut Case::read(text).expect("the case can be read")).is_err();
    assert!(refused("It is so.\n=== source\nuse a\n"));
    assert!(refused("It is so.\n=== error\n"));
    assert!(refused("It is so.\n=== source\nuse a\n=== strange\n"));
    assert!(refused("It is so.\n=== source\nuse\n"));
    assert!(!refused("It is so.\n=== source\nuse\n=== error\n"));
}
