//! Bit errors: how often bits are flipped, and how that changes over time.
//!
//! In: the bits of a frame, and when the first of them is sent. Out: the places of those that are
//! flipped. The distance from one error to the next is drawn from the geometric distribution, so a
//! frame without errors takes no random number.
//!
//! ```text
//! 1e-6                                          always the same
//! 0 for 5 s, 1e-6 for 5 s                       one after the other, again and again
//! 1e-8 for about 50 ms, 1e-3 for about 2 ms     lengths at random, with these means
//! ```
//!
//! The last is the model of Gilbert (1960) and Elliott (1963): two states with error rates, each of
//! which is left with the same chance at any time.

use fastrand::Rng;

/// The rates of bit errors over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BitErrors {
    /// One state after the other, from the first on again and again; a single one lasts for ever.
    pub states: Vec<State>,
    /// The unit of the lengths of states.
    pub clock: Clock,
}

/// A state of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// The share of bits that are flipped.
    pub share: f64,
    /// Its length, in nanoseconds or bits.
    pub length: u64,
    /// True if that is the mean of exponentially distributed lengths.
    pub is_mean: bool,
}

/// The unit of the lengths of states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// Nanoseconds, whether frames are sent or not.
    #[default]
    Time,
    /// Bits that are sent.
    Bits,
}

impl BitErrors {
    /// The same share for ever.
    pub fn constant(share: f64) -> BitErrors {
        let state = State {
            share,
            length: u64::MAX,
            is_mean: false,
        };
        BitErrors {
            states: vec![state],
            clock: Clock::Time,
        }
    }

    fn changes(&self) -> bool {
        self.states.len() > 1
    }
}

/// The bit errors of one way, as far as they have come.
#[derive(Debug)]
pub struct Noise {
    errors: BitErrors,
    /// Chooses the lengths of states, so that they do not depend on the frames.
    lengths: Rng,
    /// The number of the present state.
    state: usize,
    /// When the state ends, in nanoseconds or bits.
    ends: u64,
    /// Bits that were sent.
    sent: u64,
    /// Good bits before the next one that is flipped.
    good_bits: u64,
}

impl Noise {
    /// Begins with the first state. Errors take their chances from the way; lengths do not.
    pub fn new(errors: BitErrors, seed: u64, chance: &mut Rng) -> Noise {
        let mut noise = Noise {
            errors,
            lengths: Rng::with_seed(!seed),
            state: 0,
            ends: 0,
            sent: 0,
            good_bits: 0,
        };
        noise.ends = noise.length();
        noise.good_bits = good_bits(noise.share(), chance);
        noise
    }

    /// The bits of a frame go by and are lost anyway.
    pub fn skip(&mut self, bits: u64) {
        if !self.errors.changes() {
            self.good_bits = self.good_bits.saturating_sub(bits);
        }
        self.sent += bits;
    }

    /// Flips bits of a frame, whose first one is sent at a time; true if there are any. Without a
    /// rate, all bits of a frame are sent at once.
    pub fn flip(
        &mut self,
        bytes: &mut [u8],
        from_ns: u64,
        rate: Option<u64>,
        chance: &mut Rng,
    ) -> bool {
        let bits = 8 * bytes.len() as u64;
        let (mut begin, mut is_damaged) = (0, false);
        while begin < bits {
            let left = self.left(begin, from_ns, rate, chance);
            let end = begin.saturating_add(left).min(bits);
            let mut at = begin.saturating_add(self.good_bits);
            while at < end {
                let place = usize::try_from(at / 8).expect("a frame is short");
                bytes[place] ^= 0x80 >> (at % 8);
                is_damaged = true;
                let good = good_bits(self.share(), chance);
                at = at.saturating_add(1).saturating_add(good);
            }
            self.good_bits = at - end;
            begin = end;
        }
        self.sent += bits;
        is_damaged
    }

    /// Returns the number of bits of a frame, from one of them on, that belong to the present
    /// state: the state in which that bit is sent.
    fn left(&mut self, bit: u64, from_ns: u64, rate: Option<u64>, chance: &mut Rng) -> u64 {
        if !self.errors.changes() {
            return u64::MAX;
        }
        let now = match (self.errors.clock, rate) {
            (Clock::Bits, _) => self.sent + bit,
            (Clock::Time, None) => from_ns,
            (Clock::Time, Some(rate)) => {
                let ns = u128::from(bit) * 1_000_000_000 / u128::from(rate);
                from_ns.saturating_add(u64::try_from(ns).unwrap_or(u64::MAX))
            }
        };
        let was_ended = self.ends <= now;
        while self.ends <= now {
            self.state = (self.state + 1) % self.errors.states.len();
            self.ends = self.ends.saturating_add(self.length());
        }
        if was_ended {
            // Errors have no memory, so the distance to the next one is drawn anew.
            self.good_bits = good_bits(self.share(), chance);
        }
        match (self.errors.clock, rate) {
            (Clock::Bits, _) => self.ends - now,
            (Clock::Time, None) => u64::MAX,
            (Clock::Time, Some(rate)) => {
                let bits = u128::from(self.ends - now) * u128::from(rate) / 1_000_000_000;
                u64::try_from(bits).unwrap_or(u64::MAX).max(1)
            }
        }
    }

    fn share(&self) -> f64 {
        let state = self.errors.states.get(self.state);
        state.map_or(0.0, |state| state.share)
    }

    /// Returns the length of the state that begins now.
    fn length(&mut self) -> u64 {
        match self.errors.states.get(self.state) {
            None => u64::MAX,
            Some(state) if !state.is_mean => state.length,
            Some(state) => {
                let length = -(1.0 - self.lengths.f64()).ln() * state.length as f64;
                (length as u64).max(1)
            }
        }
    }
}

/// Returns the number of bits that stay as they are before the next one that is flipped.
fn good_bits(share: f64, chance: &mut Rng) -> u64 {
    if share <= 0.0 {
        return u64::MAX;
    }
    if share >= 1.0 {
        return 0;
    }
    // The logarithm of what is above 0: one minus a number below one.
    let bits = (1.0 - chance.f64()).ln() / (1.0 - share).ln();
    // As casts from floating point do, this ends at the largest number.
    bits as u64
}
