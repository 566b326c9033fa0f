//! Files of C that are divided into parts, of which generated code holds copies.
//!
//! A part begins behind a line `/* part NAME */`, and ends before the next such line. In: such a
//! file, and code. Out: the parts that the code calls, and those that these call.

use std::collections::BTreeSet;

const MARK: &str = "\n/* part ";

/// The words of C code, comments left out.
pub fn words(code: &str) -> BTreeSet<&str> {
    let words = all_words(code).into_iter();
    words.map(|(_, word)| word).collect()
}

/// The same without the names of members, which say nothing of what has such a name itself.
pub fn plain_words(code: &str) -> BTreeSet<&str> {
    let words = all_words(code).into_iter();
    let is_member = |before: &str| before.ends_with('.') || before.ends_with("->");
    let plain = words.filter(|(before, _)| !is_member(before));
    plain.map(|(_, word)| word).collect()
}

/// Each word of C code, with what stands before it.
fn all_words(code: &str) -> Vec<(&str, &str)> {
    let mut words = Vec::new();
    for piece in pieces(code) {
        let mut start = 0;
        for (at, byte) in piece.bytes().enumerate() {
            if !is_of_word(byte) {
                words.extend((start < at).then(|| (&piece[..start], &piece[start..at])));
                start = at + 1;
            }
        }
        let is_open = start < piece.len();
        words.extend(is_open.then(|| (&piece[..start], &piece[start..])));
    }
    words
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// C code without its comments.
pub fn without_comments(code: &str) -> String {
    pieces(code).concat()
}

/// Splits C code at its comments, and returns the code between them.
fn pieces(code: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = code;
    while !rest.is_empty() {
        let end = rest.find("/*").unwrap_or(rest.len());
        pieces.push(&rest[..end]);
        rest = match rest[end..].find("*/") {
            Some(closed) => &rest[end + closed + 2..],
            None => "",
        };
    }
    pieces
}

/// The words that a parenthesis follows: what code calls or declares.
pub fn called(code: &str) -> BTreeSet<&str> {
    let mut called = BTreeSet::new();
    for (open, _) in code.match_indices('(') {
        let mut before = code.as_bytes()[..open].iter();
        let start = before.rposition(|byte| !is_of_word(*byte));
        called.insert(&code[start.map_or(0, |at| at + 1)..open]);
    }
    called
}

/// All parts of a file: their names and their texts.
pub fn parts(file: &str) -> Vec<(&str, &str)> {
    let parts = file.split(MARK).skip(1);
    parts
        .map(|part| part.split_once(" */\n").expect("a part has a name"))
        .map(|(name, text)| (name, text.trim_end()))
        .collect()
}

/// The names of all parts of a file.
pub fn names(file: &'static str) -> impl Iterator<Item = &'static str> {
    parts(file).into_iter().map(|(name, _)| name)
}

/// The names of all functions that a file defines.
pub fn defined(file: &'static str) -> impl Iterator<Item = &'static str> {
    let lines = parts(file).into_iter().flat_map(|(_, text)| text.lines());
    let heads = lines.filter(|line| line.starts_with(|first: char| first.is_ascii_alphabetic()));
    heads.filter_map(|line| {
        let before = line.split_once('(')?.0;
        let is_word = |letter: char| u8::try_from(letter).is_ok_and(is_of_word);
        before.rsplit(|letter| !is_word(letter)).next()
    })
}

/// The parts of a file that code calls, and those that these call.
pub fn select<'f>(file: &'f str, code: &str) -> Vec<&'f str> {
    let mut wanted: BTreeSet<String> = called(code).into_iter().map(String::from).collect();
    let mut chosen = Vec::new();
    for (name, text) in parts(file).into_iter().rev() {
        if wanted.contains(name) {
            wanted.extend(called(text).into_iter().map(String::from));
            chosen.push(text);
        }
    }
    chosen.reverse();
    chosen
}

/// The end of lines that only some stacks have.
const END: &str = "END";

/// Returns the text without the lines between `WHERE x` and `END` for each `x` that a stack does
/// not have, and without those between `WITHOUT x` and `END` for each that it has. Such lines may
/// stand among others.
pub fn where_has(text: &str, has: &[&str]) -> String {
    let mut kept = String::new();
    let mut around: Vec<bool> = Vec::new();
    for line in text.split_inclusive('\n') {
        match line.trim().split_once(' ') {
            Some(("WHERE", of)) => around.push(has.contains(&of)),
            Some(("WITHOUT", of)) => around.push(!has.contains(&of)),
            _ if line.trim() == END => {
                around.pop();
            }
            _ if around.iter().all(|is_kept| *is_kept) => kept += line,
            _ => {}
        }
    }
    kept
}

/// The text of a part of a file.
pub fn part(file: &'static str, name: &str) -> &'static str {
    let found = parts(file).into_iter().find(|(known, _)| *known == name);
    found.expect("the file has this part").1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_no_plain_word() {
        let code = "event = (struct event){.x = other->y}; z = one.event;";
        assert_eq!(
            plain_words(code),
            BTreeSet::from(["event", "struct", "other", "z", "one"])
        );
    }

    #[test]
    fn comments_have_no_words() {
        assert_eq!(
            words("/* drop it */ cut(x); /* all */"),
            BTreeSet::from(["cut", "x"])
        );
    }
}
