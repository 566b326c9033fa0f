//! Headers that are pushed: their values, their layout and their counts.
//!
//! In: the values that are given to the fields of a header. Out: a message that begins with it.
//! All is computed before the header has room, since values may read bytes that it is written over:
//! first what is given, then where each field stands, then the length and the counts. While the
//! layout is found, a condition that reads a field of this header reads the value that is about to
//! be written; for one that calls a function, which reads the header itself, the fields before it
//! are written into room that is given back. `push_write.rs` writes the bytes, `push_sums.rs` the
//! sums, which come last.

use super::distance::Distance;
use crate::ir::{Op, Value};
use crate::lower::Lower;
use crate::lower::code::{Code, Name};
use crate::lower::shapes::constant;
use crate::lower::value::lazy::is_total;
use crate::types::expression::{Expression, ExpressionKind};
use crate::types::header::{Counter, Header, HeaderField, OptionCase, Rule};
use crate::types::program::{HeaderFieldId, HeaderId, LocalId};
use crate::types::value::Type;
use std::collections::BTreeMap;

/// A header that is pushed.
pub struct Push<'h> {
    /// The header.
    pub id: HeaderId,
    /// Its declaration.
    pub header: &'h Header,
    /// The message.
    pub message: LocalId,
    /// The parts of the values that are given; of an option that may be absent, any value then.
    pub given: BTreeMap<HeaderFieldId, Vec<Value>>,
    /// The options that are written.
    pub options: Vec<PushedOption<'h>>,
    /// The fields of the header itself, in order.
    pub fields: Vec<Placed>,
    /// Bytes of the header before its options.
    pub before_options: Distance,
    /// Bytes of the header before what fills it up.
    pub before_fill: Distance,
    /// Bytes of the header.
    pub size: Distance,
    /// Bytes of the message before the header is pushed.
    pub data: Value,
    /// The message with room for the longest header, while a condition needs the bytes before it.
    pub room: Option<Value>,
    /// The session below that its sums ask.
    pub below: Option<Vec<Value>>,
}

/// An option that is written.
pub struct PushedOption<'h> {
    /// The option.
    pub case: &'h OptionCase,
    /// A bit: it is there; none of one that always is.
    pub there: Option<Value>,
}

/// A field that has its place.
#[derive(Clone)]
pub struct Placed {
    /// A bit: it is there; none of one that always is.
    pub present: Option<Value>,
    /// Bytes of the header before its first byte.
    pub at: Distance,
    /// The parts of its value; none of a part without a value.
    pub value: Vec<Value>,
    /// Bytes of an optional field or a part with a bound; 0 of others.
    pub loose: Distance,
}

impl Code<'_, '_> {
    /// Puts a header before a message.
    pub fn push_header(
        &mut self,
        message: LocalId,
        header: HeaderId,
        values: &[(HeaderFieldId, Expression)],
        below: Option<&Expression>,
    ) {
        let below = below.map(|below| self.value(below));
        let mut push = Push {
            id: header,
            header: &self.lower.program.headers[header.at()],
            message,
            given: BTreeMap::new(),
            options: Vec::new(),
            fields: Vec::new(),
            before_options: Distance::default(),
            before_fill: Distance::default(),
            size: Distance::default(),
            data: self.length(message),
            room: None,
            below,
        };
        push.take_values(self, values);
        push.take_room(self);
        push.lay_out(self);
        push.give_room_back(self);
        push.find_size(self);
        push.count(self);
        let size = self.bytes(push.size);
        let handle = self.take_message(message);
        let handle = self.value_of(Op::Push, &[handle, size]);
        self.set_message(message, handle);
        push.write(self, handle);
        push.write_sums(self, handle);
    }
}

