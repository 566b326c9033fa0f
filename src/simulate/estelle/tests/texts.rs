//! Runs of small specifications that are written in the tests.

use crate::diagnostic::render;
use crate::simulate::estelle::{Choice, Course, Ending, Line, Options, Run};
use crate::source::Sources;
use crate::syntax::estelle::parse;
use crate::types::estelle::program::Program;
use crate::types::estelle::{Settings, check};

/// Returns the checked specification of a text without mistakes.
pub fn program(text: &str) -> Program {
    let mut sources = Sources::new();
    let file = sources.add("test.stl", text);
    let (tree, found) = parse(file, &sources);
    let tree = tree.filter(|_| found.is_empty());
    let tree = tree.unwrap_or_else(|| panic!("{}", render(&found, &sources, false)));
    let (program, found) = check(&tree, &Settings::default(), sources.span(file));
    program.unwrap_or_else(|| panic!("{}", render(&found, &sources, false)))
}

/// Returns the lines of a run.
pub fn run(text: &str, choice: Choice) -> Vec<Line> {
    run_of(text, choice, Course::of_steps(10_000))
}

/// Returns the lines of a run of some length.
pub fn run_of(text: &str, choice: Choice, course: Course) -> Vec<Line> {
    let program = program(text);
    let options = Options {
        choice,
        course,
        ..Options::default()
    };
    let run = Run::new(&program, None, options);
    run.expect("nothing is in C").collect()
}

/// Returns the lines of a run as text.
pub fn trace(text: &str, choice: Choice) -> Vec<String> {
    run(text, choice).iter().map(Line::to_string).collect()
}

/// Returns what fires, such as `3 5 R.c due`: step, time, instance, transition.
pub fn firings(text: &str, choice: Choice) -> Vec<String> {
    fired(&run(text, choice))
}

/// Returns what fires in a run.
pub fn fired(lines: &[Line]) -> Vec<String> {
    let steps = lines.iter().filter_map(|line| match line {
        Line::Step(it) => Some(format!(
            "{} {} {} {}",
            it.step, it.time, it.instance, it.transition
        )),
        Line::Start(_) | Line::Fault(_) | Line::Situation(_) | Line::End(_) => None,
    });
    steps.collect()
}

/// Returns the names of the faults of a run by first choices.
pub fn faults(text: &str) -> Vec<&'static str> {
    let lines = run(text, Choice::First);
    let faults = lines.iter().filter_map(|line| match line {
        Line::Fault(it) => Some(it.fault),
        Line::Start(_) | Line::Step(_) | Line::Situation(_) | Line::End(_) => None,
    });
    faults.collect()
}

/// Returns the way in which a run by first choices ends.
pub fn ending(text: &str) -> Ending {
    match run(text, Choice::First).last() {
        Some(Line::End(end)) => end.ending,
        other => panic!("{other:?} ends the run"),
    }
}

/// Returns a specification that is one system with these declarations, variables and transitions.
pub fn system(rest: &str) -> String {
    format!("specification s systemprocess; default individual queue; {rest} end.")
}
