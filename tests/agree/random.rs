//! Random choices from a seed: the same on every machine.

/// A sequence of random numbers (SplitMix64).
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number from 0 to before the limit, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// True so often, in percent.
    pub fn percent(&mut self, often: u64) -> bool {
        self.next() % 100 < often
    }

    /// One of several.
    pub fn one<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// Bytes, mostly few.
    pub fn bytes(&mut self) -> Vec<u8> {
        let most = *self.one(&[1, 2, 9, 40, 40, 200, 1600, 5000]);
        (0..self.below(most)).map(|_| self.next() as u8).collect()
    }
}
