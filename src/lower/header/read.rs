//! Fields of headers: where they stand, and their values.
//!
//! In: a header, and the view that begins with it. Out: operations that read a field. A field
//! behind parts that may be absent, or whose length is counted, stands where these end: its offset
//! is the sum of their lengths, each of which is 0 where the part is absent.
//!
//! ```text
//! header big { kind: u8   extra: u16 if kind == 2   port: u16 }
//! port:  %kind = read.u8 %header, 0
//!        %extra = select (eq %kind, 2), 2, 0
//!        %port = read.be16 %header, (add %extra, 1)
//! ```

use super::distance::Distance;
use crate::ir::op::{Arithmetic, Bits, Compare, Op};
use crate::ir::{Type as Plain, Value};
use crate::lower::code::{Code, Name};
use crate::lower::shapes::parts;
use crate::types::header::Counter;
use crate::types::program::{HeaderFieldId, HeaderId};
use crate::types::value::Type;

impl Code<'_, '_> {
    /// The parts of a field of the header that was stripped, or that is being pushed.
    pub fn stripped_value(
        &mut self,
        header: HeaderId,
        field: HeaderFieldId,
        result: &Type,
    ) -> Vec<Value> {
        if let Some(written) = self.known(Name::Written(header, field)) {
            return written.to_vec();
        }
        let view = self.named(Name::Header(header))[0];
        self.header_value(header, field, view, result)
    }

    /// A bit: the field or option is there in the header that was stripped, or is being pushed.
    pub fn stripped_presence(&mut self, header: HeaderId, field: HeaderFieldId) -> Value {
        let present = &self.lower.program.headers[header.at()].field(field).present;
        match present {
            Some(present) if self.known(Name::Written(header, field)).is_some() => {
                self.plain(present)
            }
            Some(_) | None => {
                let view = self.named(Name::Header(header))[0];
                self.is_present(header, field, view)
            }
        }
    }

    /// The parts of a field of a header that begins at a view. Where the result is optional, the
    /// parts of none are zero.
    pub fn header_value(
        &mut self,
        header: HeaderId,
        field: HeaderFieldId,
        view: Value,
        result: &Type,
    ) -> Vec<Value> {
        if !matches!(result, Type::Optional(_)) {
            return self.read_field(header, field, view);
        }
        let declared = &self.lower.program.headers[header.at()];
        let asked = declared
            .option_of(field)
            .map_or(field, |case| case.itself());
        let has = self.is_present(header, asked, view);
        let types = parts(self.lower.program, &declared.field(field).kind);
        let value = self.choose(
            has,
            |code| code.read_field(header, field, view),
            |code| code.zeros(&types),
        );
        let mut all = vec![has];
        all.extend(value);
        all
    }

    /// A bit: an optional field or an option is there.
    pub fn is_present(&mut self, header: HeaderId, field: HeaderFieldId, view: Value) -> Value {
        let declared = &self.lower.program.headers[header.at()];
        if declared.is_option(field) {
            let found = self.option_found(header, field, view);
            let none = self.word(0);
            return self.compare(Compare::Ne, found, none);
        }
        match self.presence(header, field, view) {
            Some(present) => present,
            None => self.bit(true),
        }
    }

    /// A bit: a field of the header is there; none of a field that always is.
    pub fn presence(
        &mut self,
        header: HeaderId,
        field: HeaderFieldId,
        view: Value,
    ) -> Option<Value> {
        let program = self.lower.program;
        let present = program.headers[header.at()].field(field).present.as_ref()?;
        Some(self.within(header, view, |code| code.plain(present)))
    }

    /// Evaluates something that reads this view as the header.
    pub fn within<R>(
        &mut self,
        header: HeaderId,
        view: Value,
        inner: impl FnOnce(&mut Self) -> R,
    ) -> R {
        self.with_names(vec![(Name::Header(header), vec![view])], inner)
    }

    /// Evaluates something while names have these values.
    pub fn with_names<R>(
        &mut self,
        names: Vec<(Name, Vec<Value>)>,
        inner: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let mut before = Vec::new();
        for (name, parts) in names {
            before.push((name, self.environment.names.insert(name, parts)));
        }
        let result = inner(self);
        for (name, parts) in before {
            match parts {
                Some(parts) => self.environment.names.insert(name, parts),
                None => self.environment.names.remove(&name),
            };
        }
        result
    }

