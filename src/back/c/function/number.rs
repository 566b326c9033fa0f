//! Numbers in C: an expression, and the C type that it has.
//!
//! A number of N bits is always less than two to the power of N. Operands narrower than 32 bits are
//! widened before arithmetic, so nothing is computed as an `int`; behind it the result is cut.

use crate::c::tree::{Expression as C, atom, binary, call, conditional};
use crate::ir::evaluate;
use crate::ir::op::{Arithmetic, Compare};
use crate::ir::types::ones;

/// The type of an expression of C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A literal, which takes the type of what stands beside it.
    Literal(u64),
    /// `bool`.
    Bool,
    /// `uint8_t`, `uint16_t`, `uint32_t` or `uint64_t`.
    Unsigned(u8),
}

/// An expression for a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number {
    /// The expression.
    pub code: C,
    /// Its type in C.
    pub kind: Kind,
}

impl Number {
    /// A literal of so many bits.
    pub fn literal(bits: u8, number: u64) -> Number {
        let kind = Kind::Literal(number);
        let code = match (bits, number) {
            (1, 0) => atom("false"),
            (1, _) => atom("true"),
            (_, 0..=0x7fff_ffff) => atom(number.to_string()),
            (64, _) if number > i64::MAX as u64 => atom(format!("{number:#x}U")),
            (33..=64, _) if number < 1 << 53 => atom(number.to_string()),
            _ => atom(format!("{number:#x}")),
        };
        Number { code, kind }
    }

    /// A word of 32 bits.
    pub fn word(code: C) -> Number {
        let kind = Kind::Unsigned(32);
        Number { code, kind }
    }

    /// A bit.
    pub fn bit(code: C) -> Number {
        let kind = Kind::Bool;
        Number { code, kind }
    }

    /// An expression of the type in which so many bits stand in a local.
    pub fn local(bits: u8, code: C) -> Number {
        let kind = match bits {
            1 => Kind::Bool,
            2..=32 => Kind::Unsigned(32),
            _ => Kind::Unsigned(64),
        };
        Number { code, kind }
    }

    /// The number, if it is a literal.
    pub fn constant(&self) -> Option<u64> {
        match self.kind {
            Kind::Literal(number) => Some(number),
            Kind::Bool | Kind::Unsigned(_) => None,
        }
    }

    /// The expression with the type of a local of so many bits: no arithmetic on it is that of an
    /// `int`.
    pub fn wide(self, bits: u8) -> C {
        let width = if bits > 32 { 64 } else { 32 };
        match self.kind {
            Kind::Unsigned(own) if own >= 32 && own >= width => self.code,
            Kind::Literal(_) | Kind::Bool | Kind::Unsigned(_) => {
                self.code.cast(format!("uint{width}_t"))
            }
        }
    }

    /// The expression as it is stored in a type of so many bits of C.
    pub fn narrow(self, stored: u8) -> C {
        match self.kind {
            Kind::Unsigned(own) if own > stored => self.code.cast(format!("uint{stored}_t")),
            Kind::Literal(_) | Kind::Bool | Kind::Unsigned(_) => self.code,
        }
    }

    /// The number read with a sign.
    pub fn signed(self, bits: u8) -> C {
        let width = if bits > 32 { 64 } else { 32 };
        match bits {
            8 | 16 | 32 | 64 => self.code.cast(format!("int{bits}_t")),
            _ => {
                let sign = || Number::literal(bits, 1 << (bits - 1)).code;
                let turned = binary("^", self.wide(bits), sign());
                binary("-", turned, sign()).cast(format!("int{width}_t"))
            }
        }
    }
}

/// Truncates a number that was computed in the type of a local to `bits` bits.
fn cut(bits: u8, code: C) -> Number {
    match bits {
        8 | 16 => Number {
            code: code.cast(format!("uint{bits}_t")),
            kind: Kind::Unsigned(bits),
        },
        32 | 64 => Number::local(bits, code),
        _ => Number::local(bits, binary("&", code, mask(bits))),
    }
}

/// All ones in so many bits, as C.
pub fn mask(bits: u8) -> C {
    match ones(bits) {
        most if bits > 63 => atom(format!("{most:#x}U")),
        most => atom(format!("{most:#x}")),
    }
}

/// Two operands, of which one at least has the type of a local.
fn both(bits: u8, one: Number, other: Number) -> (C, C) {
    let width = if bits > 32 { 64 } else { 32 };
    let is_wide = |number: &Number| number.kind == Kind::Unsigned(width);
    match is_wide(&one) || is_wide(&other) {
        true => (one.code, other.code),
        false => (one.wide(bits), other.code),
    }
}

