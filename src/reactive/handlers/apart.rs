//! Branches that stay apart: in, the automaton of each and the order of their turns; out, handlers
//! in which one turn stands behind the other.
//!
//! ```text
//! emitted = false                         a flag for each signal that another branch asks for
//! match control_1 {                       the turn of the first branch: its state, what it does
//!     case 1 { emitted = true             there, the state behind it
//!              control_1 = 2 }
//!     else {} }
//! if emitted { … }                        the turn of the second
//! ```
//!
//! Where a branch has several turns in an instant, a local says where it stands: in the state in
//! which the instant began, in one in which it waits, or nowhere, when it has come to rest.

use super::{Given, Making, STAYS, Settled, control, width};
use crate::reactive::explore::apart::{Apart, Branch, Turn, emitted, leaves};
use crate::reactive::reads;
use crate::tree::automaton::{Automaton, Node, Question, StateId};
use crate::types::expression::{Binary, Expression, ExpressionKind};
use crate::types::process::{DataId, SignalId};
use crate::types::program::{Event, FieldId, Local, LocalId, Program};
use crate::types::reactive::Computation;
use crate::types::statement::{Block, BlockId, Ordered, StatementKind};
use crate::types::value::Type;
use std::collections::{BTreeMap, BTreeSet};

/// The handlers of a kind whose branches stay apart. None where it depends on several branches who
/// takes a message: all ways of one of them do; or where a header is read in a state that may not
/// be reached when there is none.
pub fn handlers(program: &mut Program, given: &Given, apart: &Apart) -> Option<Settled> {
    let turns_of = |input: &SignalId| {
        let mut instants = apart.instants.iter();
        let found = instants.find(|(other, _)| other == input);
        let (_, turns) = found.expect("each event has its instants");
        turns
    };
    for (event, input, parameters) in &given.reactive.events {
        let making = Making::new(program, given, *input);
        if !making.holds_apart((*event, parameters), apart, turns_of(input)) {
            return None;
        }
    }
    let registers = apart.branches.iter().enumerate();
    let registers = registers.map(|(at, branch)| {
        let name = format!("processes.state_{}", at + 1);
        control(program, given.kind, &name, branch.rests.len())
    });
    let registers: Vec<Option<FieldId>> = registers.collect();
    let made = given.reactive.events.iter().map(|(event, input, _)| {
        let mut making = Making::new(program, given, *input);
        making.meets = true;
        let mut instant = Instant {
            making,
            apart,
            registers: &registers,
            stands: BTreeMap::new(),
        };
        let body = instant.body(*event, turns_of(input));
        instant.making.made(*event, body)
    });
    let made = made.collect();
    let states = apart.branches.iter().map(|branch| branch.rests.len()).sum();
    Some(Settled { made, states })
}

/// What happens at one event.
struct Instant<'a> {
    making: Making<'a>,
    apart: &'a Apart,
    registers: &'a [Option<FieldId>],
    /// Which local says where a branch stands, where it has several turns.
    stands: BTreeMap<usize, LocalId>,
}

impl Branch {
    /// The number of a state, in registers and where it waits.
    fn number(&self, state: StateId) -> u32 {
        let rests = self.rests.iter().position(|one| *one == state);
        match rests {
            Some(at) => at as u32,
            None => self.rests.len() as u32 + state.0,
        }
    }

    /// The number of no state.
    fn nowhere(&self) -> u32 {
        (self.rests.len() + self.waits.len()) as u32
    }
}

