//! Headers that are peeked at: the test that a message begins with a header in order.
//!
//! In: a message and a header. Out: a bit. What is required is tested in the order of the wire, and
//! each test stands behind those that it needs, so nothing is read that is not there: long enough;
//! for each field that is there, room for it and its rules; the length that the header counts;
//! what is counted behind it; the options. Sums are not tested.

use super::distance::Distance;
use crate::ir::Value;
use crate::ir::op::Compare;
use crate::lower::code::{Code, Way};
use crate::types::header::{Header, HeaderField, Ranges, Rule, Share};
use crate::types::program::{HeaderFieldId, HeaderId, LocalId};
use crate::types::value::Type;

impl Code<'_, '_> {
    /// A bit: a message begins with this header, in order.
    pub fn peek(&mut self, message: LocalId, header: HeaderId) -> Value {
        let (view, length) = (self.data(message), self.length(message));
        let before = self.message.replace(self.meant(message));
        let found = self.within(header, view, |code| code.is_in_order(header, view, length));
        self.message = before;
        found
    }

    fn is_in_order(&mut self, id: HeaderId, view: Value, length: Value) -> Value {
        let (holds, fails) = (self.bit(true), self.bit(false));
        let header = &self.lower.program.headers[id.at()];
        let mut parse = Parse {
            id,
            header,
            view,
            length,
            size: Distance::fixed(header.least),
            end: length,
            counts: Vec::new(),
            failed: Vec::new(),
        };
        parse.all(self);
        let mut ways = parse.failed;
        for way in &mut ways {
            way.results = vec![fails];
        }
        let mut passed = Way::new(self.build.here(), self.environment.clone());
        passed.results = vec![holds];
        ways.push(passed);
        self.meet(ways, |_| true)[0]
    }
}

/// A header that is judged.
struct Parse<'h> {
    id: HeaderId,
    header: &'h Header,
    view: Value,
    /// Bytes of the message.
    length: Value,
    /// Bytes of the header, as far as they are known to be there.
    size: Distance,
    /// Bytes of the message, as far as they are counted.
    end: Value,
    /// Fields that count what stands behind the header, until that is as long as it says.
    counts: Vec<(HeaderFieldId, &'h Ranges, u32)>,
    /// Ways on which it is refused.
    failed: Vec<Way>,
}

impl<'h> Parse<'h> {
    /// Goes on only if all of the header is in order.
    fn all(&mut self, code: &mut Code<'_, '_>) {
        if self.header.least > 0 {
            self.require_size(code);
        }
        let settled = self.header.settled_at();
        for (place, field) in self.header.fields.iter().enumerate() {
            let id = HeaderFieldId(place as u32);
            let behind = settled.is_none_or(|settled| settled <= id);
            if field.kind != Type::UnboundedBytes {
                let included = settled.is_some_and(|settled| settled < id);
                self.field(code, id, field, included);
            }
            if settled == Some(id) {
                self.settle(code);
            }
            if behind {
                for count in std::mem::take(&mut self.counts) {
                    self.count(code, count);
                }
            }
        }
        if let Some(options) = &self.header.options
            && !options.until_malformed
        {
            let hold = code.options_hold(self.id, self.view);
            code.require(hold, &mut self.failed);
        }
    }

    /// The header, as far as it is known, is there.
    fn require_size(&mut self, code: &mut Code<'_, '_>) {
        let size = code.bytes(self.size);
        self.require_at_most(code, size, self.length);
    }

    fn require_at_most(&mut self, code: &mut Code<'_, '_>, less: Value, more: Value) {
        let holds = code.compare(Compare::Ule, less, more);
        code.require(holds, &mut self.failed);
    }