/// The result of an operation on two numbers of so many bits.
pub fn arithmetic(how: Arithmetic, bits: u8, one: Number, other: Number) -> Number {
    if bits == 1 {
        return on_bits(how, one, other);
    }
    let width = if bits > 32 { 64 } else { 32 };
    let is_zero = |number: &Number| number.constant() == Some(0);
    if let (Some(one), Some(other)) = (one.constant(), other.constant())
        && let Some(known) = evaluate::arithmetic(how, one, other, bits)
    {
        return Number::literal(bits, known);
    }
    match how {
        // Compilers warn of comparisons with what is always zero.
        Arithmetic::And | Arithmetic::Mul if is_zero(&one) || is_zero(&other) => {
            Number::literal(bits, 0)
        }
        Arithmetic::Add | Arithmetic::Sub | Arithmetic::Mul => {
            let sign = match how {
                Arithmetic::Add => "+",
                Arithmetic::Sub => "-",
                _ => "*",
            };
            let (one, other) = both(bits, one, other);
            cut(bits, binary(sign, one, other))
        }
        Arithmetic::Udiv | Arithmetic::Urem => {
            let sign = if how == Arithmetic::Udiv { "/" } else { "%" };
            let (one, other) = both(bits, one, other);
            Number::local(bits, binary(sign, one, other))
        }
        Arithmetic::And | Arithmetic::Or | Arithmetic::Xor => {
            let sign = match how {
                Arithmetic::And => "&",
                Arithmetic::Or => "|",
                _ => "^",
            };
            let (one, other) = both(bits, one, other);
            Number::local(bits, binary(sign, one, other))
        }
        Arithmetic::Shl | Arithmetic::Lshr | Arithmetic::Ashr => shifted(how, bits, one, other),
        Arithmetic::Sdiv | Arithmetic::Srem => divided(how, bits, one, other),
        Arithmetic::Umin | Arithmetic::Umax => {
            let name = if how == Arithmetic::Umin {
                "smaller"
            } else {
                "larger"
            };
            let given = vec![one.code, other.code];
            Number::local(bits, call(format!("{name}{width}"), given))
        }
        Arithmetic::Smin | Arithmetic::Smax => {
            let name = if how == Arithmetic::Smin {
                "smaller"
            } else {
                "larger"
            };
            let given = vec![one.signed(bits), other.signed(bits)];
            let found = call(format!("{name}_signed"), given).cast(format!("uint{width}_t"));
            cut(bits, found)
        }
    }
}

fn on_bits(how: Arithmetic, one: Number, other: Number) -> Number {
    let (one, other) = (one.code, other.code);
    Number::bit(match how {
        Arithmetic::And | Arithmetic::Mul | Arithmetic::Umin | Arithmetic::Smax => {
            binary("&&", one, other)
        }
        Arithmetic::Or | Arithmetic::Umax | Arithmetic::Smin => binary("||", one, other),
        Arithmetic::Add | Arithmetic::Sub | Arithmetic::Xor => binary("!=", one, other),
        // By 1, the only divisor, a bit is itself, and nothing is left.
        Arithmetic::Udiv | Arithmetic::Sdiv => one,
        Arithmetic::Urem | Arithmetic::Srem => atom("false"),
        // A bit that is shifted by one is gone; with its sign it stays only by none.
        Arithmetic::Shl | Arithmetic::Lshr | Arithmetic::Ashr => binary("&&", one, other.negated()),
    })
}

fn shifted(how: Arithmetic, bits: u8, one: Number, by: Number) -> Number {
    let width = if bits > 32 { 64 } else { 32 };
    let shift = |by: C| match how {
        Arithmetic::Shl => cut(bits, binary("<<", one.clone().wide(bits), by)),
        Arithmetic::Lshr => Number::local(bits, binary(">>", one.clone().wide(bits), by)),
        _ => {
            let moved = binary(">>", one.clone().signed(bits), by);
            cut(bits, moved.cast(format!("uint{width}_t")))
        }
    };
    match by.constant() {
        Some(count) if count >= u64::from(bits) => Number::literal(bits, 0),
        Some(_) => shift(by.code),
        None => {
            let fits = binary("<", by.code.clone(), atom(bits.to_string()));
            Number::local(bits, conditional(fits, shift(by.code).code, atom("0")))
        }
    }
}

/// Quotients and remainders with a sign: of the least number by -1 the quotient wraps.
fn divided(how: Arithmetic, bits: u8, one: Number, other: Number) -> Number {
    let width = if bits > 32 { 64 } else { 32 };
    if other.constant() == Some(0) {
        // A test before has shown that nobody comes here; C compilers warn of the division.
        return Number::literal(bits, 0);
    }
    let sign = if how == Arithmetic::Sdiv { "/" } else { "%" };
    if bits <= 32 {
        let wide = one.signed(bits).cast("int64_t");
        let found = binary(sign, wide, other.signed(bits));
        return cut(bits, found.cast(format!("uint{width}_t")));
    }
    let name = if how == Arithmetic::Sdiv {
        "quotient"
    } else {
        "remainder"
    };
    let given = vec![one.signed(bits), other.signed(bits)];
    let found = call(format!("{name}_signed"), given).cast(format!("uint{width}_t"));
    cut(bits, found)
}

