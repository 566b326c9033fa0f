//! Modules of Esterel on the command line.
//!
//! In: the path of a `.strl` file, which module, how large it may become. Out: the module with its
//! automaton, or a `Failure` after the diagnostics were printed; its C in a folder.
//!
//! ```text
//! companion   C around that of a module, and of others, so that it can be spoken to
//! child       a process that it becomes: runs the module, and what is written in C
//! ```

pub mod child;
pub mod companion;

use super::compiler::{NAME_OPTION, Report, deep, refuse_name};
use super::failure::{Failure, about};
use super::progress;
use super::terminal::style::is_json;
use super::terminal::{note, result, show};
use crate::back::c::esterel::{self, Outside, Printed};
use crate::pipeline::{self, Reactive};
use crate::reactive::explore::BUDGET;
use crate::source::Sources;
use std::fmt::Write;
use std::path::Path;

/// What may be said of a program on the command line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Choice<'a> {
    /// The module that runs, if not the one that no other module runs.
    pub main: Option<&'a str>,
    /// How many nodes its automaton may have.
    pub budget: Option<usize>,
}

/// Whether a file is one of Esterel.
pub fn is_esterel(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "strl")
}

/// Reads and compiles a program; what is wrong with it is printed.
pub fn read(path: &Path, choice: Choice) -> Result<Reactive, Failure> {
    let text = text_of(std::fs::read(path).map_err(about(path))?);
    let mut sources = Sources::new();
    let named = (path.display().to_string(), text);
    let budget = choice.budget.unwrap_or(BUDGET);
    let spinner = progress::spinner("exploring");
    let (compiled, found) = deep(|| pipeline::esterel(&mut sources, named, choice.main, budget));
    spinner.finish_and_clear();
    show(&found, &sources)?;
    compiled.ok_or_else(|| Failure::refused(""))
}

/// Returns a text in UTF-8, or else in Latin-1: most programs of Esterel are old.
pub fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|wrong| {
        let bytes = wrong.into_bytes();
        bytes.into_iter().map(char::from).collect()
    })
}

/// `loom check`: what was found to be right.
pub fn check(path: &Path, choice: Choice) -> Result<String, Failure> {
    let Reactive { module, automaton } = read(path, choice)?;
    Ok(format!(
        "module {}, {} states",
        module.name,
        automaton.states.len()
    ))
}

/// `loom build`: writes `NAME.c` and `NAME.h`; the name is the module's, unless another is given.
pub fn build(
    path: &Path,
    folder: &Path,
    (name, json): (Option<&str>, bool),
    choice: Choice,
) -> Result<(), Failure> {
    let Reactive {
        mut module,
        automaton,
    } = read(path, choice)?;
    if let Some(name) = name {
        module.name = name.to_string();
    }
    refuse_name(&module.name, NAME_OPTION)?;
    if let Some(reason) = esterel::refused(&module) {
        let name = &module.name;
        let help = "choose other names, or set the name of the module with --name";
        return Err(Failure::environment(format!(
            "`{name}` cannot be a name in the generated C: {reason}; {help}"
        )));
    }
    let header = format!("{}_data.h", module.name);
    let of_c = module.of_c();
    let outside = match of_c.types.is_empty() {
        true => Outside::Declared,
        false => Outside::Header(&header),
    };
    let name = name_of(path);
    let printed = deep(|| pipeline::esterel_c(&name, &module, &automaton, outside));
    let Printed { c, h, .. } = printed;
    let report = Report {
        name: module.name.clone(),
        form: "automaton".to_string(),
        states: automaton.states.len() as u64,
        nodes: automaton.nodes.len() as u64,
        c_bytes: c.len() as u64,
        ..Report::default()
    };
    std::fs::create_dir_all(folder).map_err(about(folder))?;
    let mut said = String::new();
    for (ending, text) in [("c", c), ("h", h)] {
        let path = folder.join(format!("{}.{ending}", module.name));
        std::fs::write(&path, &text).map_err(about(&path))?;
        writeln!(said, "wrote {}, {} bytes", path.display(), text.len())
            .expect("a string takes every line");
    }
    if let Outside::Header(header) = outside {
        let names = of_c.names(&module).join(", ");
        note(format_args!(
            "write {header} yourself; the C needs it for {names}"
        ));
    }
    if is_json() && !json {
        note(said.trim_end());
        return Ok(());
    }
    if json {
        note(said.trim_end());
        let report = serde_json::to_string(&report);
        said = report.expect("numbers and names can be written as JSON") + "\n";
    }
    result(said)
}

/// The file without its folder: the C is the same wherever it lies.
fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
