//! Sets of rewrites, each of which must give a stack that does the same.

use stackloom::tree::rewrites::{ORDER, Rewrites};

/// None, each alone, each left out, and all; where it is said how many seeds are tried, every set
/// there is.
pub fn sets() -> Vec<Rewrites> {
    let each = || ORDER.into_iter().map(|one| Rewrites::only(one.rewrite));
    if std::env::var("SEEDS").is_ok() {
        return each().fold(vec![Rewrites::NONE], |sets, one| {
            let with = sets.iter().map(|set| set.and(one));
            let with: Vec<Rewrites> = with.collect();
            [sets, with].concat()
        });
    }
    let left_out = each().map(|one| Rewrites::ALL.without(one));
    let ends = [Rewrites::NONE, Rewrites::ALL];
    ends.into_iter().chain(each()).chain(left_out).collect()
}

/// The same, and all pairs.
#[allow(dead_code)] // Where each set is compiled, pairs take too long.
pub fn pairs() -> Vec<Rewrites> {
    let each = || ORDER.into_iter().map(|one| Rewrites::only(one.rewrite));
    let pairs = each().flat_map(|one| each().map(move |other| one.and(other)));
    sets().into_iter().chain(pairs).collect()
}
