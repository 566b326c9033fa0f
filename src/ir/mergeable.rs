//! Mergeable maps: what is known at the beginning of each block, where most blocks differ little
//! from those before.
//!
//! In: numbers, each with a value. Out: a map that is copied in no time, and merged with another in
//! the time of their differences, since both share the parts in which they are the same. It is a
//! binary trie by the bits of the number, the lowest first (Okasaki and Gill, "Fast Mergeable
//! Integer Maps", 1998).

use std::hash::Hash;
use std::rc::Rc;

/// A map from numbers to values.
#[derive(Clone, Debug)]
pub struct Mergeable<V>(Trie<V>);

#[derive(Clone, Debug)]
enum Trie<V> {
    Empty,
    /// One number alone.
    Leaf(u32, V),
    /// Numbers whose bit at this depth is 0, and those with 1.
    Fork(Rc<[Trie<V>; 2]>),
}

use Trie::{Empty, Fork, Leaf};

impl<V> Default for Mergeable<V> {
    fn default() -> Mergeable<V> {
        Mergeable(Empty)
    }
}

impl<V: Copy + Eq> Mergeable<V> {
    /// Returns a map without numbers.
    pub fn new() -> Mergeable<V> {
        Mergeable::default()
    }

    /// Returns the value of a number.
    pub fn get(&self, number: u32) -> Option<V> {
        let mut trie = &self.0;
        let mut bits = number;
        loop {
            match trie {
                Empty => return None,
                Leaf(own, value) => return (*own == number).then_some(*value),
                Fork(both) => {
                    trie = &both[bits as usize & 1];
                    bits >>= 1;
                }
            }
        }
    }

    /// Gives a number a value.
    pub fn insert(&mut self, number: u32, value: V) {
        // A map that has the value already stays shared.
        if self.get(number) != Some(value) {
            insert(&mut self.0, (number, value), 0);
        }
    }

    /// Merges another map into this one. Numbers with different values in both, or with none in
    /// one, get the value that `differing` returns for what this and the other have, in an order
    /// that hangs on the numbers alone.
    pub fn merge(
        &mut self,
        other: &Mergeable<V>,
        differing: &mut dyn FnMut(u32, Option<V>, Option<V>) -> Option<V>,
    ) {
        self.0 = merged(&self.0, &other.0, 0, differing);
    }
}

fn insert<V: Copy + Eq>(trie: &mut Trie<V>, (number, value): (u32, V), depth: u32) {
    match trie {
        Empty => *trie = Leaf(number, value),
        Leaf(own, old) if *own == number => *old = value,
        Leaf(own, old) => {
            let mut both = [Empty, Empty];
            both[bit(*own, depth)] = Leaf(*own, *old);
            insert(&mut both[bit(number, depth)], (number, value), depth + 1);
            *trie = Fork(Rc::new(both));
        }
        Fork(both) => {
            let both = Rc::make_mut(both);
            insert(&mut both[bit(number, depth)], (number, value), depth + 1);
        }
    }
}

fn merged<V: Copy + Eq>(
    one: &Trie<V>,
    other: &Trie<V>,
    depth: u32,
    differing: &mut dyn FnMut(u32, Option<V>, Option<V>) -> Option<V>,
) -> Trie<V> {
    match (one, other) {
        (Empty, Empty) => Empty,
        (Fork(own), Fork(others)) if Rc::ptr_eq(own, others) => one.clone(),
        (Leaf(number, value), Leaf(same, others)) if number == same => match value == others {
            true => one.clone(),
            false => leaf(*number, differing(*number, Some(*value), Some(*others))),
        },
        (Leaf(number, value), Empty) => leaf(*number, differing(*number, Some(*value), None)),
        (Empty, Leaf(number, value)) => leaf(*number, differing(*number, None, Some(*value))),
        _ => {
            let [own, others] = [one, other].map(|trie| parts(trie, depth));
            let both =
                [0, 1].map(|bit| merged(&own[bit], &others[bit], depth + 1, &mut *differing));
            // If the result is the same map, it shares memory with it, so the next merge of the
            // two finds by their addresses that they are equal.
            match (one, &both) {
                (Fork(own), both) if are_same(own, both) => one.clone(),
                (_, [Empty, Empty]) => Empty,
                _ => Fork(Rc::new(both)),
            }
        }
    }
}

