//! Branches that are explored apart, each with states of its own (DESIGN 4: factored control).
//!
//! In: [`Processes`] whose body is branches in parallel. Out: [`Apart`], the automaton of each
//! branch, and for each input the order in which they run: one after the other, each as far as it
//! can, until all rest. A signal is asked for when no other branch can emit it any more, a field is
//! read when none can write it. What waits in the midst of an instant gets another turn.
//!
//! ```text
//! await A; emit B        turn 1   the first: from its state 1, where A is given: emit B
//! and await B; emit C    turn 2   the second: from its state 1, where B was emitted: emit C
//! ```
//!
//! Together these have as many nodes as the branches have, not as their ways multiplied. Whatever
//! is ordered like this is constructive; what is not may be so, and is not found here.

use super::can::Can;
use super::status::{Signals, Statuses};
use super::step::no_signals;
use super::term::TermId;
use super::{Explorer, Refusal};
use crate::tree::automaton::{Act, Automaton, Node, NodeId, StateId};
use crate::types::process::{
    Carries, DataId, Presence, Processes, Role, SignalId, Statement, StatementId,
};
use std::collections::BTreeSet;

/// Branches, each by itself.
#[derive(Debug)]
pub struct Apart {
    /// In the order in which they stand.
    pub branches: Vec<Branch>,
    /// What happens at each input, in order.
    pub instants: Vec<(SignalId, Vec<Turn>)>,
}

/// One branch.
#[derive(Debug)]
pub struct Branch {
    /// What it does.
    pub root: StatementId,
    /// Its nodes; a leaf is a state of this branch.
    pub automaton: Automaton,
    /// Of each state, whether it waits in the midst of an instant.
    pub waits: Vec<bool>,
    /// The states in which it can rest between two instants, once it has begun.
    pub rests: Vec<StateId>,
}

/// A branch goes on, as far as it can.
#[derive(Clone, Debug)]
pub struct Turn {
    /// Which one.
    pub branch: usize,
    /// In which states it may be; in its first turn that does something, in any in which it began.
    pub from: Vec<StateId>,
    /// What it does, from those in which there is anything to do.
    pub ways: Vec<(StateId, NodeId)>,
}

/// Explores each branch by itself, if there are several and they can be ordered.
pub fn apart(processes: &Processes, budget: usize) -> Option<Apart> {
    let roots = branches(processes);
    let known = Spoken::of(processes, &roots);
    if roots.len() < 2 || !known.can_be_apart(processes) {
        return None;
    }
    let each: Vec<Processes> = (0..roots.len())
        .map(|at| known.alone(processes, &roots, at))
        .collect();
    let mut ordering = Ordering {
        processes,
        shared: known.shared,
        explorers: each.iter().map(|one| Explorer::new(one, budget)).collect(),
        rests: vec![BTreeSet::new(); roots.len()],
    };
    let instants = ordering.instants()?;
    let Ordering {
        explorers, rests, ..
    } = ordering;
    let turns = instants.iter().flat_map(|(_, turns)| turns);
    let emitted_twice = |turn: &Turn| {
        let automaton = &explorers[turn.branch].automaton;
        let reached = automaton.reached(turn.ways.iter().map(|(_, node)| *node));
        let mut reached = reached.into_iter();
        reached.any(|node| matches!(automaton.node(node), Node::Twice(_)))
    };
    if turns.into_iter().any(emitted_twice) {
        return None;
    }
    let branches = explorers.into_iter().zip(rests).zip(roots);
    let branches = branches.map(|((explorer, rests), root)| Branch {
        root,
        automaton: explorer.automaton,
        waits: explorer.states.iter().map(|state| state.waits).collect(),
        rests: rests.into_iter().collect(),
    });
    Some(Apart {
        branches: branches.collect(),
        instants,
    })
}

/// The branches that run in parallel from the start to the end.
fn branches(processes: &Processes) -> Vec<StatementId> {
    let mut found = Vec::new();
    let mut open: Vec<StatementId> = processes.root.into_iter().collect();
    while let Some(id) = open.pop() {
        match processes.statement(id) {
            Statement::Local {
                begin: None, body, ..
            } if Some(id) == processes.root => open.push(*body),
            Statement::Parallel(all) => open.extend(all.iter().rev()),
            _of_one_branch => found.push(id),
        }
    }
    found
}

