//! Functions that a header defines, since hosts call them most often: so the compiler of a host
//! sees what they do to the beginning of the stack. Functions of `NAME.c` that they call
//! are declared inside them, since no host may call these.

use super::configuration::{calls_applications, calls_links};
use super::head::Head;
use super::ports::{Offered, heads};
use super::silent::is_silent;
use crate::back::c::Stack;
use crate::c::printer;
use crate::ir::interface::Port;

/// `NAME_buffer`; only its declaration where it gives no buffers.
pub fn buffer(stack: &Stack<'_>) -> String {
    if stack.gives_no_buffers() {
        return printer::file(&[of_buffer(stack).prototype()]);
    }
    let name = &stack.names.stack;
    let rest = has_buffer(stack);
    let (headroom, room) = (stack.module.headroom, stack.module.memory.room);
    format!(
        "{} {{\n{}{}    \
         if ((uintptr_t)shared->free <= shared->bar && !{}(stack)) {{\n        \
         *room = 0;\n        return NULL;\n    }}\n    \
         struct {name}_buffer *const buffer = shared->free;\n    \
         shared->free = buffer->next;\n    buffer->next = buffer;\n    *room = {room};\n    \
         return buffer->bytes + {headroom};\n}}\n",
        of_buffer(stack).inline(),
        rest.within(),
        shared(stack, 1),
        rest.name,
    )
}

/// `NAME_input`.
pub fn input(stack: &Stack<'_>) -> String {
    let [all, one] = [input_all(stack), take(stack)];
    let [other, link] = match stack.module.links.len() {
        1 => ["link != 0 || ", ""],
        _several => ["", "link, "],
    };
    let calling = match calls_applications(stack) {
        true => " || shared->calling",
        false => "",
    };
    format!(
        "{} {{\n{}{}{}    \
         if ({other}count != 1 || shared->answered >= shared->limit{calling}) {{\n        \
         return {}(stack, link, frames, count, now_ns);\n    }}\n    \
         shared->steps = 1;\n    return {}(stack, {link}frames, now_ns);\n}}\n",
        of_input(stack).inline(),
        all.within(),
        one.within(),
        shared(stack, 1),
        all.name,
        one.name,
    )
}

/// `NAME_next`.
pub fn next(stack: &Stack<'_>) -> String {
    let (name, upper) = (&stack.names.stack, &stack.names.upper);
    let rest = next_other(stack);
    let tests = other_outputs(stack).into_iter();
    let tests = tests.map(|kind| format!("shared->taken->next == {upper}_{kind}"));
    let tests: Vec<String> = tests.collect();
    let other = match tests.is_empty() {
        false => format!(
            "{}    if ({}) {{\n        return {}(stack, output);\n    }}\n",
            rest.within(),
            tests.join(" || "),
            rest.name
        ),
        true => String::new(),
    };
    let head = Head {
        name: format!("{name}_next"),
        ..rest
    };
    format!(
        "{} {{\n{}    if (shared->taken == shared->answered) {{\n        return {upper}_IDLE;\n    \
         }}\n{other}    *output = *shared->taken;\n    shared->taken += 1;\n    \
         return output->next;\n}}\n",
        head.inline(),
        shared(stack, 1),
    )
}

/// `NAME_done`.
pub fn done(stack: &Stack<'_>) -> String {
    format!(
        "{} {{\n    if (output->buffer != NULL) {{\n{}        \
         output->buffer->next = shared->free;\n        \
         shared->free = output->buffer;\n    }}\n}}\n",
        of_done(stack).inline(),
        shared(stack, 2),
    )
}

/// `NAME_PORT_send`.
pub fn send(stack: &Stack<'_>, port: &Port) -> Option<String> {
    let name = &stack.names.stack;
    let [from, later] = sends(stack, port)?;
    let all = heads(stack, port).into_iter();
    let (_, head) = all
        .into_iter()
        .find(|(offered, _)| *offered == Offered::Send)?;
    let longest = format!("length > {}", port.longest);
    let bar = "(uintptr_t)shared->free <= shared->bar ||";
    let asked = match calls_applications(stack) {
        true => format!("shared->calling ||\n        {bar} {longest}"),
        false => format!("{bar}\n        {longest}"),
    };
    // No step is counted where nobody asks how many there were.
    let counted = match is_silent(stack, port) && !calls_links(stack) {
        true => "",
        false => "    shared->steps = 1;\n",
    };
    let (copied, data) = match port.is_copied {
        true => (String::new(), "data, "),
        false => {
            let headroom = stack.module.headroom;
            let copied = format!(
                "    struct {name}_buffer *const next = shared->free;\n    \
                 if (length != 0) {{\n        \
                 memcpy(next->bytes + {headroom}, data, length);\n    }}\n"
            );
            (copied, "")
        }
    };
    Some(format!(
        "{} {{\n{}{}{}    if (shared->answered >= shared->limit || {asked}) {{\n        \
         return {}(stack, session, with, data, length, now_ns);\n    }}\n{counted}{copied}    \
         return {}(stack, session, with, {data}length, now_ns);\n}}\n",
        head.inline(),
        later.within(),
        from.within(),
        shared(stack, 1),
        later.name,
        from.name,
    ))
}

