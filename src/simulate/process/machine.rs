//! A module of Esterel that runs: the text of an instant comes in, the line of what it emits goes
//! out.

use super::esterel::{Externs, Store, Value};
use super::instants;
use super::reference::Reference;
use super::trees::Trees;
use super::{Fault, Present};
use crate::tree::automaton::Automaton;
use crate::types::esterel::Module;
use crate::types::process::SignalId;

/// A module that runs.
pub struct Machine<'m> {
    module: &'m Module,
    store: Store<'m>,
    control: Control<'m>,
    instants: usize,
}

/// What runs an instant.
enum Control<'m> {
    Reference(Reference<'m>),
    Trees(Trees<'m>),
}

impl<'m> Machine<'m> {
    /// Runs the statements as they stand.
    pub fn of_statements(
        module: &'m Module,
        externs: &'m dyn Externs,
    ) -> Result<Machine<'m>, String> {
        let control = Control::Reference(Reference::new(&module.processes));
        Machine::new(module, externs, control)
    }

    /// Runs an automaton.
    pub fn of_trees(
        module: &'m Module,
        automaton: &'m Automaton,
        externs: &'m dyn Externs,
    ) -> Result<Machine<'m>, String> {
        Machine::new(module, externs, Control::Trees(Trees::new(automaton)))
    }

    fn new(
        module: &'m Module,
        externs: &'m dyn Externs,
        control: Control<'m>,
    ) -> Result<Machine<'m>, String> {
        let store = Store::new(module, externs).map_err(|fault| says(module, &fault, 0))?;
        Ok(Machine {
            module,
            store,
            control,
            instants: 0,
        })
    }

    /// One instant: what is given, without `;`, and what is emitted, in order of declaration; or
    /// what is wrong. `user` reads values of types that C knows.
    pub fn instant(
        &mut self,
        text: &str,
        user: &dyn Fn(u32, &str) -> Option<Value>,
    ) -> Result<String, String> {
        self.instants += 1;
        let count = self.instants;
        let given = instants::read(self.module, text, user);
        let given = given.map_err(|says| format!("instant {count}: {says}"))?;
        let mut present = Present::new();
        for (signal, value) in given.sensors {
            self.store.set(signal, value);
        }
        for (signal, value) in given.present {
            present.insert(signal);
            if let Some(value) = value {
                self.store.set(signal, value);
            }
        }
        let emitted = match &mut self.control {
            Control::Reference(reference) => reference.instant(&present, &mut self.store),
            Control::Trees(trees) => trees.instant(&present, &mut self.store),
        };
        let emitted = emitted.map_err(|fault| says(self.module, &fault, count))?;
        Ok(self.line(&emitted))
    }

    /// What is told, in order of declaration.
    fn line(&self, emitted: &Present) -> String {
        let processes = &self.module.processes;
        let told = |signal: &&SignalId| processes.signal(**signal).role.is_told();
        let words = emitted.iter().filter(told).map(|signal| {
            let name = &processes.signal(*signal).name;
            match self.store.value(*signal) {
                Some(value) => format!("{name}({value})"),
                None => name.clone(),
            }
        });
        words.collect::<Vec<_>>().join(" ")
    }
}

/// What is wrong in an instant, for people.
fn says(module: &Module, fault: &Fault, instant: usize) -> String {
    let name = |signal: &SignalId| &module.processes.signal(*signal).name;
    let says = match fault {
        Fault::Twice(signal) => format!("`{}` is emitted twice", name(signal)),
        Fault::Unset(signal) => format!("`{}` has no value yet, and it is read", name(signal)),
        Fault::DividedByZero(_) => "a number is divided by zero".to_string(),
        Fault::Stuck => "signals wait for each other".to_string(),
        Fault::Instantaneous => "a loop ends in the instant in which it begins".to_string(),
    };
    format!("instant {instant}: {says}")
}
