//! The paper's tables 1 and 2 (HIPPCO 7), of our TCP.
//!
//! In: the stack and the programs of `loom bench tcp`, sums off, and the names of the rewrites.
//! Out: what each rewrite does to instructions, to what is fetched, and to the size; what is lost
//! where nothing is known of the traffic, and won where all is; others beside it, and what the
//! paper says.
//!
//! ```text
//! interpreted                      what is compiled in the next row
//! nothing, + share, + inline, ..   the rewrites in the paper's order, one more each time
//! all, raw profile                 all of them, but each test goes either way alike
//! all, application profile         .., but as often as it did when this very bench was run
//! specialised                      .., without what it never did then
//! called, ..                       the same profiles where the stack calls its host, compiled as
//!                                  well as may be
//! ```

mod letters;
pub mod matrix;
pub mod tables;

use super::fetched::{Fetched, fetched};
use super::programs::{CALLS, Program, QUICK, WHOLE, programs};
use super::sized::sized;
use super::steps::{all_done, steps};
use super::{Bench, Name, Row, goals, interpreted};
use crate::profile::Profile;
use crate::tool::compiler::Options;
use crate::tool::counting::{self, Counted, Size};
use crate::tool::failure::Failure;
use crate::tool::profile;
use crate::tool::terminal::note;
use clap::Args;
use std::process::Command;

/// Options of `loom bench hippco`.
#[derive(Args, Debug)]
pub struct Form {
    /// `hippco` only: prints tables 1 and 2 of the paper, for restricted and complete TCP
    #[arg(long, conflicts_with_all = ["matrix", "picture"])]
    pub tables: bool,
    /// `hippco` only: counts each workload of `traffic` with the profile of each other
    #[arg(long, conflicts_with = "picture")]
    pub matrix: bool,
}

/// What is found of each, besides the instructions.
pub const MISSED: &str = "L1 32K: missed of 100 instructions, 8 ways, lines of 64 bytes";
pub const MISSED_IN_SMALL: &str = "L1 8K: missed of 100 instructions, 1 way, lines of 32 bytes";
pub const LINES: &str = "lines: of 64 bytes, which a segment touches";
pub const TEXT: &str = "text";
pub const DATA: &str = "data";

/// The stack of which all this is counted.
const STACK: &str = "tcp.loom:offloaded";

/// The same where port and link call functions of the host.
const CALLED: &str = "tcp.loom:called";

/// A way to compile the stack.
struct Way {
    /// As it stands in the table, and in names of files.
    title: String,
    word: String,
    stack: &'static str,
    flags: &'static str,
    options: Options,
}

/// The ways of the stack, and of the one that calls, whose applications have these profiles.
fn ways([application, called]: [Profile; 2]) -> Vec<Way> {
    let way = |title: String, word: &str, (rewrites, passes), profile: Profile| Way {
        title,
        word: word.to_string(),
        stack: STACK,
        flags: QUICK,
        options: Options {
            rewrites,
            passes,
            profile,
            ..Options::default()
        },
    };
    let steps = steps().into_iter();
    let mut all: Vec<Way> = steps
        .map(|step| way(step.title, &step.word, step.done, Profile::Default))
        .collect();
    let done = all_done();
    let title = "all, raw profile".to_string();
    all.push(way(title, "raw", done, Profile::Raw));
    let title = "all, application profile".to_string();
    all.push(way(title, "application", done, application.clone()));
    let mut special = way("specialised".to_string(), "specialised", done, application);
    special.options.specialised = true;
    all.push(special);
    for (word, profile, specialised) in [
        ("default profile", Profile::Default, false),
        ("raw profile", Profile::Raw, false),
        ("application profile", called.clone(), false),
        ("specialised", called, true),
    ] {
        let file = format!("called-{}", word.replace(' ', "-"));
        let mut one = way(format!("called, {word}"), &file, done, profile);
        (one.stack, one.flags) = (CALLED, WHOLE);
        one.options.specialised = specialised;
        all.push(one);
    }
    all
}

impl Way {
    /// How the C of the stack and of the bench is compiled.
    fn all_flags(&self) -> Vec<&'static str> {
        let calls = (self.stack == CALLED).then_some(CALLS);
        self.flags.split_whitespace().chain(calls).collect()
    }
}

