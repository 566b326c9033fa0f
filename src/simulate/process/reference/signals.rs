//! What is known of the signals in an instant, and what is done there, each once.

use super::outcome::{Kept, Outcome};
use super::{BEGAN, Instant, Known, Phase, Place};
use crate::simulate::process::{Fault, Present};
use crate::types::process::{Carries, DataId, Presence, Role, SignalId, Statement, StatementId};
use std::collections::BTreeSet;

impl<'p> Instant<'_, 'p> {
    /// Signals of the interface.
    pub(super) fn interface(&self) -> Vec<SignalId> {
        let processes = self.reference.processes;
        let all = processes.signals().filter(|signal| {
            !matches!(
                processes.signal(*signal).role,
                Role::Local | Role::Exit | Role::Field | Role::Look
            )
        });
        all.collect()
    }

    pub(super) fn give(&mut self, given: &Present) {
        for signal in self.interface() {
            let role = self.reference.processes.signal(signal).role;
            let known = Known {
                now: match role {
                    Role::Input | Role::Sensor => Some(given.contains(&signal)),
                    Role::InputEmitted | Role::InputOutput => {
                        given.contains(&signal).then_some(true)
                    }
                    Role::Output | Role::Local | Role::Exit | Role::Field | Role::Look => None,
                },
                settled: !role.is_emitted(),
                emitted: false,
            };
            self.known.insert((signal, Place::new()), known);
            self.scopes.insert(signal, Place::new());
        }
    }

    /// What is absent, and which values do not change any more, since nothing can emit it.
    pub(super) fn settle(
        &mut self,
        signals: &[SignalId],
        place: &Place,
        emits: &BTreeSet<SignalId>,
    ) {
        if self.phase == Phase::Settles {
            self.absent(signals, place, emits);
        }
    }

    /// What is absent already.
    pub(super) fn absent(
        &mut self,
        signals: &[SignalId],
        place: &Place,
        emits: &BTreeSet<SignalId>,
    ) {
        for signal in signals.iter().filter(|signal| !emits.contains(signal)) {
            let known = self.known.entry((*signal, place.clone())).or_default();
            if known.now.is_none() || !known.settled {
                known.now = known.now.or(Some(false));
                known.settled = true;
                self.changed = true;
            }
        }
    }

    /// The instant is over: what will have been before.
    pub(super) fn finish(self, outcome: &Outcome) -> BTreeSet<SignalId> {
        let processes = self.reference.processes;
        let mut before = BTreeSet::new();
        for signal in self.interface() {
            if self.of(signal).now == Some(true) {
                before.insert(signal);
            }
            if processes.signal(signal).previous_value {
                self.computes.keep(signal);
            }
        }
        for (signal, kept) in &outcome.scopes {
            let was = match kept {
                Kept::Ran(present) => *present,
                Kept::Frozen => self.reference.before.contains(signal),
            };
            if was {
                before.insert(*signal);
            }
            if matches!(kept, Kept::Ran(_)) && processes.signal(*signal).previous_value {
                self.computes.keep(*signal);
            }
        }
        before
    }

    /// What is known of a signal that can be seen here.
    pub(super) fn of(&self, signal: SignalId) -> Known {
        let place = &self.scopes[&signal];
        let known = self.known.get(&(signal, place.clone()));
        known.copied().unwrap_or_default()
    }

    pub(super) fn asked(&self, test: &Presence, began: &BTreeSet<SignalId>) -> Option<bool> {
        let now = |signal| self.of(signal).now;
        let before = |signal| !began.contains(&signal) && self.reference.before.contains(&signal);
        test.holds(&now, &before)
    }

    pub(super) fn holds(&self, test: &Presence) -> Option<bool> {
        // A scope that began in this instant has no instant before.
        let mut began = self.scopes.iter();
        let began = began
            .by_ref()
            .filter(|(_, place)| place.last() == Some(&BEGAN));
        let began = began.map(|(signal, _)| *signal).collect();
        self.asked(test, &began)
    }

    /// Whether something may be done now that does not have to wait any more.
    pub(super) fn is_ready(&mut self, data: Option<DataId>) -> Result<bool, Fault> {
        let may_act = match self.phase {
            Phase::Acts => !self.chosen,
            Phase::Looks | Phase::Settles => false,
        };
        let Some(data) = data.filter(|_| may_act) else {
            return Ok(may_act);
        };
        let processes = self.reference.processes;
        let data = &processes.data[data.at()];
        let role = |signal: &SignalId| processes.signal(*signal).role;
        let is_owned = |signal: &&SignalId| matches!(role(signal), Role::Field | Role::Look);
        let mut values = data.reads.iter().filter(|signal| !is_owned(signal));
        if !values.all(|signal| self.of(*signal).settled) {
            return Ok(false);
        }
        let writes = data.writes.iter();
        let writes = writes.filter(|signal| role(signal) == Role::Field);
        let fields: BTreeSet<SignalId> = data
            .reads
            .iter()
            .filter(is_owned)
            .chain(writes)
            .copied()
            .collect();
        Ok(fields.is_empty() || !self.written_beside(&fields)?)
    }

    /// Whether a branch that runs in parallel to this one can still write one of these fields.
    fn written_beside(&mut self, fields: &BTreeSet<SignalId>) -> Result<bool, Fault> {
        let (phase, changed) = (self.phase, self.changed);
        let beside = std::mem::take(&mut self.beside);
        self.phase = Phase::Looks;
        let mut written = false;
        let may = beside
            .iter()
            .filter(|(_, branch, _)| self.ever_writes(*branch, fields));
        let may: Vec<_> = may.cloned().collect();
        for (place, branch, mode) in &may {
            let outcome = self.evaluate(*branch, *mode, &mut place.clone())?;
            written |= !outcome.emits.is_disjoint(fields);
        }
        (self.phase, self.changed, self.beside) = (phase, changed, beside);
        Ok(written)
    }

    /// Whether a statement writes one of these fields at any time.
    fn ever_writes(&self, id: StatementId, fields: &BTreeSet<SignalId>) -> bool {
        let processes = self.reference.processes;
        let data = match processes.statement(id) {
            Statement::Do(data)
            | Statement::If {
                condition: data, ..
            } => vec![*data],
            Statement::Abort { cases, .. } => {
                let counts = cases.iter().filter_map(|case| case.delay.count);
                let parts = counts.flat_map(|count| [count.begin, count.down, count.over]);
                parts.collect()
            }
            _that_computes_nothing => Vec::new(),
        };
        let writes = |data: DataId| {
            let mut writes = processes.data[data.at()].writes.iter();
            writes.any(|field| fields.contains(field))
        };
        let mut parts = processes.statement(id).parts().into_iter();
        data.into_iter().any(writes) || parts.any(|part| self.ever_writes(part, fields))
    }

    /// The fields that something could write, and whether it could look at the message.
    pub(super) fn could_write(&self, data: DataId) -> impl Iterator<Item = SignalId> + use<'p> {
        self.reference.processes.data[data.at()]
            .writes
            .iter()
            .copied()
    }

    /// Does something once at a place; false if it must wait.
    pub(super) fn act(&mut self, data: DataId, place: &Place) -> Result<bool, Fault> {
        if self.acted.contains_key(&(place.clone(), data)) {
            return Ok(true);
        }
        if !self.is_ready(Some(data))? {
            return Ok(false);
        }
        self.computes.act(data)?;
        self.acted.insert((place.clone(), data), true);
        self.changed = true;
        Ok(true)
    }

    /// Asks once at a place.
    pub(super) fn ask(&mut self, data: DataId, place: &Place) -> Result<Option<bool>, Fault> {
        if let Some(answer) = self.acted.get(&(place.clone(), data)) {
            return Ok(Some(*answer));
        }
        if !self.is_ready(Some(data))? {
            return Ok(None);
        }
        let answer = self.computes.holds(data)?;
        self.acted.insert((place.clone(), data), answer);
        self.changed = true;
        self.chosen = true;
        Ok(Some(answer))
    }

    /// Emits a signal once at a place; false if it must wait.
    pub(super) fn emit(
        &mut self,
        signal: SignalId,
        value: Option<DataId>,
        place: &Place,
    ) -> Result<bool, Fault> {
        let at = DataId(u32::MAX);
        if self.acted.contains_key(&(place.clone(), at)) {
            return Ok(true);
        }
        if !self.is_ready(value)? {
            return Ok(false);
        }
        let declared = self.reference.processes.signal(signal);
        let key = (signal, self.scopes[&signal].clone());
        let known = self.known.entry(key).or_default();
        let again = declared.value != Carries::Nothing && known.now == Some(true);
        if again && declared.value == Carries::One {
            return Err(Fault::Twice(signal));
        }
        let told =
            declared.value != Carries::Nothing || (declared.role.is_told() && !known.emitted);
        known.now = Some(true);
        known.emitted = true;
        self.acted.insert((place.clone(), at), true);
        self.changed = true;
        if told {
            self.computes.emit(signal, value, again)?;
            self.emitted.insert(signal);
        }
        Ok(true)
    }
}
