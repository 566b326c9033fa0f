//! The files of the crate as modules, and which of them imports which.
//!
//! In: the texts of `src/`. Out: for each file the files that it imports, unit tests left out.

use crate::code;
use std::collections::{BTreeMap, BTreeSet};

/// The imports of each file, both by their path from the root of the repository.
pub type Imports = BTreeMap<String, BTreeSet<String>>;

/// Finds the imports of every file.
pub fn imports(texts: &[(String, String)]) -> Imports {
    let files: BTreeMap<Vec<String>, &str> = texts
        .iter()
        .filter_map(|(path, _)| Some((module(path)?, path.as_str())))
        .collect();
    let mut imports = Imports::new();
    for (path, text) in texts {
        let Some(own) = module(path) else { continue };
        let code = code::only(code::before_tests(text));
        let used = paths(&code)
            .into_iter()
            .filter_map(|used| file_of(&absolute(&own, &used)?, &files));
        let used = used.filter(|used| used != path).collect();
        imports.insert(path.clone(), used);
    }
    imports
}

/// The files that stand on a circle of imports.
pub fn circles(imports: &Imports) -> BTreeSet<String> {
    let on_a_circle = |start: &String| {
        let mut seen: BTreeSet<&String> = BTreeSet::new();
        let mut open: Vec<&String> = imports[start].iter().collect();
        while let Some(next) = open.pop() {
            if next == start {
                return true;
            }
            if seen.insert(next) {
                open.extend(imports.get(next).into_iter().flatten());
            }
        }
        false
    };
    let files = imports.keys().filter(|file| on_a_circle(file));
    files.cloned().collect()
}

/// The module that a file is; none for the binary and for unit tests in files of their own.
pub fn module(path: &str) -> Option<Vec<String>> {
    let inside = path.strip_prefix("src/")?.strip_suffix(".rs")?;
    let inside = inside.strip_suffix("/mod").unwrap_or(inside);
    let parts: Vec<String> = inside.split('/').map(str::to_string).collect();
    let is_test = parts.iter().any(|part| part == "tests");
    (!is_test && parts != ["main"] && parts != ["lib"]).then_some(parts)
}

/// All paths behind `use`, and those of `crate::` and `super::` in the code, groups written out.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for prefix in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(prefix) {
            let before = code[..at].chars().next_back();
            if before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != ':') {
                written_out(&code[at..], &mut Vec::new(), &mut found);
            }
        }
    }
    found
}

/// Reads one path, or a group of them in braces, and gives what stands behind it.
fn written_out<'a>(
    mut text: &'a str,
    before: &mut Vec<String>,
    found: &mut Vec<Vec<String>>,
) -> &'a str {
    let depth = before.len();
    loop {
        text = text.trim_start();
        if let Some(inside) = text.strip_prefix('{') {
            text = inside;
            loop {
                text = written_out(text, before, found).trim_start();
                match text.strip_prefix(',') {
                    Some(rest) if !rest.trim_start().starts_with('}') => text = rest,
                    Some(rest) => {
                        text = rest.trim_start();
                        break;
                    }
                    None => break,
                }
            }
            text = text.strip_prefix('}').unwrap_or(text);
            break;
        }
        let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
        let (word, rest) = text.split_at(end.unwrap_or(text.len()));
        before.push(word.to_string());
        match rest.strip_prefix("::") {
            Some(rest) => text = rest,
            None => {
                found.push(before.clone());
                text = rest;
                break;
            }
        }
    }
    before.truncate(depth);
    text
}

/// A path from the root of the crate.
fn absolute(own: &[String], used: &[String]) -> Option<Vec<String>> {
    let mut at = own.to_vec();
    let mut used = used.iter();
    match used.next()?.as_str() {
        "crate" => at.clear(),
        "self" => {}
        "super" => drop(at.pop()),
        _ => return None,
    }
    for word in used {
        match word.as_str() {
            "super" => drop(at.pop()),
            _ => at.push(word.clone()),
        }
    }
    Some(at)
}

/// The file that holds what a path names: that of its longest part that is a module.
fn file_of(path: &[String], files: &BTreeMap<Vec<String>, &str>) -> Option<String> {
    let lengths = (1..=path.len()).rev();
    let mut held = lengths.filter_map(|length| files.get(&path[..length]));
    held.next().map(|file| file.to_string())
}

#[cfg(test)]
fn crate_of(files: &[(&str, &str)]) -> Vec<(String, String)> {
    let own = |(path, text): &(&str, &str)| (path.to_string(), text.to_string());
    files.iter().map(own).collect()
}

#[test]
fn imports_are_found_in_groups_and_by_way_of_super() {
    let texts = crate_of(&[
        ("src/a/mod.rs", "use crate::{b::{self, C}, a::d::E,};\n"),
        (
            "src/a/d.rs",
            "use super::super::b;\nfn f() { super::g() }\n",
        ),
        ("src/b.rs", "use std::fmt;\n"),
    ]);
    let imports = imports(&texts);
    let of = |path: &str| imports[path].iter().map(String::as_str).collect::<Vec<_>>();
    assert_eq!(of("src/a/mod.rs"), ["src/a/d.rs", "src/b.rs"]);
    assert_eq!(of("src/a/d.rs"), ["src/a/mod.rs", "src/b.rs"]);
    assert!(of("src/b.rs").is_empty());
}

#[test]
fn a_circle_of_imports_is_found() {
    let texts = crate_of(&[
        ("src/a.rs", "use crate::b::B;\n"),
        ("src/b.rs", "use crate::c::C;\n"),
        ("src/c.rs", "use crate::a::A;\n"),
        ("src/d.rs", "use crate::a::A;\n"),
    ]);
    let found = circles(&imports(&texts));
    let found: Vec<&str> = found.iter().map(String::as_str).collect();
    assert_eq!(found, ["src/a.rs", "src/b.rs", "src/c.rs"]);
}
