//! `NAME.c`: the runtime, the state, the reactions, and what the host calls, in this order.

use super::Stack;
use super::expression::number_text;
use super::function;
use super::header_file;
use super::layout::named_members;
use super::names::c_name;
use super::output::Queued;
use super::parts;
use super::port;
use super::runtime;
use super::state;
use super::tree;
use super::types;
use super::wire;
use crate::c::printer;
use crate::c::tree::{
    Expression as C, Function, Item, Line, Statement as S, assign, atom, binary, call,
};
use crate::tree::{Index, Reaction};
use crate::types::program::{
    EntityId, Event, FunctionId, KindId, LinkId, Population, Role, TimerId,
};
use crate::types::value::Type;
use std::collections::BTreeSet;

/// Entries of the ring of what the host is to do.
const OUTPUTS: u32 = 64;

/// Buffers that frames leave to the stack's own messages.
const RESERVE: u32 = 8;

/// The longest frame that fits at least, without headers of our own.
const LONGEST_FRAME: u32 = 9216;

/// The whole file.
pub fn text(stack: &Stack) -> String {
    let reactions = Reactions::new(stack);
    let driver = driver(stack, &reactions.queued);
    let started = printer::file(&driver) + &interface(stack);
    let kinds = kind_functions(stack, &(reactions.text.clone() + &started));
    let values = values(stack, &(reactions.text.clone() + &printer::file(&kinds)));
    let code = printer::file(&[&values[..], &kinds, &reactions.items, &driver].concat());
    let upward = upward(stack, &code);
    let upward_text = printer::file(&upward);
    let interface = interface(stack);
    let used = [code.as_str(), &upward_text, &interface].join("\n");
    let blank = state::blank(stack);
    let named = |text: &str| parts::named(text, &stack.names.stack, &blank);
    let own: Vec<String> = parts::select(parts::OWN, &used)
        .into_iter()
        .map(named)
        .collect();
    let own = own.join("\n\n");
    let state = state_items(stack, &reactions.queued);
    let all = [printer::file(&state), own.clone(), used].join("\n");
    let private = [
        types::values(stack, &all),
        header_file::private_enums(stack),
        types::records(stack),
    ]
    .concat();
    let header = header_file::text(stack);
    let private: Vec<Item> = private
        .into_iter()
        .filter(|item| !header.contains(&of(item)))
        .collect();
    let bytes = types::byte_functions(stack, &all);
    let ranks = types::ranks(stack, &all);
    let copied = runtime::select(&runtime::mentioned(&all));
    let mut file = format!("{}\n", top(stack));
    let mut add = |title: &str, text: String| {
        if !text.trim().is_empty() {
            file += &format!(
                "\n{}\n{}",
                printer::file(&[Item::Banner(title.to_string())]),
                text
            );
        }
    };
    add("runtime: copied from stackloom.h", copied);
    add("state", printer::file(&[private, state].concat()));
    add("messages, containers and the agenda", own + "\n");
    add("values", printer::file(&[bytes, ranks, values].concat()));
    add("instances", printer::file(&kinds));
    add("what applications are handed", upward_text);
    file += &format!("\n{}", printer::file(&reactions.items));
    let mut add = |title: &str, text: String| {
        file += &format!(
            "\n{}\n{}",
            printer::file(&[Item::Banner(title.to_string())]),
            text
        );
    };
    add("what starts reactions", printer::file(&driver));
    add("what the host calls", interface);
    file
}

/// The first line of an item, by which it is known.
fn of(item: &Item) -> String {
    let text = printer::file(std::slice::from_ref(item));
    text.lines()
        .find(|line| line.ends_with('{'))
        .unwrap_or("\u{0}")
        .to_string()
}

fn top(stack: &Stack) -> String {
    let name = &stack.names.stack;
    format!(
        "/*\n * {name}: compiled by Stackloom. What it does is said in the sources that stand \
         beside its\n * functions; how it is called, in {name}.h.\n */\n#include \"{name}.h\"\n\n\
         #include <string.h>"
    )
}

