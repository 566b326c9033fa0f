//! Instructions of each kind of TCP traffic, beside those of others.
//!
//! In: the programs of `traffic`, each a scripted client (`bench/traffic/client.c`) and one system
//! under test, so that all are given the same frames. Out: a row for each program and workload;
//! bytes that differ between two systems are an error, and frames that differ are rows of their
//! own.
//!
//! ```text
//! PROGRAM rr 1000        messages 1000      transactions that were counted
//!                        bytes out 1000000  of the counted answers
//! ```

use super::programs::Program;
use super::{Bench, Goal, Row, missing};
use crate::tool::counting::Counted;
use crate::tool::failure::Failure;
use crate::tool::terminal::note;
use clap::Args;
use std::collections::BTreeMap;

/// A kind of traffic.
pub struct Workload {
    /// As the client calls it.
    pub name: &'static str,
    /// For the table.
    pub title: &'static str,
    /// How many units are counted: segments, transactions or connections.
    pub units: u32,
}

const fn workload(name: &'static str, title: &'static str, units: u32) -> Workload {
    Workload { name, title, units }
}

/// All workloads of the client, in the order of the table.
pub const WORKLOADS: [Workload; 14] = [
    workload("base", "a segment in order", 3000),
    workload("lengths", "the same, random lengths", 3000),
    workload("two", "the same, two connections in turn", 3000),
    workload("hundred", "the same, 100 connections at random", 3000),
    workload("thousand", "the same, 1,000 connections at random", 3000),
    workload("order", "the same, 1 of 100 out of order", 3000),
    workload("options", "the same, with a timestamp option", 3000),
    workload("window", "the same, the peer's window changes", 3000),
    workload("send", "a segment sent", 2000),
    workload("echo", "64 bytes, echoed", 1000),
    workload("rr", "request of 200 bytes, answer of 1,000", 1000),
    workload("rr100", "the same, 100 connections at random", 1000),
    workload("rrbig", "request of 200 bytes, answer of 14,600", 200),
    workload("churn", "open, request, answer, close", 300),
];

/// The unit of rows that say how many frames left for each unit of a workload.
pub const FRAMES: &str = "frames";

/// Options of `loom bench traffic`.
#[derive(Args, Debug)]
pub struct Choice {
    /// `traffic`, `law`, `hippco --matrix`: workloads to count [default: all]
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
    workloads: Vec<String>,
    /// `traffic` and `hippco --matrix` only: segments, transactions or connections to count
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    units: Option<u32>,
}

impl Choice {
    /// Returns true if something is chosen.
    pub fn is_made(&self) -> bool {
        self.has_units() || !self.workloads.is_empty()
    }

    /// Returns true if the number of units is chosen, of `traffic` or of the matrix of `hippco`.
    pub fn has_units(&self) -> bool {
        self.units.is_some()
    }

    /// Returns the names of chosen workloads; none: all.
    pub fn workload_names(&self) -> &[String] {
        &self.workloads
    }

    /// Returns the chosen workloads in the order of the table.
    pub fn workloads(&self) -> Result<Vec<&'static Workload>, Failure> {
        let known = |name: &String| WORKLOADS.iter().any(|one| one.name == name);
        if let Some(wrong) = self.workloads.iter().find(|name| !known(name)) {
            let names = WORKLOADS.each_ref().map(|one| one.name).join(", ");
            let says = format!("there is no workload `{wrong}`; the workloads are {names}");
            return Err(Failure::environment(says));
        }
        let chosen = |one: &&Workload| {
            self.workloads.is_empty() || self.workloads.iter().any(|name| name == one.name)
        };
        Ok(WORKLOADS.iter().filter(chosen).collect())
    }

    /// Returns how many units of a workload are counted.
    pub fn units(&self, workload: &Workload) -> u32 {
        self.units.unwrap_or(workload.units)
    }
}

/// Output of a program, and instructions that callgrind counted, for one workload.
struct Figures {
    instructions: f64,
    units: f64,
    said: BTreeMap<String, f64>,
}

