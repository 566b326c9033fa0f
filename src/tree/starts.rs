//! What a link starts: in, the place above it and the trees that there are; out, the reactions that
//! begin there.

use super::{Index, Reaction};
use crate::types::program::{Event, Place, Program, SessionIndex};

/// A frame or a notice comes to a place from below: the reactions that begin, of those that have a
/// tree; several where all sessions hear it.
pub fn above(
    program: &Program,
    place: Place,
    event: Event,
    has_tree: impl Fn(Reaction) -> bool,
) -> Vec<Reaction> {
    let Place::Entity {
        entity: id,
        index,
        joint,
    } = place
    else {
        return Vec::new();
    };
    let entity = &program.entities[id.at()];
    let only = match index {
        SessionIndex::Only(only) => Index::Only(only),
        SessionIndex::Same | SessionIndex::Keyed => Index::Any,
        SessionIndex::Label(label) => Index::Label(label),
    };
    let arrive = |index| Reaction::Arrive {
        entity: id,
        joint,
        index,
        event,
    };
    let record = Reaction::Handle {
        kind: entity.record,
        index: Index::Only(0),
        event,
    };
    let first = [arrive(Index::Any), arrive(only), record];
    if let Some(reaction) = first.into_iter().find(|one| has_tree(*one)) {
        return vec![reaction];
    }
    let count = program.kinds[entity.session.at()].capacity;
    let sessions = (0..count).map(|at| Reaction::Handle {
        kind: entity.session,
        index: Index::Only(at),
        event,
    });
    sessions.filter(|one| has_tree(*one)).collect()
}
