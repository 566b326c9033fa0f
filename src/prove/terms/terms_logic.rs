//! Bits: conjunctions, equality, comparison and choice.
//!
//! In: terms. Out: a bit. A conjunction is a sorted set, a disjunction the negation of one. If two
//! conditions differ in one bit and its negation, their disjunction is the rest of both: so the
//! condition of a block behind a branch is the condition of the block before.

use super::{Node, Operator, Sort, Term, Terms};
use crate::ir::evaluate::compared;
use crate::ir::op::Compare;
use std::collections::BTreeSet;

impl Terms {
    /// Returns a constant bit.
    pub fn bit(&mut self, is_set: bool) -> Term {
        self.number(1, u64::from(is_set))
    }

    /// Returns the turned bit.
    pub fn not(&mut self, of: Term) -> Term {
        match self.node(of).clone() {
            Node::Number(number) => self.bit(number == 0),
            Node::Built(Operator::Not, inner) => inner[0],
            _other => self.built(Operator::Not, vec![of], Sort::Bits(1)),
        }
    }

    /// Returns the bits of a conjunction.
    pub fn conjuncts(&self, of: Term) -> BTreeSet<Term> {
        match self.node(of) {
            Node::Built(Operator::And, operands) => operands.iter().copied().collect(),
            Node::Number(1) => BTreeSet::new(),
            _other => BTreeSet::from([of]),
        }
    }

    /// Returns the conjunction of some bits.
    pub fn all(&mut self, bits: BTreeSet<Term>) -> Term {
        for bit in bits.clone() {
            let is_zero = self.constant(bit) == Some(0);
            let negated = self.not(bit);
            if is_zero || bits.contains(&negated) {
                return self.bit(false);
            }
        }
        let bits: Vec<Term> = bits.into_iter().collect();
        match &bits[..] {
            [] => self.bit(true),
            [only] => *only,
            _several => self.built(Operator::And, bits, Sort::Bits(1)),
        }
    }

    /// Returns a bit that is 1 if both are.
    pub fn and(&mut self, one: Term, other: Term) -> Term {
        let mut bits = self.conjuncts(one);
        bits.extend(self.conjuncts(other));
        self.all(bits)
    }

    /// Returns a bit that is 1 if one is.
    pub fn or(&mut self, one: Term, other: Term) -> Term {
        let (own, others) = (self.conjuncts(one), self.conjuncts(other));
        let shared: BTreeSet<Term> = own.intersection(&others).copied().collect();
        let own = self.all(own.difference(&shared).copied().collect());
        let others = self.all(others.difference(&shared).copied().collect());
        let (not_own, not_others) = (self.not(own), self.not(others));
        let neither = self.and(not_own, not_others);
        let either = self.not(neither);
        let shared = self.all(shared);
        self.and(shared, either)
    }

    /// Returns a bit that is 1 if the first is not 1, or the second is.
    pub fn implies(&mut self, one: Term, other: Term) -> Term {
        let not = self.not(one);
        self.or(not, other)
    }

    /// Returns a bit that is 1 if two terms are equal.
    pub fn equal(&mut self, one: Term, other: Term) -> Term {
        if one == other {
            return self.bit(true);
        }
        match self.sort(one) {
            Sort::Bits(1) => match (self.constant(one), self.constant(other)) {
                (Some(1), _) => return other,
                (_, Some(1)) => return one,
                (Some(_), _) => return self.not(other),
                (_, Some(_)) => return self.not(one),
                (None, None) => {}
            },
            Sort::Bits(bits) if bits <= 64 => {
                let (sum, constant) = self.difference(one, other);
                if let Some(number) = self.constant(sum) {
                    let is_zero = self.constant(constant) == Some(number);
                    return self.bit(is_zero);
                }
                return self.built(Operator::Equal, vec![sum, constant], Sort::Bits(1));
            }
            Sort::Bits(_) | Sort::Token | Sort::Array(..) | Sort::Memory => {}
        }
        let operands = vec![one.min(other), one.max(other)];
        self.built(Operator::Equal, operands, Sort::Bits(1))
    }

    /// Returns a bit that is 1 if two terms are not equal.
    pub fn is_not(&mut self, one: Term, other: Term) -> Term {
        let equal = self.equal(one, other);
        self.not(equal)
    }

    /// Returns a comparison by an operator of bit-vectors.
    pub(super) fn less(&mut self, operator: &'static str, one: Term, other: Term) -> Term {
        let how = match operator {
            "bvult" => Compare::Ult,
            _signed => Compare::Slt,
        };
        let bits = self.bits(one) as u8;
        match (self.constant(one), self.constant(other)) {
            (Some(own), Some(than)) => {
                let is_less = compared(how, own, than, bits);
                self.bit(is_less)
            }
            (_, Some(0)) if how == Compare::Ult => self.bit(false),
            _same if one == other => self.bit(false),
            _other => {
                let operator = Operator::Compares(operator);
                self.built(operator, vec![one, other], Sort::Bits(1))
            }
        }
    }

    /// Returns a comparison of the IR.
    pub fn compare(&mut self, how: Compare, one: Term, other: Term) -> Term {
        match how {
            Compare::Eq => self.equal(one, other),
            Compare::Ne => self.is_not(one, other),
            Compare::Ult => self.less("bvult", one, other),
            Compare::Slt => self.less("bvslt", one, other),
            Compare::Ule => {
                let greater = self.less("bvult", other, one);
                self.not(greater)
            }
            Compare::Sle => {
                let greater = self.less("bvslt", other, one);
                self.not(greater)
            }
        }
    }

    /// Returns the first of two terms if a bit is 1, else the second.
    pub fn choose(&mut self, condition: Term, one: Term, other: Term) -> Term {
        if one == other {
            return one;
        }
        match self.node(condition).clone() {
            Node::Number(0) => return other,
            Node::Number(_) => return one,
            Node::Built(Operator::Not, inner) => return self.choose(inner[0], other, one),
            _other => {}
        }
        let sort = self.sort(one);
        if sort == Sort::Bits(1) {
            match (self.constant(one), self.constant(other)) {
                (Some(1), _) => return self.or(condition, other),
                (_, Some(0)) => return self.and(condition, one),
                (Some(_), _) => {
                    let not = self.not(condition);
                    return self.and(not, other);
                }
                (_, Some(_)) => return self.implies(condition, one),
                (None, None) => {}
            }
        }
        let inner = |terms: &Terms, of: Term| -> Option<Vec<Term>> {
            let parts = terms.is(of, &Operator::If)?;
            (parts[0] == condition).then(|| parts.to_vec())
        };
        let one = inner(self, one).map_or(one, |parts| parts[1]);
        let other = inner(self, other).map_or(other, |parts| parts[2]);
        if one == other {
            return one;
        }
        self.built(Operator::If, vec![condition, one, other], sort)
    }
}
