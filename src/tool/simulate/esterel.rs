//! `loom simulate PROGRAM.strl`: instants come in on stdin, a line for each goes out.

use super::super::esterel::child::{Child, InC, compile};
use super::super::esterel::{Choice, read};
use super::super::failure::{Failure, plain};
use super::super::progress;
use super::super::terminal::result;
use super::Arguments;
use crate::pipeline::Reactive;
use crate::simulate::process::esterel::Nothing;
use crate::simulate::process::machine::Machine;
use std::io::Read;

/// Runs a module: the one with a name, or the last; as its statements stand, or its state trees, or
/// in C. What is written in C is the same for all.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let choice = Choice {
        main: arguments.main.as_deref(),
        budget: arguments.budget,
    };
    let reactive = read(&arguments.network, choice)?;
    let Reactive { module, automaton } = &reactive;
    let of_c = module.of_c();
    let needs = of_c.names(module).first().copied();
    if let (Some(name), []) = (needs, &arguments.functions[..]) {
        let says = format!("`{name}` is written in C: add its source with --c FILE");
        return Err(Failure::refused(says));
    }
    if needs.is_none() && !arguments.compiled {
        return instants(machine(arguments, &reactive), None);
    }
    let folder = tempfile::tempdir().map_err(|error| {
        let error = plain(&error);
        Failure::environment(format!("cannot create a temporary folder: {error}"))
    })?;
    let spinner = progress::spinner("compiling");
    let (functions, runs) = (&arguments.functions, arguments.compiled);
    let program = compile(&reactive, functions, runs, folder.path());
    spinner.finish_and_clear();
    let program = program?;
    let child = Child::start(&program, module, 0)?;
    let machine = match (arguments.compiled, arguments.interpret) {
        (true, _) => Machine::of(module, &child, Box::new(InC(&child))),
        (false, true) => Machine::of_statements(module, &child),
        (false, false) => Machine::of_trees(module, automaton, &child),
    };
    instants(machine, Some(&child))
}

/// What runs a module that needs no C.
fn machine<'m>(arguments: &Arguments, reactive: &'m Reactive) -> Machine<'m> {
    let Reactive { module, automaton } = reactive;
    match arguments.interpret {
        true => Machine::of_statements(module, &Nothing),
        false => Machine::of_trees(module, automaton, &Nothing),
    }
}

/// One instant after the other, until the input ends or something is wrong.
fn instants(mut machine: Machine<'_>, child: Option<&Child>) -> Result<(), Failure> {
    for instant in 1.. {
        let Some(text) = next_instant(instant)? else {
            break;
        };
        let line = machine.instant(&text);
        if let Some(says) = child.and_then(Child::wrong) {
            return Err(Failure::refused(says));
        }
        let line = line.map_err(Failure::refused)?;
        result(format_args!("{line}\n"))?;
    }
    Ok(())
}

/// The text of the next instant, without its `;`; none at the end of the input.
fn next_instant(instant: usize) -> Result<Option<String>, Failure> {
    let mut bytes = Vec::new();
    let (mut quoted, mut escaped) = (false, false);
    for byte in std::io::stdin().lock().bytes() {
        let byte = byte.map_err(|error| Failure::environment(format!("stdin: {error}")))?;
        match byte {
            b'"' if !escaped => quoted = !quoted,
            b';' if !quoted => {
                let text = String::from_utf8(bytes);
                let wrong =
                    |_| Failure::refused(format!("instant {instant}: the input is not UTF-8 text"));
                return Ok(Some(text.map_err(wrong)?));
            }
            _ => {}
        }
        escaped = quoted && !escaped && byte == b'\\';
        bytes.push(byte);
    }
    match bytes.iter().all(u8::is_ascii_whitespace) {
        true => Ok(None),
        false => {
            let says = format!("instant {instant}: it does not end with `;`");
            Err(Failure::refused(says))
        }
    }
}
