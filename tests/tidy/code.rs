//! A text with its comments and strings blanked out, so that rules about code see only code.
//!
//! In: Rust, C or Loom. Out: the same text, lines and columns kept, with spaces in their place.

/// Blanks comments, strings and characters.
pub fn only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let length = prose(rest);
        let (taken, left) = rest.split_at(length.max(next.len_utf8()));
        if length == 0 {
            code.push_str(taken);
        } else {
            code.extend(taken.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        }
        rest = left;
    }
    code
}

/// The part of a file in front of its unit tests, which stand at the bottom.
pub fn before_tests(text: &str) -> &str {
    match text.find("\n#[cfg(test)]\nmod ") {
        Some(at) => &text[..at + 1],
        None => text,
    }
}

/// The words of some code, each with its line.
pub fn identifiers(code: &str) -> impl Iterator<Item = (usize, &str)> {
    code.lines().enumerate().flat_map(|(line, text)| {
        text.split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|word| !word.is_empty())
            .map(move |word| (line + 1, word))
    })
}

/// How many bytes of comment or literal the text begins with.
fn prose(text: &str) -> usize {
    let until = |end: &str, from: usize| match text[from..].find(end) {
        Some(at) => from + at + end.len(),
        None => text.len(),
    };
    if text.starts_with("//") {
        until("\n", 2).saturating_sub(1).max(2)
    } else if text.starts_with("/*") {
        until("*/", 2)
    } else if text.starts_with("r#\"") {
        until("\"#", 3)
    } else if text.starts_with('"') {
        quoted(text, '"')
    } else if text.starts_with('\'') {
        character(text)
    } else {
        0
    }
}

fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote {
            return at + 1;
        }
    }
    text.len()
}

/// A character in quotes; a lifetime is none.
fn character(text: &str) -> usize {
    let mut inside = text.chars().skip(1);
    match (inside.next(), inside.next()) {
        (Some('\\'), _) => quoted(text, '\''),
        (Some(c), Some('\'')) => c.len_utf8() + 2,
        (Some(_), Some(_)) | (Some(_), None) | (None, _) => 0,
    }
}

#[test]
fn comments_and_literals_are_blanked() {
    let text = "let a = \"x // \\\" y\"; // note\nf('\"', &'a b) /* c\nd */ e";
    let code = only(text);
    assert_eq!(code.lines().count(), text.lines().count());
    let words: Vec<_> = identifiers(&code).collect();
    let expected = [(1, "let"), (1, "a"), (2, "f"), (2, "a"), (2, "b"), (3, "e")];
    assert_eq!(words, expected);
}

#[test]
fn unit_tests_are_left_out() {
    assert_eq!(before_tests("a\n#[cfg(test)]\nmod tests {}\n"), "a\n");
    assert_eq!(before_tests("a\n"), "a\n");
}
