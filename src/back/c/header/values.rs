//! Values of a host in C: their types, members of structs, parameters of functions.
//!
//! | shape | C |
//! |---|---|
//! | a number of so many bits | `uint8_t` to `uint64_t`, `int8_t` to `int64_t` |
//! | `bool`, `time` | `bool`, `uint64_t` |
//! | `bytes N`, `bytes ..N` | `struct STACK_bytesN`, `struct STACK_bytes_toN` |
//! | `optional T` | `bool has_x` and `x`; as an item `struct STACK_maybe_T` |
//! | a record | `struct STACK_x` |

use crate::back::c::Stack;
use crate::back::c::names::{Taken, identifier, shown};
use crate::back::c::types::stored_bits;
use crate::c::parts::words;
use crate::c::printer::{self, declaration};
use crate::c::tree::{Item, Line};
use crate::ir::interface::{Named, Shape};
use std::collections::BTreeSet;

/// A line of a struct or an enum.
pub fn line(text: impl Into<String>, comment: impl Into<String>) -> Line {
    Line {
        text: text.into(),
        comment: comment.into(),
    }
}

/// The C type of a value.
///
/// # Panics
///
/// If no single value of C holds it: an array.
pub fn c_type(stack: &Stack<'_>, shape: &Shape) -> String {
    let name = &stack.names.stack;
    match shape {
        Shape::Number { bits, signed } => {
            let sign = if *signed { "" } else { "u" };
            format!("{sign}int{}_t", stored_bits(*bits))
        }
        Shape::Bool => "bool".to_string(),
        Shape::Time => "uint64_t".to_string(),
        Shape::Bytes(length) => format!("struct {name}_bytes{length}"),
        Shape::Bounded(most) => format!("struct {name}_bytes_to{most}"),
        Shape::Optional(inner) => format!("struct {name}_maybe_{}", word(stack, inner)),
        Shape::Record(..) => {
            let mut records = stack.names.records.iter();
            let known = records.find(|(known, _)| known == shape);
            let (_, name) = known.expect("what a host sees has a name");
            format!("struct {name}")
        }
        Shape::Foreign(record) => foreign_record(stack, record),
        Shape::Float(32) => "float".to_string(),
        Shape::Float(_) => "double".to_string(),
        Shape::Opaque(of) => stack.module.opaques[of.at()].name.clone(),
        Shape::Array(..) => panic!("an array is no value of C"),
    }
}

/// The struct of a record whose content only C knows.
pub fn foreign_record(stack: &Stack<'_>, record: &str) -> String {
    format!("struct {}", stack.names.foreign_records[record])
}

/// A type as part of a name.
fn word(stack: &Stack<'_>, shape: &Shape) -> String {
    let of = c_type(stack, shape);
    let of = of.trim_start_matches("struct ").trim_end_matches("_t");
    identifier(of)
}

/// The members that hold a value under a name of C, the first with a comment.
pub fn members(stack: &Stack<'_>, shape: &Shape, name: &str, comment: &str) -> Vec<Line> {
    match shape {
        Shape::Optional(inner) => {
            let there = line(
                format!("bool has_{name}"),
                format!("whether there is {name}"),
            );
            let mut all = vec![there];
            all.extend(members(stack, inner, name, comment));
            all
        }
        Shape::Array(element, length) => {
            let name = format!("{name}[{length}]");
            vec![line(declaration(&c_type(stack, element), &name), comment)]
        }
        Shape::Number { .. }
        | Shape::Bool
        | Shape::Time
        | Shape::Bytes(_)
        | Shape::Bounded(_)
        | Shape::Record(..)
        | Shape::Foreign(_)
        | Shape::Float(_)
        | Shape::Opaque(_) => vec![line(declaration(&c_type(stack, shape), name), comment)],
    }
}

/// The members that hold values under their names.
pub fn named_members<'n>(stack: &Stack<'_>, all: impl IntoIterator<Item = &'n Named>) -> Vec<Line> {
    let all = all.into_iter();
    all.flat_map(|one| members(stack, &one.shape, &identifier(&one.name), ""))
        .collect()
}

/// The parameters that take a value: an optional takes two.
pub fn parameters(stack: &Stack<'_>, shape: &Shape, name: &str) -> Vec<String> {
    match shape {
        Shape::Optional(inner) => {
            let mut all = vec![format!("bool has_{name}")];
            all.extend(parameters(stack, inner, name));
            all
        }
        other => vec![declaration(&c_type(stack, other), name)],
    }
}

