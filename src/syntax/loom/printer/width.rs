//! Lines that are too long.
//!
//! What is broken first: blocks on one line; then before each `else`; then the fields of a `with`;
//! then before each `or` or each `and`; then the widest brackets.

use super::groups::{Group, Groups};
use super::layout::Line;
use super::pieces::Piece;
use super::{Forced, WIDTH};

/// Breaks lines that are too long; says whether there was one that could be broken.
pub(super) fn shorten(
    lines: &[Line],
    pieces: &[Piece],
    groups: &Groups,
    forced: &mut Forced,
) -> bool {
    let mut shortened = false;
    for line in lines
        .iter()
        .filter(|line| line.code.chars().count() > WIDTH)
    {
        shortened |= shorten_line(&line.pieces, pieces, groups, forced);
    }
    shortened
}

fn shorten_line(line: &[usize], pieces: &[Piece], groups: &Groups, forced: &mut Forced) -> bool {
    let (Some(&first), Some(&last)) = (line.first(), line.last()) else {
        return false;
    };
    // Only what no bracket of this line encloses.
    let mut outer = Vec::new();
    let mut enclosed: Vec<&Group> = Vec::new();
    let mut at = first;
    while at <= last {
        outer.push(at);
        at = match groups.opened_by(at) {
            Some(group) if group.close <= last => {
                enclosed.push(group);
                group.close
            }
            Some(_) | None => at + 1,
        };
    }
    enclosed.retain(|group| group.close > group.open + 1 && !group.is_spread);
    let is_with = |group: &&Group| pieces[group.open - 1].is("with");
    let is_block = |group: &&Group| pieces[group.open].is("{") && !is_with(group);
    let blocks: Vec<&Group> = enclosed.iter().copied().filter(is_block).collect();
    if !blocks.is_empty() {
        forced.groups.extend(blocks.iter().map(|group| group.open));
        return true;
    }
    if break_before("else", &outer, pieces, forced) {
        return true;
    }
    if let Some(with) = enclosed.iter().find(|group| is_with(group)) {
        return forced.groups.insert(with.open);
    }
    if break_before("or", &outer, pieces, forced) || break_before("and", &outer, pieces, forced) {
        return true;
    }
    let width = |group: &&&Group| pieces[group.close].start - pieces[group.open].start;
    enclosed.retain(|group| !pieces[group.open].is("["));
    enclosed
        .iter()
        .max_by_key(width)
        .is_some_and(|group| forced.groups.insert(group.open))
}

fn break_before(word: &str, outer: &[usize], pieces: &[Piece], forced: &mut Forced) -> bool {
    let places = outer
        .iter()
        .skip(1)
        .filter(|at| pieces[**at].is(word) && !pieces[**at - 1].is("}"));
    let places: Vec<usize> = places.copied().collect();
    forced.breaks.extend(&places);
    !places.is_empty()
}
