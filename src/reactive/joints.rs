//! Who is reached through a joint: the reactions at its far side.

use super::frame::Frame;
use super::{Lowering, handler_of};
use crate::tree::{Goal, Index, Reaction};
use crate::types::expression::Instance;
use crate::types::program::{
    EntityId, Event, KindId, NoticeId, Place, Population, PortId, Role, SessionIndex, Shape,
};
use crate::types::statement::TellTarget;

/// Who hears a notice.
#[derive(Clone, Copy, Debug)]
pub enum Hearer {
    /// This one.
    One(Goal),
    /// On account of every live instance of this kind, whose index is the goal's instance; of those
    /// only that stand on one session below, if it is said which.
    Every(KindId, Option<Instance>, Goal),
}

impl Hearer {
    /// What it does then.
    pub fn goal(self) -> Goal {
        match self {
            Hearer::One(goal) | Hearer::Every(_, _, goal) => goal,
        }
    }
}

impl Lowering<'_> {
    /// Where a message goes that is sent down to a place; `own` is the session on this side.
    pub fn downward(&self, place: Place, own: Instance, event: Event) -> Goal {
        match place {
            Place::Link(link) => Goal::Frame(link),
            Place::Port(_) => unreachable!("a port stands on top"),
            Place::Entity { entity, index, .. } => {
                let kind = self.program.entities[entity.at()].session;
                session_goal(kind, index, own, event)
            }
        }
    }

    /// Where a message goes that is delivered up to a place.
    pub fn upward(&self, place: Place, own: Instance, event: Event) -> Goal {
        match place {
            Place::Link(_) => unreachable!("a link stands at the bottom"),
            Place::Port(port) => Goal::Port(port, self.known_as(port, own), event),
            Place::Entity {
                entity,
                index,
                joint,
            } => {
                let table = &self.program.entities[entity.at()];
                let (index, instance) = match table.shape {
                    Shape::Multiplexor => {
                        let below = self.program.stands_on(table.session);
                        (Index::Any, below.map(|_| own))
                    }
                    Shape::Worker | Shape::Router => known(index, own),
                };
                let reaction = Reaction::Arrive {
                    entity,
                    joint,
                    index,
                    event,
                };
                Goal::Reaction(reaction, instance)
            }
        }
    }

    /// The number by which an application knows a session: where it opens none, there is only 0.
    fn known_as(&self, port: PortId, own: Instance) -> Instance {
        match self.program.ports[port.at()].opens {
            Some(_) => own,
            None => Instance::Only(0),
        }
    }

    /// What stands above an instance: of a session its own joint, of a record those of all
    /// sessions, of a child that of the only session.
    pub fn above(&self, frame: &Frame<'_>) -> Vec<(Place, Instance)> {
        let (kind, own) = (frame.kind, frame.own);
        let entity = &self.program.entities[self.program.kinds[kind.at()].entity.at()];
        let role = self.program.kinds[kind.at()].role;
        match &self.program.kinds[entity.session.at()].population {
            Population::Static(instances) => {
                let of_session = |at: u32| match instances[at as usize].above {
                    Some(above) => vec![(above, Instance::Only(at))],
                    None => Vec::new(),
                };
                match (role, own) {
                    (Role::Session, Instance::Only(at)) => of_session(at),
                    (Role::Session | Role::Child | Role::Record, _) => {
                        (0..instances.len() as u32).flat_map(of_session).collect()
                    }
                }
            }
            Population::Dynamic { above } => above.iter().map(|place| (*place, own)).collect(),
            Population::Labelled(instances) => {
                let own = frame.label.map_or(own, |_| frame.known());
                let told = instances.iter().enumerate();
                let told = told.filter(|(at, _)| frame.label.is_none_or(|own| own as usize == *at));
                let places = told.filter_map(|(_, instance)| instance.above);
                places.map(|place| (place, own)).collect()
            }
        }
    }

    /// Who hears a notice that an instance tells, in order. Their trees are wanted.
    pub fn hearers(&mut self, frame: &Frame<'_>, target: TellTarget, event: Event) -> Vec<Hearer> {
        let entity = self.program.kinds[frame.kind.at()].entity;
        match (target, event) {
            (TellTarget::Instance(..), _) => unreachable!("an instance is told directly"),
            (TellTarget::Above, Event::Notice(notice)) => self.told_above(frame, notice),
            (TellTarget::Below(joint), Event::Notice(notice)) => {
                let below = &self.program.entities[entity.at()].below;
                let place = below[joint as usize].place;
                self.notice_sinks_to(place, frame.facing(place), notice)
            }
            (TellTarget::Side(beside), event) => self.told_aside(beside, event),
            (TellTarget::Above | TellTarget::Below(_), _) => {
                unreachable!("only notices are told above and below")
            }
        }
    }

    fn told_above(&mut self, frame: &Frame<'_>, notice: NoticeId) -> Vec<Hearer> {
        let (kind, own) = (frame.kind, frame.own);
        let table = &self.program.kinds[kind.at()];
        let entity = &self.program.entities[table.entity.at()];
        let mut hearers = Vec::new();
        if entity.beside.contains(&notice) {
            for &user in &entity.users {
                hearers.extend(self.notice_arrives_in(user, SessionIndex::Only(0), own, 0, notice));
            }
            return hearers;
        }
        let from_all = table.role != Role::Session;
        // Those on whose account each hears of it: for labels, the sessions below.
        let each = match self.program.kinds[entity.session.at()].population {
            Population::Static(_) => None,
            Population::Dynamic { .. } => Some(entity.session),
            Population::Labelled(_) => self.program.stands_on(entity.session),
        };
        for (place, instance) in self.above(frame) {
            for hearer in self.notice_arrives_at(place, instance, notice) {
                hearers.push(match hearer {
                    Hearer::Every(above, _, goal) if from_all => Hearer::Every(above, None, goal),
                    hearer => match each.filter(|_| from_all) {
                        Some(each) => Hearer::Every(each, None, hearer.goal()),
                        None => hearer,
                    },
                });
            }
        }
        hearers
    }

    /// What is told to an entity beside the path.
    fn told_aside(&mut self, beside: EntityId, event: Event) -> Vec<Hearer> {
        let entity = &self.program.entities[beside.at()];
        let kinds = [entity.record, entity.session];
        let handles = |kind: &KindId| handler_of(self.program, *kind, event).is_some();
        let Some(kind) = kinds.into_iter().find(handles) else {
            return Vec::new();
        };
        let goal = session_goal(kind, SessionIndex::Only(0), Instance::Only(0), event);
        self.want_goal(goal);
        vec![Hearer::One(goal)]
    }

    /// Who hears a notice that comes up to a place.
    pub fn notice_arrives_at(
        &mut self,
        place: Place,
        own: Instance,
        notice: NoticeId,
    ) -> Vec<Hearer> {
        match place {
            Place::Link(_) => unreachable!("a link stands at the bottom"),
            Place::Port(port) if self.program.ports[port.at()].up.contains(&notice) => {
                let own = self.known_as(port, own);
                vec![Hearer::One(Goal::Port(port, own, Event::Notice(notice)))]
            }
            Place::Port(_) => Vec::new(),
            Place::Entity {
                entity,
                index,
                joint,
            } => self.notice_arrives_in(entity, index, own, joint, notice),
        }
    }

    /// The finder for it hears it; or the record; or the session, all of them at a multiplexor.
    fn notice_arrives_in(
        &mut self,
        to: EntityId,
        index: SessionIndex,
        own: Instance,
        joint: u32,
        notice: NoticeId,
    ) -> Vec<Hearer> {
        let entity = &self.program.entities[to.at()];
        let event = Event::Notice(notice);
        let handles = |kind: KindId| handler_of(self.program, kind, event).is_some();
        let hearers = if entity.finders.iter().any(|finder| finder.event == event) {
            let reaction = Reaction::Arrive {
                entity: to,
                joint,
                index: Index::Any,
                event,
            };
            let below = self.program.stands_on(entity.session).map(|_| own);
            vec![Hearer::One(Goal::Reaction(reaction, below))]
        } else if handles(entity.record) {
            let only = SessionIndex::Only(0);
            vec![Hearer::One(session_goal(entity.record, only, own, event))]
        } else if handles(entity.session) {
            match (
                entity.shape,
                &self.program.kinds[entity.session.at()].population,
            ) {
                (Shape::Worker | Shape::Router, _) => {
                    vec![Hearer::One(session_goal(entity.session, index, own, event))]
                }
                (Shape::Multiplexor, Population::Static(instances)) => {
                    let all = (0..instances.len() as u32).map(SessionIndex::Only);
                    all.map(|at| Hearer::One(session_goal(entity.session, at, own, event)))
                        .collect()
                }
                (Shape::Multiplexor, Population::Labelled(instances)) => {
                    let all = (0..instances.len() as u32).map(SessionIndex::Label);
                    all.map(|at| Hearer::One(session_goal(entity.session, at, own, event)))
                        .collect()
                }
                (Shape::Multiplexor, Population::Dynamic { .. }) => {
                    let goal = session_goal(entity.session, SessionIndex::Same, own, event);
                    let on = self.program.stands_on(entity.session).map(|_| own);
                    vec![Hearer::Every(entity.session, on, goal)]
                }
            }
        } else {
            Vec::new()
        };
        self.want_hearers(&hearers);
        hearers
    }

    /// Who hears a notice that sinks to a place: the record, or the session.
    pub fn notice_sinks_to(
        &mut self,
        place: Place,
        own: Instance,
        notice: NoticeId,
    ) -> Vec<Hearer> {
        let Place::Entity { entity, index, .. } = place else {
            return Vec::new();
        };
        let entity = &self.program.entities[entity.at()];
        let event = Event::Notice(notice);
        let handles = |kind: KindId| handler_of(self.program, kind, event).is_some();
        let hearers = if handles(entity.record) {
            let only = SessionIndex::Only(0);
            vec![Hearer::One(session_goal(entity.record, only, own, event))]
        } else if handles(entity.session) {
            vec![Hearer::One(session_goal(entity.session, index, own, event))]
        } else {
            Vec::new()
        };
        self.want_hearers(&hearers);
        hearers
    }

    fn want_hearers(&mut self, hearers: &[Hearer]) {
        for hearer in hearers {
            self.want_goal(hearer.goal());
        }
    }

    /// Whether what a goal is for has ended when this session ends: all that lived on it has, but
    /// for an application.
    pub fn is_gone(&self, ending: &Frame<'_>, goal: Goal) -> bool {
        let program = self.program;
        let session = match goal {
            Goal::Reaction(Reaction::Arrive { entity, .. }, _) => {
                program.entities[entity.at()].session
            }
            Goal::Reaction(Reaction::Handle { kind, .. }, _) => kind,
            Goal::Frame(_) | Goal::Port(..) => return false,
        };
        let mut living = program.living_on(ending.kind).into_iter();
        program.multiplexed_on(ending.kind, ending.label) == Some(session)
            || living.any(|standing| standing.kind == session)
    }

    /// The tree of a goal is wanted.
    pub fn want_goal(&mut self, goal: Goal) {
        if let Goal::Reaction(reaction, _) = goal {
            self.want(reaction);
        }
    }
}

/// The reaction of a session, seen from the session on the other side of its joint.
fn session_goal(kind: KindId, index: SessionIndex, own: Instance, event: Event) -> Goal {
    let (index, instance) = known(index, own);
    Goal::Reaction(Reaction::Handle { kind, index, event }, instance)
}

fn known(index: SessionIndex, own: Instance) -> (Index, Option<Instance>) {
    match index {
        SessionIndex::Only(only) => (Index::Only(only), None),
        SessionIndex::Same | SessionIndex::Keyed => (Index::Any, Some(own)),
        SessionIndex::Label(label) => (Index::Label(label), Some(own)),
    }
}
