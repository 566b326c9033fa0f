//! Parameters that a pass has removed, and functions that it has folded.
//!
//! In: two modules. Out: for each, the names and the arguments of events that count. A parameter is
//! removed since nobody uses it, which shows where the functions are compared; or since it is the
//! same constant at each call and event, which shows where the events are.

use super::text;
use crate::ir::definitions::Definitions;
use crate::ir::edit::shape;
use crate::ir::effects::Effects;
use crate::ir::op::{Event, Op, Target};
use crate::ir::rename::renumber_functions;
use crate::ir::{Function, FunctionId, Module, Terminator, Type, Value};
use crate::prove::naming::{Naming, Shown};
use std::collections::BTreeMap;

/// Arguments that a function is given at a site, with the function in which the site is.
type Site<'s> = (FunctionId, &'s Function, Vec<Value>);

/// Returns what both modules call alike.
pub fn namings(before: &Module, after: &Module) -> [Naming; 2] {
    let mut effects: BTreeMap<String, Effects> = BTreeMap::new();
    for module in [before, after] {
        let all = Effects::of_functions(module).into_iter();
        for (function, more) in module.functions.iter().zip(all) {
            effects.entry(function.name.clone()).or_default().add(&more);
        }
    }
    let mut namings = [(); 2].map(|()| Naming {
        effects: effects.clone(),
        with_attributes: true,
        ..Naming::default()
    });
    let constants = constants(before);
    let first = first_alike(before);
    for (at, function) in before.functions.iter().enumerate() {
        let other = stands_for(before, after, (FunctionId(at as u32), first[at]));
        let Some(id) = after.named(&function.name) else {
            namings[0]
                .names
                .extend(other.map(|other| (function.name.clone(), other)));
            continue;
        };
        // A function that is gone may have been the same as several that are not.
        let is_kept = |name: &str| text(before, name) == text(after, name);
        if let Some(other) = other.filter(|other| is_kept(&function.name) && is_kept(other)) {
            for naming in &mut namings {
                naming.names.insert(function.name.clone(), other.clone());
            }
        }
        let given = |place: usize| constants.get(&(FunctionId(at as u32), place));
        let (own, others) = shown(function, after.function(id), given);
        if own.len() != function.parameters().len() || own != others {
            namings[0].parameters.insert(function.name.clone(), own);
            namings[1].parameters.insert(function.name.clone(), others);
        }
    }
    namings
}

/// Returns the arguments that count of a function before and behind a pass.
fn shown<'c>(
    before: &Function,
    after: &Function,
    constant: impl Fn(usize) -> Option<&'c Op>,
) -> (Vec<Shown>, Vec<Shown>) {
    let known = |function: &Function| -> Vec<(Type, String)> {
        let all = function.parameters().iter();
        let all = all.map(|value| &function.values[value.at()]);
        all.map(|one| (one.of, one.hint.clone())).collect()
    };
    let (own, others) = (known(before), known(after));
    if own.len() == others.len() {
        let all: Vec<Shown> = (0..own.len()).map(Shown::Given).collect();
        return (all.clone(), all);
    }
    let (mut one, mut other) = (Vec::new(), Vec::new());
    let mut next = 0;
    for (place, parameter) in own.iter().enumerate() {
        if others.get(next) == Some(parameter) {
            one.push(Shown::Given(place));
            other.push(Shown::Given(next));
            next += 1;
        } else if let Some(op) = constant(place) {
            one.push(Shown::Given(place));
            other.push(Shown::Constant(op.clone()));
        }
    }
    (one, other)
}

/// Returns the function that stands behind a pass for one that is gone: the first one that is the
/// same but for names. A function that is gone without one shows where it was used.
fn stands_for(
    before: &Module,
    after: &Module,
    (id, first): (FunctionId, FunctionId),
) -> Option<String> {
    let same = &before.function(first).name;
    let stands = first != id && after.named(same).is_some();
    stands.then(|| same.clone())
}

