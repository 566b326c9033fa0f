//! What must be done of a term: from the left to the right, as far as it goes.
//!
//! In: what is left to do, and what is known of the signals. Out: what is done, what is asked, and
//! what is then left. A step is taken only if it must be: what waits for a signal has none. Each
//! part goes as far as it can before what is around it is looked at again, so what is around a part
//! is made anew once, not once for each of its steps.

use super::can::Can;
use super::status::{Answer, Signals, Statuses};
use super::term::{Code, Freeze, Term, TermId, Terms, Watch, When};
use crate::tree::automaton::Act;
use crate::types::process::{
    Carries, Case, DataId, Delay, Presence, Processes, Role, SignalId, Statement, StatementId,
};

/// A step, and what is left then.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// Nothing that anybody sees.
    To(TermId),
    /// Something is done.
    Act(Act, TermId),
    /// The environment must say whether it gives a signal.
    Ask(SignalId),
    /// Not one step further.
    Stops(Stop),
}

/// Why something does not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Nothing more must be done, with what is known.
    Waits(TermId),
    /// The environment must say whether it gives a signal.
    Ask(SignalId, TermId),
    /// Two ways, by a condition.
    Choose(DataId, TermId, TermId),
    /// A signal that carries one value is emitted a second time.
    Twice(SignalId),
    /// A loop's body has ended in the instant in which it began.
    Instantaneous(StatementId),
}

impl Stop {
    /// The same of something around.
    fn within(self, mut around: impl FnMut(TermId) -> TermId) -> Stop {
        match self {
            Stop::Waits(term) => Stop::Waits(around(term)),
            Stop::Ask(signal, term) => Stop::Ask(signal, around(term)),
            Stop::Choose(data, then, otherwise) => {
                Stop::Choose(data, around(then), around(otherwise))
            }
            Stop::Twice(_) | Stop::Instantaneous(_) => self,
        }
    }
}

/// Takes steps.
#[derive(Debug)]
pub struct Stepping<'a, 'p> {
    /// The statements.
    pub processes: &'p Processes,
    /// All terms.
    pub terms: &'a mut Terms<'p>,
    /// What is known of the signals.
    pub statuses: &'a mut Statuses,
    /// What was done.
    pub acts: &'a mut Vec<Act>,
    /// The branches around that run in parallel, outermost first, and which of them steps.
    pub beside: Vec<(Vec<TermId>, usize)>,
    /// What branches that are explored apart from this one may still emit or write.
    pub beyond: &'a Signals,
    /// True if a step that writes a field waits for others that may write it.
    pub writers_wait: bool,
}

