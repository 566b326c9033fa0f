//! Stacks of which something is known of their frames: that they are as long as the last, or that
//! all stand elsewhere than in buffers of the stack, since its host never asks for one.
//!
//! In: stacks with fast paths, of which nothing but that was recorded. Out: the first difference
//! from their trees.

use crate::{ELSEWHERE, WAYS, compared, stacks};
use stackloom::pipeline::Compiled;
use std::path::Path;

/// Stacks whose frames may be expected to be as long as the last.
pub const ALIKE: [&str; 7] = [
    "tests/c_agrees/stacks/predicted.loom",
    "tests/c_agrees/stacks/answers_kept.loom",
    "tests/c_agrees/stacks/begun_apart.loom",
    "tests/c_agrees/stacks/granted.loom",
    "tests/c_agrees/stacks/keyed.loom",
    "tests/c_agrees/stacks/leaving_granted.loom",
    "tests/c_agrees/stacks/nested.loom",
];

/// Those whose fast paths let go of their frames.
const LET_GO: [&str; 3] = [
    "tests/c_agrees/stacks/granted.loom",
    "tests/c_agrees/stacks/leaving_granted.loom",
    "tests/c_agrees/stacks/given_apart.loom",
];

/// One whose fast path keeps them, and one that has none.
const KEEP: [&str; 2] = [
    "tests/c_agrees/stacks/predicted.loom",
    "tests/c_agrees/stacks/passing.loom",
];

#[test]
fn the_c_of_frames_that_are_as_long_as_the_last_does_what_it_says() {
    for path in ALIKE {
        let built = stacks::alike(path);
        let keeps = ["_expected.length", "_expected.left"];
        let is_kept = keeps.iter().all(|one| built.emitted.c.contains(one));
        assert!(is_kept, "{path}: its paths expect a length");
        compared((path, "alike"), &built, &WAYS[..2]);
    }
    // Where there may be one alone, it has no number.
    let text = std::fs::read_to_string("tests/c_agrees/stacks/granted.loom");
    let text = text
        .expect("it is there")
        .replace("many: u32 = 6", "many: u32 = 1");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("granted_one.loom");
    std::fs::write(&path, text).expect("there is room");
    let path = path.to_str().expect("it has a name");
    compared((path, "alike"), &stacks::alike(path), &WAYS[..2]);
}

#[test]
fn the_c_of_frames_that_stand_elsewhere_does_what_it_says() {
    for path in LET_GO.into_iter().chain(KEEP) {
        let built = stacks::elsewhere(path);
        let asks = built.emitted.c.contains("is_lent(stack");
        assert_eq!(
            asks,
            KEEP.contains(&path),
            "{path}: whether it asks where they do"
        );
        compared((path, ELSEWHERE), &built, &WAYS[..2]);
    }
}

#[test]
fn a_fault_in_what_becomes_of_frames_that_stand_elsewhere_is_found() {
    for (right, wrong) in [
        // What leaves its path stays where it stood.
        ("    memcpy(data, frame->data, frame->length);\n", ""),
        // It is counted twice.
        (
            "counters[FRAMES_IN] += 1;\n    return leave(",
            "counters[FRAMES_IN] += 2;\n    return leave(",
        ),
    ] {
        let mut built: Compiled = stacks::elsewhere(LET_GO[1]);
        let c = &built.emitted.c;
        assert!(
            c.contains(right),
            "there is something to get wrong: {right}"
        );
        built.emitted.c = c.replace(right, wrong);
        let found = std::panic::catch_unwind(|| {
            compared(("a frame", ELSEWHERE), &built, &WAYS[..1]);
        });
        let said = found.expect_err("what is wrong is found");
        let said = said.downcast_ref::<String>().expect("it is told in words");
        assert!(said.contains("SEED="), "it does not even compile: {said}");
    }
}
