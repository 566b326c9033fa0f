//! `NAME.h`: the contract, then what a host may say.

use super::Stack;
use super::assumed;
use super::exits::Path;
use super::external;
use super::granted::Granted;
use super::inline;
use super::leaves;
use super::memory::configuration;
use super::paths;
use super::port;
use super::send;
use super::structure;
use super::types;
use crate::c::printer;
use crate::c::runtime;
use crate::c::tree::{Item, Line};
use crate::tree::Reaction;
use crate::types::value::Type;
use std::collections::BTreeSet;

/// The whole header but its last line, [`END`].
pub fn text(stack: &Stack, quiet: &BTreeSet<Reaction>, bypasses: &[Path]) -> String {
    let name = &stack.names.stack;
    let upper = name.to_uppercase();
    let mut items = Vec::new();
    items.extend(public(stack, quiet, bypasses));
    let body = printer::file(&items);
    let before = types::structs(stack, &body);
    let enums = public_enums(stack);
    let before: Vec<Item> = before.into_iter().chain(enums).collect();
    let called = runtime::mentioned(&body);
    let string_h = match called.is_empty() {
        true => String::new(),
        false => runtime::string_h(&called) + "\n",
    };
    let mut top = printer::file(&before);
    if !top.is_empty() {
        top.push('\n');
    }
    format!(
        "{}\n#ifndef {upper}_H\n#define {upper}_H\n\n#include <stdbool.h>\n#include <stddef.h>\n\
         #include <stdint.h>\n\n{string_h}#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n\
         struct {name};\n\n{top}{body}\n#ifdef __cplusplus\n}}\n#endif\n\n",
        contract(stack),
    )
}

/// The last line of a header.
pub const END: &str = "#endif\n";

/// The enums of what applications see.
fn public_enums(stack: &Stack) -> Vec<Item> {
    let program = stack.program;
    let mut seen: Vec<&Type> = program.config.iter().map(|one| &one.kind).collect();
    for port in &program.ports {
        let listener = port.listens.map(|how| how.listener);
        for kind in port.opens.into_iter().chain(listener) {
            seen.extend(program.kinds[kind.at()].keys.iter().map(|key| &key.kind));
        }
        seen.extend(
            port.attributes
                .iter()
                .map(|id| &program.attributes[id.at()].kind),
        );
        let notices = port.up.iter().chain(&port.down);
        seen.extend(
            notices
                .flat_map(|id| &program.notices[id.at()].parameters)
                .map(|f| &f.kind),
        );
    }
    for function in program
        .functions
        .iter()
        .filter(|one| one.external && !one.in_runtime)
    {
        let given = &function.locals[..function.parameters as usize];
        seen.extend(given.iter().map(|local| &local.kind));
        seen.push(&function.result);
    }
    let shown = |at: usize| {
        seen.iter().any(|kind| match kind {
            Type::Enum(id) => id.at() == at,
            Type::Optional(inner) => matches!(&**inner, Type::Enum(id) if id.at() == at),
            _ => false,
        })
    };
    let all = types::enums(stack).into_iter().enumerate();
    all.filter(|(at, _)| shown(*at))
        .map(|(_, item)| item)
        .collect()
}

/// The enums that only the file itself needs.
pub fn private_enums(stack: &Stack) -> Vec<Item> {
    let public = public_enums(stack);
    types::enums(stack)
        .into_iter()
        .filter(|item| !public.contains(item))
        .collect()
}

