//! Arrays: loads of what was stored, by index, and numbers out of bytes.
//!
//! In: an array and an index, the element of which is asked for or replaced. Out: a term; a load
//! passes stores to other indices if those are known to differ.

use super::{Node, Operator, Sort, Term, Terms};
use crate::ir::op::{Bits, Number};

impl Terms {
    /// Returns an element of an array.
    pub fn select(&mut self, array: Term, index: Term) -> Term {
        if let Some(known) = self.selected.get(&(array, index)) {
            return *known;
        }
        let found = match self.node(array).clone() {
            Node::Built(Operator::Store, parts) if parts[1] == index => parts[2],
            Node::Built(Operator::Store, parts) if self.are_distinct(parts[1], index) => {
                self.select(parts[0], index)
            }
            Node::Built(Operator::If, parts) => {
                let one = self.select(parts[1], index);
                let other = self.select(parts[2], index);
                self.choose(parts[0], one, other)
            }
            _other => {
                let sort = self.sort(array).element();
                self.built(Operator::Select, vec![array, index], sort)
            }
        };
        self.selected.insert((array, index), found);
        found
    }

    /// Returns an array with another element.
    pub fn store(&mut self, array: Term, index: Term, element: Term) -> Term {
        let sort = self.sort(array);
        let array = match self.is(array, &Operator::Store) {
            Some(parts) if parts[1] == index => parts[0],
            _other => array,
        };
        if self.select(array, index) == element {
            return array;
        }
        self.built(Operator::Store, vec![array, index, element], sort)
    }

    fn are_distinct(&mut self, one: Term, other: Term) -> bool {
        if self.is_made(one) != self.is_made(other) {
            let known = [one, other].map(|term| self.constant(term).is_some());
            return known.contains(&true);
        }
        self.distance(one, other).is_some_and(|by| by != 0)
    }

    /// Returns true for the buffer of a message that was made behind the start of a function:
    /// its highest bit is 1, that of the buffer of a parameter 0.
    fn is_made(&self, buffer: Term) -> bool {
        let pieces = self.is(buffer, &Operator::Concat);
        pieces.is_some_and(|pieces| self.constant(pieces[0]) == Some(1))
    }

    /// Returns a byte of a buffer.
    pub fn byte(&mut self, content: Term, at: Term, more: u32) -> Term {
        let at = self.behind(at, more.into());
        self.select(content, at)
    }

    /// Returns bits of a buffer.
    pub fn read(&mut self, content: Term, at: Term, bits: Bits) -> Term {
        let count = bits.bytes();
        let mut bytes: Vec<Term> = (0..count)
            .map(|more| self.byte(content, at, more))
            .collect();
        let (skip, width) = (u32::from(bits.skip), u32::from(bits.width));
        let low = match bits.big {
            true => 8 * count - skip - width,
            false => {
                bytes.reverse();
                skip
            }
        };
        let whole = self.concat(&bytes);
        self.extract(low + width - 1, low, whole)
    }

    /// Returns a buffer with other bytes, the first the most significant of a number.
    pub fn write(&mut self, mut content: Term, at: Term, bytes: Term) -> Term {
        let count = self.bits(bytes) / 8;
        for more in 0..count {
            let high = 8 * (count - more) - 1;
            let byte = self.extract(high, high - 7, bytes);
            let at = self.behind(at, more.into());
            content = self.store(content, at, byte);
        }
        content
    }

    /// Returns a number as it stands in bytes.
    pub fn in_bytes(&mut self, number: Number, value: Term) -> Term {
        if number.big {
            return value;
        }
        let bytes: Vec<Term> = (0..u32::from(number.bytes))
            .map(|at| self.extract(8 * at + 7, 8 * at, value))
            .collect();
        self.concat(&bytes)
    }

    /// Returns a number out of bytes at a constant place; nothing of bytes that are not there.
    pub fn get(&mut self, number: Number, bytes: Term, at: u64) -> Option<Term> {
        let count = self.bits(bytes) / 8;
        let end = at.checked_add(number.bytes.into())?;
        let high = (u64::from(count) >= end).then(|| 8 * (count - at as u32) - 1)?;
        let found = self.extract(high, high + 1 - 8 * u32::from(number.bytes), bytes);
        Some(self.in_bytes(number, found))
    }

    /// Returns bytes with others at a constant place; nothing if they do not fit.
    pub fn put(&mut self, bytes: Term, at: u64, part: Term) -> Option<Term> {
        let (all, own) = (u64::from(self.bits(bytes)), u64::from(self.bits(part)));
        let end = at.checked_mul(8)?.checked_add(own)?;
        if end > all {
            return None;
        }
        let mut pieces = Vec::new();
        if at > 0 {
            pieces.push(self.extract(all as u32 - 1, (all - 8 * at) as u32, bytes));
        }
        pieces.push(part);
        if end < all {
            pieces.push(self.extract((all - end) as u32 - 1, 0, bytes));
        }
        Some(self.concat(&pieces))
    }

    /// Returns the zero of a sort of numbers.
    pub fn zero(&mut self, bits: u32) -> Term {
        match bits {
            0..=64 => self.number(bits, 0),
            _wide => self.make(Node::Bytes(vec![0; bits as usize / 8]), Sort::Bits(bits)),
        }
    }
}
