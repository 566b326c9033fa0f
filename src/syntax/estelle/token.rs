//! The words, numbers, strings and signs of Estelle.

use crate::source::Span;

/// A word, number, string or sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub kind: TokenKind,
    /// The text as it is written.
    pub text: &'a str,
    /// The canonical form of a reserved word or sign; empty for all others.
    pub word: &'static str,
    pub span: Span,
    /// True if it is the first token of its line.
    pub begins_line: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A name, also a directive such as `forward`.
    Name,
    /// A reserved word.
    Keyword,
    Integer,
    Real,
    /// A string, with its quotes.
    Text,
    Sign,
    /// The end of the file.
    End,
}

/// A comment, with its brackets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comment<'a> {
    pub text: &'a str,
    pub span: Span,
}

/// Words that are never names, in alphabetical order.
pub(super) const KEYWORDS: &[&str] = &[
    "activity",
    "all",
    "and",
    "any",
    "array",
    "attach",
    "begin",
    "body",
    "by",
    "case",
    "channel",
    "common",
    "connect",
    "const",
    "default",
    "delay",
    "detach",
    "disconnect",
    "div",
    "do",
    "downto",
    "else",
    "end",
    "exist",
    "export",
    "external",
    "file",
    "for",
    "forone",
    "from",
    "function",
    "goto",
    "if",
    "in",
    "individual",
    "init",
    "initialize",
    "interactionpoint",
    "ip",
    "label",
    "mod",
    "module",
    "modvar",
    "name",
    "nil",
    "not",
    "of",
    "or",
    "otherwise",
    "output",
    "packed",
    "primitive",
    "priority",
    "procedure",
    "process",
    "program",
    "provided",
    "pure",
    "queue",
    "record",
    "release",
    "repeat",
    "same",
    "set",
    "specification",
    "state",
    "stateset",
    "suchthat",
    "systemactivity",
    "systemprocess",
    "terminate",
    "then",
    "timescale",
    "to",
    "trans",
    "type",
    "until",
    "var",
    "when",
    "while",
    "with",
];

/// Signs as they are written, and their canonical form; the longer ones first.
pub(super) const SIGNS: &[(&str, &str)] = &[
    ("...", ".."),
    (":=", ":="),
    ("<>", "<>"),
    ("<=", "<="),
    (">=", ">="),
    ("..", ".."),
    ("(.", "["),
    (".)", "]"),
    (";", ";"),
    (":", ":"),
    (",", ","),
    (".", "."),
    ("(", "("),
    (")", ")"),
    ("[", "["),
    ("]", "]"),
    ("^", "^"),
    ("@", "^"),
    ("+", "+"),
    ("-", "-"),
    ("*", "*"),
    ("/", "/"),
    ("=", "="),
    ("<", "<"),
    (">", ">"),
];

/// Returns the reserved word that a text is in any letter case.
pub(super) fn keyword(text: &str) -> Option<&'static str> {
    let lower = text.to_ascii_lowercase();
    let found = KEYWORDS.binary_search(&lower.as_str()).ok()?;
    Some(KEYWORDS[found])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_words_are_sorted_and_found_in_any_case() {
        assert!(KEYWORDS.is_sorted());
        assert_eq!(keyword("SystemProcess"), Some("systemprocess"));
        assert_eq!(keyword("forward"), None);
    }
}
