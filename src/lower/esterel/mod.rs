//! Modules of Esterel to the stack IR.
//!
//! In: a module and its automaton. Out: a [`Module`](ir::Module) of the IR. A state is a function
//! that does an instant and returns the next state; a rest that several instants share is a
//! function, too. What lasts is in fields of kinds that each have one instance.
//!
//! ```text
//! known.rs        what has a value, wherever a value is read
//! memory.rs       fields: inputs, outputs, values of signals, variables
//! outside.rs      types, functions, procedures and constants of C
//! parts.rs        which nodes of the automaton begin functions
//! code.rs         a function that is being built, with `code_*.rs`: acts, expressions, entries
//! state.rs        the nodes of an instant
//! entries.rs      what a program calls: an instant, the beginning, inputs
//! ```
//!
//! | function | what it does |
//! |---|---|
//! | `M_react`, `M_restart`, `M_give_x` | an instant, the beginning, an input |
//! | `M_begin`, `M_sense_x` | first values of signals; reads a sensor, once in an instant |
//! | `M_state_1`, `M_part_2` | an instant of a state, the rest of several |

mod code;
mod code_act;
mod code_entries;
mod code_evaluate;
mod entries;
mod known;
mod memory;
mod outside;
mod parts;
mod state;

use crate::ir::{self, FunctionId, Region};
use crate::tree::automaton::Automaton;
use crate::types::esterel::{Data, Module};
use crate::types::process::{Role, SignalId};
use code::Code;
use known::Known;
use memory::{Memory, Record};
use outside::Outside;
use std::collections::BTreeMap;

/// A module of the IR, and what its C has beside it.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The module.
    pub module: ir::Module,
    /// The possible failures; a field holds the number of the one that happened, from 1 on.
    pub reasons: Vec<String>,
    /// The field of that number; none if nothing may go wrong.
    pub reason: Option<Region>,
    /// By function: what a reader should know of it.
    pub comments: BTreeMap<String, String>,
    /// By sensor whose value is kept: the bit that says so. Who simulates, and has no value for the
    /// sensor yet, takes it back.
    pub kept: BTreeMap<SignalId, Region>,
}

/// A module that is being lowered.
struct Lower<'a> {
    source: &'a Module,
    automaton: &'a Automaton,
    known: Known,
    module: ir::Module,
    memory: Memory,
    outside: Outside,
    reasons: Vec<String>,
    comments: BTreeMap<String, String>,
    /// The functions that read sensors, as far as they are called.
    senses: BTreeMap<SignalId, FunctionId>,
}

/// Lowers a module with its automaton; the result passes the verifier.
pub fn lower(source: &Module, automaton: &Automaton) -> Lowered {
    let mut module = ir::Module {
        name: source.name.clone(),
        ..ir::Module::default()
    };
    let mut lower = Lower {
        source,
        automaton,
        known: Known::new(source, automaton),
        memory: Memory::new(source),
        outside: Outside::new(source, &mut module),
        module,
        reasons: Vec::new(),
        comments: BTreeMap::new(),
        senses: BTreeMap::new(),
    };
    let begin = lower.begins().then(|| lower.begin());
    let states = lower.states();
    lower.exports(begin, &states);
    lower.start();
    let sensors = source.processes.signals();
    let sensors = sensors.filter(|one| lower.is_sensor(*one));
    let kept = sensors.filter_map(|signal| {
        let flag = lower.memory.known(Record::KnownBefore, signal.0)?;
        Some((signal, flag))
    });
    let kept: BTreeMap<SignalId, Region> = kept.collect();
    let fails = !lower.reasons.is_empty();
    let reason = fails.then(|| lower.memory.reason(&mut lower.module));
    let watched = kept.values().copied().chain(reason);
    lower.module.watched = watched.map(Code::place).collect();
    Lowered {
        reason,
        kept,
        module: lower.module,
        reasons: lower.reasons,
        comments: lower.comments,
    }
}

impl Lower<'_> {
    /// A name of the IR.
    fn named(&self, name: &str) -> String {
        format!("{}_{name}", self.source.name)
    }

    /// Signals have values at the beginning.
    fn begins(&self) -> bool {
        let begin = self.source.begin.map(|data| &self.source.data[data.at()]);
        let Some(Data::Begin(all)) = begin else {
            return false;
        };
        all.iter().any(|(_, value)| value.is_some())
    }

    /// The value of the instant before is kept.
    fn has_before(&self, signal: SignalId) -> bool {
        let kept = self.source.processes.signal(signal).previous_value;
        kept && self.source.channels[signal.at()].is_some()
    }

    fn is_sensor(&self, signal: SignalId) -> bool {
        self.source.processes.signal(signal).role == Role::Sensor
    }

    /// The number of a reason, from 1 on.
    fn reason(&mut self, says: String) -> u64 {
        let known = self.reasons.iter().position(|one| *one == says);
        let at = known.unwrap_or_else(|| {
            self.reasons.push(says);
            self.reasons.len() - 1
        });
        at as u64 + 1
    }
}
