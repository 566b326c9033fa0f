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
//! If exits ask fields of the only instance that is found, a second cache holds the bytes by which
//! it is found: a frame that differs in others asks those fields alone.
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
use crate::ir::effects::{Effects, Resource};
use crate::ir::{
    Cache, CacheId, Function, FunctionId, Instruction, Module, Op, Region, Terminator,
};
use crate::passes::{dead_code, fold, value_numbering};
use compare::Caches;
use header::Header;
use std::collections::BTreeSet;

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

fn expect(module: &mut Module, fast: FunctionId) {
    let function = module.function(fast).clone();
    let is_cached = |one: &Instruction| match one.op {
        Op::Load(Region::Valid(id)) => module.caches[id.at()].kind.is_none(),
        _ => false,
    };
    if function.instructions().any(is_cached) {
        return;
    }
    let effects = Effects::of_functions(module);
    let Some(header) = Header::of(module, &effects, &function) else {
        return;
    };
    if header.exits() + header.searches.len() < FEWEST {
        return;
    }
    let instance = header.own().map(|search| {
        let words = header.words_of(header.asked_without(search), search);
        let name = module.free_name(&format!("{}.found", function.owner));
        let asked = answers::of_instance(module, &header, (search, &words), &name);
        cache(module, name, asked)
    });
    let name = module.free_name(&format!("{}.expected", function.owner));
    let asked = answers::function(module, &header, &name);
    let caches = Caches {
        header: cache(module, name, asked),
        instance,
    };
    let mut function = compare::function(module, &header, caches);
    let effects = Effects::of_functions(module);
    fold::fold(&mut function);
    value_numbering::number(module, &effects, &mut function);
    dead_code::clean(module, &effects, &mut function);
    compact(&mut function);
    module.functions[fast.at()] = function;
    for id in [Some(caches.header), instance].into_iter().flatten() {
        let remembers = module.caches[id.at()].remembers;
        let reads = effects[remembers.at()].reads.clone();
        for at in 0..module.functions.len() {
            let mut function = module.functions[at].clone();
            if disarm(module, &mut function, &reads, id) {
                module.functions[at] = function;
            }
        }
    }
}

/// A new cache of what a function asks.
fn cache(module: &mut Module, name: String, asked: Function) -> CacheId {
    module.caches.push(Cache {
        name,
        kind: None,
        remembers: FunctionId(module.functions.len() as u32),
    });
    module.functions.push(asked);
    CacheId(module.caches.len() as u32 - 1)
}

/// Disarms a cache behind each write to what it reads. True if there was one.
fn disarm(
    module: &Module,
    function: &mut Function,
    reads: &BTreeSet<Resource>,
    cache: CacheId,
) -> bool {
    let is_stale = |effects: &Effects| !effects.writes.is_disjoint(reads);
    let disarms = |span| Instruction {
        op: Op::Disarm(cache),
        operands: Vec::new(),
        results: Vec::new(),
        span,
    };
    let mut changed = false;
    let mut at_begin = BTreeSet::new();
    for block in &mut function.blocks {
        let mut all = Vec::new();
        for instruction in std::mem::take(&mut block.instructions) {
            let stale = is_stale(&Effects::of(module, &instruction.op));
            let span = instruction.span;
            all.push(instruction);
            all.extend(stale.then(|| disarms(span)));
            changed |= stale;
        }
        block.instructions = all;
        if let Terminator::Try { attempt, done, .. } = &block.terminator
            && is_stale(&Effects::of_attempt(module, attempt))
        {
            at_begin.insert(done.block);
        }
    }
    for id in &at_begin {
        let block = &mut function.blocks[id.at()];
        block.instructions.insert(0, disarms(block.span));
    }
    changed || !at_begin.is_empty()
}
