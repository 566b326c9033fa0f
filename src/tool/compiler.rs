//! The one place where the commands meet the compiler.
//!
//! In: paths of Loom files. Out: C with the description that the loader needs, or a `Failure`
//! after the diagnostics were printed. Files are read here; the compiler itself sees only text.

use super::failure::Failure;
use super::layout::Description;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What may be said about a compilation on the command line.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The name of the generated C, if not the stack's.
    pub name: Option<String>,
    /// Where `use` looks before the library inside the binary.
    pub search: Vec<PathBuf>,
}

/// A compiled stack.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// What the loader must know.
    pub description: Description,
    /// `NAME.c`
    pub source: String,
    /// `NAME.h`
    pub header: String,
    /// What `loom build --report json` prints.
    pub report: Report,
}

/// The size of what was compiled.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Report {
    /// The stack's name.
    pub name: String,
    /// How the program is held: woven, or layer by layer.
    pub form: String,
    /// Control states.
    pub states: u64,
    /// Nodes of the state trees, shared ones counted once.
    pub nodes: u64,
    /// Bytes of C.
    pub c_bytes: u64,
    /// Bytes of one session of each layer.
    pub session_bytes: BTreeMap<String, u64>,
}

/// Compiles a stack to C.
pub fn compile(stack: &Path, _options: &Options) -> Result<Compiled, Failure> {
    unplugged(stack)
}

/// Checks files and prints what is wrong with them; answers what was found to be right.
pub fn check(file: &Path, _options: &Options) -> Result<String, Failure> {
    unplugged(file)
}

/// The text of a file in its canonical form.
pub fn format(file: &Path, _text: &str) -> Result<String, Failure> {
    unplugged(file)
}

/// What a diagnostic means and what to do about it.
pub fn explain(id: &str) -> Result<String, Failure> {
    unplugged(Path::new(id))
}

fn unplugged<T>(what: &Path) -> Result<T, Failure> {
    let what = what.display();
    Err(Failure::environment(format!(
        "{what}: this build has devices but no compiler yet"
    )))
}
