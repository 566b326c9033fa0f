//! Functions that get other places in their table: all that names one is changed with it.

use super::function::Terminator;
use super::ids::FunctionId;
use super::interface::{Opening, Port};
use super::op::{Event, Op, Target};
use super::{Function, Module};

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
    module.settings_hold = module.settings_hold.map(&place);
    module.starts = module.starts.map(&place);
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
