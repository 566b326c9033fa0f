//! Critical bit error rates: where a counter begins to rise.
//!
//! In: windows and frame lengths. Out: bit error rates (Boosters 1999, section 5.1 and Figure 7).

use super::bernoulli::{bit_error_rate, frame_error_rate};

/// Returns the bit error rate at which the mean reading is one half: equation 3, which the paper
/// takes for the point where insertion is guaranteed.
pub fn by_expectation(window: u32, frame_bits: f64) -> f64 {
    1.0 / (2.0 * frame_bits * f64::from(window))
}

/// Returns the bit error rate at which the counter has no drift.
///
/// A poll adds the reading, and subtracts one if it is zero. So the drift is `E s - P(s = 0)`,
/// which is zero at a mean reading of 0.567: 13 % above equation 3.
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

#[cfg(test)]
mod tests {
    use super::{by_drift, by_expectation};

    fn apart(value: f64, expected: f64) -> f64 {
        (value / expected - 1.0).abs()
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
}
