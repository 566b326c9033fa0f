//! Entries of the tables of a module: text -> entry.
//!
//! In: a cursor behind the word that begins the entry. Out: the entry, the cursor behind it.

use super::cursor::{Cursor, DEPTH};
use super::operation::{attribute, function, kind as kind_name, operation, reason, type_of};
use crate::ir::interface::{
    AttributeOfHost, Conversation, Enum, EnumValue, Export, Foreign, Given, Home, Link, Listening,
    Memory, Named, Notice, Numbered, Opaque, Opening, Port, Room, SettingOfHost, Shape,
};
use crate::ir::text::lexer::{Class, Mistake, Read};
use crate::ir::text::names::Names;
use crate::ir::{
    Attribute, Cache, Field, FieldId, Kernel, Kind, KindId, Lives, Op, OpaqueId, PortId, Setting,
    Stored, Timer, Type,
};
use crate::source::Position;

/// `address: i32`.
pub fn setting(cursor: &mut Cursor<'_>, names: &Names) -> Read<Setting> {
    let name = cursor.name()?;
    cursor.expect(":")?;
    let of = type_of(cursor, names)?;
    Ok(Setting { name, of })
}

/// `mark udp.begin: i32 = 0`.
pub fn attribute_of_messages(cursor: &mut Cursor<'_>, names: &Names) -> Read<Attribute> {
    let is_mark = cursor.is("mark") && cursor.peek_second().text != ":" && cursor.takes("mark");
    let Setting { name, of } = setting(cursor, names)?;
    let default = match cursor.takes("=") {
        false => {
            let zero = Op::zero(of);
            let message = format!("a default is missing: there is no zero of {of}");
            zero.map_or_else(|| cursor.mistake(message), Ok)?
        }
        true => constant(cursor, names, of)?,
    };
    Ok(Attribute {
        name,
        of,
        default,
        is_mark,
    })
}

/// A constant of a type: a number alone, or any operation.
fn constant(cursor: &mut Cursor<'_>, names: &Names, of: Type) -> Read<Op> {
    if cursor.is_class(Class::Number) {
        return match of {
            Type::Int(bits) => Ok(Op::Number(bits, cursor.number(u64::MAX)?)),
            _other => cursor.expected("an operation"),
        };
    }
    let operation = operation(cursor, names, 0)?;
    match operation.operands.is_empty() {
        true => Ok(operation.op),
        false => cursor.mistake("a default has no operands"),
    }
}

/// `address: optional u32 = 1, 0x0a000002`.
pub fn given(cursor: &mut Cursor<'_>, names: &Names) -> Read<SettingOfHost> {
    let named = named(cursor)?;
    let parts = named.shape.parts();
    let mut default = Vec::new();
    if cursor.takes("=") {
        for of in parts {
            if !default.is_empty() {
                cursor.expect(",")?;
            }
            default.push(constant(cursor, names, of)?);
        }
    }
    Ok(SettingOfHost { named, default })
}

/// `ethertype u16 { .. }`.
pub fn enumeration(cursor: &mut Cursor<'_>) -> Read<Enum> {
    let name = cursor.name()?;
    let Some(bits) = cursor.peek_letter('u') else {
        return cursor.expected("`uN`");
    };
    cursor.next();
    let mut values = Vec::new();
    entries(cursor, |cursor, word| match word {
        "value" => {
            let name = cursor.name()?;
            cursor.expect("=")?;
            let number = cursor.number(u64::MAX)?;
            let digits = match cursor.takes("digits") {
                true => cursor.number8()?,
                false => 0,
            };
            values.push(EnumValue {
                name,
                number,
                digits,
            });
            Ok(())
        }
        other => unknown(cursor, other),
    })?;
    Ok(Enum { name, bits, values })
}

