//! `loom prove STACK`: proves pass by pass that the stack IR keeps its meaning.
//!
//! In: a stack, or the text of a module of the stack IR. Out: a row for each pass, with the number
//! of functions that it has changed and the verdicts about them, and a counterexample for each that
//! differs. `z3.rs` runs the solver.

pub mod z3;

use super::compiler;
use super::explain::passes::lowered;
use super::failure::{Failure, Status, about};
use super::progress::spinner;
use super::switches::Switches;
use super::terminal::result;
use crate::ir::Module;
use crate::ir::text::read;
use crate::passes::{Pass, Passes, verified};
use crate::prove::{Judged, Verdict, prove};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Instant;

/// Proves that the passes of the stack IR keep the meaning of a stack, by the solver Z3
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    loom prove examples/ping/ping.loom\n  \
    loom prove examples/ping/ping.loom --pass fold --timeout 60")]
pub struct Arguments {
    /// File with the stack (FILE:STACK if it declares several), or the text of its IR (.ir)
    stack: PathBuf,
    /// Proves this pass alone; an unknown name lists all
    #[arg(long, value_name = "NAME")]
    pass: Option<String>,
    /// Seconds for each question to the solver
    #[arg(long = "timeout", value_name = "SECONDS", default_value_t = 10)]
    timeout_s: u64,
    /// Folder that `use` searches before the standard library; repeatable
    #[arg(long = "path", value_name = "FOLDER")]
    search: Vec<PathBuf>,
    #[command(flatten)]
    switches: Switches,
}

/// The verdicts about a pass.
struct Row {
    pass: &'static str,
    judged: Vec<Judged>,
    seconds: f64,
}

/// Proves all passes, or one.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let proved = match &arguments.pass {
        Some(name) => Passes::named(name).map_err(Failure::refused)?,
        None => Passes::ALL,
    };
    let mut solver = z3::solver(arguments.timeout_s)?;
    let options = arguments.switches.options(arguments.search.clone())?;
    let passes = options.passes.chosen();
    let is_text = arguments.stack.extension().is_some_and(|one| one == "ir");
    let mut module = match is_text {
        true => read_module(arguments)?,
        false => compiler::with_stack(&arguments.stack, &options, lowered)?.1,
    };
    module = verified(module, &[]);
    let mut rows = Vec::new();
    for pass in passes {
        let after = verified(module.clone(), std::slice::from_ref(&pass));
        if proved.chosen().iter().any(|one| one.name == pass.name) {
            rows.push(row(&pass, (&module, &after), arguments, &mut *solver));
        }
        module = after;
    }
    result(text(&rows))?;
    status(&rows)
}

fn read_module(arguments: &Arguments) -> Result<Module, Failure> {
    let path = &arguments.stack;
    let text = std::fs::read_to_string(path).map_err(about(path))?;
    read(&text).map_err(|mistake| Failure::refused(format!("{}: {mistake}", path.display())))
}

fn row(
    pass: &Pass,
    (before, after): (&Module, &Module),
    arguments: &Arguments,
    solver: &mut crate::prove::Solver<'_>,
) -> Row {
    let bar = spinner(pass.name);
    let start = Instant::now();
    let mut tell = |function: &str| bar.set_message(format!("{}: {function}", pass.name));
    let timeout_ms = 1000 * arguments.timeout_s;
    let judged = prove(before, after, timeout_ms, solver, &mut tell);
    bar.finish_and_clear();
    Row {
        pass: pass.name,
        judged,
        seconds: start.elapsed().as_secs_f64(),
    }
}

fn text(rows: &[Row]) -> String {
    let mut text = String::new();
    let mut line = |words: String| writeln!(text, "{words}").expect("a string takes every line");
    line("pass                functions    terms   solver  differs  undecided  seconds".into());
    for row in rows {
        let [terms, solver, differs, undecided] = counts(&row.judged);
        let (pass, all, seconds) = (row.pass, row.judged.len(), row.seconds);
        let first = format!("{pass:18}  {all:>9}  {terms:>7}  {solver:>7}");
        line(format!(
            "{first}  {differs:>7}  {undecided:>9}  {seconds:>7.1}"
        ));
    }
    for row in rows {
        let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for one in &row.judged {
            if let Verdict::Undecided(why) = &one.verdict {
                reasons.entry(why).or_default().push(&one.function);
            }
        }
        for (why, functions) in reasons {
            line(format!("\n{}: undecided: {why}", row.pass));
            line(format!("  {}", functions.join(", ")));
        }
        for one in &row.judged {
            if let Verdict::Differs(_, lines) = &one.verdict {
                line(format!(
                    "\n{}: `{}` differs, for these inputs:",
                    row.pass, one.function
                ));
                lines.iter().for_each(|one| line(format!("  {one}")));
            }
        }
    }
    text
}

fn counts(judged: &[Judged]) -> [usize; 4] {
    let mut counts = [0; 4];
    for one in judged {
        let place = match one.verdict {
            Verdict::SameTerms => 0,
            Verdict::Solved => 1,
            Verdict::Differs(..) => 2,
            Verdict::Undecided(_) => 3,
        };
        counts[place] += 1;
    }
    counts
}

/// Fails if a function differs, or if one is undecided.
fn status(rows: &[Row]) -> Result<(), Failure> {
    let all = rows.iter().map(|row| counts(&row.judged));
    let [differs, undecided] = all.fold([0, 0], |all, one| [all[0] + one[2], all[1] + one[3]]);
    let (status, message) = match (differs, undecided) {
        (0, 0) => return Ok(()),
        (0, _) => (
            Status::Undecided,
            format!("{undecided} functions are undecided"),
        ),
        _some => (Status::Refused, format!("{differs} functions differ")),
    };
    Err(Failure { status, message })
}
