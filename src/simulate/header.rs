//! Headers on the wire: fields read and written, lengths counted, sums computed.
//!
//! In: a header's layout, and bytes that begin with it. Out: the values of its fields; what is
//! wrong with it; or the bytes of a header that is pushed. Where fields stand behind variable or
//! optional ones, their place follows from the values before them, so all of this reads the bytes
//! themselves, each time.

use super::bits::{load, store};
use super::expression::Evaluation;
use super::message::Message;
use super::options;
use super::parts::{bounded, count_parts, part_length, room_of};
use super::value::{Datum, fit};
use crate::types::expression::Expression;
use crate::types::header::{Counter, Header, HeaderField, Ranges, Rule, Run};
use crate::types::program::{FilterId, HeaderFieldId, HeaderId, ReasonId, Same};
use crate::types::value::Type;
use std::ops::Range;

/// How long a header is that was found in order, and what follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Bytes of the header.
    pub header: usize,
    /// Bytes of what follows it, as far as it is counted.
    pub data: usize,
}

/// Why a header is refused: the counter, where there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused(pub Option<ReasonId>);

/// A field, read out of bytes that begin with its header.
pub fn read(
    evaluation: &mut Evaluation<'_, '_>,
    header: HeaderId,
    field: HeaderFieldId,
    bytes: &[u8],
) -> Datum {
    let declared = layout(evaluation, header);
    let bit = offset(evaluation, header, field, bytes);
    let of = declared.field(field);
    match of.kind {
        Type::Bytes(_) => {
            let at = bit / 8;
            Datum::Bytes(bytes[at..at + of.width as usize / 8].to_vec())
        }
        Type::BoundedBytes(_) => {
            let (at, length) = (bit / 8, part_length(evaluation, header, field, bytes));
            Datum::Bytes(bytes[at..at + length.unwrap_or(0)].to_vec())
        }
        _ => Datum::Number(fit(&of.kind, load(declared.big, bytes, bit, of.width))),
    }
}

/// Whether a field is there at all.
pub fn is_present(
    evaluation: &mut Evaluation<'_, '_>,
    header: HeaderId,
    field: HeaderFieldId,
    bytes: &[u8],
) -> bool {
    if layout(evaluation, header).is_option(field) {
        return options::place(evaluation, header, field, bytes).is_some();
    }
    match &layout(evaluation, header).field(field).present {
        Some(condition) => within(evaluation, header, bytes, |inner| inner.is_true(condition)),
        None => true,
    }
}

/// Checks a header at the start of bytes, all but its sums: its fields in order on the wire, and
/// the lengths that they count.
pub fn parse(
    evaluation: &mut Evaluation<'_, '_>,
    header: HeaderId,
    bytes: &[u8],
) -> Result<Extent, Refused> {
    let declared = layout(evaluation, header);
    let least = declared.least as usize;
    if bytes.len() < least {
        return Err(Refused(declared.too_short));
    }
    let settled = declared.settled_at();
    let (mut length, mut data) = (least, bytes.len());
    let mut cuts = Vec::new();
    for (place, field) in declared.fields.iter().enumerate() {
        let id = HeaderFieldId(place as u32);
        let behind = settled.is_none_or(|settled| settled <= id);
        if field.kind != Type::UnboundedBytes && is_present(evaluation, header, id, bytes) {
            let included = settled.is_some() && behind && settled != Some(id);
            if let Some(most) = field.bound() {
                length += bounded(evaluation, header, id, most as usize, bytes)?;
            } else if field.present.is_some() && !included {
                length += field.width as usize / 8;
            }
            if length > bytes.len() {
                return Err(Refused(declared.too_short));
            }
            let value = read(evaluation, header, id, bytes);
            if !keeps_rules(evaluation, header, field, &value, bytes) {
                return Err(Refused(field.bad));
            }
            if let Rule::Counts { ranges, unit } = &field.rule {
                cuts.push((field, ranges, value.number() as usize * *unit as usize));
            }
        }
        if settled == Some(id) && declared.counter().is_some() {
            length = settle(evaluation, header, bytes)?;
        }
        if behind {
            // What is counted behind a header is known when its own length is.
            for (field, ranges, count) in cuts.drain(..) {
                let covered = covered(evaluation, header, ranges, bytes);
                let end = cut_to(ranges.has_data(), (count, covered), length, data);
                data = end.ok_or(Refused(field.bad))?;
            }
        }
    }
    if let Some(options) = &declared.options
        && !options::hold(evaluation, header, bytes)
    {
        return Err(Refused(declared.fields[options.region.at()].bad));
    }
    Ok(Extent {
        header: length,
        data: data - length,
    })
}

