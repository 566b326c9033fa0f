//! The section `wire`: what goes over the links, header by header.
//!
//! In: a program, and what was played to it. Out: each frame with its fields, as the program's own
//! headers lay them out; the way up is that of a frame that arrives, by the keys of the joints.
//!
//! ```text
//! 0 s in tap, 42 bytes
//!     ethernet  destination ff:ff:ff:ff:ff:ff, source 02:00:00:00:00:01, kind 0x0806
//!     arp       hardware 1, protocol 0x0800, ...
//! ```

use crate::script::{moment, rows};
use stackloom::simulate::expression::{Evaluation, Moment};
use stackloom::simulate::header;
use stackloom::simulate::message::Message;
use stackloom::simulate::state::{Emitted, State};
use stackloom::simulate::trace::{Call, Seen, Step};
use stackloom::simulate::value::Datum;
use stackloom::types::header::{HeaderField, Rule};
use stackloom::types::program::{
    EntityId, Event, HeaderFieldId, HeaderId, LinkId, LocalId, Place, Population, Program,
    SessionIndex, Shape, StaticInstance,
};
use stackloom::types::value::{Type, Value};
use std::fmt::Write;

/// Columns of a line.
const WIDTH: usize = 96;

/// All frames of a run, in order; `state` is that of the stack just after its start.
pub fn dump(program: &Program, state: &State<'_>, steps: &[Step], seen: &[Seen]) -> String {
    let mut text = String::new();
    let mut show = |at_ns: u64, way: &str, link: LinkId, bytes: &[u8]| {
        let name = &program.links[link.at()].name;
        let _ = writeln!(
            text,
            "{} {way} {name}, {} bytes",
            moment(at_ns),
            bytes.len()
        );
        text.push_str(&frame(program, state.clone(), link, bytes));
    };
    for (step, seen) in steps.iter().zip(seen) {
        if let Call::Input(link, frames) = &step.call {
            let taken = seen.returned.unwrap_or(0) as usize;
            for frame in &frames[..taken] {
                show(step.now_ns, "in", *link, frame);
            }
        }
        for output in &seen.outputs {
            if let Emitted::Frame { link, bytes } = output {
                show(step.now_ns, "out", *link, bytes);
            }
        }
    }
    text
}

/// The headers of a frame, and what they carry.
fn frame(program: &Program, mut state: State<'_>, link: LinkId, bytes: &[u8]) -> String {
    let mut text = String::new();
    let Some(mut message) = state.message(bytes) else {
        return text;
    };
    let mut place = Some(program.links[link.at()].above);
    let mut instant = Moment::default();
    let mut behind = Vec::new();
    while let Some(Place::Entity { entity, index, .. }) = place {
        let table = &program.entities[entity.at()];
        if let Some(header) = table.header {
            let bytes = message.data().to_vec();
            instant.own.insert(table.session, 0);
            instant.message = Some(message.clone());
            let mut evaluation = Evaluation {
                state: &mut state,
                instant: &mut instant,
            };
            let extent = match header::parse(&mut evaluation, header, &bytes) {
                Ok(extent) => extent,
                Err(header::Refused(reason)) => {
                    let reason = reason.map_or("refused", |id| &program.reasons[id.at()].name);
                    text.push_str(&line(&table.name, &[reason.to_string()]));
                    break;
                }
            };
            let fields = fields(&mut evaluation, header, &bytes[..extent.header]);
            text.push_str(&line(&table.name, &fields));
            message.skip(extent.header as u64);
            let after = message.data()[extent.data..].to_vec();
            if !after.is_empty() {
                behind.insert(0, (table.name.clone(), after));
            }
            message.cut(extent.data as u64);
            instant.headers.insert(header, bytes.into());
        }
        place = above(program, &mut state, &mut instant, (entity, index), &message);
    }
    if message.length() > 0 {
        text.push_str(&data("data", message.data()));
    }
    for (name, bytes) in behind {
        text.push_str(&data(&format!("behind {name}"), &bytes));
    }
    text
}

