//! Structs: in, the tables of a module; out, structs of kinds, settings, results and caches, and
//! what the struct of the stack holds of them.
//!
//! The struct of a kind has its fields in their order. Members that are written before they are
//! read stand behind the others, so that they need no first value. Timers come last: when the next
//! instance begins there, they may still be in the heap.

use super::Stack;
use super::containers::{self, Member};
use super::layout::{Layout, kinds, timer_count};
use super::types;
use crate::c::printer::declaration;
use crate::c::tree::{Item, Line};
use crate::ir::interface::Listening;
use crate::ir::op::Place;
use crate::ir::{CacheId, FieldId, FunctionId, Kind, KindId, Module, Stored, Type};
use std::collections::BTreeSet;

fn line(text: String, comment: &str) -> Line {
    Line {
        text,
        comment: comment.to_string(),
    }
}

/// The lengths of all values of the module that are bytes, and so have a struct.
pub fn byte_lengths(module: &Module) -> BTreeSet<u32> {
    let functions = module.functions.iter();
    let values = functions.flat_map(|function| function.values.iter().map(|value| value.of));
    let attributes = module.attributes.iter().map(|one| one.of);
    let settings = module.settings.iter().map(|one| one.of);
    let fields = module.kinds.iter().flat_map(|kind| &kind.fields);
    let fields = fields.flat_map(|field| match &field.stored {
        Stored::Value(of) => vec![*of],
        other => containers::item(other).to_vec(),
    });
    let all = values.chain(attributes).chain(settings).chain(fields);
    let lengths = all.filter_map(|of| match of {
        Type::Bytes(length) => Some(length),
        Type::Int(_)
        | Type::Instance(_)
        | Type::Message
        | Type::View
        | Type::Float(_)
        | Type::Opaque(_) => None,
    });
    lengths.collect()
}

/// The struct of a value that is so many bytes.
pub fn bytes(stack: &Stack<'_>, length: u32) -> Item {
    Item::Struct {
        comment: String::new(),
        name: format!("{}_bytes{length}", stack.names.stack),
        // C has no array of no elements.
        members: vec![line(format!("uint8_t at[{}]", length.max(1)), "")],
    }
}

/// The struct of the values that are set at the start.
pub fn settings(stack: &Stack<'_>) -> Item {
    let all = stack.module.settings.iter().zip(&stack.names.settings);
    let members = all.map(|(setting, name)| {
        let kind = types::stored(stack, setting.of);
        line(declaration(&kind, name), "")
    });
    let mut members: Vec<Line> = members.collect();
    if members.is_empty() {
        // C has no struct without members.
        let none = "bool none".to_string();
        members.push(line(none, "there is nothing to set"));
    }
    Item::Struct {
        comment: "The settings, by their parts.".to_string(),
        name: format!("{}_settings", stack.names.stack),
        members,
    }
}

/// The structs of several results of a function, by their names.
pub fn results(stack: &Stack<'_>) -> Vec<(String, Item)> {
    let all = (0..stack.module.functions.len() as u32).map(FunctionId);
    let several = all.filter(|id| stack.module.function(*id).results.len() > 1);
    let named = several.map(|id| {
        let name = format!("{}_results", stack.names.functions[id.at()]);
        let results = stack.module.function(id).results.iter().enumerate();
        let members = results.flat_map(|(at, of)| {
            let own = declaration(&types::local(stack, *of), &format!("r{at}"));
            let length = (*of == Type::View).then(|| format!("uint32_t r{at}_length"));
            [Some(own), length].into_iter().flatten()
        });
        let item = Item::Struct {
            comment: String::new(),
            name: name.clone(),
            members: members.map(|text| line(text, "")).collect(),
        };
        (name, item)
    });
    named.collect()
}

