//! Layouts: in, the kinds of a module; out, what stands beside their instances, and the numbers of
//! their timers.

use crate::ir::definitions::Definitions;
use crate::ir::{Attempt, CacheId, KindId, Lives, Module, Op, Terminator, TimerId, Value};
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

/// The table that says by a hash which instance has a cache with some arguments.
pub struct Guesses {
    /// The number of entries.
    pub count: u32,
    /// The type of an entry.
    pub of: &'static str,
    /// The arguments that are hashed: those on which the search of the cache's function hangs.
    pub keys: Vec<usize>,
}

/// The table of a cache by which instances are recalled; none of another cache, or if there is but
/// one instance.
pub fn guesses(module: &Module, id: CacheId) -> Option<Guesses> {
    let cache = &module.caches[id.at()];
    let capacity = module.kinds[cache.kind?.at()].capacity;
    let function = module.function(cache.remembers);
    let definitions = Definitions::of(function);
    let searches = function.blocks.iter();
    let searches = searches.filter_map(|block| match &block.terminator {
        Terminator::Try {
            attempt: Attempt::Find(_),
            operands,
            ..
        } => Some(operands),
        _other => None,
    });
    let mut open: Vec<Value> = searches.flatten().copied().collect();
    let mut seen: BTreeSet<Value> = open.iter().copied().collect();
    while let Some(value) = open.pop() {
        let operands = definitions.get(value).map(|one| &one.operands);
        let operands = operands.into_iter().flatten().copied();
        open.extend(operands.filter(|one| seen.insert(*one)));
    }
    let arguments = function.parameters().iter().skip(1).enumerate();
    let keys = arguments.filter(|(_, value)| seen.contains(value));
    (capacity > 1 && module.recalled()[id.at()]).then(|| Guesses {
        count: (8 * capacity).next_power_of_two(),
        of: match capacity {
            ..=0x10000 => "uint16_t",
            _more => "uint32_t",
        },
        keys: keys.map(|(at, _)| at).collect(),
    })
}

/// The number of all timers.
pub fn timer_count(module: &Module) -> u32 {
    kinds(module).map(|id| of_kind(module, id)).sum()
}

fn of_kind(module: &Module, id: KindId) -> u32 {
    let kind = &module.kinds[id.at()];
    kind.capacity * kind.timers.len() as u32
}
