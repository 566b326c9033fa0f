//! Explores all states of two machines and their link, breadth first.
//!
//! In: a protocol. Out: all states, each with the shortest way to it, and what is wrong with them.

use crate::machine::{Booster, Debooster};
use crate::network::{Event, Protocol, State};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// The state from which a state was first found, and the event between them.
type Origin = Option<(usize, Event)>;

/// All states that can be reached.
pub struct Explored {
    states: IndexMap<State, Origin, FxBuildHasher>,
    /// The states that lead to each state by any event but a wish.
    from: Vec<Vec<usize>>,
}

/// Explores a protocol.
pub fn explore(protocol: &Protocol) -> Explored {
    let mut states: IndexMap<State, Origin, FxBuildHasher> = IndexMap::default();
    states.insert(State::FIRST, None);
    let mut from = vec![Vec::new()];
    let mut next = 0;
    while let Some((state, _)) = states.get_index(next) {
        for (event, following) in protocol.follow(&state.clone()) {
            let entry = states.entry(following);
            let place = entry.index();
            entry.or_insert(Some((next, event)));
            if place == from.len() {
                from.push(Vec::new());
            }
            if !event.is_wish() {
                from[place].push(next);
            }
        }
        next += 1;
    }
    Explored { states, from }
}

impl Explored {
    pub fn count(&self) -> usize {
        self.states.len()
    }

    /// Returns the silent states in which the ends differ, the nearest first.
    pub fn mismatches(&self) -> Vec<State> {
        let silent = self.states.keys().filter(|state| state.is_silent());
        silent.filter(|state| !state.agrees()).copied().collect()
    }

    /// Returns how many states never come to agree unless a policy wishes something.
    pub fn stuck(&self) -> usize {
        let agrees = |state: &State| state.is_silent() && state.agrees();
        let mut comes: Vec<bool> = self.states.keys().map(agrees).collect();
        let mut waiting: Vec<usize> = (0..comes.len()).filter(|&state| comes[state]).collect();
        while let Some(state) = waiting.pop() {
            for &before in &self.from[state] {
                if !std::mem::replace(&mut comes[before], true) {
                    waiting.push(before);
                }
            }
        }
        comes.iter().filter(|comes| !**comes).count()
    }

    /// Returns true if both ends are ever boosted.
    pub fn boosts(&self) -> bool {
        let boosted = (Booster::RunBoostSilent, Debooster::RunDeboost);
        self.states
            .keys()
            .any(|state| (state.booster, state.debooster) == boosted)
    }

    /// Returns the shortest way to a state: events, each with the state behind it.
    pub fn way(&self, state: &State) -> Vec<(Event, State)> {
        let mut way = Vec::new();
        let mut last = *state;
        while let Some(&Some((before, event))) = self.states.get(&last) {
            way.push((event, last));
            last = *self
                .states
                .get_index(before)
                .expect("a state was found from another")
                .0;
        }
        way.reverse();
        way
    }
}
