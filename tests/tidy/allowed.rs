//! Limits with a list of today's breaches, which may only shrink.
//!
//! In: the breaches of a rule, each a key with its size. Out: a complaint for each that
//! `tests/tidy/allowed.toml` does not list, or lists with a smaller size, and for each entry of the
//! list that is larger than what is there. `BLESS=1` removes and lowers entries, and adds none.

use crate::Complaint;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// Breaches by their key: the path of a file, of a folder, or a name.
pub type Breaches = BTreeMap<String, usize>;

/// The lists of all rules, by the name of the rule.
type Lists = BTreeMap<String, Breaches>;

/// Where the lists stand, from the root of the repository.
pub const PATH: &str = "tests/tidy/allowed.toml";

const HEAD: &str = "\
# Breaches of the rules of `tests/tidy.rs` that were there when a rule came, each with its size.
# An entry may become smaller or go; `BLESS=1 cargo test --test tidy` writes what has become less.
";

fn place() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(PATH)
}

fn lists(text: &str) -> Lists {
    toml::from_str(text).expect("the lists are TOML: a table for each rule, a number for each key")
}

fn written(lists: &Lists) -> String {
    let mut text = HEAD.to_string();
    for (rule, entries) in lists.iter().filter(|(_, entries)| !entries.is_empty()) {
        text += &format!("\n[{rule}]\n");
        for (key, size) in entries {
            text += &format!("{key:?} = {size}\n");
        }
    }
    text
}

/// Compares what each rule found with its list.
pub fn compared(found: &BTreeMap<&str, Breaches>) -> Vec<Complaint> {
    let text = fs::read_to_string(place()).expect("the lists can be read");
    let known = lists(&text);
    if std::env::var_os("BLESS").is_some() {
        fs::write(place(), written(&lowered(&known, found))).expect("the lists can be written");
    }
    complaints(&known, found)
}

fn complaints(known: &Lists, found: &BTreeMap<&str, Breaches>) -> Vec<Complaint> {
    let nothing = Breaches::new();
    let mut complaints = Vec::new();
    for (rule, breaches) in found {
        let list = known.get(*rule).unwrap_or(&nothing);
        for (key, size) in breaches {
            let allowed = list.get(key).copied().unwrap_or(0);
            if *size > allowed {
                complaints.push((
                    1,
                    format!("{rule}: {key:?} = {size}, and {allowed} is listed"),
                ));
            }
        }
        for (key, allowed) in list {
            let size = breaches.get(key).copied().unwrap_or(0);
            if size < *allowed {
                let say =
                    format!("{rule}: {key:?} is {size} now, so the list must say so: BLESS=1");
                complaints.push((1, say));
            }
        }
    }
    let gone = known
        .keys()
        .filter(|rule| !found.contains_key(rule.as_str()));
    complaints.extend(gone.map(|rule| (1, format!("there is no rule `{rule}`"))));
    complaints
}

/// The lists with each entry as small as what is there.
fn lowered(known: &Lists, found: &BTreeMap<&str, Breaches>) -> Lists {
    let mut lists = Lists::new();
    for (rule, list) in known {
        let Some(breaches) = found.get(rule.as_str()) else {
            continue;
        };
        let entries = list.iter().filter_map(|(key, allowed)| {
            let size = breaches.get(key)?.min(allowed);
            Some((key.clone(), *size))
        });
        lists.insert(rule.clone(), entries.collect());
    }
    lists
}

#[test]
fn a_breach_that_grows_and_an_entry_that_is_too_large_are_found() {
    let known = lists("[folder-files]\n\"src/a\" = 20\n\"src/b\" = 15\n");
    let breaches = |entries: &[(&str, usize)]| {
        let entries = entries.iter().map(|(key, size)| (key.to_string(), *size));
        BTreeMap::from([("folder-files", entries.collect::<Breaches>())])
    };
    let same = breaches(&[("src/a", 20), ("src/b", 15)]);
    assert_eq!(complaints(&known, &same), []);
    let grown = breaches(&[("src/a", 21), ("src/b", 15), ("src/c", 15)]);
    assert_eq!(complaints(&known, &grown).len(), 2);
    let fewer = breaches(&[("src/a", 19)]);
    assert_eq!(complaints(&known, &fewer).len(), 2);
    let less = written(&lowered(&known, &fewer));
    assert!(less.ends_with("[folder-files]\n\"src/a\" = 19\n"), "{less}");
    assert_eq!(lowered(&known, &grown), known);
}
