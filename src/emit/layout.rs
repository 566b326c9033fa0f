//! How values are laid out in C: the type of each, and the members that hold it.
//!
//! An optional stands as two members, `bool has_x` and `x`; only where it is an item of something
//! or the result of a function is it a struct of its own.

use super::Stack;
use super::bits::{with_sign, without_sign};
use super::names::{Taken, c_name};
use crate::c::printer::declaration;
use crate::c::tree::{Expression as C, Line, Statement, assign, atom, binary, call};
use crate::types::program::Field;
use crate::types::value::Type;
use std::collections::BTreeSet;

/// Bits of a number as the source declares it; none of what is no number.
pub fn bits(stack: &Stack, kind: &Type) -> Option<u32> {
    match kind {
        Type::Unsigned(width) | Type::Signed(width) | Type::Sequence(width) => {
            Some(u32::from(*width))
        }
        Type::Enum(id) => Some(u32::from(stack.program.enums[id.at()].width)),
        Type::Time => Some(64),
        Type::Instance(_) => Some(32),
        Type::Bool
        | Type::Bytes(_)
        | Type::BoundedBytes(_)
        | Type::UnboundedBytes
        | Type::Record(_)
        | Type::Optional(_)
        | Type::Message
        | Type::Queue(..)
        | Type::Window(..)
        | Type::Stream(..)
        | Type::Array(..)
        | Type::Set(_)
        | Type::Header(_)
        | Type::Abstract(_)
        | Type::Nothing => None,
    }
}

/// Bits of the C type that holds so many.
pub fn c_bits(bits: u32) -> u32 {
    match bits {
        0..=8 => 8,
        9..=16 => 16,
        17..=32 => 32,
        _ => 64,
    }
}

/// The C type of a value.
pub fn c_type(stack: &Stack, kind: &Type) -> String {
    let name = &stack.names.stack;
    match kind {
        Type::Unsigned(_) | Type::Sequence(_) | Type::Enum(_) | Type::Time | Type::Instance(_) => {
            let bits = bits(stack, kind).expect("these are numbers");
            format!("uint{}_t", c_bits(bits))
        }
        Type::Signed(width) => format!("int{}_t", c_bits(u32::from(*width))),
        Type::Bool => "bool".to_string(),
        Type::Bytes(length) => format!("struct {name}_bytes{length}"),
        Type::BoundedBytes(most) => format!("struct {name}_bytes_to{most}"),
        Type::UnboundedBytes => unreachable!("bytes without a bound are no value"),
        Type::Record(id) => format!("struct {}", stack.names.records[id.at()]),
        Type::Optional(inner) => format!("struct {name}_maybe_{}", word(stack, inner)),
        Type::Message => format!("struct {name}_message"),
        Type::Header(_) => "const uint8_t *".to_string(),
        Type::Nothing => "void".to_string(),
        Type::Queue(..) | Type::Window(..) | Type::Stream(..) | Type::Array(..) | Type::Set(_) => {
            unreachable!("a container is no value")
        }
        Type::Abstract(_) => unreachable!("in a stack every type is known"),
    }
}

/// A type as part of a name.
pub fn word(stack: &Stack, kind: &Type) -> String {
    c_type(stack, kind)
        .trim_start_matches("struct ")
        .trim_end_matches("_t")
        .replace(' ', "_")
}

/// The members that hold a field, the first with its comment.
pub fn members(stack: &Stack, field: &Field, comment: &str) -> Vec<Line> {
    let name = c_name(&field.name);
    named_members(stack, &field.kind, &name, comment)
}

/// The members that hold a field of an instance: first those that say what it holds, then those
/// that are written before they are read, and so need no first value.
pub fn instance_members(stack: &Stack, field: &Field, comment: &str) -> [Vec<Line>; 2] {
    let all = places_of(stack, field).into_iter();
    let (buffers, rest): (Vec<_>, Vec<_>) = all.partition(|place| place.is_buffer);
    [lines(rest, comment), lines(buffers, "")]
}

/// The first member of an instance that needs no first value.
pub fn first_buffer(stack: &Stack, fields: &[Field]) -> Option<String> {
    let all = fields.iter().flat_map(|field| places_of(stack, field));
    let mut buffers = all.filter(|place| place.is_buffer);
    buffers.next().map(|place| place.name)
}

/// The members that hold a value under a name.
pub fn named_members(stack: &Stack, kind: &Type, name: &str, comment: &str) -> Vec<Line> {
    lines(places(stack, kind, name), comment)
}

