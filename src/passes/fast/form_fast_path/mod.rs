//! Forms fast functions: superblocks with side exits, whose effects stand behind their last guard
//! (Hwu et al., "The Superblock", 1993; the bypass of Ensemble 4.1).
//!
//! In: reactions to frames and to messages of applications, and those with a woven copy. Out:
//! beside each a fast function, which is tried first. It follows the edges that are taken often,
//! asks everything that decides on the way, and then does what is to be done. An edge that is taken
//! seldom is an exit: nothing has been done, so the reaction itself begins anew.
//!
//! ```text
//! event fn arrive(%m: msg) {               fast fn arrive.fast(%m: msg) {
//!   %m1 = pull %m, 8                         exit short (ult (length %m), 8)
//!   store ipv4.count %i, %1          =>      exit other (ne (read.be16 (look %m), 2), 7)
//!   branch (eq %port, 7), b1, b2 @ 99%       commit
//! b1:                                        store ipv4.count %i, %1
//!   tail port echo message(%m1)              tail port echo message((pull %m, 8))
//! ```
//!
//! A reaction may come with a fast function without a guard, which commits and then does all that
//! the reaction does: a copy of the reaction into which others are woven. Then the copy is traced
//! in place of the reaction, and gone behind this pass. So the layers that a fast path crosses are
//! copied for the fast path alone.
//!
//! A function is traced by symbolic execution. A *path* (`path.rs`) maps each value of the
//! reaction to what the guard knows of it: a value of the guard, a message or view as an offset
//! into the frame (`message.rs`), or nothing, if it exists behind the commit alone. Effects are
//! owed (`path.rs`): they stand behind the commit in their order. A load of a field for which a
//! store is owed is the value that is owed. Where a branch asks something that the guard does not
//! know, the path commits, and what follows in the reaction is copied behind it
//! (`trace_commit.rs`); on the side of a diamond, the diamond is given up. A function that is
//! formed is folded, numbered and cleaned at once, since paths repeat each other.
//!
//! ```text
//! trace.rs            blocks, terminators, exits; both sides of a branch that goes either way
//! trace_guard.rs      operations: those that the guard evaluates, and those that are owed
//! trace_message.rs    lengths, attributes and bytes of messages; those made behind the commit
//! trace_predicated.rs pure functions, and conditions of two parts, without branches
//! trace_stream.rs     streams without gaps
//! trace_bounds.rs     bytes of a frame that are there on each path
//! trace_diamond.rs    two sides of a branch that meet again
//! trace_switch.rs     switches: the expected case, or all cases without effects
//! trace_forward.rs    events whose reactions only hand a message on
//! trace_commit.rs     what is owed, and the rest of the reaction
//! exits.rs            names of exits
//! ```

mod exits;
mod message;
mod path;
mod trace;
mod trace_bounds;
mod trace_commit;
mod trace_diamond;
mod trace_forward;
mod trace_guard;
mod trace_message;
mod trace_predicated;
mod trace_stream;
mod trace_switch;

use crate::ir::edit::compact;
use crate::ir::effects::Effects;
use crate::ir::op::Target;
use crate::ir::rename::remove_unnamed;
use crate::ir::{BlockId, Function, FunctionId, Module, Op, Terminator};
use crate::passes::cost::way::Decision;
use crate::passes::fast::choice::Paths;
use crate::passes::{dead_code, fold, value_numbering};
use std::collections::{BTreeMap, BTreeSet};
use trace::Trace;

/// Forms a fast function for each of these reactions that has several ways.
pub fn run(module: &mut Module) {
    let effects = Effects::of_functions(module);
    let entries = entries(module);
    let woven = entries.iter().map(|slow| woven(module, *slow));
    let woven: Vec<Option<FunctionId>> = woven.collect();
    for (slow, woven) in entries.into_iter().zip(&woven) {
        let fast = Trace::of(module, &effects, woven.unwrap_or(slow));
        let fast = fast.and_then(|fast| chosen((module, &effects), slow, fast));
        module.functions[slow.at()].fast = fast.map(|mut fast| {
            compact(&mut fast);
            fold::fold(&mut fast);
            value_numbering::number(module, &effects, &mut fast);
            dead_code::clean(module, &effects, &mut fast);
            fast.name = module.free_name(&format!("{}.fast", module.function(slow).name));
            module.functions.push(fast);
            FunctionId(module.functions.len() as u32 - 1)
        });
    }
    if woven.iter().any(Option::is_some) {
        remove_unnamed(module);
    }
}

