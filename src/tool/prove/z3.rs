//! Z3 as a process that reads SMT-LIB (de Moura and Bjørner, "Z3: an efficient SMT solver", 2008).
//!
//! In: a script. Out: the answer of the solver, or a sentence that says why there is none. Each
//! script has a process of its own, which ends with its answer.

use crate::prove::Solver;
use crate::tool::failure::{Failure, plain};
use std::io::{ErrorKind, Read, Write};
use std::process::{Command, Stdio};

/// The program.
const PROGRAM: &str = "z3";

/// Returns the solver, which ends after so many seconds for each script.
///
/// # Errors
///
/// If the program is not installed.
pub fn solver(seconds: u64) -> Result<Box<Solver<'static>>, Failure> {
    let version = Command::new(PROGRAM).arg("--version").output();
    version.map_err(|error| Failure::environment(missing(&error)))?;
    Ok(Box::new(move |script| asked(script, seconds)))
}

fn missing(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => {
            "`loom prove` needs the solver Z3: install the Debian package `z3`, or put `z3` into \
             PATH"
                .to_string()
        }
        _other => format!("{PROGRAM}: {}", plain(error)),
    }
}

/// Asks the solver once. A few seconds more than the script allows end it in any case.
fn asked(script: &str, seconds: u64) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("{PROGRAM}: {}", plain(&error));
    let mut process = Command::new(PROGRAM)
        .args(["-in", "-smt2", &format!("-T:{}", seconds + 2)])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let mut input = process.stdin.take().ok_or("the solver reads nothing")?;
    // A solver that ends early reads no more; its answer says why.
    let written = input.write_all(script.as_bytes());
    drop(input);
    let mut text = String::new();
    let mut output = process.stdout.take().ok_or("the solver says nothing")?;
    output.read_to_string(&mut text).map_err(failed)?;
    process.wait().map_err(failed)?;
    match written {
        Err(error) if text.is_empty() => Err(failed(error)),
        _read => Ok(text),
    }
}
