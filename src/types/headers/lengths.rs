//! How long headers are: in, the rules of one; out, the bytes that it has at most, and a word where
//! nothing tells its end, or where that cannot be read in order of the wire.

use super::super::context::Context;
use super::super::expression::{Expression, ExpressionKind};
use super::super::header::{Counter, Header, HeaderField, OptionKind, Rule};
use super::super::program::HeaderId;
use super::super::value::Type;
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;

/// Checks what tells the length of a header, and says how long it is at most.
pub fn check(context: &mut Context, id: HeaderId, span: Span) {
    let header = context.program.headers[id.at()].clone();
    let open = header.open();
    check_open(context, &header, span);
    check_parts(context, &header, span);
    let varies = header.fields.iter().position(|field| field.width == 0);
    check_conditions(context, &header, id, varies);
    let counter = header.counter();
    if let (Some(counter), Some(open)) = (&counter, open) {
        check_counter(context, &header, counter, open);
    }
    check_counts(context, &header);
    check_sums(context, &header);
    check_places(context, &header, id);
    let unit = counter.map_or(1, |counter| counter.unit);
    check_filler(context, &header, unit, span);
    let most = header.most + option_bytes(&header);
    context.program.headers[id.at()].most = most.next_multiple_of(unit);
}

/// Bytes of all options that can be written.
fn option_bytes(header: &Header) -> u32 {
    let cases = header.options.iter().flat_map(|options| &options.cases);
    let named = cases.filter(|case| case.kind == OptionKind::Fields);
    named.map(|case| case.least).sum()
}

/// A part of no fixed length ends where a count says, so exactly one such part, and one count.
fn check_open(context: &mut Context, header: &Header, span: Span) {
    let mut open = header
        .fields
        .iter()
        .enumerate()
        .filter(|(_, field)| field.kind == Type::UnboundedBytes);
    let Some((place, first)) = open.next() else {
        return;
    };
    if let Some((_, second)) = open.next() {
        let title = "two parts of this header have no fixed length";
        context.report(
            Diagnostic::error(Id::BadHeader, title, second.span, "the second")
                .label(first.span, "the first")
                .why("A field that counts the header determines the end of one part only."),
        );
    } else if !header
        .counter()
        .is_some_and(|counter| counter.covers(place))
    {
        let title = "the end of this part of the header is unknown";
        context.report(
            Diagnostic::error(Id::BadHeader, title, first.span, "")
                .label(span, "in this header")
                .why(
                    "Bytes and options need a field with `counts header`, which determines their \
                    end.",
                ),
        );
    }
}

/// Each part with a bound has a count of its own before it, which is wide enough for the bound.
fn check_parts(context: &mut Context, header: &Header, span: Span) {
    let open = header.open();
    let mut counted: Vec<(usize, usize)> = Vec::new();
    for part in header.parts() {
        let field = &header.fields[part];
        let Some(counter) = header.part_counter(part) else {
            let title = "the end of this part of the header is unknown";
            let help = format!("add `n: u8 counts {0}` before it", field.name);
            context.report(
                Diagnostic::error(Id::BadHeader, title, field.span, "")
                    .label(span, "in this header")
                    .why(
                        "A part without a fixed length needs a field before it that counts its \
                        length.",
                    )
                    .help(help),
            );
            continue;
        };
        let at = counter.field.at();
        if let Some((_, first)) = counted.iter().find(|(other, _)| *other == at) {
            let title = "two parts of this header have no fixed length";
            context.report(
                Diagnostic::error(Id::BadHeader, title, field.span, "the second")
                    .label(header.fields[*first].span, "the first")
                    .why("A field that counts the header determines the end of one part only."),
            );
            continue;
        }
        counted.push((at, part));
        if let Some(open) = open.filter(|open| *open < part) {
            let title = "this part comes after bytes or options without a bound";
            context.report(
                Diagnostic::error(Id::BadHeader, title, field.span, "")
                    .label(header.fields[open].span, "no bound"),
            );
        }
        check_part_count(context, header, part, &counter);
    }
}

/// A part that is as long as it may be can be counted, in whole units.
fn check_part_count(context: &mut Context, header: &Header, part: usize, counter: &Counter) {
    let field = &header.fields[part];
    let count = &header.fields[counter.field.at()];
    let inside = header.fields.iter().enumerate();
    let inside = inside.filter(|(place, field)| counter.covers(*place) && field.is_loose());
    let fixed = header.fixed_inside(&counter.ranges);
    let loose = |field: &HeaderField| field.bound().unwrap_or(field.width / 8);
    let loose: Vec<u32> = inside.map(|(_, field)| loose(field)).collect();
    let unit = counter.unit;
    let all = u64::from(fixed + loose.iter().sum::<u32>());
    let most = (u64::MAX >> (64 - count.width.clamp(1, 64))).saturating_mul(u64::from(unit));
    let refused = if count.present.is_some() {
        Some("what counts a part is always there".to_string())
    } else if all > most {
        Some(format!(
            "this field counts up to {most} bytes, but there may be {all}"
        ))
    } else if !fixed.is_multiple_of(unit) || loose.iter().any(|one| !one.is_multiple_of(unit)) {
        Some(format!(
            "the counted part is not a multiple of {unit} bytes"
        ))
    } else {
        None
    };
    if let Some(title) = refused {
        context.report(
            Diagnostic::error(Id::BadHeader, title, count.span, "")
                .label(field.span, "the counted part"),
        );
    }
}

