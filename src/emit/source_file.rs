//! `NAME.c`: the runtime, the state, the reactions, and what the host calls, in this order.

use super::Stack;
use super::always;
use super::apart;
use super::assumed;
use super::begun::Begun;
use super::bypass;
use super::driver;
use super::expected::{Expected, is_expected_name};
use super::external;
use super::function;
use super::granted;
use super::header_file;
use super::in_place;
use super::leaves;
use super::message;
use super::narrow;
use super::options;
use super::output::Queued;
use super::parts;
use super::paths;
use super::port;
use super::reacting::{self, Reacting, Shortcuts};
use super::record;
use super::settle;
use super::state;
use super::structure;
use super::sums;
use super::types;
use super::upward;
use super::waits;
use crate::c::printer;
use crate::c::runtime;
use crate::c::tree::{Function, Item};
use crate::tree::Reaction;
use crate::tree::rewrites::Rewrite;
use crate::types::program::{EntityId, Event, FunctionId, KindId};
use std::collections::BTreeSet;

/// Where a frame goes into the stack.
const ARRIVES: [&str; 3] = [
    "    frame_arrives(stack, 0, message);\n",
    "    frame_arrives(stack, link, message);\n",
    "    frame_arrives(stack, link, arrived(frame));\n",
];

/// The whole file, and its header.
pub fn text(stack: &Stack) -> (String, String, Shortcuts) {
    let reactions = Reactions::new(stack);
    let shortcuts = &reactions.shortcuts;
    let mut driver = driver::functions(stack, &reactions.queued, &shortcuts.expected);
    driver.extend(paths::names(stack, &shortcuts.paths));
    let started = printer::file(&driver) + &reactions.interface(stack);
    let (values, mut kinds) = values(stack, &(reactions.text.clone() + &started));
    shortcuts.keep(&mut kinds);
    let code = printer::file(&[&values[..], &kinds, &reactions.items, &driver].concat());
    let handed = handed(stack, &code);
    let upward_text = printer::file(&handed);
    let called = [&values[..], &kinds, &handed].concat();
    let in_place = Vec::from_iter(reactions.in_place(stack, &called));
    let interface = reactions.interface(stack);
    let used = [code.as_str(), &upward_text, &interface].join("\n");
    let own = own_parts(stack, &used, shortcuts);
    let state = structure::items(stack, &reactions.queued, shortcuts);
    let all = [printer::file(&state), own.clone(), used].join("\n");
    let private = [
        types::structs(stack, &all),
        header_file::private_enums(stack),
    ]
    .concat();
    let header = header_file::text(stack, &reactions.quiet, &shortcuts.paths);
    let is_own = |item: &Item| !header.contains(&of(item));
    let private: Vec<Item> = private.into_iter().filter(is_own).collect();
    let bytes = types::byte_functions(stack, &all);
    let ranks = types::ranks(stack, &all);
    let copied = runtime::select(&runtime::mentioned(&(all + &printer::file(&bytes))));
    let mut file = top(stack) + &record::text(stack);
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
    add(
        "values",
        printer::file(&[in_place, bytes, ranks, values].concat()),
    );
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
    let (macros, asserted) = stack.macros(&reactions.queued, &(header.clone() + &file));
    file += &asserted;
    (
        file,
        header + &macros + header_file::END,
        reactions.shortcuts,
    )
}

/// What every stack has, as far as code uses it.
fn own_parts(stack: &Stack, used: &str, shortcuts: &Shortcuts) -> String {
    let blank = message::blank(stack);
    let unmarked = message::unmarked(stack);
    let stands = shortcuts.stands().is_some();
    let calls: &[&str] = match external::calls_applications(stack.program) {
        true => &["calls"],
        false => &[],
    };
    let named = |text: &str| {
        let text = text.replace("    UNMARKED\n", &unmarked);
        let text = parts::where_has(&text, calls);
        let text = leaves::with_room(stack.program, stands, &text);
        parts::named(&text, &stack.names.stack, &blank)
    };
    let leaves = leaves::selected(stack, used, shortcuts.stands());
    let used = leaves.concat() + used;
    let agenda = parts::select(parts::AGENDA, &used);
    let own = parts::select(parts::OWN, &(agenda.concat() + &used));
    let own = own.into_iter().chain(agenda).map(named);
    let leaves = leaves.iter().map(|text| named(text));
    Vec::from_iter(own.chain(leaves)).join("\n\n")
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
    let own = match external::has_types(stack.program) {
        true => format!("#include \"{name}_extern.h\"\n"),
        false => String::new(),
    };
    let says = "compiled by Stackloom. What it does is said in the sources that stand beside its";
    let mut lines = vec![format!("{name}: {says}")];
    lines.push(format!("functions; how it is called, in {name}.h."));
    lines.extend(assumed::lines(stack));
    let head = header_file::commented(&lines);
    format!("{head}\n#include \"{name}.h\"\n{own}")
}