impl<'p> Stepping<'_, 'p> {
    /// Goes as far as it must.
    pub fn run(&mut self, mut id: TermId) -> Stop {
        loop {
            match self.step(id) {
                Some(Step::To(next)) => id = next,
                Some(Step::Act(act, next)) => {
                    self.acts.push(act);
                    id = next;
                }
                Some(Step::Ask(signal)) => return Stop::Ask(signal, id),
                Some(Step::Stops(stop)) => return stop,
                None => return Stop::Waits(id),
            }
        }
    }

    /// The next step, if one can be taken.
    fn step(&mut self, id: TermId) -> Option<Step> {
        if !self.terms.works() {
            return None;
        }
        match self.terms.term(id).clone() {
            Term::Done | Term::Exit(_) | Term::Paused => None,
            Term::Start(statement) => self.start(statement),
            Term::Sequence(statement, next, inner) => match self.ended(inner) {
                Some(Code::Done) => Some(Step::To(self.next(statement, next))),
                Some(_) => Some(Step::To(inner)),
                None => self.inside(inner, |inner| Term::Sequence(statement, next, inner)),
            },
            Term::Parallel(branches) => self.parallel(&branches),
            Term::Loop(statement, begun, inner) => match self.ended(inner) {
                Some(Code::Done) if begun => Some(Step::Stops(Stop::Instantaneous(statement))),
                Some(Code::Done) => Some(Step::To(self.turn(statement))),
                Some(_) => Some(Step::To(inner)),
                None => self.inside(inner, |inner| Term::Loop(statement, begun, inner)),
            },
            Term::Trap(statement, inner) => match self.ended(inner) {
                Some(Code::Exit(level)) => Some(Step::To(self.caught(statement, level, inner))),
                Some(_) => Some(Step::To(inner)),
                None => self.inside(inner, |inner| Term::Trap(statement, inner)),
            },
            Term::Suspend(statement, freeze, inner) => self.suspend(statement, freeze, inner),
            Term::Abort(statement, watch, inner) => match self.terms.is_weak(statement) {
                true => self.weak_abort(statement, watch, inner),
                false => self.strong_abort(statement, watch, inner),
            },
            Term::Local(statement, inner) => match self.ended(inner) {
                Some(_) => {
                    for &signal in own(self.processes, statement) {
                        self.statuses.enter(signal);
                    }
                    Some(Step::To(inner))
                }
                None => self.inside(inner, |inner| Term::Local(statement, inner)),
            },
        }
    }

    /// Whether something has ended, or exits.
    fn ended(&self, inner: TermId) -> Option<Code> {
        let code = self.terms.code(inner)?;
        (code != Code::Paused).then_some(code)
    }

    fn inside(&mut self, inner: TermId, around: impl Fn(TermId) -> Term) -> Option<Step> {
        match self.run(inner) {
            Stop::Waits(same) if same == inner => None,
            Stop::Waits(next) => Some(Step::To(self.terms.add(around(next)))),
            stop => Some(Step::Stops(
                stop.within(|inner| self.terms.add(around(inner))),
            )),
        }
    }

    /// What begins takes its first step.
    fn start(&mut self, id: StatementId) -> Option<Step> {
        let done = self.terms.add(Term::Done);
        match self.processes.statement(id) {
            Statement::Nothing => Some(Step::To(done)),
            Statement::Pause => Some(Step::To(self.terms.add(Term::Paused))),
            Statement::Emit(signal, value) => self.emit(*signal, *value, done),
            Statement::Exit { level, way, value } => {
                let exit = self.terms.add(Term::Exit(*level));
                self.emit(*way, *value, exit)
            }
            Statement::Do(data) => {
                let ready = self.is_ready(*data);
                ready.then_some(Step::Act(Act::Do(*data), done))
            }
            Statement::Present {
                test,
                then,
                otherwise,
            } => self.asked(test, |stepping, holds| {
                let chosen = if holds { *then } else { *otherwise };
                stepping.terms.start(chosen)
            }),
            Statement::If {
                condition,
                then,
                otherwise,
            } => {
                let (then, otherwise) = (self.terms.start(*then), self.terms.start(*otherwise));
                let ready = self.is_ready(*condition);
                let choice = Stop::Choose(*condition, then, otherwise);
                ready.then_some(Step::Stops(choice))
            }
            Statement::Sequence(_) => Some(Step::To(self.next(id, 0))),
            Statement::Parallel(branches) => {
                let started = branches.iter().map(|branch| self.terms.start(*branch));
                let started = started.collect();
                Some(Step::To(self.terms.add(Term::Parallel(started))))
            }
            Statement::Loop(_) => Some(Step::To(self.turn(id))),
            Statement::Trap { handlers, body, .. } => {
                for (way, _) in handlers {
                    self.statuses.enter(*way);
                }
                let body = self.terms.start(*body);
                Some(Step::To(self.terms.add(Term::Trap(id, body))))
            }
            Statement::Suspend {
                immediate, body, ..
            } => {
                let freeze = match immediate {
                    true => Freeze::Asked,
                    false => Freeze::Runs,
                };
                let body = self.terms.start(*body);
                Some(Step::To(self.terms.add(Term::Suspend(id, freeze, body))))
            }
            Statement::Abort { body, .. } => {
                let body = self.terms.start(*body);
                let begins = Term::Abort(id, Watch::Begins(0), body);
                Some(Step::To(self.terms.add(begins)))
            }
            Statement::Local { begin, body, .. } => self.enter(id, *begin, *body),
        }
    }

    /// Signals come into being.
    fn enter(&mut self, id: StatementId, begin: Option<DataId>, body: StatementId) -> Option<Step> {
        if begin.is_some_and(|begin| !self.is_ready(begin)) {
            return None;
        }
        for &signal in own(self.processes, id) {
            self.statuses.enter(signal);
        }
        let body = self.terms.start(body);
        let local = self.terms.add(Term::Local(id, body));
        Some(match begin {
            Some(begin) => Step::Act(Act::Do(begin), local),
            None => Step::To(local),
        })
    }

    /// A signal is emitted; then comes `next`.
    fn emit(&mut self, signal: SignalId, value: Option<DataId>, next: TermId) -> Option<Step> {
        if value.is_some_and(|value| !self.is_ready(value)) {
            return None;
        }
        let declared = self.processes.signal(signal);
        let carries = declared.value != Carries::Nothing;
        let status = self.statuses.of_mut(signal);
        if carries && declared.role.is_given() && status.given.is_none() {
            return Some(Step::Ask(signal));
        }
        assert!(
            status.now != Some(false),
            "what can be emitted is not taken to be absent"
        );
        let again = carries && status.now == Some(true);
        let told = declared.role.is_told() && !status.emitted;
        status.now = Some(true);
        status.emitted = true;
        let act = Act::Emit {
            signal,
            value,
            again,
        };
        Some(match declared.value {
            Carries::One if again => Step::Stops(Stop::Twice(signal)),
            Carries::One | Carries::Combined => Step::Act(act, next),
            Carries::Nothing if told => Step::Act(act, next),
            Carries::Nothing => Step::To(next),
        })
    }

    /// What comes in a sequence, from a place on.
    fn next(&mut self, id: StatementId, next: u32) -> TermId {
        let Statement::Sequence(all) = self.processes.statement(id) else {
            unreachable!("only a sequence goes on");
        };
        match all.get(next as usize..) {
            None | Some([]) => self.terms.add(Term::Done),
            Some([last]) => self.terms.start(*last),
            Some([one, ..]) => {
                let one = self.terms.start(*one);
                self.terms.add(Term::Sequence(id, next + 1, one))
            }
        }
    }

    fn parallel(&mut self, branches: &[TermId]) -> Option<Step> {
        let (before, level) = (branches, self.beside.len());
        self.beside.push((before.to_vec(), 0));
        let mut stopped = None;
        for (at, branch) in before.iter().enumerate() {
            self.beside[level].1 = at;
            match self.run(*branch) {
                Stop::Waits(branch) => self.beside[level].0[at] = branch,
                stop => {
                    stopped = Some((at, stop));
                    break;
                }
            }
        }
        let (mut branches, _) = self.beside.pop().expect("it was put there");
        if let Some((at, stop)) = stopped {
            return Some(Step::Stops(stop.within(|branch| {
                branches[at] = branch;
                self.terms.add(Term::Parallel(branches.clone()))
            })));
        }
        let goes_on = branches != before;
        if goes_on {
            // Those further left may have waited for what was done further right.
            return Some(Step::To(self.terms.add(Term::Parallel(branches))));
        }
        let codes: Option<Vec<Code>> = branches.iter().map(|one| self.terms.code(*one)).collect();
        let codes = codes?;
        let exits = codes.iter().filter(|code| matches!(code, Code::Exit(_)));
        let outermost = exits.min().copied();
        match outermost {
            Some(Code::Exit(level)) => Some(Step::To(self.terms.add(Term::Exit(level)))),
            _ if codes.iter().all(|code| *code == Code::Done) => {
                Some(Step::To(self.terms.add(Term::Done)))
            }
            _ => None,
        }
    }

    /// A loop's body begins.
    fn turn(&mut self, id: StatementId) -> TermId {
        let Statement::Loop(body) = self.processes.statement(id) else {
            unreachable!("only a loop turns");
        };
        let body = self.terms.start(*body);
        self.terms.add(Term::Loop(id, true, body))
    }

    /// An exit comes to a trap.
    fn caught(&mut self, id: StatementId, exit: u32, inner: TermId) -> TermId {
        let Statement::Trap {
            level, handlers, ..
        } = self.processes.statement(id)
        else {
            unreachable!("only a trap catches");
        };
        if exit != *level {
            return inner;
        }
        let exited = |way: &SignalId| self.statuses.of(*way).now == Some(true);
        let handlers = handlers.iter().filter(|(way, _)| exited(way));
        let handlers: Vec<StatementId> = handlers.filter_map(|(_, handler)| *handler).collect();
        let mut handlers = handlers.into_iter().map(|one| self.terms.start(one));
        match (handlers.next(), handlers.next()) {
            (None, _) => self.terms.add(Term::Done),
            (Some(one), None) => one,
            (Some(one), Some(other)) => {
                let all = [one, other].into_iter().chain(handlers).collect();
                self.terms.add(Term::Parallel(all))
            }
        }
    }

    fn suspend(&mut self, id: StatementId, freeze: Freeze, inner: TermId) -> Option<Step> {
        let Statement::Suspend { test, .. } = self.processes.statement(id) else {
            unreachable!("only what can be suspended is");
        };
        match freeze {
            Freeze::Frozen => None,
            Freeze::Asked => self.asked(test, |stepping, holds| {
                let suspended = match holds {
                    true => Term::Suspend(id, Freeze::Frozen, inner),
                    false => Term::Suspend(id, Freeze::Runs, stepping.terms.resumed(inner)),
                };
                stepping.terms.add(suspended)
            }),
            Freeze::Runs => match self.ended(inner) {
                Some(_) => Some(Step::To(inner)),
                None => self.inside(inner, |inner| Term::Suspend(id, freeze, inner)),
            },
        }
    }

    fn strong_abort(&mut self, id: StatementId, watch: Watch, inner: TermId) -> Option<Step> {
        match watch {
            Watch::Elapsed(case) => Some(Step::To(
                self.terms
                    .start(cases(self.processes, id)[case as usize].then),
            )),
            Watch::Quiet => match self.ended(inner) {
                Some(_) => Some(Step::To(inner)),
                None => self.inside(inner, |inner| Term::Abort(id, watch, inner)),
            },
            Watch::Begins(_) => {
                // Where no case is immediate, the body runs whatever the counts are.
                let all = cases(self.processes, id);
                let runs = !all.iter().any(|case| case.delay.immediate);
                self.begins(id, watch, inner, runs)
            }
            Watch::First(_) | Watch::Asks(_) | Watch::Counts(..) => self.watch(id, watch, inner),
        }
    }

    /// Sets the counts of an abort; one may wait for a value that a body that runs is to emit.
    fn begins(&mut self, id: StatementId, watch: Watch, inner: TermId, runs: bool) -> Option<Step> {
        let counts = self.watch(id, watch, inner);
        match runs {
            true => counts.or_else(|| self.inside(inner, |inner| Term::Abort(id, watch, inner))),
            false => counts,
        }
    }

    fn weak_abort(&mut self, id: StatementId, watch: Watch, inner: TermId) -> Option<Step> {
        if let Watch::Begins(_) = watch {
            return self.begins(id, watch, inner, true);
        }
        if let Some(step) = self.inside(inner, |inner| Term::Abort(id, watch, inner)) {
            return Some(step);
        }
        match (watch, self.terms.code(inner)) {
            (Watch::Quiet | Watch::Elapsed(_), None) => None,
            (Watch::Quiet, Some(Code::Done | Code::Exit(_)))
            | (Watch::Elapsed(_), Some(Code::Exit(_))) => Some(Step::To(inner)),
            (Watch::Elapsed(case), Some(Code::Done | Code::Paused)) => {
                let then = cases(self.processes, id)[case as usize].then;
                Some(Step::To(self.terms.start(then)))
            }
            (Watch::Quiet, Some(Code::Paused)) => None,
            (Watch::Begins(_) | Watch::First(_) | Watch::Asks(_) | Watch::Counts(..), _) => {
                self.watch(id, watch, inner)
            }
        }
    }

    /// Asks what ends an abort.
    fn watch(&mut self, id: StatementId, watch: Watch, inner: TermId) -> Option<Step> {
        let all = cases(self.processes, id);
        let at = |case: u32| all.get(case as usize);
        match watch {
            Watch::Begins(case) => match at(case).map(|one| one.delay.count) {
                None => Some(Step::To(self.abort(id, Watch::First(0), inner))),
                Some(None) => Some(Step::To(self.abort(id, Watch::Begins(case + 1), inner))),
                Some(Some(count)) => {
                    let next = self.abort(id, Watch::Begins(case + 1), inner);
                    let ready = self.is_ready(count.begin);
                    ready.then_some(Step::Act(Act::Do(count.begin), next))
                }
            },
            Watch::First(case) => match at(case).map(|one| &one.delay) {
                None => Some(Step::To(self.abort(id, Watch::Quiet, inner))),
                Some(delay) if !delay.immediate => {
                    Some(Step::To(self.abort(id, Watch::First(case + 1), inner)))
                }
                Some(delay) => self.ask(id, (case, delay), When::AtFirst, inner),
            },
            Watch::Asks(case) => match at(case).map(|one| &one.delay) {
                None => {
                    let inner = match self.terms.is_weak(id) {
                        true => inner,
                        false => self.terms.resumed(inner),
                    };
                    Some(Step::To(self.abort(id, Watch::Quiet, inner)))
                }
                Some(delay) => self.ask(id, (case, delay), When::Later, inner),
            },
            Watch::Counts(case, when) => {
                let count = at(case).and_then(|one| one.delay.count);
                let count = count.expect("only a case with a count counts");
                let over = self.abort(id, Watch::Elapsed(case), inner);
                let not_yet = self.abort(id, when.asks(case + 1), inner);
                let choice = Stop::Choose(count.over, over, not_yet);
                self.is_ready(count.over).then_some(Step::Stops(choice))
            }
            Watch::Quiet | Watch::Elapsed(_) => unreachable!("nothing is left to ask"),
        }
    }

    /// Asks whether a case has come.
    fn ask(
        &mut self,
        id: StatementId,
        (case, delay): (u32, &Delay),
        when: When,
        inner: TermId,
    ) -> Option<Step> {
        let step = self.asked(&delay.test, |stepping, holds| {
            let watch = match (holds, delay.count) {
                (true, None) => Watch::Elapsed(case),
                (true, Some(_)) => Watch::Counts(case, when),
                (false, _) => when.asks(case + 1),
            };
            stepping.abort(id, watch, inner)
        });
        match (step, delay.count) {
            // One less: only what comes to the count does it.
            (Some(Step::To(to)), Some(count)) if self.counts(to) => {
                Some(Step::Act(Act::Do(count.down), to))
            }
            (step, _) => step,
        }
    }

    fn counts(&self, id: TermId) -> bool {
        matches!(self.terms.term(id), Term::Abort(_, Watch::Counts(..), _))
    }

    fn abort(&mut self, id: StatementId, watch: Watch, inner: TermId) -> TermId {
        self.terms.add(Term::Abort(id, watch, inner))
    }

    /// Goes on when it is known whether a test holds.
    fn asked(
        &mut self,
        test: &Presence,
        then: impl FnOnce(&mut Self, bool) -> TermId,
    ) -> Option<Step> {
        match self.statuses.answer(self.processes, test) {
            Answer::Known(holds) => Some(Step::To(then(self, holds))),
            Answer::Ask(signal) if self.beyond.contains(signal.at()) => None,
            Answer::Ask(signal) => Some(Step::Ask(signal)),
            Answer::Waits => None,
        }
    }

    /// Whether all values that it reads are settled, and nothing beside it can still write a field
    /// that it reads or writes.
    fn is_ready(&mut self, data: DataId) -> bool {
        let processes = self.processes;
        let data = &processes.data[data.at()];
        let role = |signal: &SignalId| processes.signal(*signal).role;
        let is_owned = |signal: &&SignalId| matches!(role(signal), Role::Field | Role::Look);
        let mut values = data.reads.iter().filter(|signal| !is_owned(signal));
        let is_settled = |signal: &SignalId| {
            self.statuses.of(*signal).settled && !self.beyond.contains(signal.at())
        };
        if !values.all(is_settled) {
            return false;
        }
        let writes = data.writes.iter().filter(|_| self.writers_wait);
        let writes = writes.filter(|signal| role(signal) == Role::Field);
        let fields = data.reads.iter().filter(is_owned).chain(writes);
        let fields: Vec<SignalId> = fields.copied().collect();
        let mut written = fields.iter();
        let beyond = written.any(|field| self.beyond.contains(field.at()));
        fields.is_empty() || !(beyond || self.written_beside(&fields))
    }

    /// Whether a branch beside this one can still write one of these fields in this instant.
    fn written_beside(&mut self, fields: &[SignalId]) -> bool {
        let mut can = Can {
            processes: self.processes,
            terms: self.terms,
        };
        let writes = |branch: TermId| {
            let emits = can.of(branch, self.statuses).emits;
            fields.iter().any(|field| emits.contains(field.at()))
        };
        let mut beside = self.beside.iter().flat_map(|(branches, own)| {
            let others = branches.iter().enumerate();
            others
                .filter(|(at, _)| *at != *own)
                .map(|(_, branch)| *branch)
        });
        beside.any(writes)
    }
}

/// The signals that a declaration declares.
pub fn own(processes: &Processes, id: StatementId) -> &[SignalId] {
    match processes.statement(id) {
        Statement::Local { signals, .. } => signals,
        other => unreachable!("{other:?} declares nothing"),
    }
}

/// What ends an abort.
pub fn cases(processes: &Processes, id: StatementId) -> &[Case] {
    match processes.statement(id) {
        Statement::Abort { cases, .. } => cases,
        other => unreachable!("{other:?} is no abort"),
    }
}

/// A set without signals.
pub fn no_signals(processes: &Processes) -> Signals {
    Signals::with_capacity(processes.signals.len())
}
