//! Joints at run time, for the reference interpreter: who is reached from where.
//!
//! In: an instance, and what it says: send, deliver, or a notice above, below, beside. Out: the
//! goals that this reaches now, in order.

use super::state::{Goal, State};
use crate::types::program::{
    EntityId, Event, Finder, Handler, KindId, Place, Population, Program, Role, SessionIndex, Shape,
};
use std::collections::BTreeMap;

/// The joints of a program, and who handles what.
#[derive(Debug)]
pub struct Joints<'p> {
    program: &'p Program,
    handlers: BTreeMap<(KindId, Event), &'p Handler>,
}

impl<'p> Joints<'p> {
    /// Those of this program.
    pub fn new(program: &'p Program) -> Joints<'p> {
        let handlers = program.handlers.iter();
        let keyed = handlers.map(|handler| ((handler.kind, handler.event), handler));
        Joints {
            program,
            handlers: keyed.collect(),
        }
    }

    /// What a kind of instances does at an event.
    pub fn handler(&self, kind: KindId, event: Event) -> Option<&'p Handler> {
        self.handlers.get(&(kind, event)).copied()
    }

    /// What an entity says about where an event belongs.
    pub fn finder(&self, entity: EntityId, event: Event) -> Option<&'p Finder> {
        let mut finders = self.program.entities[entity.at()].finders.iter();
        finders.find(|finder| finder.event == event)
    }

    /// Where a message goes that an instance sends.
    pub fn sending(&self, kind: KindId, index: u32, joint: u32) -> Goal {
        match self.below(kind, joint) {
            Place::Link(link) => Goal::Frame(link),
            Place::Port(_) => panic!("a port stands on top"),
            Place::Entity {
                entity,
                index: session,
                ..
            } => Goal::Handle {
                kind: self.program.entities[entity.at()].session,
                index: at(session, index),
                event: Event::Send,
            },
        }
    }

    /// Where a message goes that an instance delivers.
    pub fn delivery(&self, kind: KindId, index: u32) -> Goal {
        let entity = self.program.kinds[kind.at()].entity;
        let session = self.program.entities[entity.at()].session;
        let above = match self.above(session, index) {
            Some(above) if kind == session => (above, index),
            _ => {
                let above = self.above(session, 0);
                (above.expect("something stands above what delivers"), 0)
            }
        };
        match above {
            (Place::Port(port), index) => Goal::Port(port, index, Event::Deliver),
            (
                Place::Entity {
                    entity,
                    index: session,
                    joint,
                },
                index,
            ) => Goal::Arrive {
                entity,
                joint,
                index: self.arriving(entity, session, index),
                event: Event::Deliver,
            },
            (Place::Link(_), _) => panic!("a link stands at the bottom"),
        }
    }

    /// Who hears a notice that an instance tells above: those that use the entity from beside, if
    /// the notice is theirs; or else what stands above the session, or above each of them.
    pub fn told_above(
        &self,
        state: &State<'_>,
        kind: KindId,
        index: u32,
        event: Event,
    ) -> Vec<Goal> {
        let entity = &self.program.entities[self.program.kinds[kind.at()].entity.at()];
        let beside = entity.beside.iter();
        if beside
            .into_iter()
            .any(|notice| Event::Notice(*notice) == event)
        {
            let index = SessionIndex::Only(0);
            let users = entity.users.iter().map(|user| Place::Entity {
                entity: *user,
                index,
                joint: 0,
            });
            return users
                .flat_map(|user| self.notice_arrives(user, 0, event))
                .collect();
        }
        let mut hearers = Vec::new();
        let sessions = match self.program.kinds[kind.at()].role {
            Role::Session => vec![index],
            Role::Record | Role::Child => {
                let live = state.kinds[entity.session.at()].live.iter().enumerate();
                live.filter(|(_, live)| **live)
                    .map(|(index, _)| index as u32)
                    .collect()
            }
        };
        for session in sessions {
            if let Some(above) = self.above(entity.session, session) {
                hearers.extend(self.notice_arrives(above, session, event));
            }
        }
        hearers
    }

    /// Whether a notice is told above for each session that lives: as many as there are.
    pub fn tells_each(&self, kind: KindId, event: Event) -> bool {
        let entity = &self.program.entities[self.program.kinds[kind.at()].entity.at()];
        let mut beside = entity.beside.iter();
        let session = &self.program.kinds[entity.session.at()].population;
        let dynamic = match session {
            Population::Dynamic { above: Some(above) } => {
                !self.notice_arrives(*above, 0, event).is_empty()
            }
            Population::Dynamic { above: None } | Population::Static(_) => false,
        };
        dynamic
            && self.program.kinds[kind.at()].role != Role::Session
            && !beside.any(|notice| Event::Notice(*notice) == event)
    }

    /// Who hears a notice that an instance tells below: the record, or else the session.
    pub fn told_below(&self, kind: KindId, index: u32, joint: u32, event: Event) -> Vec<Goal> {
        match self.below(kind, joint) {
            Place::Entity {
                entity,
                index: session,
                ..
            } => self.first_to_handle(entity, at(session, index), event),
            Place::Link(_) | Place::Port(_) => Vec::new(),
        }
    }

    /// Who hears what is told to an entity beside the path.
    pub fn told_aside(&self, entity: EntityId, event: Event) -> Vec<Goal> {
        self.first_to_handle(entity, 0, event)
    }

    /// Who hears a notice that comes to a place from below: its finder says, or the record, or the
    /// session; at a multiplexor every session.
    pub fn notice_arrives(&self, place: Place, from: u32, event: Event) -> Vec<Goal> {
        match place {
            Place::Link(_) => panic!("a link stands at the bottom"),
            Place::Port(port) => {
                let up = &self.program.ports[port.at()].up;
                let listed = up.iter().any(|notice| Event::Notice(*notice) == event);
                listed
                    .then_some(Goal::Port(port, from, event))
                    .into_iter()
                    .collect()
            }
            Place::Entity {
                entity,
                index,
                joint,
            } => {
                if self.finder(entity, event).is_some() {
                    let index = None;
                    return vec![Goal::Arrive {
                        entity,
                        joint,
                        index,
                        event,
                    }];
                }
                let table = &self.program.entities[entity.at()];
                let in_record = self.handler(table.record, event).is_some();
                match (
                    table.shape,
                    &self.program.kinds[table.session.at()].population,
                ) {
                    (Shape::Multiplexor, Population::Static(sessions)) if !in_record => {
                        let all = 0..sessions.len() as u32;
                        all.flat_map(|index| self.first_to_handle(entity, index, event))
                            .collect()
                    }
                    _ => self.first_to_handle(entity, at(index, from), event),
                }
            }
        }
    }

    fn first_to_handle(&self, entity: EntityId, index: u32, event: Event) -> Vec<Goal> {
        let table = &self.program.entities[entity.at()];
        let places = [(table.record, 0), (table.session, index)].into_iter();
        let mut handling = places.filter(|(kind, _)| self.handler(*kind, event).is_some());
        let first = handling.next();
        first
            .map(|(kind, index)| Goal::Handle { kind, index, event })
            .into_iter()
            .collect()
    }

    /// The session that something arrives at, where its joint says it.
    fn arriving(&self, entity: EntityId, session: SessionIndex, from: u32) -> Option<u32> {
        match self.program.entities[entity.at()].shape {
            Shape::Multiplexor => None,
            Shape::Worker | Shape::Router => Some(at(session, from)),
        }
    }

    fn below(&self, kind: KindId, joint: u32) -> Place {
        let entity = self.program.kinds[kind.at()].entity;
        self.program.entities[entity.at()].below[joint as usize].place
    }

    fn above(&self, session: KindId, index: u32) -> Option<Place> {
        match &self.program.kinds[session.at()].population {
            Population::Static(sessions) => sessions.get(index as usize)?.above,
            Population::Dynamic { above } => *above,
        }
    }
}

/// The index at the far side of a joint, of a session with this index on this side.
fn at(session: SessionIndex, from: u32) -> u32 {
    match session {
        SessionIndex::Only(only) => only,
        SessionIndex::Same => from,
    }
}
