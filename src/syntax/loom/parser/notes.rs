//! Comments that become a part of the tree: `///` goes with the node that follows it, `//=` with
//! the node that follows it, or with the one behind whose text it stands.

use super::Parser;
use crate::source::Span;
use crate::syntax::loom::ast::{CitedRule, Notes};
use crate::syntax::loom::token::{CommentKind, Token, TokenKind};

/// Where a node begins, and what was said before it.
pub(super) struct Beginning {
    /// Its first token.
    token: usize,
    /// The first comment that may belong to it.
    comment: usize,
    documentation: Vec<String>,
}

impl Parser<'_> {
    /// To be called before the first token of a node is taken.
    pub(super) fn begin(&mut self) -> Beginning {
        let start = self.token().span.start;
        let last = if self.at > 0 {
            self.tokens[self.at - 1].span.end
        } else {
            0
        };
        let first = self
            .comments
            .partition_point(|comment| comment.span.start < last);
        let behind = self
            .comments
            .partition_point(|comment| comment.span.start < start);
        let is_own = |&at: &usize| !self.comments[at].trailing;
        let comment = (first..behind).find(is_own).unwrap_or(behind);
        let mut documentation = Vec::new();
        for at in comment..behind {
            if self.comments[at].kind == CommentKind::Documentation && !self.claimed[at] {
                self.claimed[at] = true;
                let line = &self.comments[at].text["///".len()..];
                documentation.push(line.strip_prefix(' ').unwrap_or(line).to_owned());
            }
        }
        Beginning {
            token: self.at,
            comment,
            documentation,
        }
    }

    /// To be called when the last token of the node has been taken: its notes and its span. What
    /// nodes inside it have already claimed is theirs.
    pub(super) fn finish(&mut self, beginning: Beginning) -> (Notes, Span) {
        let span = self.span_from(beginning.token);
        let separates = |token: &&Token| token.kind == TokenKind::Newline || token.is(",");
        let next = self.tokens[self.at..]
            .iter()
            .find(|token| !separates(token));
        let next = next.map_or(u32::MAX, |token| token.span.start);
        let mut rules = Vec::new();
        for at in beginning.comment..self.comments.len() {
            let comment = self.comments[at];
            let inside = comment.span.start < span.end;
            if !inside && (!comment.trailing || comment.span.start > next) {
                break;
            }
            if comment.kind == CommentKind::Rule && !self.claimed[at] {
                self.claimed[at] = true;
                let text = comment.text["//=".len()..].trim();
                let (reference, remark) =
                    text.split_once(char::is_whitespace).unwrap_or((text, ""));
                rules.push(CitedRule {
                    reference: reference.to_owned(),
                    remark: remark.trim_start().to_owned(),
                    span: comment.span,
                });
            }
        }
        (
            Notes {
                documentation: beginning.documentation,
                rules,
            },
            span,
        )
    }
}
