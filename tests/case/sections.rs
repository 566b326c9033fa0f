//! What each section of a case means.
//!
//! In: a case. Out: the same case, with those sections that come out of the compiler filled anew.
//!
//! | section | |
//! |---|---|
//! | `source` | goes in: a file of Loom; others, `=== source FOLDER/NAME.loom`, are for its `use` |
//! | `stack PATH` | goes in: a file of the repository, instead of the first `source` |
//! | `config` | goes in: what the stack is started with, `NAME = VALUE` |
//! | `host` | goes in: `start`, `buffers`, `budget`; for interpreters also `reserve`, `outputs` |
//! | `in` | goes in: what the host does, as [`crate::script`] says; `=== in NAME`: to this stack |
//! | `error` | comes out: all diagnostics; where it is missing, there must be none |
//! | `fmt` | comes out: the first file in its canonical form |
//! | `tree` | comes out: the trees of the first stack, one for each reaction |
//! | `woven` | comes out: the same, woven into one another along the common path |
//! | `c` | comes out: the C of the first stack; `=== c NAME`: one function of it |
//! | `out` | comes out: what the stack gives its host, from the interpreters and from its C |
//! | `wire` | comes out: the frames of both directions, header by header |

use crate::format::{Case, around};
use crate::played::played;
use stackloom::diagnostic::{Diagnostic, Severity, render};
use stackloom::emit;
use stackloom::reactive;
use stackloom::source::Sources;
use stackloom::syntax::loom;
use stackloom::tree::text;
use stackloom::types::load::load;
use stackloom::types::program::Program;
use stackloom::types::{check_layers, check_stack};
use stackloom::weave;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Runs the compiler as far as the sections need it.
pub fn fill(name: &str, case: &mut Case) -> Result<(), String> {
    let mut sources = Sources::new();
    let (programs, found) = compile(&mut sources, case)?;
    let errors = around(&render(&found, &sources, false));
    if case.text("error").is_none() && !errors.is_empty() {
        return Err(format!(
            "there are errors, but no section for them\n{errors}"
        ));
    }
    if case.text("error").is_some() && errors.is_empty() {
        return Err("nothing is wrong here".to_string());
    }
    let played = match case.text("out").or(case.text("wire")) {
        Some(_) => {
            let program = programs.first().ok_or("there is no stack to play to")?;
            Some(played(name, case, &sources, program)?)
        }
        None => None,
    };
    let played = played.as_ref();
    let mut comes_out = false;
    for section in &mut case.sections {
        section.text = match section.kind.as_str() {
            "source" | "stack" | "config" | "host" | "in" => continue,
            "error" => errors.clone(),
            "fmt" => around(&formatted(&sources)),
            "tree" => around(&trees(&programs, false)?),
            "woven" => around(&trees(&programs, true)?),
            "c" => around(&emitted(&sources, &programs, &section.name)?),
            "out" => around(&played.ok_or("nothing is played")?.out),
            "wire" => around(&played.ok_or("nothing is played")?.wire),
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

/// The programs of the stacks of the first file, and all that is wrong: of the one that is played
/// to, where the case says which.
fn compile(sources: &mut Sources, case: &Case) -> Result<(Vec<Program>, Vec<Diagnostic>), String> {
    let mut texts = case
        .sections
        .iter()
        .filter_map(|section| match section.kind.as_str() {
            "source" if section.name.is_empty() => {
                Some(("case.loom".to_string(), section.text.clone()))
            }
            "source" => Some((section.name.clone(), section.text.clone())),
            "stack" => Some((section.name.clone(), of_the_repository(&section.name))),
            _ => None,
        });
    let root = texts.next().ok_or("there is no source")?;
    let mut library = library();
    library.extend(texts);
    let (files, mut found) = load(sources, vec![root], &library);
    let mut programs = Vec::new();
    if found.is_empty() {
        found.extend(check_layers(sources, &files));
        let played = case.sections.iter().find(|section| section.kind == "in");
        let played = played.map(|section| section.name.as_str());
        let declared = files.unit(files.root()).stacks.iter();
        let declared = declared.map(|stack| stack.name.text.as_str());
        let stacks: Vec<&str> = match played {
            Some(name) if !name.is_empty() => vec![name],
            Some(_) | None => declared.collect(),
        };
        for stack in stacks {
            let (program, wrong) = check_stack(sources, &files, stack);
            programs.extend(program);
            for wrong in wrong {
                if !found.contains(&wrong) {
                    found.push(wrong);
                }
            }
        }
    }
    for program in &programs {
        if let Err(wrong) = reactive::lower(program) {
            found.extend(wrong);
        }
    }
    if found.iter().any(|it| it.severity == Severity::Error) {
        programs.clear();
    }
    Ok((programs, found))
}

/// The C of the first stack, or one function of it.
fn emitted(sources: &Sources, programs: &[Program], function: &str) -> Result<String, String> {
    let program = programs.first().ok_or("there is no stack")?;
    let forest = reactive::lower(program).map_err(|_| "the trees were refused")?;
    let (woven, _) = weave::weave(program, forest, weave::Limits::default());
    let c = emit::c(sources, program, &woven).c;
    if function.is_empty() {
        return Ok(c);
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
        .ok_or(format!("the C has no function `{function}`"))?;
    let comment = lines[..at].iter().rposition(|line| line.is_empty());
    let end = lines[at..].iter().position(|line| *line == "}");
    let end = at + end.expect("a function ends");
    Ok(lines[comment.map_or(at, |empty| empty + 1)..=end].join("\n"))
}

/// The trees of the first stack in their text form.
fn trees(programs: &[Program], woven: bool) -> Result<String, String> {
    let program = programs.first().ok_or("there is no stack")?;
    let mut forest = reactive::lower(program).map_err(|_| "the trees were refused")?;
    if woven {
        forest = weave::weave(program, forest, weave::Limits::default()).0;
    }
    Ok(text::write(program, &forest))
}

fn formatted(sources: &Sources) -> String {
    let first = sources.files().next().expect("there is a source");
    let (tree, _) = loom::parse(first, sources);
    loom::format(&tree, sources.text(first))
}

/// The standard library, by the names under which `use` finds it.
fn library() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("layers");
    let mut library = BTreeMap::new();
    for folder in fs::read_dir(&root).expect("the library can be listed") {
        let folder = folder.expect("the library can be listed").path();
        for file in fs::read_dir(&folder).expect("a folder of the library can be listed") {
            let file = file.expect("a folder of the library can be listed").path();
            let name = file
                .strip_prefix(&root)
                .expect("the walk stays in the library");
            let name = name
                .to_str()
                .expect("paths here are plain")
                .replace('\\', "/");
            let text = fs::read_to_string(&file).expect("a layer can be read");
            library.insert(name, text);
        }
    }
    library
}

/// A file of the repository, or the source in a case of it.
fn of_the_repository(path: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let text = fs::read_to_string(file).expect("a case names a file of the repository");
    match Case::read(&text) {
        Ok(case) if path.ends_with(".case") => case.text("source").unwrap_or_default().to_string(),
        Ok(_) | Err(_) => text,
    }
}

#[test]
fn cases_that_show_nothing_are_refused() {
    let refused =
        |text: &str| fill("none", &mut Case::read(text).expect("the case can be read")).is_err();
    assert!(refused("It is so.\n=== source\nconst a = 1\n"));
    assert!(refused("It is so.\n=== error\n"));
    assert!(refused("It is so.\n=== source\nconst a = 1\n=== strange\n"));
    assert!(refused("It is so.\n=== source\nuse\n"));
    assert!(!refused("It is so.\n=== source\nuse\n=== error\n"));
}
