//! Passes: the stack IR becomes shorter and faster, and does the same.
//!
//! Each pass is a file, a row of [`PASSES`], and a function of a module. The verifier passes the
//! module before and behind each; a release of the compiler asks it before all and behind the last.
//!
//! ```text
//! share-sides        the same blocks on both sides of a branch stand once
//! test-liveness-once no reaction tests an instance that its caller knows to have a state
//! inline             small functions, and those called once, stand at their calls
//! constant-arguments no function is given what is the same constant at each call
//! fold               constants and identities; no branch asks a constant behind it
//! fold-messages      lengths and attributes of messages are plain values
//! value-numbering    a value that is known is not computed again, a field that is known not loaded
//! straighten         no block only leads on, no jump leads to a block of its own
//! form-fast-path     a reaction to frames has a fast function, which is tried first
//! direct-outputs     what fast functions tell the host does not wait on the agenda before
//! dead-fields        no field is stored that nobody reads before it is stored again
//! order-guards       fast functions ask first what decides much, and nothing that follows from it
//! hot-path           the most frequent paths of fast functions are tried first
//! cache-guards       what fast functions ask of a session alone is asked once
//! expect-header      what fast functions ask of a header that stays the same is asked once
//! rare-ways          what is tried first for a frame leaves where all would be asked anew
//! dead-attributes    no attribute is set that nobody reads
//! dead-parameters    no function is given, or gives, what nobody uses
//! dead-code          no value is computed that nobody uses
//! read-in-place      no frame in memory of the host is copied, if it is only read
//! gather             bytes of a stream that leave in a frame are not copied
//! sink               a value is computed on the way that uses it
//! fold-identical     no two functions are the same
//! ```

pub mod constant_arguments;
pub mod cost;
pub mod dead_attributes;
pub mod dead_code;
pub mod dead_fields;
pub mod dead_parameters;
pub mod fast;
pub mod fold;
pub mod fold_identical;
pub mod fold_messages;
pub mod inline;
pub mod share_sides;
pub mod sink;
pub mod straighten;
pub mod test_liveness_once;
pub mod value_numbering;

use crate::ir::Module;
use crate::ir::verify::verify;

/// A pass.
#[derive(Clone, Copy)]
pub struct Pass {
    /// Its name.
    pub name: &'static str,
    /// One sentence of what it does.
    pub about: &'static str,
    /// Changes a module.
    pub run: fn(&mut Module),
}

/// All passes, in the order in which they run.
pub const PASSES: [Pass; 23] = [
    Pass {
        name: "share-sides",
        about: "Keeps one of the same blocks on both sides of a branch",
        run: share_sides::run,
    },
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
        name: "direct-outputs",
        about: "Lets outputs of fast functions leave without waiting on the agenda",
        run: fast::direct_outputs::run,
    },
    Pass {
        name: "dead-fields",
        about: "Removes stores to fields that nobody reads before they are stored again",
        run: dead_fields::run,
    },
    Pass {
        name: "order-guards",
        about: "Asks first what decides much, and nothing that follows from it",
        run: fast::order_guards::run,
    },
    Pass {
        name: "hot-path",
        about: "Tries the most frequent paths of fast functions first",
        run: fast::hot_path::run,
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
        name: "rare-ways",
        about: "Keeps rare ways out of what is tried first for a frame",
        run: fast::rare_ways::run,
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
        name: "gather",
        about: "Lets bytes of a stream leave in a frame without a copy",
        run: fast::gather::run,
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

/// The name for the stack IR before all passes.
pub const LOWER: &str = "lower";

/// A set of passes, which run in the order of [`PASSES`], and the number of paths that they form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passes {
    /// By place in [`PASSES`]: a bit.
    set: u32,
    /// At most so many paths of each fast function; none: all that are frequent.
    fast_paths: Option<u32>,
    /// At most so many bytes of text, by estimate; none: as many as there are.
    text_limit: Option<u64>,
}

impl Passes {
    /// No pass.
    pub const NONE: Passes = Passes::of(0);

    /// All passes.
    pub const ALL: Passes = Passes::of((1 << PASSES.len()) - 1);

    const fn of(set: u32) -> Passes {
        Passes {
            set,
            fast_paths: None,
            text_limit: None,
        }
    }

    /// Returns these passes, which form at most so many paths for each fast function.
    pub fn with_fast_paths(self, most: Option<u32>) -> Passes {
        Passes {
            fast_paths: most,
            ..self
        }
    }

    /// Returns these passes, whose stack has at most so many bytes of text, by estimate.
    pub fn with_text_limit(self, bytes: Option<u64>) -> Passes {
        Passes {
            text_limit: bytes,
            ..self
        }
    }

