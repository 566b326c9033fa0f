//! The host's side of a stack in C: in, a module; out, all around its functions.
//!
//! ```text
//! constant.rs    sizes, reasons, counters, timers
//! stack.rs       members of the stack
//! goals.rs       to what events go, and what they carry
//! agenda.rs      how events wait, and what handles them
//! outputs.rs     the way out: the host is told, or an application called
//! grants.rs      numbers that called functions of an application return
//! listening.rs   sessions that wait to be accepted
//! links.rs       frames that come in and leave
//! timers.rs      timers that expire
//! settings.rs    settings, and the start
//! ports.rs       calls of applications
//! paths.rs       counters of fast paths and of their exits
//! build.rs       pieces of C of which these are made
//! ```
//!
//! Of functions with names those are kept that the file mentions.

pub mod agenda;
mod build;
pub mod constant;
pub mod goals;
mod grants;
pub mod links;
mod listening;
pub mod outputs;
pub mod paths;
pub mod ports;
mod settings;
mod stack;
mod timers;

pub use stack::members;

use super::header::tables;
use super::{Stack, shapes, text};
use crate::c::printer;
use crate::c::tree::{Function, Item};
use agenda::Agenda;

/// Names of functions that stand in the file of every stack, so that no other gets one of them.
pub fn reserved() -> impl Iterator<Item = &'static str> {
    text::defined().chain(OWN)
}

/// The reserved names that this folder builds.
const OWN: [&str; 15] = [
    "arrives",
    "begin",
    "call_link",
    "expire_next",
    "expired",
    "handle",
    "is_called",
    "is_calling",
    "leave",
    "memory_layout",
    "next_deadline",
    paths::NOTE,
    "read_settings",
    "settings_fit",
    "hand_over",
];

/// A function, or more, under the name by which it is mentioned.
pub type Named = (String, Item);

/// Pieces of a file, in the order in which they stand there.
#[derive(Clone, Debug, Default)]
pub struct Items {
    /// Constants.
    pub constants: Vec<Item>,
    /// The enum of work, the event and the place, behind the message.
    pub structs: Vec<Item>,
    /// Functions behind the struct of the stack, which the text calls, and those about instances.
    pub hooks: Vec<Named>,
    /// Functions behind those about instances: events go on the agenda, or come up.
    pub events: Vec<Named>,
    /// Counters of fast paths, whose names mention functions without calling them.
    pub paths: Vec<Item>,
    /// The end of the file: the work loop, and all calls of the host.
    pub entries: Vec<Item>,
}

/// All pieces.
pub fn items(stack: &Stack<'_>) -> Items {
    let queued = agenda::queued(stack);
    let agenda = Agenda::new(stack, &queued);
    let mut up = agenda.functions();
    up.extend(outputs::functions(stack));
    let mut hooks = shapes::functions(stack);
    hooks.extend(links::hooks(stack));
    hooks.extend(paths::hooks(stack));
    hooks.extend(listening::functions(stack));
    Items {
        constants: constant::items(stack),
        structs: agenda.structs(),
        hooks,
        events: up,
        paths: paths::items(stack),
        entries: entries(stack, &agenda),
    }
}

fn entries(stack: &Stack<'_>, agenda: &Agenda<'_, '_>) -> Vec<Item> {
    let mut calls = vec![settings::defaults(stack)];
    calls.extend(settings::reads(stack));
    calls.push(settings::begin(stack));
    calls.extend(timers::items(stack));
    let parts = text::Text::of(stack);
    calls.extend(parts.public());
    calls.extend(links::entries(stack));
    calls.extend(ports::items(stack));
    let called = parts.entries(&printer::file(&calls));
    let mut all = Vec::from_iter(agenda.handle());
    all.extend([
        links::arrives(stack),
        links::leave(stack),
        names_of_counters(stack),
    ]);
    all.extend(links::arrives_fast(stack));
    all.extend(called);
    all.extend(calls);
    all.extend(inline(stack));
    all
}

/// The names of all counters, as the header numbers them.
fn names_of_counters(stack: &Stack<'_>) -> Item {
    let all = stack.names.counted.iter();
    let names = all.map(|one| one.text.clone());
    Item::Text(tables::defined(stack, "counter_name", names))
}

/// The suffix of the function that gives a host a buffer for a frame.
const BUFFER: &str = "buffer";

