//! Tables 1 and 2 of the paper (HIPPCO 7) for two TCPs of ours, with the paper's figures beside.
//!
//! In: the stacks `restricted` and `complete` of `bench/tcp.loom`, and the driver of `loom bench
//! tcp`, whose sender is here a stack of its own, so that profiles are those of the receiver. Out:
//! for each row of a table the instructions of a segment, instruction-cache misses and bytes.
//!
//! ```text
//! table 1   one optimisation more in each row, by the letters of the paper, with the profile of
//!           the application
//! table 2   all optimisations: no profile (raw), the frequencies in the layers (default), those of
//!           the application, and the same without the branches that it never took
//! ```
//!
//! The letters stand for the rewrites and passes that do nearest the same. N, which shares
//! subtrees that differ in their leaves as one function with parameters, has a counterpart within
//! a function alone: `share-sides` gives a shared block its differing values as parameters.

use super::super::fetched::fetched;
use super::super::programs::QUICK;
use super::super::sized::sized;
use super::super::steps::all_done;
use super::super::table::{figures, spaced};
use super::super::{Bench, Row, goals, interpreted};
use super::MISSED_IN_SMALL;
use crate::passes::Passes;
use crate::profile::Profile;
use crate::tool::compiler::Options;
use crate::tool::counting::{self, Counted};
use crate::tool::failure::Failure;
use crate::tool::profile;
use crate::tree::rewrites::{Rewrite, Rewrites};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The figures of a row: instructions, cache misses, and bytes at both levels of optimisation.
const COLUMNS: [&str; 7] = ["I_c", "O_c", "IC", "L1 8K", "text -O2", "text -Os", "data"];

/// The figures of the paper: its text, and in brackets its text with N.
const PAPERS: [&str; 7] = ["I_c", "O_c", "IC", "L1 8K", "text", "text, N", "data"];

/// A TCP: the name of its stack in `bench/tcp.loom`, and how the driver is compiled for it.
struct Tcp {
    name: &'static str,
    driven: &'static str,
}

const TCPS: [Tcp; 2] = [
    Tcp {
        name: "restricted",
        driven: "-DBARE",
    },
    Tcp {
        name: "complete",
        driven: "-DOPENS",
    },
];

/// The variant of rows of the paper.
const PRINTED: &str = "printed";

/// A row of one of the tables.
struct Line {
    table: u8,
    title: &'static str,
    /// Its name in names of files and of variants.
    word: &'static str,
    way: Way,
    /// By place in [`PAPERS`].
    paper: [Option<f64>; 7],
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

/// What is known of the traffic.
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
const FIRST: [Line; 12] = [
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
const SECOND: [Line; 6] = [
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

/// A TCP whose sender is compiled, and which was recorded.
struct Prepared<'a> {
    bench: &'a Bench<'a>,
    tcp: &'a Tcp,
    /// The object of the sender.
    peer: PathBuf,
    application: Profile,
}

/// Returns the rows of both tables for both TCPs, and those of the paper.
pub fn rows(bench: &Bench) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for tcp in &TCPS {
        (bench.say)(&format!("{} TCP: recording", tcp.name));
        rows.extend(Prepared::new(bench, tcp)?.rows()?);
    }
    let printed = FIRST.iter().chain(&SECOND).flat_map(|line| {
        let of_paper = PAPERS.iter().zip(line.paper).enumerate();
        of_paper.filter_map(move |(at, (metric, value))| Some((line, at, *metric, value?)))
    });
    rows.extend(printed.map(|(line, at, metric, value)| Row {
        compiler: "Alpha, 1997".to_string(),
        paper: Some(value),
        ..row(line, PRINTED, [metric, unit(at)], value)
    }));
    Ok(rows)
}

/// A figure of a row; its variant says of which table and of which TCP it is.
fn row(line: &Line, of: &str, [metric, unit]: [&str; 2], value: f64) -> Row {
    let variant = format!("table-{}-{of}-{}", line.table, line.word);
    let (paper, flags) = (None, if of == PRINTED { "" } else { QUICK });
    Row {
        paper,
        ..Row::without_sums([line.title, &variant, flags], metric, unit, value)
    }
}

/// The unit of a column.
fn unit(at: usize) -> &'static str {
    match at {
        0..3 => "instructions",
        3 => "of 100",
        _bytes => "bytes",
    }
}

