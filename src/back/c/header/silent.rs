//! Reactions to what an application sends that put nothing on the agenda, nor does what they call:
//! behind them nothing waits, and nobody asks how many steps the call has taken.

use super::configuration::calls_links;
use crate::back::c::Stack;
use crate::ir::interface::Port;
use crate::ir::op::{Op, Target};
use crate::ir::{Function, FunctionId, Terminator};
use std::collections::BTreeSet;

/// Returns true if what an application sends at a port puts nothing on the agenda.
pub fn is_silent(stack: &Stack<'_>, port: &Port) -> bool {
    let mut known = Known::default();
    port.sends
        .is_some_and(|sends| known.is_silent(stack, sends))
}

/// Functions that were looked at.
#[derive(Default)]
struct Known {
    /// The functions on the path to the current one. An event that begins one of them again goes
    /// by the agenda.
    open: BTreeSet<FunctionId>,
    silent: BTreeSet<FunctionId>,
}

impl Known {
    fn is_silent(&mut self, stack: &Stack<'_>, id: FunctionId) -> bool {
        if self.silent.contains(&id) {
            return true;
        }
        if !self.open.insert(id) {
            return false;
        }
        let function = stack.module.function(id);
        let is_silent = puts_nothing(stack, function)
            && called(function)
                .into_iter()
                .all(|other| self.is_silent(stack, other));
        self.open.remove(&id);
        if is_silent {
            self.silent.insert(id);
        }
        is_silent
    }
}

fn puts_nothing(stack: &Stack<'_>, function: &Function) -> bool {
    let is_plain = |op: &Op| !matches!(op, Op::Queue(..) | Op::Output(_));
    let ends = |end: &Terminator| match end {
        Terminator::Tail(event, _) => match event.target {
            Target::Function(_) => true,
            Target::Link(_) => !calls_links(stack),
            Target::Port(port, _) => stack.module.ports[port.at()].calls.is_none(),
        },
        Terminator::Take(_) => false,
        Terminator::Jump(_)
        | Terminator::Branch { .. }
        | Terminator::Switch { .. }
        | Terminator::Try { .. }
        | Terminator::Return(_)
        | Terminator::Never => true,
    };
    let mut blocks = function.blocks.iter();
    function.instructions().all(|one| is_plain(&one.op))
        && blocks.all(|block| ends(&block.terminator))
}

/// The functions that a function calls, or to which it hands an event on.
fn called(function: &Function) -> BTreeSet<FunctionId> {
    let inside = function.instructions().filter_map(|one| match &one.op {
        Op::Call(function) | Op::Loop(function, _) => Some(*function),
        _other_operations => None,
    });
    let ends = function
        .blocks
        .iter()
        .filter_map(|block| match &block.terminator {
            Terminator::Tail(event, _) => match event.target {
                Target::Function(function) => Some(function),
                Target::Link(_) | Target::Port(..) => None,
            },
            _other_ends => None,
        });
    inside.chain(ends).collect()
}
