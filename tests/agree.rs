//! Whatever runs a stack agrees with the reference interpreter, on random traces: every output,
//! counter and deadline after every call of the host.
//!
//! In: programs. Out: the first difference, with its seed and the shortest trace that shows it.
//! `AGREE_SEED` runs one seed alone, `AGREE_SEEDS` so many.

#[path = "agree/compiled.rs"]
mod compiled;
#[path = "agree/fault.rs"]
mod fault;
#[path = "agree/random.rs"]
mod random;
#[path = "agree/sequencer.rs"]
mod sequencer;
#[path = "agree/stacks.rs"]
mod stacks;
#[path = "agree/traffic.rs"]
mod traffic;

use compiled::Compiled;
use stackloom::emit;
use stackloom::reactive::lower;
use stackloom::simulate::reference::Reference;
use stackloom::simulate::stack::Stack;
use stackloom::simulate::state::Limits;
use stackloom::simulate::trace::{Difference, Seen, Shown, Trace};
use stackloom::simulate::trees::Trees;
use stackloom::source::Sources;
use stackloom::tree::Forest;
use stackloom::tree::check::check;
use stackloom::types::program::Program;
use stackloom::weave::{self, weave};

/// Calls of a trace.
const LENGTH: usize = 300;

#[test]
fn the_trees_of_a_sequencer_do_what_it_says() {
    trees_agree(&sequencer::program());
}

#[test]
fn radio_agrees() {
    all_agree(&stacks::example("examples/radio/radio.loom"));
}

#[test]
fn two_ways_agrees() {
    all_agree(&stacks::example("examples/radio/two_ways.loom"));
}

#[test]
fn ping_agrees() {
    all_agree(&stacks::example("examples/ping/ping.loom"));
}

#[test]
fn telemetry_agrees() {
    all_agree(&stacks::example("examples/telemetry/telemetry.loom"));
}

#[test]
fn host_agrees() {
    all_agree(&stacks::example("examples/host/host.loom"));
}

#[test]
fn sealed_agrees() {
    all_agree(&stacks::example("tests/cases/sealed/damage_is_found.case"));
}

#[test]
fn parity_agrees() {
    all_agree(&stacks::example(
        "tests/cases/radio/a_loss_is_repaired.case",
    ));
}

#[test]
fn credit_agrees() {
    all_agree(&stacks::example(
        "tests/cases/credit/room_that_is_told_of.case",
    ));
}

#[test]
fn conversations_agree() {
    let path = "tests/cases/conversations/who_calls_and_who_is_called.case";
    all_agree(&stacks::example(path));
}

/// A program, its trees, its woven trees, and the C of both.
fn all_agree((sources, program): &(Sources, Program)) {
    let forest = trees_agree(program);
    let (woven, _) = weave(program, forest.clone(), weave::Limits::default());
    for (variant, forest) in [("plain", forest), ("woven", woven)] {
        let code = emit::c(sources, program, &forest);
        let compiled = Compiled::new(program, &code, variant);
        for seed in seeds() {
            let trace = compiled_trace(program, seed, &compiled);
            let differs = |trace: &Trace| c_differs(program, &compiled, trace);
            report(program, seed, &trace, &differs);
        }
    }
}

fn compiled_trace(program: &Program, seed: u64, compiled: &Compiled<'_>) -> Trace {
    let limits = Limits {
        buffers: *random::Random(seed).one(&[4, 12, 20, 256]),
        ..compiled.limits
    };
    traffic::trace(program, seed, LENGTH, limits)
}

/// Where the C does something else than the program.
fn c_differs(program: &Program, compiled: &Compiled<'_>, trace: &Trace) -> Option<Difference> {
    Difference::first(&reference(program, trace), &compiled.run(trace))
}

