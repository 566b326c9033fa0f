//! Options of a header: found one after the other, read and written.
//!
//! In: a header whose fields are known, and its bytes. Out: where each option stands; the bytes of
//! those that a pushed header has. One that repeats counts as it stood last.

use super::expression::Evaluation;
use super::header::{keeps_rules, layout, length, offset, read, within, write};
use super::value::Datum;
use crate::types::header::{Header, OptionCase, OptionKind, Rule};
use crate::types::program::{HeaderFieldId, HeaderId};
use crate::types::value::Type;

/// Whether the options of a header keep their rules, and end with it.
pub fn hold(evaluation: &mut Evaluation<'_, '_>, header: HeaderId, bytes: &[u8]) -> bool {
    walk(evaluation, header, bytes).is_some()
}

/// Where an option stands that has this field; none where it is not there.
pub fn place(
    evaluation: &mut Evaluation<'_, '_>,
    header: HeaderId,
    field: HeaderFieldId,
    bytes: &[u8],
) -> Option<usize> {
    if let Some(place) = evaluation.instant.option {
        return Some(place);
    }
    let case = layout(evaluation, header).option_of(field)?;
    let (value, found) = (case.value, walk(evaluation, header, bytes)?);
    let mut last_first = found.into_iter().rev();
    last_first
        .find(|(_, kind)| *kind == value)
        .map(|(at, _)| at)
}

/// Where each option stands, and its number; none where one breaks a rule that does not end them.
fn walk(
    evaluation: &mut Evaluation<'_, '_>,
    header: HeaderId,
    bytes: &[u8],
) -> Option<Vec<(usize, u64)>> {
    let declared = layout(evaluation, header);
    let options = declared.options.as_ref()?;
    let end = length(evaluation, header, bytes).min(bytes.len());
    let mut at = offset(evaluation, header, options.region, bytes) / 8;
    let mut found = Vec::new();
    while at < end {
        let Some((number, bytes)) = next(evaluation, header, at, &bytes[..end]) else {
            return options.until_malformed.then_some(found);
        };
        found.push((at, number));
        at += bytes;
    }
    Some(found)
}

/// The number of the option that stands there, and its bytes; none where it breaks a rule.
fn next(
    evaluation: &mut Evaluation<'_, '_>,
    header: HeaderId,
    at: usize,
    bytes: &[u8],
) -> Option<(u64, usize)> {
    let declared = layout(evaluation, header);
    let options = declared.options.as_ref()?;
    let left = &bytes[at..];
    let number = left.get(..options.width as usize)?;
    let number = super::bits::load(declared.big, number, 0, 8 * options.width);
    let known = options.cases.iter().find(|case| case.value == number);
    match known.or(options.others.as_ref())? {
        case if case.kind == OptionKind::End => Some((number, left.len())),
        case => Some((number, long(evaluation, header, case, at, bytes)?)),
    }
}

/// Bytes of the option that stands there; none where it breaks a rule.
fn long(
    evaluation: &mut Evaluation<'_, '_>,
    header: HeaderId,
    case: &OptionCase,
    at: usize,
    bytes: &[u8],
) -> Option<usize> {
    let (least, left) = (case.least as usize, bytes.len() - at);
    if left < least {
        return None;
    }
    let before = evaluation.instant.option.replace(at);
    let holds = within(evaluation, header, bytes, |inner| {
        case.parts().all(|id| {
            let field = layout(inner, header).field(id);
            if field.kind == Type::UnboundedBytes {
                return true;
            }
            let value = read(inner, header, id, bytes);
            keeps_rules(inner, header, field, &value, bytes)
        })
    });
    let counted = case.counted.map(|counted| {
        let count = read(evaluation, header, counted.field, bytes).number();
        (
            count as usize * counted.unit as usize + counted.outside as usize,
            counted.open,
        )
    });
    evaluation.instant.option = before;
    let long = match counted {
        None => least,
        Some((long, true)) if long >= least => long,
        Some((long, false)) if long == least => long,
        Some(_) => return None,
    };
    (holds && long <= left).then_some(long)
}

/// The options that are set, behind the other bytes of a header; then what fills it up.
pub fn write_options(
    evaluation: &mut Evaluation<'_, '_>,
    header: HeaderId,
    values: &[(HeaderFieldId, Datum)],
    bytes: &mut Vec<u8>,
) {
    let declared = layout(evaluation, header);
    let Some(options) = &declared.options else {
        return;
    };
    let given = |id: HeaderFieldId| values.iter().find(|(given, _)| *given == id);
    for case in &options.cases {
        if given(case.itself()).is_none_or(|(_, there)| there.number() == 0) {
            continue;
        }
        let start = bytes.len();
        bytes.resize(start + case.least as usize, 0);
        let option = &mut bytes[start..];
        write_number(declared, case, option);
        for id in case.parts() {
            let field = declared.field(id);
            let value = match (&field.rule, given(id)) {
                (_, Some((_, value))) => value.clone(),
                (Rule::Is(value), None) => Datum::of(evaluation.state.program, value, &field.kind),
                (Rule::Counts { unit, .. }, None) => {
                    let outside = case.counted.map_or(0, |counted| counted.outside);
                    Datum::Number(u64::from((case.least - outside) / unit))
                }
                (Rule::Given | Rule::Default(_) | Rule::Checks { .. }, None) => continue,
            };
            write(declared, field, field.bit as usize, &value, option);
        }
    }
    let Some(counter) = declared.counter() else {
        return;
    };
    let outside = super::header::outside(evaluation, header, &counter, bytes);
    let counted = bytes.len() - outside;
    let full = bytes.len() + counted.next_multiple_of(counter.unit as usize) - counted;
    let filler = options.filler();
    match filler {
        Some(case) if case.kind == OptionKind::Padding => bytes.resize(full, case.value as u8),
        Some(case) if bytes.len() < full => {
            bytes.push(case.value as u8);
            bytes.resize(full, 0);
        }
        Some(_) | None => bytes.resize(full, 0),
    }
}

/// The number of an option, at its start.
fn write_number(header: &Header, case: &OptionCase, option: &mut [u8]) {
    let field = header.field(case.itself());
    let value = Datum::Number(case.value);
    write(header, field, 0, &value, option);
}
