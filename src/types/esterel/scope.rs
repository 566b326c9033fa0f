//! What the names of a module mean, where a statement stands.

use super::{Expression, VariableId};
use crate::syntax::esterel::ast::Name;
use crate::types::process::SignalId;
use std::collections::{BTreeMap, BTreeSet};

/// Names, and what they mean.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub signals: BTreeMap<String, SignalId>,
    /// Names of a copy that stand for `tick`.
    pub ticks: BTreeSet<String>,
    pub variables: BTreeMap<String, VariableId>,
    /// What can be exited here.
    pub traps: BTreeMap<String, Way>,
    /// What may have been exited: in a handler, its own trap, too.
    pub exited: BTreeMap<String, Way>,
    pub constants: BTreeMap<String, Expression>,
    /// How functions of this module are called in C, where a copy says otherwise; or an operator.
    pub functions: BTreeMap<String, String>,
    pub procedures: BTreeMap<String, String>,
    pub types: BTreeMap<String, String>,
    /// How many traps stand around.
    pub level: u32,
}

/// A way to exit a trap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub signal: SignalId,
    pub level: u32,
}

impl Scope {
    /// Returns true if a name means `tick` here, which is present in every instant.
    pub fn is_tick(&self, name: &Name) -> bool {
        let named = name.text == "tick" || self.ticks.contains(&name.text);
        named && !self.signals.contains_key(&name.text)
    }

    /// The same names, to which more are added further in.
    pub fn inside(&self) -> Scope {
        self.clone()
    }
}
