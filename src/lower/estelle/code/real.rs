//! Real numbers: in, one; out, the integer that it becomes. All results are finite.

use super::super::Fault;
use super::super::memory::INTEGERS;
use super::Code;
use crate::ir::op::{Arithmetic, Floating};
use crate::ir::{Op, Value};

impl Code<'_, '_> {
    /// The integer without the fraction of a number, or the nearest one, halves away from zero.
    /// One beyond `maxint` is a fault.
    pub fn whole(&mut self, number: Value, is_rounded: bool) -> Value {
        let most = INTEGERS.1 as f64 + if is_rounded { 0.5 } else { 1.0 };
        let [least, most] = [-most, most].map(|one| self.real(one));
        let is_above = self.op(Op::Float(Floating::Lt), &[least, number]);
        let is_below = self.op(Op::Float(Floating::Lt), &[number, most]);
        let fits = self.arithmetic(Arithmetic::And, is_above, is_below);
        let wrong = self.op(Op::Not, &[fits]);
        self.fails_if(wrong, Fault::Overflow);
        let whole = self.op(Op::Float(Floating::ToInt), &[number]);
        if !is_rounded {
            return whole;
        }
        let without = self.op(Op::Float(Floating::FromInt), &[whole]);
        let fraction = self.op(Op::Float(Floating::Sub), &[number, without]);
        let [half, minus_half] = [0.5, -0.5].map(|one| self.real(one));
        let is_up = self.op(Op::Float(Floating::Le), &[half, fraction]);
        let is_down = self.op(Op::Float(Floating::Le), &[fraction, minus_half]);
        let up = self.op(Op::ZeroExtend(32), &[is_up]);
        let down = self.op(Op::ZeroExtend(32), &[is_down]);
        let raised = self.arithmetic(Arithmetic::Add, whole, up);
        self.arithmetic(Arithmetic::Sub, raised, down)
    }

    /// Ends the function with a fault unless a number is finite.
    pub fn finite(&mut self, number: Value, fault: Fault) {
        let difference = self.op(Op::Float(Floating::Sub), &[number, number]);
        let zero = self.real(0.0);
        let is_finite = self.op(Op::Float(Floating::Eq), &[difference, zero]);
        let wrong = self.op(Op::Not, &[is_finite]);
        self.fails_if(wrong, fault);
    }

    /// A constant.
    pub fn real(&mut self, number: f64) -> Value {
        self.op(Op::Real(64, number.to_bits()), &[])
    }
}
