//! Headers on the wire: where a field stands, how it is read and stored.

use super::bits::{
    WIDEST, advanced, load_bytes, load_nine_bytes, store_bytes, with_sign, without_sign,
};
use super::layout::{c_bits, c_type, mask, word};
use super::options;
use super::scope::Scope;
use crate::c::tree::{Expression as C, Statement, atom, binary, call, call_statement, conditional};
use crate::types::expression::{Expression, ExpressionKind};
use crate::types::header::{Header, HeaderField, Ranges, Share};
use crate::types::program::{HeaderFieldId, HeaderId};
use crate::types::value::Type;
use std::ops::Range;

/// A field as it has been read.
pub struct Loaded {
    /// Its value.
    pub c: C,
    /// Bits of the C type it was loaded as.
    pub bits: u32,
    /// Whether it was shifted or masked, and so is an `int` where it is narrow.
    pub cut: bool,
}

/// Where the whole bytes before a field end: what is fixed, and what the fields before it add.
pub fn start(scope: &Scope, id: HeaderId, field: &HeaderField, base: &C) -> C {
    let fixed = advanced(base, field.bit / 8);
    if field.behind.is_empty() {
        return fixed;
    }
    let mut scope = scope.clone();
    scope.headers.insert(id, base.clone());
    field
        .behind
        .iter()
        .fold(fixed, |at, before| match length_of(&scope, id, *before) {
            Some(length) => binary("+", at, length),
            None => at,
        })
}

/// The length of an optional or variable field, in bytes; none of one that is always there.
pub fn length_of(scope: &Scope, id: HeaderId, at: HeaderFieldId) -> Option<C> {
    let header = &scope.stack.program.headers[id.at()];
    let field = header.field(at);
    if let Some(present) = &field.present {
        let length = atom((field.width / 8).to_string());
        return Some(conditional(scope.value(present), length, atom("0")));
    }
    if field.bound().is_some() {
        return Some(match scope.writes == Some(id) {
            true => scope.parts[&at].clone(),
            false => {
                let (counted, rest) = part(scope, id, at);
                rest.map_or(counted.clone(), |rest| fixed_less(counted, rest))
            }
        });
    }
    if field.kind != Type::UnboundedBytes {
        return None;
    }
    if scope.writes == Some(id) {
        return None;
    }
    let counter = header.counter()?;
    let fixed = header.least - header.fixed_outside(&counter);
    let fixed = optional(scope, id, fixed, &|at| counter.covers(at));
    let counted = counted(scope, id, counter.field, counter.unit);
    Some(match fixed {
        C::Binary(..) => fixed_less(counted, fixed),
        fixed => binary("-", counted, fixed),
    })
}

/// The bytes that the count of a part with a bound says, and those of them that are not the part.
pub fn part(scope: &Scope, id: HeaderId, at: HeaderFieldId) -> (C, Option<C>) {
    let header = &scope.stack.program.headers[id.at()];
    let counter = header.part_counter(at.at());
    let counter = counter.expect("a part with a bound is counted");
    let fixed = header.fixed_inside(&counter.ranges);
    let rest = optional(scope, id, fixed, &|place| {
        place != at.at() && counter.covers(place)
    });
    let counted = counted(scope, id, counter.field, counter.unit);
    (counted, Some(rest).filter(|rest| literal(rest) != Some(0)))
}

fn fixed_less(counted: C, fixed: C) -> C {
    binary("-", counted, fixed.cast("size_t"))
}

/// Some bytes, and those of the optional fields, and parts with a bound, among some.
pub fn optional(scope: &Scope, id: HeaderId, fixed: u32, among: &dyn Fn(usize) -> bool) -> C {
    let header = &scope.stack.program.headers[id.at()];
    let fields = (0..header.fields.len()).filter(|at| among(*at));
    let optional = fields.filter(|at| header.fields[*at].is_loose());
    let lengths = optional.filter_map(|at| length_of(scope, id, HeaderFieldId(at as u32)));
    let mut all = lengths.collect::<Vec<_>>();
    if fixed > 0 || all.is_empty() {
        all.insert(0, atom(fixed.to_string()));
    }
    let all = all.into_iter().reduce(|all, one| binary("+", all, one));
    all.expect("there is a number")
}

/// Bytes of a header of this size that stand in some ranges.
pub fn covered(scope: &Scope, id: HeaderId, ranges: &Ranges, size: C) -> C {
    let header = &scope.stack.program.headers[id.at()];
    let bytes = |fixed, among: &dyn Fn(usize) -> bool| match optional(scope, id, fixed, among) {
        known @ C::Atom(_) => known,
        bytes => bytes.cast("uint32_t"),
    };
    match header.share_of(ranges) {
        Share::None => atom("0"),
        Share::Only(fixed) => bytes(fixed, &|at| ranges.covers(at)),
        Share::AllBut(fixed) => less(size, bytes(fixed, &|at| !ranges.covers(at))),
        Share::All => size,
    }
}

