//! Examples, stacks of the bench and stacks that are written for tests, in the stack IR.
//!
//! In: their trees, plain and woven. Out: modules that keep the rules of the verifier, and whose
//! text is read as the same module. `cases` plays modules of all cases against the trees.

#[path = "agree/stacks.rs"]
mod stacks;

use stackloom::ir::Module;
use stackloom::ir::text::{canonical, read, write};
use stackloom::ir::verify::verify;
use stackloom::lower::lower;
use stackloom::pipeline::{lowered, unwoven};
use stackloom::reactive;
use stackloom::tree::rewrites::Rewrites;
use std::fs;
use std::path::Path;

/// Stacks with layers in files beside them, of which the loader of these tests knows nothing.
const ELSEWHERE: [&str; 2] = [
    "examples/tagged/tagged.loom",
    "bench/ensemble/ensemble.loom",
];

/// Folders in which stacks stand.
const FOLDERS: [&str; 3] = ["examples", "bench", "tests/c_agrees/stacks"];

#[test]
fn lowered_stacks_keep_the_rules() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    for folder in FOLDERS {
        add_stacks(root, folder, &mut paths);
    }
    assert!(
        paths.len() > 40,
        "there are more stacks than {}",
        paths.len()
    );
    let wrong: Vec<String> = paths.iter().flat_map(|path| wrong_with(path)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Adds the paths of all files below a folder that declare a stack.
fn add_stacks(root: &Path, folder: &str, paths: &mut Vec<String>) {
    let entries = fs::read_dir(root.join(folder)).expect("a folder can be listed");
    let entries = entries.map(|entry| entry.expect("a folder can be listed"));
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    for name in names {
        let path = format!("{folder}/{name}");
        if root.join(&path).is_dir() {
            add_stacks(root, &path, paths);
        } else if name.ends_with(".loom") {
            let text = fs::read_to_string(root.join(&path)).expect("a source can be read");
            let declares = text.lines().any(|line| line.starts_with("stack "));
            let is_known = declares && !ELSEWHERE.contains(&&*path);
            paths.extend(is_known.then_some(path));
        }
    }
}

/// Checks a stack in the stack IR, plain and woven: its mistakes.
fn wrong_with(path: &str) -> Vec<String> {
    let program = stacks::example(path);
    let plain = reactive::lower(&program).expect("a stack that is checked has trees");
    let mut wrong = broken(&format!("{path}, plain"), &lower(&program, &plain));
    let mut program = program;
    let forest = unwoven(&mut program, plain, Rewrites::ALL);
    let module = lowered(&program, &forest, Rewrites::ALL);
    wrong.extend(broken(&format!("{path}, woven"), &module));
    wrong
}

fn broken(name: &str, module: &Module) -> Vec<String> {
    if let Err(breaches) = verify(module) {
        return vec![format!("{name}: {}", breaches[0])];
    }
    match read(&write(module)) {
        Ok(again) if again == canonical(module) => Vec::new(),
        Ok(_) => vec![format!("{name}: another module is read")],
        Err(mistake) => vec![format!("{name}: {mistake}")],
    }
}
