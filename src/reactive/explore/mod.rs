//! Processes -> state trees, by constructive exploration (DESIGN: reactive compilation).
//!
//! In: [`Processes`]. Out: an [`Automaton`], or why there is none. From each state all that must be
//! done is done, step by step, the leftmost first; where the environment or a value decides, the
//! tree forks. When nothing more must be done, what cannot be emitted any more is absent, and it
//! goes on. If that settles nothing either, the program is not constructive. What is left to do is
//! a term; the same term with the same knowledge is explored once.
//!
//! ```text
//! await A; emit O          state 0   leaf 1                    nothing happens at the beginning
//!                          state 1   given A? then emit O, leaf 2, else leaf 1
//!                          state 2   leaf 2                    it has ended
//! ```
//!
//! Cost: proportional to the distinct ways through all reachable states, and bounded by a budget.

mod alike;
pub mod apart;
mod at_once;
mod can;
mod cycle;
mod matters;
mod merge;
pub mod process;
mod refusal;
mod status;
mod step;
mod term;

use crate::tree::automaton::{Act, Automaton, Node, NodeId, Question, StateId};
use crate::types::process::{Carries, Processes, Relation, Role, SignalId, StatementId};
use can::Can;
pub use cycle::Link;
use indexmap::IndexSet;
use matters::Matters;
pub use refusal::may_be_twice;
use rustc_hash::FxHashMap;
use status::{Signals, Statuses};
use step::{Stepping, Stop, own};
use term::{Freeze, Term, TermId, Terms};

/// What is wrong with processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Signals wait for each other, in a circle.
    Cycle(Vec<Link>),
    /// A loop's body ends in the instant in which it begins.
    InstantaneousLoop(StatementId),
    /// A signal that carries one value is emitted twice, whatever the environment gives.
    Twice(SignalId),
    /// A layer's signal that carries one value may be emitted twice.
    MayBeTwice(SignalId),
    /// An instant asks more questions in a row than can be kept in mind.
    TooLong {
        /// So many are allowed.
        most: usize,
    },
    /// There are too many states, or ways through them.
    TooLarge {
        /// States so far.
        states: usize,
        /// Nodes so far.
        nodes: usize,
    },
}

/// How many nodes an automaton may have where nobody says.
pub const BUDGET: usize = 250_000;

/// How many questions an instant may ask one behind the other.
const MOST_QUESTIONS: usize = 1_000;

/// Explores processes; at most so many nodes. With the automaton come the signals that carry one
/// value and may be emitted twice in an instant.
pub fn explore(
    processes: &Processes,
    budget: usize,
) -> Result<(Automaton, Vec<SignalId>), Refusal> {
    let mut explorer = Explorer::new(processes, budget);
    let mut next = 0;
    while let Some(state) = explorer.states.get_index(next) {
        let (term, statuses) = (state.term, state.statuses.clone());
        explorer.automaton.rests.push(explorer.terms.rests(term));
        let term = explorer.terms.resumed(term);
        let root = match processes.start {
            None => explorer.instant(term, statuses)?,
            Some(start) => explorer.one_input(term, &statuses, start, next == 0)?,
        };
        explorer.automaton.states.push(root);
        next += 1;
    }
    let automaton = explorer.automaton;
    if let Some(signal) = merge::doomed(&automaton) {
        return Err(Refusal::Twice(signal));
    }
    let automaton = merge::alike(&automaton);
    let twice = merge::emitted_twice(&automaton);
    Ok((automaton, twice))
}

/// Explores.
#[derive(Debug)]
struct Explorer<'p> {
    processes: &'p Processes,
    terms: Terms<'p>,
    matters: Matters<'p>,
    automaton: Automaton,
    /// Where each state begins.
    states: IndexSet<State>,
    /// What is left to do, and what is known: the tree of it.
    explored: FxHashMap<(TermId, Statuses), NodeId>,
    /// How many questions were asked on the way here, in this instant.
    asked: usize,
    budget: usize,
    /// What branches that are explored apart from this one may still emit or write.
    beyond: Option<Signals>,
    /// True if a step that writes a field waits for others that may write it.
    writers_wait: bool,
}

/// Where something stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    /// What is left to do.
    term: TermId,
    /// What is known of the signals.
    statuses: Statuses,
    /// Whether the instant is not over: it waits for what branches beside it do.
    waits: bool,
}

