//! What a command says: results on stdout, everything else on stderr.
//!
//! In: a text. Out: the same, to whoever reads it. That nobody reads on, as in `loom ... | head`,
//! is no mistake.

pub mod style;

use super::failure::Failure;
use super::page::grouped;
use crate::diagnostic::{Diagnostic, json, render};
use crate::pipeline::Checked;
use crate::source::Sources;
use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

/// Prints a result.
pub fn result(text: impl Display) -> Result<(), Failure> {
    part(text).map(|_| ())
}

/// Prints a part of a result that may be long. Returns false if nobody reads on.
pub fn part(text: impl Display) -> Result<bool, Failure> {
    let mut stdout = io::stdout().lock();
    let written = write!(stdout, "{text}").and_then(|()| stdout.flush());
    match written {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::environment(format!(
            "stdout: {}",
            super::failure::plain(&error)
        ))),
    }
}

/// Prints a line about what is going on; if it cannot be read, nothing is lost.
pub fn note(text: impl Display) {
    writeln!(io::stderr(), "{text}").unwrap_or_default();
}

/// Prints diagnostics: for people on stderr, or as JSON on stdout.
pub fn show(diagnostics: &[Diagnostic], sources: &Sources) -> Result<(), Failure> {
    if style::is_json() {
        return result(json(diagnostics, sources));
    }
    if !diagnostics.is_empty() {
        note(render(diagnostics, sources, style::is_colored()).trim_end());
    }
    Ok(())
}

/// Says on standard error which paths a stack gives up to keep within a limit of its text.
pub fn tell_given_up(checked: &Checked) {
    let (Some(given_up), Some(limit)) = (&checked.given_up, checked.passes.text_limit()) else {
        return;
    };
    let counts = given_up.counts.iter();
    let counts = counts.map(|(reaction, gone, of)| format!("{gone} of {of} paths of {reaction}"));
    let counts: Vec<String> = counts.collect();
    let counts = match &counts[..] {
        [] => "no path".to_string(),
        _ => counts.join(", "),
    };
    let [estimated, limit] = [given_up.estimated, limit].map(grouped);
    note(format!(
        "text of about {estimated} of {limit} bytes; gave up {counts}"
    ));
}

/// `1 file`, `2 files`
pub fn counted(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}
