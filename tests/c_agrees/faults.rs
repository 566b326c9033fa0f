//! Faults in the C of fast paths that call applications, or answer, are found.

use super::known::ALIKE;
use super::leaving::{calling, leaving};
use super::{is_found, is_found_in, stacks};

#[test]
fn a_fault_in_what_an_application_gives_back_is_found() {
    let path = "tests/c_agrees/stacks/granted.loom";
    for (right, wrong) in [
        // What it told waits behind what it gives back.
        (" || stack->waiting != 0) {", ") {"),
        // What is given back is not written.
        ("    own->left = left;\n", "    own->left = 0;\n"),
        // The next frame is expected as it was.
        ("own->talk_arrive_expected.more = 0;", ""),
        // What is delivered is counted no more.
        ("        values[DELIVERED] += went(stack);\n", ""),
        // What more it comes to is not done.
        (
            "own, messages)) {\n        return true;",
            "own, messages)) {\n        return false;",
        ),
        (
            "    if (given_back != 0) {\n        granted_talks_grant_delivers(",
            "    if (0) {\n        granted_talks_grant_delivers(",
        ),
    ] {
        is_found(path, right, wrong);
    }
}

#[test]
fn a_fault_in_what_answers_begin_with_is_found() {
    let path = "tests/c_agrees/stacks/answers_kept.loom";
    for (right, wrong) in [
        // A frame that does not go its path is longer than a buffer.
        ("own.length > BUFFER_SIZE - HEADROOM ||\n        (!", "(!"),
        // What an answer begins with is that of nobody.
        (
            "_begins(stack, stack->lower_arrive_last);",
            "_begins(stack, &stack->talk_session[0]);",
        ),
    ] {
        is_found(path, right, wrong);
    }
}

#[test]
fn a_fault_in_what_messages_begin_with_is_found() {
    let path = "tests/c_agrees/stacks/begun.loom";
    for (right, wrong) in [
        // It is that of another length.
        (
            "length + 1 == stack->talk_session",
            "length + 1 <= stack->talk_session",
        ),
        // It is that of a session that has ended.
        (
            "    stack->talk_session[n].talk_send_begun.length = 0;\n    \
             stack->talk_session[n].talk_send_begun.more = 0;\n",
            "",
        ),
        // It may be longer than any that can be sent.
        ("most = smaller32(most, 24 - message.length);", ""),
        // Somebody is not asked for.
        (
            "    if (stack->talk_session[session].peer == 3) {\n        return;\n    }\n    \
             if (message.length > 24)",
            "    if (message.length > 24)",
        ),
        // What is beside a message is not looked at.
        (
            "with == NULL &&\n",
            "(with == NULL || with->hops != 0) &&\n",
        ),
        // The sum is that of the last length.
        (
            "    sl_store_big16(end - 10, 0);\n    sl_store_big16(end - 10, lower_sum(end - 18",
            "    sl_store_big16(end - 10, lower_sum(end - 18",
        ),
        // What may change is not asked again.
        (
            "    if (stack->talk_session[session].paused) {\n        return false;\n    }\n",
            "",
        ),
        // What is done behind all that is asked is not done.
        (
            "    if (stack->talk_session[session].told) {\n        \
             stack->talk_session[session].told = false;\n    }\n    (void)take_sent",
            "    (void)take_sent",
        ),
        (
            "    message.length += 10;\n    stack->talk.next += 1;\n",
            "    message.length += 10;\n",
        ),
    ] {
        is_found(path, right, wrong);
    }
}

#[test]
fn a_common_path_that_takes_more_steps_than_are_left_is_found() {
    let path = "tests/c_agrees/stacks/answered.loom";
    for (right, wrong) in [
        ("config->budget > AHEAD", "config->budget > 0"),
        (
            "stack->shared.steps + AHEAD <= stack->config.budget",
            "stack->shared.steps <= stack->config.budget",
        ),
    ] {
        is_found(path, right, wrong);
    }
}

#[test]
fn a_fault_in_what_leaves_while_an_application_is_called_is_found() {
    for (path, right, wrong) in [
        // What an application sent is not looked at.
        (
            calling("segments"),
            "stack->waiting != 0 || stack->shared.answered != stack->shared.taken) {",
            "stack->waiting != 0) {",
        ),
        // Nor what was called apart.
        (
            "tests/c_agrees/stacks/called_apart.loom".to_string(),
            "stack->waiting != 0 || stack->shared.answered != stack->shared.taken) {",
            "stack->waiting != 0) {",
        ),
        // What is let go by what it gives back overtakes the answer.
        (
            "tests/c_agrees/stacks/leaving_granted.loom".to_string(),
            "    if (given_back != 0) {",
            "    stack->shared.calling = false;\n    if (given_back != 0) {",
        ),
    ] {
        is_found(&path, right, wrong);
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
        // A frame leaves before what is under way.
        ("called", "is_last = stack->waiting == 0 &&", "is_last ="),
        ("replied", "    *first = own;\n", ""),
        // The host asks for it besides.
        ("links", "        stack->shared.answered -= 1;\n", ""),
        // A frame of another link leaves by this.
        ("links", " || one->place != 0", ""),
        // What waits is not looked at.
        (
            "links",
            "        let_leave(stack);\n    }\n    return",
            "    }\n    return",
        ),
    ] {
        is_found(&leaving(name), right, wrong);
    }
}

#[test]
fn a_fault_in_an_answer_that_takes_no_buffer_is_found() {
    let path = "tests/c_agrees/stacks/leaving_granted.loom";
    for (right, wrong) in [
        // What the application told while it was called has changed nothing.
        ("stack->told != told || ", "told == UINT32_MAX || "),
        // An application that is called takes the last one.
        (
            "begin_inside(struct leaving_granted *stack) {\n    take_spare(stack);\n",
            "begin_inside(struct leaving_granted *stack) {\n",
        ),
        // The step that it takes is not counted where more comes of it.
        (
            "        stack->shared.steps += 1;\n        stack->told",
            "        stack->told",
        ),
        // It is not what waits.
        ("HEADROOM - 20,\n", "HEADROOM - 19,\n"),
    ] {
        is_found(path, right, wrong);
    }
}

#[test]
fn a_fault_in_how_long_a_frame_is_expected_to_be_is_found() {
    let path = ALIKE[0];
    for (right, wrong) in [
        // It may be longer.
        ("return frame->length == ", "return frame->length >= "),
        // What is left of it is what was left before.
        (".left = message.length;", ".left = 8;"),
    ] {
        is_found_in(path, stacks::alike(path), right, wrong);
    }
}
