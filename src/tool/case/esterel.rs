//! Cases of Esterel.
//!
//! In: a case with a section `esterel`. Out: the same case, filled anew.
//!
//! | section | |
//! |---|---|
//! | `esterel` | goes in: modules; the last one is run |
//! | `externs` | goes in: the C that they need |
//! | `in` | goes in: what is given, a line for each instant, `A B(3) ;` |
//! | `error` | comes out: all diagnostics; where it is missing, there must be none |
//! | `out` | comes out: each instant, what is given and what is emitted; from both interpreters |
//! | `states` | comes out: how many states the automaton has |
//! | `c` | comes out: the C of the module |
//! | `view` | comes out: the automaton, as `loom view` shows it |
//!
//! A module that needs C is run in C, too; the tests of Esterel do that with all others.

use super::format::{Case, around};
use crate::back::c::esterel::Outside;
use crate::diagnostic::render;
use crate::pipeline::{self, Reactive, esterel_c};
use crate::simulate::process::esterel::{Externs, Nothing};
use crate::simulate::process::machine::Machine;
use crate::source::Sources;
use crate::tool::esterel::child::{self, Child, InC};
use crate::tool::failure::Failure;
use crate::view;

/// How many nodes an automaton may have.
const BUDGET: usize = 100_000;

/// How many ways an automaton may have that is shown.
const MOST_WAYS: usize = 1_000;

/// Fills the sections that come out.
pub fn fill(case: &mut Case) -> Result<(), String> {
    let text = case.text("esterel").unwrap_or_default().to_string();
    let mut sources = Sources::new();
    let named = ("case.strl".to_string(), text);
    let (compiled, found) = pipeline::esterel(&mut sources, named, None, BUDGET);
    let errors = around(&render(&found, &sources, false));
    match case.text("error") {
        None if !found.is_empty() => {
            return Err(format!(
                "the program has errors, but the case has no section `error`\n{errors}"
            ));
        }
        Some(_) if found.is_empty() => return Err("the program has no errors".to_string()),
        None | Some(_) => {}
    }
    let given = case.text("in").unwrap_or_default().to_string();
    let externs = case.text("externs").map(String::from);
    let compiled = compiled.as_ref();
    for section in &mut case.sections {
        section.text = match section.kind.as_str() {
            "esterel" | "externs" | "in" => continue,
            "error" => errors.clone(),
            "out" => around(&played(
                compiled.ok_or("the program has errors and cannot run")?,
                externs.as_deref(),
                &given,
            )?),
            "states" => {
                let automaton = &compiled.ok_or("the program has no automaton")?.automaton;
                around(&automaton.states.len().to_string())
            }
            "c" => {
                let Reactive { module, automaton } = compiled.ok_or("the program has no C")?;
                around(&esterel_c("case.strl", module, automaton, Outside::Declared).c)
            }
            "view" => {
                let Reactive { module, automaton } =
                    compiled.ok_or("the program has no automaton")?;
                let view = view::view(module, automaton, MOST_WAYS);
                around(&view::text(
                    &view.ok_or("the automaton is too large to show")?,
                ))
            }
            other => {
                return Err(format!(
                    "a case of an Esterel program has no section `{other}`"
                ));
            }
        };
    }
    Ok(())
}

/// What both interpreters make of the instants, and C where it is needed anyway.
fn played(compiled: &Reactive, externs: Option<&str>, given: &str) -> Result<String, String> {
    let Some(externs) = externs else {
        return agreed(compiled, &Nothing, None, given);
    };
    let says = |failure: Failure| failure.message;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = folder.path().join("externs.c");
    std::fs::write(&path, externs).map_err(|error| error.to_string())?;
    let program = child::compile(compiled, &[path], true, folder.path()).map_err(says)?;
    let module = &compiled.module;
    let interpreted = Child::start(&program, module, 0).map_err(says)?;
    let in_c = Child::start(&program, module, 0).map_err(says)?;
    let machine = Machine::of(module, &in_c, Box::new(InC(&in_c)));
    let text = agreed(compiled, &interpreted, Some(machine), given)?;
    match interpreted.wrong().or(in_c.wrong()) {
        Some(says) => Err(says),
        None => Ok(text),
    }
}

/// What all make of the instants.
fn agreed(
    Reactive { module, automaton }: &Reactive,
    externs: &dyn Externs,
    in_c: Option<Machine<'_>>,
    given: &str,
) -> Result<String, String> {
    let trees = lines(Machine::of_trees(module, automaton, externs), given)?;
    let reference = Machine::of_statements(module, externs);
    let others = [("the reference", Some(reference)), ("the C", in_c)];
    for (who, machine) in others {
        if let Some(machine) = machine {
            let other = lines(machine, given)?;
            if trees != other {
                return Err(format!(
                    "the automaton prints\n{trees}\nand {who} prints\n{other}"
                ));
            }
        }
    }
    Ok(trees)
}

/// A line for each instant: what is given, and what is emitted, or what is wrong.
fn lines(mut machine: Machine<'_>, given: &str) -> Result<String, String> {
    let mut all = Vec::new();
    for line in given.lines() {
        let text = line.trim();
        let text = text.strip_suffix(';').ok_or("an instant ends with `;`")?;
        match machine.instant(text) {
            Ok(emitted) => all.push(format!("{line} {emitted}").trim_end().to_string()),
            Err(says) => {
                all.push(format!("{line} {says}"));
                break;
            }
        }
    }
    Ok(all.join("\n"))
}
