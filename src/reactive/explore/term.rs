//! What is left to do in an instant, as terms: equal terms are one.
//!
//! In: statements. Out: for each, how far it has come. Between instants a term says where the
//! processes rest; [`Terms::resumed`] is the term with which the next instant begins,
//! [`Terms::rested`] what is left at its end.

use crate::types::process::{Processes, Statement, StatementId};
use indexmap::IndexSet;
use rustc_hash::FxHashMap;

/// How many steps an exploration may take, and statements look at, before it is too large: with
/// little to do at each, many may be left that need no node.
const MOST_WORK: usize = 4_000_000;

/// A term, among all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TermId(u32);

/// How far a statement has come.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// It has ended.
    Done,
    /// It exits the trap of this level.
    Exit(u32),
    /// It rests till the next instant.
    Paused,
    /// It begins now.
    Start(StatementId),
    /// One of a sequence; then come those from this place on.
    Sequence(StatementId, u32, TermId),
    /// Several in lock-step.
    Parallel(Vec<TermId>),
    /// A loop's body, and whether it began in this instant.
    Loop(StatementId, bool, TermId),
    /// A trap's body.
    Trap(StatementId, TermId),
    /// What can be suspended.
    Suspend(StatementId, Freeze, TermId),
    /// What can be aborted.
    Abort(StatementId, Watch, TermId),
    /// What has signals of its own.
    Local(StatementId, TermId),
}

/// Whether what can be suspended runs in this instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Freeze {
    /// It is still to be asked; the body rests.
    Asked,
    /// It runs.
    Runs,
    /// It does not; the body rests.
    Frozen,
}

/// When an abort is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum When {
    /// In the instant in which it begins: only cases that are immediate are asked.
    AtFirst,
    /// In one of those that follow.
    Later,
}

impl When {
    /// Cases are asked, from this one on.
    pub fn asks(self, case: u32) -> Watch {
        match self {
            When::AtFirst => Watch::First(case),
            When::Later => Watch::Asks(case),
        }
    }
}

/// What ends an abort, in this instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Watch {
    /// The counts are set, from this case on.
    Begins(u32),
    /// The first instant: cases that are immediate are asked, from this one on.
    First(u32),
    /// Cases are asked, from this one on.
    Asks(u32),
    /// This case has come, in the first instant or later; is its count over?
    Counts(u32, When),
    /// Nothing ends it now.
    Quiet,
    /// This case does.
    Elapsed(u32),
}

/// How something completes an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    /// It has ended.
    Done,
    /// It rests.
    Paused,
    /// It exits the trap of this level.
    Exit(u32),
}

/// All terms.
#[derive(Debug)]
pub struct Terms<'p> {
    processes: &'p Processes,
    terms: IndexSet<Term>,
    /// How each of them completes the instant.
    codes: Vec<Option<Code>>,
    /// How many there are, sixteen times, and branches in them.
    size: usize,
    /// How many steps were taken and statements looked at.
    work: usize,
    resumed: FxHashMap<TermId, TermId>,
    rested: FxHashMap<TermId, TermId>,
}