/// The structs of caches.
pub fn caches(stack: &Stack<'_>) -> Vec<Item> {
    let all = (0..stack.module.caches.len() as u32).map(CacheId);
    let structs = all.map(|id| {
        let valid = line("bool valid".to_string(), "whether it holds anything");
        let parts = stack.module.cached(id).into_iter().enumerate();
        let parts = parts.map(|(at, of)| {
            let kind = match of {
                Type::Instance(_) => types::local(stack, of),
                plain => types::stored(stack, plain),
            };
            line(declaration(&kind, &format!("p{at}")), "")
        });
        let remembers = stack.module.caches[id.at()].remembers;
        let function = &stack.names.functions[remembers.at()];
        Item::Struct {
            comment: format!("Arguments of {function}, and what it gives."),
            name: stack.names.caches[id.at()].clone(),
            members: std::iter::once(valid).chain(parts).collect(),
        }
    });
    structs.collect()
}

/// Returns true if instances of a kind hold anything. No operation looks into others.
pub fn has_struct(module: &Module, id: KindId) -> bool {
    let kind = &module.kinds[id.at()];
    let mut caches = module.caches.iter();
    let has_cache = caches.any(|cache| cache.kind == Some(id));
    !kind.fields.is_empty() || !kind.timers.is_empty() || has_cache
}

/// The structs of kinds, without those that hold nothing.
pub fn structs(stack: &Stack<'_>) -> Vec<Item> {
    let all = kinds(stack.module).filter(|id| has_struct(stack.module, *id));
    all.map(|id| structure(stack, id)).collect()
}

fn structure(stack: &Stack<'_>, id: KindId) -> Item {
    let kind = &stack.module.kinds[id.at()];
    let fields = (0..kind.fields.len() as u32).map(FieldId);
    let all = fields.flat_map(|field| {
        let comment = comment(stack.module, id, field);
        members_of(stack, id, field)
            .into_iter()
            .enumerate()
            .map(move |(at, member)| (member, if at == 0 { comment } else { "" }))
    });
    let (buffers, others): (Vec<_>, Vec<_>) = all.partition(|(member, _)| member.is_buffer);
    let members = others.into_iter().chain(buffers);
    let members = members.map(|(member, comment)| declared(&member, comment));
    Item::Struct {
        comment: described(kind),
        name: stack.names.kind(id).to_string(),
        members: members
            .chain(timers_of(stack, id))
            .chain(caches_of(stack, Some(id)))
            .collect(),
    }
}

fn members_of(stack: &Stack<'_>, kind: KindId, field: FieldId) -> Vec<Member> {
    let name = &stack.names.kinds[kind.at()].fields[field.at()];
    containers::members(stack, Place { kind, field }, name)
}

fn declared(member: &Member, comment: &str) -> Line {
    let lengths = member.lengths.iter();
    let lengths: String = lengths.map(|length| format!("[{length}]")).collect();
    let comment = match comment {
        "" => member.comment,
        said => said,
    };
    line(
        declaration(&member.kind, &format!("{}{lengths}", member.name)),
        comment,
    )
}

/// The first member of a kind that needs no first value; none if all members do.
pub fn first_buffer(stack: &Stack<'_>, id: KindId) -> Option<String> {
    let kind = &stack.module.kinds[id.at()];
    let fields = (0..kind.fields.len() as u32).map(FieldId);
    let mut all = fields.flat_map(|field| members_of(stack, id, field));
    let buffer = all.find(|member| member.is_buffer);
    let timers = (!kind.timers.is_empty()).then(|| "timers".to_string());
    buffer.map(|member| member.name).or(timers)
}

/// A kind in words.
fn described(kind: &Kind) -> String {
    let owner = &kind.owner;
    let behind = kind.name.strip_prefix(owner.as_str());
    match behind.and_then(|rest| rest.strip_prefix('.')) {
        Some(own) if own.starts_with(['a', 'e', 'i', 'o', 'u']) => format!("{owner}: an {own}"),
        Some(own) => format!("{owner}: a {own}"),
        None => format!("{owner}: what its sessions share"),
    }
}

