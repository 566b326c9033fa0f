//! Sums of numbers that are not known, each times a constant.
//!
//! In: numbers by what they are of. Out: sums, exact as long as they are small: others are none.

use crate::ir::Value;

/// A number that is not known: a value, the length of a message or view, the start of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Atom(u32);

impl Atom {
    /// A value that is a number.
    pub fn number(value: Value) -> Atom {
        Atom(value.0 * 3)
    }

    /// The length of a message or view.
    pub fn length(value: Value) -> Atom {
        Atom(value.0 * 3 + 1)
    }

    /// The start of a message in its buffer.
    pub fn start(value: Value) -> Atom {
        Atom(value.0 * 3 + 2)
    }

    /// The value that it is about.
    pub fn value(self) -> Value {
        Value(self.0 / 3)
    }

    /// Its index among all atoms, of which each value has three.
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

/// A sum has at most so many parts.
const PARTS: usize = 12;
/// No factor is greater, so that no sum of a few products with numbers of 64 bits overflows.
const FACTOR: i128 = 1 << 40;

/// A constant, and atoms with their factors, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Linear {
    /// The constant.
    pub constant: i128,
    /// The atoms with their factors, none of which is 0.
    pub parts: Vec<(Atom, i128)>,
}

impl Linear {
    /// A constant.
    pub fn constant(constant: i128) -> Linear {
        let parts = Vec::new();
        Linear { constant, parts }
    }

    /// One atom.
    pub fn atom(atom: Atom) -> Linear {
        let parts = vec![(atom, 1)];
        Linear { constant: 0, parts }
    }

    /// This and a multiple of another, unless that is too long.
    pub fn plus(&self, other: &Linear, factor: i128) -> Option<Linear> {
        let added = other.constant.checked_mul(factor)?;
        let mut sum = Linear::constant(self.constant.checked_add(added)?);
        let (mut one, mut two) = (self.parts.iter().peekable(), other.parts.iter().peekable());
        loop {
            let next = match (one.peek(), two.peek()) {
                (None, None) => break,
                (Some(first), Some(second)) => first.0.min(second.0),
                (Some((atom, _)), None) | (None, Some((atom, _))) => *atom,
            };
            let own = one.next_if(|part| part.0 == next).map_or(0, |part| part.1);
            let added = two.next_if(|part| part.0 == next).map_or(0, |part| part.1);
            let whole = added.checked_mul(factor)?.checked_add(own)?;
            if whole != 0 {
                sum.parts.push((next, whole));
            }
        }
        let mut factors = sum.parts.iter();
        let is_small = |number: i128| number.abs() <= FACTOR;
        let fits = sum.parts.len() <= PARTS
            && is_small(sum.constant / FACTOR)
            && factors.all(|part| is_small(part.1));
        fits.then_some(sum)
    }

    /// The difference of two, unless that is too long.
    pub fn minus(&self, other: &Linear) -> Option<Linear> {
        self.plus(other, -1)
    }

    /// This and a constant.
    pub fn and(mut self, constant: i128) -> Linear {
        self.constant += constant;
        self
    }

    /// The factor of an atom, 0 if it has none.
    pub fn factor(&self, atom: Atom) -> i128 {
        let found = self.parts.iter().find(|part| part.0 == atom);
        found.map_or(0, |part| part.1)
    }

    /// Returns this sum with another in place of an atom, unless that is too long.
    pub fn replaced(&self, atom: Atom, sum: &Linear) -> Option<Linear> {
        let factor = self.factor(atom);
        let without = self.plus(&Linear::atom(atom), -factor)?;
        without.plus(sum, factor)
    }
}
