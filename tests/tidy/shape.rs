//! The shape of the compiler: how many files a folder has, how many modules a file imports, which
//! files import each other in a circle, where the methods of a type stand, and who matches text.
//!
//! In: all texts. Out: the breaches of each rule; today's are listed (see `allowed.rs`).

use crate::allowed::Breaches;
use crate::{code, modules};
use std::collections::BTreeMap;

/// A folder has at most so many files.
const FILES: usize = 14;
/// A file imports at most so many modules of ours.
const IMPORTS: usize = 12;

/// Folders that may match text: they read or print it.
const READERS: &[&str] = &[
    "syntax",
    "tool",
    "source.rs",
    "diagnostic",
    "c/line.rs",
    "c/printer.rs",
    "c/size.rs",
];

/// Folders under `src/` with more files than one sees at a glance.
pub fn folders_are_small(texts: &[(String, String)]) -> Breaches {
    let mut counts = Breaches::new();
    for (path, _) in sources(texts) {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        *counts.entry(folder.to_string()).or_default() += 1;
    }
    counts.retain(|_, count| *count > FILES);
    counts
}

/// Files that import more of our modules than a reader can keep in mind.
pub fn files_import_few(texts: &[(String, String)]) -> Breaches {
    let imports = modules::imports(texts).into_iter();
    let counts = imports.map(|(file, used)| (file, used.len()));
    counts.filter(|(_, count)| *count > IMPORTS).collect()
}

/// Files that import each other, directly or by way of others.
pub fn files_import_in_one_direction(texts: &[(String, String)]) -> Breaches {
    let circles = modules::circles(&modules::imports(texts)).into_iter();
    circles.map(|file| (file, 1)).collect()
}

/// Inherent methods of a type outside of its file, and outside of `TYPE_verb.rs` beside it and of
/// the folders below it, which the file of the type names.
pub fn methods_stand_with_their_type(texts: &[(String, String)]) -> Breaches {
    let mut homes: BTreeMap<String, Vec<(&str, &str)>> = BTreeMap::new();
    for (path, text) in sources(texts) {
        for line in code::only(text).lines() {
            if let Some(name) = declared(line) {
                homes
                    .entry(name.to_string())
                    .or_default()
                    .push((path, text));
            }
        }
    }
    let mut breaches = Breaches::new();
    for (path, text) in sources(texts) {
        for line in code::only(code::before_tests(text)).lines() {
            let Some(name) = implemented(line) else {
                continue;
            };
            let home = homes.get(name).map(Vec::as_slice).unwrap_or_default();
            let is_home = home.iter().any(|(home, _)| *home == path);
            if !is_home && !home.iter().any(|home| is_beside(path, name, *home)) {
                *breaches.entry(format!("{path} {name}")).or_default() += 1;
            }
        }
    }
    breaches
}

/// Returns true if a file may have methods of a type: it is `TYPE_verb.rs` beside the file of the
/// type, or stands in a folder below that, and the file of the type names it or the folder.
fn is_beside(path: &str, name: &str, (home, text): (&str, &str)) -> bool {
    let split = |path: &str| {
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        (folder.to_string(), file.trim_end_matches(".rs").to_string())
    };
    let ((folder, stem), (at_home, _)) = (split(path), split(home));
    let verb = stem.strip_prefix(&format!("{}_", name.to_lowercase()));
    let below = folder.strip_prefix(&format!("{at_home}/"));
    let below = below.and_then(|below| below.split('/').next());
    let is_named = below.is_some_and(|below| text.contains(&format!("//! {below}/")));
    is_named || folder == at_home && verb.is_some() && text.contains(&stem)
}

/// The type that a line declares.
fn declared(line: &str) -> Option<&str> {
    let mut words = line.split([' ', '<', '(', ';', '{', ':']);
    let is_visibility = |word: &&str| word.starts_with("pub") || word.ends_with(')');
    let kind = words.by_ref().find(|word| !is_visibility(word))?;
    let name = words.next()?;
    (["struct", "enum", "union"].contains(&kind) && !name.is_empty()).then_some(name)
}

