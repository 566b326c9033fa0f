//! Critical bit error rates: where a booster begins to pay, and where a counter begins to rise.
//!
//! In: windows and frame lengths, or the cost of a lost frame. Out: bit error rates and windows
//! (Boosters 1999, section 5.1 and Figure 7).

use super::bernoulli::{bit_error_rate, frame_error_rate};

/// The solution of `x = exp(-x)`: the mean reading of a monitor at which the counter has no drift.
pub const OMEGA: f64 = 0.567_143_290_409_783_8;

/// Returns the bit error rate at which the mean reading is one half: equation 3, which the paper
/// takes for the point where insertion is guaranteed.
pub fn by_expectation(window: u32, frame_bits: f64) -> f64 {
    1.0 / (2.0 * frame_bits * f64::from(window))
}

/// Returns the bit error rate at which the counter has no drift.
///
/// A poll adds the reading, and subtracts one if it is zero. So the drift is `E s - P(s = 0)`,
/// which is zero at a mean reading of [`OMEGA`]: 13 % above equation 3.
pub fn by_drift(window: u32, frame_bits: f64) -> f64 {
    let window = f64::from(window);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..f64::MANTISSA_DIGITS {
        let middle = 0.5 * (low + high);
        // 1 - (1 - f)^W is the frame error rate of a "frame" of W bits.
        let drift = window * middle - (1.0 - frame_error_rate(middle, window));
        if drift > 0.0 {
            high = middle;
        } else {
            low = middle;
        }
    }
    bit_error_rate(low, frame_bits)
}

/// Returns the bit error rate above which a booster pays: there, frames are lost that cost as much
/// as the booster.
///
/// `overhead` is the additional time of a boosted frame, as a part of the time of a plain one;
/// `kappa` is how many frames of goodput one lost frame costs.
pub fn by_overhead(overhead: f64, kappa: f64, frame_bits: f64) -> Option<f64> {
    let frame_error_rate = overhead / kappa;
    (frame_error_rate < 1.0).then(|| bit_error_rate(frame_error_rate, frame_bits))
}

/// Returns the window, in frames, of a counter without drift where a booster begins to pay.
pub fn window(overhead: f64, kappa: f64) -> f64 {
    OMEGA * kappa / overhead
}

#[cfg(test)]
mod tests {
    use super::{OMEGA, by_drift, by_expectation, by_overhead, window};
    use crate::tool::bench::boosters::theory::bernoulli::apart;

    #[test]
    fn omega_solves_its_equation() {
        assert!((OMEGA - (-OMEGA).exp()).abs() < 1e-15);
    }

    /// To three digits; the last one of a window of 128 is 3.70e-7, as its bits are exact here.
    #[test]
    fn windows_have_the_critical_rates_computed_before() {
        let expected = [
            (128, 12_000.0, 3.26e-7, 3.69e-7),
            (512, 12_000.0, 8.14e-8, 9.23e-8),
            (1024, 12_000.0, 4.07e-8, 4.61e-8),
            (256, 24_000.0, 8.14e-8, 9.23e-8),
            (768, 24_000.0, 2.71e-8, 3.08e-8),
        ];
        for (window, bits, expectation, drift) in expected {
            assert!(apart(by_expectation(window, bits), expectation) < 2e-3);
            let found = by_drift(window, bits);
            assert!(apart(found, drift) < 3e-3, "{window}: {found:e}");
        }
    }

    #[test]
    fn a_window_has_no_drift_where_the_booster_begins_to_pay() {
        for kappa in [50.0, 450.0, 3840.0] {
            let pays = by_overhead(1.0, kappa, 12_000.0).expect("a lost frame costs many");
            let window = window(1.0, kappa).round();
            assert!(
                apart(by_drift(window as u32, 12_000.0), pays) < 3e-2,
                "{kappa}"
            );
        }
    }

    #[test]
    fn a_code_of_rate_one_half_never_pays_for_datagrams() {
        assert_eq!(by_overhead(1.0, 1.0, 12_000.0), None);
    }
}