/// `{ .. }`: the sizes of a stack.
pub fn memory(cursor: &mut Cursor<'_>) -> Read<Memory> {
    let mut memory = Memory::default();
    entries(cursor, |cursor, word| {
        let place = match word {
            "room" => &mut memory.room,
            "buffers" => &mut memory.buffers,
            "reserve" => &mut memory.reserve,
            "outputs" => &mut memory.outputs,
            "events" => &mut memory.events,
            "least_events" => &mut memory.least_events,
            "kept" => &mut memory.kept,
            other => return unknown(cursor, other),
        };
        *place = cursor.number32()?;
        Ok(())
    })?;
    Ok(memory)
}

/// `udp.session[64] of udp, created { .. }`.
pub fn kind(cursor: &mut Cursor<'_>, names: &Names) -> Read<Kind> {
    let name = cursor.name()?;
    let mut kind = Kind {
        name,
        owner: String::new(),
        capacity: 1,
        lives: Lives::Always,
        keys: Vec::new(),
        fields: Vec::new(),
        timers: Vec::new(),
        stands_on: None,
        ended: None,
    };
    if cursor.takes("[") {
        kind.capacity = cursor.number32()?;
        cursor.expect("]")?;
    }
    if cursor.takes("of") {
        kind.owner = cursor.name()?;
    }
    if cursor.takes(",") {
        kind.lives = match cursor.takes("created") {
            true => Lives::Created,
            false => {
                cursor.expect("with")?;
                Lives::With(kind_name(cursor, names)?)
            }
        };
    }
    let mut own = None;
    entries(cursor, |cursor, word| {
        match word {
            "key" | "field" => {
                if word == "key" {
                    kind.keys.push(FieldId(kind.fields.len() as u32));
                }
                kind.fields.push(field(cursor, names)?);
            }
            "timer" => {
                kind.timers.push(Timer {
                    name: cursor.name()?,
                    expires: match cursor.takes("calls") {
                        true => Some(function(cursor, names)?),
                        false => None,
                    },
                });
            }
            "keys" => {
                kind.keys.push(own_field(cursor, &kind)?);
                while cursor.takes(",") {
                    kind.keys.push(own_field(cursor, &kind)?);
                }
            }
            "stands_on" => {
                let field = own_field(cursor, &kind)?;
                set(cursor.position(), &mut kind.stands_on, field)?;
            }
            "ended" => set(cursor.position(), &mut own, reason(cursor, names)?)?,
            other => return unknown(cursor, other),
        }
        Ok(())
    })?;
    kind.ended = own;
    Ok(kind)
}

/// A field of a kind that is being read.
fn own_field(cursor: &mut Cursor<'_>, kind: &Kind) -> Read<FieldId> {
    let known = Names::of_fields(kind);
    cursor.reference("field", &known).map(FieldId)
}

fn field(cursor: &mut Cursor<'_>, names: &Names) -> Read<Field> {
    let name = cursor.name()?;
    let dimensions = match cursor.is("[") {
        true => cursor.list("[", "]", Cursor::number32)?,
        false => Vec::new(),
    };
    cursor.expect(":")?;
    let stored = stored(cursor, names)?;
    Ok(Field {
        name,
        stored,
        dimensions,
    })
}

fn stored(cursor: &mut Cursor<'_>, names: &Names) -> Read<Stored> {
    let items = |cursor: &mut Cursor<'_>| cursor.list("[", "]", |one| type_of(one, names));
    if cursor.takes("queue") {
        return Ok(Stored::Queue(items(cursor)?, cursor.number32()?));
    }
    if cursor.takes("window") {
        let items = items(cursor)?;
        return Ok(Stored::Window(items, width(cursor)?, cursor.number32()?));
    }
    if cursor.takes("stream") {
        return Ok(Stored::Stream(width(cursor)?, cursor.number32()?));
    }
    if cursor.takes("set") {
        return cursor.number32().map(Stored::Set);
    }
    if cursor.takes("foreign") {
        return cursor.name().map(Stored::Foreign);
    }
    type_of(cursor, names).map(Stored::Value)
}

