//! Operators: in, operators of the checked program and their operands; out, operations whose sign
//! and order follow from the types.

use super::lazy::is_total;
use crate::ir::Value;
use crate::ir::op::{Arithmetic, Compare, Op};
use crate::lower::code::Code;
use crate::lower::shapes::bits;
use crate::types::expression::{Binary, Expression, Unary};
use crate::types::value::Type;

impl Code<'_, '_> {
    /// An operator of one operand.
    pub fn unary(&mut self, operator: Unary, operand: &Expression) -> Value {
        let value = self.plain(operand);
        match operator {
            Unary::Not | Unary::Complement => self.value_of(Op::Not, &[value]),
            Unary::Negate => {
                let bits = self.bits_of(value);
                let zero = self.number(bits, 0);
                self.difference(zero, value)
            }
            Unary::Inverse => self.value_of(Op::Inverse, &[value]),
        }
    }

    /// An operator of two operands.
    pub fn binary(
        &mut self,
        operator: Binary,
        one: &Expression,
        other: &Expression,
        result: &Type,
    ) -> Value {
        match operator {
            Binary::And | Binary::Or => self.joined_bits(operator == Binary::And, one, other),
            Binary::Equal => self.equal(one, other),
            Binary::Unequal => {
                let equal = self.equal(one, other);
                self.value_of(Op::Not, &[equal])
            }
            Binary::Less => self.ordered(one, other, false),
            Binary::AtMost => self.ordered(one, other, true),
            Binary::Greater => self.ordered_backwards(one, other, false),
            Binary::AtLeast => self.ordered_backwards(one, other, true),
            Binary::ShiftLeft | Binary::ShiftRight => self.shift(operator, one, other, result),
            Binary::BitOr
            | Binary::BitXor
            | Binary::BitAnd
            | Binary::Add
            | Binary::Subtract
            | Binary::Multiply
            | Binary::Divide
            | Binary::Remainder => {
                let signed = matches!(result, Type::Signed(_));
                let (one, other) = (self.plain(one), self.plain(other));
                let bits = bits(self.lower.program, result).unwrap_or(64);
                let (one, other) = (self.resized(one, bits), self.resized(other, bits));
                self.arithmetic(plain(operator, signed), one, other)
            }
        }
    }

    /// The lesser or the greater of two numbers, in the order of their type.
    pub fn chosen(&mut self, greatest: bool, one: &Expression, other: &Expression) -> Value {
        let of = one.result.clone();
        let (one, other) = (self.plain(one), self.plain(other));
        let operation = match (&of, greatest) {
            (Type::Signed(_), false) => Some(Arithmetic::Smin),
            (Type::Signed(_), true) => Some(Arithmetic::Smax),
            (Type::Sequence(_) | Type::Enum(_), _) => None,
            (_unsigned, false) => Some(Arithmetic::Umin),
            (_unsigned, true) => Some(Arithmetic::Umax),
        };
        if let Some(operation) = operation {
            return self.arithmetic(operation, one, other);
        }
        // The first is chosen only if it stands strictly before, or behind, the other.
        let is_first = match greatest {
            true => self.in_order(&of, other, one, false),
            false => self.in_order(&of, one, other, false),
        };
        self.value_of(Op::Select, &[is_first, one, other])
    }

    /// A number as one of another type: wider by its own sign, or cut.
    pub fn cast(&mut self, value: &Expression, result: &Type) -> Value {
        let signed = matches!(value.result, Type::Signed(_));
        let number = self.plain(value);
        match signed {
            true => self.extended(number, result),
            false => self.as_type(number, result),
        }
    }

    /// A number without sign as one of another type.
    pub fn as_type(&mut self, number: Value, result: &Type) -> Value {
        let bits = bits(self.lower.program, result).expect("a number has a number's type");
        self.resized(number, bits)
    }

    fn extended(&mut self, number: Value, result: &Type) -> Value {
        let bits = bits(self.lower.program, result).expect("a number has a number's type");
        match self.bits_of(number) < bits {
            true => self.value_of(Op::SignExtend(bits), &[number]),
            false => self.resized(number, bits),
        }
    }

    /// Bits of a number.
    pub fn bits_of(&self, number: Value) -> u8 {
        let bits = self.build.type_of(number).bits();
        bits.expect("a number has bits")
    }

    /// `and`, `or`: the second is evaluated only if it matters, unless it can always be evaluated.
    fn joined_bits(&mut self, and: bool, one: &Expression, other: &Expression) -> Value {
        let first = self.plain(one);
        if is_total(self.lower.program, other) {
            let second = self.plain(other);
            return match and {
                true => self.both(first, second),
                false => self.either(first, second),
            };
        }
        let parts = match and {
            true => self.choose(
                first,
                |code| vec![code.plain(other)],
                |code| vec![code.bit(false)],
            ),
            false => self.choose(
                first,
                |code| vec![code.bit(true)],
                |code| vec![code.plain(other)],
            ),
        };
        parts[0]
    }

    fn equal(&mut self, one: &Expression, other: &Expression) -> Value {
        let (one, other) = (self.value(one), self.value(other));
        self.same_parts(&one, &other)
    }