/// What is found where nothing more must be done.
enum Decision {
    /// Signals that nothing can emit are absent.
    Settled,
    /// It must be asked whether the environment gives a signal.
    Ask(SignalId),
    /// Nothing: signals wait for each other.
    Stuck,
}

impl<'p> Explorer<'p> {
    /// Nothing is explored, and all is to begin.
    fn new(processes: &'p Processes, budget: usize) -> Explorer<'p> {
        let mut explorer = Explorer {
            processes,
            terms: Terms::new(processes),
            matters: Matters::new(processes),
            automaton: Automaton::new(processes.risky.clone()),
            states: IndexSet::new(),
            explored: FxHashMap::default(),
            asked: 0,
            budget,
            beyond: None,
            writers_wait: true,
        };
        let term = match processes.root {
            Some(root) => explorer.terms.start(root),
            None => explorer.terms.add(Term::Done),
        };
        explorer.state(term, Statuses::new(processes), false);
        explorer
    }
}

impl Explorer<'_> {
    /// The state in which something rests or waits.
    fn state(&mut self, term: TermId, statuses: Statuses, waits: bool) -> StateId {
        let (at, _) = self.states.insert_full(State {
            term,
            statuses,
            waits,
        });
        StateId(at as u32)
    }

    /// All that can happen in an instant that has exactly one input: each is explored by itself.
    fn one_input(
        &mut self,
        term: TermId,
        statuses: &Statuses,
        start: SignalId,
        first: bool,
    ) -> Result<NodeId, Refusal> {
        let processes = self.processes;
        let inputs = processes.signals();
        let inputs = inputs.filter(|input| processes.signal(*input).role.is_given());
        let inputs: Vec<SignalId> = inputs.collect();
        let comes = inputs.iter().filter(|input| (**input == start) == first);
        let mut root = None;
        for &comes in comes.rev() {
            let mut statuses = statuses.clone();
            for &input in &inputs {
                statuses.give(processes, input, input == comes);
            }
            let node = self.instant(term, statuses)?;
            root = Some(match root {
                None => node,
                Some(others) => self.automaton.test(Question::Given(comes), node, others),
            });
        }
        // Nothing comes to what has no other input: it stays as it is.
        Ok(root.unwrap_or_else(|| self.automaton.add(Node::Leaf(StateId(0)))))
    }

    /// All that can happen from here to the end of the instant.
    fn instant(&mut self, term: TermId, statuses: Statuses) -> Result<NodeId, Refusal> {
        if self.asked == MOST_QUESTIONS {
            return Err(Refusal::TooLong {
                most: MOST_QUESTIONS,
            });
        }
        self.asked += 1;
        let node = self.rest_of_instant(term, statuses);
        self.asked -= 1;
        node
    }

    fn rest_of_instant(&mut self, mut term: TermId, statuses: Statuses) -> Result<NodeId, Refusal> {
        let matters = self.matters.of(&self.terms, term);
        let key = (term, statuses.keep(self.processes, &matters));
        if let Some(&known) = self.explored.get(&key) {
            return Ok(known);
        }
        // What is left to do and what is known are kept for each node: they count where they are
        // large.
        let known = self.explored.len() * self.processes.signals.len() / 64;
        if self.automaton.nodes.len() + self.terms.size() / 256 + known > self.budget {
            return Err(self.too_large());
        }
        let mut statuses = key.1.clone();
        let mut acts = Vec::new();
        let nothing = Signals::new();
        let beyond = self.beyond.clone().unwrap_or(nothing);
        let mut node = loop {
            let mut stepping = Stepping {
                processes: self.processes,
                terms: &mut self.terms,
                statuses: &mut statuses,
                acts: &mut acts,
                beside: Vec::new(),
                beyond: &beyond,
                writers_wait: self.writers_wait,
            };
            let stop = stepping.run(term);
            if self.terms.is_tired() {
                return Err(self.too_large());
            }
            term = match stop {
                Stop::Waits(term) => term,
                Stop::Ask(signal, term) => break self.given(term, &statuses, signal)?,
                Stop::Choose(data, then, otherwise) => {
                    let then = self.instant(then, statuses.clone())?;
                    let otherwise = self.instant(otherwise, statuses)?;
                    let question = Question::Data(data);
                    break self.automaton.test(question, then, otherwise);
                }
                Stop::Twice(signal) => break self.automaton.add(Node::Twice(signal)),
                Stop::Instantaneous(statement) => {
                    return Err(Refusal::InstantaneousLoop(statement));
                }
            };
            if self.terms.code(term).is_some() {
                break match self.undecided(&statuses) {
                    Some(signal) => self.given(term, &statuses, signal)?,
                    None => self.leaf(term, &statuses, &mut acts),
                };
            }
            let decision = self.decide(term, &mut statuses);
            if self.terms.is_tired() {
                return Err(self.too_large());
            }
            match decision {
                Decision::Settled => {}
                Decision::Ask(signal) => break self.given(term, &statuses, signal)?,
                Decision::Stuck if self.beyond.is_some() => break self.waits(term, &statuses),
                Decision::Stuck => {
                    let links = cycle::shortest(self.processes, &mut self.terms, term, &statuses);
                    return Err(Refusal::Cycle(links));
                }
            }
        };
        for act in acts.into_iter().rev() {
            node = self.automaton.add(Node::Act { act, next: node });
        }
        self.explored.insert(key, node);
        Ok(node)
    }