/// Who speaks of which signals.
struct Spoken {
    /// What each branch emits.
    emits: Vec<Signals>,
    /// What each branch asks or reads.
    hears: Vec<Signals>,
    /// Signals of all branches: one emits what another hears, or emits, too.
    shared: Signals,
}

impl Spoken {
    fn of(processes: &Processes, roots: &[StatementId]) -> Spoken {
        let mut spoken = Spoken {
            emits: Vec::new(),
            hears: Vec::new(),
            shared: no_signals(processes),
        };
        for root in roots {
            let (mut emits, mut hears) = (no_signals(processes), no_signals(processes));
            let mut open = vec![*root];
            while let Some(id) = open.pop() {
                let statement = processes.statement(id);
                speaks(processes, statement, &mut emits, &mut hears);
                open.extend(statement.parts());
            }
            spoken.emits.push(emits);
            spoken.hears.push(hears);
        }
        for signal in processes.signals() {
            let at = signal.at();
            let emitters = spoken.emits.iter().filter(|emits| emits.contains(at));
            let speakers = (0..roots.len())
                .filter(|one| spoken.emits[*one].contains(at) || spoken.hears[*one].contains(at));
            let is_local = processes.signal(signal).role == Role::Local;
            let shared = is_local && emitters.count() > 0 && speakers.count() > 1;
            spoken.shared.set(at, shared);
        }
        spoken
    }

    /// Whether what one instant leaves to the next is a state of one branch, and what several emit
    /// carries nothing.
    fn can_be_apart(&self, processes: &Processes) -> bool {
        processes.start.is_some()
            && processes.signals().all(|signal| {
                let declared = processes.signal(signal);
                let emitters = self.emits.iter();
                let one = emitters.filter(|emits| emits.contains(signal.at())).count() < 2;
                let shared = self.shared.contains(signal.at());
                !declared.previous
                    && !declared.previous_value
                    && (!shared || one || declared.value == Carries::Nothing)
            })
    }

    /// The processes of one branch; what others emit comes from outside.
    fn alone(&self, processes: &Processes, roots: &[StatementId], at: usize) -> Processes {
        let mut alone = processes.clone();
        alone.root = Some(roots[at]);
        for signal in self.shared.ones() {
            let own = self.emits[at].contains(signal);
            let others = self.emits.iter().enumerate();
            let mut others = others.filter(|(other, _)| *other != at);
            alone.signals[signal].role = match (own, others.any(|(_, one)| one.contains(signal))) {
                (true, true) => Role::InputOutput,
                (true, false) => Role::Output,
                (false, _) => Role::Input,
            };
        }
        alone
    }
}

/// The signals of which a statement itself speaks.
pub(super) fn speaks(
    processes: &Processes,
    statement: &Statement,
    emits: &mut Signals,
    hears: &mut Signals,
) {
    let mut asks = |test: &Presence| hears.extend(test.signals().iter().map(|one| one.at()));
    let mut computed: Vec<DataId> = Vec::new();
    match statement {
        Statement::Emit(signal, value) => {
            emits.insert(signal.at());
            computed.extend(*value);
        }
        Statement::Exit { way, value, .. } => {
            emits.insert(way.at());
            computed.extend(*value);
        }
        Statement::Do(data)
        | Statement::If {
            condition: data, ..
        } => computed.push(*data),
        Statement::Present { test, .. } | Statement::Suspend { test, .. } => asks(test),
        Statement::Abort { cases, .. } => {
            for case in cases {
                asks(&case.delay.test);
                let count = case.delay.count.into_iter();
                computed.extend(count.flat_map(|count| [count.begin, count.down, count.over]));
            }
        }
        Statement::Local { begin, .. } => computed.extend(*begin),
        Statement::Nothing
        | Statement::Pause
        | Statement::Sequence(_)
        | Statement::Parallel(_)
        | Statement::Loop(_)
        | Statement::Trap { .. } => {}
    }
    let reads = computed
        .iter()
        .flat_map(|one| &processes.data[one.at()].reads);
    hears.extend(reads.map(|one| one.at()));
}

