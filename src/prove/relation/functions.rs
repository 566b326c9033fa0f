//! Functions that are compared.
//!
//! In: two modules. Out: the names of functions whose text has changed, or that of one that they
//! execute; and of those whose events are followed.

use super::text;
use crate::ir::effects::{called, called_by_attempt};
use crate::ir::op::{Event, Op, Target};
use crate::ir::rename::named_in_tables;
use crate::ir::{Function, FunctionId, Module, Region, Role, Terminator};
use std::collections::{BTreeMap, BTreeSet};

/// Functions of two modules, by their names.
pub struct Functions {
    /// Functions of the second module that are compared.
    pub are_judged: BTreeSet<String>,
    /// Reactions that are executed where an event is handed on to them.
    pub followed: BTreeSet<String>,
    /// Functions that are given messages by links alone.
    pub arrive: BTreeSet<String>,
}

impl Functions {
    /// Returns those of two modules.
    pub fn of(before: &Module, after: &Module) -> Functions {
        let names = |module: &Module| -> BTreeSet<String> {
            let all = module.functions.iter();
            all.map(|one| one.name.clone()).collect()
        };
        let (own, others) = (names(before), names(after));
        let changed: BTreeSet<String> = own
            .union(&others)
            .filter(|name| text(before, name) != text(after, name))
            .cloned()
            .collect();
        let news: BTreeSet<String> = others.difference(&own).cloned().collect();
        let followed = followed(before, after, &changed, &news);
        let mut executed = executed(before, &followed);
        for (name, more) in self::executed(after, &followed) {
            executed.entry(name).or_default().extend(more);
        }
        let started: BTreeSet<String> = started(before).union(&started(after)).cloned().collect();
        let is_called = |name: &String| {
            let mut all = executed.values();
            all.any(|all| all.contains(name))
        };
        let are_judged = others.iter().filter(|name| {
            let is_started = started.contains(*name) || !is_called(name);
            is_started && reaches(&executed, name, &changed)
        });
        // A function that is new is compared with one behind the pass.
        let arrived = arrive(before);
        let mut arrive = arrive(after);
        arrive.retain(|name| arrived.contains(name) || news.contains(name));
        Functions {
            are_judged: are_judged.cloned().collect(),
            arrive,
            followed,
        }
    }
}

/// Returns true if a function is one of some, or executes one of them.
fn reaches(
    executed: &BTreeMap<String, BTreeSet<String>>,
    name: &str,
    some: &BTreeSet<String>,
) -> bool {
    let mut found = BTreeSet::from([name.to_string()]);
    let mut open = vec![name.to_string()];
    while let Some(name) = open.pop() {
        if some.contains(&name) {
            return true;
        }
        let more = executed.get(&name).into_iter().flatten();
        open.extend(more.filter(|one| found.insert((*one).clone())).cloned());
    }
    false
}

/// Returns reactions that one module does not have, and those that hand events on to them.
fn followed(
    before: &Module,
    after: &Module,
    changed: &BTreeSet<String>,
    news: &BTreeSet<String>,
) -> BTreeSet<String> {
    let hands_on = |function: &&Function| {
        let mut all = tails(after, function).into_iter();
        changed.contains(&function.name) && all.any(|target| news.contains(&target))
    };
    let reactions = |module: &Module| -> BTreeSet<String> {
        let all = module.functions.iter();
        let all = all.filter(|one| one.role == Role::Reaction);
        all.map(|one| one.name.clone()).collect()
    };
    let own = reactions(after);
    let mut found: BTreeSet<String> = own.intersection(news).cloned().collect();
    let others = after.functions.iter().filter(hands_on);
    found.extend(others.map(|one| one.name.clone()));
    found.retain(|name| before.named(name).is_none() || own.contains(name));
    found
}

/// Returns the reactions to which a function hands an event on.
fn tails(module: &Module, function: &Function) -> Vec<String> {
    let ends = function.blocks.iter().map(|block| &block.terminator);
    let targets = ends.filter_map(|end| match end {
        Terminator::Tail(event, _) => Some(event.target),
        _other => None,
    });
    let functions = targets.filter_map(|target| match target {
        Target::Function(id) => Some(module.function(id).name.clone()),
        Target::Link(_) | Target::Port(..) => None,
    });
    functions.collect()
}

