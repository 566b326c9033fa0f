//! Options under their former names: an error that names one says its name of today.
//!
//! In: an error of the parser of the command line, such as for `loom run a.loom --externs a.c`.
//! Out: the same error, with the hint `use '--c'` where the command has that option.

use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, Error};
use std::ffi::OsString;

/// Former names of options, and their names of today.
const RENAMED: [(&str, &str); 2] = [("--externs", "c"), ("--with", "c")];

/// Adds the hint, if the error is about a renamed option of the command that the words name.
pub fn renamed(mut error: Error, parser: &Command, words: impl Iterator<Item = OsString>) -> Error {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let found = RENAMED.iter().find(|(former, _)| former == option);
    let Some((former, today)) = found else {
        return error;
    };
    let mut command = parser;
    for word in words.skip(1) {
        command = command.find_subcommand(&word).unwrap_or(command);
    }
    let mut options = command.get_arguments();
    if options.any(|option| option.get_long() == Some(today)) {
        let hint = StyledStr::from(format!("`{former}` was renamed: use `--{today}`"));
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint]));
    }
    error
}