    fn too_large(&self) -> Refusal {
        Refusal::TooLarge {
            states: self.states.len(),
            nodes: self.automaton.nodes.len(),
        }
    }

    /// Forks on whether the environment gives a signal, as far as the relations leave it open.
    fn given(
        &mut self,
        term: TermId,
        statuses: &Statuses,
        signal: SignalId,
    ) -> Result<NodeId, Refusal> {
        let mut ways = Vec::new();
        for given in [true, false] {
            let mut statuses = statuses.clone();
            if self.implied(&mut statuses, signal, given) {
                ways.push(self.instant(term, statuses)?);
            }
        }
        match ways[..] {
            [then, otherwise] => {
                let question = Question::Given(signal);
                Ok(self.automaton.test(question, then, otherwise))
            }
            [only] => Ok(only),
            _ => unreachable!("relations always allow that nothing is given"),
        }
    }

    /// Notes whether a signal is given, and what follows from it; false if that cannot be.
    fn implied(&self, statuses: &mut Statuses, signal: SignalId, given: bool) -> bool {
        match statuses.of(signal).given {
            Some(known) => return known == given,
            None => statuses.give(self.processes, signal, given),
        }
        self.processes
            .relations
            .iter()
            .all(|relation| match relation {
                Relation::Exclusive(all) if given && all.contains(&signal) => {
                    let mut others = all.iter().filter(|other| **other != signal);
                    others.all(|other| self.implied(statuses, *other, false))
                }
                Relation::Implies(one, other) if given && *one == signal => {
                    self.implied(statuses, *other, true)
                }
                Relation::Implies(one, other) if !given && *other == signal => {
                    self.implied(statuses, *one, false)
                }
                Relation::Exclusive(_) | Relation::Implies(..) => true,
            })
    }

    /// Nothing more must be done: what cannot be emitted is absent, and values that nobody can
    /// change are settled. If that settles nothing, a signal to be asked of the environment.
    fn decide(&mut self, term: TermId, statuses: &mut Statuses) -> Decision {
        let beyond = |signal: SignalId| {
            let beyond = self.beyond.as_ref();
            beyond.is_some_and(|beyond| beyond.contains(signal.at()))
        };
        let mut can = Can {
            processes: self.processes,
            terms: &mut self.terms,
        };
        let possible = can.of(term, statuses);
        let mut changed = false;
        for signal in self.processes.signals() {
            let declared = self.processes.signal(signal);
            let status = statuses.of(signal);
            let possible = possible.emits.contains(signal.at()) || beyond(signal);
            if !declared.role.is_emitted() || possible {
                continue;
            }
            let open = declared.role.is_given() && status.given.is_none();
            if open && status.now.is_none() {
                continue;
            }
            let valued = declared.value != Carries::Nothing;
            let status = statuses.of_mut(signal);
            if status.now.is_none() {
                status.now = Some(false);
                changed = true;
            }
            if valued && !status.settled {
                status.settled = true;
                changed = true;
            }
        }
        if changed {
            return Decision::Settled;
        }
        let open = self.processes.signals().filter(|signal| {
            let given = self.processes.signal(*signal).role.is_given();
            given && statuses.of(*signal).given.is_none() && !beyond(*signal)
        });
        let open: Vec<SignalId> = open.collect();
        let mut asks = open.iter().copied();
        let asked = asks.find(|signal| possible.asks.contains(signal.at()));
        // Or its value is read, and both the environment and the processes may give it.
        let asked = asked.or_else(|| {
            let mut open = open.into_iter();
            let matters = self.matters.of(&self.terms, term);
            open.find(|signal| matters.contains(signal.at()) && !statuses.of(*signal).settled)
        });
        asked.map_or(Decision::Stuck, Decision::Ask)
    }