/// `i32`: so many bits.
fn width(cursor: &mut Cursor<'_>) -> Read<u8> {
    let Some(bits) = cursor.peek_letter('i') else {
        return cursor.expected("`iN`");
    };
    cursor.next();
    Ok(bits)
}

/// `runtime first_number(key: u32, of: data, known: state table) -> u32`.
pub fn foreign(cursor: &mut Cursor<'_>) -> Read<Foreign> {
    let home = match cursor.peek().text {
        "reentrant" => Home::Reentrant,
        "runtime" => Home::Runtime,
        "program" => Home::Program,
        "constant" => Home::Constant,
        _own => Home::Host,
    };
    let home = match cursor.peek_second().text {
        "(" => Home::Host,
        _name => home,
    };
    if home != Home::Host {
        cursor.next();
    }
    let name = cursor.name()?;
    let parameters = cursor.list("(", ")", |cursor| {
        let name = cursor.name()?;
        cursor.expect(":")?;
        let given = if cursor.takes("data") {
            Given::Data
        } else if cursor.takes("rewritten") {
            Given::Rewritten
        } else if cursor.takes("state") {
            Given::State(cursor.name()?)
        } else if cursor.takes("changed") {
            Given::Changed(shape(cursor)?)
        } else {
            Given::Value(shape(cursor)?)
        };
        Ok((name, given))
    })?;
    let result = match cursor.takes("->") {
        true => Some(shape(cursor)?),
        false => None,
    };
    Ok(Foreign {
        name,
        home,
        parameters,
        result,
    })
}

/// `string room STRLEN 256`.
pub fn opaque(cursor: &mut Cursor<'_>) -> Read<Opaque> {
    let name = cursor.name()?;
    let room = match cursor.takes("room") {
        true => Some(Room {
            name: cursor.name()?,
            bytes: cursor.number32()?,
        }),
        false => None,
    };
    Ok(Opaque { name, room })
}

/// `ABRO_I_A(value: s32) -> s32 calls give_A`.
pub fn export(cursor: &mut Cursor<'_>, names: &Names) -> Read<Export> {
    let name = cursor.name()?;
    let parameters = cursor.list("(", ")", named)?;
    let result = match cursor.takes("->") {
        true => Some(shape(cursor)?),
        false => None,
    };
    cursor.expect("calls")?;
    Ok(Export {
        name,
        parameters,
        result,
        calls: function(cursor, names)?,
    })
}

/// `sum16(i64) unit 2 big { .. }`.
pub fn kernel(cursor: &mut Cursor<'_>, names: &Names) -> Read<Kernel> {
    let at = cursor.position();
    let name = cursor.name()?;
    let parameters = cursor.list("(", ")", |cursor| type_of(cursor, names))?;
    cursor.expect("unit")?;
    let unit = cursor.number8()?;
    let big = cursor.takes("big");
    if !big {
        cursor.expect("little")?;
    }
    let (mut begins, mut steps, mut tail, mut finishes) = (None, None, None, None);
    entries(cursor, |cursor, word| {
        let place = match word {
            "begins" => &mut begins,
            "steps" => &mut steps,
            "tail" => &mut tail,
            "finishes" => &mut finishes,
            other => return unknown(cursor, other),
        };
        set(cursor.position(), place, function(cursor, names)?)
    })?;
    let (Some(begins), Some(steps), Some(finishes)) = (begins, steps, finishes) else {
        let message = "a kernel has `begins`, `steps` and `finishes`";
        return Err(Mistake::new(at, message));
    };
    Ok(Kernel {
        name,
        unit,
        big,
        parameters,
        begins,
        steps,
        tail,
        finishes,
    })
}

/// `udp.template[udp.session] = udp.head`.
pub fn cache(cursor: &mut Cursor<'_>, names: &Names) -> Read<Cache> {
    let name = cursor.name()?;
    let mut kind = None;
    if cursor.takes("[") {
        kind = Some(kind_name(cursor, names)?);
        cursor.expect("]")?;
    }
    cursor.expect("=")?;
    Ok(Cache {
        name,
        kind,
        remembers: function(cursor, names)?,
    })
}

