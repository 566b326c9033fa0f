//! The types of a stack as C declares them: enums, records, bytes, optionals that are one value.

use super::Stack;
use super::layout::{c_type, members, named_members, word};
use crate::c::printer;
use crate::c::tree::{Expression as C, Item, Line, atom, call};
use crate::types::program::EnumId;
use crate::types::value::Type;
use std::collections::BTreeSet;

/// Whether the order of writing is that of the values.
pub fn in_order(stack: &Stack, id: EnumId) -> bool {
    stack.program.enums[id.at()]
        .names
        .is_sorted_by_key(|(_, value)| *value)
}

/// The place of an enum's value in the order of writing.
pub fn rank(stack: &Stack, id: EnumId, value: C) -> C {
    call(rank_name(stack, id), vec![value])
}

fn rank_name(stack: &Stack, id: EnumId) -> String {
    format!("{}_rank", stack.names.enum_tags[id.at()])
}

/// The enums of a stack.
pub fn enums(stack: &Stack) -> Vec<Item> {
    let all = stack.program.enums.iter().enumerate();
    all.map(|(at, one)| {
        let carried = Type::Unsigned(one.width);
        let values = one.names.iter().zip(&stack.names.enums[at]);
        let fitting = values.filter(|((_, value), _)| *value <= i32::MAX as u64);
        Item::Enum {
            comment: String::new(),
            name: stack.names.enum_tags[at].clone(),
            values: fitting
                .map(|((_, value), name)| Line {
                    text: format!("{name} = {}", stack.number_text(*value, &carried)),
                    comment: String::new(),
                })
                .collect(),
        }
    })
    .collect()
}

/// The structs that a text mentions, each behind those that it is made of: fixed bytes, records,
/// and optionals that are one value.
pub fn structs(stack: &Stack, text: &str) -> Vec<Item> {
    let all = [values(stack, false), records(stack), values(stack, true)].concat();
    let mut wanted: BTreeSet<String> = super::parts::words(text)
        .into_iter()
        .map(String::from)
        .collect();
    let mut kept = Vec::new();
    for item in all.into_iter().rev() {
        let Item::Struct { name, .. } = &item else {
            unreachable!("these are structs");
        };
        if wanted.contains(name) {
            let own = printer::file(std::slice::from_ref(&item));
            wanted.extend(super::parts::words(&own).into_iter().map(String::from));
            kept.push(item);
        }
    }
    kept.reverse();
    kept
}

/// Those of the source, each name once; what only C knows stands elsewhere.
fn records(stack: &Stack) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for (at, one) in stack.program.records.iter().enumerate() {
        let names = &stack.names.records;
        if one.external || names[..at].contains(&names[at]) {
            continue;
        }
        let fields = one.fields.iter();
        items.push(Item::Struct {
            comment: String::new(),
            name: names[at].clone(),
            members: fields.flat_map(|field| members(stack, field, "")).collect(),
        });
    }
    items
}

/// Fixed bytes, or optionals.
fn values(stack: &Stack, optional: bool) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for kind in all_types(stack) {
        let own = match &kind {
            Type::Bytes(length) if !optional => vec![Line {
                text: format!("uint8_t at[{length}]"),
                comment: String::new(),
            }],
            Type::BoundedBytes(most) if !optional => [
                ("uint8_t length".to_string(), "how many bytes there are"),
                (
                    format!("uint8_t at[{most}]"),
                    "those, and zeros behind them",
                ),
            ]
            .map(|(text, comment)| Line {
                text,
                comment: comment.to_string(),
            })
            .to_vec(),
            Type::Optional(inner) if optional => {
                let mut lines = named_members(stack, &Type::Bool, "present", "");
                lines.extend(named_members(stack, inner, "value", ""));
                lines
            }
            _ => continue,
        };
        let tag = c_type(stack, &kind);
        let item = Item::Struct {
            comment: String::new(),
            name: tag.trim_start_matches("struct ").to_string(),
            members: own,
        };
        if !items.contains(&item) {
            items.push(item);
        }
    }
    items
}

/// How fixed bytes are read and written, for those that a text mentions.
pub fn byte_functions(stack: &Stack, text: &str) -> Vec<Item> {
    let words = super::parts::words(text);
    let mut items: Vec<Item> = Vec::new();
    for kind in all_types(stack) {
        let Type::Bytes(length) = kind else { continue };
        let own = c_type(stack, &kind);
        let tag = own.trim_start_matches("struct ");
        let load = format!(
            "static {own} {tag}_at(const uint8_t *at) {{\n    {own} bytes;\n    \
             memcpy(bytes.at, at, {length});\n    return bytes;\n}}\n"
        );
        let store = format!(
            "static void {tag}_to(uint8_t *at, {own} bytes) {{\n    \
             memcpy(at, bytes.at, {length});\n}}\n"
        );
        for (suffix, text) in [("at", load), ("to", store)] {
            let item = Item::Text(text);
            if words.contains(format!("{tag}_{suffix}").as_str()) && !items.contains(&item) {
                items.push(item);
            }
        }
    }
    items.extend(bounded_functions(stack, &words));
    items
}

