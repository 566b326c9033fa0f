//! The trees of a stack, plain and woven, agree with the reference interpreter on random traces:
//! every output, counter and deadline after every call of the host. `c_agrees` goes on from there.
//!
//! In: programs. Out: the first difference, with its seed and the shortest trace that shows it.
//! `SEED=n` runs one seed alone, `SEEDS=n` so many.

#[path = "agree/credit.rs"]
mod credit;
#[path = "c_agrees/externs.rs"]
mod externs;
#[path = "agree/fault.rs"]
mod fault;
#[path = "agree/headers.rs"]
mod headers;
#[path = "agree/profiles.rs"]
mod profiles;
#[path = "agree/random.rs"]
mod random;
#[path = "c_agrees/run.rs"]
mod run;
#[path = "agree/sequencer.rs"]
mod sequencer;
#[path = "agree/sets.rs"]
mod sets;
#[path = "agree/specialised.rs"]
mod specialised;
#[path = "agree/stacks.rs"]
mod stacks;
#[path = "agree/traffic.rs"]
mod traffic;

use run::interpreted;
use stackloom::pipeline::woven;
use stackloom::reactive::handlers::Budget;
use stackloom::reactive::lower;
use stackloom::simulate::reference::Reference;
use stackloom::simulate::state::Limits;
use stackloom::simulate::trace::Trace;
use stackloom::simulate::trees::Trees;
use stackloom::tool::case::run::{Run, difference};
use stackloom::tool::case::script;
use stackloom::tree::Forest;
use stackloom::tree::check::check;
use stackloom::tree::rewrites::{Rewrite, Rewrites};
use stackloom::tree::text::compact;
use stackloom::tree::ways::counted;
use stackloom::types::program::Program;

/// Calls of a trace.
const LENGTH: usize = 300;

/// Stacks on which any set of rewrites is tried.
const SMALL: [&str; 8] = [
    "examples/radio/radio.loom",
    "tests/c_agrees/stacks/answered.loom",
    "tests/c_agrees/stacks/keyed.loom",
    "tests/c_agrees/stacks/latched.loom",
    "tests/c_agrees/stacks/numbered.loom",
    "tests/c_agrees/stacks/cut.loom",
    "tests/c_agrees/stacks/passing.loom",
    "tests/c_agrees/stacks/switched.loom",
];

#[test]
fn the_trees_of_a_sequencer_do_what_it_says() {
    trees_agree("none", &[sequencer::program()]);
}

#[test]
fn radio_agrees() {
    example_agrees("examples/radio/radio.loom");
}

#[test]
fn two_ways_agrees() {
    example_agrees("examples/radio/two_ways.loom");
}

#[test]
fn ping_agrees() {
    example_agrees("examples/ping/ping.loom");
}

#[test]
fn telemetry_agrees() {
    example_agrees("examples/telemetry/telemetry.loom");
}

#[test]
fn waits_that_look_at_the_message_agree() {
    example_agrees("tests/c_agrees/stacks/cut.loom");
}

#[test]
fn stop_and_wait_agrees() {
    example_agrees("examples/stop_and_wait/stop_and_wait.loom");
}

#[test]
fn dual_agrees() {
    example_agrees("examples/dual/dual.loom");
}

#[test]
fn host_agrees() {
    example_agrees("examples/host/host.loom");
}

#[test]
fn sealed_agrees() {
    example_agrees("tests/cases/sealed/normal.case");
}

#[test]
fn parity_agrees() {
    example_agrees("tests/cases/parity/normal.case");
}

#[test]
fn block_code_agrees() {
    example_agrees("tests/cases/block_code/normal.case");
}

#[test]
fn arq_agrees() {
    example_agrees("tests/cases/arq/normal.case");
}

#[test]
fn run_lengths_agrees() {
    example_agrees("tests/cases/run_lengths/normal.case");
}

#[test]
fn codes_agree() {
    example_agrees("tests/c_agrees/stacks/coders.loom");
}

#[test]
fn credit_agrees() {
    example_agrees("tests/cases/credit/normal.case");
}

#[test]
fn conversations_agree() {
    let path = "tests/cases/conversations/who_calls_and_who_is_called.case";
    example_agrees(path);
}

#[test]
fn listeners_agree() {
    example_agrees("tests/c_agrees/stacks/callers.loom");
}

