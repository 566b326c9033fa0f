//! Numbers: sums in one form, and bits that are cut out of numbers and put side by side.
//!
//! In: bit-vectors. Out: a bit-vector, as a constant plus multiples of other terms if it is a sum,
//! so `x + 5 - 2` and `x + 3` are the same term.

use super::{Node, Operator, Sort, Term, Terms};
use crate::ir::evaluate::arithmetic;
use crate::ir::op::Arithmetic;
use crate::ir::types::ones;
use std::collections::BTreeMap;

impl Terms {
    /// Returns a constant of 64 bits at most.
    pub fn number(&mut self, bits: u32, number: u64) -> Term {
        let number = number & ones(bits as u8);
        self.make(Node::Number(number), Sort::Bits(bits))
    }

    /// Returns constant bytes, the first the most significant.
    pub fn bytes(&mut self, bytes: &[u8]) -> Term {
        if bytes.len() <= 8 && !bytes.is_empty() {
            let number = bytes
                .iter()
                .fold(0, |all, byte| all << 8 | u64::from(*byte));
            return self.number(8 * bytes.len() as u32, number);
        }
        let bits = Sort::Bits(8 * bytes.len() as u32);
        self.make(Node::Bytes(bytes.to_vec()), bits)
    }

    /// Returns the number that a term always is.
    pub fn constant(&self, term: Term) -> Option<u64> {
        match self.node(term) {
            Node::Number(number) => Some(*number),
            _other => None,
        }
    }

    /// Returns the constant and the multiples of a sum.
    fn parts(&self, term: Term) -> (u64, BTreeMap<Term, u64>) {
        match self.node(term) {
            Node::Number(number) => (*number, BTreeMap::new()),
            Node::Built(Operator::Sum(constant, factors), operands) => {
                let parts = operands.iter().copied().zip(factors.iter().copied());
                (*constant, parts.collect())
            }
            _other => (0, BTreeMap::from([(term, 1)])),
        }
    }

    fn sum_of(&mut self, bits: u32, constant: u64, mut parts: BTreeMap<Term, u64>) -> Term {
        let mask = ones(bits as u8);
        parts.values_mut().for_each(|factor| *factor &= mask);
        parts.retain(|_, factor| *factor != 0);
        let constant = constant & mask;
        if parts.is_empty() {
            return self.number(bits, constant);
        }
        let (operands, factors): (Vec<Term>, Vec<u64>) = parts.into_iter().unzip();
        if constant == 0 && factors[..] == [1] {
            return operands[0];
        }
        self.built(Operator::Sum(constant, factors), operands, Sort::Bits(bits))
    }

    /// Returns `one + factor * other`.
    pub fn plus(&mut self, one: Term, other: Term, factor: u64) -> Term {
        let bits = self.bits(one);
        let (mut constant, mut parts) = self.parts(one);
        let (more, others) = self.parts(other);
        constant = constant.wrapping_add(more.wrapping_mul(factor));
        for (term, own) in others {
            let sum = parts.entry(term).or_insert(0);
            *sum = sum.wrapping_add(own.wrapping_mul(factor));
        }
        self.sum_of(bits, constant, parts)
    }

    /// Returns a sum.
    pub fn add(&mut self, one: Term, other: Term) -> Term {
        self.plus(one, other, 1)
    }

    /// Returns a difference.
    pub fn subtract(&mut self, one: Term, other: Term) -> Term {
        self.plus(one, other, u64::MAX)
    }

    /// Returns the sum of a number and a constant.
    pub fn behind(&mut self, one: Term, more: u64) -> Term {
        let bits = self.bits(one);
        let more = self.number(bits, more);
        self.add(one, more)
    }

    fn times(&mut self, one: Term, factor: u64) -> Term {
        let bits = self.bits(one);
        let zero = self.number(bits, 0);
        self.plus(zero, one, factor)
    }

