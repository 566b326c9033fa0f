//! All timers of a stack, as interpreters hold them: the meaning of `runtime/timers.h`.
//!
//! ```
//! use stackloom::simulate::timers::Timers;
//! let mut timers = Timers::default();
//! timers.start("retry", 20);
//! timers.start("expiry", 10);
//! timers.start("expiry", 20);                              // anew: now behind `retry`
//! assert_eq!(timers.first(), Some(&"retry"));
//! assert_eq!(timers.deadline_ns(), Some(20));
//! ```

use std::collections::{BTreeMap, BTreeSet};

/// Timers, told apart by ids, in the order in which they expire: by their deadlines, and those of
/// one deadline in the order of their starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timers<I: Ord> {
    /// those that are running: deadline and order of start
    running: BTreeMap<I, (u64, u64)>,
    /// the same, in the order in which they expire
    queue: BTreeSet<(u64, u64, I)>,
    /// how many starts there have been
    starts: u64,
}

impl<I: Ord> Default for Timers<I> {
    fn default() -> Timers<I> {
        Timers {
            running: BTreeMap::new(),
            queue: BTreeSet::new(),
            starts: 0,
        }
    }
}

impl<I: Ord + Clone> Timers<I> {
    /// Starts a timer. If it is running, it starts anew.
    pub fn start(&mut self, id: I, deadline_ns: u64) {
        self.stop(&id);
        self.running.insert(id.clone(), (deadline_ns, self.starts));
        self.queue.insert((deadline_ns, self.starts, id));
        self.starts += 1;
    }

    /// Stops a timer; one that is not running stays so.
    pub fn stop(&mut self, id: &I) {
        if let Some((id, (deadline_ns, order))) = self.running.remove_entry(id) {
            self.queue.remove(&(deadline_ns, order, id));
        }
    }

    /// Whether a timer is running.
    pub fn is_running(&self, id: &I) -> bool {
        self.running.contains_key(id)
    }

    /// When a timer expires, and its place among those of one deadline; none if it is not running.
    pub fn expires(&self, id: &I) -> Option<(u64, u64)> {
        self.running.get(id).copied()
    }

    /// The timer that expires first.
    pub fn first(&self) -> Option<&I> {
        self.queue.first().map(|(_, _, id)| id)
    }

    /// When that timer expires.
    pub fn deadline_ns(&self) -> Option<u64> {
        self.queue.first().map(|(deadline_ns, _, _)| *deadline_ns)
    }
}
