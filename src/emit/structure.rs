//! The constants of a stack, and the struct that holds all of it.

use super::Stack;
use super::ahead;
use super::assumed;
use super::begun::Begun;
use super::expected::Expected;
use super::external;
use super::layout::named_members;
use super::memory;
use super::message;
use super::output::Queued;
use super::paths;
use super::reacting::Shortcuts;
use super::record;
use super::state;
use crate::c::printer;
use crate::c::tree::{Item, Line};
use crate::types::program::KindId;
use std::collections::BTreeSet;

fn line(text: String, comment: &str) -> Line {
    Line {
        text,
        comment: comment.to_string(),
    }
}

/// Constants, the message, the kinds, the event and the stack itself.
pub fn items(stack: &Stack, queued: &BTreeSet<Queued>, shortcuts: &Shortcuts) -> Vec<Item> {
    let program = stack.program;
    let mut items = vec![
        sizes(stack, queued),
        reasons(stack),
        counts(stack),
        counters(),
    ];
    let (timers, timer_count) = state::timers(stack);
    if !timers.is_empty() {
        items.push(Item::Enum {
            comment: "The first timer of each kind of instances.".to_string(),
            name: String::new(),
            values: timers
                .iter()
                .map(|(kind, first)| {
                    let kind = stack.names.kinds[kind.at()].to_uppercase();
                    line(format!("{kind}_TIMERS = {first}"), "")
                })
                .collect(),
        });
    }
    items.push(message::layout(stack));
    items.extend(shortcuts.expected.iter().map(Expected::structure));
    items.extend(shortcuts.begun.iter().map(Begun::structure));
    for kind in (0..program.kinds.len() as u32).map(KindId) {
        if state::has_struct(stack, kind) {
            items.push(state::structure(stack, kind, shortcuts));
        }
    }
    if !queued.is_empty() {
        items.extend([work(stack, queued), event(stack, queued), place(stack)]);
    }
    items.push(whole(stack, queued, timer_count, shortcuts));
    items
}

/// The struct of the stack.
fn whole(
    stack: &Stack,
    queued: &BTreeSet<Queued>,
    timer_count: u32,
    shortcuts: &Shortcuts,
) -> Item {
    let name = &stack.names.stack;
    let kinds = (0..stack.program.kinds.len() as u32).map(KindId);
    let mut all = begin(stack);
    all.extend(waiting(name, !queued.is_empty()));
    all.extend(external::calls_applications(stack.program).then(|| {
        line(
            "uint32_t told".to_string(),
            "how much applications have told at once while they were called",
        )
    }));
    all.push(line(
        "uint64_t counters[COUNTERS]".to_string(),
        "in the order of their names",
    ));
    if !shortcuts.paths.is_empty() {
        let text = format!("uint64_t paths[{}]", paths::count(stack));
        all.push(line(text, "as the header numbers them"));
    }
    all.extend(shortcuts.expected.iter().map(Expected::member));
    for kind in kinds {
        all.extend(state::instances(stack, kind));
    }
    if timer_count > 0 {
        let heap = format!("struct sl_timer_entry timer_heap[{timer_count}]");
        all.extend([
            line("struct sl_timers timers".to_string(), "all timers"),
            line(heap, ""),
        ]);
    }
    all.extend(shortcuts.stands().is_some().then(|| {
        line(
            format!("struct {name}_buffer *spare"),
            "where an answer is to wait that was made in no buffer",
        )
    }));
    all.extend(stack.record.map(|_| {
        let links = stack.program.links.len();
        line(
            format!("uint32_t {}[{links}]", record::LAST),
            "how long the last frames were that came in by links",
        )
    }));
    Item::Struct {
        comment: "The whole stack. What is zero at the start means nothing is there.".to_string(),
        name: name.clone(),
        members: all,
    }
}

