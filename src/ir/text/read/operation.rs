//! One line of text -> an operation and its operands.

use super::cursor::{Cursor, DEPTH};
use crate::ir::op::{Bits, Change, Event, Number, Piece, Place, Target, Told};
use crate::ir::text::lexer::{Class, Mistake, Read};
use crate::ir::text::names::{Names, Table};
use crate::ir::text::opcode;
use crate::ir::{
    Attempt, AttributeId, CacheId, CounterId, FieldId, ForeignId, FunctionId, KernelId, KindId,
    LinkId, Op, OpaqueId, PortId, ReasonId, Region, SettingId, TimerId, Type,
};
use crate::source::Position;

/// An operand as it is written.
#[derive(Clone, Debug)]
pub enum Operand<'t> {
    /// `%name`.
    Value(&'t str, Position),
    /// A number, and its width if that is written.
    Number(u64, Option<u8>, Position),
    /// An operation in parentheses.
    Nested(Box<Operation<'t>>),
}

/// An operation as it is written.
#[derive(Clone, Debug)]
pub struct Operation<'t> {
    /// Everything but its operands.
    pub op: Op,
    /// Its operands.
    pub operands: Vec<Operand<'t>>,
    /// The position of its first token.
    pub at: Position,
}

/// A type.
pub fn type_of(cursor: &mut Cursor<'_>, names: &Names) -> Read<Type> {
    if let Some(bits) = cursor.peek_letter('i') {
        cursor.next();
        return Ok(Type::Int(bits));
    }
    if let Some(bits) = cursor.peek_letter('f') {
        cursor.next();
        return Ok(Type::Float(bits));
    }
    let token = cursor.peek();
    let of = match token.text {
        "msg" => Type::Message,
        "view" => Type::View,
        "bytes" => {
            cursor.next();
            return Ok(Type::Bytes(cursor.number32()?));
        }
        "inst" => {
            cursor.next();
            return Ok(Type::Instance(kind(cursor, names)?));
        }
        "opaque" => {
            cursor.next();
            return Ok(Type::Opaque(opaque(cursor, names)?));
        }
        _other => return cursor.expected("a type"),
    };
    cursor.next();
    Ok(of)
}

/// A kind.
pub fn kind(cursor: &mut Cursor<'_>, names: &Names) -> Read<KindId> {
    cursor.reference("kind", &names.kinds).map(KindId)
}

/// A type that only C knows.
fn opaque(cursor: &mut Cursor<'_>, names: &Names) -> Read<OpaqueId> {
    cursor
        .reference("opaque type", &names.opaques)
        .map(OpaqueId)
}

/// A function.
pub fn function(cursor: &mut Cursor<'_>, names: &Names) -> Read<FunctionId> {
    cursor
        .reference("function", &names.functions)
        .map(FunctionId)
}

/// An attribute.
pub fn attribute(cursor: &mut Cursor<'_>, names: &Names) -> Read<AttributeId> {
    cursor
        .reference("attribute", &names.attributes)
        .map(AttributeId)
}

/// A reason.
pub fn reason(cursor: &mut Cursor<'_>, names: &Names) -> Read<ReasonId> {
    cursor.reference("reason", &names.reasons).map(ReasonId)
}

/// Returns true if an operand is next.
fn is_operand(cursor: &Cursor<'_>) -> bool {
    match cursor.peek().class {
        Class::Value | Class::Number => true,
        Class::Word => {
            let is_typed = cursor.peek_letter('i').is_some();
            is_typed && cursor.peek_second().class == Class::Number
        }
        Class::Sign => cursor.is("("),
        Class::Quoted | Class::Line | Class::End => false,
    }
}