#[test]
fn listeners_that_end_agree() {
    example_agrees("tests/c_agrees/stacks/letters.loom");
}

#[test]
fn segments_agree() {
    example_agrees("tests/c_agrees/stacks/segments.loom");
}

#[test]
fn data_that_is_rewritten_agrees() {
    example_agrees("tests/c_agrees/stacks/rewritten.loom");
}

#[test]
fn data_that_grows_agrees() {
    example_agrees("tests/c_agrees/stacks/stuffed.loom");
}

#[test]
fn sums_over_several_ranges_agree() {
    example_agrees("tests/c_agrees/stacks/ranges.loom");
}

#[test]
fn options_agree() {
    example_agrees("tests/c_agrees/stacks/options.loom");
}

#[test]
fn parts_with_a_bound_agree() {
    example_agrees("tests/c_agrees/stacks/bounded.loom");
}

#[test]
fn parts_in_words_and_keys_agree() {
    example_agrees("tests/c_agrees/stacks/bounded_words.loom");
}

#[test]
fn parts_that_are_missing_agree() {
    example_agrees("tests/c_agrees/stacks/missing.loom");
}

#[test]
fn streams_on_paths_that_come_and_go_agree() {
    example_agrees("tests/c_agrees/stacks/nested.loom");
}

#[test]
fn ports_on_labels_agree() {
    example_agrees("tests/c_agrees/stacks/offices.loom");
}

#[test]
fn trees_do_as_the_reference_where_every_call_of_c_counts() {
    example_agrees("tests/c_agrees/stacks/counted.loom");
}

#[test]
fn functions_of_what_comes_and_goes_agree() {
    example_agrees("tests/c_agrees/stacks/asked.loom");
}

#[test]
fn kinds_on_what_comes_and_goes_agree() {
    example_agrees("tests/c_agrees/stacks/kinds.loom");
}

#[test]
fn functions_asked_through_another_multiplexor_agree() {
    example_agrees("tests/c_agrees/stacks/heights.loom");
}

#[test]
fn listeners_below_labels_agree() {
    example_agrees("tests/c_agrees/stacks/extensions.loom");
}

#[test]
fn channels_agree() {
    example_agrees("tests/c_agrees/stacks/channels.loom");
}

#[test]
fn families_agree() {
    example_agrees("tests/c_agrees/stacks/families.loom");
}

#[test]
fn bytes_that_are_granted_agree() {
    example_agrees("tests/cases/credit/bytes_that_are_granted.case");
}

#[test]
fn links_that_go_down_agree() {
    example_agrees("tests/c_agrees/stacks/links.loom");
}

#[test]
fn windows_of_values_agree() {
    example_agrees("tests/c_agrees/stacks/marks.loom");
}

#[test]
fn several_handlers_of_one_event_agree() {
    example_agrees("tests/c_agrees/stacks/several.loom");
}

#[test]
fn processes_agree() {
    example_agrees("tests/c_agrees/stacks/watching.loom");
    example_agrees("tests/c_agrees/stacks/asking_again.loom");
    example_agrees("tests/c_agrees/stacks/words.loom");
    example_agrees("tests/c_agrees/stacks/before.loom");
    example_agrees("tests/c_agrees/stacks/turns.loom");
    example_agrees("tests/c_agrees/stacks/freeing.loom");
    example_agrees("tests/c_agrees/stacks/staying.loom");
    example_agrees("tests/c_agrees/stacks/taking.loom");
}

#[test]
fn processes_that_always_do_the_same_agree() {
    example_agrees("tests/c_agrees/stacks/passing.loom");
}

#[test]
fn what_is_asked_in_passing_agrees() {
    example_agrees("tests/c_agrees/stacks/asking_in_passing.loom");
}

#[test]
fn processes_of_sessions_that_come_and_go_agree() {
    example_agrees("tests/c_agrees/stacks/meetings.loom");
}

#[test]
fn what_is_kept_until_the_end_agrees() {
    example_agrees("tests/c_agrees/stacks/endings.loom");
}

#[test]
fn optionals_made_of_themselves_agree() {
    example_agrees("tests/c_agrees/stacks/itself.loom");
}

