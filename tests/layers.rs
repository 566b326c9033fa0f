//! The standard library and the examples: each file looks as `loom fmt` leaves it, and each layer
//! and each stack is checked without a word.

use stackloom::diagnostic::render;
use stackloom::source::Sources;
use stackloom::syntax::loom;
use stackloom::types::{check_layers, check_stack, load, warnings};
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
        let library = with_what_is_beside(&path, &library);
        let (files, mut diagnostics) = load::load(&mut sources, unit.collect(), &library);
        diagnostics.extend(check_layers(&sources, &files).1);
        for stack in &files.unit(files.root()).stacks {
            let (program, found) = check_stack(&sources, &files, &stack.name.text);
            diagnostics.extend(found);
            stacks += usize::from(program.is_some());
        }
        diagnostics.extend(warnings(&sources, &files));
        if !diagnostics.is_empty() {
            wrong.push(render(&diagnostics, &sources, false));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(stacks >= 4, "only {stacks} stacks were found");
}

/// Layers that have their cases together: those of which every slot consists, and the parts of
/// policies. By layer, the folder of the cases, and the line that each of them has.
const TOGETHER: [(&str, &str, &str); 10] = [
    ("boost.slot_frames", "slots", "        slot "),
    ("boost.slot_bare", "slots", "        slot "),
    ("boost.slot_plain", "slots", "        slot "),
    ("boost.slot_ways", "slots", "        slot "),
    ("boost.off", "slots", "        slot "),
    ("policy.at_once", "slots", "        slot "),
    ("policy.spp", "policies", "    signal spp"),
    ("policy.errors", "policies", "    monitor errors"),
    ("policy.counting", "policies", "    decision counting"),
    ("policy.threshold", "policies", "    decision threshold"),
];

/// What is worth a case of each layer: the name of a case of it begins with its word.
const SITUATIONS: [&str; 7] = [
    "normal",
    "loss",
    "duplicate",
    "reorder",
    "full",
    "malformed",
    "restart",
];

#[test]
fn every_layer_has_the_seven_situations() {
    let mut cases = cases();
    let wrong: Vec<String> = layers()
        .iter()
        .filter(|layer| !unseen(layer, &cases).is_empty())
        .map(|layer| format!("{layer} lacks {}", unseen(layer, &cases).join(", ")))
        .collect();
    assert!(wrong.is_empty(), "under tests/cases\n{}", wrong.join("\n"));
    cases.retain(|(name, _)| !name.starts_with("slip/loss"));
    assert_eq!(unseen("link.slip", &cases), ["loss"]);
    assert_eq!(unseen("order.slip", &cases), SITUATIONS, "it is in none");
}

#[test]
fn the_list_of_the_book_has_every_layer_and_no_other() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("book/src/library.md");
    let page = fs::read_to_string(path).expect("the book has the list");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let mut listed: Vec<&str> = rows.filter_map(|row| row.split('`').next()).collect();
    listed.sort();
    let mut layers = layers();
    layers.sort();
    assert_eq!(listed, layers);
}

/// The situations of which a layer has no case in the folder of its name.
fn unseen(layer: &str, cases: &[(String, String)]) -> Vec<&'static str> {
    let own = layer.rsplit('.').next().expect("a name has a last part");
    let mut together = TOGETHER.iter();
    let (folder, line) = match together.find(|(one, _, _)| *one == layer) {
        Some((_, folder, line)) => (*folder, (*line).to_string()),
        None => (own, format!("use {layer}\n")),
    };
    let is_seen = |situation: &&str| {
        let begins = format!("{folder}/{situation}");
        cases.iter().any(|(name, text)| {
            let rest = name.strip_prefix(&begins);
            rest.is_some_and(|rest| rest.starts_with(['.', '_'])) && text.contains(&line)
        })
    };
    let mut unseen = SITUATIONS.to_vec();
    unseen.retain(|situation| !is_seen(situation));
    unseen
}

/// The layers of the library, by the names under which they are used.
fn layers() -> Vec<String> {
    let is_layer = |text: &str| {
        let mut words = text.lines().filter_map(|line| line.split(' ').next());
        words.any(|word| ["worker", "multiplexor", "router"].contains(&word))
    };
    let library = library().into_iter();
    let layers = library.filter(|(_, text)| is_layer(text)).map(|(name, _)| {
        let mut parts: Vec<&str> = name.trim_end_matches(".loom").split('/').collect();
        parts.dedup();
        parts.join(".")
    });
    layers.collect()
}

/// All cases by name, with their texts, and with those of the stacks in other files that they are
/// about.
fn cases() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("tests/cases");
    let cases = files_below(vec![folder.clone()], "case").into_iter();
    let texts = cases.map(|path| {
        let mut text = fs::read_to_string(&path).expect("a case can be read");
        let stack = text
            .lines()
            .find_map(|line| line.strip_prefix("=== stack "));
        if let Some(file) = stack.and_then(|stack| stack.split([':', ' ']).next()) {
            let stack = fs::read_to_string(root.join(file)).expect("it names a file");
            text.push_str(&stack);
        }
        let name = path.strip_prefix(&folder).expect("the walk stays inside");
        (name.display().to_string(), text)
    });
    texts.collect()
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

/// The library, and before it the files beside one.
fn with_what_is_beside(
    path: &Path,
    library: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut all = library.clone();
    for other in loom_files() {
        if other.parent() == path.parent() {
            let name = other.file_name().expect("a file has a name");
            let text = fs::read_to_string(&other).expect("a layer can be read");
            all.insert(name.to_string_lossy().into_owned(), text);
        }
    }
    all
}

/// All Loom files of the library and of the examples.
fn loom_files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    files_below(vec![root.join("layers"), root.join("examples")], "loom")
}

/// All files with an ending in these folders.
fn files_below(mut folders: Vec<PathBuf>, wanted: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder can be listed") {
            let path = entry.expect("a folder can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == wanted) {
                files.push(path);
            }
        }
    }
    files.sort();
    assert!(files.len() > 10, "the walk found little");
    files
}
