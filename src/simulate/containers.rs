//! Queue, window and set, as interpreters hold them: the meaning of `runtime/containers.h`, item
//! for item, without its slots. Numbers are modular: `largest` is the largest of their type, and
//! a number lies below another if it is more than `largest / 2` ahead of it.
//!
//! ```
//! use stackloom::simulate::containers::Window;
//! let mut early = Window::new(4, u32::from(u8::MAX));
//! assert_eq!(early.insert(1, "late"), Ok(()));
//! assert_eq!(early.insert(254, "first"), Ok(()));          // 254, 255, 0, 1: four numbers
//! assert_eq!(early.insert(2, "too far"), Err("too far"));
//! assert_eq!(early.take(254), Some("first"));
//! assert_eq!(early.first(), Some(1));
//! assert_eq!(early.release(255), None);                    // from now on 255 is the lower edge
//! assert_eq!(early.insert(254, "again"), Err("again"));
//! ```

use std::collections::{BTreeSet, VecDeque};

/// A queue of limited length: first in, first out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ring<T> {
    items: VecDeque<T>,
    capacity: usize,
}

impl<T> Ring<T> {
    /// An empty queue.
    pub fn new(capacity: usize) -> Ring<T> {
        Ring {
            items: VecDeque::new(),
            capacity,
        }
    }

    /// Adds an item behind all others, or returns it if the queue is full.
    pub fn push(&mut self, item: T) -> Result<(), T> {
        if self.items.len() == self.capacity {
            return Err(item);
        }
        self.items.push_back(item);
        Ok(())
    }

    /// Removes the oldest item.
    pub fn pop(&mut self) -> Option<T> {
        self.items.pop_front()
    }

    /// The items, from the oldest on.
    pub fn items(&self) -> impl Iterator<Item = &T> {
        self.items.iter()
    }

    /// How many items there can be.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Whether nothing more can be pushed.
    pub fn is_full(&self) -> bool {
        self.items.len() == self.capacity
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

/// Items by number, of which the last is less than `capacity` ahead of the first. Once there is a
/// lower edge, numbers below it, and those that are `capacity` or more ahead of it, are refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window<T> {
    /// the lowest number that can be inserted, once that is known
    edge: Option<u32>,
    /// from the first number held to the last; both ends are `Some`
    span: VecDeque<Option<T>>,
    /// the number of the front of the span
    first: u32,
    capacity: u32,
    largest: u32,
}

impl<T> Window<T> {
    /// An empty window without a lower edge. The capacity is at most half of all numbers.
    pub fn new(capacity: u32, largest: u32) -> Window<T> {
        assert!(
            capacity >= 1 && capacity - 1 <= largest / 2,
            "the numbers do not tell the order"
        );
        Window {
            edge: None,
            span: VecDeque::new(),
            first: 0,
            capacity,
            largest,
        }
    }

    /// Sets the lower edge of a window that is empty.
    pub fn begin(&mut self, edge: u32) {
        self.edge = Some(edge & self.largest);
    }

    /// The item of a number.
    pub fn get(&self, n: u32) -> Option<&T> {
        self.span.get(self.ahead(n) as usize)?.as_ref()
    }

    /// The items, in the order of their numbers.
    pub fn items(&self) -> impl Iterator<Item = &T> {
        self.span.iter().flatten()
    }

    /// Whether a number is held.
    pub fn has(&self, n: u32) -> bool {
        self.get(n).is_some()
    }

    /// The first number held.
    pub fn first(&self) -> Option<u32> {
        (!self.span.is_empty()).then_some(self.first)
    }

    /// Whether an item of this number would be taken.
    pub fn takes(&self, n: u32) -> bool {
        if self
            .ahead_of_edge(n)
            .is_some_and(|from| from >= self.capacity)
        {
            return false;
        }
        let before = self.first.wrapping_sub(n) & self.largest;
        self.span.is_empty()
            || self.ahead(n) < self.capacity && !self.has(n)
            || self.ahead(n) >= self.capacity
                && before as usize + self.span.len() <= self.capacity as usize
    }

