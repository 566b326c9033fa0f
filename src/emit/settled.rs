//! What functions of values hang on: what of a stack they read, and whether it is settings alone.
//!
//! In: functions that give a value, and do no more. Out: what can be said of a call of one.

use super::Stack;
use crate::c::tree::{Expression as C, Function, atom};
use crate::c::walk;
use std::collections::{BTreeMap, BTreeSet};

/// Functions that give a value, and do no more.
pub struct Values {
    /// By name: the names of all that they read, with those that they call.
    read: BTreeMap<String, BTreeSet<String>>,
    /// Those whose value is made of what they are given, and of settings.
    settled: BTreeSet<String>,
    /// Those of them that are sums of headers.
    sums: BTreeSet<String>,
}

impl Values {
    /// What is known of these.
    pub fn of(stack: &Stack, functions: &[Function]) -> Values {
        Values {
            read: read(functions),
            settled: settled(functions),
            sums: stack.names.sums.values().cloned().collect(),
        }
    }

    /// Where there are none.
    #[cfg(test)]
    pub fn none() -> Values {
        Values {
            read: BTreeMap::new(),
            settled: BTreeSet::new(),
            sums: BTreeSet::new(),
        }
    }

    /// Whether a function gives a value, and does no more.
    pub fn has(&self, name: &str) -> bool {
        computes(name) || self.read.contains_key(name)
    }

    /// Whether the value of a function is made of what it is given, and of settings.
    pub fn is_settled(&self, name: &str) -> bool {
        computes(name) || self.settled.contains(name)
    }

    /// Whether a function is a sum of a header.
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
                None => !name.starts_with("find_"),
            },
            _ => false,
        };
        let mut parts = value.parts().into_iter();
        itself || parts.any(|one| self.reads(one, fields))
    }
}

/// Whether what all stacks have gives a value that is made of what it is given.
fn computes(name: &str) -> bool {
    ["smaller", "larger"]
        .iter()
        .any(|one| name.starts_with(one))
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
        C::Call(name, given) => settled.contains(name) || !given.contains(&atom("stack")),
        _ => true,
    };
    let mut parts = value.parts().into_iter();
    itself && parts.all(|one| hangs_on_settings(one, settled))
}