fn lines(places: Vec<Place>, comment: &str) -> Vec<Line> {
    let lines = places.into_iter().map(|place| Line {
        text: match place.many {
            Some(many) => declaration(&place.kind, &format!("{}[{many}]", place.name)),
            None => declaration(&place.kind, &place.name),
        },
        comment: place.comment,
    });
    let mut lines: Vec<Line> = lines.collect();
    let own = lines.iter_mut().find(|line| line.comment.is_empty());
    if let Some(line) = own {
        line.comment = comment.to_string();
    }
    lines
}

/// One member of a struct.
struct Place {
    kind: String,
    name: String,
    /// How many there are in a row, if it is one.
    many: Option<u32>,
    size: Size,
    /// What it is, where the source does not say that.
    comment: String,
    /// Whether it is written before it is read, whatever is there before.
    is_buffer: bool,
}

impl Place {
    fn one(kind: &str, name: String, size: Size) -> Place {
        Place {
            kind: kind.to_string(),
            name,
            many: None,
            size,
            comment: String::new(),
            is_buffer: false,
        }
    }

    fn row(kind: &str, name: String, size: Size, many: u32) -> Place {
        Place {
            many: Some(many),
            ..Place::one(kind, name, size)
        }
    }

    fn buffer(kind: &str, name: String, size: Size, many: u32) -> Place {
        Place {
            is_buffer: true,
            ..Place::row(kind, name, size, many)
        }
    }
}

/// The members that hold a field, in order. A stream with gaps has ranges, too.
fn places_of(stack: &Stack, field: &Field) -> Vec<Place> {
    let name = c_name(&field.name);
    let mut all = places(stack, &field.kind, &name);
    if field.has_gaps {
        let (kind, name) = ("struct sl_ranges", format!("{name}_ranges"));
        let ranges = Place::one(kind, name, Size::words(1 + 2 * RANGES));
        all.insert(1, ranges);
    }
    all
}

/// The members that hold a value, in order.
fn places(stack: &Stack, kind: &Type, name: &str) -> Vec<Place> {
    let plain = || Place::one(&c_type(stack, kind), name.to_string(), size(stack, kind));
    let item = |kind: &Type| (item_type(stack, kind), item_size(stack, kind));
    let bits = |name: String, count: u32| Place::row("uint64_t", name, Size::of(8), words(count));
    let held = |capacity: u32| bits(format!("{name}_held"), capacity);
    match kind {
        Type::Optional(inner) => {
            let mut all = vec![Place::one("bool", format!("has_{name}"), Size::of(1))];
            all[0].comment = format!("whether there is {name}");
            all.extend(places(stack, inner, name));
            all
        }
        Type::Queue(inner, capacity) => {
            let (item, size) = item(inner);
            vec![
                Place::one("struct sl_ring", name.to_string(), Size::words(2)),
                Place::buffer(&item, format!("{name}_items"), size, *capacity),
            ]
        }
        Type::Window(inner, _, capacity) => {
            let (item, size) = item(inner);
            vec![
                Place::one("struct sl_window", name.to_string(), Size::words(5)),
                held(*capacity),
                Place::buffer(&item, format!("{name}_items"), size, *capacity),
            ]
        }
        Type::Stream(_, capacity) => {
            let mut pieces = Place::one("uint32_t", format!("{name}_pieces"), Size::of(4));
            pieces.comment = "how many messages are in it".to_string();
            vec![
                Place::one("struct sl_stream", name.to_string(), Size::words(3)),
                pieces,
                Place::buffer("uint8_t", format!("{name}_bytes"), Size::of(1), *capacity),
            ]
        }
        Type::Array(inner, capacity) => {
            let (item, size) = item(inner);
            vec![Place::row(&item, name.to_string(), size, *capacity)]
        }
        Type::Set(capacity) => vec![bits(name.to_string(), *capacity)],
        Type::Unsigned(_)
        | Type::Signed(_)
        | Type::Bool
        | Type::Sequence(_)
        | Type::Time
        | Type::Bytes(_)
        | Type::BoundedBytes(_)
        | Type::UnboundedBytes
        | Type::Enum(_)
        | Type::Record(_)
        | Type::Message
        | Type::Instance(_)
        | Type::Header(_)
        | Type::Abstract(_)
        | Type::Nothing => vec![plain()],
    }
}

