//! The rows of tables 1 and 2 of the paper: its figures, and how Stackloom does the same.
//!
//! The letters stand for the rewrites and passes that do nearest the same. N, which shares
//! subtrees that differ in their leaves as one function with parameters, has a counterpart within
//! a function alone: `share-sides` gives a shared block its differing values as parameters.
//!
//! ```text
//! + E: extend, form-fast-path     the rewrites and passes of this row and of those above
//! raw profile                     all of them, and what is known of the traffic
//! ```

use super::super::goals;
use super::super::steps::all_done;
use super::MISSED_IN_SMALL;
use crate::passes::Passes;
use crate::profile::Profile;
use crate::tool::compiler::Options;
use crate::tree::rewrites::{Rewrite, Rewrites};

/// The figures of the paper: its text, and in brackets its text with N.
pub const PAPERS: [&str; 7] = ["I_c", "O_c", "IC", "L1 8K", "text", "text, N", "data"];

/// The metrics of what is counted, in the order of the first columns.
pub const COUNTED: [&str; 4] = {
    let [input, answer, both] = goals::METRICS;
    [input, answer, both, MISSED_IN_SMALL]
};

/// A row of one of the tables.
pub struct Line {
    /// Of which table.
    pub table: u8,
    /// Its title there.
    pub title: &'static str,
    /// Its name in names of files and of variants.
    pub word: &'static str,
    way: Way,
    /// The paper's figures, by place in [`PAPERS`].
    pub paper: [Option<f64>; 7],
}

