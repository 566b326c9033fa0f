//! What functions of values hang on: what of a stack they read, and whether it is settings alone.
//!
//! In: functions that give a value, and do no more. Out: what can be said of a call of one.

use super::Stack;
use super::algebra::number;
use crate::c::tree::{Expression as C, Function, atom};
use crate::c::walk;
use crate::types::header::{Rule, Run};
use std::collections::{BTreeMap, BTreeSet};

/// Functions that give a value, and do no more.
pub struct Values {
    /// By name: the names of all that they read, with those that they call.
    read: BTreeMap<String, BTreeSet<String>>,
    /// Those whose value is made of what they are given, and of settings.
    settled: BTreeSet<String>,
    /// Those of them that are sums of a whole header, which they are given first.
    sums: BTreeSet<String>,
    /// Those that find an instance by its keys.
    finds: BTreeSet<String>,
}

impl Values {
    /// What is known of these.
    pub fn of(stack: &Stack, functions: &[Function]) -> Values {
        let finds = stack.names.kinds.iter();
        let finds = finds.flat_map(|kind| [format!("find_{kind}"), format!("find_{kind}_again")]);
        let pure = pure(stack, functions);
        let functions = functions.iter().filter(|one| pure.contains(&one.name));
        let functions = Vec::from_iter(functions.cloned());
        Values {
            read: read(&functions),
            settled: settled(&functions),
            sums: sums(stack),
            finds: finds.collect(),
        }
    }

    /// Where there are none.
    #[cfg(test)]
    pub fn none() -> Values {
        Values {
            read: BTreeMap::new(),
            settled: BTreeSet::new(),
            sums: BTreeSet::new(),
            finds: BTreeSet::new(),
        }
    }

    /// Whether a function gives a value, and does no more.
    pub fn has(&self, name: &str) -> bool {
        let looks = self.finds.contains(name) || LOADS.contains(&name);
        looks || computes(name) || self.read.contains_key(name)
    }

    /// Whether the value of a function is made of what it is given, and of settings.
    pub fn is_settled(&self, name: &str) -> bool {
        computes(name) || self.settled.contains(name)
    }

    /// Whether a function is the sum of a whole header, which it is given first.
    pub fn is_sum(&self, name: &str) -> bool {
        self.sums.contains(name)
    }

    /// Whether a value reads one of these fields, or a function does that it asks for.
    pub fn reads(&self, value: &C, fields: &BTreeSet<String>) -> bool {
        let itself = match value {
            C::Member(_, name) => fields.contains(name),
            C::Call(name, given) if given.contains(&atom("stack")) => match self.read.get(name) {
                Some(read) => !fields.is_disjoint(read),
                // It looks at keys, which stay.
                None => !self.finds.contains(name),
            },
            _ => false,
        };
        let mut parts = value.parts().into_iter();
        itself || parts.any(|one| self.reads(one, fields))
    }
}

/// What reads bytes of a message.
const LOADS: [&str; 8] = [
    "sl_load_big16",
    "sl_load_big24",
    "sl_load_big32",
    "sl_load_big48",
    "sl_load_big64",
    "sl_load_little16",
    "sl_load_little32",
    "sl_load_little64",
];

/// Whether what all stacks have gives a value that is made of what it is given.
fn computes(name: &str) -> bool {
    let bits = |rest: &str| ["8", "16", "32", "64"].contains(&rest);
    let kinds = ["smaller", "larger"].into_iter();
    kinds.filter_map(|kind| name.strip_prefix(kind)).any(bits)
}

/// The sums of whole headers, alone: those of other runs are given something else.
pub fn sums(stack: &Stack) -> BTreeSet<String> {
    let all = stack.names.sums.iter();
    let whole = all.filter(|((header, field), _)| {
        let field = &stack.program.headers[header.at()].fields[field.at()];
        matches!(&field.rule, Rule::Checks { ranges, .. } if ranges.0 == [Run::Header])
    });
    whole.map(|(_, name)| name.clone()).collect()
}

