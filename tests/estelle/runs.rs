//! Runs of the specifications in `examples/estelle`.
//!
//! In: the name of a specification, its open constants, a way to choose. Out: the lines of its
//! trace, and questions about them.

use stackloom::diagnostic::render;
use stackloom::simulate::estelle::{
    Choice, Course, Dump, Effect, End, Ending, Line, Message, Options, Run, Step,
};
use stackloom::source::{FileId, Sources, Span};
use stackloom::syntax::estelle::ast::Specification;
use stackloom::syntax::estelle::{format, parse};
use stackloom::types::estelle::program::Program;
use stackloom::types::estelle::{Settings, check};
use std::fs;

/// A specification of the folder, and the values of its open constants for expected traces.
pub struct Example {
    /// The name of its file, without suffix.
    pub name: &'static str,
    /// The values.
    pub constants: &'static [(&'static str, &'static str)],
}

/// All specifications of the folder.
pub const EXAMPLES: [Example; 11] = [
    example("abracadabra", &[("losses", "3")]),
    example("alternating", &[]),
    example("attributes", &[]),
    example("clock", &[]),
    example("gpi", &GPI),
    example("inres", &INRES),
    example("pingpong", &[]),
    example("server", &[("clients", "2"), ("requests", "5")]),
    example("session", &[("aborts", "false")]),
    example("sliding", &[]),
    example("transport0", &[]),
];

/// A connection over a medium that loses frames.
const INRES: [(&str, &str); 3] = [("quality", "lossy"), ("items", "3"), ("tries", "4")];

/// A small generalised protocol stack.
const GPI: [(&str, &str); 4] = [("v", "2"), ("h", "1"), ("requests", "2"), ("work", "3")];

const fn example(
    name: &'static str,
    constants: &'static [(&'static str, &'static str)],
) -> Example {
    Example { name, constants }
}

