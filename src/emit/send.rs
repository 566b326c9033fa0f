//! What applications send: where it is copied, and how it sets out on its way down.
//!
//! In: a port. Out: a function of the header, so that the compiler of an application knows how much
//! it copies and what goes with it, and two that it calls:
//!
//! ```text
//! S_p_send    copies to a buffer, if that can be at once; then    S_p_send_from
//!                                                         or else S_p_send_later
//! ```
//!
//! What an application sends while it is called goes to S_p_send_later, too.

use super::Stack;
use super::external;
use super::inline::sized;
use super::leaves;
use super::message;
use super::parts;
use super::port::{attributes, below, called, condition, either, exists, wrapped};
use crate::c::printer;
use crate::c::tree::{Expression as C, Statement, atom, binary, call, conditional};
use crate::tree::Reaction;
use crate::types::program::{Event, Port};
use crate::types::value::Type;
use std::collections::BTreeSet;

/// Where a step is counted, unless nothing asks how many there were; a link that calls may have let
/// another call of the host begin, which asks when this one is through.
const COUNTED: &str = "    shared->steps = 1;\n";

/// What the header has of a function that sends: what it needs, and itself.
pub fn inline(
    stack: &Stack,
    port: &Port,
    head: &str,
    quiet: &BTreeSet<Reaction>,
) -> Option<(String, String)> {
    let reaction = sent_at_once(stack, port)?;
    let own = format!("{}_{}_send", stack.names.stack, port.name);
    if !head.starts_with(&format!("size_t {own}(")) {
        return None;
    }
    let mut before = "/* For the next function alone. */\n".to_string();
    if !attributes(stack, port).is_empty() {
        let kind = with_struct(stack, port);
        before += &format!("extern const struct {kind} {own}_default;\n");
    }
    let heads = heads(stack, port, head).map(|head| wrapped(&head));
    for head in &heads {
        before += &format!("{head};\n");
    }
    let [from, later] = heads;
    // What an application sends while it is called goes by the other one, and is not rare.
    let kept_apart = match external::calls_applications(stack.program) {
        true => "noinline",
        false => "cold",
    };
    before += &format!(
        "\n#ifdef __GNUC__\n{from}\n    __attribute__((noinline));\n{later}\n    \
         __attribute__(({kept_apart}));\n#endif\n"
    );
    let sent = conditional(
        sets_out(stack, port, atom("now_ns")),
        atom("length"),
        atom("0"),
    );
    let sent = printer::block(&[Statement::Return(Some(sent))], 1);
    let text = parts::part(parts::INLINE, "STACK_PORT_send")
        .replace("HEAD {", &format!("inline {} {{", wrapped(head)))
        .replace("    SENT\n", &sent)
        .replace("STACK_PORT", &format!("STACK_{}", port.name))
        .replace(
            COUNTED,
            if quiet.contains(&reaction) && !leaves::calls_links(stack.program) {
                ""
            } else {
                COUNTED
            },
        );
    let text = parts::named(&sized(stack, &text), &stack.names.stack, "");
    Some((before, text))
}

/// What the file has of it.
pub fn functions(
    stack: &Stack,
    port: &Port,
    head: &str,
    quiet: &BTreeSet<Reaction>,
) -> Vec<String> {
    let with_body = |head: &str, body: String| format!("{} {{\n{body}}}\n", wrapped(head));
    let Some(reaction) = sent_at_once(stack, port) else {
        let unused = ["stack", "session", "with", "data", "length", "now_ns"];
        let unused = unused.map(|name| format!("    (void){name};\n"));
        return vec![with_body(head, unused.concat() + "    return 0;\n")];
    };
    let [from, later] = heads(stack, port, head);
    let mut all = Vec::new();
    if !attributes(stack, port).is_empty() {
        let own = format!("{}_{}_send_default", stack.names.stack, port.name);
        let kind = with_struct(stack, port);
        all.push(format!(
            "const struct {kind} {own} = {{{}}};\n",
            defaults(stack, port)
        ));
    }
    all.push(with_body(&from, from_body(stack, port, reaction, quiet)));
    all.push(with_body(&later, later_body(stack, port, reaction, quiet)));
    all.push(format!("{};\n", wrapped(&format!("extern inline {head}"))));
    all
}

/// The reaction to what is sent.
fn sent_at_once(stack: &Stack, port: &Port) -> Option<Reaction> {
    below(stack, port, Event::Send).filter(|_| port.passes)
}

/// What goes with a message of which the application says nothing.
fn defaults(stack: &Stack, port: &Port) -> String {
    let attributes = attributes(stack, port);
    let names: Vec<String> = attributes.into_iter().map(|(own, ..)| own).collect();
    let own = port
        .attributes
        .iter()
        .map(|id| &stack.program.attributes[id.at()]);
    let fields = message::defaults(stack, own.zip(&names));
    match fields.is_empty() {
        true => "0".to_string(),
        false => fields.join(", "),
    }
}

/// The call by which a message sets out from a buffer.
fn sets_out(stack: &Stack, port: &Port, now_ns: C) -> C {
    let own = format!("{}_{}_send", stack.names.stack, port.name);
    let with = match attributes(stack, port).is_empty() {
        true => atom("with"),
        false => {
            let default = atom(format!("{own}_default")).address();
            conditional(
                binary("!=", atom("with"), atom("NULL")),
                atom("with"),
                default,
            )
        }
    };
    let [stack, session, buffer, length] = ["stack", "session", "buffer", "length"].map(atom);
    let all = vec![stack, session, with, buffer, length, now_ns];
    call(format!("{own}_from"), all)
}