/// What the struct of a stack begins with.
fn begin(stack: &Stack) -> Vec<Line> {
    let name = &stack.names.stack;
    let mut all = vec![
        line(format!("struct {name}_shared shared"), "as the header says"),
        line(format!("struct {name}_config config"), "as it was set"),
        line("uint64_t now_ns".to_string(), "the time of the instant"),
        line("uint64_t hash_odd".to_string(), "what keys are hashed with"),
        line(
            format!("struct {name}_output *answers"),
            "what the host is to do: the first place",
        ),
        line(
            format!("struct {name}_output *end"),
            "behind the last place",
        ),
        line(
            format!("struct {name}_output *open"),
            "`limit`, while a step may be taken at once",
        ),
        line(
            format!("struct {name}_buffer *buffers"),
            "where messages are",
        ),
        line(
            format!("struct {name}_buffer *reserve"),
            "the first that can be taken, but not by the host",
        ),
        line(
            "uint32_t reserved".to_string(),
            "how many of these there are",
        ),
        line("size_t size".to_string(), "bytes of all buffers"),
        line(
            "size_t last".to_string(),
            "how far behind the first buffer the last one is",
        ),
    ];
    all.extend(memory::holds(stack).then(|| {
        line(
            format!("struct {name}_message *messages"),
            "those that are held, by buffer",
        )
    }));
    all
}

/// What waits on the agenda, and how much.
fn waiting(name: &str, is_any: bool) -> Vec<Line> {
    let mut all = Vec::new();
    if is_any {
        all.extend([
            line(
                format!("struct {name}_place *agenda"),
                "the last is handled first",
            ),
            line(
                format!("struct {name}_event *events"),
                "those that wait; the first is empty",
            ),
            line(
                "uint32_t free_event".to_string(),
                "the first place that is free, or 0",
            ),
            line(
                "uint32_t crowd".to_string(),
                "how many of these places are taken",
            ),
        ]);
    }
    let counted = [
        ("waiting", "how many events are on the agenda"),
        (
            "since",
            "how many were when outputs were begun to be put there",
        ),
    ];
    let counted = counted.map(|(name, comment)| line(format!("uint32_t {name}"), comment));
    all.extend(counted);
    all
}

/// The sizes of a stack that are known when it is compiled.
fn sizes(stack: &Stack, queued: &BTreeSet<Queued>) -> Item {
    let memory = stack.memory();
    let kept = memory::kept(stack.program, queued);
    let kept = (!queued.is_empty()).then_some((
        "KEPT",
        kept,
        "places on the agenda for starts and ends of instances",
    ));
    let values = [
        (
            "HEADROOM",
            memory.headroom,
            "bytes before a frame, for headers",
        ),
        (
            "BUFFER_SIZE",
            memory.buffer(),
            "of one message, with its headroom",
        ),
        (
            "AHEAD",
            ahead::steps(stack),
            "steps that a fast path may take behind its first",
        ),
    ];
    let values = values.into_iter().chain(kept);
    Item::Enum {
        comment: String::new(),
        name: String::new(),
        values: values
            .map(|(name, value, comment)| line(format!("{name} = {value}"), comment))
            .collect(),
    }
}

fn reasons(stack: &Stack) -> Item {
    let names = stack
        .names
        .reasons
        .iter()
        .map(|name| line(name.clone(), ""));
    let own = [
        "STACK_TOO_LONG",
        "STACK_NO_SESSION",
        "STACK_AGENDA_FULL",
        "REASONS",
    ];
    Item::Enum {
        comment: "Why messages are dropped.".to_string(),
        name: String::new(),
        values: names
            .chain(own.map(|name| line(name.to_string(), "")))
            .collect(),
    }
}

fn counts(stack: &Stack) -> Item {
    let own = assumed::stand_elsewhere(stack).then_some("STACK_CUT_BUFFER");
    let own = own.into_iter().chain(["COUNTS"]);
    let names = stack.names.counts.iter().map(String::as_str).chain(own);
    Item::Enum {
        comment: "What else is counted.".to_string(),
        name: String::new(),
        values: names.map(|name| line(name.to_string(), "")).collect(),
    }
}

