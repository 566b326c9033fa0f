//! The words, numbers, texts and signs of Esterel.

use crate::source::Span;

/// A word, number, text or sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub kind: TokenKind,
    /// As it is written.
    pub text: &'a str,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A name.
    Name,
    /// A word of the language.
    Keyword,
    Integer,
    Real,
    /// With its quotes.
    Text,
    Sign,
    End,
}

/// Words that are never names.
pub(super) const KEYWORDS: &[&str] = &[
    "abort",
    "and",
    "await",
    "call",
    "case",
    "combine",
    "constant",
    "copymodule",
    "do",
    "each",
    "else",
    "elsif",
    "emit",
    "end",
    "every",
    "exec",
    "exit",
    "false",
    "function",
    "halt",
    "handle",
    "if",
    "immediate",
    "in",
    "input",
    "inputoutput",
    "loop",
    "mod",
    "module",
    "not",
    "nothing",
    "or",
    "output",
    "pause",
    "positive",
    "pre",
    "present",
    "procedure",
    "relation",
    "repeat",
    "return",
    "run",
    "sensor",
    "signal",
    "suspend",
    "sustain",
    "task",
    "then",
    "timeout",
    "times",
    "trap",
    "true",
    "type",
    "upto",
    "var",
    "watching",
    "weak",
    "when",
    "with",
];

/// Signs, the longer ones first.
pub(super) const SIGNS: &[&str] = &[
    "||", ":=", "=>", "<>", "<=", ">=", "??", ";", ":", ",", ".", "(", ")", "[", "]", "?", "#",
    "+", "-", "*", "/", "=", "<", ">",
];