/// Declarations of the inline functions of the header, which make C11 emit one copy of each.
fn inline(stack: &Stack<'_>) -> Vec<Item> {
    let name = &stack.names.stack;
    let pointer = format!("struct {name} *stack");
    let now = "uint64_t now_ns".to_string();
    let frames = format!("const struct {name}_frame *frames");
    let own = |text: &str| text.to_string();
    let all = [
        ("uint8_t *", BUFFER, vec![own("size_t *room")]),
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
    let is_inline = |function: &str| function != BUFFER || !stack.gives_no_buffers();
    let all = all
        .into_iter()
        .filter(|(_, function, _)| is_inline(function));
    let all = all.map(|(result, function, parameters)| {
        Item::Prototype(Function {
            comment: String::new(),
            result: format!("extern inline {result}"),
            name: format!("{name}_{function}"),
            parameters: [vec![pointer.clone()], parameters].concat(),
            body: Vec::new(),
        })
    });
    all.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::interface::Memory;
    use crate::ir::op::Target;
    use crate::ir::text::read;
    use crate::ir::{LinkId, Module};
    use crate::source::Sources;

    const CALLED: &str = "
stack small

headroom 4

attribute far: i1

attribute mark peer: i12

reason talk.gone

setting most: i12

given most: u12

kind talk[8] of talk, created {
  key peer: i12
  field backlog: i32
  field waiting: i32
  field waits: i1
  field unknown: i1
  field made_by: i32
  timer late calls talk.late
  timer later
}

link wire {
  calls leaving
  arrives arrive
}

port talks {
  calls came
  session talk from 0, 8
  sends talk.send
  opens talk {
    optional key peer: u12
    by talks.open
    events 2
  }
  attribute peer: optional u12 = far, peer
  up news(old: s12)
  down more(bytes: u16) calls talk.more
  grants more
}

listening talks {
  listener talk
  backlog backlog
  waiting waiting
  session talk
  waits waits
  unknown unknown
  made_by made_by
}

kept event fn talk.end(%n: i32) of talk {
b0:
  return
}

event fn talk.late(%n: i32) of talk {
b0:
  queue.back talk.end(%n)
  return
}

event fn talk.more(%n: i32, %bytes: i16) of talk {
b0:
  tail port talks notice news(%n, 5)
}

event fn talk.send(%n: i32, %m: msg) of talk {
b0:
  tail link wire(%m)
}

event fn arrive(%m: msg) of talk {
b0:
  tail port talks message(0, %m)
}

entry fn talks.open(%has: i1, %peer: i12) -> (i1, i32) {
b0:
  return 0, 0
}
";

    fn module() -> Module {
        let mut module = read(CALLED).expect("the text is a module");
        module.memory = Memory {
            room: 100,
            kept: 8,
            ..Memory::default()
        };
        module
    }

    fn code(module: &Module) -> [String; 5] {
        let sources = Sources::new();
        let stack = Stack::new(module, &sources);
        let items = items(&stack);
        let named = |all: Vec<Named>| all.into_iter().map(|(_, item)| item).collect::<Vec<_>>();
        let all = [
            items.constants,
            items.structs,
            named(items.hooks),
            named(items.events),
            items.entries,
        ];
        all.map(|items| printer::file(&items))
    }

    fn shows(code: &str, expected: &str) {
        assert!(code.contains(expected), "no\n{expected}\nin\n{code}");
    }

    #[test]
    fn each_instance_has_a_place_for_its_end() {
        let [constants, structs, ..] = code(&module());
        shows(&constants, " KEPT = 8,");
        shows(&constants, " BUFFER_SIZE = 104,");
        shows(&constants, " FEWEST_OUTPUTS = 3,");
        shows(&constants, "TALK_TIMERS = 0,");
        shows(&structs, "DO_TALK_END,");
        // It is not among the events that have more than an index.
        assert!(!structs.contains("} talk_end;"), "{structs}");
    }

    #[test]
    fn an_application_is_called_when_nothing_is_under_way() {
        let [_, _, _, events, entries] = code(&module());
        let under_way = "    if (stack->shared.calling || stack->waiting != 0) {
        stack->shared.steps -= 1;
        last_talks_deliver(stack, session, message);
    } else {
        call_talks_deliver(stack, session, *message);
    }";
        shows(&events, under_way);
        shows(
            &events,
            "    small_came_news(stack->config.user, stack, session, (int16_t)((old ^",
        );
        shows(&events, ".has_peer = message.far,");
        shows(&events, "        granted_talks(stack, session, granted);");
        shows(&events, "kept(stack, DO_TALK_END, n);");
        shows(
            &entries,
            "call_talks_deliver(stack, event->with.talks_deliver.session,",
        );
    }

    #[test]
    fn what_a_host_gives_is_limited_to_its_type() {
        let [_, _, _, _, entries] = code(&module());
        shows(
            &entries,
            "    if (config->most > 4095) {\n        return false;",
        );
        shows(
            &entries,
            "settings->most = (uint16_t)(config->most & 0xfffU);",
        );
        let opened = "talks_open(stack, keys->has_peer,";
        shows(&entries, opened);
        shows(&entries, "keys->has_peer ? keys->peer & 0xfffU : 0U)");
        shows(&entries, "message.far = with->has_peer;");
    }

    #[test]
    fn timers_expire_by_their_place_among_those_of_an_instance() {
        let [_, _, _, _, entries] = code(&module());
        let expired = "    switch (timer % 2) {
    case 0:
        talk_late(stack, timer / 2);
        break;
    }";
        shows(&entries, expired);
        shows(
            &entries,
            "sl_timer_begin(&stack->talk[n].timers.later, TALK_TIMERS + n * 2 + 1);",
        );
    }

    #[test]
    fn taken_outputs_give_places_back() {
        let [_, _, hooks, ..] = code(&module());
        shows(
            &hooks,
            "static void hand_over(struct small *stack, const struct small_output *output) {",
        );
        shows(
            &hooks,
            "static void waits_no_more_talk(struct small *stack, uint32_t n) {",
        );
        shows(
            &hooks,
            "    if (link == SMALL_LINK_WIRE) {\n        small_leaving(",
        );
    }

    #[test]
    fn reactions_in_a_circle_take_turns_on_the_agenda() {
        let circle = CALLED.replace(
            "  queue.back talk.end(%n)\n  return",
            "  tail talk.late(%n)",
        );
        let module = read(&circle).expect("the text is a module");
        let late = module.named("talk.late").expect("it is there");
        let sources = Sources::new();
        let stack = Stack::new(&module, &sources);
        assert!(stack.goes_round(late, late));
        assert!(agenda::queued(&stack).contains(&Target::Function(late)));
        assert!(!agenda::queued(&stack).contains(&Target::Link(LinkId(0))));
    }
}