/// Whether finding a value may fail if nobody has asked before.
pub fn may_fail(value: &C) -> bool {
    let itself = match value {
        C::Binary("/" | "%", _, by) => number(by).is_none_or(|by| by == 0),
        // Which instance it is has been asked.
        C::Element(of, at) => !matches!((&**of, &**at), (C::Behind(..), C::Atom(_))),
        _ => false,
    };
    itself || value.parts().into_iter().any(may_fail)
}

/// Those of these functions that call nothing written in C by others, nor what does so.
fn pure(stack: &Stack, functions: &[Function]) -> BTreeSet<String> {
    let all = stack.program.functions.iter().zip(&stack.names.functions);
    let external = all.filter(|(function, _)| function.body.is_none());
    let mut others: BTreeSet<String> = external.map(|(_, name)| name.clone()).collect();
    loop {
        let before = others.len();
        for function in functions {
            let mut callees = BTreeSet::new();
            walk::each(&function.body, &mut |one| {
                let values = one.expressions().into_iter();
                values.for_each(|value| called(value, &mut callees));
            });
            if !callees.is_disjoint(&others) {
                others.insert(function.name.clone());
            }
        }
        if others.len() == before {
            let names = functions.iter().map(|one| one.name.clone());
            return names.filter(|name| !others.contains(name)).collect();
        }
    }
}

/// The names of all fields of which a value is made.
pub fn members(value: &C) -> BTreeSet<String> {
    let own = match value {
        C::Member(_, name) => Some(name.clone()),
        _ => None,
    };
    let parts = value.parts().into_iter().flat_map(members);
    own.into_iter().chain(parts).collect()
}

fn read(functions: &[Function]) -> BTreeMap<String, BTreeSet<String>> {
    let mut all = BTreeMap::new();
    let mut calls: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for function in functions {
        let mut read = BTreeSet::new();
        walk::each(&function.body, &mut |one| {
            for value in one.expressions() {
                read.extend(members(value));
                called(value, calls.entry(&function.name).or_default());
            }
        });
        all.insert(function.name.clone(), read);
    }
    loop {
        let before = all.clone();
        for (name, callees) in &calls {
            let read = callees.iter().filter_map(|one| before.get(one));
            let read: BTreeSet<String> = read.flatten().cloned().collect();
            all.entry(name.to_string()).or_default().extend(read);
        }
        if all == before {
            return all;
        }
    }
}

fn called(value: &C, all: &mut BTreeSet<String>) {
    if let C::Call(name, _) = value {
        all.insert(name.clone());
    }
    value.parts().into_iter().for_each(|one| called(one, all));
}

fn settled(functions: &[Function]) -> BTreeSet<String> {
    let mut all: BTreeSet<String> = functions.iter().map(|one| one.name.clone()).collect();
    loop {
        let is_settled = |function: &Function| {
            let mut is_settled = true;
            walk::each(&function.body, &mut |one| {
                let values = one.expressions().into_iter();
                values.for_each(|value| is_settled &= hangs_on_settings(value, &all));
            });
            is_settled
        };
        let own = functions.iter().filter(|one| all.contains(&one.name));
        let kept: BTreeSet<String> = own
            .filter(|one| is_settled(one))
            .map(|one| one.name.clone())
            .collect();
        if kept.len() == all.len() {
            return kept;
        }
        all = kept;
    }
}

/// Whether a value hangs on nothing of a stack but settings, where these functions do so.
fn hangs_on_settings(value: &C, settled: &BTreeSet<String>) -> bool {
    let itself = match value {
        C::Behind(stack, member) if **stack == atom("stack") => member == "config",
        C::Call(name, _) => {
            settled.contains(name) || computes(name) || name.starts_with("sl_") || name == "memcmp"
        }
        _ => true,
    };
    let mut parts = value.parts().into_iter();
    itself && parts.all(|one| hangs_on_settings(one, settled))
}
