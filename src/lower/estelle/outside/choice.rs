//! Choices that Estelle leaves open: in, a number of possibilities; out, one of them, by a function
//! of the host or the first.

use super::super::code::{Called, Code};
use super::super::{KERNEL, Lower, Which};
use crate::ir::interface::{Foreign, Given, Home, Shape};
use crate::ir::op::{Arithmetic, Compare};
use crate::ir::{BlockId, FieldId, ForeignId, Op, Probability, Type as Plain, Value};
use crate::types::estelle::program::{Domain, Expression};

/// The one who chooses.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Choices {
    /// Nobody: the first possibility is taken, in the order of the source and of creation, and the
    /// least time.
    #[default]
    First,
    /// The host: its function `NAME_choose` is asked.
    Host,
}

/// A source of choice, in the order of the design (N1 to N5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// N1: the transition that a module offers.
    Offer,
    /// N2: the child of an activity that runs.
    Child,
    /// N3: the order of the transitions of a step.
    Order,
    /// N4: the time between the bounds of a delay.
    Time,
    /// N5: the element of `forone`, and the alternative of `initialize`.
    Element,
}

/// A number that a host sees.
const fn number(signed: bool) -> Shape {
    Shape::Number { bits: 32, signed }
}

impl Lower<'_> {
    /// True if the host chooses.
    pub(in super::super) fn host_chooses(&self) -> bool {
        self.choices == Choices::Host
    }

    /// The function that chooses: `source, module, count -> number`, less than the count. Nobody is
    /// asked where there is but one possibility.
    pub(in super::super) fn choose(&mut self) -> Called {
        let parameters = [
            (Plain::WORD, "source"),
            (Plain::WORD, "module"),
            (Plain::WORD, "count"),
        ];
        let place = (Which::Kernel, KERNEL);
        let results = vec![Plain::WORD];
        let asks = self.host_chooses().then(|| self.asked());
        let mut code = Code::new(self, place, "choose", &parameters, results);
        let first = code.word(0);
        if let Some(asked) = asks {
            let given: Vec<Value> = (0..3).map(|at| code.parameter(at)).collect();
            let one = code.word(1);
            let is_open = code.compare(Compare::Ult, one, given[2]);
            let (open, only) = code.build.branch(is_open, Probability::EVEN);
            code.build.go_to(open);
            let chosen = code.op(Op::Foreign(asked, Vec::new()), &given);
            let last = code.arithmetic(Arithmetic::Sub, given[2], one);
            let chosen = code.arithmetic(Arithmetic::Umin, chosen, last);
            code.answer(&[chosen]);
            code.build.go_to(only);
        }
        code.answer(&[first]);
        code.finish()
    }

    /// The function of the host.
    fn asked(&mut self) -> ForeignId {
        let parameter = |name: &str, signed| (name.to_string(), Given::Value(number(signed)));
        self.module.foreigns.push(Foreign {
            name: "choose".to_string(),
            home: Home::Host,
            parameters: vec![
                parameter("source", false),
                parameter("module", true),
                parameter("count", false),
            ],
            result: Some(number(false)),
        });
        ForeignId(self.module.foreigns.len() as u32 - 1)
    }
}

impl Code<'_, '_> {
    /// One of `count` possibilities, chosen for this module.
    pub fn chosen(&mut self, source: Choice, count: Value) -> Value {
        let called = self.lower.hook("choose");
        let source = self.word(source as i64);
        let own = self.own_number();
        self.all(Op::Call(called.function), &[source, own, count])[0]
    }

    /// Chooses one of the possibilities whose bits are 1: bits of which the chosen one's is 1. The
    /// code goes on there; the block is for the case that no bit is 1.
    pub fn chosen_of(&mut self, source: Choice, bits: &[Value]) -> (Vec<Value>, BlockId) {
        let mut count = self.word(0);
        for bit in bits {
            let one = self.op(Op::ZeroExtend(32), &[*bit]);
            count = self.arithmetic(Arithmetic::Add, count, one);
        }
        let zero = self.word(0);
        let is_any = self.compare(Compare::Ne, count, zero);
        let (any, none) = self.build.branch(is_any, Probability::EVEN);
        self.build.go_to(any);
        let mut left = self.chosen(source, count);
        let mut places = Vec::new();
        for bit in bits {
            let is_last = self.compare(Compare::Eq, left, zero);
            places.push(self.arithmetic(Arithmetic::And, *bit, is_last));
            let one = self.op(Op::ZeroExtend(32), &[*bit]);
            left = self.arithmetic(Arithmetic::Sub, left, one);
        }
        (places, none)
    }

    /// The bit that says if names of a domain were bound so that a condition holds: the first such
    /// values, or some that the host chooses.
    pub fn one_that(&mut self, domain: &Domain, condition: &Expression) -> Value {
        if !self.lower.host_chooses() {
            let stopped = self.each(domain, &mut |code| {
                let holds = code.condition(condition);
                code.stop_where(holds);
            });
            return self.found(stopped);
        }
        let left = self.lower.scratch(self.which, "left");
        let zero = self.word(0);
        self.store_local(left, zero);
        let stopped = self.each(domain, &mut |code| {
            let holds = code.condition(condition);
            code.add_bit(left, Arithmetic::Add, holds);
        });
        self.hand_on(stopped);
        let count = self.load_local(left);
        let chosen = self.chosen(Choice::Element, count);
        self.store_local(left, chosen);
        let stopped = self.each(domain, &mut |code| {
            let holds = code.condition(condition);
            let before = code.load_local(left);
            let zero = code.word(0);
            let is_last = code.compare(Compare::Eq, before, zero);
            let is_it = code.arithmetic(Arithmetic::And, holds, is_last);
            code.stop_where(is_it);
            code.add_bit(left, Arithmetic::Sub, holds);
        });
        self.found(stopped)
    }

    /// Adds a bit to a field of the locals, or subtracts it.
    fn add_bit(&mut self, field: FieldId, how: Arithmetic, bit: Value) {
        let before = self.load_local(field);
        let bit = self.op(Op::ZeroExtend(32), &[bit]);
        let behind = self.arithmetic(how, before, bit);
        self.store_local(field, behind);
    }
}