/// Orders the branches.
struct Ordering<'p> {
    processes: &'p Processes,
    shared: Signals,
    explorers: Vec<Explorer<'p>>,
    /// Where each branch can rest.
    rests: Vec<BTreeSet<StateId>>,
}

/// One instant, as far as it is ordered.
struct Instant {
    input: SignalId,
    /// In which states each branch began.
    begun: Vec<BTreeSet<StateId>>,
    /// In which states each branch may be that has not come to rest.
    open: Vec<BTreeSet<StateId>>,
    /// What may have been emitted.
    emitted: Signals,
    /// What cannot be emitted any more, and was not.
    absent: Signals,
    turns: Vec<Turn>,
}

impl Ordering<'_> {
    /// What happens at each input, in all states that can be reached.
    fn instants(&mut self) -> Option<Vec<(SignalId, Vec<Turn>)>> {
        let processes = self.processes;
        let start = processes.start.expect("an instant has one input");
        let inputs = processes.signals();
        let inputs = inputs.filter(|input| processes.signal(*input).role == Role::Input);
        let inputs: Vec<SignalId> = inputs.filter(|input| *input != start).collect();
        let begun = self.instant(start)?;
        loop {
            let known: usize = self.rests.iter().map(BTreeSet::len).sum();
            let mut instants = vec![(start, begun.clone())];
            for input in &inputs {
                instants.push((*input, self.instant(*input)?));
            }
            if self.rests.iter().map(BTreeSet::len).sum::<usize>() == known {
                return Some(instants);
            }
        }
    }

    fn instant(&mut self, input: SignalId) -> Option<Vec<Turn>> {
        let begins = self.processes.start == Some(input);
        let first = BTreeSet::from([StateId(0)]);
        let begun = match begins {
            true => vec![first; self.explorers.len()],
            false => self.rests.clone(),
        };
        let mut instant = Instant {
            input,
            open: begun.clone(),
            begun,
            emitted: no_signals(self.processes),
            absent: no_signals(self.processes),
            turns: Vec::new(),
        };
        while instant.open.iter().any(|open| !open.is_empty()) {
            let emits = self.may_emit(&mut instant);
            let turn = self.next(&instant, &emits)?;
            self.taken(&mut instant, turn);
        }
        Some(instant.turns)
    }

    /// What each branch may still emit or write; what none can is absent.
    fn may_emit(&mut self, instant: &mut Instant) -> Vec<Signals> {
        loop {
            let none = no_signals(self.processes);
            let mut emits = vec![none.clone(); self.explorers.len()];
            for (branch, open) in instant.open.iter().enumerate() {
                for from in open {
                    let (term, statuses) = self.begins(branch, *from, instant, None);
                    let explorer = &mut self.explorers[branch];
                    let mut can = Can {
                        processes: explorer.processes,
                        terms: &mut explorer.terms,
                    };
                    emits[branch].union_with(&can.of(term, &statuses).emits);
                }
            }
            let mut absent = self.shared.clone();
            for some in emits.iter().chain([&instant.emitted]) {
                absent.difference_with(some);
            }
            if absent == instant.absent {
                return emits;
            }
            instant.absent = absent;
        }
    }

    /// What is left to do from a state, and what is known.
    fn begins(
        &mut self,
        branch: usize,
        from: StateId,
        instant: &Instant,
        beyond: Option<&Signals>,
    ) -> (TermId, Statuses) {
        let explorer = &mut self.explorers[branch];
        let state = explorer.states[from.at()].clone();
        let term = match state.waits {
            true => state.term,
            false => explorer.terms.resumed(state.term),
        };
        let mut statuses = state.statuses;
        for signal in self.processes.signals() {
            if !explorer.processes.signal(signal).role.is_given() {
                continue;
            }
            let open = |beyond: &Signals| beyond.contains(signal.at());
            if !self.shared.contains(signal.at()) {
                statuses.give(explorer.processes, signal, signal == instant.input);
            } else if instant.absent.contains(signal.at())
                || beyond.is_some_and(|beyond| !open(beyond) && !open(&instant.emitted))
            {
                statuses.give(explorer.processes, signal, false);
            }
        }
        (term, statuses)
    }

    /// The branch whose turn it is: the first that comes to rest, or else the one with most to do
    /// until it waits, so that those that wait for it need not begin before.
    fn next(&mut self, instant: &Instant, emits: &[Signals]) -> Option<Turn> {
        let mut goes_on = None;
        for branch in 0..self.explorers.len() {
            if instant.open[branch].is_empty() {
                continue;
            }
            let mut beyond = no_signals(self.processes);
            for (other, emits) in emits.iter().enumerate() {
                if other != branch {
                    beyond.union_with(emits);
                }
            }
            let turn = self.turn(branch, instant, &beyond).ok()?;
            let explorer = &self.explorers[branch];
            let ends = leaves(&explorer.automaton, &turn.ways);
            let waits = |state: &StateId| explorer.states[state.at()].waits;
            if turn.ways.len() == turn.from.len() && !ends.iter().any(waits) {
                return Some(turn);
            }
            let nodes = explorer
                .automaton
                .reached(turn.ways.iter().map(|(_, node)| *node));
            let nodes = nodes.len();
            if !turn.ways.is_empty() && goes_on.as_ref().is_none_or(|(most, _)| nodes > *most) {
                goes_on = Some((nodes, turn));
            }
        }
        goes_on.map(|(_, turn)| turn)
    }

    /// A branch goes on as far as it can. Where it cannot, there is no way.
    fn turn(
        &mut self,
        branch: usize,
        instant: &Instant,
        beyond: &Signals,
    ) -> Result<Turn, Refusal> {
        let mut ways = Vec::new();
        let from: Vec<StateId> = instant.open[branch].iter().copied().collect();
        for state in &from {
            let (term, statuses) = self.begins(branch, *state, instant, Some(beyond));
            let explorer = &mut self.explorers[branch];
            explorer.explored.clear();
            explorer.beyond = Some(beyond.clone());
            let node = explorer.instant(term, statuses)?;
            let same = match explorer.automaton.node(node) {
                Node::Leaf(end) => {
                    let end = &explorer.states[end.at()];
                    end.waits && end.term == term
                }
                Node::Test { .. } | Node::Act { .. } | Node::Twice(_) => false,
            };
            if !same {
                ways.push((*state, node));
            }
        }
        Ok(Turn { branch, from, ways })
    }

    /// Notes what a turn has done.
    fn taken(&mut self, instant: &mut Instant, mut turn: Turn) {
        let explorer = &self.explorers[turn.branch];
        let open = &mut instant.open[turn.branch];
        for (from, _) in &turn.ways {
            open.remove(from);
        }
        for end in leaves(&explorer.automaton, &turn.ways) {
            match explorer.states[end.at()].waits {
                true => open.insert(end),
                false => self.rests[turn.branch].insert(end),
            };
        }
        for signal in emitted(&explorer.automaton, &turn.ways) {
            instant.emitted.insert(signal.at());
        }
        turn.ways
            .retain(|(from, node)| explorer.automaton.node(*node) != &Node::Leaf(*from));
        if turn.ways.is_empty() {
            return;
        }
        // Before, it may have come to rest where it was, in a turn that is not there.
        if instant.turns.iter().all(|one| one.branch != turn.branch) {
            turn.from = instant.begun[turn.branch].iter().copied().collect();
        }
        instant.turns.push(turn);
    }
}

/// The states in which some ways end.
pub fn leaves(automaton: &Automaton, ways: &[(StateId, NodeId)]) -> BTreeSet<StateId> {
    let reached = automaton.reached(ways.iter().map(|(_, node)| *node));
    let reached = reached.into_iter();
    let leaves = reached.filter_map(|node| match automaton.node(node) {
        Node::Leaf(state) => Some(*state),
        Node::Test { .. } | Node::Act { .. } | Node::Twice(_) => None,
    });
    leaves.collect()
}

/// The signals that are emitted on some ways.
pub fn emitted(automaton: &Automaton, ways: &[(StateId, NodeId)]) -> BTreeSet<SignalId> {
    let reached = automaton.reached(ways.iter().map(|(_, node)| *node));
    let reached = reached.into_iter();
    let emitted = reached.filter_map(|node| match automaton.node(node) {
        Node::Act {
            act: Act::Emit { signal, .. },
            ..
        } => Some(*signal),
        Node::Act { .. } | Node::Test { .. } | Node::Leaf(_) | Node::Twice(_) => None,
    });
    emitted.collect()
}
