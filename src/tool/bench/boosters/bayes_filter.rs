//! The default policy: a Bayesian filter over bit error rates, with removal damped by regret.
//!
//! In: each frame, with its errors, and the time. Out: which variant is wished. At run time all
//! numbers are integers, and nothing is divided. The layer `policy.bayes` of the library computes
//! the same; `lockstep` is the test of that.
//!
//! **Levels.** 34 bit error rates `p[i]`: level 0 is 1e-11, at which a link is as good as clean,
//! and level `i` from 1 to 33 is `10^(i / 4 - 10.25)`, from 1e-10 to 1e-2. Each has a weight, an
//! integer of 30 fractional bits (Q30). The prior is `w[0] = 2^29`, and `w[i] = round(2^29 / 33)`
//! for each other.
//!
//! **Tables**, computed once, rounded to the nearest. `a(v)` is the number of bits of a frame of
//! variant `v` on the air, and `f(v, i)` the share of frames that are lost behind its decoder.
//!
//! ```text
//! error[i]       = -log2 p[i]           Q16   what a corrected bit costs a level
//! lost[v][i]     = -log2 f(v, i)        Q16   what a lost frame costs it
//! right[v][i]    = -a(v) log2 (1 - p[i])  Q32   what the right bits of any other frame cost it
//! goodput[v][i]  = (t(0) + f(0, 0) c) / (t(v) + f(v, i) c)   Q16; relative to variant 0, level 0
//! hazard         = round(2^16 * 0.1/s * 20 ms) = 131            Q16
//! drift[i]       = hazard * prior[i]    Q30   what the prior gives a level in a step
//! gain           = round(2^16 * 1.03) = 67,502                  Q16
//! payback[v][u]  = c t(u) / (t(v) - t(u)), in ns: how long the weaker variant u must have lasted
//!                  to pay for a lost frame
//! ```
//!
//! **A step** runs when a frame has come, but no sooner than 20 ms after the last step. Since then,
//! `n` frames have come, and `k` were lost of them. In the others, `e` bits were corrected. All
//! frames are of the same variant `v`, as a
//! swap discards the counts. `power(x)` is 2^-x for `x` in Q16: a polynomial of its fraction.
//!
//! ```text
//! 1  cost[i]  = k lost[v][i] + e error[i] + ((n - k) right[v][i] >> 16)
//! 2  x        = cost[i] - (the least cost of a level with w > 0), or 0 if that is negative
//!    w[i]     = w[i] power(x) >> 30
//! 3  sum      = w[0] + .. + w[33]
//!    w[i]     = w[i] - (w[i] hazard >> 16) + (drift[i] sum >> 30)
//! 4  all w[i] << s, the same s, so that the greatest is at least 2^29 and less than 2^30
//! 5  value[v] = (w[0] goodput[v][0] + .. + w[33] goodput[v][33]) >> 16
//! 6  best     = the present wish, unless another u has value[u] << 16 > value[wish] gain: then
//!               the u of the greatest value, the weaker one of two equal
//! ```
//!
//! At least one weight stays above 0: the level of the least cost keeps its weight in step 2.
//!
//! **Patience.** A stronger variant is wished at once. A weaker one is wished only if no step
//! within the last `patience` had the present wish, or a stronger variant, as its best. Patience is
//! 50 ms at first. It changes when a stronger variant `v` is wished than the present `u`: if the
//! last change to a weaker variant is less than `payback[v][u]` ago, patience doubles, up to 30 s;
//! else it halves, down to 50 ms.

use super::decision::{Damage, Decision};

/// Levels of the bit error rate.
pub const LEVELS: usize = 34;

/// Returns the bit error rate of a level.
pub fn level(at: usize) -> f64 {
    match at {
        0 => 1e-11,
        _ => 10_f64.powf(-10.0 + (at as f64 - 1.0) / 4.0),
    }
}

const ONE: u64 = 1 << 30;
const STEP_NS: u64 = 20_000_000;
const HAZARD: u64 = 131;
const GAIN: u64 = 67_502;
const PATIENCE_NS: [u64; 2] = [50_000_000, 30_000_000_000];

/// `2^-x = 1 - x (POWER[0] - x (POWER[1] - ..))` for `x` from 0 to 1, in Q30.
const POWER: [u64; 6] = [
    744_261_112,
    257_940_802,
    59_591_844,
    10_304_738,
    1_386_885,
    123_394,
];

/// A variant as the filter sees it. Variants stand in order of strength, `off` first.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The time of a frame on the link, in seconds.
    pub frame_s: f64,
    /// Bits of a frame on the air.
    pub air_bits: f64,
    /// The share of frames that are lost behind the decoder, at each level.
    pub lost: [f64; LEVELS],
}

