//! Sets: in, constructors and operators; out, words of bits, and the bounds that are known of the
//! members.

use super::super::Fault;
use super::super::memory::{SET_WORD, bounds, words};
use super::Code;
use super::evaluate::{Computed, Members, known};
use crate::ir::op::{Arithmetic, Compare};
use crate::ir::{Op, Value};
use crate::types::estelle::program::{BinaryOperator as Binary, Expression, Type, TypeId};

/// The bounds of a set without members.
const NO_MEMBERS: (i64, i64) = (i64::MAX, i64::MIN);

/// The bounds of the members of either set.
fn joined(one: (i64, i64), other: (i64, i64)) -> (i64, i64) {
    (one.0.min(other.0), one.1.max(other.1))
}

impl Code<'_, '_> {
    /// The set of some values and ranges of values.
    pub fn set(&mut self, items: &[(Expression, Option<Expression>)], of: TypeId) -> Computed {
        let Type::Set(element) = self.program().types[of.index()] else {
            unreachable!("the checker demands a set");
        };
        let count = words(self.program(), element);
        let (_, most) = bounds(self.program(), element);
        let mut all = Members {
            words: (0..count).map(|_| self.word(0)).collect(),
            bounds: NO_MEMBERS,
        };
        for (first, last) in items {
            let first = self.value(first);
            let low = known(&first).0;
            let (first, last, high) = match last {
                None => {
                    let high = known(&first).1;
                    let only = self.within(first, (0, most));
                    (only, only, high)
                }
                Some(last) => {
                    let last = self.value(last);
                    let high = known(&last).1;
                    let (first, last) = self.members(first, last, most);
                    (first, last, high)
                }
            };
            all.bounds = joined(all.bounds, (low.max(0), high.min(most)));
            for (at, word) in all.words.iter_mut().enumerate() {
                let bits = self.range_of_bits(first, last, at as i64);
                *word = self.arithmetic(Arithmetic::Or, *word, bits);
            }
        }
        Computed::Set(all)
    }

    /// A set of these values; other members are a fault.
    pub fn members_of(&mut self, members: Members, element: TypeId) -> Members {
        let (low, high) = bounds(self.program(), element);
        let zero = self.word(0);
        let is_within = low <= members.bounds.0 && members.bounds.1 <= high;
        for (at, word) in members.words.iter().enumerate().filter(|_| !is_within) {
            let first = at as i64 * SET_WORD;
            let others = (0..SET_WORD).filter(|bit| !(low..=high).contains(&(first + bit)));
            let others = others.fold(0u32, |all, bit| all | 1 << bit);
            if others == 0 {
                continue;
            }
            let others = self.op(Op::Number(32, others.into()), &[]);
            let others = self.arithmetic(Arithmetic::And, *word, others);
            let is_other = self.compare(Compare::Ne, others, zero);
            self.fails_if(is_other, Fault::Range);
        }
        let count = words(self.program(), element);
        let words = members.words.into_iter().chain(std::iter::repeat(zero));
        Members {
            words: words.take(count).collect(),
            bounds: (low, high),
        }
    }

    /// The ends of a range of members. One without members may have any ends.
    fn members(&mut self, first: Computed, last: Computed, most: i64) -> (Value, Value) {
        let (is_below, is_above) = (known(&first).0 < 0, known(&last).1 > most);
        let (first, last) = (self.number(first), self.number(last));
        if !is_below && !is_above {
            return (first, last);
        }
        let zero = self.word(0);
        let some = self.compare(Compare::Sle, first, last);
        if is_below {
            let below = self.compare(Compare::Slt, first, zero);
            let below = self.arithmetic(Arithmetic::And, some, below);
            self.fails_if(below, Fault::Range);
        }
        if is_above {
            let most = self.word(most);
            let above = self.compare(Compare::Slt, most, last);
            let above = self.arithmetic(Arithmetic::And, some, above);
            self.fails_if(above, Fault::Range);
        }
        let one = self.word(1);
        let first = self.op(Op::Select, &[some, first, one]);
        let last = self.op(Op::Select, &[some, last, zero]);
        (first, last)
    }

    /// The bits of one word of a set that belong to the members `first` to `last`.
    fn range_of_bits(&mut self, first: Value, last: Value, word: i64) -> Value {
        let base = self.word(word * SET_WORD);
        let [low, high] = [first, last].map(|one| self.arithmetic(Arithmetic::Sub, one, base));
        let (zero, top) = (self.word(0), self.word(SET_WORD - 1));
        let least = self.arithmetic(Arithmetic::Smax, low, zero);
        let most = self.arithmetic(Arithmetic::Smin, high, top);
        let all = self.word(-1);
        let from = self.arithmetic(Arithmetic::Shl, all, least);
        let left = self.arithmetic(Arithmetic::Sub, top, most);
        let to = self.arithmetic(Arithmetic::Lshr, all, left);
        let bits = self.arithmetic(Arithmetic::And, from, to);
        let is_empty = self.compare(Compare::Slt, most, least);
        self.op(Op::Select, &[is_empty, zero, bits])
    }

    /// An operator between two sets.
    pub fn sets(&mut self, operator: Binary, one: &Members, other: &Members) -> Computed {
        let zero = self.word(0);
        let count = one.words.len().max(other.words.len());
        let word = |all: &Members, at: usize| all.words.get(at).copied().unwrap_or(zero);
        let pairs: Vec<(Value, Value)> = (0..count)
            .map(|at| (word(one, at), word(other, at)))
            .collect();
        let bounds = match operator {
            Binary::Add => joined(one.bounds, other.bounds),
            _fewer => one.bounds,
        };
        let mut words = Vec::new();
        let mut holds = self.bit(true);
        for (one, other) in pairs {
            match operator {
                Binary::Add => words.push(self.arithmetic(Arithmetic::Or, one, other)),
                Binary::Multiply => words.push(self.arithmetic(Arithmetic::And, one, other)),
                Binary::Subtract => {
                    let others = self.op(Op::Not, &[other]);
                    words.push(self.arithmetic(Arithmetic::And, one, others));
                }
                Binary::Equal | Binary::Unequal => {
                    let same = self.compare(Compare::Eq, one, other);
                    holds = self.arithmetic(Arithmetic::And, holds, same);
                }
                _within => {
                    let (small, large) = match operator {
                        Binary::LessOrEqual => (one, other),
                        _greater => (other, one),
                    };
                    let both = self.arithmetic(Arithmetic::And, small, large);
                    let same = self.compare(Compare::Eq, both, small);
                    holds = self.arithmetic(Arithmetic::And, holds, same);
                }
            }
        }
        match (words.is_empty(), operator) {
            (false, _) => Computed::Set(Members { words, bounds }),
            (true, Binary::Unequal) => Computed::Bit(self.op(Op::Not, &[holds])),
            (true, _) => Computed::Bit(holds),
        }
    }

    /// `in`: false for a number that the set cannot have.
    pub fn member(&mut self, one: &Expression, set: &Expression) -> Computed {
        let value = self.value(one);
        let number = self.number(value);
        let Computed::Set(Members { words, .. }) = self.value(set) else {
            unreachable!("the checker demands a set");
        };
        let mut found = self.bit(false);
        for (at, word) in words.into_iter().enumerate() {
            let bits = self.range_of_bits(number, number, at as i64);
            let both = self.arithmetic(Arithmetic::And, word, bits);
            let zero = self.word(0);
            let is_in = self.compare(Compare::Ne, both, zero);
            found = self.arithmetic(Arithmetic::Or, found, is_in);
        }
        Computed::Bit(found)
    }
}
