//! Headers on the wire: where a field stands, how it is read and stored.

use super::bits::{advanced, load_bytes, store_bytes, with_sign, without_sign};
use super::constant::mask;
use super::layout::{c_bits, c_type};
use super::options;
use super::scope::Scope;
use crate::c::tree::{Expression as C, Statement, atom, binary, call, call_statement, conditional};
use crate::types::expression::{Expression, ExpressionKind};
use crate::types::header::{Header, HeaderField, Ranges, Share};
use crate::types::program::{HeaderFieldId, HeaderId};
use crate::types::value::Type;

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
    if field.kind != Type::Nothing {
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

fn fixed_less(counted: C, fixed: C) -> C {
    binary("-", counted, fixed.cast("size_t"))
}

/// Some bytes, and those of the optional fields among some.
pub fn optional(scope: &Scope, id: HeaderId, fixed: u32, among: &dyn Fn(usize) -> bool) -> C {
    let header = &scope.stack.program.headers[id.at()];
    let fields = (0..header.fields.len()).filter(|at| among(*at));
    let optional = fields.filter(|at| header.fields[*at].present.is_some());
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
pub fn load(scope: &Scope, id: HeaderId, field: HeaderFieldId, base: &C) -> Loaded {
    let header = &scope.stack.program.headers[id.at()];
    let option = header.option_of(field);
    let field = header.field(field);
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
    let skipped = field.bit % 8;
    let bytes = (skipped + field.width).div_ceil(8);
    let (whole, loaded) = load_bytes(header.big, at, bytes);
    let below = if header.big {
        8 * bytes - skipped - field.width
    } else {
        skipped
    };
    let exact = field.width == 8 * bytes;
    if field.kind == Type::Bool {
        let bit = format!("{:#x}", 1 << below);
        return Loaded {
            c: binary("!=", binary("&", whole, atom(bit)), atom("0")),
            bits: 8,
            cut: false,
        };
    }
    let shifted = if below == 0 {
        whole
    } else {
        binary(">>", whole, atom(below.to_string()))
    };
    let above = below + field.width < 8 * bytes;
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

/// Stores fields that fill whole bytes together.
pub fn store(
    scope: &Scope,
    header: &Header,
    at: C,
    pieces: &[(&HeaderField, C)],
) -> Vec<Statement> {
    let (first, _) = &pieces[0];
    let bits: u32 = pieces.iter().map(|(field, _)| field.width).sum();
    if let Type::Bytes(length) = first.kind {
        let kind = c_type(scope.stack, &Type::Bytes(length));
        let name = format!("{}_to", kind.trim_start_matches("struct "));
        return vec![call_statement(name, vec![at, pieces[0].1.clone()])];
    }
    let bytes = bits / 8;
    let own = format!("uint{}_t", c_bits(bits));
    let value = joined(header.big, bits, pieces);
    let value = match value {
        Joined::Number(number) if pieces.len() > 1 => atom(format!("{number:#x}")),
        Joined::Number(_) => pieces[0].1.clone(),
        Joined::One(c) => c,
        Joined::Many(c) if bits < 32 => c.cast(own),
        Joined::Many(c) => c,
    };
    store_bytes(header.big, at, bytes, value)
}

/// Puts a number into a field that is zero and shares its bytes with others.
pub fn add_bits(big: bool, field: &HeaderField, at: C, number: C) -> Vec<Statement> {
    let first = field.bit % 8;
    let bytes = (first + field.width).div_ceil(8);
    let below = match big {
        true => 8 * bytes - first - field.width,
        false => first,
    };
    let own = format!("uint{}_t", c_bits(8 * bytes));
    let (others, _) = load_bytes(big, at.clone(), bytes);
    let wide = match c_bits(8 * bytes) {
        wide @ (32 | 64) => number.cast(format!("uint{wide}_t")),
        _ => number,
    };
    let moved = match below {
        0 => wide,
        below => binary("<<", wide, atom(below.to_string())),
    };
    store_bytes(big, at, bytes, binary("|", others, moved).cast(own))
}

/// Fields side by side in one number.
enum Joined {
    Number(u64),
    One(C),
    Many(C),
}

fn joined(big: bool, bits: u32, pieces: &[(&HeaderField, C)]) -> Joined {
    let mut known = 0_u64;
    let mut parts: Vec<C> = Vec::new();
    let mut passed = 0;
    for (field, value) in pieces {
        let below = if big {
            bits - passed - field.width
        } else {
            passed
        };
        passed += field.width;
        if let Some(number) = literal(value) {
            known |= number << below;
            continue;
        }
        let value = match field.kind {
            Type::Signed(_) => without_sign(value.clone(), field.width),
            _ => value.clone(),
        };
        if pieces.len() == 1 {
            return Joined::One(value);
        }
        let wide = match c_bits(bits) {
            64 => value.cast("uint64_t"),
            32 if below > 0 => value.cast("uint32_t"),
            _ => value,
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