    /// Returns the constant by which two numbers differ, if they differ by one.
    pub fn distance(&mut self, one: Term, other: Term) -> Option<u64> {
        match self.bits(one) {
            0..=64 => {
                let difference = self.subtract(one, other);
                self.constant(difference)
            }
            _wide => (one == other).then_some(0),
        }
    }

    /// Returns one form of the difference of two numbers, and the constant that it is if they are
    /// equal.
    pub(super) fn difference(&mut self, one: Term, other: Term) -> (Term, Term) {
        let bits = self.bits(one);
        let difference = self.subtract(one, other);
        let (mut constant, mut parts) = self.parts(difference);
        let half = 1_u64 << (bits - 1);
        let is_negative = parts.values().next().is_some_and(|factor| *factor > half);
        if is_negative {
            constant = constant.wrapping_neg();
            parts.values_mut().for_each(|one| *one = one.wrapping_neg());
        }
        let sum = self.sum_of(bits, 0, parts);
        (sum, self.number(bits, constant.wrapping_neg()))
    }

    /// Returns the result of an operation of the IR on two numbers.
    pub fn arithmetic(&mut self, how: Arithmetic, one: Term, other: Term) -> Term {
        use Arithmetic::*;
        let bits = self.bits(one);
        let (own, by) = (self.constant(one), self.constant(other));
        if let (Some(own), Some(by)) = (own, by)
            && let Some(number) = arithmetic(how, own, by, bits as u8)
        {
            return self.number(bits, number);
        }
        let named = |name: &'static str| Operator::Named(name);
        let operator = match how {
            And | Or | Xor if one == other => {
                return match how {
                    Xor => self.number(bits, 0),
                    _same => one,
                };
            }
            And if bits == 1 => return self.and(one, other),
            Or if bits == 1 => return self.or(one, other),
            Xor | Add | Sub if bits == 1 => return self.is_not(one, other),
            Add => return self.add(one, other),
            Sub => return self.subtract(one, other),
            Mul if by.is_some() => return self.times(one, by.unwrap_or_default()),
            Mul if own.is_some() => return self.times(other, own.unwrap_or_default()),
            Shl | Lshr | Ashr if by.is_some() => {
                return self.shifted(how, one, by.unwrap_or_default());
            }
            Ashr => {
                let shifted = self.built(named("bvashr"), vec![one, other], Sort::Bits(bits));
                let width = self.number(bits, bits.into());
                let fits = self.less("bvult", other, width);
                let zero = self.number(bits, 0);
                return self.choose(fits, shifted, zero);
            }
            Umin | Umax | Smin | Smax => {
                let signed = matches!(how, Smin | Smax);
                let less = self.less(if signed { "bvslt" } else { "bvult" }, other, one);
                return match how {
                    Umin | Smin => self.choose(less, other, one),
                    _greater => self.choose(less, one, other),
                };
            }
            And => named("bvand"),
            Or => named("bvor"),
            Xor => named("bvxor"),
            Mul => named("bvmul"),
            Udiv => named("bvudiv"),
            Urem => named("bvurem"),
            Sdiv => named("bvsdiv"),
            Srem => named("bvsrem"),
            Shl => named("bvshl"),
            Lshr => named("bvlshr"),
        };
        let swapped = matches!(how, And | Or | Xor | Mul) && other < one;
        let operands = if swapped { [other, one] } else { [one, other] };
        self.built(operator, operands.to_vec(), Sort::Bits(bits))
    }

    fn shifted(&mut self, how: Arithmetic, one: Term, by: u64) -> Term {
        let bits = self.bits(one);
        if by >= u64::from(bits) {
            return self.number(bits, 0);
        }
        let by = by as u32;
        match how {
            Arithmetic::Shl => self.times(one, 1 << by),
            Arithmetic::Lshr => {
                let high = self.extract(bits - 1, by, one);
                self.zero_extend(bits, high)
            }
            _with_sign => {
                let high = self.extract(bits - 1, by, one);
                self.sign_extend(bits, high)
            }
        }
    }

