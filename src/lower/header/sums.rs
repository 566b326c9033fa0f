//! Sums of headers and the data behind them.
//!
//! In: a header that was stripped, or that is being pushed, and a field that is a sum. Out: a run
//! of its kernel over the ranges that it sums, piece by piece. The field itself reads as zero,
//! unless its kernel says what the sum over it is. A sum that would say that nothing was summed is
//! complemented.
//!
//! ```text
//! run inet %header 0 10, zeros 2, %header 12 %end    ; a sum at byte 10
//! ```

use super::distance::Distance;
use crate::ir::op::{Bits, Compare, Piece};
use crate::ir::{Op, Value};
use crate::lower::code::{Code, Name};
use crate::types::expression::Expression;
use crate::types::header::{HeaderField, Rule, Run};
use crate::types::program::{HeaderFieldId, HeaderId, LocalId};
use std::collections::BTreeMap;

/// The first byte of a field, and the one behind its last.
pub type Ends = (Distance, Distance);

/// The bytes that are summed.
pub struct Summed {
    /// The header.
    pub header: HeaderId,
    /// The field that is the sum.
    pub field: HeaderFieldId,
    /// A view of all that is summed.
    pub view: Value,
    /// Bytes of the header.
    pub size: Distance,
    /// Bytes of the header and the data.
    pub whole: Distance,
    /// The field itself, and those at which ranges begin or end.
    pub ends: BTreeMap<HeaderFieldId, Ends>,
    /// The bits of the field are zero in the view.
    pub is_zero: bool,
}

/// A piece, and its operands.
type Given = (Piece, Vec<Value>);

impl Code<'_, '_> {
    /// The sum over a message and its stripped header.
    pub fn header_sum(
        &mut self,
        message: LocalId,
        header: HeaderId,
        field: HeaderFieldId,
        arguments: &[Expression],
    ) -> Value {
        let stripped = self.named(Name::Header(header))[0];
        let size = self.header_length(header, stripped);
        let count = self.bytes(size);
        let handle = self.message(message);
        let view = self.value_of(Op::Around, &[handle, count]);
        let data = self.length(message);
        let whole = self.farther(size, Distance::of(data));
        let length = self.bytes(whole);
        let names = vec![(Name::WholeLength, vec![length])];
        let before = self.message.replace(self.meant(message));
        let arguments = self.with_names(names, |code| code.values(arguments));
        self.message = before;
        let declared = &self.lower.program.headers[header.at()];
        let mut ends = BTreeMap::new();
        for id in needed(&declared.fields, field) {
            let of = declared.field(id);
            let from = self.offset(header, id, view);
            let fixed = from.plus((of.bit % 8 + of.width).div_ceil(8));
            let to = match self.loose_length(header, id, view) {
                Some(length) => self.farther(from, length),
                None => fixed,
            };
            ends.insert(id, (from, to));
        }
        let summed = Summed {
            header,
            field,
            view,
            size,
            whole,
            ends,
            is_zero: false,
        };
        self.sum(&summed, &arguments)
    }

    /// A sum over bytes, as it goes out.
    pub fn sum(&mut self, summed: &Summed, arguments: &[Value]) -> Value {
        let program = self.lower.program;
        let declared = &program.headers[summed.header.at()];
        let field = declared.field(summed.field);
        let Rule::Checks {
            ranges,
            filter,
            unless,
            ..
        } = &field.rule
        else {
            unreachable!("only sums are summed");
        };
        let own = &program.filters[filter.at()];
        let stands = declared.over_itself(summed.field.at(), own).is_some();
        let mut pieces: Vec<Given> = Vec::new();
        for run in &ranges.0 {
            let ends = |id: &HeaderFieldId| summed.ends[id];
            let (from, to) = match run {
                Run::Header => (Distance::default(), summed.size),
                Run::Data => (summed.size, summed.whole),
                Run::HeaderAndData => (Distance::default(), summed.whole),
                Run::Between(first, last) => (ends(first).0, ends(last).1),
                Run::From(first) => (ends(first).0, summed.whole),
            };
            if !run.covers(summed.field.at()) || stands {
                self.stretch(summed, (from, to), &mut pieces);
                continue;
            }
            let (begin, end) = ends(&summed.field);
            if summed.is_zero && !fills_bytes(field) {
                self.stretch(summed, (from, to), &mut pieces);
                continue;
            }
            self.stretch(summed, (from, begin), &mut pieces);
            self.without_field(summed, begin, &mut pieces);
            self.stretch(summed, (end, to), &mut pieces);
        }
        let sum = self.run_kernel(*filter, arguments, pieces)[0];
        let sum = self.resized(sum, field.width as u8);
        match unless {
            None => sum,
            Some(unless) => {
                let unless = self.number(field.width as u8, *unless);
                let is = self.compare(Compare::Eq, sum, unless);
                let other = self.value_of(Op::Not, &[unless]);
                self.value_of(Op::Select, &[is, other, sum])
            }
        }
    }