#[test]
fn what_is_asked_of_a_key_agrees() {
    example_agrees("tests/c_agrees/stacks/keyed.loom");
}

#[test]
fn what_follows_an_answer_agrees() {
    example_agrees("tests/c_agrees/stacks/answered.loom");
}

#[test]
fn what_is_asked_once_agrees() {
    example_agrees("tests/c_agrees/stacks/latched.loom");
}

#[test]
fn any_rewrites_agree() {
    let mut fired = Rewrites::NONE;
    for path in SMALL {
        let mut program = stacks::budgeted(path, apart());
        let plain = lower(&program).expect("the program has trees");
        let bare = compact(&woven(&mut program, plain.clone(), Rewrites::NONE));
        let mut forests = vec![checked(&program, bare)];
        for set in sets::pairs() {
            let forest = compact(&woven(&mut program, plain.clone(), set));
            if set.each().count() == 1 && forest != forests[0] {
                fired = fired.and(set);
            }
            if !forests.contains(&forest) {
                forests.push(checked(&program, forest));
            }
        }
        let forests = forests.iter().map(|forest| (&program, forest));
        all_agree(path, &program, &forests.collect::<Vec<_>>());
    }
    let of_trees = "prune-states, extend, inline, prune-branches, frequent-first";
    assert_eq!(fired.to_string(), of_trees, "each does something");
}

#[test]
fn every_fault_in_the_trees_of_a_sequencer_is_found() {
    let program = sequencer::program();
    let forest = lower(&program).expect("the program has trees");
    let faults = fault::faults(&forest, &forest.trees);
    assert!(faults.len() > 5, "there is something to get wrong");
    let missed: Vec<String> = faults
        .into_iter()
        .filter(|(_, faulty)| !is_found(&program, faulty))
        .map(|(what, _)| what)
        .collect();
    assert!(missed.is_empty(), "not found:\n{}", missed.join("\n"));
}

#[test]
fn every_fault_of_its_kind_in_what_a_rewrite_makes_is_found() {
    let answered = "tests/c_agrees/stacks/answered.loom";
    let switched = "tests/c_agrees/stacks/switched.loom";
    let passing = "tests/c_agrees/stacks/passing.loom";
    for (rewrite, path, kind) in [
        (Rewrite::States, switched, "a test turned"),
        (Rewrite::Extend, passing, "outputs swapped"),
        (Rewrite::Inline, switched, "an output left out"),
        (Rewrite::Inline, answered, "an answer left out"),
        (Rewrite::Branches, switched, "a test turned"),
        (Rewrite::Frequent, switched, "a test turned"),
    ] {
        let mut program = stacks::budgeted(path, apart());
        let plain = lower(&program).expect("the program has trees");
        let made = compact(&woven(&mut program, plain, Rewrites::only(rewrite)));
        let faults = fault::faults(&made, &made.trees).into_iter();
        let faults: Vec<_> = faults.filter(|(what, _)| what.starts_with(kind)).collect();
        assert!(
            !faults.is_empty(),
            "{rewrite:?}: there is something to get wrong"
        );
        let missed = faults.into_iter();
        let missed = missed.filter(|(_, faulty)| !is_found(&program, faulty));
        let missed: Vec<String> = missed.map(|(what, _)| what).collect();
        assert!(
            missed.is_empty(),
            "{rewrite:?}, not found:\n{}",
            missed.join("\n")
        );
    }
}

/// Whether some trace shows that the trees do something else, or cannot be run at all.
fn is_found(program: &Program, faulty: &Forest) -> bool {
    (0..24).any(|seed| {
        let trace = traffic::trace(program, seed, LENGTH, limits(seed));
        let shown = std::panic::catch_unwind(|| differs(program, faulty, &trace));
        !matches!(shown, Ok(None))
    })
}

fn example_agrees(path: &str) {
    let mut programs = vec![stacks::example(path)];
    if programs[0].kinds.iter().any(|kind| kind.reactive.is_some()) {
        programs.push(stacks::budgeted(path, apart()));
    }
    trees_agree(path, &programs);
}

/// Processes that stay apart.
fn apart() -> Budget {
    Budget {
        together: 0,
        ..Budget::default()
    }
}