/// The meaning of a field that the module itself gives it.
fn comment(module: &Module, id: KindId, field: FieldId) -> &'static str {
    let kind = &module.kinds[id.at()];
    let mut listening = module.listening.iter();
    let of_listening = listening.find_map(|how| counted(how, id, field));
    match of_listening {
        Some(comment) => comment,
        None if kind.stands_on == Some(field) => "the session below",
        None if !kind.keys.contains(&field) => "",
        None if kind.keys.len() == 1 => "its key",
        None => "a part of its key",
    }
}

/// The meaning of a field in which sessions are counted that wait to be accepted.
fn counted(how: &Listening, kind: KindId, field: FieldId) -> Option<&'static str> {
    let of_session = [
        (how.waits, "whether it waits to be accepted"),
        (how.unknown, "whether the application hears nothing of it"),
        (how.made_by, "the listener that made it"),
    ];
    let of_listener = [
        (how.backlog, "how many of its sessions may wait"),
        (how.waiting, "how many do that are not handed over"),
    ];
    let own = match kind {
        kind if kind == how.session => &of_session[..],
        kind if kind == how.listener => &of_listener[..],
        _other => &[],
    };
    let found = own.iter().find(|(known, _)| *known == field);
    found.map(|(_, comment)| *comment)
}

/// The member that holds the timers of an instance.
fn timers_of(stack: &Stack<'_>, id: KindId) -> Option<Line> {
    let timers = stack.names.kinds[id.at()].timers.iter();
    let each = timers.map(|name| format!("        struct sl_timer {name};\n"));
    let all: String = each.collect();
    (!all.is_empty()).then(|| line(format!("struct {{\n{all}    }} timers"), ""))
}

/// The members that hold caches: of each instance of a kind, or of the stack.
fn caches_of(stack: &Stack<'_>, kind: Option<KindId>) -> Vec<Line> {
    let all = stack.module.caches.iter().zip(&stack.names.caches);
    let own = all.filter(|(cache, _)| cache.kind == kind);
    own.map(|(_, name)| line(format!("struct {name} {name}"), ""))
        .collect()
}

/// The members of the stack that hold instances, timers and caches.
pub fn members(stack: &Stack<'_>) -> Vec<Line> {
    let module = stack.module;
    let layouts = Layout::all(module);
    let kinds = kinds(module).zip(&layouts);
    let mut all: Vec<Line> = kinds
        .flat_map(|(id, layout)| instances(stack, id, layout))
        .collect();
    let timers = timer_count(module);
    if timers > 0 {
        let heap = format!("struct sl_timer_entry timer_heap[{timers}]");
        all.push(line("struct sl_timers timers".to_string(), "all timers"));
        all.push(line(heap, ""));
    }
    all.extend(caches_of(stack, None));
    let caches = stack.names.caches.iter().enumerate();
    all.extend(caches.filter_map(|(at, name)| {
        let guesses = stack.guesses(CacheId(at as u32))?;
        let table = format!("{} {name}_guesses[{}]", guesses.of, guesses.count);
        Some(line(table, "by a hash: whose cache it may be"))
    }));
    all
}

/// The members of the stack that hold the instances of a kind.
fn instances(stack: &Stack<'_>, id: KindId, layout: &Layout) -> Vec<Line> {
    let name = stack.names.kind(id);
    let capacity = stack.module.kinds[id.at()].capacity;
    let mut all = Vec::new();
    if has_struct(stack.module, id) {
        let own = &stack.names.kinds[id.at()];
        all.push(line(
            match own.is_only {
                true => format!("struct {name} {}", own.member),
                false => format!("struct {name} {}[{capacity}]", own.member),
            },
            "",
        ));
    }
    if layout.has_pool {
        let pool = format!("struct sl_pool {name}_pool");
        all.push(line(pool, "which of them have a state"));
        let next = format!("uint32_t {name}_next[{capacity}]");
        all.push(line(next, "the links of its chains"));
    }
    if layout.has_ended {
        let ended = format!("bool {name}_ended[{capacity}]");
        all.push(line(ended, "which are found no more"));
    }
    if let Some(buckets) = layout.buckets {
        let buckets = format!("uint32_t {name}_buckets[{buckets}]");
        all.push(line(buckets, "by hash of the key"));
    }
    all
}
