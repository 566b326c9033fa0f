//! The generated C does what its trees do, and those what the program says, on random traces of a
//! host: every output, counter, deadline and answer after every call, and the free buffers at the
//! end. The C is compiled by clang, unoptimised and watched by the sanitizers, and by gcc,
//! optimised; by `make soak` in four ways, all of them watched.
//!
//! In: the examples, and stacks in `c_agrees/stacks` that use what the examples do not. Out: the
//! first difference, with its seed, as the shortest `.case` that shows it. `SEED=n` chooses one
//! seed, `SEEDS=n` so many, both together so many from there on.

#[path = "c_agrees/compared.rs"]
mod compared;
#[path = "c_agrees/compiled.rs"]
mod compiled;
#[path = "streams/content.rs"]
mod content;
#[path = "c_agrees/externs.rs"]
mod externs;
#[path = "c_agrees/faults.rs"]
mod faults;
#[path = "c_agrees/glue.rs"]
mod glue;
#[path = "c_agrees/harder.rs"]
mod harder;
#[path = "agree/headers.rs"]
mod headers;
#[path = "c_agrees/leaving.rs"]
mod leaving;
#[path = "agree/profiles.rs"]
mod profiles;
#[path = "agree/random.rs"]
mod random;
#[path = "streams/recorded.rs"]
mod recorded;
#[path = "c_agrees/recorded.rs"]
mod rerun;
#[path = "c_agrees/run.rs"]
mod run;
#[path = "agree/sets.rs"]
mod sets;
#[path = "c_agrees/specialised.rs"]
mod specialised;
#[path = "c_agrees/stacks.rs"]
mod stacks;
#[path = "agree/traffic.rs"]
mod traffic;
#[path = "c_agrees/unguarded.rs"]
mod unguarded;

use compared::differing;
use compiled::Compiled;
use random::Random;
use stackloom::pipeline::Compiled as Built;
use stackloom::reactive::handlers::Budget;
use stackloom::simulate::state::Limits;
use stackloom::simulate::trace::Trace;
use stackloom::tool::layout::limits;
use stackloom::tree::rewrites::Rewrites;
use stackloom::types::program::Program;
use std::collections::BTreeSet;
use std::path::Path;

/// How the C is compiled.
const WAYS: [(&str, &str); 4] = [
    ("clang-16", "-O0"),
    ("gcc", "-O2"),
    ("gcc", "-O0"),
    ("clang-16", "-O2"),
];

/// Stacks on which any set of rewrites is tried.
const SMALL: [&str; 2] = [
    "tests/c_agrees/stacks/passing.loom",
    "tests/c_agrees/stacks/switched.loom",
];

/// Calls of a trace.
const LENGTH: usize = 200;

#[test]
fn the_c_of_ping_does_what_it_says() {
    agrees("examples/ping/ping.loom");
}

#[test]
fn the_c_of_a_host_of_two_networks_does_what_it_says() {
    agrees("examples/dual/dual.loom");
}

#[test]
fn the_c_of_the_host_does_what_it_says() {
    agrees("examples/host/host.loom");
}

#[test]
fn the_c_of_the_radio_does_what_it_says() {
    agrees("examples/radio/radio.loom");
}

#[test]
fn the_c_of_two_ways_does_what_it_says() {
    agrees("examples/radio/two_ways.loom");
}

#[test]
fn the_c_of_telemetry_does_what_it_says() {
    agrees("examples/telemetry/telemetry.loom");
}

#[test]
fn the_c_of_waits_that_look_at_the_message_does_what_it_says() {
    agrees("tests/c_agrees/stacks/cut.loom");
}

#[test]
fn the_c_of_stop_and_wait_does_what_it_says() {
    agrees("examples/stop_and_wait/stop_and_wait.loom");
}

#[test]
fn the_c_of_the_librarys_other_layers_does_what_it_says() {
    agrees("tests/c_agrees/stacks/library.loom");
}

#[test]
fn the_c_of_repairing_layers_does_what_it_says() {
    agrees("tests/c_agrees/stacks/repairing.loom");
}

