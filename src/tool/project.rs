//! `loom new`: a project that builds, runs and tests at once.
//!
//! In: a name. Out: a folder with a stack, its two layers, cases of it, a host in C with its
//! Makefile, and a page about it. The files stand in `project/` as they are written, but for the
//! name.

use super::compiler;
use super::failure::{Failure, about};
use super::terminal::result;
use crate::back::c::reserved::no_name;
use std::io::Write;
use std::path::Path;

/// All files of a project; `NAME` stands for its name, in paths too, and `CAPITALS` for the same in
/// capitals.
const FILES: [(&str, &str); 10] = [
    ("README.md", include_str!("project/README.md")),
    (".gitignore", include_str!("project/gitignore")),
    (STACK, include_str!("project/NAME.loom")),
    ("Makefile", include_str!("project/Makefile")),
    ("host.c", include_str!("project/host.c")),
    (
        "layers/checked.loom",
        include_str!("project/layers/checked.loom"),
    ),
    (
        "layers/numbered.loom",
        include_str!("project/layers/numbered.loom"),
    ),
    (
        "cases/a_message_goes_out.case",
        include_str!("project/cases/a_message_goes_out.case"),
    ),
    (
        "cases/what_comes_twice.case",
        include_str!("project/cases/what_comes_twice.case"),
    ),
    (
        "cases/what_is_damaged.case",
        include_str!("project/cases/what_is_damaged.case"),
    ),
];

const STACK: &str = "NAME.loom";

/// What can be done with it at once.
const NEXT_STEPS: &str = "\
wrote NAME/: a stack of two layers, and test cases
  cd NAME
  loom test
  make
  loom run NAME.loom --link wire=udp:127.0.0.1:18001,127.0.0.1:18002 --app messages=lines
    and its peer in another terminal:
  loom run NAME.loom --link wire=udp:127.0.0.1:18002,127.0.0.1:18001 --app messages=lines
";

/// The command.
pub fn new(name: &str) -> Result<(), Failure> {
    let mut letters = name.chars();
    let starts_well = letters
        .next()
        .is_some_and(|first| first.is_ascii_lowercase());
    let goes_well = |letter: char| matches!(letter, 'a'..='z' | '0'..='9' | '_');
    if !starts_well || !letters.all(goes_well) {
        let advice =
            "a name consists of lower-case letters, digits and `_`, and starts with a letter";
        return Err(Failure::environment(format!(
            "`{name}` cannot be the name of a stack: {advice}"
        )));
    }
    let files = FILES.map(|(path, text)| {
        let text = text.replace("CAPITALS", &name.to_uppercase());
        (path.replace("NAME", name), text.replace("NAME", name))
    });
    let is_loom = |path: &str| path.ends_with(".loom");
    let (root, layers): (Vec<_>, Vec<_>) = files
        .iter()
        .filter(|(path, _)| is_loom(path))
        .cloned()
        .partition(|(path, _)| *path == STACK.replace("NAME", name));
    if let Some(reason) = no_name(name) {
        return Err(Failure::environment(format!(
            "`{name}` cannot be the name of a stack: {reason}"
        )));
    }
    if !compiler::is_fine(root, layers) {
        return Err(Failure::environment(format!(
            "`{name}` cannot be the name of a stack: Loom or a layer of the project uses it"
        )));
    }
    let folder = Path::new(name);
    std::fs::create_dir(folder).map_err(about(folder))?;
    for (path, text) in &files {
        write(&folder.join(path), text)?;
    }
    result(NEXT_STEPS.replace("NAME", name))
}

/// Writes a file that is not there yet, and the folder that it is in.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let folder = path.parent().expect("a file is in a folder");
    std::fs::create_dir_all(folder).map_err(about(folder))?;
    let mut file = std::fs::File::create_new(path).map_err(about(path))?;
    file.write_all(text.as_bytes()).map_err(about(path))
}
