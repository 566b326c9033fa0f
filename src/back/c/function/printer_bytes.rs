//! Numbers and bytes within others: in views, in messages, in values of bytes.

use super::super::types;
use super::Printer;
use super::number::{Kind, Number, mask};
use super::printer_operations::advanced;
use super::value::Given;
use crate::c::tree::{Expression as C, Statement as S, assign, atom, binary, call, call_statement};
use crate::ir::op::{Bits, Number as Field, Op};
use crate::ir::{Block, Instruction, Type, Value};
use std::collections::BTreeMap;

/// The bytes of the widest number that C has.
const WIDEST: u32 = 8;

/// Messages into which a block writes several times. A pointer to their bytes is kept in a local,
/// since each byte that is written might be part of the struct that holds it.
#[derive(Default)]
pub struct Headers {
    /// By message: the one that it was before it got other attributes or another length.
    same: BTreeMap<Value, Value>,
    /// By such a message: how often it is written, and the local as soon as there is one.
    written: BTreeMap<Value, (u32, Option<C>)>,
}

impl Headers {
    /// Finds the messages into which a block writes.
    pub fn of(block: &Block) -> Headers {
        let mut headers = Headers::default();
        for instruction in &block.instructions {
            match (&instruction.op, &instruction.operands[..]) {
                (Op::With(_) | Op::Cut, [message, ..]) => {
                    let first = headers.first(*message);
                    headers.same.insert(instruction.results[0], first);
                }
                (Op::Write(_) | Op::WriteBytes | Op::WritePart, [message, ..]) => {
                    let first = headers.first(*message);
                    headers.written.entry(first).or_default().0 += 1;
                }
                _ => {}
            }
        }
        headers
    }

    fn first(&self, message: Value) -> Value {
        self.same.get(&message).copied().unwrap_or(message)
    }
}

/// `base[offset]` instead of `*(base + offset)`.
fn element(at: C) -> C {
    match at {
        C::Binary("+", base, offset) => base.element(*offset),
        other => other.element(atom("0")),
    }
}

/// So many bytes at a place, as a number.
pub fn load(big: bool, at: C, bytes: u32) -> Number {
    let order = if big { "big" } else { "little" };
    let kind = |bits: u8| Kind::Unsigned(bits);
    match bytes {
        1 => Number {
            code: element(at),
            kind: kind(8),
        },
        2 | 3 | 4 | 6 | 8 => Number {
            code: call(format!("sl_load_{order}{}", 8 * bytes), vec![at]),
            kind: kind(if bytes == 2 {
                16
            } else if bytes <= 4 {
                32
            } else {
                64
            }),
        },
        _ => {
            let rest = bytes - 4;
            let behind = |count: u32| advanced_by(at.clone(), count);
            let (high, low) = match big {
                true => (at.clone(), behind(rest)),
                false => (behind(4), at.clone()),
            };
            let high = load(big, high, rest).wide(64);
            let low = load(big, low, 4).code;
            Number {
                code: binary("|", binary("<<", high, atom("32")), low),
                kind: kind(64),
            }
        }
    }
}

/// So many bytes at a place become those of a number.
fn store(big: bool, at: C, bytes: u32, value: Number, out: &mut Vec<S>) {
    let order = if big { "big" } else { "little" };
    match bytes {
        1 => out.push(assign(element(at), value.narrow(8))),
        2 | 3 | 4 | 6 | 8 => {
            let stored = types::stored_bits((8 * bytes) as u8);
            let name = format!("sl_store_{order}{}", 8 * bytes);
            out.push(call_statement(name, vec![at, value.narrow(stored)]));
        }
        _ => {
            let (high_at, low_at) = match big {
                true => (at.clone(), advanced_by(at, bytes - 4)),
                false => (advanced_by(at.clone(), 4), at),
            };
            let high = Number::local(64, binary(">>", value.clone().wide(64), atom("32")));
            let low = Number::local(64, value.wide(64));
            store(big, high_at, bytes - 4, high, out);
            store(big, low_at, 4, low, out);
        }
    }
}

fn advanced_by(at: C, count: u32) -> C {
    match at {
        C::Binary("+", base, offset) => {
            let sum = match &*offset {
                C::Atom(text) => text.parse::<u32>().ok().map(|known| known + count),
                _computed => None,
            };
            match sum {
                Some(sum) => binary("+", *base, atom(sum.to_string())),
                None => binary("+", binary("+", *base, *offset), atom(count.to_string())),
            }
        }
        at => advanced(at, atom(count.to_string())),
    }
}