/// The functions of all trees that something starts, with a banner for each entity.
struct Reactions {
    items: Vec<Item>,
    /// The functions as text.
    text: String,
    queued: BTreeSet<Queued>,
    /// Those that put nothing on the agenda, nor does what they call.
    quiet: BTreeSet<Reaction>,
    /// Whether those that frames start handle themselves what they put there.
    looks: bool,
    /// What is mostly done, and shorter for it.
    shortcuts: Shortcuts,
    /// The functions that hand on what is read of a message.
    handing: BTreeSet<String>,
}

impl Reactions {
    fn new(stack: &Stack) -> Reactions {
        let trees = stack.forest.trees.iter();
        let mut all: Vec<Reacting> = trees.map(|tree| Reacting::new(stack, tree)).collect();
        keep_started(stack, &mut all);
        let functions = all.iter_mut().flat_map(|one| &mut one.functions);
        let held = always::hold(stack, &mut Vec::from_iter(functions));
        if stack.rewrites.has(Rewrite::Share) {
            let functions = all.iter_mut().map(|one| &mut one.functions);
            settle::unite(&mut Vec::from_iter(functions));
        }
        let quiet = quiet(stack, &all);
        reacting::guard_bypasses(stack, &mut all, &beside_reactions(stack));
        let functions = all.iter_mut().flat_map(|one| &mut one.functions);
        let functions = functions.collect();
        let of_values = functions_of_values(stack);
        let values = of_values.iter().map(|function| function.name.clone());
        let values: BTreeSet<String> = values.collect();
        let parts = narrow::narrow(stack, functions, &beside_reactions(stack), &values);
        let mut queued: BTreeSet<Queued> = started(stack).into_iter().collect();
        all.iter().for_each(|one| queued.extend(&one.queued));
        let mut functions: Vec<&mut Function> =
            all.iter_mut().flat_map(|one| &mut one.functions).collect();
        functions
            .iter_mut()
            .for_each(|one| bypass::forget_unread(one));
        functions
            .iter_mut()
            .for_each(|one| settle::mark_constants(one));
        let handing: BTreeSet<String> = parts.iter().map(|one| one.name.clone()).collect();
        let others = values.union(&handing).cloned().collect();
        let looks = waits::look_where_needed(stack, &mut functions, &queued, &others);
        let mut shortcuts = reacting::common_paths(stack, &mut all, &values, &others);
        leaves::let_leave_alone(stack, &quiet, &queued, &mut all);
        shortcuts.begin(stack, &mut all, &of_values);
        shortcuts.held = held;
        let functions: Vec<&Function> = all.iter().flat_map(|one| &one.functions).collect();
        let early = settle::called_early(&functions);
        let begins = Vec::from_iter(shortcuts.begun.iter().flat_map(Begun::rare));
        let is_rare = |one: &Function| apart::is_rare(one) || begins.contains(&one.name);
        let is_early = |one: &Function| early.contains(&one.name);
        let (rare, others): (Vec<&Function>, Vec<&Function>) =
            functions.iter().copied().partition(|one| is_rare(one));
        let declared = others.into_iter().filter(|one| is_early(one));
        let mut items = vec![Item::Banner("reactions, layer by layer".to_string())];
        items.extend(shortcuts.expected.iter().map(Expected::bits));
        items.extend(parts.into_iter().map(Item::Function));
        items.extend(declared.map(|one| Item::Prototype(one.clone())));
        items.extend(kept_apart(&rare, &is_early));
        let going_on = waits::going_on(stack, &functions);
        let functions = functions.iter().copied().chain(&going_on);
        let later = waits::declared(stack, &Vec::from_iter(functions));
        items.extend((!later.is_empty()).then_some(Item::Text(later)));
        items.extend(kept_apart(&Vec::from_iter(&going_on), &|_| false));
        items.extend(going_on.into_iter().map(Item::Function));
        let layers = by_layer(stack, all);
        let functions = layers
            .iter()
            .filter(|item| matches!(item, Item::Function(_)));
        let functions = Vec::from_iter(functions.cloned());
        items.extend(layers);
        Reactions {
            items,
            text: printer::file(&functions),
            queued,
            quiet,
            looks,
            shortcuts,
            handing,
        }
    }

