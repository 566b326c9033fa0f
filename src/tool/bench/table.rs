//! A report as people read it: in, its rows and goals; out, a table and a line for each goal.
//!
//! ```text
//! who        checksums  compiler    flags  what              293  instructions
//! who        flags  what             0    1    2  each
//!
//! stackloom              O2, off  of lwip  of floor   a workload in each line
//! ```

use super::ensemble;
use super::programs::CALLED;
use super::ratchet::EXACTLY;
use super::traffic::{FRAMES, WORKLOADS};
use super::{Goal, Name, Report, Row};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// What the columns of `hippco` are, and its first row.
const OF_HIPPCO: &str = "\
of 100 instructions, how many are not in a cache of 32 KiB (8 ways, lines of 64 bytes), or of 8 KiB
(1 way, lines of 32), were a segment's all that there are; lines of 64 bytes that a segment touches
text and data are what has a name, functions, constants and first values: of ours and of lwIP all
that is compiled, of smoltcp what is called so and the step, of the floor the step
interpreted are the trees that the next row compiles, by loom itself: its lines are those of all
segments together, and it has no size that could be compared
";

/// Describes the figures of `bulk`.
const OF_BULK: &str = "
the median of several rounds, in each of which all had their turns, with the least and the greatest
";

/// Describes the figures of `coders`.
const OF_CODERS: &str = "
data in one frame of 1,400 bytes, the best of 30 rounds by the clock of the process; ratios compare
programs of the same run
";

/// Describes the figures of `size`.
const OF_SIZE: &str = "
instructions, constants and unwind tables of the object file of a stack, as `size` prints them
";

/// What most figures are.
const OF_COUNTED: &str = "
counted by callgrind within bench_step; the copy that stands for the wire is not
";

/// Describes the figures of stacks that call their host.
const OF_CALLED: &str = "\
the host of `stackloom, called` never asks NAME_next; that of `asks next` does, as it should
";

/// Describes the figures of `traffic`.
const OF_TRAFFIC: &str = "\
counted by callgrind within bench_step, for each segment that arrives or is sent, each transaction
or each connection; not counted are timers and the copies that stand for the wire
`stackloom` asks what to do (polled), and so does `stackloom, called` behind what it was called with
";

/// All of it; some benchmarks have tables of their own.
pub fn text(report: &Report, own: Option<String>) -> String {
    let (machine, date) = (&report.machine, &report.date);
    let is_own = own.is_some();
    let mut text = format!("{} on {machine}, {date}\n\n", report.bench);
    if let Some(own) = own {
        text += &own;
        text += OF_COUNTED;
    } else if report.bench == Name::Traffic.text() {
        text += &of_traffic(&report.rows);
    } else if report.bench == Name::Ensemble.text() {
        text += &ensemble::table::text(&report.rows);
        text += OF_COUNTED;
    } else {
        text += &aligned(&match () {
            () if report.bench == Name::Layers.text() => by_layers(&report.rows),
            () if report.bench == Name::Hippco.text() => by_metric(&report.rows),
            () => one_by_one(&report.rows),
        });
        text += match () {
            () if report.bench == Name::Bulk.text() => OF_BULK,
            () if report.bench == Name::Coders.text() => OF_CODERS,
            () if report.bench == Name::Size.text() => OF_SIZE,
            () => OF_COUNTED,
        };
        if report.rows.iter().any(|row| row.who == CALLED) {
            text += OF_CALLED;
        }
    }
    if report.bench == Name::Hippco.text() && !is_own {
        text += OF_HIPPCO;
    }
    // Of the recorded figures, only those that differ are of interest.
    let is_told = |goal: &&Goal| !goal.met || goal.bound != EXACTLY;
    for goal in report.goals.iter().filter(is_told) {
        let sign = if goal.met { "met" } else { "missed" };
        let (limit, value) = match goal.bound {
            EXACTLY => (goal.limit.to_string(), goal.value.to_string()),
            _ => (spaced(goal.limit), spaced(goal.value)),
        };
        writeln!(
            text,
            "goal {sign}: {}: {value} of {} {limit}",
            goal.metric, goal.bound
        )
        .expect("a string takes every line");
    }
    if report.goals.iter().any(|goal| goal.bound == EXACTLY) {
        let met = report.goals.iter().filter(|goal| goal.met).count();
        let all = report.goals.len();
        writeln!(text, "{met} of {all} goals are met").expect("a string takes every line");
    }
    text
}

/// A table for each way of talking with the host, one of the others, and frames that differ.
fn of_traffic(rows: &[Row]) -> String {
    let counts: Vec<&Row> = rows.iter().filter(|row| row.unit != FRAMES).collect();
    let mut text = String::new();
    for who in ["stackloom", CALLED] {
        let columns = variants(&counts, &[who]).into_iter().flat_map(|own| {
            let like = |other: &str| {
                let mut all = counts.iter();
                let other = all.find(|row| row.who == other && is_beside(row, own))?;
                Some((own, Some(*other)))
            };
            [Some((own, None)), like("lwip"), like("floor")]
        });
        text += &by_workload(who, &counts, &columns.flatten().collect::<Vec<_>>());
    }
    let others = variants(&counts, &["lwip", "smoltcp", "floor"]).into_iter();
    let others: Vec<_> = others.map(|own| (own, None)).collect();
    text += &by_workload("others", &counts, &others);
    text + OF_TRAFFIC + &frames(rows)
}

