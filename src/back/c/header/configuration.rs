//! Settings of a stack: `struct NAME_config`, and the answers of `NAME_check`.

use super::values::{line, members};
use crate::back::c::Stack;
use crate::back::c::names::identifier;
use crate::c::tree::Item;
use crate::ir::interface::Shape;

/// Events that one call handles at most unless its host says otherwise.
pub const BUDGET: u32 = 4096;

/// Returns true if the stack calls a function of whoever uses it, which is given `user`.
pub fn calls_anything(stack: &Stack<'_>) -> bool {
    let mut foreigns = stack.module.foreigns.iter();
    foreigns.any(|one| one.home.is_host()) || calls_applications(stack) || calls_links(stack)
}

/// Returns true if a port calls a function with what comes up.
pub fn calls_applications(stack: &Stack<'_>) -> bool {
    stack.module.ports.iter().any(|port| port.calls.is_some())
}

/// Returns true if a link calls a function with each frame that leaves.
pub fn calls_links(stack: &Stack<'_>) -> bool {
    stack.module.links.iter().any(|link| link.calls.is_some())
}

/// The settings of memory and time that every stack has: name, default, meaning.
pub fn own(stack: &Stack<'_>) -> [(&'static str, u32, &'static str); 5] {
    let memory = &stack.module.memory;
    [
        ("buffers", memory.buffers, "message buffers"),
        (
            "reserve",
            memory.reserve,
            "buffers that only the stack itself may take",
        ),
        ("outputs", memory.outputs, "places in the output queue"),
        ("events", memory.events, "places in the event queue"),
        ("budget", BUDGET, "most events that one call handles"),
    ]
}

/// Outputs and events with which the stack can work at least. Behind a function of whoever uses it
/// two replies may leave, besides the output of the step.
pub fn least(stack: &Stack<'_>) -> [u32; 2] {
    let calls = calls_applications(stack) || calls_links(stack);
    [if calls { 3 } else { 1 }, stack.module.memory.least_events]
}

/// `struct NAME_config`.
pub fn config(stack: &Stack<'_>) -> Item {
    let mut all = Vec::new();
    for given in &stack.module.given {
        let comment = match &given.named.shape {
            Shape::Time => "in nanoseconds",
            _other_shapes => "",
        };
        let name = identifier(&given.named.name);
        all.extend(members(stack, &given.named.shape, &name, comment));
    }
    if calls_anything(stack) {
        all.push(line("void *user", "passed to each callback"));
    }
    all.extend(own(stack).map(|(name, default, comment)| {
        line(
            format!("uint32_t {name}"),
            format!("{comment}; default {default}"),
        )
    }));
    all.push(line(
        "uint64_t hash_seed",
        "a random number, so that peers cannot choose keys that collide",
    ));
    Item::Struct {
        comment: "Settings of a stack.".to_string(),
        name: format!("{}_config", stack.names.stack),
        members: all,
    }
}

/// `enum NAME_refusal`.
pub fn refusal(stack: &Stack<'_>) -> Item {
    let (name, upper) = (&stack.names.stack, &stack.names.upper);
    let [outputs, events] = least(stack);
    let values = [
        ("FITS", "the stack can start".to_string()),
        (
            "FEW_BUFFERS",
            "`buffers` must be greater than `reserve`".to_string(),
        ),
        (
            "FEW_OUTPUTS",
            format!("`outputs` must be at least {outputs}"),
        ),
        ("FEW_EVENTS", format!("`events` must be at least {events}")),
        ("NO_BUDGET", "`budget` must not be zero".to_string()),
        (
            "WRONG_SETTING",
            "a setting is out of the range of its type, or a layer refuses it".to_string(),
        ),
        (
            "LITTLE_MEMORY",
            format!("the memory is smaller than {name}_size says"),
        ),
    ];
    let values = values.map(|(value, comment)| line(format!("{upper}_{value}"), comment));
    Item::Enum {
        comment: format!("Answers of {name}_check."),
        name: format!("{name}_refusal"),
        values: values.to_vec(),
    }
}
