//! The programs of the examples, and of stacks that are written for these tests.

use stackloom::diagnostic::render;
use stackloom::reactive::handlers::{Budget, settle};
use stackloom::source::Sources;
use stackloom::types::program::Program;
use stackloom::types::{check_stack, load};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The program of the first stack in a file of the repository, or in the source of a case.
pub fn example(path: &str) -> Program {
    budgeted(path, Budget::default())
}

/// The same, with processes of a certain size.
pub fn budgeted(path: &str, budget: Budget) -> Program {
    let text = fs::read_to_string(root().join(path)).expect("an example can be read");
    // A case has more than its source.
    let source = text
        .split("=== source\n")
        .last()
        .expect("a split has a part");
    let source = source
        .split("\n===")
        .next()
        .expect("a split has a first part");
    program(path, format!("{}\n", source.trim_end()), budget)
}

/// The program of the first stack in a text.
pub fn program(name: &str, text: String, budget: Budget) -> Program {
    let mut sources = Sources::new();
    let file = vec![(name.to_string(), text)];
    let (files, mut diagnostics) = load::load(&mut sources, file, &library());
    let stack = &files.unit(files.root()).stacks[0].name.text;
    let (mut program, found) = check_stack(&sources, &files, stack);
    diagnostics.extend(found);
    if let Some(Err(refused)) = program.as_mut().map(|program| settle(program, budget)) {
        diagnostics.extend(refused);
        program = None;
    }
    match program {
        Some(program) => program,
        None => panic!("{}", render(&diagnostics, &sources, false)),
    }
}

/// The texts of the library and of the stacks that are written for tests, by the names under
/// which they are used.
fn library() -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    for folder in ["layers", "tests/c_agrees/stacks"] {
        read_folder(&root().join(folder), &mut texts);
    }
    texts
}

fn read_folder(folder: &Path, texts: &mut BTreeMap<String, String>) {
    let mut folders = vec![folder.to_path_buf()];
    while let Some(below) = folders.pop() {
        for entry in fs::read_dir(&below).expect("a folder can be listed") {
            let path = entry.expect("a folder can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("it is in the library");
                let text = fs::read_to_string(&path).expect("a layer can be read");
                texts.insert(name.display().to_string(), text);
            }
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}