/// The tables of a variant, computed once.
#[derive(Clone, Debug)]
struct Table {
    lost: [u64; LEVELS],
    right: [u64; LEVELS],
    goodput: [u64; LEVELS],
    /// For each weaker variant, in order.
    payback_ns: Vec<u64>,
}

/// A filter at work.
#[derive(Clone, Debug)]
pub struct BayesFilter {
    tables: Vec<Table>,
    prior: [u64; LEVELS],
    weights: [u64; LEVELS],
    /// The variant of the frames that come, and the one that is wished.
    variant: usize,
    wish: usize,
    /// Frames since the last step, how many of them were lost, and corrected bits of the others.
    frames: u64,
    lost: u64,
    errors: u64,
    stepped_ns: u64,
    /// When the next step is, if a frame has come since the last one.
    next_step_ns: Option<u64>,
    patience_ns: u64,
    /// When a step last said to stay.
    stayed_ns: u64,
    /// When a weaker variant was last wished.
    weakened_ns: u64,
}

impl BayesFilter {
    /// Starts with the weakest of some variants, where a lost frame costs `cost_s` seconds.
    pub fn new(variants: &[Variant], cost_s: f64) -> BayesFilter {
        let mut prior = [rounded(ONE as f64 / 2.0 / (LEVELS as f64 - 1.0)); LEVELS];
        prior[0] = ONE / 2;
        BayesFilter {
            tables: (0..variants.len())
                .map(|at| table(variants, at, cost_s))
                .collect(),
            prior,
            weights: prior,
            variant: 0,
            wish: 0,
            frames: 0,
            lost: 0,
            errors: 0,
            stepped_ns: 0,
            next_step_ns: None,
            patience_ns: PATIENCE_NS[0],
            stayed_ns: 0,
            weakened_ns: 0,
        }
    }

    /// Steps 1 to 4: the weights after the frames that came.
    fn update(&mut self) {
        let table = &self.tables[self.variant];
        let arrived = self.frames - self.lost;
        let cost = |at: usize| {
            let wrong = self.lost * table.lost[at] + self.errors * error_cost(at);
            wrong + ((arrived * table.right[at]) >> 16)
        };
        let costs: [u64; LEVELS] = std::array::from_fn(cost);
        // The level of the least cost keeps its weight. If it had none, all levels could lose
        // theirs, and the filter would never decide again.
        let possible = costs.iter().zip(self.weights);
        let possible = possible.filter(|(_, weight)| *weight > 0);
        let least = possible.map(|(cost, _)| *cost).min().unwrap_or_default();
        for (weight, cost) in self.weights.iter_mut().zip(costs) {
            *weight = (*weight * power(cost.saturating_sub(least))) >> 30;
        }
        let sum: u64 = self.weights.iter().sum();
        for (weight, prior) in self.weights.iter_mut().zip(self.prior) {
            let drift = (prior * HAZARD) >> 16;
            *weight = *weight - ((*weight * HAZARD) >> 16) + ((drift * sum) >> 30);
        }
        let greatest = self.weights.iter().copied().max().unwrap_or_default();
        let shift = greatest.leading_zeros() as i32 - (u64::BITS as i32 - 30);
        for weight in &mut self.weights {
            *weight = if shift >= 0 {
                *weight << shift
            } else {
                *weight >> -shift
            };
        }
    }

    /// Begins to count anew.
    fn forget(&mut self) {
        (self.frames, self.lost, self.errors) = (0, 0, 0);
    }

    /// Steps 5 and 6: the best variant.
    fn best(&self) -> usize {
        let value = |table: &Table| {
            let products = self.weights.iter().zip(table.goodput);
            products
                .map(|(weight, goodput)| weight * goodput)
                .sum::<u64>()
                >> 16
        };
        let values: Vec<u64> = self.tables.iter().map(value).collect();
        let mut best = self.wish;
        let mut bar = values[self.wish] * GAIN;
        for (variant, value) in values.iter().enumerate() {
            if value << 16 > bar {
                (best, bar) = (variant, value << 16);
            }
        }
        best
    }

    /// Applies patience to the best variant.
    fn decide(&mut self, best: usize, now_ns: u64) {
        if best < self.wish {
            if now_ns - self.stayed_ns < self.patience_ns {
                return;
            }
            self.weakened_ns = now_ns;
        } else {
            self.stayed_ns = now_ns;
            if best > self.wish {
                let lasted_ns = now_ns - self.weakened_ns;
                let [least, most] = PATIENCE_NS;
                self.patience_ns = match lasted_ns < self.tables[best].payback_ns[self.wish] {
                    true => most.min(self.patience_ns * 2),
                    false => least.max(self.patience_ns / 2),
                };
            }
        }
        self.wish = best;
    }
}

