//! Keeps rare ways out of what is tried first when a frame arrives.
//!
//! In: the fast functions of links whose headers are expected. Out: before the one that is tried
//! first, another that leaves where the header is not the expected one. It calls no search, so a
//! compiler keeps its values in registers. The function behind it does not compare the header
//! again, but asks all anew. If there are fast functions of other paths, these are tried between.
//!
//! ```text
//! fast fn arrive.fast(%m: msg) {            fast fn arrive.hit(%m: msg) {
//!   branch %same, go, anew @ 99%             exit arrive.fast (not %same)
//! anew: ..; recompute ..; jump go    =>      ..
//! go: ..                                   fast fn arrive.fast(%m: msg), first arrive.hit {
//!                                            ..; recompute ..
//! ```

use super::hot_path::try_first;
use super::ways::{RARE, without};
use crate::ir::edit::compact;
use crate::ir::effects::Effects;
use crate::ir::{Attempt, Function, FunctionId, Module, Terminator};
use crate::passes::fast::order_guards;

/// Keeps rare ways out of what is tried first for each link.
pub fn run(module: &mut Module) {
    let effects = Effects::of_functions(module);
    for at in 0..module.links.len() {
        let Some(first) = module.tried(module.links[at].arrives).pop() else {
            continue;
        };
        if let Some(mut hit) = without(module.function(first), |ways, id| ways.rare(id)) {
            order_guards::clean(module, &effects, &mut hit);
            let mut anew = anew(module.function(first));
            order_guards::clean(module, &effects, &mut anew);
            module.functions[first.at()] = anew;
            let hit = try_first(module, first, hit, "hit");
            try_last(module, at, hit);
        }
    }
}

/// Moves the function without the comparison of headers to the end of the chain.
fn try_last(module: &mut Module, link: usize, hit: FunctionId) {
    let arrives = module.links[link].arrives;
    let tried = module.tried(arrives);
    let [others @ .., anew, _hit] = &tried[..] else {
        return;
    };
    let (Some(last), Some(next)) = (others.first(), others.last()) else {
        return;
    };
    module.functions[arrives.at()].fast = Some(*anew);
    module.functions[anew.at()].fast = Some(*last);
    module.functions[next.at()].fast = Some(hit);
}

/// A fast function that takes each rare way whose end is the usual way.
fn anew(function: &Function) -> Function {
    let mut anew = function.clone();
    for (id, block) in function.all_blocks() {
        let (Terminator::Branch {
            likely,
            then: usual,
            otherwise: rare,
            ..
        }
        | Terminator::Try {
            attempt: Attempt::Recall(_),
            likely,
            done: usual,
            failed: rare,
            ..
        }) = &block.terminator
        else {
            continue;
        };
        if likely.other() < RARE && function.behind(rare.block).contains(&usual.block) {
            anew.blocks[id.at()].terminator = Terminator::Jump(rare.clone());
        }
    }
    compact(&mut anew);
    anew
}
