//! Transitions: in, those of a body; out, a function that selects one, and one that fires each.
//! If modules are few, each instance has functions of its own.
//!
//! | function | what it does |
//! |---|---|
//! | `B_begin` | `initialize` of a new instance |
//! | `B_select` | the number of the transition that the instance offers, or that behind the last |
//! | `B_T` | fires the transition `T` |

use super::super::outside::choice::{Choice, Choices};
use super::super::sizes::{points_of, transitions_of};
use super::super::{Fault, Lower, Which};
use super::{Called, Code};
use crate::ir::op::{Arithmetic, Compare};
use crate::ir::{BlockId, Edge, Op, Probability, Region, Stored, Terminator, Type as Plain, Value};
use crate::types::estelle::program::{Body, BodyId, StateId, Transition, When};

impl Lower<'_> {
    /// The function that initialises a new instance of a body.
    pub(in super::super) fn begin(&mut self, id: BodyId) -> Called {
        if let Some(known) = self.begins.get(&id) {
            return known.clone();
        }
        let body = &self.program.bodies[id.index()];
        if body.is_external {
            let called = self.external_begin(id);
            self.begins.insert(id, called.clone());
            return called;
        }
        let name = format!("{}_begin", body.name.to_lowercase());
        let mut code = Code::new(self, (Which::Specification, id), &name, &[], Vec::new());
        let all: Vec<(usize, &Transition)> = body.initialize.iter().enumerate().collect();
        let choices = code.lower.choices;
        code.first_or_chosen((Choice::Element, choices), &all, &mut |code, at| {
            let transition = &body.initialize[at];
            code.bind_any(transition);
            code.does(transition);
            code.answer(&[]);
        });
        match body.initialize.is_empty() {
            true => code.answer(&[]),
            false => {
                let fault = code.word(Fault::NoInitialise.number());
                code.stops(fault);
            }
        }
        let called = code.finish();
        self.begins.insert(id, called.clone());
        called
    }

    /// The function that says which transition an instance offers, by a choice of the host or the
    /// first.
    pub(in super::super) fn select(
        &mut self,
        id: BodyId,
        only: Option<u32>,
        choices: Choices,
    ) -> Called {
        let body = &self.program.bodies[id.index()];
        if body.is_external {
            return self.external_select(id, only);
        }
        let does = match (self.choices, choices) {
            (Choices::Host, Choices::First) => "may_fire",
            _select => "select",
        };
        let name = format!("{}_{does}", self.named(id, only));
        let results = vec![Plain::WORD];
        let place = (Which::Specification, id, only);
        let mut code = Code::of_instance(self, place, &name, &[], results);
        match body.states.is_empty() {
            true => code.offers(body, None, choices),
            false => {
                let state = code.state();
                let here = code.build.here();
                let mut cases = Vec::new();
                for at in 0..body.states.len() as u32 {
                    let block = code.build.block(&[]);
                    cases.push((u64::from(at), Probability(0), Edge::to(block)));
                    code.build.go_to(block);
                    code.offers(body, Some(StateId(at)), choices);
                }
                let never = code.build.block(&[]);
                code.build.go_to(never);
                code.build.end(Terminator::Never);
                code.build.go_to(here);
                code.build.end(Terminator::Switch {
                    value: state,
                    cases,
                    otherwise: Edge::to(never),
                });
            }
        }
        code.finish()
    }

    /// The function that returns the state of an instance; -1 without states.
    pub(in super::super) fn state(&mut self, id: BodyId) -> Called {
        let body = &self.program.bodies[id.index()];
        let name = format!("{}_state", body.name.to_lowercase());
        let place = (Which::Specification, id);
        let mut code = Code::new(self, place, &name, &[], vec![Plain::WORD]);
        let state = match body.states.is_empty() {
            true => code.word(-1),
            false => code.state(),
        };
        code.answer(&[state]);
        code.finish()
    }

    /// The name of a body in those of functions, perhaps of one instance alone.
    pub(in super::super) fn named(&self, id: BodyId, only: Option<u32>) -> String {
        let name = self.program.bodies[id.index()].name.to_lowercase();
        match only {
            Some(only) if self.sizes.instances[id.index()] > 1 => format!("{name}_{only}"),
            _all => name,
        }
    }

    /// The number of a transition of a body, perhaps of one instance alone.
    pub(in super::super) fn transition_number(
        &self,
        body: BodyId,
        only: Option<u32>,
        at: usize,
    ) -> i64 {
        let each = i64::from(transitions_of(&self.program.bodies[body.index()]));
        let first = self.sizes.first_transition[body.index()];
        i64::from(first) + i64::from(only.unwrap_or(0)) * each + at as i64
    }

    /// The functions that fire the transitions of a body, perhaps of one instance alone.
    pub(in super::super) fn fires(&mut self, id: BodyId, only: Option<u32>) -> Vec<Called> {
        let body = &self.program.bodies[id.index()];
        if body.is_external {
            return vec![self.external_fire(id, only)];
        }
        let own = self.named(id, only);
        let all = body.transitions.iter().enumerate();
        let all = all.map(|(at, transition)| {
            let name = format!("{own}_{}", transition.name.to_lowercase());
            let place = (Which::Specification, id, only);
            let mut code = Code::of_instance(self, place, &name, &[], Vec::new());
            code.bind_any(transition);
            if let Some(when) = transition.when {
                let point = code.point_of(when);
                let item = code.kernel("front", &[point])[0];
                code.take(transition, item);
                code.kernel("take", &[point]);
            }
            code.stop_clock(at);
            code.does(transition);
            code.watch();
            code.answer(&[]);
            code.finish()
        });
        all.collect()
    }
}

