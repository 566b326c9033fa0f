//! What each section of a case means.
//!
//! In: a case. Out: the same case, with those sections that come out of the compiler filled anew.
//!
//! | section | |
//! |---|---|
//! | `source` | goes in: a file of Loom; others, `=== source FOLDER/NAME.loom`, are for its `use` |
//! | `stack PATH` | goes in: a file of the repository, instead of the first `source` |
//! | `config` | goes in: what the stack is started with, `NAME = VALUE` |
//! | `in` | goes in: what the host does, as [`crate::play`] says; `=== in NAME`: to this stack |
//! | `error` | comes out: all diagnostics; where it is missing, there must be none |
//! | `fmt` | comes out: the first file in its canonical form |
//! | `tree` | comes out: the trees of the first stack, one for each reaction |
//! | `woven` | comes out: the same, woven into one another along the common path |
//! | `out` | comes out: what the stack gives its host, the same from all interpreters |

use crate::format::{Case, around};
use crate::play::play;
use stackloom::diagnostic::{Diagnostic, Severity, render};
use stackloom::reactive;
use stackloom::simulate::reference::Reference;
use stackloom::simulate::trees::Trees;
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
pub fn fill(case: &mut Case) -> Result<(), String> {
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
    let config = case.text("config").unwrap_or_default().to_string();
    let script = case.text("in").unwrap_or_default().to_string();
    let mut comes_out = false;
    for section in &mut case.sections {
        section.text = match section.kind.as_str() {
            "source" | "stack" | "config" | "in" => continue,
            "error" => errors.clone(),
            "fmt" => around(&formatted(&sources)),
            "tree" => around(&trees(&programs, false)?),
            "woven" => around(&trees(&programs, true)?),
            "out" => around(&played(&programs, &config, &script)?),
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

/// What comes of the script, in every way in which a stack can run here.
fn played(programs: &[Program], config: &str, script: &str) -> Result<String, String> {
    let program = programs.first().ok_or("there is no stack to play it to")?;
    let reference = play(program, Reference::new(program), config, script)?;
    let forest = reactive::lower(program).map_err(|_| "the trees were refused")?;
    let trees = play(program, Trees::new(program, &forest), config, script)?;
    let (woven, _) = weave::weave(program, forest, weave::Limits::default());
    let woven = play(program, Trees::new(program, &woven), config, script)?;
    for (other, who) in [(trees, "the trees"), (woven, "the woven trees")] {
        if other != reference {
            return Err(format!(
                "{who} do otherwise\n{}",
                crate::difference(&reference, &other)
            ));
        }
    }
    Ok(reference)
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

fn of_the_repository(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(path).expect("a case names a file of the repository")
}

#[test]
fn cases_that_show_nothing_are_refused() {
    let refused = |text: &str| fill(&mut Case::read(text).expect("the case can be read")).is_err();
    assert!(refused("It is so.\n=== source\nconst a = 1\n"));
    assert!(refused("It is so.\n=== error\n"));
    assert!(refused("It is so.\n=== source\nconst a = 1\n=== strange\n"));
    assert!(refused("It is so.\n=== source\nuse\n"));
    assert!(!refused("It is so.\n=== source\nuse\n=== error\n"));
}
