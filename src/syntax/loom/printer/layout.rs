//! Pieces to lines.

use super::groups::{Groups, is_separating_comma};
use super::pieces::{Piece, PieceKind};
use super::spacing::is_spaced;
use super::{Forced, INDENTATION};

/// One line as it will be written.
#[derive(Default)]
pub(super) struct Line<'a> {
    /// With its indentation; empty for a line that is empty, or has a comment only.
    pub code: String,
    pub comment: Option<LineComment<'a>>,
    /// The pieces of the code.
    pub pieces: Vec<usize>,
}

/// A comment, and where it stood in the source.
pub(super) struct LineComment<'a> {
    pub text: &'a str,
    /// Whether it follows code.
    pub trailing: bool,
    pub column: usize,
    pub gap: usize,
}

/// Distributes the pieces over lines.
pub(super) fn layout<'a>(
    pieces: &[Piece<'a>],
    groups: &Groups,
    padding: &[usize],
    forced: &Forced,
) -> Vec<Line<'a>> {
    let mut layout = Layout {
        pieces,
        groups,
        forced,
        lines: Vec::new(),
        line: Line::default(),
        levels: vec![Level {
            inside: 0,
            around: 0,
        }],
        below_find: None,
        starts_with_else: false,
    };
    for (at, padding) in padding.iter().enumerate() {
        layout.piece(at, *padding);
    }
    layout.end_line();
    layout.lines
}

struct Layout<'a, 'p> {
    pieces: &'p [Piece<'a>],
    groups: &'p Groups,
    forced: &'p Forced,
    lines: Vec<Line<'a>>,
    line: Line<'a>,
    /// Of the groups that are spread, from the outermost.
    levels: Vec<Level>,
    /// The column below what an `on … find` looks for, while that element is being written.
    below_find: Option<usize>,
    /// Whether the line goes on with `else` from the line before.
    starts_with_else: bool,
}

/// How far a spread group is indented.
struct Level {
    /// Its elements.
    inside: usize,
    /// Its closing bracket.
    around: usize,
}