impl Code<'_, '_> {
    /// The number of the state.
    pub fn state(&mut self) -> Value {
        let field = self.lower.state_field(self.body);
        let kind = self.lower.body_kind(self.which, self.body);
        let own = self.own();
        let state = self.op(Op::Load(Region::Field(kind, field)), &[own]);
        match self.build.type_of(state) {
            Plain::WORD => state,
            _narrow => self.op(Op::ZeroExtend(32), &[state]),
        }
    }

    /// Returns the first transition that may fire, or one that the host chooses, of the highest
    /// priority among those.
    fn offers(&mut self, body: &Body, state: Option<StateId>, choices: Choices) {
        let mut all: Vec<(usize, &Transition)> = body.transitions.iter().enumerate().collect();
        all.retain(|(_, one)| match state {
            None => true,
            Some(state) => one.from.is_empty() || one.from.contains(&state),
        });
        all.sort_by_key(|(at, one)| (one.priority.unwrap_or(u64::MAX), *at));
        let ranks = all.chunk_by(|(_, one), (_, other)| one.priority == other.priority);
        for rank in ranks {
            self.first_or_chosen((Choice::Offer, choices), rank, &mut |code, at| {
                let number = code.lower.transition_number(code.body, code.only, at);
                let number = code.word(number);
                code.answer(&[number]);
            });
        }
        let none = self.kernel_number("no_transition");
        self.answer(&[none]);
    }

    /// Runs code for the first transition that may fire, or for one that the host chooses. Goes on
    /// where there is none.
    fn first_or_chosen(
        &mut self,
        (source, choices): (Choice, Choices),
        all: &[(usize, &Transition)],
        does: &mut dyn FnMut(&mut Self, usize),
    ) {
        match choices {
            Choices::First => {
                for (at, transition) in all {
                    let next = self.build.block(&[]);
                    self.may_fire(*at, transition, next);
                    does(self, *at);
                    self.build.go_to(next);
                }
            }
            Choices::Host => {
                let bits: Vec<Value> = all.iter().map(|one| self.may_fire_bit(one)).collect();
                let (bits, none) = self.chosen_of(source, &bits);
                for ((at, _), bit) in all.iter().zip(bits) {
                    let (yes, no) = self.build.branch(bit, Probability::EVEN);
                    self.build.go_to(yes);
                    does(self, *at);
                    self.build.go_to(no);
                }
                self.jump(none);
                self.build.go_to(none);
            }
        }
    }

    /// The bit that says if a transition may fire.
    fn may_fire_bit(&mut self, (at, transition): &(usize, &Transition)) -> Value {
        let behind = self.build.block(&[(Plain::BIT, "")]);
        let no = self.build.block(&[]);
        self.may_fire(*at, transition, no);
        let holds = self.bit(true);
        self.give(behind, holds);
        self.build.go_to(no);
        let fails = self.bit(false);
        self.give(behind, fails);
        self.build.go_to(behind);
        self.build.parameter_of(behind, 0)
    }

    /// Goes to a block unless a transition may fire in its state.
    fn may_fire(&mut self, at: usize, transition: &Transition, next: BlockId) {
        self.bind_any(transition);
        if let Some(when) = transition.when {
            let item = self.offered(when, next);
            if transition.provided.is_some() {
                self.take(transition, item);
            }
        }
        match &transition.delay {
            None => self.demand(transition, next),
            Some(_) => {
                let is_due = self.is_due(at);
                let waits = self.op(Op::Not, &[is_due]);
                self.goes_on_unless(waits, next);
            }
        }
    }

    /// Goes to a block where a bit is 1.
    pub fn goes_on_unless(&mut self, condition: Value, next: BlockId) {
        let behind = self.build.block(&[]);
        self.build.end(Terminator::Branch {
            condition,
            likely: Probability::EVEN,
            then: Edge::to(next),
            otherwise: Edge::to(behind),
        });
        self.build.go_to(behind);
    }

