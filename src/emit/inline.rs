//! What a host calls again and again: its compiler finds these functions in the header, and so sees
//! what they do to what the stack shares with its host. The file has them for all others.
//!
//! Where ports call applications, they also ask whether one is being called.

use super::Stack;
use super::assumed;
use super::external;
use super::leaves;
use super::parts;

/// Where it is asked whether a step may be taken at once, and where ports call applications.
const CALLING: [(&str, &str); 2] = [
    ("shared->limit) {", "shared->limit || shared->calling) {"),
    (
        "shared->limit || (uintptr_t)shared->free <= shared->bar ||\n        length",
        "shared->limit || shared->calling ||\n        \
         (uintptr_t)shared->free <= shared->bar || length",
    ),
];

/// A frame whose link may call a function is none for who asks.
const NEXT_OTHER: &str = "    if (shared->taken->next == UPPER_FRAME) {
        return STACK_next_other(stack, output);
    }
";

/// What gives a host buffers for frames.
const BUFFER: &str = "STACK_buffer";

/// What the header says of a function that every stack has.
pub fn said(stack: &Stack, name: &str) -> String {
    if name == BUFFER && assumed::stand_elsewhere(stack) {
        return format!("{};", head(parts::part(parts::ELSEWHERE, name)));
    }
    let other = match leaves::calls_links(stack.program) {
        true => NEXT_OTHER,
        false => "",
    };
    let text = parts::part(parts::INLINE, name).replace("    NEXT_OTHER\n", other);
    format!("inline {}", by_link(stack, &sized(stack, &text)))
}

/// What stands in the file for all of them.
pub fn kept(stack: &Stack) -> Vec<String> {
    let is_kept = |name: &&str| {
        let is_other = *name == BUFFER && assumed::stand_elsewhere(stack);
        *name != "STACK_PORT_send" && !is_other
    };
    let names = parts::names(parts::INLINE).filter(is_kept);
    let texts = names.map(|name| {
        let text = parts::part(parts::INLINE, name);
        format!("extern inline {};", head(text))
    });
    texts.collect()
}

fn head(text: &str) -> &str {
    text.split_once(" {\n").expect("a function has a body").0
}

/// A link is not handed on where there is only one.
pub fn by_link(stack: &Stack, text: &str) -> String {
    let [given, handed, other, only, number] = match stack.program.links.len() {
        1 => ["", "", "link != 0 || ", "link == 0 && ", "0"],
        _ => ["unsigned link, ", "link, ", "", "", "link"],
    };
    text.replace("LINK_GIVEN ", given)
        .replace("LINK_HANDED ", handed)
        .replace("LINK_OTHER ", other)
        .replace("LINK_ONLY ", only)
        .replace("LINK_NUMBER", number)
}

/// The header knows sizes by their numbers alone, and asks whether an application is being called
/// where that may be.
pub fn sized(stack: &Stack, text: &str) -> String {
    let memory = stack.memory();
    let mut text = text.to_string();
    if external::calls_applications(stack.program) {
        for (asked, calling) in CALLING {
            text = text.replace(asked, calling);
        }
    }
    text.replace("HEADROOM", &memory.headroom.to_string())
        .replace("ROOM", &memory.room.to_string())
}