/// `NAME_PORT_send_from` and `NAME_PORT_send_later`: a message sets out from the buffer that is
/// taken next, or from where its bytes are if these are only copied; and a message for which
/// something has to be done before.
pub fn sends(stack: &Stack<'_>, port: &Port) -> Option<[Head; 2]> {
    let mut all = heads(stack, port).into_iter();
    let (_, head) = all.find(|(offered, _)| *offered == Offered::Send)?;
    let mut from = Head {
        name: format!("{}_from", head.name),
        ..head.clone()
    };
    if !port.is_copied {
        let data = head.parameters.len() - 3;
        from.parameters.remove(data);
    }
    let later = Head {
        name: format!("{}_later", head.name),
        ..head
    };
    Some([from, later])
}

/// The declaration of the beginning of a stack in a body.
fn shared(stack: &Stack<'_>, depth: usize) -> String {
    let name = &stack.names.stack;
    let indent = "    ".repeat(depth);
    format!("{indent}struct {name}_shared *const shared = (struct {name}_shared *)stack;\n")
}

fn of_stack(stack: &Stack<'_>, result: &str, end: &str, given: &[&str]) -> Head {
    let name = &stack.names.stack;
    let given = given.iter().map(|one| one.to_string());
    let own = format!("struct {name} *stack");
    Head {
        comment: String::new(),
        result: result.to_string(),
        name: format!("{name}_{end}"),
        parameters: [own].into_iter().chain(given).collect(),
    }
}

/// The head of `NAME_buffer`.
pub fn of_buffer(stack: &Stack<'_>) -> Head {
    of_stack(stack, "uint8_t *", "buffer", &["size_t *room"])
}

/// The head of `NAME_has_buffer`: the host may take a buffer, if need be out of outputs that are
/// done.
pub fn has_buffer(stack: &Stack<'_>) -> Head {
    of_stack(stack, "bool", "has_buffer", &[])
}

/// The head of `NAME_input`.
pub fn of_input(stack: &Stack<'_>) -> Head {
    let frames = format!("const struct {}_frame *frames", stack.names.stack);
    let given = ["unsigned link", &frames, "size_t count", "uint64_t now_ns"];
    of_stack(stack, "size_t", "input", &given)
}

/// The head of `NAME_input_all`: several frames, or one for which something has to be done before.
pub fn input_all(stack: &Stack<'_>) -> Head {
    Head {
        name: format!("{}_input_all", stack.names.stack),
        ..of_input(stack)
    }
}

/// The head of `NAME_take`: one frame. A stack with one link is not told by which it comes.
pub fn take(stack: &Stack<'_>) -> Head {
    let frame = format!("const struct {}_frame *frame", stack.names.stack);
    let given = ["unsigned link", &frame, "uint64_t now_ns"];
    let given = match stack.module.links.len() {
        1 => &given[1..],
        _several => &given[..],
    };
    of_stack(stack, "bool", "take", given)
}

/// The kinds of outputs that a function of the header does not take by itself.
fn other_outputs(stack: &Stack<'_>) -> Vec<&'static str> {
    let listens = !stack.module.listening.is_empty();
    let all = [("FRAME", calls_links(stack)), ("ACCEPTED", listens)].into_iter();
    let all = all.filter(|(_, is_there)| *is_there);
    all.map(|(kind, _)| kind).collect()
}

/// The head of `NAME_next_other`: an output behind frames that a link hands to its function, or one
/// that hands over a session.
pub fn next_other(stack: &Stack<'_>) -> Head {
    let name = &stack.names.stack;
    let output = format!("struct {name}_output *output");
    of_stack(
        stack,
        &format!("enum {name}_next"),
        "next_other",
        &[&output],
    )
}

/// The head of `NAME_done`.
pub fn of_done(stack: &Stack<'_>) -> Head {
    let output = format!("const struct {}_output *output", stack.names.stack);
    of_stack(stack, "void", "done", &[&output])
}