    /// Bytes of the view from one to another, as a piece.
    fn stretch(
        &mut self,
        summed: &Summed,
        (from, to): (Distance, Distance),
        pieces: &mut Vec<Given>,
    ) {
        if from != to {
            let (from, to) = (self.bytes(from), self.bytes(to));
            pieces.push((Piece::Bytes, vec![summed.view, from, to]));
        }
    }

    /// The bytes of the field, itself read as zero.
    fn without_field(&mut self, summed: &Summed, begin: Distance, pieces: &mut Vec<Given>) {
        let declared = &self.lower.program.headers[summed.header.at()];
        let field = declared.field(summed.field);
        if fills_bytes(field) {
            pieces.push((Piece::Zeros(field.width / 8), Vec::new()));
            return;
        }
        for (place, others) in others_in_bytes(declared.big, field.bit % 8, field.width)
            .into_iter()
            .enumerate()
        {
            if others == 0 {
                pieces.push((Piece::Zeros(1), Vec::new()));
                continue;
            }
            let byte = Bits {
                skip: 0,
                width: 8,
                big: true,
            };
            let at = self.bytes(begin.plus(place as u32));
            let byte = self.read_bits(summed.view, at, byte);
            let others = self.number(8, u64::from(others));
            let byte = self.both(byte, others);
            pieces.push((Piece::Byte, vec![byte]));
        }
    }
}

/// The fields whose places a sum needs: its own, and those at which its ranges begin or end.
pub fn needed(fields: &[HeaderField], id: HeaderFieldId) -> Vec<HeaderFieldId> {
    let mut all = vec![id];
    if let Rule::Checks { ranges, .. } = &fields[id.at()].rule {
        for run in &ranges.0 {
            match run {
                Run::Between(first, last) => all.extend([*first, *last]),
                Run::From(first) => all.push(*first),
                Run::Header | Run::Data | Run::HeaderAndData => {}
            }
        }
    }
    all.sort();
    all.dedup();
    all
}

/// Returns true if a field shares no byte with another.
pub fn fills_bytes(field: &HeaderField) -> bool {
    field.bit.is_multiple_of(8) && field.width.is_multiple_of(8)
}

/// The bits that are not its own of each byte of a field, which begins at a bit of the first one.
fn others_in_bytes(big: bool, first: u32, width: u32) -> Vec<u8> {
    let own = |place: u32| (first..first + width).contains(&place);
    let byte = |byte: u32| {
        let others = (0..8).filter(|bit| !own(8 * byte + bit));
        let bits = others.map(|bit| if big { 0x80 >> bit } else { 1 << bit });
        bits.fold(0, |all, bit: u8| all | bit)
    };
    (0..(first + width).div_ceil(8)).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::others_in_bytes;

    #[test]
    fn other_bits_stand_on_both_sides_of_a_field() {
        assert_eq!(others_in_bytes(true, 4, 12), [0xf0, 0]);
        assert_eq!(others_in_bytes(false, 4, 12), [0x0f, 0]);
        assert_eq!(others_in_bytes(true, 3, 10), [0xe0, 0x07]);
        assert_eq!(others_in_bytes(false, 3, 10), [0x07, 0xe0]);
        assert_eq!(others_in_bytes(true, 1, 64).len(), 9);
    }
}
