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

    /// The sessions of a multiplexor each of which stands on one of these, and is made and ended
    /// by itself; of labelled sessions, on those with this label.
    pub fn multiplexed_on(&self, session: KindId, label: Option<u32>) -> Option<KindId> {
        let Some(Place::Entity { entity, .. }) = self.place_above(session, label) else {
            return None;
        };
        let above = self.entities[entity.at()].session;
        let by_itself = matches!(
            self.kinds[above.at()].population,
            Population::Dynamic { .. }
        );
        (by_itself && self.stands_on(above).is_some()).then_some(above)
    }

    /// What stands on sessions that come and go; of labelled ones, on those with this label.
    pub fn place_above(&self, session: KindId, label: Option<u32>) -> Option<Place> {
        match (&self.kinds[session.at()].population, label) {
            (Population::Dynamic { above }, _) => *above,
            (Population::Labelled(all), Some(label)) => all[label as usize].above,
            (Population::Labelled(_), None) | (Population::Static(_), _) => None,
        }
    }

    /// The label of a session that has one, and the session below.
    pub fn label_of(&self, kind: KindId, index: u32) -> Option<(u32, u32)> {
        let below = self.sessions_below(kind)?;
        Some((index / below, index % below))
    }

    /// How many sessions there are below labelled ones: the index of a label's first session is
    /// that many times its place.
    pub fn sessions_below(&self, kind: KindId) -> Option<u32> {
        let table = &self.kinds[kind.at()];
        match &table.population {
            Population::Labelled(all) => Some(table.capacity / all.len() as u32),
            Population::Static(_) | Population::Dynamic { .. } => None,
        }
    }

    /// The kind of sessions with whose instances those of this one live and end: from below, the
    /// first of those that have the same index.
    pub fn lives_with(&self, kind: KindId) -> KindId {
        let entity = self.kinds[kind.at()].entity;
        if self.entities[entity.at()].session != kind {
            return kind;
        }
        let is_below = |below: &KindId| {
            let places = self.places_above(*below);
            let mut own = places.filter(|place| match place {
                Some(Place::Entity { entity: above, .. }) => *above == entity,
                Some(_) | None => false,
            });
            own.any(|place| !self.standing_at(place).is_empty())
        };
        let mut kinds = (0..self.kinds.len() as u32).map(KindId);
        let found = kinds.find(is_below);
        found.map_or(kind, |below| self.lives_with(below))
    }

    /// A kind, and the kinds of sessions whose instances live and end with its own: each behind
    /// what it stands on.
    pub fn living_with(&self, kind: KindId) -> Vec<Standing> {
        let itself = Standing {
            kind,
            label: None,
            first: 0,
        };
        let mut all = vec![itself];
        self.add_living(itself, &mut all);
        all
    }

    fn add_living(&self, below: Standing, all: &mut Vec<Standing>) {
        for standing in self.standing_at(self.place_above(below.kind, below.label)) {
            all.push(standing);
            self.add_living(standing, all);
        }
    }

    /// The sessions that live and end with those of a kind, and stand on them.
    pub fn living_on(&self, session: KindId) -> Vec<Standing> {
        let places = self.places_above(session);
        places.flat_map(|place| self.standing_at(place)).collect()
    }

    /// Returns the place above each session of a kind; none for a session that is always there.
    fn places_above(&self, session: KindId) -> impl Iterator<Item = Option<Place>> {
        let (alone, labelled) = match &self.kinds[session.at()].population {
            Population::Static(_) => (None, &[][..]),
            Population::Dynamic { above } => (Some(*above), &[][..]),
            Population::Labelled(all) => (None, &all[..]),
        };
        alone
            .into_iter()
            .chain(labelled.iter().map(|one| one.above))
    }

    fn standing_at(&self, place: Option<Place>) -> Vec<Standing> {
        let Some(Place::Entity { entity, index, .. }) = place else {
            return Vec::new();
        };
        let kind = self.entities[entity.at()].session;
        let table = &self.kinds[kind.at()];
        match (&table.population, index) {
            (Population::Labelled(all), _) => {
                let below = table.capacity / all.len() as u32;
                let labels = 0..all.len() as u32;
                let standing = labels.map(|label| Standing {
                    kind,
                    label: Some(label),
                    first: label * below,
                });
                standing.collect()
            }
            (Population::Dynamic { .. }, SessionIndex::Same) => vec![Standing {
                kind,
                label: None,
                first: 0,
            }],
            (Population::Dynamic { .. } | Population::Static(_), _) => Vec::new(),
        }
    }
}

/// Sessions that live and end with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Their kind.
    pub kind: KindId,
    /// Which of its labels.
    pub label: Option<u32>,
    /// What is added to the index of those below.
    pub first: u32,
}

impl Standing {
    /// The index of the one that stands on the session below with this index.
    pub fn index(self, below: u32) -> u32 {
        self.first + below
    }
}
