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
//! | `error` | comes out: all diagnostics; where it is missing, there must be none |
//! | `fmt` | comes out: the first file in its canonical form |
//! | `tree` | comes out: the trees of the first stack, one for each reaction |
//! | `woven` | comes out: the same, woven into one another along the common path |
//! | `c` | comes out: the C of the first stack; `=== c NAME`: one function of it |
//! | `out` | comes out: what the stack gives its host, from the interpreters and from its C |
//! | `wire` | comes out: the frames of both directions, header by header |
//! | `esterel` | goes in: modules of Esterel, the last of which is run; see [`super::esterel`] |

use super::Surroundings;
use super::format::{Case, around};
use super::played::played;
use crate::diagnostic::{Diagnostic, Severity, render};
use crate::emit;
use crate::pipeline;
use crate::reactive;
use crate::reactive::handlers::{Budget, settle, wrong_anywhere};
use crate::source::Sources;
use crate::syntax::loom;
use crate::tree::text;
use crate::types::load::{Library, Missing, load};
use crate::types::program::Program;
use crate::types::{check_layers, check_stack};
use std::collections::BTreeMap;
use std::path::Path;

/// Runs the compiler as far as the sections need it.
pub fn fill(path: &Path, case: &mut Case, around_it: &dyn Surroundings) -> Result<(), String> {
    if case.text("esterel").is_some() {
        return super::esterel::fill(case);
    }
    let mut sources = Sources::new();
    let (programs, found) = compile(&mut sources, path, case, around_it)?;
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
            Some(played(path, case, &sources, program, around_it)?)
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
fn compile(
    sources: &mut Sources,
    path: &Path,
    case: &Case,
    around_it: &dyn Surroundings,
) -> Result<(Vec<Program>, Vec<Diagnostic>), String> {
    let mut texts = Vec::new();
    for section in &case.sections {
        match section.kind.as_str() {
            "source" if section.name.is_empty() => {
                texts.push(("case.loom".to_string(), section.text.clone()));
            }
            "source" => texts.push((section.name.clone(), section.text.clone())),
            "stack" => texts.push(around_it.file(path, &section.name)?),
            _ => {}
        }
    }
    let mut texts = texts.into_iter();
    let root = texts.next().ok_or("there is no source")?;
    let library = Sections {
        own: texts.collect(),
        behind: around_it.library(),
    };
    let (files, mut found) = load(sources, vec![root], &library);
    let mut programs = Vec::new();
    if found.is_empty() {
        let (layers, wrong) = check_layers(sources, &files);
        found.extend(wrong);
        let played = case.sections.iter().find(|section| section.kind == "in");
        let played = played.map(|section| section.name.as_str());
        let declared = files.unit(files.root()).stacks.iter();
        let declared = declared.map(|stack| stack.name.text.as_str());
        let stacks: Vec<&str> = match played {
            Some(name) if !name.is_empty() => vec![name],
            Some(_) | None => declared.collect(),
        };
        for stack in stacks {
            let (mut program, mut wrong) = check_stack(sources, &files, stack);
            if let Some(Err(refused)) = program
                .as_mut()
                .map(|program| settle(program, Budget::default()))
            {
                wrong.extend(refused);
                program = None;
            }
            programs.extend(program);
            for wrong in wrong {
                if !found.contains(&wrong) {
                    found.push(wrong);
                }
            }
        }
        if files.unit(files.root()).stacks.is_empty() {
            found.extend(
                layers
                    .iter()
                    .flat_map(|layer| wrong_anywhere(layer, Budget::default())),
            );
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
    let (woven, _) = pipeline::woven(program, forest);
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
        forest = pipeline::woven(program, forest).0;
    }
    Ok(text::write(program, &forest))
}

fn formatted(sources: &Sources) -> String {
    let first = sources.files().next().expect("there is a source");
    let (tree, _) = loom::parse(first, sources);
    loom::format(&tree, sources.text(first))
}

/// The files in a case, and those around it.
struct Sections<'around> {
    own: BTreeMap<String, String>,
    behind: &'around dyn Library,
}

impl Library for Sections<'_> {
    fn find(&self, user: &str, path: &str) -> Result<Vec<(String, String)>, Missing> {
        let own = self.own.find(user, path);
        own.or_else(|_| self.behind.find(user, path))
    }
}
