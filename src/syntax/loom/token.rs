//! The words, numbers and signs of a text, and its comments.

use crate::source::Span;

/// A word, a number or a sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token<'a> {
    pub kind: TokenKind,
    /// As it is written, or as it should have been: a wrong `&&` has the text `and`.
    pub text: &'a str,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TokenKind {
    Word,
    Number,
    /// `99.9%`
    Share,
    Sign,
    /// `<` or `>` around the element of a container's type.
    Angle,
    /// Only where a newline ends something: not inside a line that goes on.
    Newline,
    End,
}

/// A comment, from its `//` to the end of its line, without white space at its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Comment<'a> {
    pub kind: CommentKind,
    pub text: &'a str,
    pub span: Span,
    /// Whether something stands before it on its line.
    pub trailing: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CommentKind {
    /// `//`
    Plain,
    /// `///`
    Documentation,
    /// `//=`
    Rule,
}

/// Words that can never be names, but behind a dot.
pub(super) const KEYWORDS: &[&str] = &[
    "worker",
    "multiplexor",
    "router",
    "service",
    "filter",
    "header",
    "enum",
    "record",
    "const",
    "type",
    "fn",
    "extern",
    "use",
    "provides",
    "requires",
    "uses",
    "attribute",
    "notice",
    "entity",
    "session",
    "child",
    "timer",
    "signal",
    "process",
    "stack",
    "on",
    "let",
    "require",
    "if",
    "else",
    "match",
    "case",
    "for",
    "in",
    "send",
    "deliver",
    "tell",
    "drop",
    "consume",
    "count",
    "again",
    "end",
    "start",
    "stop",
    "emit",
    "await",
    "run",
    "until",
    "every",
    "loop",
    "repeat",
    "trap",
    "exit",
    "return",
    "with",
    "present",
    "pre",
    "and",
    "or",
    "not",
    "as",
    "through",
    "likely",
    "find",
    "create",
    "new",
    "share",
    "none",
    "true",
    "false",
    "now",
];

/// Words with which a statement begins.
pub(super) const STATEMENTS: &[&str] = &[
    "let", "require", "if", "match", "for", "send", "deliver", "tell", "drop", "consume", "count",
    "again", "end", "start", "stop", "emit", "await", "run", "every", "loop", "repeat", "trap",
    "exit", "pause", "return", "yield",
];

/// Signs between two values, or between a place and its value; longer ones first.
pub(super) const OPERATORS: &[&str] = &[
    "<<=", ">>=", "==", "!=", "<=", ">=", "<<", ">>", "+=", "-=", "*=", "/=", "%=", "&=", "|=",
    "^=", "->", "..", "=", "<", ">", "|", "^", "&", "+", "-", "*", "/", "%", ".",
];

impl Token<'_> {
    /// Whether it is this word or sign.
    pub fn is(&self, text: &str) -> bool {
        matches!(self.kind, TokenKind::Word | TokenKind::Sign) && self.text == text
    }

    /// Whether it is a word of the language.
    pub fn is_keyword(&self) -> bool {
        self.kind == TokenKind::Word && KEYWORDS.contains(&self.text)
    }

    /// Whether it opens a bracket.
    pub fn opens(&self) -> bool {
        self.is("(") || self.is("[") || self.is("{")
    }

    /// Whether it closes a bracket.
    pub fn closes(&self) -> bool {
        self.is(")") || self.is("]") || self.is("}")
    }

    fn is_operator(&self) -> bool {
        self.kind == TokenKind::Sign && OPERATORS.contains(&self.text)
    }

    /// Whether a line that ends with it goes on.
    pub fn wants_more(&self) -> bool {
        const WORDS: &[&str] = &[
            "and", "or", "else", "until", "find", "as", "through", "unless", "not", "present",
            "pre",
        ];
        self.is_operator()
            || self.opens()
            || [",", ":", "~"].iter().any(|sign| self.is(sign))
            || self.kind == TokenKind::Word && WORDS.contains(&self.text)
    }

    /// Whether the line before goes on if the next line begins with it.
    pub fn continues(&self) -> bool {
        const WORDS: &[&str] = &[
            "and", "or", "else", "until", "find", "as", "through", "unless",
        ];
        self.is_operator()
            || self.closes()
            || self.is("{")
            || self.is(",")
            || self.kind == TokenKind::Word && WORDS.contains(&self.text)
    }
}