/// What may be missing is known from what stands before it.
fn check_conditions(context: &mut Context, header: &Header, id: HeaderId, open: Option<usize>) {
    for (place, field) in header.fields.iter().enumerate() {
        let Some(present) = &field.present else {
            continue;
        };
        if field.width == 0 {
            let title = "a part with a counted length cannot have an `if`";
            context.report(
                Diagnostic::error(Id::BadHeader, title, field.span, "")
                    .why("The counted length may be zero, so an `if` is not needed."),
            );
        }
        if reads_message(present) {
            let title = "the condition of this part is not in the header";
            context.report(Diagnostic::error(Id::BadHeader, title, field.span, "").why(
                "The `if` of a header part may read only fields of the header and constants.",
            ));
        }
        check_count_reads(context, header, (id, place), present);
        let end = open.map_or(place, |open| open.min(place));
        if reads_from(present, id, end) {
            let title = "the condition of this part is known too late";
            context.report(Diagnostic::error(Id::BadHeader, title, field.span, "").why(
                "A header is read from its first byte on, so an `if` may read only fields before \
                its part, and before bytes and options without a fixed length.",
            ));
        }
    }
}

/// A count that hangs on what may be missing is known behind that.
fn check_count_reads(
    context: &mut Context,
    header: &Header,
    (id, place): (HeaderId, usize),
    present: &Expression,
) {
    let counters = header.parts().filter_map(|part| header.part_counter(part));
    for counter in counters.filter(|counter| header.counts_optional(counter)) {
        if reads_from(present, id, counter.field.at())
            && !reads_from(present, id, counter.field.at() + 1)
        {
            let title = "the condition of this part is known too late";
            let span = header.fields[place].span;
            context.report(Diagnostic::error(Id::BadHeader, title, span, "").label(
                header.fields[counter.field.at()].span,
                "this counts a part that may be absent",
            ));
        }
    }
}

/// Whether an expression reads what travels beside a message.
fn reads_message(expression: &Expression) -> bool {
    let itself = matches!(
        *expression.kind,
        ExpressionKind::Attribute(..) | ExpressionKind::Length(_)
    );
    let parts = expression.parts();
    itself || parts.into_iter().any(reads_message)
}

/// Whether an expression reads a field of the header at this place or behind it.
fn reads_from(expression: &Expression, id: HeaderId, place: usize) -> bool {
    let itself = match &*expression.kind {
        ExpressionKind::Header(header, field) | ExpressionKind::HeaderPresent(header, field) => {
            *header == id && field.at() >= place
        }
        _ => false,
    };
    let parts = expression.parts();
    itself || parts.into_iter().any(|part| reads_from(part, id, place))
}

/// A length is read before what it is the length of.
fn check_counter(context: &mut Context, header: &Header, counter: &Counter, open: usize) {
    let field = &header.fields[counter.field.at()];
    if counter.field.at() > open {
        let title = "this length comes after the part that it counts";
        context.report(
            Diagnostic::error(Id::BadHeader, title, field.span, "")
                .label(header.fields[open].span, "its end is unknown")
                .why(
                    "A header is read from its first byte on, so a length comes before the part \
                    that it counts.",
                ),
        );
    } else if field.present.is_some() {
        let title = "what counts a header is always there";
        context.report(Diagnostic::error(Id::BadHeader, title, field.span, ""));
    }
}

/// What is counted fits into a number of 32 bits.
fn check_counts(context: &mut Context, header: &Header) {
    for field in header.all_fields() {
        if let Rule::Counts { unit, .. } = field.rule
            && u64::from(unit) << field.width.min(32) > 1 << 32
        {
            let title = "this length can be larger than any message";
            context.report(
                Diagnostic::error(Id::BadHeader, title, field.span, "")
                    .help("use a count of 32 bits only with single bytes"),
            );
        }
    }
}