/// What stands above the session that a message is for, as far as its headers say.
fn above(
    program: &Program,
    state: &mut State<'_>,
    instant: &mut Moment,
    (entity, index): (EntityId, SessionIndex),
    message: &Message,
) -> Option<Place> {
    let table = &program.entities[entity.at()];
    let kind = &program.kinds[table.session.at()];
    let sessions: &[StaticInstance] = match &kind.population {
        Population::Dynamic { above } => return *above,
        Population::Static(sessions) => sessions,
    };
    if table.shape != Shape::Multiplexor {
        let SessionIndex::Only(only) = index else {
            return None;
        };
        return sessions.get(only as usize)?.above;
    }
    let mut finders = table.finders.iter();
    let finder = finders.find(|finder| finder.event == Event::Deliver)?;
    instant.locals = vec![Datum::Absent; finder.locals.len()];
    if let Some(LocalId(place)) = finder.parameters.first() {
        instant.locals[*place as usize] = Datum::Message(Box::new(message.clone()));
    }
    instant.own.insert(table.record, 0);
    for target in &finder.targets {
        let keys = Evaluation { state, instant }.values(&target.keys);
        let is_it = |session: &&StaticInstance| {
            let wanted = session.keys.iter().zip(&kind.keys);
            let wanted = wanted.map(|(value, key)| Datum::of(program, value, &key.kind));
            wanted.eq(keys.iter().cloned())
        };
        if let Some(session) = sessions.iter().find(is_it) {
            return session.above;
        }
    }
    None
}

/// All fields that are there, by name.
fn fields(evaluation: &mut Evaluation<'_, '_>, id: HeaderId, bytes: &[u8]) -> Vec<String> {
    let program = evaluation.state.program;
    let mut all = Vec::new();
    for (place, field) in program.headers[id.at()].fields.iter().enumerate() {
        let place = HeaderFieldId(place as u32);
        if field.kind == Type::Nothing || !header::is_present(evaluation, id, place, bytes) {
            continue;
        }
        let value = header::read(evaluation, id, place, bytes);
        all.push(format!("{} {}", field.name, shown(program, field, &value)));
    }
    all
}

/// A value, as whoever reads a capture expects it.
fn shown(program: &Program, field: &HeaderField, value: &Datum) -> String {
    let Datum::Number(number) = value else {
        return crate::script::word(value);
    };
    let number = *number;
    let digits = field.width.div_ceil(4) as usize;
    match (&field.kind, &field.rule) {
        (Type::Enum(id), _) => {
            let mut names = program.enums[id.at()].names.iter();
            let named = names.find(|(_, of)| *of == number);
            named.map_or(number.to_string(), |(name, _)| name.clone())
        }
        (Type::Bool, _) => (number == 1).to_string(),
        (Type::Signed(_), _) => (number as i64).to_string(),
        (_, Rule::Checks { .. }) => format!("{number:#0width$x}", width = digits + 2),
        (Type::Unsigned(48), _) => {
            let bytes = number.to_be_bytes();
            let bytes: Vec<String> = bytes[2..]
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            bytes.join(":")
        }
        (Type::Unsigned(32), _) if number >= 1 << 24 => {
            let bytes = (number as u32).to_be_bytes().map(|byte| byte.to_string());
            bytes.join(".")
        }
        (Type::Unsigned(16), _) if is_key(program, number) => format!("{number:#06x}"),
        _ => number.to_string(),
    }
}

/// Whether a number is a key of a joint that is too large for one that people count.
fn is_key(program: &Program, number: u64) -> bool {
    let keys = program
        .kinds
        .iter()
        .filter_map(|kind| match &kind.population {
            Population::Static(sessions) => Some(sessions.iter().flat_map(|session| &session.keys)),
            Population::Dynamic { .. } => None,
        });
    number > 0xff && keys.flatten().any(|key| *key == Value::Number(number))
}

/// A name and what belongs to it, in as many lines as it takes.
fn line(name: &str, parts: &[String]) -> String {
    let mut text = format!("    {name}");
    let mut column = text.len();
    for (at, part) in parts.iter().enumerate() {
        let (gap, end) = if at == 0 { (": ", "") } else { (" ", ",") };
        text.push_str(end);
        if column + gap.len() + part.len() > WIDTH {
            text.push_str("\n       ");
            column = 8;
        }
        text.push_str(gap);
        text.push_str(part);
        column += gap.len() + part.len() + 1;
    }
    text.push('\n');
    text
}

fn data(name: &str, bytes: &[u8]) -> String {
    let rows = rows(bytes);
    let rows: String = rows.lines().map(|row| format!("    {row}\n")).collect();
    format!("    {name}, {} bytes\n{rows}", bytes.len())
}
