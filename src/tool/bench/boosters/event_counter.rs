//! The policy of the paper: the event counter of section 4.4 on the monitor of section 4.3.
//!
//! In: each frame, damaged or not, and the time. Out: whether the booster is wished. All numbers
//! are integers, so that a layer in Loom can do exactly the same.
//!
//! ```text
//! frame   s += damaged - (damaged W frames ago)                                   (equation 1)
//! poll    every T: s > 0: counter = min(N, counter + s); s = 0: counter = max(0, counter - 1)
//! wish    counter N: insert; counter 0: remove; between: as before
//! swap    clears the window, and keeps the counter
//! ```

use super::decision::{Damage, Decision};
use std::collections::VecDeque;

/// The parameters of a counter.
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    /// Frames in the window without and with the booster: `W`.
    pub windows: [u64; 2],
    /// The greatest value of the counter: `N`.
    pub most: u64,
    /// The time between two polls: `T`.
    pub period_ns: u64,
    /// The meaning of polls while no frame comes.
    pub silence: Silence,
}

/// The meaning of polls on a silent link, as during a retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// All polls count: the paper's thread wakes up every `T`. A window with a damaged frame goes
    /// on to increase the counter, and an empty one to decrease it.
    Polls,
    /// Polls without new frames increase the counter, and do not decrease it: a silent link inserts
    /// the booster, and does not remove it.
    Inserts,
    /// Polls wait for a frame, and all that came due meanwhile are one.
    Waits,
}

/// A counter at work.
#[derive(Clone, Debug)]
pub struct EventCounter {
    parameters: Parameters,
    /// True if frames are boosted now, and if they should be.
    boosted: bool,
    wish: bool,
    counter: u64,
    /// Frames since the swap, and at the last poll.
    frames: u64,
    polled: u64,
    /// The numbers of the damaged frames in the window: their count is `s`.
    damaged: VecDeque<u64>,
    next_poll_ns: u64,
}

impl EventCounter {
    /// Starts without the booster.
    pub fn new(parameters: Parameters) -> EventCounter {
        EventCounter {
            parameters,
            boosted: false,
            wish: false,
            counter: 0,
            frames: 0,
            polled: 0,
            damaged: VecDeque::new(),
            next_poll_ns: parameters.period_ns,
        }
    }

    /// Starts with the booster, and with the counter at its maximum.
    pub fn boosted(parameters: Parameters) -> EventCounter {
        EventCounter {
            boosted: true,
            wish: true,
            counter: parameters.most,
            ..EventCounter::new(parameters)
        }
    }

    fn poll(&mut self) {
        let sum = self.damaged.len() as u64;
        if sum > 0 {
            self.counter = self.parameters.most.min(self.counter + sum);
        } else if self.frames > self.polled || self.parameters.silence != Silence::Inserts {
            self.counter = self.counter.saturating_sub(1);
        }
        self.polled = self.frames;
        if self.counter == self.parameters.most {
            self.wish = true;
        } else if self.counter == 0 {
            self.wish = false;
        }
    }
}

impl Decision for EventCounter {
    fn frame(&mut self, damage: Damage, now_ns: u64) {
        if self.parameters.silence == Silence::Waits && now_ns >= self.next_poll_ns {
            self.next_poll_ns += self.parameters.period_ns;
            if self.next_poll_ns < now_ns {
                self.next_poll_ns = now_ns + self.parameters.period_ns;
            }
            self.poll();
        }
        if damage != Damage::None {
            self.damaged.push_back(self.frames);
        }
        self.frames += 1;
        let window = self.parameters.windows[usize::from(self.boosted)];
        let oldest = self.frames.saturating_sub(window);
        while self.damaged.front().is_some_and(|&frame| frame < oldest) {
            self.damaged.pop_front();
        }
    }

    fn timer_ns(&self) -> Option<u64> {
        (self.parameters.silence != Silence::Waits).then_some(self.next_poll_ns)
    }

    fn expired(&mut self) {
        self.next_poll_ns += self.parameters.period_ns;
        self.poll();
    }

    fn wish(&self) -> usize {
        usize::from(self.wish)
    }

    fn swapped(&mut self, variant: usize) {
        self.boosted = variant > 0;
        (self.frames, self.polled) = (0, 0);
        self.damaged.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::{EventCounter, Parameters, Silence};
    use crate::tool::bench::boosters::decision::{Damage, Decision};

    const SMALL: Parameters = Parameters {
        windows: [4, 6],
        most: 3,
        period_ns: 10,
        silence: Silence::Polls,
    };

    /// The counter after each poll, where so many frames come before it.
    fn counters(counter: &mut EventCounter, polls: &[&[bool]]) -> Vec<u64> {
        let poll = |frames: &&[bool]| {
            for &damaged in *frames {
                counter.frame(if damaged { Damage::Lost } else { Damage::None }, 0);
            }
            counter.expired();
            counter.counter
        };
        polls.iter().map(poll).collect()
    }

    #[test]
    fn the_window_forgets_a_frame_when_w_newer_ones_came() {
        let mut counter = EventCounter::new(SMALL);
        let (bad, good) = (true, false);
        let polls: [&[bool]; 4] = [&[bad, good], &[good], &[good], &[good]];
        assert_eq!(counters(&mut counter, &polls), [1, 2, 3, 2]);
        assert_eq!(
            counter.wish(),
            1,
            "the counter was at its maximum, and is not yet at zero"
        );
    }

    #[test]
    fn removal_needs_as_many_polls_as_the_counter_has() {
        let mut counter = EventCounter::new(SMALL);
        let polls: [&[bool]; 1] = [&[true, true, true, true]];
        assert_eq!(counters(&mut counter, &polls), [3]);
        counter.swapped(1);
        let polls: [&[bool]; 3] = [&[false], &[false], &[false]];
        assert_eq!(counters(&mut counter, &polls), [2, 1, 0]);
        assert_eq!(counter.wish(), 0);
    }

    #[test]
    fn a_silent_link_removes_only_where_all_polls_count() {
        for (silence, expected) in [(Silence::Inserts, [3, 3]), (Silence::Polls, [2, 1])] {
            let mut counter = EventCounter::new(Parameters { silence, ..SMALL });
            let polls: [&[bool]; 1] = [&[true, true, true, true]];
            counters(&mut counter, &polls);
            counter.swapped(1);
            assert_eq!(counters(&mut counter, &[&[], &[]]), expected);
        }
    }

    #[test]
    fn polls_that_wait_for_a_frame_are_one() {
        let silence = Silence::Waits;
        let mut counter = EventCounter::new(Parameters { silence, ..SMALL });
        assert_eq!(counter.timer_ns(), None);
        for (now_ns, expected) in [(5, 0), (100, 1), (101, 1), (110, 2)] {
            let damage = [Damage::None, Damage::Lost][usize::from(now_ns == 5)];
            counter.frame(damage, now_ns);
            assert_eq!(counter.counter, expected, "at {now_ns} ns");
        }
    }
}