/// The names of parameters: those of the source, where nothing else is called so. `beside` says
/// what a parameter of such a name has beside it.
pub fn distinct<'n>(
    own: &[&str],
    around: &Taken,
    wanted: impl IntoIterator<Item = (&'n str, Option<Beside>)>,
) -> Vec<String> {
    let mut taken: BTreeSet<String> = own.iter().map(|name| name.to_string()).collect();
    let mut names = Vec::new();
    for (source, beside) in wanted {
        let mut name = identifier(source);
        let beside = |name: &str| match beside {
            Some(Beside::Has) => format!("has_{name}"),
            Some(Beside::Length) => format!("{name}_length"),
            None => name.to_string(),
        };
        let is_taken = |name: &String| taken.contains(name) || around.has(name);
        while is_taken(&name) || is_taken(&beside(&name)) {
            name.push('_');
        }
        taken.extend([name.clone(), beside(&name)]);
        names.push(name);
    }
    names
}

/// A parameter beside another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// `has_x`, before an optional value.
    Has,
    /// `x_length`, behind data.
    Length,
}

/// The parameter beside one that takes a value.
pub fn beside(shape: &Shape) -> Option<Beside> {
    matches!(shape, Shape::Optional(_)).then_some(Beside::Has)
}

/// The structs that a text mentions, each behind those of which it consists: fixed bytes, records,
/// and optional values that are items.
pub fn structs(stack: &Stack<'_>, text: &str) -> Vec<Item> {
    let shapes = shown(stack.module);
    let bytes = shapes.iter().rev().filter_map(|shape| bytes(stack, shape));
    let records = stack.names.records.iter();
    let records = records.map(|(shape, name)| record(stack, shape, name));
    let optional = shapes.iter().rev();
    let optional = optional.filter_map(|shape| optional_item(stack, shape));
    let all: Vec<(String, Vec<Line>)> = bytes.chain(records).chain(optional).collect();
    let wanted = words(text).into_iter().map(String::from);
    let mut wanted: BTreeSet<String> = wanted.collect();
    let mut known = BTreeSet::new();
    let mut kept = Vec::new();
    let first = all
        .into_iter()
        .filter(|(name, _)| known.insert(name.clone()));
    let first: Vec<(String, Vec<Line>)> = first.collect();
    for (name, members) in first.into_iter().rev() {
        if !wanted.contains(&name) {
            continue;
        }
        let item = Item::Struct {
            comment: String::new(),
            name,
            members,
        };
        let own = printer::file(std::slice::from_ref(&item));
        wanted.extend(words(&own).into_iter().map(String::from));
        kept.push(item);
    }
    kept.reverse();
    kept
}

/// The lengths of fixed bytes whose structs are among those that a text mentions.
pub fn fixed_bytes(stack: &Stack<'_>, text: &str) -> BTreeSet<u32> {
    let declared = structs(stack, text);
    let is_declared = |wanted: &str| {
        declared.iter().any(|item| match item {
            Item::Struct { name, .. } => name == wanted,
            _other_items => false,
        })
    };
    let lengths = shown(stack.module).into_iter();
    let lengths = lengths.filter_map(|shape| match shape {
        Shape::Bytes(length) => is_declared(&tag(stack, shape)).then_some(*length),
        _other_shapes => None,
    });
    lengths.collect()
}

fn bytes(stack: &Stack<'_>, shape: &Shape) -> Option<(String, Vec<Line>)> {
    let members = match shape {
        Shape::Bytes(length) => vec![line(format!("uint8_t at[{length}]"), "")],
        Shape::Bounded(most) => vec![
            line("uint8_t length", "how many bytes there are"),
            line(
                format!("uint8_t at[{most}]"),
                "those, and zeros behind them",
            ),
        ],
        _other_shapes => return None,
    };
    Some((tag(stack, shape), members))
}

fn record(stack: &Stack<'_>, shape: &Shape, name: &str) -> (String, Vec<Line>) {
    let Shape::Record(_, fields) = shape else {
        unreachable!("a record is one");
    };
    let fields = fields.iter();
    let members = fields.flat_map(|(field, of)| members(stack, of, &identifier(field), ""));
    (name.to_string(), members.collect())
}

fn optional_item(stack: &Stack<'_>, shape: &Shape) -> Option<(String, Vec<Line>)> {
    let Shape::Array(element, _) = shape else {
        return None;
    };
    let Shape::Optional(inner) = &**element else {
        return None;
    };
    let mut all = vec![line("bool present", "")];
    all.extend(members(stack, inner, "value", ""));
    Some((tag(stack, element), all))
}

/// The name of the struct of a value.
fn tag(stack: &Stack<'_>, shape: &Shape) -> String {
    c_type(stack, shape)
        .trim_start_matches("struct ")
        .to_string()
}
