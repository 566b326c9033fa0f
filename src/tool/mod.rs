//! The `loom` command and all that touches the machine: files, devices, sockets, clock, C compiler.
//!
//! In: a command line. Out: results on stdout, everything else on stderr, and an exit status: 0 it
//! holds, 1 refused or failed, 2 command line or environment, 3 undecided.
//!
//! ```text
//! commands    project (new)    authoring (fmt check build explain)    test (case)
//!             profile    run    simulate    demo    bench (counting)
//! compiling   compiler -> c_compiler (companion) -> stack, described by layout, filled as written
//! running     host: stack + device (capture, recorded) + applications (lines)
//! the demo    namespace (netlink) + peer, or a simulated neighbour; then demo/web
//! speaking    terminal, progress, page, failure, manual
//! ```

pub mod authoring;
pub mod bench;
pub mod c_compiler;
pub mod capture;
pub mod case;
pub mod checksum;
pub mod companion;
pub mod compiler;
pub mod counting;
pub mod demo;
pub mod device;
pub mod esterel;
pub mod explain;
pub mod failure;
pub mod host;
pub mod layout;
pub mod library;
pub mod lines;
pub mod manual;
pub mod namespace;
pub mod neighbour;
pub mod netlink;
pub mod page;
pub mod peer;
pub mod profile;
pub mod progress;
pub mod project;
pub mod recorded;
pub mod run;
pub mod simulate;
pub mod stack;
pub mod switches;
pub mod terminal;
pub mod test;
pub mod traced;
pub mod tunnel;
pub mod view;
pub mod virtio;
pub mod written;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use compiler::Options;
use failure::Failure;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use switches::Switches;
use terminal::style::{self, Color, MessageFormat};

/// Stackloom: protocol layers, woven into portable C.
#[derive(Parser, Debug)]
#[command(name = "loom", version, about)]
struct Command {
    #[command(subcommand)]
    verb: Verb,
    /// Colors
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value = "auto"
    )]
    color: Color,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// Makes a project to begin with
    #[command(after_help = "Example:\n  loom new beep        a stack of two layers, in beep/")]
    New {
        /// The name of the stack, and of the folder
        name: String,
    },
    /// Brings files into the canonical form
    #[command(after_help = "Examples:\n  loom fmt layers examples --check\n  \
                            loom fmt - < beep.loom       prints it, formatted")]
    Fmt {
        /// Files, or folders with all that is in them; `-` alone formats stdin to stdout
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// Changes nothing, and fails where something would change
        #[arg(long)]
        check: bool,
    },
    /// Says what is wrong with a layer or a stack
    #[command(after_help = CHECK)]
    Check {
        /// Files with layers or stacks; `-` is stdin, a file of the current folder
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// How diagnostics are printed
        #[arg(long, value_enum, value_name = "FORMAT", default_value = "human")]
        message_format: MessageFormat,
        /// Where `use` looks before the library inside the binary
        #[arg(long = "path", value_name = "FOLDER")]
        search: Vec<PathBuf>,
        /// How many nodes an automaton may have [default: 250000]
        #[arg(long, value_name = "NODES")]
        budget: Option<usize>,
    },
    Build(authoring::Build),
    /// Finds how often a stack takes which ways
    Profile(profile::Arguments),
    /// Runs a stack on a TAP, a TUN, an interface, a UDP socket or a capture
    Run(run::Arguments),
    View(view::Arguments),
    Test(test::Arguments),
    /// Says what a diagnostic means and what to do, or what a stack mostly does
    #[command(after_help = "Examples:\n  loom explain message-leaked\n  \
                            loom explain examples/host/host.loom --all")]
    Explain {
        /// A diagnostic's id, as it stands in brackets, or a stack; without, all ids are listed
        #[arg(value_name = "ID | STACK")]
        what: Option<String>,
        /// Where `use` looks before the library inside the binary
        #[arg(long = "path", value_name = "FOLDER")]
        search: Vec<PathBuf>,
        /// Says it of each joint, branch and state of the stack, one by one
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        switches: Switches,
    },
    /// Counts instructions, beside those of others
    Bench(bench::Arguments),
    /// Runs stacks on links with loss, delay and other faults, in virtual time
    Simulate(Box<simulate::Arguments>),
    /// Lets the Linux kernel talk to a compiled stack in a private network
    Demo(demo::Arguments),
    /// Prints a script with which a shell completes command lines
    #[command(after_help = COMPLETIONS)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Writes manual pages of all commands
    #[command(after_help = "Example:\n  loom man ~/.local/share/man/man1 && man loom-simulate")]
    Man {
        /// The folder for them; it is made if it is not there
        folder: PathBuf,
    },
}

const COMPLETIONS: &str = "\
Examples:
  loom completions bash > ~/.local/share/bash-completion/completions/loom
  loom completions zsh > \"${fpath[1]}/_loom\"
  loom completions fish > ~/.config/fish/completions/loom.fish";

const CHECK: &str = "\
Examples:
  loom check examples/host/host.loom
  loom check - --message-format json < beep.loom

As JSON, a diagnostic is a line: an object with id, severity, title, labels, why and help. A label
has primary, file, line, column, end_line, end_column, start, end and text. Lines and columns count
from 1, start and end are bytes from 0; each end is one past the last.";

/// The command line, from its arguments to its exit status.
pub fn main() -> ExitCode {
    let color = style::of_parser(std::env::args_os().filter_map(|it| it.into_string().ok()));
    let matches = Command::command().color(color).get_matches();
    let command = Command::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    style::set_color(command.color);
    match perform(command.verb) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn perform(verb: Verb) -> Result<(), Failure> {
    match verb {
        Verb::New { name } => project::new(&name),
        Verb::Fmt { paths, check } => authoring::fmt(&paths, check),
        Verb::Check {
            files,
            message_format,
            search,
            budget,
        } => {
            style::set_messages(message_format);
            let options = Options {
                search,
                budget,
                ..Options::default()
            };
            authoring::check(&files, &options)
        }
        Verb::Build(arguments) => arguments.run(),
        Verb::Run(arguments) => run::run(&arguments),
        Verb::Profile(arguments) => profile::run(&arguments),
        Verb::View(arguments) => view::run(&arguments),
        Verb::Test(arguments) => test::test(&arguments),
        Verb::Simulate(arguments) => simulate::run(&arguments),
        Verb::Explain {
            what: Some(stack),
            search,
            all,
            switches,
        } if explain::is_stack(&stack) => {
            explain::explain(Path::new(&stack), &switches.options(search)?, all)
        }
        Verb::Explain { what, .. } => authoring::explain(what.as_deref()),
        Verb::Bench(arguments) => bench::run(&arguments),
        Verb::Demo(arguments) => demo::run(&arguments),
        Verb::Completions { shell } => manual::completions(Command::command(), shell),
        Verb::Man { folder } => manual::pages(Command::command(), &folder),
    }
}

#[cfg(test)]
mod tests {
    use super::Command;
    use clap::CommandFactory;

    #[test]
    fn every_command_shows_an_example() {
        Command::command().debug_assert();
        for verb in Command::command().get_subcommands() {
            let help = verb
                .get_after_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            assert!(
                help.contains(&format!("loom {}", verb.get_name())),
                "{}",
                verb.get_name()
            );
        }
    }
}