    /// At most so many paths of each fast function are formed.
    pub fn fast_paths(self) -> Option<u32> {
        self.fast_paths
    }

    /// The bytes of text that a stack may have.
    pub fn text_limit(self) -> Option<u64> {
        self.text_limit
    }

    /// Returns the pass of this name alone, or all passes for `all`.
    pub fn named(name: &str) -> Result<Passes, String> {
        let place = PASSES.iter().position(|pass| pass.name == name);
        match (name, place) {
            ("all", _) => Ok(Passes::ALL),
            (_, Some(place)) => Ok(Passes::of(1 << place)),
            (_, None) => Err(unknown(name, &[])),
        }
    }

    /// Returns the passes from the first to the one of this name; no pass for [`LOWER`].
    pub fn up_to(name: &str) -> Result<Passes, String> {
        let mut places = PASSES.iter().enumerate();
        match (name, places.find(|(_, pass)| pass.name == name)) {
            (LOWER, _) => Ok(Passes::NONE),
            (_, Some((place, _))) => Ok(Passes::of((2 << place) - 1)),
            (_, None) => Err(unknown(name, &[LOWER])),
        }
    }

    /// Returns the union with other passes.
    pub fn and(self, others: Passes) -> Passes {
        Passes {
            set: self.set | others.set,
            ..self
        }
    }

    /// Returns these passes without others.
    pub fn without(self, others: Passes) -> Passes {
        Passes {
            set: self.set & !others.set,
            ..self
        }
    }

    /// Sets in a module what passes read there.
    pub fn prepare(self, module: &mut Module) {
        module.fast_paths = self.fast_paths;
    }

    /// Returns the passes in the order in which they run.
    pub fn chosen(self) -> Vec<Pass> {
        let places = (0..PASSES.len()).filter(|place| self.set & 1 << place != 0);
        places.map(|place| PASSES[place]).collect()
    }
}

impl Default for Passes {
    fn default() -> Passes {
        Passes::ALL
    }
}

/// Says that there is no pass of this name, and lists those that there are behind some others.
fn unknown(name: &str, others: &[&str]) -> String {
    let names = PASSES.iter().map(|pass| pass.name);
    let names: Vec<&str> = others.iter().copied().chain(names).collect();
    let names = names.join("`, `");
    format!("there is no pass `{name}`; the passes are `{names}`")
}

/// Runs passes on a module that the verifier passes. With debug assertions it is asked behind each
/// pass, without them behind the last.
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
    for (at, pass) in passes.iter().enumerate() {
        (pass.run)(&mut module);
        if cfg!(debug_assertions) || at + 1 == passes.len() {
            judge(&module, pass.name);
        }
    }
    module
}

/// Runs passes one after the other, and looks for a difference before all and behind each. Returns
/// the name of the first pass behind which there is one, or [`LOWER`], and the difference.
///
/// # Panics
///
/// As [`verified`] does.
pub fn first_difference<T>(
    module: Module,
    passes: &[Pass],
    difference: impl Fn(&Module) -> Option<T>,
) -> Option<(&'static str, T)> {
    let mut module = verified(module, &[]);
    if let Some(found) = difference(&module) {
        return Some((LOWER, found));
    }
    for pass in passes {
        module = verified(module, std::slice::from_ref(pass));
        if let Some(found) = difference(&module) {
            return Some((pass.name, found));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(passes: Passes) -> Vec<&'static str> {
        let chosen = passes.chosen();
        chosen.iter().map(|pass| pass.name).collect()
    }

    #[test]
    fn passes_are_chosen_by_name() {
        let all = PASSES.map(|pass| pass.name);
        assert_eq!(names(Passes::ALL), all);
        assert_eq!(Passes::named("all"), Ok(Passes::ALL));
        for (place, name) in all.into_iter().enumerate() {
            let alone = Passes::named(name).expect("it is a pass");
            assert_eq!(names(alone), [name]);
            let others = Passes::ALL.without(alone);
            assert_eq!(names(others), [&all[..place], &all[place + 1..]].concat());
            assert_eq!(others.and(alone), Passes::ALL);
            let first = Passes::up_to(name).expect("it is a pass");
            assert_eq!(names(first), all[..=place]);
        }
        assert_eq!(Passes::up_to(LOWER), Ok(Passes::NONE));
    }

    #[test]
    fn an_unknown_name_lists_the_passes() {
        let said = "there is no pass `lowr`; the passes are `";
        let named = Passes::named("lowr").expect_err("there is none");
        assert!(named.starts_with(&format!("{said}share-sides`, `test-liveness-once`, `")));
        let up_to = Passes::up_to("lowr").expect_err("there is none");
        assert!(up_to.starts_with(&format!("{said}lower`, `share-sides`, `")));
        assert!(Passes::named(LOWER).is_err());
    }
}
