//! What is known of a statement at a place: how it completes the instant, and what it can emit.
use super::Mode;
use crate::types::process::{SignalId, StatementId};
use std::collections::{BTreeMap, BTreeSet};

/// How a statement completes an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Code {
    Done,
    Rests,
    Exits(u32),
}

/// What is known of a statement at a place.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    /// How it completes, if that is known.
    pub must: Option<Code>,
    /// How it could.
    pub can: BTreeSet<Code>,
    /// The signals that it could still emit.
    pub emits: BTreeSet<SignalId>,
    /// Where it would rest, if it must complete so.
    pub rests: BTreeSet<StatementId>,
    /// Signals whose scope goes on, and whether they will have been present.
    pub scopes: BTreeMap<SignalId, Kept>,
}

/// What becomes of a scope's signal.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kept {
    /// It ran, and was present or not.
    Ran(bool),
    /// It was frozen.
    Frozen,
}

impl Outcome {
    /// It completes so; it must if it is run.
    pub fn completes(code: Code, mode: Mode) -> Outcome {
        Outcome::may_complete(code, mode.must)
    }

    /// It completes so, if at all.
    pub fn may_complete(code: Code, must: bool) -> Outcome {
        Outcome {
            must: must.then_some(code),
            can: BTreeSet::from([code]),
            ..Outcome::default()
        }
    }

    /// It rests here; where it rested, it ends.
    pub fn pause(id: StatementId, mode: Mode) -> Outcome {
        if mode.resumes {
            return Outcome::completes(Code::Done, mode);
        }
        let mut outcome = Outcome::completes(Code::Rests, mode);
        outcome.rests.insert(id);
        outcome
    }

    /// One or the other.
    pub fn or(mut self, other: Outcome) -> Outcome {
        self.must = None;
        self.can.extend(other.can);
        self.emits.extend(other.emits);
        self
    }

    /// The other one behind this one, where this one ends.
    pub fn then(self, other: Outcome) -> Outcome {
        let mut can = self.can.clone();
        can.remove(&Code::Done);
        can.extend(other.can);
        let emits = self.emits.union(&other.emits).copied().collect();
        match self.must {
            Some(Code::Done) => Outcome {
                can,
                emits,
                ..other
            },
            Some(_) => self,
            None => Outcome {
                must: None,
                can,
                emits,
                ..Outcome::default()
            },
        }
    }

    /// Both in lock-step.
    pub fn and(self, other: Outcome) -> Outcome {
        let both = |one: Code, other: Code| match (one, other) {
            (Code::Exits(one), Code::Exits(other)) => Code::Exits(one.min(other)),
            (one, other) => one.max(other),
        };
        let must = self
            .must
            .zip(other.must)
            .map(|(one, other)| both(one, other));
        let others = &other.can;
        let pairs = self
            .can
            .iter()
            .flat_map(|one| others.iter().map(move |two| (*one, *two)));
        let mut whole = Outcome {
            must,
            can: pairs.map(|(one, other)| both(one, other)).collect(),
            emits: self.emits.union(&other.emits).copied().collect(),
            ..Outcome::default()
        };
        if must == Some(Code::Rests) {
            whole.rests = self.rests.union(&other.rests).copied().collect();
            whole.scopes = self.scopes.into_iter().chain(other.scopes).collect();
        }
        whole
    }

    /// It goes on for ever.
    pub fn without_end(mut self) -> Outcome {
        self.can.remove(&Code::Done);
        self
    }
}