impl Decision for BayesFilter {
    fn frame(&mut self, damage: Damage, now_ns: u64) {
        self.frames += 1;
        match damage {
            Damage::None => {}
            Damage::Corrected(bits) => self.errors += u64::from(bits),
            Damage::Lost => self.lost += 1,
        }
        let soonest_ns = now_ns.max(self.stepped_ns + STEP_NS);
        self.next_step_ns.get_or_insert(soonest_ns);
    }

    fn timer_ns(&self) -> Option<u64> {
        self.next_step_ns
    }

    fn expired(&mut self) {
        let now_ns = self.next_step_ns.take().unwrap_or(self.stepped_ns);
        self.stepped_ns = now_ns;
        self.update();
        self.forget();
        self.decide(self.best(), now_ns);
    }

    fn wish(&self) -> usize {
        self.wish
    }

    fn swapped(&mut self, variant: usize) {
        self.variant = variant;
        self.forget();
    }
}

/// Computes the table of a variant.
fn table(variants: &[Variant], at: usize, cost_s: f64) -> Table {
    let variant = &variants[at];
    // A share too small for a number costs more than anything that comes.
    let lost = |at: usize| -variant.lost[at].max(1e-300).log2();
    let bits = |share: f64, fraction: i32| rounded(share * 2_f64.powi(fraction));
    let right = |at: usize| -variant.air_bits * (-level(at)).ln_1p();
    let full = variants[0].frame_s + variants[0].lost[0] * cost_s;
    let share = |at: usize| full / (variant.frame_s + variant.lost[at] * cost_s);
    let payback = |weaker: &Variant| cost_s * weaker.frame_s / (variant.frame_s - weaker.frame_s);
    Table {
        lost: std::array::from_fn(|at| bits(lost(at), 16)),
        right: std::array::from_fn(|at| bits(right(at) * std::f64::consts::LOG2_E, 32)),
        goodput: std::array::from_fn(|at| bits(share(at), 16)),
        payback_ns: variants[..at]
            .iter()
            .map(|weaker| rounded(1e9 * payback(weaker)))
            .collect(),
    }
}

/// Returns what a corrected bit costs a level, in Q16.
fn error_cost(at: usize) -> u64 {
    rounded(-level(at).log2() * 65_536.0)
}

fn rounded(value: f64) -> u64 {
    value.round() as u64
}

/// Returns `2^-x` in Q30, `x` in Q16.
fn power(x: u64) -> u64 {
    let part = x & 0xffff;
    let terms = POWER.iter().rev();
    let falls = terms.fold(0, |sum, term| term - ((part * sum) >> 16));
    (ONE - ((part * falls) >> 16)) >> (x >> 16).min(31)
}

#[cfg(test)]
mod lockstep;

#[cfg(test)]
mod tests {
    use super::{BayesFilter, LEVELS, ONE, PATIENCE_NS, STEP_NS, level, power};
    use crate::tool::bench::boosters::decision::{Damage, Decision};
    use crate::tool::bench::boosters::theory::bernoulli::frame_error_rate;
    use crate::tool::bench::boosters::transport::PAPER;

    const SEED: u64 = 1;

    fn filter() -> BayesFilter {
        BayesFilter::new(&PAPER.variants(), PAPER.cost_ns as f64 * 1e-9)
    }

    /// A frame that is damaged or not: one bit is wrong, which only a code corrects.
    fn damage(filter: &BayesFilter, is_damaged: bool) -> Damage {
        match (is_damaged, filter.variant) {
            (false, _) => Damage::None,
            (true, 0) => Damage::Lost,
            (true, _) => Damage::Corrected(1),
        }
    }

    /// One step later, after so many frames of which so many were damaged.
    fn step(filter: &mut BayesFilter, frames: u64, damaged: u64) {
        let now_ns = filter.stepped_ns + STEP_NS;
        for frame in 0..frames {
            filter.frame(damage(filter, frame < damaged), now_ns);
        }
        filter.expired();
    }

    #[test]
    fn powers_of_two_have_seven_digits() {
        for x in [0, 1, 77, 0x8000, 0xffff, 0x1_0000, 0x5_4321] {
            let expected = ONE as f64 * (-(x as f64) / 65_536.0).exp2();
            let found = power(x) as f64;
            assert!((found - expected).abs() < 20.0, "{x}: {found} {expected}");
        }
        assert_eq!(power(31 << 16), 0);
    }