/// Ranges that a stream with gaps has; as in `runtime/stream.h`.
const RANGES: u64 = 16;

/// Words of 64 bits that hold a bit for each of so many.
fn words(capacity: u32) -> u32 {
    capacity.div_ceil(64)
}

/// Bytes that something takes in C, and the number that its address is a multiple of, where
/// pointers have 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size {
    bytes: u64,
    alignment: u64,
}

impl Size {
    /// Of a number with so many bytes.
    fn of(bytes: u64) -> Size {
        Size {
            bytes,
            alignment: bytes,
        }
    }

    /// Of a struct of so many words of 32 bits.
    fn words(count: u64) -> Size {
        Size {
            bytes: 4 * count,
            alignment: 4,
        }
    }

    /// Of a struct: each member stands at the next multiple of its alignment, and so would the
    /// first of another such struct behind it.
    fn of_struct(members: impl IntoIterator<Item = Size>) -> Size {
        let empty = Size {
            bytes: 0,
            alignment: 1,
        };
        let whole = members.into_iter().fold(empty, |whole, member| Size {
            bytes: whole.bytes.next_multiple_of(member.alignment) + member.bytes,
            alignment: whole.alignment.max(member.alignment),
        });
        Size {
            bytes: whole.bytes.next_multiple_of(whole.alignment),
            ..whole
        }
    }
}

/// Bytes that a field takes.
pub fn field_bytes(stack: &Stack, field: &Field) -> u64 {
    Size::of_struct(sizes(places_of(stack, field))).bytes
}

/// Bytes of the struct of an instance: its keys, the fields near its beginning, structs, of which
/// the bytes are said and of how many each is to be a multiple, the other fields, and behind all
/// what needs no first value.
pub fn instance_bytes<'t>(
    stack: &Stack,
    keys: impl IntoIterator<Item = &'t Type>,
    [near, far]: [Vec<&Field>; 2],
    structs: &[[u64; 2]],
    in_order: &[Field],
) -> u64 {
    let structs = structs.iter().map(|[bytes, alignment]| Size {
        bytes: *bytes,
        alignment: *alignment,
    });
    let of = |fields: Vec<&Field>, is_buffer: bool| {
        let all = fields.into_iter().flat_map(|field| places_of(stack, field));
        sizes(
            all.filter(move |place| place.is_buffer == is_buffer)
                .collect(),
        )
    };
    let keys = keys.into_iter().flat_map(|kind| places(stack, kind, ""));
    let before = sizes(keys.collect()).chain(of(near, false)).chain(structs);
    let behind = of(far, false).chain(of(in_order.iter().collect(), true));
    Size::of_struct(before.chain(behind)).bytes
}

fn struct_size<'t>(stack: &Stack, kinds: impl IntoIterator<Item = &'t Type>) -> Size {
    let all = kinds.into_iter().flat_map(|kind| places(stack, kind, ""));
    Size::of_struct(sizes(all.collect()))
}

/// What each member takes.
fn sizes(places: Vec<Place>) -> impl Iterator<Item = Size> {
    places.into_iter().map(|place| Size {
        bytes: place.size.bytes * u64::from(place.many.unwrap_or(1)),
        ..place.size
    })
}

/// What a value takes that is one member.
fn size(stack: &Stack, kind: &Type) -> Size {
    match kind {
        Type::Bytes(length) => Size {
            bytes: u64::from(*length),
            alignment: 1,
        },
        // The length, in one byte, and the bytes.
        Type::BoundedBytes(most) => Size {
            bytes: u64::from(*most) + 1,
            alignment: 1,
        },
        Type::Record(id) => {
            let record = &stack.program.records[id.at()];
            struct_size(stack, record.fields.iter().map(|field| &field.kind))
        }
        Type::Optional(inner) => struct_size(stack, [&Type::Bool, &**inner]),
        Type::Message => {
            let attributes = stack.program.attributes.iter().map(|one| &one.kind);
            let pointer = Type::Unsigned(64);
            let own = [
                pointer.clone(),
                Type::Unsigned(32),
                Type::Unsigned(32),
                Type::Bool,
                pointer,
            ];
            struct_size(stack, own.iter().chain(attributes))
        }
        Type::Bool => Size::of(1),
        Type::Header(_) => Size::of(8),
        other => Size::of(u64::from(c_bits(bits(stack, other).expect("a number"))) / 8),
    }
}

