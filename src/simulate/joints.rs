//! Joints at run time, for the reference interpreter: who is reached from where.
//!
//! In: an instance, and what it says: send, deliver, or a notice above, below, beside. Out: the
//! goals that this reaches now, in order.

use super::state::{Goal, State};
use crate::types::program::{
    EntityId, Event, Finder, Handler, KindId, Place, Population, PortId, Program, Role,
    SessionIndex, Shape,
};
use std::collections::BTreeMap;

/// The joints of a program, and who handles what.
#[derive(Clone, Debug)]
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
    pub fn sending(&self, from: From, joint: u32) -> Goal {
        match self.below(from.kind, joint) {
            Place::Link(link) => Goal::Frame(link),
            Place::Port(_) => panic!("a port stands on top"),
            Place::Entity {
                entity,
                index: session,
                ..
            } => {
                let kind = self.program.entities[entity.at()].session;
                Goal::Handle {
                    kind,
                    index: from.at(self.program, kind, session),
                    event: Event::Send,
                }
            }
        }
    }

    /// Where a message goes that an instance delivers.
    pub fn delivery(&self, kind: KindId, index: u32) -> Goal {
        let entity = self.program.kinds[kind.at()].entity;
        let session = self.program.entities[entity.at()].session;
        let above = match self.above(session, index) {
            Some(above) if kind == session => Some(above),
            _ => self.above(session, 0),
        };
        match above.expect("something stands above what delivers") {
            (Place::Port(port), index) => {
                Goal::Port(port, self.told_to(port, Some(index)), Event::Deliver)
            }
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
                .flat_map(|user| self.notice_arrives(state, user, Some(0), event))
                .collect();
        }
        let mut hearers = Vec::new();
        let role = self.program.kinds[kind.at()].role;
        let sessions = match role {
            Role::Session => vec![index],
            Role::Record | Role::Child => state.live(entity.session).collect(),
        };
        let mut told_together = Vec::new();
        for session in sessions {
            let Some((place, from)) = self.above(entity.session, session) else {
                continue;
            };
            let together = self.multiplexed_at(place);
            let together = together.filter(|above| self.hears_by_itself(*above, event));
            match together.filter(|_| role != Role::Session) {
                // All that stand on any of them hear it together.
                Some(above) if told_together.contains(&above) => {}
                Some(above) => {
                    hearers.extend(self.all_that_handle(state, above, None, event));
                    told_together.push(above);
                }
                None => hearers.extend(self.notice_arrives(state, place, Some(from), event)),
            }
        }
        hearers
    }

    /// The sessions of the multiplexor at a place that stand on sessions which come and go.
    fn multiplexed_at(&self, place: Place) -> Option<KindId> {
        let Place::Entity { entity, .. } = place else {
            return None;
        };
        let session = self.program.entities[entity.at()].session;
        self.program.stands_on(session).map(|_| session)
    }

    /// Whether those who first hear a notice told above are as many as there are sessions then.
    pub fn tells_each(&self, kind: KindId, index: u32, event: Event) -> bool {
        let table = &self.program.kinds[kind.at()];
        let entity = &self.program.entities[table.entity.at()];
        let mut beside = entity.beside.iter();
        if beside.any(|notice| Event::Notice(*notice) == event) {
            return false;
        }
        let is_session = table.role == Role::Session;
        match &self.program.kinds[entity.session.at()].population {
            Population::Dynamic { above: None } => false,
            Population::Dynamic { above: Some(above) } if is_session => self.is_each(*above, event),
            Population::Dynamic { above: Some(above) } => self.hears(*above, event),
            Population::Labelled(sessions) if !is_session => {
                let mut places = sessions.iter().filter_map(|session| session.above);
                places.any(|place| self.hears(place, event))
            }
            Population::Static(sessions) | Population::Labelled(sessions) => {
                let label = self.program.label_of(entity.session, index);
                let own = label.map_or(index, |(label, _)| label) as usize;
                let told = sessions.iter().enumerate();
                let told = told.filter(|(at, _)| !is_session || *at == own);
                let mut places = told.filter_map(|(_, session)| session.above);
                let first = places.find(|place| self.hears(*place, event));
                first.is_some_and(|place| self.is_each(place, event))
            }
        }
    }

    /// Whether a notice that comes to a place from below is for all that come and go there.
    fn is_each(&self, place: Place, event: Event) -> bool {
        let Place::Entity { entity, .. } = place else {
            return false;
        };
        let table = &self.program.entities[entity.at()];
        let population = &self.program.kinds[table.session.at()].population;
        table.shape == Shape::Multiplexor
            && matches!(population, Population::Dynamic { .. })
            && self.hears_by_itself(table.session, event)
            && self.handler(table.session, event).is_some()
    }

    fn hears(&self, place: Place, event: Event) -> bool {
        match place {
            Place::Link(_) => false,
            Place::Port(port) => {
                let mut up = self.program.ports[port.at()].up.iter();
                up.any(|notice| Event::Notice(*notice) == event)
            }
            Place::Entity { entity, .. } => {
                let table = &self.program.entities[entity.at()];
                let handles = |kind| self.handler(kind, event).is_some();
                !self.hears_by_itself(table.session, event) || handles(table.session)
            }
        }
    }

    /// Who hears a notice that an instance tells below: the record, or else the session.
    pub fn told_below(&self, from: From, joint: u32, event: Event) -> Vec<Goal> {
        match self.below(from.kind, joint) {
            Place::Entity {
                entity,
                index: session,
                ..
            } => {
                let kind = self.program.entities[entity.at()].session;
                let index = from.at(self.program, kind, session);
                self.first_to_handle(entity, index, event)
            }
            Place::Link(_) | Place::Port(_) => Vec::new(),
        }
    }

    /// Who hears what is told to an entity beside the path.
    pub fn told_aside(&self, entity: EntityId, event: Event) -> Vec<Goal> {
        self.first_to_handle(entity, 0, event)
    }

    /// Who hears a notice that comes to a place from below: its finder says, or the record, or the
    /// session; at a multiplexor every session that stands on the one from which it comes.
    pub fn notice_arrives(
        &self,
        state: &State<'_>,
        place: Place,
        from: Option<u32>,
        event: Event,
    ) -> Vec<Goal> {
        match place {
            Place::Link(_) => panic!("a link stands at the bottom"),
            Place::Port(port) => {
                let up = &self.program.ports[port.at()].up;
                let listed = up.iter().any(|notice| Event::Notice(*notice) == event);
                listed
                    .then_some(Goal::Port(port, self.told_to(port, from), event))
                    .into_iter()
                    .collect()
            }
            Place::Entity {
                entity,
                index,
                joint,
            } => {
                let table = &self.program.entities[entity.at()];
                if self.finder(entity, event).is_some() {
                    let index = self.program.stands_on(table.session).and(from);
                    return vec![Goal::Arrive {
                        entity,
                        joint,
                        index,
                        event,
                    }];
                }
                if table.shape == Shape::Multiplexor && self.hears_by_itself(table.session, event) {
                    let below = self.program.stands_on(table.session).and(from);
                    return self.all_that_handle(state, table.session, below, event);
                }
                self.first_to_handle(entity, at(index, from.unwrap_or(0)), event)
            }
        }
    }

    /// Whether what comes from below to a session comes to it by no finder and no record.
    fn hears_by_itself(&self, session: KindId, event: Event) -> bool {
        let entity = self.program.kinds[session.at()].entity;
        let record = self.program.entities[entity.at()].record;
        self.finder(entity, event).is_none() && self.handler(record, event).is_none()
    }

    /// All sessions of a kind, or those that stand on one below, if they handle an event.
    fn all_that_handle(
        &self,
        state: &State<'_>,
        kind: KindId,
        below: Option<u32>,
        event: Event,
    ) -> Vec<Goal> {
        if self.handler(kind, event).is_none() {
            return Vec::new();
        }
        let sessions = state.live(kind);
        let sessions = sessions.filter(|index| {
            below.is_none_or(|below| state.session_below(kind, *index) == Some(below))
        });
        sessions
            .map(|index| Goal::Handle { kind, index, event })
            .collect()
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

    /// The session that something arrives at, where its joint says it; at a multiplexor, that from
    /// which it comes, where those come and go.
    fn arriving(&self, entity: EntityId, session: SessionIndex, from: u32) -> Option<u32> {
        let table = &self.program.entities[entity.at()];
        match table.shape {
            Shape::Multiplexor => self.program.stands_on(table.session).map(|_| from),
            Shape::Worker | Shape::Router => Some(at(session, from)),
        }
    }

    /// The session that an application is told of: one that it has opened, or the only one.
    fn told_to(&self, port: PortId, from: Option<u32>) -> u32 {
        let opens = self.program.ports[port.at()].opens;
        opens.and(from).unwrap_or(0)
    }

    fn below(&self, kind: KindId, joint: u32) -> Place {
        let entity = self.program.kinds[kind.at()].entity;
        self.program.entities[entity.at()].below[joint as usize].place
    }

    /// What stands on a session, and by which index it is known there.
    fn above(&self, session: KindId, index: u32) -> Option<(Place, u32)> {
        match &self.program.kinds[session.at()].population {
            Population::Static(sessions) => Some((sessions.get(index as usize)?.above?, index)),
            Population::Dynamic { above } => Some(((*above)?, index)),
            Population::Labelled(sessions) => {
                let (label, below) = self.program.label_of(session, index)?;
                Some((sessions.get(label as usize)?.above?, below))
            }
        }
    }
}

/// Who says something, and the session below which that is about, where those come and go.
#[derive(Clone, Copy, Debug)]
pub struct From {
    /// Its kind.
    pub kind: KindId,
    /// Which one.
    pub index: u32,
    /// What it stands on, if that is known.
    pub below: Option<u32>,
}

impl From {
    /// The index of a session below, of this kind.
    fn at(self, program: &Program, of: KindId, session: SessionIndex) -> u32 {
        match session {
            SessionIndex::Keyed => self.below.expect("the checker has seen a session below"),
            SessionIndex::Label(label) => {
                let first = program.sessions_below(of).expect("it has labels");
                label * first + self.below.unwrap_or(self.index)
            }
            SessionIndex::Only(_) | SessionIndex::Same => at(session, self.index),
        }
    }
}

/// The index at the upper side of a joint, of a session with this index on this side.
fn at(session: SessionIndex, from: u32) -> u32 {
    match session {
        SessionIndex::Only(only) => only,
        SessionIndex::Same => from,
        SessionIndex::Keyed | SessionIndex::Label(_) => panic!("this names what is below"),
    }
}
