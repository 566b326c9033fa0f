//! The host's side of a stack in C: in, a module; out, all around its functions.
//!
//! ```text
//! sizes.rs       sizes that no module knows
//! constants.rs   sizes, reasons, counters, timers
//! members.rs     members of the stack
//! events.rs      the agenda: how events wait there, and what handles them
//! outputs.rs     the way out: the host is told, or an application called
//! listening.rs   sessions that wait to be accepted
//! links.rs       frames that come in and leave
//! timers.rs      timers that expire
//! settings.rs    settings, and the start
//! ports.rs       calls of applications
//! ```
//!
//! Of functions with names those are kept that the file mentions.

pub mod constants;
pub mod events;
pub mod links;
pub mod listening;
pub mod members;
pub mod outputs;
pub mod ports;
pub mod settings;
pub mod sizes;
pub mod timers;

pub use members::members;
pub use sizes::{Sent, Sizes};

use super::{Stack, shapes, text};
use crate::c::printer;
use crate::c::tree::{Function, Item, Line};
use events::Agenda;

/// A function, or more, under the name by which it is mentioned.
pub type Named = (String, Item);

/// Pieces of a file, in the order in which they stand there.
#[derive(Clone, Debug, Default)]
pub struct Items {
    /// Constants.
    pub constants: Vec<Item>,
    /// The enum of work, the event and the place, behind the message.
    pub structs: Vec<Item>,
    /// Functions behind the struct of the stack, which helper text calls, and those about instances.
    pub hooks: Vec<Named>,
    /// Functions behind those about instances: events go on the agenda, or come up.
    pub events: Vec<Named>,
    /// The end of the file: the work loop, and all calls of the host.
    pub entries: Vec<Item>,
}

/// All pieces.
pub fn items(stack: &Stack<'_>, sizes: &Sizes) -> Items {
    let queued = events::queued(stack.module);
    let agenda = Agenda::new(stack, &queued);
    let mut up = agenda.functions();
    up.extend(outputs::functions(stack));
    let mut hooks = shapes::functions(stack);
    hooks.extend(links::hooks(stack));
    hooks.extend(listening::functions(stack));
    Items {
        constants: constants::items(stack, sizes, &queued),
        structs: agenda.structs(),
        hooks,
        events: up,
        entries: entries(stack, sizes, &agenda),
    }
}

fn entries(stack: &Stack<'_>, sizes: &Sizes, agenda: &Agenda<'_, '_>) -> Vec<Item> {
    let name = &stack.names.stack;
    let mut calls = vec![settings::defaults(stack, sizes)];
    calls.extend(settings::reads(stack));
    calls.push(settings::begin(stack));
    calls.extend(timers::items(stack));
    calls.extend(text::public(name, links::calls(stack)));
    calls.extend(links::entries(stack));
    calls.extend(ports::items(stack, sizes));
    let called = text::entries(name, &printer::file(&calls));
    let mut all = vec![
        agenda.handle(),
        links::arrives(stack),
        links::leave(stack),
        names_of_counters(stack),
    ];
    all.extend(called);
    all.extend(calls);
    all.extend(inline(name));
    all
}

/// The names of all counters, as the header numbers them.
fn names_of_counters(stack: &Stack<'_>) -> Item {
    let module = stack.module;
    let own = ["too_long", "no_session", "agenda_full"].map(|name| format!("stack.{name}"));
    let fates = [
        "frames_in",
        "frames_out",
        "delivered",
        "consumed",
        "merged",
        "held",
    ];
    let fates = fates.map(String::from).into_iter();
    let reasons: Vec<&String> = module.reasons.iter().chain(&own).collect();
    let dropped = reasons.iter().map(|name| name.to_string());
    let unsent = reasons.iter().map(|name| format!("unsent {name}"));
    let counts = module.counters.iter().map(|name| format!("count {name}"));
    let all = fates.chain(dropped).chain(unsent).chain(counts);
    let lines: String = all.map(|name| format!("    \"{name}\",\n")).collect();
    let name = &stack.names.stack;
    Item::Text(format!(
        "const char *const {name}_counter_name[] = {{\n{lines}    NULL,\n}};\n"
    ))
}

/// What the header defines, for all who do not see it there.
fn inline(name: &str) -> Vec<Item> {
    let pointer = format!("struct {name} *stack");
    let now = "uint64_t now_ns".to_string();
    let frames = format!("const struct {name}_frame *frames");
    let own = |text: &str| text.to_string();
    let all = [
        ("uint8_t *", "buffer", vec![own("size_t *room")]),
        (
            "size_t",
            "input",
            vec![own("unsigned link"), frames, own("size_t count"), now],
        ),
        (
            &format!("enum {name}_next"),
            "next",
            vec![format!("struct {name}_output *output")],
        ),
        (
            "void",
            "done",
            vec![format!("const struct {name}_output *output")],
        ),
    ];
    let all = all.map(|(result, function, parameters)| {
        Item::Prototype(Function {
            comment: String::new(),
            result: format!("extern inline {result}"),
            name: format!("{name}_{function}"),
            parameters: [vec![pointer.clone()], parameters].concat(),
            body: Vec::new(),
        })
    });
    all.to_vec()
}

/// A member or value, with what is said of it.
fn line(text: &str, comment: &str) -> Line {
    Line {
        text: text.to_string(),
        comment: comment.to_string(),
    }
}
