//! Functions about instances: in, the kinds of a module; out, C that finds, makes and ends them.
//!
//! ```text
//! live_K, ended_K                      whether one has a state, and is found no more
//! find_K, soonest_K_T, standing_K      look for one, or SL_NONE
//! begin_K, create_K                    one begins, and is found by its keys
//! end_K, free_K                        one is found no more, and has no state any more
//! ```
//!
//! An instance that is created has a slot of a pool of its kind; one that lives with another has a
//! state as long as the slot of that is taken. Keys of those that are created are hashed; others
//! are few, and looked at one by one.
//!
//! ```text
//! keys.rs    the hash of keys, and who has them
//! search.rs  who is looked for
//! lives.rs   how an instance begins, ends and is free
//! timers.rs  the numbers of timers, and what their ends start
//! ```

mod keys;
mod lives;
mod search;
mod timers;

pub use search::soonest_name;
pub use timers::{begin_timers, expire, first_timer, timer_count, timers};

use super::Stack;
use super::records::kinds;
use crate::c::tree::{Expression as C, Function, Item, atom, call};
use crate::ir::{Attempt, KindId, Lives, Module, Op, Terminator, TimerId};
use std::collections::BTreeSet;

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
    soonest: BTreeSet<(TimerId, usize)>,
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

/// Functions about the instances of one kind.
struct Instances<'s, 'm> {
    stack: &'s Stack<'m>,
    id: KindId,
    layouts: &'s [Layout],
}

impl<'s, 'm> Instances<'s, 'm> {
    /// The same of another kind.
    fn of(&self, id: KindId) -> Instances<'s, 'm> {
        Instances { id, ..*self }
    }

    fn kind(&self) -> &'m crate::ir::Kind {
        let module: &'m Module = self.stack.module;
        &module.kinds[self.id.at()]
    }

    fn layout(&self) -> &'s Layout {
        &self.layouts[self.id.at()]
    }

    fn root(&self) -> KindId {
        self.stack.module.root(self.id)
    }

    fn capacity(&self) -> C {
        atom(self.kind().capacity.to_string())
    }

    /// The name of a function about the kind.
    fn named(&self, deed: &str) -> String {
        format!("{deed}_{}", self.stack.names.kind(self.id))
    }

    /// A call of a function about the kind; the stack is its first argument.
    fn call(&self, deed: &str, arguments: Vec<C>) -> C {
        let all = [vec![atom("stack")], arguments].concat();
        call(self.named(deed), all)
    }

    /// A member of the stack that stands beside the instances.
    fn beside(&self, suffix: &str) -> C {
        let name = self.stack.names.kind(self.id);
        atom("stack").behind(format!("{name}_{suffix}"))
    }

    /// An instance.
    fn instance(&self, index: C) -> C {
        super::containers::instance(self.stack, self.id, index)
    }

    /// A pointer to a timer of an instance.
    fn timer(&self, index: C, timer: TimerId) -> C {
        let name = &self.stack.names.kinds[self.id.at()].timers[timer.at()];
        let timers = self.instance(index).member("timers");
        timers.member(name.clone()).address()
    }

    /// The parameter that is the stack.
    fn pointer(&self, constant: bool) -> String {
        let before = if constant { "const " } else { "" };
        format!("{before}struct {} *stack", self.stack.names.stack)
    }
}

/// Functions that look for instances, by their names, each behind those that it calls.
pub fn questions(stack: &Stack<'_>) -> Vec<(String, Item)> {
    let layouts = Layout::all(stack.module);
    let of = |id| Instances {
        stack,
        id,
        layouts: &layouts,
    };
    let all = kinds(stack.module).map(of);
    let functions = all.flat_map(|kind| kind.questions());
    functions.map(named).collect()
}

/// Functions that make and end instances, by their names, each behind those that it calls. They
/// call `waits_no_more_K` of kinds that listen or wait, and `drop_queue`, `drop_window` and
/// `drop_stream`.
pub fn deeds(stack: &Stack<'_>) -> Vec<(String, Item)> {
    let layouts = Layout::all(stack.module);
    let of = |id| Instances {
        stack,
        id,
        layouts: &layouts,
    };
    let all = kinds(stack.module).map(of);
    let functions = all.flat_map(|kind| kind.deeds());
    functions.map(named).collect()
}

fn named(function: Function) -> (String, Item) {
    let function = super::with_all_used(function);
    (function.name.clone(), Item::Function(function))
}
