//! `loom simulate PROGRAM.strl`: instants come in on stdin, a line for each goes out.

use super::super::failure::{Failure, about};
use super::super::progress;
use super::super::terminal::{is_watched, note, result};
use super::Arguments;
use crate::diagnostic::render;
use crate::pipeline::{self, Reactive};
use crate::simulate::process::esterel::Nothing;
use crate::simulate::process::machine::Machine;
use crate::source::Sources;
use std::io::Read;

/// How many nodes an automaton may have where nobody says.
const BUDGET: usize = 250_000;

/// Runs a module: the one with a name, or the last; as its statements stand, or its state trees.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let path = &arguments.network;
    let budget = arguments.budget.unwrap_or(BUDGET);
    let main = arguments.main.as_deref();
    let text = std::fs::read_to_string(path).map_err(about(path))?;
    let mut sources = Sources::new();
    let name = path.display().to_string();
    let spinner = progress::spinner("exploring");
    let (compiled, found) = pipeline::esterel(&mut sources, (name, text), main, budget);
    spinner.finish_and_clear();
    if !found.is_empty() {
        note(render(&found, &sources, is_watched()).trim_end());
    }
    let Some(Reactive { module, automaton }) = compiled else {
        return Err(Failure::refused(""));
    };
    if let Some(name) = module.written_in_c().next() {
        let says = format!("`{name}` is written in C, which cannot be linked yet");
        return Err(Failure::refused(says));
    }
    let machine = match arguments.interpret {
        true => Machine::of_statements(&module, &Nothing),
        false => Machine::of_trees(&module, &automaton, &Nothing),
    };
    let mut machine = machine.map_err(Failure::refused)?;
    while let Some(text) = next_instant()? {
        let line = machine.instant(&text, &|_, _| None);
        let line = line.map_err(Failure::refused)?;
        result(format_args!("{line}\n"))?;
    }
    Ok(())
}

/// The text of the next instant, without its `;`; none at the end of the input.
fn next_instant() -> Result<Option<String>, Failure> {
    let mut bytes = Vec::new();
    let (mut quoted, mut escaped) = (false, false);
    for byte in std::io::stdin().lock().bytes() {
        let byte = byte.map_err(|error| Failure::environment(format!("stdin: {error}")))?;
        match byte {
            b'"' if !escaped => quoted = !quoted,
            b';' if !quoted => {
                let text = String::from_utf8(bytes);
                let wrong = |_| Failure::refused("the input is no text");
                return Ok(Some(text.map_err(wrong)?));
            }
            _ => {}
        }
        escaped = quoted && !escaped && byte == b'\\';
        bytes.push(byte);
    }
    match bytes.iter().all(u8::is_ascii_whitespace) {
        true => Ok(None),
        false => Err(Failure::refused("the last instant does not end with `;`")),
    }
}