/// How long a header is that was parsed before.
pub fn length(evaluation: &mut Evaluation<'_, '_>, header: HeaderId, bytes: &[u8]) -> usize {
    let declared = layout(evaluation, header);
    let all = (0..declared.fields.len()).map(|place| HeaderFieldId(place as u32));
    let loose = all.map(|field| loose_bits(evaluation, header, field, bytes));
    declared.least as usize + loose.sum::<usize>() / 8
}

/// The sum that a `checks` field of a header should hold, the field itself read as zero unless its
/// filter says what the sum over it is, and a sum that would say that nothing was summed as its
/// complement; `bytes` are those of the header alone.
pub fn sum(
    evaluation: &mut Evaluation<'_, '_>,
    (header, field): (HeaderId, HeaderFieldId),
    arguments: Vec<Datum>,
    bytes: &[u8],
    data: &[u8],
) -> u64 {
    let declared = layout(evaluation, header);
    let (ranges, filter) = sum_rule(&declared.fields[field.at()]);
    let mut summed = bytes.to_vec();
    let own = &evaluation.state.program.filters[filter.at()];
    if declared.over_itself(field.at(), own).is_none() {
        let bit = offset(evaluation, header, field, bytes);
        let width = declared.fields[field.at()].width;
        store(declared.big, &mut summed, bit, width, 0);
    }
    let end = summed.len();
    summed.extend_from_slice(data);
    let mut whole = Vec::new();
    for run in &ranges.0 {
        let bytes = match *run {
            Run::Header => 0..end,
            Run::Data => end..summed.len(),
            Run::HeaderAndData => 0..summed.len(),
            Run::Between(first, last) => between(evaluation, header, first, last, bytes),
            Run::From(first) => offset(evaluation, header, first, bytes) / 8..summed.len(),
        };
        whole.extend_from_slice(&summed[bytes]);
    }
    let summed = whole;
    let result = evaluation.run_filter(filter, arguments, &summed).0;
    let result = result.expect("what sums a header has a result");
    let field = &declared.fields[field.at()];
    field.complemented(fit(&field.kind, result.number()))
}

/// Whether the sums of a message whose header was stripped are right; or which is not.
pub fn check_sums(
    evaluation: &mut Evaluation<'_, '_>,
    header: HeaderId,
    bytes: &[u8],
    message: &Message,
) -> Result<(), Refused> {
    let declared = layout(evaluation, header);
    for (place, field) in declared.fields.iter().enumerate() {
        let id = HeaderFieldId(place as u32);
        let Rule::Checks { filter, unless, .. } = &field.rule else {
            continue;
        };
        if !is_present(evaluation, header, id, bytes) {
            continue;
        }
        let found = read(evaluation, header, id, bytes).number();
        if *unless == Some(found) {
            continue;
        }
        let wanted = sum_of(evaluation, header, id, bytes, message);
        let own = &evaluation.state.program.filters[filter.at()];
        let right = match declared.over_itself(place, own) {
            Some(is) => wanted == field.complemented(is),
            None => wanted == found || own.same.contains(&Same::Held(found, wanted)),
        };
        if !right {
            return Err(Refused(field.bad));
        }
    }
    Ok(())
}

/// The values that are given to the fields of a header; an option that is not to be there has none.
pub fn given<'e>(
    evaluation: &mut Evaluation<'_, '_>,
    header: HeaderId,
    fields: impl IntoIterator<Item = &'e (HeaderFieldId, Expression)>,
) -> Vec<(HeaderFieldId, Datum)> {
    let declared = layout(evaluation, header);
    let mut values: Vec<(HeaderFieldId, Datum)> = Vec::new();
    for (field, value) in fields {
        let option = declared.option_of(*field).map(|case| case.itself());
        let absent =
            |(id, there): &(HeaderFieldId, Datum)| Some(*id) == option && there.number() == 0;
        if !values.iter().any(absent) {
            values.push((*field, evaluation.value(value)));
        }
    }
    values
}

