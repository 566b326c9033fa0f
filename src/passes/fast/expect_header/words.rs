//! The bits of a header that decide something, as words that are compared at once.
//!
//! In: places of numbers in a header. Out: words, each with its offset and the bits that count; a
//! number of the header out of these words.

use crate::ir::build::Builder;
use crate::ir::op::{Arithmetic, Bits, Op};
use crate::ir::{Module, Value};

/// A word of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The offset of its first byte.
    pub at: u32,
    /// Bytes: 1, 2, 4 or 8. The first is the least significant.
    pub bytes: u32,
    /// The bits that count.
    pub mask: u64,
}

impl Word {
    /// The number that it is, in a view of the header.
    pub fn read(self) -> Op {
        Op::Read(Bits {
            skip: 0,
            width: (8 * self.bytes) as u8,
            big: false,
        })
    }

    /// Bits.
    pub fn width(self) -> u8 {
        (8 * self.bytes) as u8
    }
}

/// A set of bits of a header.
pub struct Mask(Vec<u8>);

impl Mask {
    /// No bits of a header of so many bytes.
    pub fn new(length: u32) -> Mask {
        Mask(vec![0; length as usize])
    }

    /// Adds the bits of a number.
    pub fn add(&mut self, at: u32, bits: Bits) {
        for bit in u32::from(bits.skip)..u32::from(bits.skip) + u32::from(bits.width) {
            let byte = &mut self.0[(at + bit / 8) as usize];
            *byte |= match bits.big {
                true => 0x80 >> (bit % 8),
                false => 1 << (bit % 8),
            };
        }
    }

    /// As few words as have all the bits.
    pub fn words(mut self) -> Vec<Word> {
        let mut all = Vec::new();
        while let Some(first) = self.0.iter().position(|byte| *byte != 0) {
            let near = self.0.len().min(first + 8);
            let last = self.0[first..near].iter().rposition(|byte| *byte != 0);
            let last = last.expect("the first is one of them");
            let bytes = (last + 1).next_power_of_two();
            let at = first.min(self.0.len().saturating_sub(bytes));
            let Some(own) = self.0.get_mut(at..at + bytes) else {
                // A short header ends within the word: it is compared byte by byte.
                all.push(Word {
                    at: first as u32,
                    bytes: 1,
                    mask: self.0[first].into(),
                });
                self.0[first] = 0;
                continue;
            };
            let mask = own.iter().rev();
            let mask = mask.fold(0, |mask, byte| mask << 8 | u64::from(*byte));
            own.fill(0);
            all.push(Word {
                at: at as u32,
                bytes: bytes as u32,
                mask,
            });
        }
        all
    }
}

/// A number of the header, computed of words that have its bits, each with its value.
pub fn number(
    module: &Module,
    build: &mut Builder,
    words: &[(Word, Value)],
    at: u32,
    bits: Bits,
) -> Value {
    let count = bits.bytes();
    let bytes = (at..at + count).map(|place| byte(module, build, words, place, at, bits));
    let mut bytes: Vec<Value> = bytes.collect();
    if !bits.big {
        bytes.reverse();
    }
    let whole = match bytes[..] {
        [only] => only,
        _ => build.value(module, Op::Concat, &bytes),
    };
    let wide = (8 * count) as u8;
    let behind = match bits.big {
        true => wide - bits.skip - bits.width,
        false => bits.skip,
    };
    let mut value = whole;
    if behind != 0 {
        let by = build.number(module, wide, behind.into());
        value = build.value(module, Op::Arithmetic(Arithmetic::Lshr), &[value, by]);
    }
    if bits.width != wide {
        value = build.value(module, Op::Truncate(bits.width), &[value]);
    }
    value
}

/// A byte of the header out of the word that has the bits of it that belong to a number.
fn byte(
    module: &Module,
    build: &mut Builder,
    words: &[(Word, Value)],
    place: u32,
    at: u32,
    bits: Bits,
) -> Value {
    let mut own = Mask::new(place + 9);
    own.add(at, bits);
    let asked = u64::from(own.0[place as usize]);
    let found = words.iter().find(|(word, _)| {
        let is_in = (word.at..word.at + word.bytes).contains(&place);
        is_in && asked & !(word.mask >> (8 * (place - word.at)) & 0xff) == 0
    });
    let (word, whole) = *found.expect("the words have all bits that are asked");
    let mut value = whole;
    if place != word.at {
        let by = build.number(module, word.width(), (8 * (place - word.at)).into());
        value = build.value(module, Op::Arithmetic(Arithmetic::Lshr), &[whole, by]);
    }
    match word.bytes {
        1 => value,
        _ => build.value(module, Op::Truncate(8), &[value]),
    }
}
