//! Frames that stand in memory of the host: a fast function may read them there, and hand them to
//! an application that is called, but neither write nor keep them.
//!
//! In: a fast function for frames. Out: the spots at which it writes or keeps its message.

use super::{Effects, Resource};
use crate::ir::graph::Graph;
use crate::ir::op::{Event, Op, Target, Told};
use crate::ir::{BlockId, Function, Module, Terminator, Type, Value};
use std::collections::BTreeSet;

/// A spot of a function: a block, and the index of an instruction in it, or of its end.
pub type Spot = (BlockId, usize);

/// Returns the spots at which a function writes or keeps a message that it was given, in order. An
/// application that is called reads it; that happens at once where nothing else waits.
pub fn kept(module: &Module, function: &Function) -> Vec<Spot> {
    let graph = Graph::of(function).expect("the verifier passes acyclic graphs alone");
    let is_message = |value: &&Value| function.type_of(**value) == Type::Message;
    let mut given: BTreeSet<Value> = BTreeSet::new();
    given.extend(function.parameters().iter().filter(is_message));
    let mut queues = vec![false; function.blocks.len()];
    let mut found = Vec::new();
    for id in graph.order {
        let block = function.block(id);
        let mut has_queued = queues[id.at()];
        for (at, instruction) in block.instructions.iter().enumerate() {
            has_queued |= queues_some(module, &instruction.op);
            if !instruction.operands.iter().any(|one| given.contains(one)) {
                continue;
            }
            if !only_reads(&instruction.op) {
                found.push((id, at));
            }
            given.extend(instruction.results.iter().filter(is_message));
        }
        let end = &block.terminator;
        let takes = end.operands().iter().any(|one| given.contains(one));
        let is_read = match end {
            Terminator::Tail(event, _) => !has_queued && is_called(module, event),
            Terminator::Try { .. } | Terminator::Return(_) | Terminator::Take(_) => false,
            Terminator::Jump(_)
            | Terminator::Branch { .. }
            | Terminator::Switch { .. }
            | Terminator::Never => true,
        };
        if takes && !is_read {
            found.push((id, block.instructions.len()));
        }
        for edge in end.edges() {
            queues[edge.block.at()] |= has_queued;
            let parameters = &function.block(edge.block).parameters;
            for (argument, parameter) in edge.arguments.iter().zip(parameters) {
                if given.contains(argument) {
                    given.insert(*parameter);
                }
            }
        }
    }
    found
}

/// Returns true if an operation neither writes nor keeps its message.
fn only_reads(op: &Op) -> bool {
    matches!(
        op,
        Op::Length
            | Op::InBuffer
            | Op::Attribute(_)
            | Op::With(_)
            | Op::Look
            | Op::Before
            | Op::Around
            | Op::Pull
            | Op::Cut
            | Op::Consume
    )
}

/// Returns true if something waits on the agenda behind an operation. A frame that leaves does not.
fn queues_some(module: &Module, op: &Op) -> bool {
    let is_link = |event: &Event| matches!(event.target, Target::Link(_));
    match op {
        Op::Output(events) if events.iter().all(is_link) => false,
        _ => Effects::of(module, op).writes.contains(&Resource::Agenda),
    }
}

/// Returns true if an application is called with the message of an event.
fn is_called(module: &Module, event: &Event) -> bool {
    match event.target {
        Target::Port(port, Told::Message) => module.ports[port.at()].calls.is_some(),
        Target::Port(..) | Target::Link(_) | Target::Function(_) => false,
    }
}