/// Puts a header before a message: the given values, then what is counted, then what is summed.
pub fn push(
    evaluation: &mut Evaluation<'_, '_>,
    header: HeaderId,
    values: &[(HeaderFieldId, Datum)],
    message: &mut Message,
) {
    let declared = layout(evaluation, header);
    let mut bytes = vec![0; declared.least as usize];
    for (place, field) in declared.fields.iter().enumerate() {
        let id = HeaderFieldId(place as u32);
        if !is_present(evaluation, header, id, &bytes) {
            continue;
        }
        for part in declared.parts() {
            let counter = declared.part_counter(part);
            if let Some(counter) = counter.filter(|own| own.field == id || part == place) {
                count_parts(evaluation, header, &counter, values, &mut bytes);
            }
        }
        let bit = offset(evaluation, header, id, &bytes);
        if field.is_loose() {
            let room = match field.bound() {
                Some(_) => room_of(declared, id, values),
                None => field.width as usize / 8,
            };
            bytes.splice(bit / 8..bit / 8, vec![0; room]);
        }
        let given = values.iter().find(|(given, _)| *given == id);
        let value = match (&field.rule, given) {
            (_, Some((_, value))) => value.clone(),
            (Rule::Is(value), None) => Datum::of(evaluation.state.program, value, &field.kind),
            (Rule::Given | Rule::Default(_) | Rule::Counts { .. } | Rule::Checks { .. }, None) => {
                continue;
            }
        };
        write(declared, field, bit, &value, &mut bytes);
    }
    options::write_options(evaluation, header, values, &mut bytes);
    write_counts(evaluation, header, message.length(), &mut bytes);
    for (place, field) in declared.fields.iter().enumerate() {
        let id = HeaderFieldId(place as u32);
        if let Rule::Checks { .. } = field.rule
            && is_present(evaluation, header, id, &bytes)
        {
            let sum = sum_of(evaluation, header, id, &bytes, message);
            let bit = offset(evaluation, header, id, &bytes);
            let value = Datum::Number(sum);
            write(declared, field, bit, &value, &mut bytes);
        }
    }
    message.push(&bytes);
}

/// Evaluates something that reads these bytes as the header.
pub fn within<R>(
    evaluation: &mut Evaluation<'_, '_>,
    header: HeaderId,
    bytes: &[u8],
    inner: impl FnOnce(&mut Evaluation<'_, '_>) -> R,
) -> R {
    let before = evaluation.instant.headers.insert(header, bytes.into());
    let result = inner(evaluation);
    match before {
        Some(before) => evaluation.instant.headers.insert(header, before),
        None => evaluation.instant.headers.remove(&header),
    };
    result
}

/// A header as it is declared.
pub fn layout<'p>(evaluation: &Evaluation<'_, 'p>, header: HeaderId) -> &'p Header {
    &evaluation.state.program.headers[header.at()]
}

/// Whether a field has a value that its own rules allow.
pub fn keeps_rules(
    evaluation: &mut Evaluation<'_, '_>,
    header: HeaderId,
    field: &HeaderField,
    value: &Datum,
    bytes: &[u8],
) -> bool {
    let program = evaluation.state.program;
    let named = match &field.kind {
        Type::Enum(id) => {
            let of = &program.enums[id.at()];
            let number = value.number();
            of.other.is_some() || of.names.iter().any(|(_, value)| *value == number)
        }
        _ => true,
    };
    let required = match &field.rule {
        Rule::Is(constant) => *value == Datum::of(program, constant, &field.kind),
        Rule::Given | Rule::Default(_) | Rule::Counts { .. } | Rule::Checks { .. } => true,
    };
    let mut constrained = || match &field.constraint {
        Some(condition) => within(evaluation, header, bytes, |inner| inner.is_true(condition)),
        None => true,
    };
    named && required && constrained()
}

