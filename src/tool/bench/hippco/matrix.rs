//! Each kind of TCP traffic, counted with the profile of each other (HIPPCO 7: the frequencies of
//! one application, and those that the designer of a module knows).
//!
//! In: the stack and the workloads of `loom bench traffic`. Out: a row for each profile and
//! workload, and the bytes of text with each profile.
//!
//! ```text
//! no profile          what the layers say, by `likely` and `traffic`
//! profile of NAME     recorded while a workload ran
//! profile of all      all of these, added
//! ```
//!
//! A stack whose object has the same bytes as an earlier one has the same counts, so it is not
//! counted again.

use super::super::programs::QUICK;
use super::super::sized::sized;
use super::super::table::{figures, spaced};
use super::super::traffic::{self, Choice, Workload};
use super::super::{Bench, Goal, Row};
use crate::profile::{Profile, Recorded};
use crate::tool::compiler::Options;
use crate::tool::counting::{self, Counted};
use crate::tool::failure::{Failure, about};
use crate::tool::profile;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The stack of which all this is counted.
const STACK: &str = "traffic.loom:offloaded";

/// The profile of the first row, and of the last.
const NONE: &str = "none";
const ALL: &str = "all";

/// The metric of bytes.
const TEXT: &str = "text";

/// The prefix of the variant of a row, before the name of its profile.
const VARIANT: &str = "matrix-";

/// A workload may take so many per cent more with its own profile than with none.
const MORE: f64 = 2.0;