/// Counts all workloads of all programs.
pub fn rows(bench: &Bench, choice: &Choice, programs: Vec<Program>) -> Result<Vec<Row>, Failure> {
    let workloads = choice.workloads()?;
    let mut rows = Vec::new();
    let mut first = BTreeMap::new();
    for program in programs {
        (bench.say)(&program.title());
        let counted = match program.build(bench) {
            Ok(counted) => counted,
            Err(failure) if program.is_ours() => return Err(failure),
            Err(failure) => {
                missing(&program, &failure);
                continue;
            }
        };
        for workload in workloads.iter().filter(|_| bench.counts) {
            (bench.say)(&format!("{}: {}", program.title(), workload.name));
            match figures(&counted, workload, choice.units(workload)) {
                Ok(figures) => {
                    compare(&mut first, &program, workload, &figures.said)?;
                    rows.extend(of_workload(&program, workload, &figures));
                }
                Err(failure) if program.is_ours() => return Err(failure),
                Err(failure) => note(format_args!(
                    "no row for {}, {}: {}",
                    program.title(),
                    workload.name,
                    failure.message
                )),
            }
        }
    }
    Ok(rows)
}

/// Returns the instructions for one unit of a workload.
pub fn instructions(
    counted: &Counted,
    workload: &Workload,
    choice: &Choice,
) -> Result<f64, Failure> {
    let figures = figures(counted, workload, choice.units(workload))?;
    Ok(figures.instructions / figures.units)
}

/// Runs a workload below callgrind.
fn figures(counted: &Counted, workload: &Workload, units: u32) -> Result<Figures, Failure> {
    let one = Counted {
        program: counted.program.clone(),
        given: vec![workload.name.into()],
    };
    let found = one.collected(&[], &units.to_string())?;
    let said = found.said.lines().filter_map(|line| {
        let (name, number) = line.rsplit_once(' ')?;
        Some((name.to_string(), number.parse::<f64>().ok()?))
    });
    let said: BTreeMap<String, f64> = said.collect();
    let units = said.get("messages").copied().unwrap_or_default();
    if units <= 0.0 {
        let program = counted.program.display();
        let says = format!("{program}: the program did not print its number of units");
        return Err(Failure::refused(says));
    }
    let instructions = found.totals[0];
    Ok(Figures {
        instructions,
        units,
        said,
    })
}

fn of_workload(program: &Program, workload: &Workload, figures: &Figures) -> Vec<Row> {
    let mut rows = vec![program.row(workload.name, figures.instructions / figures.units, None)];
    if let Some(frames) = figures.said.get("frames out") {
        rows.push(Row {
            unit: FRAMES.to_string(),
            ..program.row(workload.name, frames / figures.units, None)
        });
    }
    rows
}

/// Bytes that every system delivers and sends. A sender may be some
/// segments further when the last one that counts is acknowledged.
const EQUAL: [&str; 3] = ["bytes in", "bytes to the application", "bytes out"];

/// Compares bytes with those of the first program that ran this workload.
fn compare(
    first: &mut BTreeMap<&'static str, (String, BTreeMap<String, f64>)>,
    program: &Program,
    workload: &Workload,
    said: &BTreeMap<String, f64>,
) -> Result<(), Failure> {
    let (other, expected) = first
        .entry(workload.name)
        .or_insert_with(|| (program.title(), said.clone()));
    for name in EQUAL {
        let (own, theirs) = (said.get(name), expected.get(name));
        if own != theirs && !(workload.name == "send" && name == "bytes out") {
            let [own, theirs] = [own, theirs].map(|value| value.copied().unwrap_or_default());
            return Err(Failure::refused(format!(
                "{}, {}: {name} {own}, and {theirs} of {other}",
                program.title(),
                workload.name
            )));
        }
    }
    Ok(())
}

/// Of a segment that is sent, a request and a connection: what these may take at most, sums off.
const LIMITS: [(&str, f64); 3] = [("rr", 3900.0), ("send", 2500.0), ("churn", 15_000.0)];

/// Returns the goals at -O2.
pub fn goals(rows: &[Row]) -> Vec<Goal> {
    let goal = |row: &Row| {
        let own = LIMITS.iter().find(|(name, _)| *name == row.metric);
        let (name, limit) = own.filter(|_| row.variant == "stackloom-off-O2")?;
        (row.unit != FRAMES).then(|| Goal {
            metric: format!("{} {name}", row.variant),
            limit: *limit,
            value: row.value,
            met: row.value <= *limit,
            bound: "at most",
        })
    };
    rows.iter().filter_map(goal).collect()
}