/// A number at bits of bytes.
fn load_bits(at: C, bits: Bits) -> Number {
    let (bytes, width) = (bits.bytes(), u32::from(bits.width));
    let skip = u32::from(bits.skip);
    let below = match bits.big {
        true => 8 * bytes - skip - width,
        false => skip,
    };
    if bytes > WIDEST {
        return nine_bytes(at, bits, below);
    }
    let loaded = load(bits.big, at, bytes);
    if below == 0 && width == 8 * bytes {
        return loaded;
    }
    let kind = loaded.kind;
    let whole = if kind == Kind::Unsigned(64) { 64 } else { 32 };
    let moved = match below {
        0 => loaded,
        _ => {
            let code = binary(">>", loaded.wide(whole), atom(below.to_string()));
            Number::local(whole, code)
        }
    };
    // Bits above it are there unless it begins with the most significant one.
    let is_cut = if bits.big {
        skip != 0
    } else {
        skip + width != 8 * bytes
    };
    let number = match is_cut {
        true => Number::local(whole, binary("&", moved.wide(whole), mask(bits.width))),
        false => moved,
    };
    match (number.kind, bits.width) {
        (_, 1) => Number::bit(binary("!=", number.code, atom("0"))),
        (Kind::Unsigned(64), 2..=32) => Number::word(number.code.cast("uint32_t")),
        _ => number,
    }
}

/// A number that begins in one of nine bytes and ends in the last.
fn nine_bytes(at: C, bits: Bits, below: u32) -> Number {
    let last = element(advanced_by(at.clone(), WIDEST));
    let first = load(bits.big, at, WIDEST).code;
    let by = |count: u32| atom(count.to_string());
    let (high, low) = match bits.big {
        true => (
            binary("<<", first, by(8 - below)),
            binary(">>", last, by(below)).cast("uint64_t"),
        ),
        false => (
            binary("<<", last.cast("uint64_t"), by(8 * WIDEST - below)),
            binary(">>", first, by(below)),
        ),
    };
    let joined = binary("|", high, low);
    Number::local(64, binary("&", joined, mask(bits.width)))
}