#[test]
fn the_c_of_slots_that_swap_does_what_it_says() {
    agrees("tests/c_agrees/stacks/swapping.loom");
}

#[test]
fn the_c_of_codes_does_what_it_says() {
    agrees("tests/c_agrees/stacks/coders.loom");
}

#[test]
fn the_c_of_all_kinds_of_headers_does_what_it_says() {
    agrees("tests/c_agrees/stacks/wire.loom");
}

#[test]
fn the_c_of_segments_does_what_it_says() {
    agrees("tests/c_agrees/stacks/segments.loom");
}

#[test]
fn the_c_of_data_that_is_rewritten_does_what_it_says() {
    agrees("tests/c_agrees/stacks/rewritten.loom");
}

#[test]
fn the_c_of_data_that_grows_does_what_it_says() {
    agrees("tests/c_agrees/stacks/stuffed.loom");
}

#[test]
fn the_c_of_sums_over_several_ranges_does_what_it_says() {
    agrees("tests/c_agrees/stacks/ranges.loom");
}

#[test]
fn the_c_of_numbers_that_are_always_zero_does_what_it_says() {
    agrees("tests/c_agrees/stacks/nothing.loom");
}

#[test]
fn the_c_of_options_does_what_it_says() {
    agrees("tests/c_agrees/stacks/options.loom");
}

#[test]
fn the_c_of_parts_that_are_missing_does_what_it_says() {
    agrees("tests/c_agrees/stacks/missing.loom");
}

#[test]
fn the_c_of_parts_with_a_bound_does_what_it_says() {
    agrees("tests/c_agrees/stacks/bounded.loom");
}

#[test]
fn the_c_of_parts_in_words_and_keys_does_what_it_says() {
    agrees("tests/c_agrees/stacks/bounded_words.loom");
}

#[test]
fn the_c_of_optionals_made_of_themselves_does_what_it_says() {
    agrees("tests/c_agrees/stacks/itself.loom");
}

#[test]
fn the_c_of_windows_does_what_it_says() {
    agrees("tests/c_agrees/stacks/windows.loom");
}

#[test]
fn the_c_of_streams_does_what_it_says() {
    agrees("tests/c_agrees/stacks/streams.loom");
}

#[test]
fn the_c_of_frames_that_leave_in_two_parts_does_what_it_says() {
    agrees("tests/c_agrees/stacks/gathered.loom");
    agrees(&leaving::calling("gathered"));
}

#[test]
fn the_c_of_what_is_appended_and_sent_at_once_does_what_it_says() {
    agrees("tests/c_agrees/stacks/appended.loom");
}

#[test]
fn the_c_of_credit_that_comes_back_does_what_it_says() {
    agrees("tests/c_agrees/stacks/credits.loom");
}

#[test]
fn the_c_of_what_is_paced_does_what_it_says() {
    agrees("tests/c_agrees/stacks/paced.loom");
}

#[test]
fn the_c_of_what_is_settled_once_does_what_it_says() {
    agrees("tests/c_agrees/stacks/settled.loom");
}

#[test]
fn the_c_of_children_and_containers_does_what_it_says() {
    agrees("tests/c_agrees/stacks/children.loom");
}

#[test]
fn the_c_of_conversations_does_what_it_says() {
    agrees("tests/c_agrees/stacks/channels.loom");
}

#[test]
fn the_c_of_listeners_does_what_it_says() {
    agrees("tests/c_agrees/stacks/callers.loom");
}

#[test]
fn the_c_of_listeners_that_end_does_what_it_says() {
    agrees("tests/c_agrees/stacks/letters.loom");
}

#[test]
fn the_c_of_families_does_what_it_says() {
    agrees("tests/c_agrees/stacks/families.loom");
}

#[test]
fn the_c_of_streams_on_paths_that_come_and_go_does_what_it_says() {
    agrees("tests/c_agrees/stacks/nested.loom");
}

#[test]
fn the_c_of_kinds_on_what_comes_and_goes_does_what_it_says() {
    agrees("tests/c_agrees/stacks/kinds.loom");
}

#[test]
fn the_c_of_functions_asked_through_another_multiplexor_does_what_it_says() {
    agrees("tests/c_agrees/stacks/heights.loom");
}