impl Prepared<'_> {
    fn new<'a>(bench: &'a Bench<'a>, tcp: &'a Tcp) -> Result<Prepared<'a>, Failure> {
        let stack = source(bench, tcp);
        let (peer, _) = counting::written(&stack, "peer", Options::default(), bench.work)?;
        let mut prepared = Prepared {
            bench,
            tcp,
            peer: counting::object_of(&peer, &[QUICK])?,
            application: Profile::Default,
        };
        let options = Options {
            records: true,
            ..Options::default()
        };
        let (source, _) = counting::written(&stack, "tcp", options, bench.work)?;
        let program = prepared.driven(&source, &bench.work.join("recording"))?;
        let recorded = bench.work.join("tcp.profile");
        let mut run = Command::new(program);
        counting::quietly(run.arg("count").env("LOOM_PROFILE", &recorded))?;
        prepared.application = Profile::Recorded(profile::read(&recorded)?);
        Ok(prepared)
    }

    /// Compiles the driver with the receiver, which is C or an object.
    fn driven(&self, receiver: &Path, program: &Path) -> Result<PathBuf, Failure> {
        let program = std::path::absolute(program)?;
        let driver = self.bench.folder.join("tcp.c");
        let peer = self.peer.to_string_lossy();
        let flags = [QUICK, "-DPEER", self.tcp.driven, &*peer];
        counting::compile_driven(receiver, &driver, &flags, &program)?;
        Ok(program)
    }

    fn rows(&self) -> Result<Vec<Row>, Failure> {
        let (mut rewrites, mut passes) = (Rewrites::NONE, Passes::NONE);
        let (mut rows, mut compiled) = (Vec::new(), None);
        for line in FIRST.iter().chain(&SECOND) {
            (self.bench.say)(&format!("{} TCP: {}", self.tcp.name, line.title));
            if let Way::More(own, others) | Way::Pruned(own, others) = line.way {
                rewrites = own
                    .iter()
                    .fold(rewrites, |all, one| all.and(Rewrites::only(*one)));
                passes = others.iter().fold(passes, |all, name| {
                    all.and(Passes::named(name).expect("it is the name of a pass"))
                });
            }
            let profile = match line.way {
                Way::All(Known::Raw) => Profile::Raw,
                Way::All(Known::Default) => Profile::Default,
                _by_the_application => self.application.clone(),
            };
            if let Way::All(_) = line.way {
                (rewrites, passes) = all_done();
            }
            let options = Options {
                profile,
                rewrites,
                passes,
                specialised: matches!(line.way, Way::Pruned(..) | Way::All(Known::Specialised)),
                ..Options::default()
            };
            match line.way {
                Way::None | Way::Interpreted => {}
                Way::More(..) | Way::Pruned(..) | Way::All(_) => {
                    let program = self.compiled(line, options, &mut rows)?;
                    compiled.get_or_insert(program);
                }
            }
        }
        if let Some(program) = compiled.filter(|_| self.bench.counts) {
            rows.extend(self.interpreted(&program)?);
        }
        Ok(rows)
    }

    /// Compiles and counts a stack, and adds what was found of it.
    fn compiled(
        &self,
        line: &Line,
        options: Options,
        rows: &mut Vec<Row>,
    ) -> Result<PathBuf, Failure> {
        let bench = self.bench;
        let (source, _) = counting::written(&source(bench, self.tcp), "tcp", options, bench.work)?;
        let mut add = |at: usize, value| {
            rows.push(row(line, self.tcp.name, [COLUMNS[at], unit(at)], value));
        };
        let small = sized(&counting::object_of(&source, &["-Os"])?, |_| true)?;
        let object = counting::object_of(&source, &[QUICK])?;
        let size = sized(&object, |_| true)?;
        let name = format!(
            "hippco-table-{}-{}-{}",
            line.table, self.tcp.name, line.word
        );
        let program = self.driven(&object, &bench.keep.join(name))?;
        if bench.counts {
            let counted = Counted::alone(program.clone());
            for (at, value) in counted.of_segments()?.into_iter().enumerate() {
                add(at, value);
            }
            add(3, fetched(&program)?.missed_in_small);
        }
        for (at, value) in [(4, size.text), (5, small.text), (6, size.data)] {
            add(at, value);
        }
        Ok(program)
    }

    /// Counts the interpreter, on the segments of a program. It is told of no connection that is
    /// opened, so it interprets the restricted TCP alone.
    fn interpreted(&self, program: &Path) -> Result<Vec<Row>, Failure> {
        if self.tcp.driven == "-DOPENS" {
            return Ok(Vec::new());
        }
        let stack = format!("tcp.loom:{}", self.tcp.name);
        let found = interpreted::rows(self.bench, &stack, program)?;
        let lines = FIRST.iter().chain(&SECOND);
        let lines = lines.filter(|line| matches!(line.way, Way::Interpreted));
        let metrics = [&goals::METRICS[..], &[MISSED_IN_SMALL]].concat();
        let rows = lines.flat_map(|line| {
            let own = metrics.iter().enumerate().filter_map(|(at, metric)| {
                let own = found.iter().find(|row| row.metric == *metric)?;
                Some(Row {
                    compiler: own.compiler.clone(),
                    flags: own.flags.clone(),
                    ..row(line, self.tcp.name, [COLUMNS[at], unit(at)], own.value)
                })
            });
            own.collect::<Vec<Row>>()
        });
        Ok(rows.collect())
    }
}

