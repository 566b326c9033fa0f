//! The pieces of a text: everything that is printed, in order.

use crate::source::{FileId, Sources};
use crate::syntax::loom::lexer::lex;
use crate::syntax::loom::token::{Comment, Token, TokenKind};

/// A word, a sign or a comment.
pub(super) struct Piece<'a> {
    pub text: &'a str,
    pub kind: PieceKind<'a>,
    /// Where it begins in the source.
    pub start: u32,
    /// How many newlines stand before it.
    pub newlines: usize,
}

pub(super) enum PieceKind<'a> {
    Token {
        token: Token<'a>,
        /// Whether a newline before it separates it from what stands there.
        separated: bool,
    },
    Comment {
        trailing: bool,
        /// Its column in the source, from zero, where a tab goes to the next multiple of four.
        column: usize,
        /// How many columns lie between the code and the comment.
        gap: usize,
    },
}

impl<'a> Piece<'a> {
    /// The token, if it is one.
    pub fn token(&self) -> Option<&Token<'a>> {
        match &self.kind {
            PieceKind::Token { token, .. } => Some(token),
            PieceKind::Comment { .. } => None,
        }
    }

    /// Whether it is this word or sign.
    pub fn is(&self, text: &str) -> bool {
        self.token().is_some_and(|token| token.is(text))
    }

    pub fn is_comment(&self) -> bool {
        self.token().is_none()
    }
}

/// Cuts a text into its pieces.
pub(super) fn pieces(file: FileId, sources: &Sources) -> Vec<Piece<'_>> {
    let text = sources.text(file);
    let lexed = lex(file, sources);
    let mut comments = lexed.comments.into_iter().peekable();
    let mut pieces = Vec::new();
    let mut separated = false;
    for token in lexed.tokens {
        while let Some(comment) = comments.next_if(|it| it.span.start < token.span.start) {
            pieces.push(comment_piece(comment, text));
        }
        match token.kind {
            TokenKind::Newline => separated = true,
            TokenKind::End => {}
            TokenKind::Word
            | TokenKind::Number
            | TokenKind::Share
            | TokenKind::Sign
            | TokenKind::Angle => {
                let start = token.span.start;
                let kind = PieceKind::Token { token, separated };
                pieces.push(Piece {
                    text: token.text,
                    kind,
                    start,
                    newlines: 0,
                });
                separated = false;
            }
        }
    }
    pieces.extend(comments.map(|comment| comment_piece(comment, text)));
    let mut end = 0;
    for piece in &mut pieces {
        let between = &text[end..piece.start as usize];
        piece.newlines = between.bytes().filter(|byte| *byte == b'\n').count();
        end = piece.start as usize + piece.text.len();
    }
    pieces
}

fn comment_piece<'a>(comment: Comment<'a>, text: &'a str) -> Piece<'a> {
    let start = comment.span.start;
    let line = text[..start as usize]
        .rsplit('\n')
        .next()
        .unwrap_or_default();
    let column = columns(line);
    let gap = column - columns(line.trim_end());
    let kind = PieceKind::Comment {
        trailing: comment.trailing,
        column,
        gap,
    };
    Piece {
        text: comment.text,
        kind,
        start,
        newlines: 0,
    }
}

fn columns(line: &str) -> usize {
    line.chars().fold(0, |column, c| {
        if c == '\t' {
            (column / 4 + 1) * 4
        } else {
            column + 1
        }
    })
}