/// A difference, computed where both are known.
pub fn less(one: C, other: C) -> C {
    match (literal(&one), literal(&other)) {
        (Some(one), Some(other)) => atom((one - other).to_string()),
        (_, Some(0)) => one,
        _ if one == other => atom("0"),
        _ => binary("-", one, other),
    }
}

/// Bytes that a field of a header counts.
pub fn counted(scope: &Scope, id: HeaderId, counter: HeaderFieldId, unit: u32) -> C {
    let field = scope.stack.program.headers[id.at()].field(counter);
    let read = ExpressionKind::Header(id, counter);
    let read = Expression::new(read, field.kind.clone());
    let count = scope.value(&read).cast("size_t");
    match unit {
        1 => count,
        unit => binary("*", atom(unit.to_string()), count),
    }
}

/// Where the last part of a header begins, and where it ends.
pub fn region(scope: &Scope, id: HeaderId, base: &C) -> (C, C) {
    let header = &scope.stack.program.headers[id.at()];
    let last = header
        .fields
        .last()
        .expect("a header with a part has fields");
    let counter = header
        .counter()
        .expect("a part of no fixed length is counted");
    let counted = counted(scope, id, counter.field, counter.unit);
    let fixed = header.fixed_outside(&counter);
    let outside = optional(scope, id, fixed, &|at| !counter.covers(at));
    let length = match outside {
        C::Atom(none) if none == "0" => counted,
        outside => binary("+", counted, outside),
    };
    (
        start(scope, id, last, base),
        binary("+", base.clone(), length),
    )
}

/// Whether an optional field or an option is there in a header that begins at `base`.
pub fn present(scope: &Scope, id: HeaderId, field: HeaderFieldId, base: &C) -> C {
    let header = &scope.stack.program.headers[id.at()];
    match header.option_of(field) {
        Some(case) => binary("!=", options::find(scope, id, case, base), atom("NULL")),
        None => {
            let mut scope = scope.clone();
            scope.headers.insert(id, base.clone());
            let present = header.field(field).present.as_ref();
            scope.value(present.expect("only what is optional is asked for"))
        }
    }
}

/// A field of a header that begins at `base`.
pub fn load(scope: &Scope, id: HeaderId, at_id: HeaderFieldId, base: &C) -> Loaded {
    let header = &scope.stack.program.headers[id.at()];
    let option = header.option_of(at_id);
    let field = header.field(at_id);
    let at = match option {
        Some(case) => advanced(&options::find(scope, id, case, base), field.bit / 8),
        None => start(scope, id, field, base),
    };
    if let Type::Bytes(length) = field.kind {
        let kind = c_type(scope.stack, &Type::Bytes(length));
        let c = call(
            format!("{}_at", kind.trim_start_matches("struct ")),
            vec![at],
        );
        return Loaded {
            c,
            bits: 64,
            cut: false,
        };
    }
    if field.bound().is_some() {
        return load_part(scope, id, at_id, base, at);
    }
    let skipped = field.bit % 8;
    let bytes = (skipped + field.width).div_ceil(8);
    let below = if header.big {
        8 * bytes - skipped - field.width
    } else {
        skipped
    };
    let exact = field.width == 8 * bytes;
    if field.kind == Type::Bool {
        let bit = format!("{:#x}", 1 << below);
        let (whole, _) = load_bytes(header.big, at, bytes);
        return Loaded {
            c: binary("!=", binary("&", whole, atom(bit)), atom("0")),
            bits: 8,
            cut: false,
        };
    }
    let (shifted, loaded) = shifted(header.big, at, bytes, below);
    let above = below + field.width < 8 * bytes && field.width < 8 * WIDEST;
    let c = if above {
        binary("&", shifted, atom(mask(field.width)))
    } else {
        shifted
    };
    let own = c_bits(field.width);
    if let Type::Signed(_) = field.kind {
        return Loaded {
            c: with_sign(c, field.width),
            bits: own,
            cut: false,
        };
    }
    if loaded > own && (loaded > 32 || own < 32) {
        let c = c.cast(format!("uint{own}_t"));
        return Loaded {
            c,
            bits: own,
            cut: false,
        };
    }
    Loaded {
        c,
        bits: loaded,
        cut: !exact,
    }
}

/// So many bytes as a number, without its `below` lowest bits, and the bits of its C type.
fn shifted(big: bool, at: C, bytes: u32, below: u32) -> (C, u32) {
    if bytes > WIDEST {
        return (load_nine_bytes(big, at, below), 8 * WIDEST);
    }
    let (whole, loaded) = load_bytes(big, at, bytes);
    match below {
        0 => (whole, loaded),
        below => (binary(">>", whole, atom(below.to_string())), loaded),
    }
}

