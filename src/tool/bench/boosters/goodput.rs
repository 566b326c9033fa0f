//! Goodput with and without a booster.
//!
//! In: the time of a frame, the cost of a lost one, and a frame error rate. Out: goodput.

/// Returns the goodput, in frames per second: `1 / (t + f c)`.
///
/// `frame_s` is the time `t` of a frame on the link, in seconds, `cost_s` the seconds `c` that the
/// transport loses for each lost frame, and `frame_error_rate` the share `f` lost behind the
/// decoder.
pub fn goodput(frame_s: f64, cost_s: f64, frame_error_rate: f64) -> f64 {
    1.0 / (frame_s + frame_error_rate * cost_s)
}

#[cfg(test)]
mod tests {
    use super::goodput;
    use crate::tool::bench::boosters::bernoulli::frame_error_rate;

    /// The paper's TCP: 43.9 Mbit/s without errors, 30 Mbit/s at 1e-8 (Figure 3).
    #[test]
    fn the_cost_of_a_lost_frame_fits_the_paper() {
        let frame_s = 12_000.0 / 43.9e6;
        let rate = goodput(frame_s, 1.05, frame_error_rate(1e-8, 12_000.0)) * 12_000.0;
        assert!((rate / 30e6 - 1.0).abs() < 0.01, "{rate:e}");
    }
}