/// Returns the text of a specification.
pub fn text(name: &str) -> String {
    let path = format!("{}/examples/estelle/{name}.stl", root());
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the folder of the repository. Scratch crates set `REPOSITORY`.
pub fn root() -> String {
    let manifest = env!("CARGO_MANIFEST_DIR").to_string();
    std::env::var("REPOSITORY").unwrap_or(manifest)
}

/// Returns the canonical form of a specification.
pub fn formatted(name: &str) -> String {
    let text = text(name);
    let (_, tree) = read(name, &text);
    format(&tree, &text)
}

/// Returns a specification as a program, without mistakes or warnings.
pub fn program(name: &str, constants: &[(&str, &str)]) -> Program {
    program_of(name, &text(name), constants)
}

/// Reads and checks a text; it has no diagnostics, not even warnings.
pub fn program_of(name: &str, text: &str, constants: &[(&str, &str)]) -> Program {
    let (sources, tree) = read(name, text);
    let place = start_of(tree.name.span.file);
    let constants = constants.iter();
    let constants = constants.map(|(name, value)| (name.to_string(), value.to_string()));
    let settings = Settings {
        constants: constants.collect(),
        externs: false,
    };
    let (program, found) = check(&tree, &settings, place);
    assert!(found.is_empty(), "{}", render(&found, &sources, false));
    program.expect("a specification without mistakes becomes a program")
}

fn read(name: &str, text: &str) -> (Sources, Specification) {
    let mut sources = Sources::new();
    let file = sources.add(format!("{name}.stl"), text.to_string());
    let (tree, found) = parse(file, &sources);
    assert!(found.is_empty(), "{}", render(&found, &sources, false));
    (sources, tree.expect("a text without mistakes has a tree"))
}

fn start_of(file: FileId) -> Span {
    Span::new(file, 0, 0)
}

/// The trace of a run.
pub struct Trace {
    /// Its name and seed.
    pub title: String,
    /// Its lines.
    pub lines: Vec<Line>,
}

/// Runs a program.
pub fn run(program: &Program, choice: Choice, course: Course) -> Trace {
    let options = Options {
        choice,
        course,
        dumps: true,
        ..Options::default()
    };
    let run = Run::new(program, None, options).expect("no part of the examples is in C");
    Trace {
        title: format!("{} by {choice:?}", program.name),
        lines: run.collect(),
    }
}

impl Trace {
    /// Returns the lines as text, without situations.
    pub fn text(&self) -> String {
        let shown = self.lines.iter();
        let shown = shown.filter(|line| !matches!(line, Line::Situation(_)));
        shown.map(|line| format!("{line}\n")).collect()
    }

    /// Returns all firings.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.lines.iter().filter_map(|line| match line {
            Line::Step(step) => Some(step),
            Line::Start(_) | Line::Fault(_) | Line::Situation(_) | Line::End(_) => None,
        })
    }

    /// Returns all situations.
    pub fn situations(&self) -> impl Iterator<Item = &Dump> {
        self.lines.iter().filter_map(|line| match line {
            Line::Situation(dump) => Some(dump),
            Line::Start(_) | Line::Fault(_) | Line::Step(_) | Line::End(_) => None,
        })
    }

    /// Returns the last line.
    pub fn end(&self) -> &End {
        match self.lines.last() {
            Some(Line::End(end)) => end,
            other => panic!("{}: the last line is {other:?}", self.title),
        }
    }

    /// Demands that nothing is left to do, that all queues are empty, and that there was no fault.
    pub fn is_done(&self) {
        let end = self.end();
        assert_eq!(end.ending, Ending::Done, "{}\n{}", self.title, self.text());
        let faults = self.lines.iter();
        let faults: Vec<&Line> = faults
            .filter(|line| matches!(line, Line::Fault(_)))
            .collect();
        assert!(faults.is_empty(), "{}\n{faults:?}", self.title);
    }

    /// Returns the interactions of one name that an instance takes, with their values.
    pub fn taken(&self, instance: &str, interaction: &str) -> Vec<Vec<String>> {
        let steps = self.steps().filter(|step| step.instance == instance);
        let taken = steps.filter_map(|step| step.input.as_ref());
        taken
            .filter(|message| message.interaction == interaction)
            .map(values)
            .collect()
    }

    /// Returns the interactions of one name that an instance sends, with their times and values.
    pub fn sent(&self, instance: &str, interaction: &str) -> Vec<(u64, Vec<String>)> {
        let steps = self.steps().filter(|step| step.instance == instance);
        let sent = steps.flat_map(|step| outputs(step).map(|message| (step.time, message)));
        sent.filter(|(_, message)| message.interaction == interaction)
            .map(|(time, message)| (time, values(message)))
            .collect()
    }

    /// Returns the times at which an instance fires transitions of one name.
    pub fn times(&self, instance: &str, transition: &str) -> Vec<u64> {
        let steps = self.steps().filter(|step| step.instance == instance);
        let steps = steps.filter(|step| step.transition == transition);
        steps.map(|step| step.time).collect()
    }

    /// Returns the last state of an instance.
    pub fn last_state(&self, instance: &str) -> &str {
        let steps = self.steps().filter(|step| step.instance == instance);
        steps.last().map_or("-", |step| &step.to)
    }
}

/// Returns the interactions that a firing sends.
pub fn outputs(step: &Step) -> impl Iterator<Item = &Message> {
    step.effects.iter().filter_map(|effect| match effect {
        Effect::Output(message) => Some(message),
        Effect::Unconnected(_)
        | Effect::Init(_)
        | Effect::Release { .. }
        | Effect::Terminate { .. }
        | Effect::Moved { .. } => None,
    })
}

/// Returns the values of an interaction as text.
pub fn values(message: &Message) -> Vec<String> {
    message
        .values
        .iter()
        .map(|value| value.text.clone())
        .collect()
}

/// Returns the first value of each interaction as a number.
pub fn numbers(interactions: &[Vec<String>]) -> Vec<i64> {
    let first = interactions.iter().map(|values| values[0].parse());
    first
        .map(|number| number.expect("the value is a number"))
        .collect()
}
