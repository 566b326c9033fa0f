//! Expects the header of the last frame: what a fast function asks of bytes that are the same from
//! frame to frame is asked once, and again only when they are others (header prediction; Jacobson,
//! 1990).
//!
//! In: the fast functions of links. Out: a cache holds the bytes that decide exits and searches,
//! and what came of them. A frame with the same bytes takes the answers from the cache. All others
//! are asked as before; what they answer is then held.
//!
//! ```text
//! exit a (ne (read.be8 %h, 9), 17)            %w = and (read.le64 %h, 8), 0xff00
//! exit b (ult (length %m), (read.be16 %h, 2)) %same = and (load valid c), (eq %w, (load c, 0))
//! try find s (read.be16 %h, 20) -> f, n       branch %same, rest, anew @ 99%
//!                                        =>   anew: exit a ..; try find s ..; recompute c ..
//!                                             rest: exit b (ult (length %m), (read.be16 %h, 2))
//!                                                   branch (ne (load c, 2), none), f, n
//! ```
//!
//! If one instance is found on all ways, each instance has a cache of its own, and a frame recalls
//! the instance whose cache holds its bytes. So frames of many sessions may alternate.
//!
//! ```text
//! try recall s.expected %w -> rest(%i), anew
//! ```
//!
//! Bytes that are compared with what differs from frame to frame, such as lengths and sequence
//! numbers, are not expected. An exit on one way of several has an answer of its own.
//!
//! ```text
//! header.rs    values that hang on the header alone, and the exits and searches among them
//! words.rs     the bits that decide them, as words
//! answers.rs   the function that a cache remembers, and copies of what it computes
//! compare.rs   the fast function that compares the header, and asks the cache
//! ```

mod answers;
mod compare;
mod header;
mod words;

use crate::ir::edit::compact;
use crate::ir::effects::Effects;
use crate::ir::{
    Attempt, Block, BlockId, Cache, CacheId, Function, FunctionId, Instruction, Module, Op, Region,
    Terminator,
};
use crate::passes::fast::disarm::{disarm, names_instances};
use crate::passes::{dead_code, fold, value_numbering};
use compare::Held;
use header::{Header, Search};
use std::collections::BTreeMap;

/// With fewer exits and searches than this no cache pays for itself.
const FEWEST: usize = 4;

/// Expects headers in the fast functions of all links.
pub fn run(module: &mut Module) {
    for at in 0..module.links.len() {
        let arrives = module.links[at].arrives;
        for tried in module.tried(arrives) {
            expect(module, tried);
        }
    }
}

/// By block of a fast function: the indices of exits that a cache of headers saves.
pub fn saved(
    module: &Module,
    effects: &[Effects],
    function: &Function,
) -> BTreeMap<BlockId, Vec<usize>> {
    let header = Header::of(module, effects, function);
    let groups = header.into_iter().flat_map(|header| header.groups);
    let indices = |exits: Vec<(usize, header::Why)>| exits.into_iter().map(|(at, _)| at).collect();
    groups.map(|(id, exits)| (id, indices(exits))).collect()
}

fn expect(module: &mut Module, fast: FunctionId) {
    let function = module.function(fast).clone();
    if has_cache(module, &function) {
        return;
    }
    let effects = Effects::of_functions(module);
    let Some(header) = Header::of(module, &effects, &function) else {
        return;
    };
    if header.exits() + header.searches.len() < FEWEST {
        return;
    }
    let name = module.free_name(&format!("{}.expected", function.owner));
    let remembers = FunctionId(module.functions.len() as u32);
    let asked = answers::function(module, &header, header.own(), &name);
    module.functions.push(asked);
    let reads = Effects::of_function(module, remembers).reads;
    let is_named = |search: &&Search| names_instances(module, &reads, search.kind);
    let own = header.own().filter(is_named);
    if own.is_none() {
        module.functions[remembers.at()] = answers::function(module, &header, None, &name);
    }
    let cache = CacheId(module.caches.len() as u32);
    module.caches.push(Cache {
        name,
        kind: own.map(|search| search.kind),
        remembers,
    });
    let mut function = compare::function(module, &header, Held { cache, own });
    let effects = Effects::of_functions(module);
    fold::fold(&mut function);
    value_numbering::number(module, &effects, &mut function);
    dead_code::clean(module, &effects, &mut function);
    compact(&mut function);
    module.functions[fast.at()] = function;
    disarm(module, cache);
}

/// A cache of headers stands in a function already.
fn has_cache(module: &Module, function: &Function) -> bool {
    let mut instructions = function.instructions();
    let is_cached = |one: &Instruction| match one.op {
        Op::Load(Region::Valid(id)) => module.caches[id.at()].kind.is_none(),
        _ => false,
    };
    let recalls = |block: &Block| match &block.terminator {
        Terminator::Try { attempt, .. } => matches!(attempt, Attempt::Recall(_)),
        _other => false,
    };
    instructions.any(is_cached) || function.blocks.iter().any(recalls)
}