/// The length of a header that counts itself, where all is known of what may be missing in it.
fn settle(
    evaluation: &mut Evaluation<'_, '_>,
    header: HeaderId,
    bytes: &[u8],
) -> Result<usize, Refused> {
    let declared = layout(evaluation, header);
    let counter = declared
        .counter()
        .expect("a header that is settled is counted");
    let count = read(evaluation, header, counter.field, bytes).number() as usize;
    let rest = outside(evaluation, header, &counter, bytes);
    let total = count * counter.unit as usize + rest;
    let all = 0..declared.fields.len() as u32;
    let all = all.map(HeaderFieldId);
    let valued = all.filter(|id| declared.field(*id).kind != Type::UnboundedBytes);
    let optional = valued.map(|id| loose_bits(evaluation, header, id, bytes));
    let known = declared.least as usize + optional.sum::<usize>() / 8;
    let open = declared
        .fields
        .iter()
        .any(|field| field.kind == Type::UnboundedBytes);
    let holds = match open {
        true => (known..=bytes.len()).contains(&total),
        false => total == known,
    };
    let bad = declared.fields[counter.field.at()].bad;
    if holds { Ok(total) } else { Err(Refused(bad)) }
}

/// Bytes of a header that its counter leaves out.
pub fn outside(
    evaluation: &mut Evaluation<'_, '_>,
    header: HeaderId,
    counter: &Counter,
    bytes: &[u8],
) -> usize {
    let declared = layout(evaluation, header);
    let all = (0..declared.fields.len()).filter(|place| !counter.covers(*place));
    let optional =
        all.map(|place| loose_bits(evaluation, header, HeaderFieldId(place as u32), bytes));
    optional.sum::<usize>() / 8 + declared.fixed_outside(counter) as usize
}

/// Where a message ends whose header is so long, once it is cut to what is counted with so many
/// bytes of the header.
fn cut_to(
    has_data: bool,
    (count, covered): (usize, usize),
    header: usize,
    end: usize,
) -> Option<usize> {
    let data = count.checked_sub(covered)?;
    match has_data {
        true => (data <= end - header).then_some(header + data),
        false => (data == 0).then_some(end),
    }
}

/// Bytes of a header that stand in some ranges.
fn covered(
    evaluation: &mut Evaluation<'_, '_>,
    header: HeaderId,
    ranges: &Ranges,
    bytes: &[u8],
) -> usize {
    let declared = layout(evaluation, header);
    let inside = (0..declared.fields.len()).filter(|place| ranges.covers(*place));
    let loose =
        inside.map(|place| loose_bits(evaluation, header, HeaderFieldId(place as u32), bytes));
    declared.fixed_inside(ranges) as usize + loose.sum::<usize>() / 8
}

/// Bits of the variable and optional fields before a field, and of those that are fixed.
pub fn offset(
    evaluation: &mut Evaluation<'_, '_>,
    header: HeaderId,
    field: HeaderFieldId,
    bytes: &[u8],
) -> usize {
    let of = layout(evaluation, header).field(field);
    if layout(evaluation, header).option_of(field).is_some() {
        let place = options::place(evaluation, header, field, bytes);
        return 8 * place.expect("an option is read where it is there") + of.bit as usize;
    }
    let behind = of.behind.iter();
    let behind = behind.map(|before| loose_bits(evaluation, header, *before, bytes));
    of.bit as usize + behind.sum::<usize>()
}

/// Bits of a field that is variable or optional, as long as it is; none of one that is fixed.
pub fn loose_bits(
    evaluation: &mut Evaluation<'_, '_>,
    header: HeaderId,
    field: HeaderFieldId,
    bytes: &[u8],
) -> usize {
    let of = &layout(evaluation, header).fields[field.at()];
    if of.kind == Type::UnboundedBytes {
        8 * variable_length(evaluation, header, bytes)
    } else if of.bound().is_some() {
        8 * part_length(evaluation, header, field, bytes).unwrap_or(0)
    } else if of.present.is_some() && is_present(evaluation, header, field, bytes) {
        of.width as usize
    } else {
        0
    }
}

/// Bytes of the field that goes up to the end that is counted.
fn variable_length(evaluation: &mut Evaluation<'_, '_>, header: HeaderId, bytes: &[u8]) -> usize {
    let declared = layout(evaluation, header);
    let Some(counter) = declared.counter() else {
        return 0;
    };
    let all = (0..declared.fields.len()).map(|place| HeaderFieldId(place as u32));
    let valued = all.filter(|id| declared.fields[id.at()].kind != Type::UnboundedBytes);
    let counted = valued.filter(|id| counter.covers(id.at()));
    let optional = counted.map(|id| loose_bits(evaluation, header, id, bytes));
    let fixed = (declared.least - declared.fixed_outside(&counter)) as usize;
    let fixed = fixed + optional.sum::<usize>() / 8;
    let count = read(evaluation, header, counter.field, bytes).number() as usize;
    (count * counter.unit as usize).saturating_sub(fixed)
}

