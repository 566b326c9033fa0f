//! Instruction counts that were recorded: in, `bench/traffic.toml` and rows; out, what a row may be
//! at most, or the file again with the counts of today.
//!
//! ```text
//! compiler = "gcc 12.2.0"
//!
//! [stackloom-off-O2]       the program, as in the names of `--keep`
//! rr = 3712.5              instructions of a unit of the workload
//! ```

use super::Row;
use crate::tool::counting;
use crate::tool::failure::{Failure, about};
use crate::tool::terminal::note;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// By how much a count may rise.
const MARGIN: f64 = 1.03;

/// The comment at the top of the file.
const HEAD: &str = "\
# Instruction counts of `loom bench traffic`, written by `loom bench traffic --alone --record`;
# with `--strict` it fails if one of them rises by more than 3 of 100.
";

/// Recorded instruction counts, by program and workload.
#[derive(Default)]
pub struct Counts {
    compiler: Option<String>,
    tables: BTreeMap<String, BTreeMap<String, f64>>,
}

fn file(folder: &Path) -> PathBuf {
    folder.join("traffic.toml")
}

fn number(value: &DeValue) -> Option<f64> {
    match value {
        DeValue::Float(count) => count.as_str().parse().ok(),
        DeValue::Integer(count) => count.as_str().parse().ok(),
        _ => None,
    }
}

impl Counts {
    /// Reads the file; without one nothing is recorded.
    pub fn read(folder: &Path) -> Result<Counts, Failure> {
        let path = file(folder);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Counts::default());
            }
            Err(error) => return Err(about(&path)(error)),
        };
        let wrong = |says: &str| Failure::environment(format!("{}: {says}", path.display()));
        let table = DeTable::parse(&text).map_err(|error| wrong(&format!("{error}")))?;
        let mut counts = Counts::default();
        for (name, value) in table.into_inner() {
            let name = name.into_inner().into_owned();
            match value.into_inner() {
                DeValue::String(text) if name == "compiler" => {
                    counts.compiler = Some(text.into_owned());
                }
                DeValue::Table(own) => {
                    let own = own.into_iter().map(|(workload, count)| {
                        let count = number(count.get_ref())?;
                        Some((workload.into_inner().into_owned(), count))
                    });
                    let own: Option<_> = own.collect();
                    let says = format!("the counts of `{name}` are not numbers");
                    counts.tables.insert(name, own.ok_or_else(|| wrong(&says))?);
                }
                _ => return Err(wrong(&format!("the file has no counts of `{name}`"))),
            }
        }
        Ok(counts)
    }

    /// Returns the greatest count that a row may have; `None` if no count is recorded for it.
    pub fn limit(&self, row: &Row) -> Option<f64> {
        let count = self.tables.get(&row.variant)?.get(&row.metric)?;
        Some(count * MARGIN)
    }

    /// Says so if another compiler was used when the counts were recorded.
    pub fn note_other_compiler(&self) {
        let own = counting::version("gcc", "-dumpfullversion");
        if let Some(compiler) = self.compiler.as_ref().filter(|one| **one != own) {
            note(format_args!(
                "bench/traffic.toml was recorded with {compiler}, but the compiler here is {own}"
            ));
        }
    }

    /// Writes the counts of our own stacks over those of before.
    pub fn record(mut self, folder: &Path, rows: &[Row]) -> Result<(), Failure> {
        let own = rows.iter().filter(|row| row.who.starts_with("stackloom"));
        for row in own.filter(|row| row.unit == "instructions") {
            let table = self.tables.entry(row.variant.clone()).or_default();
            table.insert(row.metric.clone(), row.value);
        }
        let compiler = counting::version("gcc", "-dumpfullversion");
        let mut text = format!("{HEAD}\ncompiler = \"{compiler}\"\n");
        for (program, counts) in &self.tables {
            writeln!(text, "\n[{program}]").expect("a string takes every line");
            for (workload, count) in counts {
                writeln!(text, "{workload} = {count:.1}").expect("a string takes every line");
            }
        }
        let path = file(folder);
        std::fs::write(&path, text).map_err(about(&path))
    }
}

#[cfg(test)]
mod tests {
    use super::Counts;

    #[test]
    fn a_file_that_is_no_list_of_counts_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let read = |text: &str| {
            std::fs::write(folder.path().join("traffic.toml"), text).expect("a file");
            Counts::read(folder.path())
                .err()
                .map(|failure| failure.message)
        };
        assert_eq!(
            read("compiler = \"gcc 1\"\n[a]\nrr = 1.5\necho = 2\n"),
            None
        );
        for (text, says) in [
            ("[a]\nrr = \"many\"\n", "the counts of `a` are not numbers"),
            ("date = 3\n", "the file has no counts of `date`"),
            ("[a", "TOML parse error"),
        ] {
            let said = read(text).expect("it is refused");
            assert!(said.contains(says), "{said}");
        }
    }
}
