//! Operations that compute a value from others: numbers, bytes, and what stands in views.
//!
//! In: an instruction whose operands a frame holds. Out: its result, in the frame; or a trap. The
//! meaning of each is its line in [`crate::ir::op`].

use super::messages::Messages;
use super::values::{Frame, Held, Trapped};
use crate::ir::op::{Arithmetic, Compare, Number, Op};
use crate::ir::types::{ones, signed};
use crate::ir::{Instruction, Value};
use crate::simulate::bits;
use crate::types::constant::{inverse, product};
use std::rc::Rc;

/// The operands of an operation that has so many.
pub fn exactly<const N: usize>(operands: &[Value]) -> Trapped<[Value; N]> {
    let all = <[Value; N]>::try_from(operands);
    all.map_err(|_| format!("{N} operands are expected, not {}", operands.len()))
}

/// Part of some bytes.
pub fn part(bytes: &[u8], at: u32, length: u32) -> Trapped<&[u8]> {
    let (from, to) = (at as usize, at as usize + length as usize);
    let part = bytes.get(from..to);
    part.ok_or_else(|| format!("{at} + {length} of {} bytes", bytes.len()))
}

/// A number as it stands in bytes.
pub fn written(number: Number, value: u64) -> Vec<u8> {
    let mut bytes = vec![0; usize::from(number.bytes)];
    bits::store(
        number.big,
        &mut bytes,
        0,
        8 * u32::from(number.bytes),
        value,
    );
    bytes
}

/// Computes a value, and puts it in the frame.
pub fn evaluate(
    frame: &mut Frame<'_>,
    messages: &Messages,
    instruction: &Instruction,
) -> Trapped<()> {
    let operands = &instruction.operands[..];
    let held = match &instruction.op {
        Op::Get(_)
        | Op::Put(_)
        | Op::PutBytes
        | Op::Resize(_)
        | Op::Inverse
        | Op::AddScaled
        | Op::Scale => bytewise(frame, messages, &instruction.op, operands)?,
        Op::Read(_) | Op::ReadBytes(_) | Op::ReadPart(_) | Op::SubView => {
            viewed(frame, messages, &instruction.op, operands)?
        }
        op => numeric(frame, op, operands)?,
    };
    let [result] = exactly(&instruction.results)?;
    frame.set(result, held);
    Ok(())
}

fn numeric(frame: &Frame<'_>, op: &Op, operands: &[Value]) -> Trapped<Held> {
    Ok(Held::Number(match op {
        Op::Number(_, number) => *number,
        Op::Bytes(bytes) => return Ok(Held::bytes(bytes)),
        Op::Instance(_, index) => u64::from(*index),
        Op::Arithmetic(operation) => {
            let [one, other] = exactly(operands)?;
            let bits = frame.bits(one)?;
            arithmetic(*operation, frame.number(one)?, frame.number(other)?, bits)?
        }
        Op::Compare(compare) => {
            let [one, other] = exactly(operands)?;
            u64::from(compared(frame, *compare, one, other)?)
        }
        Op::Not => {
            let [of] = exactly(operands)?;
            !frame.number(of)? & ones(frame.bits(of)?)
        }
        Op::Select => {
            let [condition, then, otherwise] = exactly(operands)?;
            let chosen = match frame.number(condition)? {
                0 => otherwise,
                _ => then,
            };
            return frame.get(chosen).cloned();
        }
        Op::ZeroExtend(_) | Op::Index => {
            let [of] = exactly(operands)?;
            frame.number(of)?
        }
        Op::SignExtend(to) => {
            let [of] = exactly(operands)?;
            signed(frame.number(of)?, frame.bits(of)?) as u64 & ones(*to)
        }
        Op::Truncate(to) => {
            let [of] = exactly(operands)?;
            frame.number(of)? & ones(*to)
        }
        Op::Concat => {
            let mut joined: u128 = 0;
            for operand in operands {
                let number = u128::from(frame.number(*operand)?);
                joined = joined << frame.bits(*operand)? | number;
            }
            joined as u64
        }
        other => unreachable!("{other:?} computes no number"),
    }))
}

