//! The ratchet: figures of our own stacks and of the compiler, recorded in `bench/figures.toml`.
//!
//! In: the file, and the rows of a benchmark. Out: a goal for each row that is recorded, or the
//! file with the figures of this run. A figure must equal the recorded one, so a change that
//! improves a figure records it, and no later change can lose the improvement unnoticed.
//!
//! ```text
//! tools = "gcc 12.2.0, glibc 2.36, valgrind 3.19.0"
//! rustc = "rustc 1.95.0"
//!
//! [size.Os]                     the benchmark, and the level of optimisation
//! ping = 11090                  bytes of code of a stack
//!
//! [traffic.stackloom-off-O2]    the benchmark, and the program as in the names of `--keep`
//! rr = 3854.021                 instructions for one unit of the workload
//! ```
//!
//! `code_size` measures what no other benchmark does: the bytes of each stack, and the work of the
//! compiler.

pub mod code_size;

use super::{Goal, Name, Row};
use crate::tool::counting;
use crate::tool::failure::{Failure, about};
use crate::tool::terminal::note;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// The tolerance of the compiler's own instructions. Maps of the standard library have a random
/// seed, so nine builds of `examples/ping` differed by 0.12%. Figures of generated code repeat
/// exactly.
const WORK_TOLERANCE: f64 = 0.0025;

/// The comment at the top of the file.
const HEAD: &str = "\
# Figures of Stackloom's own stacks: instructions for a message, a segment or a unit of traffic,
# bytes of code, and instructions of the compiler. `make record` writes them. `loom bench --strict`
# fails if a figure differs.
";

/// The bound of a goal whose figure must equal the recorded one.
pub const EXACTLY: &str = "exactly";

/// The figures of a program, by metric.
type Table = BTreeMap<String, f64>;

/// Recorded figures, by benchmark and program, and the tools that made them.
#[derive(Default)]
pub struct Figures {
    tools: Option<String>,
    rustc: Option<String>,
    benches: BTreeMap<String, BTreeMap<String, Table>>,
}

fn file(folder: &Path) -> PathBuf {
    folder.join("figures.toml")
}

/// Returns the programs, other than rustc, on which a figure depends.
pub fn tools() -> String {
    let gcc = counting::version("gcc", "-dumpfullversion");
    let libc = counting::version("getconf", "GNU_LIBC_VERSION").replace("getconf ", "");
    let valgrind = counting::version("valgrind", "--version").replace('-', " ");
    format!("{gcc}, {libc}, {valgrind}")
}

fn rustc() -> String {
    counting::version("rustc", "--version")
}

/// Returns a figure with as many decimals as the file has.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

fn number(value: &DeValue) -> Option<f64> {
    match value {
        DeValue::Float(count) => count.as_str().parse().ok(),
        DeValue::Integer(count) => count.as_str().parse().ok(),
        _ => None,
    }
}

/// Returns the figures of one program, or none if a value is not a number.
fn table(value: DeValue) -> Option<Table> {
    let DeValue::Table(own) = value else {
        return None;
    };
    let figures = own.into_iter().map(|(metric, value)| {
        let value = number(value.get_ref())?;
        Some((metric.into_inner().into_owned(), value))
    });
    figures.collect()
}

impl Figures {
    /// Reads the file. Without a file, nothing is recorded.
    pub fn read(folder: &Path) -> Result<Figures, Failure> {
        let path = file(folder);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Figures::default());
            }
            Err(error) => return Err(about(&path)(error)),
        };
        Figures::parse(&text)
            .map_err(|says| Failure::environment(format!("{}: {says}", path.display())))
    }

    fn parse(text: &str) -> Result<Figures, String> {
        let mut figures = Figures::default();
        let all = DeTable::parse(text).map_err(|error| format!("{error}"))?;
        for (name, value) in all.into_inner() {
            let name = name.into_inner().into_owned();
            match value.into_inner() {
                DeValue::String(text) if name == "tools" => figures.tools = Some(text.into_owned()),
                DeValue::String(text) if name == "rustc" => figures.rustc = Some(text.into_owned()),
                DeValue::Table(programs) => {
                    let own = figures.benches.entry(name.clone()).or_default();
                    for (program, value) in programs {
                        let program = program.into_inner().into_owned();
                        let says = format!("the figures of `{name}.{program}` are not numbers");
                        own.insert(program, table(value.into_inner()).ok_or(says)?);
                    }
                }
                _ => return Err(format!("the file has no figures of `{name}`")),
            }
        }
        Ok(figures)
    }

    /// Returns a goal for each row that is recorded. Prints the reason if the figures cannot be
    /// compared, since they were recorded with other tools, and names rows that are not recorded.
    pub fn goals(&self, name: Name, rows: &[Row]) -> Vec<Goal> {
        let Some(recorded) = self.benches.get(name.text()) else {
            return Vec::new();
        };
        let (tools, rustc) = (tools(), rustc());
        let others = [(&self.tools, &tools), (&self.rustc, &rustc)];
        let [is_other, is_other_rustc] = others.map(|(recorded, own)| {
            let other = recorded.as_ref().filter(|recorded| *recorded != own);
            if let Some(recorded) = other {
                note(format_args!(
                    "figures are not compared: bench/figures.toml was recorded with {recorded}, \
                     and here is {own}"
                ));
            }
            other.is_some()
        });
        let rows = rows.iter().filter(|row| match row.who.as_str() {
            "loom" => !is_other_rustc,
            _ => !is_other,
        });
        let mut goals = Vec::new();
        for row in rows {
            let figure = recorded
                .get(&row.variant)
                .and_then(|own| own.get(&row.metric));
            match figure {
                Some(figure) if is_counted(name, row) => goals.push(goal(name, row, *figure)),
                None if is_recorded(name, row) => note(format_args!(
                    "no figure is recorded for {}, {}: `make record` adds it",
                    row.variant, row.metric
                )),
                Some(_) | None => {}
            }
        }
        goals
    }

    /// Writes the figures of our own stacks over the recorded ones. Of a complete run, no other
    /// figure of that benchmark stays.
    pub fn record(
        mut self,
        folder: &Path,
        name: Name,
        rows: &[Row],
        is_complete: bool,
    ) -> Result<(), Failure> {
        let bench = self.benches.entry(name.text().to_string()).or_default();
        if is_complete {
            bench.clear();
        }
        for row in rows.iter().filter(|row| is_recorded(name, row)) {
            let table = bench.entry(row.variant.clone()).or_default();
            table.insert(row.metric.clone(), rounded(row.value));
        }
        let path = file(folder);
        std::fs::write(&path, self.text()).map_err(about(&path))
    }

    fn text(&self) -> String {
        let line = "a string takes every line";
        let mut text = format!("{HEAD}\ntools = \"{}\"\nrustc = \"{}\"\n", tools(), rustc());
        for (bench, programs) in &self.benches {
            for (program, figures) in programs {
                writeln!(text, "\n[{bench}.{program}]").expect(line);
                for (metric, value) in figures {
                    let is_bare = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
                    let quote = if metric.chars().all(is_bare) {
                        ""
                    } else {
                        "\""
                    };
                    writeln!(text, "{quote}{metric}{quote} = {value}").expect(line);
                }
            }
        }
        text
    }
}