impl<'p> Terms<'p> {
    /// No terms yet.
    pub fn new(processes: &'p Processes) -> Terms<'p> {
        Terms {
            processes,
            terms: IndexSet::new(),
            codes: Vec::new(),
            size: 0,
            work: 0,
            resumed: FxHashMap::default(),
            rested: FxHashMap::default(),
        }
    }

    /// The term's index: that of an equal one if there is one.
    pub fn add(&mut self, term: Term) -> TermId {
        let (at, new) = self.terms.insert_full(term);
        let id = TermId(at as u32);
        if new {
            let code = self.completes(id);
            self.codes.push(code);
            self.size += match self.term(id) {
                Term::Parallel(branches) => 16 + branches.len(),
                _of_one_part => 16,
            };
        }
        id
    }

    /// Notes that a step is taken, or a statement looked at: false if there were too many.
    pub fn works(&mut self) -> bool {
        // Each of them makes sets of all signals.
        self.work += 1 + self.processes.signals.len() / 256;
        !self.is_tired()
    }

    /// Whether more was done than an automaton within the budget needs: what was found since then
    /// may be wrong, and is not to be used.
    pub fn is_tired(&self) -> bool {
        self.work > MOST_WORK
    }

    /// The term of what begins.
    pub fn start(&mut self, statement: StatementId) -> TermId {
        self.add(Term::Start(statement))
    }

    /// The term with an index.
    pub fn term(&self, id: TermId) -> &Term {
        &self.terms[id.0 as usize]
    }

    /// How many there are, sixteen times, and branches in them: what has many is large.
    pub fn size(&self) -> usize {
        self.size
    }

    /// How a term completes the instant, if nothing is left to do.
    pub fn code(&self, id: TermId) -> Option<Code> {
        self.codes[id.0 as usize]
    }

    fn completes(&self, id: TermId) -> Option<Code> {
        match self.term(id) {
            Term::Done => Some(Code::Done),
            Term::Exit(level) => Some(Code::Exit(*level)),
            Term::Paused | Term::Suspend(_, Freeze::Frozen, _) => Some(Code::Paused),
            Term::Start(_)
            | Term::Suspend(_, Freeze::Asked, _)
            | Term::Abort(
                _,
                Watch::Begins(_)
                | Watch::First(_)
                | Watch::Asks(_)
                | Watch::Counts(..)
                | Watch::Elapsed(_),
                _,
            ) => None,
            Term::Sequence(.., inner)
            | Term::Loop(.., inner)
            | Term::Trap(_, inner)
            | Term::Suspend(_, Freeze::Runs, inner)
            | Term::Abort(_, Watch::Quiet, inner)
            | Term::Local(_, inner) => {
                // Whatever else completes in it lets something follow.
                (self.code(*inner) == Some(Code::Paused)).then_some(Code::Paused)
            }
            Term::Parallel(branches) => {
                let codes: Option<Vec<Code>> = branches.iter().map(|one| self.code(*one)).collect();
                let codes = codes?;
                let exits = codes.iter().any(|code| matches!(code, Code::Exit(_)));
                let rests = codes.contains(&Code::Paused);
                (rests && !exits).then_some(Code::Paused)
            }
        }
    }

    /// The innermost statements in which a term rests.
    pub fn rests(&self, id: TermId) -> Vec<StatementId> {
        let mut found = Vec::new();
        let mut open = vec![(id, None)];
        while let Some((id, around)) = open.pop() {
            match self.term(id) {
                Term::Paused => found.extend(around),
                Term::Done | Term::Exit(_) | Term::Start(_) => {}
                Term::Sequence(statement, next, inner) => {
                    let parts = self.processes.statement(*statement).parts();
                    open.push((*inner, parts.get(*next as usize - 1).copied()));
                }
                Term::Parallel(branches) => {
                    open.extend(branches.iter().rev().map(|branch| (*branch, around)));
                }
                Term::Loop(statement, _, inner)
                | Term::Trap(statement, inner)
                | Term::Suspend(statement, _, inner)
                | Term::Abort(statement, _, inner)
                | Term::Local(statement, inner) => open.push((*inner, Some(*statement))),
            }
        }
        found
    }

    /// The same, where the next instant begins: what rested ends, but for what is asked first.
    pub fn resumed(&mut self, id: TermId) -> TermId {
        if let Some(&known) = self.resumed.get(&id) {
            return known;
        }
        let resumed = match self.term(id).clone() {
            Term::Paused => Term::Done,
            whole @ (Term::Done | Term::Exit(_) | Term::Start(_) | Term::Suspend(..)) => whole,
            Term::Abort(statement, watch, inner) => match self.is_weak(statement) {
                true => Term::Abort(statement, watch, self.resumed(inner)),
                false => Term::Abort(statement, watch, inner),
            },
            other => self.with_inner(other, Terms::resumed),
        };
        let resumed = self.add(resumed);
        self.resumed.insert(id, resumed);
        resumed
    }

    /// What is left at the end of an instant, however it came to rest.
    pub fn rested(&mut self, id: TermId) -> TermId {
        if let Some(&known) = self.rested.get(&id) {
            return known;
        }
        let rested = match self.term(id).clone() {
            Term::Loop(statement, _, inner) => Term::Loop(statement, false, self.rested(inner)),
            Term::Suspend(statement, _, inner) => {
                Term::Suspend(statement, Freeze::Asked, self.rested(inner))
            }
            Term::Abort(statement, _, inner) => {
                Term::Abort(statement, Watch::Asks(0), self.rested(inner))
            }
            other => self.with_inner(other, Terms::rested),
        };
        let rested = self.add(rested);
        self.rested.insert(id, rested);
        rested
    }

    /// A term whose parts are replaced.
    fn with_inner(&mut self, term: Term, replace: fn(&mut Self, TermId) -> TermId) -> Term {
        match term {
            Term::Done | Term::Exit(_) | Term::Paused | Term::Start(_) => term,
            Term::Sequence(statement, next, inner) => {
                Term::Sequence(statement, next, replace(self, inner))
            }
            Term::Parallel(branches) => {
                let branches = branches.into_iter().map(|one| replace(self, one));
                Term::Parallel(branches.collect())
            }
            Term::Loop(statement, begun, inner) => {
                Term::Loop(statement, begun, replace(self, inner))
            }
            Term::Trap(statement, inner) => Term::Trap(statement, replace(self, inner)),
            Term::Suspend(statement, freeze, inner) => {
                Term::Suspend(statement, freeze, replace(self, inner))
            }
            Term::Abort(statement, watch, inner) => {
                Term::Abort(statement, watch, replace(self, inner))
            }
            Term::Local(statement, inner) => Term::Local(statement, replace(self, inner)),
        }
    }

    /// Whether an abort is weak.
    pub fn is_weak(&self, statement: StatementId) -> bool {
        match self.processes.statement(statement) {
            Statement::Abort { weak, .. } => *weak,
            other => unreachable!("{other:?} is no abort"),
        }
    }
}
