//! Functions that run seldom: in, a module; out, those that compilers may keep short and out of the
//! way of the others.
//!
//! A reaction that a fast function is tried for runs when its guard leaves. So it is *cold*, and so
//! is all that only cold functions and timers come to. In a stack without fast functions nothing is
//! cold.

use crate::back::c::Stack;
use crate::ir::effects::{called, called_by_attempt};
use crate::ir::op::{Event, Op, Target};
use crate::ir::{FunctionId, Kernel, Module, Role, Terminator};
use std::collections::BTreeSet;

/// Returns the names of the functions that are cold.
pub fn names<'s>(stack: &'s Stack<'_>) -> BTreeSet<&'s str> {
    let names = cold(stack.module).into_iter().map(|id| {
        let slow = stack.names.slow[id.at()].as_ref();
        slow.unwrap_or(&stack.names.functions[id.at()]).as_str()
    });
    names.collect()
}

/// The cold functions; of those with a fast function, their bodies.
fn cold(module: &Module) -> BTreeSet<FunctionId> {
    let all = (0..module.functions.len() as u32).map(FunctionId);
    let slow = |id: &FunctionId| {
        let function = module.function(*id);
        function.role == Role::Reaction && function.fast.is_some()
    };
    let seeds: Vec<FunctionId> = all.filter(slow).collect();
    if seeds.is_empty() {
        return BTreeSet::new();
    }
    let hot = reached(module, &hot(module), &slow);
    let timers = module.kinds.iter().flat_map(|kind| &kind.timers);
    let timers = timers.filter_map(|timer| timer.expires);
    let from: Vec<FunctionId> = seeds.iter().copied().chain(timers).collect();
    let cold = reached(module, &from, &|_| false);
    let is_cold = |id: &FunctionId| slow(id) || !hot.contains(id);
    cold.into_iter().filter(is_cold).collect()
}

/// Functions that run often, or as often as the host wants: but not those that a fast function is
/// tried for.
fn hot(module: &Module) -> Vec<FunctionId> {
    let fast = (0..module.functions.len() as u32).map(FunctionId);
    let fast = fast.filter(|id| module.function(*id).role == Role::Fast);
    let mut all: Vec<FunctionId> = fast.collect();
    all.extend(module.kernels.iter().flat_map(Kernel::functions));
    all.extend(module.exports.iter().map(|one| one.calls));
    all.extend(module.links.iter().map(|link| link.arrives));
    for port in &module.ports {
        all.extend(port.sends);
        all.extend(port.down.iter().filter_map(|notice| notice.handled));
    }
    all.retain(|id| module.function(*id).fast.is_none());
    all
}

/// Everything that functions come to, and they themselves; nothing behind one at which this stops.
fn reached(
    module: &Module,
    from: &[FunctionId],
    stops: &dyn Fn(&FunctionId) -> bool,
) -> BTreeSet<FunctionId> {
    let mut found = BTreeSet::new();
    let mut open = from.to_vec();
    while let Some(id) = open.pop() {
        if stops(&id) || !found.insert(id) {
            continue;
        }
        for block in &module.function(id).blocks {
            for instruction in &block.instructions {
                open.extend(called(module, &instruction.op));
                if let Op::Queue(_, events) | Op::Output(events) = &instruction.op {
                    open.extend(events.iter().filter_map(reaction));
                }
            }
            match &block.terminator {
                Terminator::Tail(event, _) => open.extend(reaction(event)),
                Terminator::Try { attempt, .. } => {
                    open.extend(called_by_attempt(module, attempt));
                }
                _ => {}
            }
        }
    }
    found
}

fn reaction(event: &Event) -> Option<FunctionId> {
    match event.target {
        Target::Function(id) => Some(id),
        Target::Link(_) | Target::Port(..) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::text::read;

    #[test]
    fn what_only_a_reaction_behind_a_guard_calls_is_cold() {
        let text = include_str!("../../../../tests/passes/order-guards.ir");
        let text = text.split("; becomes").next().expect("it has a beginning");
        let text = format!("{text}\npure fn rare() -> i32 {{\n  return 1\n}}\n");
        let text = text.replacen("  drop net.slow", "  %r = call rare()\n  drop net.slow", 1);
        let module = read(&text).unwrap_or_else(|mistake| panic!("{mistake}"));
        let cold = cold(&module);
        let names: BTreeSet<&str> = cold
            .iter()
            .map(|id| module.function(*id).name.as_str())
            .collect();
        assert_eq!(names, BTreeSet::from(["net.arrive", "rare", "tube.arrive"]));
    }
}