/// One operand.
pub fn operand<'t>(cursor: &mut Cursor<'t>, names: &Names, depth: u32) -> Read<Operand<'t>> {
    let at = cursor.position();
    match cursor.peek().class {
        Class::Value => Ok(Operand::Value(cursor.next().text, at)),
        Class::Number => Ok(Operand::Number(cursor.number(u64::MAX)?, None, at)),
        Class::Word if is_operand(cursor) => {
            let bits = cursor.peek_letter('i');
            cursor.next();
            Ok(Operand::Number(cursor.number(u64::MAX)?, bits, at))
        }
        Class::Sign if depth >= DEPTH => cursor.mistake("this stands within too much else"),
        Class::Sign if cursor.takes("(") => {
            let nested = operation(cursor, names, depth + 1)?;
            cursor.expect(")")?;
            Ok(Operand::Nested(Box::new(nested)))
        }
        _other => cursor.expected("a value, a number or an operation in parentheses"),
    }
}

/// Operands with commas between; there may be none.
pub fn operands<'t>(cursor: &mut Cursor<'t>, names: &Names, depth: u32) -> Read<Vec<Operand<'t>>> {
    let mut all = Vec::new();
    if is_operand(cursor) {
        all.push(operand(cursor, names, depth)?);
        while cursor.takes(",") {
            all.push(operand(cursor, names, depth)?);
        }
    }
    Ok(all)
}

/// Operands in parentheses.
pub fn arguments<'t>(cursor: &mut Cursor<'t>, names: &Names, depth: u32) -> Read<Vec<Operand<'t>>> {
    cursor.list("(", ")", |cursor| operand(cursor, names, depth))
}

/// An operation with its operands.
pub fn operation<'t>(cursor: &mut Cursor<'t>, names: &Names, depth: u32) -> Read<Operation<'t>> {
    let at = cursor.position();
    let word = cursor.word("an operation")?;
    let (op, operands) = match word {
        "queue.front" | "queue.back" | "queue.made" | "output" => {
            let (all, operands) = events(cursor, names, depth)?;
            let mut orders = opcode::ORDERS.iter();
            let order = orders.find(|one| opcode::word(&Op::Queue(**one, Vec::new())) == word);
            let op = match order {
                Some(order) => Op::Queue(*order, all),
                None => Op::Output(all),
            };
            (op, operands)
        }
        "call" => (
            Op::Call(function(cursor, names)?),
            arguments(cursor, names, depth)?,
        ),
        "loop" => {
            let body = function(cursor, names)?;
            cursor.expect("at")?;
            cursor.expect("most")?;
            let op = Op::Loop(body, cursor.number32()?);
            (op, arguments(cursor, names, depth)?)
        }
        "foreign" => {
            let id = cursor.reference("function in C", &names.foreigns)?;
            let places = match cursor.is("[") {
                true => cursor.list("[", "]", |cursor| place(cursor, names))?,
                false => Vec::new(),
            };
            let op = Op::Foreign(ForeignId(id), places);
            (op, arguments(cursor, names, depth)?)
        }
        _other => {
            let op = listed(cursor, names, word, at)?;
            (op, operands(cursor, names, depth)?)
        }
    };
    Ok(Operation { op, operands, at })
}

/// An operation whose operands are a list without parentheses.
fn listed(cursor: &mut Cursor<'_>, names: &Names, word: &str, at: Position) -> Read<Op> {
    Ok(match word {
        "number" => match cursor.peek_letter('i') {
            Some(bits) => {
                cursor.next();
                Op::Number(bits, cursor.number(u64::MAX)?)
            }
            None => return cursor.expected("`iN`"),
        },
        "bytes" => Op::Bytes(bytes(cursor)?),
        "real" => match cursor.peek_letter('f') {
            Some(bits) => {
                cursor.next();
                Op::Real(bits, cursor.number(u64::MAX)?)
            }
            None => return cursor.expected("`fN`"),
        },
        "text" => Op::Text(opaque(cursor, names)?, cursor.name()?),
        "instance" => Op::Instance(kind(cursor, names)?, cursor.number32()?),
        "load" => Op::Load(region(cursor, names)?),
        "store" => Op::Store(region(cursor, names)?),
        "attribute" => Op::Attribute(attribute(cursor, names)?),
        "with" => Op::With(attribute(cursor, names)?),
        "run" => {
            let kernel = kernel(cursor, names)?;
            Op::Run(kernel, cursor.list("[", "]", piece)?)
        }
        "rewrite" => Op::Rewrite(kernel(cursor, names)?),
        "drop" => Op::Drop(reason(cursor, names)?),
        "change.drop_all" => {
            let place = place(cursor, names)?;
            Op::Change(Change::DropAll(reason(cursor, names)?), place)
        }
        "count" => Op::Count(counter(cursor, names)?),
        "count_by" => Op::CountBy(counter(cursor, names)?),
        "pass" => Op::Pass(cursor.number32()?),
        "exit" => Op::Exit(cursor.name()?),
        _other => match by_list(cursor, names, word) {
            Some(op) => op?,
            None => match formatted(cursor, word)? {
                Some(op) => op,
                None => return Err(Mistake::new(at, format!("there is no operation `{word}`"))),
            },
        },
    })
}

