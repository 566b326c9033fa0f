//! Texts of Loom, and what a careless or a hostile author makes of them.
//!
//! In: all Loom of this repository. Out: one of its texts, changed in a few places.

use crate::random::Random;
use std::fs;
use std::path::Path;

/// What may stand where nobody expects it.
const STRANGE: [&str; 24] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "else",
    "\"",
    "'",
    "\0",
    "\u{feff}",
    "é",
    "0",
    "-1",
    "0x",
    "18446744073709551616",
    "65535",
    "none",
    "message",
    "header",
    "as u8",
    "//",
    "///",
    "\r\n",
];

/// Every Loom file, and the sources in cases, by name.
pub fn all() -> Vec<(String, String)> {
    let mut texts = Vec::new();
    for folder in ["layers", "examples", "tests", "bench", "src/tool/project"] {
        collect(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join(folder),
            &mut texts,
        );
    }
    texts.sort();
    assert!(texts.len() > 100, "only {} texts", texts.len());
    texts
}

fn collect(folder: &Path, texts: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).expect("a folder can be listed") {
        let path = entry.expect("a folder can be listed").path();
        let name = path.display().to_string();
        if path.is_dir() {
            collect(&path, texts);
        } else if name.ends_with(".loom") {
            texts.push((name, fs::read_to_string(&path).expect("a layer is a text")));
        } else if name.ends_with(".case") {
            let text = fs::read_to_string(&path).expect("a case is a text");
            let sections = text.split("\n=== source").skip(1);
            let sources = sections.filter_map(|section| section.split_once('\n'));
            for (_, source) in sources {
                let end = source.find("\n=== ").unwrap_or(source.len());
                texts.push((name.clone(), source[..end].to_string()));
            }
        }
    }
}

/// One of the texts, changed in one to four places.
pub fn changed(texts: &[(String, String)], random: &mut Random) -> String {
    let mut text = random.one(texts).1.clone();
    for _ in 0..1 + random.below(4) {
        let (_, other) = random.one(texts);
        change(&mut text, other, random);
    }
    text
}

fn change(text: &mut String, other: &str, random: &mut Random) {
    let mut lines: Vec<&str> = text.lines().collect();
    let at = random.below(lines.len().max(1));
    let foreign: Vec<&str> = other.lines().collect();
    match random.below(8) {
        0 if at < lines.len() => drop(lines.remove(at)),
        1 if at < lines.len() => lines.insert(at, lines[at]),
        2 if !foreign.is_empty() => lines.insert(at, *random.one(&foreign)),
        3 if !foreign.is_empty() && at < lines.len() => lines[at] = *random.one(&foreign),
        4 => lines.truncate(at),
        5 => return word(text, other, random),
        _ => {
            let place = boundary(text, random);
            return text.insert_str(place, random.one::<&str>(&STRANGE));
        }
    }
    *text = lines.join("\n") + "\n";
}

/// Puts a word of another text, or a strange one, in the place of one.
fn word(text: &mut String, other: &str, random: &mut Random) {
    let words: Vec<(usize, &str)> = words(text);
    let others = self::words(other);
    if words.is_empty() || others.is_empty() {
        return;
    }
    let (at, old) = *random.one(&words);
    let end = at + old.len();
    let new = match random.percent(70) {
        true => random.one(&others).1,
        false => *random.one::<&str>(&STRANGE),
    };
    text.replace_range(at..end, new);
}

/// Where words and numbers are.
fn words(text: &str) -> Vec<(usize, &str)> {
    let parts = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let start = text.as_ptr() as usize;
    let places = parts.filter(|part| !part.is_empty());
    places
        .map(|part| (part.as_ptr() as usize - start, part))
        .collect()
}

fn boundary(text: &str, random: &mut Random) -> usize {
    let mut place = random.below(text.len() + 1);
    while !text.is_char_boundary(place) {
        place -= 1;
    }
    place
}
