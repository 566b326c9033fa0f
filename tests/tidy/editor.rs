//! The grammar for editors knows the words of the language, and no others.
//!
//! In: the tables of tokens, and `editor/loom.tmLanguage.json`. Out: the words that differ.

use crate::glossary::words;
use serde_json::Value;
use std::collections::BTreeSet;

const TOKENS: &str = include_str!("../../src/syntax/loom/token.rs");
const GRAMMAR: &str = include_str!("../../editor/loom.tmLanguage.json");
const EXTENSION: &str = include_str!("../../editor/package.json");

/// The scopes whose patterns list words of the language.
const SCOPES: [&str; 4] = [
    "storage.type.loom",
    "keyword.control.loom",
    "keyword.operator.word.loom",
    "constant.language.loom",
];

/// The words that a grammar has as `(a|b)`.
fn in_grammar(grammar: &str) -> BTreeSet<String> {
    let grammar: Value = serde_json::from_str(grammar).expect("the grammar is JSON");
    let patterns = grammar["patterns"].as_array().expect("it has patterns");
    let ours = patterns
        .iter()
        .filter(|pattern| SCOPES.iter().any(|scope| pattern["name"] == *scope));
    let lists = ours.map(|pattern| {
        let text = pattern["match"].as_str().expect("a pattern has a match");
        let list = text
            .split_once("\\b(")
            .and_then(|(_, rest)| rest.split_once(')'));
        list.expect("it lists words").0.to_string()
    });
    lists
        .flat_map(|list| list.split('|').map(String::from).collect::<Vec<_>>())
        .collect()
}

#[test]
fn the_grammar_for_editors_has_each_word_and_no_other() {
    let known = words(TOKENS);
    assert!(known.len() > 60, "the tables are found");
    assert_eq!(in_grammar(GRAMMAR), known);
    let planted = GRAMMAR.replacen("worker|", "", 1);
    assert_ne!(
        in_grammar(&planted),
        known,
        "a word that is missing is found"
    );
}

#[test]
fn the_extension_names_its_files_and_the_version_of_the_crate() {
    let extension: Value = serde_json::from_str(EXTENSION).expect("it is JSON");
    assert_eq!(extension["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(
        extension["contributes"]["grammars"][0]["path"],
        "./loom.tmLanguage.json"
    );
    let language = &extension["contributes"]["languages"][0];
    assert_eq!(language["configuration"], "./language-configuration.json");
}

#[test]
fn the_newest_changes_are_those_of_this_version() {
    let changes = include_str!("../../CHANGELOG.md");
    let newest = changes.lines().find_map(|line| line.strip_prefix("## "));
    let version = newest.and_then(|heading| heading.split(' ').next());
    assert_eq!(version, Some(env!("CARGO_PKG_VERSION")));
}
