//! Bytes with a bound in C, and what else can be given there that is no value of its type.
//!
//! In: the types of a stack, and the words of its text. Out: the functions that the text calls, and
//! what is made of a value that a host, an application or a function in C has given.

use super::Stack;
use super::constant::mask;
use super::layout::{c_type, word};
use super::types::all_types;
use crate::c::tree::{Expression as C, Item, atom, binary, call};
use crate::types::value::Type;
use std::collections::BTreeSet;

/// How bounded bytes are read, written, compared and made of others, as far as mentioned.
pub fn functions(stack: &Stack, words: &BTreeSet<&str>) -> Vec<Item> {
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
            (equal(stack, kind), equals),
            (format!("{tag}_held"), held),
        ];
        for given in &all {
            let length = match given {
                Type::Bytes(length) => length.to_string(),
                Type::BoundedBytes(_) if given != kind => "bytes.length".to_string(),
                _ => continue,
            };
            let name = from(stack, given, kind);
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
pub fn equal(stack: &Stack, kind: &Type) -> String {
    format!("{}_equal", word(stack, kind))
}

/// The name of the function that makes bounded bytes of fixed ones, or of some with another bound.
pub fn from(stack: &Stack, from: &Type, to: &Type) -> String {
    format!("{}_of_{}", word(stack, to), word(stack, from))
}

/// What C that is not of this stack gives, as a value of a type: of a number its lowest bits, and of
/// bytes with a bound no more than that, and zeros behind them.
pub fn held(stack: &Stack, kind: &Type, given: C) -> C {
    match kind {
        Type::BoundedBytes(_) => call(format!("{}_held", word(stack, kind)), vec![given]),
        Type::Optional(inner) => held(stack, inner, given),
        Type::Unsigned(width) | Type::Sequence(width) if is_wider(*width) => {
            binary("&", given, atom(mask(u32::from(*width))))
        }
        _ => given,
    }
}

/// Whether C can give what is no value of a type.
pub fn has_others(kind: &Type) -> bool {
    match kind {
        Type::BoundedBytes(_) => true,
        Type::Optional(inner) => has_others(inner),
        Type::Unsigned(width) | Type::Sequence(width) => is_wider(*width),
        _ => false,
    }
}

/// When what C gives is no value of a type, as far as that can be seen of it.
pub fn is_other(kind: &Type, given: C) -> Option<C> {
    let [value, most] = match kind {
        Type::BoundedBytes(most) if *most < u8::MAX.into() => {
            [given.member("length"), atom(most.to_string())]
        }
        Type::Unsigned(width) | Type::Sequence(width) if is_wider(*width) => {
            [given, atom(mask(u32::from(*width)))]
        }
        _ => return None,
    };
    Some(binary(">", value, most))
}

/// Whether the type in C of a number is wider than the number.
fn is_wider(width: u8) -> bool {
    !matches!(width, 8 | 16 | 32 | 64)
}
