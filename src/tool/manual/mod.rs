//! `loom completions` and `loom man`: the command line, told to shells and to readers of manuals.
//!
//! In: the definition of the command line. Out: a script for a shell, or a page for `loom` and for
//! each of its commands. `hint` adds today's name to an error about a renamed option.

pub mod hint;

use super::failure::{Failure, about};
use super::terminal::result;
use clap::Command;
use clap_complete::{Shell, generate};
use clap_mangen::generate_to;
use std::path::Path;

/// Prints the script that lets a shell complete command lines.
pub fn completions(mut command: Command, shell: Shell) -> Result<(), Failure> {
    let name = command.get_name().to_string();
    let mut script = Vec::new();
    generate(shell, &mut command, name, &mut script);
    result(String::from_utf8_lossy(&script))
}

/// Writes `loom.1`, `loom-build.1` and the other pages into a folder.
pub fn pages(command: Command, folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(about(folder))?;
    generate_to(command, folder).map_err(about(folder))?;
    result(format_args!(
        "wrote {}/loom.1 and a page for each command\n",
        folder.display()
    ))
}