/// `tun { .. }`.
pub fn link(cursor: &mut Cursor<'_>, names: &Names) -> Read<Link> {
    let at = cursor.position();
    let name = cursor.name()?;
    let (mut calls, mut arrives, mut carrier) = (None, None, None);
    let (mut gathers, mut in_place) = (None, false);
    entries(cursor, |cursor, word| match word {
        "calls" => set(cursor.position(), &mut calls, cursor.name()?),
        "gathers" => set(cursor.position(), &mut gathers, ()),
        "arrives" => {
            set(cursor.position(), &mut arrives, function(cursor, names)?)?;
            in_place = cursor.takes("in_place");
            Ok(())
        }
        "carrier" => set(cursor.position(), &mut carrier, function(cursor, names)?),
        other => unknown(cursor, other),
    })?;
    let missing = Mistake::new(at, "a link has `arrives FUNCTION`");
    Ok(Link {
        name,
        calls,
        gathers: gathers.is_some(),
        arrives: arrives.ok_or(missing)?,
        in_place,
        carrier,
    })
}

/// `datagrams { .. }`.
pub fn port(cursor: &mut Cursor<'_>, names: &Names) -> Read<Port> {
    let at = cursor.position();
    let name = cursor.name()?;
    let (mut calls, mut session, mut sends) = (None, None, None);
    let (mut opens, mut listens, mut grants) = (None, None, None);
    let (mut longest, mut copied) = (None, None);
    let (mut attributes, mut up, mut down) = (Vec::new(), Vec::new(), Vec::new());
    entries(cursor, |cursor, word| {
        match word {
            "calls" => set(cursor.position(), &mut calls, cursor.name()?)?,
            "session" => set(
                cursor.position(),
                &mut session,
                conversation(cursor, names)?,
            )?,
            "sends" => set(cursor.position(), &mut sends, function(cursor, names)?)?,
            "longest" => set(cursor.position(), &mut longest, cursor.number32()?)?,
            "copied" => set(cursor.position(), &mut copied, ())?,
            "opens" => set(cursor.position(), &mut opens, opening(cursor, names)?)?,
            "listens" => set(cursor.position(), &mut listens, opening(cursor, names)?)?,
            "attribute" => attributes.push(attribute_of_host(cursor, names)?),
            "up" => up.push(notice(cursor, names)?),
            "down" => down.push(notice(cursor, names)?),
            "grants" => {
                let notice = cursor.reference("notice", &Names::of_notices(&down))?;
                set(cursor.position(), &mut grants, notice)?;
            }
            other => return unknown(cursor, other),
        }
        Ok(())
    })?;
    let missing = Mistake::new(at, "a port has `session KIND`");
    Ok(Port {
        name,
        calls,
        session: session.ok_or(missing)?,
        sends,
        longest: longest.unwrap_or_default(),
        is_copied: copied.is_some(),
        opens,
        listens,
        attributes,
        up,
        down,
        grants,
    })
}

/// `udp.session from 8, 64`, `udp only 0`.
fn conversation(cursor: &mut Cursor<'_>, names: &Names) -> Read<Conversation> {
    let kind = kind_name(cursor, names)?;
    let index = if cursor.takes("only") {
        Numbered::Only(cursor.number32()?)
    } else {
        cursor.expect("from")?;
        let first = cursor.number32()?;
        cursor.expect(",")?;
        Numbered::From(first, cursor.number32()?)
    };
    Ok(Conversation { kind, index })
}