    /// A bit: values are equal part by part.
    pub fn same_parts(&mut self, one: &[Value], other: &[Value]) -> Value {
        let mut all = None;
        for (one, other) in one.iter().zip(other) {
            let same = self.compare(Compare::Eq, *one, *other);
            all = Some(match all {
                None => same,
                Some(all) => self.both(all, same),
            });
        }
        all.unwrap_or_else(|| self.bit(true))
    }

    fn ordered(&mut self, one: &Expression, other: &Expression, or_equal: bool) -> Value {
        let of = one.result.clone();
        let (one, other) = (self.plain(one), self.plain(other));
        self.in_order(&of, one, other, or_equal)
    }

    fn ordered_backwards(&mut self, one: &Expression, other: &Expression, or_equal: bool) -> Value {
        let of = one.result.clone();
        let (one, other) = (self.plain(one), self.plain(other));
        match of {
            // Two sequence numbers half the range apart are each less than the other (RFC 1982).
            Type::Sequence(_) => {
                let not = self.in_order(&of, one, other, !or_equal);
                self.value_of(Op::Not, &[not])
            }
            _ => self.in_order(&of, other, one, or_equal),
        }
    }

    /// A bit: a number of a type stands before another, or is the same.
    pub fn in_order(&mut self, of: &Type, one: Value, other: Value, or_equal: bool) -> Value {
        let (strictly, weakly) = match of {
            Type::Signed(_) | Type::Sequence(_) => (Compare::Slt, Compare::Sle),
            _unsigned => (Compare::Ult, Compare::Ule),
        };
        let compare = if or_equal { weakly } else { strictly };
        match of {
            Type::Sequence(_) => {
                let ahead = self.difference(one, other);
                let bits = self.bits_of(ahead);
                let zero = self.number(bits, 0);
                self.compare(compare, ahead, zero)
            }
            Type::Enum(id) => {
                let (one, other) = (self.rank(*id, one), self.rank(*id, other));
                self.compare(compare, one, other)
            }
            _ => self.compare(compare, one, other),
        }
    }

    /// The place of an enum's value among its names; behind them, if it has no name.
    fn rank(&mut self, id: crate::types::program::EnumId, value: Value) -> Value {
        let program = self.lower.program;
        let names = &program.enums[id.at()].names;
        let bits = self.bits_of(value);
        let mut rank = self.word(names.len() as u32);
        let mut places = names.iter().zip(0..);
        if places.all(|((_, number), place)| *number == place) {
            let wide = bits.max(32);
            let (value, most) = (self.resized(value, wide), self.resized(rank, wide));
            let place = self.arithmetic(Arithmetic::Umin, value, most);
            return self.resized(place, 32);
        }
        for (place, (_, number)) in names.iter().enumerate().rev() {
            let number = self.number(bits, *number);
            let is = self.compare(Compare::Eq, value, number);
            let place = self.word(place as u32);
            rank = self.value_of(Op::Select, &[is, place, rank]);
        }
        rank
    }

    fn shift(
        &mut self,
        operator: Binary,
        one: &Expression,
        by: &Expression,
        result: &Type,
    ) -> Value {
        let signed = matches!(by.result, Type::Signed(_));
        let (one, by) = (self.plain(one), self.plain(by));
        let bits = bits(self.lower.program, result).unwrap_or(64);
        let one = self.resized(one, bits);
        let own = self.bits_of(by);
        let by = match own.cmp(&bits) {
            std::cmp::Ordering::Equal => by,
            std::cmp::Ordering::Less if signed => self.value_of(Op::SignExtend(bits), &[by]),
            std::cmp::Ordering::Less => self.resized(by, bits),
            // A number of bits can hold how many they are, if there is more than one.
            std::cmp::Ordering::Greater => {
                let most = self.number(own, u64::from(bits));
                let least = self.arithmetic(Arithmetic::Umin, by, most);
                self.value_of(Op::Truncate(bits), &[least])
            }
        };
        let operation = match (operator, result) {
            (Binary::ShiftLeft, _) => Arithmetic::Shl,
            (_right, Type::Signed(_)) => Arithmetic::Ashr,
            (_right, _) => Arithmetic::Lshr,
        };
        self.arithmetic(operation, one, by)
    }
}

fn plain(operator: Binary, signed: bool) -> Arithmetic {
    match operator {
        Binary::BitOr => Arithmetic::Or,
        Binary::BitXor => Arithmetic::Xor,
        Binary::BitAnd => Arithmetic::And,
        Binary::Add => Arithmetic::Add,
        Binary::Subtract => Arithmetic::Sub,
        Binary::Multiply => Arithmetic::Mul,
        Binary::Divide if signed => Arithmetic::Sdiv,
        Binary::Divide => Arithmetic::Udiv,
        Binary::Remainder if signed => Arithmetic::Srem,
        Binary::Remainder => Arithmetic::Urem,
        Binary::Or
        | Binary::And
        | Binary::Equal
        | Binary::Unequal
        | Binary::Less
        | Binary::AtMost
        | Binary::Greater
        | Binary::AtLeast
        | Binary::ShiftLeft
        | Binary::ShiftRight => unreachable!("{operator:?} is lowered by itself"),
    }
}
