//! Public values of a host: in, a shape, and where a value of it stands; out, C that reads its
//! parts, or builds it of parts.
//!
//! | shape | public type | parts |
//! |---|---|---|
//! | a number | `uintN_t`, `intN_t` | masked by its bits |
//! | `bool`, `time` | `bool`, `uint64_t` | the same |
//! | a record | a struct | those of its fields |
//! | fixed bytes | `struct STACK_bytesN` | the same |
//! | bounded bytes | `struct STACK_bytes_toN`: `length`, `at` | a length, and bytes with zeros |
//! | something or nothing | two members: `has_x`, `x` | a bit, and zeros where it is 0 |
//!
//! A value from the host is cut to the bits of its type. Parts have the types of locals.

use super::Stack;
use super::header::values::c_type;
use super::names::identifier;
use super::types::stored_bits;
use crate::c::tree::{Expression as C, Item, atom, binary, call, conditional};
use crate::ir::interface::{Given, Shape};
use crate::ir::types::ones;
use crate::ir::{Module, Op, Type};
use std::collections::BTreeSet;

fn bounded(stack: &str, most: u32) -> String {
    format!("{stack}_bytes_to{most}")
}

/// The members or parameters that hold a value of this name.
pub fn members(shape: &Shape, name: &str) -> Vec<String> {
    let has = matches!(shape, Shape::Optional(_)).then(|| format!("has_{name}"));
    has.into_iter().chain([name.to_string()]).collect()
}

/// The parts of a value that a host has given under a name; `place` is where a member stands.
pub fn given(stack: &Stack<'_>, shape: &Shape, name: &str, place: &dyn Fn(&str) -> C) -> Vec<C> {
    match shape {
        Shape::Number { bits, signed } => {
            vec![without_sign(place(name), *bits, *signed)]
        }
        Shape::Bool | Shape::Time | Shape::Bytes(_) | Shape::Float(_) | Shape::Opaque(_) => {
            vec![place(name)]
        }
        Shape::Bounded(most) => {
            let most_text = || atom(format!("{most}U"));
            let length = place(name).member("length");
            let fits = binary("<", length.clone(), most_text());
            let bytes = call(
                format!("{}_given", bounded(&stack.names.stack, *most)),
                vec![place(name)],
            );
            vec![conditional(fits, length, most_text()), bytes]
        }
        Shape::Optional(value) => {
            let has = place(&format!("has_{name}"));
            let parts = given(stack, value, name, place).into_iter();
            let parts = parts.zip(value.parts()).map(|(part, of)| match of {
                Type::BIT => binary("&&", has.clone(), part),
                _ => conditional(has.clone(), part, zero(stack, of)),
            });
            std::iter::once(has.clone()).chain(parts).collect()
        }
        Shape::Record(_, fields) => {
            let own = place(name);
            let inside = |member: &str| own.clone().member(member);
            let all = fields
                .iter()
                .flat_map(|(field, of)| given(stack, of, &identifier(field), &inside));
            all.collect()
        }
        Shape::Array(..) | Shape::Foreign(_) => panic!("no port shows a host {shape:?}"),
    }
}

/// A host is told a value by its parts: its members, each with its public value.
pub fn told(
    stack: &Stack<'_>,
    shape: &Shape,
    name: &str,
    parts: &mut dyn Iterator<Item = C>,
) -> Vec<(String, C)> {
    let mut next = || parts.next().expect("a value has all its parts");
    match shape {
        Shape::Number { bits, signed } => {
            vec![(name.to_string(), with_sign(next(), *bits, *signed))]
        }
        Shape::Bool | Shape::Time | Shape::Bytes(_) | Shape::Float(_) | Shape::Opaque(_) => {
            vec![(name.to_string(), next())]
        }
        Shape::Bounded(most) => {
            let arguments = vec![next(), next()];
            let told = format!("{}_told", bounded(&stack.names.stack, *most));
            vec![(name.to_string(), call(told, arguments))]
        }
        Shape::Optional(value) => {
            let has = (format!("has_{name}"), next());
            let value = told(stack, value, name, parts);
            std::iter::once(has).chain(value).collect()
        }
        Shape::Record(_, fields) => {
            let members = fields
                .iter()
                .flat_map(|(field, of)| told(stack, of, &identifier(field), parts));
            let members = members.collect();
            vec![(name.to_string(), C::Struct(c_type(stack, shape), members))]
        }
        Shape::Array(..) | Shape::Foreign(_) => panic!("no port shows a host {shape:?}"),
    }
}

