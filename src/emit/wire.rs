//! Headers on the wire: how a field is read, and how a header is written before a message.

use super::bits::{advanced, load_bytes, store_bytes, with_sign, without_sign};
use super::expression::{mask, number_text};
use super::layout::{c_bits, c_type};
use super::scope::Scope;
use super::sums::{is_straight, sum_call};
use crate::c::tree::{Expression as C, Statement, atom, binary, call, call_statement, conditional};
use crate::types::expression::{Expression, ExpressionKind};
use crate::types::header::{Header, HeaderField, Ranges, Rule};
use crate::types::program::{HeaderFieldId, HeaderId, LocalId};
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
fn start(scope: &Scope, id: HeaderId, field: &HeaderField, base: &C) -> C {
    let header = &scope.stack.program.headers[id.at()];
    let fixed = advanced(base, field.bit / 8);
    if field.behind.is_empty() {
        return fixed;
    }
    let mut scope = scope.clone();
    scope.headers.insert(id, base.clone());
    field.behind.iter().fold(fixed, |at, before| {
        match length_of(&scope, id, header, *before) {
            Some(length) => binary("+", at, length),
            None => at,
        }
    })
}

/// The length of an optional or variable field, in bytes; none where it is never there.
fn length_of(scope: &Scope, id: HeaderId, header: &Header, at: HeaderFieldId) -> Option<C> {
    let field = &header.fields[at.at()];
    if let Some(present) = &field.present {
        let length = atom((field.width / 8).to_string());
        return Some(conditional(scope.value(present), length, atom("0")));
    }
    let (counter, ranges, unit) = header.fields.iter().enumerate().find_map(|(n, one)| {
        let Rule::Counts { ranges, unit } = one.rule else {
            return None;
        };
        let covers = match ranges {
            Ranges::Header => true,
            Ranges::Between(from, to) => from <= at && at <= to,
            Ranges::Data | Ranges::HeaderAndData => false,
        };
        covers.then_some((HeaderFieldId(n as u32), ranges, unit))
    })?;
    let fixed = match ranges {
        Ranges::Between(from, to) => {
            let last = &header.fields[to.at()];
            (last.bit + last.width) / 8 - header.fields[from.at()].bit / 8
        }
        Ranges::Header | Ranges::Data | Ranges::HeaderAndData => header.least,
    };
    let read = Expression {
        kind: Box::new(ExpressionKind::Header(id, counter)),
        result: header.fields[counter.at()].kind.clone(),
    };
    let counted = binary(
        "*",
        atom(unit.to_string()),
        scope.value(&read).cast("size_t"),
    );
    Some(binary("-", counted, atom(fixed.to_string())))
}

