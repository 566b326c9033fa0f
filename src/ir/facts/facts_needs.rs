//! Preconditions of operations that would trap: ranges of bytes, indices, divisors.
//!
//! In: an operation with its operands. Out: sums that have to be 0 or more.

use super::{Facts, Linear};
use crate::ir::op::{Arithmetic, Piece, Place};
use crate::ir::{Attempt, Op, Region, Type, Value};

/// A sum that has to be 0 or more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The sum; none if it is too long.
    pub sum: Option<Linear>,
    /// True for bytes of messages and views, false for other traps.
    pub is_range: bool,
    /// A sentence that says what is wrong otherwise.
    pub otherwise: &'static str,
}

impl Facts<'_> {
    /// Returns the preconditions of an operation.
    pub fn needs(&self, op: &Op, operands: &[Value]) -> Vec<Need> {
        let fixed = |bytes: u32| Linear::constant(i128::from(bytes));
        let number = |at: usize| self.number(operands[at]);
        match op {
            Op::Read(bits) => vec![self.within(operands[0], operands[1], &fixed(bits.bytes()))],
            Op::ReadBytes(count) => vec![self.within(operands[0], operands[1], &fixed(*count))],
            Op::ReadPart(most) => vec![
                self.within(operands[0], operands[1], &number(2)),
                at_most(&number(2), &fixed(*most)),
            ],
            Op::Write(number) => {
                let bytes = fixed(u32::from(number.bytes));
                vec![self.within(operands[0], operands[1], &bytes)]
            }
            Op::WriteBytes => {
                let bytes = fixed(self.bytes(operands[2]));
                vec![self.within(operands[0], operands[1], &bytes)]
            }
            Op::WritePart => vec![
                self.within(operands[0], operands[1], &number(3)),
                at_most(&number(3), &fixed(self.bytes(operands[2]))),
            ],
            Op::SubView => vec![self.within(operands[0], operands[1], &number(2))],
            Op::Pull | Op::Cut => vec![at_most(&number(1), &self.length(operands[0]))],
            Op::Run(kernel, pieces) => {
                let parameters = self.module.kernels[kernel.at()].parameters.len();
                let given = operands[parameters..].chunks(3);
                let pieces = pieces.iter().filter(|piece| **piece == Piece::Bytes);
                let both = pieces.zip(given).flat_map(|(_, given)| {
                    let [from, to] = [given[1], given[2]].map(|value| self.number(value));
                    [at_most(&from, &to), at_most(&to, &self.length(given[0]))]
                });
                both.collect()
            }
            Op::Arithmetic(
                Arithmetic::Udiv | Arithmetic::Urem | Arithmetic::Sdiv | Arithmetic::Srem,
            ) => vec![trap(Some(number(1).and(-1)), "a divisor may be 0")],
            Op::Get(part) | Op::Put(part) => {
                vec![self.inside(operands, u32::from(part.bytes))]
            }
            Op::PutBytes => vec![self.inside(operands, self.bytes(operands[2]))],
            Op::At(kind) => {
                let capacity = fixed(self.module.kinds[kind.at()].capacity);
                vec![less(&number(0), &capacity)]
            }
            Op::Load(Region::Field(kind, field)) | Op::Store(Region::Field(kind, field)) => {
                let (kind, field) = (*kind, *field);
                self.indices(Place { kind, field }, operands)
            }
            Op::Ask(_, place) | Op::Change(_, place) => self.indices(*place, operands),
            _ => Vec::new(),
        }
    }

    /// Returns the preconditions of an operation that may fail.
    pub fn attempt_needs(&self, attempt: &Attempt, operands: &[Value]) -> Vec<Need> {
        if let Attempt::NewOf = attempt {
            let bytes = Linear::constant(i128::from(self.bytes(operands[0])));
            return vec![at_most(&self.number(operands[1]), &bytes)];
        }
        let place = attempt.place();
        place.map_or_else(Vec::new, |place| self.indices(place, operands))
    }

    /// Needs this number of bytes from an offset on in a view or message.
    fn within(&self, of: Value, at: Value, count: &Linear) -> Need {
        let end = self.number(at).plus(count, 1);
        Need {
            sum: end.and_then(|end| self.length(of).minus(&end)),
            is_range: true,
            otherwise: "the bytes may not be there",
        }
    }

    /// Needs this number of bytes from an offset on in bytes.
    fn inside(&self, operands: &[Value], count: u32) -> Need {
        let last = i128::from(self.bytes(operands[0])) - i128::from(count);
        let sum = Linear::constant(last).minus(&self.number(operands[1]));
        trap(sum, "the bytes may not be there")
    }

    fn indices(&self, place: Place, operands: &[Value]) -> Vec<Need> {
        let field = self.module.field(place.kind, place.field);
        let indices = operands.iter().skip(1).zip(&field.dimensions);
        let indices = indices.map(|(index, length)| {
            let length = Linear::constant(i128::from(*length));
            less(&self.number(*index), &length)
        });
        indices.collect()
    }

    fn bytes(&self, value: Value) -> u32 {
        match self.function.type_of(value) {
            Type::Bytes(length) => length,
            _ => 0,
        }
    }
}

fn at_most(one: &Linear, other: &Linear) -> Need {
    Need {
        sum: other.minus(one),
        is_range: true,
        otherwise: "there may be fewer bytes",
    }
}

fn less(one: &Linear, other: &Linear) -> Need {
    let sum = other.minus(one).map(|sum| sum.and(-1));
    trap(sum, "an index may be out of range")
}

fn trap(sum: Option<Linear>, otherwise: &'static str) -> Need {
    Need {
        sum,
        is_range: false,
        otherwise,
    }
}