/// Returns true if two programs have the same sums setting and the same compiler flags.
fn is_beside(one: &Row, other: &Row) -> bool {
    (&one.flags, &one.checksums) == (&other.flags, &other.checksums)
}

/// The first row of each program of these systems.
fn variants<'a>(rows: &[&'a Row], whos: &[&str]) -> Vec<&'a Row> {
    let mut found: Vec<&Row> = Vec::new();
    for row in rows.iter().filter(|row| whos.contains(&row.who.as_str())) {
        if !found.iter().any(|one| one.variant == row.variant) {
            found.push(row);
        }
    }
    found
}

/// A line for each workload, and a column for each program, or for its ratio to another one.
fn by_workload(title: &str, rows: &[&Row], columns: &[(&Row, Option<&Row>)]) -> String {
    if columns.is_empty() {
        return String::new();
    }
    let value = |variant: &str, workload: &str| {
        let mut all = rows.iter();
        let row = all.find(|row| row.variant == variant && row.metric == workload)?;
        Some(row.value)
    };
    let head = columns.iter().map(|(own, other)| match other {
        Some(other) => format!("of {}", other.who),
        None => {
            let level = own.variant.rsplit('-').find(|part| part.starts_with('O'));
            let who = if own.who.starts_with("stackloom") {
                ""
            } else {
                &own.who
            };
            let level = level.unwrap_or_default();
            format!("{who} {level} {}", own.checksums)
                .trim_start()
                .to_string()
        }
    });
    let heads = [Cell::words(title), Cell::words("")].into_iter();
    let mut lines: Vec<Vec<Cell>> = vec![heads.chain(head.map(Cell::Figure)).collect()];
    for workload in &WORKLOADS {
        let figures: Vec<Option<f64>> = columns
            .iter()
            .map(|(own, other)| {
                let count = value(&own.variant, workload.name)?;
                match other {
                    Some(other) => Some(count / value(&other.variant, workload.name)?),
                    None => Some(count),
                }
            })
            .collect();
        if figures.iter().any(Option::is_some) {
            let figures = columns.iter().zip(figures).map(|((_, other), figure)| {
                Cell::Figure(match (figure, other) {
                    (None, _) => String::new(),
                    (Some(ratio), Some(_)) => format!("{ratio:.2}"),
                    (Some(count), None) => spaced(count.round()),
                })
            });
            let names = [workload.name, workload.title].map(Cell::words);
            lines.push(names.into_iter().chain(figures).collect());
        }
    }
    format!("{}\n", aligned(&lines))
}

/// Workloads for which not all send the same number of frames.
fn frames(rows: &[Row]) -> String {
    let mut text = String::new();
    for workload in &WORKLOADS {
        let own = rows.iter().filter(|row| row.unit == FRAMES);
        let mut found: Vec<(&str, String)> = Vec::new();
        for row in own.filter(|row| row.metric == workload.name) {
            let frames = format!("{:.3}", row.value);
            if !found.contains(&(&row.who, frames.clone())) {
                found.push((&row.who, frames));
            }
        }
        if found.iter().any(|(_, frames)| *frames != found[0].1) {
            let found = found.iter().map(|(who, frames)| format!("{who} {frames}"));
            let found: Vec<String> = found.collect();
            writeln!(
                text,
                "frames out for each unit of {}: {}",
                workload.name,
                found.join("; ")
            )
            .expect("a string takes every line");
        }
    }
    text
}

/// A cell of a table.
#[derive(Clone)]
enum Cell {
    /// Words begin at the left.
    Words(String),
    /// Figures end at the right.
    Figure(String),
}

impl Cell {
    fn words(words: &str) -> Cell {
        Cell::Words(words.to_string())
    }

    fn text(&self) -> &str {
        match self {
            Cell::Words(text) | Cell::Figure(text) => text,
        }
    }
}

/// A line for each row.
fn one_by_one(rows: &[Row]) -> Vec<Vec<Cell>> {
    let heads = ["who", "checksums", "compiler", "flags", "what", "", "", ""];
    let mut lines: Vec<Vec<Cell>> = vec![heads.map(Cell::words).to_vec()];
    lines.extend(rows.iter().map(|row| {
        let cells = [
            &row.who,
            &row.checksums,
            &row.compiler,
            &row.flags,
            &row.metric,
        ];
        let mut line = cells.map(|cell| Cell::words(cell)).to_vec();
        line.push(Cell::Figure(spaced(row.value)));
        line.push(Cell::words(&row.unit));
        let spread = row.spread.map_or(String::new(), |[least, greatest]| {
            format!("{} to {}", spaced(least), spaced(greatest))
        });
        line.push(Cell::Words(spread));
        line
    }));
    lines
}