/// The functions of all trees that something starts, with a banner for each entity.
struct Reactions {
    items: Vec<Item>,
    /// The functions as text.
    text: String,
    queued: BTreeSet<Queued>,
}

/// The functions of one tree, and what they put on the agenda.
struct Reacting {
    reaction: Reaction,
    functions: Vec<Function>,
    queued: BTreeSet<Queued>,
}

impl Reactions {
    fn new(stack: &Stack) -> Reactions {
        let mut all = Vec::new();
        for tree in &stack.forest.trees {
            let mut queued = BTreeSet::new();
            let functions = tree::functions(stack, tree, &mut queued);
            all.push(Reacting {
                reaction: tree.reaction,
                functions,
                queued,
            });
        }
        keep_started(stack, &mut all);
        let mut queued: BTreeSet<Queued> = started(stack).into_iter().collect();
        let mut prototypes = Vec::new();
        let mut items = Vec::new();
        let mut text = String::new();
        let mut last: Option<EntityId> = None;
        for one in all {
            let entity = entity_of(stack, one.reaction);
            if last != Some(entity) {
                items.push(Item::Banner(banner(stack, entity)));
                last = Some(entity);
            }
            queued.extend(one.queued);
            for function in one.functions {
                prototypes.push(Item::Prototype(Function {
                    comment: String::new(),
                    ..function.clone()
                }));
                let item = Item::Function(function);
                text += &printer::file(std::slice::from_ref(&item));
                items.push(item);
            }
        }
        prototypes.extend(items);
        Reactions {
            items: prototypes,
            text,
            queued,
        }
    }
}

/// What is put on the agenda from outside of trees.
fn started(stack: &Stack) -> Vec<Queued> {
    [port::queued(stack), port::told(stack), at_start(stack)].concat()
}

fn entity_of(stack: &Stack, reaction: Reaction) -> EntityId {
    match reaction {
        Reaction::Arrive { entity, .. } => entity,
        Reaction::Handle { kind, .. } => stack.program.kinds[kind.at()].entity,
    }
}

/// Keeps the trees that links, ports, timers or the start lead to.
fn keep_started(stack: &Stack, all: &mut Vec<Reacting>) {
    let is_timer = |reaction: &Reaction| {
        matches!(
            reaction,
            Reaction::Handle {
                event: Event::Timer(_),
                ..
            }
        )
    };
    let links = stack.program.links.iter();
    let mut open: Vec<Reaction> = links
        .flat_map(|link| port::above_link(stack, link.above, Event::Deliver))
        .collect();
    open.extend(
        stack
            .program
            .ports
            .iter()
            .filter_map(|one| port::below(stack, one, Event::Send)),
    );
    open.extend(all.iter().map(|one| one.reaction).filter(is_timer));
    let reactions = |queued: &Queued| match queued {
        Queued::Reaction(reaction) => Some(*reaction),
        Queued::Frame(_) | Queued::Port(..) => None,
    };
    open.extend(started(stack).iter().filter_map(reactions));
    let mut kept = BTreeSet::new();
    while let Some(reaction) = open.pop() {
        if !kept.insert(reaction) {
            continue;
        }
        let own = all
            .iter()
            .find(|one| one.reaction == reaction)
            .expect("it has a tree");
        open.extend(own.queued.iter().filter_map(reactions));
        open.extend(stack.called_by(stack.tree(reaction).expect("it has a tree")));
    }
    all.retain(|one| kept.contains(&one.reaction));
}

fn banner(stack: &Stack, entity: EntityId) -> String {
    let own = &stack.program.entities[entity.at()];
    match own.docs.first() {
        Some(line) => {
            let line = line.trim();
            let short: String = line.chars().take(80).collect();
            if short.starts_with(&own.name) {
                short
            } else {
                format!("{}: {short}", own.name)
            }
        }
        None => own.name.clone(),
    }
}

