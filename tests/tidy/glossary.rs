//! Each name of a file, a rewrite and a word of the language has a row in `glossary.toml`.
//!
//! In: all texts. Out: rows that are not well formed, and names without a row.

use crate::allowed::Breaches;
use crate::{Complaint, modules};
use stackloom::tree::rewrites::ORDER;
use std::collections::{BTreeMap, BTreeSet};

/// The most words of a sentence.
const WORDS: usize = 25;

/// A row: what the term means, and where it comes from.
#[derive(serde::Deserialize)]
struct Row {
    sentence: String,
    source: String,
}

fn rows(text: &str) -> BTreeMap<String, Row> {
    toml::from_str(text).expect("`glossary.toml` has a table for each term")
}

/// Each row has a sentence of at most 25 words, and a source.
pub fn rows_are_sentences(path: &str, text: &str) -> Vec<Complaint> {
    if path != "glossary.toml" {
        return Vec::new();
    }
    let mut complaints = Vec::new();
    for (term, row) in rows(text) {
        let line = text.lines().position(|line| line.contains(&term));
        let mut say = |what: &str| {
            let line = line.map_or(1, |line| line + 1);
            complaints.push((line, format!("`{term}`: {what}")));
        };
        if !row.sentence.ends_with('.') || row.sentence.split(' ').count() > WORDS {
            say("the sentence ends with a full stop and has at most 25 words");
        }
        if row.source.trim().is_empty() {
            say("the source is a paper, an RFC, a book, or `Stackloom`");
        }
    }
    complaints
}

/// Names that have no row.
pub fn names_have_a_row(texts: &[(String, String)]) -> Breaches {
    let text = |path: &str| {
        let mut found = texts.iter().filter(|(name, _)| name == path);
        found.next().map_or("", |(_, text)| text.as_str())
    };
    let rows = rows(text("glossary.toml"));
    let mut names: BTreeSet<String> = words(text("src/syntax/loom/token.rs"));
    names.extend(ORDER.iter().map(|about| about.name.to_string()));
    let files = texts.iter().filter_map(|(path, _)| modules::module(path));
    names.extend(files.filter_map(|mut module| module.pop()));
    let without = names.into_iter().filter(|name| !rows.contains_key(name));
    without.map(|name| (name, 1)).collect()
}

/// The words of the language, from the tables of its tokens.
pub fn words(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for table in ["KEYWORDS", "STATEMENTS"] {
        let begin = format!("const {table}: &[&str] = &[");
        let Some((_, table)) = text.split_once(&begin) else {
            continue;
        };
        let table = table.split_once("];").map_or(table, |(table, _)| table);
        found.extend(table.split('"').skip(1).step_by(2).map(str::to_string));
    }
    found
}

#[test]
fn a_row_without_a_sentence_or_a_source_is_found() {
    let good = "[slot]\nsentence = \"A place for a booster.\"\nsource = \"Boosters 1999\"\n";
    assert_eq!(rows_are_sentences("glossary.toml", good), []);
    let none = good.replace("booster.", "booster");
    assert_eq!(rows_are_sentences("glossary.toml", &none).len(), 1);
    let none = good.replace("Boosters 1999", "");
    assert_eq!(rows_are_sentences("glossary.toml", &none).len(), 1);
}

#[test]
fn a_name_without_a_row_is_found() {
    let text = |path: &str, text: &str| (path.to_string(), text.to_string());
    let texts = [
        text(
            "glossary.toml",
            "[known]\nsentence = \"A fact.\"\nsource = \"Stackloom\"\n",
        ),
        text("src/optimise/known.rs", ""),
        text("src/optimise/begun.rs", ""),
        text(
            "src/syntax/loom/token.rs",
            "const KEYWORDS: &[&str] = &[\"await\"];",
        ),
    ];
    let found = names_have_a_row(&texts);
    let names = ["await", "begun", "inline", "token"];
    assert!(
        names.iter().all(|name| found.contains_key(*name)),
        "{found:?}"
    );
    assert!(!found.contains_key("known"));
}
