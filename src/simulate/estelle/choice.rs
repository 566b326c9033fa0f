//! The five sources of choice of a specification, and the three ways to decide them.
//!
//! A choice has a source, the path of an instance and a number of possibilities. By seed, each pair
//! of source and path has a generator of its own, so that one more module does not change the
//! choices of the others. A choice with one possibility draws nothing.

use fastrand::Rng;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A source of choice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Source {
    /// N1: the transition that an instance offers.
    Offer,
    /// N2: the child of an activity that runs.
    Child,
    /// N3: the order of executions in a step, and of systems.
    Order,
    /// N4: the time within the bounds of a delay.
    Time,
    /// N5: the element of `forone`, and the alternative of `initialize`.
    Element,
}

/// The way in which choices are decided.
#[derive(Debug)]
pub enum Choices {
    /// The first possibility: order of declaration, order of creation, the least time.
    First,
    /// By generators that a seed sets up.
    Seeded(Generators),
    /// By a list of choices, which an exploration writes.
    Scripted(Script),
}

impl Choices {
    /// Returns choices by seed.
    pub fn seeded(seed: u64) -> Choices {
        Choices::Seeded(Generators {
            seed,
            of: BTreeMap::new(),
        })
    }

    /// Chooses one of `count` possibilities, counted from 0.
    pub fn choose(&mut self, source: Source, path: &Rc<str>, count: u64) -> u64 {
        if count <= 1 {
            return 0;
        }
        match self {
            Choices::First => 0,
            Choices::Seeded(generators) => generators.generator(source, path).u64(0..count),
            Choices::Scripted(script) => script.next(count),
        }
    }
}

/// The generators of one run.
#[derive(Debug)]
pub struct Generators {
    seed: u64,
    of: BTreeMap<(Source, Rc<str>), Rng>,
}

impl Generators {
    fn generator(&mut self, source: Source, path: &Rc<str>) -> &mut Rng {
        let seed = self.seed;
        let key = (source, Rc::clone(path));
        self.of
            .entry(key)
            .or_insert_with(|| Rng::with_seed(mixed(seed, source, path)))
    }
}

/// Mixes seed, source and path to the seed of one generator (FNV-1a, then SplitMix64).
pub fn mixed(seed: u64, source: Source, path: &str) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let start = seed.to_le_bytes();
    let bytes = start.iter().copied().chain([source as u8]);
    for byte in bytes.chain(path.bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ hash >> 31
}

/// Choices that are written down: first those of the list, then the first possibility. It keeps
/// the number of possibilities of each, so that [`Script::advance`] tries all of them in turn.
#[derive(Clone, Default, Debug)]
pub struct Script {
    chosen: Vec<u32>,
    counts: Vec<u32>,
    at: usize,
}

impl Script {
    /// Returns a script that repeats these choices.
    pub fn repeating(chosen: Vec<u32>) -> Script {
        Script {
            chosen,
            ..Script::default()
        }
    }

    /// Returns the choices that were taken.
    pub fn taken(&self) -> &[u32] {
        &self.chosen[..self.at]
    }

    /// Goes on to the next list of choices. Returns false if all were tried.
    pub fn advance(&mut self) -> bool {
        self.chosen.truncate(self.at);
        self.counts.truncate(self.at);
        self.at = 0;
        while let (Some(last), Some(count)) = (self.chosen.pop(), self.counts.pop()) {
            if last + 1 < count {
                self.chosen.push(last + 1);
                self.counts.push(count);
                return true;
            }
        }
        false
    }

    fn next(&mut self, count: u64) -> u64 {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        if self.at == self.chosen.len() {
            self.chosen.push(0);
        }
        self.counts.truncate(self.at);
        self.counts.push(count);
        let chosen = self.chosen[self.at].min(count - 1);
        self.at += 1;
        u64::from(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_tries_each_list_of_choices_once() {
        let path: Rc<str> = Rc::from("a");
        let mut choices = Choices::Scripted(Script::default());
        let mut seen = Vec::new();
        loop {
            let first = choices.choose(Source::Offer, &path, 2);
            let second = match first {
                0 => choices.choose(Source::Offer, &path, 3),
                _ => 9,
            };
            seen.push((first, second));
            let Choices::Scripted(script) = &mut choices else {
                unreachable!("the choices are those of a script")
            };
            if !script.advance() {
                break;
            }
        }
        assert_eq!(seen, [(0, 0), (0, 1), (0, 2), (1, 9)]);
    }

    #[test]
    fn choices_of_one_path_do_not_depend_on_those_of_another() {
        let draw = |others: usize| {
            let mut choices = Choices::seeded(7);
            let (own, other): (Rc<str>, Rc<str>) = (Rc::from("a.b"), Rc::from("a.c"));
            let mut drawn = Vec::new();
            for _ in 0..8 {
                for _ in 0..others {
                    choices.choose(Source::Offer, &other, 10);
                    choices.choose(Source::Child, &own, 10);
                }
                drawn.push(choices.choose(Source::Offer, &own, 1000));
            }
            drawn
        };
        assert_eq!(draw(0), draw(3));
    }
}