/// A host has given what is no value of its type.
pub fn is_other(shape: &Shape, name: &str, place: &dyn Fn(&str) -> C) -> Option<C> {
    let above = |value: C, most: u64| binary(">", value, atom(number(most)));
    match shape {
        Shape::Number { bits, .. } if *bits == stored_bits(*bits) => None,
        Shape::Number {
            bits,
            signed: false,
        } => Some(above(place(name), ones(*bits))),
        Shape::Number { bits, signed: true } => {
            let most = ones(*bits - 1);
            let least = atom(format!("-{most} - 1"));
            let below = binary("<", place(name), least);
            let above = binary(">", place(name), atom(most.to_string()));
            Some(binary("||", below, above))
        }
        Shape::Bounded(most) if *most < u32::from(u8::MAX) => {
            Some(above(place(name).member("length"), u64::from(*most)))
        }
        Shape::Optional(value) => {
            let other = is_other(value, name, place)?;
            Some(binary("&&", place(&format!("has_{name}")), other))
        }
        Shape::Record(_, fields) => {
            let own = place(name);
            let inside = |member: &str| own.clone().member(member);
            let all = fields.iter();
            let all = all.filter_map(|(field, of)| is_other(of, &identifier(field), &inside));
            all.reduce(|all, one| binary("||", all, one))
        }
        Shape::Bool
        | Shape::Time
        | Shape::Bytes(_)
        | Shape::Bounded(_)
        | Shape::Array(..)
        | Shape::Foreign(_)
        | Shape::Float(_)
        | Shape::Opaque(_) => None,
    }
}

/// A constant in C.
///
/// # Panics
///
/// If it is none.
pub fn constant(stack: &Stack<'_>, op: &Op) -> C {
    match op {
        Op::Number(1, bit) => atom(if *bit == 1 { "true" } else { "false" }),
        Op::Number(_, value) => atom(number(*value)),
        Op::Bytes(bytes) => {
            let all: Vec<String> = bytes.iter().map(u8::to_string).collect();
            let name = &stack.names.stack;
            let all = all.join(", ");
            atom(format!("(struct {name}_bytes{}){{{{{all}}}}}", bytes.len()))
        }
        other => panic!("{other:?} is no constant"),
    }
}

/// A part of type `of` as memory holds it: a number is cast to its narrow type, unless it stands in
/// memory already.
pub fn stored(of: Type, part: C) -> C {
    match (of, &part) {
        (_, C::Member(..) | C::Behind(..) | C::Element(..)) => part,
        (Type::Int(2..=16), _) if !is_literal(&part) => {
            let bits = of.bits().expect("it is a number");
            part.cast(format!("uint{}_t", stored_bits(bits)))
        }
        _ => part,
    }
}

/// A part that is zero.
fn zero(stack: &Stack<'_>, of: Type) -> C {
    match of {
        Type::Bytes(length) => {
            let name = &stack.names.stack;
            atom(format!("(struct {name}_bytes{length}){{{{0}}}}"))
        }
        _number => atom("0U"),
    }
}

fn number(value: u64) -> String {
    match value {
        0..0x8000_0000 => value.to_string(),
        _ => format!("{value:#x}U"),
    }
}

fn is_literal(part: &C) -> bool {
    match part {
        C::Atom(text) => text
            .bytes()
            .next()
            .is_some_and(|first| first.is_ascii_digit()),
        _ => false,
    }
}

