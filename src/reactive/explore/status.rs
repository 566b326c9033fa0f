//! What is known of the signals in an instant.

use crate::types::process::{Presence, Processes, SignalId};
use std::hash::{Hash, Hasher};

/// A set of signals.
pub type Signals = fixedbitset::FixedBitSet;

/// What is known of all signals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statuses(Box<[Status]>);

impl Hash for Statuses {
    /// Eight signals at once: these are hashed more often than all else.
    fn hash<H: Hasher>(&self, state: &mut H) {
        for some in self.0.chunks(8) {
            let bits = some.iter().fold(0, |bits, one| bits << 8 | one.bits());
            state.write_u64(bits);
        }
    }
}

/// What is known of one signal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Whether it is present.
    pub now: Option<bool>,
    /// Whether it has been emitted.
    pub emitted: bool,
    /// Whether the environment gives it.
    pub given: Option<bool>,
    /// Whether all that is emitted in this instant has been.
    pub settled: bool,
    /// Whether it was present in the instant before.
    pub before: bool,
}

impl Status {
    /// All that is known, in a byte.
    fn bits(self) -> u64 {
        let known = |what: Option<bool>| what.map_or(0, |holds| 1 + u64::from(holds));
        let flags = [self.emitted, self.settled, self.before];
        let flags = flags
            .iter()
            .fold(0, |bits, one| bits << 1 | u64::from(*one));
        flags << 4 | known(self.now) << 2 | known(self.given)
    }
}

/// The answer to a question about signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Whether it holds.
    Known(bool),
    /// The environment must say first whether it gives this signal.
    Ask(SignalId),
    /// It waits for what may still be emitted.
    Waits,
}

impl Statuses {
    /// Nothing is known, and nothing was before.
    pub fn new(processes: &Processes) -> Statuses {
        let all = vec![Status::default(); processes.signals.len()];
        let mut statuses = Statuses(all.into());
        statuses.begin(processes);
        statuses
    }

    /// An instant begins: all that is known is what was before.
    pub fn begin(&mut self, processes: &Processes) {
        for (status, signal) in self.0.iter_mut().zip(&processes.signals) {
            *status = Status {
                before: status.before,
                settled: !signal.role.is_emitted(),
                ..Status::default()
            };
        }
    }

    /// What is known of a signal.
    pub fn of(&self, signal: SignalId) -> Status {
        self.0[signal.at()]
    }

    /// What is known of a signal, to be changed.
    pub fn of_mut(&mut self, signal: SignalId) -> &mut Status {
        &mut self.0[signal.at()]
    }

    /// A signal's scope is entered: nothing is known of it any more.
    pub fn enter(&mut self, signal: SignalId) {
        self.0[signal.at()] = Status::default();
    }

    /// The environment says whether it gives a signal.
    pub fn give(&mut self, processes: &Processes, signal: SignalId, given: bool) {
        let emitted = processes.signal(signal).role.is_emitted();
        let status = &mut self.0[signal.at()];
        status.given = Some(given);
        if given {
            status.now = Some(true);
        } else if !emitted {
            status.now = Some(false);
        }
    }

    /// Asks, as far as can be told.
    pub fn answer(&self, processes: &Processes, test: &Presence) -> Answer {
        if let Some(holds) = test.holds(&|signal| self.of(signal).now, &|signal| {
            self.of(signal).before
        }) {
            return Answer::Known(holds);
        }
        let unknown = |signal: &SignalId| {
            let status = self.of(*signal);
            let given = processes.signal(*signal).role.is_given();
            given && status.given.is_none() && status.now.is_none()
        };
        match asked_now(test).into_iter().find(unknown) {
            Some(signal) => Answer::Ask(signal),
            None => Answer::Waits,
        }
    }

    /// Forgets what does not matter.
    pub fn keep(&self, processes: &Processes, matters: &Signals) -> Statuses {
        let mut kept = self.clone();
        for (at, signal) in processes.signals.iter().enumerate() {
            if !matters.contains(at) && !signal.previous {
                kept.0[at] = Status::default();
            }
        }
        kept
    }
}

/// The signals whose status in this instant is asked.
pub fn asked_now(test: &Presence) -> Vec<SignalId> {
    match test {
        Presence::Always | Presence::Before(_) => Vec::new(),
        Presence::Now(signal) => vec![*signal],
        Presence::Not(inner) => asked_now(inner),
        Presence::And(one, other) | Presence::Or(one, other) => {
            [asked_now(one), asked_now(other)].concat()
        }
    }
}
