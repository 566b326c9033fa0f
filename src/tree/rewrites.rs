//! The rewrites by their names: which there are, in which order they are done, what holds after.
//!
//! In: names, as somebody writes them. Out: a set of rewrites, which `optimise` does one after the
//! other. With any of them left out the same happens.
//!
//! ```text
//! extend,Y      two of them, by name and by letter      all      each
//! ```

use std::fmt::{self, Display};
use std::str::FromStr;

/// What may be done so that a stack runs faster, or is shorter: in the order of [`ORDER`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rewrite {
    /// Prune impossible states.
    States,
    /// Unshare along the fast path.
    Extend,
    /// Inline along the fast path.
    Inline,
    /// Prune impossible branches.
    Branches,
    /// Test what is frequent first.
    Frequent,
}

/// What is said of a rewrite.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Which it is.
    pub rewrite: Rewrite,
    /// Its letter in the papers.
    pub letter: char,
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub what: &'static str,
    /// Where that is described.
    pub paper: &'static str,
    /// What holds when it is done.
    pub after: &'static str,
}

/// All rewrites, in the order in which they are done.
pub const ORDER: [About; 5] = [
    About {
        rewrite: Rewrite::States,
        letter: 'G',
        name: "prune-states",
        what: "what would be done in states in which nothing is ever found is gone",
        paper: "HIPPCO 5.1",
        after: "a test of one field alone can go both ways",
    },
    About {
        rewrite: Rewrite::Extend,
        letter: 'E',
        name: "extend",
        what: "the fast path of a handler whose ways meet again stands apart",
        paper: "HIPPCO 4.2",
        after: "on a fast path no turn stands, and what is due stands in its leaf",
    },
    About {
        rewrite: Rewrite::Inline,
        letter: 'I',
        name: "inline",
        what: "the tree of what mostly follows stands in the leaf that lets it happen",
        paper: "HIPPCO 4.4",
        after: "what a fast path calls or lets wait is rare, long, or comes behind another",
    },
    About {
        rewrite: Rewrite::Branches,
        letter: 'P',
        name: "prune-branches",
        what: "a test that an earlier one on the same way has settled is gone",
        paper: "HIPPCO 4.3",
        after: "no test asks again what has not changed",
    },
    About {
        rewrite: Rewrite::Frequent,
        letter: 'R',
        name: "frequent-first",
        what: "of several values that one thing may have the frequent one is asked for first",
        paper: "HIPPCO 4.1",
        after: "tests of one thing stand in the order of how often they hold",
    },
];

impl Rewrite {
    /// What is said of it.
    pub fn about(self) -> About {
        ORDER[self as usize]
    }
}

/// A set of rewrites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rewrites(u16);

impl Rewrites {
    /// None of them.
    pub const NONE: Rewrites = Rewrites(0);

    /// All of them.
    pub const ALL: Rewrites = Rewrites((1 << ORDER.len()) - 1);

    /// One alone.
    pub const fn only(rewrite: Rewrite) -> Rewrites {
        Rewrites(1 << rewrite as u16)
    }

    /// Whether one is among them.
    pub fn has(self, rewrite: Rewrite) -> bool {
        self.0 & Rewrites::only(rewrite).0 != 0
    }

    /// These and others.
    pub fn and(self, others: Rewrites) -> Rewrites {
        Rewrites(self.0 | others.0)
    }

    /// These but for others.
    pub const fn without(self, others: Rewrites) -> Rewrites {
        Rewrites(self.0 & !others.0)
    }

    /// One after the other, in the order in which they are done.
    pub fn each(self) -> impl Iterator<Item = Rewrite> {
        let all = ORDER.into_iter().map(|about| about.rewrite);
        all.filter(move |rewrite| self.has(*rewrite))
    }
}

impl Default for Rewrites {
    fn default() -> Rewrites {
        Rewrites::ALL
    }
}

impl FromStr for Rewrites {
    type Err = String;

    fn from_str(text: &str) -> Result<Rewrites, String> {
        let words = text.split(',').map(str::trim);
        words.map(named).try_fold(Rewrites::NONE, |all, one| {
            let one = one?;
            Ok(all.and(one))
        })
    }
}

/// What a word names.
fn named(word: &str) -> Result<Rewrites, String> {
    let is_meant = |rewrite: &Rewrite| {
        let about = rewrite.about();
        about.name == word || about.letter.to_string() == word
    };
    let mut all = Rewrites::ALL.each();
    match (word, all.find(is_meant)) {
        ("all", _) => Ok(Rewrites::ALL),
        (_, Some(rewrite)) => Ok(Rewrites::only(rewrite)),
        (_, None) => Err(format!(
            "there is no rewrite `{word}`, but all, {}",
            Rewrites::ALL
        )),
    }
}

/// The names, in order.
impl Display for Rewrites {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let names = self.each().map(|rewrite| rewrite.about().name);
        out.write_str(&Vec::from_iter(names).join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_letters_are_read_back() {
        for about in ORDER {
            let rewrite = about.rewrite;
            assert_eq!(rewrite.about().letter, about.letter);
            for word in [about.name, &about.letter.to_string()] {
                assert_eq!(word.parse(), Ok(Rewrites::only(rewrite)));
            }
        }
        assert_eq!("all".parse(), Ok(Rewrites::ALL));
        let both = Rewrites::only(Rewrite::Inline).and(Rewrites::only(Rewrite::Frequent));
        assert_eq!("frequent-first, I".parse(), Ok(both));
        assert_eq!(both.to_string(), "inline, frequent-first");
        assert_eq!(Rewrites::ALL.without(both).and(both), Rewrites::ALL);
    }

    #[test]
    fn what_is_no_rewrite_is_told_those_that_are() {
        let said = "inline,faster".parse::<Rewrites>().expect_err("no rewrite");
        assert!(said.starts_with("there is no rewrite `faster`, but all, prune-states, extend, "));
        assert!("".parse::<Rewrites>().is_err());
    }
}