/// Returns by function those that are executed with it: that it calls, and to which it hands on
/// an event that is followed.
fn executed(module: &Module, followed: &BTreeSet<String>) -> BTreeMap<String, BTreeSet<String>> {
    let all = module.functions.iter().map(|function| {
        let mut found: BTreeSet<String> = tails(module, function).into_iter().collect();
        found.retain(|name| followed.contains(name));
        for instruction in function.instructions() {
            let id = match &instruction.op {
                Op::Call(id) => *id,
                Op::Load(Region::Valid(cache)) => module.caches[cache.at()].remembers,
                _other => continue,
            };
            found.insert(module.function(id).name.clone());
        }
        (function.name.clone(), found)
    });
    all.collect()
}

/// Returns functions that others than calls start.
pub fn started(module: &Module) -> BTreeSet<String> {
    let mut ids: BTreeSet<FunctionId> = named_in_tables(&mut module.clone());
    for (at, function) in module.functions.iter().enumerate() {
        if matches!(function.role, Role::Reaction | Role::Entry | Role::Fast) {
            ids.insert(FunctionId(at as u32));
        }
        for instruction in function.instructions() {
            if !matches!(instruction.op, Op::Call(_)) {
                ids.extend(called(module, &instruction.op));
            }
        }
        for block in &function.blocks {
            if let Terminator::Try { attempt, .. } = &block.terminator {
                ids.extend(called_by_attempt(module, attempt));
            }
        }
    }
    let names = ids.into_iter().map(|id| module.function(id).name.clone());
    names.collect()
}

/// Returns functions to which links alone give messages, and their fast functions.
fn arrive(module: &Module) -> BTreeSet<String> {
    let mut ids: BTreeSet<FunctionId> = module.links.iter().map(|link| link.arrives).collect();
    let mut other = |event: &Event| {
        if let Target::Function(id) = event.target {
            ids.remove(&id);
        }
    };
    for function in &module.functions {
        for instruction in function.instructions() {
            if let Op::Queue(_, events) | Op::Output(events) = &instruction.op {
                events.iter().for_each(&mut other);
            }
        }
        for block in &function.blocks {
            if let Terminator::Tail(event, _) = &block.terminator {
                other(event);
            }
        }
    }
    for function in &module.functions {
        for instruction in function.instructions() {
            for id in called(module, &instruction.op) {
                ids.remove(&id);
            }
        }
    }
    for port in &module.ports {
        port.sends.iter().for_each(|id| {
            ids.remove(id);
        });
    }
    let fast = ids.iter().filter_map(|id| module.function(*id).fast);
    let all: BTreeSet<FunctionId> = fast.chain(ids.iter().copied()).collect();
    let names = all.into_iter().map(|id| module.function(id).name.clone());
    names.collect()
}

/// Says why two modules cannot be compared: tables that name the state differ.
pub fn tables_differ(before: &Module, after: &Module) -> Option<String> {
    let kinds = |module: &Module| {
        let all = module.kinds.iter();
        let all = all.map(|one| {
            (
                one.name.clone(),
                one.capacity,
                one.lives,
                one.fields.clone(),
            )
        });
        all.collect::<Vec<_>>()
    };
    let names = |module: &Module| {
        let kernels = module.kernels.iter().map(|one| one.name.clone());
        let ports = module.ports.iter().map(|one| one.name.clone());
        let links = module.links.iter().map(|one| one.name.clone());
        kernels.chain(ports).chain(links).collect::<Vec<_>>()
    };
    let is_same = kinds(before) == kinds(after)
        && names(before) == names(after)
        && before.attributes == after.attributes
        && before.settings == after.settings
        && before.reasons == after.reasons
        && before.counters == after.counters
        && before.foreigns == after.foreigns;
    (!is_same).then(|| "tables of the module have changed".to_string())
}