/// A line for all rows that differ only in how many layers there are.
fn by_layers(rows: &[Row]) -> Vec<Vec<Cell>> {
    let layers: BTreeSet<u32> = rows.iter().filter_map(|row| row.layers).collect();
    let columns: Vec<Option<u32>> = layers.into_iter().map(Some).chain([None]).collect();
    let named = |row: &Row| {
        let names = [&row.who, &row.compiler, &row.flags, &row.metric, &row.unit];
        names.map(String::clone).to_vec()
    };
    let heads = columns.iter().map(|column| {
        let layers = column.map(|layers| layers.to_string());
        layers.unwrap_or_else(|| "each".to_string())
    });
    let heads = heads.collect();
    let column = |row: &Row| columns.iter().position(|one| *one == row.layers);
    pivoted(
        rows,
        &["who", "compiler", "flags", "what", ""],
        heads,
        &named,
        &column,
    )
}

/// A line for all rows that differ only in what the figure is.
fn by_metric(rows: &[Row]) -> Vec<Vec<Cell>> {
    let mut metrics: Vec<&String> = Vec::new();
    for row in rows {
        if !metrics.contains(&&row.metric) {
            metrics.push(&row.metric);
        }
    }
    let named = |row: &Row| {
        let names = [&row.who, &row.compiler, &row.flags];
        names.map(String::clone).to_vec()
    };
    let short = |metric: &&String| {
        let end = metric.find([':', '=']).unwrap_or(metric.len());
        metric[..end].trim_end().to_string()
    };
    let heads = metrics.iter().map(short).collect();
    let column = |row: &Row| metrics.iter().position(|one| **one == row.metric);
    pivoted(rows, &["who", "compiler", "flags"], heads, &named, &column)
}

/// A line for all rows of the same names, and in it a column for each kind of figure.
fn pivoted(
    rows: &[Row],
    names: &[&str],
    heads: Vec<String>,
    named: &dyn Fn(&Row) -> Vec<String>,
    column: &dyn Fn(&Row) -> Option<usize>,
) -> Vec<Vec<Cell>> {
    let mut head: Vec<Cell> = names.iter().map(|name| Cell::words(name)).collect();
    let columns = heads.len();
    head.extend(heads.into_iter().map(Cell::Figure));
    let mut lines: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    for row in rows {
        let own = named(row);
        let at = match lines.iter().position(|(names, _)| *names == own) {
            Some(at) => at,
            None => {
                lines.push((own, vec![String::new(); columns]));
                lines.len() - 1
            }
        };
        if let Some(column) = column(row) {
            lines[at].1[column] = spaced(row.value);
        }
    }
    let lines = lines.into_iter().map(|(names, figures)| {
        let names = names.into_iter().map(Cell::Words);
        names.chain(figures.into_iter().map(Cell::Figure)).collect()
    });
    [head].into_iter().chain(lines).collect()
}

/// Returns a table of words in the first column and figures in all others.
pub fn figures(heads: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| {
        let (first, others) = cells.split_first().expect("a table has a column");
        let others = others.iter().cloned().map(Cell::Figure);
        [Cell::words(first)].into_iter().chain(others).collect()
    };
    let rows = rows.iter().map(|row| line(row));
    aligned(
        &[line(heads)]
            .into_iter()
            .chain(rows)
            .collect::<Vec<Vec<Cell>>>(),
    )
}

fn aligned(lines: &[Vec<Cell>]) -> String {
    let width = |at: usize| {
        let cells = lines.iter().map(|line| line[at].text().chars().count());
        cells.max().unwrap_or_default()
    };
    let columns = lines.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for line in lines {
        let cells = line.iter().zip(&widths).map(|(cell, &width)| match cell {
            Cell::Words(cell) => format!("{cell:<width$}"),
            Cell::Figure(cell) => format!("{cell:>width$}"),
        });
        let cells: Vec<String> = cells.collect();
        writeln!(text, "{}", cells.join("  ").trim_end()).expect("a string takes every line");
    }
    text
}

/// `1,245`, and `0.87`
pub fn spaced(value: f64) -> String {
    if value.abs() < 10.0 && value.fract() != 0.0 {
        return format!("{value:.2}");
    }
    let digits = format!("{:.0}", value.abs());
    let mut text = if value < 0.0 { "-" } else { "" }.to_string();
    for (at, digit) in digits.chars().enumerate() {
        if at != 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::spaced;

    #[test]
    fn thousands_are_parted() {
        let texts = [0.871, 7.0, 844.0, 1245.0, 340_888_224.0, -494.0].map(spaced);
        assert_eq!(texts, ["0.87", "7", "844", "1,245", "340,888,224", "-494"]);
    }
}
