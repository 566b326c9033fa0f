//! Rule 14: roles of functions.
//!
//! In: a function with a graph, and the effects of all. Out: breaches.

use super::breach::{Breach, Rule, Scope};
use crate::ir::definitions::Definitions;
use crate::ir::effects::Resource;
use crate::ir::effects::in_place::kept;
use crate::ir::interface::Link;
use crate::ir::op::{Event, Target};
use crate::ir::{BlockId, Function, FunctionId, Module, Op, Role, Terminator, Type, Value};

/// Checks that a function does only things that its role allows, and uses others by their roles.
pub fn check(scope: &Scope<'_>, in_kernels: &[bool]) -> Vec<Breach> {
    let mut breaches = whole(scope, in_kernels);
    let role = |id: &FunctionId| scope.module.function(*id).role;
    let is_reaction = |event: &Event| match &event.target {
        Target::Function(id) => role(id) == Role::Reaction,
        Target::Link(_) | Target::Port(..) => true,
    };
    for (spot, instruction) in scope.instructions() {
        let wrong = match &instruction.op {
            Op::Call(id) | Op::Loop(id, _) if !matches!(role(id), Role::Plain | Role::Pure) => {
                Some("only plain and pure functions are called")
            }
            Op::Queue(_, events) | Op::Output(events) if !events.iter().all(is_reaction) => {
                Some("an event goes to a reaction")
            }
            Op::Yield if !in_kernels[scope.id.at()] => Some("only a kernel yields"),
            _ => None,
        };
        let wrong = wrong.map(|wrong| scope.breach(Rule::Roles, spot, wrong.to_string()));
        breaches.extend(wrong);
    }
    for (spot, terminator) in scope.terminators() {
        let hands_on = matches!(scope.function.role, Role::Reaction | Role::Fast);
        let wrong = match terminator {
            Terminator::Tail(..) | Terminator::Take(_) if !hands_on => {
                Some("only a reaction hands an event on")
            }
            Terminator::Tail(event, _) if !is_reaction(event) => {
                Some("an event goes to a reaction")
            }
            _ => None,
        };
        let wrong = wrong.map(|wrong| scope.breach(Rule::Roles, spot, wrong.to_string()));
        breaches.extend(wrong);
    }
    breaches.extend(in_place(scope));
    breaches
}

/// Checks that a fast function which reads frames in place writes and keeps none of them there.
fn in_place(scope: &Scope<'_>) -> Vec<Breach> {
    let mut links = scope.module.links.iter().filter(|link| link.in_place);
    let is_tried = |link: &Link| scope.module.tried(link.arrives).contains(&scope.id);
    if !links.any(is_tried) {
        return Vec::new();
    }
    let definitions = Definitions::of(scope.function);
    let is_asked = |bit: Value| {
        let mut implied = definitions.implied(bit, false).into_iter();
        implied.any(|(bit, holds)| {
            let asked = definitions.get(bit).map(|one| &one.op);
            holds && asked == Some(&Op::InBuffer)
        })
    };
    let exits = scope.instructions().filter(|(_, one)| match one.op {
        Op::Exit(_) => is_asked(one.operands[0]),
        _ => false,
    });
    let exits: Vec<(BlockId, usize)> = exits.map(|(spot, _)| spot).collect();
    let is_behind = |(block, at): (BlockId, usize)| {
        let mut exits = exits.iter();
        exits.any(|exit| {
            exit.0 == block && exit.1 < at
                || exit.0 != block && scope.graph.dominates(exit.0, block)
        })
    };
    let kept = kept(scope.module, scope.function).into_iter();
    let wrong = "a frame is written or kept that may stand in memory of the host";
    kept.filter(|spot| !is_behind(*spot))
        .map(|spot| scope.breach(Rule::Roles, spot, wrong.to_string()))
        .collect()
}

/// Checks the effects and results of the function as a whole.
fn whole(scope: &Scope<'_>, in_kernels: &[bool]) -> Vec<Breach> {
    let function = scope.function;
    let writes = &scope.effects[scope.id.at()].writes;
    let mut changes = writes.iter().filter(|one| **one != Resource::Yielded);
    let mut wrong = Vec::new();
    if function.role == Role::Pure && changes.next().is_some() {
        wrong.push("a pure function changes nothing");
    }
    if let Some(fast) = function.fast {
        let types = |of: &Function| -> Vec<Type> {
            let parameters = of.parameters().iter();
            parameters.map(|value| of.type_of(*value)).collect()
        };
        let tried = scope.module.functions.get(fast.at());
        let tried = tried.filter(|tried| tried.role == Role::Fast);
        if !matches!(function.role, Role::Reaction | Role::Fast) {
            wrong.push("a fast function is tried before a reaction or another one alone");
        }
        if scope.module.tried(scope.id).contains(&scope.id) {
            wrong.push("a function is tried before itself");
        }
        if tried.map(types) != Some(types(function)) {
            wrong.push("what is tried first is a fast function with the same parameters");
        }
    }
    let mut links = scope.module.links.iter();
    if function.fast.is_none() && links.any(|link| link.in_place && link.arrives == scope.id) {
        wrong.push("only a fast function reads frames in place");
    }
    let calls = function.instructions().filter_map(|one| match one.op {
        Op::Call(id) | Op::Loop(id, _) => Some(id),
        _ => None,
    });
    let mut yielding =
        calls.filter(|id| scope.effects[id.at()].writes.contains(&Resource::Yielded));
    if !in_kernels[scope.id.at()] && yielding.next().is_some() {
        wrong.push("only a kernel calls what yields");
    }
    if matches!(function.role, Role::Reaction | Role::Fast) && !function.results.is_empty() {
        wrong.push("nobody takes results of a reaction");
    }
    let wrong = wrong.into_iter();
    wrong
        .map(|wrong| Breach::of_function(Rule::Roles, function, wrong))
        .collect()
}

/// By function: whether kernels run it, directly or through calls.
pub fn in_kernels(module: &Module) -> Vec<bool> {
    let mut found = vec![false; module.functions.len()];
    for kernel in &module.kernels {
        for id in kernel.functions() {
            found[id.at()] = true;
        }
    }
    // Calls go to functions before, so one pass from the last is enough.
    for at in (0..module.functions.len()).rev() {
        if !found[at] {
            continue;
        }
        for instruction in module.functions[at].instructions() {
            if let Op::Call(id) | Op::Loop(id, _) = instruction.op {
                found[id.at()] = true;
            }
        }
    }
    found
}