fn leaf<V>(number: u32, value: Option<V>) -> Trie<V> {
    value.map_or(Empty, |value| Leaf(number, value))
}

/// The numbers with a bit, and those without.
fn parts<V: Copy>(trie: &Trie<V>, depth: u32) -> [Trie<V>; 2] {
    match trie {
        Empty => [Empty, Empty],
        Leaf(number, value) => {
            let mut both = [Empty, Empty];
            both[bit(*number, depth)] = Leaf(*number, *value);
            both
        }
        Fork(both) => [0, 1].map(|bit| match &both[bit] {
            Empty => Empty,
            Leaf(number, value) => Leaf(*number, *value),
            Fork(inner) => Fork(Rc::clone(inner)),
        }),
    }
}

fn are_same<V: Eq>(one: &[Trie<V>; 2], other: &[Trie<V>; 2]) -> bool {
    one.iter().zip(other).all(|both| match both {
        (Empty, Empty) => true,
        (Leaf(one, value), Leaf(other, others)) => one == other && value == others,
        (Fork(one), Fork(other)) => Rc::ptr_eq(one, other),
        _ => false,
    })
}

fn bit(number: u32, depth: u32) -> usize {
    (number >> depth) as usize & 1
}

/// Numbers for things, each the same for equal things, in the order in which they are met.
#[derive(Clone, Debug)]
pub struct Numbers<T>(rustc_hash::FxHashMap<T, u32>);

impl<T> Default for Numbers<T> {
    fn default() -> Numbers<T> {
        Numbers(rustc_hash::FxHashMap::default())
    }
}

impl<T: Eq + Hash> Numbers<T> {
    /// Returns numbers for nothing yet.
    pub fn new() -> Numbers<T> {
        Numbers::default()
    }

    /// Returns the number of a thing, which it gets if it has none.
    pub fn of(&mut self, thing: T) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(thing).or_insert(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// A map as a table does the same.
    #[test]
    fn random_maps_are_merged_as_tables_are() {
        let mut random = fastrand::Rng::with_seed(5);
        for _round in 0..300 {
            let mut maps = [(); 2].map(|()| (Mergeable::new(), BTreeMap::new()));
            let numbers = random.u32(1..200);
            for (map, table) in &mut maps {
                for _number in 0..random.u32(0..60) {
                    let (number, value) = (random.u32(0..numbers), random.u8(0..3));
                    map.insert(number, value);
                    table.insert(number, value);
                }
            }
            let [mut one, other] = maps;
            let shared = random.bool();
            let other = if shared { one.clone() } else { other };
            let rule = |one: Option<u8>, other: Option<u8>| match (one, other) {
                (Some(one), Some(other)) => Some(one.max(other) + 1),
                (one, None) => one,
                (None, _) => None,
            };
            let mut met = Vec::new();
            one.0.merge(&other.0, &mut |number, one, other| {
                met.push(number);
                rule(one, other)
            });
            for number in 0..numbers {
                let [first, second] = [&one.1, &other.1].map(|table| table.get(&number).copied());
                let wanted = if first == second {
                    first
                } else {
                    rule(first, second)
                };
                assert_eq!(one.0.get(number), wanted, "{number}");
                assert_eq!(met.contains(&number), first != second, "{number}");
            }
        }
    }

    #[test]
    fn what_is_shared_is_not_visited() {
        let mut one = Mergeable::new();
        (0..1_000).for_each(|number| one.insert(number, 7));
        let mut other = one.clone();
        other.insert(500, 8);
        let (Fork(before), mut met) = (one.0.clone(), 0) else {
            panic!("there are several numbers");
        };
        one.merge(&other, &mut |number, _, _| {
            met += number;
            Some(7)
        });
        assert_eq!(met, 500);
        let Fork(after) = &one.0 else {
            panic!("there are several numbers");
        };
        // The result is as before, so it is shared, too.
        assert!(Rc::ptr_eq(&before, after));
    }
}
