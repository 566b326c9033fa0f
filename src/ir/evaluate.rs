//! Operations on constants.
//!
//! In: an operation and the numbers that it is given. Out: its result. Interpreters and passes
//! share this.

use super::op::{Arithmetic, Compare, Floating};
use super::types::{ones, signed};

/// The result of an operation on two numbers of so many bits; none of a division by 0.
///
/// ```
/// use stackloom::ir::evaluate::arithmetic;
/// use stackloom::ir::op::Arithmetic;
///
/// assert_eq!(arithmetic(Arithmetic::Add, 0xff, 2, 8), Some(1));
/// assert_eq!(arithmetic(Arithmetic::Udiv, 1, 0, 8), None);
/// ```
pub fn arithmetic(how: Arithmetic, one: u64, other: u64, bits: u8) -> Option<u64> {
    let (minus, by) = (signed(one, bits), signed(other, bits));
    let divides = matches!(
        how,
        Arithmetic::Udiv | Arithmetic::Urem | Arithmetic::Sdiv | Arithmetic::Srem
    );
    if divides && other == 0 {
        return None;
    }
    let shift = |shifted: u64| if other < u64::from(bits) { shifted } else { 0 };
    let count = other as u32;
    let number = match how {
        Arithmetic::Add => one.wrapping_add(other),
        Arithmetic::Sub => one.wrapping_sub(other),
        Arithmetic::Mul => one.wrapping_mul(other),
        Arithmetic::Udiv => one / other,
        Arithmetic::Urem => one % other,
        Arithmetic::Sdiv => minus.wrapping_div(by) as u64,
        Arithmetic::Srem => minus.wrapping_rem(by) as u64,
        Arithmetic::And => one & other,
        Arithmetic::Or => one | other,
        Arithmetic::Xor => one ^ other,
        Arithmetic::Shl => shift(one.wrapping_shl(count)),
        Arithmetic::Lshr => shift(one.wrapping_shr(count)),
        Arithmetic::Ashr => shift(minus.wrapping_shr(count) as u64),
        Arithmetic::Umin => one.min(other),
        Arithmetic::Umax => one.max(other),
        Arithmetic::Smin => minus.min(by) as u64,
        Arithmetic::Smax => minus.max(by) as u64,
    };
    Some(number & ones(bits))
}

/// A comparison of two numbers of so many bits.
pub fn compared(how: Compare, one: u64, other: u64, bits: u8) -> bool {
    let (minus, than) = (signed(one, bits), signed(other, bits));
    match how {
        Compare::Eq => one == other,
        Compare::Ne => one != other,
        Compare::Ult => one < other,
        Compare::Ule => one <= other,
        Compare::Slt => minus < than,
        Compare::Sle => minus <= than,
    }
}

/// The result of an operation on numbers with a fraction of so many bits, by their bits; the second
/// is the first if there is but one.
///
/// ```
/// use stackloom::ir::evaluate::floating;
/// use stackloom::ir::op::Floating;
///
/// let bits = |number: f32| u64::from(number.to_bits());
/// assert_eq!(floating(Floating::Add, bits(0.5), bits(1.0), 32), bits(1.5));
/// assert_eq!(floating(Floating::Lt, bits(f32::NAN), bits(1.0), 32), 0);
/// ```
pub fn floating(how: Floating, one: u64, other: u64, bits: u8) -> u64 {
    match bits {
        32 => {
            let [one, other] = [one, other].map(|number| f32::from_bits(number as u32));
            let found = |number: f32| u64::from(number.to_bits());
            match how {
                Floating::Add => found(one + other),
                Floating::Sub => found(one - other),
                Floating::Mul => found(one * other),
                Floating::Div => found(one / other),
                Floating::Neg => found(-one),
                Floating::Eq => u64::from(one == other),
                Floating::Lt => u64::from(one < other),
                Floating::Le => u64::from(one <= other),
                Floating::FromInt => unreachable!("an integer becomes a number of 64 bits"),
                Floating::ToInt => whole(f64::from(one)),
            }
        }
        _double => {
            if how == Floating::FromInt {
                return f64::from(one as u32 as i32).to_bits();
            }
            let [one, other] = [one, other].map(f64::from_bits);
            match how {
                Floating::Add => (one + other).to_bits(),
                Floating::Sub => (one - other).to_bits(),
                Floating::Mul => (one * other).to_bits(),
                Floating::Div => (one / other).to_bits(),
                Floating::Neg => (-one).to_bits(),
                Floating::Eq => u64::from(one == other),
                Floating::Lt => u64::from(one < other),
                Floating::Le => u64::from(one <= other),
                Floating::FromInt => unreachable!("its operand has no fraction"),
                Floating::ToInt => whole(one),
            }
        }
    }
}

/// The whole part of a number, as 32 bits with sign; 0 if it does not fit.
fn whole(number: f64) -> u64 {
    let whole = number.trunc();
    match whole >= f64::from(i32::MIN) && whole <= f64::from(i32::MAX) {
        true => u64::from(whole as i32 as u32),
        false => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap_at_their_width() {
        let of = |how, one, other| arithmetic(how, one, other, 8);
        assert_eq!(of(Arithmetic::Add, 0xff, 2), Some(1));
        assert_eq!(of(Arithmetic::Sdiv, 0x80, 0xff), Some(0x80));
        assert_eq!(of(Arithmetic::Srem, 0xf9, 2), Some(0xff));
        assert_eq!(of(Arithmetic::Ashr, 0x80, 3), Some(0xf0));
        assert_eq!(of(Arithmetic::Ashr, 0x80, 8), Some(0));
        assert_eq!(of(Arithmetic::Smin, 0x80, 1), Some(0x80));
        assert_eq!(of(Arithmetic::Umin, 0x80, 1), Some(1));
        assert_eq!(of(Arithmetic::Udiv, 1, 0), None);
        assert!(compared(Compare::Slt, 0xff, 0, 8) && !compared(Compare::Ult, 0xff, 0, 8));
    }
}
