//! `NAME_MEMORY`: the text of a stack in C comes in; macros by which a host reserves memory, and
//! assertions that they are right, go out.
//!
//! ```text
//! static uint8_t memory[BEEP_MEMORY];                     for the default configuration
//! static uint8_t memory[BEEP_MEMORY_FOR(2, 2, 2)];        for two buffers, outputs and events
//! ```
//!
//! The header does not show the struct of a stack, so the macros have its size as a number. A stack
//! with a type that only C knows has no such macros.

use super::kept;
use crate::c::size::Sizes;
use crate::emit::Stack;
use crate::emit::output::Queued;
use std::collections::BTreeSet;

/// Bytes that alignment takes between the parts of the memory, and before the first.
const GAPS: u64 = 4 * 7 + 15;

/// What a stack takes where pointers have 4, and 8 bytes.
struct Taken {
    /// Its state, and what is there besides the settings.
    state: [u64; 2],
    /// Beside each buffer.
    message: [u64; 2],
    /// Each event.
    event: [u64; 2],
}

/// Returns the macros of the header and the assertions of the file; none where a size is unknown.
pub fn macros(stack: &Stack, queued: &BTreeSet<Queued>, text: &str) -> Option<(String, String)> {
    let taken = taken(stack, queued, text)?;
    let memory = stack.memory();
    let (buffers, outputs, events) = (memory.buffers, memory.outputs, memory.events);
    let state = either(taken.state);
    let message = (super::holds(stack)).then(|| format!(" + {}", either(taken.message)));
    let message = message.unwrap_or_default();
    let event = (!queued.is_empty()).then(|| either(taken.event));
    let event = event.map(|bytes| format!(" + \\\n     (size_t)(events) * {bytes}"));
    let event = event.unwrap_or_default();
    let header = format!(
        "/* Bytes of memory for a stack with the default configuration, and for one with other \
         numbers of\n * buffers, outputs and events: `static uint8_t memory[UPPER_MEMORY];`. */\n\
         #define UPPER_MEMORY UPPER_MEMORY_FOR({buffers}, {outputs}, {events})\n\
         #define UPPER_MEMORY_FOR(buffers, outputs, events) \\\n    \
         ({state} + \\\n     (size_t)(buffers) * (sizeof(struct STACK_buffer){message}) + \\\n     \
         (size_t)(outputs) * sizeof(struct STACK_output){event})\n\n"
    );
    let mut held = vec![format!(
        "UPPER_MEMORY_FOR(0, 0, 0) >= sizeof(struct STACK){}",
        match queued.is_empty() {
            true => "",
            false => " + 4 * sizeof(struct STACK_event) + (KEPT + 1) * sizeof(struct STACK_place)",
        }
    )];
    if !queued.is_empty() {
        held.push(
            "UPPER_MEMORY_FOR(0, 0, 1) - UPPER_MEMORY_FOR(0, 0, 0) >= sizeof(struct STACK_event) + \
             sizeof(struct STACK_place)"
                .to_string(),
        );
    }
    if super::holds(stack) {
        held.push(
            "UPPER_MEMORY_FOR(1, 0, 0) - UPPER_MEMORY_FOR(0, 0, 0) >= \
             sizeof(struct STACK_buffer) + sizeof(struct STACK_message)"
                .to_string(),
        );
    }
    let asserted = held.into_iter().map(|one| {
        let what = "\"UPPER_MEMORY has a wrong number\"";
        format!("_Static_assert({one},\n               {what});\n")
    });
    let asserted = format!("\n{}", asserted.collect::<String>());
    let named = |text: &str| crate::emit::parts::named(text, &stack.names.stack, "");
    Some((named(&header), named(&asserted)))
}

fn taken(stack: &Stack, queued: &BTreeSet<Queued>, text: &str) -> Option<Taken> {
    let name = &stack.names.stack;
    let places = u64::from(kept(stack.program, queued)) + 1;
    let mut taken = Taken {
        state: [0; 2],
        message: [0; 2],
        event: [0; 2],
    };
    for (at, pointer) in [4, 8].into_iter().enumerate() {
        let sizes = Sizes::of(text, pointer);
        let bytes = |of: &str| sizes.bytes(&format!("{name}{of}"));
        taken.state[at] = bytes("")? + GAPS;
        if !queued.is_empty() {
            let (event, place) = (bytes("_event")?, bytes("_place")?);
            taken.state[at] += 4 * event + places * place;
            taken.event[at] = event + place;
        }
        if super::holds(stack) {
            taken.message[at] = bytes("_message")?;
        }
    }
    Some(taken)
}

/// The number for the machine that compiles it.
fn either([narrow, wide]: [u64; 2]) -> String {
    match narrow == wide {
        true => narrow.to_string(),
        false => format!("(sizeof(void *) > 4 ? {wide} : {narrow})"),
    }
}