/// A field of a header that begins at `base`.
pub fn load(scope: &Scope, id: HeaderId, field: HeaderFieldId, base: &C) -> Loaded {
    let header = &scope.stack.program.headers[id.at()];
    let field = &header.fields[field.at()];
    let at = start(scope, id, field, base);
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
        let bit = number_text(1 << below);
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

/// The statements that put a header before a message whose attributes are set.
pub fn push(
    scope: &mut Scope,
    message: LocalId,
    id: HeaderId,
    values: &[(HeaderFieldId, Expression)],
) -> Vec<Statement> {
    let stack = scope.stack;
    let header = &stack.program.headers[id.at()];
    let data = scope.of_message(message, "data");
    let length = scope.of_message(message, "length");
    let loose = header.fields.iter().any(|field| field.present.is_some());
    scope.message = Some(message);
    let mut statements = Vec::new();
    let early = values_before(scope, header, values, &mut statements);
    let bytes = if loose { header.most } else { header.least };
    let bytes = atom(bytes.to_string());
    statements.push(Statement::Assign(data.clone(), "-=", bytes.clone()));
    if !loose {
        statements.push(Statement::Assign(length.clone(), "+=", bytes));
    }
    let before = scope.headers.insert(id, data.clone());
    let mut pieces: Vec<(&HeaderField, C)> = Vec::new();
    for (at, field) in header.fields.iter().enumerate() {
        if field.width == 0 || field.present.is_none() && only_summed_later(scope, id, at) {
            continue;
        }
        let given = values
            .iter()
            .find(|(one, _)| one.at() == at)
            .map(|(_, value)| value);
        let value = match early.iter().find(|(one, _)| one.at() == at) {
            Some((_, known)) => known.clone(),
            None => written(scope, header, field, given, &length),
        };
        pieces.push((field, value));
        if (field.bit + field.width).is_multiple_of(8) {
            let stored = store(scope, id, &data, &pieces);
            pieces.clear();
            match &field.present {
                None => statements.extend(stored),
                Some(present) => statements.push(Statement::If {
                    condition: scope.value(present),
                    then: stored,
                    otherwise: Vec::new(),
                }),
            }
        }
    }
    assert!(pieces.is_empty(), "a header ends with a whole byte");
    if loose {
        close_up(scope, id, message, &mut statements);
    }
    write_sums(scope, id, message, &mut statements);
    scope.headers.remove(&id);
    if let Some(old) = before {
        scope.headers.insert(id, old);
    }
    statements
}

/// Whether a field is a sum that nothing reads before it is written.
fn only_summed_later(scope: &Scope, id: HeaderId, at: usize) -> bool {
    let fields = scope.stack.program.headers[id.at()].fields.iter();
    let sums = fields.filter(|field| matches!(field.rule, Rule::Checks { .. }));
    is_straight(scope.stack, id, at) && sums.count() == 1
}

/// Sums come last: what is summed is written by then.
fn write_sums(scope: &mut Scope, id: HeaderId, message: LocalId, statements: &mut Vec<Statement>) {
    let stack = scope.stack;
    let header = &stack.program.headers[id.at()];
    let data = scope.of_message(message, "data");
    for (at, field) in header.fields.iter().enumerate() {
        if let Rule::Checks { arguments, .. } = &field.rule {
            let sum = sum_call(scope, id, HeaderFieldId(at as u32), message, arguments);
            statements.extend(store(scope, id, &data, &[(field, sum)]));
        }
    }
}

/// A header was written where it would be at its longest: it moves up to its message, and what
/// counts it is written.
fn close_up(scope: &mut Scope, id: HeaderId, message: LocalId, statements: &mut Vec<Statement>) {
    let header = &scope.stack.program.headers[id.at()];
    let data = scope.of_message(message, "data");
    let length = scope.of_message(message, "length");
    let optional = header.fields.iter().enumerate();
    let optional = optional.filter(|(_, field)| field.present.is_some());
    let optional = optional.filter_map(|(at, _)| {
        let at = HeaderFieldId(at as u32);
        length_of(scope, id, header, at)
    });
    let least = atom(header.least.to_string());
    let size = optional.fold(least, |all, one| binary("+", all, one));
    let name = scope.taken.take("size");
    let named = || atom(&name);
    statements.push(Statement::Declare {
        kind: "const uint32_t".to_string(),
        name: name.clone(),
        value: Some(size.cast("uint32_t")),
    });
    let less = || binary("-", atom(header.most.to_string()), named());
    let moved = vec![binary("+", data.clone(), less()), data.clone(), named()];
    statements.push(call_statement("memmove", moved));
    statements.push(Statement::Assign(data.clone(), "+=", less()));
    statements.push(Statement::Assign(length.clone(), "+=", named()));
    for field in &header.fields {
        let Rule::Counts { ranges, unit } = &field.rule else {
            continue;
        };
        let counted = match ranges {
            Ranges::Header => named(),
            Ranges::HeaderAndData => length.clone(),
            Ranges::Data => binary("-", length.clone(), named()),
            Ranges::Between(..) => continue,
        };
        let units = binary("/", counted, atom(unit.to_string()));
        let units = units.cast(c_type(scope.stack, &field.kind));
        statements.extend(store(scope, id, &data, &[(field, units)]));
    }
}

/// Values that read the message are taken before its new header is written.
fn values_before(
    scope: &mut Scope,
    header: &Header,
    values: &[(HeaderFieldId, Expression)],
    statements: &mut Vec<Statement>,
) -> Vec<(HeaderFieldId, C)> {
    let mut early = Vec::new();
    for (id, value) in values {
        let mut reads = false;
        super::walk::each(value, &mut |part| {
            reads |= matches!(
                &*part.kind,
                ExpressionKind::Header(..)
                    | ExpressionKind::HeaderPresent(..)
                    | ExpressionKind::Peeked(..)
                    | ExpressionKind::Length(_)
                    | ExpressionKind::Call(..)
                    | ExpressionKind::Through(..)
            );
        });
        if reads {
            let field = &header.fields[id.at()];
            let name = scope.taken.take(&field.name);
            statements.push(Statement::Declare {
                kind: format!("const {}", c_type(scope.stack, &field.kind)),
                name: name.clone(),
                value: Some(scope.stored(value)),
            });
            early.push((*id, atom(name)));
        }
    }
    early
}

/// What a field is written as, before the sums are known.
fn written(
    scope: &Scope,
    header: &Header,
    field: &HeaderField,
    given: Option<&Expression>,
    length: &C,
) -> C {
    if let Some(value) = given {
        return scope.stored(value);
    }
    match &field.rule {
        Rule::Given => unreachable!("a field without a default is given (checked)"),
        Rule::Default(value) => scope.stored(value),
        Rule::Is(value) => scope.constant(value, &field.kind),
        Rule::Checks { .. } => atom("0"),
        Rule::Counts { ranges, unit } => {
            let counted = match ranges {
                Ranges::Header => return atom((header.least / unit).to_string()),
                Ranges::HeaderAndData => length.clone(),
                Ranges::Data => binary("-", length.clone(), atom(header.least.to_string())),
                Ranges::Between(from, to) => {
                    let (from, to) = (&header.fields[from.at()], &header.fields[to.at()]);
                    let bytes = (to.bit + to.width) / 8 - from.bit / 8;
                    return atom((bytes / unit).to_string());
                }
            };
            let units = match unit {
                1 => counted,
                unit => binary("/", counted, atom(unit.to_string())),
            };
            if field.width <= 16 {
                units.cast(c_type(scope.stack, &field.kind))
            } else {
                units
            }
        }
    }
}

/// Stores fields that fill whole bytes together.
pub fn store(
    scope: &Scope,
    id: HeaderId,
    data: &C,
    pieces: &[(&HeaderField, C)],
) -> Vec<Statement> {
    let header = &scope.stack.program.headers[id.at()];
    let (first, _) = &pieces[0];
    let bits: u32 = pieces.iter().map(|(field, _)| field.width).sum();
    let at = start(scope, id, first, data);
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
            Type::Bool => conditional(value.clone(), atom("1"), atom("0")),
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

fn literal(value: &C) -> Option<u64> {
    let C::Atom(text) = value else { return None };
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None if text == "true" => Some(1),
        None if text == "false" => Some(0),
        None => text.parse().ok(),
    }
}