#[test]
fn the_c_of_listeners_below_labels_does_what_it_says() {
    agrees("tests/c_agrees/stacks/extensions.loom");
}

#[test]
fn the_c_of_links_that_go_down_does_what_it_says() {
    agrees("tests/c_agrees/stacks/links.loom");
}

#[test]
fn the_c_of_windows_of_values_does_what_it_says() {
    agrees("tests/c_agrees/stacks/marks.loom");
}

#[test]
fn the_c_of_a_bypass_does_what_it_says() {
    agrees("tests/c_agrees/stacks/numbered.loom");
}

#[test]
fn the_c_of_processes_does_what_it_says() {
    agrees("tests/c_agrees/stacks/watching.loom");
    agrees("tests/c_agrees/stacks/asking_again.loom");
    agrees("tests/c_agrees/stacks/words.loom");
    agrees("tests/c_agrees/stacks/before.loom");
    agrees("tests/c_agrees/stacks/turns.loom");
}

#[test]
fn the_c_of_processes_that_stay_apart_does_what_it_says() {
    let apart = Budget {
        together: 0,
        ..Budget::default()
    };
    for path in [
        "tests/c_agrees/stacks/asking_in_passing.loom",
        "tests/c_agrees/stacks/freeing.loom",
        "tests/c_agrees/stacks/passing.loom",
        "tests/c_agrees/stacks/staying.loom",
        "tests/c_agrees/stacks/taking.loom",
        "tests/c_agrees/stacks/turns.loom",
        "tests/c_agrees/stacks/watching.loom",
    ] {
        let [woven, _] = stacks::budgeted(path, apart);
        compared((path, "apart"), &woven, &WAYS[..1]);
    }
}

#[test]
#[ignore = "long: `make soak` runs it"]
fn the_c_of_tcp_does_what_it_says() {
    agrees("tests/tcp/host.loom");
}

#[test]
fn the_c_of_processes_of_sessions_does_what_it_says() {
    agrees("tests/c_agrees/stacks/meetings.loom");
}

#[test]
fn the_c_of_several_handlers_of_one_event_does_what_it_says() {
    agrees("tests/c_agrees/stacks/several.loom");
}

#[test]
fn the_c_of_what_is_kept_until_the_end_does_what_it_says() {
    agrees("tests/c_agrees/stacks/endings.loom");
}

#[test]
fn the_c_of_ports_on_labels_does_what_it_says() {
    agrees("tests/c_agrees/stacks/offices.loom");
}

#[test]
fn the_c_that_calls_c_does_what_it_says() {
    agrees("tests/c_agrees/stacks/externs.loom");
}

#[test]
fn the_c_that_calls_c_in_all_places_does_what_it_says() {
    agrees("tests/c_agrees/stacks/counted.loom");
}

#[test]
fn the_c_of_applications_that_are_called_does_what_it_says() {
    agrees("tests/c_agrees/stacks/called.loom");
    agrees("tests/c_agrees/stacks/replied.loom");
    agrees("tests/c_agrees/stacks/granted.loom");
    agrees("tests/c_agrees/stacks/granted_ahead.loom");
    agrees("tests/c_agrees/stacks/given_apart.loom");
    agrees("tests/c_agrees/stacks/called_apart.loom");
}

#[test]
fn the_c_of_functions_of_what_comes_and_goes_does_what_it_says() {
    agrees("tests/c_agrees/stacks/asked.loom");
}

#[test]
fn the_c_of_what_is_asked_of_a_key_does_what_it_says() {
    agrees("tests/c_agrees/stacks/keyed.loom");
}

#[test]
fn the_c_of_what_follows_an_answer_does_what_it_says() {
    agrees("tests/c_agrees/stacks/answered.loom");
}

#[test]
fn the_c_of_what_is_asked_once_does_what_it_says() {
    agrees("tests/c_agrees/stacks/latched.loom");
}

#[test]
fn the_c_of_frames_that_are_expected_does_what_it_says() {
    agrees("tests/c_agrees/stacks/predicted.loom");
}

