//! Lines to text, and the columns of the comments behind code.
//!
//! A comment keeps its column as long as the code leaves room for it; those that stood below each
//! other still do. One that stood right behind its code follows that.

use super::layout::Line;

/// All lines as one text.
pub(super) fn text(lines: &[Line]) -> String {
    let columns = columns(lines);
    let mut text = String::new();
    for (line, column) in lines.iter().zip(columns) {
        match &line.comment {
            None => text.push_str(line.code.trim_end()),
            Some(comment) => {
                let spaces = if comment.trailing {
                    column - width(line)
                } else {
                    0
                };
                text.push_str(&line.code);
                text.extend(std::iter::repeat_n(' ', spaces));
                text.push_str(comment.text);
            }
        }
        text.push('\n');
    }
    text
}

/// The column of the comment of each line that has one behind its code.
fn columns(lines: &[Line]) -> Vec<usize> {
    let mut columns = Vec::new();
    let column = |line: &Line| {
        line.comment
            .as_ref()
            .filter(|it| it.trailing)
            .map(|it| it.column)
    };
    while columns.len() < lines.len() {
        let rest = &lines[columns.len()..];
        let Some(first) = column(&rest[0]) else {
            columns.push(0);
            continue;
        };
        let aligned = rest
            .iter()
            .take_while(|line| column(line) == Some(first))
            .count();
        let comments = rest[..aligned]
            .iter()
            .filter_map(|line| line.comment.as_ref());
        let gap = comments
            .map(|comment| comment.gap)
            .min()
            .unwrap_or_default()
            .clamp(1, 2);
        let room = rest[..aligned].iter().map(width).max().unwrap_or_default() + gap;
        let follows = aligned == 1 && rest[0].comment.as_ref().is_some_and(|it| it.gap <= 2);
        let column = if follows { room } else { first.max(room) };
        columns.extend(std::iter::repeat_n(column, aligned));
    }
    columns
}

fn width(line: &Line) -> usize {
    line.code.chars().count()
}
