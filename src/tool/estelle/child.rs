//! A process that runs the C of a specification.
//!
//! In: a program made of that C and `pipe.c`. Out: a [`Child`], whose functions a run calls. If the
//! process ends by itself, its end is kept until somebody asks: [`Child::wrong`].

use super::build::c_of;
use crate::lower::estelle::{Bounds, Choices};
use crate::simulate::estelle::{Choice, Chooser, Origin, Target};
use crate::tool::c_compiler;
use crate::tool::compiler::refuse_name;
use crate::tool::failure::{Failure, about, plain};
use crate::types::estelle::program::Program;
use std::cell::RefCell;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::rc::Rc;
use tempfile::TempDir;

/// The main part of the program in C.
pub const PIPE: &str = include_str!("pipe.c");

/// The definition for `pipe.c` where the host chooses.
pub const HOST_CHOOSES: &str = "-DHOST_CHOOSES";

/// A program in a folder that is removed with it.
#[derive(Debug)]
pub struct Built {
    /// The program.
    pub program: PathBuf,
    _folder: TempDir,
}

/// Compiles a specification, and the C that others wrote for it.
pub fn built(
    path: &Path,
    program: &Program,
    (choice, functions): (Choice, &[PathBuf]),
) -> Result<Built, Failure> {
    if let (Some(name), []) = (of_c(program), functions) {
        let says = format!("`{name}` is written in C: add its source with --c FILE");
        return Err(Failure::refused(says));
    }
    let own = program.name.to_lowercase();
    refuse_name(&own, "rename the specification")?;
    let choices = match choice {
        Choice::First => Choices::First,
        Choice::Seed(_) => Choices::Host,
    };
    let bounds = Bounds {
        choices,
        ..Bounds::default()
    };
    let printed = c_of(path, program, &bounds)?;
    let folder = tempfile::tempdir().map_err(|error| {
        let error = plain(&error);
        Failure::environment(format!("cannot create a temporary folder: {error}"))
    })?;
    let files = [
        (format!("{own}.c"), printed.c.as_str()),
        (format!("{own}.h"), &printed.h),
        ("pipe.c".to_string(), PIPE),
    ];
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::write(&path, text).map_err(about(&path))?;
    }
    let of_others = functions.iter();
    let of_others = of_others.map(|path| path.canonicalize().map_err(about(path)));
    let of_others = of_others.collect::<Result<Vec<PathBuf>, Failure>>()?;
    let source = format!("{own}.c");
    let mut sources = vec![Path::new(&source), Path::new("pipe.c")];
    sources.extend(of_others.iter().map(PathBuf::as_path));
    let (name, header) = (format!("-DNAME={own}"), format!("{own}.h"));
    let mut flags = vec!["-O1", &name, "-include", &header];
    flags.extend((choices == Choices::Host).then_some(HOST_CHOOSES));
    let program = folder.path().join("program");
    c_compiler::executable(folder.path(), &sources, &program, &flags)?;
    Ok(Built {
        program,
        _folder: folder,
    })
}

/// The first routine or body that C defines.
fn of_c(program: &Program) -> Option<&str> {
    let routines = program.routines.iter();
    let routines = routines.filter(|one| one.statements.is_none());
    let bodies = program.bodies.iter().filter(|one| one.is_external);
    let mut all = routines
        .map(|one| &one.name)
        .chain(bodies.map(|one| &one.name));
    all.next().map(String::as_str)
}

/// A running program.
pub struct Child<'p> {
    state: RefCell<State>,
    chooser: Rc<Chooser<'p>>,
}

struct State {
    process: std::process::Child,
    requests: std::process::ChildStdin,
    answers: BufReader<std::process::ChildStdout>,
    wrong: Option<String>,
}

/// The answer of all functions once the process has ended.
const ENDED: i64 = -1;

impl<'p> Child<'p> {
    /// Starts a program. Its choices are those of a chooser.
    pub fn start(program: &Path, chooser: Rc<Chooser<'p>>) -> Result<Child<'p>, Failure> {
        let (process, requests, answers) = c_compiler::started(program)?;
        let state = RefCell::new(State {
            process,
            requests,
            answers: BufReader::new(answers),
            wrong: None,
        });
        Ok(Child { state, chooser })
    }

    /// The end of the process, if it has ended by itself.
    pub fn wrong(&self) -> Option<String> {
        self.state.borrow().wrong.clone()
    }

    /// Calls a function, and answers the choices for which it asks meanwhile.
    fn called(&self, line: &str) -> Option<String> {
        let mut words = self.state.borrow_mut().said(line)?;
        while let [sign, source, module, count] = &words[..]
            && sign == "?"
        {
            let asked = (number(source) as u64, number(module), number(count) as u64);
            let mut ask = |asked: Origin, module: i64| {
                let line = format!("{} {module} 0 0", asked.name());
                let words = self.state.borrow_mut().said(&line);
                words.map_or(ENDED, |words| number(&words[0]))
            };
            let chosen = self.chooser.choose(asked, &mut ask);
            words = self.state.borrow_mut().said(&format!("= {chosen} 0 0"))?;
        }
        words.into_iter().next()
    }
}

/// A number of the program.
fn number(word: &str) -> i64 {
    word.parse().unwrap_or(ENDED)
}

impl State {
    /// Writes a line, and reads the words of the answer; none once the process has ended.
    fn said(&mut self, line: &str) -> Option<Vec<String>> {
        if self.wrong.is_some() {
            return None;
        }
        let mut answer = String::new();
        let written = writeln!(self.requests, "{line}");
        let read = written.and_then(|()| self.answers.read_line(&mut answer));
        match read {
            Ok(1..) => Some(answer.split_whitespace().map(str::to_string).collect()),
            Ok(0) | Err(_) => {
                self.wrong = Some(self.process.wait().map_or_else(unknown, end));
                None
            }
        }
    }
}

fn unknown(error: io::Error) -> String {
    format!("the program that runs the C has gone: {error}")
}

fn end(status: ExitStatus) -> String {
    format!("the program that runs the C has ended: {status}")
}

impl Target for Child<'_> {
    fn call(&mut self, name: &str, arguments: &[i64], now_ns: u64) -> i64 {
        let argument = |at: usize| arguments.get(at).copied().unwrap_or(0);
        let line = format!("{name} {} {} {now_ns}", argument(0), argument(1));
        self.called(&line).map_or(ENDED, |word| number(&word))
    }

    fn deadline_ns(&mut self, now_ns: u64) -> Option<u64> {
        let due = self.called(&format!("deadline 0 0 {now_ns}"))?;
        due.parse().ok().filter(|due_ns| *due_ns < u64::MAX)
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
