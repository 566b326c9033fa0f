//! Enums and structs that each header has: outputs, frames, buffers, the beginning of a stack, and
//! the numbers of links, ports and counters.

use super::configuration::{calls_applications, calls_links};
use super::ports::with_members;
use super::values::line;
use crate::back::c::Stack;
use crate::c::tree::{Item, Line};

/// A frame that arrived.
pub fn frame(stack: &Stack<'_>) -> Item {
    Item::Struct {
        comment: "A frame that arrived.".to_string(),
        name: format!("{}_frame", stack.names.stack),
        members: vec![
            line("uint8_t *data", "its first byte; not NULL"),
            line("size_t length", "its length in bytes"),
        ],
    }
}

/// `enum NAME_next`.
pub fn next(stack: &Stack<'_>) -> Item {
    let upper = &stack.names.upper;
    let mut values = vec![
        line(format!("{upper}_IDLE"), "nothing is left to do"),
        line(
            format!("{upper}_FRAME"),
            "transmit `data` on the link `place`",
        ),
        line(
            format!("{upper}_DELIVER"),
            "hand `data` to the application at the port `place`",
        ),
    ];
    let ports = &stack.module.ports;
    if ports.iter().any(|port| port.listens.is_some()) {
        let text = "a peer has opened `session` at the port `place`";
        values.push(line(format!("{upper}_ACCEPTED"), text));
    }
    for (port, names) in ports.iter().zip(&stack.names.ports) {
        if port.calls.is_some() {
            continue;
        }
        for (notice, own) in port.up.iter().zip(&names.next) {
            if !values.iter().any(|value| value.text == *own) {
                let comment = format!("tell the application at `place`: {}", notice.name);
                values.push(line(own, comment));
            }
        }
    }
    Item::Enum {
        comment: "What the host does with an output.".to_string(),
        name: format!("{}_next", stack.names.stack),
        values,
    }
}

/// `enum NAME_send`, if an application sends messages somewhere.
pub fn sending(stack: &Stack<'_>) -> Option<Item> {
    let upper = &stack.names.upper;
    let values = [
        ("SENT", "the stack took the whole message"),
        (
            "LATER",
            "it took nothing: send again when outputs are done and buffers given back",
        ),
        (
            "REFUSED",
            "it dropped the whole message: an UNSENT counter says why",
        ),
    ];
    let values = values.map(|(name, comment)| line(format!("{upper}_{name}"), comment));
    let mut ports = stack.module.ports.iter();
    ports.any(|port| port.sends.is_some()).then(|| Item::Enum {
        comment: "Results of sending.".to_string(),
        name: format!("{}_send", stack.names.stack),
        values: values.to_vec(),
    })
}

/// The numbers of links, ports and counters.
pub fn numbers(stack: &Stack<'_>) -> Vec<Item> {
    let (name, names) = (&stack.names.stack, &stack.names);
    let links = names.links.iter().map(|one| line(&one.constant, ""));
    let ports = names.ports.iter().map(|one| line(&one.constant, ""));
    let counters = names.counted.iter();
    let counters = counters.map(|one| line(&one.constant, &one.text));
    let all = line(format!("{}_COUNTERS", names.upper), "how many there are");
    let by_place = format!(
        "Counters, by their place in the values of {name}_counters. DROPPED counts frames that \
         arrived, UNSENT messages of the stack's own, each by the reason for which they were \
         dropped; COUNT is what layers count."
    );
    let all = [
        ("Links.", "link", links.collect()),
        ("Ports.", "port", ports.collect()),
        (&by_place, "counter", counters.chain([all]).collect()),
    ];
    let all = all.into_iter();
    let all = all.filter(|(_, _, values): &(&str, &str, Vec<Line>)| !values.is_empty());
    let all = all.map(|(comment, of, values)| Item::Enum {
        comment: comment.to_string(),
        name: format!("{name}_{of}"),
        values,
    });
    all.collect()
}