/// Returns true if a figure repeats: it is a count of instructions, or of bytes of code.
fn is_counted(name: Name, row: &Row) -> bool {
    match name {
        Name::Size => ["bytes", "instructions"].contains(&row.unit.as_str()),
        Name::Udp | Name::Tcp | Name::Traffic => row.unit == "instructions",
        Name::Layers | Name::Hippco | Name::Bulk | Name::Boosters => false,
        Name::Coders | Name::Law | Name::Ensemble => false,
    }
}

/// Returns true if `--record` writes a figure.
fn is_recorded(name: Name, row: &Row) -> bool {
    let is_ours = row.who.starts_with("stackloom");
    let is_work = name == Name::Size && row.who == "loom" && row.variant == "release";
    (is_ours || is_work) && is_counted(name, row)
}

fn goal(name: Name, row: &Row, figure: f64) -> Goal {
    let (value, limit) = (rounded(row.value), rounded(figure));
    let (bound, tolerance) = match row.who.as_str() {
        "loom" => ("about", WORK_TOLERANCE),
        _ => (EXACTLY, 0.0),
    };
    Goal {
        metric: format!(
            "{} {} {}, as recorded",
            name.text(),
            row.variant,
            row.metric
        ),
        limit,
        value,
        met: (value - limit).abs() <= limit * tolerance,
        bound,
    }
}

#[cfg(test)]
mod tests {
    use super::{Figures, Name, Row};

    #[test]
    fn a_file_that_is_no_list_of_figures_is_refused() {
        let refused = |text: &str| Figures::parse(text).err();
        let good = "tools = \"gcc 1\"\n[udp.a]\nrr = 1.5\n\"a message\" = 2\n";
        assert_eq!(refused(good), None);
        for (text, says) in [
            ("[udp.a]\nrr = \"many\"\n", "the figures of `udp.a` are not"),
            ("[udp]\na = 3\n", "the figures of `udp.a` are not numbers"),
            ("date = 3\n", "the file has no figures of `date`"),
            ("[a", "TOML parse error"),
        ] {
            let said = refused(text).expect("it is refused");
            assert!(said.contains(says), "{said}");
        }
    }

    #[test]
    fn a_figure_that_differs_by_one_instruction_is_a_missed_goal() {
        let mut figures = Figures::default();
        let table = [("a message".to_string(), 141.5)].into_iter().collect();
        let programs = [("own".to_string(), table)].into_iter().collect();
        figures.benches.insert("udp".to_string(), programs);
        let goal = |value: f64| {
            let words = ["stackloom", "own", "-O2"];
            let row = Row::without_sums(words, "a message", "instructions", value);
            let goals = figures.goals(Name::Udp, &[row]);
            goals.first().expect("the row is recorded").met
        };
        assert_eq!([141.5, 141.501, 141.499].map(goal), [true, false, false]);
    }

    #[test]
    fn a_written_file_is_read_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let row = Row::without_sums(["stackloom", "Os", "-Os"], "web", "bytes", 7.0);
        let rows = [row.clone()];
        let written = Figures::default().record(folder.path(), Name::Size, &rows, true);
        assert!(written.is_ok());
        let figures = Figures::read(folder.path()).expect("it can be read");
        let goals = figures.goals(Name::Size, &rows);
        assert!(goals.len() == 1 && goals[0].met, "{goals:?}");
    }
}
