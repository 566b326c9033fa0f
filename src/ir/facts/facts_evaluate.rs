//! Transfer functions: the results of instructions as sums, and the facts behind them.
//!
//! In: an instruction, or an operation that may fail. Out: sums for its results, and facts.

use super::{Facts, Known, LENGTH, Linear};
use crate::ir::facts::linear::Atom;
use crate::ir::op::{Arithmetic, Compare};
use crate::ir::types::ones;
use crate::ir::{Attempt, Instruction, Op, Region, Type, Value};

impl Facts<'_> {
    /// Evaluates an instruction, behind which its needs hold.
    pub(super) fn instruction(&mut self, instruction: &Instruction) {
        let (op, operands) = (&instruction.op, &instruction.operands);
        if let [result] = instruction.results[..] {
            if is_same_everywhere(op) {
                let operands = operands.iter().map(|value| self.same[value.at()]);
                let key = (op.clone(), operands.collect());
                self.same[result.at()] = *self.first.entry(key).or_insert(result);
            }
            let known = match self.function.type_of(result) {
                Type::Int(bits) => Known {
                    number: self.number_of(op, operands, result, bits),
                    ..Known::default()
                },
                Type::Message | Type::View => self.bytes_of(op, operands, result),
                Type::Bytes(_) | Type::Instance(_) | Type::Float(_) | Type::Opaque(_) => {
                    Known::default()
                }
            };
            self.known[result.at()] = known;
        }
        for need in self.needs(op, operands) {
            if !self.proves(need.sum.as_ref()) {
                self.add(need.sum);
            }
        }
        if let Op::Exit(_) = op {
            self.bit(operands[0], false);
        }
    }

    /// A number as a sum; none if it is like no other.
    fn number_of(
        &mut self,
        op: &Op,
        operands: &[Value],
        result: Value,
        bits: u8,
    ) -> Option<Linear> {
        let most = i128::from(ones(bits));
        let own = Linear::atom(Atom::number(self.same[result.at()]));
        match op {
            Op::Number(_, number) => Some(Linear::constant(i128::from(*number))),
            Op::Length => Some(self.length(operands[0])),
            Op::Start => Some(self.start(operands[0])),
            Op::Not => Linear::constant(most).minus(&self.number(operands[0])),
            Op::ZeroExtend(_) => Some(self.number(operands[0])),
            Op::Truncate(_) => {
                let from = self.number(operands[0]);
                let room = Linear::constant(most).minus(&from);
                if self.proves(room.as_ref()) {
                    return Some(from);
                }
                self.add(from.minus(&own));
                None
            }
            Op::SignExtend(_) => {
                let from = self.function.type_of(operands[0]).bits()?;
                let from = i128::from(ones(from) >> 1);
                let number = self.number(operands[0]);
                let room = Linear::constant(from).minus(&number);
                self.proves(room.as_ref()).then_some(number)
            }
            Op::Concat => {
                let mut sum = Some(Linear::default());
                for value in operands {
                    let bits = self.function.type_of(*value).bits()?;
                    let number = self.number(*value);
                    sum = sum.and_then(|sum| number.plus(&sum, 1 << bits));
                }
                sum
            }
            Op::Select => self.choice(operands, &own),
            Op::Arithmetic(how) => self.arithmetic(*how, operands, &own, bits),
            Op::Index => {
                if let Type::Instance(kind) = self.function.type_of(operands[0]) {
                    let capacity = i128::from(self.module.kinds[kind.at()].capacity);
                    self.add(Linear::constant(capacity - 1).minus(&own));
                }
                None
            }
            _ => None,
        }
    }

    fn arithmetic(
        &mut self,
        how: Arithmetic,
        operands: &[Value],
        own: &Linear,
        bits: u8,
    ) -> Option<Linear> {
        use Arithmetic::{Add, And, Lshr, Mul, Or, Shl, Sub, Udiv, Umax, Umin, Urem, Xor};
        let [one, other] = [operands[0], operands[1]].map(|value| self.number(value));
        let constant = other.parts.is_empty().then_some(other.constant);
        let power = constant
            .filter(|shift| (0..40).contains(shift))
            .map(|shift| 1 << shift);
        match how {
            Add => {
                let sum = one.plus(&other, 1);
                let whole = i128::from(ones(bits)) + 1;
                // To add a number that is less than 0 is to subtract.
                let turned = sum.clone().map(|sum| sum.and(-whole));
                let is_turned = constant.is_some_and(|constant| constant > whole / 2);
                self.fitting(sum, bits)
                    .or_else(|| self.fitting(turned.filter(|_| is_turned), bits))
            }
            Sub => {
                let difference = one.minus(&other);
                self.fitting(difference, bits)
            }
            Mul if constant.is_some() => {
                self.fitting(Linear::default().plus(&one, constant?), bits)
            }
            Mul if one.parts.is_empty() => {
                self.fitting(Linear::default().plus(&other, one.constant), bits)
            }
            Shl => self.fitting(Linear::default().plus(&one, power?), bits),
            Lshr => self.quotient(&one, power?, own),
            Udiv => self.quotient(&one, constant.filter(|divisor| *divisor > 0)?, own),
            Urem => {
                self.add(one.minus(own));
                self.add(other.minus(own).map(|rest| rest.and(-1)));
                None
            }
            And | Umin => {
                self.add(one.minus(own));
                self.add(other.minus(own));
                if how == Umin {
                    let least = self.least(&one).min(self.least(&other));
                    self.add(Some(own.clone().and(-least)));
                }
                None
            }
            Umax => {
                self.add(own.minus(&one));
                self.add(own.minus(&other));
                let most = self.greatest(&one).max(self.greatest(&other));
                self.add(Linear::constant(most).minus(own));
                None
            }
            Or | Xor => {
                let most = self.greatest(&one).max(self.greatest(&other));
                let bits = 128 - most.clamp(0, i128::from(u64::MAX)).leading_zeros();
                self.add(Linear::constant((1 << bits) - 1).minus(own));
                None
            }
            _ => None,
        }
    }

    /// A sum, if it is a number of so many bits and so does not wrap.
    fn fitting(&self, sum: Option<Linear>, bits: u8) -> Option<Linear> {
        let sum = sum?;
        let room = Linear::constant(i128::from(ones(bits))).minus(&sum);
        (self.proves(Some(&sum)) && self.proves(room.as_ref())).then_some(sum)
    }

    fn quotient(&mut self, one: &Linear, divisor: i128, own: &Linear) -> Option<Linear> {
        let rest = one.plus(own, -divisor);
        self.add(Linear::constant(divisor - 1).minus(rest.as_ref()?));
        self.add(rest);
        None
    }

    /// One of two numbers: the lesser or the greater, if the bit compares them.
    fn choice(&mut self, operands: &[Value], own: &Linear) -> Option<Linear> {
        let [one, other] = [operands[1], operands[2]].map(|value| self.number(value));
        if one == other {
            return Some(one);
        }
        let compared = self.definitions.get(operands[0]);
        let order = compared.and_then(|compared| {
            let is_less = matches!(compared.op, Op::Compare(Compare::Ult | Compare::Ule));
            let both = [*compared.operands.first()?, *compared.operands.get(1)?];
            let both = both.map(|value| self.number(value));
            let straight = both == [one.clone(), other.clone()];
            let turned = both == [other.clone(), one.clone()];
            (is_less && (straight || turned)).then_some(straight)
        });
        for sum in [&one, &other] {
            match order {
                Some(true) => self.add(sum.minus(own)),
                Some(false) => self.add(own.minus(sum)),
                None => {}
            }
        }
        let least = self.least(&one).min(self.least(&other));
        let most = self.greatest(&one).max(self.greatest(&other));
        self.add(Some(own.clone().and(-least)));
        self.add(Linear::constant(most).minus(own));
        None
    }

    /// A message or view: its length and start.
    fn bytes_of(&mut self, op: &Op, operands: &[Value], result: Value) -> Known {
        let number = |facts: &Self| facts.number(operands[1]);
        let (length, start) = match op {
            Op::Look => (Some(self.length(operands[0])), None),
            Op::Before => (Some(number(self)), None),
            Op::Around => (self.length(operands[0]).plus(&number(self), 1), None),
            Op::SubView => (Some(self.number(operands[2])), None),
            Op::With(_) => (
                Some(self.length(operands[0])),
                Some(self.start(operands[0])),
            ),
            Op::Push => (
                self.length(operands[0]).plus(&number(self), 1),
                self.start(operands[0]).minus(&number(self)),
            ),
            Op::Pull => (
                self.length(operands[0]).minus(&number(self)),
                self.start(operands[0]).plus(&number(self), 1),
            ),
            Op::Cut => (Some(number(self)), Some(self.start(operands[0]))),
            Op::Rewrite(_) => {
                let own = Linear::atom(Atom::length(result));
                self.add(self.length(operands[0]).minus(&own));
                (None, Some(self.start(operands[0])))
            }
            _ => (None, None),
        };
        let number = None;
        Known {
            number,
            length,
            start,
        }
    }

    /// Adds the facts of an attempt that has succeeded.
    pub(super) fn succeeded(&mut self, attempt: &Attempt, operands: &[Value]) {
        match attempt {
            Attempt::Live(kind) => {
                let capacity = i128::from(self.module.kinds[kind.at()].capacity);
                self.add(Linear::constant(capacity - 1).minus(&self.number(operands[0])));
            }
            Attempt::Restore => {
                self.add(self.start(operands[0]).minus(&self.number(operands[1])));
            }
            Attempt::Pad => {
                let padded = self.length(operands[0]).plus(&self.number(operands[1]), 1);
                self.add(padded.and_then(|padded| Linear::constant(LENGTH).minus(&padded)));
            }
            _ => {}
        }
    }

    /// Returns the results of an attempt on one of its edges, as sums.
    pub(super) fn outcome(
        &mut self,
        attempt: &Attempt,
        operands: &[Value],
        done: bool,
        results: &[Value],
    ) -> Vec<Known> {
        let of_type = |facts: &Self, of: Type| {
            let values = operands.iter().copied();
            let values = values.filter(move |value| facts.function.type_of(*value) == of);
            values.collect::<Vec<Value>>()
        };
        let messages = of_type(self, Type::Message);
        if !done {
            let back = results.iter().zip(messages);
            return back.map(|(_, message)| self.whole(message)).collect();
        }
        let mut known = vec![Known::default(); results.len()];
        let Some(first) = known.first_mut() else {
            return known;
        };
        match attempt {
            Attempt::New => first.length = Some(Linear::default()),
            Attempt::NewOf => first.length = Some(self.number(operands[1])),
            Attempt::Share => *first = self.whole(operands[0]),
            Attempt::Copy => {
                let own = Linear::atom(Atom::length(results[0]));
                self.add(self.number(operands[2]).minus(&own));
                self.add(self.length(operands[0]).minus(&own));
            }
            Attempt::Restore => {
                let end = self.length(operands[0]).plus(&self.start(operands[0]), 1);
                first.length = end.and_then(|end| end.minus(&self.number(operands[1])));
                first.start = Some(self.number(operands[1]));
            }
            Attempt::Pad => {
                first.length = self.length(operands[0]).plus(&self.number(operands[1]), 1);
                first.start = Some(self.start(operands[0]));
            }
            Attempt::TakeBytes(_) | Attempt::CopyBytes(_) | Attempt::BorrowBytes(_) => {
                first.length = operands.last().map(|count| self.number(*count));
            }
            _ => {}
        }
        known
    }
}

/// Returns true if the same operands always give the same: nothing that changes is read. A view
/// shows the same bytes as long as it is used.
fn is_same_everywhere(op: &Op) -> bool {
    matches!(
        op,
        Op::Number(..)
            | Op::Arithmetic(_)
            | Op::Compare(_)
            | Op::Not
            | Op::Select
            | Op::ZeroExtend(_)
            | Op::SignExtend(_)
            | Op::Truncate(_)
            | Op::Concat
            | Op::Get(_)
            | Op::Index
            | Op::Load(Region::Setting(_) | Region::Now)
            | Op::Read(_)
            | Op::Length
            | Op::Start
            | Op::Attribute(_)
            | Op::SubView
    )
}
