//! Slots of instances and handles of buffers, as interpreters hold them: the meaning of
//! `runtime/pool.h`, with a map of keys where C has chains by their hash.
//!
//! ```
//! use stackloom::simulate::pool::Pool;
//! let mut neighbours = Pool::new(2);
//! assert_eq!(neighbours.create("here"), Some(0));
//! assert_eq!(neighbours.create("there"), Some(1));
//! assert_eq!(neighbours.create("nowhere"), None);          // all slots are taken
//! neighbours.end(0);
//! assert_eq!(neighbours.find(&"there"), Some(1));
//! assert_eq!(neighbours.create("elsewhere"), Some(0));     // what was given back last goes first
//! ```

use std::collections::BTreeMap;

/// Slots to be taken and given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slots {
    /// those given back; the last of them goes first
    free: Vec<u32>,
    /// of every slot that has ever been taken, whether it is now
    taken: Vec<bool>,
    capacity: u32,
}

impl Slots {
    /// Slots from 0 to before `capacity`, none of which is taken.
    pub fn new(capacity: u32) -> Slots {
        Slots {
            free: Vec::new(),
            taken: Vec::new(),
            capacity,
        }
    }

    /// The slot that was given back last, or else the next fresh one; none if all are taken.
    pub fn take(&mut self) -> Option<u32> {
        if let Some(slot) = self.free.pop() {
            self.taken[slot as usize] = true;
            return Some(slot);
        }
        let fresh = self.taken.len() as u32;
        (fresh < self.capacity).then(|| {
            self.taken.push(true);
            fresh
        })
    }

    /// Gives a slot back, which must be taken.
    pub fn give(&mut self, slot: u32) {
        assert!(self.has(slot), "a slot is given back once");
        self.taken[slot as usize] = false;
        self.free.push(slot);
    }

    /// Whether a slot is taken. Any number may be asked for.
    pub fn has(&self, slot: u32) -> bool {
        self.taken.get(slot as usize) == Some(&true)
    }

    /// The first slot from `slot` on that is taken.
    pub fn each(&self, slot: u32) -> Option<u32> {
        (slot..self.taken.len() as u32).find(|slot| self.has(*slot))
    }

    /// How many slots are left to take.
    pub fn left(&self) -> u32 {
        self.capacity - (self.taken.len() - self.free.len()) as u32
    }
}

/// Instances by key. Each has a slot, by which C and the interpreters number it alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool<K: Ord> {
    slots: Slots,
    found: BTreeMap<K, u32>,
}

impl<K: Ord> Pool<K> {
    /// No instances, and room for `capacity` of them.
    pub fn new(capacity: u32) -> Pool<K> {
        Pool {
            slots: Slots::new(capacity),
            found: BTreeMap::new(),
        }
    }

    /// The slot of the instance that has a key.
    pub fn find(&self, key: &K) -> Option<u32> {
        self.found.get(key).copied()
    }

    /// A slot for an instance with a key that no other must have; none if all are taken.
    pub fn create(&mut self, key: K) -> Option<u32> {
        assert!(
            !self.found.contains_key(&key),
            "a key belongs to one instance"
        );
        let slot = self.slots.take()?;
        self.found.insert(key, slot);
        Some(slot)
    }

    /// Gives the slot of an instance back.
    pub fn end(&mut self, slot: u32) {
        self.slots.give(slot);
        self.found.retain(|_, other| *other != slot);
    }

    /// Whether a slot is taken. Any number may be asked for.
    pub fn has(&self, slot: u32) -> bool {
        self.slots.has(slot)
    }

    /// The first slot from `slot` on that is taken: so all of them are visited in their order,
    /// whatever begins and ends meanwhile.
    pub fn each(&self, slot: u32) -> Option<u32> {
        self.slots.each(slot)
    }
}

/// Buffers of messages. One is taken as long as somebody has a handle of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffers {
    slots: Slots,
    /// by index: how many handles there are, 0 for those that are not taken
    handles: Vec<u32>,
}

impl Buffers {
    /// So many buffers, none of which is taken.
    pub fn new(count: u32) -> Buffers {
        Buffers {
            slots: Slots::new(count),
            handles: vec![0; count as usize],
        }
    }

    /// The index of a buffer, with one handle; none if no more than `reserve` are left.
    pub fn take(&mut self, reserve: u32) -> Option<u32> {
        if self.slots.left() <= reserve {
            return None;
        }
        let index = self.slots.take()?;
        self.handles[index as usize] = 1;
        Some(index)
    }

    /// Makes one more handle of a buffer, which must be taken.
    pub fn share(&mut self, index: u32) {
        assert!(self.has(index), "what is shared is there");
        self.handles[index as usize] += 1;
    }

    /// Gives one handle of a buffer back, which must be taken; with the last the buffer goes.
    pub fn give(&mut self, index: u32) {
        assert!(self.has(index), "a handle is given back once");
        self.handles[index as usize] -= 1;
        if self.handles[index as usize] == 0 {
            self.slots.give(index);
        }
    }

    /// Whether a buffer is taken. Any number may be asked for.
    pub fn has(&self, index: u32) -> bool {
        self.slots.has(index)
    }

    /// How many buffers are left to take.
    pub fn left(&self) -> u32 {
        self.slots.left()
    }
}
