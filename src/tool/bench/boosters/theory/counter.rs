//! The event counter of the paper as a Markov chain (Boosters 1999, section 5.2).
//!
//! In: windows, frame lengths and the counter's maximum. Out: the share of time boosted, and the
//! polls that an insertion or a removal takes, at a bit error rate.
//!
//! ```text
//! poll    s = damaged frames among the newest W
//!         s > 0: counter += s, at most N; s = 0: counter -= 1, at least 0
//! states  0 1 .. N-1      not boosted, by counter; a counter of N inserts the booster
//!         N N-1 .. 1      boosted, by counter; a counter of 0 removes it
//! ```

use super::bernoulli::{errors, frame_error_rate};
use super::markov::Chain;

/// A monitor: it counts the damaged frames of a window.
#[derive(Clone, Copy, Debug)]
pub struct Monitor {
    /// Frames in the window: `W`.
    pub window: u32,
    /// Bits of a frame on the link: `L`.
    pub frame_bits: f64,
}

impl Monitor {
    /// Returns the probabilities of readings (equation 4), and those of reading at least as much.
    fn readings(&self, bit_error_rate: f64) -> [Vec<f64>; 2] {
        let exactly = errors(
            self.window,
            frame_error_rate(bit_error_rate, self.frame_bits),
        );
        let mut at_least = exactly.clone();
        for count in (1..at_least.len()).rev() {
            at_least[count - 1] += at_least[count];
        }
        [exactly, at_least]
    }
}

/// A counter with its monitors. Windows must not overlap: a poll sees only frames that are new.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    /// The greatest value of the counter: `N`.
    pub most: u32,
    /// The monitor without the booster.
    pub off: Monitor,
    /// The monitor with it.
    pub on: Monitor,
}

impl Counter {
    /// Returns the counter of the paper with this maximum: frames of 1,500 bytes, windows of 512
    /// and 768 frames, and twice the bits where boosted.
    pub fn of_paper(most: u32) -> Counter {
        let monitor = |window, frame_bits| Monitor { window, frame_bits };
        let (off, on) = (monitor(512, 12_000.0), monitor(768, 24_000.0));
        Counter { most, off, on }
    }

    /// Returns the chain of Figure 8 at a bit error rate.
    fn chain(&self, bit_error_rate: f64) -> Chain {
        let mut chain = Chain::new(2 * self.most as usize);
        let [off, on] = [self.off, self.on].map(|monitor| monitor.readings(bit_error_rate));
        for value in 0..self.most {
            for (next, probability) in self.poll(&off, value) {
                chain.add(value as usize, next as usize, probability);
            }
        }
        for value in 1..=self.most {
            for (next, probability) in self.poll(&on, value) {
                let to = if next == 0 { 0 } else { self.boosted(next) };
                chain.add(self.boosted(value), to, probability);
            }
        }
        chain
    }

    /// Returns the values of the counter after a poll, with their probabilities (Figure 4).
    fn poll(&self, [exactly, at_least]: &[Vec<f64>; 2], value: u32) -> Vec<(u32, f64)> {
        let enough = (self.most - value).max(1) as usize;
        let probability = |of: &[f64], count: usize| of.get(count).copied().unwrap_or_default();
        let mut next = vec![(value.saturating_sub(1), exactly[0])];
        for (to, count) in (value + 1..).zip(1..enough) {
            next.push((to, probability(exactly, count)));
        }
        next.push((self.most, probability(at_least, enough)));
        next
    }

    /// Returns the number of a boosted state.
    fn boosted(&self, value: u32) -> usize {
        (2 * self.most - value) as usize
    }

    /// Returns the probability of the state that removes, that of the state that inserts, and that
    /// of all boosted states (Figure 9).
    pub fn shares(&self, bit_error_rate: f64) -> [f64; 3] {
        let shares = self.chain(bit_error_rate).stationary();
        let most = self.most as usize;
        [shares[0], shares[most], shares[most..].iter().sum()]
    }

    /// Returns the probabilities of the state that removes and of the state that inserts, after
    /// each of so many polls from a counter of 0 on (Figure 10).
    pub fn transition(&self, bit_error_rate: f64, polls: usize) -> Vec<[f64; 2]> {
        let chain = self.chain(bit_error_rate);
        let most = self.most as usize;
        let mut weights = vec![0.0; 2 * most];
        weights[0] = 1.0;
        let poll = |_| {
            weights = chain.step(&weights);
            [weights[0], weights[most]]
        };
        (0..polls).map(poll).collect()
    }