    /// It goes on when the branches beside it have done what it waits for.
    fn waits(&mut self, term: TermId, statuses: &Statuses) -> NodeId {
        let matters = self.matters.of(&self.terms, term);
        let mut kept = statuses.keep(self.processes, &matters);
        let fresh = Statuses::new(self.processes);
        for signal in self.processes.signals() {
            if self.processes.signal(signal).role.is_given() {
                // It is asked again.
                *kept.of_mut(signal) = fresh.of(signal);
            }
        }
        let state = self.state(term, kept, true);
        self.automaton.add(Node::Leaf(state))
    }

    /// An input of which it must be known in the next instant whether it was given in this one.
    fn undecided(&self, statuses: &Statuses) -> Option<SignalId> {
        self.processes.signals().find(|signal| {
            let declared = self.processes.signal(*signal);
            let status = statuses.of(*signal);
            declared.role.is_given()
                && declared.previous
                && status.given.is_none()
                && status.now.is_none()
        })
    }

    /// The instant is over.
    fn leaf(&mut self, term: TermId, statuses: &Statuses, acts: &mut Vec<Act>) -> NodeId {
        let scopes = self.scopes(term);
        let mut next = Statuses::new(self.processes);
        for signal in self.processes.signals() {
            let declared = self.processes.signal(signal);
            let status = statuses.of(signal);
            match scopes[signal.at()] {
                Scope::Left => {}
                Scope::Frozen => next.of_mut(signal).before = status.before,
                Scope::Ran => {
                    next.of_mut(signal).before = declared.previous && status.now == Some(true);
                    if declared.previous_value {
                        acts.push(Act::Keep(signal));
                    }
                }
            }
        }
        let rested = self.terms.rested(term);
        let state = self.state(rested, next, false);
        self.automaton.add(Node::Leaf(state))
    }

    /// What became of each signal's scope in this instant.
    fn scopes(&self, term: TermId) -> Vec<Scope> {
        let local = |role: Role| match role {
            Role::Local | Role::Exit | Role::Field | Role::Look => Scope::Left,
            Role::Input | Role::InputEmitted | Role::Sensor | Role::Output | Role::InputOutput => {
                Scope::Ran
            }
        };
        let signals = self.processes.signals.iter();
        let mut scopes: Vec<Scope> = signals.map(|signal| local(signal.role)).collect();
        self.note_scopes(term, Scope::Ran, &mut scopes);
        scopes
    }

    fn note_scopes(&self, term: TermId, scope: Scope, scopes: &mut [Scope]) {
        match self.terms.term(term) {
            Term::Done | Term::Exit(_) | Term::Paused | Term::Start(_) => {}
            Term::Sequence(.., inner)
            | Term::Loop(.., inner)
            | Term::Trap(_, inner)
            | Term::Abort(_, _, inner)
            | Term::Suspend(_, Freeze::Runs, inner) => self.note_scopes(*inner, scope, scopes),
            Term::Suspend(_, Freeze::Frozen | Freeze::Asked, inner) => {
                self.note_scopes(*inner, Scope::Frozen, scopes);
            }
            Term::Parallel(branches) => {
                for branch in branches {
                    self.note_scopes(*branch, scope, scopes);
                }
            }
            Term::Local(statement, inner) => {
                for signal in own(self.processes, *statement) {
                    scopes[signal.at()] = scope;
                }
                self.note_scopes(*inner, scope, scopes);
            }
        }
    }
}

/// What became of a signal's scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// It ran.
    Ran,
    /// It was suspended.
    Frozen,
    /// It was left, or never entered.
    Left,
}
