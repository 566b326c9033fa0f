//! `loom profile`: how often a stack takes which ways, found by running it.
//!
//! In: a stack, and a program in C that drives it. Out: what the program says, and the profile of
//! that run, which `loom build --profile` reads.

use super::c_compiler;
use super::compiler::{self, Options};
use super::failure::{Failure, about, plain};
use super::terminal::note;
use crate::profile::Recorded;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What `loom profile` is told.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  loom profile record bench/tcp.loom:offloaded --name tcp_stack --with bench/tcp.c -- count
  loom build bench/tcp.loom:offloaded --profile tcp_stack.profile")]
pub struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand, Debug)]
enum Verb {
    /// Runs a program with a stack that counts which ways it takes
    Record(Record),
}

/// What `loom profile record` is told.
#[derive(clap::Args, Debug)]
struct Record {
    /// The file with the stack
    stack: PathBuf,
    /// Files of C: the program that drives the stack, and functions that the stack calls
    #[arg(long = "with", value_name = "FILE", required = true)]
    sources: Vec<PathBuf>,
    /// The name of the stack's C, if not that of the stack
    #[arg(long)]
    name: Option<String>,
    /// Where the profile goes [default: NAME.profile]
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    output: Option<PathBuf>,
    /// Where `use` looks before the library inside the binary
    #[arg(long = "path", value_name = "FOLDER")]
    search: Vec<PathBuf>,
    /// What the program is given
    #[arg(last = true, value_name = "ARGUMENT")]
    given: Vec<String>,
}

/// The command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.verb {
        Verb::Record(record) => record.run(),
    }
}

impl Record {
    fn run(&self) -> Result<(), Failure> {
        let options = Options {
            name: self.name.clone(),
            search: self.search.clone(),
            records: true,
            ..Options::default()
        };
        let compiled = compiler::compile(&self.stack, &options)?;
        let name = &compiled.description.name;
        let own = PathBuf::from(format!("{name}.profile"));
        let output = self.output.as_ref().unwrap_or(&own);
        let folder = tempfile::tempdir()?;
        let source = folder.path().join(format!("{name}.c"));
        std::fs::write(&source, &compiled.source).map_err(about(&source))?;
        let header = source.with_extension("h");
        std::fs::write(&header, &compiled.header).map_err(about(&header))?;
        let program = folder.path().join("program");
        let theirs = self.sources.iter();
        let theirs = theirs.map(|path| path.canonicalize().map_err(about(path)));
        let theirs: Vec<PathBuf> = theirs.collect::<Result<_, _>>()?;
        let sources = std::iter::once(source.as_path()).chain(theirs.iter().map(PathBuf::as_path));
        let sources: Vec<&Path> = sources.collect();
        c_compiler::executable(folder.path(), &sources, &program, &["-O1"])?;
        self.play(&program, output)?;
        let recorded = read(output)?;
        let (taken, all) = recorded.extent();
        let output = output.display();
        note(format_args!(
            "wrote {output}: {taken} of {all} ways were taken"
        ));
        Ok(())
    }

    /// Runs the program; when it ends, it writes the profile.
    fn play(&self, program: &Path, output: &Path) -> Result<(), Failure> {
        // What an earlier run wrote is no answer of this one.
        if output.exists() {
            std::fs::remove_file(output).map_err(about(output))?;
        }
        let mut command = Command::new(program);
        command.args(&self.given);
        command.env("LOOM_PROFILE", std::path::absolute(output)?);
        let status = command.status();
        let status = status.map_err(|error| {
            Failure::environment(format!("the program cannot be run: {}", plain(&error)))
        })?;
        match (status.success(), output.exists()) {
            (true, true) => Ok(()),
            (true, false) => Err(Failure::refused("the program has written no profile")),
            (false, _) => Err(Failure::refused(format!("the program failed: {status}"))),
        }
    }
}

/// A profile from a file.
pub fn read(path: &Path) -> Result<Recorded, Failure> {
    let bytes = std::fs::read(path).map_err(about(path))?;
    let text = String::from_utf8_lossy(&bytes);
    let read = Recorded::read(&text);
    // Where it lies is no business of who reads the C.
    let name = path.file_name().unwrap_or(path.as_os_str());
    let read = read.map(|recorded| recorded.named(&name.to_string_lossy()));
    read.map_err(|why| Failure::refused(format!("{}: {why}", path.display())))
}
