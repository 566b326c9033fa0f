//! The standard library and the examples: each file looks as `loom fmt` leaves it, and each layer
//! and each stack is checked without a word.

use stackloom::diagnostic::render;
use stackloom::source::Sources;
use stackloom::syntax::loom;
use stackloom::types::{check_layers, check_stack, load};
use std::collections::BTreeMap;
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

#[test]
fn every_layer_by_itself_and_every_stack_is_checked() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let library = library();
    let mut wrong = Vec::new();
    let mut stacks = 0;
    for path in loom_files() {
        let mut sources = Sources::new();
        let unit = unit(&path).into_iter().map(|path| {
            let name = path.strip_prefix(root).expect("it is below the root");
            let text = fs::read_to_string(&path).expect("a Loom file can be read");
            (name.display().to_string(), text)
        });
        let (files, mut diagnostics) = load::load(&mut sources, unit.collect(), &library);
        diagnostics.extend(check_layers(&sources, &files));
        for stack in &files.unit(files.root()).stacks {
            let (program, found) = check_stack(&sources, &files, &stack.name.text);
            diagnostics.extend(found);
            stacks += usize::from(program.is_some());
        }
        if !diagnostics.is_empty() {
            wrong.push(render(&diagnostics, &sources, false));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(stacks >= 4, "only {stacks} stacks were found");
}

/// The files of a layer: itself, or those of its folder, which has its name.
fn unit(path: &Path) -> Vec<PathBuf> {
    let folder = path.parent().expect("a file stands in a folder");
    let name = folder.file_name().expect("a folder has a name");
    if !folder.join(name).with_extension("loom").exists() || !folder.starts_with(LAYERS) {
        return vec![path.to_path_buf()];
    }
    let all = loom_files().into_iter();
    all.filter(|file| file.parent() == Some(folder)).collect()
}

/// The standard library.
const LAYERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/layers");

/// The texts of the standard library, by the names under which they are used.
fn library() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("layers");
    let files = loom_files().into_iter();
    let texts = files.filter_map(|path| {
        let name = path.strip_prefix(&folder).ok()?.display().to_string();
        Some((
            name,
            fs::read_to_string(&path).expect("a layer can be read"),
        ))
    });
    texts.collect()
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