/// The low bits of a number that a host has given.
fn without_sign(value: C, bits: u8, signed: bool) -> C {
    let own = stored_bits(bits);
    let value = match signed {
        true => value.cast(format!("uint{own}_t")),
        false => value,
    };
    let masked = |value| binary("&", value, atom(format!("{:#x}U", ones(bits))));
    match bits {
        1 => binary("!=", masked(value), atom("0")),
        _ if bits == own => value,
        _ => masked(value),
    }
}

/// A number as a host is told it.
fn with_sign(part: C, bits: u8, signed: bool) -> C {
    let own = stored_bits(bits);
    match signed {
        true if bits == own => part.cast(format!("int{own}_t")),
        true => {
            let sign = || atom(format!("{:#x}U", 1_u64 << (bits - 1)));
            let extended = binary("-", binary("^", part, sign()), sign());
            extended.cast(format!("int{own}_t"))
        }
        false => stored(Type::Int(bits), part),
    }
}

/// Functions that read and build bounded bytes of all bounds that a host knows, by name.
pub fn functions(stack: &Stack<'_>) -> Vec<(String, Item)> {
    let mut all = BTreeSet::new();
    shapes(stack.module).for_each(|shape| add_bounds(shape, &mut all));
    let name = &stack.names.stack;
    let functions = all.into_iter().flat_map(|most| {
        let tag = bounded(name, most);
        let given = format!(
            "/* The bytes of some that a host has given, and zeros behind them. */\n\
             static struct {name}_bytes{most} {tag}_given(struct {tag} bytes) {{\n    \
             struct {name}_bytes{most} all = {{{{0}}}};\n    \
             const size_t most = sizeof all.at;\n    \
             memcpy(all.at, bytes.at, bytes.length < most ? bytes.length : most);\n    \
             return all;\n}}\n"
        );
        let told = format!(
            "/* So many bytes, with zeros behind them, as a host is told them. */\n\
             static struct {tag}\n\
             {tag}_told(uint32_t length, struct {name}_bytes{most} bytes) {{\n    \
             struct {tag} all = {{.length = (uint8_t)length}};\n    \
             memcpy(all.at, bytes.at, sizeof all.at);\n    \
             return all;\n}}\n"
        );
        [("given", given), ("told", told)]
            .map(|(what, text)| (format!("{tag}_{what}"), Item::Text(text)))
    });
    functions.collect()
}

/// All shapes that a host sees.
fn shapes(module: &Module) -> impl Iterator<Item = &Shape> {
    let ports = module.ports.iter().flat_map(|port| {
        let openings = port.opens.iter().chain(&port.listens);
        let keys = openings.flat_map(|opening| opening.keys.iter().map(|(key, _)| key));
        let notices = port.up.iter().chain(&port.down);
        let told = notices.flat_map(|notice| &notice.parameters);
        let attributes = port.attributes.iter().map(|one| &one.named);
        keys.chain(told).chain(attributes)
    });
    let foreigns = module.foreigns.iter().flat_map(|foreign| {
        let given = foreign.parameters.iter().filter_map(|(_, one)| match one {
            Given::Value(shape) | Given::Changed(shape) => Some(shape),
            Given::Data | Given::Rewritten | Given::State(_) => None,
        });
        given.chain(&foreign.result)
    });
    let settings = module.given.iter().map(|setting| &setting.named);
    let named = settings.chain(ports).map(|named| &named.shape);
    named.chain(foreigns)
}

fn add_bounds(shape: &Shape, all: &mut BTreeSet<u32>) {
    match shape {
        Shape::Bounded(most) => {
            all.insert(*most);
        }
        Shape::Optional(value) | Shape::Array(value, _) => add_bounds(value, all),
        Shape::Record(_, fields) => fields.iter().for_each(|(_, field)| add_bounds(field, all)),
        Shape::Number { .. }
        | Shape::Bool
        | Shape::Time
        | Shape::Bytes(_)
        | Shape::Foreign(_)
        | Shape::Float(_)
        | Shape::Opaque(_) => {}
    }
}
