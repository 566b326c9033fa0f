//! A file as it should look: what `loom fmt` writes.
//!
//! The printer changes white space, and commas at the ends of lines. Where a line ends is the
//! author's choice as long as it fits; how far it is indented, and what stands between two words,
//! is not. Comments stay where they are, those behind code in their column.
//!
//! ```text
//! pieces     words, signs and comments, with the newlines before them
//! groups     which brackets are spread over several lines
//! layout     pieces -> lines, by the groups and by the breaks that the width has forced
//! width      lines that are too long -> more breaks, until all fit or nothing helps
//! comments   the columns of the comments behind code
//! ```

mod comments;
mod groups;
mod keys;
mod layout;
mod pieces;
mod spacing;
mod width;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use super::ast::File;
use crate::source::Sources;

/// How many characters a line may have.
const WIDTH: usize = 100;

/// How far each level is indented.
const INDENTATION: usize = 4;

/// Formats `source`, the text of `file`, in which there must be no mistake of grammar.
pub fn format(file: &File, source: &str) -> String {
    let mut sources = Sources::new();
    let id = sources.add("", source);
    let pieces = pieces::pieces(id, &sources);
    let padding = keys::padding(file, &pieces);
    let mut forced = Forced::default();
    loop {
        let groups = groups::groups(&pieces, &forced);
        let lines = layout::layout(&pieces, &groups, &padding, &forced);
        if !width::shorten(&lines, &pieces, &groups, &mut forced) {
            return comments::text(&lines);
        }
    }
}

/// Breaks that the author did not write, for lines that would be too long.
#[derive(Default)]
struct Forced {
    /// Brackets whose elements get a line each: the places of the opening ones.
    groups: BTreeSet<usize>,
    /// Pieces that begin a line in the middle of an element.
    breaks: BTreeSet<usize>,
}
