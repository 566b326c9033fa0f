//! Why nothing goes on: the shortest circle of signals that wait for each other.
//!
//! In: a term that waits, and what is known. Out: for each signal of the circle, who waits for it,
//! and what that one would emit once it goes on.

use super::can::Can;
use super::status::{Answer, Statuses, asked_now};
use super::step::cases;
use super::term::{Code, Freeze, Term, TermId, Terms, Watch, When};
use crate::source::Span;
use crate::types::process::{
    Case, DataId, Presence, Processes, Role, SignalId, Statement, StatementId,
};
use std::collections::btree_map::{BTreeMap, Entry};
use std::collections::{BTreeSet, VecDeque};
use std::iter;

/// One step of a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The signal.
    pub signal: SignalId,
    /// The statement that waits for it.
    pub waits: Span,
    /// Whether that one reads its value, and not only whether it is present.
    pub reads: bool,
    /// The statement that emits the next signal of the circle behind that.
    pub emits: Span,
}

/// The shortest circle. Empty only if there is none, and then something is wrong with us.
pub fn shortest<'p>(
    processes: &'p Processes,
    terms: &mut Terms<'p>,
    term: TermId,
    statuses: &Statuses,
) -> Vec<Link> {
    let mut search = Search {
        processes,
        terms,
        statuses,
        beside: Vec::new(),
        edges: BTreeMap::new(),
        conflicts: BTreeMap::new(),
    };
    search.term(term, &BTreeSet::new());
    let shortest = shortest_circle(&search.edges);
    let conflicts = search.conflicts.into_iter();
    let mut conflicts = conflicts.map(|(signal, places)| Link {
        signal,
        waits: places[0],
        reads: true,
        emits: places[places.len().min(2) - 1],
    });
    shortest.unwrap_or_else(|| conflicts.next().into_iter().collect())
}

/// Who waits for a signal, and where another one is emitted behind that.
type Edges = BTreeMap<(SignalId, SignalId), (Wait, Span)>;

/// All that is waited for.
type Waits = BTreeSet<Wait>;

/// A signal that is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Wait {
    signal: SignalId,
    at: Span,
    reads: bool,
}

/// The shortest circle of all, the first of several that are as short.
fn shortest_circle(edges: &Edges) -> Option<Vec<Link>> {
    let mut graph = Graph::new(edges);
    let mut shortest: Option<Vec<SignalId>> = None;
    for start in graph.signals() {
        let below = shortest.as_ref().map_or(usize::MAX, Vec::len);
        if let Some(circle) = graph.circle(start, below) {
            shortest = Some(circle);
        }
        // All circles through it that are as short as any are found.
        graph.remove(start);
    }
    let circle = shortest?;
    let next = circle.iter().cycle().skip(1);
    let link = |(&signal, &next): (&SignalId, &SignalId)| {
        let (wait, emits) = edges[&(signal, next)];
        Link {
            signal,
            waits: wait.at,
            reads: wait.reads,
            emits,
        }
    };
    Some(circle.iter().zip(next).map(link).collect())
}

/// The signals that may stand on a circle, each with those behind it and those before it.
struct Graph {
    nodes: BTreeMap<SignalId, Node>,
}

/// The signals behind one signal, and those before it.
#[derive(Default)]
struct Node {
    next: BTreeSet<SignalId>,
    before: BTreeSet<SignalId>,
}

impl Graph {
    fn new(edges: &Edges) -> Graph {
        let mut nodes: BTreeMap<SignalId, Node> = BTreeMap::new();
        for (one, other) in edges.keys() {
            nodes.entry(*one).or_default().next.insert(*other);
            nodes.entry(*other).or_default().before.insert(*one);
        }
        let mut graph = Graph { nodes };
        let is_end = |node: &Node| node.next.is_empty() || node.before.is_empty();
        let ends = graph.nodes.iter().filter(|(_, node)| is_end(node));
        let ends: Vec<SignalId> = ends.map(|(signal, _)| *signal).collect();
        ends.into_iter().for_each(|end| graph.remove(end));
        graph
    }

    fn signals(&self) -> Vec<SignalId> {
        self.nodes.keys().copied().collect()
    }

