//! Orders guards: fast functions ask first what decides much, and nothing that follows from it.
//!
//! ```text
//! hoist.rs      what is asked of the session or of the header alone is asked first
//! split.rs      an exit that leaves for several reasons is several exits
//! anticipate.rs what both ways of a branch ask is asked before they part
//! sides.rs      an exit that only one side of a branch needs moves to that side
//! delay.rs      what an equality makes simpler is asked behind it
//! implied.rs    what follows from guards above is not asked
//! facts.rs      facts that hold behind guards
//! ```
//!
//! Each makes way for the other: a condition that is computed of the rest may hang on the header
//! alone, so they run in turn, a few times.

mod anticipate;
mod delay;
mod facts;
mod hoist;
mod implied;
mod sides;
mod split;

use crate::ir::effects::Effects;
use crate::ir::{Function, Module, Role};
use crate::passes::fast::session::written;
use crate::passes::{dead_code, fold, straighten, value_numbering};

/// The steps run so many times.
const TURNS: usize = 3;

/// Orders the guards of all fast functions.
pub fn run(module: &mut Module) {
    let effects = Effects::of_functions(module);
    let written = written(module);
    for at in 0..module.functions.len() {
        if module.functions[at].role != Role::Fast {
            continue;
        }
        let mut function = module.functions[at].clone();
        for _ in 0..TURNS {
            if let Some(hoisted) = hoist::hoisted(module, &written, &function) {
                function = hoisted;
                clean(module, &effects, &mut function);
            }
            order(module, &effects, &mut function);
        }
        module.functions[at] = function;
    }
}

/// Orders the guards of a fast function, without those of its session.
pub fn order(module: &Module, effects: &[Effects], function: &mut Function) {
    *function = anticipate::anticipated(&split::split(function));
    *function = implied::simplified(&delay::delayed(&sides::moved(function)));
    clean(module, effects, function);
}

/// Folds, numbers and cleans a fast function.
pub fn clean(module: &Module, effects: &[Effects], function: &mut Function) {
    fold::fold(function);
    straighten::straighten(function);
    value_numbering::number(module, effects, function);
    dead_code::clean(module, effects, function);
}