/// A part with a bound of a header that begins at `base`.
fn load_part(scope: &Scope, id: HeaderId, part: HeaderFieldId, base: &C, at: C) -> Loaded {
    let field = scope.stack.program.headers[id.at()].field(part);
    let mut inner = scope.clone();
    inner.headers.insert(id, base.clone());
    let length = length_of(&inner, id, part).expect("its length is counted");
    let name = format!("{}_at", word(scope.stack, &field.kind));
    Loaded {
        c: call(name, vec![at, length]),
        bits: 64,
        cut: false,
    }
}

/// Stores fields that fill whole bytes together. Where these are more bytes than a number has, they
/// are stored in several numbers, and a field that stands in two of them is cut.
pub fn store(
    scope: &mut Scope,
    header: &Header,
    at: C,
    pieces: &[(&HeaderField, C)],
) -> Vec<Statement> {
    let (first, value) = &pieces[0];
    if let Type::Bytes(_) = first.kind {
        let kind = c_type(scope.stack, &first.kind);
        let name = format!("{}_to", kind.trim_start_matches("struct "));
        return vec![call_statement(name, vec![at, value.clone()])];
    }
    let bits: u32 = pieces.iter().map(|(field, _)| field.width).sum();
    let mut all = Vec::new();
    let mut parts = Vec::new();
    let mut passed = 0;
    for (field, value) in pieces {
        let value = match field.kind {
            Type::Signed(_) => without_sign(value.clone(), field.width),
            _ => value.clone(),
        };
        let place = passed..passed + field.width;
        passed = place.end;
        let is_cut = place.start / LONGEST != (place.end - 1) / LONGEST;
        let value = match value {
            C::Atom(_) => value,
            value if is_cut => {
                let name = scope.taken.take(&field.name.replace('.', "_"));
                all.push(Statement::Declare {
                    kind: format!("const uint{}_t", c_bits(field.width)),
                    name: name.clone(),
                    value: Some(value),
                });
                atom(name)
            }
            value => value,
        };
        parts.push(Part { place, value });
    }
    for first in (0..bits).step_by(LONGEST as usize) {
        let number = first..bits.min(first + LONGEST);
        let inside = parts
            .iter()
            .filter_map(|part| part.within(header.big, &number));
        let inside: Vec<Part> = inside.collect();
        let at = advanced(&at, first / 8);
        all.extend(store_number(header.big, at, number, &inside));
    }
    all
}

/// Bits of the longest number that is stored at once.
const LONGEST: u32 = 8 * WIDEST;

/// Bits of a value among those of fields that stand side by side.
struct Part {
    /// Where, in order of the wire.
    place: Range<u32>,
    value: C,
}

impl Part {
    /// What of it stands in a number that is stored at once.
    fn within(&self, big: bool, number: &Range<u32>) -> Option<Part> {
        let (own, start) = (&self.place, self.place.start.max(number.start));
        let place = start..own.end.min(number.end);
        if place.is_empty() {
            return None;
        }
        if place == *own {
            return Some(Part {
                place,
                value: self.value.clone(),
            });
        }
        let width = place.end - place.start;
        let below = match big {
            true => own.end - place.end,
            false => place.start - own.start,
        };
        let value = match literal(&self.value) {
            Some(known) => atom((known >> below & u64::MAX >> (64 - width)).to_string()),
            None => {
                let shifted = match below {
                    0 => self.value.clone(),
                    below => binary(">>", self.value.clone(), atom(below.to_string())),
                };
                let is_highest = below + width == own.end - own.start;
                let bits = match is_highest {
                    true => shifted,
                    false => binary("&", shifted, atom(mask(width))),
                };
                let kind = format!("uint{}_t", c_bits(number.end - number.start));
                bits.cast(kind)
            }
        };
        Some(Part { place, value })
    }
}

/// Stores parts that make a number together.
fn store_number(big: bool, at: C, number: Range<u32>, parts: &[Part]) -> Vec<Statement> {
    let bits = number.end - number.start;
    let own = format!("uint{}_t", c_bits(bits));
    let value = match joined(big, &number, parts) {
        Joined::Number(number) if parts.len() > 1 => atom(format!("{number:#x}")),
        Joined::Number(_) => parts[0].value.clone(),
        Joined::One(c) => c,
        Joined::Many(c) if bits < 32 => c.cast(own),
        Joined::Many(c) => c,
    };
    store_bytes(big, at, bits / 8, value)
}

