//! What stands between two pieces on one line: a space, or nothing.

use super::groups::Groups;
use super::pieces::Piece;
use crate::syntax::loom::token::{Token, TokenKind};

/// Words in front of a value that may themselves be names, so that only the author knows whether
/// `most (a)` is a call, and `most -a` a difference.
const BEFORE_VALUES: &[&str] = &[
    "most", "is", "key", "where", "after", "in", "to", "by", "traffic",
];

/// Whether a space stands before this piece, which is not the first of its line.
pub(super) fn is_spaced(pieces: &[Piece], groups: &Groups, at: usize) -> bool {
    let (Some(last), Some(next)) = (pieces[at - 1].token(), pieces[at].token()) else {
        return true;
    };
    let was_spaced = pieces[at].start > last.span.end;
    let before = at.checked_sub(2).and_then(|at| pieces[at].token());
    if groups.opened_by(at - 1).is_some() || groups.closed_by(at).is_some() {
        let braces = last.is("{") || next.is("}");
        return braces
            && groups
                .opened_by(at - 1)
                .is_none_or(|group| group.close != at);
    }
    let tight = [",", ":", "?", ".", "..", "["]
        .iter()
        .any(|sign| next.is(sign));
    if tight || [".", "..", "~"].iter().any(|sign| last.is(sign)) {
        return next.is("[") && !ends_value(last);
    }
    if next.kind == TokenKind::Angle || last.kind == TokenKind::Angle && last.text == "<" {
        return false;
    }
    let is_member = before.is_some_and(|before| before.is("."));
    let subtracts = |value: &Token| {
        let ends = ends_value(value) || at > 2 && pieces[at - 3].is(".");
        let is_apart = last.span.start > value.span.end && !was_spaced;
        ends && !(is_apart && BEFORE_VALUES.contains(&value.text))
    };
    if last.is("-") && !before.is_some_and(subtracts) {
        return false;
    }
    if next.is("(") {
        if is_member {
            return false;
        }
        return match last.kind {
            TokenKind::Word if BEFORE_VALUES.contains(&last.text) => was_spaced,
            TokenKind::Word if names_event(last) => before.is_none_or(|it| !precedes_event(it)),
            TokenKind::Word => last.is_keyword() && !last.is("session") && !last.is("header"),
            TokenKind::Angle => false,
            TokenKind::Number | TokenKind::Share | TokenKind::Newline | TokenKind::End => true,
            TokenKind::Sign => !last.closes() || last.is("}"),
        };
    }
    true
}

/// Whether a value can end with this, so that a `-` behind it subtracts.
fn ends_value(token: &Token) -> bool {
    match token.kind {
        TokenKind::Word => {
            !token.is_keyword()
                || ["true", "false", "none", "now", "header"]
                    .iter()
                    .any(|word| token.is(word))
        }
        TokenKind::Number | TokenKind::Angle => true,
        TokenKind::Sign => token.closes() || token.is("?"),
        TokenKind::Share | TokenKind::Newline | TokenKind::End => false,
    }
}

fn names_event(token: &Token) -> bool {
    ["send", "deliver", "start", "end", "again"]
        .iter()
        .any(|word| token.is(word))
}

/// Whether an event's name may follow, where otherwise a statement would begin.
fn precedes_event(token: &Token) -> bool {
    token.kind == TokenKind::Word && !token.is_keyword()
        || ["on", "or", "case", "await", "until", "every"]
            .iter()
            .any(|word| token.is(word))
}