/// What is on the agenda when the stack starts, in order.
fn at_start(stack: &Stack) -> Vec<Queued> {
    let mut all = Vec::new();
    for (at, kind) in stack.program.kinds.iter().enumerate() {
        let Population::Static(_) = kind.population else {
            continue;
        };
        for n in 0..kind.capacity {
            all.push(Reaction::Handle {
                kind: KindId(at as u32),
                index: Index::Only(n),
                event: Event::Start,
            });
        }
    }
    all.retain(|reaction| stack.tree(*reaction).is_some());
    for link in &stack.program.links {
        if let Some(carrier) = link.carrier {
            all.extend(port::above_link(stack, link.above, Event::Notice(carrier)));
        }
    }
    all.into_iter().map(Queued::Reaction).collect()
}

fn line(text: String, comment: &str) -> Line {
    Line {
        text,
        comment: comment.to_string(),
    }
}

/// Functions of values: filters and functions of the sources, and the sums of headers, as far as
/// some code needs them.
fn values(stack: &Stack, code: &str) -> Vec<Item> {
    let mut all: Vec<Function> = Vec::new();
    for (at, function) in stack.program.functions.iter().enumerate() {
        if function.body.is_some() {
            all.push(function::function(stack, FunctionId(at as u32)));
        }
    }
    all.extend((0..stack.program.filters.len()).map(|at| function::filter(stack, at)));
    all.extend(wire::sum_functions(stack));
    in_order_of_calls(needed(all, code))
}

fn text_of(function: &Function) -> String {
    printer::file(&[Item::Function(function.clone())])
}

/// Those functions that some code calls, or that these call.
fn needed(all: Vec<Function>, code: &str) -> Vec<Function> {
    let mut wanted: BTreeSet<String> = parts::words(code).into_iter().map(String::from).collect();
    let mut open = all.clone();
    loop {
        let (found, others): (Vec<_>, Vec<_>) =
            open.into_iter().partition(|one| wanted.contains(&one.name));
        for function in &found {
            let text = text_of(function);
            wanted.extend(parts::words(&text).into_iter().map(String::from));
        }
        open = others;
        if found.is_empty() {
            return all
                .into_iter()
                .filter(|one| wanted.contains(&one.name))
                .collect();
        }
    }
}

/// Functions of which each stands behind those that it calls.
fn in_order_of_calls(functions: Vec<Function>) -> Vec<Item> {
    let mut placed: Vec<Item> = Vec::new();
    let mut open = functions;
    while !open.is_empty() {
        let names: BTreeSet<String> = open.iter().map(|one| one.name.clone()).collect();
        let waits = |one: &Function| {
            let text = text_of(one);
            let words = parts::words(&text);
            words
                .iter()
                .any(|word| *word != one.name && names.contains(*word))
        };
        let (ready, waiting): (Vec<_>, Vec<_>) = open.into_iter().partition(|one| !waits(one));
        assert!(
            !ready.is_empty(),
            "functions do not call each other in circles"
        );
        placed.extend(
            ready
                .into_iter()
                .map(|one| Item::Function(super::with_all_used(one))),
        );
        open = waiting;
    }
    placed
}

/// The functions of all kinds that some code needs.
fn kind_functions(stack: &Stack, code: &str) -> Vec<Item> {
    let kinds = (0..stack.program.kinds.len() as u32).map(KindId);
    let all: Vec<Function> = kinds
        .flat_map(|kind| state::functions(stack, kind))
        .collect();
    in_order_of_calls(needed(all, code))
}

/// The functions that hand things to applications, as far as they are called.
fn upward(stack: &Stack, code: &str) -> Vec<Item> {
    let words = parts::words(code);
    let ports = stack
        .names
        .ports
        .iter()
        .filter(|(_, name)| words.contains(name.as_str()));
    ports
        .map(|((port, event), _)| port::upward(stack, *port, *event))
        .collect()
}

