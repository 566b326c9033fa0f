//! Delays: in, the transitions of a body with `delay`; out, functions that keep their clocks.
//!
//! A transition with a delay has a *clock*: a bit that it is enabled, and the time at which its
//! delay ends. `B_watch` starts and stops the clocks; it runs behind each transition of the
//! instance, and of its parent, which may write exported variables. A clock that runs goes on.

use super::super::outside::choice::Choice;
use super::super::{Fault, Lower, Which};
use super::{Called, Code};
use crate::ir::op::{Arithmetic, Compare};
use crate::ir::{FieldId, Op, Probability, Region, Type as Plain, Value};
use crate::types::estelle::program::{BodyId, Delay, Most, Transition};

/// A `delay(E1,*)` for which the host chooses ends at most this long, or another E1, after E1.
const LEAST_PATIENCE: i64 = 10;

/// The fields of a clock.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// The transition is enabled.
    pub runs: FieldId,
    /// The end of its delay in nanoseconds.
    pub due: FieldId,
}

impl Lower<'_> {
    /// Declares the clocks of all bodies.
    pub(in super::super) fn clocks(&mut self) {
        for (body, declared) in self.program.bodies.iter().enumerate() {
            for (at, transition) in declared.transitions.iter().enumerate() {
                if transition.delay.is_none() {
                    continue;
                }
                let (module, memory) = self.memory(Which::Specification);
                let store = &mut memory.bodies[body];
                let name = |what: &str| format!("{}.{what}", transition.name);
                let clock = Clock {
                    runs: store.field(module, &name("runs"), (Plain::BIT, Vec::new())),
                    due: store.field(module, &name("due"), (Plain::TIME, Vec::new())),
                };
                self.clocks.insert((BodyId(body as u32), at), clock);
            }
        }
    }

    /// The function that starts and stops the clocks of an instance; none without delays.
    pub(in super::super) fn watch(&mut self, id: BodyId) -> Option<Called> {
        if let Some(known) = self.watches.get(&id) {
            return Some(known.clone());
        }
        let body = &self.program.bodies[id.index()];
        if body.transitions.iter().all(|one| one.delay.is_none()) {
            return None;
        }
        let name = format!("{}_watch", body.name.to_lowercase());
        let place = (Which::Specification, id);
        let mut code = Code::new(self, place, &name, &[], Vec::new());
        for (at, transition) in body.transitions.iter().enumerate() {
            if let Some(delay) = &transition.delay {
                code.watches((at, transition), delay);
            }
        }
        code.answer(&[]);
        let called = code.finish();
        self.watches.insert(id, called.clone());
        Some(called)
    }

    /// The function that returns the first time from now on at which a delay of an instance ends.
    pub(in super::super) fn due(&mut self, id: BodyId) -> Called {
        let body = &self.program.bodies[id.index()];
        let name = format!("{}_due", body.name.to_lowercase());
        let place = (Which::Specification, id);
        let mut code = Code::new(self, place, &name, &[], vec![Plain::TIME]);
        let mut first = code.op(Op::Number(64, u64::MAX), &[]);
        for at in 0..body.transitions.len() {
            if let Some(clock) = code.lower.clocks.get(&(id, at)).copied() {
                let runs = code.load_own(clock.runs);
                let due = code.load_own(clock.due);
                let now = code.op(Op::Load(Region::Now), &[]);
                let is_later = code.compare(Compare::Ult, now, due);
                let runs = code.arithmetic(Arithmetic::And, runs, is_later);
                let earlier = code.arithmetic(Arithmetic::Umin, first, due);
                first = code.op(Op::Select, &[runs, earlier, first]);
            }
        }
        code.answer(&[first]);
        code.finish()
    }
}

impl Code<'_, '_> {
    /// Starts or stops the clock of a transition.
    fn watches(&mut self, (at, transition): (usize, &Transition), delay: &Delay) {
        let clock = self.lower.clocks[&(self.body, at)];
        let stopped = self.build.block(&[]);
        let behind = self.build.block(&[]);
        if !transition.from.is_empty() {
            let state = self.state();
            let mut fits = self.bit(false);
            for from in &transition.from {
                let from = self.word(from.0.into());
                let same = self.compare(Compare::Eq, state, from);
                fits = self.arithmetic(Arithmetic::Or, fits, same);
            }
            let other = self.op(Op::Not, &[fits]);
            self.goes_on_unless(other, stopped);
        }
        self.bind_any(transition);
        self.demand(transition, stopped);
        let runs = self.load_own(clock.runs);
        self.goes_on_unless(runs, behind);
        let due = self.end_of(delay);
        self.store_own(clock.due, due);
        let yes = self.bit(true);
        self.store_own(clock.runs, yes);
        self.jump(behind);
        self.build.go_to(stopped);
        let no = self.bit(false);
        self.store_own(clock.runs, no);
        self.jump(behind);
        self.build.go_to(behind);
    }

