//! A frame, taken apart by the layouts of a program's own headers.
//!
//! In: bytes, and the link on which they are. Out: where each header stands. The way up is that of
//! a frame that arrives, by the keys of the joints, whether or not anybody would take it.

use crate::simulate::expression::{Evaluation, Moment};
use crate::simulate::header;
use crate::simulate::message::Message;
use crate::simulate::state::State;
use crate::simulate::value::{Datum, Locals};
use crate::types::program::{
    EntityId, Event, HeaderId, LinkId, LocalId, Place, Population, Program, ReasonId, SessionIndex,
    Shape, StaticInstance,
};

/// A header in a frame.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Which one.
    pub header: HeaderId,
    /// Where it begins.
    pub at: usize,
    /// Bytes of it.
    pub length: usize,
    /// Bytes that it has behind it, as far as they are counted.
    pub data: usize,
}

/// The headers of a frame, from the first byte on; and whose next one is refused, and why.
pub fn parts(
    program: &Program,
    state: &mut State<'_>,
    link: LinkId,
    bytes: &[u8],
) -> (Vec<Part>, Option<(EntityId, Option<ReasonId>)>) {
    let mut parts = Vec::new();
    let Some(mut message) = state.message(bytes) else {
        return (parts, None);
    };
    let mut at = 0;
    let mut instant = Moment::default();
    let mut place = Some(program.links[link.at()].above);
    while let Some(Place::Entity { entity, index, .. }) = place {
        let table = &program.entities[entity.at()];
        if let Some(header) = table.header {
            let bytes = message.data().to_vec();
            instant.own.insert(table.session, 0);
            instant.message = Some(message.clone());
            let mut evaluation = Evaluation {
                state,
                instant: &mut instant,
            };
            let extent = match header::parse(&mut evaluation, header, &bytes) {
                Ok(extent) => extent,
                Err(header::Refused(reason)) => return (parts, Some((entity, reason))),
            };
            message.skip(extent.header as u64);
            message.cut(extent.data as u64);
            instant.headers.insert(header, bytes.into());
            let (length, data) = (extent.header, extent.data);
            parts.push(Part {
                header,
                at,
                length,
                data,
            });
            at += length;
        }
        place = above(program, state, &mut instant, (entity, index), &message);
    }
    (parts, None)
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
        Population::Static(sessions) | Population::Labelled(sessions) => sessions,
    };
    if table.shape != Shape::Multiplexor {
        let SessionIndex::Only(only) = index else {
            return None;
        };
        return sessions.get(only as usize)?.above;
    }
    let mut finders = table.finders.iter();
    let finder = finders.find(|finder| finder.event == Event::Deliver)?;
    instant.locals = Locals::default();
    if let Some(LocalId(place)) = finder.parameters.first() {
        instant.locals[*place as usize] = Datum::Message(Box::new(message.clone()));
    }
    instant.own.insert(table.record, 0);
    for target in &finder.targets {
        let keys = Evaluation { state, instant }.values(&target.keys);
        let is_it = |session: &&StaticInstance| {
            let wanted = session.keys.iter().zip(&kind.keys);
            let wanted = wanted.map(|(value, key)| Datum::of(program, value, &key.kind));
            // The last key of what has a label is the session below.
            wanted.eq(keys.iter().take(session.keys.len()).cloned())
        };
        if let Some(session) = sessions.iter().find(is_it) {
            return session.above;
        }
    }
    None
}
