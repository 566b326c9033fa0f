//! One small mistake in a text that is right.
//!
//! In: a text of Loom. Out: the same text with one of its lines or words broken, and a sentence
//! that says how.

use crate::random::Random;
use std::ops::Range;

/// The ways in which a text is broken.
pub const KINDS: [Kind; 10] = [
    Kind::LineDeleted,
    Kind::LineTwice,
    Kind::WordMisspelt,
    Kind::WordDeleted,
    Kind::WordExchanged,
    Kind::BracketDeleted,
    Kind::SignDeleted,
    Kind::TypeChanged,
    Kind::NumberChanged,
    Kind::LinesExchanged,
];

/// One way to break a text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// A line is missing.
    LineDeleted,
    /// A line stands twice.
    LineTwice,
    /// Two letters of a word change places.
    WordMisspelt,
    /// A word is missing.
    WordDeleted,
    /// A word of the text stands in the place of another.
    WordExchanged,
    /// A bracket is missing.
    BracketDeleted,
    /// An operator or a separator is missing.
    SignDeleted,
    /// A type stands in the place of another.
    TypeChanged,
    /// A number is another, and a very large one.
    NumberChanged,
    /// A line stands before the line above it.
    LinesExchanged,
}

/// The text after one mistake of this kind, and what was done; none where there is no place for it.
pub fn broken(text: &str, kind: Kind, random: &mut Random) -> Option<(String, String)> {
    match kind {
        Kind::LineDeleted | Kind::LineTwice | Kind::LinesExchanged => line(text, kind, random),
        Kind::WordMisspelt | Kind::WordDeleted | Kind::WordExchanged => word(text, kind, random),
        Kind::BracketDeleted => sign(text, "()[]{}", random),
        Kind::SignDeleted => sign(text, "=<>+-*/%.,:?&|^~", random),
        Kind::TypeChanged => typed(text, random),
        Kind::NumberChanged => number(text, random),
    }
}

/// A stretch that is code: neither a comment nor empty.
fn code(text: &str) -> Vec<Range<usize>> {
    let mut stretches = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = line.find("//").unwrap_or(line.len());
        let kept = line[..end].trim_end();
        if !kept.is_empty() {
            stretches.push(at..at + kept.len());
        }
        at += line.len();
    }
    stretches
}

fn line(text: &str, kind: Kind, random: &mut Random) -> Option<(String, String)> {
    let code = code(text);
    let mut lines: Vec<&str> = text.lines().collect();
    let chosen = random.one(&code).start;
    let at = text[..chosen].matches('\n').count();
    let said = format!("{kind:?}, line {}: {}", at + 1, lines[at].trim());
    match kind {
        Kind::LineTwice => lines.insert(at, lines[at]),
        Kind::LinesExchanged if at > 0 => lines.swap(at - 1, at),
        _ => drop(lines.remove(at)),
    }
    Some((lines.join("\n") + "\n", said))
}

/// Where words, numbers among them, are in the code.
fn words(text: &str) -> Vec<Range<usize>> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut found = Vec::new();
    for stretch in code(text) {
        let mut start = None;
        let ends = std::iter::once((stretch.len(), ' '));
        for (at, letter) in text[stretch.clone()].char_indices().chain(ends) {
            match (start, is_part(letter)) {
                (None, true) => start = Some(at),
                (Some(first), false) => {
                    found.push(stretch.start + first..stretch.start + at);
                    start = None;
                }
                _ => {}
            }
        }
    }
    found
}

fn replaced(text: &str, range: Range<usize>, by: &str, kind: Kind) -> (String, String) {
    let line = text[..range.start].matches('\n').count();
    let shown = text.lines().nth(line).unwrap_or_default().trim();
    let old = &text[range.clone()];
    let said = format!("{kind:?}, line {}, `{old}` by `{by}`: {shown}", line + 1);
    let mut text = text.to_string();
    text.replace_range(range, by);
    (text, said)
}

fn word(text: &str, kind: Kind, random: &mut Random) -> Option<(String, String)> {
    let words = words(text);
    let at = random.one(&words).clone();
    let old = &text[at.clone()];
    let by = match kind {
        Kind::WordDeleted => String::new(),
        Kind::WordExchanged => text[random.one(&words).clone()].to_string(),
        _ => {
            let mut letters: Vec<char> = old.chars().collect();
            match letters.len() {
                0..=2 => letters.push('q'),
                length => letters.swap(length - 2, length - 1),
            }
            letters.into_iter().collect()
        }
    };
    (by != old).then(|| replaced(text, at, &by, kind))
}

fn sign(text: &str, signs: &str, random: &mut Random) -> Option<(String, String)> {
    let kind = match signs.contains('(') {
        true => Kind::BracketDeleted,
        false => Kind::SignDeleted,
    };
    let mut places = Vec::new();
    for stretch in code(text) {
        for (at, letter) in text[stretch.clone()].char_indices() {
            if signs.contains(letter) {
                places.push(stretch.start + at);
            }
        }
    }
    let at = *places.get(random.below(places.len().max(1)))?;
    Some(replaced(text, at..at + 1, "", kind))
}

fn typed(text: &str, random: &mut Random) -> Option<(String, String)> {
    const TYPES: [&str; 12] = [
        "u1", "u4", "u8", "u16", "u32", "u48", "u64", "i32", "bool", "seq16", "seq32", "time",
    ];
    let mut places = words(text);
    places.retain(|place| TYPES.contains(&&text[place.clone()]));
    let at = places.get(random.below(places.len().max(1)))?.clone();
    let by = *random.one(&TYPES);
    (by != &text[at.clone()]).then(|| replaced(text, at, by, Kind::TypeChanged))
}

fn number(text: &str, random: &mut Random) -> Option<(String, String)> {
    let mut places = words(text);
    places.retain(|place| text[place.clone()].starts_with(|letter: char| letter.is_ascii_digit()));
    let at = places.get(random.below(places.len().max(1)))?.clone();
    let by = *random.one(&["0", "1", "3", "300", "70000", "18446744073709551615"]);
    (by != &text[at.clone()]).then(|| replaced(text, at, by, Kind::NumberChanged))
}
