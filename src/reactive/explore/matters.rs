//! Which signals still matter in an instant: what is known of all others can be forgotten, so that
//! ways that differ in nothing else meet again.
//!
//! In: statements, and terms of what is left to do. Out: a set of signals, never too small.

use super::status::Signals;
use super::step::{cases, no_signals};
use super::term::{Freeze, Term, TermId, Terms, Watch, When};
use crate::types::process::{
    Carries, DataId, Presence, Processes, SignalId, Statement, StatementId,
};
use rustc_hash::FxHashMap;

/// What matters from the beginning of each statement and in each term to the end of the instant.
#[derive(Debug)]
pub struct Matters<'p> {
    processes: &'p Processes,
    /// By statement.
    begins: Vec<Begin>,
    terms: FxHashMap<TermId, Signals>,
}

/// What matters where a statement begins.
#[derive(Clone, Debug)]
struct Begin {
    signals: Signals,
    /// Whether what follows may come in the same instant.
    at_once: bool,
}

impl<'p> Matters<'p> {
    /// Looks at all statements.
    pub fn new(processes: &'p Processes) -> Matters<'p> {
        let mut matters = Matters {
            processes,
            begins: Vec::new(),
            terms: FxHashMap::default(),
        };
        for at in 0..processes.statements.len() as u32 {
            let begin = matters.begin(StatementId(at));
            matters.begins.push(begin);
        }
        matters
    }

    fn begin(&self, id: StatementId) -> Begin {
        let mut signals = no_signals(self.processes);
        let mut at_once = true;
        match self.processes.statement(id) {
            Statement::Nothing => {}
            Statement::Pause => at_once = false,
            Statement::Emit(signal, value) => self.emission(*signal, *value, &mut signals),
            Statement::Exit { way, value, .. } => {
                self.emission(*way, *value, &mut signals);
                at_once = false;
            }
            Statement::Do(data) => self.reads(*data, &mut signals),
            Statement::Present {
                test,
                then,
                otherwise,
            } => {
                asks(test, &mut signals);
                at_once = self.either(&[*then, *otherwise], &mut signals);
            }
            Statement::If {
                condition,
                then,
                otherwise,
            } => {
                self.reads(*condition, &mut signals);
                at_once = self.either(&[*then, *otherwise], &mut signals);
            }
            Statement::Sequence(all) => at_once = self.follows(all, &mut signals),
            Statement::Parallel(all) => {
                self.either(all, &mut signals);
                at_once = all.iter().all(|one| self.begins[one.0 as usize].at_once);
            }
            Statement::Loop(body) => {
                self.either(&[*body], &mut signals);
                at_once = false;
            }
            Statement::Trap { handlers, body, .. } => {
                self.either(&[*body], &mut signals);
                self.handlers(handlers, &mut signals);
            }
            Statement::Suspend {
                test,
                immediate,
                body,
            } => {
                if *immediate {
                    asks(test, &mut signals);
                }
                at_once = self.either(&[*body], &mut signals);
            }
            Statement::Abort { body, .. } => {
                self.either(&[*body], &mut signals);
                self.watched(id, true, &mut signals);
            }
            Statement::Local { begin, body, .. } => {
                if let Some(begin) = begin {
                    self.reads(*begin, &mut signals);
                }
                at_once = self.either(&[*body], &mut signals);
            }
        }
        Begin { signals, at_once }
    }

    /// What matters in a term.
    pub fn of(&mut self, terms: &Terms<'p>, id: TermId) -> Signals {
        if let Some(known) = self.terms.get(&id) {
            return known.clone();
        }
        let mut signals = no_signals(self.processes);
        match terms.term(id) {
            Term::Done | Term::Exit(_) | Term::Paused | Term::Suspend(_, Freeze::Frozen, _) => {}
            Term::Start(statement) => {
                self.either(&[*statement], &mut signals);
            }
            Term::Sequence(statement, next, inner) => {
                signals.union_with(&self.of(terms, *inner));
                if let Statement::Sequence(all) = self.processes.statement(*statement) {
                    self.follows(&all[*next as usize..], &mut signals);
                }
            }
            Term::Parallel(branches) => {
                for branch in branches {
                    signals.union_with(&self.of(terms, *branch));
                }
            }
            Term::Loop(statement, _, inner) => {
                signals.union_with(&self.of(terms, *inner));
                self.either(&[*statement], &mut signals);
            }
            Term::Trap(statement, inner) => {
                signals.union_with(&self.of(terms, *inner));
                if let Statement::Trap { handlers, .. } = self.processes.statement(*statement) {
                    self.handlers(handlers, &mut signals);
                }
            }
            Term::Local(_, inner) | Term::Suspend(_, Freeze::Runs, inner) => {
                signals.union_with(&self.of(terms, *inner));
            }
            Term::Suspend(statement, Freeze::Asked, inner) => {
                // What rests in it may go on: all that it can ever ask.
                self.all_of(terms, *inner, &mut signals);
                if let Statement::Suspend { test, .. } = self.processes.statement(*statement) {
                    asks(test, &mut signals);
                }
            }
            Term::Abort(statement, watch, inner) => {
                let rests = matches!(watch, Watch::Asks(_) | Watch::Counts(_, When::Later));
                match rests && !terms.is_weak(*statement) {
                    true => self.all_of(terms, *inner, &mut signals),
                    false => signals.union_with(&self.of(terms, *inner)),
                }
                self.watched(*statement, false, &mut signals);
            }
        }
        self.terms.insert(id, signals.clone());
        signals
    }

    /// Whatever may matter in what rests, once it goes on.
    fn all_of(&self, terms: &Terms<'p>, id: TermId, signals: &mut Signals) {
        let inside = |statement: StatementId, signals: &mut Signals| {
            self.everything(statement, signals);
        };
        match terms.term(id) {
            Term::Done | Term::Exit(_) | Term::Paused => {}
            Term::Start(statement) => inside(*statement, signals),
            Term::Sequence(statement, _, _)
            | Term::Loop(statement, _, _)
            | Term::Trap(statement, _)
            | Term::Suspend(statement, _, _)
            | Term::Abort(statement, _, _)
            | Term::Local(statement, _) => inside(*statement, signals),
            Term::Parallel(branches) => {
                for branch in branches {
                    self.all_of(terms, *branch, signals);
                }
            }
        }
    }

    /// All signals of which a statement speaks.
    fn everything(&self, id: StatementId, signals: &mut Signals) {
        signals.union_with(&self.begins[id.0 as usize].signals);
        for part in self.processes.statement(id).parts() {
            self.everything(part, signals);
        }
        if let Statement::Abort { .. } = self.processes.statement(id) {
            self.watched(id, false, signals);
        }
        if let Statement::Suspend { test, .. } = self.processes.statement(id) {
            asks(test, signals);
        }
    }

    fn emission(&self, signal: SignalId, value: Option<DataId>, signals: &mut Signals) {
        let declared = self.processes.signal(signal);
        if declared.value != Carries::Nothing || declared.role.is_told() {
            signals.insert(signal.at());
        }
        if let Some(value) = value {
            self.reads(value, signals);
        }
    }

    fn reads(&self, data: DataId, signals: &mut Signals) {
        for signal in &self.processes.data[data.at()].reads {
            signals.insert(signal.at());
        }
    }

    fn either(&self, all: &[StatementId], signals: &mut Signals) -> bool {
        for one in all {
            signals.union_with(&self.begins[one.0 as usize].signals);
        }
        all.iter().any(|one| self.begins[one.0 as usize].at_once)
    }

    fn follows(&self, all: &[StatementId], signals: &mut Signals) -> bool {
        for one in all {
            if !self.either(&[*one], signals) {
                return false;
            }
        }
        true
    }

    fn handlers(&self, all: &[(SignalId, Option<StatementId>)], signals: &mut Signals) {
        for (way, handler) in all {
            signals.insert(way.at());
            if let Some(handler) = handler {
                self.either(&[*handler], signals);
            }
        }
    }

    fn watched(&self, id: StatementId, begins: bool, signals: &mut Signals) {
        for case in cases(self.processes, id) {
            if let (true, Some(count)) = (begins, case.delay.count) {
                self.reads(count.begin, signals);
            }
            if !begins || case.delay.immediate {
                asks(&case.delay.test, signals);
            }
            if !begins || case.delay.immediate {
                self.either(&[case.then], signals);
            }
        }
    }
}

fn asks(test: &Presence, signals: &mut Signals) {
    for signal in test.signals() {
        signals.insert(signal.at());
    }
}