/// How Stackloom does what a row is about.
#[derive(Clone, Copy)]
enum Way {
    /// Not at all.
    None,
    /// By interpreting the trees.
    Interpreted,
    /// By the rewrites and passes of the rows of table 1 up to this one, and these.
    More(&'static [Rewrite], &'static [&'static str]),
    /// The same, and without branches that were never taken.
    Pruned(&'static [Rewrite], &'static [&'static str]),
    /// By all rewrites and passes, with what is known of the traffic.
    All(Known),
}

/// Profiles with which a stack is built, in the words of the paper.
#[derive(Clone, Copy)]
enum Known {
    Raw,
    Default,
    Application,
    Specialised,
}

const fn line(
    table: u8,
    [title, word]: [&'static str; 2],
    way: Way,
    paper: [Option<f64>; 7],
) -> Line {
    Line {
        table,
        title,
        word,
        way,
        paper,
    }
}

/// Figures of table 1, which has no I_c and O_c: IC, misses, and bytes.
const fn first(
    both: Option<f64>,
    missed: Option<f64>,
    bytes: [Option<f64>; 3],
) -> [Option<f64>; 7] {
    let [text, shared, data] = bytes;
    [None, None, both, missed, text, shared, data]
}

/// The rows of table 1.
pub const FIRST: [Line; 12] = [
    line(
        1,
        ["BSD TCP by hand", "bsd"],
        Way::None,
        first(Some(397.0), Some(1.0), [Some(16864.0), None, Some(1760.0)]),
    ),
    line(
        1,
        ["interpreted", "interpreted"],
        Way::Interpreted,
        first(Some(2133.0), Some(3.5), [Some(8200.0), None, Some(155e3)]),
    ),
    line(
        1,
        ["compiled", "compiled"],
        Way::More(&[], &[]),
        first(None, None, [Some(1_772e3), None, Some(1500.0)]),
    ),
    line(
        1,
        ["+ O: fold-identical", "O"],
        Way::More(&[], &["fold-identical"]),
        first(Some(421.0), Some(3.86), [Some(45700.0), None, Some(1200.0)]),
    ),
    line(
        1,
        ["+ S: share-sides", "S"],
        Way::More(&[], &["share-sides"]),
        first(
            Some(465.0),
            Some(4.07),
            [Some(30480.0), Some(16300.0), Some(3520.0)],
        ),
    ),
    line(
        1,
        ["+ I: inline (rewrite, pass)", "I"],
        Way::More(&[Rewrite::Inline], &["inline"]),
        first(
            Some(423.0),
            Some(3.7),
            [Some(30816.0), Some(16400.0), Some(3600.0)],
        ),
    ),
    line(
        1,
        ["+ E: extend, form-fast-path", "E"],
        Way::More(&[Rewrite::Extend], &["form-fast-path"]),
        first(
            Some(206.0),
            Some(0.0364),
            [Some(32240.0), Some(19648.0), Some(3600.0)],
        ),
    ),
    line(
        1,
        ["+ T: hot-path", "T"],
        Way::More(&[], &["hot-path"]),
        first(
            None,
            Some(0.0345),
            [Some(33136.0), Some(19680.0), Some(3600.0)],
        ),
    ),
    line(
        1,
        ["+ U: rare-ways", "U"],
        Way::More(&[], &["rare-ways"]),
        first(
            Some(206.0),
            Some(0.0289),
            [Some(34160.0), Some(21072.0), Some(3800.0)],
        ),
    ),
    line(
        1,
        ["+ P, G: prune-*, --specialise", "P-G"],
        Way::Pruned(&[Rewrite::Branches, Rewrite::States], &[]),
        first(
            Some(195.0),
            Some(0.0217),
            [Some(6672.0), Some(10624.0), Some(1000.0)],
        ),
    ),
    line(
        1,
        ["+ R: frequent-first, order-guards", "R"],
        Way::Pruned(&[Rewrite::Frequent], &["order-guards"]),
        first(Some(193.0), None, [None; 3]),
    ),
    line(
        1,
        ["+ all other passes", "others"],
        Way::Pruned(&[], &["all"]),
        [None; 7],
    ),
];

/// The rows of table 2.
pub const SECOND: [Line; 6] = [
    line(
        2,
        ["BSD TCP by hand", "bsd"],
        Way::None,
        [
            Some(186.0),
            Some(422.0),
            Some(397.0),
            Some(1.0),
            Some(16864.0),
            None,
            None,
        ],
    ),
    line(
        2,
        ["interpreted", "interpreted"],
        Way::Interpreted,
        [
            None,
            None,
            Some(2113.0),
            Some(3.5),
            Some(8200.0),
            None,
            None,
        ],
    ),
    line(
        2,
        ["application profile", "application"],
        Way::All(Known::Application),
        [
            Some(143.0),
            Some(147.0),
            Some(204.0),
            Some(0.0289),
            None,
            Some(21072.0),
            None,
        ],
    ),
    line(
        2,
        ["specialised", "specialised"],
        Way::All(Known::Specialised),
        [
            Some(139.0),
            Some(142.0),
            Some(193.0),
            Some(0.0217),
            None,
            Some(10624.0),
            None,
        ],
    ),
    line(
        2,
        ["raw profile", "raw"],
        Way::All(Known::Raw),
        [
            None,
            None,
            Some(320.0),
            Some(4.7),
            None,
            Some(32000.0),
            None,
        ],
    ),
    line(
        2,
        ["default profile", "default"],
        Way::All(Known::Default),
        [
            Some(166.0),
            Some(168.0),
            Some(220.0),
            Some(0.0298),
            None,
            Some(24840.0),
            None,
        ],
    ),
];

impl Line {
    /// Returns true if the row is that of the interpreter.
    pub fn is_interpreted(&self) -> bool {
        matches!(self.way, Way::Interpreted)
    }
}

/// Returns how a stack is compiled for each row of both tables, with this profile of the
/// application; nothing where it is not compiled.
pub fn ways(application: &Profile) -> Vec<(&'static Line, Option<Options>)> {
    let (mut rewrites, mut passes) = (Rewrites::NONE, Passes::NONE);
    let mut way = |line: &'static Line| {
        let (profile, specialised) = match line.way {
            Way::None | Way::Interpreted => return (line, None),
            Way::More(own, others) | Way::Pruned(own, others) => {
                let own = own.iter().map(|one| Rewrites::only(*one));
                rewrites = own.fold(rewrites, Rewrites::and);
                passes = others.iter().fold(passes, |all, name| {
                    all.and(Passes::named(name).expect("it is the name of a pass"))
                });
                (application.clone(), matches!(line.way, Way::Pruned(..)))
            }
            Way::All(known) => {
                (rewrites, passes) = all_done();
                let profile = match known {
                    Known::Raw => Profile::Raw,
                    Known::Default => Profile::Default,
                    Known::Application | Known::Specialised => application.clone(),
                };
                (profile, matches!(known, Known::Specialised))
            }
        };
        let options = Options {
            profile,
            rewrites,
            passes,
            specialised,
            ..Options::default()
        };
        (line, Some(options))
    };
    FIRST.iter().chain(&SECOND).map(&mut way).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn table_1_does_one_more_in_each_row_and_all_in_the_last() {
        let (mut rewrites, mut passes) = (Rewrites::NONE, Passes::NONE);
        let mut sets = vec![];
        for line in &FIRST {
            if let Way::More(own, others) | Way::Pruned(own, others) = line.way {
                for one in own {
                    assert!(!rewrites.has(*one), "{}", line.title);
                    rewrites = rewrites.and(Rewrites::only(*one));
                }
                for name in others {
                    let more = Passes::named(name).expect("it is the name of a pass");
                    assert_ne!(passes.and(more), passes, "{}", line.title);
                    passes = passes.and(more);
                }
                sets.push((rewrites, passes));
            }
        }
        assert_eq!(sets.first(), Some(&(Rewrites::NONE, Passes::NONE)));
        assert_eq!(sets.last(), Some(&(Rewrites::ALL, Passes::ALL)));
    }

    #[test]
    fn letters_of_rewrites_are_those_of_their_rows() {
        for line in &FIRST {
            if let Way::More(own, _) | Way::Pruned(own, _) = line.way {
                for one in own {
                    let letter = one.about().letter;
                    assert!(line.word.contains(letter), "{letter}: {}", line.title);
                }
            }
        }
        let words: BTreeSet<_> = FIRST.iter().map(|line| line.word).collect();
        assert_eq!(words.len(), FIRST.len());
    }

    #[test]
    fn ways_say_what_is_known_of_the_traffic() {
        let ways = ways(&Profile::Raw);
        let of = |title: &str| {
            let mut all = ways.iter().filter(|(line, _)| line.table == 2);
            let (_, options) = all.find(|(line, _)| line.title == title).expect("a row");
            let options = options.as_ref().expect("it is compiled");
            assert_eq!((options.rewrites, options.passes), all_done());
            (options.profile.clone(), options.specialised)
        };
        assert_eq!(of("default profile"), (Profile::Default, false));
        assert_eq!(of("application profile"), (Profile::Raw, false));
        assert_eq!(of("specialised"), (Profile::Raw, true));
    }
}