    /// The parts of a field that is there.
    pub fn read_field(
        &mut self,
        header: HeaderId,
        field: HeaderFieldId,
        view: Value,
    ) -> Vec<Value> {
        let declared = &self.lower.program.headers[header.at()];
        let of = declared.field(field);
        let at = self.offset(header, field, view);
        let at = self.bytes(at);
        match of.kind {
            Type::Bytes(length) => vec![self.value_of(Op::ReadBytes(length), &[view, at])],
            Type::BoundedBytes(most) => {
                let length = self.loose_length(header, field, view).unwrap_or_default();
                let length = self.bytes(length);
                let bytes = self.value_of(Op::ReadPart(most), &[view, at, length]);
                vec![length, bytes]
            }
            _ => {
                let bits = Bits {
                    skip: (of.bit % 8) as u8,
                    width: of.width as u8,
                    big: declared.big,
                };
                vec![self.read_bits(view, at, bits)]
            }
        }
    }

    /// Bytes before the byte in which a field begins.
    pub fn offset(&mut self, header: HeaderId, field: HeaderFieldId, view: Value) -> Distance {
        let declared = &self.lower.program.headers[header.at()];
        let of = declared.field(field);
        let mut at = Distance::fixed(of.bit / 8);
        if let Some(case) = declared.option_of(field) {
            if let Some(option) = self.known(Name::Option) {
                at.loose = Some(option[0]);
                return at;
            }
            // The number of an option comes before its fields.
            at.loose = Some(self.option_found(header, case.itself(), view));
            at.fixed -= 1;
            return at;
        }
        for before in &of.behind {
            if let Some(length) = self.loose_length(header, *before, view) {
                at = self.farther(at, length);
            }
        }
        at
    }

    /// Bytes of a header that is in order.
    pub fn header_length(&mut self, header: HeaderId, view: Value) -> Distance {
        let declared = &self.lower.program.headers[header.at()];
        match declared.counter().filter(|_| declared.open().is_some()) {
            Some(counter) => self.counted_length(header, &counter, view),
            None => self.loose_lengths(header, view, declared.least, &|_| true),
        }
    }

    /// Bytes of a header as its counter says: what is counted, and what it leaves out.
    pub fn counted_length(&mut self, header: HeaderId, counter: &Counter, view: Value) -> Distance {
        let declared = &self.lower.program.headers[header.at()];
        let fixed = declared.fixed_outside(counter);
        let outside = self.loose_lengths(header, view, fixed, &|at| !counter.covers(at));
        let counted = self.counted(header, counter.field, counter.unit, view);
        self.farther(Distance::of(counted), outside)
    }

    /// Adds to a number of bytes those of optional fields and of parts with a bound, among some.
    pub fn loose_lengths(
        &mut self,
        header: HeaderId,
        view: Value,
        fixed: u32,
        among: &dyn Fn(usize) -> bool,
    ) -> Distance {
        let fields = &self.lower.program.headers[header.at()].fields;
        let mut all = Distance::fixed(fixed);
        for (at, field) in fields.iter().enumerate() {
            if among(at) && field.is_loose() {
                let length = self.loose_length(header, HeaderFieldId(at as u32), view);
                all = self.farther(all, length.unwrap_or_default());
            }
        }
        all
    }

    /// Bytes of a field that is optional or whose length is counted; none of one that always has
    /// as many.
    pub fn loose_length(
        &mut self,
        header: HeaderId,
        field: HeaderFieldId,
        view: Value,
    ) -> Option<Distance> {
        let declared = &self.lower.program.headers[header.at()];
        let of = &declared.fields[field.at()];
        if let Some(present) = self.presence(header, field, view) {
            return Some(self.bytes_if(Some(present), of.width / 8));
        }
        let counter = match of.kind {
            Type::UnboundedBytes => declared.counter(),
            Type::BoundedBytes(_) => declared.part_counter(field.at()),
            _ => return None,
        };
        let counter = counter?;
        let beside = |at: usize| at != field.at() && counter.covers(at);
        let fixed = match of.kind {
            Type::UnboundedBytes => declared.least - declared.fixed_outside(&counter),
            _ => declared.fixed_inside(&counter.ranges),
        };
        let beside = self.loose_lengths(header, view, fixed, &beside);
        let counted = self.counted(header, counter.field, counter.unit, view);
        Some(self.nearer(Distance::of(counted), beside))
    }

    /// Bytes that a field counts, as an i32.
    pub fn counted(
        &mut self,
        header: HeaderId,
        field: HeaderFieldId,
        unit: u32,
        view: Value,
    ) -> Value {
        let count = self.read_field(header, field, view)[0];
        self.in_bytes(count, unit)
    }

    /// The bytes of a count.
    pub fn in_bytes(&mut self, count: Value, unit: u32) -> Value {
        let count = self.resized(count, 32);
        match unit {
            1 => count,
            unit => {
                let unit = self.word(unit);
                self.arithmetic(Arithmetic::Mul, count, unit)
            }
        }
    }

    /// The types of the parts of a field.
    pub fn field_parts(&self, header: HeaderId, field: HeaderFieldId) -> Vec<Plain> {
        let program = self.lower.program;
        parts(program, &program.headers[header.at()].field(field).kind)
    }
}