impl<'a> Layout<'a, '_> {
    fn piece(&mut self, at: usize, padding: usize) {
        let piece = &self.pieces[at];
        if self.is_dropped(at) {
            return;
        }
        let begins_line = self.begins_line(at);
        if begins_line {
            self.end_line();
            self.blank_line(at);
        }
        let closed = self.groups.closed_by(at).filter(|group| group.is_spread);
        let indentation = match closed {
            Some(_) => self.levels.pop().map_or(0, |level| level.around),
            None => self.indentation(at),
        };
        match piece.kind {
            PieceKind::Comment {
                trailing,
                column,
                gap,
            } => {
                let trailing = trailing && !begins_line;
                if !trailing {
                    self.line.code = " ".repeat(indentation);
                }
                let text = piece.text;
                self.line.comment = Some(LineComment {
                    text,
                    trailing,
                    column,
                    gap,
                });
            }
            PieceKind::Token { .. } => {
                if self.line.pieces.is_empty() {
                    self.line.code = " ".repeat(indentation);
                    self.starts_with_else = piece.is("else") && !self.groups.begins[at];
                } else if is_spaced(self.pieces, self.groups, at) {
                    self.line.code.push(' ');
                }
                self.line.code.extend(std::iter::repeat_n(' ', padding));
                self.line.code.push_str(piece.text);
                self.line.pieces.push(at);
                if self.groups.begins[at] && self.is_spread(self.groups.of[at]) {
                    self.below_find = None;
                }
                if piece.is("find") && at >= 2 && self.pieces[at - 2].is("on") {
                    self.below_find = Some(self.line.code.chars().count() + 2 - piece.text.len());
                }
            }
        }
        self.open(at);
    }

    /// Begins a level behind a bracket whose elements are spread.
    fn open(&mut self, at: usize) {
        if self
            .groups
            .opened_by(at)
            .is_none_or(|group| !group.is_spread)
        {
            return;
        }
        let line = self.line.code.chars().take_while(|c| *c == ' ').count();
        let statement = self.levels.last().map_or(0, |level| level.inside);
        // A block belongs to its statement; behind an `else` of its own line it belongs to that.
        let own_line = self.pieces[at].is("(")
            || self.pieces[at].is("[")
            || self.starts_with_else && self.below_find.is_none();
        let around = if own_line { line } else { statement };
        self.levels.push(Level {
            inside: around + INDENTATION,
            around,
        });
    }

    fn is_spread(&self, group: Option<usize>) -> bool {
        group.is_none_or(|group| self.groups.all[group].is_spread)
    }

    /// A newline says as much as a comma, unless the next line would go on without it.
    fn is_dropped(&self, at: usize) -> bool {
        if !self.pieces[at].is(",") || !is_separating_comma(self.pieces, self.groups, at) {
            return false;
        }
        let before = self.pieces[..at].last().and_then(Piece::token);
        let after = self.pieces[at + 1..].iter().find_map(Piece::token);
        let ends_line = self.pieces.get(at + 1).is_some_and(Piece::is_comment)
            || after.is_some_and(|after| after.closes())
            || self.begins_line(at + 1);
        ends_line
            && before.is_some_and(|before| !before.wants_more())
            && after.is_some_and(|after| !after.continues() || after.closes())
    }

    fn begins_line(&self, at: usize) -> bool {
        let piece = &self.pieces[at];
        let Some(before) = at.checked_sub(1) else {
            return false;
        };
        let last = &self.pieces[before];
        if last.is_comment() {
            return true;
        }
        if piece.is_comment() {
            // A comment stays behind what it followed, also where a comma has gone.
            return matches!(
                piece.kind,
                PieceKind::Comment {
                    trailing: false,
                    ..
                }
            );
        }
        if let Some(group) = self.groups.opened_by(before).or(self.groups.closed_by(at)) {
            return group.is_spread;
        }
        if self.groups.begins[at] {
            let is_forced = self.groups.of[at]
                .is_some_and(|group| self.forced.groups.contains(&self.groups.all[group].open));
            return is_forced || piece.newlines > 0;
        }
        if self.forced.breaks.contains(&at) {
            return true;
        }
        let joins = piece.is("{")
            || last.is("}") && ["else", "until", "and"].iter().any(|word| piece.is(word))
            || last.is(",");
        piece.newlines > 0 && !joins
    }

    /// How far a line that begins with this piece is indented.
    fn indentation(&self, at: usize) -> usize {
        let piece = &self.pieces[at];
        let element = self.levels.last().map_or(0, |level| level.inside);
        if self.groups.begins[at] && self.is_spread(self.groups.of[at]) {
            return element;
        }
        let last = self.pieces[..at]
            .iter()
            .rev()
            .find(|piece| !piece.is_comment());
        let after_block = last.is_some_and(|last| last.is("}"))
            && ["else", "until", "and"].iter().any(|word| piece.is(word));
        if after_block || piece.is("{") {
            return element;
        }
        self.below_find.unwrap_or(element + INDENTATION)
    }

    fn end_line(&mut self) {
        if !self.line.pieces.is_empty() || self.line.comment.is_some() {
            self.lines.push(std::mem::take(&mut self.line));
        }
        self.starts_with_else = false;
    }

    /// Keeps an empty line, but none at the beginning or the end of a group or in an element.
    fn blank_line(&mut self, at: usize) {
        let is_first = match at.checked_sub(1) {
            None => true,
            Some(before) => self.groups.opened_by(before).is_some(),
        };
        let keeps = self.groups.begins[at] && self.groups.closed_by(at).is_none();
        if self.pieces[at].newlines > 1 && keeps && !is_first {
            self.lines.push(Line::default());
        }
    }
}