/// The result of an operation on two numbers of so many bits.
pub fn arithmetic(operation: Arithmetic, one: u64, other: u64, bits: u8) -> Trapped<u64> {
    let (minus, by) = (signed(one, bits), signed(other, bits));
    let divides = matches!(
        operation,
        Arithmetic::Udiv | Arithmetic::Urem | Arithmetic::Sdiv | Arithmetic::Srem
    );
    if divides && other == 0 {
        return Err(format!("{one} is divided by 0"));
    }
    let shift = |shifted: u64| if other < u64::from(bits) { shifted } else { 0 };
    let count = other as u32;
    let number = match operation {
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
    Ok(number & ones(bits))
}

fn compared(frame: &Frame<'_>, compare: Compare, one: Value, other: Value) -> Trapped<bool> {
    let numbers = || Ok::<_, String>((frame.number(one)?, frame.number(other)?));
    let with_sign = || {
        let bits = frame.bits(one)?;
        numbers().map(|(one, other)| (signed(one, bits), signed(other, bits)))
    };
    Ok(match compare {
        Compare::Eq => frame.get(one)? == frame.get(other)?,
        Compare::Ne => frame.get(one)? != frame.get(other)?,
        Compare::Ult => numbers().map(|(one, other)| one < other)?,
        Compare::Ule => numbers().map(|(one, other)| one <= other)?,
        Compare::Slt => with_sign().map(|(one, other)| one < other)?,
        Compare::Sle => with_sign().map(|(one, other)| one <= other)?,
    })
}

fn bytewise(frame: &Frame<'_>, messages: &Messages, op: &Op, operands: &[Value]) -> Trapped<Held> {
    let (of, rest) = operands.split_first().ok_or("bytes are missing")?;
    match op {
        Op::Get(number) => {
            let [at] = exactly(rest)?;
            let bytes = frame.bytes(*of)?;
            let part = part(&bytes, frame.word(at)?, number.bytes.into())?;
            let width = 8 * u32::from(number.bytes);
            Ok(Held::Number(bits::load(number.big, part, 0, width)))
        }
        Op::Put(number) => {
            let [at, value] = exactly(rest)?;
            let part = written(*number, frame.number(value)?);
            put(&frame.bytes(*of)?, frame.word(at)?, &part)
        }
        Op::PutBytes => {
            let [at, part] = exactly(rest)?;
            put(&frame.bytes(*of)?, frame.word(at)?, &frame.bytes(part)?)
        }
        Op::Resize(length) => {
            let mut bytes = frame.bytes(*of)?.to_vec();
            bytes.resize(*length as usize, 0);
            Ok(Held::Bytes(bytes.into()))
        }
        Op::Inverse => Ok(Held::Number(inverse(frame.number(*of)? as u8).into())),
        Op::AddScaled => {
            let [factor, other] = exactly(rest)?;
            let factor = frame.number(factor)? as u8;
            let other: Rc<[u8]> = match frame.get(other)? {
                Held::Bytes(bytes) => bytes.clone(),
                _view => messages.viewed(frame.view(other)?)?.into(),
            };
            let mut bytes = frame.bytes(*of)?.to_vec();
            let both = bytes.iter_mut().zip(other.iter());
            both.for_each(|(byte, other)| *byte ^= product(factor, *other));
            Ok(Held::Bytes(bytes.into()))
        }
        Op::Scale => {
            let [factor] = exactly(rest)?;
            let factor = frame.number(factor)? as u8;
            let bytes = frame.bytes(*of)?;
            let scaled = bytes.iter().map(|byte| product(factor, *byte));
            Ok(Held::Bytes(scaled.collect()))
        }
        other => unreachable!("{other:?} is not about bytes"),
    }
}

fn put(bytes: &[u8], at: u32, written: &[u8]) -> Trapped<Held> {
    part(bytes, at, written.len() as u32)?;
    let mut bytes = bytes.to_vec();
    bytes[at as usize..at as usize + written.len()].copy_from_slice(written);
    Ok(Held::Bytes(bytes.into()))
}

fn viewed(frame: &Frame<'_>, messages: &Messages, op: &Op, operands: &[Value]) -> Trapped<Held> {
    let (view, rest) = operands.split_first().ok_or("a view is missing")?;
    let view = frame.view(*view)?;
    let read = |at: Value, length: u32| part(messages.viewed(view)?, frame.word(at)?, length);
    match op {
        Op::Read(number) => {
            let [at] = exactly(rest)?;
            let bytes = read(at, number.bytes())?;
            let (skip, width) = (number.skip.into(), number.width.into());
            Ok(Held::Number(bits::load(number.big, bytes, skip, width)))
        }
        Op::ReadBytes(length) => {
            let [at] = exactly(rest)?;
            Ok(Held::bytes(read(at, *length)?))
        }
        Op::ReadPart(most) => {
            let [at, count] = exactly(rest)?;
            let count = frame.word(count)?;
            if count > *most {
                return Err(format!("{count} bytes have no room in {most}"));
            }
            let mut bytes = read(at, count)?.to_vec();
            bytes.resize(*most as usize, 0);
            Ok(Held::Bytes(bytes.into()))
        }
        Op::SubView => {
            let [at, length] = exactly(rest)?;
            let (at, length) = (frame.word(at)?, frame.word(length)?);
            Ok(Held::View(view.part(at as usize, length as usize)?))
        }
        other => unreachable!("{other:?} reads no view"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap_at_their_width() {
        let of = |operation, one, other| arithmetic(operation, one, other, 8);
        assert_eq!(of(Arithmetic::Add, 0xff, 2), Ok(1));
        assert_eq!(of(Arithmetic::Sdiv, 0x80, 0xff), Ok(0x80));
        assert_eq!(of(Arithmetic::Srem, 0xf9, 2), Ok(0xff));
        assert_eq!(of(Arithmetic::Ashr, 0x80, 3), Ok(0xf0));
        assert_eq!(of(Arithmetic::Ashr, 0x80, 8), Ok(0));
        assert_eq!(of(Arithmetic::Smin, 0x80, 1), Ok(0x80));
        assert_eq!(of(Arithmetic::Umin, 0x80, 1), Ok(1));
        assert!(of(Arithmetic::Udiv, 1, 0).is_err());
    }
}