/// Constants, the message, the kinds, the event and the stack itself.
fn state_items(stack: &Stack, queued: &BTreeSet<Queued>) -> Vec<Item> {
    let program = stack.program;
    let name = &stack.names.stack;
    let mut items = vec![sizes(stack), reasons(stack), counts(stack), counters()];
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
    items.push(state::message(stack));
    for kind in (0..program.kinds.len() as u32).map(KindId) {
        if state::has_struct(stack, kind) {
            items.push(state::structure(stack, kind));
        }
    }
    items.push(work(stack, queued));
    items.push(event(stack, queued));
    let timer_slots = timer_count.max(1);
    let mut all = vec![
        line(format!("struct {name}_config config"), "as it was set"),
        line("uint64_t now_ns".to_string(), "the time of the instant"),
        line(
            "uint64_t counters[COUNTERS]".to_string(),
            "in the order of their names",
        ),
    ];
    for kind in (0..program.kinds.len() as u32).map(KindId) {
        all.extend(state::instances(stack, kind));
    }
    all.extend([
        line("struct sl_timers timers".to_string(), "all timers"),
        line(format!("struct sl_timer timer_heap[{timer_slots}]"), ""),
        line(format!("uint32_t timer_place[{timer_slots}]"), ""),
        line("struct sl_buffers buffers".to_string(), "where messages are"),
        line(format!("struct {name}_message *messages"), "those that are held, by buffer"),
        line(format!("struct {name}_event agenda[AGENDA]"), "the last is handled first"),
        line("uint32_t waiting".to_string(), "how many events are on the agenda"),
        line("uint32_t steps".to_string(), "how many this call has handled"),
        line("struct sl_ring answers".to_string(), "what the host is to do"),
        line(
            format!(
                "struct {{\n        enum {name}_next next;\n        struct {name}_output output;\n    }} \
                 answer[OUTPUTS]"
            ),
            "",
        ),
    ]);
    items.push(Item::Struct {
        comment: "The whole stack. What is zero at the start means nothing is there.".to_string(),
        name: name.clone(),
        members: all,
    });
    items
}

