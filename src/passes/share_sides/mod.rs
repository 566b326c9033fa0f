//! Blocks that both sides of a branch have stand once (HIPPCO 5.2, sharing of similar subtrees).
//!
//! In: a module. Out: where the sides of a branch run the same blocks from somewhere on, those of
//! one side are gone. The other side leads to the blocks that stay, and the bit of the branch is
//! asked again where the sides differ. A parameter of the first of these blocks takes a value that
//! differs. Fast functions stay as they are: they are long so that nothing is asked twice.
//!
//! ```text
//! b0: branch %c, b1, b2                   b0: branch %c, b1, b3
//! b1: store f, 1                          b1: store f, 1
//!     %x = load g                             jump b3
//!     store h, %x                         b3: %x = load g
//!     jump b4(1)                              store h, %x
//! b2: %y = load g                             branch %c, b4(1), b4(0)
//!     store h, %y
//!     jump b4(0)
//! ```
//!
//! Processes give such code: a branch on whether a signal is present stands before all that the
//! process does in an instant. The pass runs before all others, since they use what is known on
//! one side, which makes the sides differ.
//!
//! Ensures: the verifier allows the function. It would not if one side used up a message before
//! what both share, and the other behind it. Cost: for each branch at most [`COMPARED`] places of
//! each side are compared with the begin of the other, and what follows where they are alike.

mod replace;
mod shared;

use crate::ir::graph::Graph;
use crate::ir::verify::Known;
use crate::ir::{BlockId, Function, FunctionId, Module, Role, Terminator};
use shared::{Compared, Shared};
use std::cmp::Reverse;
use std::collections::VecDeque;

/// Blocks are shared if their instructions, without constants, are at least so many more than the
/// branches and parameters that sharing adds. With 5 or 12 the text of TCP is as large.
const WORTH: usize = 8;

/// At most so many instructions of one side are compared with the first of the other.
const COMPARED: usize = 256;

/// So many of the places at which most would be shared are tried, until the verifier allows one.
const TRIED: usize = 4;

/// In one function, blocks are shared at most so often, as all of it is compared anew each time.
const SHARED: usize = 64;

/// Shares blocks in all functions of a module.
pub fn run(module: &mut Module) {
    let (known, _) = Known::of(module);
    for at in 0..module.functions.len() {
        let id = FunctionId(at as u32);
        if module.functions[at].role == Role::Fast {
            continue;
        }
        for _ in 0..SHARED {
            let allows = |shorter: &Function| known.allows(module, id, shorter);
            let Some(shorter) = share(module.function(id), &allows) else {
                break;
            };
            module.functions[at] = shorter;
        }
    }
}

/// Returns the function with the blocks shared of one branch, if sharing is worth it for any.
fn share(function: &Function, allows: &dyn Fn(&Function) -> bool) -> Option<Function> {
    let compared = Compared::of(function);
    let below = compared.graph.below();
    compared.graph.order.iter().find_map(|id| {
        let (then, otherwise) = sides(function, &compared.graph, *id)?;
        let sides = [(then, otherwise), (otherwise, then)].into_iter();
        let found = sides.flat_map(|(kept, gone)| {
            let starts = starts(function, &below, kept).into_iter();
            let compared = &compared;
            starts.filter_map(move |start| Shared::of(compared, start, gone))
        });
        let mut found: Vec<(isize, Shared)> = found
            .map(|shared| (shared.gain(), shared))
            .filter(|(gain, _)| *gain >= WORTH as isize)
            .collect();
        found.sort_by_key(|(gain, _)| Reverse(*gain));
        let mut shorter = found
            .iter()
            .take(TRIED)
            .filter_map(|(_, shared)| replace::stand_once(shared, *id));
        shorter.find(|shorter| allows(shorter))
    })
}

/// The blocks to which a branch leads, if nothing else leads to them.
fn sides(function: &Function, graph: &Graph, id: BlockId) -> Option<(BlockId, BlockId)> {
    let Terminator::Branch {
        then, otherwise, ..
    } = &function.block(id).terminator
    else {
        return None;
    };
    let sides = [then.block, otherwise.block];
    let are_own = sides.iter().all(|side| graph.before[side.at()].len() == 1);
    are_own.then_some((sides[0], sides[1]))
}

/// The places in one side at which what both share may begin, the first ones first: blocks, and the
/// number of instructions before.
fn starts(function: &Function, below: &[Vec<BlockId>], side: BlockId) -> Vec<(BlockId, usize)> {
    let mut found = Vec::new();
    let mut open = VecDeque::from([side]);
    while let Some(id) = open.pop_front()
        && found.len() < COMPARED
    {
        let skipped = 0..=function.block(id).instructions.len();
        found.extend(skipped.map(|skipped| (id, skipped)));
        open.extend(&below[id.at()]);
    }
    found.truncate(COMPARED);
    found
}
