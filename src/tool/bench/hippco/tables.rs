//! Tables 1 and 2 of the paper (HIPPCO 7) for two TCPs of ours, with the paper's figures beside.
//!
//! In: the stacks `restricted` and `complete` of `bench/hippco.loom`, and the driver of `loom bench
//! tcp`, whose sender is here a stack of its own, so that profiles are those of the receiver. Out:
//! for each row of a table the instructions of a segment, instruction-cache misses and bytes.
//!
//! ```text
//! table 1   one optimisation more in each row, by the letters of the paper, with the profile of
//!           the application
//! table 2   all optimisations: no profile (raw), the frequencies in the layers (default), those of
//!           the application, and the same without the branches that it never took
//! ```

use super::super::fetched::fetched;
use super::super::programs::QUICK;
use super::super::sized::sized;
use super::super::table::{figures, spaced};
use super::super::{Bench, Row, interpreted};
use super::letters::{COUNTED, FIRST, Line, PAPERS, SECOND, ways};
use crate::profile::Profile;
use crate::tool::compiler::Options;
use crate::tool::counting::{self, Counted};
use crate::tool::failure::Failure;
use crate::tool::profile;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The figures of a row: instructions, cache misses, and bytes at both levels of optimisation.
const COLUMNS: [&str; 7] = ["I_c", "O_c", "IC", "L1 8K", "text -O2", "text -Os", "data"];

/// A TCP: the name of its stack in `bench/hippco.loom`, and how the driver is compiled for it.
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
        let (mut rows, mut compiled) = (Vec::new(), None);
        for (line, options) in ways(&self.application) {
            (self.bench.say)(&format!("{} TCP: {}", self.tcp.name, line.title));
            if let Some(options) = options {
                let program = self.compiled(line, options, &mut rows)?;
                compiled.get_or_insert(program);
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
        let stack = format!("hippco.loom:{}", self.tcp.name);
        let found = interpreted::rows(self.bench, &stack, program)?;
        let lines = FIRST.iter().chain(&SECOND);
        let lines = lines.filter(|line| line.is_interpreted());
        let rows = lines.flat_map(|line| {
            let own = COUNTED.iter().enumerate().filter_map(|(at, metric)| {
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
    bench.folder.join(format!("hippco.loom:{}", tcp.name))
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
