//! Constants of a generated file: a module comes in, enums go out.

use super::build::line;
use crate::back::c::Stack;
use crate::c::tree::{Item, Line};
use crate::ir::{Module, Stored, Type};

/// The enums.
pub fn items(stack: &Stack<'_>) -> Vec<Item> {
    let mut all = vec![of_sizes(stack), reasons(stack), counts(stack), counters()];
    all.extend(timers(stack));
    all
}

/// The constant of the first timer of a kind.
pub fn first_timer(kind: &str) -> String {
    format!("{}_TIMERS", kind.to_uppercase())
}

/// Applications or links of a stack are called.
pub fn calls(module: &Module) -> bool {
    let mut ports = module.ports.iter();
    ports.any(|port| port.calls.is_some()) || module.links.iter().any(|link| link.calls.is_some())
}

fn unnamed(comment: &str, values: Vec<Line>) -> Item {
    Item::Enum {
        comment: comment.to_string(),
        name: String::new(),
        values,
    }
}

/// Behind an application that is called two frames may leave, besides the output of the step.
fn of_sizes(stack: &Stack<'_>) -> Item {
    let module = stack.module;
    let memory = &module.memory;
    let fewest = if calls(module) { 3 } else { 1 };
    let values = [
        (
            "HEADROOM",
            module.headroom,
            "bytes before a frame, for headers",
        ),
        (
            "BUFFER_SIZE",
            module.headroom + memory.room,
            "of one message, with its headroom",
        ),
        (
            "KEPT",
            memory.kept,
            "places on the agenda for starts and ends of instances",
        ),
        (
            "HOLDS",
            u32::from(holds(module)),
            "1 if messages wait in containers",
        ),
        (
            "AHEAD",
            stack.ahead() as u32,
            "events and outputs that a frame may cause on its hot path",
        ),
        ("LINKS", module.links.len() as u32, "links"),
        ("FEWEST_OUTPUTS", fewest, "places for outputs"),
        ("FEWEST_EVENTS", memory.least_events, "places for events"),
    ];
    let values = values.map(|(name, value, comment)| line(&format!("{name} = {value}"), comment));
    unnamed("", values.to_vec())
}

fn reasons(stack: &Stack<'_>) -> Item {
    let own = [
        "STACK_TOO_LONG",
        "STACK_NO_SESSION",
        "STACK_AGENDA_FULL",
        "REASONS",
    ];
    let names = stack.names.reasons.iter().map(String::as_str).chain(own);
    unnamed(
        "Why messages are dropped.",
        names.map(|name| line(name, "")).collect(),
    )
}

fn counts(stack: &Stack<'_>) -> Item {
    let names = stack.names.counters.iter().map(String::as_str);
    let cut = stack.gives_no_buffers().then_some("STACK_CUT_BUFFER");
    let names = names.chain(cut).chain(["COUNTS"]);
    unnamed(
        "What else is counted.",
        names.map(|name| line(name, "")).collect(),
    )
}

fn counters() -> Item {
    let values = [
        ("FRAMES_IN", "frames that came in"),
        ("FRAMES_OUT", "frames that left"),
        ("DELIVERED", "those that came in and went to an application"),
        ("CONSUMED", "those that came in and have done their duty"),
        ("MERGED", "those that came in and became part of another"),
        ("HELD", "those that came in and wait in a container"),
        ("DROPPED", "those that came in and were dropped, by reason"),
        (
            "UNSENT = DROPPED + REASONS",
            "our own that were dropped, by reason",
        ),
        ("COUNTED = UNSENT + REASONS", "what else is counted"),
        ("COUNTERS = COUNTED + COUNTS", ""),
    ];
    let values = values.map(|(text, comment)| line(text, comment));
    unnamed("Where the counters stand.", values.to_vec())
}

/// Timers are numbered kind by kind, instance by instance.
fn timers(stack: &Stack<'_>) -> Option<Item> {
    let mut first = 0;
    let mut values = Vec::new();
    for (kind, names) in stack.module.kinds.iter().zip(&stack.names.kinds) {
        if !kind.timers.is_empty() {
            let name = first_timer(&names.name);
            values.push(line(&format!("{name} = {first}"), ""));
            first += kind.capacity * kind.timers.len() as u32;
        }
    }
    let comment = "The first timer of each kind of instances.";
    (!values.is_empty()).then(|| unnamed(comment, values))
}

/// Messages wait in queues or windows, by the numbers of their buffers.
pub fn holds(module: &Module) -> bool {
    let mut fields = module.kinds.iter().flat_map(|kind| &kind.fields);
    fields.any(|field| match &field.stored {
        Stored::Queue(item, _) | Stored::Window(item, ..) => item.contains(&Type::Message),
        Stored::Value(_) | Stored::Stream(..) | Stored::Set(_) | Stored::Foreign(_) => false,
    })
}
