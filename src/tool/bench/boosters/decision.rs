//! The interface between a policy and the simulation of its link.
//!
//! In: frames as they come, and timers. Out: the variant that is wished; signalling takes the time
//! between a wish and its swap.

/// The effect of the link on a frame, as its receiver sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// No bit is wrong.
    None,
    /// So many wrong bits were corrected.
    Corrected(u32),
    /// The frame is lost: it has more errors than its code corrects.
    Lost,
}

/// A policy as the simulation sees it. Variants are numbered by strength; 0 is `off`.
pub trait Decision {
    /// Counts a frame that came.
    fn frame(&mut self, damage: Damage, now_ns: u64);
    /// Returns when the next timer expires.
    fn timer_ns(&self) -> Option<u64>;
    /// Reacts to that timer.
    fn expired(&mut self);
    /// Returns the variant that is wished.
    fn wish(&self) -> usize;
    /// Hears that frames are of this variant from now on.
    fn swapped(&mut self, variant: usize);
}

/// No policy: one variant for ever.
#[derive(Clone, Copy, Debug)]
pub struct Always(pub usize);

impl Decision for Always {
    fn frame(&mut self, _damage: Damage, _now_ns: u64) {}

    fn timer_ns(&self) -> Option<u64> {
        None
    }

    fn expired(&mut self) {}

    fn wish(&self) -> usize {
        self.0
    }

    fn swapped(&mut self, _variant: usize) {}
}