    /// A field that is there has room, and keeps its rules. One that is included is part of a
    /// length that was settled.
    fn field(
        &mut self,
        code: &mut Code<'_, '_>,
        id: HeaderFieldId,
        field: &'h HeaderField,
        included: bool,
    ) {
        let present = code.presence(self.id, id, self.view);
        if let Some(most) = field.bound() {
            let length = self.bounded(code, id, most);
            self.size = code.farther(self.size, length);
            self.require_size(code);
        } else if present.is_some() && !included {
            let bytes = code.bytes_if(present, field.width / 8);
            self.size = code.farther(self.size, bytes);
            self.require_size(code);
        }
        let (header, view) = (self.id, self.view);
        let kept = |code: &mut Code<'_, '_>| {
            let value = code.read_field(header, id, view);
            let fits = code.count_fits(field, &value);
            let kept = code.keeps_rules(header, field, &value, view);
            code.all_of(fits, kept)
        };
        let is_judged = field.constraint.is_some()
            || matches!(field.kind, Type::Enum(_))
            || matches!(field.rule, Rule::Is(_) | Rule::Counts { .. });
        let kept = match present {
            _ if !is_judged => None,
            None => kept(code),
            Some(present) => {
                let kept = code.choose(
                    present,
                    |code| {
                        let kept = kept(code);
                        vec![kept.unwrap_or_else(|| code.bit(true))]
                    },
                    |code| vec![code.bit(true)],
                );
                Some(kept[0])
            }
        };
        if let Some(kept) = kept {
            code.require(kept, &mut self.failed);
        }
        if let Rule::Counts { ranges, unit } = &field.rule
            && !self.header.is_counter(id.at())
        {
            self.counts.push((id, ranges, *unit));
        }
    }

    /// The length of a part with a bound: no less than nothing, and no more than the bound.
    fn bounded(&mut self, code: &mut Code<'_, '_>, part: HeaderFieldId, most: u32) -> Distance {
        let counter = self.header.part_counter(part.at());
        let counter = counter.expect("a part with a bound is counted");
        let fixed = self.header.fixed_inside(&counter.ranges);
        let beside = |at: usize| at != part.at() && counter.covers(at);
        let beside = code.loose_lengths(self.id, self.view, fixed, &beside);
        let counted = code.counted(self.id, counter.field, counter.unit, self.view);
        if beside != Distance::fixed(0) {
            let beside = code.bytes(beside);
            self.require_at_most(code, beside, counted);
        }
        let length = code.nearer(Distance::of(counted), beside);
        let (bytes, most) = (code.bytes(length), code.word(most));
        self.require_at_most(code, bytes, most);
        Distance::of(bytes)
    }

    /// The header is as long as it says, now that it is known which of its parts are there.
    fn settle(&mut self, code: &mut Code<'_, '_>) {
        let Some(counter) = self.header.counter() else {
            return;
        };
        let total = code.counted_length(self.id, &counter, self.view);
        let total = code.bytes(total);
        let least = self.header.least;
        let known = code.loose_lengths(self.id, self.view, least, &|_| true);
        let known = code.bytes(known);
        if self.header.open().is_some() {
            self.require_at_most(code, known, total);
            self.require_at_most(code, total, self.length);
            self.size = Distance::of(total);
        } else {
            let same = code.compare(Compare::Eq, total, known);
            code.require(same, &mut self.failed);
        }
    }

    /// As much is there as a field counts; what stands behind that is not part of the message.
    fn count(
        &mut self,
        code: &mut Code<'_, '_>,
        (field, ranges, unit): (HeaderFieldId, &'h Ranges, u32),
    ) {
        let covered = self.covered(code, ranges);
        let (id, view, end, size) = (self.id, self.view, self.end, self.size);
        let counted = |code: &mut Code<'_, '_>| {
            let counted = code.counted(id, field, unit, view);
            if !ranges.has_data() {
                let covered = code.bytes(covered);
                return vec![code.compare(Compare::Eq, counted, covered), end];
            }
            // Where less is counted than the header has, this is more than any message has.
            let data = match covered.known() {
                Some(0) => counted,
                _ => {
                    let covered = code.bytes(covered);
                    code.difference(counted, covered)
                }
            };
            let size = code.bytes(size);
            let there = code.difference(end, size);
            let holds = code.compare(Compare::Ule, data, there);
            vec![holds, code.sum_of(size, data)]
        };
        let results = match code.presence(id, field, view) {
            None => counted(code),
            Some(present) => code.choose(present, counted, |code| vec![code.bit(true), end]),
        };
        code.require(results[0], &mut self.failed);
        self.end = results[1];
    }

    /// Bytes of the header that stand in some ranges.
    fn covered(&self, code: &mut Code<'_, '_>, ranges: &Ranges) -> Distance {
        let inside = |at: usize| ranges.covers(at);
        match self.header.share_of(ranges) {
            Share::None => Distance::fixed(0),
            Share::Only(fixed) => code.loose_lengths(self.id, self.view, fixed, &inside),
            Share::AllBut(fixed) => {
                let outside = |at: usize| !ranges.covers(at);
                let outside = code.loose_lengths(self.id, self.view, fixed, &outside);
                code.nearer(self.size, outside)
            }
            Share::All => self.size,
        }
    }
}