/// An operation that is one of a list.
fn by_list(cursor: &mut Cursor<'_>, names: &Names, word: &str) -> Option<Read<Op>> {
    let is = |op: &Op| opcode::word(op) == word;
    if let Some(op) = opcode::PLAIN.iter().find(|op| is(op)) {
        return Some(Ok(op.clone()));
    }
    if let Some(make) = opcode::WIDTHS.iter().find(|make| is(&make(1))) {
        let Some(bits) = cursor.peek_letter('i') else {
            return Some(cursor.expected("`iN`"));
        };
        cursor.next();
        return Some(Ok(make(bits)));
    }
    if let Some(make) = opcode::LENGTHS.iter().find(|make| is(&make(1))) {
        return Some(cursor.number32().map(make));
    }
    if let Some(make) = opcode::KINDS.iter().find(|make| is(&make(KindId(0)))) {
        return Some(kind(cursor, names).map(make));
    }
    if let Some(make) = opcode::CACHES.iter().find(|make| is(&make(CacheId(0)))) {
        return Some(cache(cursor, names).map(make));
    }
    let mut timers = opcode::TIMERS.iter();
    if let Some(make) = timers.find(|make| is(&make(KindId(0), TimerId(0)))) {
        return Some(timer(cursor, names).map(|(kind, timer)| make(kind, timer)));
    }
    let nowhere = Place {
        kind: KindId(0),
        field: FieldId(0),
    };
    let mut questions = opcode::QUESTIONS.iter();
    if let Some(question) = questions.find(|one| is(&Op::Ask(**one, nowhere))) {
        return Some(place(cursor, names).map(|place| Op::Ask(*question, place)));
    }
    let mut changes = opcode::CHANGES.iter();
    let change = changes.find(|one| is(&Op::Change(**one, nowhere)))?;
    Some(place(cursor, names).map(|place| Op::Change(*change, place)))
}

/// An operation on numbers within bytes, whose format stands behind its word.
fn formatted(cursor: &mut Cursor<'_>, word: &str) -> Read<Option<Op>> {
    let Some((word, format)) = word.split_once('.') else {
        return Ok(None);
    };
    let Some((big, width)) = opcode::format(format) else {
        return Ok(None);
    };
    let number = Number {
        bytes: width.div_ceil(8),
        big,
    };
    let mut formats = opcode::FORMATS.iter();
    let make = formats.find(|make| opcode::word(&make(number)) == word);
    if let Some(make) = make {
        return match width.is_multiple_of(8) {
            true => Ok(Some(make(number))),
            false => cursor.mistake("a number fills whole bytes"),
        };
    }
    let skip = match cursor.takes("skip") {
        true => cursor.number(7)? as u8,
        false => 0,
    };
    let op = Op::Read(Bits { skip, width, big });
    Ok(Some(op).filter(|op| opcode::word(op) == word))
}

