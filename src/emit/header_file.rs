//! `NAME.h`: the contract, then what a host may say.

use super::Stack;
use super::assumed;
use super::driver;
use super::exits::Path;
use super::external;
use super::granted::Granted;
use super::inline;
use super::layout::members;
use super::leaves;
use super::paths;
use super::port;
use super::send;
use super::structure;
use super::types;
use crate::c::printer;
use crate::c::tree::{Item, Line};
use crate::tree::Reaction;
use crate::types::program::Field;
use crate::types::value::Type;
use std::collections::BTreeSet;

/// The whole header.
pub fn text(stack: &Stack, quiet: &BTreeSet<Reaction>, bypasses: &[Path]) -> String {
    let name = &stack.names.stack;
    let upper = name.to_uppercase();
    let mut items = Vec::new();
    items.extend(public(stack, quiet, bypasses));
    let body = printer::file(&items);
    let before = types::structs(stack, &body);
    let enums = public_enums(stack);
    let before: Vec<Item> = before.into_iter().chain(enums).collect();
    let mut top = printer::file(&before);
    if !top.is_empty() {
        top.push('\n');
    }
    format!(
        "{}\n#ifndef {upper}_H\n#define {upper}_H\n\n#include <stdbool.h>\n#include <stddef.h>\n\
         #include <stdint.h>\n\n{}#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\nstruct {name};\n\n\
         {top}{body}\n#ifdef __cplusplus\n}}\n#endif\n\n#endif\n",
        contract(stack),
        if body.contains("memcpy(") { MEMCPY } else { "" },
    )
}

/// What copies what is sent.
const MEMCPY: &str = "\
/* Where there is no library, the compiler has it. */
#ifdef __cplusplus
#include <cstring>
using std::memcpy;
#else
void *memcpy(void *restrict to, const void *restrict from, size_t length);
#endif

