//! Frames that no stack made: written by the rules of their headers, or by changing others.
//!
//! In: a program, random values, and the stack that is to take the frame. Out: the call that gives
//! it. Most are right in all but a few things, so that they come far.

use super::Values;
use crate::headers::{changed, push};
use crate::random::Random;
use stackloom::simulate::message::Message;
use stackloom::simulate::reference::Reference;
use stackloom::simulate::stack::Stack;
use stackloom::simulate::state::State;
use stackloom::simulate::trace::Call;
use stackloom::simulate::value::Datum;
use stackloom::tool::case::parts::parts;
use stackloom::types::expression::ExpressionKind;
use stackloom::types::header::{HeaderField, Rule};
use stackloom::types::program::{EntityId, HeaderFieldId, LinkId, Place, Population, Program};
use stackloom::types::value::{Type, Value};

/// A frame whose headers are written by their own rules, with random values.
pub fn crafted<'p>(
    program: &'p Program,
    values: &mut Values<'p>,
    stack: &Stack<'p, Reference<'p>>,
    at: usize,
) -> Call {
    let link = LinkId(values.random.below(program.links.len()) as u32);
    if values.random.percent(10) {
        return Call::Input(link, vec![values.random.bytes()]);
    }
    let mut path = Vec::new();
    let mut place = Some(program.links[link.at()].above);
    while let Some(Place::Entity { entity, .. }) = place {
        path.push(entity);
        place = climb(program, values, entity);
    }
    let mut state: State<'p> = stack.state().clone();
    let data = match values.random.percent(25) {
        true => quoted(program, values, &mut state, at),
        false => values.random.bytes(),
    };
    let Some(mut message) = state.message(&data) else {
        return Call::Expire;
    };
    // Most frames have nothing special about them.
    let plain = values.random.percent(60);
    for (place, attribute) in program.attributes.iter().enumerate() {
        let is_small = matches!(attribute.kind, Type::Bool | Type::Unsigned(..=31));
        if plain && attribute.default.is_none() && is_small {
            message.attributes[place] = Datum::Number(0);
        } else if attribute.default.is_none() || (!plain && values.random.percent(30)) {
            message.attributes[place] = values.value(&attribute.kind);
        }
    }
    for entity in path.into_iter().rev() {
        let Some(id) = program.entities[entity.at()].header else {
            continue;
        };
        let mut given = Vec::new();
        let header = &program.headers[id.at()];
        for (place, field) in header.all_fields().enumerate() {
            let id = HeaderFieldId(place as u32);
            let named = header.is_option(id) || place < header.fields.len();
            let part = header.option_of(id).is_some_and(|of| of.itself() != id);
            let free = matches!(field.rule, Rule::Given | Rule::Default(_));
            if free && (named || part) && field.kind != Type::UnboundedBytes {
                let often = if plain { 95 } else { 70 };
                let usual = usual(program, field, &message);
                let usual = usual.filter(|_| values.random.percent(often));
                let usual = usual.or_else(|| values.address(field, at));
                let value = usual.unwrap_or_else(|| values.value(&field.kind));
                given.push((id, value));
            }
        }
        if push(program, &mut state, id, &given, &mut message).is_none() {
            return Call::Expire;
        }
    }
    let mut frame = message.data().to_vec();
    if program
        .headers
        .iter()
        .any(|header| header.options.is_some())
    {
        spoil_options(&mut values.random, &mut frame);
    }
    Call::Input(link, vec![frame])
}

/// What this end sent, from one of its headers on, as one quotes it who could not deliver it.
fn quoted<'p>(
    program: &'p Program,
    values: &mut Values<'p>,
    state: &mut State<'p>,
    at: usize,
) -> Vec<u8> {
    let sent: Vec<_> = values.sent[at].iter().cloned().collect();
    if sent.is_empty() {
        return values.random.bytes();
    }
    let (link, frame) = values.random.one(&sent);
    let (parts, _) = parts(program, state, *link, frame);
    let starts: Vec<usize> = parts.iter().map(|part| part.at).collect();
    match starts.get(1) {
        Some(start) => frame[*start..frame.len().min(start + 80)].to_vec(),
        None => frame.clone(),
    }
}

