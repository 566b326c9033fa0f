//! Passes: the stack IR becomes shorter and faster, and does the same.
//!
//! Each pass is a file, a row of [`PASSES`], and a function of a module. The verifier passes the
//! module before and behind each.
//!
//! ```text
//! test-liveness-once no reaction tests an instance that its caller knows to have a state
//! inline             small functions, and those called once, stand at their calls
//! constant-arguments no function is given what is the same constant at each call
//! fold               constants and identities; no branch asks a constant behind it
//! fold-messages      lengths and attributes of messages are plain values
//! value-numbering    a value that is known is not computed again, a field that is known not loaded
//! straighten         no block only leads on, no jump leads to a block of its own
//! form-fast-path     a reaction to frames has a fast function, which is tried first
//! dead-fields        no field is stored that nobody reads before it is stored again
//! cache-guards       what fast functions ask of a session alone is asked once
//! expect-header      what fast functions ask of a header that stays the same is asked once
//! dead-attributes    no attribute is set that nobody reads
//! dead-parameters    no function is given, or gives, what nobody uses
//! dead-code          no value is computed that nobody uses
//! read-in-place      no frame in memory of the host is copied, if it is only read
//! sink               a value is computed on the way that uses it
//! fold-identical     no two functions are the same
//! ```

pub mod constant_arguments;
pub mod dead_attributes;
pub mod dead_code;
pub mod dead_fields;
pub mod dead_parameters;
pub mod fast;
pub mod fold;
pub mod fold_identical;
pub mod fold_messages;
pub mod inline;
pub mod sink;
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
pub const PASSES: [Pass; 17] = [
    Pass {
        name: "test-liveness-once",
        about: "Tests instances of events that come from the agenda alone",
        run: test_liveness_once::run,
    },
    Pass {
        name: "inline",
        about: "Expands calls of functions that are small or called once",
        run: inline::run,
    },
    Pass {
        name: "constant-arguments",
        about: "Propagates constants from calls and events to functions",
        run: constant_arguments::run,
    },
    Pass {
        name: "fold",
        about: "Computes what is known when the stack is compiled",
        run: fold::run,
    },
    Pass {
        name: "fold-messages",
        about: "Computes lengths, starts and attributes from those of the message before",
        run: fold_messages::run,
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
        name: "form-fast-path",
        about: "Forms fast functions, which test first and then do",
        run: fast::form_fast_path::run,
    },
    Pass {
        name: "dead-fields",
        about: "Removes stores to fields that nobody reads before they are stored again",
        run: dead_fields::run,
    },
    Pass {
        name: "cache-guards",
        about: "Asks once what fast functions ask of a session alone",
        run: fast::cache_guards::run,
    },
    Pass {
        name: "expect-header",
        about: "Asks once what fast functions ask of bytes that are the same in each frame",
        run: fast::expect_header::run,
    },
    Pass {
        name: "dead-attributes",
        about: "Removes attributes of messages that nobody reads",
        run: dead_attributes::run,
    },
    Pass {
        name: "dead-parameters",
        about: "Removes parameters and results that nobody uses",
        run: dead_parameters::run,
    },
    Pass {
        name: "dead-code",
        about: "Removes values that nobody uses, and stores that are written over",
        run: dead_code::run,
    },
    Pass {
        name: "read-in-place",
        about: "Reads frames in memory of the host where they stand",
        run: fast::read_in_place::run,
    },
    Pass {
        name: "sink",
        about: "Computes a value on the only way that uses it",
        run: sink::run,
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
