//! The commands of whoever writes layers: fmt, check, build, explain.
//!
//! In: paths from the command line. Out: files, and a few lines about them.

use super::compiler::{self, Options};
use super::failure::{Failure, about};
use super::library;
use super::switches::Switches;
use super::terminal::style::{self, MessageFormat};
use super::terminal::{counted, note, result};
use super::{estelle, esterel};
use crate::c::line::located;
use crate::types::estelle::Settings;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Compiles a stack or an Esterel program to C
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    loom build examples/host/host.loom -o build --report json\n  \
    loom build abro.strl -o build\n  \
    loom build examples/estelle/abracadabra.stl --set losses=3 -o build")]
pub struct Build {
    /// File with the stack (FILE:STACK if it declares several), Esterel (.strl) or Estelle (.stl)
    stack: PathBuf,
    /// Folder for NAME.c and NAME.h
    #[arg(
        short = 'o',
        long = "output",
        value_name = "FOLDER",
        default_value = "build"
    )]
    folder: PathBuf,
    /// Name of the generated C [default: the name of the stack, module or specification]
    #[arg(long)]
    name: Option<String>,
    /// Prints the number of control states and nodes, and the bytes of the C and of a session
    #[arg(long, value_enum)]
    report: Option<ReportForm>,
    /// Folder that `use` searches before the standard library; repeatable
    #[arg(long = "path", value_name = "FOLDER")]
    search: Vec<PathBuf>,
    /// Esterel only: module to compile [default: the module that no other module runs]
    #[arg(long, value_name = "MODULE")]
    main: Option<String>,
    /// Size limit of an automaton, in nodes [default: 250000]
    #[arg(long, value_name = "NODES")]
    budget: Option<usize>,
    /// Format of the diagnostics; `loom check --help` describes the JSON
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "human")]
    message_format: MessageFormat,
    #[command(flatten)]
    switches: Switches,
    /// Counts how often each path is taken; the program writes NAME.profile at exit
    #[arg(long, conflicts_with_all = ["without", "only", "profile", "fast_paths", "text_limit"])]
    record: bool,
    /// Estelle only: value of a constant that is declared with `any`; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Estelle only: interactions that a queue holds [default: 64]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    queue: Option<u32>,
    /// Estelle only: instances of a body, if not one for each module variable; repeatable
    #[arg(long, value_name = "BODY=COUNT")]
    instances: Vec<String>,
    /// Estelle only: who chooses where a specification leaves a choice [default: first]
    #[arg(long, value_enum)]
    choice: Option<estelle::Decider>,
    /// Writes `#line`, so that debuggers and profilers show functions as lines of the layers
    #[arg(long)]
    line: bool,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum ReportForm {
    /// One line of JSON
    Json,
}

/// The choices of `loom build` for its report and its C.
#[derive(Clone, Copy)]
struct How {
    /// A report in JSON.
    json: bool,
    /// `#line` directives.
    line: bool,
}

impl Build {
    /// `loom build`: writes `NAME.c` and `NAME.h`.
    pub fn run(self) -> Result<(), Failure> {
        style::set_messages(self.message_format);
        let how = How {
            json: self.report.is_some(),
            line: self.line,
        };
        if library::is_estelle(&self.stack) {
            return self.specification();
        }
        for (is_given, option) in [
            (!self.set.is_empty(), "--set"),
            (self.queue.is_some(), "--queue"),
            (!self.instances.is_empty(), "--instances"),
            (self.choice.is_some(), "--choice"),
        ] {
            if is_given {
                let says = format!("{option} applies to Estelle specifications only");
                return Err(Failure::environment(says));
            }
        }
        if !esterel::is_esterel(&self.stack) {
            let options = Options {
                name: self.name,
                budget: self.budget,
                records: self.record,
                ..self.switches.options(self.search)?
            };
            return build(&self.stack, &self.folder, how, &options);
        }
        self.switches.of_stacks()?;
        for (is_given, option) in [(self.record, "--record"), (self.line, "--line")] {
            if is_given {
                let says = format!("{option} applies to stacks only");
                return Err(Failure::environment(says));
            }
        }
        let choice = esterel::Choice {
            main: self.main.as_deref(),
            budget: self.budget,
        };
        let said = (self.name.as_deref(), self.report.is_some());
        esterel::build(&self.stack, &self.folder, said, choice)
    }

    /// Writes the C of an Estelle specification.
    fn specification(self) -> Result<(), Failure> {
        self.switches.of_stacks()?;
        for (is_given, option) in [
            (self.record, "--record"),
            (self.line, "--line"),
            (self.report.is_some(), "--report"),
            (self.main.is_some(), "--main"),
            (self.budget.is_some(), "--budget"),
            (!self.search.is_empty(), "--path"),
        ] {
            if is_given {
                let says = format!("{option} does not apply to Estelle specifications");
                return Err(Failure::environment(says));
            }
        }
        let settings = estelle::settings(&self.set, false)?;
        let bounds = estelle::bounds(self.queue, &self.instances, self.choice)?;
        let name = self.name.as_deref();
        estelle::build(&self.stack, &self.folder, name, (&settings, &bounds))
    }
}

