//! Goodput with and without a booster, and how far a policy is from the best.
//!
//! In: the time of a frame, the cost of a lost one, and a frame error rate. Out: goodput, and the
//! measures of Boosters 1999, section 6.1.

/// Returns the goodput, in frames per second: `1 / (t + f c)`.
///
/// `frame_s` is the time `t` of a frame on the link, in seconds, `cost_s` the seconds `c` that the
/// transport loses for each lost frame, and `frame_error_rate` the share `f` lost behind the
/// decoder.
pub fn goodput(frame_s: f64, cost_s: f64, frame_error_rate: f64) -> f64 {
    1.0 / (frame_s + frame_error_rate * cost_s)
}

/// Returns how many frames of goodput one lost frame costs: `c / t`, which is called kappa.
pub fn kappa(frame_s: f64, cost_s: f64) -> f64 {
    cost_s / frame_s
}

/// Returns the error of a policy as a part of the ideal: equation 5, without negative values.
pub fn relative_error(ideal: f64, measured: f64) -> f64 {
    ((ideal - measured) / ideal).max(0.0)
}

/// Returns the gain over a static stack as a part of its goodput: equation 7, which the paper cuts
/// off at zero. Here a loss is negative.
pub fn boost(fixed: f64, measured: f64) -> f64 {
    (measured - fixed) / fixed
}

#[cfg(test)]
mod tests {
    use super::{boost, goodput, kappa, relative_error};
    use crate::tool::bench::boosters::theory::bernoulli::frame_error_rate;

    /// The paper's TCP: 43.9 Mbit/s without errors, 30 Mbit/s at 1e-8 (Figure 3).
    #[test]
    fn the_cost_of_a_lost_frame_fits_the_paper() {
        let frame_s = 12_000.0 / 43.9e6;
        let rate = goodput(frame_s, 1.05, frame_error_rate(1e-8, 12_000.0)) * 12_000.0;
        assert!((rate / 30e6 - 1.0).abs() < 0.01, "{rate:e}");
        assert!((kappa(frame_s, 1.05) / 3_840.0 - 1.0).abs() < 0.01);
    }

    #[test]
    fn an_error_is_a_part_of_the_ideal_and_never_negative() {
        assert_eq!(relative_error(40.0, 30.0), 0.25);
        assert_eq!(relative_error(40.0, 41.0), 0.0);
    }

    #[test]
    fn a_boost_is_a_part_of_the_static_goodput() {
        assert_eq!(boost(20.0, 30.0), 0.5);
        assert_eq!(boost(20.0, 10.0), -0.5);
    }
}