/// What a container holds takes: of messages, the index of their buffer.
fn item_size(stack: &Stack, item: &Type) -> Size {
    match item {
        Type::Message => Size::of(4),
        other => size(stack, other),
    }
}

/// What a container holds: messages by the index of their buffer.
fn item_type(stack: &Stack, item: &Type) -> String {
    match item {
        Type::Message => "uint32_t".to_string(),
        other => c_type(stack, other),
    }
}

/// The parameters that take a value: an optional takes two.
pub fn parameters(stack: &Stack, kind: &Type, name: &str) -> Vec<String> {
    match kind {
        Type::Optional(inner) => {
            let mut all = vec![format!("bool has_{name}")];
            all.extend(parameters(stack, inner, name));
            all
        }
        other => vec![declaration(&c_type(stack, other), name)],
    }
}

/// The names of what a function is given, beside what it has of its own: those of the source, where
/// nothing else around is called so.
pub fn given_names<'n>(
    own: &[&str],
    around: &Taken,
    given: impl IntoIterator<Item = (&'n Type, &'n str)>,
) -> Vec<String> {
    let mut taken: BTreeSet<String> = own.iter().map(|name| name.to_string()).collect();
    let mut names = Vec::new();
    for (kind, source) in given {
        let mut name = c_name(source);
        let beside = |name: &str| match kind {
            Type::Optional(_) => format!("has_{name}"),
            Type::Message => format!("{name}_length"),
            _ => name.to_string(),
        };
        let is_taken = |name: &String| taken.contains(name) || around.has(name);
        while is_taken(&name) || is_taken(&beside(&name)) {
            name.push('_');
        }
        taken.extend([name.clone(), beside(&name)]);
        names.push(name);
    }
    names
}

/// The names of the C members of a field, for whoever looks for their places.
pub fn member_names(kind: &Type, name: &str) -> Vec<String> {
    names_of(kind, &c_name(name))
}

/// The same of what has its name in C already: what [`parameters`] declares.
pub fn names_of(kind: &Type, name: &str) -> Vec<String> {
    let name = name.to_string();
    match kind {
        Type::Optional(_) => vec![format!("has_{name}"), name],
        _ => vec![name],
    }
}

/// Limits what an application, a host or an extern function passes to the values of its type: a
/// number is cut to its width; bounded bytes end at their bound, with zeros behind them.
pub fn held(stack: &Stack, kind: &Type, given: C) -> C {
    match kind {
        Type::BoundedBytes(_) => call(format!("{}_held", word(stack, kind)), vec![given]),
        Type::Optional(inner) => held(stack, inner, given),
        Type::Unsigned(width) | Type::Sequence(width) => match beyond(*width) {
            Some(most) => binary("&", given, most),
            None => given,
        },
        Type::Signed(width) if beyond(*width).is_some() => {
            let width = u32::from(*width);
            with_sign(without_sign(given, width), width)
        }
        _ => given,
    }
}

/// Returns the assignment that limits a variable in the same way. Returns `None` if its C type has
/// no other values.
pub fn held_in_place(stack: &Stack, kind: &Type, place: C) -> Option<Statement> {
    let held = held(stack, kind, place.clone());
    (held != place).then(|| assign(place, held))
}

/// Returns the C condition that a passed value is none of its type. Returns `None` if it never is.
pub fn is_other(kind: &Type, given: C) -> Option<C> {
    let (value, most) = match kind {
        Type::BoundedBytes(most) if *most < u8::MAX.into() => {
            (given.member("length"), atom(most.to_string()))
        }
        Type::Unsigned(width) | Type::Sequence(width) => (given, beyond(*width)?),
        Type::Signed(width) => {
            beyond(*width)?;
            let most = (1_u64 << (width - 1)) - 1;
            let below = binary("<", given.clone(), atom(format!("-{}", most + 1)));
            return Some(binary(
                "||",
                below,
                binary(">", given, atom(most.to_string())),
            ));
        }
        _ => return None,
    };
    Some(binary(">", value, most))
}

/// Returns the highest value of a number whose C type is wider. Returns `None` if it is as wide.
fn beyond(width: u8) -> Option<C> {
    let is_wider = !matches!(width, 8 | 16 | 32 | 64);
    is_wider.then(|| atom(mask(u32::from(width))))
}

/// All ones in so many bits.
pub fn mask(width: u32) -> String {
    let ones = if width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    };
    format!("{ones:#x}")
}