/// The file and the name of a stack.
fn source(bench: &Bench, tcp: &Tcp) -> PathBuf {
    bench.folder.join(format!("tcp.loom:{}", tcp.name))
}

/// Returns a table of text for each table and each TCP, with the paper's figures on the right.
pub fn text(rows: &[Row]) -> String {
    let mut text = String::new();
    for (number, lines) in [(1, &FIRST[..]), (2, &SECOND[..])] {
        for tcp in &TCPS {
            text += &of_tcp(number, lines, tcp.name, rows);
            text.push('\n');
        }
    }
    text + ABOUT
}

fn of_tcp(number: u8, lines: &[Line], tcp: &str, rows: &[Row]) -> String {
    let value = |line: &Line, of: &str, metric: &str| {
        let variant = format!("table-{}-{of}-{}", line.table, line.word);
        let mut all = rows.iter();
        let own = all.find(|row| row.variant == variant && row.metric == metric);
        own.map_or(String::new(), shown)
    };
    let ours = COLUMNS.iter().map(|metric| (tcp, *metric));
    let papers = PAPERS.iter().map(|metric| (PRINTED, *metric));
    let columns: Vec<(&str, &str)> = ours.chain(papers).collect();
    let columns = columns.into_iter().filter(|(of, metric)| {
        // Table 1 has neither I_c nor O_c, and table 2 no data.
        *of != PRINTED || lines.iter().any(|line| !value(line, of, metric).is_empty())
    });
    let columns: Vec<(&str, &str)> = columns.collect();
    let heads = columns.iter().map(|(of, metric)| match *of {
        PRINTED => format!("paper: {metric}"),
        _of_us => metric.to_string(),
    });
    let title = format!("table {number}, {tcp} TCP");
    let heads: Vec<String> = std::iter::once(title).chain(heads).collect();
    let cells = lines.iter().map(|line| {
        let own = columns.iter().map(|(of, metric)| value(line, of, metric));
        std::iter::once(line.title.to_string()).chain(own).collect()
    });
    figures(&heads, &cells.collect::<Vec<Vec<String>>>())
}

/// The figure of a row; small shares of misses are not rounded to nothing.
fn shown(row: &Row) -> String {
    match row.metric.as_str() {
        "L1 8K" if row.value != 0.0 && row.value < 0.1 => format!("{:.4}", row.value),
        _other => spaced(row.value),
    }
}

/// Explains the tables.
const ABOUT: &str = "\
I_c: of a segment that arrives and is not answered; O_c: of an answer; IC: I_c + O_c / 2
L1 8K: misses of 100 instructions, in an instruction cache of 8 KiB with 1 way and lines of 32 bytes
text and data: functions and constants, and first values, of the stack, by nm; O2 but for -Os
restricted: TCP alone on a given connection; complete: IPv4, ICMP and TCP that opens its connection
profiles are those of the receiver; all of table 1 has that of the application
O, S: fold-identical keeps one of equal functions, share-sides one of like blocks within a function,
with a test of the earlier bit where they differ (the paper's signature) and parameters for values
that differ (the paper's N); Stackloom has no N across functions, so `text, N` has no column of ours
T, U: gcc lays out the ways of a test; the C marks exits of fast paths as cold in any case
the paper counts cycles per instruction too, and callgrind does not
";

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
    fn figures_stand_beside_those_of_the_paper() {
        let own = row(&SECOND[2], "restricted", [COLUMNS[2], unit(2)], 299.0);
        let papers = row(&SECOND[2], PRINTED, [PAPERS[2], unit(2)], 204.0);
        let small = row(&SECOND[2], PRINTED, [PAPERS[3], unit(3)], 0.0289);
        let text = text(&[own, papers, small]);
        let lines: Vec<Vec<&str>> = text
            .lines()
            .filter(|line| line.starts_with("application"))
            .map(|line| line.split_whitespace().skip(2).collect())
            .collect();
        assert_eq!(lines, [vec!["299", "204", "0.0289"], vec!["204", "0.0289"]]);
    }
}