/// The comment at the top: the calls that a host makes, and in which order.
fn contract(stack: &Stack) -> String {
    let name = &stack.names.stack;
    let docs = stack.program.docs.iter();
    let mut lines: Vec<String> = docs.map(|line| line.trim_end().to_string()).collect();
    let title = format!("{name}:");
    if !lines.first().is_some_and(|line| line.starts_with(&title)) {
        lines.insert(0, format!("{title} a protocol stack"));
    }
    let upper = name.to_uppercase();
    let sends = match program_sends(stack) {
        true => format!(", an application sends ({name}_PORT_send)"),
        false => String::new(),
    };
    let mut paragraphs = vec![
        format!(
            "Compiled by Stackloom. The stack does no input or output and allocates nothing: its \
             host gives it memory, time and frames."
        ),
        format!(
            "Start: {name}_config_default sets all settings to their defaults, {name}_size returns \
             how many bytes of memory they need, and {name}_start starts a stack there. \
             {name}_check says why a stack cannot start."
        ),
        format!(
            "Run: the host calls the stack when a frame arrives ({name}_input){sends}, or \
             {name}_deadline has passed ({name}_expire). After each of these calls it calls \
             {name}_next until that returns {upper}_IDLE. It does what each output asks for, and \
             then gives the output back ({name}_done)."
        ),
        standing(stack),
        format!(
            "Units: times are nanoseconds of a monotonic clock. Numbers, addresses among them, are \
             in the byte order of the machine: 10.0.0.2 is 0x0a000002. Threads: calls of one stack \
             must not overlap."
        ),
        format!(
            "Counters: each frame that arrives is delivered, consumed, merged into another, held, \
             or dropped for a reason. The counters add up: frames_in = delivered + consumed + \
             merged + held + the sum of all {upper}_DROPPED_x."
        ),
    ];
    let mut ports = stack.program.ports.iter();
    paragraphs.extend(
        ports
            .any(|port| port.listens.is_some())
            .then(|| listening(name)),
    );
    for paragraph in paragraphs {
        lines.push(String::new());
        lines.extend(filled(&paragraph));
    }
    lines.extend(assumed::lines(stack));
    commented(&lines)
}

/// Where frames may stand.
fn standing(stack: &Stack) -> String {
    let name = &stack.names.stack;
    match assumed::stand_elsewhere(stack) {
        true => format!(
            "Frames: {name}_input takes frames in order and returns how many it took; the host \
             offers the others again later. A frame stands in memory of the host, which the stack \
             only reads, and only until {name}_input returns. A frame that must stay longer is \
             copied into a buffer of the stack; without a free buffer it is not taken."
        ),
        false => format!(
            "Frames: the host asks for a buffer ({name}_buffer), fills it and passes it to \
             {name}_input, which takes frames in order and returns how many it took. The host \
             offers the others again later. A frame may also stand in memory of the host, which \
             the stack only reads, and only until {name}_input returns. Such a frame is copied \
             into a buffer if it must stay longer; without a free buffer, or if it is too long, \
             it is not taken."
        ),
    }
}

/// Lines as a comment.
pub fn commented(lines: &[String]) -> String {
    let lines: Vec<String> = lines
        .iter()
        .map(|line| format!(" * {line}").trim_end().replace("*/", "* /"))
        .collect();
    format!("/*\n{}\n */", lines.join("\n"))
}

/// How sessions begin that peers open.
fn listening(name: &str) -> String {
    let upper = name.to_uppercase();
    format!(
        "Sessions: an application opens sessions ({name}_PORT_open), and listens for those that \
         peers open ({name}_PORT_listen). {upper}_ACCEPTED hands each of the latter over, with its \
         keys, before any other output of the session. Until then it takes a place in the backlog \
         of its listener; a full backlog refuses further sessions, and counts them. \
         {name}_PORT_unlisten ends a listener, not its sessions."
    )
}