/// Returns the functions that read, compare, limit and convert bounded bytes, if the C calls them.
fn bounded_functions(stack: &Stack, words: &BTreeSet<&str>) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    let all = all_types(stack);
    for kind in &all {
        let Type::BoundedBytes(most) = kind else {
            continue;
        };
        let own = c_type(stack, kind);
        let tag = word(stack, kind);
        let load = format!(
            "static {own} {tag}_at(const uint8_t *at, size_t length) {{\n    \
             {own} bytes = {{0}};\n    bytes.length = (uint8_t)length;\n    \
             memcpy(bytes.at, at, length);\n    return bytes;\n}}\n"
        );
        let equals = format!(
            "static bool {tag}_equal({own} one, {own} other) {{\n    \
             return one.length == other.length && memcmp(one.at, other.at, one.length) == 0;\n}}\n"
        );
        let held = format!(
            "static {own} {tag}_held({own} bytes) {{\n    \
             {own} all = {{0}};\n    \
             all.length = bytes.length < {most} ? bytes.length : {most};\n    \
             memcpy(all.at, bytes.at, all.length);\n    return all;\n}}\n"
        );
        let mut functions = vec![
            (format!("{tag}_at"), load),
            (bounded_equal(stack, kind), equals),
            (format!("{tag}_held"), held),
        ];
        for given in &all {
            let length = match given {
                Type::Bytes(length) => length.to_string(),
                Type::BoundedBytes(_) if given != kind => "bytes.length".to_string(),
                _ => continue,
            };
            let name = bounded_from(stack, given, kind);
            let argument = c_type(stack, given);
            let text = format!(
                "static {own} {name}({argument} bytes) {{\n    {own} all = {{0}};\n    \
                 all.length = {length};\n    memcpy(all.at, bytes.at, {length});\n    \
                 return all;\n}}\n"
            );
            functions.push((name, text));
        }
        for (name, text) in functions {
            let item = Item::Text(text);
            if words.contains(name.as_str()) && !items.contains(&item) {
                items.push(item);
            }
        }
    }
    items
}

/// The name of the function that compares bounded bytes of a type.
pub fn bounded_equal(stack: &Stack, kind: &Type) -> String {
    format!("{}_equal", word(stack, kind))
}

/// The name of the function that makes bounded bytes of fixed ones, or of some with another bound.
pub fn bounded_from(stack: &Stack, from: &Type, to: &Type) -> String {
    format!("{}_of_{}", word(stack, to), word(stack, from))
}

/// The functions that tell the place of a value in the order of its enum, as far as mentioned.
pub fn ranks(stack: &Stack, text: &str) -> Vec<Item> {
    let words = super::parts::words(text);
    let mut items = Vec::new();
    for (at, one) in stack.program.enums.iter().enumerate() {
        let name = rank_name(stack, EnumId(at as u32));
        if !words.contains(name.as_str()) {
            continue;
        }
        let kind = c_type(stack, &Type::Enum(EnumId(at as u32)));
        let cases = one.names.iter().enumerate().map(|(rank, (_, value))| {
            let label = vec![atom(stack.number_text(*value, &Type::Unsigned(one.width)))];
            let back = crate::c::tree::Statement::Return(Some(atom(rank.to_string())));
            (label, vec![back])
        });
        let last = crate::c::tree::Statement::Return(Some(atom(one.names.len().to_string())));
        items.push(Item::Function(crate::c::tree::Function {
            comment: format!(
                "The place of a value in the order in which {} names them.",
                one.name
            ),
            result: "static unsigned".to_string(),
            name,
            parameters: vec![format!("{kind} value")],
            body: vec![crate::c::tree::Statement::Switch {
                value: atom("value"),
                cases: cases.collect(),
                otherwise: Some(vec![last]),
            }],
        }));
    }
    items
}

/// Every type that a value of the stack has, and what it is made of.
fn all_types(stack: &Stack) -> Vec<Type> {
    let program = stack.program;
    let mut all: Vec<Type> = Vec::new();
    let mut add = |kind: &Type| {
        let mut open = vec![kind.clone()];
        while let Some(kind) = open.pop() {
            match &kind {
                Type::Optional(inner)
                | Type::Queue(inner, _)
                | Type::Window(inner, ..)
                | Type::Array(inner, _)
                | Type::Stream(inner, _) => open.push((**inner).clone()),
                _ => {}
            }
            all.push(kind);
        }
    };
    let fields = program.kinds.iter().flat_map(|kind| &kind.fields);
    fields
        .chain(program.records.iter().flat_map(|one| &one.fields))
        .for_each(|f| add(&f.kind));
    program.config.iter().for_each(|one| add(&one.kind));
    program.attributes.iter().for_each(|one| add(&one.kind));
    program
        .kinds
        .iter()
        .flat_map(|kind| &kind.keys)
        .for_each(|key| add(&key.kind));
    program
        .notices
        .iter()
        .flat_map(|one| &one.parameters)
        .for_each(|f| add(&f.kind));
    program
        .headers
        .iter()
        .flat_map(|one| one.all_fields())
        .for_each(|f| add(&f.kind));
    stack
        .forest
        .locals
        .iter()
        .for_each(|local| add(&local.kind));
    for function in &program.functions {
        add(&function.result);
        function.locals.iter().for_each(|local| add(&local.kind));
    }
    program
        .filters
        .iter()
        .flat_map(|one| &one.locals)
        .for_each(|local| add(&local.kind));
    all.reverse();
    all
}
