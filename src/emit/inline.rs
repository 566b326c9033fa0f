//! What a host calls again and again: its compiler finds these functions in the header, and so sees
//! what they do to what the stack shares with its host. The file has them for all others.
//!
//! Where ports call applications, they also ask whether one is being called.

use super::Stack;
use super::assumed;
use super::external;
use super::leaves;
use super::parts;
use super::port::wrapped;

/// Where it is asked whether a step may be taken at once, and where ports call applications.
const CALLING: [(&str, &str); 2] = [
    ("shared->limit) {", "shared->limit || shared->calling) {"),
    (
        "shared->limit || (uintptr_t)shared->free <= shared->bar ||\n        length",
        "shared->limit || shared->calling ||\n        \
         (uintptr_t)shared->free <= shared->bar || length",
    ),
];

/// A frame whose link calls a function is no output that the host asks for.
const NEXT_OTHER: &str = "    DECLARES STACK_next_other
    if (shared->taken->next == UPPER_FRAME) {
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
    let text = declaring(stack, &text, |name| {
        let file = match name {
            NEXT_REST => parts::LEFT,
            _ => parts::INTERFACE,
        };
        head(parts::part(file, name)).to_string()
    });
    format!("inline {}", sized(stack, &text))
}

/// What begins the lines that become declarations.
const DECLARES: &str = "    DECLARES ";

/// The rest of `NAME_next`, where links call functions.
const NEXT_REST: &str = "STACK_next_other";

/// The text with the declarations of the functions that it calls. They stand where only this
/// function sees them, since no host may call them.
pub fn declaring(stack: &Stack, text: &str, head: impl Fn(&str) -> String) -> String {
    let lines = text.split_inclusive('\n').map(|line| {
        let Some(name) = line.strip_prefix(DECLARES) else {
            return line.to_string();
        };
        let head = by_link(stack, &head(name.trim_end()));
        let head = parts::named(&head, &stack.names.stack, "");
        let (result, parameters) = head.split_once('(').expect("a head has parameters");
        let parameters = parameters.trim_end().trim_end_matches(')').split(',');
        let parameters: Vec<&str> = parameters.map(without_name).collect();
        let declared = format!("    {result}({})", parameters.join(", "));
        format!("{};\n", wrapped(&declared))
    });
    by_link(stack, &lines.collect::<String>())
}

/// The type of a parameter.
fn without_name(parameter: &str) -> &str {
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    parameter.trim().trim_end_matches(is_of_name).trim_end()
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