#[test]
fn a_fault_in_the_c_of_radio_is_found() {
    let (sources, program) = stacks::example("examples/radio/radio.loom");
    let forest = lower(&program).expect("the program has trees");
    let mut code = emit::c(&sources, &program, &forest);
    let (from, to) = ("frames_in", "frames_inn");
    assert!(code.c.contains(from), "there is something to get wrong");
    code.c = code.c.replacen(from, to, 1);
    let renamed = Compiled::new(&program, &code, "renamed");
    let faulty = fault::faults(&forest);
    let (_, faulty) = faulty.first().expect("there is something to get wrong");
    let code = emit::c(&sources, &program, faulty);
    let faulty = Compiled::new(&program, &code, "faulty");
    for compiled in [renamed, faulty] {
        let found = (0..8).any(|seed| {
            let trace = compiled_trace(&program, seed, &compiled);
            c_differs(&program, &compiled, &trace).is_some()
        });
        assert!(found, "what is wrong in the C is not found");
    }
}

#[test]
fn every_fault_in_the_trees_of_a_sequencer_is_found() {
    let program = sequencer::program();
    let forest = lower(&program).expect("the program has trees");
    let faults = fault::faults(&forest);
    assert!(faults.len() > 5, "there is something to get wrong");
    let missed: Vec<String> = faults
        .into_iter()
        .filter(|(_, faulty)| !is_found(&program, faulty))
        .map(|(what, _)| what)
        .collect();
    assert!(missed.is_empty(), "not found:\n{}", missed.join("\n"));
}

/// Whether some trace shows that the trees do something else, or cannot be run at all.
fn is_found(program: &Program, faulty: &Forest) -> bool {
    (0..24).any(|seed| {
        let trace = traffic::trace(program, seed, LENGTH, limits(seed));
        let shown = std::panic::catch_unwind(|| differs(program, faulty, &trace));
        !matches!(shown, Ok(None))
    })
}

/// The trees of a program, and its woven trees, compared with the program. Returns its trees.
fn trees_agree(program: &Program) -> Forest {
    let forest = checked(program, lower(program).expect("the program has trees"));
    let (woven, _) = weave(program, forest.clone(), weave::Limits::default());
    for forest in [&forest, &checked(program, woven)] {
        for seed in seeds() {
            let trace = traffic::trace(program, seed, LENGTH, limits(seed));
            let differs = |trace: &Trace| differs(program, forest, trace);
            report(program, seed, &trace, &differs);
        }
    }
    forest
}

/// A forest that keeps all rules.
fn checked(program: &Program, forest: Forest) -> Forest {
    let violations = check(program, &forest);
    let all: Vec<String> = violations
        .iter()
        .map(|violation| violation.to_string())
        .collect();
    assert!(all.is_empty(), "{}", all.join("\n"));
    forest
}

/// Where the trees do something else than the program.
fn differs(program: &Program, forest: &Forest, trace: &Trace) -> Option<Difference> {
    let trees = Trees::new(program, forest);
    let config = trace.config.clone();
    let mut stack = Stack::start(trees, program, config, trace.limits, trace.start_ns);
    Difference::first(&reference(program, trace), &trace.run(&mut stack))
}

/// What the program means.
fn reference(program: &Program, trace: &Trace) -> Vec<Seen> {
    let reference = Reference::new(program);
    let config = trace.config.clone();
    let mut stack = Stack::start(reference, program, config, trace.limits, trace.start_ns);
    trace.run(&mut stack)
}

/// Fails with the shortest trace that shows a difference, if there is one.
fn report(
    program: &Program,
    seed: u64,
    trace: &Trace,
    differs: &dyn Fn(&Trace) -> Option<Difference>,
) {
    if differs(trace).is_some() {
        let short = trace.shortened(|trace| differs(trace).is_some());
        let difference = differs(&short).expect("it differs");
        panic!("seed {seed}\n{}{difference}", Shown(program, &short));
    }
}

fn seeds() -> std::ops::Range<u64> {
    let number = |name: &str| {
        let value = std::env::var(name).ok();
        value.map(|value| value.parse().expect("a seed is a number"))
    };
    match number("AGREE_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("AGREE_SEEDS").unwrap_or(8),
    }
}

/// Sometimes there are few buffers and little room to wait.
fn limits(seed: u64) -> Limits {
    match seed % 4 {
        0 => Limits {
            buffers: seed as u32 / 4 % 6 * 2,
            reserve: 1,
            ..Limits::default()
        },
        1 => Limits {
            budget: 3,
            outputs: 4,
            ..Limits::default()
        },
        _ => Limits::default(),
    }
}
