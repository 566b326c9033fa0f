//! `loom simulate SPECIFICATION.stl`: a line for each transition that fires, or a report about all
//! situations.

use super::super::compiler::deep;
use super::super::estelle::child::{self, Child};
use super::super::estelle::read;
use super::super::failure::{Failure, Status};
use super::super::progress;
use super::super::terminal::{counted, note, part, result};
use super::Arguments;
use crate::simulate::estelle::{
    Bounds, Choice, Chooser, CompiledLine, CompiledRun, Course, Ending, Limits, Line, Options,
    Refusal, Report, Run, explore,
};
use crate::source::Sources;
use crate::types::estelle::Settings;
use crate::types::estelle::program::Program;
use serde::Serialize;
use std::rc::Rc;

pub use super::super::estelle::is_estelle;

/// The most situations of an exploration, if no other limit is given.
const SITUATIONS: u32 = 1_000_000;

/// The deepest nesting of what runs on the stack of [`deep`]: all that the checker accepts.
const DEPTH: u32 = 20_000;

/// The size of the text that is printed at once, in bytes.
const AT_ONCE: usize = 1 << 14;

/// The way in which choices are decided.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// The first possibility: order of declaration, order of creation, earliest time
    First,
    /// Generators, set up by --seed [default: random, and printed]
    Seed,
    /// All possibilities are explored
    All,
}

/// Runs or explores a specification.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let decision = decision(arguments)?;
    let constants = arguments.settings.iter();
    let constants = constants.map(|one| (one.name.clone(), one.value.clone()));
    let settings = Settings {
        constants: constants.collect(),
        externs: false,
    };
    let (sources, specified) = read(&arguments.network, &settings)?;
    let program = &specified.program;
    deep(|| match decision {
        Decision::All => report(arguments, program, &sources),
        Decision::First => one(arguments, program, &sources, Choice::First),
        Decision::Seed => {
            let seed = arguments.seed.unwrap_or_else(|| {
                let seed = fastrand::u64(..1_000_000);
                note(format_args!("seed {seed}"));
                seed
            });
            one(arguments, program, &sources, Choice::Seed(seed))
        }
    })
}

/// Returns the way in which choices are decided; refuses options that do not go together.
fn decision(arguments: &Arguments) -> Result<Decision, Failure> {
    let decision = arguments.choice.unwrap_or(match arguments.seed {
        Some(_) => Decision::Seed,
        None => Decision::First,
    });
    let is_all = decision == Decision::All;
    let not_compiled = "the interpreter, without --compiled";
    let one_run = "`--choice first` and `--choice seed`";
    let not_all = "`--choice first` and `--choice seed`; --situations limits --choice all";
    let wrong = [
        (
            arguments.seed.is_some() && decision != Decision::Seed,
            "--seed",
            "`--choice seed`",
        ),
        (arguments.steps.is_some() && is_all, "--steps", not_all),
        (arguments.after_ns.is_some() && is_all, "--for", not_all),
        (
            arguments.step_time_ns.is_some() && is_all,
            "--step-time",
            one_run,
        ),
        (arguments.dump && is_all, "--dump", not_all),
        (arguments.compiled && is_all, "--compiled", one_run),
        (arguments.compiled && arguments.dump, "--dump", not_compiled),
        (
            arguments.compiled && arguments.loop_limit.is_some(),
            "--loop-limit",
            not_compiled,
        ),
        (
            !arguments.compiled && !arguments.functions.is_empty(),
            "--c",
            "specifications with --compiled",
        ),
        (
            arguments.situations.is_some() && !is_all,
            "--situations",
            "`--choice all`",
        ),
    ];
    match wrong.into_iter().find(|(is_wrong, _, _)| *is_wrong) {
        Some((_, option, whom)) => {
            let says = format!("{option} applies only to {whom}");
            Err(Failure::environment(says))
        }
        None => Ok(decision),
    }
}

/// Returns the length of a run and of its steps, in a unit of time.
fn course(arguments: &Arguments, program: &Program, unit_ns: u64) -> Result<Course, Failure> {
    let step_time_ns = arguments.step_time_ns.unwrap_or(0);
    if !step_time_ns.is_multiple_of(program.unit_ns) {
        let says = "--step-time takes a multiple of the unit of time: of that which `timescale` \
                    declares, or else of a second";
        return Err(Failure::environment(says));
    }
    Ok(Course {
        steps: arguments.steps,
        until: arguments.after_ns.map(|after_ns| after_ns / unit_ns),
        step_time: step_time_ns / unit_ns,
    })
}

/// Prints the lines of one run, of the interpreter or of the C.
fn one(
    arguments: &Arguments,
    program: &Program,
    sources: &Sources,
    choice: Choice,
) -> Result<(), Failure> {
    match arguments.compiled {
        true => compiled(arguments, program, choice),
        false => trace(arguments, program, sources, choice),
    }
}

