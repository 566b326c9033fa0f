//! The bytes of a header that is pushed.
//!
//! In: a header all of whose values are known, and the message that has room for it. Out: writes of
//! all its bytes, in the order of the wire, so that none stays as it was. Fields that share bytes
//! are written as one number, or as several if these are more than eight bytes: in a big header the
//! first field is the most significant, in a little one the least.
//!
//! ```text
//! header big { version: u4 is 4   words: u4 counts header in 4 }
//! write.u8 %message, 0, (concat 4, %words)
//! ```

use super::distance::Distance;
use super::push::{Push, PushedOption};
use crate::ir::op::{Arithmetic, Number};
use crate::ir::{Op, Value};
use crate::lower::code::Code;
use crate::types::header::{HeaderField, OptionKind, Rule};
use crate::types::program::HeaderFieldId;
use crate::types::value::Type;

/// Bits of the longest number that is written at once.
const LONGEST: u32 = 64;

/// A number in whole bytes, and how many bytes stand before it.
type Whole = (u32, Value, u8);

impl Push<'_> {
    /// Writes all bytes of the header. A sum is zero until it is known.
    pub fn write(&self, code: &mut Code<'_, '_>, message: Value) {
        let program = code.lower.program;
        for group in groups(self.header.fields.iter()) {
            if group.len() > 1 || !self.is_summed_at_last(program, group[0]) {
                self.write_group(code, message, &group);
            }
        }
        let mut at = self.before_options;
        for option in &self.options {
            match option.there {
                None => self.write_option(code, message, option, at),
                Some(there) => {
                    code.only_if(there, |code| self.write_option(code, message, option, at));
                }
            }
            let bytes = code.bytes_if(option.there, option.case.least);
            at = code.farther(at, bytes);
        }
        self.fill(code, message);
    }

    /// Writes the fields whose places are known so far.
    pub fn write_first(&self, code: &mut Code<'_, '_>, message: Value) {
        for group in groups(self.header.fields.iter()) {
            if group.iter().all(|place| *place < self.fields.len()) {
                self.write_group(code, message, &group);
            }
        }
    }

    /// Writes fields that share bytes, if they are there.
    pub fn write_group(&self, code: &mut Code<'_, '_>, message: Value, group: &[usize]) {
        let first = &self.fields[group[0]];
        match first.present {
            None => self.write_present(code, message, group),
            Some(present) => {
                code.only_if(present, |code| self.write_present(code, message, group));
            }
        }
    }

    /// Writes fields that share bytes, and that are there.
    pub fn write_present(&self, code: &mut Code<'_, '_>, message: Value, group: &[usize]) {
        let (first, field) = (&self.fields[group[0]], &self.header.fields[group[0]]);
        if field.bound().is_some() {
            let at = code.bytes(first.at);
            if let [_, bytes] = first.value[..]
                && first.loose != Distance::default()
            {
                let room = code.bytes(first.loose);
                code.op(Op::WritePart, &[message, at, bytes, room]);
            }
            return;
        }
        let values = group.iter().map(|at| {
            let field = &self.header.fields[*at];
            (field, self.fields[*at].value[0])
        });
        let values: Vec<(&HeaderField, Value)> = values.collect();
        self.write_values(code, message, first.at, &values);
    }

    fn write_values(
        &self,
        code: &mut Code<'_, '_>,
        message: Value,
        at: Distance,
        values: &[(&HeaderField, Value)],
    ) {
        if let [(field, bytes)] = values
            && let Type::Bytes(_) = field.kind
        {
            let at = code.bytes(at);
            code.op(Op::WriteBytes, &[message, at, *bytes]);
            return;
        }
        let values = values.iter().map(|(field, value)| (*value, field.width));
        let values: Vec<(Value, u32)> = values.collect();
        for (offset, number, bytes) in whole_numbers(code, self.header.big, &values) {
            let at = code.bytes(at.plus(offset));
            let write = Op::Write(Number {
                bytes,
                big: self.header.big,
            });
            code.op(write, &[message, at, number]);
        }
    }

    /// The group of a field, with those that share its bytes.
    pub fn group_of(&self, place: usize) -> Vec<usize> {
        let mut all = groups(self.header.fields.iter()).into_iter();
        let group = all.find(|group| group.contains(&place));
        group.expect("a field that is written is in a group")
    }

    /// Writes an option that is there, from these bytes of the header on.
    fn write_option(
        &self,
        code: &mut Code<'_, '_>,
        message: Value,
        option: &PushedOption<'_>,
        at: Distance,
    ) {
        let case = option.case;
        let itself = self.header.field(case.itself());
        let number = code.number(itself.width as u8, case.value);
        self.write_values(code, message, at, &[(itself, number)]);
        let ids: Vec<HeaderFieldId> = case.parts().collect();
        let fields = ids.iter().map(|id| self.header.field(*id));
        let fields: Vec<&HeaderField> = fields.collect();
        for group in groups(fields.iter().copied()) {
            let mut values = Vec::new();
            for at in &group {
                let (id, field) = (ids[*at], fields[*at]);
                let value = match (&field.rule, self.given.contains_key(&id)) {
                    (Rule::Counts { unit, .. }, false) => {
                        let outside = case.counted.map_or(0, |counted| counted.outside);
                        let units = (case.least - outside) / unit;
                        code.number(field.width as u8, u64::from(units))
                    }
                    _ => self.value_of(code, id, field)[0],
                };
                values.push((field, value));
            }
            let first = at.plus(fields[group[0]].bit / 8);
            self.write_values(code, message, first, &values);
        }
    }

    /// Fills the header up to whole units of its count.
    fn fill(&self, code: &mut Code<'_, '_>, message: Value) {
        let (Some(options), Some(counter)) = (&self.header.options, self.header.counter()) else {
            return;
        };
        let left = code.nearer(self.size, self.before_fill);
        if left.known() == Some(0) || counter.unit == 1 {
            return;
        }
        let most = left.known().unwrap_or(counter.unit - 1) as usize;
        let filler = match options.filler() {
            Some(case) if case.kind == OptionKind::Padding => vec![case.value as u8; most],
            Some(case) => {
                let mut bytes = vec![0; most];
                bytes[0] = case.value as u8;
                bytes
            }
            None => vec![0; most],
        };
        let at = code.bytes(self.before_fill);
        let filler = code.value_of(Op::Bytes(filler), &[]);
        match left.known() {
            Some(_) => code.op(Op::WriteBytes, &[message, at, filler]),
            None => {
                let left = code.bytes(left);
                code.op(Op::WritePart, &[message, at, filler, left])
            }
        };
    }
}