    /// The same steps in floating point, as textbooks write them.
    fn posterior(weights: &mut [f64; LEVELS], prior: &[f64; LEVELS], steps: [f64; 2]) {
        let [frames, damaged] = steps;
        let ln_likelihood = |at: usize| {
            let wrong = frame_error_rate(level(at), 12_000.0);
            let right = 12_000.0 * (-level(at)).ln_1p();
            damaged * wrong.ln() + (frames - damaged) * right
        };
        let logarithms: [f64; LEVELS] = std::array::from_fn(ln_likelihood);
        let greatest = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (weight, logarithm) in weights.iter_mut().zip(logarithms) {
            *weight *= (logarithm - greatest).exp();
        }
        let sum: f64 = weights.iter().sum();
        for (weight, prior) in weights.iter_mut().zip(prior) {
            *weight = 0.998 * *weight / sum + 0.002 * prior;
        }
    }

    /// Weights differ by less than a thousandth of all: 0.002 is 131 / 65,536 in Q16.
    #[test]
    fn integers_follow_the_filter_in_floating_point() {
        let mut filter = filter();
        let prior = filter.prior.map(|weight| weight as f64 / ONE as f64);
        let mut weights = prior;
        let mut random = fastrand::Rng::with_seed(1);
        for number in 0..400 {
            let frames = random.u64(1..80);
            let odds = if number / 100 % 2 == 0 { 0.0 } else { 0.05 };
            let damaged = (0..frames).filter(|_| random.f64() < odds).count() as u64;
            (filter.frames, filter.lost) = (frames, damaged);
            filter.update();
            posterior(&mut weights, &prior, [frames as f64, damaged as f64]);
            let sum: u64 = filter.weights.iter().sum();
            let own = filter.weights.map(|weight| weight as f64 / sum as f64);
            for (own, expected) in own.iter().zip(weights) {
                assert!(
                    (own - expected).abs() < 1e-3,
                    "step {number}: {own} {expected}"
                );
            }
            let greatest = filter.weights.iter().copied().max().unwrap_or_default();
            assert!(
                (ONE / 2..ONE).contains(&greatest),
                "step {number}: {greatest}"
            );
        }
    }

    /// Errors that begin within a step leave weight to levels between the extremes alone, and the
    /// next step contradicts these.
    #[test]
    fn no_evidence_leaves_the_filter_without_weights() {
        let mut filter = filter();
        for (frames, damaged) in [(70, 0), (70, 0), (70, 20), (70, 70), (70, 0), (70, 70)] {
            step(&mut filter, frames, damaged);
            let greatest = filter.weights.iter().copied().max().unwrap_or_default();
            assert!(greatest >= ONE / 2, "{damaged} of {frames}: {greatest}");
        }
        let mut random = fastrand::Rng::with_seed(SEED);
        println!("seed {SEED}");
        for _ in 0..2_000 {
            let frames = random.u64(1..80);
            let damaged = [0, random.u64(0..=frames), frames][random.usize(0..3)];
            step(&mut filter, frames, damaged);
            let greatest = filter.weights.iter().copied().max().unwrap_or_default();
            assert!(greatest >= ONE / 2, "{damaged} of {frames}: {greatest}");
        }
    }

    #[test]
    fn one_damaged_frame_inserts_and_less_than_a_second_removes() {
        let mut filter = filter();
        for _ in 0..50 {
            step(&mut filter, 70, 0);
        }
        assert_eq!(filter.wish(), 0);
        step(&mut filter, 70, 1);
        assert_eq!(filter.wish(), 1, "1,050 ms are lost for each of 70 frames");
        filter.swapped(1);
        let steps = (1..100).find(|_| {
            step(&mut filter, 50, 0);
            filter.wish() == 0
        });
        let removed_ns = STEP_NS * steps.expect("the booster is removed");
        assert!(
            (200_000_000..1_000_000_000).contains(&removed_ns),
            "{removed_ns}"
        );
    }

    #[test]
    fn a_silent_minute_changes_no_weight() {
        let [busy, silent] = [0, 60_000_000_000].map(|silence_ns| {
            let mut filter = filter();
            step(&mut filter, 70, 3);
            filter.stepped_ns += silence_ns;
            step(&mut filter, 70, 0);
            filter.weights
        });
        assert_eq!(busy, silent);
    }

    #[test]
    fn patience_doubles_after_a_removal_that_did_not_pay() {
        let mut filter = filter();
        let insert_and_remove = |filter: &mut BayesFilter| {
            step(filter, 70, 20);
            filter.swapped(1);
            while filter.wish() == 1 {
                step(filter, 50, 0);
            }
            filter.swapped(0);
        };
        insert_and_remove(&mut filter);
        insert_and_remove(&mut filter);
        let doubled_ns = filter.patience_ns;
        assert!(doubled_ns >= 2 * PATIENCE_NS[0]);
        filter.stepped_ns += 5_000_000_000;
        insert_and_remove(&mut filter);
        assert_eq!(
            filter.patience_ns,
            doubled_ns / 2,
            "5 s pay for 1.05 s at 43.9 instead of 30"
        );
    }
}
