//! The text of a case, and its file.
//!
//! In: a stack, a fact, and the calls of a host. Out: a case whose section `out` has what a host
//! sees before the pass, and a file with it.

use crate::ir::Module;
use crate::simulate::externs::Externs;
use crate::simulate::machine::driver::Driven;
use crate::simulate::trace::Trace;
use crate::tool::case::format::{Case, Section};
use crate::tool::case::play::play;
use crate::tool::case::script::{Line, written};
use crate::tool::failure::{Failure, about};
use crate::tool::layout::limits;
use crate::types::program::Program;
use std::path::Path;

/// The stack of which a pass is judged.
pub struct Subject<'s> {
    /// Its program.
    pub program: &'s Program,
    /// The modules before and behind the pass.
    pub modules: [&'s Module; 2],
    /// The path of its file, as a case names it.
    pub path: String,
    /// Its name, if the file declares several.
    pub stack: String,
}

/// A case of a counterexample.
pub struct Shown {
    /// The name of its file: `ping.fold.ping.arrive.case`.
    pub name: String,
    /// The text of the case.
    pub text: String,
    /// True if a host sees a difference between the modules before and behind the pass.
    pub differs: bool,
}

impl Shown {
    /// Writes the case into a folder, which is made if it is missing: a sentence about it.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<String, Failure> {
        std::fs::create_dir_all(folder).map_err(about(folder))?;
        let path = folder.join(&self.name);
        std::fs::write(&path, &self.text).map_err(about(&path))?;
        let path = path.strip_prefix(".").unwrap_or(&path).display();
        Ok(match self.differs {
            true => format!("{path} shows the difference: run `loom test {path}`"),
            false => format!("{path} does not show the difference, and says what it lacks"),
        })
    }
}

/// Returns the name of the file of a case.
pub fn file_name(stack: &str, pass: &str, function: &str) -> String {
    let plain = |letter: char| match letter {
        letter if letter.is_ascii_alphanumeric() => letter,
        '.' | '_' | '-' => letter,
        _other => '-',
    };
    let function: String = function.chars().map(plain).collect();
    format!("{stack}.{pass}.{function}.case")
}

/// Returns the text of a case: the calls of a trace, and the outputs before the pass.
pub fn text(subject: &Subject<'_>, fact: &str, trace: &Trace) -> String {
    let [before, _] = subject.modules;
    let sections = written(subject.program, trace, &limits(before));
    let case = Case::read(&format!("{fact}\n{sections}"));
    let mut case = case.expect("the fact is a sentence");
    let stack = section("stack", &subject.path, String::new());
    case.sections.insert(0, stack);
    for one in &mut case.sections {
        if one.kind == "in" {
            one.name.clone_from(&subject.stack);
        }
    }
    let out = out(subject, trace);
    case.sections.push(section("out", "", out));
    case.to_string()
}

/// Returns what a host sees before the pass; nothing if the stack cannot be played.
fn out(subject: &Subject<'_>, trace: &Trace) -> String {
    let externs = Externs::default();
    if !externs.missing(subject.program).is_empty() {
        return String::new();
    }
    let [before, _] = subject.modules;
    let (config, limits) = (&trace.config, trace.limits.clone());
    let start_ns = trace.start_ns;
    let driven = Driven::start(before, subject.program, &externs, config, limits, start_ns);
    let Some(mut driven) = driven else {
        return "the stack does not start\n".to_string();
    };
    let lines = trace.steps.iter().cloned().map(Line::Exact).collect();
    play(subject.program, &mut driven, start_ns, lines).text
}

fn section(kind: &str, name: &str, text: String) -> Section {
    Section {
        kind: kind.to_string(),
        name: name.to_string(),
        text,
    }
}