#[test]
fn the_c_of_peers_who_take_turns_does_what_it_says() {
    agrees("tests/c_agrees/stacks/alternating.loom");
}

#[test]
fn the_c_of_any_rewrites_does_what_it_says() {
    let mut fired = Rewrites::NONE;
    for path in SMALL {
        let plain = stacks::rewritten(path, Rewrites::NONE);
        let whole = stacks::rewritten(path, Rewrites::ALL);
        let mut known = BTreeSet::new();
        for set in sets::sets() {
            let built = stacks::rewritten(path, set);
            let (alone, left_out) = (set, Rewrites::ALL.without(set));
            if alone.each().count() == 1 && built.code.c != plain.code.c {
                fired = fired.and(alone);
            }
            if left_out.each().count() == 1 && built.code.c != whole.code.c {
                fired = fired.and(left_out);
            }
            if known.insert(built.code.c.clone()) {
                let how = format!("rewritten {}", known.len());
                println!("{path}, {how}: {set}");
                compared((path, &how), &built, &WAYS[..1]);
            }
        }
    }
    assert_eq!(fired, Rewrites::ALL, "each changes something: {fired}");
}

#[test]
fn a_fault_in_the_c_of_the_radio_is_found() {
    let (right, wrong) = ("sequencer_session[0].last = ", "sequencer[0].next = ");
    is_found("examples/radio/radio.loom", right, wrong);
}

#[test]
fn a_fault_in_the_c_of_listeners_is_found() {
    let (right, wrong) = ("].waiting -= 1;\n", "].waiting -= 0;\n");
    is_found("tests/c_agrees/stacks/letters.loom", right, wrong);
}

#[test]
fn the_c_of_listeners_whose_application_is_called_does_what_it_says() {
    let text = std::fs::read_to_string("tests/c_agrees/stacks/callers.loom");
    let text = text
        .expect("it is there")
        .replace("port calls }", "port calls calls arrived }");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("callers_called.loom");
    std::fs::write(&path, text).expect("there is room");
    agrees(path.to_str().expect("it has a name"));
}

#[test]
fn a_fault_in_what_an_application_tells_while_it_is_called_is_found() {
    let path = "tests/c_agrees/stacks/replied.loom";
    for (right, wrong) in [
        // An application is called before what is under way.
        (
            "stack->shared.calling || stack->waiting",
            "stack->shared.calling || 0",
        ),
        // It is called once more before it has returned.
        ("stack->shared.calling || stack->waiting", "stack->waiting"),
        // What waited is a step of its own.
        (
            "        stack->shared.steps -= 1;\n        last_",
            "        last_",
        ),
    ] {
        is_found(path, right, wrong);
    }
}

#[test]
fn the_c_of_what_is_given_back_and_lets_others_go_does_what_it_says() {
    agrees("tests/c_agrees/stacks/granted_later.loom");
}

#[test]
fn the_c_of_answers_that_begin_alike_does_what_it_says() {
    agrees("tests/c_agrees/stacks/answers_kept.loom");
}

/// A fault in the C of a stack is found.
fn is_found(path: &str, right: &str, wrong: &str) {
    let [woven, _] = stacks::built(path);
    is_found_in(path, woven, right, wrong);
}

/// The same in what a stack was compiled to.
fn is_found_in(path: &str, mut woven: Built, right: &str, wrong: &str) {
    let c = &woven.code.c;
    assert!(
        c.contains(right),
        "there is something to get wrong: {right}"
    );
    woven.code.c = c.replace(right, wrong);
    let found = std::panic::catch_unwind(|| compared((path, FAULT), &woven, &WAYS[..1]));
    let said = found.expect_err(&format!(
        "what is wrong in the C is not found, in place of {right}"
    ));
    let said = said.downcast_ref::<String>().expect("it is told in words");
    assert!(said.contains("SEED="), "it does not even compile: {said}");
}

#[test]
fn the_c_of_messages_that_begin_alike_does_what_it_says() {
    agrees("tests/c_agrees/stacks/begun.loom");
    agrees("tests/c_agrees/stacks/begun_apart.loom");
}

#[test]
fn the_c_of_datagrams_without_sums_does_what_it_says() {
    agrees("tests/c_agrees/stacks/datagrams.loom");
}

