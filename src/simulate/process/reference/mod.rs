//! The reference: what must and what can happen in an instant, by definition (Berry, The
//! Constructive Semantics of Pure Esterel, 7).
//!
//! The whole program is evaluated again and again from the beginning of the instant, until nothing
//! new is known: what must be run is run, and its actions are done, each once; of all else it is
//! said what it could emit and how it could complete. A signal that must be emitted is present, one
//! that cannot be is absent.
//!
//! A statement may begin several times in an instant, in a loop. What is known of one time is kept
//! by its [`Place`]: the way from the root, on which each loop has the number of its turn.

mod abort;
mod outcome;
mod signals;
mod statement;

use super::{Computes, Fault, Present};
use crate::types::process::{DataId, Processes, SignalId, StatementId};
use outcome::{Code, Outcome};
use std::collections::{BTreeMap, BTreeSet};

/// Where a statement stands in an instant: the way from the root.
type Place = Vec<u32>;

/// Processes that run.
#[derive(Clone, Debug)]
pub struct Reference<'p> {
    processes: &'p Processes,
    /// Where they rest: pauses, and what is suspended before it has begun.
    resting: BTreeSet<StatementId>,
    /// Signals that were present in the instant before, as long as their scope is there.
    before: BTreeSet<SignalId>,
    /// Whether the first instant is still to come.
    first: bool,
}

/// What is known of a signal that was declared at a place.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    now: Option<bool>,
    settled: bool,
    emitted: bool,
}

/// How something is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mode {
    /// Whether it must be run.
    must: bool,
    /// Whether it goes on from where it rests; otherwise it begins.
    resumes: bool,
}

impl Mode {
    fn begins(self) -> Mode {
        Mode {
            resumes: false,
            ..self
        }
    }

    fn perhaps(self) -> Mode {
        Mode {
            must: false,
            ..self
        }
    }
}

impl<'p> Reference<'p> {
    /// Before the first instant.
    pub fn new(processes: &'p Processes) -> Reference<'p> {
        Reference {
            processes,
            resting: BTreeSet::new(),
            before: BTreeSet::new(),
            first: true,
        }
    }

    /// Where it stands between two instants: whether it has begun, where it rests, and which
    /// signals were present.
    pub fn state(&self) -> (bool, &BTreeSet<StatementId>, &BTreeSet<SignalId>) {
        (!self.first, &self.resting, &self.before)
    }

    /// By statement, whether something rests in it; what it holds stands before it.
    fn active(&self) -> Vec<bool> {
        let mut active = Vec::with_capacity(self.processes.statements.len());
        for (at, placed) in self.processes.statements.iter().enumerate() {
            let rests = self.resting.contains(&StatementId(at as u32));
            let mut parts = placed.statement.parts().into_iter();
            active.push(rests || parts.any(|part| active[part.at()]));
        }
        active
    }

    /// One instant: what is given, and what is emitted.
    pub fn instant(
        &mut self,
        given: &Present,
        computes: &mut dyn Computes,
    ) -> Result<Present, Fault> {
        let root = self.processes.root;
        let over = !self.first && self.resting.is_empty();
        let active = self.active();
        let mut instant = Instant {
            reference: self,
            active,
            computes,
            known: BTreeMap::new(),
            scopes: BTreeMap::new(),
            acted: BTreeMap::new(),
            emitted: Present::new(),
            changed: true,
            phase: Phase::Acts,
            chosen: false,
            beside: Vec::new(),
        };
        instant.give(given);
        let mode = Mode {
            must: true,
            resumes: !instant.reference.first,
        };
        let mut outcome = Outcome {
            must: Some(Code::Done),
            ..Outcome::default()
        };
        if let Some(root) = root.filter(|_| !over) {
            outcome = instant.run(root, mode)?;
        }
        if outcome.must.is_none() {
            return Err(Fault::Stuck);
        }
        let emitted = std::mem::take(&mut instant.emitted);
        let before = instant.finish(&outcome);
        self.before = before;
        self.resting = outcome.rests;
        self.first = false;
        Ok(emitted)
    }
}

/// An instant.
struct Instant<'a, 'p> {
    reference: &'a Reference<'p>,
    computes: &'a mut dyn Computes,
    /// By statement, whether something rests in it.
    active: Vec<bool>,
    /// By signal, and the place of its declaration.
    known: BTreeMap<(SignalId, Place), Known>,
    /// Where the signals that can be seen are declared.
    scopes: BTreeMap<SignalId, Place>,
    /// What was done at a place, and what it answered.
    acted: BTreeMap<(Place, DataId), bool>,
    emitted: Present,
    /// Whether something new is known.
    changed: bool,
    /// What is to be found out or done now.
    phase: Phase,
    /// Whether one of two ways was chosen: that is looked at from the beginning.
    chosen: bool,
    /// The branches that run in parallel to what is evaluated: where, and how.
    beside: Vec<(Place, StatementId, Mode)>,
}

/// What is to be found out or done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Only what is known.
    Looks,
    /// What must be done is done.
    Acts,
    /// What cannot be emitted is absent.
    Settles,
}

impl<'p> Instant<'_, 'p> {
    /// What must be done is done, each branch as far as it goes, since what is done may be seen
    /// outside. What cannot be emitted is absent only when nothing else can be done.
    fn run(&mut self, root: StatementId, mode: Mode) -> Result<Outcome, Fault> {
        loop {
            self.phase = Phase::Acts;
            self.changed = true;
            while self.changed {
                self.changed = false;
                self.chosen = false;
                self.evaluate(root, mode, &mut Place::new())?;
            }
            self.phase = Phase::Settles;
            let outcome = self.evaluate(root, mode, &mut Place::new())?;
            let emits = outcome.emits.clone();
            self.settle(&self.interface(), &Place::new(), &emits);
            if !self.changed {
                return Ok(outcome);
            }
        }
    }
}

/// Ends the place of a declaration that began in this instant.
const BEGAN: u32 = u32::MAX;