    /// Removes a signal, and each that is on no circle without it because nothing stands behind or
    /// before it then.
    fn remove(&mut self, signal: SignalId) {
        let mut open = vec![signal];
        while let Some(signal) = open.pop() {
            let Some(removed) = self.nodes.remove(&signal) else {
                continue;
            };
            for other in &removed.next {
                if let Some(node) = self.nodes.get_mut(other) {
                    node.before.remove(&signal);
                    open.extend(node.before.is_empty().then_some(*other));
                }
            }
            for other in &removed.before {
                if let Some(node) = self.nodes.get_mut(other) {
                    node.next.remove(&signal);
                    open.extend(node.next.is_empty().then_some(*other));
                }
            }
        }
    }

    /// Returns the shortest circle through a signal, beginning with it, if it has less than so
    /// many signals: by a breadth-first search.
    fn circle(&self, start: SignalId, below: usize) -> Option<Vec<SignalId>> {
        let mut from: BTreeMap<SignalId, SignalId> = BTreeMap::new();
        let mut open = VecDeque::from([(start, 1)]);
        while let Some((at, length)) = open.pop_front() {
            if length >= below {
                break;
            }
            for &other in self.nodes.get(&at).into_iter().flat_map(|node| &node.next) {
                if other == start {
                    let before = |signal: &SignalId| from.get(signal).copied();
                    let mut circle: Vec<SignalId> = iter::successors(Some(at), before).collect();
                    circle.reverse();
                    return Some(circle);
                }
                if let Entry::Vacant(new) = from.entry(other) {
                    new.insert(at);
                    open.push_back((other, length + 1));
                }
            }
        }
        None
    }
}

/// Looks for what waits, and for what is emitted behind it.
struct Search<'a, 'p> {
    processes: &'p Processes,
    terms: &'a mut Terms<'p>,
    statuses: &'a Statuses,
    /// What runs in parallel to the branch that is looked at.
    beside: Vec<TermId>,
    edges: Edges,
    /// Where a field is written that a branch beside may write, too.
    conflicts: BTreeMap<SignalId, Vec<Span>>,
}

