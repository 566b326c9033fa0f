//! The standard library and the examples, each file by itself: it looks as `loom fmt` leaves it.

use stackloom::diagnostic::render;
use stackloom::source::Sources;
use stackloom::syntax::loom;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn every_layer_and_example_is_formatted() {
    let mut wrong = Vec::new();
    for path in loom_files() {
        let text = fs::read_to_string(&path).expect("a layer can be read");
        let mut sources = Sources::new();
        let file = sources.add(path.display().to_string(), text.as_str());
        let (tree, diagnostics) = loom::parse(file, &sources);
        if !diagnostics.is_empty() {
            wrong.push(render(&diagnostics, &sources, false));
        } else if loom::format(&tree, &text) != text {
            wrong.push(format!("`loom fmt` would change {}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// All Loom files of the library and of the examples.
fn loom_files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("layers"), root.join("examples")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder can be listed") {
            let path = entry.expect("a folder can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "loom") {
                files.push(path);
            }
        }
    }
    files.sort();
    assert!(
        files.len() > 10,
        "the walk through the library found little"
    );
    files
}
