//! Symbolic execution of what happens to the agenda: the order of events and of outputs.
//!
//! In: operations that put events on the agenda, and ends of reactions. Out: the events that wait
//! before all that waited at the start, in their order; outputs, each a function of those before
//! it; and the event that comes next. `queue.front E; return` and `tail E` have the same next
//! event, but take another number of steps, which is a part of the state.
//!
//! If different events wait on ways that meet, the events become a term of the state, and their
//! order is not known any more. An event that is put on the agenda has a place there.

use super::{End, Ending, Executor, Frame, Modelled};
use crate::ir::effects::Resource;
use crate::ir::op::{Event, Op, Order, Target, Told};
use crate::ir::{Instruction, Value};
use crate::prove::symbolic::{Cell, Pending, State, Symbolic};
use crate::prove::terms::{Sort, Term};

use Symbolic::Plain;

/// The reason why a difference in the order of events may be none.
const UNORDERED: &str = "the order of events that wait on some paths alone";

impl Executor<'_> {
    /// Executes an operation on the agenda.
    pub(super) fn on_agenda(
        &mut self,
        frame: &mut Frame<'_>,
        instruction: &Instruction,
    ) -> Vec<Symbolic> {
        let operands = &instruction.operands[..];
        match &instruction.op {
            Op::Queue(Order::Front, events) => {
                let waiting = pending(frame, events, operands);
                frame.state.waiting.extend(waiting.into_iter().rev());
                Vec::new()
            }
            Op::Queue(Order::Made, events) => {
                let waiting = pending(frame, events, operands);
                frame.state.waiting.extend(waiting);
                Vec::new()
            }
            Op::Output(events) => {
                for event in pending(frame, events, operands) {
                    self.output(&mut frame.state, event);
                }
                Vec::new()
            }
            Op::Step => {
                let count = frame.plain(operands[0]);
                let steps = frame.state.get(self.terms, self.module, Cell::Steps);
                let steps = self.terms.add(steps, count);
                frame.state.cells.insert(Cell::Steps, steps);
                Vec::new()
            }
            Op::Waiting => {
                let held = self.held(&frame.state);
                let count = frame.state.waiting.len() as u64;
                vec![Plain(self.terms.behind(held, count))]
            }
            Op::GoesOn(_) if !frame.state.waiting.is_empty() => vec![Plain(self.terms.bit(false))],
            Op::Turn => {
                let mark = frame.plain(operands[0]);
                match self.place_of_mark(&frame.state, mark) {
                    Some(place) => frame.state.waiting[place..].reverse(),
                    None => drop(self.abstracted(frame, instruction)),
                }
                Vec::new()
            }
            Op::Precede => {
                let marks = [frame.plain(operands[0]), frame.plain(operands[1])];
                let places = marks.map(|mark| self.place_of_mark(&frame.state, mark));
                let [Some(from), Some(since)] = places else {
                    return self.abstracted(frame, instruction);
                };
                if from > since {
                    return self.abstracted(frame, instruction);
                }
                let all = &mut frame.state.waiting[from..];
                all.rotate_left(since - from);
                let behind = (all.len() - (since - from) + from) as u64;
                let held = self.held(&frame.state);
                vec![Plain(self.terms.behind(held, behind))]
            }
            _behind_all => {
                let waiting = std::mem::take(&mut frame.state.waiting);
                let results = self.abstracted(frame, instruction);
                frame.state.waiting = waiting;
                results
            }
        }
    }

    /// Returns the number of events that waited at the start, or wait in no known order.
    fn held(&mut self, state: &State) -> Term {
        let agenda = self.cell(state, Resource::Agenda);
        self.terms.applied("waiting", &[agenda], Sort::Bits(32))
    }

    /// Returns the place of a mark among the events that wait in a known order.
    pub(super) fn place_of_mark(&mut self, state: &State, mark: Term) -> Option<usize> {
        let held = self.held(state);
        let place = self.terms.subtract(mark, held);
        let place = self.terms.constant(place)? as usize;
        (place <= state.waiting.len()).then_some(place)
    }

    /// An output leaves at once.
    fn output(&mut self, state: &mut State, event: Pending) {
        if self.leaves(event.event.target) {
            return self.emitted(state, &event);
        }
        self.wait_unordered(state);
        self.doubts.insert(UNORDERED);
        self.waits(state, &event, "output");
    }

    /// Returns true for a target that changes nothing but outputs: a link, or a port whose
    /// application asks for its messages and opened all of its sessions.
    fn leaves(&self, target: Target) -> bool {
        match target {
            Target::Link(_) => true,
            Target::Port(id, told) => {
                let listens = self.module.listening.iter().any(|one| one.port == id);
                let is_called = self.module.ports[id.at()].calls.is_some();
                told != Told::Started && !listens && !is_called
            }
            Target::Function(_) => false,
        }
    }

    /// Goes on behind the end of a reaction: with this event, or else with the first that waits.
    /// Outputs leave, and reactions that are followed are executed.
    pub(super) fn next(
        &mut self,
        (condition, mut state): (Term, State),
        mut event: Option<Pending>,
        ends: &mut Vec<End>,
    ) -> Modelled<()> {
        loop {
            let next = match event.take() {
                Some(next) => next,
                None => match state.waiting.pop() {
                    Some(next) => {
                        self.step(&mut state);
                        next
                    }
                    None => {
                        let ending = Ending::Returns(Vec::new());
                        ends.push(End {
                            condition,
                            ending,
                            state,
                        });
                        return Ok(());
                    }
                },
            };
            if self.leaves(next.event.target) {
                self.emitted(&mut state, &next);
                continue;
            }
            if !self.is_followed((condition, &state), &next, ends)? {
                let ending = Ending::Tail(next.event, next.values);
                ends.push(End {
                    condition,
                    ending,
                    state,
                });
            }
            return Ok(());
        }
    }

    fn step(&mut self, state: &mut State) {
        let steps = state.get(self.terms, self.module, Cell::Steps);
        let steps = self.terms.behind(steps, 1);
        state.cells.insert(Cell::Steps, steps);
    }

    /// An output is a function of those before it, of what is given, and of the bytes of its
    /// message.
    fn emitted(&mut self, state: &mut State, event: &Pending) {
        let name = self.naming.target(self.module, event.event.target);
        let known = (&mut *self.terms, self.module);
        let mut given = self.naming.arguments(known, event.event, &event.values);
        state.left.push((name.clone(), given.clone()));
        for value in &event.values {
            given.extend(self.content_of(state, value));
        }
        let outputs = self.cell(state, Resource::Outputs);
        given.push(outputs);
        let outputs = self
            .terms
            .applied(&format!("leaves {name}"), &given, Sort::Token);
        let cell = Cell::Resource(Resource::Outputs);
        state.cells.insert(cell, outputs);
    }

    /// All events that wait become a term of the state, in their order.
    pub fn wait_in_state(&mut self, state: &mut State) {
        for event in std::mem::take(&mut state.waiting) {
            self.waits(state, &event, "waits");
        }
    }

    fn waits(&mut self, state: &mut State, event: &Pending, word: &str) {
        let name = self.naming.target(self.module, event.event.target);
        let known = (&mut *self.terms, self.module);
        let mut given = self.naming.arguments(known, event.event, &event.values);
        let agenda = self.cell(state, Resource::Agenda);
        given.push(agenda);
        let agenda = self
            .terms
            .applied(&format!("{word} {name}"), &given, Sort::Token);
        let cell = Cell::Resource(Resource::Agenda);
        state.cells.insert(cell, agenda);
    }

    /// All events that wait become a term of the state, though some of them may come next.
    pub(super) fn wait_unordered(&mut self, state: &mut State) {
        if !state.waiting.is_empty() {
            self.doubts.insert(UNORDERED);
            self.wait_in_state(state);
        }
    }

    /// Different events that wait on two ways become terms of their states.
    pub(super) fn wait_alike(&mut self, own: &mut State, other: &mut State) {
        let targets = |state: &State| {
            let all = state.waiting.iter().map(|one| one.event);
            all.collect::<Vec<Event>>()
        };
        if targets(own) != targets(other) {
            self.wait_unordered(own);
            self.wait_unordered(other);
        }
    }
}

/// Returns events with their arguments.
fn pending(frame: &Frame<'_>, events: &[Event], operands: &[Value]) -> Vec<Pending> {
    let mut rest = operands;
    let all = events.iter().map(|event| {
        let (own, others) = rest.split_at(event.arguments as usize);
        rest = others;
        Pending {
            event: *event,
            values: own.iter().map(|one| frame.value(*one)).collect(),
        }
    });
    all.collect()
}
