//! How the instances of a program live and end: in, its tables; out, which kinds live with which,
//! what stands on what, and what may be left at an end.

use super::expression::Variable;
use super::program::{
    EntityId, Event, FieldId, Key, KindId, Place, Population, Program, ReasonId, SessionIndex,
};
use super::statement::{Dropped, StatementKind};
use super::value::Type;

impl Program {
    /// The containers of messages that an instance of this kind may leave when it has ended: those
    /// that its end handler does not drop whatever happens. What is in them is dropped as `ended`.
    pub fn left_at_end(&self, kind: KindId) -> Vec<FieldId> {
        let table = &self.kinds[kind.at()];
        if let Population::Static(_) = table.population {
            return Vec::new();
        }
        let mut handlers = self.handlers.iter();
        let end = handlers.find(|h| h.kind == kind && h.event == Event::End);
        let body = end.map(|handler| &handler.body[..]).unwrap_or_default();
        let drops = |field: FieldId| {
            body.iter().any(|statement| match &statement.kind {
                StatementKind::Drop(Dropped::Container(Variable::Field(_, of, dropped)), _) => {
                    *of == kind && *dropped == field
                }
                _ => false,
            })
        };
        let fields = table.fields.iter().enumerate();
        fields
            .filter(|(_, field)| field.kind.holds_messages())
            .map(|(at, _)| FieldId(at as u32))
            .filter(|field| !drops(*field))
            .collect()
    }

    /// The reason for which those are dropped.
    pub fn ended(&self, entity: EntityId) -> Option<ReasonId> {
        let mut reasons = self.reasons.iter();
        let place = reasons.position(|r| r.entity == entity && r.name == "ended");
        place.map(|at| ReasonId(at as u32))
    }

    /// The kind of sessions below, one of which the last key of this kind names: of the sessions of
    /// a multiplexor that stands on sessions which come and go.
    pub fn stands_on(&self, session: KindId) -> Option<KindId> {
        match self.kinds[session.at()].keys.last() {
            Some(Key {
                kind: Type::Instance(below),
                ..
            }) => Some(*below),
            Some(_) | None => None,
        }
    }

    /// The sessions of a multiplexor each of which stands on one of these.
    pub fn multiplexed_on(&self, session: KindId) -> Option<KindId> {
        let Population::Dynamic {
            above: Some(Place::Entity { entity, .. }),
        } = self.kinds[session.at()].population
        else {
            return None;
        };
        let above = self.entities[entity.at()].session;
        (self.stands_on(above) == Some(session)).then_some(above)
    }

    /// The kind of sessions with whose instances those of this one live and end: from below, the
    /// first of those that have the same index.
    pub fn lives_with(&self, kind: KindId) -> KindId {
        let mut kinds = (0..self.kinds.len() as u32).map(KindId);
        match kinds.find(|below| self.session_living_on(*below) == Some(kind)) {
            Some(below) => self.lives_with(below),
            None => kind,
        }
    }

    /// The kind of sessions above whose instances live and end with those of this one.
    pub fn session_living_on(&self, session: KindId) -> Option<KindId> {
        match self.kinds[session.at()].population {
            Population::Dynamic {
                above:
                    Some(Place::Entity {
                        entity,
                        index: SessionIndex::Same,
                        ..
                    }),
            } => Some(self.entities[entity.at()].session),
            Population::Dynamic { .. } | Population::Static(_) => None,
        }
    }
}