/// Returns whether a field shares no byte with another.
pub fn fills_bytes(field: &HeaderField) -> bool {
    field.bit.is_multiple_of(8) && field.width.is_multiple_of(8)
}

/// Makes a field zero that shares its bytes with others.
pub fn clear_bits(big: bool, field: &HeaderField, at: &C) -> Vec<Statement> {
    let stored = numbers_of(big, field).into_iter().flat_map(|own| {
        let at = advanced(at, own.offset);
        let (all, _) = load_bytes(big, at.clone(), own.bytes);
        let ones = u64::MAX >> (64 - own.width) << own.below;
        let others = !ones & u64::MAX >> (64 - 8 * own.bytes);
        let others = binary("&", all, atom(format!("{others:#x}")));
        let kind = format!("uint{}_t", c_bits(8 * own.bytes));
        store_bytes(big, at, own.bytes, others.cast(kind))
    });
    stored.collect()
}

/// Puts a number into a field that is zero and shares its bytes with others.
pub fn add_bits(big: bool, field: &HeaderField, at: &C, number: &C) -> Vec<Statement> {
    let stored = numbers_of(big, field).into_iter().flat_map(|own| {
        let at = advanced(at, own.offset);
        let (others, _) = load_bytes(big, at.clone(), own.bytes);
        let kind = format!("uint{}_t", c_bits(8 * own.bytes));
        let bits = match own.width == field.width {
            true => number.clone(),
            false => {
                let shifted = binary(">>", number.clone(), atom(own.shift.to_string()));
                binary("&", shifted, atom(mask(own.width)))
            }
        };
        let wide = match c_bits(8 * own.bytes) {
            32 | 64 => bits.cast(kind.clone()),
            _ => bits,
        };
        let moved = match own.below {
            0 => wide,
            below => binary("<<", wide, atom(below.to_string())),
        };
        store_bytes(big, at, own.bytes, binary("|", others, moved).cast(kind))
    });
    stored.collect()
}

/// Bits of a field within a number of whole bytes.
struct Within {
    /// Bytes between the first one of the field and the first one of the number.
    offset: u32,
    /// Bytes of the number.
    bytes: u32,
    /// Bits of the number below those of the field.
    below: u32,
    /// Bits of the field that stand here.
    width: u32,
    /// Bits of the field below these.
    shift: u32,
}

/// The numbers in which a field stands: one, or two where it spans nine bytes.
fn numbers_of(big: bool, field: &HeaderField) -> Vec<Within> {
    let first = field.bit % 8;
    let bytes = (first + field.width).div_ceil(8);
    let here = field.width.min(8 * WIDEST - first);
    let rest = field.width - here;
    let below = match big {
        true => 8 * bytes.min(WIDEST) - first - here,
        false => first,
    };
    let mut all = vec![Within {
        offset: 0,
        bytes: bytes.min(WIDEST),
        below,
        width: here,
        shift: if big { rest } else { 0 },
    }];
    if rest > 0 {
        all.push(Within {
            offset: WIDEST,
            bytes: 1,
            below: if big { 8 - rest } else { 0 },
            width: rest,
            shift: if big { 0 } else { here },
        });
    }
    all
}

/// Fields side by side in one number.
enum Joined {
    Number(u64),
    One(C),
    Many(C),
}

fn joined(big: bool, number: &Range<u32>, pieces: &[Part]) -> Joined {
    let bits = number.end - number.start;
    let mut known = 0_u64;
    let mut parts: Vec<C> = Vec::new();
    for Part { place, value } in pieces {
        let below = if big {
            number.end - place.end
        } else {
            place.start - number.start
        };
        if let Some(number) = literal(value) {
            known |= number << below;
            continue;
        }
        if pieces.len() == 1 {
            return Joined::One(value.clone());
        }
        let wide = match c_bits(bits) {
            64 => value.clone().cast("uint64_t"),
            32 if below > 0 => value.clone().cast("uint32_t"),
            _ => value.clone(),
        };
        parts.push(if below == 0 {
            wide
        } else {
            binary("<<", wide, atom(below.to_string()))
        });
    }
    if parts.is_empty() {
        return Joined::Number(known);
    }
    if known != 0 {
        parts.push(atom(format!("{known:#x}")));
    }
    match parts.len() {
        1 if matches!(parts[0], C::Binary(..)) => Joined::Many(parts.remove(0)),
        1 => Joined::One(parts.remove(0)),
        _ => {
            let all = parts.into_iter().reduce(|all, part| binary("|", all, part));
            Joined::Many(all.expect("there are parts"))
        }
    }
}

/// A number that is written as such.
pub fn literal(value: &C) -> Option<u64> {
    let C::Atom(text) = value else { return None };
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None if text == "true" => Some(1),
        None if text == "false" => Some(0),
        None => text.parse().ok(),
    }
}