    /// Returns the functions that are defined in place: fast paths, the functions that they call,
    /// those that take what an application gives back, those that send what may wait, and those
    /// that hand on the part of a message that is read, so that it needs no memory.
    fn in_place(&self, stack: &Stack, others: &[Item]) -> Option<Item> {
        let paths = self.shortcuts.paths.iter().flat_map(|path| {
            [
                format!("{}_bypass", path.name),
                is_expected_name(&path.name),
            ]
        });
        let names = paths.chain(external::sent(stack));
        let names = names.chain(self.shortcuts.begun.iter().map(Begun::again_name));
        let names = names.chain(granted::names(stack));
        let names: BTreeSet<String> = names.chain(self.handing.iter().cloned()).collect();
        let is_one = |item: &&Item| match item {
            Item::Function(function) => names.contains(&function.name),
            _ => false,
        };
        let own: Vec<Item> = self.items.iter().filter(is_one).cloned().collect();
        in_place::declared(names.into_iter(), &[&own, others].concat())
    }

    /// What the host calls.
    fn interface(&self, stack: &Stack) -> String {
        let text = driver::interface(stack, &self.quiet, &self.queued, &self.shortcuts);
        match self.looks {
            true => ARRIVES.iter().fold(text, |text, arrives| {
                text.replace(&format!("{arrives}    run(stack);\n"), arrives)
            }),
            false => text,
        }
    }
}

/// The functions of all reactions, those of each entity behind its banner.
fn by_layer(stack: &Stack, all: Vec<Reacting>) -> Vec<Item> {
    let mut items = Vec::new();
    let mut last: Option<EntityId> = None;
    for one in all {
        let entity = super::entity_of(stack, one.reaction);
        if last != Some(entity) {
            items.push(Item::Banner(banner(stack, entity)));
            last = Some(entity);
        }
        items.extend(one.functions.into_iter().map(Item::Function));
    }
    items
}

/// The reactions that put nothing on the agenda, nor does what they call.
fn quiet(stack: &Stack, all: &[Reacting]) -> BTreeSet<Reaction> {
    let waits = |function: &Function| waits::lets_wait(stack, function);
    let silent = all.iter().filter(|one| one.queued.is_empty());
    let silent = silent.filter(|one| !one.functions.iter().any(waits));
    let silent = silent.map(|one| one.reaction);
    let mut quiet: BTreeSet<Reaction> = silent
        .filter(|one| !external::is_called_by(stack, *one))
        .collect();
    loop {
        let calls =
            |reaction: &Reaction| stack.called_by(stack.tree(*reaction).expect("it has a tree"));
        let is_quiet = |one: &Reaction| calls(one).iter().all(|other| quiet.contains(other));
        let kept: BTreeSet<Reaction> = quiet.iter().copied().filter(is_quiet).collect();
        if kept.len() == quiet.len() {
            return kept;
        }
        quiet = kept;
    }
}

/// Declares cold functions, so that compilers that know how keep them out of the hot ones. Others
/// are told only of those that are called before they are defined.
fn kept_apart(cold: &[&Function], is_early: &dyn Fn(&Function) -> bool) -> Option<Item> {
    let prototypes = |functions: &mut dyn Iterator<Item = &&Function>| {
        let prototypes = functions.map(|one| Item::Prototype((*one).clone()));
        printer::file(&Vec::from_iter(prototypes))
    };
    let told = prototypes(&mut cold.iter());
    let told = told.replace(");\n", ")\n    __attribute__((cold, noinline));\n");
    let early = prototypes(&mut cold.iter().filter(|one| is_early(one)));
    let early = match early.is_empty() {
        true => early,
        false => format!("#else\n{early}"),
    };
    (!cold.is_empty()).then(|| Item::Text(format!("#ifdef __GNUC__\n{told}{early}#endif\n")))
}

/// What reactions give messages to: functions of values, what all stacks have, applications.
fn beside_reactions(stack: &Stack) -> String {
    let all = functions_of_values(stack).into_iter().map(Item::Function);
    let ports = stack.names.ports.keys();
    let handed = ports.map(|(port, event)| upward::upward(stack, *port, *event));
    let items: Vec<Item> = all.chain(handed).collect();
    let all = [parts::OWN, parts::AGENDA].concat();
    printer::file(&items) + &parts::named(&all, &stack.names.stack, "")
}

/// What is put on the agenda from outside of trees.
fn started(stack: &Stack) -> Vec<Queued> {
    [
        port::queued(stack),
        port::told(stack),
        driver::at_start(stack),
        external::queued(stack),
    ]
    .concat()
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
        .flat_map(|link| driver::above_link(stack, link, Event::Deliver))
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
            let title = match line.strip_prefix(&own.name) {
                Some(rest) if rest.starts_with(':') => line.to_string(),
                Some(_) | None => format!("{}: {line}", own.name),
            };
            shortened(&title)
        }
        None => own.name.clone(),
    }
}