impl Values<'_> {
    /// Of a field that says from whom or to whom: mostly from the other end, and to this one.
    fn address(&mut self, field: &HeaderField, at: usize) -> Option<Datum> {
        let names = |all: &[&str]| all.iter().any(|one| field.name.contains(one));
        let end = match (
            names(&["destination", "target"]),
            names(&["source", "sender"]),
        ) {
            (true, _) => at,
            (_, true) => 1 - at,
            (false, false) => return None,
        };
        let mut own = self.own[end].iter();
        let (_, number) = own.find(|(kind, _)| *kind == field.kind)?;
        let number = *number;
        self.random.percent(80).then_some(Datum::Number(number))
    }
}

/// Small numbers where numbers and lengths of options may stand.
fn spoil_options(random: &mut Random, frame: &mut [u8]) {
    while random.percent(50) && !frame.is_empty() {
        let at = random.below(frame.len().min(48));
        frame[at] = random.below(12) as u8;
    }
}

/// What a field holds that nobody gives a value, as far as that is written in one word.
fn usual(program: &Program, field: &HeaderField, message: &Message) -> Option<Datum> {
    let Rule::Default(value) = &field.rule else {
        return None;
    };
    match &*value.kind {
        ExpressionKind::Constant(value) => Some(Datum::of(program, value, &field.kind)),
        ExpressionKind::Attribute(_, id) if value.result == field.kind => {
            Some(message.attribute(*id).clone())
        }
        _ => None,
    }
}

/// A frame that came before, with another value in a field or two of one header, whose sums are
/// right; or the two halves of it, where a header knows of pieces.
pub fn altered<'p>(
    program: &'p Program,
    values: &mut Values<'p>,
    stack: &Stack<'p, Reference<'p>>,
) -> Call {
    let place = values.random.below(values.seen.len());
    let (link, frame) = values.seen[place].clone();
    let mut state = stack.state().clone();
    let (parts, _) = parts(program, &mut state, link, &frame);
    if parts.is_empty() {
        return Call::Input(link, vec![frame]);
    }
    let part = *values.random.one(&parts);
    let fields = &program.headers[part.header.at()].fields;
    let named = |name: &str| fields.iter().position(|field| field.name == name);
    let data = part.at + part.length..part.at + part.length + part.data;
    let middle = data.start + part.data / 16 * 8;
    let mut rewritten = |given: &[(HeaderFieldId, Datum)], data: &[u8]| {
        changed(program, &mut state, &frame, part, given, data)
    };
    let frames = match (named("more"), named("offset")) {
        (Some(more), Some(offset)) if middle > data.start && values.random.percent(60) => {
            let given = |is_more: u64, at: usize| {
                let (more, offset) = (HeaderFieldId(more as u32), HeaderFieldId(offset as u32));
                let at = Datum::Number(at as u64 / 8);
                [(more, Datum::Number(is_more)), (offset, at)]
            };
            let first = rewritten(&given(1, 0), &frame[data.start..middle]);
            let behind = middle - data.start;
            let second = rewritten(&given(0, behind), &frame[middle..data.end]);
            match values.random.below(3) {
                0 => vec![first, second],
                1 => vec![second, first],
                _ => vec![first],
            }
        }
        _ => {
            let mut given = Vec::new();
            for _ in 0..1 + values.random.below(2) {
                let id = values.random.below(fields.len());
                let is_plain = matches!(fields[id].rule, Rule::Given | Rule::Default(_));
                if is_plain && fields[id].kind != Type::UnboundedBytes {
                    given.push((HeaderFieldId(id as u32), values.value(&fields[id].kind)));
                }
            }
            vec![rewritten(&given, &frame[data])]
        }
    };
    values.remember(link, &frames);
    Call::Input(link, frames)
}

/// What stands above a session of an entity; its keys are wanted in the headers below.
fn climb(program: &Program, values: &mut Values<'_>, entity: EntityId) -> Option<Place> {
    let kind = &program.kinds[program.entities[entity.at()].session.at()];
    match &kind.population {
        Population::Dynamic { above } => *above,
        Population::Static(sessions) | Population::Labelled(sessions) => {
            let session = values.random.one(sessions);
            for (key, value) in kind.keys.iter().zip(&session.keys) {
                if let Value::Number(number) = value {
                    values.hot.push((key.kind.clone(), *number));
                }
            }
            session.above
        }
    }
}
