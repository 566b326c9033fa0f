//! Identical functions become one (identical code folding).
//!
//! In: a module. Out: of functions that differ in names and places alone the first stays, and the
//! others are gone. So do functions that call such functions.

use crate::ir::edit::shape;
use crate::ir::rename::renumber_functions;
use crate::ir::{FunctionId, Module};
use std::collections::BTreeMap;

/// Folds the functions of a module.
pub fn run(module: &mut Module) {
    loop {
        let mut first: BTreeMap<String, FunctionId> = BTreeMap::new();
        let mut same: Vec<FunctionId> = Vec::new();
        for (at, function) in module.functions.iter().enumerate() {
            let id = FunctionId(at as u32);
            same.push(*first.entry(shape(function)).or_insert(id));
        }
        if same.iter().enumerate().all(|(at, id)| id.at() == at) {
            return;
        }
        let mut places = vec![FunctionId(0); same.len()];
        let mut next = 0;
        for (at, id) in same.iter().enumerate() {
            let is_first = id.at() == at;
            places[at] = if is_first {
                FunctionId(next)
            } else {
                places[id.at()]
            };
            next += u32::from(is_first);
        }
        renumber_functions(module, |id| places[id.at()]);
        let mut all = same.iter().enumerate();
        module.functions.retain(|_| {
            let (at, id) = all.next().expect("each function is known");
            id.at() == at
        });
    }
}
