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
use crate::back::c::host::agenda::has_agenda;
use crate::back::c::host::constant::holds;
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
    let memory = &stack.module.memory;
    let places = u64::from(memory.kept) + 1;
    let mut state = bytes("")?.map(|whole| whole + GAPS);
    let mut waiting = String::new();
    if has_agenda(stack) {
        let (event, place) = (bytes("_event")?, bytes("_place")?);
        state = [0, 1].map(|at| state[at] + 4 * event[at] + places * place[at]);
        let event = either([0, 1].map(|at| event[at] + place[at]));
        waiting = format!(" + \\\n     (size_t)(events) * {event}");
    }
    let state = either(state);
    let mut buffer = format!("sizeof(struct {name}_buffer)");
    if holds(stack.module) {
        buffer += &format!(" + {}", either(bytes("_message")?));
    }
    let (buffers, outputs, events) = (memory.buffers, memory.outputs, memory.events);
    let header = format!(
        "/* Bytes of memory for a stack with the default configuration, and for one with other \
         numbers of\n * buffers, outputs and events: `static uint8_t memory[{upper}_MEMORY];`. */\n\
         #define {upper}_MEMORY {upper}_MEMORY_FOR({buffers}, {outputs}, {events})\n\
         #define {upper}_MEMORY_FOR(buffers, outputs, events) \\\n    \
         ({state} + \\\n     \
         (size_t)(buffers) * ({buffer}) + \\\n     \
         (size_t)(outputs) * sizeof(struct {name}_output){waiting})\n\n"
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
    let mut whole = size("");
    let mut buffer = size("_buffer");
    let mut event = None;
    if has_agenda(stack) {
        let events = binary("*", atom("4"), size("_event"));
        let places = binary("*", sum(atom("KEPT"), atom("1")), size("_place"));
        whole = sum(sum(whole, events), places);
        event = Some(sum(size("_event"), size("_place")));
    }
    if holds(stack.module) {
        buffer = sum(buffer, size("_message"));
    }
    let event = event.map(|event| (beyond(least("0", "1")), event));
    let held = [(least("0", "0"), whole)].into_iter().chain(event);
    let held = held.chain([(beyond(least("1", "0")), buffer)]);
    let held = held.map(|(bytes, needed)| {
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
    use crate::ir::text::read;
    use crate::source::Sources;

    const STRUCTS: &str = "struct beep_message { uint8_t *data; };\n\
                           struct beep_event { uint64_t at[2]; };\n\
                           struct beep_place { uint32_t event; };\n\
                           struct beep { uint64_t now_ns; };\n";

    const WAITING: &str = "
stack beep

event fn late() of tick {
b0:
  return
}

event fn tick() of tick {
b0:
  queue.back late()
  return
}
";

    fn written(module: &Module) -> (String, String) {
        let sources = Sources::new();
        let stack = Stack::new(module, &sources);
        assert_eq!(macros(&stack, ""), None);
        let (header, asserted) = macros(&stack, STRUCTS).expect("all sizes are known");
        assert!(asserted.lines().all(|line| line.len() <= 100), "{asserted}");
        (header, asserted)
    }

    #[test]
    fn a_macro_has_the_bytes_of_the_structs() {
        let mut module = read(WAITING).expect("the text is a module");
        module.memory.buffers = 8;
        let (header, asserted) = written(&module);
        assert!(header.contains("#define BEEP_MEMORY BEEP_MEMORY_FOR(8, 0, 0)\n"));
        let state = 8 + GAPS + 4 * 16 + 4;
        assert!(header.contains(&format!("({state} + \\\n")), "{header}");
        assert!(
            header.contains("(size_t)(buffers) * (sizeof(struct beep_buffer)) + "),
            "no message is held: {header}"
        );
        assert!(header.contains("(size_t)(events) * 20)\n"), "{header}");
        assert_eq!(asserted.matches("_Static_assert(").count(), 3);
    }

    #[test]
    fn a_stack_without_an_agenda_has_no_memory_for_events() {
        let module = Module {
            name: "beep".to_string(),
            ..Module::default()
        };
        let (header, asserted) = written(&module);
        assert!(
            header.contains(&format!("({} + \\\n", 8 + GAPS)),
            "{header}"
        );
        assert!(!header.contains("(events)"), "no event waits: {header}");
        assert_eq!(asserted.matches("_Static_assert(").count(), 2);
    }
}
