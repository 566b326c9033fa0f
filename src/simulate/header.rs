//! Headers on the wire: fields read and written, lengths counted, sums computed.
//!
//! In: a header's layout, and bytes that begin with it. Out: the values of its fields; what is
//! wrong with it; or the bytes of a header that is pushed. Where fields stand behind variable or
//! optional ones, their place follows from the values before them, so all of this reads the bytes
//! themselves, each time.

use super::expression::Evaluation;
use super::message::Message;
use super::options;
use super::value::{Datum, fit, mask};
use crate::types::expression::Expression;
use crate::types::header::{Counter, Header, HeaderField, Ranges, Rule};
use crate::types::program::{FilterId, HeaderFieldId, HeaderId, ReasonId};
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
        if field.kind != Type::Nothing && is_present(evaluation, header, id, bytes) {
            let included = settled.is_some() && behind && settled != Some(id);
            if field.present.is_some() && !included {
                length += field.width as usize / 8;
            }
            if length > bytes.len() {
                return Err(Refused(declared.too_short));
            }
            let value = read(evaluation, header, id, bytes);
            if !keeps_rules(evaluation, header, field, &value, bytes) {
                return Err(Refused(field.bad));
            }
            if let Rule::Counts { ranges, unit } = field.rule {
                cuts.push((field, ranges, value.number() as usize * unit as usize));
            }
        }
        if settled == Some(id) && declared.counter().is_some() {
            length = settle(evaluation, header, bytes)?;
        }
        if behind {
            // What is counted behind a header is known when its own length is.
            for (field, ranges, count) in cuts.drain(..) {
                data = cut_to(ranges, count, length, data).ok_or(Refused(field.bad))?;
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

/// The sum that a `checks` field of a header should hold, the field itself read as zero, and a sum
/// that would say that nothing was summed as its complement; `bytes` are those of the header alone.
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
    let bit = offset(evaluation, header, field, bytes);
    let width = declared.fields[field.at()].width;
    store(declared.big, &mut summed, bit, width, 0);
    match ranges {
        Ranges::Header => {}
        Ranges::Data => summed = data.to_vec(),
        Ranges::FromOn(before) => {
            summed.extend_from_slice(data);
            summed.drain(..before as usize);
        }
        Ranges::Between(first, last) => {
            summed = summed[between(evaluation, header, first, last, bytes)].to_vec();
        }
    }
    let result = evaluation.run_filter(filter, arguments, &summed).0;
    let result = result.expect("what sums a header has a result");
    let field = &declared.fields[field.at()];
    complemented(field, fit(&field.kind, result.number()))
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
        let Rule::Checks { unless, .. } = &field.rule else {
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
        if wanted != found {
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
        let bit = offset(evaluation, header, id, &bytes);
        if field.present.is_some() {
            let room = vec![0; field.width as usize / 8];
            bytes.splice(bit / 8..bit / 8, room);
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
    let valued = all.filter(|id| declared.field(*id).kind != Type::Nothing);
    let optional = valued.map(|id| loose_bits(evaluation, header, id, bytes));
    let known = declared.least as usize + optional.sum::<usize>() / 8;
    let open = declared
        .fields
        .iter()
        .any(|field| field.kind == Type::Nothing);
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

/// Where a message ends whose header is so long, once it is cut to what is counted.
fn cut_to(ranges: Ranges, count: usize, header: usize, end: usize) -> Option<usize> {
    let counted = match ranges {
        Ranges::Data => header + count,
        Ranges::FromOn(before) => before as usize + count,
        Ranges::Header | Ranges::Between(..) => return Some(end),
    };
    (header..=end).contains(&counted).then_some(counted)
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
fn loose_bits(
    evaluation: &mut Evaluation<'_, '_>,
    header: HeaderId,
    field: HeaderFieldId,
    bytes: &[u8],
) -> usize {
    let of = &layout(evaluation, header).fields[field.at()];
    if of.kind == Type::Nothing {
        8 * variable_length(evaluation, header, bytes)
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
    let valued = all.filter(|id| declared.fields[id.at()].kind != Type::Nothing);
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
    let rest = match fields[last.at()].kind {
        Type::Nothing => 8 * variable_length(evaluation, header, bytes),
        _ => fields[last.at()].width as usize,
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
    for (place, field) in declared.fields.iter().enumerate() {
        let Rule::Counts { ranges, unit } = &field.rule else {
            continue;
        };
        let count = match ranges {
            Ranges::Data => data,
            Ranges::FromOn(before) => bytes.len() + data - *before as usize,
            Ranges::Header | Ranges::Between(..) => {
                let counter = Counter {
                    field: HeaderFieldId(place as u32),
                    ranges: *ranges,
                    unit: *unit,
                };
                bytes.len() - outside(evaluation, header, &counter, bytes)
            }
        };
        let bit = offset(evaluation, header, HeaderFieldId(place as u32), bytes);
        let value = Datum::Number((count / *unit as usize) as u64);
        write(declared, field, bit, &value, bytes);
    }
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

fn sum_rule(field: &HeaderField) -> (Ranges, FilterId) {
    match &field.rule {
        Rule::Checks { ranges, filter, .. } => (*ranges, *filter),
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

/// How a sum goes out: complemented where it equals what says that nothing was summed.
fn complemented(field: &HeaderField, sum: u64) -> u64 {
    match &field.rule {
        Rule::Checks {
            unless: Some(unless),
            ..
        } if *unless == sum => fit(&field.kind, !sum),
        Rule::Given
        | Rule::Default(_)
        | Rule::Is(_)
        | Rule::Counts { .. }
        | Rule::Checks { .. } => sum,
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

/// Bits of bytes, as a number.
pub fn load(big: bool, bytes: &[u8], bit: usize, width: u32) -> u64 {
    let (at, end) = (bit / 8, (bit + width as usize).div_ceil(8));
    let join = |number: u128, byte: &u8| number << 8 | u128::from(*byte);
    let number = match big {
        true => bytes[at..end].iter().fold(0, join) >> (8 * end - bit - width as usize),
        false => bytes[at..end].iter().rev().fold(0, join) >> (bit - 8 * at),
    };
    number as u64 & mask(width as u8)
}

/// Writes a number into bits of bytes.
fn store(big: bool, bytes: &mut [u8], bit: usize, width: u32, number: u64) {
    for place in 0..width as usize {
        let (at, within) = match big {
            true => (
                (bit + width as usize - 1 - place) / 8,
                7 - (bit + width as usize - 1 - place) % 8,
            ),
            false => ((bit + place) / 8, (bit + place) % 8),
        };
        let one = (number >> place & 1) as u8;
        bytes[at] = bytes[at] & !(1 << within) | one << within;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_stand_as_on_the_wire() {
        let mut bytes = [0; 3];
        store(true, &mut bytes, 3, 13, 0x1abc);
        assert_eq!(bytes, [0x1a, 0xbc, 0]);
        assert_eq!(load(true, &bytes, 3, 13), 0x1abc);
        store(false, &mut bytes, 4, 12, 0xfed);
        assert_eq!(bytes, [0xda, 0xfe, 0]);
        assert_eq!(load(false, &bytes, 4, 12), 0xfed);
    }

    #[test]
    fn numbers_of_all_bytes_go_both_ways() {
        let mut bytes = [0; 8];
        for big in [false, true] {
            store(big, &mut bytes, 0, 64, 0x0123_4567_89ab_cdef);
            assert_eq!(load(big, &bytes, 0, 64), 0x0123_4567_89ab_cdef);
        }
        assert_eq!(bytes[0], 0x01);
    }
}