/// The type of which a line begins an inherent `impl`.
fn implemented(line: &str) -> Option<&str> {
    let behind = line.strip_prefix("impl")?;
    let behind = match behind.strip_prefix('<') {
        Some(parameters) => parameters.split_once("> ")?.1,
        None => behind.strip_prefix(' ')?,
    };
    let end = behind.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    (!behind.contains(" for ")).then_some(&behind[..end])
}

/// How often a file asks what a text begins with, ends with, contains or equals: names and code
/// mean something to the parser and the printer alone.
pub fn nobody_matches_text(texts: &[(String, String)]) -> Breaches {
    let words = [
        "starts_with",
        "ends_with",
        "contains",
        "strip_prefix",
        "strip_suffix",
    ];
    let words = words
        .iter()
        .chain(&["find", "rfind", "split_once", "replace"]);
    let mut asked: Vec<String> = words.map(|word| format!(".{word}(\"")).collect();
    asked.extend([" == \"".to_string(), " != \"".to_string()]);
    let mut breaches = Breaches::new();
    for (path, text) in sources(texts) {
        let inside = path.strip_prefix("src/").unwrap_or(path);
        let reads = inside.contains("/text") || READERS.iter().any(|it| inside.starts_with(it));
        let text = code::before_tests(text);
        let code = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        let count: usize = code
            .map(|line| {
                asked
                    .iter()
                    .map(|it| line.matches(it.as_str()).count())
                    .sum::<usize>()
            })
            .sum();
        if !reads && count > 0 {
            breaches.insert(path.to_string(), count);
        }
    }
    breaches
}

/// The files of the compiler, without unit tests in files of their own.
fn sources(texts: &[(String, String)]) -> impl Iterator<Item = (&str, &str)> {
    let texts = texts
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()));
    texts.filter(|(path, _)| modules::module(path).is_some())
}

#[cfg(test)]
fn texts(files: &[(&str, &str)]) -> Vec<(String, String)> {
    let own = |(path, text): &(&str, &str)| (path.to_string(), text.to_string());
    files.iter().map(own).collect()
}

#[test]
fn a_folder_with_too_many_files_is_found() {
    let files: Vec<(String, String)> = (0..=FILES)
        .map(|number| (format!("src/a/b{number}.rs"), String::new()))
        .collect();
    assert_eq!(
        folders_are_small(&files),
        Breaches::from([("src/a".to_string(), FILES + 1)])
    );
    assert!(folders_are_small(&files[1..]).is_empty());
}

#[test]
fn a_file_that_imports_too_much_is_found() {
    let mut files: Vec<(String, String)> = (0..=IMPORTS)
        .map(|number| (format!("src/b{number}.rs"), String::new()))
        .collect();
    let uses: String = (0..=IMPORTS)
        .map(|number| format!("use crate::b{number};\n"))
        .collect();
    files.push(("src/a.rs".to_string(), uses));
    assert_eq!(files_import_few(&files).len(), 1);
}

#[test]
fn methods_far_from_their_type_are_found() {
    let files = texts(&[
        (
            "src/a/value.rs",
            "//! See value_print.rs\npub struct Value<'a> {}\nimpl<'a> Value<'a> {}\n",
        ),
        ("src/a/value_print.rs", "impl Value<'_> {}\n"),
        (
            "src/a/other.rs",
            "impl Value<'_> {}\nimpl fmt::Display for Value<'_> {}\n",
        ),
    ]);
    let found = methods_stand_with_their_type(&files);
    assert_eq!(
        found,
        Breaches::from([("src/a/other.rs Value".to_string(), 1)])
    );
}

#[test]
fn who_matches_text_is_found() {
    let files = texts(&[
        (
            "src/back/a.rs",
            "if name.starts_with(\"stack->\") || name == \"x\" {}\n",
        ),
        ("src/syntax/a.rs", "if name.starts_with(\"stack->\") {}\n"),
    ]);
    let found = nobody_matches_text(&files);
    assert_eq!(found, Breaches::from([("src/back/a.rs".to_string(), 2)]));
}
