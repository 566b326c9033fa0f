//! What a statement must and can do.

use super::outcome::{Code, Kept, Outcome};
use super::{BEGAN, Instant, Mode, Phase, Place};
use crate::simulate::process::Fault;
use crate::types::process::{Case, DataId, Presence, SignalId, Statement, StatementId};
use std::collections::BTreeSet;

impl<'p> Instant<'_, 'p> {
    /// Whether something rests in a statement.
    pub(super) fn is_active(&self, id: StatementId) -> bool {
        self.active[id.at()]
    }

    /// A statement, where it begins or goes on.
    pub(super) fn evaluate(
        &mut self,
        id: StatementId,
        mode: Mode,
        place: &mut Place,
    ) -> Result<Outcome, Fault> {
        place.push(id.0);
        let outcome = self.statement(id, mode, place);
        place.pop();
        outcome
    }

    fn statement(
        &mut self,
        id: StatementId,
        mode: Mode,
        place: &mut Place,
    ) -> Result<Outcome, Fault> {
        let processes = self.reference.processes;
        match processes.statement(id) {
            Statement::Nothing => Ok(Outcome::completes(Code::Done, mode)),
            Statement::Pause => Ok(Outcome::pause(id, mode)),
            Statement::Emit(signal, value) => {
                self.emission(*signal, *value, Code::Done, mode, place)
            }
            Statement::Exit { level, way, value } => {
                self.emission(*way, *value, Code::Exits(*level), mode, place)
            }
            Statement::Do(data) => self.step(*data, mode, place),
            Statement::Present {
                test,
                then,
                otherwise,
            } => {
                let holds = match mode.resumes {
                    true => Some(self.is_active(*then)),
                    false => self.holds(test),
                };
                self.choice(holds, *then, *otherwise, mode, place)
            }
            Statement::If {
                condition,
                then,
                otherwise,
            } => {
                let holds = match (mode.resumes, mode.must) {
                    (true, _) => Some(self.is_active(*then)),
                    (false, true) => self.ask(*condition, place)?,
                    (false, false) => None,
                };
                let mut outcome = self.choice(holds, *then, *otherwise, mode, place)?;
                if holds.is_none() {
                    outcome.emits.extend(self.could_write(*condition));
                }
                Ok(outcome)
            }
            Statement::Sequence(all) => self.sequence(all, mode, place),
            Statement::Parallel(branches) => self.parallel(branches, mode, place),
            Statement::Loop(body) => self.turns(*body, mode, place),
            Statement::Trap {
                level,
                handlers,
                body,
            } => self.trap(*level, handlers, *body, mode, place),
            Statement::Suspend {
                test,
                immediate,
                body,
            } => self.suspend(id, (test, *immediate), *body, mode, place),
            Statement::Abort { weak, cases, body } => {
                match mode.resumes && !self.is_active(*body) {
                    true => self.after_abort(cases, mode, place),
                    false => self.abort(*weak, cases, *body, mode, place),
                }
            }
            Statement::Local {
                signals,
                begin,
                body,
            } => self.local(signals, *begin, *body, mode, place),
        }
    }

    /// What came after an abort goes on.
    fn after_abort(
        &mut self,
        cases: &[Case],
        mode: Mode,
        place: &mut Place,
    ) -> Result<Outcome, Fault> {
        let mut then = cases.iter().map(|case| case.then);
        let then = then.find(|then| self.is_active(*then));
        self.evaluate(then.expect("what goes on rests somewhere"), mode, place)
    }

    fn step(&mut self, data: DataId, mode: Mode, place: &Place) -> Result<Outcome, Fault> {
        let done = mode.must && self.act(data, place)?;
        let mut outcome = Outcome::may_complete(Code::Done, done);
        if !done {
            outcome.emits.extend(self.could_write(data));
        }
        Ok(outcome)
    }

    fn emission(
        &mut self,
        signal: SignalId,
        value: Option<DataId>,
        code: Code,
        mode: Mode,
        place: &Place,
    ) -> Result<Outcome, Fault> {
        let done = mode.must && self.emit(signal, value, place)?;
        let mut outcome = Outcome::may_complete(code, done);
        if !done {
            outcome.emits.insert(signal);
        }
        Ok(outcome)
    }

    fn choice(
        &mut self,
        holds: Option<bool>,
        then: StatementId,
        otherwise: StatementId,
        mode: Mode,
        place: &mut Place,
    ) -> Result<Outcome, Fault> {
        match holds {
            Some(true) => self.evaluate(then, mode, place),
            Some(false) => self.evaluate(otherwise, mode, place),
            None => {
                let then = self.evaluate(then, mode.perhaps(), place)?;
                let otherwise = self.evaluate(otherwise, mode.perhaps(), place)?;
                Ok(then.or(otherwise))
            }
        }
    }

    fn parallel(
        &mut self,
        branches: &[StatementId],
        mode: Mode,
        place: &mut Place,
    ) -> Result<Outcome, Fault> {
        let done = Outcome::completes(Code::Done, Mode { must: true, ..mode });
        let active =
            |instant: &Self, branch: StatementId| !mode.resumes || instant.is_active(branch);
        loop {
            let mut whole = done.clone();
            let before = std::mem::take(&mut self.changed);
            for branch in branches {
                let one = match active(self, *branch) {
                    true => self.branch(*branch, branches, mode, place)?,
                    false => done.clone(),
                };
                whole = whole.and(one);
            }
            // Those further left may have waited for what was done further right.
            let again = self.phase == Phase::Acts && self.changed;
            self.changed |= before;
            if !again {
                return Ok(whole);
            }
        }
    }

    /// A branch, as far as it goes, beside the others.
    fn branch(
        &mut self,
        branch: StatementId,
        branches: &[StatementId],
        mode: Mode,
        place: &mut Place,
    ) -> Result<Outcome, Fault> {
        let others = branches.iter().filter(|other| **other != branch);
        let others = others.filter(|other| !mode.resumes || self.is_active(**other));
        let others: Vec<_> = others.map(|other| (place.clone(), *other, mode)).collect();
        let around = self.beside.len();
        self.beside.extend(others);
        let outcome = loop {
            let before = std::mem::take(&mut self.changed);
            let outcome = self.evaluate(branch, mode, place);
            let again = self.phase == Phase::Acts && self.changed;
            self.changed |= before;
            if !again || outcome.is_err() {
                break outcome;
            }
        };
        self.beside.truncate(around);
        outcome
    }

    fn sequence(
        &mut self,
        all: &[StatementId],
        mode: Mode,
        place: &mut Place,
    ) -> Result<Outcome, Fault> {
        let first = match mode.resumes {
            true => all.iter().position(|one| self.is_active(*one)),
            false => Some(0),
        };
        let first = first.expect("what goes on rests somewhere");
        let mut whole = Outcome::completes(Code::Done, Mode { must: true, ..mode });
        let mut mode = mode;
        for one in &all[first..] {
            if !whole.can.contains(&Code::Done) {
                break;
            }
            if whole.must.is_none() {
                mode = mode.perhaps();
            }
            let one = self.evaluate(*one, mode, place)?;
            whole = whole.then(one);
            mode = mode.begins();
        }
        Ok(whole)
    }

    fn turns(
        &mut self,
        body: StatementId,
        mode: Mode,
        place: &mut Place,
    ) -> Result<Outcome, Fault> {
        place.push(0);
        let first = self.evaluate(body, mode, place);
        place.pop();
        let first = first?;
        if !first.can.contains(&Code::Done) {
            return Ok(first);
        }
        if !mode.resumes {
            if first.must == Some(Code::Done) {
                return Err(Fault::Instantaneous);
            }
            return Ok(first.without_end());
        }
        let again = Mode {
            must: mode.must && first.must.is_some(),
            resumes: false,
        };
        place.push(1);
        let second = self.evaluate(body, again, place);
        place.pop();
        let second = second?;
        if second.must == Some(Code::Done) {
            return Err(Fault::Instantaneous);
        }
        Ok(first.then(second.without_end()))
    }

    fn trap(
        &mut self,
        level: u32,
        handlers: &[(SignalId, Option<StatementId>)],
        body: StatementId,
        mode: Mode,
        place: &mut Place,
    ) -> Result<Outcome, Fault> {
        let ways: Vec<SignalId> = handlers.iter().map(|(way, _)| *way).collect();
        let outer = self.scopes.clone();
        self.scopes
            .extend(ways.iter().map(|way| (*way, place.clone())));
        let outcome = self.exits(level, handlers, body, mode, place);
        self.scopes = outer;
        let mut outcome = outcome?;
        outcome.emits.retain(|signal| !ways.contains(signal));
        Ok(outcome)
    }

    /// A trap's body, and what follows it.
    fn exits(
        &mut self,
        level: u32,
        handlers: &[(SignalId, Option<StatementId>)],
        body: StatementId,
        mode: Mode,
        place: &mut Place,
    ) -> Result<Outcome, Fault> {
        let exits = Code::Exits(level);
        let ways: Vec<SignalId> = handlers.iter().map(|(way, _)| *way).collect();
        if mode.resumes && !self.is_active(body) {
            // Its handlers go on; who exited is known.
            self.absent(&ways, place, &BTreeSet::new());
            let mut whole = Outcome::completes(Code::Done, Mode { must: true, ..mode });
            let all = handlers.iter().filter_map(|(_, handler)| *handler);
            let active: Vec<StatementId> = all.filter(|one| self.is_active(*one)).collect();
            for handler in active {
                let one = self.evaluate(handler, mode, place)?;
                whole = whole.and(one);
            }
            return Ok(whole);
        }
        let mut inner = self.evaluate(body, mode, place)?;
        let emits = inner.emits.clone();
        self.absent(&ways, place, &emits);
        if !inner.can.remove(&exits) {
            return Ok(inner);
        }
        let must = inner.must == Some(exits);
        let handled = Mode {
            must: mode.must && must,
            resumes: false,
        };
        let mut after: Option<Outcome> = None;
        for (way, handler) in handlers {
            if self.of(*way).now == Some(false) {
                continue;
            }
            let one = match handler {
                Some(handler) => self.evaluate(*handler, handled, place)?,
                None => Outcome::completes(Code::Done, handled),
            };
            after = Some(match after {
                None => one,
                Some(after) if must => after.and(one),
                Some(after) => after.or(one),
            });
        }
        let after = after.expect("an exit has its way");
        if must {
            return Ok(Outcome {
                emits: inner.emits.union(&after.emits).copied().collect(),
                ..after
            });
        }
        // What may just end is not followed by a handler.
        let mut whole = inner.or(after);
        whole.rests.clear();
        Ok(whole)
    }

    fn suspend(
        &mut self,
        id: StatementId,
        (test, immediate): (&Presence, bool),
        body: StatementId,
        mode: Mode,
        place: &mut Place,
    ) -> Result<Outcome, Fault> {
        let holds = match mode.resumes || immediate {
            true => self.holds(test),
            false => Some(false),
        };
        // It may have been frozen before it began.
        let begun = mode.resumes && !self.reference.resting.contains(&id);
        let inside = Mode {
            resumes: begun,
            ..mode
        };
        match holds {
            Some(true) => {
                let mut frozen = Outcome::completes(Code::Rests, mode);
                match begun {
                    true => self.freeze(body, &mut frozen),
                    false => {
                        frozen.rests.insert(id);
                    }
                }
                Ok(frozen)
            }
            Some(false) => self.evaluate(body, inside, place),
            None => {
                let runs = self.evaluate(body, inside.perhaps(), place)?;
                Ok(runs.or(Outcome::may_complete(Code::Rests, false)))
            }
        }
    }

    /// What rests stays, with its scopes.
    fn freeze(&self, id: StatementId, frozen: &mut Outcome) {
        if self.reference.resting.contains(&id) {
            frozen.rests.insert(id);
        }
        let statement = self.reference.processes.statement(id);
        if let Statement::Local { signals, .. } = statement
            && self.is_active(id)
        {
            frozen
                .scopes
                .extend(signals.iter().map(|signal| (*signal, Kept::Frozen)));
        }
        for part in statement.parts() {
            self.freeze(part, frozen);
        }
    }

    fn local(
        &mut self,
        signals: &[SignalId],
        begin: Option<DataId>,
        body: StatementId,
        mode: Mode,
        place: &mut Place,
    ) -> Result<Outcome, Fault> {
        let mut inside = mode;
        if let Some(begin) = begin.filter(|_| !mode.resumes)
            && !(mode.must && self.act(begin, place)?)
        {
            inside = mode.perhaps();
        }
        let mut declared = place.clone();
        if !mode.resumes {
            declared.push(BEGAN);
        }
        let outer = self.scopes.clone();
        self.scopes
            .extend(signals.iter().map(|signal| (*signal, declared.clone())));
        let outcome = self.settled_body(signals, &declared, body, inside, place);
        let present: Vec<bool> = signals
            .iter()
            .map(|one| self.of(*one).now == Some(true))
            .collect();
        self.scopes = outer;
        let mut outcome = outcome?;
        outcome.emits.retain(|signal| !signals.contains(signal));
        if outcome.must == Some(Code::Rests) {
            let kept = signals.iter().zip(present);
            outcome
                .scopes
                .extend(kept.map(|(signal, now)| (*signal, Kept::Ran(now))));
        }
        Ok(outcome)
    }

    /// A body, until nothing more is known of its own signals.
    fn settled_body(
        &mut self,
        signals: &[SignalId],
        declared: &Place,
        body: StatementId,
        mode: Mode,
        place: &mut Place,
    ) -> Result<Outcome, Fault> {
        loop {
            let unknown = self.unknown(signals);
            let outcome = self.evaluate(body, mode, place)?;
            let emits = outcome.emits.clone();
            self.settle(signals, declared, &emits);
            if self.phase == Phase::Settles || self.unknown(signals) == unknown {
                return Ok(outcome);
            }
        }
    }

    fn unknown(&self, signals: &[SignalId]) -> usize {
        let unknown = |signal: &&SignalId| self.of(**signal).now.is_none();
        signals.iter().filter(unknown).count()
    }
}