/// The bytes of a header from one field to another.
fn between(
    evaluation: &mut Evaluation<'_, '_>,
    header: HeaderId,
    first: HeaderFieldId,
    last: HeaderFieldId,
    bytes: &[u8],
) -> Range<usize> {
    let fields = &layout(evaluation, header).fields;
    let from = offset(evaluation, header, first, bytes) / 8;
    let to = offset(evaluation, header, last, bytes);
    let end = &fields[last.at()];
    let rest = match end.kind != Type::UnboundedBytes && !end.is_loose() {
        true => end.width as usize,
        false => loose_bits(evaluation, header, last, bytes),
    };
    from..(to + rest) / 8
}

fn write_counts(
    evaluation: &mut Evaluation<'_, '_>,
    header: HeaderId,
    data: usize,
    bytes: &mut [u8],
) {
    let declared = layout(evaluation, header);
    if let Some(counter) = declared.counter() {
        let count = bytes.len() - outside(evaluation, header, &counter, bytes);
        write_count(evaluation, header, counter.field, count, bytes);
    }
    // The others may count a part that is as long as the first one says.
    for (place, field) in declared.fields.iter().enumerate() {
        let id = HeaderFieldId(place as u32);
        let Rule::Counts { ranges, .. } = &field.rule else {
            continue;
        };
        if !declared.is_counter(place) && is_present(evaluation, header, id, bytes) {
            let covered = covered(evaluation, header, ranges, bytes);
            let data = if ranges.has_data() { data } else { 0 };
            write_count(evaluation, header, id, covered + data, bytes);
        }
    }
}

/// Writes so many bytes into a field that counts, in its units.
pub fn write_count(
    evaluation: &mut Evaluation<'_, '_>,
    header: HeaderId,
    id: HeaderFieldId,
    count: usize,
    bytes: &mut [u8],
) {
    let declared = layout(evaluation, header);
    let field = &declared.fields[id.at()];
    let Rule::Counts { unit, .. } = field.rule else {
        unreachable!("only what counts is counted");
    };
    let bit = offset(evaluation, header, id, bytes);
    let value = Datum::Number((count / unit as usize) as u64);
    write(declared, field, bit, &value, bytes);
}

/// A sum, its arguments evaluated for this message behind a header of these bytes.
fn sum_of(
    evaluation: &mut Evaluation<'_, '_>,
    header: HeaderId,
    field: HeaderFieldId,
    bytes: &[u8],
    message: &Message,
) -> u64 {
    let of = &layout(evaluation, header).fields[field.at()];
    let arguments = sum_arguments(of);
    let before = evaluation.instant.message.replace(message.clone());
    evaluation.instant.whole_length = (bytes.len() + message.length()) as u64;
    let arguments = within(evaluation, header, bytes, |inner| inner.values(arguments));
    evaluation.instant.message = before;
    sum(
        evaluation,
        (header, field),
        arguments,
        bytes,
        message.data(),
    )
}

fn sum_rule(field: &HeaderField) -> (&Ranges, FilterId) {
    match &field.rule {
        Rule::Checks { ranges, filter, .. } => (ranges, *filter),
        Rule::Given | Rule::Default(_) | Rule::Is(_) | Rule::Counts { .. } => {
            panic!("{} is summed", field.name)
        }
    }
}

fn sum_arguments(field: &HeaderField) -> &[Expression] {
    match &field.rule {
        Rule::Checks { arguments, .. } => arguments,
        Rule::Given | Rule::Default(_) | Rule::Is(_) | Rule::Counts { .. } => &[],
    }
}

/// Writes a value into a field that begins at a bit of some bytes.
pub fn write(header: &Header, field: &HeaderField, bit: usize, value: &Datum, bytes: &mut [u8]) {
    match value {
        Datum::Bytes(data) => {
            let at = bit / 8;
            bytes[at..at + data.len()].copy_from_slice(data);
        }
        Datum::Optional(value) => {
            let value = value.as_ref().expect("what is written is there");
            write(header, field, bit, value, bytes);
        }
        _ => store(header.big, bytes, bit, field.width, value.number()),
    }
}
