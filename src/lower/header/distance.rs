//! Numbers of bytes: offsets in headers, and lengths of their parts.
//!
//! In: bytes that are known when the stack is compiled, and values. Out: their sums and
//! differences, as operations only where something is not known.

use crate::ir::op::Arithmetic;
use crate::ir::{Op, Value};
use crate::lower::code::Code;

/// A number of bytes: those that are known, and a value that is added to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Distance {
    /// Bytes that are known.
    pub fixed: u32,
    /// The others, as an i32.
    pub loose: Option<Value>,
}

impl Distance {
    /// A known number of bytes.
    pub fn fixed(fixed: u32) -> Distance {
        Distance { fixed, loose: None }
    }

    /// Bytes that are known only when the stack runs.
    pub fn of(loose: Value) -> Distance {
        let (fixed, loose) = (0, Some(loose));
        Distance { fixed, loose }
    }

    /// Adds a known number of bytes.
    pub fn plus(self, fixed: u32) -> Distance {
        let fixed = self.fixed + fixed;
        Distance { fixed, ..self }
    }

    /// The number of bytes, if all of them are known.
    pub fn known(self) -> Option<u32> {
        self.loose.is_none().then_some(self.fixed)
    }
}

impl Code<'_, '_> {
    /// A number of bytes as an i32.
    pub fn bytes(&mut self, distance: Distance) -> Value {
        match distance {
            Distance { fixed, loose: None } => self.word(fixed),
            Distance {
                fixed: 0,
                loose: Some(loose),
            } => loose,
            Distance {
                fixed,
                loose: Some(loose),
            } => {
                let fixed = self.word(fixed);
                self.sum_of(loose, fixed)
            }
        }
    }

    /// The sum of two numbers of bytes.
    pub fn farther(&mut self, one: Distance, other: Distance) -> Distance {
        let loose = match (one.loose, other.loose) {
            (Some(one), Some(other)) => Some(self.sum_of(one, other)),
            (one, other) => one.or(other),
        };
        let fixed = one.fixed + other.fixed;
        Distance { fixed, loose }
    }

    /// The difference of two numbers of bytes, of which the first is not less.
    pub fn nearer(&mut self, one: Distance, other: Distance) -> Distance {
        let fixed = one.fixed.checked_sub(other.fixed);
        match (fixed, one.loose, other.loose) {
            (Some(fixed), loose, None) => Distance { fixed, loose },
            (Some(fixed), Some(same), Some(loose)) if same == loose => Distance::fixed(fixed),
            _ => {
                let (one, other) = (self.bytes(one), self.bytes(other));
                Distance::of(self.difference(one, other))
            }
        }
    }

    /// A number of bytes in units of so many; what is left over does not count.
    pub fn units(&mut self, distance: Distance, unit: u32) -> Value {
        match (distance.known(), unit) {
            (Some(known), unit) => self.word(known / unit),
            (None, 1) => self.bytes(distance),
            (None, unit) => {
                let (bytes, unit) = (self.bytes(distance), self.word(unit));
                self.arithmetic(Arithmetic::Udiv, bytes, unit)
            }
        }
    }

    /// A number of bytes, up to the next whole unit.
    pub fn whole_units(&mut self, distance: Distance, unit: u32) -> Distance {
        match (distance.known(), unit) {
            (_, 1) => distance,
            (Some(known), unit) => Distance::fixed(known.next_multiple_of(unit)),
            (None, unit) => {
                let units = self.units(distance.plus(unit - 1), unit);
                let unit = self.word(unit);
                Distance::of(self.arithmetic(Arithmetic::Mul, units, unit))
            }
        }
    }

    /// A number of bytes if a bit is 1, else none; always without a bit.
    pub fn bytes_if(&mut self, bit: Option<Value>, bytes: u32) -> Distance {
        let Some(bit) = bit else {
            return Distance::fixed(bytes);
        };
        let (bytes, none) = (self.word(bytes), self.word(0));
        Distance::of(self.value_of(Op::Select, &[bit, bytes, none]))
    }
}