/// Returns for each function the first that is the same but for names, of itself and of functions
/// that are the same.
fn first_alike(module: &Module) -> Vec<FunctionId> {
    let mut module = module.clone();
    let mut first: Vec<FunctionId> = (0..module.functions.len() as u32).map(FunctionId).collect();
    loop {
        let mut known: BTreeMap<String, FunctionId> = BTreeMap::new();
        let shapes = module.functions.iter().map(shape);
        let own = shapes.zip(&first);
        let next: Vec<FunctionId> = own
            .map(|(shape, id)| *known.entry(shape).or_insert(*id))
            .collect();
        if next == first {
            return first;
        }
        renumber_functions(&mut module, |id| next[id.at()]);
        first = next;
    }
}

/// A parameter, as far as is known.
#[derive(Clone, Debug, PartialEq)]
enum Known {
    Nothing,
    Always(Op),
    Varies,
}

/// Returns parameters that are the same constant wherever an argument is given.
fn constants(module: &Module) -> BTreeMap<(FunctionId, usize), Op> {
    let sites = sites(module);
    let definitions: Vec<Definitions<'_>> = module.functions.iter().map(Definitions::of).collect();
    let mut known: BTreeMap<(FunctionId, usize), Known> = BTreeMap::new();
    loop {
        let mut next: BTreeMap<(FunctionId, usize), Known> = BTreeMap::new();
        for (target, all) in &sites {
            for (caller, function, given) in all {
                let defined = &definitions[caller.at()];
                for (place, value) in given.iter().enumerate() {
                    let own = function.parameters().iter().position(|one| one == value);
                    let found = match (defined.get(*value), own) {
                        (Some(one), _) if one.operands.is_empty() && one.op.is_constant() => {
                            Known::Always(one.op.clone())
                        }
                        (_, Some(own)) if sites.contains_key(caller) => {
                            let passed = known.get(&(*caller, own));
                            passed.cloned().unwrap_or(Known::Nothing)
                        }
                        _other => Known::Varies,
                    };
                    let entry = next.entry((*target, place)).or_insert(Known::Nothing);
                    *entry = match (entry.clone(), found) {
                        (Known::Nothing, other) | (other, Known::Nothing) => other,
                        (one, other) if one == other => one,
                        _different => Known::Varies,
                    };
                }
            }
        }
        if next == known {
            break;
        }
        known = next;
    }
    let always = known.into_iter().filter_map(|(place, one)| match one {
        Known::Always(op) => Some((place, op)),
        Known::Nothing | Known::Varies => None,
    });
    always.collect()
}

/// Returns all places at which functions are given arguments.
fn sites(module: &Module) -> BTreeMap<FunctionId, Vec<Site<'_>>> {
    let mut found: BTreeMap<FunctionId, Vec<Site<'_>>> = BTreeMap::new();
    for (at, function) in module.functions.iter().enumerate() {
        let own = FunctionId(at as u32);
        let mut add = |target: FunctionId, given: &[Value]| {
            let site = (own, function, given.to_vec());
            found.entry(target).or_default().push(site);
        };
        let mut events = |all: &[Event], operands: &[Value]| {
            let mut rest = operands;
            for event in all {
                let (given, others) = rest.split_at(event.arguments as usize);
                rest = others;
                if let Target::Function(id) = event.target {
                    add(id, given);
                }
            }
        };
        for block in &function.blocks {
            for one in &block.instructions {
                if let Op::Queue(_, all) | Op::Output(all) = &one.op {
                    events(all, &one.operands);
                }
            }
            if let Terminator::Tail(event, operands) = &block.terminator {
                events(std::slice::from_ref(event), operands);
            }
        }
        for one in function.instructions() {
            if let Op::Call(id) | Op::Loop(id, _) = one.op {
                add(id, &one.operands);
            }
        }
    }
    found
}