/// A comparison of two numbers of so many bits. One whose outcome C compilers know is a literal:
/// they warn of it.
pub fn compared(how: Compare, bits: u8, one: Number, other: Number) -> Number {
    if one.code == other.code {
        let holds = matches!(how, Compare::Eq | Compare::Ule | Compare::Sle);
        return Number::literal(1, u64::from(holds));
    }
    match how {
        Compare::Eq | Compare::Ne => Number::bit(equal(how, one, other)),
        Compare::Ult | Compare::Ule => {
            let most = |number: &Number| match number.kind {
                Kind::Unsigned(own) => ones(own),
                Kind::Bool => 1,
                Kind::Literal(number) => number,
            };
            let known = match (one.constant(), other.constant(), how) {
                (_, Some(0), Compare::Ult) => Some(false),
                (Some(0), _, Compare::Ule) => Some(true),
                (_, Some(number), Compare::Ule) if number >= most(&one) => Some(true),
                (_, Some(number), Compare::Ult) if number > most(&one) => Some(true),
                (Some(number), _, Compare::Ult) if number >= most(&other) => Some(false),
                (Some(number), _, Compare::Ule) if number > most(&other) => Some(false),
                _ => None,
            };
            if let Some(known) = known {
                return Number::literal(1, u64::from(known));
            }
            let sign = if how == Compare::Ult { "<" } else { "<=" };
            let code = match (one.constant(), other.constant()) {
                // As a person would write it, what varies stands first.
                (Some(_), None) => {
                    let turned = if how == Compare::Ult { ">" } else { ">=" };
                    binary(turned, other.code, one.code)
                }
                _ => binary(sign, one.code, other.code),
            };
            Number::bit(code)
        }
        Compare::Slt | Compare::Sle => {
            let sign = if how == Compare::Slt { "<" } else { "<=" };
            let one_signed = signed_operand(bits, one);
            let other_signed = signed_operand(bits, other);
            Number::bit(binary(sign, one_signed, other_signed))
        }
    }
}

/// An operand of a comparison with a sign; a literal that has none stands as it is.
fn signed_operand(bits: u8, number: Number) -> C {
    match number.constant() {
        Some(constant) if constant < 1 << (bits - 1) && bits > 1 => number.code,
        _ => number.signed(bits),
    }
}

fn equal(how: Compare, one: Number, other: Number) -> C {
    let is_equal = how == Compare::Eq;
    let (one, other) = match (one.constant(), other.constant()) {
        (Some(_), None) => (other, one),
        _ => (one, other),
    };
    match (one.kind, other.constant()) {
        (Kind::Bool, Some(bit)) if (bit == 1) == is_equal => one.code,
        (Kind::Bool, Some(_)) => one.code.negated(),
        (Kind::Unsigned(own), Some(number)) if number > ones(own) => {
            atom(if is_equal { "false" } else { "true" })
        }
        _ => binary(if is_equal { "==" } else { "!=" }, one.code, other.code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::printer::expression;

    fn shown(number: &Number) -> String {
        expression(&number.code)
    }

    #[test]
    fn narrow_operands_are_widened_and_cut() {
        let byte = |name: &str| Number {
            code: atom(name),
            kind: Kind::Unsigned(8),
        };
        let sum = arithmetic(Arithmetic::Add, 8, byte("a"), byte("b"));
        assert_eq!(shown(&sum), "(uint8_t)((uint32_t)a + b)");
        let word = Number::word(atom("x"));
        let less = arithmetic(Arithmetic::Sub, 13, word, Number::literal(13, 1));
        assert_eq!(shown(&less), "(x - 1) & 0x1fff");
    }

    #[test]
    fn comparisons_that_always_hold_are_literals() {
        let word = || Number::word(atom("x"));
        let zero = Number::literal(32, 0);
        let never = compared(Compare::Ult, 32, word(), zero.clone());
        let always = compared(Compare::Ule, 32, zero, word());
        assert_eq!(
            (shown(&never), shown(&always)),
            ("false".into(), "true".into())
        );
        let five = Number::literal(32, 5);
        assert_eq!(shown(&compared(Compare::Ult, 32, five, word())), "x > 5");
    }

    #[test]
    fn shifts_by_their_width_or_more_give_zero() {
        let word = || Number::word(atom("x"));
        let far = arithmetic(Arithmetic::Shl, 32, word(), Number::literal(32, 32));
        assert_eq!(shown(&far), "0");
        let any = arithmetic(Arithmetic::Lshr, 32, word(), Number::word(atom("n")));
        assert_eq!(shown(&any), "n < 32 ? x >> n : 0");
    }
}
