//! Faults in the C of every stack, and in that of fast paths, are found: steps and outputs that are
//! counted, callbacks of applications and of links, and what frames are expected to be.

use super::leaving::{calling, leaving};
use super::unguarded::without_guards;
use super::{is_found, is_found_in, stacks};
use stackloom::back::c::{Variant, print};

#[test]
fn a_fault_in_what_an_application_gives_back_is_found() {
    let path = "tests/c_agrees/stacks/granted.loom";
    for (right, wrong) in [
        // The counter of delivered frames stays.
        ("    stack->counters[DELIVERED] += message.came_in;\n", ""),
        // The stack ignores the number that the application returns.
        ("    if (granted != 0) {\n", "    if (0) {\n"),
    ] {
        is_found(path, right, wrong);
    }
}

#[test]
fn a_fault_in_what_is_granted_on_the_hot_path_is_found() {
    let path = "tests/c_agrees/stacks/granted_ahead.loom";
    let tries = "!talk_session_grant_delivers_fast(stack, session, granted)";
    for (right, wrong) in [
        // The grant overtakes the calls that the application has made.
        (format!("stack->waiting != 0 || {tries}"), tries),
        // The grant is lost if its fast function leaves.
        (format!("if (stack->waiting != 0 || {tries})"), "if (0)"),
    ] {
        is_found(path, &right, wrong);
    }
}

#[test]
fn a_step_without_room_for_its_output_is_found() {
    let path = "tests/c_agrees/stacks/replied.loom";
    let (right, wrong) = (
        " + steps * sizeof *stack->answers < stack->room",
        " < stack->room",
    );
    is_found(path, right, wrong);
}

#[test]
fn a_fast_path_that_asks_nothing_is_found() {
    for name in ["answered", "datagrams", "predicted", "granted"] {
        let path = format!("tests/c_agrees/stacks/{name}.loom");
        let [mut woven, _] = stacks::built(&path);
        without_guards(&mut woven.module);
        let checked = stacks::read(&path);
        woven.code = print(&woven.module, &checked.sources, Variant::Plain);
        is_found_in(&path, woven, "", "");
    }
}

#[test]
fn a_fault_in_what_leaves_by_a_link_that_calls_is_found() {
    for (name, right, wrong) in [
        // What the function of a link sends comes before what waits.
        (
            "called",
            "        stack->shared.limit = stack->answers;\n",
            "",
        ),
        // The host asks for it besides.
        ("links", "        stack->shared.answered -= 1;\n", ""),
        ("links", "    stack->shared.answered = one;\n", ""),
        // A frame of another link leaves by this.
        (
            "links",
            "|| !is_called(output->place)",
            "|| (!is_called(output->place) && false)",
        ),
        // Only the first of several leaves.
        ("links", "one + 1 != stack->shared.answered || ", ""),
    ] {
        is_found(&leaving(name), right, wrong);
    }
    // The buffer of what left is lost.
    let right = "    give_buffer(stack, one->buffer);\n";
    is_found(&calling("segments"), right, "");
}

#[test]
fn a_fault_in_a_frame_that_leaves_in_two_parts_is_found() {
    for (right, wrong) in [
        // A frame waits while its body leaves the stream, and others come there.
        (
            "    settle(stack);\n    const uint32_t freed",
            "    const uint32_t freed",
        ),
        // Its body is another one.
        ("bytes + start;\n", "bytes;\n"),
        ("one->body_length = 0;\n", ""),
        ("one->length += one->body_length;\n", ""),
        // A body that is copied stands nowhere.
        ("message->buffer->body = message->data;\n", ""),
        // A body that is copied is handed over, too.
        (
            "message->buffer->body_length = 0;\n",
            "message->buffer->body_length = 1;\n",
        ),
        (
            "arc_before_end(capacity, start, run) != run",
            "arc_before_end(capacity, start, run) < 1",
        ),
    ] {
        is_found("tests/c_agrees/stacks/gathered.loom", right, wrong);
    }
}

#[test]
fn a_fault_in_what_is_expected_of_frames_is_found() {
    for (name, right, wrong) in [
        ("predicted", ".valid = false;\n", ".valid = true;\n"),
        ("alternating", ".valid = false;\n", ".valid = true;\n"),
        // The session of another peer is recalled.
        (
            "alternating",
            "call_expected.valid &&",
            "call_expected.valid ||",
        ),
        ("answers_kept", ".valid = false;\n", ".valid = true;\n"),
    ] {
        is_found(&format!("tests/c_agrees/stacks/{name}.loom"), right, wrong);
    }
}
