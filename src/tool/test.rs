//! `loom test`: whether the cases of a project hold.
//!
//! In: folders with cases, or cases. Out: the first line of each case that is otherwise than what
//! comes out, or with `--bless` what comes out, written into the case. What is played is played to
//! the reference interpreter and to the trees, plain and woven, and all must do the same; a stack
//! with functions in C, which no interpreter can call, to its compiled C.

use super::authoring::collect;
use super::c_compiler;
use super::case::format::Case;
use super::case::play::{Played, play};
use super::case::run::Run;
use super::case::script::Line;
use super::case::{Cases, InC, Playing, Surroundings, difference};
use super::compiler::description;
use super::failure::{Failure, about};
use super::library::{self, Folders};
use super::stack;
use super::terminal::{note, result};
use super::traced::Traced;
use crate::simulate::externs::Externs;
use crate::types::load::Library;
use crate::types::program::Program;
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// Runs the test cases of a project.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Case files, or folders that are searched for .case files
    #[arg(default_value = ".")]
    pub paths: Vec<PathBuf>,
    /// Writes the actual output into the cases; review the changes
    #[arg(long)]
    pub bless: bool,
    /// C file with functions that a stack declares `extern`; repeatable
    #[arg(long = "c", value_name = "FILE")]
    pub functions: Vec<PathBuf>,
    /// Folder that `use` searches before the standard library; repeatable
    #[arg(long = "path", value_name = "FOLDER")]
    pub search: Vec<PathBuf>,
}

const EXAMPLES: &str = "\
A case states a fact about a stack, in a file NAME.case:
  What comes twice is delivered once.

  === stack beep.loom
  === in
  send messages 0 : 68656c6c6f
  wait 1 s
  === out
  0 s frame wire
      97ca 0000 0001 6865 6c6c 6f
  frames_out 1

Write the section `in` by hand; --bless writes the section `out`. The book lists all sections.

Example:
  loom test cases --bless";

/// The command.
pub fn test(arguments: &Arguments) -> Result<(), Failure> {
    let mut cases = Vec::new();
    for path in &arguments.paths {
        if library::is_estelle(path) {
            let path = path.display();
            return Err(Failure::environment(format!(
                "{path} is an Estelle specification: `loom test` plays .case files; use `loom \
                 check` or `loom simulate`"
            )));
        }
        collect(path, &["case"], &mut cases)?;
    }
    if cases.is_empty() {
        return Err(Failure::environment("no .case file was found"));
    }
    let project = Project {
        library: Folders {
            search: arguments.search.clone(),
        },
        functions: arguments.functions.clone(),
        loaded: RefCell::new(None),
    };
    let all = Cases::new(&project);
    let (mut held, mut written) = (0, 0);
    for path in &cases {
        let text = library::text_of(path)?;
        let shown = path.strip_prefix(".").unwrap_or(path).display();
        match all.blessed(path, &text) {
            Ok(right) if right == text => held += 1,
            Ok(right) if arguments.bless => {
                std::fs::write(path, right).map_err(about(path))?;
                written += 1;
                result(format_args!("changed {shown}\n"))?;
            }
            Ok(right) => note(format_args!("{shown}: {}", difference(&text, &right))),
            Err(wrong) => note(format_args!("{shown}: {}", wrong.trim_end())),
        }
    }
    all.warnings().into_iter().for_each(note);
    match held + written == cases.len() {
        true => match cases.len() {
            1 => result("1 case holds\n"),
            all => result(format_args!("{all} cases hold\n")),
        },
        false => Err(Failure::refused(format!(
            "{held} of {} cases hold",
            cases.len()
        ))),
    }
}

/// What is around the cases of a project: the folders that they are in, and the library.
struct Project {
    library: Folders,
    /// What stacks call in C.
    functions: Vec<PathBuf>,
    /// The stack with functions in C that was compiled last, and its C: cases of one folder are
    /// mostly about one stack.
    loaded: RefCell<Option<(String, stack::Program)>>,
}

impl Surroundings for Project {
    /// The file of that path in the innermost folder around the case that has it; of another case,
    /// the source.
    fn file(&self, case: &Path, path: &str) -> Result<(String, String), String> {
        let mut around = case.ancestors().skip(1).map(|folder| folder.join(path));
        let Some(file) = around.find(|file| file.is_file()) else {
            return Err(format!("no folder above this case has a file {path}"));
        };
        let text = library::text_of(&file).map_err(|failure| failure.message)?;
        let name = file.strip_prefix(".").unwrap_or(&file).display();
        match Case::read(&text) {
            Ok(case) if path.ends_with(".case") => {
                let source = case.text("source").unwrap_or_default();
                Ok((name.to_string(), source.to_string()))
            }
            Ok(_) | Err(_) => Ok((name.to_string(), text)),
        }
    }

    fn library(&self) -> &dyn Library {
        &self.library
    }

    /// Nothing of a user's is in our interpreters.
    fn externs<'p>(&self, _program: &'p Program) -> Externs<'p> {
        Externs::default()
    }

    /// Compiles the stack together with its functions, as `loom run` does.
    fn compiled(&self, playing: &InC<'_>, lines: Vec<Line>) -> Result<Option<Played>, String> {
        if self.functions.is_empty() {
            return Ok(None);
        }
        let (program, beginning) = (&playing.stack.program, playing.beginning);
        let code = playing.stack.code(playing.sources);
        let mut loaded = self.loaded.borrow_mut();
        if !matches!(&*loaded, Some((c, _)) if *c == code.c) {
            let description = description(program, playing.stack.limits());
            let made = c_compiler::load_with(&code.c, &code.h, &description, &self.functions);
            let made = made.map_err(|failure| failure.message)?;
            *loaded = Some((code.c.clone(), made));
        }
        let (_, compiled) = loaded.as_ref().expect("it was just loaded");
        let (config, limits, start_ns) = (&beginning.config, &beginning.limits, beginning.start_ns);
        let started = Traced::start(program, compiled, config, limits, start_ns);
        let mut driver = started.map_err(|failure| failure.message)?;
        Ok(Some(play(program, &mut driver, start_ns, lines)))
    }

    fn others(&self, _playing: &Playing<'_>) -> Vec<(String, Run)> {
        Vec::new()
    }
}