    /// Adds an item, which may also lie before the first. Returns it if its number is held
    /// already, or if the last would then not be less than `capacity` ahead of the first, or of
    /// the lower edge, or if it lies below that edge. An empty window without a lower edge takes
    /// any number.
    pub fn insert(&mut self, n: u32, item: T) -> Result<(), T> {
        if !self.takes(n) {
            return Err(item);
        }
        if self.span.is_empty() {
            self.first = n;
        }
        let (ahead, before) = (self.ahead(n), self.first.wrapping_sub(n) & self.largest);
        if ahead < self.capacity {
            let length = self.span.len().max(ahead as usize + 1);
            self.span.resize_with(length, || None);
            self.span[ahead as usize] = Some(item);
        } else {
            (1..before).for_each(|_| self.span.push_front(None));
            self.span.push_front(Some(item));
            self.first = n;
        }
        Ok(())
    }

    /// Removes the item of a number.
    pub fn take(&mut self, n: u32) -> Option<T> {
        let ahead = self.ahead(n) as usize;
        let item = self.span.get_mut(ahead)?.take()?;
        while let Some(None) = self.span.front() {
            self.span.pop_front();
            self.first = self.first.wrapping_add(1) & self.largest;
        }
        while let Some(None) = self.span.back() {
            self.span.pop_back();
        }
        Some(item)
    }

    /// Moves the lower edge up to `to`, and removes the item of the first number if that lies
    /// below it: to be called until it returns nothing. The edge never moves down.
    pub fn release(&mut self, to: u32) -> Option<T> {
        if self.is_below_edge(to) {
            return None;
        }
        self.edge = Some(to & self.largest);
        let ahead = self.ahead(to);
        if ahead == 0 || ahead > self.largest / 2 {
            None
        } else {
            self.take(self.first)
        }
    }

    /// Removes an item that makes room for the number `n`: that of `n` itself, or else, if `n` is
    /// too far ahead of it, that of the first. To be called until it returns nothing. Then `n`
    /// can be inserted, unless it lies below the first and would have been the next to leave. The
    /// lower edge, if there is one, moves up as far as `n` needs; below it nothing is replaced.
    pub fn replace(&mut self, n: u32) -> Option<T> {
        if self.is_below_edge(n) {
            return None;
        }
        if self
            .ahead_of_edge(n)
            .is_some_and(|from| from >= self.capacity)
        {
            self.edge = Some(n.wrapping_sub(self.capacity - 1) & self.largest);
        }
        let ahead = self.ahead(n);
        if ahead < self.capacity {
            self.take(n)
        } else if ahead > self.largest / 2 {
            None
        } else {
            self.take(self.first)
        }
    }

    fn ahead(&self, n: u32) -> u32 {
        n.wrapping_sub(self.first) & self.largest
    }

    /// How far a number is ahead of the lower edge, if there is one.
    fn ahead_of_edge(&self, n: u32) -> Option<u32> {
        Some(n.wrapping_sub(self.edge?) & self.largest)
    }

    fn is_below_edge(&self, n: u32) -> bool {
        self.ahead_of_edge(n)
            .is_some_and(|from| from > self.largest / 2)
    }
}

/// Elements below a capacity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set {
    elements: BTreeSet<u32>,
    capacity: u32,
}

impl Set {
    /// An empty set.
    pub fn new(capacity: u32) -> Set {
        Set {
            elements: BTreeSet::new(),
            capacity,
        }
    }

    /// Whether an element is in the set.
    pub fn has(&self, element: u32) -> bool {
        self.elements.contains(&element)
    }

    /// Adds an element; false if it is there already, or lies beyond the capacity.
    pub fn insert(&mut self, element: u32) -> bool {
        element < self.capacity && self.elements.insert(element)
    }

    /// Removes an element; false if it is not there.
    pub fn remove(&mut self, element: u32) -> bool {
        self.elements.remove(&element)
    }

    /// Removes all elements.
    pub fn clear(&mut self) {
        self.elements.clear();
    }
}