fn opening(cursor: &mut Cursor<'_>, names: &Names) -> Read<Opening> {
    let at = cursor.position();
    let kind = kind_name(cursor, names)?;
    let (mut keys, mut opens, mut closes, mut events) = (Vec::new(), None, None, None);
    entries(cursor, |cursor, word| {
        match word {
            "key" => keys.push((named(cursor)?, false)),
            "optional" => {
                cursor.expect("key")?;
                keys.push((named(cursor)?, true));
            }
            "by" => set(cursor.position(), &mut opens, function(cursor, names)?)?,
            "closes" => set(cursor.position(), &mut closes, function(cursor, names)?)?,
            "events" => set(cursor.position(), &mut events, cursor.number32()?)?,
            other => return unknown(cursor, other),
        }
        Ok(())
    })?;
    let missing = Mistake::new(at, "there is no `by FUNCTION`");
    Ok(Opening {
        kind,
        keys,
        opens: opens.ok_or(missing)?,
        closes,
        events: events.unwrap_or_default(),
    })
}

fn attribute_of_host(cursor: &mut Cursor<'_>, names: &Names) -> Read<AttributeOfHost> {
    let named = named(cursor)?;
    let owner = match cursor.takes("of") {
        true => cursor.name()?,
        false => String::new(),
    };
    cursor.expect("=")?;
    let mut parts = Vec::new();
    if cursor.is_name() || cursor.is("#") {
        parts.push(attribute(cursor, names)?);
        while cursor.takes(",") {
            parts.push(attribute(cursor, names)?);
        }
    }
    Ok(AttributeOfHost {
        named,
        owner,
        parts,
    })
}

/// `urgent(msg, at: u32) calls tcp.urgent`.
fn notice(cursor: &mut Cursor<'_>, names: &Names) -> Read<Notice> {
    let name = cursor.name()?;
    let mut message = false;
    let all = cursor.list("(", ")", |cursor| {
        if cursor.is("msg") && cursor.peek_second().text != ":" {
            cursor.next();
            message = true;
            return Ok(None);
        }
        named(cursor).map(Some)
    })?;
    let handled = match cursor.takes("calls") {
        true => Some(function(cursor, names)?),
        false => None,
    };
    Ok(Notice {
        name,
        message,
        parameters: all.into_iter().flatten().collect(),
        handled,
    })
}

/// `streams { .. }`.
pub fn listening(cursor: &mut Cursor<'_>, names: &Names) -> Read<Listening> {
    let at = cursor.position();
    let port = cursor.reference("port", &names.ports).map(PortId)?;
    let (mut listener, mut session, mut opened) = (None, None, None);
    let (mut backlog, mut waiting) = (None, None);
    let (mut waits, mut unknown_to, mut made_by) = (None, None, None);
    entries(cursor, |cursor, word| {
        let (kind, place) = match word {
            "listener" => return set(cursor.position(), &mut listener, kind_name(cursor, names)?),
            "session" => return set(cursor.position(), &mut session, kind_name(cursor, names)?),
            "opened" => {
                let notice = cursor.reference("notice", &names.up[port.at()])?;
                return set(cursor.position(), &mut opened, notice);
            }
            "backlog" => (listener, &mut backlog),
            "waiting" => (listener, &mut waiting),
            "waits" => (session, &mut waits),
            "unknown" => (session, &mut unknown_to),
            "made_by" => (session, &mut made_by),
            other => return unknown(cursor, other),
        };
        let Some(KindId(kind)) = kind else {
            return cursor.mistake("the kind stands before its fields");
        };
        let field = cursor.reference("field", &names.fields[kind as usize])?;
        set(cursor.position(), place, FieldId(field))
    })?;
    let whole = || {
        Some(Listening {
            port,
            listener: listener?,
            backlog: backlog?,
            waiting: waiting?,
            session: session?,
            waits: waits?,
            unknown: unknown_to?,
            made_by: made_by?,
            opened,
        })
    };
    let message = "here belong `listener`, `backlog`, `waiting`, `session`, `waits`, `unknown` \
        and `made_by`";
    whole().ok_or_else(|| Mistake::new(at, message))
}

/// `peer: u32`.
fn named(cursor: &mut Cursor<'_>) -> Read<Named> {
    let name = cursor.name()?;
    cursor.expect(":")?;
    let shape = shape(cursor)?;
    Ok(Named { name, shape })
}

