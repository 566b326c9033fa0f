//! What a host calls again and again: its compiler finds these functions in the header, and so sees
//! what they do to what the stack shares with its host. The file has them for all others.
//!
//! Where more is to be done, as where ports call applications, the header only declares them.

use super::Stack;
use super::external;
use super::listen;
use super::parts;
use super::structure;

/// What the functions in the header call where more is to be done.
const WAITS: [&str; 2] = ["STACK_ready", "STACK_goes_on"];

/// Where the host has taken an output.
const LAST_OF_NEXT: &str = "    return output->next;";

/// What the header says of a function that every stack has.
pub fn said(stack: &Stack, name: &str) -> String {
    let text = parts::part(parts::INLINE, name);
    match is_defined(stack, name) {
        true => format!("inline {}", sized(stack, text)),
        false => format!("{};", head(text)),
    }
}

/// What stands in the file for all of them.
pub fn kept(stack: &Stack) -> Vec<String> {
    let taken = listen::taken(stack);
    let calling = external::calls_applications(stack.program);
    let names = parts::names(parts::INLINE)
        .filter(|name| *name != "STACK_PORT_send" && !(calling && WAITS.contains(name)));
    let texts = names.map(|name| {
        let text = parts::part(parts::INLINE, name);
        match (is_defined(stack, name), name) {
            (true, _) => format!("extern inline {};", head(text)),
            (false, "STACK_input") => parts::part(parts::CALLS, name).to_string(),
            (false, _) => text.replace(LAST_OF_NEXT, &format!("{taken}{LAST_OF_NEXT}")),
        }
    });
    texts.collect()
}

fn is_defined(stack: &Stack, name: &str) -> bool {
    match name {
        "STACK_input" => !external::calls_applications(stack.program),
        "STACK_next" => listen::taken(stack).is_empty(),
        name if WAITS.contains(&name) => false,
        _ => true,
    }
}

fn head(text: &str) -> &str {
    text.split_once(" {\n").expect("a function has a body").0
}

/// The header knows sizes by their numbers alone.
pub fn sized(stack: &Stack, text: &str) -> String {
    let (headroom, size) = structure::buffer_sizes(stack.program);
    text.replace("HEADROOM", &headroom.to_string())
        .replace("ROOM", &(size - headroom).to_string())
}
