//! How values are laid out in C: the type of each, and the members that hold it.
//!
//! An optional stands as two members, `bool has_x` and `x`; only where it is an item of something
//! or the result of a function is it a struct of its own.

use super::Stack;
use super::names::c_name;
use crate::c::printer::declaration;
use crate::c::tree::Line;
use crate::types::program::Field;
use crate::types::value::Type;

/// Bits of a number as the source declares it; none of what is no number.
pub fn bits(stack: &Stack, kind: &Type) -> Option<u32> {
    match kind {
        Type::Unsigned(width) | Type::Signed(width) | Type::Sequence(width) => {
            Some(u32::from(*width))
        }
        Type::Enum(id) => Some(u32::from(stack.program.enums[id.at()].width)),
        Type::Time => Some(64),
        Type::Instance(_) => Some(32),
        Type::Bool
        | Type::Bytes(_)
        | Type::Record(_)
        | Type::Optional(_)
        | Type::Message
        | Type::Queue(..)
        | Type::Window(..)
        | Type::Stream(..)
        | Type::Array(..)
        | Type::Set(_)
        | Type::Header(_)
        | Type::Abstract(_)
        | Type::Nothing => None,
    }
}

/// Bits of the C type that holds so many.
pub fn c_bits(bits: u32) -> u32 {
    match bits {
        0..=8 => 8,
        9..=16 => 16,
        17..=32 => 32,
        _ => 64,
    }
}

/// The C type of a value.
pub fn c_type(stack: &Stack, kind: &Type) -> String {
    let name = &stack.names.stack;
    match kind {
        Type::Unsigned(_) | Type::Sequence(_) | Type::Enum(_) | Type::Time | Type::Instance(_) => {
            let bits = bits(stack, kind).expect("these are numbers");
            format!("uint{}_t", c_bits(bits))
        }
        Type::Signed(width) => format!("int{}_t", c_bits(u32::from(*width))),
        Type::Bool => "bool".to_string(),
        Type::Bytes(length) => format!("struct {name}_bytes{length}"),
        Type::Record(id) => format!("struct {}", stack.names.records[id.at()]),
        Type::Optional(inner) => format!("struct {name}_maybe_{}", word(stack, inner)),
        Type::Message => format!("struct {name}_message"),
        Type::Header(_) => "const uint8_t *".to_string(),
        Type::Nothing => "void".to_string(),
        Type::Queue(..) | Type::Window(..) | Type::Stream(..) | Type::Array(..) | Type::Set(_) => {
            unreachable!("a container is no value")
        }
        Type::Abstract(_) => unreachable!("in a stack every type is known"),
    }
}

/// A type as part of a name.
pub fn word(stack: &Stack, kind: &Type) -> String {
    c_type(stack, kind)
        .trim_start_matches("struct ")
        .trim_end_matches("_t")
        .replace(' ', "_")
}

/// The members that hold a field, the first with its comment.
pub fn members(stack: &Stack, field: &Field, comment: &str) -> Vec<Line> {
    let name = c_name(&field.name);
    named_members(stack, &field.kind, &name, comment)
}

/// The members that hold a value under a name.
pub fn named_members(stack: &Stack, kind: &Type, name: &str, comment: &str) -> Vec<Line> {
    let line = |kind: &str, name: String, comment: &str| Line {
        text: declaration(kind, &name),
        comment: comment.to_string(),
    };
    let words = |capacity: u32| capacity.div_ceil(64);
    match kind {
        Type::Optional(inner) => {
            let has = line(
                "bool",
                format!("has_{name}"),
                &format!("whether there is {name}"),
            );
            let mut all = vec![has];
            all.extend(named_members(stack, inner, name, comment));
            all
        }
        Type::Queue(item, capacity) => vec![
            line("struct sl_ring", name.to_string(), comment),
            line(
                &item_type(stack, item),
                format!("{name}_items[{capacity}]"),
                "",
            ),
        ],
        Type::Window(_, capacity) => vec![
            line("struct sl_window", name.to_string(), comment),
            line("uint64_t", format!("{name}_held[{}]", words(*capacity)), ""),
            line("uint32_t", format!("{name}_items[{capacity}]"), ""),
        ],
        Type::Stream(_, capacity) => vec![
            line("struct sl_stream", name.to_string(), comment),
            line("uint64_t", format!("{name}_held[{}]", words(*capacity)), ""),
            line(
                "uint32_t",
                format!("{name}_pieces"),
                "how many messages are in it",
            ),
            line("uint8_t", format!("{name}_bytes[{capacity}]"), ""),
        ],
        Type::Array(item, capacity) => {
            vec![line(
                &item_type(stack, item),
                format!("{name}[{capacity}]"),
                comment,
            )]
        }
        Type::Set(capacity) => {
            vec![line(
                "uint64_t",
                format!("{name}[{}]", words(*capacity)),
                comment,
            )]
        }
        Type::Unsigned(_)
        | Type::Signed(_)
        | Type::Bool
        | Type::Sequence(_)
        | Type::Time
        | Type::Bytes(_)
        | Type::Enum(_)
        | Type::Record(_)
        | Type::Message
        | Type::Instance(_)
        | Type::Header(_)
        | Type::Abstract(_)
        | Type::Nothing => vec![line(&c_type(stack, kind), name.to_string(), comment)],
    }
}

/// What a container holds: messages by the index of their buffer.
fn item_type(stack: &Stack, item: &Type) -> String {
    match item {
        Type::Message => "uint32_t".to_string(),
        other => c_type(stack, other),
    }
}

/// The parameters that take a value: an optional takes two.
pub fn parameters(stack: &Stack, kind: &Type, name: &str) -> Vec<String> {
    match kind {
        Type::Optional(inner) => {
            let mut all = vec![format!("bool has_{name}")];
            all.extend(parameters(stack, inner, name));
            all
        }
        other => vec![declaration(&c_type(stack, other), name)],
    }
}

/// The names of the C members of a field, for whoever looks for their places.
pub fn member_names(kind: &Type, name: &str) -> Vec<String> {
    match kind {
        Type::Optional(_) => vec![format!("has_{name}"), c_name(name)],
        _ => vec![c_name(name)],
    }
}