/// Sums are known in order of the wire.
fn check_sums(context: &mut Context, header: &Header) {
    let sums = || {
        let fields = header.fields.iter().enumerate();
        fields.filter_map(|(at, field)| match &field.rule {
            Rule::Checks { ranges, .. } => Some((at, field, ranges)),
            Rule::Given | Rule::Default(_) | Rule::Is(_) | Rule::Counts { .. } => None,
        })
    };
    for (at, field, ranges) in sums() {
        let later = sums().find(|(other, ..)| *other > at && ranges.covers(*other));
        if let Some((_, later, _)) = later {
            let title = "this checksum covers a checksum that is computed later";
            context.report(
                Diagnostic::error(Id::BadHeader, title, field.span, "")
                    .label(later.span, "computed later")
                    .why("Checksums are computed in wire order, each with its own field as zero.")
                    .help("let the later checksum cover this one"),
            );
        }
    }
}

/// A header is refused if the places of all its fields have more operands than this: each part that
/// may be absent is asked for in the place of each field behind it, so the C of such a header grows
/// with their product. No header of the library has a tenth of it.
const OPERANDS: u64 = 1 << 14;

/// Refuses a header in which the places of all fields together have too many [`OPERANDS`].
fn check_places(context: &mut Context, header: &Header, id: HeaderId) {
    let mut places = Places {
        id,
        starts: Vec::new(),
        lengths: Vec::new(),
    };
    let (mut start, mut all) = (0_u64, 0_u64);
    for (at, field) in header.fields.iter().enumerate() {
        all = all.saturating_add(start);
        if all > OPERANDS {
            let title = "this header has too many optional or variable-length parts";
            let label = "its offset depends on all of them before it";
            context.report(
                Diagnostic::error(Id::HeaderTooLarge, title, field.span, label).help(
                    "write them as options, or divide them among the headers of several layers",
                ),
            );
            return;
        }
        let length = places.length(header, at);
        places.starts.push(start);
        places.lengths.push(length);
        start = start.saturating_add(length);
    }
}

/// Numbers of operands from which the places of fields are computed, as far as these are known.
struct Places {
    id: HeaderId,
    /// Operands of where each field begins.
    starts: Vec<u64>,
    /// Operands of how long each field is; none of one whose length is fixed.
    lengths: Vec<u64>,
}

impl Places {
    /// Returns the operands of the length of the field at this place.
    fn length(&self, header: &Header, at: usize) -> u64 {
        let field = &header.fields[at];
        if let Some(present) = &field.present {
            return self.operands(present);
        }
        let counter = match field.kind {
            Type::BoundedBytes(_) => header.part_counter(at),
            Type::UnboundedBytes => header.counter(),
            _ => return 0,
        };
        let Some(counter) = counter else {
            return 1;
        };
        let length = |other: usize| match (self.lengths.get(other), &header.fields[other].present) {
            (Some(length), _) => *length,
            (None, Some(present)) => self.operands(present),
            (None, None) => 0,
        };
        let beside = (0..header.fields.len()).filter(|it| *it != at && counter.covers(*it));
        let beside = beside.map(length);
        let counted = self.starts.get(counter.field.at()).copied().unwrap_or(0);
        beside.fold(counted.saturating_add(1), u64::saturating_add)
    }

    /// Returns the operands of a value, with those of the places of the fields that it reads.
    fn operands(&self, value: &Expression) -> u64 {
        let of = |known: &[u64], at: usize| known.get(at).copied().unwrap_or(0);
        let own = match &*value.kind {
            ExpressionKind::Header(header, field) if *header == self.id => {
                of(&self.starts, field.at())
            }
            ExpressionKind::HeaderPresent(header, field) if *header == self.id => {
                of(&self.lengths, field.at())
            }
            _ => 0,
        };
        let parts = value.parts().into_iter().map(|part| self.operands(part));
        parts.fold(own.saturating_add(1), u64::saturating_add)
    }
}

/// Where a header is counted in words, something fills the last one.
fn check_filler(context: &mut Context, header: &Header, unit: u32, span: Span) {
    let Some(counter) = header.counter() else {
        return;
    };
    let counted = header.least - header.fixed_outside(&counter);
    let optional = header.fields.iter().enumerate();
    let optional = optional.filter(|(at, field)| counter.covers(*at) && field.present.is_some());
    let odd = |bytes: u32| !bytes.is_multiple_of(counter.unit);
    let even = !odd(counted) && !optional.clone().any(|(_, field)| odd(field.width / 8));
    let Some(options) = &header.options else {
        if !even {
            let title = format!("the length of this header is not a multiple of {unit} bytes");
            context.report(Diagnostic::error(Id::BadHeader, title, span, "").label(
                header.fields[counter.field.at()].span,
                "this field counts it",
            ));
        }
        return;
    };
    let even = even && option_bytes(header) == 0;
    let filled = options.width == 1 && options.filler().is_some();
    if unit > 1 && !even && !filled {
        let title = format!("this header has no padding to a multiple of {unit} bytes");
        context.report(
            Diagnostic::error(Id::BadHeader, title, span, "")
                .why("The length of the header is counted in units, but options have any length.")
                .help(
                    "declare the padding: `case 1 padding`, or `case 0 end`, which is followed \
                    by zeros",
                ),
        );
    }
}
