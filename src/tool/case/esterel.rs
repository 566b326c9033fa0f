//! Cases of Esterel.
//!
//! In: a case with a section `esterel`. Out: the same case, filled anew.
//!
//! | section | |
//! |---|---|
//! | `esterel` | goes in: modules; the last one is run |
//! | `in` | goes in: what is given, a line for each instant, `A B(3) ;` |
//! | `error` | comes out: all diagnostics; where it is missing, there must be none |
//! | `out` | comes out: each instant, what is given and what is emitted; from both interpreters |
//! | `states` | comes out: how many states the automaton has |

use super::format::{Case, around};
use crate::diagnostic::render;
use crate::pipeline::{self, Reactive};
use crate::simulate::process::esterel::Nothing;
use crate::simulate::process::machine::Machine;
use crate::source::Sources;

/// How many nodes an automaton may have.
const BUDGET: usize = 100_000;

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
                "there are errors, but no section for them\n{errors}"
            ));
        }
        Some(_) if found.is_empty() => return Err("nothing is wrong here".to_string()),
        None | Some(_) => {}
    }
    let given = case.text("in").unwrap_or_default().to_string();
    let compiled = compiled.as_ref();
    for section in &mut case.sections {
        section.text = match section.kind.as_str() {
            "esterel" | "in" => continue,
            "error" => errors.clone(),
            "out" => around(&played(compiled.ok_or("nothing can be run")?, &given)?),
            "states" => {
                let automaton = &compiled.ok_or("there is no automaton")?.automaton;
                around(&automaton.states.len().to_string())
            }
            other => return Err(format!("a case of Esterel has no section `{other}`")),
        };
    }
    Ok(())
}

/// What both interpreters make of the instants.
fn played(compiled: &Reactive, given: &str) -> Result<String, String> {
    let module = &compiled.module;
    let trees = Machine::of_trees(module, &compiled.automaton, &Nothing);
    let trees = lines(trees, given)?;
    let reference = lines(Machine::of_statements(module, &Nothing), given)?;
    if trees != reference {
        return Err(format!(
            "the trees say\n{trees}\nand the reference says\n{reference}"
        ));
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
