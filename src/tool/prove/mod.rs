//! `loom prove STACK`: proves pass by pass that the stack IR keeps its meaning.
//!
//! In: a stack, or the text of a module of the stack IR. Out: a row for each pass, with the number
//! of functions that it has changed and the verdicts about them, and a counterexample for each that
//! differs, also as a case.
//!
//! ```text
//! z3.rs         runs the solver
//! scenes.rs     states that a stack reaches, in which counterexamples are searched first
//! case.rs       the case of a counterexample: calls of which a host sees another outcome
//! call.rs       the call of a host that starts a reaction
//! case_text.rs  the text of a case, and its file
//! ```

mod call;
pub mod case;
pub mod case_text;
pub mod scenes;
pub mod z3;

use super::compiler;
use super::failure::{Failure, Status, about};
use super::progress::spinner;
use super::switches::Switches;
use super::terminal::result;
use crate::ir::Module;
use crate::ir::text::read;
use crate::passes::{Pass, Passes, verified};
use crate::pipeline::{self, Checked, Known};
use crate::prove::{Asked, Judged, Solver, Verdict, prove};
use crate::types::program::Program;
use case::shown;
use case_text::Subject;
use scenes::Scenes;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

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
    /// Seconds for all passes, of which each has its share; functions left then are undecided
    #[arg(long = "limit", value_name = "SECONDS", default_value_t = 600)]
    limit_s: u64,
    /// Folder for the cases of functions that differ
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    cases: PathBuf,
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
    /// By function that differs, a sentence about its case.
    cases: Vec<(String, String)>,
    seconds: f64,
}

/// The stack whose passes are proved.
struct Proved<'a> {
    arguments: &'a Arguments,
    /// The program; none of a module that was read as text.
    program: Option<Program>,
    /// The name of the stack, if the file declares several.
    stack: String,
    /// The end of the time for all.
    until: Instant,
}

/// Proves all passes, or one.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let chosen = match &arguments.pass {
        Some(name) => Passes::named(name).map_err(Failure::refused)?,
        None => Passes::ALL,
    };
    let mut solver = z3::solver(arguments.timeout_s)?;
    let options = arguments.switches.options(arguments.search.clone())?;
    let passes = options.passes.chosen();
    let is_text = arguments.stack.extension().is_some_and(|one| one == "ir");
    let (program, stack, mut module) = match is_text {
        true => (None, String::new(), read_module(arguments)?),
        false => {
            let (_, known) = compiler::with_stack(&arguments.stack, &options, lowered)?;
            let (program, stack, mut module) = known;
            options.passes.prepare(&mut module);
            (Some(program), stack, module)
        }
    };
    let until = Instant::now() + Duration::from_secs(arguments.limit_s);
    let is_chosen = |pass: &Pass| chosen.chosen().iter().any(|one| one.name == pass.name);
    let proved = Proved {
        arguments,
        program,
        stack,
        until,
    };
    module = verified(module, &[]);
    let mut rows = Vec::new();
    result(HEAD)?;
    let mut left = passes.iter().filter(|pass| is_chosen(pass)).count() as u32;
    for pass in passes {
        let after = verified(module.clone(), std::slice::from_ref(&pass));
        if is_chosen(&pass) {
            let end = proved.end_of_pass(left);
            let mut solver = |script: &str| match Instant::now() < end {
                true => solver(script),
                false => Err("no time was left".to_string()),
            };
            let row = proved.row(&pass, (&module, &after), (end, &mut solver))?;
            left -= 1;
            result(row.line())?;
            rows.push(row);
        }
        module = after;
    }
    result(text(&rows))?;
    result(COVERS)?;
    status(&rows)
}

/// A stack in the stack IR, before all passes, with its program, and its name if its file declares
/// several.
pub fn lowered(checked: &mut Checked, stack: &str) -> Option<(Program, String, Module)> {
    let is_alone = pipeline::stacks(checked).len() == 1;
    let named = if is_alone { "" } else { stack };
    let Known {
        mut program,
        forest,
        ..
    } = pipeline::known(checked, stack)?;
    let forest = pipeline::unwoven(&mut program, forest, checked.rewrites);
    let module = pipeline::lowered(&program, &forest, checked.rewrites);
    Some((program, named.to_string(), module))
}

fn read_module(arguments: &Arguments) -> Result<Module, Failure> {
    let path = &arguments.stack;
    let text = std::fs::read_to_string(path).map_err(about(path))?;
    read(&text).map_err(|mistake| Failure::refused(format!("{}: {mistake}", path.display())))
}