    /// Goes to a block where the condition of a transition does not hold.
    pub fn demand(&mut self, transition: &Transition, next: BlockId) {
        if let Some(condition) = &transition.provided {
            let holds = self.condition(condition);
            let fails = self.op(Op::Not, &[holds]);
            self.goes_on_unless(fails, next);
        }
    }

    /// Gives the names of `any` their values.
    pub fn bind_any(&mut self, transition: &Transition) {
        let frame = self.program().blocks[transition.block.index()].frame;
        for (at, number) in transition.any.iter().enumerate() {
            let value = self.word(*number);
            let bounds = (value, *number, *number);
            self.bind(frame, at, bounds);
            self.fixed.insert((frame, at), *number);
        }
    }

    /// The point of `when`.
    fn point_of(&mut self, when: When) -> Value {
        let declared = &self.program().bodies[self.body.index()].points;
        let before = points_of(&declared[..when.points]);
        let first = self.first_point();
        let offset = self.word(i64::from(before) + i64::from(when.element));
        self.arithmetic(Arithmetic::Add, first, offset)
    }

    /// The item at the head of the queue of a point, where it came through that; else control goes
    /// to a block.
    pub fn head(&mut self, point: Value, next: BlockId) -> Value {
        let holds = self.kernel("holds", &[point])[0];
        let is_empty = self.op(Op::Not, &[holds]);
        self.goes_on_unless(is_empty, next);
        let item = self.kernel("front", &[point])[0];
        if self.lower.kernel_number("common_queues") > 0 {
            let came = self.kernel_load("came", &[item]);
            let is_elsewhere = self.compare(Compare::Ne, came, point);
            self.goes_on_unless(is_elsewhere, next);
        }
        item
    }

    /// The item at the head of the queue of `when`, where it came through that point and is the
    /// interaction; else control goes to a block.
    fn offered(&mut self, when: When, next: BlockId) -> Value {
        let point = self.point_of(when);
        let item = self.head(point, next);
        let what = self.kernel_load("interaction", &[item]);
        let wanted = self.word(when.interaction as i64);
        let is_other = self.compare(Compare::Ne, what, wanted);
        self.goes_on_unless(is_other, next);
        item
    }

    /// Gives the parameters of an interaction their values.
    fn take(&mut self, transition: &Transition, item: Value) {
        let Some(when) = transition.when else {
            return;
        };
        let program = self.program();
        let channel = program.bodies[self.body.index()].points[when.points].channel;
        let count = program.channels[channel.index()].interactions[when.interaction]
            .parameters
            .len();
        let frame = program.blocks[transition.block.index()].frame;
        self.receive(item, frame, (transition.any.len(), count));
    }

    /// Runs the block of a transition, and sets the state.
    fn does(&mut self, transition: &Transition) {
        let program = self.program();
        let statements = &program.blocks[transition.block.index()].statements;
        self.at(transition.span);
        self.statements(statements);
        if let Some(state) = transition.to {
            self.set_state(state);
        }
    }

    fn set_state(&mut self, state: StateId) {
        let field = self.lower.state_field(self.body);
        let kind = self.lower.body_kind(self.which, self.body);
        let region = Region::Field(kind, field);
        let own = self.own();
        let bits = match &self.lower.module.field(kind, field).stored {
            Stored::Value(Plain::Int(bits)) => *bits,
            _other => unreachable!("a state is a number"),
        };
        let number = self.op(Op::Number(bits, state.0.into()), &[]);
        self.all(Op::Store(region), &[own, number]);
    }

    /// Sets the fields of a new instance to their first values.
    pub fn fresh(&mut self, body: BodyId, (instance, number): (Value, Value)) {
        let program = self.program();
        let declared = &program.bodies[body.index()];
        for at in 0..declared.variables.len() {
            let (_, header) = self.lower.variable(self.which, body, at);
            let place = match header {
                None => self.variable_of(body, instance, at),
                Some(header) => {
                    let first = program.headers[header.index()].parameters.len();
                    self.exported_of(header, number, at - first)
                }
            };
            self.clear(&place);
        }
        let kind = self.lower.body_kind(self.which, body);
        for at in 0..declared.transitions.len() {
            if let Some(clock) = self.lower.clocks.get(&(body, at)).copied() {
                let no = self.bit(false);
                self.all(Op::Store(Region::Field(kind, clock.runs)), &[instance, no]);
            }
        }
        for (at, variable) in declared.module_variables.iter().enumerate() {
            let fields = self.lower.module_fields(body, at);
            let count = self.word(variable.count.into());
            self.turns(
                (count, variable.count),
                0,
                &[instance],
                |code, turn, own| {
                    let none = code.word(0);
                    for field in fields {
                        code.all(Op::Store(Region::Field(kind, field)), &[own[0], turn, none]);
                    }
                },
            );
        }
    }
}
