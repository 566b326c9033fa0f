//! The best code for each bit error rate: the ladder that a policy with several strengths climbs.
//!
//! In: codes, and how many frames of goodput one lost frame costs. Out: the ranges in which each is
//! the best.

use super::codes::Code;
use super::goodput::goodput;

/// The range of bit error rates searched, in powers of ten, and the steps of each power.
const POWERS: [i32; 2] = [-10, -1];
const STEPS: i32 = 50;

/// A range of bit error rates: it ends where the next rung begins.
#[derive(Clone, Copy, Debug)]
pub struct Rung {
    /// The code.
    pub code: Code,
    /// The least bit error rate at which it is the best.
    pub from: f64,
}

/// Returns the goodput behind a code, as a part of that of an uncoded link without errors.
pub fn share(code: Code, kappa: f64, bytes: u32, bit_error_rate: f64) -> f64 {
    let lost = code.frame_error_rate(bit_error_rate, bytes);
    goodput(1.0 / code.rate(bytes), kappa, lost)
}

/// Returns the ladder for frames of so many bytes: the best codes, by rising bit error rate.
pub fn ladder(codes: &[Code], kappa: f64, bytes: u32) -> Vec<Rung> {
    let best = |rate: f64| {
        let shares = codes
            .iter()
            .map(|&code| (code, share(code, kappa, bytes, rate)));
        let best = shares.max_by(|one, other| one.1.total_cmp(&other.1));
        best.expect("a ladder has a code").0
    };
    let rate = |step: i32| 10_f64.powf(f64::from(step) / f64::from(STEPS));
    let [first, last] = POWERS.map(|power| power * STEPS);
    let mut ladder = vec![Rung {
        code: best(rate(first)),
        from: 0.0,
    }];
    for step in first + 1..=last {
        let code = best(rate(step));
        if ladder.last().is_some_and(|rung| rung.code != code) {
            let from = between(rate(step - 1), rate(step), |rate| best(rate) == code);
            ladder.push(Rung { code, from });
        }
    }
    ladder
}

/// Returns the least value between two at which something begins to hold.
fn between(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    while high / low > 1.0 + 1e-4 {
        let middle = (low * high).sqrt();
        if holds(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::ladder;
    use crate::tool::bench::boosters::theory::codes::Code;

    /// Computed before with full codewords, and with the cost in coded frames: both move a bound by
    /// at most 13 %.
    #[test]
    fn ladders_have_the_ranges_computed_before() {
        let codes = [8, 16, 32, 64, 128].map(|parity| Code::ReedSolomon { parity });
        let codes: Vec<Code> = [Code::Off].into_iter().chain(codes).collect();
        let expected = [
            (30.0, [1e-7, 2.5e-4, 1.1e-3, 3.5e-3, 9.9e-3]),
            (400.0, [7.3e-9, 1.5e-4, 7.6e-4, 2.8e-3, 8.4e-3]),
            (3_800.0, [7.7e-10, 9.2e-5, 5.7e-4, 2.3e-3, 7.6e-3]),
        ];
        for (kappa, expected) in expected {
            let found = ladder(&codes, kappa, 1400);
            let order: Vec<Code> = found.iter().map(|rung| rung.code).collect();
            assert!(order.starts_with(&codes), "{found:?}");
            for (rung, expected) in found[1..].iter().zip(expected) {
                let apart = (rung.from / expected - 1.0).abs();
                assert!(apart < 0.13, "kappa {kappa}: {rung:?}, {expected:e}");
            }
        }
    }
}