fn counters() -> Item {
    let values = [
        ("FRAMES_IN", "frames that came in"),
        ("FRAMES_OUT", "frames that left"),
        ("DELIVERED", "those that came in and went to an application"),
        ("CONSUMED", "those that came in and have done their duty"),
        ("MERGED", "those that came in and became part of another"),
        ("HELD", "those that came in and wait in a container"),
        ("DROPPED", "those that came in and were dropped, by reason"),
        (
            "UNSENT = DROPPED + REASONS",
            "our own that were dropped, by reason",
        ),
        ("COUNTED = UNSENT + REASONS", "what else is counted"),
        ("COUNTERS = COUNTED + COUNTS", ""),
    ];
    Item::Enum {
        comment: "Where the counters stand.".to_string(),
        name: String::new(),
        values: values
            .iter()
            .map(|(text, comment)| line(text.to_string(), comment))
            .collect(),
    }
}

/// The names of the counters, in their order, as applications see them.
pub fn counted(stack: &Stack) -> Vec<String> {
    let mut names = stack.names.numbers.counted.clone();
    names.extend(assumed::stand_elsewhere(stack).then(|| "count stack.cut_buffer".to_string()));
    names
}

pub fn counter_names(stack: &Stack) -> Item {
    let lines: String = counted(stack)
        .iter()
        .map(|name| format!("    \"{name}\",\n"))
        .collect();
    let stack = &stack.names.stack;
    Item::Text(format!(
        "const char *const {stack}_counter_name[] = {{\n{lines}    NULL,\n}};\n"
    ))
}

fn work(stack: &Stack, queued: &BTreeSet<Queued>) -> Item {
    let values: Vec<Line> = queued
        .iter()
        .map(|one| line(printer::expression(&one.work(stack)), ""))
        .collect();
    Item::Enum {
        comment: "What can wait on the agenda.".to_string(),
        name: "work".to_string(),
        values,
    }
}

fn event(stack: &Stack, queued: &BTreeSet<Queued>) -> Item {
    let name = &stack.names.stack;
    let mut all = vec![
        line("enum work work".to_string(), "what is to be done"),
        line("uint32_t instance".to_string(), "by which instance"),
        line(
            "uint32_t before".to_string(),
            "how many of its instant come before it, for which it leaves room",
        ),
        line(
            "uint32_t next".to_string(),
            "while its place is free, the free one behind it",
        ),
        line(
            format!("struct {name}_message message"),
            "with which message; no data: none",
        ),
    ];
    let mut with = String::new();
    for one in queued {
        let arguments = one.arguments(stack);
        if arguments.is_empty() {
            continue;
        }
        with += "        struct {\n";
        for (parameter, kind) in arguments {
            for member in named_members(stack, &kind, &parameter, "") {
                with += &format!("            {};\n", member.text);
            }
        }
        with += &format!("        }} {};\n", one.name(stack));
    }
    if super::external::calls_applications(stack.program) {
        all.push(line(
            "bool follows".to_string(),
            "whether it belongs to the step that put it there",
        ));
    }
    if !with.is_empty() {
        all.push(line(format!("union {{\n{with}    }} with"), ""));
    }
    Item::Struct {
        comment: "An event that waits.".to_string(),
        name: format!("{name}_event"),
        members: all,
    }
}

/// A place on the agenda, of which there are many: starts and ends of instances need no more.
fn place(stack: &Stack) -> Item {
    let members = [
        ("enum work work", "what is to be done"),
        ("uint32_t instance", "by which instance"),
        (
            "uint32_t event",
            "the rest of the event: its place, or 0 if there is no more",
        ),
    ];
    let calls = super::external::calls_applications(stack.program);
    let waited = calls.then_some((
        "bool waited",
        "whether it has let all go before it that was under way",
    ));
    let members = members.into_iter().chain(waited);
    let members = members.map(|(text, comment)| line(text.to_string(), comment));
    Item::Struct {
        comment: "A place on the agenda.".to_string(),
        name: format!("{}_place", stack.names.stack),
        members: members.collect(),
    }
}