/// So much of a sentence as a banner has room for: up to one of its commas, or else a word.
fn shortened(sentence: &str) -> String {
    const ROOM: usize = 84;
    let commas = sentence.match_indices([',', ';']).map(|(at, _)| at);
    let ends: Vec<usize> = commas.chain([sentence.len()]).collect();
    let fitting = ends.into_iter().filter(|end| *end <= ROOM).max();
    match fitting {
        Some(end) => sentence[..end].to_string(),
        None => {
            let blanks = sentence.match_indices(' ').map(|(at, _)| at);
            let end = blanks.filter(|end| *end <= ROOM).max();
            let first: String = sentence.chars().take(ROOM).collect();
            format!("{} ...", end.map_or(&first[..], |end| &sentence[..end]))
        }
    }
}

/// Functions of values: filters and functions of the sources, and the sums of headers; then those
/// of instances, and of values that look for one. All as far as some code needs them.
fn values(stack: &Stack, code: &str) -> (Vec<Item>, Vec<Item>) {
    let all = functions_of_values(stack);
    let kinds = (0..stack.program.kinds.len() as u32).map(KindId);
    let kinds = kinds.flat_map(|kind| state::functions(stack, kind));
    let kinds: Vec<Function> = kinds.collect();
    let mut of_kinds: BTreeSet<String> = kinds.iter().map(|one| one.name.clone()).collect();
    let mut plain = needed([all, kinds].concat(), code);
    let mut others = Vec::new();
    loop {
        let calls = |one: &Worded| !one.words.is_disjoint(&of_kinds);
        let (found, rest): (Vec<_>, Vec<_>) = plain.into_iter().partition(calls);
        plain = rest;
        if found.is_empty() {
            return (in_order_of_calls(plain), in_order_of_calls(others));
        }
        of_kinds.extend(found.iter().map(|one| one.function.name.clone()));
        others.extend(found);
    }
}

/// Functions and filters of the sources, and the sums of headers.
fn functions_of_values(stack: &Stack) -> Vec<Function> {
    let mut all: Vec<Function> = Vec::new();
    for (at, function) in stack.program.functions.iter().enumerate() {
        let name = &stack.names.functions[at];
        if function.body.is_some() && all.iter().all(|one| one.name != *name) {
            all.push(function::function(stack, FunctionId(at as u32)));
        }
    }
    for at in 0..stack.program.filters.len() {
        all.extend([
            function::filter(stack, at),
            function::filter_on(stack, at),
            function::filter_over(stack, at),
        ]);
    }
    all.extend(sums::sum_functions(stack));
    all.extend(options::functions(stack));
    all
}

fn text_of(function: &Function) -> String {
    printer::file(&[Item::Function(function.clone())])
}

/// A function, and the words of its text.
struct Worded {
    function: Function,
    words: BTreeSet<String>,
}

/// Those functions that some code calls, or that these call.
fn needed(all: Vec<Function>, code: &str) -> Vec<Worded> {
    let owned = |words: BTreeSet<&str>| -> BTreeSet<String> {
        words.into_iter().map(String::from).collect()
    };
    let mut wanted = owned(parts::called(code));
    let texts: Vec<String> = all.iter().map(text_of).collect();
    let mut open: Vec<usize> = (0..all.len()).collect();
    loop {
        let is_wanted = |at: &usize| wanted.contains(&all[*at].name);
        let (found, others): (Vec<_>, Vec<_>) = open.into_iter().partition(is_wanted);
        for at in &found {
            wanted.extend(owned(parts::called(&texts[*at])));
        }
        open = others;
        if found.is_empty() {
            break;
        }
    }
    let all = all.into_iter().zip(texts);
    let all = all.filter(|(function, _)| wanted.contains(&function.name));
    all.map(|(function, text)| Worded {
        function,
        words: owned(parts::words(&text)),
    })
    .collect()
}

/// Functions of which each stands behind those that it calls.
fn in_order_of_calls(functions: Vec<Worded>) -> Vec<Item> {
    let mut placed: Vec<Item> = Vec::new();
    let mut open = functions;
    while !open.is_empty() {
        let names = open.iter().map(|one| one.function.name.clone());
        let names: BTreeSet<String> = names.collect();
        let waits = |one: &Worded| {
            let mut words = one.words.intersection(&names);
            words.any(|word| *word != one.function.name)
        };
        let (ready, waiting): (Vec<_>, Vec<_>) = open.into_iter().partition(|one| !waits(one));
        assert!(
            !ready.is_empty(),
            "functions do not call each other in circles"
        );
        let ready = ready.into_iter();
        placed.extend(ready.map(|one| Item::Function(super::with_all_used(one.function))));
        open = waiting;
    }
    placed
}

/// The functions that hand things to applications, as far as they are called.
fn handed(stack: &Stack, code: &str) -> Vec<Item> {
    let words = parts::words(code);
    let ports = stack
        .names
        .ports
        .iter()
        .filter(|(_, name)| words.contains(name.as_str()));
    ports
        .map(|((port, event), _)| upward::upward(stack, *port, *event))
        .collect()
}
