//! Names in the C of a module: those of its members, and those that nothing else there may have.
//!
//! In: a module. Out: the names of its signals and variables, each once; the prefix of its own
//! functions; and why C cannot have it, if a name of others is one that C or the module needs.

use super::super::names::beside;
use crate::c::words::{is_macro, is_of_library, is_word};
use crate::types::esterel::Module;
use crate::types::process::Role;
use std::collections::{BTreeMap, BTreeSet};

/// Words of C that name types, which a program may declare.
const TYPES: &str = "char double float int long short signed unsigned void";

/// Words of C that name nothing.
const STATEMENTS: &str = "auto break case const continue default do else enum extern for goto if \
    inline register restrict return sizeof static struct switch typedef union volatile while";

/// The C names of the signals and variables of a module, which differ from those in the user's C.
#[derive(Debug)]
pub struct Names {
    /// By signal.
    pub signals: Vec<String>,
    /// By variable.
    pub variables: Vec<String>,
    /// With what the names of the module's own functions and structs begin.
    pub prefix: String,
    /// The names that the user's own C declares.
    others: BTreeSet<String>,
}

impl Names {
    /// The names of the source, with a number behind those that stand there twice.
    pub fn new(module: &Module) -> Names {
        let signals = module.processes.signals.iter();
        let variables = module.variables.iter();
        let others: BTreeSet<String> = others(module).map(|(name, _)| name.to_string()).collect();
        Names {
            signals: each_once(signals.map(|one| one.name.as_str()), &others),
            variables: each_once(variables.map(|one| one.name.as_str()), &others),
            prefix: prefix(&module.name, &others),
            others,
        }
    }

    /// A name of a parameter or a local variable, which hides nothing that others wrote.
    pub fn local(&self, name: &str) -> String {
        beside(name, |name| self.others.contains(name))
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
fn others(module: &Module) -> impl Iterator<Item = (&str, bool)> {
    let types = module.types.iter().map(|name| (name.as_str(), true));
    let constants = module.constants.iter().map(|one| &one.name);
    let functions = module.functions.iter().map(|one| &one.name);
    let procedures = module.procedures.iter().map(|one| &one.name);
    let values = constants.chain(functions).chain(procedures);
    types.chain(values.map(|name| (name.as_str(), false)))
}

/// The name of a module, with more behind it as long as names of others begin so.
fn prefix(module: &str, others: &BTreeSet<String>) -> String {
    let mut prefix = module.to_string();
    let begins = |prefix: &str| {
        let mut behind = others.iter().filter_map(|one| one.strip_prefix(prefix));
        behind.any(|rest| rest.starts_with('_'))
    };
    while begins(&prefix) {
        prefix += "_own";
    }
    prefix
}

fn each_once<'n>(all: impl Iterator<Item = &'n str>, others: &BTreeSet<String>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    // The numbers below are taken.
    let mut free: BTreeMap<String, usize> = BTreeMap::new();
    let mut names = Vec::new();
    for name in all {
        let letter = |one: char| {
            if one.is_ascii_alphanumeric() {
                one
            } else {
                '_'
            }
        };
        let plain: String = name.chars().map(letter).collect();
        // Macros of others would stand in place of a member.
        let is_taken = |name: &str| is_word(name) || is_macro(name) || others.contains(name);
        let plain = beside(&plain, is_taken);
        let mut own = plain.clone();
        while taken.contains(&own) || others.contains(&own) {
            let number = free.entry(plain.clone()).or_insert(2);
            own = format!("{plain}_{number}");
            *number += 1;
        }
        taken.insert(own.clone());
        names.push(own);
    }
    names
}