/// Fields in groups that fill whole bytes, by their places; parts without a value are in none.
fn groups<'h>(fields: impl Iterator<Item = &'h HeaderField>) -> Vec<Vec<usize>> {
    let mut all = Vec::new();
    let mut group = Vec::new();
    for (place, field) in fields.enumerate() {
        if field.width == 0 && field.bound().is_none() {
            continue;
        }
        group.push(place);
        if (field.bit + field.width).is_multiple_of(8) {
            all.push(std::mem::take(&mut group));
        }
    }
    assert!(group.is_empty(), "a header ends with a whole byte");
    all
}

/// Numbers side by side as numbers of whole bytes, none longer than can be written at once.
fn whole_numbers(code: &mut Code<'_, '_>, big: bool, values: &[(Value, u32)]) -> Vec<Whole> {
    let bits: u32 = values.iter().map(|(_, width)| width).sum();
    let mut all = Vec::new();
    for first in (0..bits).step_by(LONGEST as usize) {
        let end = bits.min(first + LONGEST);
        let mut pieces = Vec::new();
        let mut passed = 0;
        for (value, width) in values {
            let own = passed..passed + width;
            passed = own.end;
            let (from, to) = (own.start.max(first), own.end.min(end));
            if from < to {
                let below = if big { own.end - to } else { from - own.start };
                pieces.push(bits_of(code, *value, below as u8, (to - from) as u8));
            }
        }
        if !big {
            pieces.reverse();
        }
        let number = match pieces[..] {
            [only] => only,
            _ => code.value_of(Op::Concat, &pieces),
        };
        all.push((first / 8, number, ((end - first) / 8) as u8));
    }
    all
}

/// Takes bits of a number that stand above others.
fn bits_of(code: &mut Code<'_, '_>, value: Value, below: u8, width: u8) -> Value {
    let own = code.bits_of(value);
    let shifted = match below {
        0 => value,
        below => {
            let below = code.number(own, u64::from(below));
            code.arithmetic(Arithmetic::Lshr, value, below)
        }
    };
    code.resized(shifted, width)
}
