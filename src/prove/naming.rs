//! Names that are the same in two modules: of functions, events and operations, and the arguments
//! of an event that count.
//!
//! In: the names of both modules. Out: a name without indices of tables that a pass may renumber,
//! and the terms that an event is given.

use super::symbolic::Symbolic;
use super::terms::{Term, Terms};
use crate::ir::effects::Effects;
use crate::ir::op::{Event, Op, Target, Told};
use crate::ir::{AttributeId, CacheId, Module};
use std::collections::{BTreeMap, BTreeSet};

/// An argument of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The one at this place of those that the module gives.
    Given(usize),
    /// A constant that the module does not give.
    Constant(Op),
}

/// Names that mean the same in both modules, and facts that hold for both.
#[derive(Clone, Debug, Default)]
pub struct Naming {
    /// Effects of functions that are not executed, of both modules together.
    pub effects: BTreeMap<String, Effects>,
    /// Functions that another one stands for.
    pub names: BTreeMap<String, String>,
    /// The arguments of events that count, if that are not all.
    pub parameters: BTreeMap<String, Vec<Shown>>,
    /// Results of caches that are 1 wherever one is computed again.
    pub always: BTreeSet<(CacheId, u32)>,
    /// By function: the attributes of its messages that it reads; all if it is not listed.
    pub attributes: BTreeMap<String, BTreeSet<AttributeId>>,
    /// True if attributes count that a function is given with a message.
    pub with_attributes: bool,
}

impl Naming {
    /// Returns the name of a function.
    pub fn function(&self, name: &str) -> String {
        let other = self.names.get(name).cloned();
        other.unwrap_or_else(|| name.to_string())
    }

    /// Returns the name of a target of events.
    pub fn target(&self, module: &Module, target: Target) -> String {
        match target {
            Target::Function(id) => self.function(&module.function(id).name),
            Target::Link(id) => format!("link {}", module.links[id.at()].name),
            Target::Port(id, told) => {
                let port = &module.ports[id.at()];
                match told {
                    Told::Message => format!("port {} message", port.name),
                    Told::Started => format!("port {} started", port.name),
                    Told::Notice(at) => format!("port {} notice {at}", port.name),
                }
            }
        }
    }

    /// Returns the arguments of an event that count.
    pub fn arguments(
        &self,
        (terms, module): (&mut Terms, &Module),
        event: Event,
        given: &[Symbolic],
    ) -> Vec<Term> {
        let mut all = Vec::new();
        let known = match event.target {
            Target::Function(id) => self.parameters.get(&module.function(id).name),
            Target::Link(_) | Target::Port(..) => None,
        };
        let each: Vec<Shown> = (0..given.len()).map(Shown::Given).collect();
        for shown in known.unwrap_or(&each) {
            match shown {
                Shown::Given(at) => self.argument(module, event.target, &given[*at], &mut all),
                Shown::Constant(op) => all.push(constant(terms, op)),
            }
        }
        all
    }

    /// Returns the terms of a value that is kept; without attributes if those do not count.
    pub fn kept(&self, value: &Symbolic) -> Vec<Term> {
        let mut all = value.terms();
        if matches!(value, Symbolic::Message(_)) && !self.with_attributes {
            all.truncate(3);
        }
        all
    }

    fn argument(&self, module: &Module, target: Target, given: &Symbolic, all: &mut Vec<Term>) {
        let Symbolic::Message(message) = given else {
            return all.extend(given.terms());
        };
        all.extend([message.buffer, message.start, message.length]);
        let every: BTreeSet<AttributeId> = (0..module.attributes.len() as u32)
            .map(AttributeId)
            .collect();
        let read = match target {
            Target::Link(_) => BTreeSet::new(),
            Target::Port(id, _) => {
                let listed = module.ports[id.at()].attributes.iter();
                listed.flat_map(|one| one.parts.iter().copied()).collect()
            }
            Target::Function(_) if !self.with_attributes => BTreeSet::new(),
            Target::Function(id) => {
                let name = &module.function(id).name;
                self.attributes.get(name).cloned().unwrap_or(every)
            }
        };
        all.extend(read.iter().map(|id| message.attributes[id.at()]));
    }
}

/// Returns a constant operation as a term.
pub fn constant(terms: &mut Terms, op: &Op) -> Term {
    match op {
        Op::Number(bits, number) => terms.number((*bits).into(), *number),
        Op::Instance(_, number) => terms.number(32, (*number).into()),
        Op::Bytes(bytes) => terms.bytes(bytes),
        other => terms.applied(&format!("{other:?}"), &[], super::terms::Sort::Token),
    }
}
