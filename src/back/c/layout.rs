//! Layouts: in, the kinds of a module; out, what stands beside their instances, and the numbers of
//! their timers.

use crate::ir::{Attempt, KindId, Lives, Module, Op, Terminator, TimerId};
use std::collections::BTreeSet;

/// All kinds of a module.
pub fn kinds(module: &Module) -> impl Iterator<Item = KindId> + use<> {
    (0..module.kinds.len() as u32).map(KindId)
}

/// The members of the stack that stand beside the instances of a kind.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// True if each takes a slot of its own.
    pub has_pool: bool,
    /// True if it is kept which have ended.
    pub has_ended: bool,
    /// The number of chains by which they are found.
    pub buckets: Option<u32>,
    /// Timers by which one is looked for, each with the number of keys that are said.
    pub soonest: BTreeSet<(TimerId, usize)>,
}

impl Layout {
    /// The layouts of all kinds.
    pub fn all(module: &Module) -> Vec<Layout> {
        let mut all = vec![Layout::default(); module.kinds.len()];
        let mut found = vec![false; all.len()];
        let mut ends = vec![false; all.len()];
        let mut asked = vec![false; all.len()];
        for function in &module.functions {
            for one in function.instructions() {
                match one.op {
                    Op::End(kind) => ends[kind.at()] = true,
                    Op::Ended(kind) => asked[kind.at()] = true,
                    _ => {}
                }
            }
            for block in &function.blocks {
                let Terminator::Try {
                    attempt, operands, ..
                } = &block.terminator
                else {
                    continue;
                };
                match attempt {
                    Attempt::Find(kind) => found[kind.at()] = true,
                    Attempt::Soonest(kind, timer) => {
                        all[kind.at()].soonest.insert((*timer, operands.len()));
                    }
                    _ => {}
                }
            }
        }
        for (at, (layout, kind)) in all.iter_mut().zip(&module.kinds).enumerate() {
            let is_asked = asked[at] || found[at] || !layout.soonest.is_empty();
            layout.has_pool = kind.lives == Lives::Created;
            layout.has_ended = ends[at] && is_asked;
            let is_hashed = layout.has_pool && found[at] && !kind.keys.is_empty();
            layout.buckets = is_hashed.then(|| kind.capacity.next_power_of_two().max(2));
        }
        all
    }
}

/// The number of all timers.
pub fn timer_count(module: &Module) -> u32 {
    kinds(module).map(|id| of_kind(module, id)).sum()
}

fn of_kind(module: &Module, id: KindId) -> u32 {
    let kind = &module.kinds[id.at()];
    kind.capacity * kind.timers.len() as u32
}