/// The sizes of a stack.
fn sizes(stack: &Stack) -> Item {
    let program = stack.program;
    let headroom: u32 = program
        .entities
        .iter()
        .filter_map(|entity| entity.header)
        .map(|header| program.headers[header.at()].most)
        .sum();
    let mut longest = LONGEST_FRAME;
    for field in program.kinds.iter().flat_map(|kind| &kind.fields) {
        if let Type::Stream(_, capacity) = field.kind {
            longest = longest.max(capacity);
        }
    }
    let size = (longest + headroom).next_multiple_of(64);
    let dynamic =
        |kind: &&crate::types::program::Kind| matches!(kind.population, Population::Dynamic { .. });
    let most: u32 = program
        .kinds
        .iter()
        .filter(dynamic)
        .map(|kind| kind.capacity)
        .sum();
    let agenda = (most + 128).next_multiple_of(64).max(256);
    let values = [
        ("HEADROOM", headroom, "bytes before a frame, for headers"),
        ("BUFFER_SIZE", size, "of one message, with its headroom"),
        ("AGENDA", agenda, "events that can wait"),
        ("OUTPUTS", OUTPUTS, "answers that can wait for the host"),
        (
            "RESERVE",
            RESERVE,
            "buffers that frames leave to our own messages",
        ),
    ];
    Item::Enum {
        comment: String::new(),
        name: String::new(),
        values: values
            .iter()
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
    let own = ["STACK_NO_BUFFER", "STACK_AGENDA_FULL", "REASONS"];
    Item::Enum {
        comment: "Why messages are dropped.".to_string(),
        name: String::new(),
        values: names
            .chain(own.map(|name| line(name.to_string(), "")))
            .collect(),
    }
}

fn counts(stack: &Stack) -> Item {
    let names = stack.names.counts.iter().map(|name| line(name.clone(), ""));
    Item::Enum {
        comment: "What else is counted.".to_string(),
        name: String::new(),
        values: names.chain([line("COUNTS".to_string(), "")]).collect(),
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

fn counter_names(stack: &Stack) -> Item {
    let program = stack.program;
    let own = [
        "frames_in",
        "frames_out",
        "delivered",
        "consumed",
        "merged",
        "held",
    ];
    let mut names: Vec<String> = own.map(String::from).to_vec();
    let entity = |id: EntityId| &program.entities[id.at()].name;
    for before in ["", "unsent "] {
        let reasons = program.reasons.iter();
        names.extend(reasons.map(|one| format!("{before}{}.{}", entity(one.entity), one.name)));
        names.extend(["no_buffer", "agenda_full"].map(|name| format!("{before}stack.{name}")));
    }
    let counts = program.counts.iter();
    names.extend(counts.map(|one| format!("count {}.{}", entity(one.entity), one.name)));
    let lines: String = names
        .iter()
        .map(|name| format!("    \"{name}\",\n"))
        .collect();
    let stack = &stack.names.stack;
    Item::Text(format!(
        "const char *const {stack}_counter_name[] = {{\n{lines}    NULL,\n}};\n"
    ))
}

fn work(stack: &Stack, queued: &BTreeSet<Queued>) -> Item {
    let mut values: Vec<Line> = queued
        .iter()
        .map(|one| line(printer::expression(&one.work(stack)), ""))
        .collect();
    if values.is_empty() {
        values.push(line("DO_NOTHING".to_string(), ""));
    }
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
    if !with.is_empty() {
        all.push(line(format!("union {{\n{with}    }} with"), ""));
    }
    Item::Struct {
        comment: "An event that waits on the agenda.".to_string(),
        name: format!("{name}_event"),
        members: all,
    }
}

/// The functions that start reactions: from the agenda, from links, by timers, at the start.
fn driver(stack: &Stack, queued: &BTreeSet<Queued>) -> Vec<Item> {
    let functions = [
        handle(stack, queued),
        frame_arrives(stack),
        expire(stack),
        begin(stack),
    ];
    let mut items: Vec<Item> = functions
        .into_iter()
        .map(|one| Item::Function(super::with_all_used(one)))
        .collect();
    items.push(counter_names(stack));
    items
}

fn stack_parameter(stack: &Stack) -> String {
    format!("struct {} *stack", stack.names.stack)
}

fn handle(stack: &Stack, queued: &BTreeSet<Queued>) -> Function {
    let event = || atom("event");
    let cases = queued.iter().map(|one| {
        let mut all = vec![atom("stack")];
        let name = one.name(stack);
        let message = event().behind("message");
        let instance = event().behind("instance");
        match one {
            Queued::Reaction(reaction) => {
                let tree = stack.tree(*reaction).expect("what is queued has a tree");
                all.extend(tree.parameters.instance.map(|_| instance));
                all.extend(tree.parameters.message.map(|_| message));
            }
            Queued::Frame(link) => {
                all.extend([atom(link.at().to_string()), message.address()]);
                return (vec![one.work(stack)], vec![S::Do(call("send_frame", all))]);
            }
            Queued::Port(_, what) => {
                all.push(instance);
                let carries = match what {
                    Event::Notice(notice) => stack.program.notices[notice.at()].message,
                    _ => true,
                };
                all.extend(carries.then(|| message.address()));
            }
        }
        for (parameter, kind) in one.arguments(stack) {
            let place = |name: &str| event().behind("with").member(one.name(stack)).member(name);
            if let Type::Optional(_) = kind {
                all.push(place(&format!("has_{parameter}")));
            }
            all.push(place(&parameter));
        }
        let handled = S::Do(call(name, all));
        let body = match one {
            Queued::Reaction(reaction) => while_it_lives(stack, *reaction, handled),
            Queued::Frame(_) | Queued::Port(..) => vec![handled],
        };
        (vec![one.work(stack)], body)
    });
    let cases: Vec<(Vec<C>, Vec<S>)> = cases.collect();
    let body = match cases.is_empty() {
        true => Vec::new(),
        false => vec![S::Switch {
            value: event().behind("work"),
            cases,
            otherwise: None,
        }],
    };
    Function {
        comment: "Handles an event of the agenda.".to_string(),
        result: "static void".to_string(),
        name: "handle".to_string(),
        parameters: vec![
            stack_parameter(stack),
            format!("const struct {}_event *event", stack.names.stack),
        ],
        body,
    }
}

/// What an event was for may have ended meanwhile; then its message has done its duty.
fn while_it_lives(stack: &Stack, reaction: Reaction, handled: S) -> Vec<S> {
    let Reaction::Handle {
        kind,
        index: Index::Any,
        ..
    } = reaction
    else {
        return vec![handled];
    };
    if super::output::is_static(stack, kind) {
        return vec![handled];
    }
    let name = &stack.names.kinds[stack.pool_of(kind).at()];
    let beside = |suffix: &str| atom("stack").behind(format!("{name}_{suffix}"));
    let event = || atom("event");
    let instance = event().behind("instance");
    let lives = call(
        "sl_pool_has",
        vec![beside("pool").address(), beside("next"), instance],
    );
    let tree = stack.tree(reaction).expect("what is queued has a tree");
    let message = event().behind("message").address();
    let otherwise = match tree.parameters.message {
        Some(_) => vec![S::Do(call("consume", vec![atom("stack"), message]))],
        None => Vec::new(),
    };
    vec![S::If {
        condition: lives,
        then: vec![handled],
        otherwise,
    }]
}

fn frame_arrives(stack: &Stack) -> Function {
    let mut cases = Vec::new();
    for (at, link) in stack.program.links.iter().enumerate() {
        for reaction in port::above_link(stack, link.above, Event::Deliver) {
            let name = stack.names.reactions[&reaction].clone();
            let arrives = S::Do(call(name, vec![atom("stack"), atom("message")]));
            cases.push((
                vec![atom(LinkId(at as u32).at().to_string())],
                vec![arrives],
            ));
        }
    }
    let consumed = S::Do(call(
        "consume",
        vec![atom("stack"), atom("message").address()],
    ));
    Function {
        comment: "A frame comes in by a link.".to_string(),
        result: "static void".to_string(),
        name: "frame_arrives".to_string(),
        parameters: vec![
            stack_parameter(stack),
            "unsigned link".to_string(),
            format!("struct {}_message message", stack.names.stack),
        ],
        body: vec![S::Switch {
            value: atom("link"),
            cases,
            otherwise: Some(vec![consumed]),
        }],
    }
}

/// The timers with the greatest ids first, so that one comparison tells the kind.
fn expire(stack: &Stack) -> Function {
    let (timers, _) = state::timers(stack);
    let mut body = Vec::new();
    for (kind, _) in timers.into_iter().rev() {
        let own = &stack.program.kinds[kind.at()];
        let base = atom(format!(
            "{}_TIMERS",
            stack.names.kinds[kind.at()].to_uppercase()
        ));
        let passed = binary("-", atom("timer"), base.clone());
        let count = own.timers.len() as u32;
        let index = match (own.role, own.capacity) {
            (Role::Record, _) | (_, 1) => atom("0"),
            _ if count == 1 => passed.clone(),
            _ => binary("/", passed.clone(), atom(count.to_string())),
        };
        let cases = (0..count).filter_map(|timer| {
            let call = expired(stack, kind, TimerId(timer), &index)?;
            Some((vec![atom(timer.to_string())], call))
        });
        let mut cases: Vec<(Vec<C>, Vec<S>)> = cases.collect();
        let mut then = match (count, cases.len()) {
            (_, 0) => Vec::new(),
            (1, _) => cases.swap_remove(0).1,
            _ => vec![S::Switch {
                value: binary("%", passed, atom(count.to_string())),
                cases,
                otherwise: None,
            }],
        };
        then.push(S::Return(None));
        let condition = binary(">=", atom("timer"), base);
        body.push(S::If {
            condition,
            then,
            otherwise: Vec::new(),
        });
    }
    if let Some(S::If { then, .. }) = body.last_mut() {
        // The last kind begins with the first id.
        let last: Vec<S> = then.drain(..then.len() - 1).collect();
        body.pop();
        body.extend(last);
    }
    Function {
        comment: "A timer has expired.".to_string(),
        result: "static void".to_string(),
        name: "expire".to_string(),
        parameters: vec![stack_parameter(stack), "uint32_t timer".to_string()],
        body,
    }
}

fn expired(stack: &Stack, kind: KindId, timer: TimerId, index: &C) -> Option<Vec<S>> {
    let event = Event::Timer(timer);
    let of = |index| Reaction::Handle { kind, index, event };
    let call_of = |reaction: Reaction| {
        let tree = stack.tree(reaction)?;
        let mut all = vec![atom("stack")];
        all.extend(tree.parameters.instance.map(|_| index.clone()));
        Some(S::Do(call(stack.names.reactions[&reaction].clone(), all)))
    };
    let any = call_of(of(Index::Any));
    let capacity = stack.program.kinds[kind.at()].capacity;
    match any {
        Some(call) => Some(vec![call]),
        None if capacity == 1 => call_of(of(Index::Only(0))).map(|call| vec![call]),
        None => {
            let cases = (0..capacity).filter_map(|n| {
                let call = call_of(of(Index::Only(n)))?;
                Some((vec![atom(n.to_string())], vec![call]))
            });
            let cases: Vec<_> = cases.collect();
            let value = index.clone();
            (!cases.is_empty()).then(|| {
                vec![S::Switch {
                    value,
                    cases,
                    otherwise: None,
                }]
            })
        }
    }
}

/// The first values, and what is on the agenda at first.
fn begin(stack: &Stack) -> Function {
    let mut body = state::at_start(stack);
    for one in at_start(stack).into_iter().rev() {
        let mut fields = vec![("work".to_string(), one.work(stack))];
        for (parameter, _) in one.arguments(stack) {
            fields.push((
                format!("with.{}.{parameter}", one.name(stack)),
                atom("true"),
            ));
        }
        let kind = format!("struct {}_event", stack.names.stack);
        body.push(S::Do(call(
            "later",
            vec![atom("stack"), C::Struct(kind, fields)],
        )));
    }
    Function {
        comment: "What is there at the start, and happens first.".to_string(),
        result: "static void".to_string(),
        name: "begin".to_string(),
        parameters: vec![stack_parameter(stack)],
        body,
    }
}

/// What the host calls.
fn interface(stack: &Stack) -> String {
    let name = &stack.names.stack;
    let texts = parts::all(parts::INTERFACE);
    let mut all: Vec<String> = texts
        .iter()
        .map(|text| parts::named(text, name, ""))
        .collect();
    all.push(
        printer::file(&[Item::Function(config_default(stack))])
            .trim_end()
            .to_string(),
    );
    for port in &stack.program.ports {
        let functions = port::functions(stack, port);
        all.push(printer::file(&functions).trim_end().to_string());
    }
    all.join("\n\n") + "\n"
}

fn config_default(stack: &Stack) -> Function {
    let config = || atom("config");
    let scope = port::outside(stack);
    let whole = vec![config(), atom("0"), atom("sizeof *config")];
    let mut body = vec![S::Do(call("memset", whole))];
    for one in &stack.program.config {
        let Some(value) = &one.default else { continue };
        let value = crate::types::expression::Expression::constant(value.clone(), one.kind.clone());
        let name = c_name(&one.name);
        if let Type::Optional(_) = one.kind {
            body.push(assign(
                config().behind(format!("has_{name}")),
                scope.present(&value),
            ));
            body.push(assign(config().behind(name), scope.unwrapped(&value)));
        } else {
            body.push(assign(config().behind(name), scope.stored(&value)));
        }
    }
    body.push(assign(config().behind("buffers"), atom(number_text(256))));
    body.push(assign(config().behind("budget"), atom(number_text(4096))));
    Function {
        comment: String::new(),
        result: "void".to_string(),
        name: format!("{}_config_default", stack.names.stack),
        parameters: vec![format!("struct {}_config *config", stack.names.stack)],
        body,
    }
}