impl Proved<'_> {
    /// Returns the end of the time for a pass: of what is left it has as much as each pass behind
    /// it.
    fn end_of_pass(&self, left: u32) -> Instant {
        let now = Instant::now();
        now + self.until.saturating_duration_since(now) / left.max(1)
    }

    fn row(
        &self,
        pass: &Pass,
        (before, after): (&Module, &Module),
        (end, solver): (Instant, &mut Solver<'_>),
    ) -> Result<Row, Failure> {
        let bar = spinner(pass.name);
        let start = Instant::now();
        let mut goes_on = |function: &str| {
            bar.set_message(format!("{}: {function}", pass.name));
            Instant::now() < end
        };
        let program = self.program.as_ref();
        let scenes = program.map(|program| Scenes::of(program, before));
        let scenes = scenes.unwrap_or_default();
        let timeout_ms = 1000 * self.arguments.timeout_s;
        let asked = Asked {
            timeout_ms,
            states: &scenes.states,
        };
        let judged = prove(before, after, asked, solver, &mut goes_on);
        let mut cases = Vec::new();
        for one in &judged {
            let said = self.case((pass, one), (before, after), &scenes, solver)?;
            cases.extend(said.map(|said| (one.function.clone(), said)));
        }
        bar.finish_and_clear();
        Ok(Row {
            pass: pass.name,
            judged,
            cases,
            seconds: start.elapsed().as_secs_f64(),
        })
    }

    /// Writes the case of a function that differs: a sentence about it.
    fn case(
        &self,
        (pass, judged): (&Pass, &Judged),
        (before, after): (&Module, &Module),
        scenes: &Scenes,
        solver: &mut Solver<'_>,
    ) -> Result<Option<String>, Failure> {
        let Verdict::Differs(found) = &judged.verdict else {
            return Ok(None);
        };
        let Some(program) = &self.program else {
            let why = "no case is written: it needs the Loom sources of the stack";
            return Ok(Some(why.to_string()));
        };
        let folder = &self.arguments.cases;
        let subject = Subject {
            program,
            modules: [before, after],
            path: named(&self.arguments.stack, &self.stack, folder)?,
            stack: self.stack.clone(),
        };
        let timeout_ms = 1000 * self.arguments.timeout_s;
        let known = (pass.name, judged, &**found);
        let shown = shown(&subject, known, (scenes, timeout_ms), solver);
        shown.write(folder).map(Some)
    }
}

/// Returns the path of a stack's file as a case in a folder names it: as it is given, if the folder
/// is below this one, else from the root of all.
fn named(file: &Path, stack: &str, folder: &Path) -> Result<String, Failure> {
    let text = file.display().to_string();
    let own = text.strip_suffix(&format!(":{stack}")).unwrap_or(&text);
    let is_below = !folder.is_absolute() && !folder.starts_with("..");
    let path = match is_below {
        true => PathBuf::from(own),
        false => std::path::absolute(own).map_err(about(file))?,
    };
    Ok(path.display().to_string())
}

/// The first line of the table.
const HEAD: &str = "pass                functions    terms   solver  differs  undecided  seconds\n";

/// The meaning of `proved`.
const COVERS: &str = "
A proof compares results, fields, bytes of messages, the existence of instances, counters, events
and outputs in their order, and the number of steps. It assumes that events and outputs find room,
and that containers, timers, kernels and functions in C do the same if they are given the same. The
verifier checks that no operation traps.
";

/// Functions that are named behind a reason.
const MOST_NAMES: usize = 8;

impl Row {
    fn line(&self) -> String {
        let [terms, solver, differs, undecided] = counts(&self.judged);
        let (pass, all, seconds) = (self.pass, self.judged.len(), self.seconds);
        let first = format!("{pass:18}  {all:>9}  {terms:>7}  {solver:>7}");
        format!("{first}  {differs:>7}  {undecided:>9}  {seconds:>7.1}\n")
    }
}

fn text(rows: &[Row]) -> String {
    let mut text = String::new();
    let mut line = |words: String| writeln!(text, "{words}").expect("a string takes every line");
    for row in rows {
        let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for one in &row.judged {
            if let Verdict::Undecided(why) = &one.verdict {
                reasons.entry(why).or_default().push(&one.function);
            }
        }
        for (why, functions) in reasons {
            line(format!("\n{}: undecided: {why}", row.pass));
            line(format!("  {}", listed(&functions)));
        }
        for one in &row.judged {
            if let Verdict::Differs(found) = &one.verdict {
                line(format!(
                    "\n{}: `{}` differs, for these inputs:",
                    row.pass, one.function
                ));
                let lines = found.lines.iter();
                lines.for_each(|one| line(format!("  {one}")));
                let mut cases = row.cases.iter();
                if let Some((_, said)) = cases.find(|(function, _)| *function == one.function) {
                    line(format!("  case: {said}"));
                }
            }
        }
    }
    text
}

/// Returns names with commas between them; of many the first ones.
fn listed(names: &[&str]) -> String {
    let (first, rest) = names.split_at(names.len().min(MOST_NAMES));
    match rest.len() {
        0 => first.join(", "),
        more => format!("{}, and {more} more", first.join(", ")),
    }
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
