//! What can still happen in an instant: which signals can be emitted, and how it can complete.
//!
//! In: what is left to do, and what is known of the signals. Out: [`Possible`]. Whatever waits can
//! go on either way. What nothing can emit any more is absent (Berry's Can, for what must not run
//! yet).

use super::status::{Answer, Signals, Statuses, asked_now};
use super::step::{cases, no_signals};
use super::term::{Freeze, Term, TermId, Terms, Watch, When};
use crate::types::process::{Case, DataId, Presence, Processes, SignalId, Statement, StatementId};
use std::collections::BTreeSet;

/// What can still happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Possible {
    /// Signals that can be emitted.
    pub emits: Signals,
    /// Signals that are asked and not known.
    pub asks: Signals,
    /// Whether it can end.
    pub done: bool,
    /// Whether it can rest.
    pub paused: bool,
    /// Levels of the traps that it can exit.
    pub exits: BTreeSet<u32>,
}

/// Cases that can end an abort in this instant.
struct Coming<'p> {
    cases: Vec<&'p Case>,
    /// Signals that are asked and not known.
    asks: Signals,
    /// Whether it may be that nothing ends it.
    goes_on: bool,
}

impl<'p> Coming<'p> {
    fn consider(&mut self, processes: &Processes, statuses: &Statuses, case: &'p Case) {
        if !self.goes_on {
            return;
        }
        match statuses.answer(processes, &case.delay.test) {
            Answer::Known(false) => {}
            Answer::Known(true) => {
                self.cases.push(case);
                self.goes_on = case.delay.count.is_some();
            }
            Answer::Ask(_) | Answer::Waits => {
                self.cases.push(case);
                unknown(&case.delay.test, statuses, &mut self.asks);
            }
        }
    }
}

/// Finds what can happen.
#[derive(Debug)]
pub struct Can<'a, 'p> {
    /// The statements.
    pub processes: &'p Processes,
    /// All terms.
    pub terms: &'a mut Terms<'p>,
}

impl Possible {
    /// Nothing is left: it has ended.
    fn done(processes: &Processes) -> Possible {
        Possible {
            emits: no_signals(processes),
            asks: no_signals(processes),
            done: true,
            paused: false,
            exits: BTreeSet::new(),
        }
    }

    /// Nothing is left: it rests.
    fn paused(processes: &Processes) -> Possible {
        Possible {
            done: false,
            paused: true,
            ..Possible::done(processes)
        }
    }

    /// Signals of both; how it completes is the first one's.
    fn signals_too(&mut self, other: &Possible) {
        self.emits.union_with(&other.emits);
        self.asks.union_with(&other.asks);
    }

    /// One or the other.
    fn or(mut self, other: &Possible) -> Possible {
        self.signals_too(other);
        self.done |= other.done;
        self.paused |= other.paused;
        self.exits.extend(&other.exits);
        self
    }

    /// The first, and the other where it can end.
    fn then(mut self, other: &Possible) -> Possible {
        self.done = false;
        self.or(other)
    }

    /// Both in lock-step: the greater completion of each pair.
    fn and(mut self, other: &Possible) -> Possible {
        let completes = |one: &Possible| one.done || one.paused || !one.exits.is_empty();
        self.signals_too(other);
        if !completes(&self) || !completes(other) {
            (self.done, self.paused) = (false, false);
            self.exits.clear();
            return self;
        }
        let (done, paused) = (self.done, self.paused);
        // An exit wins unless the other one exits a trap further out.
        let exits = |one: &BTreeSet<u32>, other: &Possible| {
            let inner = other.done || other.paused;
            let least = other.exits.last().copied();
            let wins = |level: &&u32| inner || least.is_some_and(|least| **level <= least);
            one.iter().filter(wins).copied().collect::<Vec<u32>>()
        };
        let all = [exits(&self.exits, other), exits(&other.exits, &self)].concat();
        self.paused = (paused && (other.done || other.paused)) || (done && other.paused);
        self.done = done && other.done;
        self.exits = all.into_iter().collect();
        self
    }

