//! Functions that get other places in their table, or none: all that names one is changed with it.

use super::effects::{called, called_by_attempt};
use super::function::Terminator;
use super::ids::{FunctionId, KernelId};
use super::interface::{Opening, Port};
use super::op::{Attempt, Event, Op, Target};
use super::{Function, Module, Role};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// Gives each function that is named another place; the table itself stays.
pub fn renumber_functions(module: &mut Module, place: impl Fn(FunctionId) -> FunctionId) {
    for function in &mut module.functions {
        renumber(function, &place);
    }
    for kernel in &mut module.kernels {
        let always = [&mut kernel.begins, &mut kernel.steps, &mut kernel.finishes];
        for id in always.into_iter().chain(&mut kernel.tail) {
            *id = place(*id);
        }
    }
    for cache in &mut module.caches {
        cache.remembers = place(cache.remembers);
    }
    for timer in module.kinds.iter_mut().flat_map(|kind| &mut kind.timers) {
        timer.expires = timer.expires.map(&place);
    }
    for link in &mut module.links {
        link.arrives = place(link.arrives);
        link.carrier = link.carrier.map(&place);
    }
    for port in &mut module.ports {
        renumber_port(port, &place);
    }
    for export in &mut module.exports {
        export.calls = place(export.calls);
    }
    module.settings_hold = module.settings_hold.map(&place);
    module.starts = module.starts.map(&place);
}

/// The functions that tables name: a host starts them, a kernel or a cache runs them.
pub fn named_in_tables(module: &mut Module) -> BTreeSet<FunctionId> {
    let functions = std::mem::take(&mut module.functions);
    let named = RefCell::new(BTreeSet::new());
    renumber_functions(module, |id| {
        named.borrow_mut().insert(id);
        id
    });
    module.functions = functions;
    named.into_inner()
}

/// Removes functions that neither a table names nor a function that stays, and kernels that no such
/// function runs.
pub fn remove_unnamed(module: &mut Module) {
    let kernels = std::mem::take(&mut module.kernels);
    let mut open: Vec<FunctionId> = named_in_tables(module).into_iter().collect();
    module.kernels = kernels;
    let mut stays = vec![false; module.functions.len()];
    for (at, function) in module.functions.iter().enumerate() {
        let is_started = function.role == Role::Entry;
        open.extend(is_started.then_some(FunctionId(at as u32)));
    }
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut stays[id.at()], true) {
            open.extend(named_in(module, id));
        }
    }
    let mut next = 0;
    let places = stays.iter().map(|stays| {
        next += u32::from(*stays);
        FunctionId(next.saturating_sub(1))
    });
    let places: Vec<FunctionId> = places.collect();
    let mut stays = stays.into_iter();
    module.functions.retain(|_| stays.next() == Some(true));
    remove_kernels(module);
    renumber_functions(module, |id| places[id.at()]);
}

/// Removes kernels that no function runs.
fn remove_kernels(module: &mut Module) {
    let mut runs = vec![false; module.kernels.len()];
    let functions = &mut module.functions;
    kernels_of(functions, &mut |id| runs[id.at()] = true);
    let mut next = 0;
    let places = runs.iter().map(|runs| {
        next += u32::from(*runs);
        KernelId(next.saturating_sub(1))
    });
    let places: Vec<KernelId> = places.collect();
    kernels_of(functions, &mut |id| *id = places[id.at()]);
    let mut runs = runs.into_iter();
    module.kernels.retain(|_| runs.next() == Some(true));
}

/// Shows each kernel that functions run.
fn kernels_of(functions: &mut [Function], show: &mut dyn FnMut(&mut KernelId)) {
    for block in functions.iter_mut().flat_map(|one| &mut one.blocks) {
        for instruction in &mut block.instructions {
            if let Op::Run(id, _) | Op::Rewrite(id) = &mut instruction.op {
                show(id);
            }
        }
        if let Terminator::Try {
            attempt: Attempt::Rewrite(id),
            ..
        } = &mut block.terminator
        {
            show(id);
        }
    }
}

/// The functions that a function calls, or to which it sends events.
fn named_in(module: &Module, id: FunctionId) -> Vec<FunctionId> {
    let function = module.function(id);
    let mut named = Vec::from_iter(function.fast);
    let mut sent: Vec<&Event> = Vec::new();
    for instruction in function.instructions() {
        named.extend(called(module, &instruction.op));
        if let Op::Queue(_, events) | Op::Output(events) = &instruction.op {
            sent.extend(events);
        }
    }
    for block in &function.blocks {
        match &block.terminator {
            Terminator::Tail(event, _) => sent.push(event),
            Terminator::Try { attempt, .. } => named.extend(called_by_attempt(module, attempt)),
            _other => {}
        }
    }
    let targets = sent.into_iter().filter_map(|event| match event.target {
        Target::Function(id) => Some(id),
        Target::Link(_) | Target::Port(..) => None,
    });
    named.extend(targets);
    named
}

fn renumber_port(port: &mut Port, place: &impl Fn(FunctionId) -> FunctionId) {
    port.sends = port.sends.map(place);
    let openings = [&mut port.opens, &mut port.listens];
    for Opening { opens, closes, .. } in openings.into_iter().flatten() {
        *opens = place(*opens);
        *closes = closes.map(place);
    }
    for notice in port.up.iter_mut().chain(&mut port.down) {
        notice.handled = notice.handled.map(place);
    }
}

fn renumber(function: &mut Function, place: &impl Fn(FunctionId) -> FunctionId) {
    function.fast = function.fast.map(place);
    for block in &mut function.blocks {
        for instruction in &mut block.instructions {
            match &mut instruction.op {
                Op::Call(id) | Op::Loop(id, _) => *id = place(*id),
                Op::Queue(_, events) | Op::Output(events) => {
                    events.iter_mut().for_each(|event| retarget(event, place));
                }
                _other => {}
            }
        }
        if let Terminator::Tail(event, _) = &mut block.terminator {
            retarget(event, place);
        }
    }
}

fn retarget(event: &mut Event, place: &impl Fn(FunctionId) -> FunctionId) {
    if let Target::Function(id) = &mut event.target {
        *id = place(*id);
    }
}