impl Instant<'_> {
    fn body(&mut self, event: Event, turns: &[Turn]) -> Block {
        let mut openings = vec![Block::new(); turns.len()];
        self.raise_none(turns, &mut openings);
        self.note_stands(event, turns, &mut openings);
        let before = self.note_marks(turns, &mut openings);
        let mut next = Block::new();
        for at in (0..turns.len()).rev() {
            let behind = self
                .making
                .statement(StatementKind::Ordered(Ordered::Put(before[at])));
            next.insert(0, behind);
            let code = self.turn(turns, at, next);
            let block = BlockId(self.making.blocks.len() as u32);
            self.making.blocks.push(code);
            next = std::mem::take(&mut openings[at]);
            next.push(
                self.making
                    .statement(StatementKind::Ordered(Ordered::Go(block))),
            );
        }
        let mut body = self.making.what_was_before(self.computed(turns));
        body.extend(next);
        body
    }

    /// Signals that are asked for are absent, until a turn emits them.
    fn raise_none(&mut self, turns: &[Turn], openings: &mut [Block]) {
        for signal in self.asked(turns) {
            let name = self
                .making
                .given
                .reactive
                .processes
                .signal(signal)
                .name
                .clone();
            let flag = self.local(name, Type::Bool);
            self.making.flags.insert(signal, flag);
            let emits = |turn: &Turn| {
                let automaton = &self.apart.branches[turn.branch].automaton;
                emitted(automaton, &turn.ways).contains(&signal)
            };
            let first = turns.iter().position(emits);
            let first = first.expect("what is asked for is emitted before");
            let absent = StatementKind::Let(flag, Expression::number(0, Type::Bool));
            openings[first].push(self.making.statement(absent));
        }
    }

    /// A branch with several turns stands where it rested.
    fn note_stands(&mut self, event: Event, turns: &[Turn], openings: &mut [Block]) {
        for (at, branch) in self.apart.branches.iter().enumerate() {
            let mut own = turns.iter().enumerate();
            let mut own = own.by_ref().filter(|(_, turn)| turn.branch == at);
            let Some((first, _)) = own.next() else {
                continue;
            };
            if own.all(|(later, turn)| self.is_certain(turn, &turns[..later])) {
                continue;
            }
            let of = width(branch.nowhere() as usize);
            let local = self.local(format!("stands_{}", at + 1), of.clone());
            self.stands.insert(at, local);
            let stands = match self.registers[at] {
                Some(register) if event != Event::Start => {
                    let kind = self.making.field(register).kind.clone();
                    let read = ExpressionKind::Read(self.making.own(register));
                    Expression::new(read, kind)
                }
                Some(_) | None => {
                    let only = if event == Event::Start {
                        StateId(0)
                    } else {
                        branch.rests[0]
                    };
                    Expression::number(u64::from(branch.number(only)), of)
                }
            };
            let stands = StatementKind::Let(local, stands);
            openings[first].push(self.making.statement(stands));
        }
    }

    /// Outputs come in the order in which branches stand, not in that of their turns. So where a
    /// branch has its turn behind one that stands behind it, marks say where the outputs of each
    /// begin; for each turn, the mark that its outputs come before.
    fn note_marks(&mut self, turns: &[Turn], openings: &mut [Block]) -> Vec<Option<LocalId>> {
        let due: Vec<bool> = turns.iter().map(|turn| self.makes_due(turn)).collect();
        let is_passed = |branch: usize, from: usize| {
            let mut later = turns.iter().zip(&due).skip(from);
            later.any(|(turn, due)| *due && turn.branch < branch)
        };
        let mut begins: BTreeMap<usize, LocalId> = BTreeMap::new();
        let mut before = Vec::new();
        for (at, turn) in turns.iter().enumerate() {
            let behind: Vec<(usize, LocalId)> = match due[at] {
                true => begins
                    .range(turn.branch + 1..)
                    .map(|(one, mark)| (*one, *mark))
                    .collect(),
                false => Vec::new(),
            };
            let first = behind.first().map(|(_, mark)| *mark);
            before.push(first);
            if due[at] && is_passed(turn.branch, at + 1) && !begins.contains_key(&turn.branch) {
                let mark = self.local("mark".to_string(), Type::Unsigned(32));
                begins.insert(turn.branch, mark);
                let note = match first {
                    Some(first) => StatementKind::Let(mark, place(first)),
                    None => StatementKind::Ordered(Ordered::Mark(mark)),
                };
                openings[at].push(self.making.statement(note));
            }
            let moved = behind.into_iter().skip(1);
            let moved: Vec<LocalId> = moved
                .filter(|(branch, _)| is_passed(*branch, at + 1))
                .map(|(_, mark)| mark)
                .collect();
            if let Some(first) = first.filter(|_| !moved.is_empty()) {
                let was = self.local("was".to_string(), Type::Unsigned(32));
                openings[at].push(self.making.statement(StatementKind::Let(was, place(first))));
                for mark in moved {
                    let further = operation(Binary::Subtract, place(first), place(was));
                    let further = operation(Binary::Add, place(mark), further);
                    let moves = StatementKind::Let(mark, further);
                    openings[at + 1].push(self.making.statement(moves));
                }
            }
        }
        before
    }

    /// Whether a turn lets something happen behind the instant.
    fn makes_due(&self, turn: &Turn) -> bool {
        let automaton = &self.apart.branches[turn.branch].automaton;
        let computed = automaton.computed(turn.ways.iter().map(|(_, node)| *node));
        let mut computed = computed.into_iter();
        computed.any(|data| match self.making.given.reactive.computation(data) {
            Computation::Steps(steps) => reads::has_outputs(steps),
            Computation::Choice(choice) => reads::has_outputs(std::slice::from_ref(choice)),
            Computation::Value(_) => false,
        })
    }

    /// What a branch does, and all that comes behind it.
    fn turn(&mut self, turns: &[Turn], at: usize, next: Block) -> Block {
        let turn = &turns[at];
        let later = turns[at + 1..].iter().any(|one| one.branch == turn.branch);
        let apart = self.apart;
        let branch = &apart.branches[turn.branch];
        let making = &mut self.making;
        making.automaton = Automaton::new(making.given.reactive.processes.risky.clone());
        making.shared.clear();
        making.ends.clear();
        let ways = turn.ways.iter();
        let ways: Vec<_> = ways
            .map(|(from, node)| making.way(&branch.automaton, *from, *node))
            .collect();
        for state in leaves(&self.making.automaton, &ways) {
            let end = self.end(turn, state, later, &next);
            self.making.ends.insert(state, end);
        }
        self.making.share(&ways);
        if self.is_certain(turn, &turns[..at]) {
            return self.making.code(ways[0].1);
        }
        let cases = ways.iter();
        let mut cases: Vec<_> = cases
            .map(|(from, node)| (branch.number(*from), *node))
            .collect();
        // Where it is in none of the others it is in the last one, if it must be in one of them.
        let is_one = self.is_somewhere(turn, &turns[..at]) && ways.len() == turn.from.len();
        let next = match cases.pop_if(|_| is_one) {
            Some((_, node)) => self.making.code(node),
            None => next,
        };
        match (self.stands.get(&turn.branch), self.registers[turn.branch]) {
            (Some(local), _) => {
                let of = self.making.locals[local.at()].kind.clone();
                let value = Expression::local(*local, of);
                self.making.by_number(value, &cases, next)
            }
            (None, Some(register)) => self.making.by_state(register, &cases, next),
            (None, None) => unreachable!("a branch without states has one way"),
        }
    }

    /// Whether it is certain where a branch stands when it gets a turn.
    fn is_certain(&self, turn: &Turn, before: &[Turn]) -> bool {
        turn.from.len() == 1 && self.is_somewhere(turn, before)
    }

    /// Whether a branch must stand in one of the states in which it may be when it gets a turn.
    fn is_somewhere(&self, turn: &Turn, before: &[Turn]) -> bool {
        let branch = &self.apart.branches[turn.branch];
        let mut before = before.iter().filter(|one| one.branch == turn.branch);
        before.all(|one| {
            let ends = leaves(&branch.automaton, &one.ways);
            one.ways.len() == one.from.len() && ends.iter().all(|end| branch.waits[end.at()])
        })
    }

    /// What is done where a turn ends.
    fn end(&self, turn: &Turn, state: StateId, later: bool, next: &Block) -> Block {
        let making = &self.making;
        let mut end = Block::new();
        let branch = &self.apart.branches[turn.branch];
        let stays = state == STAYS;
        let waits = !stays && branch.waits[state.at()];
        if let (Some(register), false, false) = (self.registers[turn.branch], stays, waits) {
            let number = making.number(register, branch.number(state));
            let note = StatementKind::Assign(making.own(register), number);
            end.push(making.statement(note));
        }
        if let Some(local) = self.stands.get(&turn.branch).filter(|_| later) {
            let of = making.locals[local.at()].kind.clone();
            let number = match waits {
                true => branch.number(state),
                false => branch.nowhere(),
            };
            let number = Expression::number(u64::from(number), of);
            end.push(making.statement(StatementKind::Let(*local, number)));
        }
        end.extend(next.iter().cloned());
        end
    }

    fn local(&mut self, name: String, kind: Type) -> LocalId {
        self.making.locals.push(Local { name, kind });
        LocalId(self.making.locals.len() as u32 - 1)
    }

    /// The signals that some turn asks for.
    fn asked(&self, turns: &[Turn]) -> BTreeSet<SignalId> {
        let mut asked = BTreeSet::new();
        for turn in turns {
            let automaton = &self.apart.branches[turn.branch].automaton;
            for node in automaton.reached(turn.ways.iter().map(|(_, node)| *node)) {
                if let Node::Test {
                    question: Question::Given(signal),
                    ..
                } = automaton.node(node)
                {
                    asked.insert(*signal);
                }
            }
        }
        asked
    }

    /// All that is computed.
    fn computed(&self, turns: &[Turn]) -> BTreeSet<DataId> {
        let mut computed = BTreeSet::new();
        for turn in turns {
            let automaton = &self.apart.branches[turn.branch].automaton;
            computed.extend(automaton.computed(turn.ways.iter().map(|(_, node)| *node)));
        }
        computed
    }
}

/// How many outputs stand before a mark.
fn place(mark: LocalId) -> Expression {
    Expression::local(mark, Type::Unsigned(32))
}

fn operation(operator: Binary, one: Expression, other: Expression) -> Expression {
    Expression::binary(operator, one, other, Type::Unsigned(32))
}