/// What the bench itself does with a stack: the profile of the application.
fn application(bench: &Bench, stack: &str) -> Result<Profile, Failure> {
    let options = Options {
        records: true,
        ..Options::default()
    };
    let calls = (stack == CALLED).then_some(CALLS);
    let flags: Vec<&str> = [QUICK].into_iter().chain(calls).collect();
    let stack = bench.folder.join(stack);
    let (source, _) = counting::written(&stack, "tcp", options, bench.work)?;
    let [program, recorded] = ["recording", "tcp.profile"].map(|name| bench.work.join(name));
    let driver = bench.folder.join("tcp.c");
    counting::compile_driven(&source, &driver, &flags, &program)?;
    let mut run = Command::new(std::path::absolute(&program)?);
    counting::quietly(run.arg("count").env("LOOM_PROFILE", &recorded))?;
    Ok(Profile::Recorded(profile::read(&recorded)?))
}

/// Our rows; those of others and of the paper, too, if not of us alone.
pub fn rows(bench: &Bench, alone: bool) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    let applications = [application(bench, STACK)?, application(bench, CALLED)?];
    for way in ways(applications) {
        (bench.say)(&way.title);
        rows.extend(ours(bench, way)?);
    }
    if bench.counts {
        (bench.say)(interpreted::INTERPRETED);
        let compiled = bench.keep.join("hippco-nothing");
        let first = interpreted::rows(bench, STACK, &std::path::absolute(compiled)?)?;
        rows.splice(..0, first);
    }
    if alone {
        return Ok(rows);
    }
    let others = programs(Name::Tcp, false).into_iter();
    for other in others.filter(Program::is_beside) {
        (bench.say)(&other.title());
        let found = beside(bench, &other);
        rows.extend(found.unwrap_or_else(|failure| {
            let title = other.title();
            note(format_args!("no row for {title}: {}", failure.message));
            Vec::new()
        }));
    }
    Ok(rows)
}

fn ours(bench: &Bench, way: Way) -> Result<Vec<Row>, Failure> {
    let flags = way.all_flags();
    let stack = bench.folder.join(way.stack);
    let (source, _) = counting::written(&stack, "tcp", way.options, bench.work)?;
    let program = bench.keep.join(format!("hippco-{}", way.word));
    let program = std::path::absolute(program)?;
    let driver = bench.folder.join("tcp.c");
    counting::compile_driven(&source, &driver, &flags, &program)?;
    let row = |metric: &str, unit: &str, value: f64| {
        Row::without_sums([&way.title, &way.word, way.flags], metric, unit, value)
    };
    let mut rows = Vec::new();
    if bench.counts {
        let counted = Counted::alone(program);
        let figures = goals::METRICS.iter().zip(counted.of_segments()?);
        rows.extend(figures.map(|(metric, value)| row(metric, "instructions", value)));
        rows.extend(of_memory(&fetched(&counted.program)?, &row));
    }
    let object = counting::object_of(&source, &flags)?;
    rows.extend(of_size(&sized(&object, |_| true)?, &row));
    Ok(rows)
}

fn beside(bench: &Bench, other: &Program) -> Result<Vec<Row>, Failure> {
    let counted = other.build(bench)?;
    let row = |metric: &str, unit: &str, value: f64| Row {
        unit: unit.to_string(),
        ..other.row(metric, value, None)
    };
    let mut rows = Vec::new();
    if bench.counts {
        rows.extend(other.rows(&counted)?);
        rows.extend(of_memory(&fetched(&counted.program)?, &row));
    }
    rows.extend(of_size(&other.size(&counted)?, &row));
    Ok(rows)
}

/// How large it is.
fn of_size(size: &Size, row: &dyn Fn(&str, &str, f64) -> Row) -> [Row; 2] {
    [row(TEXT, "bytes", size.text), row(DATA, "bytes", size.data)]
}

/// What a step fetches.
pub fn of_memory(found: &Fetched, row: &dyn Fn(&str, &str, f64) -> Row) -> [Row; 3] {
    [
        row(MISSED, "of 100", found.missed),
        row(MISSED_IN_SMALL, "of 100", found.missed_in_small),
        row(LINES, "lines", found.lines),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_does_one_more_and_the_last_ones_all() {
        let ways = ways([Profile::Default, Profile::Default]);
        let done = |way: &Way| {
            let (rewrites, passes) = (way.options.rewrites, way.options.passes);
            rewrites.each().count() + passes.chosen().len()
        };
        let (each, last) = ways.split_at(ways.len() - 7);
        for (at, way) in each.iter().enumerate() {
            assert_eq!(done(way), at, "{}", way.title);
        }
        let mut all = each.last().into_iter().chain(last);
        assert!(all.all(|way| (way.options.rewrites, way.options.passes) == all_done()));
    }
}