    /// Signals of a scope are not seen outside of it.
    fn without(&mut self, signals: impl IntoIterator<Item = SignalId>) {
        for signal in signals {
            self.emits.set(signal.at(), false);
            self.asks.set(signal.at(), false);
        }
    }
}

impl<'p> Can<'_, 'p> {
    /// What is left of a term.
    pub fn of(&mut self, id: TermId, statuses: &Statuses) -> Possible {
        let processes = self.processes;
        if !self.terms.works() {
            return Possible::done(processes);
        }
        match self.terms.term(id).clone() {
            Term::Done => Possible::done(processes),
            Term::Exit(level) => Possible {
                done: false,
                exits: BTreeSet::from([level]),
                ..Possible::done(processes)
            },
            Term::Paused | Term::Suspend(_, Freeze::Frozen, _) => Possible::paused(processes),
            Term::Start(statement) => self.started(statement, statuses),
            Term::Sequence(statement, next, inner) => {
                let first = self.of(inner, statuses);
                self.rest(first, statement, next, statuses)
            }
            Term::Parallel(branches) => {
                let branches = branches.iter().map(|one| self.of(*one, statuses));
                both(processes, branches.collect())
            }
            Term::Loop(statement, begun, inner) => {
                let possible = self.of(inner, statuses);
                let Statement::Loop(body) = processes.statement(statement) else {
                    unreachable!("only a loop turns");
                };
                let ends = possible.done && !begun;
                let nothing = Possible {
                    done: false,
                    ..Possible::done(processes)
                };
                let again = match ends {
                    true => self.started(*body, statuses),
                    false => nothing.clone(),
                };
                possible.then(&again).then(&nothing)
            }
            Term::Trap(statement, inner) => {
                let body = self.of(inner, statuses);
                self.caught(statement, body, statuses)
            }
            Term::Suspend(_, Freeze::Runs, inner) | Term::Local(_, inner) => {
                self.of(inner, statuses)
            }
            Term::Suspend(statement, Freeze::Asked, inner) => {
                let Statement::Suspend { test, .. } = processes.statement(statement) else {
                    unreachable!("only what can be suspended is");
                };
                let resumed = self.terms.resumed(inner);
                let runs = self.of(resumed, statuses);
                self.frozen_or(test, runs, statuses)
            }
            Term::Abort(statement, watch, inner) => self.abort(statement, watch, inner, statuses),
        }
    }

    /// What follows in a sequence, from a place on.
    fn rest(
        &mut self,
        mut first: Possible,
        statement: StatementId,
        next: u32,
        statuses: &Statuses,
    ) -> Possible {
        let Statement::Sequence(all) = self.processes.statement(statement) else {
            unreachable!("only a sequence goes on");
        };
        for one in &all[next as usize..] {
            if !first.done {
                break;
            }
            let one = self.started(*one, statuses);
            first = first.then(&one);
        }
        first
    }

    /// What can happen once something has begun.
    fn started(&mut self, id: StatementId, statuses: &Statuses) -> Possible {
        let processes = self.processes;
        let done = Possible::done(processes);
        if !self.terms.works() {
            return done;
        }
        match processes.statement(id) {
            Statement::Nothing => done,
            Statement::Do(data) => self.computed(Some(*data)),
            Statement::Pause => Possible::paused(processes),
            Statement::Emit(signal, value) => {
                let mut possible = self.computed(*value);
                possible.emits.insert(signal.at());
                possible
            }
            Statement::Exit { level, way, value } => {
                let mut possible = self.computed(*value);
                possible.emits.insert(way.at());
                possible.done = false;
                possible.exits.insert(*level);
                possible
            }
            Statement::Present {
                test,
                then,
                otherwise,
            } => self.present(test, *then, *otherwise, statuses),
            Statement::If {
                condition,
                then,
                otherwise,
            } => {
                let otherwise = self.started(*otherwise, statuses);
                let branches = self.started(*then, statuses).or(&otherwise);
                self.computed(Some(*condition)).then(&branches)
            }
            Statement::Sequence(_) => self.rest(done, id, 0, statuses),
            Statement::Parallel(branches) => {
                let branches = branches.iter().map(|one| self.started(*one, statuses));
                both(processes, branches.collect())
            }
            Statement::Loop(body) => {
                let mut possible = self.started(*body, statuses);
                possible.done = false;
                possible
            }
            Statement::Trap { handlers, body, .. } => {
                let body = self.started(*body, statuses);
                let mut possible = self.caught(id, body, statuses);
                possible.without(handlers.iter().map(|(way, _)| *way));
                possible
            }
            Statement::Suspend {
                test,
                immediate,
                body,
            } => {
                let body = self.started(*body, statuses);
                match immediate {
                    true => self.frozen_or(test, body, statuses),
                    false => body,
                }
            }
            Statement::Abort { body, .. } => {
                let inner = self.started(*body, statuses);
                self.watched(id, Watch::First(0), inner, statuses)
            }
            Statement::Local { signals, body, .. } => self.local(signals, *body, statuses),
        }
    }

    /// Something is computed: fields may be written.
    fn computed(&self, data: Option<DataId>) -> Possible {
        let mut possible = Possible::done(self.processes);
        if let Some(data) = data {
            let writes = self.processes.data[data.at()].writes.iter();
            possible.emits.extend(writes.map(|field| field.at()));
        }
        possible
    }

    /// One or the other, by the status of signals.
    fn present(
        &mut self,
        test: &Presence,
        then: StatementId,
        otherwise: StatementId,
        statuses: &Statuses,
    ) -> Possible {
        match statuses.answer(self.processes, test) {
            Answer::Known(true) => self.started(then, statuses),
            Answer::Known(false) => self.started(otherwise, statuses),
            Answer::Ask(_) | Answer::Waits => {
                let otherwise = self.started(otherwise, statuses);
                let mut possible = self.started(then, statuses).or(&otherwise);
                self.asked(test, statuses, &mut possible);
                possible
            }
        }
    }

    /// What can be suspended, where it is asked.
    fn frozen_or(&self, test: &Presence, runs: Possible, statuses: &Statuses) -> Possible {
        match statuses.answer(self.processes, test) {
            Answer::Known(true) => Possible::paused(self.processes),
            Answer::Known(false) => runs,
            Answer::Ask(_) | Answer::Waits => {
                let mut possible = runs.or(&Possible::paused(self.processes));
                self.asked(test, statuses, &mut possible);
                possible
            }
        }
    }

    /// Signals that come into being: those that nothing can emit are absent from the start.
    fn local(&mut self, signals: &[SignalId], body: StatementId, statuses: &Statuses) -> Possible {
        let mut inner = statuses.clone();
        for &signal in signals {
            inner.enter(signal);
        }
        let mut possible = self.started(body, &inner);
        loop {
            let absent = |signal: &&SignalId| {
                possible.asks.contains(signal.at()) && !possible.emits.contains(signal.at())
            };
            let absent: Vec<SignalId> = signals.iter().filter(absent).copied().collect();
            if absent.is_empty() {
                break;
            }
            for signal in absent {
                inner.of_mut(signal).now = Some(false);
            }
            possible = self.started(body, &inner);
        }
        possible.without(signals.iter().copied());
        possible
    }

    /// What can follow a trap's body.
    fn caught(&mut self, id: StatementId, body: Possible, statuses: &Statuses) -> Possible {
        let Statement::Trap {
            level, handlers, ..
        } = self.processes.statement(id)
        else {
            unreachable!("only a trap catches");
        };
        let mut possible = body;
        if !possible.exits.remove(level) {
            return possible;
        }
        let emits = possible.emits.clone();
        let exited =
            |way: &SignalId| emits.contains(way.at()) || statuses.of(*way).now == Some(true);
        for (way, handler) in handlers {
            match handler {
                Some(handler) if exited(way) => {
                    let handled = self.started(*handler, statuses);
                    possible = possible.or(&handled);
                }
                Some(_) => {}
                None => possible.done = true,
            }
        }
        possible
    }

    fn abort(
        &mut self,
        id: StatementId,
        watch: Watch,
        inner: TermId,
        statuses: &Statuses,
    ) -> Possible {
        let runs = match (self.terms.is_weak(id), watch) {
            (false, Watch::Asks(_) | Watch::Counts(_, When::Later)) => self.terms.resumed(inner),
            (true, _) | (false, _) => inner,
        };
        let runs = self.of(runs, statuses);
        self.watched(id, watch, runs, statuses)
    }

    /// What can happen to what is watched, and behind it.
    fn watched(
        &mut self,
        id: StatementId,
        watch: Watch,
        inner: Possible,
        statuses: &Statuses,
    ) -> Possible {
        let mut coming = Coming {
            cases: Vec::new(),
            asks: no_signals(self.processes),
            goes_on: true,
        };
        let all = cases(self.processes, id);
        match watch {
            Watch::Quiet => {}
            Watch::Elapsed(case) => {
                coming.goes_on = false;
                coming.cases.push(&all[case as usize]);
            }
            Watch::Begins(_) | Watch::First(_) => {
                let first = match watch {
                    Watch::First(first) => first as usize,
                    _ => 0,
                };
                let immediate = all[first..].iter().filter(|case| case.delay.immediate);
                immediate.for_each(|case| coming.consider(self.processes, statuses, case));
            }
            Watch::Asks(first) => {
                let others = all[first as usize..].iter();
                others.for_each(|case| coming.consider(self.processes, statuses, case));
            }
            Watch::Counts(first, when) => {
                let (counted, others) = all[first as usize..].split_at(1);
                coming.cases.extend(counted);
                let asked = |case: &&Case| when == When::Later || case.delay.immediate;
                let others = others.iter().filter(asked);
                others.for_each(|case| coming.consider(self.processes, statuses, case));
            }
        }
        self.ended_by(self.terms.is_weak(id), coming, inner, statuses)
    }

    /// What can happen where these cases can come.
    fn ended_by(
        &mut self,
        weak: bool,
        coming: Coming<'_>,
        inner: Possible,
        statuses: &Statuses,
    ) -> Possible {
        let nothing = Possible {
            done: false,
            ..Possible::done(self.processes)
        };
        let mut after = nothing.clone();
        for case in coming.cases {
            let mut then = self.started(case.then, statuses);
            for counts in case.delay.count.iter().flat_map(|c| [c.down, c.over]) {
                let writes = self.processes.data[counts.at()].writes.iter();
                then.emits.extend(writes.map(|field| field.at()));
            }
            after = after.or(&then);
        }
        let mut possible = match (weak, coming.goes_on) {
            (false, true) => inner.or(&after),
            (false, false) => after,
            (true, _) if !inner.paused && !inner.done => inner,
            (true, true) => inner.or(&after),
            (true, false) => {
                let mut inner = inner;
                (inner.done, inner.paused) = (false, false);
                inner.or(&after)
            }
        };
        possible.asks.union_with(&coming.asks);
        possible
    }

    /// Notes the signals that a test waits for.
    fn asked(&self, test: &Presence, statuses: &Statuses, possible: &mut Possible) {
        unknown(test, statuses, &mut possible.asks);
    }
}

/// The signals of a test that are not known.
fn unknown(test: &Presence, statuses: &Statuses, asks: &mut Signals) {
    for signal in asked_now(test) {
        if statuses.of(signal).now.is_none() {
            asks.insert(signal.at());
        }
    }
}

/// All in lock-step.
fn both(processes: &Processes, branches: Vec<Possible>) -> Possible {
    let done = Possible::done(processes);
    branches.iter().fold(done, Possible::and)
}