/// The trees of a program, and its woven trees, compared with the program; and those of others that
/// do the same.
fn trees_agree(path: &str, programs: &[Program]) {
    let mut forests = Vec::new();
    for program in programs {
        let forest = checked(program, lower(program).expect("the program has trees"));
        let fast = |forest: Forest| {
            let mut program = program.clone();
            let forest = woven(&mut program, forest, Rewrites::ALL);
            (program.clone(), checked(&program, forest))
        };
        forests.push(fast(profiles::guessed(program, &forest, 1)));
        forests.push((program.clone(), checked(program, counted(&forest))));
        forests.push(fast(forest.clone()));
        forests.push((program.clone(), forest));
    }
    let forests = forests.iter().map(|(program, forest)| (program, forest));
    all_agree(path, &programs[0], &forests.collect::<Vec<_>>());
}

/// Trees of a program, or of others that do the same, compared with the program.
fn all_agree(path: &str, program: &Program, forests: &[(&Program, &Forest)]) {
    for seed in seeds() {
        let trace = traffic::trace(program, seed, LENGTH, limits(seed));
        let reference = interpreted(Reference::new(program), program, &trace);
        for (program, forest) in forests {
            let run = interpreted(Trees::new(program, forest), program, &trace);
            if difference(&reference, &run).is_some() {
                let differs = |trace: &Trace| differs(program, forest, trace);
                report(program, (path, seed), &trace, &differs);
            }
        }
    }
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
fn differs(program: &Program, forest: &Forest, trace: &Trace) -> Option<String> {
    let reference = interpreted(Reference::new(program), program, trace);
    difference(
        &reference,
        &interpreted(Trees::new(program, forest), program, trace),
    )
}

/// Fails with the shortest trace that shows a difference, if there is one.
fn report(
    program: &Program,
    (path, seed): (&str, u64),
    trace: &Trace,
    differs: &dyn Fn(&Trace) -> Option<String>,
) {
    if differs(trace).is_some() {
        let short = trace.shortened(|trace| differs(trace).is_some());
        let difference = differs(&short).expect("it differs");
        let script = script::written(program, &short, &Limits::default());
        panic!("SEED={seed}\n{difference}\n=== stack {path}\n\n{script}\n=== out\n");
    }
}

fn seeds() -> std::ops::Range<u64> {
    let number = |name: &str| {
        let value = std::env::var(name).ok();
        value.map(|value| value.parse().expect("a seed is a number"))
    };
    match (number("SEED"), number("SEEDS")) {
        (Some(seed), count) => seed..seed + count.unwrap_or(1),
        (None, count) => 0..count.unwrap_or(8),
    }
}

/// Sometimes there are few buffers and little room to wait.
fn limits(seed: u64) -> Limits {
    match seed % 4 {
        0 => Limits {
            buffers: (seed as u32 / 4 % 6 * 2).max(2),
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

/// Not a check but a measure of the traffic, to be run alone, with `STACK=PATH` and `--nocapture`.
/// Some faults change nothing that a host could see.
#[test]
#[ignore = "it says how good the traffic is"]
fn which_faults_are_missed() {
    let path = std::env::var("STACK").unwrap_or("examples/ping/ping.loom".to_string());
    let mut program = stacks::example(&path);
    let plain = lower(&program).expect("the program has trees");
    let woven = woven(&mut program, plain.clone(), Rewrites::ALL);
    let runs: Vec<(Trace, Run)> = seeds()
        .map(|seed| {
            let trace = traffic::trace(&program, seed, LENGTH, limits(seed));
            let run = interpreted(Reference::new(&program), &program, &trace);
            (trace, run)
        })
        .collect();
    for (forest, who) in [(plain, "trees"), (woven, "woven trees")] {
        let faults = fault::faults(&forest, &forest.trees);
        let count = faults.len();
        let is_missed = |faulty: &Forest| {
            runs.iter().all(|(trace, run)| {
                let ran = || interpreted(Trees::new(&program, faulty), &program, trace);
                matches!(std::panic::catch_unwind(ran), Ok(ran) if ran == *run)
            })
        };
        let missed = faults.into_iter().filter(|(_, faulty)| is_missed(faulty));
        let missed: Vec<String> = missed.map(|(what, _)| what).collect();
        println!("{path}, {who}: {} of {count} missed", missed.len());
        missed.iter().for_each(|what| println!("  {what}"));
    }
}
