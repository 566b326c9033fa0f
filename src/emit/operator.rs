//! Operators: their operands come in, C goes out that computes in the width of the result.

use super::expression::{Typed, exact, is_constant, promoted};
use super::layout::{c_bits, c_type, mask};
use super::scope::Scope;
use super::state::is_zero;
use crate::c::tree::{Expression as C, atom, binary, call, conditional};
use crate::types::constant::fold_number;
use crate::types::expression::{Binary, Expression, ExpressionKind as Kind, Unary};
use crate::types::value::{Type, Value};

impl Scope<'_> {
    pub(super) fn unary(&self, operator: Unary, a: &Expression, result: &Type) -> Typed {
        let sign = match operator {
            Unary::Not => return exact(self.value(a).negated()),
            Unary::Negate => "-",
            Unary::Complement => "~",
            Unary::Inverse => return exact(call("sl_inverse", vec![self.stored(a)])),
        };
        let turned = |inner| C::Unary(sign, Box::new(inner));
        if matches!(result, Type::Signed(_)) && operator == Unary::Negate {
            let unsigned = format!("uint{}_t", c_bits(self.width(result)));
            return self.wrapped(turned(self.operand(a).cast(unsigned)), result);
        }
        self.wrapped(turned(self.operand(a)), result)
    }

    /// Cuts what C has computed in a wider or promoted type to the width of its own.
    pub(super) fn wrapped(&self, c: C, result: &Type) -> Typed {
        let (width, own) = (self.width(result), c_type(self.stack, result));
        let native = c_bits(width);
        if matches!(result, Type::Signed(_)) {
            if width == native {
                return exact(c.cast(own));
            }
            let sign = atom(format!("{:#x}", 1_u64 << (width - 1)));
            let low = binary("&", c, atom(mask(width)));
            return exact(binary("-", binary("^", low, sign.clone()), sign).cast(own));
        }
        match (width == native, native < 32) {
            (true, true) => exact(c.cast(own)),
            (true, false) => exact(c),
            (false, true) => promoted(binary("&", c, atom(mask(width)))),
            (false, false) => exact(binary("&", c, atom(mask(width)))),
        }
    }

    pub(super) fn binary(
        &self,
        operator: Binary,
        a: &Expression,
        b: &Expression,
        result: &Type,
    ) -> Typed {
        let plain = |sign: &'static str| {
            let c = binary(sign, self.operand(a), self.operand(b));
            if self.width(result) <= 16 {
                promoted(c)
            } else {
                exact(c)
            }
        };
        match operator {
            Binary::Or => exact(both("||", self.value(a), self.value(b))),
            Binary::And => exact(both("&&", self.value(a), self.value(b))),
            Binary::Equal
            | Binary::Unequal
            | Binary::Less
            | Binary::AtMost
            | Binary::Greater
            | Binary::AtLeast => exact(self.compared(operator, a, b)),
            Binary::BitOr => plain("|"),
            Binary::BitXor => plain("^"),
            Binary::BitAnd => plain("&"),
            Binary::Divide => plain("/"),
            Binary::Remainder => plain("%"),
            Binary::Add => self.ring("+", a, b, result),
            Binary::Subtract => self.ring("-", a, b, result),
            Binary::Multiply => self.ring("*", a, b, result),
            Binary::ShiftLeft | Binary::ShiftRight => self.shifted(operator, a, b, result),
        }
    }

    /// Whether a number is zero whatever is read for it, as compilers see, too, who say so where it
    /// is compared.
    fn is_nothing(&self, number: &Expression) -> bool {
        let folded = |side| fold_number(self.stack.program, side);
        match &*number.kind {
            Kind::Binary(Binary::Multiply | Binary::BitAnd, a, b) => {
                self.is_nothing(a) || self.is_nothing(b)
            }
            Kind::Binary(Binary::Remainder, _, b) if folded(b) == Some(1) => true,
            Kind::Binary(Binary::Subtract | Binary::BitXor, a, b) if a == b => true,
            Kind::Cast(inner) => self.is_nothing(inner),
            _ => folded(number) == Some(0),
        }
    }

    /// A number, or zero if it is always that.
    fn zero_or(&self, number: &Expression) -> Expression {
        let zero = Kind::Constant(Value::Number(0));
        let kind = match number.result {
            Type::Unsigned(_) | Type::Signed(_) | Type::Sequence(_) | Type::Time
                if self.is_nothing(number) =>
            {
                Box::new(zero)
            }
            _ => number.kind.clone(),
        };
        Expression {
            kind,
            ..number.clone()
        }
    }

    /// Arithmetic that wraps: what is signed, or would overflow an `int`, is computed unsigned.
    fn ring(&self, sign: &'static str, a: &Expression, b: &Expression, result: &Type) -> Typed {
        let width = self.width(result);
        let signed = matches!(result, Type::Signed(_));
        if sign != "*" && self.is_nothing(b) {
            return self.typed(a);
        }
        let (left, right) = (self.summand(sign, a), self.summand(sign, b));
        if signed && width > 16 {
            let unsigned = format!("uint{}_t", c_bits(width));
            let c = binary(sign, left.cast(&unsigned), right.cast(&unsigned));
            return self.wrapped(c, result);
        }
        let left = if sign == "*" && c_bits(width) == 16 {
            left.cast("uint32_t")
        } else {
            left
        };
        self.wrapped(binary(sign, left, right), result)
    }

    /// An operand of a sum that is cut afterwards, which need not be cut before.
    fn summand(&self, sign: &'static str, expression: &Expression) -> C {
        let narrow = self.width(&expression.result) <= 16;
        match &*expression.kind {
            Kind::Binary(inner, a, b) if narrow && sign != "*" => match inner {
                Binary::Add => binary("+", self.summand("+", a), self.summand("+", b)),
                Binary::Subtract => binary("-", self.summand("-", a), self.summand("-", b)),
                _ => self.operand(expression),
            },
            _ => self.operand(expression),
        }
    }

    /// Shifts; by the width or more they give nothing.
    fn shifted(&self, operator: Binary, a: &Expression, b: &Expression, result: &Type) -> Typed {
        let width = self.width(result);
        let left = operator == Binary::ShiftLeft;
        let by = self.value(b);
        let mut operand = self.operand(a);
        if left && (c_bits(width) <= 16 || is_constant(a)) {
            operand = operand.cast(if width > 32 { "uint64_t" } else { "uint32_t" });
        }
        let c = binary(if left { "<<" } else { ">>" }, operand, by.clone());
        let shifted = if left {
            self.wrapped(c, result)
        } else if width <= 16 {
            promoted(c)
        } else {
            exact(c)
        };
        if is_constant(b) {
            return shifted;
        }
        let within = binary("<", by, atom(width.to_string()));
        Typed {
            c: conditional(within, shifted.c, atom("0")),
            ..shifted
        }
    }

    pub(super) fn compared(&self, operator: Binary, a: &Expression, b: &Expression) -> C {
        let sign = match operator {
            Binary::Equal => "==",
            Binary::Unequal => "!=",
            Binary::Less => "<",
            Binary::AtMost => "<=",
            Binary::Greater => ">",
            Binary::AtLeast => ">=",
            _ => unreachable!("only comparisons are compared"),
        };
        let [a, b] = &[a, b].map(|side| self.zero_or(side));
        if let Some(always) = self.decided(operator, a, b) {
            return atom(always.to_string());
        }
        let equality = matches!(operator, Binary::Equal | Binary::Unequal);
        let counts = matches!(a.result, Type::Unsigned(_) | Type::Time);
        match &a.result {
            // Nothing is less than zero.
            _ if counts && is_zero(&b.kind) && operator == Binary::AtMost => {
                binary("==", self.value(a), self.value(b))
            }
            _ if counts && is_zero(&b.kind) && operator == Binary::Greater => {
                binary("!=", self.value(a), self.value(b))
            }
            Type::Sequence(width) if !equality => {
                let ahead = binary("-", self.operand(a), self.operand(b));
                binary(sign, ahead.cast(format!("int{width}_t")), atom("0"))
            }
            Type::Optional(inner) => {
                let both = binary("==", self.present(a), self.present(b));
                let absent = self.present(a).negated();
                let same = binary("==", self.unwrapped(a), self.unwrapped(b));
                assert!(
                    !matches!(**inner, Type::Bytes(_) | Type::BoundedBytes(_)),
                    "optional bytes are not compared"
                );
                let equal = binary("&&", both, binary("||", absent, same));
                if operator == Binary::Equal {
                    equal
                } else {
                    equal.negated()
                }
            }
            Type::Bytes(length) => {
                let pointers = [a, b].map(|side| self.bytes_of(side));
                let mut arguments = pointers.to_vec();
                arguments.push(atom(length.to_string()));
                binary(sign, call("memcmp", arguments), atom("0"))
            }
            Type::BoundedBytes(_) => self.bounded_compared(operator, a, b),
            Type::Enum(id) if !equality && !super::types::in_order(self.stack, *id) => {
                let rank = |side| super::types::rank(self.stack, *id, self.value(side));
                binary(sign, rank(a), rank(b))
            }
            Type::Bool if is_constant(b) && equality => {
                let holds = self.value(b) == atom("true");
                let c = self.value(a);
                if holds == (operator == Binary::Equal) {
                    c
                } else {
                    c.negated()
                }
            }
            _ => binary(sign, self.value(a), self.value(b)),
        }
    }

    /// Bounded bytes are compared by a function.
    fn bounded_compared(&self, operator: Binary, a: &Expression, b: &Expression) -> C {
        let name = super::types::bounded_equal(self.stack, &a.result);
        let equal = call(name, vec![self.value(a), self.value(b)]);
        match operator == Binary::Equal {
            true => equal,
            false => equal.negated(),
        }
    }

    /// What a comparison says of all values of its type, or of a value and itself.
    pub(super) fn decided(&self, operator: Binary, a: &Expression, b: &Expression) -> Option<bool> {
        let is_number = matches!(
            a.result,
            Type::Unsigned(_) | Type::Signed(_) | Type::Sequence(_) | Type::Time | Type::Bool
        );
        if is_number && self.value(a) == self.value(b) {
            let has_equal = [Binary::Equal, Binary::AtMost, Binary::AtLeast];
            return Some(has_equal.contains(&operator));
        }
        let counted = |side: &Expression| match side.result {
            // Its values are in order, and none is less than zero.
            Type::Enum(id) if super::types::in_order(self.stack, id) => Expression {
                result: Type::Unsigned(64),
                ..side.clone()
            },
            _ => side.clone(),
        };
        Expression::binary(operator, counted(a), counted(b), Type::Bool).truth()
    }

    /// Where bytes stand; those of a header are compared in the message itself.
    fn bytes_of(&self, bytes: &Expression) -> C {
        let value = self.value(bytes);
        let is_read = matches!(
            *bytes.kind,
            Kind::Header(..) | Kind::Peeked(..) | Kind::Unwrap(_)
        );
        match value {
            C::Call(name, mut given) if is_read && name.ends_with("_at") && given.len() == 1 => {
                given.remove(0)
            }
            value => value.member("at"),
        }
    }
}

/// Two conditions; one that is a constant says nothing, or all.
fn both(operator: &'static str, one: C, other: C) -> C {
    let [nothing, all] = match operator {
        "||" => ["false", "true"],
        _ => ["true", "false"],
    };
    if one == atom(nothing) {
        other
    } else if one == atom(all) || other == atom(nothing) {
        one
    } else {
        binary(operator, one, other)
    }
}
