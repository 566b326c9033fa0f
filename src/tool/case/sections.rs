//! What each section of a case means.
//!
//! In: a case. Out: the same case, with those sections that come out of the compiler filled anew.
//!
//! | section | |
//! |---|---|
//! | `source` | goes in: a file of Loom; others, `=== source FOLDER/NAME.loom`, are for its `use` |
//! | `stack PATH` | goes in: a file, instead of the first `source`; from a folder around the case |
//! | `config` | goes in: what the stack is started with, `NAME = VALUE` |
//! | `host` | goes in: `start`, `buffers`, `budget`; for interpreters also `reserve`, `outputs` |
//! | `in` | goes in: what the host does, as [`super::script`] says; `=== in NAME`: to this stack |
//! | `error` | comes out: all diagnostics; where it is missing, there must be no errors |
//! | `fmt` | comes out: the first file in its canonical form |
//! | `tree` | comes out: the trees of the first stack, one for each reaction |
//! | `woven` | comes out: the same, woven into one another along the fast path |
//! | `c` | comes out: the C of the first stack; `=== c NAME`: one function of it |
//! | `out` | comes out: what the stack gives its host, from the interpreters and from its C |
//! | `wire` | comes out: the frames of both directions, header by header |
//! | `esterel` | goes in: modules of Esterel, the last of which is run; see [`super::esterel`] |

use super::format::{Case, around};
use super::played::played;
use super::subject::{Subject, Texts};
use super::{Cases, Surroundings};
use crate::diagnostic::render;
use crate::pipeline::refused;
use crate::source::Sources;
use crate::syntax::loom;
use crate::tree::text;
use std::path::Path;

/// Runs the compiler as far as the sections need it.
pub fn fill(path: &Path, case: &mut Case, cases: &Cases<'_>) -> Result<(), String> {
    if case.text("esterel").is_some() {
        return super::esterel::fill(case);
    }
    let subject = &*cases.subject(texts(path, case, cases.around_it)?, stands_alone(case));
    let errors = around(&render(&subject.found, &subject.sources, false));
    if case.text("error").is_none() && refused(&subject.found) {
        return Err(format!(
            "the stack has errors, but the case has no section `error`\n{errors}"
        ));
    }
    if case.text("error").is_none() {
        cases.warned(&errors);
    }
    if case.text("error").is_some() && errors.is_empty() {
        return Err("the stack has no errors".to_string());
    }
    let played = match case.text("out").or(case.text("wire")) {
        Some(_) => Some(played(path, case, subject, cases.around_it)?),
        None => None,
    };
    let played = played.as_ref();
    let mut comes_out = false;
    for section in &mut case.sections {
        section.text = match section.kind.as_str() {
            "source" | "stack" | "config" | "host" | "in" => continue,
            "error" => errors.clone(),
            "fmt" => around(&formatted(&subject.sources)),
            "tree" => around(&trees(subject, false)?),
            "woven" => around(&trees(subject, true)?),
            "c" => around(&emitted(subject, &section.name)?),
            "out" => around(&played.ok_or("the case has no section `in`")?.out),
            "wire" => around(&played.ok_or("the case has no section `in`")?.wire),
            other => return Err(format!("a case has no section `{other}`")),
        };
        comes_out = true;
    }
    if comes_out {
        Ok(())
    } else {
        Err("the case has no section with output, such as `out` or `error`".to_string())
    }
}

/// Whether no file around the case has its stack.
fn stands_alone(case: &Case) -> bool {
    case.sections.iter().all(|section| section.kind != "stack")
}

/// The texts of a case, and the stack that is played to, where it says which.
fn texts(path: &Path, case: &Case, around_it: &dyn Surroundings) -> Result<Texts, String> {
    let mut files = Vec::new();
    for section in &case.sections {
        match section.kind.as_str() {
            "source" if section.name.is_empty() => {
                files.push(("case.loom".to_string(), section.text.clone()));
            }
            "source" => files.push((section.name.clone(), section.text.clone())),
            "stack" => files.push(around_it.file(path, &section.name)?),
            _ => {}
        }
    }
    if files.is_empty() {
        return Err("the case has no section `source`".to_string());
    }
    let played = case.sections.iter().find(|section| section.kind == "in");
    let stack = played.map(|section| section.name.clone());
    Ok(Texts {
        files,
        stack: stack.filter(|name| !name.is_empty()),
    })
}

/// The C of the first stack, or one function of it.
fn emitted(subject: &Subject, function: &str) -> Result<String, String> {
    let stack = subject.stacks.first().ok_or("the case has no stack")?;
    let c = &stack.code(&subject.sources).c;
    if function.is_empty() {
        return Ok(c.clone());
    }
    let lines: Vec<&str> = c.lines().collect();
    let calls = format!("{function}(");
    let defines = |at: &usize| {
        let line = lines[*at];
        let mut named = line.split([' ', '*']);
        named.any(|word| word.starts_with(&calls)) && line.starts_with(char::is_alphabetic)
    };
    // A declaration has no body.
    let bodies = (0..lines.len()).filter(defines).filter_map(|at| {
        let ends = |line: &&str| line.ends_with(';') || line.ends_with('{');
        let first = lines[at..].iter().find(|line| ends(line))?;
        first.ends_with('{').then_some(at)
    });
    let at = bodies
        .min()
        .ok_or(format!("the generated C has no function `{function}`"))?;
    let comment = lines[..at].iter().rposition(|line| line.is_empty());
    let end = lines[at..].iter().position(|line| *line == "}");
    let end = at + end.expect("a function ends");
    Ok(lines[comment.map_or(at, |empty| empty + 1)..=end].join("\n"))
}

/// The trees of the first stack in their text form.
fn trees(subject: &Subject, woven: bool) -> Result<String, String> {
    let stack = subject.stacks.first().ok_or("the case has no stack")?;
    let (program, forest) = stack.woven();
    Ok(text::write(
        program,
        if woven { forest } else { &stack.plain },
    ))
}

fn formatted(sources: &Sources) -> String {
    let first = sources.files().next().expect("there is a source");
    let (tree, _) = loom::parse(first, sources);
    loom::format(&tree, sources.text(first))
}
