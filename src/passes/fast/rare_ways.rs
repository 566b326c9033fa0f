//! Keeps rare ways out of what is tried first when a frame arrives.
//!
//! In: the fast functions of links whose headers are expected. Out: before the one that is tried
//! first, another that leaves where the header is not the expected one. It calls no search, so a
//! compiler keeps its values in registers.
//!
//! ```text
//! fast fn arrive.hot(%m: msg) {            fast fn arrive.hit(%m: msg) {
//!   branch %same, go, anew @ 99%             exit arrive.hot (not %same)
//! anew: ..; recompute ..; jump go    =>      ..
//! go: ..                                   fast fn arrive.hot(%m: msg), first arrive.hit { ..
//! ```

use super::hot_path::{try_first, without};
use crate::ir::Module;
use crate::ir::effects::Effects;
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
            try_first(module, first, hit, "hit");
        }
    }
}