/// A paragraph in lines.
pub fn filled(paragraph: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in paragraph.split(' ') {
        let last = lines.last_mut().expect("there is a line");
        if !last.is_empty() && last.len() + 1 + word.len() > 96 {
            lines.push(word.to_string());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

fn line(text: &str, comment: &str) -> Line {
    Line {
        text: text.to_string(),
        comment: comment.to_string(),
    }
}

/// All structs and functions of the interface.
fn public(stack: &Stack, quiet: &BTreeSet<Reaction>, bypasses: &[Path]) -> Vec<Item> {
    let name = &stack.names.stack;
    let mut items = vec![configuration::config(stack)];
    items.push(Item::Struct {
        comment: "A frame that arrived.".to_string(),
        name: format!("{name}_frame"),
        members: vec![
            line("uint8_t *data", "its first byte; not NULL"),
            line("size_t length", "its length in bytes"),
        ],
    });
    for port in &stack.program.ports {
        items.extend(port::structs(stack, port));
    }
    items.push(configuration::refusal(stack));
    items.push(next(stack));
    items.extend(program_sends(stack).then(|| sending(stack)));
    items.extend(numbers(stack));
    items.extend([buffer(stack), output(stack), shared(stack)]);
    items.extend(paths::offered(stack, bypasses));
    items.push(Item::Text(functions(stack, bypasses)));
    for port in &stack.program.ports {
        let mut text = String::new();
        for (comment, head) in port::heads(stack, port) {
            let comment = comment_text(&comment);
            let inline = send::inline(stack, port, &head, quiet);
            text += &match inline {
                Some(defined) => format!("{comment}{}\n\n", defined.trim_end()),
                None => format!("{comment}{};\n\n", port::wrapped(&head)),
            };
        }
        items.push(Item::Text(text));
    }
    let written = external::prototypes(stack);
    if !written.is_empty() {
        items.push(Item::Text(comment_text(&externs_comment(stack))));
        items.extend(written);
    }
    items
}

fn comment_text(comment: &str) -> String {
    let lines = filled(comment);
    format!("/* {} */\n", lines.join("\n * "))
}

/// The comment on the functions that whoever uses the stack writes in C.
fn externs_comment(stack: &Stack) -> String {
    let name = &stack.names.stack;
    let mut text = "Functions that you write. `user` is the pointer of the settings.".to_string();
    if external::calls_applications(stack.program) {
        text += " The stack calls these callbacks when no other event is being handled. A callback \
                 may send and tell at ports of the stack: the first takes effect at once. Its \
                 consequences, sessions that it opens and whatever it does behind it wait until \
                 the callback has returned. Frames and timers wait for the host. Pointers are \
                 valid until the callback returns.";
        if Granted::all(stack).next().is_some() {
            text += " The result is a grant: how much more the stack may deliver.";
        }
    }
    let mut leaving = stack.names.leaving.iter().flatten().peekable();
    if leaving.peek().is_some() {
        let names: Vec<&str> = leaving.map(String::as_str).collect();
        text += &format!(
            " {} transmits a frame, behind everything that led to it; the frame is valid until it \
             returns, or calls the stack.",
            names.join(" or ")
        );
    }
    if external::has_types(stack.program) {
        text += &format!(
            " {name}_extern.h defines the structs, which start as all zero bytes; {name}.c \
             includes it."
        );
    }
    text
}

fn next(stack: &Stack) -> Item {
    let upper = stack.names.stack.to_uppercase();
    let mut values = vec![
        line(&format!("{upper}_IDLE"), "nothing is left to do"),
        line(
            &format!("{upper}_FRAME"),
            "transmit `data` on the link `place`",
        ),
        line(
            &format!("{upper}_DELIVER"),
            "hand `data` to the application at the port `place`",
        ),
    ];
    if stack
        .program
        .ports
        .iter()
        .any(|port| port.listens.is_some())
    {
        let text = "a peer has opened `session` at the port `place`";
        values.push(line(&format!("{upper}_ACCEPTED"), text));
    }
    let asking = stack
        .program
        .ports
        .iter()
        .filter(|port| port.calls.is_none());
    for port in asking {
        for notice in &port.up {
            let own = &stack.names.notices[notice.at()];
            if !values.iter().any(|value| value.text == *own) {
                let what = &stack.program.notices[notice.at()].name;
                values.push(line(
                    own,
                    &format!("tell the application at `place`: {what}"),
                ));
            }
        }
    }
    Item::Enum {
        comment: "What the host does with an output.".to_string(),
        name: format!("{}_next", stack.names.stack),
        values,
    }
}

/// Whether the stack has a port by which an application sends messages.
fn program_sends(stack: &Stack) -> bool {
    stack.program.ports.iter().any(|port| port.passes)
}

fn sending(stack: &Stack) -> Item {
    let upper = stack.names.stack.to_uppercase();
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
    let values = values.map(|(name, comment)| line(&format!("{upper}_{name}"), comment));
    Item::Enum {
        comment: "Results of sending.".to_string(),
        name: format!("{}_send", stack.names.stack),
        values: values.to_vec(),
    }
}

fn output(stack: &Stack) -> Item {
    let mut all = vec![
        line(
            &format!("enum {}_next next", stack.names.stack),
            "what to do",
        ),
        line("unsigned place", "the link or port"),
        line("uint32_t session", "the session at the port"),
        line("const uint8_t *data", "the frame or message"),
        line("size_t length", "its length in bytes"),
        line(
            &format!("struct {}_buffer *buffer", stack.names.stack),
            "private",
        ),
    ];
    let with = port::with_members(stack);
    if !with.is_empty() {
        let members = with.iter().map(|one| format!("        {};", one.text));
        let members: Vec<String> = members.collect();
        all.push(line(
            &format!("union {{\n{}\n    }} with", members.join("\n")),
            "",
        ));
    }
    Item::Struct {
        comment: "An output, valid until the host gives it back.".to_string(),
        name: format!("{}_output", stack.names.stack),
        members: all,
    }
}

fn buffer(stack: &Stack) -> Item {
    let name = &stack.names.stack;
    let memory = stack.memory();
    let bytes = match memory.headroom {
        0 => "a frame".to_string(),
        headroom => format!("{headroom} for headers, then a frame"),
    };
    Item::Struct {
        comment: "Private: a message buffer.".to_string(),
        name: format!("{name}_buffer"),
        members: vec![
            line(
                &format!("struct {name}_buffer *next"),
                "the next free buffer; itself while it is taken",
            ),
            line(&format!("uint8_t bytes[{}]", memory.buffer()), &bytes),
        ],
    }
}

/// The beginning of a stack, which the inline functions of the header read and write.
fn shared(stack: &Stack) -> Item {
    let name = &stack.names.stack;
    let members = [
        ("struct NAME_output *taken", "the next output"),
        ("struct NAME_output *answered", "behind the last output"),
        (
            "struct NAME_output *limit",
            "before it, the output queue has room for a step and its reply",
        ),
        ("struct NAME_buffer *free", "the first free buffer, or NULL"),
        (
            "uintptr_t bar",
            "the host may take buffers above this address: all, or none to fill the reserve",
        ),
        (
            "struct NAME_buffer *sent",
            "the buffer of the message that is being sent; NULL once it is dropped",
        ),
        ("uint32_t steps", "events that this call has handled"),
    ];
    let calling = ("bool calling", "true during a callback");
    // What is written together stands side by side.
    let calling = match leaves::may_stand(stack.program) {
        true => vec![
            (
                "bool stands",
                "true if a reply from a template waits for the callback to return",
            ),
            calling,
            ("bool leaves", "true if another reply waits behind it"),
        ],
        false => Vec::from_iter(external::calls_applications(stack.program).then_some(calling)),
    };
    let members = members.into_iter().chain(calling);
    let members = members.map(|(text, comment)| line(&text.replace("NAME", name), comment));
    Item::Struct {
        comment: "Private: the beginning of a stack.".to_string(),
        name: format!("{name}_shared"),
        members: members.collect(),
    }
}

/// The numbers of links, ports and counters.
fn numbers(stack: &Stack) -> Vec<Item> {
    let name = &stack.names.stack;
    let numbers = &stack.names.numbers;
    let values = |names: &[String]| {
        let names = names.iter();
        Vec::from_iter(names.map(|name| line(name, "")))
    };
    let upper = name.to_uppercase();
    let cut = assumed::stand_elsewhere(stack).then(|| format!("{upper}_COUNT_STACK_CUT_BUFFER"));
    let named = numbers.counters.iter().cloned().chain(cut);
    let counters = named.zip(structure::counted(stack));
    let mut counters = Vec::from_iter(counters.map(|(value, of)| line(&value, &of)));
    counters.push(line(&format!("{upper}_COUNTERS"), "how many there are"));
    let all = [
        ("Links.", "link", values(&numbers.links)),
        ("Ports.", "port", values(&numbers.ports)),
        (
            "Counters, by their place in the values of NAME_counters. DROPPED counts frames that \
             arrived, UNSENT messages of the stack's own, each by the reason for which they were \
             dropped; COUNT is what layers count.",
            "counter",
            counters,
        ),
    ];
    let all = all.into_iter().filter(|(_, _, values)| !values.is_empty());
    let all = all.map(|(comment, of, values)| Item::Enum {
        comment: comment.replace("NAME", name),
        name: format!("{name}_{of}"),
        values,
    });
    all.collect()
}

fn functions(stack: &Stack, bypasses: &[Path]) -> String {
    let text = "\
/* Sets all settings to their defaults. */
void STACK_config_default(struct STACK_config *config);

/* Returns the bytes of memory that a stack with these settings needs. */
size_t STACK_size(const struct STACK_config *config);

/* Returns UPPER_FITS if a stack with these settings can start in `size` bytes, or why not. */
enum STACK_refusal STACK_check(const struct STACK_config *config, size_t size);

/* Starts a stack in `size` bytes of memory, which then belong to it, at any alignment. Returns NULL
 * if STACK_check refuses. The stack ends when the host stops calling it. */
struct STACK *STACK_start(void *memory, size_t size, const struct STACK_config *config,
                          uint64_t now_ns);

/* Returns a buffer for a frame and its size in `room`, or NULL if none is free. It belongs to the
 * host until STACK_input takes it. */
STACK_buffer

/* Passes frames that arrived on a link to the stack; returns how many it took. */
STACK_input

/* Writes the next output and returns what to do with it. */
STACK_next

/* Gives an output back when it is done. */
STACK_done

/* Returns when to call STACK_expire, or UINT64_MAX if no timer runs. */
uint64_t STACK_deadline(struct STACK *stack);

/* Handles the timers that have expired. */
void STACK_expire(struct STACK *stack, uint64_t now_ns);

CARRIER/* Writes the values of at most `capacity` counters, in the order of enum STACK_counter;
 * returns how many counters there are. */
size_t STACK_counters(const struct STACK *stack, uint64_t *values, size_t capacity);

/* The names of the counters in the order of enum STACK_counter, and then NULL. */
extern const char *const STACK_counter_name[];
PATHS";
    let mut links = stack.program.links.iter();
    let hears = links.any(|link| link.carrier.is_some());
    let text = text.replace("CARRIER", if hears { CARRIER } else { "" });
    let text = text.replace("PATHS", paths::functions(bypasses));
    let mut text = inline::by_link(stack, &text);
    for name in ["STACK_buffer", "STACK_input", "STACK_next", "STACK_done"] {
        text = text.replace(
            &format!("\n{name}\n"),
            &format!("\n{}\n", inline::said(stack, name)),
        );
    }
    super::parts::named(&text, &stack.names.stack, "")
}

/// The function of stacks with a layer that handles changes of a link.
const CARRIER: &str = "\
/* Reports that a link went down or came up; at the start all are up. Handles waiting events
 * first. */
void STACK_carrier(struct STACK *stack, unsigned link, bool up, uint64_t now_ns);

";
