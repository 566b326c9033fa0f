//! What a field always holds need not be read.
//!
//! In: the functions of all reactions that anything leads to. Out: the same, where a field of an
//! instance that always exists is a number if that is what it begins with, and all that is ever
//! written to it; what hangs on it is settled, and it is written no more.
//!
//! ```text
//! room = 1480                                at the start, and where a link comes up
//! if message.length > room { … }        =>   if message.length > 1480 { … }
//! ```
//!
//! Assumes: fields are written by assignments, but for those of which an address is taken. Ensures:
//! the same outputs. Cost: none.

use super::Stack;
use super::algebra::{folded, number, replaced};
use super::compared::addressed;
use super::layout::bits;
use super::names::c_name;
use super::output::is_static;
use super::scope::Scope;
use super::with_all_used;
use crate::c::printer::expression;
use crate::c::tree::{Expression as C, Function, Statement as S, atom, only_if};
use crate::c::walk;
use crate::tree::rewrites::Rewrite;
use crate::types::program::{Field, KindId};
use crate::types::value::Type;
use std::collections::{BTreeMap, BTreeSet};

/// What fields always hold, by where they stand, and with how many bits.
type Held = BTreeMap<(String, String), (C, u32)>;

/// Puts what fields always hold in their places; these are said, with what they hold.
pub fn hold(stack: &Stack, functions: &mut [&mut Function]) -> Vec<String> {
    if !stack.rewrites.has(Rewrite::Branches) {
        return Vec::new();
    }
    let held = held(stack, functions);
    let mut read = BTreeSet::new();
    for function in functions.iter() {
        walk::each(&function.body, &mut |one| {
            let values = match one {
                S::Assign(_, _, value) => vec![value],
                other => other.expressions(),
            };
            values.into_iter().for_each(|one| places(one, &mut read));
        });
    }
    for function in functions {
        let twice = declared_twice(&function.body);
        settle(&mut function.body, &held, &twice);
        **function = with_all_used(function.clone());
    }
    let read = held.iter().filter(|(name, _)| read.contains(name));
    let said = read.map(|((kind, field), (value, _))| {
        let value = expression(value);
        format!("{kind}.{field}: {value}")
    });
    said.collect()
}

fn held(stack: &Stack, functions: &[&mut Function]) -> Held {
    let mut held = Held::new();
    let kinds = (0..stack.program.kinds.len() as u32).map(KindId);
    let single = |id: &KindId| is_static(stack, *id) && stack.program.kinds[id.at()].capacity == 1;
    for id in kinds.filter(single) {
        for field in &stack.program.kinds[id.at()].fields {
            let name = (stack.names.kinds[id.at()].clone(), c_name(&field.name));
            let bits = bits(stack, &field.kind).unwrap_or(1);
            held.extend(first(stack, field).map(|first| (name, (first, bits))));
        }
    }
    let addressed = addressed(functions.iter().map(|one| &**one));
    held.retain(|(_, field), _| !addressed.contains(field));
    for function in functions {
        walk::each(&function.body, &mut |one| {
            if let S::Assign(to, operator, value) = one
                && let Some(name) = written(to)
                && (*operator != "=" || held.get(&name).is_some_and(|(first, _)| first != value))
            {
                held.remove(&name);
            }
        });
    }
    held
}

/// What a field begins with, if it is a number that nothing is always less than, or no greater.
fn first(stack: &Stack, field: &Field) -> Option<C> {
    let initial = field.initial.as_ref()?;
    let first = Scope::new(stack, &[]).stored(initial);
    if field.kind == Type::Bool {
        return is_literal(&first).then_some(first);
    }
    let bits = bits(stack, &field.kind)?;
    let greatest = u64::MAX >> (64 - bits);
    let is_between = |value: u64| (1..greatest).contains(&value);
    number(&first).is_some_and(is_between).then_some(first)
}

/// A number as a field with so many bits has it.
fn typed(value: &C, bits: u32) -> C {
    match (value, bits) {
        (C::Atom(text), 33..) => atom(format!("{text}ull")),
        (C::Atom(text), 17..) => atom(format!("{text}u")),
        (other, _) => other.clone(),
    }
}

fn is_literal(value: &C) -> bool {
    number(value).is_some() || [atom("true"), atom("false")].contains(value)
}

/// The place of a field of an instance that always exists.
fn place(value: &C) -> Option<(String, String)> {
    match value {
        C::Member(of, field) => match &**of {
            C::Behind(stack, kind) if **stack == atom("stack") => {
                Some((kind.clone(), field.clone()))
            }
            _ => None,
        },
        _ => None,
    }
}

/// The places of all fields that a value reads.
fn places(value: &C, all: &mut BTreeSet<(String, String)>) {
    all.extend(place(value));
    value.parts().into_iter().for_each(|one| places(one, all));
}

/// The place of the field that is written, or of which a part is.
fn written(to: &C) -> Option<(String, String)> {
    place(to).or_else(|| to.parts().into_iter().find_map(written))
}

/// The names that a function declares in several places.
fn declared_twice(body: &[S]) -> BTreeSet<String> {
    let (mut once, mut twice) = (BTreeSet::new(), BTreeSet::new());
    walk::each(body, &mut |one| {
        if let S::Declare { name, .. } = one
            && !once.insert(name.clone())
        {
            twice.insert(name.clone());
        }
    });
    twice
}

fn settle(block: &mut Vec<S>, held: &Held, twice: &BTreeSet<String>) {
    let known = |value: &C| {
        let (value, bits) = held.get(&place(value)?)?;
        Some(typed(value, *bits))
    };
    for mut statement in std::mem::take(block) {
        if let S::Assign(to, ..) = &statement
            && place(to).is_some_and(|name| held.contains_key(&name))
        {
            continue;
        }
        for value in statement.expressions_mut() {
            let settled = replaced(value, &known);
            if settled != *value {
                *value = folded(settled);
            }
        }
        for inner in statement.blocks_mut() {
            settle(inner, held, twice);
        }
        match statement {
            S::If {
                condition,
                then,
                otherwise,
            } if [atom("true"), atom("false")].contains(&condition) => {
                let holds = condition == atom("true");
                let way = if holds { then } else { otherwise };
                let declares =
                    |one: &S| matches!(one, S::Declare { name, .. } if twice.contains(name));
                match way.iter().any(declares) {
                    // Its names are known in it alone.
                    true => block.push(only_if(atom("true"), way)),
                    false => block.extend(way),
                }
            }
            other => block.push(other),
        }
    }
}
