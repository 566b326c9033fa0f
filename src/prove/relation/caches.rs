//! Results that caches always hold: an exit before `recompute` says so.
//!
//! In: a module. Out: results of caches that are 1 at each `recompute` of the module, by the
//! condition under which control comes there. So a cache that is valid holds 1.

use crate::ir::{CacheId, FunctionId, Module, Op};
use crate::prove::naming::Naming;
use crate::prove::outcome::outcome;
use crate::prove::symbolic::{Symbolic, unknown};
use crate::prove::terms::Terms;
use std::collections::BTreeSet;

/// Returns results of caches that are always 1: the cache, and the place among what it holds.
pub fn always(module: &Module, naming: &Naming) -> BTreeSet<(CacheId, u32)> {
    let (mut ones, mut others) = (BTreeSet::new(), BTreeSet::new());
    for (at, function) in module.functions.iter().enumerate() {
        let recomputes = |op: &Op| matches!(op, Op::Recompute(_));
        if !function.instructions().any(|one| recomputes(&one.op)) {
            continue;
        }
        let mut terms = Terms::default();
        let parameters = function.parameters().iter().enumerate();
        let given = parameters.map(|(at, value)| {
            let name = format!("argument {at}");
            let named = (&name[..], function.type_of(*value));
            unknown(&mut terms, module, named, at as u64)
        });
        let given: Vec<Symbolic> = given.collect();
        let known = (FunctionId(at as u32), given);
        let Ok(found) = outcome(&mut terms, (module, naming), known, &BTreeSet::new()) else {
            return BTreeSet::new();
        };
        for (cache, part, condition, value) in found.recomputed {
            let is_bit = terms.sort(value) == crate::prove::terms::Sort::Bits(1);
            let implied = is_bit
                && terms
                    .conjuncts(value)
                    .is_subset(&terms.conjuncts(condition));
            match implied {
                true => ones.insert((cache, part)),
                false => others.insert((cache, part)),
            };
        }
    }
    ones.difference(&others).copied().collect()
}
