//! The contract with the host: in, a specification; out, the names of the functions that the host
//! defines, and what the header says of each.

use super::super::ENTRIES;
use super::values::written;
use crate::types::estelle::program::{BodyId, Program, Routine, RoutineId};
use std::collections::{BTreeMap, BTreeSet};

/// Functions that the host of any specification may have to define, by name: what each must do.
const OF_ALL: [(&str, &str); 1] = [(
    "choose",
    "Chooses one of `count` possibilities, counted from 0, for a module. By `source`: 0 the \
     transition that it offers, 1 the child of an activity that runs, 2 the order of the \
     transitions of a step, 3 the time between the bounds of a delay, 4 the element of `forone` \
     or the alternative of `initialize`. A greater number counts as the last.",
)];

/// Functions that the host defines for each external body: what each must do, before and behind the
/// name of the body.
const OF_BODIES: [(&str, [&str; 2]); 3] = [
    (
        "initialise",
        [
            "Initialises a module of ",
            ": returns 0, or minus the number of a fault.",
        ],
    ),
    (
        "select",
        [
            "Returns the transition that a module of ",
            " offers, by a number of the host, or -1.",
        ],
    ),
    (
        "fire",
        [
            "Lets a module of ",
            " fire a transition: returns 0, or minus the number of a fault.",
        ],
    ),
];

/// Names that C has for other functions of a specification.
const OTHERS: [&str; 2] = ["size", "set_user"];

/// The names of functions, and what the header says of them.
#[derive(Debug, Default)]
pub struct Contract {
    /// By primitive routine: its name behind that of the specification.
    primitives: BTreeMap<RoutineId, String>,
    /// By external body: its name, with which those of its functions begin.
    bodies: BTreeMap<BodyId, String>,
    /// By name behind that of the specification: a sentence or more.
    says: BTreeMap<String, String>,
}

impl Contract {
    /// The contract of a specification.
    pub fn of(program: &Program) -> Contract {
        let mut contract = Contract::default();
        let all = OF_ALL.iter();
        let all = all.map(|(name, says)| (name.to_string(), says.to_string()));
        contract.says.extend(all);
        let mut taken: BTreeSet<String> = contract.says.keys().cloned().collect();
        taken.extend(OTHERS.map(String::from));
        taken.extend(ENTRIES.iter().map(|entry| entry.name.to_string()));
        contract.primitives(program, &mut taken);
        contract.bodies(program);
        contract
    }

    /// The duty of a function, which the header states, by its name without the specification.
    pub fn says(&self, name: &str) -> Option<&str> {
        self.says.get(name).map(String::as_str)
    }

    /// The name of a primitive routine.
    pub(super) fn primitive(&self, id: RoutineId) -> &str {
        &self.primitives[&id]
    }

    /// The name of an external body.
    pub(super) fn body(&self, id: BodyId) -> &str {
        &self.bodies[&id]
    }

    /// Names external bodies, and says what their functions must do.
    fn bodies(&mut self, program: &Program) {
        let mut taken = BTreeSet::new();
        for (at, body) in program.bodies.iter().enumerate() {
            if !body.is_external {
                continue;
            }
            let mut name = body.name.to_lowercase();
            while !taken.insert(name.clone()) {
                name.push('_');
            }
            for (does, [before, behind]) in OF_BODIES {
                let says = format!("{before}{}{behind}", body.name);
                self.says.insert(format!("{name}_{does}"), says);
            }
            self.bodies.insert(BodyId(at as u32), name);
        }
    }

    /// Names primitive routines: with the name of their body where two have one name.
    fn primitives(&mut self, program: &Program, taken: &mut BTreeSet<String>) {
        let all = program.routines.iter().enumerate();
        let all: Vec<(usize, &Routine)> = all
            .filter(|(_, routine)| routine.statements.is_none())
            .collect();
        for (at, routine) in &all {
            let own = routine.name.to_lowercase();
            let same = |(_, other): &&(usize, &Routine)| other.name.to_lowercase() == own;
            let is_alone = all.iter().filter(same).count() == 1;
            let body = &program.bodies[routine.body.index()].name;
            let mut name = match is_alone && !taken.contains(&own) {
                true => own.clone(),
                false => format!("{}_{own}", body.to_lowercase()),
            };
            while !taken.insert(name.clone()) {
                name.push('_');
            }
            self.says.insert(name.clone(), head(program, routine));
            self.primitives.insert(RoutineId(*at as u32), name);
        }
    }
}

/// The head of a routine, as the source declares it.
fn head(program: &Program, routine: &Routine) -> String {
    let frame = &program.frames[routine.frame.index()];
    let parameters = frame[..routine.parameters].iter().map(|one| {
        let reference = if one.is_reference { "var " } else { "" };
        format!("{reference}{}: {}", one.name, written(program, one.kind))
    });
    let parameters: Vec<String> = parameters.collect();
    let parameters = match parameters.is_empty() {
        true => String::new(),
        false => format!("({})", parameters.join("; ")),
    };
    match routine.result {
        None => format!("procedure {}{parameters}", routine.name),
        Some(of) => {
            let result = written(program, of);
            format!("function {}{parameters}: {result}", routine.name)
        }
    }
}