impl Printer<'_> {
    /// The value of an operation on bytes.
    pub fn bytewise(&mut self, instruction: &Instruction, out: &mut Vec<S>) -> Given {
        let operands = &instruction.operands[..];
        match &instruction.op {
            Op::Get(Field { bytes, big }) => {
                let of = self.bytes(operands[0], out);
                let at = self.code(operands[1], out);
                let place = advanced(of.member("at"), at);
                Given::Number(load(*big, place, u32::from(*bytes)))
            }
            Op::Read(bits) => {
                let (data, _) = self.view(operands[0], out);
                let at = self.code(operands[1], out);
                Given::Number(load_bits(advanced(data, at), *bits))
            }
            Op::Inverse => {
                let of = self.number(operands[0], out).narrow(8);
                Given::Number(Number {
                    code: call("sl_inverse", vec![of]),
                    kind: Kind::Unsigned(8),
                })
            }
            _makes_bytes => Given::Plain(self.made_bytes(instruction, out)),
        }
    }

    /// A local of bytes that an operation makes.
    fn made_bytes(&mut self, instruction: &Instruction, out: &mut Vec<S>) -> C {
        let operands = &instruction.operands[..];
        let result = instruction.results[0];
        let of = self.function.type_of(result);
        let kind = types::local(self.stack, of);
        let first = operands[0];
        let name = match &instruction.op {
            Op::ReadBytes(length) => {
                let (data, _) = self.view(first, out);
                let at = self.code(operands[1], out);
                let name = self.name(result, "bytes");
                out.push(declared(&kind, &name, None));
                let place = atom(&name).member("at");
                let length = atom(length.to_string());
                let given = vec![place, advanced(data, at), length];
                out.push(call_statement("memcpy", given));
                name
            }
            Op::ReadPart(most) => {
                let (data, _) = self.view(first, out);
                let at = self.code(operands[1], out);
                let count = self.at_most(operands[2], *most, out);
                let name = self.name(result, "bytes");
                out.push(declared(&kind, &name, Some(atom("{{0}}"))));
                let given = vec![atom(&name).member("at"), advanced(data, at), count];
                out.push(call_statement("memcpy", given));
                name
            }
            Op::Resize(to) => {
                let Type::Bytes(from) = self.function.type_of(first) else {
                    panic!("bytes are resized");
                };
                let given = self.bytes(first, out).member("at");
                let name = self.name(result, "bytes");
                out.push(declared(&kind, &name, Some(atom("{{0}}"))));
                let length = atom(from.min(*to).to_string());
                out.push(call_statement(
                    "memcpy",
                    vec![atom(&name).member("at"), given, length],
                ));
                name
            }
            Op::Put(_) | Op::PutBytes => self.with_part(instruction, &kind, out),
            Op::AddScaled => self.added(instruction, &kind, out),
            Op::Scale => {
                let given = self.bytes(first, out);
                let name = self.name(result, "bytes");
                out.push(declared(&kind, &name, Some(given)));
                let factor = self.number(operands[1], out).narrow(8);
                let length = atom(length_of(of).to_string());
                let all = vec![atom(&name).member("at"), length, factor];
                out.push(call_statement("sl_scale", all));
                name
            }
            other => panic!("{other:?} makes no bytes"),
        };
        atom(name)
    }

    /// The same bytes with others in them.
    fn with_part(&mut self, instruction: &Instruction, kind: &str, out: &mut Vec<S>) -> String {
        let operands = &instruction.operands[..];
        let given = self.bytes(operands[0], out);
        let name = self.name(instruction.results[0], "bytes");
        out.push(declared(kind, &name, Some(given)));
        match &instruction.op {
            Op::Put(Field { bytes, big }) => {
                let at = self.code(operands[1], out);
                let value = self.number(operands[2], out);
                let place = advanced(atom(&name).member("at"), at);
                store(*big, place, u32::from(*bytes), value, out);
            }
            _bytes => {
                let Type::Bytes(length) = self.function.type_of(operands[2]) else {
                    panic!("bytes are put in others");
                };
                let at = self.code(operands[1], out);
                let part = self.bytes(operands[2], out).member("at");
                let place = advanced(atom(&name).member("at"), at);
                let given = vec![place, part, atom(length.to_string())];
                out.push(call_statement("memcpy", given));
            }
        }
        name
    }

    /// Bytes to which a multiple of others is added, as far as both reach.
    fn added(&mut self, instruction: &Instruction, kind: &str, out: &mut Vec<S>) -> String {
        let operands = &instruction.operands[..];
        let most = length_of(self.function.type_of(operands[0]));
        let given = self.bytes(operands[0], out);
        let name = self.name(instruction.results[0], "bytes");
        out.push(declared(kind, &name, Some(given)));
        let factor = self.number(operands[1], out).narrow(8);
        let (other, length) = match self.function.type_of(operands[2]) {
            Type::Bytes(other) => {
                let bytes = self.bytes(operands[2], out).member("at");
                (bytes, atom(other.min(most).to_string()))
            }
            _view => {
                let (data, length) = self.view(operands[2], out);
                let given = vec![length, atom(most.to_string())];
                (data, call("smaller32", given))
            }
        };
        let all = vec![atom(&name).member("at"), other, length, factor];
        out.push(call_statement("add_multiple", all));
        name
    }

    /// Writes into a message.
    pub fn write(&mut self, instruction: &Instruction, out: &mut Vec<S>) {
        let operands = &instruction.operands[..];
        let at = self.code(operands[1], out);
        let place = advanced(self.header(operands[0], out), at);
        match &instruction.op {
            Op::Write(Field { bytes, big }) => {
                let value = match bytes {
                    5 | 7 => self.settled(operands[2], "number", out),
                    _ => self.number(operands[2], out),
                };
                store(*big, place, u32::from(*bytes), value, out);
            }
            Op::WriteBytes => {
                let length = length_of(self.function.type_of(operands[2]));
                let bytes = self.bytes(operands[2], out).member("at");
                let given = vec![place, bytes, atom(length.to_string())];
                out.push(call_statement("memcpy", given));
            }
            _part => {
                let most = length_of(self.function.type_of(operands[2]));
                let bytes = self.bytes(operands[2], out).member("at");
                let count = self.at_most(operands[3], most, out);
                out.push(call_statement("memcpy", vec![place, bytes, count]));
            }
        }
    }

    /// The bytes of a message that is written.
    fn header(&mut self, message: Value, out: &mut Vec<S>) -> C {
        let data = self.message(message).member("data");
        let first = self.headers.first(message);
        match self.headers.written.get(&first).cloned() {
            Some((_, Some(local))) => local,
            Some((2.., None)) => {
                let name = self.local("header");
                out.push(S::Declare {
                    kind: "uint8_t *const".to_string(),
                    name: name.clone(),
                    value: Some(data),
                });
                let local = atom(name);
                let known = self.headers.written.get_mut(&first);
                known.expect("it was just there").1 = Some(local.clone());
                local
            }
            Some((_, None)) | None => data,
        }
    }

    /// A number of bytes that is at most so much, which compilers are told.
    fn at_most(&mut self, count: Value, most: u32, out: &mut Vec<S>) -> C {
        let count = self.settled(count, "count", out).code;
        let holds = binary("<=", count.clone(), atom(most.to_string()));
        out.push(call_statement("sl_known", vec![holds]));
        count
    }
}

fn length_of(of: Type) -> u32 {
    match of {
        Type::Bytes(length) => length,
        other => panic!("{other} has no length that is known"),
    }
}

fn declared(kind: &str, name: &str, value: Option<C>) -> S {
    S::Declare {
        kind: kind.to_string(),
        name: name.to_string(),
        value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::printer::expression;

    fn read(skip: u8, width: u8, big: bool) -> String {
        expression(&load_bits(atom("at"), Bits { skip, width, big }).code)
    }

    #[test]
    fn bits_are_moved_and_cut() {
        assert_eq!(read(0, 16, true), "sl_load_big16(at)");
        assert_eq!(read(0, 4, true), "(uint32_t)at[0] >> 4");
        assert_eq!(read(4, 4, true), "(uint32_t)at[0] & 0xf");
        assert_eq!(read(3, 13, true), "(uint32_t)sl_load_big16(at) & 0x1fff");
        assert_eq!(read(2, 1, true), "(((uint32_t)at[0] >> 5) & 0x1) != 0");
        assert_eq!(read(0, 3, false), "(uint32_t)at[0] & 0x7");
        assert_eq!(read(3, 5, false), "(uint32_t)at[0] >> 3");
        assert_eq!(
            read(0, 40, true),
            "(uint64_t)at[0] << 32 | sl_load_big32(at + 1)"
        );
    }
}