";

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
    for function in program.functions.iter().filter(|one| one.external) {
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

fn contract(stack: &Stack) -> String {
    let name = &stack.names.stack;
    let docs = stack.program.docs.iter();
    let mut lines: Vec<String> = docs.map(|line| line.trim_end().to_string()).collect();
    let title = format!("{name}:");
    if !lines.first().is_some_and(|line| line.starts_with(&title)) {
        lines.insert(0, format!("{title} a protocol stack"));
    }
    let links: Vec<String> = numbered(stack.program.links.iter().map(|one| &one.name));
    let ports: Vec<String> = numbered(stack.program.ports.iter().map(|one| &one.name));
    lines.push(String::new());
    let text = format!(
        "Compiled by Stackloom. The stack has no memory, no clock and no devices of its own. A \
         host gives it memory once ({name}_size, {name}_start), and then calls it: with frames \
         that came in by a link ({name}_input), with what applications send, and when \
         {name}_deadline has come ({name}_expire). After every call it asks {name}_next what to \
         do until the answer is {}_IDLE, does it, and gives the buffer back with {name}_done.\n\n\
         {} only read, and only until {name}_input returns: what is to stay of it is copied into \
         such a buffer, if one is left and the frame fits into it; else it is not taken. Times are \
         nanoseconds of a clock that does not go backwards. Numbers, and addresses among them, \
         are in the byte order of the machine: 10.0.0.2 is 0x0a000002. Nothing here may be called \
         from two threads at once.\n\n\
         Every frame that came in is delivered, consumed, merged into another, held, or dropped \
         for a reason, and the counters add up: frames_in = delivered + consumed + merged + held + \
         all of dropped.",
        name.to_uppercase(),
        standing(stack)
    );
    lines.extend(text.split('\n').flat_map(filled));
    let listens = stack
        .program
        .ports
        .iter()
        .any(|port| port.listens.is_some());
    if listens {
        lines.push(String::new());
        lines.extend(filled(&listening(name)));
    }
    lines.extend(assumed::lines(stack));
    lines.push(String::new());
    lines.push(format!("links: {}", links.join(", ")));
    lines.push(format!("ports: {}", ports.join(", ")));
    commented(&lines)
}

/// Where frames may stand.
fn standing(stack: &Stack) -> String {
    let name = &stack.names.stack;
    match assumed::stand_elsewhere(stack) {
        true => format!(
            "Frames are taken in order, and those that {name}_input did not take are handed over \
             again later. A frame stands in memory of the host's own, not in a buffer of the \
             stack: that memory is"
        ),
        false => format!(
            "Frames are handed over in buffers of the stack ({name}_buffer), which belong to the \
             host until {name}_input has taken them; it takes them in order, and those that it \
             did not take are handed over again later. A frame may also stand in memory of the \
             host's own, which is"
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

/// How conversations come about that others begin.
fn listening(name: &str) -> String {
    let upper = name.to_uppercase();
    format!(
        "An application opens conversations ({name}_PORT_open), and listens for those that others \
         begin ({name}_PORT_listen). Each of these is handed over once by {upper}_ACCEPTED, with \
         its keys and before anything else of it, and is then like one that was opened. Until \
         the host takes that, the session has one of the places of its listener; where no place \
         of the backlog is left, the layer refuses who calls, and counts it. {name}_PORT_unlisten \
         ends a listener, not its sessions."
    )
}

fn numbered<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    names
        .enumerate()
        .map(|(at, name)| format!("{at} {name}"))
        .collect()
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
    let mut items = vec![config(stack)];
    items.push(Item::Struct {
        comment: "A frame that came in.".to_string(),
        name: format!("{name}_frame"),
        members: vec![
            line(
                "uint8_t *data",
                "where a buffer has room for it, or elsewhere; not NULL",
            ),
            line("size_t length", "bytes of the frame"),
        ],
    });
    for port in &stack.program.ports {
        items.extend(port::structs(stack, port));
    }
    items.push(refusal(stack));
    items.push(next(stack));
    items.extend(program_sends(stack).then(|| sending(stack)));
    items.extend([buffer(stack), output(stack), shared(stack), counters(stack)]);
    items.extend(paths::offered(stack, bypasses));
    items.push(Item::Text(functions(stack, bypasses)));
    for port in &stack.program.ports {
        let mut text = String::new();
        for (comment, head) in port::heads(stack, port) {
            let comment = comment_text(&comment);
            let inline = send::inline(stack, port, &head, quiet);
            text += &match inline {
                Some((before, defined)) => format!("{before}\n{comment}{}\n\n", defined.trim_end()),
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

/// What is said of all that is written in C.
fn externs_comment(stack: &Stack) -> String {
    let name = &stack.names.stack;
    let mut text =
        "Written by whoever uses the stack. `user` is what the settings say.".to_string();
    if external::calls_applications(stack.program) {
        text += " What comes up calls these when nothing else is under way. What they send or tell \
                 at a port of the stack happens at once; what comes of that waits until they \
                 have returned, and so do what they open and whatever they send or tell behind \
                 it. Frames and times wait for the host. What they are given is good until they \
                 return.";
        if Granted::all(stack).next().is_some() {
            text +=
                " What one gives back is as if it had told that last: how much more may come up.";
        }
    }
    let mut leaving = stack.names.leaving.iter().flatten().peekable();
    if leaving.peek().is_some() {
        let names: Vec<&str> = leaving.map(String::as_str).collect();
        text += &format!(
            " {} is called with each frame that leaves, behind all that the call came to; the \
             frame is good until it returns, or calls the stack.",
            names.join(" or ")
        );
    }
    if external::has_types(stack.program) {
        text += &format!(
            " {name}_extern.h defines the structs; {name}.c includes it, and all zero is their \
             first value."
        );
    }
    text
}

fn config(stack: &Stack) -> Item {
    let name = &stack.names.stack;
    let mut all = Vec::new();
    for one in &stack.program.config {
        let field = Field {
            name: one.name.clone(),
            kind: one.kind.clone(),
            initial: None,
            once: true,
            has_gaps: false,
        };
        let comment = match one.kind {
            Type::Time => "in nanoseconds",
            _ => "",
        };
        all.extend(members(stack, &field, comment));
    }
    if external::calls_anything(stack.program) {
        all.push(line("void *user", "handed to functions of yours"));
    }
    let memory = stack.memory();
    let own = [
        (
            "buffers",
            memory.buffers,
            "how many messages there can be at a time",
        ),
        (
            "reserve",
            memory.reserve,
            "how many of the buffers frames leave to the stack itself",
        ),
        (
            "outputs",
            memory.outputs,
            "how many outputs can wait for the host",
        ),
        (
            "events",
            memory.events,
            "how many events can wait inside the stack",
        ),
        (
            "budget",
            driver::BUDGET,
            "how many events one call handles at most",
        ),
    ];
    all.extend(own.map(|(name, usual, what)| {
        line(
            &format!("uint32_t {name}"),
            &format!("{what}; {usual} by default"),
        )
    }));
    all.push(line(
        "uint64_t hash_seed",
        "a number that peers cannot know",
    ));
    Item::Struct {
        comment: "What is set when the stack is started.".to_string(),
        name: format!("{name}_config"),
        members: all,
    }
}

/// Why a stack does not start.
fn refusal(stack: &Stack) -> Item {
    let upper = stack.names.stack.to_uppercase();
    let values = [
        ("FITS", "it can work"),
        ("FEW_BUFFERS", "`buffers` is not greater than `reserve`"),
        ("FEW_OUTPUTS", "`outputs` is less than one call can leave"),
        ("FEW_EVENTS", "`events` is less than wait at the start"),
        ("NO_BUDGET", "`budget` is zero"),
        (
            "WRONG_SETTING",
            "another setting has a value that a layer refuses",
        ),
        ("LITTLE_MEMORY", "there are fewer bytes than NAME_size says"),
    ];
    let values = values.map(|(name, comment)| {
        line(
            &format!("{upper}_{name}"),
            &comment.replace("NAME", &stack.names.stack),
        )
    });
    Item::Enum {
        comment: "Why a stack cannot start with its settings.".to_string(),
        name: format!("{}_refusal", stack.names.stack),
        values: values.to_vec(),
    }
}

fn next(stack: &Stack) -> Item {
    let upper = stack.names.stack.to_uppercase();
    let mut values = vec![
        line(&format!("{upper}_IDLE"), "nothing"),
        line(
            &format!("{upper}_FRAME"),
            "the data leaves by the link `place`",
        ),
        line(
            &format!("{upper}_DELIVER"),
            "the data is for the port `place`",
        ),
    ];
    if stack
        .program
        .ports
        .iter()
        .any(|port| port.listens.is_some())
    {
        let text = "a listener at the port `place` has made the session";
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
                values.push(line(own, &format!("the port `place` is told: {what}")));
            }
        }
    }
    Item::Enum {
        comment: "What the host is to do.".to_string(),
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
        ("SENT", "taken, all of it"),
        (
            "LATER",
            "not taken: another time, when outputs are done and buffers given back",
        ),
        (
            "REFUSED",
            "gone, all of it: `unsent` of the counters says why",
        ),
    ];
    let values = values.map(|(name, comment)| line(&format!("{upper}_{name}"), comment));
    Item::Enum {
        comment: "What becomes of a message that an application sends.".to_string(),
        name: format!("{}_send", stack.names.stack),
        values: values.to_vec(),
    }
}

fn output(stack: &Stack) -> Item {
    let mut all = vec![
        line(
            &format!("enum {}_next next", stack.names.stack),
            "what it is",
        ),
        line("unsigned place", "the number of the link or port"),
        line("uint32_t session", "the conversation at the port"),
        line("const uint8_t *data", "the message"),
        line("size_t length", "bytes of it"),
        line(
            &format!("struct {}_buffer *buffer", stack.names.stack),
            "where it is; for the stack alone",
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
        comment: "What the host is to do it with; good until it is given back.".to_string(),
        name: format!("{}_output", stack.names.stack),
        members: all,
    }
}

fn buffer(stack: &Stack) -> Item {
    let name = &stack.names.stack;
    let memory = stack.memory();
    let bytes = match memory.headroom {
        0 => "of a frame".to_string(),
        headroom => format!("{headroom} for headers, then those of a frame"),
    };
    Item::Struct {
        comment: "Where a message is; for the stack alone.".to_string(),
        name: format!("{name}_buffer"),
        members: vec![
            line(
                &format!("struct {name}_buffer *next"),
                "itself; while it can be taken, the one behind it",
            ),
            line(&format!("uint8_t bytes[{}]", memory.buffer()), &bytes),
        ],
    }
}

/// What the functions in the header look at.
fn shared(stack: &Stack) -> Item {
    let name = &stack.names.stack;
    let members = [
        ("struct NAME_output *taken", "what the host asks for next"),
        (
            "struct NAME_output *answered",
            "behind the last that it can ask for",
        ),
        (
            "struct NAME_output *limit",
            "before it a step may be taken at once, and one behind its answer",
        ),
        (
            "struct NAME_buffer *free",
            "the one that can be taken next; NULL if there is none",
        ),
        (
            "uintptr_t bar",
            "the host gets those above it: all, or none until the reserve is full",
        ),
        (
            "struct NAME_buffer *sent",
            "where the message is that an application sends; NULL if it is refused",
        ),
        ("uint32_t steps", "how many this call has taken"),
    ];
    let calling = (
        "bool calling",
        "whether a function of an application is being called",
    );
    // What is written together stands side by side.
    let calling = match leaves::may_stand(stack.program) {
        true => vec![
            (
                "bool stands",
                "whether an answer that took no buffer, nor a step, leaves behind what is called",
            ),
            calling,
            ("bool leaves", "and whether another answer leaves behind it"),
        ],
        false => Vec::from_iter(external::calls_applications(stack.program).then_some(calling)),
    };
    let members = members.into_iter().chain(calling);
    let members = members.map(|(text, comment)| line(&text.replace("NAME", name), comment));
    Item::Struct {
        comment: "What a stack shares with its host, and begins with; for the stack alone."
            .to_string(),
        name: format!("{name}_shared"),
        members: members.collect(),
    }
}

fn counters(stack: &Stack) -> Item {
    let upper = stack.names.stack.to_uppercase();
    let count = structure::counted(stack).len();
    Item::Enum {
        comment: "How many counters there are.".to_string(),
        name: String::new(),
        values: vec![line(&format!("{upper}_COUNTERS = {count}"), "")],
    }
}

fn functions(stack: &Stack, bypasses: &[Path]) -> String {
    let text = "\
/* Settings as they are unless somebody changes them. */
void STACK_config_default(struct STACK_config *config);

/* How many bytes of memory a stack with these settings needs. */
size_t STACK_size(const struct STACK_config *config);

/* Whether a stack with these settings can work in so many bytes, or why not. */
enum STACK_refusal STACK_check(const struct STACK_config *config, size_t size);

/* Starts a stack in memory that then belongs to it; NULL where STACK_check refuses. */
struct STACK *STACK_start(void *memory, size_t size, const struct STACK_config *config,
                          uint64_t now_ns);

CALLED/* A buffer for a frame, with room for so many bytes; NULL if none is left. */
STACK_buffer

/* Frames came in by a link; the answer is how many of them were taken. */
STACK_input

/* What the host is to do next. */
STACK_next

/* It has been done: gives its buffer back. */
STACK_done

/* When to call STACK_expire; UINT64_MAX if nothing waits for a time. */
uint64_t STACK_deadline(struct STACK *stack);

/* A time has come. */
void STACK_expire(struct STACK *stack, uint64_t now_ns);

CARRIER/* Writes at most so many counters; the answer is how many there are. */
size_t STACK_counters(const struct STACK *stack, uint64_t *values, size_t capacity);

/* What they count; NULL behind the last. A plain `layer.reason` is why frames that came in were
 * dropped, `unsent layer.reason` why messages of the stack's own were; `count` is what layers
 * count. */
extern const char *const STACK_counter_name[];
PATHS";
    let mut links = stack.program.links.iter();
    let hears = links.any(|link| link.carrier.is_some());
    let other = match leaves::calls_links(stack.program) {
        true => NEXT_OTHER,
        false => "",
    };
    let text = text.replace("CALLED", &format!("{CALLED}{other}"));
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

/// What those functions call that the header defines.
const CALLED: &str = "\
/* For the next functions alone: whether a buffer is left for the host; takes one frame; takes more,
 * or does first what waits. */
bool STACK_has_buffer(struct STACK *stack);
bool STACK_take(struct STACK *stack, LINK_GIVEN const struct STACK_frame *frame,
                uint64_t now_ns);
size_t STACK_input_all(struct STACK *stack, unsigned link, const struct STACK_frame *frames,
                       size_t count, uint64_t now_ns);

#ifdef __GNUC__
bool STACK_has_buffer(struct STACK *stack) __attribute__((cold, noinline));
bool STACK_take(struct STACK *stack, LINK_GIVEN const struct STACK_frame *frame,
                uint64_t now_ns)
    __attribute__((hot, noinline));
size_t STACK_input_all(struct STACK *stack, unsigned link, const struct STACK_frame *frames,
                       size_t count, uint64_t now_ns)
    __attribute__((noinline));
#endif

";

/// And where links call.
const NEXT_OTHER: &str = "\
/* For STACK_next alone: what the host is to do behind frames for which functions are called. */
enum STACK_next STACK_next_other(struct STACK *stack, struct STACK_output *output);

#ifdef __GNUC__
enum STACK_next STACK_next_other(struct STACK *stack, struct STACK_output *output)
    __attribute__((cold, noinline));
#endif

";

/// What is offered where some layer hears of links.
const CARRIER: &str = "\
/* A link went down, or up again; all are up at the start. What waits already is handled first. */
void STACK_carrier(struct STACK *stack, unsigned link, bool up, uint64_t now_ns);

";
