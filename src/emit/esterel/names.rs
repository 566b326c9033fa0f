//! Names of members: of signals and variables, each once.

use super::super::names::c_name;
use crate::types::esterel::Module;
use std::collections::BTreeSet;

/// What signals and variables are called in C.
#[derive(Debug)]
pub struct Names {
    /// By signal.
    pub signals: Vec<String>,
    /// By variable.
    pub variables: Vec<String>,
}

impl Names {
    /// The names of the source, with a number behind those that stand there twice.
    pub fn new(module: &Module) -> Names {
        let signals = module.processes.signals.iter();
        let variables = module.variables.iter();
        Names {
            signals: each_once(signals.map(|one| one.name.as_str())),
            variables: each_once(variables.map(|one| one.name.as_str())),
        }
    }
}

fn each_once<'n>(all: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut names = Vec::new();
    for name in all {
        let plain: String = name
            .chars()
            .map(|one| {
                if one.is_ascii_alphanumeric() {
                    one
                } else {
                    '_'
                }
            })
            .collect();
        let plain = c_name(&plain);
        let mut numbered = (2..).map(|number| format!("{plain}_{number}"));
        let mut own = plain.clone();
        while taken.contains(&own) {
            own = numbered.next().expect("there is always another number");
        }
        taken.insert(own.clone());
        names.push(own);
    }
    names
}
