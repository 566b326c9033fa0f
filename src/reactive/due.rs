//! The outputs that are due at the end of a path.

use crate::tree::Output;
use crate::types::process::StatementId;
use crate::types::statement::PlaceId;

/// The outputs that are due at the end of a path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Due {
    pub outputs: Vec<Output>,
    /// Where others wait on the agenda already: the first of all, if it is handled at once.
    pub at_once: Option<Vec<Output>>,
    pub again: bool,
    /// Which branch is at work, since the outputs that are not placed yet.
    pub place: Option<PlaceId>,
    /// The branches that the first outputs are due to.
    pub placed: Vec<PlaceId>,
}

impl Due {
    /// The outputs of the branch at work take their places: before those of branches that run in
    /// parallel to it and stand behind it.
    pub fn settle(&mut self, places: &[Vec<(StatementId, u32)>]) {
        let Some(place) = self.place else { return };
        let of = |place: &PlaceId| &places[place.0 as usize];
        let fresh = self
            .outputs
            .split_off(self.placed.len().min(self.outputs.len()));
        let mut placed = self.placed.iter();
        let at = placed.position(|other| stands_before(of(&place), of(other)));
        let at = at.unwrap_or(self.outputs.len());
        self.placed.splice(at..at, fresh.iter().map(|_| place));
        self.outputs.splice(at..at, fresh);
    }
}

/// Whether a branch runs in parallel to another one, and stands before it.
fn stands_before(one: &[(StatementId, u32)], other: &[(StatementId, u32)]) -> bool {
    let mut ways = one.iter().zip(other).filter(|(one, other)| one != other);
    ways.next()
        .is_some_and(|(one, other)| one.0 == other.0 && one.1 < other.1)
}
