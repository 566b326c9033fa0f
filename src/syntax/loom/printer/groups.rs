//! Brackets: which pieces stand in which, where elements begin, and which brackets are spread over
//! several lines.

use super::Forced;
use super::pieces::{Piece, PieceKind};

/// A pair of brackets.
pub(super) struct Group {
    pub open: usize,
    pub close: usize,
    /// The group around it.
    pub parent: Option<usize>,
    /// Whether its elements stand on lines of their own.
    pub is_spread: bool,
}

pub(super) struct Groups {
    /// In the order of their opening brackets.
    pub all: Vec<Group>,
    /// For each bracket, the group that it opens or closes.
    pub bounded: Vec<Option<usize>>,
    /// For each piece, the group in which it stands; brackets stand outside of their own.
    pub of: Vec<Option<usize>>,
    /// For each piece, whether an element begins with it; the same for comments before one.
    pub begins: Vec<bool>,
}

impl Groups {
    /// The group that a bracket opens.
    pub fn opened_by(&self, piece: usize) -> Option<&Group> {
        self.bounded[piece]
            .map(|group| &self.all[group])
            .filter(|group| group.open == piece)
    }

    /// The group that a bracket closes.
    pub fn closed_by(&self, piece: usize) -> Option<&Group> {
        self.bounded[piece]
            .map(|group| &self.all[group])
            .filter(|group| group.close == piece)
    }
}

/// Finds the groups.
pub(super) fn groups(pieces: &[Piece], forced: &Forced) -> Groups {
    let mut groups = Groups {
        all: Vec::new(),
        bounded: vec![None; pieces.len()],
        of: Vec::with_capacity(pieces.len()),
        begins: vec![false; pieces.len()],
    };
    let mut open: Vec<usize> = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        if piece.token().is_some_and(|token| token.closes())
            && let Some(group) = open.pop()
        {
            groups.all[group].close = at;
            groups.bounded[at] = Some(group);
        }
        let parent = open.last().copied();
        groups.of.push(parent);
        if piece.token().is_some_and(|token| token.opens()) {
            groups.bounded[at] = Some(groups.all.len());
            open.push(groups.all.len());
            groups.all.push(Group {
                open: at,
                close: pieces.len(),
                parent,
                is_spread: false,
            });
        }
    }
    mark_beginnings(pieces, &mut groups);
    mark_spread(pieces, forced, &mut groups);
    groups
}

fn mark_beginnings(pieces: &[Piece], groups: &mut Groups) {
    // The last token before, and the first after, whatever comments lie between.
    let mut last: Option<usize> = None;
    for (at, piece) in pieces.iter().enumerate() {
        let PieceKind::Token { token, separated } = &piece.kind else {
            continue;
        };
        groups.begins[at] = match last {
            None => true,
            Some(_) if *separated => true,
            Some(_) if token.closes() => false,
            Some(last) => {
                pieces[last].token().is_some_and(|token| token.opens())
                    || is_separating_comma(pieces, groups, last)
                    || token.is("else") && is_among_arms(pieces, groups, at)
            }
        };
        last = Some(at);
    }
    let mut next_begins = true;
    for at in (0..pieces.len()).rev() {
        match pieces[at].token() {
            Some(token) => next_begins = groups.begins[at] || token.closes(),
            None => groups.begins[at] = next_begins,
        }
    }
}

/// A comma separates elements, but in a list of services, between what a field counts, and between
/// the ways in which a filter says that a field is right.
pub(super) fn is_separating_comma(pieces: &[Piece], groups: &Groups, at: usize) -> bool {
    let Some(group) = groups.of[at] else {
        return false;
    };
    if !pieces[at].is(",") {
        return false;
    }
    let mut later = (at + 1..pieces.len()).filter(|at| !pieces[*at].is_comment());
    let (next, after) = (later.next(), later.next());
    let is = |piece: Option<usize>, text: &str| piece.is_some_and(|at| pieces[at].is(text));
    let is_range = !(is(after, ":") || is(next, "options") && is(after, "by"));
    let first = groups.all[group].open;
    let element = (first..at).rev().take_while(|before| {
        *before == at || !groups.begins[*before] || groups.of[*before] != Some(group)
    });
    let mut element = element.filter(|before| groups.of[*before] == Some(group));
    if is_of_result(pieces, groups, (group, at)) {
        return false;
    }
    !(is_range && element.any(|at| pieces[at].is("counts") || pieces[at].is("checks")))
}

/// Whether a comma stands behind the `where` of what a filter gives.
fn is_of_result(pieces: &[Piece], groups: &Groups, (group, at): (usize, usize)) -> bool {
    let first = groups.all[group].open;
    let own = |before: &usize| groups.of[*before] == Some(group) && !pieces[*before].is_comment();
    let element: Vec<usize> = (first + 1..at).rev().filter(own).collect();
    let begins = element.iter().position(|before| groups.begins[*before]);
    let is = |place: usize, text: &str| pieces[element[place]].is(text);
    begins.is_some_and(|last| {
        last > 0
            && is(last, "result")
            && !is(last - 1, ":")
            && (0..last).any(|place| is(place, "where"))
    })
}

/// Whether this `else` is the last arm of a `match`, of options, or of an enum.
fn is_among_arms(pieces: &[Piece], groups: &Groups, at: usize) -> bool {
    let Some(group) = groups.of[at] else {
        return false;
    };
    let open = groups.all[group].open;
    let mut inside = pieces[open + 1..]
        .iter()
        .filter(|piece| !piece.is_comment());
    let mut before = pieces[..open]
        .iter()
        .rev()
        .filter(|piece| !piece.is_comment());
    inside.next().is_some_and(|first| first.is("case"))
        || before.nth(3).is_some_and(|word| word.is("enum"))
}

fn mark_spread(pieces: &[Piece], forced: &Forced, groups: &mut Groups) {
    // Inner groups come behind outer ones: from the last to the first, what is inside is known.
    for at in (0..groups.all.len()).rev() {
        let group = &groups.all[at];
        let braces = pieces[group.open].is("{");
        let mut inside = (group.open + 1..group.close).filter(|it| groups.of[*it] == Some(at));
        let is_spread = group.is_spread
            || forced.groups.contains(&group.open)
            || inside.any(|it| {
                pieces[it].is_comment() || pieces[it].newlines > 0 && (braces || groups.begins[it])
            })
            || group.close > group.open + 1
                && pieces
                    .get(group.close)
                    .is_some_and(|close| close.newlines > 0);
        groups.all[at].is_spread = is_spread;
        let mut around = groups.all[at].parent.filter(|_| is_spread);
        while let Some(outer) = around {
            let outer = &mut groups.all[outer];
            // Braces around several lines are spread themselves; parentheses need not be.
            outer.is_spread |= pieces[outer.open].is("{");
            around = outer.parent.filter(|_| !outer.is_spread);
        }
    }
}