/// An operation that may fail, with its operands.
pub fn attempt<'t>(cursor: &mut Cursor<'t>, names: &Names) -> Read<(Attempt, Vec<Operand<'t>>)> {
    let at = cursor.position();
    let word = cursor.word("an operation that may fail")?;
    let is = |attempt: &Attempt| opcode::attempt(attempt) == word;
    let nowhere = Place {
        kind: KindId(0),
        field: FieldId(0),
    };
    let (mut plain, mut kinds) = (opcode::PLAIN_ATTEMPTS.iter(), opcode::KIND_ATTEMPTS.iter());
    let (mut places, mut timers) = (opcode::PLACE_ATTEMPTS.iter(), opcode::TIMER_ATTEMPTS.iter());
    let mut kernels = opcode::KERNEL_ATTEMPTS.iter();
    let mut caches = opcode::CACHE_ATTEMPTS.iter();
    let attempt = if let Some(attempt) = plain.find(|one| is(one)) {
        attempt.clone()
    } else if let Some(make) = kinds.find(|make| is(&make(KindId(0)))) {
        make(kind(cursor, names)?)
    } else if let Some(make) = places.find(|make| is(&make(nowhere))) {
        make(place(cursor, names)?)
    } else if let Some(make) = timers.find(|make| is(&make(KindId(0), TimerId(0)))) {
        let (kind, timer) = timer(cursor, names)?;
        make(kind, timer)
    } else if let Some(make) = caches.find(|make| is(&make(CacheId(0)))) {
        make(cache(cursor, names)?)
    } else if let Some(make) = kernels.find(|make| is(&make(KernelId(0)))) {
        make(kernel(cursor, names)?)
    } else {
        let message = format!("there is no operation `{word}` that may fail");
        return Err(Mistake::new(at, message));
    };
    Ok((attempt, operands(cursor, names, 0)?))
}

/// Events, and all operands.
fn events<'t>(
    cursor: &mut Cursor<'t>,
    names: &Names,
    depth: u32,
) -> Read<(Vec<Event>, Vec<Operand<'t>>)> {
    let (mut all, mut operands_of_all) = (Vec::new(), Vec::new());
    while cursor.is_name() || cursor.is("#") {
        let (event, own) = event(cursor, names, depth)?;
        all.push(event);
        operands_of_all.extend(own);
        if !cursor.takes(",") {
            break;
        }
    }
    if cursor.takes("+") {
        operands_of_all.extend(operands(cursor, names, depth)?);
    }
    Ok((all, operands_of_all))
}

/// An event and its arguments.
pub fn event<'t>(
    cursor: &mut Cursor<'t>,
    names: &Names,
    depth: u32,
) -> Read<(Event, Vec<Operand<'t>>)> {
    let is_called = |cursor: &Cursor<'_>| ["(", "#"].contains(&cursor.peek_second().text);
    let target = if cursor.is("link") && !is_called(cursor) {
        cursor.next();
        Target::Link(cursor.reference("link", &names.links).map(LinkId)?)
    } else if cursor.is("port") && !is_called(cursor) {
        cursor.next();
        let port = cursor.reference("port", &names.ports).map(PortId)?;
        let told = match cursor.word("`message`, `started` or `notice`")? {
            "message" => Told::Message,
            "started" => Told::Started,
            "notice" => Told::Notice(cursor.reference("notice", &names.up[port.at()])?),
            other => return cursor.mistake(format!("an application is not told `{other}`")),
        };
        Target::Port(port, told)
    } else {
        Target::Function(function(cursor, names)?)
    };
    let operands = arguments(cursor, names, depth)?;
    let arguments = operands.len() as u32;
    Ok((Event { target, arguments }, operands))
}

fn region(cursor: &mut Cursor<'_>, names: &Names) -> Read<Region> {
    if cursor.takes("now") {
        return Ok(Region::Now);
    }
    if cursor.takes("setting") {
        let setting = cursor.reference("setting", &names.settings);
        return setting.map(SettingId).map(Region::Setting);
    }
    if cursor.takes("valid") {
        return cache(cursor, names).map(Region::Valid);
    }
    if cursor.takes("cached") {
        let cache = cache(cursor, names)?;
        cursor.expect("[")?;
        let at = cursor.number32()?;
        cursor.expect("]")?;
        return Ok(Region::Cached(cache, at));
    }
    let Place { kind, field } = place(cursor, names)?;
    Ok(Region::Field(kind, field))
}

