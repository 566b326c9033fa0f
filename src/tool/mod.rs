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
pub mod estelle;
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
pub mod prove;
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

/// Stackloom: compiles the layers of a protocol stack to portable C.
#[derive(Parser, Debug)]
#[command(name = "loom", version, about)]
struct Command {
    #[command(subcommand)]
    verb: Verb,
    /// Colors: auto (respects NO_COLOR), always, never
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        hide_possible_values = true,
        default_value = "auto"
    )]
    color: Color,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// Creates a project: a stack, its layers, test cases and a host in C
    #[command(
        after_help = "Example:\n  loom new beep        creates beep/, with a stack of two layers"
    )]
    New {
        /// Name of the stack and of the folder that is created
        name: String,
    },
    /// Formats Loom files and Estelle specifications in place
    #[command(
        after_help = "Examples:\n  loom fmt layers examples --check\n  loom fmt inres.stl\n  \
                      loom fmt - < beep.loom      prints the formatted file"
    )]
    Fmt {
        /// Files, or folders of .loom, .stl and .estelle files; `-` formats Loom from stdin
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// Changes no file; lists unformatted files, and fails if there are any
        #[arg(long)]
        check: bool,
    },
    /// Checks layers, stacks, Esterel programs and Estelle specifications, and prints diagnostics
    #[command(after_help = CHECK)]
    Check {
        /// Files of Loom, Esterel (.strl) or Estelle (.stl, .estelle); `-` reads Loom from stdin
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Format of the diagnostics
        #[arg(long, value_enum, value_name = "FORMAT", default_value = "human")]
        message_format: MessageFormat,
        /// Folder that `use` searches before the standard library; repeatable
        #[arg(long = "path", value_name = "FOLDER")]
        search: Vec<PathBuf>,
        /// Size limit of an automaton, in nodes [default: 250000]
        #[arg(long, value_name = "NODES")]
        budget: Option<usize>,
        /// Estelle only: value of a constant `NAME = any TYPE`; repeatable
        #[arg(long = "set", value_name = "NAME=VALUE")]
        set: Vec<String>,
        /// Estelle only: accepts types that C code defines (`type T = ..`)
        #[arg(long)]
        externs: bool,
    },
    Build(authoring::Build),
    Prove(prove::Arguments),
    /// Measures how often a stack takes each path
    Profile(profile::Arguments),
    /// Runs a stack on a TAP or TUN device, an interface, a UDP socket or a capture
    Run(run::Arguments),
    View(view::Arguments),
    Test(test::Arguments),
    /// Explains a diagnostic, or the slots and the fast path of a stack and its rewrites
    #[command(after_help = "Examples:\n  loom explain message-leaked\n  \
                            loom explain examples/host/host.loom --all\n  \
                            loom explain examples/ping/ping.loom --paths\n  \
                            loom explain examples/ping/ping.loom --after lower")]
    Explain {
        /// Diagnostic id, as printed in brackets, or file of a stack [default: list all ids]
        #[arg(value_name = "ID | STACK")]
        what: Option<String>,
        /// Folder that `use` searches before the standard library; repeatable
        #[arg(long = "path", value_name = "FOLDER")]
        search: Vec<PathBuf>,
        /// Lists every joint, branch and control state of the stack
        #[arg(long)]
        all: bool,
        /// Prints the stack IR behind `lower` or a pass; an unknown name lists all
        #[arg(long, value_name = "PASS", conflicts_with = "all")]
        after: Option<String>,
        /// Prints the conditions, share and size of each path of fast functions
        #[arg(long, conflicts_with_all = ["all", "after"])]
        paths: bool,
        #[command(flatten)]
        switches: Switches,
    },
    /// Counts instructions of Stackloom and of other implementations
    Bench(bench::Arguments),
    /// Simulates stacks in virtual time, on links with loss, delay and other faults
    Simulate(Box<simulate::Arguments>),
    /// Connects a compiled stack to the Linux kernel in a private network
    Demo(demo::Arguments),
    /// Prints a script that completes `loom` command lines in a shell
    #[command(after_help = COMPLETIONS)]
    Completions {
        /// Shell that runs the script
        shell: clap_complete::Shell,
    },
    /// Writes a manual page for each command
    #[command(after_help = "Example:\n  loom man ~/.local/share/man/man1 && man loom-simulate")]
    Man {
        /// Folder for the pages; created if it does not exist
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
  loom check examples/estelle/abracadabra.stl --set losses=3
  loom check - --message-format json < beep.loom

With --message-format json, each diagnostic is one line: an object with id, severity, title, labels,
why and help. A label has primary, file, line, column, end_line, end_column, start, end and text.
Lines and columns count from 1, start and end are byte offsets from 0; an end is exclusive.";

/// The command line, from its arguments to its exit status.
pub fn main() -> ExitCode {
    let color = style::of_parser(std::env::args_os().filter_map(|it| it.into_string().ok()));
    let words = || std::env::args_os();
    let mut parser = Command::command().color(color);
    let matches = parser.try_get_matches_from_mut(words());
    let matches =
        matches.unwrap_or_else(|error| manual::hint::renamed(error, &parser, words()).exit());
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
            set,
            externs,
        } => {
            style::set_messages(message_format);
            let options = Options {
                search,
                budget,
                ..Options::default()
            };
            authoring::check(&files, &options, &estelle::settings(&set, externs)?)
        }
        Verb::Build(arguments) => arguments.run(),
        Verb::Run(arguments) => run::run(&arguments),
        Verb::Prove(arguments) => prove::run(&arguments),
        Verb::Profile(arguments) => profile::run(&arguments),
        Verb::View(arguments) => view::run(&arguments),
        Verb::Test(arguments) => test::test(&arguments),
        Verb::Simulate(arguments) => simulate::run(&arguments),
        Verb::Explain {
            what: Some(stack),
            search,
            all,
            after,
            paths,
            switches,
        } if explain::is_stack(&stack) => {
            let path = Path::new(&stack);
            match after {
                None if paths => explain::paths::paths(path, &switches.options(search)?),
                Some(pass) => {
                    let options = switches.options(search)?;
                    explain::passes::after(&pass, path, &options)
                }
                None => explain::explain(path, &switches.options(search)?, all),
            }
        }
        Verb::Explain { after: Some(_), .. } => {
            let message = "`--after` needs a stack: `loom explain STACK --after lower`";
            Err(Failure::refused(message))
        }
        Verb::Explain { paths: true, .. } => {
            let message = "`--paths` needs a stack: `loom explain STACK --paths`";
            Err(Failure::refused(message))
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
