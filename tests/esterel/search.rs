//! Whether a program has an instant that settles nothing: all its states are tried, with all that
//! can be given, and data that may be anything.
//!
//! In: a program that was refused. Out: whether the reference comes to a fault.

use super::random;
use stackloom::simulate::process::reference::Reference;
use stackloom::simulate::process::{Computes, Fault, Present};
use stackloom::source::Sources;
use stackloom::syntax::esterel;
use stackloom::types;
use stackloom::types::process::{DataId, Processes, Relation, SignalId};
use std::collections::BTreeSet;

/// So many instants are tried.
const MOST: usize = 20_000;

/// Data that may be anything: each condition is answered both ways, one after the other.
struct Free {
    answers: Vec<bool>,
    asked: usize,
}

impl Computes for Free {
    fn act(&mut self, _: DataId) -> Result<(), Fault> {
        Ok(())
    }

    fn holds(&mut self, _: DataId) -> Result<bool, Fault> {
        self.asked += 1;
        if self.asked > self.answers.len() {
            self.answers.push(true);
        }
        Ok(self.answers[self.asked - 1])
    }

    fn emit(&mut self, _: SignalId, _: Option<DataId>, _: bool) -> Result<(), Fault> {
        Ok(())
    }

    fn keep(&mut self, _: SignalId) {}
}

impl Free {
    /// The next answers; false if all were given.
    fn next(&mut self) -> bool {
        self.asked = 0;
        while let Some(last) = self.answers.pop() {
            if last {
                self.answers.push(false);
                return true;
            }
        }
        false
    }
}

/// Whether the program of a seed comes to a fault; none if there is too much to try.
pub fn comes_to_a_fault(seed: u64) -> Option<bool> {
    let mut sources = Sources::new();
    let file = sources.add("random.strl", random::program(seed).text);
    let (tree, _) = esterel::parse(file, &sources);
    let (module, _) = types::esterel::check(&tree, None, sources.span(file));
    let processes = module.expect("it is refused later").processes;
    let given = all_given(&processes);
    let mut known = BTreeSet::new();
    let mut open = vec![Reference::new(&processes)];
    let mut tried = 0;
    while let Some(state) = open.pop() {
        for present in &given {
            let mut free = Free {
                answers: Vec::new(),
                asked: 0,
            };
            loop {
                tried += 1;
                if tried > MOST {
                    return None;
                }
                let mut next = state.clone();
                match next.instant(present, &mut free) {
                    Err(Fault::Stuck | Fault::Instantaneous) => return Some(true),
                    Err(_) => {}
                    Ok(_) => {
                        let (begun, rests, before) = next.state();
                        if known.insert((begun, rests.clone(), before.clone())) {
                            open.push(next);
                        }
                    }
                }
                if !free.next() {
                    break;
                }
            }
        }
    }
    Some(false)
}

/// All sets of inputs that the relations allow.
fn all_given(processes: &Processes) -> Vec<Present> {
    let inputs = processes.signals();
    let inputs: Vec<SignalId> = inputs
        .filter(|one| processes.signal(*one).role.is_given())
        .collect();
    let sets = (0..1_u32 << inputs.len()).map(|bits| {
        let chosen = inputs
            .iter()
            .enumerate()
            .filter(|(at, _)| bits >> at & 1 == 1);
        chosen.map(|(_, signal)| *signal).collect::<Present>()
    });
    let allowed = |given: &Present| {
        processes.relations.iter().all(|relation| match relation {
            Relation::Exclusive(all) => all.iter().filter(|one| given.contains(one)).count() < 2,
            Relation::Implies(one, other) => !given.contains(one) || given.contains(other),
        })
    };
    sets.filter(allowed).collect()
}