/// `struct NAME_buffer`.
pub fn buffer(stack: &Stack<'_>) -> Item {
    let name = &stack.names.stack;
    let (headroom, room) = (stack.module.headroom, stack.module.memory.room);
    let bytes = match headroom {
        0 => "a frame".to_string(),
        headroom => format!("{headroom} for headers, then a frame"),
    };
    let mut members = vec![line(
        format!("struct {name}_buffer *next"),
        "the next free buffer; itself while it is taken",
    )];
    if stack.gathers() {
        members.extend([
            line("const uint8_t *body", "bytes of the message in a stream"),
            line("uint32_t body_length", "how many there are"),
        ]);
    }
    members.push(line(format!("uint8_t bytes[{}]", headroom + room), bytes));
    Item::Struct {
        comment: "Private: a message buffer.".to_string(),
        name: format!("{name}_buffer"),
        members,
    }
}

/// `struct NAME_output`.
pub fn output(stack: &Stack<'_>) -> Item {
    let name = &stack.names.stack;
    let mut all = vec![
        line(format!("enum {name}_next next"), "what to do"),
        line("unsigned place", "the link or port"),
        line("uint32_t session", "the session at the port"),
        line("const uint8_t *data", "the frame or message"),
        line("size_t length", "its length in bytes"),
        line(format!("struct {name}_buffer *buffer"), "private"),
    ];
    if stack.gathers() {
        // In this order no struct has a gap.
        let length = line(
            "uint32_t body_length",
            "of a frame: how many bytes `body` has",
        );
        all.insert(3, length);
        let body = line(
            "const uint8_t *body",
            "of a frame: what follows behind `data`",
        );
        all.insert(6, body);
    }
    let with = with_members(stack);
    if !with.is_empty() {
        let members = with.iter().map(|one| format!("        {};", one.text));
        let members: Vec<String> = members.collect();
        let union = format!("union {{\n{}\n    }} with", members.join("\n"));
        all.push(line(union, ""));
    }
    let mut comment = "An output, valid until the host gives it back.".to_string();
    if stack.gathers() {
        comment += " The body of a frame is valid only until the next call that is neither next \
                    nor done.";
    }
    Item::Struct {
        comment,
        name: format!("{name}_output"),
        members: all,
    }
}

/// `struct NAME_shared`: the beginning of a stack, which the inline functions of the header read
/// and write.
pub fn shared(stack: &Stack<'_>) -> Item {
    let name = &stack.names.stack;
    let members = [
        (format!("struct {name}_output *taken"), "the next output"),
        (
            format!("struct {name}_output *answered"),
            "behind the last output",
        ),
        (
            format!("struct {name}_output *limit"),
            "before it, the output queue has room for a step and its reply",
        ),
        (
            format!("struct {name}_buffer *free"),
            "the first free buffer, or NULL",
        ),
        (
            "uintptr_t bar".to_string(),
            "the host may take buffers above this address: all, or none to fill the reserve",
        ),
        (
            format!("struct {name}_buffer *sent"),
            "the buffer of the message that is being sent; NULL once it is dropped",
        ),
        (
            "uint32_t steps".to_string(),
            "events that this call has handled",
        ),
    ];
    let mut members = members.map(|(text, comment)| line(text, comment)).to_vec();
    if stack.gathers() {
        let comment = "true if a frame that waits may have a body, which stands in a stream";
        members.push(line("bool borrows", comment));
    }
    let calling = line("bool calling", "true during a callback");
    if calls_applications(stack) && calls_links(stack) {
        let stands = "true if a reply from a template waits for the callback to return";
        members.extend([
            line("bool stands", stands),
            calling,
            line("bool leaves", "true if another reply waits behind it"),
        ]);
    } else if calls_applications(stack) {
        members.push(calling);
    }
    Item::Struct {
        comment: "Private: the beginning of a stack.".to_string(),
        name: format!("{name}_shared"),
        members,
    }
}
