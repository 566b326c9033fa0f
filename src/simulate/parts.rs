//! Parts of headers with a bound: how many bytes of one are counted, and the counts of a header
//! that is written.
//!
//! In: a header's layout, and bytes that begin with it, or the values of its fields. Out: the
//! length of a part, or what is wrong with it; or counts, written.

use super::expression::Evaluation;
use super::header::{Refused, layout, loose_bits, read, write_count};
use super::value::Datum;
use crate::types::header::{Counter, Header};
use crate::types::program::{HeaderFieldId, HeaderId};

/// Bytes of a part with a bound, as they are counted; or what is wrong with that.
pub fn bounded(
    evaluation: &mut Evaluation<'_, '_>,
    header: HeaderId,
    part: HeaderFieldId,
    most: usize,
    bytes: &[u8],
) -> Result<usize, Refused> {
    let declared = layout(evaluation, header);
    let counter = declared.part_counter(part.at());
    let counter = counter.expect("a part with a bound is counted");
    let length = part_length(evaluation, header, part, bytes);
    let length = length.ok_or(Refused(declared.field(counter.field).bad))?;
    match length <= most {
        true => Ok(length),
        false => Err(Refused(declared.field(part).bad)),
    }
}

/// Bytes of a part with a bound: what its count leaves of it beside the other fields that it
/// counts. None where that is less than nothing.
pub fn part_length(
    evaluation: &mut Evaluation<'_, '_>,
    header: HeaderId,
    part: HeaderFieldId,
    bytes: &[u8],
) -> Option<usize> {
    let declared = layout(evaluation, header);
    let counter = declared.part_counter(part.at())?;
    let others = (0..declared.fields.len()).filter(|place| counter.covers(*place));
    let others = others.filter(|place| *place != part.at());
    let others =
        others.map(|place| loose_bits(evaluation, header, HeaderFieldId(place as u32), bytes));
    let rest = others.sum::<usize>() / 8 + declared.fixed_inside(&counter.ranges) as usize;
    let count = read(evaluation, header, counter.field, bytes).number() as usize;
    (count * counter.unit as usize).checked_sub(rest)
}

/// Bytes that a part with a bound takes in a header that is written: those of its value, in whole
/// units of its count.
pub fn room_of(declared: &Header, part: HeaderFieldId, values: &[(HeaderFieldId, Datum)]) -> usize {
    let unit = declared.part_counter(part.at()).map_or(1, |own| own.unit);
    let given = values.iter().find(|(given, _)| *given == part);
    match given {
        Some((_, Datum::Bytes(bytes))) => bytes.len().next_multiple_of(unit as usize),
        Some((_, other)) => panic!("the checker has seen bytes here, not {other:?}"),
        None => 0,
    }
}

/// Writes what a field counts that counts parts with a bound: what stands behind them has its place
/// by that.
pub fn count_parts(
    evaluation: &mut Evaluation<'_, '_>,
    header: HeaderId,
    counter: &Counter,
    values: &[(HeaderFieldId, Datum)],
    bytes: &mut [u8],
) {
    let declared = layout(evaluation, header);
    let mut count = declared.fixed_inside(&counter.ranges) as usize;
    for (place, field) in declared.fields.iter().enumerate() {
        let id = HeaderFieldId(place as u32);
        if !counter.covers(place) {
            continue;
        }
        if field.bound().is_some() {
            count += room_of(declared, id, values);
        } else {
            count += loose_bits(evaluation, header, id, bytes) / 8;
        }
    }
    write_count(evaluation, header, counter.field, count, bytes);
}
