//! `NAME_MEMORY`: the text of a stack in C comes in; macros by which a host reserves memory, and
//! assertions that they are right, go out.
//!
//! ```text
//! static uint8_t memory[BEEP_MEMORY];                     for the default configuration
//! static uint8_t memory[BEEP_MEMORY_FOR(2, 2, 2)];        for two buffers, outputs and events
//! ```
//!
//! The header does not show the struct of a stack, so the macros have its size as a number. A stack
//! with a record that only C knows has no such macros.

use crate::back::c::Stack;
use crate::c::size::Sizes;

/// Bytes that alignment takes between the parts of the memory, and before the first.
const GAPS: u64 = 4 * 7 + 15;

/// The bytes that something takes where pointers have 4, and where they have 8.
type Bytes = [u64; 2];

/// The macros of the header and the assertions of the file, of which `text` has all structs; none
/// where a size is unknown.
pub fn macros(stack: &Stack<'_>, text: &str) -> Option<(String, String)> {
    let (name, upper) = (&stack.names.stack, &stack.names.upper);
    let sizes = [4, 8].map(|pointer| Sizes::of(text, pointer));
    let bytes = |of: &str| -> Option<Bytes> {
        let of = format!("{name}{of}");
        Some([sizes[0].bytes(&of)?, sizes[1].bytes(&of)?])
    };
    let (whole, event, place) = (bytes("")?, bytes("_event")?, bytes("_place")?);
    let memory = &stack.module.memory;
    let places = u64::from(memory.kept) + 1;
    let state = [0, 1].map(|at| whole[at] + GAPS + 4 * event[at] + places * place[at]);
    let state = either(state);
    let message = either(bytes("_message")?);
    let event = either([0, 1].map(|at| event[at] + place[at]));
    let (buffers, outputs, events) = (memory.buffers, memory.outputs, memory.events);
    let header = format!(
        "/* Bytes of memory for a stack with the default configuration, and for one with other \
         numbers of\n * buffers, outputs and events: `static uint8_t memory[{upper}_MEMORY];`. */\n\
         #define {upper}_MEMORY {upper}_MEMORY_FOR({buffers}, {outputs}, {events})\n\
         #define {upper}_MEMORY_FOR(buffers, outputs, events) \\\n    \
         ({state} + \\\n     (size_t)(buffers) * (sizeof(struct {name}_buffer) + {message}) + \\\n     \
         (size_t)(outputs) * sizeof(struct {name}_output) + \\\n     \
         (size_t)(events) * {event})\n\n"
    );
    Some((header, assertions(stack)))
}

/// Assertions that hold if the macros have the right numbers.
fn assertions(stack: &Stack<'_>) -> String {
    let (name, upper) = (&stack.names.stack, &stack.names.upper);
    let all = [
        format!(
            "{upper}_MEMORY_FOR(0, 0, 0) >= sizeof(struct {name}) + 4 * sizeof(struct \
             {name}_event) + (KEPT + 1) * sizeof(struct {name}_place)"
        ),
        format!(
            "{upper}_MEMORY_FOR(0, 0, 1) - {upper}_MEMORY_FOR(0, 0, 0) >= sizeof(struct \
             {name}_event) + sizeof(struct {name}_place)"
        ),
        format!(
            "{upper}_MEMORY_FOR(1, 0, 0) - {upper}_MEMORY_FOR(0, 0, 0) >= sizeof(struct \
             {name}_buffer) + sizeof(struct {name}_message)"
        ),
    ];
    let all = all.into_iter();
    let all = all.map(|one| {
        format!("_Static_assert({one},\n               \"{upper}_MEMORY has a wrong number\");\n")
    });
    format!("\n{}", all.collect::<String>())
}

/// The number for the machine that compiles it.
fn either([narrow, wide]: Bytes) -> String {
    match narrow == wide {
        true => narrow.to_string(),
        false => format!("(sizeof(void *) > 4 ? {wide} : {narrow})"),
    }
}
