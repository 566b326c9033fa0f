//! Names in the C of a module that nothing else there may have.
//!
//! In: a module. Out: names for parameters; and why C cannot have it, if a name of others is one
//! that C or the module needs.

use crate::c::words::{is_macro, is_of_library, is_word};
use crate::types::esterel::Module;
use crate::types::process::Role;
use std::collections::BTreeSet;

/// Words of C that name types, which a program may declare.
const TYPES: &str = "char double float int long short signed unsigned void";

/// Words of C that name nothing.
const STATEMENTS: &str = "auto break case const continue default do else enum extern for goto if \
    inline register restrict return sizeof static struct switch typedef union volatile while";

/// A name of a parameter, which hides nothing that others wrote.
pub fn local(module: &Module, name: &str) -> String {
    match others(module).any(|(other, _)| other == name) {
        true => format!("{name}_"),
        false => name.to_string(),
    }
}

/// Returns why C cannot have a module of this name, with what it takes from others.
pub fn refused(module: &Module) -> Option<String> {
    let name = &module.name;
    let of_esterel = ["boolean", "integer", "string"].contains(&name.as_str());
    if of_esterel || is_word(name) || is_macro(name) || is_of_library(name) {
        return Some(format!("`{name}` means something to C"));
    }
    let offered = offered(module);
    for (other, is_type) in others(module) {
        let is_in = |words: &str| words.split_whitespace().any(|word| word == other);
        if is_in(STATEMENTS) || is_in(TYPES) && !is_type {
            return Some(format!(
                "`{other}` is a word of C, which names nothing else"
            ));
        }
        if offered.contains(other) {
            return Some(format!("`{other}` is yours, and its own C has one, too"));
        }
    }
    None
}

/// The names of the functions that the generated header of a module declares.
fn offered(module: &Module) -> BTreeSet<String> {
    let own = &module.name;
    let signals = module.processes.signals.iter();
    let signals = signals.flat_map(|signal| {
        let kinds = [
            (signal.role.is_given(), "I"),
            (signal.role.is_told(), "O"),
            (signal.role == Role::Sensor, "S"),
        ];
        let kinds = kinds.into_iter().filter(|(is, _)| *is);
        kinds.map(|(_, kind)| format!("{own}_{kind}_{}", signal.name))
    });
    let fixed = [own.clone(), format!("{own}_reset"), format!("{own}_error")];
    signals.chain(fixed).collect()
}

/// Each name that the user's own C declares for the module, used or not, and whether it is a type.
pub fn others(module: &Module) -> impl Iterator<Item = (&str, bool)> {
    let types = module.types.iter().map(|name| (name.as_str(), true));
    let constants = module.constants.iter().map(|one| &one.name);
    let functions = module.functions.iter().map(|one| &one.name);
    let procedures = module.procedures.iter().map(|one| &one.name);
    let values = constants.chain(functions).chain(procedures);
    types.chain(values.map(|name| (name.as_str(), false)))
}
