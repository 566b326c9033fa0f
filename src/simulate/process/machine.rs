//! A module of Esterel that runs: the text of an instant comes in, the line of what it emits goes
//! out.

use super::esterel::{Externs, Store, Value};
use super::instants::{self, Given};
use super::reference::Reference;
use super::trees::Trees;
use super::{Fault, Present};
use crate::tree::automaton::Automaton;
use crate::types::esterel::{Module, Type};
use crate::types::process::SignalId;

/// What does the instants of a module.
pub trait Runs {
    /// What is emitted, with its value; or what is wrong.
    fn instant(&mut self, given: &Given) -> Result<Vec<(SignalId, Option<Value>)>, String>;
}

/// A module that runs.
pub struct Machine<'m> {
    module: &'m Module,
    externs: &'m dyn Externs,
    runs: Box<dyn Runs + 'm>,
    instants: usize,
}

impl<'m> Machine<'m> {
    /// Runs the statements as they stand.
    pub fn of_statements(module: &'m Module, externs: &'m dyn Externs) -> Machine<'m> {
        let control = Control::Reference(Reference::new(&module.processes));
        Machine::interpreted(module, externs, control)
    }

    /// Runs an automaton.
    pub fn of_trees(
        module: &'m Module,
        automaton: &'m Automaton,
        externs: &'m dyn Externs,
    ) -> Machine<'m> {
        Machine::interpreted(module, externs, Control::Trees(Trees::new(automaton)))
    }

    /// Is run by something else.
    pub fn of(module: &'m Module, externs: &'m dyn Externs, runs: Box<dyn Runs + 'm>) -> Self {
        Machine {
            module,
            externs,
            runs,
            instants: 0,
        }
    }

    fn interpreted(
        module: &'m Module,
        externs: &'m dyn Externs,
        control: Control<'m>,
    ) -> Machine<'m> {
        let store = Store::new(module, externs);
        let interpreted = Interpreted {
            module,
            store,
            control,
        };
        Machine::of(module, externs, Box::new(interpreted))
    }

    /// One instant: what is given, without `;`, and what is emitted, in order of declaration; or
    /// what is wrong.
    pub fn instant(&mut self, text: &str) -> Result<String, String> {
        self.instants += 1;
        let given = instants::read(self.module, text, self.externs);
        let emitted = given.and_then(|given| self.runs.instant(&given));
        let count = self.instants;
        let emitted = emitted.map_err(|says| format!("instant {count}: {says}"))?;
        let words: Vec<String> = emitted.iter().map(|one| self.word(one)).collect();
        Ok(words.join(" "))
    }

    /// `O` or `P(4)`
    fn word(&self, (signal, value): &(SignalId, Option<Value>)) -> String {
        let name = &self.module.processes.signal(*signal).name;
        let kind = self.module.channels[signal.at()].as_ref();
        match (value, kind.map(|channel| channel.kind)) {
            (Some(value), Some(Type::User(kind))) => {
                format!("{name}({})", self.externs.text(kind, value))
            }
            (Some(value), _) => format!("{name}({value})"),
            (None, _) => name.clone(),
        }
    }
}

/// A module that an interpreter runs.
struct Interpreted<'m> {
    module: &'m Module,
    /// It may be that the first values cannot be computed.
    store: Result<Store<'m>, Fault>,
    control: Control<'m>,
}

/// What runs an instant.
enum Control<'m> {
    Reference(Reference<'m>),
    Trees(Trees<'m>),
}

impl Runs for Interpreted<'_> {
    fn instant(&mut self, given: &Given) -> Result<Vec<(SignalId, Option<Value>)>, String> {
        let processes = &self.module.processes;
        let says = |fault: &Fault| fault.says(processes);
        let store = self.store.as_mut().map_err(|fault| says(fault))?;
        let mut present = Present::new();
        for (signal, value) in &given.sensors {
            let set = store.give(*signal, value.clone(), false);
            set.map_err(|fault| says(&fault))?;
        }
        for (signal, value) in &given.present {
            let again = !present.insert(*signal);
            if let Some(value) = value {
                let set = store.give(*signal, value.clone(), again);
                set.map_err(|fault| says(&fault))?;
            }
        }
        let emitted = match &mut self.control {
            Control::Reference(reference) => reference.instant(&present, store),
            Control::Trees(trees) => trees.instant(&present, store),
        };
        let emitted = emitted.map_err(|fault| says(&fault))?;
        // An inputoutput that the environment gives is told as well, whoever emits it.
        let told = emitted.union(&present).copied();
        let told = told.filter(|signal| processes.signal(*signal).role.is_told());
        Ok(told
            .map(|signal| (signal, store.value(signal).cloned()))
            .collect())
    }
}