/// A field of a kind.
pub fn place(cursor: &mut Cursor<'_>, names: &Names) -> Read<Place> {
    let (kind, field) = path(cursor, names, "field", &names.fields, Names::fields_at)?;
    Ok(Place {
        kind: KindId(kind),
        field: FieldId(field),
    })
}

fn timer(cursor: &mut Cursor<'_>, names: &Names) -> Read<(KindId, TimerId)> {
    let (kind, timer) = path(cursor, names, "timer", &names.timers, Names::timers_at)?;
    Ok((KindId(kind), TimerId(timer)))
}

/// `KIND.NAME` or `KIND/NAME`: the kind, and the entry of it.
fn path(
    cursor: &mut Cursor<'_>,
    names: &Names,
    what: &str,
    tables: &[Table],
    find: for<'n> fn(&'n Names, &str) -> &'n [(u32, u32)],
) -> Read<(u32, u32)> {
    let token = cursor.peek();
    let is_split = ["/", "#"].contains(&cursor.peek_second().text);
    if token.class == Class::Word && !is_split {
        return match find(names, token.text) {
            [only] => {
                cursor.next();
                Ok(*only)
            }
            [] => cursor.mistake(format!("there is no {what} `{}`", token.text)),
            _several => cursor.mistake("there are several: write `/` behind the kind"),
        };
    }
    if !cursor.is_name() && !cursor.is("#") {
        return cursor.expected(&format!("a {what}"));
    }
    let kind = cursor.reference("kind", &names.kinds)?;
    cursor.expect("/")?;
    let entry = cursor.reference(what, &tables[kind as usize])?;
    Ok((kind, entry))
}

fn kernel(cursor: &mut Cursor<'_>, names: &Names) -> Read<KernelId> {
    cursor.reference("kernel", &names.kernels).map(KernelId)
}

fn cache(cursor: &mut Cursor<'_>, names: &Names) -> Read<CacheId> {
    cursor.reference("cache", &names.caches).map(CacheId)
}

fn counter(cursor: &mut Cursor<'_>, names: &Names) -> Read<CounterId> {
    cursor.reference("counter", &names.counters).map(CounterId)
}

fn piece(cursor: &mut Cursor<'_>) -> Read<Piece> {
    if cursor.takes("bytes") {
        return Ok(Piece::Bytes);
    }
    if cursor.takes("byte") {
        return Ok(Piece::Byte);
    }
    cursor.expect("zeros")?;
    cursor.number32().map(Piece::Zeros)
}

/// `4 [0a00 01]`: so many bytes, zeros behind those that are written.
fn bytes(cursor: &mut Cursor<'_>) -> Read<Vec<u8>> {
    let at = cursor.position();
    let length = cursor.number32()? as usize;
    cursor.expect("[")?;
    let mut digits = Vec::new();
    while matches!(cursor.peek().class, Class::Word | Class::Number) {
        for digit in cursor.peek().text.chars() {
            match digit.to_digit(16) {
                Some(digit) => digits.push(digit as u8),
                None => return cursor.mistake("a byte is two hexadecimal digits"),
            }
        }
        cursor.next();
    }
    if !digits.len().is_multiple_of(2) {
        return cursor.mistake("a byte is two hexadecimal digits");
    }
    cursor.expect("]")?;
    let mut bytes: Vec<u8> = digits.chunks(2).map(|two| two[0] << 4 | two[1]).collect();
    let is_whole = bytes.len() == length;
    if bytes.len() > length || !is_whole && length > opcode::MOST_ZEROS {
        let message = format!("there are {} bytes, not {length}", bytes.len());
        return Err(Mistake::new(at, message));
    }
    bytes.resize(length, 0);
    Ok(bytes)
}
