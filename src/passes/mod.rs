//! Passes: the stack IR becomes shorter and faster, and does the same.
//!
//! Each pass is a file, a row of [`PASSES`], and a function of a module. The verifier passes the
//! module before and behind each.
//!
//! ```text
//! test-liveness-once no reaction tests an instance that its caller knows to have a state
//! fold               constants and identities; no branch asks a constant behind it
//! value-numbering    a value that is known is not computed again, a field that is known not loaded
//! straighten         no block only leads on, no jump leads to a block of its own
//! dead-code          no value is computed that nobody uses
//! fold-identical     no two functions are the same
//! ```

pub mod dead_code;
pub mod fold;
pub mod fold_identical;
pub mod straighten;
pub mod test_liveness_once;
pub mod value_numbering;

use crate::ir::Module;
use crate::ir::verify::verify;

/// A pass.
pub struct Pass {
    /// Its name.
    pub name: &'static str,
    /// One sentence of what it does.
    pub about: &'static str,
    /// Changes a module.
    pub run: fn(&mut Module),
}

/// All passes, in the order in which they run.
pub const PASSES: [Pass; 6] = [
    Pass {
        name: "test-liveness-once",
        about: "Tests instances of events that come from the agenda alone",
        run: test_liveness_once::run,
    },
    Pass {
        name: "fold",
        about: "Computes what is known when the stack is compiled",
        run: fold::run,
    },
    Pass {
        name: "value-numbering",
        about: "Computes and loads once what is the same",
        run: value_numbering::run,
    },
    Pass {
        name: "straighten",
        about: "Joins blocks, and leads edges where control goes in the end",
        run: straighten::run,
    },
    Pass {
        name: "dead-code",
        about: "Removes values that nobody uses, and stores that are written over",
        run: dead_code::run,
    },
    Pass {
        name: "fold-identical",
        about: "Keeps one of functions that are the same",
        run: fold_identical::run,
    },
];

/// Runs passes on a module that the verifier passes.
///
/// # Panics
///
/// If the module breaks a rule before or behind a pass: a mistake of the compiler.
pub fn verified(mut module: Module, passes: &[Pass]) -> Module {
    let judge = |module: &Module, behind: &str| {
        if let Err(breaches) = verify(module) {
            panic!("{} behind {behind}: {}", module.name, breaches[0]);
        }
    };
    judge(&module, "lower");
    for pass in passes {
        (pass.run)(&mut module);
        judge(&module, pass.name);
    }
    module
}
