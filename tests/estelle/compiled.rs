//! Estelle specifications as stack IR and as C fire what the reference interpreter fires: for the
//! first choices and for seeds, the same transitions of the same modules at the same times, and the
//! same states behind them.

use crate::remote::{Built, built};
use crate::runs::{EXAMPLES, Example, program, run};
use stackloom::ir::Module;
use stackloom::lower::estelle::{Bounds, Choices, Fault, lower};
use stackloom::pipeline::estelle_ir;
use stackloom::simulate::estelle::{
    Choice, Chooser, CompiledLine, CompiledRun, CompiledStep, Course, IrTarget, Line, Target,
};
use stackloom::types::estelle::program::Program;
use std::fmt::Write;
use std::rc::Rc;

/// The most steps of a run by first choices.
const STEPS: u64 = 100_000;

/// The most steps of a run by a seed.
const STEPS_OF_SEED: u64 = 150;

#[test]
fn ir_and_c_fire_what_the_reference_fires() {
    let mut differing = Vec::new();
    for example in &EXAMPLES {
        let program = program(example.name, example.constants);
        let expected = reference(&program, Choice::First, Course::of_steps(STEPS));
        assert!(expected.lines().count() > 3, "{expected}");
        for (form, module) in forms(&program, Choices::First) {
            let shown = interpreted(&program, &module, Choice::First, Course::of_steps(STEPS));
            differing.extend(difference((example.name, form), &shown, &expected));
        }
        let without_names = expected.lines().map(|line| {
            let parts: Vec<&str> = line.split([' ', ':']).collect();
            let time: u64 = parts[0].parse().expect("a time");
            format!("{} {}\n", time * program.unit_ns, parts[2])
        });
        let expected: String = without_names.collect();
        let c = built(example.name, &program, ("gcc", Choices::First));
        differing.extend(difference(
            (example.name, "steps of C"),
            &c.turns(STEPS),
            &expected,
        ));
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

#[test]
fn by_seeds_ir_and_c_fire_what_the_reference_fires() {
    seeds(0..50, "clang");
}

#[test]
#[ignore = "it takes minutes; `make soak` runs it"]
fn by_many_seeds_ir_and_c_fire_what_the_reference_fires() {
    seeds(50..250, "gcc");
}

/// Compares runs of all specifications by seeds.
fn seeds(seeds: std::ops::Range<u64>, compiler: &str) {
    let mut differing = Vec::new();
    for example in &EXAMPLES {
        let program = program(example.name, example.constants);
        let forms = forms(&program, Choices::Host);
        let c = built(example.name, &program, (compiler, Choices::Host));
        let seeds = seeds.clone().map(Choice::Seed);
        for choice in std::iter::once(Choice::First).chain(seeds) {
            let same = agrees(example, &program, choice, (&forms, &c));
            if let Err(different) = same {
                differing.push(different);
                break;
            }
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// Compares one run of all forms.
fn agrees(
    example: &Example,
    program: &Program,
    choice: Choice,
    (forms, c): (&[(&str, Module)], &Built),
) -> Result<(), String> {
    let course = Course::of_steps(STEPS_OF_SEED);
    let expected = reference(program, choice, course);
    for (form, module) in forms {
        let shown = interpreted(program, module, choice, course);
        let title = format!("{} by {choice:?}", example.name);
        difference((&title, form), &shown, &expected).map_or(Ok(()), Err)?;
    }
    let chooser = Rc::new(Chooser::new(program, choice));
    let target = c.target(Rc::clone(&chooser));
    let shown = fired(CompiledRun::new(chooser, target, choice, course));
    let title = format!("{} by {choice:?}", example.name);
    difference((&title, "C"), &shown, &expected).map_or(Ok(()), Err)
}

#[test]
fn steps_that_take_time_are_the_same_as_ir() {
    let mut differing = Vec::new();
    let mut delayed = 0;
    for example in &EXAMPLES {
        let program = program(example.name, example.constants);
        let forms = forms(&program, Choices::Host);
        for choice in [Choice::First, Choice::Seed(1), Choice::Seed(2)] {
            let course = Course::of_steps(STEPS_OF_SEED);
            let in_units = Course {
                step_time: 2,
                ..course
            };
            let expected = reference(&program, choice, in_units);
            delayed += u32::from(expected != reference(&program, choice, course));
            for (form, module) in &forms {
                let in_ns = Course {
                    step_time: 2 * program.unit_ns,
                    ..course
                };
                let shown = interpreted(&program, module, choice, in_ns);
                let title = format!("{} by {choice:?}", example.name);
                differing.extend(difference((&title, form), &shown, &expected));
            }
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
    assert!(delayed > 20, "steps that take time change {delayed} runs");
}

#[test]
fn a_planted_fault_in_the_c_is_found() {
    let program = program("alternating", &[]);
    let mut other = program.clone();
    let mut transitions = other
        .bodies
        .iter_mut()
        .flat_map(|body| &mut body.transitions);
    let changed = transitions.find(|one| one.to.is_some() && one.when.is_some());
    changed.expect("a transition goes to a state").to = None;
    let module = lower(&other, &Bounds::default()).expect("the specification has C");
    let shown = interpreted(&program, &module, Choice::First, Course::of_steps(STEPS));
    assert_ne!(
        shown,
        reference(&program, Choice::First, Course::of_steps(STEPS))
    );
}

#[test]
fn a_transition_without_its_interaction_is_a_fault() {
    let program = program("pingpong", &[]);
    let module = estelle_ir(&program, &Bounds::default()).expect("the specification has C");
    let chooser = Rc::new(Chooser::new(&program, Choice::First));
    let mut target = IrTarget::new(&module, chooser);
    assert_eq!(target.call("start", &[], 0), 0);
    let mut refused = 0;
    for number in 0..target.call("systems", &[], 0) {
        let module = target.call("system", &[number], 0);
        let body = &program.bodies[target.call("body", &[module], 0) as usize];
        for (at, transition) in body.transitions.iter().enumerate() {
            if transition.when.is_some() {
                let fired = target.call("fire", &[module, at as i64], 0);
                assert_eq!(fired, -Fault::Range.number(), "{}", transition.name);
                refused += 1;
            }
        }
    }
    assert!(refused > 1);
}

/// A specification as it is lowered, and behind the passes.
pub fn forms(program: &Program, choices: Choices) -> [(&'static str, Module); 2] {
    let bounds = Bounds {
        choices,
        ..Bounds::default()
    };
    let lowered = lower(program, &bounds).expect("the specification has C");
    let behind = estelle_ir(program, &bounds).expect("the specification has C");
    [("IR", lowered), ("IR behind the passes", behind)]
}

/// The first line that differs, if any does.
pub fn difference((title, form): (&str, &str), shown: &str, expected: &str) -> Option<String> {
    if shown == expected {
        return None;
    }
    let mut both = shown.lines().zip(expected.lines()).enumerate();
    Some(
        match both.find(|(_, (shown, expected))| shown != expected) {
            Some((at, (shown, expected))) => {
                format!("{title}, line {at}:\n  reference: {expected}\n  {form}: {shown}")
            }
            None => format!(
                "{title}: the reference has {} lines, {form} {}",
                expected.lines().count(),
                shown.lines().count()
            ),
        },
    )
}

/// One line for each transition of the reference: the time, the module, the transition's number and
/// the state behind it. A fault ends it.
pub fn reference(program: &Program, choice: Choice, course: Course) -> String {
    let mut text = String::new();
    for line in run(program, choice, course).lines {
        match line {
            Line::Step(step) => {
                let (time, instance, number, to) = (step.time, step.instance, step.number, step.to);
                writeln!(text, "{time} {instance} {number}:{to}").expect("a string takes it");
            }
            Line::Fault(fault) => {
                writeln!(text, "fault {} -", fault.fault).expect("a string takes it");
                break;
            }
            Line::Start(_) | Line::Situation(_) | Line::End(_) => {}
        }
    }
    text
}

/// The same of a compiled specification.
pub fn fired<T: Target>(run: CompiledRun<'_, T>) -> String {
    let mut text = String::new();
    for line in run {
        match line {
            CompiledLine::Step(step) => {
                let CompiledStep {
                    time,
                    instance,
                    number,
                    to,
                    ..
                } = step;
                writeln!(text, "{time} {instance} {number}:{to}").expect("a string takes it");
            }
            CompiledLine::Fault { fault, .. } => {
                writeln!(text, "fault {fault} -").expect("a string takes it");
                break;
            }
            CompiledLine::End { .. } => {}
        }
    }
    text
}

/// Runs the stack IR of a specification; times of the course are in nanoseconds.
pub fn interpreted(program: &Program, module: &Module, choice: Choice, course: Course) -> String {
    let chooser = Rc::new(Chooser::new(program, choice));
    let target = IrTarget::new(module, Rc::clone(&chooser));
    fired(CompiledRun::new(chooser, target, choice, course))
}
