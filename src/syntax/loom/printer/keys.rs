//! Nodes that stand side by side begin in one column, whatever the widths of their keys.

use super::pieces::Piece;
use crate::syntax::loom::ast::{Declaration, File, Node};

/// For each piece, how many spaces more than usual stand before it.
pub(super) fn padding(file: &File, pieces: &[Piece]) -> Vec<usize> {
    let mut padding = vec![0; pieces.len()];
    for declaration in &file.declarations {
        match declaration {
            Declaration::Stack(stack) => align(&stack.nodes, pieces, &mut padding),
            Declaration::Service(_)
            | Declaration::Layer(_)
            | Declaration::Item(_)
            | Declaration::Policy(_) => {}
        }
    }
    padding
}

fn align(nodes: &[Node], pieces: &[Piece], padding: &mut [usize]) {
    let at = |offset| pieces.partition_point(|piece| piece.start < offset);
    let mut keyed = Vec::new();
    for node in nodes {
        align(&node.above, pieces, padding);
        let Some(key) = &node.key else { continue };
        let alone = pieces[at(node.span.start)].newlines > 0;
        // A key of several words is nothing to align by.
        if alone && at(key.span.end) == at(key.span.start) + 1 {
            keyed.push((key.span.end - key.span.start, at(key.span.end)));
        }
    }
    let width = keyed
        .iter()
        .map(|(width, _)| *width)
        .max()
        .unwrap_or_default();
    for (key_width, first) in keyed {
        if let Some(padding) = padding.get_mut(first) {
            *padding = (width - key_width) as usize;
        }
    }
}
