//! Why a command did not succeed, and the exit status that says so.
//!
//! In: an error of any part of `tool`. Out: one sentence for people on stderr, and a number for
//! scripts: 0 holds, 1 refused or failed, 2 command line or environment, 3 undecided.

use super::terminal;
use std::process::ExitCode;

/// The exit statuses that stand for something else than success.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// A program was refused, two things differ, or a run failed.
    Refused = 1,
    /// The command line is wrong, or the machine lacks what the command needs.
    Environment = 2,
    /// Neither yes nor no: a limit was reached before there was an answer.
    Undecided = 3,
}

/// The end of a command that did not succeed.
#[derive(Debug)]
pub struct Failure {
    /// What the exit status says.
    pub status: Status,
    /// One sentence for people; empty where diagnostics were already printed.
    pub message: String,
}

impl Failure {
    /// A program was refused, or a run failed.
    pub fn refused(message: impl Into<String>) -> Failure {
        Failure {
            status: Status::Refused,
            message: message.into(),
        }
    }

    /// The command line is wrong, or the machine lacks something.
    pub fn environment(message: impl Into<String>) -> Failure {
        Failure {
            status: Status::Environment,
            message: message.into(),
        }
    }

    /// Prints the sentence and answers what the process is to end with.
    pub fn report(&self) -> ExitCode {
        if !self.message.is_empty() {
            terminal::note(format_args!("loom: {}", self.message));
        }
        ExitCode::from(self.status as u8)
    }
}

/// Says of a file what went wrong with it, as `map_err(about(path))`.
pub fn about<E: std::fmt::Display>(path: &std::path::Path) -> impl Fn(E) -> Failure {
    let path = path.display().to_string();
    move |error| Failure::environment(format!("{path}: {}", plain(&error)))
}

/// An error without the number that the operating system gives it.
pub fn plain(error: &impl std::fmt::Display) -> String {
    let text = error.to_string();
    let cut = text.split_once(" (os error ");
    let cut = cut.and_then(|(reason, rest)| Some((reason, rest.split_once(')')?.1)));
    match cut {
        Some((reason, rest)) => format!("{reason}{rest}"),
        None => text,
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure::environment(plain(&error))
    }
}
