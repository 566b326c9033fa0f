//! What a command says: results on stdout, everything else on stderr.
//!
//! In: a text. Out: the same, to whoever reads it. That nobody reads on, as in `loom ... | head`,
//! is no mistake.

use super::failure::Failure;
use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};

/// Prints a result.
pub fn result(text: impl Display) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let written = write!(stdout, "{text}").and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::environment(format!(
            "stdout: {}",
            super::failure::plain(&error)
        ))),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Prints a line about what is going on; if it cannot be read, nothing is lost.
pub fn note(text: impl Display) {
    writeln!(io::stderr(), "{text}").unwrap_or_default();
}

/// Whether people read what `note` prints, in color.
pub fn is_watched() -> bool {
    io::stderr().is_terminal()
}

/// `1 file`, `2 files`
pub fn counted(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}