fn with_struct(stack: &Stack, port: &Port) -> String {
    format!("{}_{}_attributes", stack.names.stack, port.name)
}

/// The heads of what sends from a buffer, and behind what waits.
fn heads(stack: &Stack, port: &Port, head: &str) -> [String; 2] {
    let own = format!("{}_{}_send", stack.names.stack, port.name);
    let buffer = format!("struct {}_buffer *buffer", stack.names.stack);
    let from = head
        .replace(&format!("size_t {own}("), &format!("bool {own}_from("))
        .replace("const uint8_t *data", &buffer);
    let later = head.replace(&format!("{own}("), &format!("{own}_later("));
    [from, later]
}

fn from_body(stack: &Stack, port: &Port, reaction: Reaction, quiet: &BTreeSet<Reaction>) -> String {
    let back = "give_buffer(stack, buffer);\n        return false;";
    let mut text = condition(exists(stack, port).negated(), back);
    text += "    stack->now_ns = now_ns;\n";
    text += &new_message(stack);
    text += &set(stack, port, 1);
    let mut sent = called(stack, reaction, Some("message"), &[]);
    if leaves::leaves_alone(stack, quiet, reaction) {
        let name = &stack.names.reactions[&reaction];
        sent = sent.replacen(name, &leaves::alone_name(stack, reaction), 1);
    }
    text += &match quiet.contains(&reaction) {
        true => format!("    {sent}\n"),
        false => format!("    {sent}\n    run(stack);\n"),
    };
    text + "    return true;\n"
}

fn later_body(
    stack: &Stack,
    port: &Port,
    reaction: Reaction,
    quiet: &BTreeSet<Reaction>,
) -> String {
    let begun = call("begin_call", vec![atom("stack"), atom("now_ns")]);
    let goes_on = call("may_go_on", vec![atom("stack")]);
    let mut refused = either(begun.negated(), goes_on.negated());
    let mut begins = "    stack->shared.steps += 1;\n".to_string();
    let mut now_ns = atom("now_ns");
    if external::calls_applications(stack.program) {
        let calling = atom("stack").behind("shared").member("calling");
        refused = conditional(calling, external::refused(stack, 1), refused);
        begins = format!(
            "    if (!stack->shared.calling) {{\n    {begins}    }} else if \
             (!begins_inside(stack)) {{\n{}    }}\n",
            waits(stack, port, reaction)
        );
        // What is sent while an application is called has the time of the call that goes on.
        now_ns = atom("stack").behind("now_ns");
    }
    let sets_out = Statement::Do(sets_out(stack, port, now_ns));
    let returned = Statement::Return(Some(atom("length")));
    let mut inside = String::new();
    let is_called = external::calls_applications(stack.program);
    let sent = match is_called && leaves::leaves_alone(stack, quiet, reaction) {
        true => {
            inside = new_message(stack) + &set_if_given(stack, port);
            let sent = called(stack, reaction, Some("message"), &[]);
            inside += &format!("    {sent}\n    return length;\n");
            vec![Statement::If {
                condition: atom("stack").behind("shared").member("calling").negated(),
                then: vec![sets_out, returned],
                otherwise: Vec::new(),
            }]
        }
        false => vec![sets_out, returned],
    };
    condition(either(refused, exists(stack, port).negated()), "return 0;")
        + &taken(stack)
        + "    sl_copy(buffer->bytes + HEADROOM, data, length);\n"
        + &begins
        + &printer::block(&sent, 1)
        + &inside
}

/// What an application sends while it is called, and something waits, waits behind that.
fn waits(stack: &Stack, port: &Port, reaction: Reaction) -> String {
    let message = vec![("message".to_string(), atom("message"))];
    let put = external::put(stack, reaction, "session", message);
    let text = new_message(stack)
        + &set_if_given(stack, port)
        + &printer::block(&[put, Statement::Return(Some(atom("length")))], 1);
    text.lines().map(|line| format!("    {line}\n")).collect()
}

/// Takes a buffer, if there is one, and if it is large enough.
fn taken(stack: &Stack) -> String {
    let name = &stack.names.stack;
    format!(
        "    if (length > BUFFER_SIZE - HEADROOM) {{\n        \
         stack->counters[UNSENT + STACK_NO_BUFFER] += 1;\n        return length;\n    }}\n    \
         if (!{name}_has_buffer(stack)) {{\n        return 0;\n    }}\n    \
         struct {name}_buffer *const buffer = take_buffer(stack);\n",
    )
}

/// What goes with a message, as far as the application says.
fn set_if_given(stack: &Stack, port: &Port) -> String {
    match attributes(stack, port).is_empty() {
        true => String::new(),
        false => format!("    if (with != NULL) {{\n{}    }}\n", set(stack, port, 2)),
    }
}

fn new_message(stack: &Stack) -> String {
    format!(
        "    struct {}_message message = blank(buffer);\n    \
         message.length = (uint32_t)length;\n",
        stack.names.stack
    )
}

/// What goes with a message is what the application says.
fn set(stack: &Stack, port: &Port, depth: usize) -> String {
    let indent = "    ".repeat(depth);
    let mut text = String::new();
    for (own, member, kind) in attributes(stack, port) {
        if let Type::Optional(_) = kind {
            text += &format!("{indent}message.has_{member} = with->has_{own};\n");
        }
        text += &format!("{indent}message.{member} = with->{own};\n");
    }
    match text.is_empty() {
        true => "    (void)with;\n".to_string(),
        false => text,
    }
}
