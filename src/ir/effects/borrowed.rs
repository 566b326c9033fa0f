//! Messages whose bytes are read in a stream: only what is pushed before them is written, and they
//! leave by links that gather, before any container changes.
//!
//! In: a function. Out: these messages, and the spots at which one of them is used otherwise.

use super::in_place::Spot;
use super::{Effects, Resource};
use crate::ir::definitions::Definitions;
use crate::ir::graph::Graph;
use crate::ir::op::{Event, Op, Target};
use crate::ir::{
    Attempt, Function, FunctionId, Instruction, Module, Role, Terminator, Type, Value,
};
use std::collections::BTreeMap;

/// The borrowed messages of a function.
#[derive(Default)]
pub struct Borrowed {
    /// By message: how many bytes were pushed before the borrowed ones.
    pushed: BTreeMap<Value, u64>,
    /// The spots at which one is used otherwise, in order.
    pub misused: Vec<Spot>,
}

impl Borrowed {
    /// Finds the borrowed messages of a function with a graph.
    pub fn of(module: &Module, function: &Function) -> Borrowed {
        let mut all = Borrowed::default();
        if !function
            .all_blocks()
            .any(|(_, block)| borrows(&block.terminator))
        {
            return all;
        }
        let graph = Graph::of(function).expect("the verifier passes acyclic graphs alone");
        let definitions = Definitions::of(function);
        // By block: a borrowed message has not left yet.
        let mut stays = vec![false; function.blocks.len()];
        for id in graph.order {
            let block = function.block(id);
            let mut is_there = stays[id.at()];
            for (at, instruction) in block.instructions.iter().enumerate() {
                let is_used = all.instruction(module, (function, &definitions), instruction);
                if !is_used || is_there && changes_some(module, &instruction.op) {
                    all.misused.push((id, at));
                }
                is_there &= !all.leaves(instruction);
            }
            let end = &block.terminator;
            if !all.terminator(module, function, end) || is_there && tries_some(module, end) {
                all.misused.push((id, block.instructions.len()));
            }
            for (at, edge) in end.edges().into_iter().enumerate() {
                stays[edge.block.at()] |= is_there || at == 0 && borrows(end);
            }
        }
        all
    }

    /// Returns true if the bytes of a message are read in a stream.
    pub fn contains(&self, message: Value) -> bool {
        self.pushed.contains_key(&message)
    }

    /// Follows a message through an instruction; false if it may not be used there.
    fn instruction(
        &mut self,
        module: &Module,
        (function, definitions): (&Function, &Definitions<'_>),
        instruction: &Instruction,
    ) -> bool {
        let operands = &instruction.operands;
        let mut borrowed = operands.iter().filter_map(|one| self.pushed.get(one));
        let Some(&pushed) = borrowed.next() else {
            return true;
        };
        let constant = |at: usize| definitions.constant(operands[at]);
        let lies_before = |bytes: u64| constant(1).is_some_and(|at| at + bytes <= pushed);
        match &instruction.op {
            Op::Length | Op::Start | Op::Attribute(_) | Op::Consume | Op::Drop(_) => true,
            Op::With(_) => {
                self.pushed.insert(instruction.results[0], pushed);
                true
            }
            Op::Push => {
                let more = constant(1);
                let pushed = more.map(|more| pushed + more);
                self.pushed
                    .extend(pushed.map(|all| (instruction.results[0], all)));
                pushed.is_some()
            }
            Op::Write(number) => lies_before(u64::from(number.bytes)),
            Op::WriteBytes => match function.type_of(operands[2]) {
                Type::Bytes(bytes) => lies_before(u64::from(bytes)),
                _other => false,
            },
            Op::Output(events) => {
                let mut rest = &operands[..];
                events.iter().all(|event| {
                    let (own, others) = rest.split_at(event.arguments as usize);
                    rest = others;
                    gathers(module, event) || !own.iter().any(|one| self.contains(*one))
                })
            }
            _other => false,
        }
    }

    /// A borrowed message is used up.
    fn leaves(&self, instruction: &Instruction) -> bool {
        let ends = matches!(instruction.op, Op::Output(_) | Op::Consume | Op::Drop(_));
        ends && instruction.operands.iter().any(|one| self.contains(*one))
    }

    /// The same for the end of a block.
    fn terminator(&mut self, module: &Module, function: &Function, end: &Terminator) -> bool {
        if let Terminator::Try { done, .. } = end
            && borrows(end)
        {
            let behind = function.block(done.block);
            let edges = function
                .all_blocks()
                .flat_map(|(_, block)| block.terminator.edges());
            let ways = edges.filter(|edge| edge.block == done.block).count();
            let (Some(message), 1) = (behind.parameters.last(), ways) else {
                return false;
            };
            self.pushed.insert(*message, 0);
        }
        if let Terminator::Tail(event, _) = end
            && gathers(module, event)
        {
            return true;
        }
        let edges = end.edges().into_iter().flat_map(|edge| &edge.arguments);
        let mut used = end.operands().into_iter().chain(edges.copied());
        !used.any(|one| self.contains(one))
    }
}

/// A container changes, or a function is called that may change one.
fn changes_some(module: &Module, op: &Op) -> bool {
    let is_pure = |id: &FunctionId| module.function(*id).role == Role::Pure;
    match op {
        Op::Call(id) | Op::Loop(id, _) => !is_pure(id),
        Op::Foreign(..) => true,
        _other => Effects::of(module, op).writes.iter().any(is_container),
    }
}

/// The end of a block changes a container, or borrows once more.
fn tries_some(module: &Module, end: &Terminator) -> bool {
    let Terminator::Try { attempt, .. } = end else {
        return false;
    };
    let effects = Effects::of_attempt(module, attempt);
    borrows(end) || effects.writes.iter().any(is_container)
}

fn is_container(resource: &Resource) -> bool {
    matches!(resource, Resource::Container(_))
}

/// A message begins whose bytes are read in a stream.
fn borrows(end: &Terminator) -> bool {
    let Terminator::Try { attempt, .. } = end else {
        return false;
    };
    matches!(attempt, Attempt::BorrowBytes(_))
}

/// An event by which a frame leaves that may stand in two parts.
fn gathers(module: &Module, event: &Event) -> bool {
    match event.target {
        Target::Link(link) => module.links[link.at()].gathers,
        Target::Port(..) | Target::Function(_) => false,
    }
}
