//! A report as people read it: in, its rows and goals; out, a table and a line for each goal.
//!
//! ```text
//! who        checksums  compiler    flags  what              293  instructions
//! who        flags  what             0    1    2  each
//! ```

use super::{Name, Report, Row};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// All of it.
pub fn text(report: &Report) -> String {
    let lines = match report.bench == Name::Layers.text() {
        true => by_layers(&report.rows),
        false => one_by_one(&report.rows),
    };
    let (machine, date) = (&report.machine, &report.date);
    let mut text = format!(
        "{} on {machine}, {date}\n\n{}",
        report.bench,
        aligned(&lines)
    );
    text += match report.bench == Name::Bulk.text() {
        true => {
            "\nthe median of rounds in which all had their turns; times say little but ratios\n"
        }
        false => {
            "\ncounted by callgrind within bench_step; the copy that stands for the wire is not\n"
        }
    };
    for goal in &report.goals {
        let sign = if goal.met { "met" } else { "missed" };
        let (limit, value) = (spaced(goal.limit), spaced(goal.value));
        writeln!(
            text,
            "goal {sign}: {}: {value} of {} {limit}",
            goal.metric, goal.bound
        )
        .expect("a string takes every line");
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
    let heads = ["who", "checksums", "compiler", "flags", "what", "", ""];
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
        line
    }));
    lines
}

/// A line for all rows that differ only in how many layers there are.
fn by_layers(rows: &[Row]) -> Vec<Vec<Cell>> {
    let layers: BTreeSet<u32> = rows.iter().filter_map(|row| row.layers).collect();
    let columns: Vec<Option<u32>> = layers.into_iter().map(Some).chain([None]).collect();
    let mut head = ["who", "compiler", "flags", "what"]
        .map(Cell::words)
        .to_vec();
    head.extend(columns.iter().map(|column| {
        let head = column.map_or("each".to_string(), |layers| layers.to_string());
        Cell::Figure(head)
    }));
    head.push(Cell::words(""));
    let mut lines = vec![head];
    let mut shown: Vec<[&String; 4]> = Vec::new();
    for row in rows {
        let own = named(row);
        if shown.contains(&own) {
            continue;
        }
        shown.push(own);
        let mut line: Vec<Cell> = own.map(|cell| Cell::words(cell)).to_vec();
        line.extend(columns.iter().map(|column| {
            let mut same = rows.iter().filter(|row| named(row) == own);
            let found = same.find(|row| row.layers == *column);
            Cell::Figure(found.map(|row| spaced(row.value)).unwrap_or_default())
        }));
        line.push(Cell::words(&row.unit));
        lines.push(line);
    }
    lines
}

fn named(row: &Row) -> [&String; 4] {
    [&row.who, &row.compiler, &row.flags, &row.metric]
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
fn spaced(value: f64) -> String {
    if value.abs() < 10.0 && value.fract() != 0.0 {
        return format!("{value:.2}");
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
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
        let texts = [0.871, 7.0, 844.0, 1245.0, 340_888_224.0].map(spaced);
        assert_eq!(texts, ["0.87", "7", "844", "1,245", "340,888,224"]);
    }
}
