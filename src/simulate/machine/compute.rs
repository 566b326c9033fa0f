//! Operations that compute a value from others: numbers, bytes, and what stands in views.
//!
//! In: an instruction whose operands a frame holds. Out: its result, in the frame; or a trap. The
//! meaning of each is its line in [`crate::ir::op`].

use super::messages::Messages;
use super::values::{Frame, Held, Trapped};
use crate::ir::evaluate::{self, arithmetic, compared};
use crate::ir::op::{Compare, Floating, Number, Op};
use crate::ir::types::{ones, signed};
use crate::ir::{Instruction, Type, Value};
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
        Op::Real(_, number) => *number,
        Op::Text(_, text) => return Ok(Held::bytes(text.as_bytes())),
        Op::Float(how) => floating(frame, *how, operands)?,
        Op::Instance(_, index) => u64::from(*index),
        Op::Arithmetic(operation) => {
            let [one, other] = exactly(operands)?;
            let bits = frame.bits(one)?;
            let (one, other) = (frame.number(one)?, frame.number(other)?);
            let found = arithmetic(*operation, one, other, bits);
            found.ok_or_else(|| format!("{one} is divided by 0"))?
        }
        Op::Compare(compare) => {
            let [one, other] = exactly(operands)?;
            u64::from(compares(frame, *compare, one, other)?)
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

fn floating(frame: &Frame<'_>, how: Floating, operands: &[Value]) -> Trapped<u64> {
    let one = *operands.first().ok_or("an operand is missing")?;
    let other = *operands.last().ok_or("an operand is missing")?;
    let bits = match (how, frame.function.type_of(one)) {
        (Floating::FromInt, _) => 64,
        (_, Type::Float(bits)) => bits,
        _other => return Err("numbers with a fraction are expected".to_string()),
    };
    let (one, other) = (frame.number(one)?, frame.number(other)?);
    Ok(evaluate::floating(how, one, other, bits))
}

fn compares(frame: &Frame<'_>, compare: Compare, one: Value, other: Value) -> Trapped<bool> {
    match compare {
        Compare::Eq => Ok(frame.get(one)? == frame.get(other)?),
        Compare::Ne => Ok(frame.get(one)? != frame.get(other)?),
        ordered => {
            let bits = frame.bits(one)?;
            Ok(compared(
                ordered,
                frame.number(one)?,
                frame.number(other)?,
                bits,
            ))
        }
    }
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
