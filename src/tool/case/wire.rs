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

use super::parts::parts;
use super::script::{moment, rows};
use crate::simulate::expression::{Evaluation, Moment};
use crate::simulate::header;
use crate::simulate::state::{Emitted, State};
use crate::simulate::trace::{Call, Seen, Step};
use crate::simulate::value::Datum;
use crate::types::header::{HeaderField, Rule};
use crate::types::program::{HeaderFieldId, HeaderId, LinkId, Population, Program};
use crate::types::value::{Type, Value};
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
    let (parts, refused) = parts(program, &mut state, link, bytes);
    let mut end = bytes.len();
    let mut at = 0;
    let mut behind = Vec::new();
    for part in parts {
        let mut entities = program.entities.iter();
        let whose = entities.find(|entity| entity.header == Some(part.header));
        let name = &whose.expect("a header is an entity's").name;
        let mut evaluation = Evaluation {
            state: &mut state,
            instant: &mut Moment::default(),
        };
        at = part.at + part.length;
        let fields = fields(&mut evaluation, part.header, &bytes[part.at..at]);
        text.push_str(&line(name, &fields));
        if at + part.data < end {
            behind.push((name, &bytes[at + part.data..end]));
            end = at + part.data;
        }
    }
    if let Some((entity, reason)) = refused {
        let reason = reason.map_or("refused", |id| &program.reasons[id.at()].name);
        let name = &program.entities[entity.at()].name;
        text.push_str(&line(name, &[reason.to_string()]));
    }
    if at < end {
        text.push_str(&data("data", &bytes[at..end]));
    }
    for (name, bytes) in behind.into_iter().rev() {
        text.push_str(&data(&format!("behind {name}"), bytes));
    }
    text
}

/// All fields that are there, by name.
fn fields(evaluation: &mut Evaluation<'_, '_>, id: HeaderId, bytes: &[u8]) -> Vec<String> {
    let program = evaluation.state.program;
    let mut all = Vec::new();
    for (place, field) in program.headers[id.at()].fields.iter().enumerate() {
        let place = HeaderFieldId(place as u32);
        if field.kind == Type::UnboundedBytes || !header::is_present(evaluation, id, place, bytes) {
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
        return super::script::word(program, &field.kind, value);
    };
    let number = *number;
    let digits = field.width.div_ceil(4) as usize;
    match (&field.kind, &field.rule) {
        (Type::Enum(id), _) => program.enums[id.at()].word(number),
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
        (Type::Unsigned(32), _) if field.is_address => {
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
            Population::Static(sessions) | Population::Labelled(sessions) => {
                Some(sessions.iter().flat_map(|session| &session.keys))
            }
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
