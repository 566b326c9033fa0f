//! `loom profile`: how often a stack takes which ways, found by running it.
//!
//! In: a stack, and what drives it: a program in C, or captures of what comes to its links. Out:
//! what the run says, and its profile, which `loom build --profile` reads.

use super::c_compiler;
use super::compiler::{self, Options};
use super::device::Address;
use super::failure::{Failure, about, plain};
use super::run::{self, Around};
use super::stack::Program;
use super::terminal::note;
use crate::profile::Recorded;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What `loom profile` is told.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand, Debug)]
enum Verb {
    /// Runs a stack that counts each path it takes, and writes its profile
    Record(Record),
}

const EXAMPLES: &str = "\
Examples:
  Record a program in C that drives the stack:
    loom profile record bench/tcp.loom:offloaded --name tcp_stack --c bench/tcp.c -- count
    loom build bench/tcp.loom:offloaded --profile tcp_stack.profile

  Record a capture, whose frames arrive at their recorded times:
    loom profile record examples/host/host.loom --link tap=pcap:in.pcap \\
        --set address=10.0.0.2 --set prefix=24 --set mac=02:00:00:00:00:02 \\
        --app 'datagrams(port=7)=echo'

  The variable CC names the C compiler and its options, as in CC='gcc -DCALLS'.
  `loom run --help` describes the values of --link, --set and --app.";

/// What `loom profile record` is told.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
struct Record {
    /// File with the stack; FILE:STACK if the file declares several
    stack: PathBuf,
    /// C file of the driving program, or of `extern` functions; repeatable
    #[arg(long = "c", value_name = "FILE", required_unless_present = "links")]
    sources: Vec<PathBuf>,
    /// What is around it, if captures drive it
    #[command(flatten)]
    around: Around,
    /// Name of the generated C [default: the name of the stack]
    #[arg(long)]
    name: Option<String>,
    /// File for the profile [default: NAME.profile]
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    output: Option<PathBuf>,
    /// Folder that `use` searches before the standard library; repeatable
    #[arg(long = "path", value_name = "FOLDER")]
    search: Vec<PathBuf>,
    /// Arguments of the program in C
    #[arg(last = true, value_name = "ARGUMENT", conflicts_with = "links")]
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
        let output = match self.around.links.is_empty() {
            true => self.of_program(&options)?,
            false => self.of_captures(&options)?,
        };
        let recorded = read(&output)?;
        let (taken, all) = recorded.extent();
        let output = output.display();
        note(format_args!(
            "wrote {output}: {taken} of {all} paths were taken"
        ));
        Ok(())
    }

    /// Where the profile goes; what an earlier run wrote there is no answer of this one.
    fn output(&self, name: &str) -> Result<PathBuf, Failure> {
        let own = PathBuf::from(format!("{name}.profile"));
        let output = self.output.clone().unwrap_or(own);
        if output.exists() {
            std::fs::remove_file(&output).map_err(about(&output))?;
        }
        Ok(output)
    }

    /// Compiles the program with the stack, and runs it.
    fn of_program(&self, options: &Options) -> Result<PathBuf, Failure> {
        if !self.around.settings.is_empty() || !self.around.applications.is_empty() {
            let message =
                "--set and --app need --link: a program in C sets its configuration itself";
            return Err(Failure::environment(message));
        }
        let compiled = compiler::compile(&self.stack, options)?;
        let name = &compiled.description.name;
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
        let output = self.output(name)?;
        self.play(&program, &output)?;
        Ok(output)
    }

    /// Feeds captures to the stack, and what is said to sit at its ports.
    fn of_captures(&self, options: &Options) -> Result<PathBuf, Failure> {
        let mut links = self.around.links.iter();
        if let Some(live) = links.find(|link| !matches!(link.address, Address::Capture(..))) {
            return Err(Failure::environment(format!(
                "link `{}`: a profile is recorded from a capture (pcap:FILE) or from a program \
                (--c FILE)",
                live.name
            )));
        }
        let folder = tempfile::tempdir()?;
        let recorded = folder.path().join("profile");
        Program::records_to(&recorded);
        let arguments = run::Arguments {
            stack: self.stack.clone(),
            around: self.around.clone(),
            functions: self.sources.clone(),
            records: Vec::new(),
            virtual_time: true,
            after: None,
            json: false,
            search: self.search.clone(),
        };
        let (name, report) = run::drive(&arguments, options)?;
        let dropped: u64 = report.dropped.values().sum();
        if report.frames_in == dropped {
            let what = if dropped == 0 {
                "no frame came in"
            } else {
                "every frame was dropped"
            };
            return Err(Failure::refused(format!("{what}: no profile is written")));
        }
        let output = self.output(&name)?;
        std::fs::copy(&recorded, &output).map_err(about(&output))?;
        Ok(output)
    }

    /// Runs the program; when it ends, it writes the profile.
    fn play(&self, program: &Path, output: &Path) -> Result<(), Failure> {
        let mut command = Command::new(program);
        command.args(&self.given);
        command.env("LOOM_PROFILE", std::path::absolute(output)?);
        let status = command.status();
        let status = status.map_err(|error| {
            Failure::environment(format!("cannot run the program: {}", plain(&error)))
        })?;
        match (status.success(), output.exists()) {
            (true, true) => Ok(()),
            (true, false) => Err(Failure::refused("the program wrote no profile")),
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