impl Push<'_> {
    /// Evaluates what is given, in order; fields of an option only where it is there.
    fn take_values(&mut self, code: &mut Code<'_, '_>, values: &[(HeaderFieldId, Expression)]) {
        let mut absent: Vec<HeaderFieldId> = Vec::new();
        for (id, value) in values {
            if let Some(case) = self.header.option_of(*id)
                && case.itself() == *id
            {
                match value.truth() {
                    Some(true) => self.options.push(PushedOption { case, there: None }),
                    Some(false) => absent.push(*id),
                    None => {
                        let there = Some(code.plain(value));
                        self.options.push(PushedOption { case, there });
                    }
                }
                continue;
            }
            let option = self.header.option_of(*id).map(OptionCase::itself);
            if option.is_some_and(|option| absent.contains(&option)) {
                continue;
            }
            let mut options = self.options.iter();
            let written = options.find(|one| Some(one.case.itself()) == option);
            let there = written.and_then(|written| written.there);
            let parts = self.given_value(code, *id, value, there);
            self.given.insert(*id, parts);
        }
        // They are written in the order in which they are declared.
        self.options.sort_by_key(|one| one.case.fields.start);
    }

    fn given_value(
        &self,
        code: &mut Code<'_, '_>,
        id: HeaderFieldId,
        value: &Expression,
        there: Option<Value>,
    ) -> Vec<Value> {
        let there = there.filter(|_| !is_total(code.lower.program, value));
        let mut parts = match there {
            None => code.value(value),
            Some(there) => {
                let types = crate::lower::shapes::parts(code.lower.program, &value.result);
                code.choose(there, |code| code.value(value), |code| code.zeros(&types))
            }
        };
        if let Type::Optional(_) = value.result {
            parts.remove(0);
        }
        if let Type::BoundedBytes(_) | Type::Bytes(_) = self.header.field(id).kind {
            return parts;
        }
        let width = self.header.field(id).width as u8;
        vec![code.resized(parts[0], width)]
    }

    /// The value of a field that counts nothing and sums nothing.
    pub fn value_of(
        &self,
        code: &mut Code<'_, '_>,
        id: HeaderFieldId,
        field: &HeaderField,
    ) -> Vec<Value> {
        if let Some(given) = self.given.get(&id) {
            return given.clone();
        }
        match &field.rule {
            _ if field.kind == Type::UnboundedBytes => Vec::new(),
            Rule::Is(value) => {
                let parts = constant(code.lower.program, value, &field.kind);
                code.constants(parts)
            }
            Rule::Given | Rule::Default(_) | Rule::Counts { .. } | Rule::Checks { .. } => {
                let types = code.field_parts(self.id, id);
                code.zeros(&types)
            }
        }
    }

    /// Makes room for the longest header, if a condition calls a function that reads the header.
    fn take_room(&mut self, code: &mut Code<'_, '_>) {
        let mut present = self
            .header
            .fields
            .iter()
            .filter_map(|field| field.present.as_ref());
        if present.any(|present| calls_reader(code.lower, present, self.id)) {
            let most = code.word(self.header.most);
            let handle = code.take_message(self.message);
            let room = code.value_of(Op::Push, &[handle, most]);
            code.set_message(self.message, room);
            let at = code.word(0);
            let zeros = code.value_of(Op::Bytes(vec![0; self.header.most as usize]), &[]);
            code.op(Op::WriteBytes, &[room, at, zeros]);
            self.room = Some(room);
        }
    }

    fn give_room_back(&mut self, code: &mut Code<'_, '_>) {
        if self.room.take().is_some() {
            let most = code.word(self.header.most);
            let handle = code.take_message(self.message);
            let handle = code.value_of(Op::Pull, &[handle, most]);
            code.set_message(self.message, handle);
        }
    }

    /// A bit: the condition of a field holds, by the values of the fields before it.
    fn presence(&self, code: &mut Code<'_, '_>, present: &Expression) -> Value {
        let Some(room) = self.room else {
            return code.plain(present);
        };
        self.write_first(code, room);
        let view = code.value_of(Op::Look, &[room]);
        code.within(self.id, view, |code| code.plain(present))
    }

    /// Finds where each field stands, in the order of the wire.
    fn lay_out(&mut self, code: &mut Code<'_, '_>) {
        let fields = self.header.fields.iter().enumerate();
        let fields = fields.map(|(place, field)| (HeaderFieldId(place as u32), field));
        let is_asked = self
            .header
            .fields
            .iter()
            .any(|field| field.present.is_some());
        for (id, field) in fields.clone().filter(|_| is_asked) {
            // Fields that are not written yet read as zero.
            if field.kind != Type::UnboundedBytes {
                let types = code.field_parts(self.id, id);
                let zeros = code.zeros(&types);
                code.bind(Name::Written(self.id, id), zeros);
            }
        }
        let mut loose = None;
        for (id, field) in fields {
            let present = field
                .present
                .as_ref()
                .map(|present| self.presence(code, present));
            let at = Distance {
                fixed: field.bit / 8,
                loose,
            };
            let value = self.value_of(code, id, field);
            let length = match field.bound() {
                Some(_) => self.room(code, id),
                None if present.is_some() => code.bytes_if(present, field.width / 8),
                None => Distance::default(),
            };
            self.fields.push(Placed {
                present,
                at,
                value,
                loose: length,
            });
            self.count_parts(code, id, is_asked);
            if is_asked && field.kind != Type::UnboundedBytes {
                let value = self.fields[id.at()].value.clone();
                code.bind(Name::Written(self.id, id), value);
            }
            loose = match (loose, length.loose) {
                (Some(before), Some(length)) => Some(code.sum_of(before, length)),
                (before, length) => before.or(length),
            };
        }
        self.before_options = Distance {
            fixed: self.header.least,
            loose,
        };
        let is_own = |name: &Name| matches!(name, Name::Written(id, _) if *id == self.id);
        code.environment.names.retain(|name, _| !is_own(name));
    }

    /// Bytes of a part with a bound, in whole units of its count.
    fn room(&self, code: &mut Code<'_, '_>, part: HeaderFieldId) -> Distance {
        let Some(given) = self.given.get(&part) else {
            return Distance::default();
        };
        let counter = self.header.part_counter(part.at());
        let unit = counter.map_or(1, |counter| counter.unit);
        match self.header.field(part).kind {
            Type::BoundedBytes(_) => code.whole_units(Distance::of(given[0]), unit),
            _ => unreachable!("a part with a bound is bounded bytes"),
        }
    }

    /// Computes counts of parts with a bound, at the count and once more at the part: a condition
    /// between them may read the count.
    fn count_parts(&mut self, code: &mut Code<'_, '_>, id: HeaderFieldId, is_asked: bool) {
        for part in self.header.parts() {
            let counter = self.header.part_counter(part);
            let Some(counter) = counter.filter(|own| own.field == id || part == id.at()) else {
                continue;
            };
            let count = self.part_count(code, &counter);
            self.fields[counter.field.at()].value = vec![count];
            if is_asked {
                code.bind(Name::Written(self.id, counter.field), vec![count]);
            }
        }
    }

    /// The count of a field that counts a part with a bound, as far as is known here of what may
    /// be absent behind it.
    fn part_count(&self, code: &mut Code<'_, '_>, counter: &Counter) -> Value {
        let mut bytes = Distance::fixed(self.header.fixed_inside(&counter.ranges));
        for (place, field) in self.header.fields.iter().enumerate() {
            if !counter.covers(place) {
                continue;
            }
            let loose = match (self.fields.get(place), &field.present) {
                (Some(placed), _) => placed.loose,
                (None, Some(present)) => {
                    let present = self.presence(code, present);
                    code.bytes_if(Some(present), field.width / 8)
                }
                (None, None) if field.bound().is_some() => {
                    self.room(code, HeaderFieldId(place as u32))
                }
                (None, None) => Distance::default(),
            };
            bytes = code.farther(bytes, loose);
        }
        self.in_units(code, counter.field, bytes, counter.unit)
    }

    /// A number of bytes as the value of a field that counts them.
    fn in_units(
        &self,
        code: &mut Code<'_, '_>,
        field: HeaderFieldId,
        bytes: Distance,
        unit: u32,
    ) -> Value {
        let units = code.units(bytes, unit);
        code.resized(units, self.header.field(field).width as u8)
    }

    /// Finds how long the header is, with its options, in whole units of its count.
    fn find_size(&mut self, code: &mut Code<'_, '_>) {
        let mut size = self.before_options;
        for option in &self.options {
            let bytes = code.bytes_if(option.there, option.case.least);
            size = code.farther(size, bytes);
        }
        self.before_fill = size;
        let counter = self.header.counter();
        if let Some(counter) = counter.filter(|_| self.header.options.is_some()) {
            let outside = self.outside(code, &counter);
            let inside = code.nearer(size, outside);
            let whole = code.whole_units(inside, counter.unit);
            if whole != inside {
                size = code.farther(outside, whole);
            }
        }
        self.size = size;
    }

    /// Bytes of the header that its counter leaves out.
    fn outside(&self, code: &mut Code<'_, '_>, counter: &Counter) -> Distance {
        let fixed = self.header.fixed_outside(counter);
        self.with_loose(code, fixed, &|place| !counter.covers(place))
    }

    /// Adds to a number of bytes those of optional fields and of parts with a bound, among some.
    fn with_loose(
        &self,
        code: &mut Code<'_, '_>,
        fixed: u32,
        among: &dyn Fn(usize) -> bool,
    ) -> Distance {
        let fields = self.fields.iter().enumerate();
        let inside = fields.filter(|(place, _)| among(*place));
        inside.fold(Distance::fixed(fixed), |all, (_, field)| {
            code.farther(all, field.loose)
        })
    }

    /// Computes what is counted of the header, and of the message with it.
    fn count(&mut self, code: &mut Code<'_, '_>) {
        let own = self.header.counter();
        for (place, field) in self.header.fields.iter().enumerate() {
            let id = HeaderFieldId(place as u32);
            let Rule::Counts { ranges, unit } = &field.rule else {
                continue;
            };
            let bytes = match &own {
                Some(counter) if counter.field == id => {
                    let outside = self.outside(code, counter);
                    code.nearer(self.size, outside)
                }
                _ if self.header.counts_part(place) => continue,
                _ => {
                    let fixed = self.header.fixed_inside(ranges);
                    let covered = self.with_loose(code, fixed, &|at| ranges.covers(at));
                    let open = self.header.open().filter(|open| ranges.covers(*open));
                    let options = match open {
                        Some(_) => code.nearer(self.size, self.before_options),
                        None => Distance::default(),
                    };
                    let covered = code.farther(covered, options);
                    match ranges.has_data() {
                        true => code.farther(covered, Distance::of(self.data)),
                        false => covered,
                    }
                }
            };
            self.fields[place].value = vec![self.in_units(code, id, bytes, *unit)];
        }
    }
}

/// Returns true if an expression calls a function that reads this header.
fn calls_reader(lower: &Lower<'_>, expression: &Expression, id: HeaderId) -> bool {
    let itself = match &*expression.kind {
        ExpressionKind::Call(function, _) => {
            !lower.program.functions[function.at()].external
                && lower.needs[function.at()].headers.contains(&id)
        }
        _ => false,
    };
    let mut parts = expression.parts().into_iter();
    itself || parts.any(|part| calls_reader(lower, part, id))
}