    /// Returns bits of a number.
    pub fn extract(&mut self, high: u32, low: u32, of: Term) -> Term {
        let bits = self.bits(of);
        if high + 1 == bits && low == 0 {
            return of;
        }
        match self.node(of).clone() {
            Node::Number(number) => return self.number(high + 1 - low, number >> low),
            Node::Bytes(bytes) if high % 8 == 7 && low.is_multiple_of(8) => {
                let (from, to) = ((bits - 1 - high) / 8, (bits - low) / 8);
                return self.bytes(&bytes[from as usize..to as usize]);
            }
            Node::Built(Operator::Extract(_, from), inner) => {
                return self.extract(high + from, low + from, inner[0]);
            }
            Node::Built(Operator::ZeroExtend(_), inner) => {
                let own = self.bits(inner[0]);
                if low >= own {
                    return self.number(high + 1 - low, 0);
                }
                let cut = self.extract(high.min(own - 1), low, inner[0]);
                return self.zero_extend(high + 1 - low, cut);
            }
            Node::Built(Operator::Concat, pieces) => {
                let mut above = bits;
                let mut found = Vec::new();
                for piece in pieces {
                    let below = above - self.bits(piece);
                    if below <= high && low < above {
                        let (from, to) = (high.min(above - 1) - below, low.max(below) - below);
                        found.push(self.extract(from, to, piece));
                    }
                    above = below;
                }
                return self.concat(&found);
            }
            _other => {}
        }
        let bits = Sort::Bits(high + 1 - low);
        self.built(Operator::Extract(high, low), vec![of], bits)
    }

    /// Returns a number with zeros above, of so many bits.
    pub fn zero_extend(&mut self, bits: u32, of: Term) -> Term {
        let own = self.bits(of);
        match self.node(of).clone() {
            _same if own == bits => of,
            Node::Number(number) if bits <= 64 => self.number(bits, number),
            Node::Built(Operator::ZeroExtend(_), inner) => self.zero_extend(bits, inner[0]),
            _other => {
                let operator = Operator::ZeroExtend(bits - own);
                self.built(operator, vec![of], Sort::Bits(bits))
            }
        }
    }

    /// Returns a number with copies of the highest bit above, of so many bits.
    pub fn sign_extend(&mut self, bits: u32, of: Term) -> Term {
        let own = self.bits(of);
        match self.constant(of) {
            _same if own == bits => of,
            Some(number) if bits <= 64 => {
                let signed = crate::ir::types::signed(number, own as u8);
                self.number(bits, signed as u64)
            }
            _other => {
                let operator = Operator::SignExtend(bits - own);
                self.built(operator, vec![of], Sort::Bits(bits))
            }
        }
    }

    /// Returns numbers side by side, the first the most significant.
    pub fn concat(&mut self, pieces: &[Term]) -> Term {
        let mut all: Vec<Term> = Vec::new();
        for piece in pieces {
            let inner = self.is(*piece, &Operator::Concat);
            let parts = inner.map_or(vec![*piece], <[Term]>::to_vec);
            for part in parts {
                match all.last().and_then(|last| self.joined(*last, part)) {
                    Some(joined) => *all.last_mut().expect("there is one") = joined,
                    None => all.push(part),
                }
            }
        }
        if let [only] = all[..] {
            return only;
        }
        let bits = all.iter().map(|piece| self.bits(*piece)).sum();
        self.built(Operator::Concat, all, Sort::Bits(bits))
    }

    /// Returns two neighbours of a concatenation as one term, if they are one.
    fn joined(&mut self, high: Term, low: Term) -> Option<Term> {
        let (own, more) = (self.bits(high), self.bits(low));
        match (self.node(high).clone(), self.node(low).clone()) {
            (Node::Number(one), Node::Number(other)) if own + more <= 64 => {
                Some(self.number(own + more, one << more | other))
            }
            (
                Node::Built(Operator::Extract(top, middle), one),
                Node::Built(Operator::Extract(next, bottom), other),
            ) if one == other && middle == next + 1 => Some(self.extract(top, bottom, one[0])),
            _other => None,
        }
    }
}