/// `loom fmt`: every file in its canonical form, in place; or stdin, to stdout.
pub fn fmt(paths: &[PathBuf], check: bool) -> Result<(), Failure> {
    match paths {
        [only] if library::is_stdin(only) => return format_stdin(check),
        several if several.iter().any(|path| library::is_stdin(path)) => {
            let says =
                "`-` cannot be combined with files: stdin is formatted to stdout, files in place";
            return Err(Failure::environment(says));
        }
        _ => {}
    }
    let mut files = Vec::new();
    for path in paths {
        collect(path, &["loom", "stl", "estelle"], &mut files)?;
    }
    let verb = if check { "would change" } else { "changed" };
    let (mut read, mut different) = (0, 0);
    let mut worst = Ok(());
    for file in &files {
        match format_one(file, check) {
            Ok(changed) => {
                read += 1;
                if changed {
                    different += 1;
                    result(format_args!("{verb} {}\n", file.display()))?;
                }
            }
            Err(failure) => worst = worse(worst, failure),
        }
    }
    note(format_args!(
        "{} read, {different} {verb}",
        counted(read, "file")
    ));
    match check && different > 0 {
        true => worst.and(Err(Failure::refused(""))),
        false => worst,
    }
}

/// Prints stdin in its canonical form; or only checks that it has this form.
fn format_stdin(check: bool) -> Result<(), Failure> {
    let (name, text) = library::stdin()?;
    let formatted = compiler::format(Path::new(&name), &text)?;
    match check {
        false => result(formatted),
        true if formatted == text => Ok(()),
        true => Err(Failure::refused(format!("would change {name}"))),
    }
}

/// Whether a file is not in its canonical form; it is now, unless it is only checked.
fn format_one(file: &Path, check: bool) -> Result<bool, Failure> {
    if library::is_estelle(file) {
        return estelle::format(file, check);
    }
    let text = library::text_of(file)?;
    let formatted = compiler::format(file, &text)?;
    let different = formatted != text;
    if different && !check {
        std::fs::write(file, formatted).map_err(about(file))?;
    }
    Ok(different)
}

/// Prints a failure, so that others can follow; the graver one is the command's.
fn worse(earlier: Result<(), Failure>, failure: Failure) -> Result<(), Failure> {
    failure.report();
    let status = match earlier {
        Err(earlier) if earlier.status > failure.status => earlier.status,
        Ok(()) | Err(_) => failure.status,
    };
    Err(Failure {
        status,
        message: String::new(),
    })
}

/// The files that a path stands for: itself, or all below it with one of these endings, in the
/// order of their names.
pub fn collect(path: &Path, endings: &[&str], files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    if !path.is_dir() {
        files.push(path.to_path_buf());
        return Ok(());
    }
    let entries = std::fs::read_dir(path).map_err(about(path))?;
    let entries: Result<Vec<_>, _> = entries.collect();
    let mut inside: Vec<PathBuf> = entries
        .map_err(about(path))?
        .into_iter()
        .map(|entry| entry.path())
        .collect();
    inside.sort();
    // A link to a folder may lead round in a circle.
    let is_folder = |entry: &PathBuf| entry.is_dir() && !entry.is_symlink();
    let ends_so = |entry: &PathBuf| {
        let ending = entry.extension();
        ending.is_some_and(|ending| endings.iter().any(|one| ending == *one))
    };
    inside.retain(|entry| is_folder(entry) || ends_so(entry) && entry.is_file());
    let mut inside = inside.iter();
    inside.try_for_each(|entry| collect(entry, endings, files))
}

/// `loom check`: all files, so that one run tells all that is wrong.
pub fn check(files: &[PathBuf], options: &Options, settings: &Settings) -> Result<(), Failure> {
    if files.iter().filter(|file| library::is_stdin(file)).count() > 1 {
        return Err(Failure::environment(
            "`-` is given twice, but stdin can be read only once",
        ));
    }
    let is_set = !settings.constants.is_empty() || settings.externs;
    if is_set && !files.iter().any(|file| library::is_estelle(file)) {
        let says = "--set and --externs apply only to Estelle specifications";
        return Err(Failure::environment(says));
    }
    let mut worst = Ok(());
    for file in files {
        let name = library::display_name(file);
        let checked = match library::is_estelle(file) {
            true => estelle::check(file, settings),
            false => compiler::check(file, options),
        };
        match checked {
            Ok(found) if style::is_json() => note(format_args!("{name}: {found}")),
            Ok(found) => result(format_args!("{name}: {found}\n"))?,
            Err(failure) => worst = worse(worst, failure),
        }
    }
    worst
}

fn build(stack: &Path, folder: &Path, how: How, options: &Options) -> Result<(), Failure> {
    let mut compiled = compiler::compile(stack, options)?;
    std::fs::create_dir_all(folder).map_err(about(folder))?;
    let name = &compiled.description.name;
    if how.line {
        compiled.source = located(&compiled.source, &format!("{name}.c"));
    }
    let files = [
        (format!("{name}.c"), &compiled.source),
        (format!("{name}.h"), &compiled.header),
    ];
    let mut said = String::new();
    for (file, text) in files {
        let path = folder.join(file);
        std::fs::write(&path, text).map_err(about(&path))?;
        writeln!(said, "wrote {}, {} bytes", path.display(), text.len())
            .expect("a string takes every line");
    }
    if options.specialised {
        let cut = counted(compiled.cut, "path");
        let buffers = match compiled.elsewhere {
            true => "; also removed buffers for frames, which no path needs",
            false => "",
        };
        writeln!(said, "removed {cut} that the profile never took{buffers}")
            .expect("a string takes every line");
    }
    if style::is_json() && !how.json {
        note(said.trim_end());
        return Ok(());
    }
    if how.json {
        note(said.trim_end());
        let report = serde_json::to_string(&compiled.report);
        let report = report.expect("numbers and names can be written as JSON");
        result(format_args!("{report}\n"))
    } else {
        result(said)
    }
}

/// `loom explain`: what a diagnostic means, or which there are.
pub fn explain(id: Option<&str>) -> Result<(), Failure> {
    match id {
        Some(id) => result(format_args!("{}\n", compiler::explain(id)?)),
        None => result(format_args!("{}\n", compiler::diagnostics().join("\n"))),
    }
}
