//! Explores all states of a booster, a debooster and the link between them, breadth first.
//!
//! In: the machines and a link. Out: how many states there are, and the shortest way to one that is
//! wrong. The policies of both ends may want any layer at any time.

use crate::model::{Booster, Debooster, Machines, Message, Word};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// The most messages under way in a direction; more are lost.
const MOST: usize = 2;

/// The protocol that is explored.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    pub machines: Machines,
    /// The highest layer.
    pub layers: u8,
    /// None: messages keep their order. Else they are repeated and reordered, and none is kept for
    /// more epochs than this.
    pub lifetime: Option<u8>,
}

/// A state of both machines and of the link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct State {
    pub booster: Booster,
    pub debooster: Debooster,
    forward: Vec<Message>,
    back: Vec<Message>,
}

/// All states that can be reached.
pub struct Explored {
    states: IndexMap<State, Option<usize>, FxBuildHasher>,
    /// The states that lead to each state by any event but a wish.
    from: Vec<Vec<usize>>,
}

impl State {
    /// Returns true if nothing happens any more unless a policy wants something.
    fn is_silent(&self) -> bool {
        let repeats = self.booster.repeated().is_some() || self.debooster.repeated().is_some();
        !repeats && self.forward.is_empty() && self.back.is_empty()
    }

    /// Returns true if both ends hold the same layer active, in the same epoch.
    fn agrees(&self) -> bool {
        let layer = self.booster.layer;
        let is_same = layer == self.debooster.far && layer == self.debooster.wanted;
        is_same && (layer == 0 || self.booster.epoch == self.debooster.epoch)
    }

    fn send(&mut self, sent: Vec<Message>) {
        for message in sent {
            let channel = match message.word {
                Word::Begin | Word::Ending | Word::Ended => &mut self.forward,
                Word::Boost | Word::Started | Word::Abort | Word::Idle => &mut self.back,
            };
            if channel.len() < MOST {
                channel.push(message);
            }
        }
    }
}

impl Protocol {
    pub fn explore(&self) -> Explored {
        let mut states: IndexMap<State, Option<usize>, FxBuildHasher> = IndexMap::default();
        states.insert(State::default(), None);
        let mut from = vec![Vec::new()];
        let mut next = 0;
        while let Some((state, _)) = states.get_index(next) {
            let state = state.clone();
            let mut wishes = Vec::new();
            let mut others = Vec::new();
            self.wishes(&state, &mut wishes);
            self.others(&state, &mut others);
            let wished = wishes.len();
            for (at, mut following) in wishes.into_iter().chain(others).enumerate() {
                self.forget(&mut following);
                let entry = states.entry(following);
                let place = entry.index();
                entry.or_insert(Some(next));
                if place == from.len() {
                    from.push(Vec::new());
                }
                if at >= wished {
                    from[place].push(next);
                }
            }
            next += 1;
        }
        Explored { states, from }
    }

    fn wishes(&self, state: &State, found: &mut Vec<State>) {
        for layer in 0..=self.layers {
            let mut next = state.clone();
            let sent = self.machines.swap(&mut next.booster, layer);
            next.send(sent);
            found.push(next);
            let mut next = state.clone();
            let sent = self.machines.wish(&mut next.debooster, layer);
            next.send(sent);
            found.push(next);
        }
    }

    fn others(&self, state: &State, found: &mut Vec<State>) {
        let repeated = [state.booster.repeated(), state.debooster.repeated()];
        for message in repeated.into_iter().flatten() {
            let mut next = state.clone();
            next.send(vec![message]);
            found.push(next);
        }
        for is_forward in [true, false] {
            let channel = if is_forward {
                &state.forward
            } else {
                &state.back
            };
            for (place, &message) in channel.iter().enumerate() {
                let mut without = state.clone();
                match is_forward {
                    true => without.forward.remove(place),
                    false => without.back.remove(place),
                };
                found.push(without.clone());
                if self.lifetime.is_none() && place > 0 {
                    continue;
                }
                let repeats = self.lifetime.is_some().then(|| state.clone());
                for mut next in [Some(without), repeats].into_iter().flatten() {
                    let sent = match is_forward {
                        true => self.machines.to_debooster(&mut next.debooster, message),
                        false => self.machines.to_booster(&mut next.booster, message),
                    };
                    next.send(sent);
                    found.push(next);
                }
            }
        }
    }

    /// Removes messages that are older than the link keeps them. The order of those on a link that
    /// reorders does not matter.
    fn forget(&self, state: &mut State) {
        let Some(lifetime) = self.lifetime else {
            return;
        };
        let (newest, epochs) = (state.booster.epoch, self.machines.epochs);
        for channel in [&mut state.forward, &mut state.back] {
            channel.retain(|it| (newest + epochs - it.epoch) % epochs <= lifetime);
            channel.sort_unstable();
        }
    }
}

impl Explored {
    pub fn count(&self) -> usize {
        self.states.len()
    }

    /// Returns the shortest way to a silent state in which the ends differ.
    pub fn mismatch(&self) -> Option<Vec<&State>> {
        let mut states = self.states.iter();
        let (last, _) = states.find(|(state, _)| state.is_silent() && !state.agrees())?;
        let mut way = vec![last];
        while let Some(&Some(before)) = self.states.get(way[way.len() - 1]) {
            let (state, _) = self.states.get_index(before).expect("it was explored");
            way.push(state);
        }
        way.reverse();
        Some(way)
    }

    /// Returns how many states never come to agree unless a policy wants something.
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
}