impl<'p> Search<'_, 'p> {
    /// What is left of a term, behind what is waited for already. Returns all that its end waits
    /// for.
    fn term(&mut self, id: TermId, waits: &Waits) -> Waits {
        match self.terms.term(id).clone() {
            Term::Done | Term::Exit(_) | Term::Paused | Term::Suspend(_, Freeze::Frozen, _) => {
                waits.clone()
            }
            Term::Start(statement) => self.started(statement, waits),
            Term::Sequence(statement, next, inner) => {
                let first = self.term(inner, waits);
                match self.can_end(inner) {
                    true => self.rest(statement, next, first),
                    false => first,
                }
            }
            Term::Parallel(branches) => self.branches(&branches, waits),
            Term::Loop(statement, begun, inner) => {
                let ends = self.term(inner, waits);
                if !begun && self.can_end(inner) {
                    self.body(statement, &ends);
                }
                ends
            }
            Term::Trap(statement, inner) => {
                let ends = self.term(inner, waits);
                self.handlers(statement, &ends)
            }
            Term::Local(_, inner) | Term::Suspend(_, Freeze::Runs, inner) => {
                self.term(inner, waits)
            }
            Term::Suspend(statement, Freeze::Asked, inner) => {
                let Statement::Suspend { test, .. } = self.processes.statement(statement) else {
                    unreachable!("only what can be suspended is");
                };
                let waits = self.waiting(test, self.processes.span(statement), waits);
                let resumed = self.terms.resumed(inner);
                self.term(resumed, &waits)
            }
            Term::Abort(statement, watch, inner) => self.abort(statement, watch, inner, waits),
        }
    }

    fn abort(&mut self, id: StatementId, watch: Watch, inner: TermId, waits: &Waits) -> Waits {
        let weak = self.terms.is_weak(id);
        let mut watched = waits.clone();
        for case in cases(self.processes, id) {
            watched = match watch {
                Watch::Quiet | Watch::Elapsed(_) => break,
                Watch::Begins(_) => match case.delay.count {
                    Some(count) => self.reading(&[count.begin], &watched),
                    None => watched,
                },
                Watch::First(_) | Watch::Counts(_, When::AtFirst) if !case.delay.immediate => {
                    watched
                }
                Watch::First(_) | Watch::Asks(_) | Watch::Counts(..) => {
                    self.waiting(&case.delay.test, case.delay.span, &watched)
                }
            };
        }
        let rests = matches!(watch, Watch::Asks(_) | Watch::Counts(_, When::Later));
        let inner = match rests && !weak {
            true => self.terms.resumed(inner),
            false => inner,
        };
        let begins = matches!(watch, Watch::Begins(_));
        let runs = weak || begins && !has_immediate(cases(self.processes, id));
        let mut ends = match runs {
            true => self.term(inner, waits),
            false => self.term(inner, &watched),
        };
        ends.extend(watched);
        for case in cases(self.processes, id) {
            let then = self.started(case.then, &ends);
            ends.extend(then);
        }
        ends
    }

    /// What begins, behind what is waited for already.
    fn started(&mut self, id: StatementId, waits: &Waits) -> Waits {
        match self.processes.statement(id) {
            Statement::Nothing | Statement::Pause => waits.clone(),
            Statement::Emit(signal, value) => {
                let waits = self.reading(value.as_slice(), waits);
                self.emits(*signal, id, &waits);
                waits
            }
            Statement::Exit { way, value, .. } => {
                let waits = self.reading(value.as_slice(), waits);
                self.emits(*way, id, &waits);
                waits
            }
            Statement::Do(data) => self.computes(*data, id, waits),
            Statement::Present {
                test,
                then,
                otherwise,
            } => match self.statuses.answer(self.processes, test) {
                Answer::Known(true) => self.started(*then, waits),
                Answer::Known(false) => self.started(*otherwise, waits),
                Answer::Ask(_) | Answer::Waits => {
                    let waits = self.waiting(test, self.processes.span(id), waits);
                    self.either(*then, *otherwise, &waits)
                }
            },
            Statement::If {
                condition,
                then,
                otherwise,
            } => {
                let waits = self.computes(*condition, id, waits);
                self.either(*then, *otherwise, &waits)
            }
            Statement::Sequence(_) => self.rest(id, 0, waits.clone()),
            Statement::Parallel(branches) => {
                let branches = branches.iter().map(|branch| self.terms.start(*branch));
                let branches: Vec<TermId> = branches.collect();
                self.branches(&branches, waits)
            }
            Statement::Loop(_) => self.body(id, waits),
            Statement::Trap { body, .. } => {
                let ends = self.started(*body, waits);
                self.handlers(id, &ends)
            }
            Statement::Suspend {
                test,
                immediate,
                body,
            } => {
                let waits = match immediate {
                    true => self.waiting(test, self.processes.span(id), waits),
                    false => waits.clone(),
                };
                self.started(*body, &waits)
            }
            Statement::Abort { weak, cases, body } => self.aborts(*weak, cases, *body, waits),
            Statement::Local { begin, body, .. } => {
                let waits = self.reading(begin.as_slice(), waits);
                self.started(*body, &waits)
            }
        }
    }

    /// An abort that begins: its counts are read, and its immediate cases are asked. A body waits
    /// for neither unless an immediate case may keep it from running.
    fn aborts(&mut self, weak: bool, cases: &[Case], body: StatementId, waits: &Waits) -> Waits {
        let counts = cases.iter().filter_map(|case| case.delay.count);
        let counts: Vec<DataId> = counts.map(|count| count.begin).collect();
        let mut asked = self.reading(&counts, waits);
        for case in cases.iter().filter(|case| case.delay.immediate) {
            asked = self.waiting(&case.delay.test, case.delay.span, &asked);
            self.started(case.then, &asked);
        }
        let mut ends = match weak || !has_immediate(cases) {
            true => self.started(body, waits),
            false => self.started(body, &asked),
        };
        ends.extend(asked);
        ends
    }

    /// Something is computed, and fields are written.
    fn computes(&mut self, data: DataId, at: StatementId, waits: &Waits) -> Waits {
        let waits = self.reading(&[data], waits);
        for &field in &self.processes.data[data.at()].writes {
            self.emits(field, at, &waits);
        }
        waits
    }

    /// Each branch, with the others beside it.
    fn branches(&mut self, branches: &[TermId], waits: &Waits) -> Waits {
        let mut ends = Waits::new();
        for branch in branches {
            let around = self.beside.len();
            self.beside
                .extend(branches.iter().filter(|other| *other != branch));
            ends.extend(self.term(*branch, waits));
            self.beside.truncate(around);
        }
        ends
    }

    fn either(&mut self, then: StatementId, otherwise: StatementId, waits: &Waits) -> Waits {
        let mut ends = self.started(then, waits);
        ends.extend(self.started(otherwise, waits));
        ends
    }

    fn rest(&mut self, id: StatementId, next: u32, mut waits: Waits) -> Waits {
        let Statement::Sequence(all) = self.processes.statement(id) else {
            unreachable!("only a sequence goes on");
        };
        for one in &all[next as usize..] {
            waits = self.started(*one, &waits);
            let start = self.terms.start(*one);
            if !self.can_end(start) {
                break;
            }
        }
        waits
    }

    fn body(&mut self, id: StatementId, waits: &Waits) -> Waits {
        match self.processes.statement(id) {
            Statement::Loop(body) => self.started(*body, waits),
            other => unreachable!("{other:?} is no loop"),
        }
    }

    fn handlers(&mut self, id: StatementId, ends: &Waits) -> Waits {
        let Statement::Trap { handlers, .. } = self.processes.statement(id) else {
            unreachable!("only a trap has handlers");
        };
        let mut all = ends.clone();
        for handler in handlers.iter().filter_map(|(_, handler)| *handler) {
            all.extend(self.started(handler, ends));
        }
        all
    }

    /// Whether something can end in this instant.
    fn can_end(&mut self, id: TermId) -> bool {
        if let Some(code) = self.terms.code(id) {
            return code == Code::Done;
        }
        let mut can = Can {
            processes: self.processes,
            terms: self.terms,
        };
        can.of(id, self.statuses).done
    }

    /// One signal more is waited for.
    fn waiting(&self, test: &Presence, at: Span, waits: &Waits) -> Waits {
        let unknown = |signal: &SignalId| self.statuses.of(*signal).now.is_none();
        let asked = asked_now(test).into_iter().filter(unknown);
        let mut waits = waits.clone();
        let reads = false;
        waits.extend(asked.map(|signal| Wait { signal, at, reads }));
        waits
    }

    /// Whether a branch beside this one can still write a field.
    fn written_beside(&mut self, field: SignalId) -> bool {
        let mut can = Can {
            processes: self.processes,
            terms: self.terms,
        };
        let mut beside = self.beside.iter();
        beside.any(|branch| can.of(*branch, self.statuses).emits.contains(field.at()))
    }

    /// Values are waited for.
    fn reading(&mut self, data: &[DataId], waits: &Waits) -> Waits {
        let mut waits = waits.clone();
        for one in data.iter().map(|one| &self.processes.data[one.at()]) {
            let is_field = |signal: &&SignalId| self.processes.signal(**signal).role == Role::Field;
            for &signal in one.reads.iter().chain(one.writes.iter().filter(is_field)) {
                let open = match self.processes.signal(signal).role {
                    Role::Field | Role::Look => self.written_beside(signal),
                    _a_signal => !self.statuses.of(signal).settled,
                };
                if open {
                    let (at, reads) = (one.span, true);
                    waits.insert(Wait { signal, at, reads });
                }
            }
        }
        waits
    }

    /// A signal is emitted behind what is waited for.
    fn emits(&mut self, signal: SignalId, at: StatementId, waits: &Waits) {
        for wait in waits {
            if wait.signal == signal && self.processes.signal(signal).role == Role::Field {
                // Whoever writes it waits for others that may: they wait for each other only if
                // these do the same, or for something behind this.
                let places = self.conflicts.entry(signal).or_default();
                if !places.contains(&wait.at) {
                    places.push(wait.at);
                }
                continue;
            }
            let how = (*wait, self.processes.span(at));
            self.edges.entry((wait.signal, signal)).or_insert(how);
        }
    }
}

/// Returns true if an abort may end in the instant in which it begins.
fn has_immediate(cases: &[Case]) -> bool {
    cases.iter().any(|case| case.delay.immediate)
}