/// Prints the lines of a run of the C.
fn compiled(arguments: &Arguments, program: &Program, choice: Choice) -> Result<(), Failure> {
    let spinner = progress::spinner("compiling");
    let built = child::built(&arguments.network, program, (choice, &arguments.functions));
    spinner.finish_and_clear();
    let built = built?;
    let chooser = Rc::new(Chooser::new(program, choice));
    let mut child = Child::start(&built.program, Rc::clone(&chooser))?;
    let course = course(arguments, program, 1)?;
    let mut printed = Printed::default();
    let run = CompiledRun::new(chooser, &mut child, choice, course);
    for line in run {
        let text = match arguments.json {
            true => in_json(&line),
            false => line.to_string(),
        };
        if !printed.line(&text)? {
            return Ok(());
        }
        if let CompiledLine::End { ending, .. } = line {
            printed.ending = ending;
        }
    }
    match child.wrong() {
        Some(says) => Err(Failure::refused(says)),
        None => printed.end(),
    }
}

/// Prints the lines of a run of the interpreter.
fn trace(
    arguments: &Arguments,
    program: &Program,
    sources: &Sources,
    choice: Choice,
) -> Result<(), Failure> {
    let options = Options {
        choice,
        course: course(arguments, program, program.unit_ns)?,
        dumps: arguments.dump,
        limits: limits(arguments),
    };
    let run = Run::new(program, Some(sources), options);
    let run = run.map_err(|refusal| refused(&refusal, sources))?;
    let mut printed = Printed::default();
    for line in run {
        let text = match arguments.json {
            true => in_json(&line),
            false => line.to_string(),
        };
        if !printed.line(&text)? {
            return Ok(());
        }
        if let Line::End(end) = &line {
            printed.ending = end.ending;
        }
    }
    printed.end()
}

/// The lines of a run that were not printed yet, and its ending.
struct Printed {
    text: String,
    ending: Ending,
}

impl Default for Printed {
    fn default() -> Printed {
        Printed {
            text: String::new(),
            ending: Ending::Done,
        }
    }
}

impl Printed {
    /// Adds a line. Returns false if nobody reads any more.
    fn line(&mut self, line: &str) -> Result<bool, Failure> {
        self.text.push_str(line);
        self.text.push('\n');
        if self.text.len() < AT_ONCE {
            return Ok(true);
        }
        let is_read = part(&self.text)?;
        self.text.clear();
        Ok(is_read)
    }

    /// Prints the rest, and judges the ending.
    fn end(self) -> Result<(), Failure> {
        result(&self.text)?;
        match self.ending {
            Ending::Done | Ending::Steps | Ending::Time => Ok(()),
            Ending::Deadlock => Err(Failure::refused(
                "deadlock: queues hold interactions that nothing will take",
            )),
            Ending::Stopped => Err(Failure::refused("a fault has stopped a system")),
        }
    }
}

/// Explores all situations, and prints what was found.
fn report(arguments: &Arguments, program: &Program, sources: &Sources) -> Result<(), Failure> {
    let situations = arguments.situations.unwrap_or(SITUATIONS);
    let bounds = Bounds {
        situations: situations as usize,
        limits: limits(arguments),
    };
    let bar = progress::bar("exploring", u64::from(situations));
    let mut shown = 0;
    let mut progress = |found: usize, _: usize| {
        if found >= shown + 1000 {
            shown = found;
            bar.set_position(found as u64);
        }
        true
    };
    let report = explore(program, Some(sources), bounds, &mut progress);
    bar.finish_and_clear();
    let report = report.map_err(|refusal| refused(&refusal, sources))?;
    match arguments.json {
        true => result(format_args!("{}\n", in_json(&report)))?,
        false => result(&report)?,
    }
    judge(&report)
}

fn limits(arguments: &Arguments) -> Limits {
    let mut limits = Limits {
        depth: DEPTH,
        ..Limits::default()
    };
    if let Some(turns) = arguments.loop_limit {
        limits.loop_turns = turns;
    }
    limits
}

fn judge(report: &Report) -> Result<(), Failure> {
    match (report.deadlocks, report.faults, report.is_complete) {
        (0, 0, true) => Ok(()),
        (0, 0, false) => Err(Failure {
            status: Status::Undecided,
            message: "the limit of --situations was reached before all were found".to_string(),
        }),
        (deadlocks, faults, _) => Err(Failure::refused(format!(
            "found {} and {}",
            counted(deadlocks, "deadlock"),
            counted(faults, "fault")
        ))),
    }
}

fn in_json(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value);
    text.expect("names, numbers and texts can be written as JSON")
}

fn refused(refusal: &Refusal, sources: &Sources) -> Failure {
    let says = &refusal.says;
    Failure::refused(match refusal.span {
        Some(span) => {
            let position = sources.position(span);
            let name = sources.name(span.file);
            format!("{name}:{}:{}: {says}", position.line, position.column)
        }
        None => says.clone(),
    })
}