#[test]
fn the_c_of_what_is_specialised_does_what_its_trees_do() {
    for path in [
        "examples/host/host.loom",
        "tests/c_agrees/stacks/callers.loom",
        "tests/c_agrees/stacks/endings.loom",
        "tests/c_agrees/stacks/families.loom",
        "tests/c_agrees/stacks/kinds.loom",
        "tests/c_agrees/stacks/meetings.loom",
        "tests/c_agrees/stacks/nested.loom",
        "tests/c_agrees/stacks/segments.loom",
        "tests/tcp/host.loom",
    ] {
        let one = |program: &Program| vec![trace(program, 1000, Limits::default())];
        let built = specialised::specialised(path, &one);
        assert!(!built.cut.is_empty(), "{path}: something is cut");
        compared((path, SPECIALISED), &built, &WAYS[..1]);
    }
}

/// What does not do what the program says, but what its trees do.
const SPECIALISED: &str = "specialised";

/// What is wrong in some place, for which more seeds are tried.
const FAULT: &str = "a fault";

/// What gives its host no buffers.
const ELSEWHERE: &str = "elsewhere";

/// A stack and its C, behind all passes in two ways and behind none in one; in all ways where it is
/// said how many seeds are tried.
fn agrees(path: &str) {
    let [woven, lowered] = stacks::built(path);
    let all = std::env::var("SEEDS").is_ok();
    compared(
        (path, "woven"),
        &woven,
        if all { &WAYS } else { &WAYS[..2] },
    );
    compared(
        (path, "lowered"),
        &lowered,
        if all { &WAYS } else { &WAYS[..1] },
    );
}

/// A stack, its trees, and its C compiled in these ways.
fn compared((path, how): (&str, &str), built: &Built, ways: &[(&str, &str)]) {
    let program = &built.program;
    let compiled = Compiled::new(
        &format!("{path}/{how}"),
        program,
        (&built.module, &built.code),
        ways,
    );
    let mut usual = limits(&built.module);
    let mut seeds = match how {
        FAULT | ELSEWHERE => Vec::from_iter(0..24),
        _ => seeds().collect(),
    };
    if how == ELSEWHERE {
        // Where no buffer is left, frames stay where they stand.
        usual.buffers = run::MANY;
        seeds.retain(|seed| !has_few(*seed));
    }
    let seeds = seeds.into_iter();
    let traces = seeds.map(|seed| (seed, trace(program, seed, usual.clone())));
    let traces = Vec::from_iter(traces);
    if let Some(found) = differing(built, &compiled, &traces, how != SPECIALISED) {
        panic!("{}", found.told(path));
    }
}

/// Whether the stack has few buffers in the trace of a seed.
fn has_few(seed: u64) -> bool {
    seed & 1 != 0
}

/// The trace of a seed: what two ends say to each other, and worse.
fn trace(program: &Program, seed: u64, mut limits: Limits) -> Trace {
    let mut random = Random(seed);
    // Mostly there is enough of all, whatever the stack begins with.
    if seed % 16 != 9 {
        limits.buffers = limits.buffers.max(256);
        limits.reserve = 8;
        limits.outputs = 64;
        limits.events = limits.events.max(256);
    }
    if seed & 3 == 0 {
        limits.buffers = run::MANY;
    }
    if has_few(seed) {
        limits.buffers = limits.reserve + 1 + random.below(12) as u32;
    }
    if seed & 2 != 0 {
        limits.budget = 1 + random.below(6) as u32;
    }
    let trace = traffic::trace(program, seed, LENGTH, limits);
    harder::harder(program, trace, &mut random)
}

fn seeds() -> std::ops::Range<u64> {
    let number = |name: &str| {
        let value = std::env::var(name).ok();
        value.map(|value| value.parse().expect("a seed is a number"))
    };
    let seeds = match (number("SEED"), number("SEEDS")) {
        (Some(seed), count) => seed..seed + count.unwrap_or(1),
        (None, count) => 0..count.unwrap_or(6),
    };
    println!("SEED from {} to before {}", seeds.start, seeds.end);
    seeds
}