/// Stacks that were counted: the bytes of the object, and a figure for each workload.
type Before = Vec<(Vec<u8>, Vec<(&'static str, f64)>)>;

/// Counts the chosen workloads with all their profiles.
pub fn rows(bench: &Bench, choice: &Choice) -> Result<Vec<Row>, Failure> {
    let workloads = choice.workloads()?;
    let (mut rows, mut before) = (Vec::new(), Before::new());
    for (word, profile) in profiles(bench, choice, &workloads)? {
        let title = match word.as_str() {
            NONE => "no profile".to_string(),
            _recorded => format!("profile of {word}"),
        };
        (bench.say)(&title);
        let variant = format!("{VARIANT}{word}");
        let add = |metric: &str, unit: &str, value: f64| {
            Row::without_sums([&title, &variant, QUICK], metric, unit, value)
        };
        let options = Options {
            profile,
            ..Options::default()
        };
        let stack = bench.folder.join(STACK);
        let (source, _) = counting::written(&stack, "traffic", options, bench.work)?;
        let object = counting::object_of(&source, &[QUICK])?;
        if bench.counts {
            let bytes = std::fs::read(&object).map_err(about(&object))?;
            let place = match before.iter().position(|(known, _)| *known == bytes) {
                Some(place) => place,
                None => {
                    let name = format!("hippco-{variant}");
                    let program = driven(bench, &object, &bench.keep.join(name))?;
                    let counts = counts(bench, &title, program, choice, &workloads)?;
                    before.push((bytes, counts));
                    before.len() - 1
                }
            };
            let counts = before[place].1.iter();
            rows.extend(counts.map(|(name, value)| add(name, "instructions", *value)));
        }
        rows.push(add(TEXT, "bytes", sized(&object, |_| true)?.text));
    }
    Ok(rows)
}

/// Counts the workloads of a program.
fn counts(
    bench: &Bench,
    title: &str,
    program: PathBuf,
    choice: &Choice,
    workloads: &[&'static Workload],
) -> Result<Vec<(&'static str, f64)>, Failure> {
    let counted = Counted::alone(program);
    let count = |workload: &&'static Workload| {
        (bench.say)(&format!("{title}: {}", workload.name));
        let each = traffic::instructions(&counted, workload, choice)?;
        Ok((workload.name, each))
    };
    workloads.iter().map(count).collect()
}

/// Records each workload; the first profile is none, and the last all of them.
fn profiles(
    bench: &Bench,
    choice: &Choice,
    workloads: &[&'static Workload],
) -> Result<Vec<(String, Profile)>, Failure> {
    let options = Options {
        records: true,
        ..Options::default()
    };
    let stack = bench.folder.join(STACK);
    let (source, _) = counting::written(&stack, "traffic", options, bench.work)?;
    let program = driven(bench, &source, &bench.work.join("recording"))?;
    let recorded = bench.work.join("traffic.profile");
    let mut profiles = vec![(NONE.to_string(), Profile::Default)];
    let mut all: Option<Recorded> = None;
    for workload in workloads {
        (bench.say)(&format!("recording {}", workload.name));
        let mut run = Command::new(&program);
        run.args([workload.name, &choice.units(workload).to_string()]);
        counting::quietly(run.env("LOOM_PROFILE", &recorded))?;
        let own = profile::read(&recorded)?;
        all = Some(match all {
            Some(all) => all.and(&own).map_err(Failure::refused)?,
            None => own.clone(),
        });
        profiles.push((workload.name.to_string(), Profile::Recorded(own)));
    }
    if let Some(all) = all.filter(|_| workloads.len() > 1) {
        profiles.push((ALL.to_string(), Profile::Recorded(all)));
    }
    Ok(profiles)
}

/// Compiles the driver and the client with the stack, which is C or an object.
fn driven(bench: &Bench, stack: &Path, program: &Path) -> Result<PathBuf, Failure> {
    let program = std::path::absolute(program)?;
    let client = bench.folder.join("traffic").join("client.c");
    let flags = [QUICK, &*client.to_string_lossy()];
    counting::compile_driven(stack, &bench.folder.join("traffic.c"), &flags, &program)?;
    Ok(program)
}

/// The figure of a profile and a workload, or its bytes.
fn figure(rows: &[Row], profile: &str, metric: &str) -> Option<f64> {
    let is_meant =
        |row: &&Row| row.variant.strip_prefix(VARIANT) == Some(profile) && row.metric == metric;
    Some(rows.iter().find(is_meant)?.value)
}

/// By how many per cent a workload is longer with a profile than with none.
fn change(rows: &[Row], profile: &str, metric: &str) -> Option<f64> {
    let none = figure(rows, NONE, metric)?;
    Some(100.0 * (figure(rows, profile, metric)? / none - 1.0))
}

/// The profiles in the order of their rows.
fn recorded(rows: &[Row]) -> Vec<&str> {
    let own = rows.iter().filter(|row| row.metric == TEXT);
    own.filter_map(|row| row.variant.strip_prefix(VARIANT))
        .collect()
}

/// Returns a goal for each workload: its own profile makes it little longer, if at all.
pub fn goals(rows: &[Row]) -> Vec<Goal> {
    let goal = |profile: &str| {
        let value = change(rows, profile, profile)?;
        Some(Goal {
            metric: format!("{profile} with its own profile, change in per cent"),
            limit: MORE,
            value,
            met: value <= MORE,
            bound: "at most",
        })
    };
    let own = recorded(rows).into_iter().filter(|name| *name != NONE);
    own.filter_map(goal).collect()
}

/// Returns the matrix as instructions, and in per cent of the first row.
pub fn text(rows: &[Row]) -> String {
    let profiles = recorded(rows);
    let first = rows
        .iter()
        .filter(|row| row.variant == format!("{VARIANT}{NONE}"));
    let metrics: Vec<&str> = first.map(|row| row.metric.as_str()).collect();
    let table = |title: &str, cell: &dyn Fn(&str, &str) -> String| {
        let heads = metrics.iter().map(|metric| metric.to_string());
        let heads: Vec<String> = std::iter::once(title.to_string()).chain(heads).collect();
        let lines = profiles.iter().map(|profile| {
            let cells = metrics.iter().map(|metric| cell(profile, metric));
            std::iter::once(profile.to_string()).chain(cells).collect()
        });
        figures(&heads, &lines.collect::<Vec<Vec<String>>>())
    };
    let counts = table("profile", &|profile, metric| {
        figure(rows, profile, metric).map_or(String::new(), |value| spaced(value.round()))
    });
    let changes = table("per cent more", &|profile, metric| {
        let mark = if profile == metric { "*" } else { " " };
        let change = change(rows, profile, metric);
        change.map_or(String::new(), |change| format!("{change:+.1}{mark}"))
    });
    format!("{counts}\n{changes}{ABOUT}")
}

/// Explains the matrix.
const ABOUT: &str = "
a row: the profile with which the stack is built; none: frequencies in the layers; all: all added
a column: the counted workload, for each segment, transaction or connection; text in bytes
*: the workload has its own profile
";

#[cfg(test)]
mod tests {
    use super::*;

    /// Two workloads, of which the second is longer with its own profile.
    fn some() -> Vec<Row> {
        let of = |word: &str, [base, rr, text]: [f64; 3]| {
            let variant = format!("{VARIANT}{word}");
            let figures = [("base", base), ("rr", rr), (TEXT, text)];
            figures
                .map(|(metric, value)| Row::without_sums(["", &variant, QUICK], metric, "", value))
        };
        [
            of(NONE, [200.0, 1000.0, 5000.0]),
            of("base", [190.0, 1100.0, 4000.0]),
            of("rr", [210.0, 1030.0, 5000.0]),
        ]
        .concat()
    }

    #[test]
    fn cells_are_compared_with_those_of_no_profile() {
        let text = text(&some());
        let lines: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        assert_eq!(lines[2], ["base", "190", "1,100", "4,000"]);
        assert_eq!(lines[7], ["base", "-5.0*", "+10.0", "-20.0"]);
        assert_eq!(lines[8], ["rr", "+5.0", "+3.0*", "+0.0"]);
    }

    #[test]
    fn a_workload_that_its_own_profile_makes_longer_misses_its_goal() {
        let goals = goals(&some());
        let met: Vec<bool> = goals.iter().map(|goal| goal.met).collect();
        assert_eq!(met, [true, false]);
    }
}
