//! Independent bit errors, a Bernoulli process (Boosters 1999, section 5).
//!
//! In: a bit error rate and a number of bits. Out: the frame error rate, and the distribution of
//! the number of errors among `n` bits, bytes or frames.

use fastrand::Rng;

/// Returns the probability that at least one of `bits` bits is wrong: `1 - (1 - p)^L`.
///
/// The paper approximates it by `L p` (equation 4), which is 6 % too large where a tenth of the
/// frames is damaged. `ln_1p` and `exp_m1` keep all digits of small rates.
pub fn frame_error_rate(bit_error_rate: f64, bits: f64) -> f64 {
    -(bits * (-bit_error_rate).ln_1p()).exp_m1()
}

/// Returns the bit error rate that damages a share of all frames of `bits` bits: the inverse of
/// [`frame_error_rate`].
pub fn bit_error_rate(frame_error_rate: f64, bits: f64) -> f64 {
    -((-frame_error_rate).ln_1p() / bits).exp_m1()
}

/// Returns the probabilities of 0, 1, 2, .. errors among `trials`, each with probability `rate`:
/// `p(s)` of equation 4.
pub fn errors(trials: u32, rate: f64) -> Vec<f64> {
    let all = f64::from(trials);
    let mut ln_ways = 0.0;
    let probability = |count: u32| {
        let (wrong, right) = (f64::from(count), f64::from(trials - count));
        if count > 0 {
            ln_ways += ((all - wrong + 1.0) / wrong).ln();
        }
        // A power of zero is one if the exponent is zero, too.
        let ln_power = |count: f64, ln_rate: f64| if count > 0.0 { count * ln_rate } else { 0.0 };
        (ln_ways + ln_power(wrong, rate.ln()) + ln_power(right, (-rate).ln_1p())).exp()
    };
    (0..=trials).map(probability).collect()
}

/// Returns the probability of at least `least` errors among `trials`.
///
/// It is a sum of the tail, and never one minus the rest: that would lose the digits of rare
/// events.
pub fn at_least(least: u32, trials: u32, rate: f64) -> f64 {
    errors(trials, rate).iter().skip(least as usize).rev().sum()
}

/// Draws the number of errors among so many bits of which at least one is wrong.
///
/// The distance from one error to the next has a geometric distribution. Where errors are rare, the
/// first one lies anywhere with the same probability.
pub fn some_errors(bit_error_rate: f64, bits: f64, random: &mut Rng) -> u32 {
    let ln_right = (-bit_error_rate).ln_1p();
    let share = frame_error_rate(bit_error_rate, bits);
    let mut at = (-share * random.f64()).ln_1p() / ln_right;
    let mut count = 0;
    while at < bits || count == 0 {
        count += 1;
        at = at.floor() + 1.0 + (1.0 - random.f64()).ln() / ln_right;
    }
    count
}

/// Returns the relative difference between a value and the expected one.
#[cfg(test)]
pub fn apart(value: f64, expected: f64) -> f64 {
    (value / expected - 1.0).abs()
}

#[cfg(test)]
mod tests {
    use super::{apart, at_least, bit_error_rate, errors, frame_error_rate, some_errors};
    use fastrand::Rng;

    #[test]
    fn small_rates_keep_their_digits() {
        // To first order the rate is L p; the next term of the series is smaller by L p / 2.
        assert!(apart(frame_error_rate(1e-15, 12_000.0), 1.2e-11) < 1e-10);
        assert!(apart(frame_error_rate(1e-5, 12_000.0), 0.113_080) < 1e-5);
        assert_eq!(frame_error_rate(1.0, 8.0), 1.0);
    }

    #[test]
    fn the_inverse_returns_the_bit_error_rate() {
        for rate in [1e-12, 1e-8, 1e-5, 1e-3] {
            let frames = frame_error_rate(rate, 12_000.0);
            assert!(apart(bit_error_rate(frames, 12_000.0), rate) < 1e-9);
        }
    }

    #[test]
    fn the_distribution_is_that_of_coins() {
        let heads = [1.0, 4.0, 6.0, 4.0, 1.0].map(|ways: f64| ways / 16.0);
        for (found, expected) in errors(4, 0.5).into_iter().zip(heads) {
            assert!(apart(found, expected) < 1e-12);
        }
        assert!(apart(at_least(3, 4, 0.5), 5.0 / 16.0) < 1e-12);
        assert_eq!(errors(2, 0.0), [1.0, 0.0, 0.0]);
        assert_eq!(errors(2, 1.0), [0.0, 0.0, 1.0]);
    }

    #[test]
    fn a_rare_tail_keeps_its_digits() {
        // C(512, 5) p^5 (1 - p)^507, and a little more; one minus the rest would be zero.
        let tail = at_least(5, 512, 1e-6);
        assert!(apart(tail, 2.873e-19) < 1e-3, "{tail:e}");
    }

    #[test]
    fn drawn_errors_have_the_mean_of_damaged_frames() {
        let mut random = Rng::with_seed(1);
        for rate in [1e-8, 1e-4, 1e-3] {
            let drawn = (0..20_000).map(|_| u64::from(some_errors(rate, 12_000.0, &mut random)));
            let mean = drawn.sum::<u64>() as f64 / 20_000.0;
            let expected = 12_000.0 * rate / frame_error_rate(rate, 12_000.0);
            assert!(apart(mean, expected) < 0.03, "{rate:e}: {mean} {expected}");
        }
    }
}
