//! What became of branches: how often each is asked as written, what each rewrite changed of that,
//! and in how many places it stands then.
//!
//! ```text
//!  written  in the end
//!    0.500       0.120  checks.loom:41  if acceptable { .. }
//!                       E extend: asked 0.120 at 2 places
//! ```

use super::{Explained, LEAST, line};
use crate::profile::Asked;
use crate::source::{Sources, Span};
use crate::tree::rewrites::Rewrite;
use std::collections::{BTreeMap, BTreeSet};

/// So much of a line is shown.
const SHOWN: usize = 56;

/// What a rewrite did to a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    /// Nobody asks it any more.
    Gone,
    /// It stands at more places.
    Repeated,
    /// It is asked less often, or at fewer places.
    Less,
    /// It is asked more often.
    More,
}

impl Change {
    fn between(before: &Asked, after: &Asked) -> Option<Change> {
        let is_near = (before.often - after.often).abs() < LEAST;
        match () {
            () if before.nodes > 0 && after.nodes == 0 => Some(Change::Gone),
            () if after.nodes > before.nodes => Some(Change::Repeated),
            () if after.nodes < before.nodes => Some(Change::Less),
            () if is_near => None,
            () if after.often < before.often => Some(Change::Less),
            () => Some(Change::More),
        }
    }
}

/// What each rewrite did to one branch.
type Changes = Vec<(Rewrite, Change, Asked)>;

/// What is said of branches; of `all`, one by one.
pub fn branches(of: &Explained, all: bool, text: &mut String) {
    let asked = &of.analysed.asked;
    let places: BTreeSet<Span> = asked.iter().flat_map(BTreeMap::keys).copied().collect();
    let sum = |stage: &BTreeMap<Span, Asked>| stage.values().map(|one| one.often).sum::<f64>();
    let (Some(first), Some(last)) = (asked.first(), asked.last()) else {
        return;
    };
    let hint = if all { "" } else { " (`--all` lists each)" };
    let asked = match places.len() {
        1 => "1 branch is evaluated".to_string(),
        branches => format!("{branches} branches are evaluated"),
    };
    line(
        text,
        &format!(
            "\n{asked} {:.1} times per external event as written, and {:.1} times after all \
            rewrites{hint}:",
            sum(first),
            sum(last)
        ),
    );
    let changed: Vec<(Span, Changes)> = places.iter().map(|at| (*at, changes(of, *at))).collect();
    for cost in of.analysed.costs.iter().filter_map(|cost| cost.after) {
        summary(cost, &changed, text);
    }
    if all {
        line(text, " written  rewritten");
        let often = |place: &Span| first.get(place).map_or(0.0, |one| one.often);
        let mut changed = changed;
        changed.sort_by(|(one, _), (other, _)| {
            let by_place = || shown(of.sources, *one).cmp(&shown(of.sources, *other));
            often(other).total_cmp(&often(one)).then_with(by_place)
        });
        for (place, changes) in &changed {
            branch(of, *place, changes, text);
        }
    }
}

/// What a rewrite did, by what that was.
fn summary(rewrite: Rewrite, all: &[(Span, Changes)], text: &mut String) {
    let mut counts: BTreeMap<Change, usize> = BTreeMap::new();
    let own = all.iter().flat_map(|(_, changes)| changes);
    for (_, change, _) in own.filter(|(by, ..)| *by == rewrite) {
        *counts.entry(*change).or_default() += 1;
    }
    if counts.is_empty() {
        return;
    }
    let said = counts.into_iter().map(|(change, count)| match change {
        Change::Gone => format!("{count} removed"),
        Change::Repeated => format!("{count} at more places"),
        Change::Less => format!("{count} evaluated less"),
        Change::More => format!("{count} evaluated more"),
    });
    let about = rewrite.about();
    let said: Vec<String> = said.collect();
    line(
        text,
        &format!("  {} {}: {}", about.letter, about.name, said.join(", ")),
    );
}

/// What the rewrites did to what is asked at a place.
fn changes(of: &Explained, place: Span) -> Changes {
    let stages = of.analysed.asked.windows(2).zip(&of.analysed.costs[1..]);
    let nobody = Asked::default();
    let changes = stages.filter_map(|(stages, cost)| {
        let [before, after] = [0, 1].map(|at| stages[at].get(&place).unwrap_or(&nobody));
        let change = Change::between(before, after)?;
        Some((cost.after?, change, after.clone()))
    });
    changes.collect()
}

fn branch(of: &Explained, place: Span, changes: &Changes, text: &mut String) {
    let asked = &of.analysed.asked;
    let often = |stage: Option<&BTreeMap<Span, Asked>>| {
        let asked = stage.and_then(|stage| stage.get(&place));
        asked.map_or(0.0, |asked| asked.often)
    };
    let (first, last) = (often(asked.first()), often(asked.last()));
    line(
        text,
        &format!("{first:8.3}  {last:10.3}  {}", shown(of.sources, place)),
    );
    for (rewrite, change, after) in changes {
        let places = match after.nodes {
            1 => "1 place".to_string(),
            several => format!("{several} places"),
        };
        let said = match change {
            Change::Gone => "removed".to_string(),
            Change::Repeated | Change::Less | Change::More => {
                format!("evaluated {:.3} at {places}", after.often)
            }
        };
        let about = rewrite.about();
        line(
            text,
            &format!("{:22}{} {}: {said}", "", about.letter, about.name),
        );
    }
}

/// Where something stands, and the line that does.
fn shown(sources: &Sources, place: Span) -> String {
    let name = sources.name(place.file);
    let file = name.rsplit('/').next().unwrap_or(name);
    let position = sources.position(place);
    let lines = sources.text(place.file).lines();
    let line = lines.skip(position.line as usize - 1).map(str::trim).next();
    let line = line.unwrap_or_default();
    let cut = match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{} ...", line[..end].trim_end()),
        None => line.to_string(),
    };
    format!("{file}:{}  {cut}", position.line)
}