fn shape(cursor: &mut Cursor<'_>) -> Read<Shape> {
    let at = cursor.position();
    let shape = nested_shape(cursor, 0)?;
    match parts(&shape) > MOST_PARTS {
        true => Err(Mistake::new(
            at,
            format!("this has more than {MOST_PARTS} parts"),
        )),
        false => Ok(shape),
    }
}

/// Each value of a host has at most so many parts: each part is a value of its own.
const MOST_PARTS: u64 = 0x1_0000;

/// The number of parts of a shape, without making them.
fn parts(shape: &Shape) -> u64 {
    match shape {
        Shape::Number { .. }
        | Shape::Bool
        | Shape::Time
        | Shape::Bytes(_)
        | Shape::Float(_)
        | Shape::Opaque(_) => 1,
        Shape::Bounded(_) => 2,
        Shape::Optional(value) => parts(value).saturating_add(1),
        Shape::Record(_, fields) => {
            let parts = fields.iter().map(|(_, shape)| parts(shape));
            parts.fold(0, u64::saturating_add)
        }
        Shape::Array(element, length) => parts(element).saturating_mul(u64::from(*length)),
        Shape::Foreign(_) => 0,
    }
}

fn nested_shape(cursor: &mut Cursor<'_>, depth: u32) -> Read<Shape> {
    if depth >= DEPTH {
        return cursor.mistake("this stands within too much else");
    }
    for (letter, signed) in [('u', false), ('s', true)] {
        if let Some(bits) = cursor.peek_letter(letter) {
            cursor.next();
            return Ok(Shape::Number { bits, signed });
        }
    }
    if let Some(bits) = cursor.peek_letter('f') {
        cursor.next();
        return Ok(Shape::Float(bits));
    }
    if cursor.takes("opaque") {
        return cursor.number32().map(OpaqueId).map(Shape::Opaque);
    }
    if cursor.takes("bool") {
        return Ok(Shape::Bool);
    }
    if cursor.takes("time") {
        return Ok(Shape::Time);
    }
    if cursor.takes("bytes") {
        return Ok(match cursor.takes("..") {
            true => Shape::Bounded(cursor.number32()?),
            false => Shape::Bytes(cursor.number32()?),
        });
    }
    if cursor.takes("optional") {
        let value = nested_shape(cursor, depth + 1)?;
        return Ok(Shape::Optional(Box::new(value)));
    }
    if cursor.takes("foreign") {
        return cursor.name().map(Shape::Foreign);
    }
    if cursor.takes("[") {
        let length = cursor.number32()?;
        cursor.expect("]")?;
        let element = nested_shape(cursor, depth + 1)?;
        return Ok(Shape::Array(Box::new(element), length));
    }
    if cursor.takes("record") {
        let record = cursor.name()?;
        let field = |cursor: &mut Cursor<'_>| {
            let name = cursor.name()?;
            cursor.expect(":")?;
            Ok((name, nested_shape(cursor, depth + 1)?))
        };
        let fields = cursor.list("(", ")", field)?;
        return Ok(Shape::Record(record, fields));
    }
    cursor.expected("a shape")
}

/// The lines between braces, each of which begins with a word.
fn entries<'t>(
    cursor: &mut Cursor<'t>,
    mut read: impl FnMut(&mut Cursor<'t>, &'t str) -> Read<()>,
) -> Read<()> {
    cursor.expect("{")?;
    cursor.end_line()?;
    while !cursor.takes("}") {
        let word = cursor.word("a word or `}`")?;
        read(cursor, word)?;
        cursor.end_line()?;
    }
    Ok(())
}

fn unknown<T>(cursor: &Cursor<'_>, word: &str) -> Read<T> {
    cursor.mistake(format!("no line here begins with `{word}`"))
}

/// Sets what is said once.
pub fn set<T>(at: Position, place: &mut Option<T>, value: T) -> Read<()> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(Mistake::new(at, "this is said twice")),
    }
}