/// A fast function and the decisions on the way to each of its commits.
type Traced = (Function, BTreeMap<BlockId, Vec<Decision>>);

/// A fast function with the paths that the module asks for; none if it asks for none.
fn chosen(known: (&Module, &[Effects]), slow: FunctionId, traced: Traced) -> Option<Function> {
    let (fast, decided) = traced;
    let module = known.0;
    let name = &module.function(slow).name;
    let left_out = module.left_out.iter().filter(|(of, _)| of == name);
    let left_out: BTreeSet<usize> = left_out.map(|(_, number)| *number as usize).collect();
    if module.fast_paths.is_none() && left_out.is_empty() {
        return Some(fast);
    }
    let paths = Paths::of(known, slow, fast, &decided);
    paths.only(&paths.best(module.fast_paths, &left_out))
}

/// The paths that this pass forms, with the name of each reaction.
pub fn paths(mut module: Module) -> Vec<(String, Paths)> {
    let effects = Effects::of_functions(&module);
    let entries = entries(&module).into_iter();
    let entries = entries.map(|slow| (slow, woven(&mut module, slow)));
    let entries: Vec<(FunctionId, Option<FunctionId>)> = entries.collect();
    let module = &module;
    let formed = entries.into_iter().filter_map(|(slow, woven)| {
        let (fast, decided) = Trace::of(module, &effects, woven.unwrap_or(slow))?;
        let paths = Paths::of((module, &effects), slow, fast, &decided);
        Some((module.function(slow).name.clone(), paths))
    });
    formed.collect()
}

/// Returns the fast function of a reaction that has no guard, now without its commit.
fn woven(module: &mut Module, slow: FunctionId) -> Option<FunctionId> {
    let id = module.function(slow).fast?;
    let begins = &mut module.functions[id.at()].blocks[0].instructions;
    let commit = begins.iter().position(|one| one.op == Op::Commit);
    commit.map(|at| begins.remove(at));
    Some(id)
}

/// The reactions to frames, in the order of links, to messages of applications, to what they grant,
/// and those with a woven copy; none that has a fast function with a guard.
fn entries(module: &Module) -> Vec<FunctionId> {
    let arrive = module.links.iter().map(|link| link.arrives);
    let send = module.ports.iter().filter_map(|port| port.sends);
    let granted = module.ports.iter().filter_map(|port| port.granted());
    let send = send.flat_map(|id| started(module, id));
    let all = (0..module.functions.len() as u32).map(FunctionId);
    let woven = all.filter(|id| module.function(*id).fast.is_some());
    let mut found: Vec<FunctionId> = Vec::new();
    for id in arrive.chain(send).chain(granted).chain(woven) {
        let fast = module.function(id).fast;
        if !found.contains(&id) && fast.is_none_or(|fast| has_no_guard(module.function(fast))) {
            found.push(id);
        }
    }
    found
}

/// The reactions to messages that a function of a port starts: itself or, if it only selects the
/// session by its number, those of the sessions.
fn started(module: &Module, id: FunctionId) -> Vec<FunctionId> {
    let function = module.function(id);
    let parameters = function.parameters();
    let (first, others) = function
        .blocks
        .split_first()
        .expect("a function has a block");
    let selects = match &first.terminator {
        Terminator::Switch { value, .. } => Some(value) == parameters.first(),
        _other => false,
    };
    if !selects || !first.instructions.is_empty() {
        return vec![id];
    }
    let targets = others.iter().filter_map(|block| match &block.terminator {
        Terminator::Tail(event, given) => {
            let hands_on = block.instructions.is_empty() && given[..] == parameters[1..];
            reaction(event.target).filter(|_| hands_on)
        }
        _other => None,
    });
    targets.collect()
}

/// Returns true if a fast function only commits before it does something.
fn has_no_guard(fast: &Function) -> bool {
    let mut begins = fast.blocks[0].instructions.iter();
    let guards = fast.instructions().any(|one| matches!(one.op, Op::Exit(_)));
    !guards && begins.any(|one| one.op == Op::Commit)
}

/// The function of the module to which an event goes, if it goes to one.
fn reaction(target: Target) -> Option<FunctionId> {
    match target {
        Target::Function(id) => Some(id),
        Target::Link(_) | Target::Port(..) => None,
    }
}
