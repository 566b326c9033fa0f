//! What a host calls again and again: its compiler finds these functions in the header, and so sees
//! what they do to what the stack shares with its host. The file has them for all others.
//!
//! Where more is to be done, as where ports call applications, the header only declares them.

use super::Stack;
use super::external;
use super::parts;
use super::structure;

/// How frames are taken where one may be handed over from inside of an application.
const ALL_AT_ONCE: &str = "    return STACK_input_all(stack, link, frames, count, now_ns);\n";

/// What the header says of a function that every stack has.
pub fn said(stack: &Stack, name: &str) -> String {
    let text = parts::part(parts::INLINE, name);
    match is_defined(stack, name) {
        true => format!("inline {}", by_link(stack, &sized(stack, text))),
        false => format!("{};", head(text)),
    }
}

/// What stands in the file for all of them.
pub fn kept(stack: &Stack) -> Vec<String> {
    let names = parts::names(parts::INLINE).filter(|name| *name != "STACK_PORT_send");
    let texts = names.map(|name| {
        let text = parts::part(parts::INLINE, name);
        match (is_defined(stack, name), name) {
            (true, _) => format!("extern inline {};", head(text)),
            (false, "STACK_input") => format!("{} {{\n{ALL_AT_ONCE}}}", head(text)),
            (false, _) => text.to_string(),
        }
    });
    texts.collect()
}

fn is_defined(stack: &Stack, name: &str) -> bool {
    name != "STACK_input" || !external::calls_applications(stack.program)
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

/// The header knows sizes by their numbers alone.
pub fn sized(stack: &Stack, text: &str) -> String {
    let (headroom, size) = structure::buffer_sizes(stack.program);
    text.replace("HEADROOM", &headroom.to_string())
        .replace("ROOM", &(size - headroom).to_string())
}