    /// The time at which a delay that begins now ends; bounds in the wrong order are a fault.
    fn end_of(&mut self, delay: &Delay) -> Value {
        let least = self.value(&delay.least);
        let mut least = self.number(least);
        let zero = self.word(0);
        let is_negative = self.compare(Compare::Slt, least, zero);
        self.fails_if(is_negative, Fault::DelayOrder);
        let mut most = least;
        if let Most::Given(given) = &delay.most {
            let given = self.value(given);
            most = self.number(given);
            let is_less = self.compare(Compare::Slt, most, least);
            self.fails_if(is_less, Fault::DelayOrder);
        }
        if self.lower.host_chooses() {
            let window = match delay.most {
                Most::Same => self.word(0),
                Most::Given(_) => self.arithmetic(Arithmetic::Sub, most, least),
                Most::Unbounded => {
                    let patience = self.word(LEAST_PATIENCE);
                    self.arithmetic(Arithmetic::Umax, least, patience)
                }
            };
            let one = self.word(1);
            let count = self.arithmetic(Arithmetic::Add, window, one);
            let later = self.chosen(Choice::Time, count);
            least = self.arithmetic(Arithmetic::Add, least, later);
        }
        let now = self.op(Op::Load(Region::Now), &[]);
        let wide = self.op(Op::ZeroExtend(64), &[least]);
        // Longer delays than a quarter of the clock's range end at that.
        let unit = self.lower.program.unit_ns.max(1);
        let longest = self.op(Op::Number(64, (u64::MAX / 4) / unit), &[]);
        let units = self.arithmetic(Arithmetic::Umin, wide, longest);
        let unit = self.op(Op::Number(64, unit), &[]);
        let length = self.arithmetic(Arithmetic::Mul, units, unit);
        self.arithmetic(Arithmetic::Add, now, length)
    }

    /// The bit that says if the delay of a transition has ended.
    pub fn is_due(&mut self, at: usize) -> Value {
        let clock = self.lower.clocks[&(self.body, at)];
        let runs = self.load_own(clock.runs);
        let due = self.load_own(clock.due);
        let now = self.op(Op::Load(Region::Now), &[]);
        let ended = self.compare(Compare::Ule, due, now);
        self.arithmetic(Arithmetic::And, runs, ended)
    }

    /// Stops the clock of a transition, which begins anew behind it.
    pub fn stop_clock(&mut self, at: usize) {
        if let Some(clock) = self.lower.clocks.get(&(self.body, at)).copied() {
            let no = self.bit(false);
            self.store_own(clock.runs, no);
        }
    }

    /// Starts and stops clocks behind a transition: those of the instance.
    pub fn watch(&mut self) {
        if let Some(watch) = self.lower.watch(self.body) {
            self.call(&watch, &[]);
        }
    }

    /// Loads a field of the instance.
    pub fn load_own(&mut self, field: FieldId) -> Value {
        let kind = self.lower.body_kind(self.which, self.body);
        let own = self.own();
        self.op(Op::Load(Region::Field(kind, field)), &[own])
    }

    /// Stores a field of the instance.
    pub fn store_own(&mut self, field: FieldId, value: Value) {
        let kind = self.lower.body_kind(self.which, self.body);
        let own = self.own();
        self.all(Op::Store(Region::Field(kind, field)), &[own, value]);
    }

    /// The first time at which a delay of any module ends.
    pub fn first_due(&mut self, due: &Called) -> Value {
        let kind = self.lower.locals(self.which);
        let field = self.lower.scratch_of(self.which, "due", Plain::TIME);
        let never = self.op(Op::Number(64, u64::MAX), &[]);
        self.store_local(field, never);
        let most = self.lower.sizes.all_modules;
        let count = self.word(most.into());
        let due = due.clone();
        self.turns((count, most), 0, &[], |code, module, _| {
            let alive = code.kernel_load("alive", &[module]);
            let zero = code.word(0);
            let is_alive = code.compare(Compare::Ne, alive, zero);
            let (yes, no) = code.build.branch(is_alive, Probability::EVEN);
            code.build.go_to(yes);
            let own = code.all(Op::Call(due.function), &[module])[0];
            let first = code.load_local(field);
            let first = code.arithmetic(Arithmetic::Umin, first, own);
            code.store_local(field, first);
            code.jump(no);
            code.build.go_to(no);
        });
        let only = self.only(kind);
        self.op(Op::Load(Region::Field(kind, field)), &[only])
    }
}
