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
use crate::c::printer;
use crate::c::size::Sizes;
use crate::c::tree::{Statement, atom, binary, call};

/// Bytes that alignment takes between the parts of the memory, and before the first.
const GAPS: u64 = 4 * 7 + 15;

/// The bytes that something takes where pointers have 4, and where they have 8.
type Bytes = [u64; 2];

/// Returns the macros of the header, and the assertions of the file, which stand behind its
/// structs. `text` has all structs; none if the size of one is unknown.
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
         ({state} + \\\n     \
         (size_t)(buffers) * (sizeof(struct {name}_buffer) + {message}) + \\\n     \
         (size_t)(outputs) * sizeof(struct {name}_output) + \\\n     \
         (size_t)(events) * {event})\n\n"
    );
    Some((header, assertions(stack)))
}

/// Assertions that hold if the macros have the right numbers.
fn assertions(stack: &Stack<'_>) -> String {
    let (name, upper) = (&stack.names.stack, &stack.names.upper);
    let least = |buffers: &str, events: &str| {
        let given = [buffers, "0", events].map(atom).to_vec();
        call(format!("{upper}_MEMORY_FOR"), given)
    };
    let size = |of: &str| call("sizeof", vec![atom(format!("struct {name}{of}"))]);
    let sum = |one, other| binary("+", one, other);
    let beyond = |more| binary("-", more, least("0", "0"));
    let events = binary("*", atom("4"), size("_event"));
    let places = binary("*", sum(atom("KEPT"), atom("1")), size("_place"));
    let held = [
        (least("0", "0"), sum(sum(size(""), events), places)),
        (beyond(least("0", "1")), sum(size("_event"), size("_place"))),
        (
            beyond(least("1", "0")),
            sum(size("_buffer"), size("_message")),
        ),
    ];
    let held = held.into_iter().map(|(bytes, needed)| {
        let wrong = atom(format!("\"{upper}_MEMORY has a wrong number\""));
        let given = vec![binary(">=", bytes, needed), wrong];
        Statement::Do(call("_Static_assert", given))
    });
    printer::block(&held.collect::<Vec<Statement>>(), 0)
}

/// The number for the machine that compiles it.
fn either([narrow, wide]: Bytes) -> String {
    match narrow == wide {
        true => narrow.to_string(),
        false => format!("(sizeof(void *) > 4 ? {wide} : {narrow})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Module;
    use crate::source::Sources;

    #[test]
    fn a_macro_has_the_bytes_of_the_structs() {
        let mut module = Module {
            name: "beep".to_string(),
            ..Module::default()
        };
        module.memory.buffers = 8;
        let sources = Sources::new();
        let stack = Stack::new(&module, &sources);
        let structs = "struct beep_message { uint8_t *data; };\n\
                       struct beep_event { uint64_t at[2]; };\n\
                       struct beep_place { uint32_t event; };\n\
                       struct beep { uint64_t now_ns; };\n";
        let (header, asserted) = macros(&stack, structs).expect("all sizes are known");
        assert!(header.contains("#define BEEP_MEMORY BEEP_MEMORY_FOR(8, 0, 0)\n"));
        let state = 8 + GAPS + 4 * 16 + 4;
        assert!(header.contains(&format!("({state} + \\\n")));
        assert!(header.contains("(sizeof(struct beep_buffer) + (sizeof(void *) > 4 ? 8 : 4))"));
        assert_eq!(asserted.matches("_Static_assert(").count(), 3);
        assert!(asserted.lines().all(|line| line.len() <= 100), "{asserted}");
        assert_eq!(macros(&stack, ""), None);
    }
}
