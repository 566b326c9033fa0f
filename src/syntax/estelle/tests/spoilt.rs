//! Random, cut and changed texts: no panic, no end that is not reached, and no blow-up.

use super::super::format;
use super::super::token::{KEYWORDS, SIGNS};
use super::{SAMPLE, parse};

/// The seed of all choices.
const SEED: u64 = 9074;

/// Reads a text, and prints it if there is no mistake in it.
fn read(text: &str) {
    let (tree, diagnostics) = parse(text);
    assert!(diagnostics.len() <= 21, "few mistakes are told");
    for found in &diagnostics {
        let span = found.primary.span;
        assert!(
            text.get(span.start as usize..span.end as usize).is_some(),
            "{found:?}"
        );
        assert!(!found.title.is_empty());
    }
    if diagnostics.is_empty() {
        let tree = tree.expect("a text without mistakes has a tree");
        let once = format(&tree, text);
        let (again, diagnostics) = parse(&once);
        assert!(diagnostics.is_empty(), "{once}");
        assert_eq!(format(&again.expect("a tree"), &once), once, "{text}");
    }
}

/// Cuts a text into words, signs and blanks.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = match rest.find(|c| !is_word(c)) {
            Some(0) => rest.chars().next().map_or(1, char::len_utf8),
            Some(length) => length,
            None => rest.len(),
        };
        words.push(&rest[..length]);
        rest = &rest[length..];
    }
    words
}

#[test]
fn cut_texts_are_read() {
    println!("seed {SEED}");
    for length in (0..SAMPLE.len())
        .step_by(3)
        .filter(|at| SAMPLE.is_char_boundary(*at))
    {
        read(&SAMPLE[..length]);
    }
}

#[test]
fn changed_texts_are_read() {
    println!("seed {SEED}");
    let mut choice = fastrand::Rng::with_seed(SEED);
    let sample = words(SAMPLE);
    for _ in 0..1_000 {
        let mut text = sample.clone();
        for _ in 0..choice.usize(1..5) {
            let (at, other) = (choice.usize(..text.len()), choice.usize(..text.len()));
            match choice.u8(..4) {
                0 => drop(text.remove(at)),
                1 => text.insert(at, KEYWORDS[choice.usize(..KEYWORDS.len())]),
                2 => text[at] = SIGNS[choice.usize(..SIGNS.len())].0,
                _ => text.swap(at, other),
            }
        }
        read(&text.concat());
    }
}

#[test]
fn random_words_are_read() {
    println!("seed {SEED}");
    let mut choice = fastrand::Rng::with_seed(SEED);
    for _ in 0..1_000 {
        let mut text = String::from("specification s; ");
        for _ in 0..choice.usize(..60) {
            text.push_str(match choice.u8(..8) {
                0..4 => KEYWORDS[choice.usize(..KEYWORDS.len())],
                4..6 => SIGNS[choice.usize(..SIGNS.len())].0,
                6 => "x",
                _ => ["1", "2.5", "'a'", "{", "}", "é", "1..2", "\n", "(*"][choice.usize(..9)],
            });
            text.push(' ');
        }
        read(&text);
    }
}

#[test]
fn long_and_deep_texts_are_read_in_linear_time() {
    let many = 20_000;
    let trans = "specification s; trans begin ";
    for (head, part) in [
        ("", "("),
        ("", "{"),
        ("", "'"),
        (trans, "begin "),
        (trans, "x := ((("),
        (trans, "case 1 of 1: "),
        (trans, "if a then "),
        (trans, "x := not "),
        (trans, "x := 1 + "),
        (trans, "a[1]."),
        (trans, "else "),
        (trans, "; "),
        (trans, "repeat "),
        (trans, "a := 1; "),
        (trans, "goto 1; "),
        (trans, "write(1; "),
        (trans, "write((1, "),
        ("specification s; ", "body b for m; "),
        ("specification s; trans ", "from a "),
        ("specification s; trans ", "provided a begin end; "),
        ("specification s; trans ", "to a provided otherwise "),
        ("specification s; ", "procedure p; "),
        ("specification s; ", "type t = record a: record "),
        ("specification s; type t = ", "array [1..2] of "),
        ("specification s; type t = ", "^"),
        ("specification s; type t = ", "packed "),
        ("specification s; type t = record ", "case a: b of 1: ("),
        ("specification s; state ", "a, "),
        ("specification s; ", "channel c(a, b); by a: "),
        ("specification s; ", "module m; "),
        ("specification s; ", "type "),
        ("specification s; const a = ", "- "),
        (trans, "1: "),
        (trans, "x^"),
        ("specification s; trans ", "provided otherwise begin end; "),
    ] {
        read(&(head.to_string() + &part.repeat(many)));
    }
}
