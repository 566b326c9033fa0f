//! What a host calls again and again: its compiler finds these functions in the header, and so sees
//! what they do to what the stack shares with its host. The file has them for all others.
//!
//! Where more is to be done, as where ports call applications, the header only declares them.

use super::Stack;
use super::external;
use super::listen;
use super::parts;
use super::structure;

/// How frames are taken where one may be handed over from inside of an application.
const ALL_AT_ONCE: &str = "    return STACK_input_all(stack, link, frames, count, now_ns);\n";

/// Where the host has taken an output.
const LAST_OF_NEXT: &str = "    return output->next;";

/// What comes before it where some port listens.
const ACCEPTS: &str = "    \
    if (output->next == UPPER_ACCEPTED) {
        STACK_accepted(stack, output);
    }
";

/// What that calls.
const ACCEPTED: &str =
    "void STACK_accepted(struct STACK *stack, const struct STACK_output *output)";

/// What the header says of a function that every stack has.
pub fn said(stack: &Stack, name: &str) -> String {
    let text = parts::part(parts::INLINE, name);
    match is_defined(stack, name) {
        true if name == "STACK_next" && accepts(stack) => {
            let text = text.replace(LAST_OF_NEXT, &format!("{ACCEPTS}{LAST_OF_NEXT}"));
            format!("inline {text}")
        }
        true => format!("inline {}", sized(stack, text)),
        false => format!("{};", head(text)),
    }
}

/// What the header says of a function that is for another of them alone.
pub fn said_beside(stack: &Stack) -> String {
    match accepts(stack) {
        true => format!("/* For the next function alone. */\n{ACCEPTED};\n\n"),
        false => String::new(),
    }
}

fn accepts(stack: &Stack) -> bool {
    !listen::taken(stack).is_empty()
}

/// What stands in the file for all of them.
pub fn kept(stack: &Stack) -> Vec<String> {
    let accepted = format!("{ACCEPTED} {{\n{}}}", listen::taken(stack));
    let names = parts::names(parts::INLINE).filter(|name| *name != "STACK_PORT_send");
    let texts = names.map(|name| {
        let text = parts::part(parts::INLINE, name);
        match (is_defined(stack, name), name) {
            (true, _) => format!("extern inline {};", head(text)),
            (false, "STACK_input") => format!("{} {{\n{ALL_AT_ONCE}}}", head(text)),
            (false, _) => text.to_string(),
        }
    });
    texts.chain(accepts(stack).then_some(accepted)).collect()
}

fn is_defined(stack: &Stack, name: &str) -> bool {
    name != "STACK_input" || !external::calls_applications(stack.program)
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
