//! Instants of processes in layers, as the reference runs them: statement by statement, and only
//! what must be done.
//!
//! In: an event of an instance. Out: its outputs, those of branches that run in parallel in the
//! order of the branches.

use super::function::{Body, run_block};
use super::process::reference::Reference as Control;
use super::process::{Computes, Fault, Present};
use super::reference::Handling;
use super::state::Pending;
use crate::types::expression::{Expression, ExpressionKind, Instance, Variable};
use crate::types::process::{DataId, SignalId, Statement as Kernel, StatementId};
use crate::types::program::Event;
use crate::types::reactive::{Computation, Reactive};
use crate::types::statement::{React, Statement, StatementKind};
use std::collections::BTreeMap;

/// Where a computation stands: in which branch of each parallel statement around it.
type Place = Vec<(StatementId, usize)>;

/// One instant of the processes of an instance.
pub struct Instant<'i, 'a, 'p> {
    handling: &'i mut Handling<'a, 'p>,
    reactive: &'p Reactive,
    places: BTreeMap<DataId, Place>,
    /// Where each output comes from.
    placed: Vec<Place>,
}

impl<'i, 'a, 'p> Instant<'i, 'a, 'p> {
    /// Runs the instant that an event begins.
    pub fn run(handling: &'i mut Handling<'a, 'p>, reactive: &'p Reactive, event: Event) {
        let (kind, index) = (handling.kind, handling.index);
        for (field, value) in &reactive.before {
            let value = handling.evaluation().value(value);
            let place = Variable::Field(Instance::Own, kind, *field);
            handling.evaluation().write(&place, value);
        }
        let mut events = reactive.events.iter();
        let input = events.find(|(other, ..)| *other == event);
        let (_, input, _) = input.expect("processes hear what they are told");
        let resting = &mut handling.state.kinds[kind.at()].processes;
        let mut control = match event {
            Event::Start => Control::new(&reactive.processes),
            _ => resting.remove(&index).expect("processes have started"),
        };
        let mut instant = Instant {
            handling,
            reactive,
            places: places(reactive),
            placed: Vec::new(),
        };
        let given = Present::from([*input]);
        let done = control.instant(&given, &mut instant);
        done.expect("processes that were compiled are constructive");
        let resting = &mut handling.state.kinds[kind.at()].processes;
        resting.insert(index, control);
    }

    /// The outputs of a branch take their places: before those of branches behind it.
    fn place_outputs(&mut self, data: DataId, from: usize) {
        if self.handling.family {
            return;
        }
        let place = self.places[&data].clone();
        let fresh = self.handling.outputs.split_off(from);
        let outputs: Vec<Pending> = std::mem::take(&mut self.handling.outputs);
        let before = self
            .placed
            .iter()
            .position(|other| is_before(&place, other));
        let before = before.unwrap_or(outputs.len());
        let count = fresh.len();
        let mut first = outputs;
        let last = first.split_off(before);
        first.extend(fresh);
        first.extend(last);
        self.handling.outputs = first;
        for _ in 0..count {
            self.placed.insert(before, place.clone());
        }
    }
}

impl Computes for Instant<'_, '_, '_> {
    fn act(&mut self, data: DataId) -> Result<(), Fault> {
        let reactive = self.reactive;
        let from = self.handling.outputs.len();
        if let Computation::Steps(block) = reactive.computation(data)
            && !block.iter().any(is_take)
        {
            let _ = run_block(self.handling, block);
        }
        self.place_outputs(data, from);
        Ok(())
    }

    fn holds(&mut self, data: DataId) -> Result<bool, Fault> {
        let reactive = self.reactive;
        let Computation::Choice(choice) = reactive.computation(data) else {
            unreachable!("only a choice is asked");
        };
        let from = self.handling.outputs.len();
        let holds = match &choice.kind {
            StatementKind::If { condition, .. } | StatementKind::Require { condition, .. } => {
                self.handling.evaluation().is_true(condition)
            }
            StatementKind::Attempt { attempt, bind, .. } => self.handling.attempt(attempt, *bind),
            other => unreachable!("{other:?} is no choice"),
        };
        self.place_outputs(data, from);
        Ok(holds)
    }

    fn emit(&mut self, signal: SignalId, value: Option<DataId>, again: bool) -> Result<(), Fault> {
        let reactive = self.reactive;
        let Some(Computation::Value(value)) = value.map(|data| reactive.computation(data)) else {
            return Ok(());
        };
        let mut values = reactive.values.iter();
        let found = values.find(|(other, ..)| *other == signal);
        let (_, field, combine) = found.expect("what carries a value has a field for it");
        let place = Variable::Field(Instance::Own, self.handling.kind, *field);
        let result = value.result.clone();
        let value = match combine {
            Some(combine) if again => {
                let known = ExpressionKind::Read(place.clone());
                let known = Expression::new(known, result.clone());
                let both = Expression::binary(*combine, known, value.clone(), result);
                self.handling.evaluation().value(&both)
            }
            Some(_) | None => self.handling.evaluation().value(value),
        };
        self.handling.evaluation().write(&place, value);
        Ok(())
    }

    fn keep(&mut self, _: SignalId) {}
}

fn is_take(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::React(react) => matches!(**react, React::Take(_)),
        _of_another_kind => false,
    }
}

/// Whether one place runs in parallel to another, in a branch before its.
fn is_before(one: &Place, other: &Place) -> bool {
    let differ = one.iter().zip(other).find(|(one, other)| one != other);
    differ.is_some_and(|((around, at), (around_other, at_other))| {
        around == around_other && at < at_other
    })
}

/// Where each computation stands.
fn places(reactive: &Reactive) -> BTreeMap<DataId, Place> {
    let mut places = BTreeMap::new();
    if let Some(root) = reactive.processes.root {
        note_places(reactive, root, &mut Vec::new(), &mut places);
    }
    places
}

fn note_places(
    reactive: &Reactive,
    id: StatementId,
    place: &mut Place,
    places: &mut BTreeMap<DataId, Place>,
) {
    let statement = reactive.processes.statement(id);
    if let Kernel::Do(data)
    | Kernel::If {
        condition: data, ..
    } = statement
    {
        places.insert(*data, place.clone());
    }
    for (at, part) in statement.parts().into_iter().enumerate() {
        let parallel = matches!(statement, Kernel::Parallel(_));
        if parallel {
            place.push((id, at));
        }
        note_places(reactive, part, place, places);
        if parallel {
            place.pop();
        }
    }
    if let Kernel::Abort { cases, .. } = statement {
        for count in cases.iter().filter_map(|case| case.delay.count) {
            for data in [count.begin, count.down, count.over] {
                places.insert(data, place.clone());
            }
        }
    }
}