    /// Returns the bit error rate at which a share of the time is boosted.
    pub fn rate_of_share(&self, share: f64) -> f64 {
        let (mut low, mut high) = (1e-10_f64, 1e-5_f64);
        while high / low > 1.0 + 1e-4 {
            let middle = (low * high).sqrt();
            if self.shares(middle)[2] > share {
                high = middle;
            } else {
                low = middle;
            }
        }
        low
    }

    /// Returns the mean number of polls from a counter of 0 to the insertion.
    pub fn mean_polls_to_insert(&self, bit_error_rate: f64) -> f64 {
        self.chain(bit_error_rate).mean_steps(0, self.most as usize)
    }

    /// Returns the mean number of polls from the insertion to the removal.
    pub fn mean_polls_to_remove(&self, bit_error_rate: f64) -> f64 {
        self.chain(bit_error_rate).mean_steps(self.most as usize, 0)
    }

    /// Returns the number of polls after which a share of all runs is boosted (Figure 10), if that
    /// takes at most `limit` polls.
    pub fn polls_until_inserted(&self, bit_error_rate: f64, share: f64, limit: u32) -> Option<u32> {
        let ends = [0, self.most as usize];
        self.chain(bit_error_rate).steps_until(ends, share, limit)
    }
}

#[cfg(test)]
mod tests {
    use super::Counter;
    use crate::tool::bench::boosters::theory::bernoulli::apart;

    /// The bit error rates at which 10, 50 and 90 % of the time are boosted: to three digits.
    #[test]
    fn a_greater_maximum_makes_the_uncertain_region_narrower() {
        let expected = [
            (5, [4.03e-8, 5.31e-8, 6.77e-8]),
            (10, [4.66e-8, 5.22e-8, 5.81e-8]),
            (25, [4.98e-8, 5.18e-8, 5.38e-8]),
        ];
        for (most, rates) in expected {
            for (share, expected) in [0.1, 0.5, 0.9].into_iter().zip(rates) {
                let rate = Counter::of_paper(most).rate_of_share(share);
                assert!(apart(rate, expected) < 2e-3, "N {most}, {share}: {rate:e}");
            }
        }
    }

    #[test]
    fn shares_rise_with_the_bit_error_rate_where_a_general_solver_let_them_fall() {
        let shares = [1e-8, 3e-8, 5e-8, 7e-8, 1e-7].map(|rate| Counter::of_paper(50).shares(rate));
        for pair in shares.windows(2) {
            assert!(
                pair[1][2] > pair[0][2] && pair[1][0] < pair[0][0],
                "{shares:?}"
            );
        }
    }

    /// The medians were computed with `L p` for the frame error rate, which is 0.06 % greater.
    #[test]
    fn insertion_takes_as_many_polls_as_computed_before() {
        let expected = [
            (5, 18.7, 14),
            (10, 56.0, 44),
            (25, 223.0, 182),
            (50, 553.0, 477),
        ];
        for (most, mean, median) in expected {
            let counter = Counter::of_paper(most);
            let polls = counter.mean_polls_to_insert(1e-7);
            assert!(apart(polls, mean) < 1e-2, "N {most}: {polls}");
            let polls = counter.polls_until_inserted(1e-7, 0.5, 1000);
            let polls = polls.expect("it is inserted within 1,000 polls");
            assert!(
                apart(f64::from(polls), f64::from(median)) < 1e-2,
                "N {most}: {polls}"
            );
        }
        for (rate, mean) in [(1.5e-7, 46.0), (2e-7, 27.0), (1e-6, 4.6), (1e-5, 1.0)] {
            let polls = Counter::of_paper(25).mean_polls_to_insert(rate);
            assert!(apart(polls, mean) < 2e-2, "{rate:e}: {polls}");
        }
    }

    #[test]
    fn a_transition_ends_in_the_stationary_shares() {
        let counter = Counter::of_paper(5);
        let after = counter.transition(1e-7, 400);
        let first = counter.chain(1e-7).at(0, 0);
        assert!(apart(after[0][0], first) < 1e-12, "{after:?}");
        let shares = counter.shares(1e-7);
        for (found, expected) in after[399].into_iter().zip(shares) {
            assert!(apart(found, expected) < 1e-3, "{found} {expected}");
        }
    }

    /// A poll each 150 ms: 3.75 s without errors, 5.7 s at 1e-8.
    #[test]
    fn removal_takes_as_many_polls_as_computed_before() {
        let counter = Counter::of_paper(25);
        assert_eq!(counter.mean_polls_to_remove(0.0), 25.0);
        for (rate, mean) in [(1e-8, 5.7 / 0.15), (3e-8, 359.0)] {
            let polls = counter.mean_polls_to_remove(rate);
            assert!(apart(polls, mean) < 1e-2, "{rate:e}: {polls}");
        }
    }
}
