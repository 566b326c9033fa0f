//! A connection over a link with bit errors, and a policy that swaps the code: round by round of
//! the congestion window, one Bernoulli trial for each frame.
//!
//! In: a transport, a square wave of bit error rates, a policy, and a seed. Out: goodput, swaps,
//! and the share of time boosted. Time is virtual.
//!
//! ```text
//! round    as many frames as the congestion window, spread over the time of the frames or the
//!          round-trip time, whichever is longer
//! no loss  the window grows by half up to the threshold, and by half a frame behind it
//! loss     the threshold is half the window; a timeout, which doubles up to 64 s, or a recovery
//! swap     one round-trip time after the wish
//! ```

use super::decision::{Always, Damage, Decision};
use super::theory::bernoulli::some_errors;
use super::transport::{Losses, Recovery, Transport};
use fastrand::Rng;

/// The longest retransmission timeout.
const LONGEST_TIMEOUT_NS: u64 = 64_000_000_000;

/// A square wave: no bit errors for half a period, and then so many.
#[derive(Clone, Copy, Debug)]
pub struct Wave {
    /// Half a period, `T0`; none if the bit error rate is constant.
    pub half_ns: Option<u64>,
    /// The bit error rate of the second half.
    pub bit_error_rate: f64,
}

impl Wave {
    fn is_noisy(&self, now_ns: u64) -> bool {
        self.half_ns.is_none_or(|half_ns| now_ns / half_ns % 2 == 1)
    }
}

/// The result of a run.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Frames delivered in a second.
    pub goodput: f64,
    /// Swaps in a second.
    pub swaps_per_s: f64,
    /// The share of time boosted.
    pub boosted: f64,
}

/// Returns true if a policy swaps within a time, at a constant bit error rate.
pub fn swaps_within(
    transport: &Transport,
    bit_error_rate: f64,
    decision: &mut dyn Decision,
    duration_ns: u64,
    seed: u64,
) -> bool {
    let losses = transport.losses(bit_error_rate);
    let mut connection = Connection::new(transport, decision, seed);
    while connection.now_ns < duration_ns && connection.swaps == 0 {
        connection.round(&losses);
    }
    connection.swaps > 0
}

/// A connection while it runs.
struct Connection<'a> {
    transport: &'a Transport,
    /// The time of a frame of each variant.
    frame_ns: Vec<u64>,
    decision: &'a mut dyn Decision,
    /// Decides which frames are damaged, and how many of their bits.
    random: Rng,
    errors: Rng,
    now_ns: u64,
    /// The congestion window and its threshold, in frames.
    window: f64,
    threshold: f64,
    timeout_ns: u64,
    variant: usize,
    /// A swap that was agreed on: when, and to which variant.
    swap: Option<(u64, usize)>,
    swaps: u64,
    boosted_ns: u64,
}

/// Runs a connection for so long.
pub fn run(
    transport: &Transport,
    wave: Wave,
    decision: &mut dyn Decision,
    duration_ns: u64,
    seed: u64,
) -> Outcome {
    let losses = [0.0, wave.bit_error_rate].map(|rate| transport.losses(rate));
    let mut connection = Connection::new(transport, decision, seed);
    let mut delivered = 0;
    while connection.now_ns < duration_ns {
        let is_noisy = wave.is_noisy(connection.now_ns);
        delivered += connection.round(&losses[usize::from(is_noisy)]);
    }
    let duration_s = connection.now_ns as f64 * 1e-9;
    Outcome {
        goodput: delivered as f64 / duration_s,
        swaps_per_s: connection.swaps as f64 / duration_s,
        boosted: connection.boosted_ns as f64 / connection.now_ns as f64,
    }
}

impl<'a> Connection<'a> {
    fn new(transport: &'a Transport, decision: &'a mut dyn Decision, seed: u64) -> Connection<'a> {
        let codes = transport.codes.iter();
        Connection {
            transport,
            frame_ns: codes.map(|&code| transport.code_ns(code)).collect(),
            variant: decision.wish(),
            decision,
            random: Rng::with_seed(seed),
            errors: Rng::with_seed(!seed),
            now_ns: 0,
            window: 2.0,
            threshold: f64::from(transport.window),
            timeout_ns: transport.timeout_ns,
            swap: None,
            swaps: 0,
            boosted_ns: 0,
        }
    }

    /// Sends a window, and returns how many of its frames arrive.
    fn round(&mut self, losses: &[Losses]) -> u64 {
        let frames = (self.window as u32).clamp(1, self.transport.window);
        let frames_ns = u64::from(frames) * self.frame_ns[self.variant];
        let round_ns = frames_ns.max(self.transport.round_trip_ns);
        let begin_ns = self.now_ns;
        let mut lost = 0;
        for frame in 0..u64::from(frames) {
            self.wait_until(begin_ns + round_ns * frame / u64::from(frames));
            let damage = self.damage(&losses[self.variant]);
            lost += u32::from(damage == Damage::Lost);
            self.decision.frame(damage, self.now_ns);
            self.agree();
        }
        self.wait_until(begin_ns + round_ns);
        self.react(frames, lost);
        u64::from(frames - lost)
    }

    /// Draws what the link does to a frame. A frame is lost only if it is damaged.
    fn damage(&mut self, losses: &Losses) -> Damage {
        let luck = self.random.f64();
        if luck < losses.lost {
            Damage::Lost
        } else if luck < losses.damaged {
            let random = &mut self.errors;
            Damage::Corrected(some_errors(losses.bit_error_rate, losses.air_bits, random))
        } else {
            Damage::None
        }
    }

    /// Changes the congestion window, and waits for what a loss costs.
    fn react(&mut self, frames: u32, lost: u32) {
        let transport = self.transport;
        if lost == 0 {
            self.timeout_ns = transport.timeout_ns;
            let grows = if self.window < self.threshold {
                0.5 * self.window
            } else {
                0.5
            };
            self.window = (self.window + grows).min(f64::from(transport.window));
            return;
        }
        self.threshold = (0.5 * self.window).max(2.0);
        if transport.recovery == Recovery::Timeout || frames - lost < 3 {
            self.wait_until(self.now_ns + self.timeout_ns);
            self.timeout_ns = LONGEST_TIMEOUT_NS.min(2 * self.timeout_ns);
            self.window = 1.0;
        } else {
            let halves = if lost > 1 { 2 } else { 1 };
            self.wait_until(self.now_ns + transport.round_trip_ns * halves / 2);
            self.window = self.threshold;
        }
    }

    /// Lets time pass, with all timers and swaps on the way.
    fn wait_until(&mut self, until_ns: u64) {
        loop {
            let swap_ns = self.swap.map(|(swap_ns, _)| swap_ns);
            let next = swap_ns.into_iter().chain(self.decision.timer_ns()).min();
            let next_ns = next.map_or(until_ns, |next_ns| next_ns.clamp(self.now_ns, until_ns));
            self.boosted_ns += if self.variant > 0 {
                next_ns - self.now_ns
            } else {
                0
            };
            self.now_ns = next_ns;
            match (next, self.swap) {
                (Some(next), Some((swap_ns, variant))) if next == swap_ns && next <= until_ns => {
                    self.swap = None;
                    self.swaps += 1;
                    self.variant = variant;
                    self.decision.swapped(variant);
                }
                (Some(next), _) if next <= until_ns => self.decision.expired(),
                _ => break,
            }
            self.agree();
        }
    }

    /// Begins a swap if another variant is wished and no swap is under way.
    fn agree(&mut self) {
        let wish = self.decision.wish();
        if wish != self.variant && self.swap.is_none() {
            self.swap = Some((self.now_ns + self.transport.round_trip_ns, wish));
        }
    }
}

/// Returns the goodput of the best of a transport's codes at a constant bit error rate.
pub fn best(transport: &Transport, bit_error_rate: f64, duration_ns: u64, seed: u64) -> f64 {
    let constant = Wave {
        half_ns: None,
        bit_error_rate,
    };
    let fixed = |variant| run(transport, constant, &mut Always(variant), duration_ns, seed);
    (0..transport.codes.len())
        .map(|variant| fixed(variant).goodput)
        .fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::{Always, Decision, Wave, best, run};
    use crate::tool::bench::boosters::bayes_filter::BayesFilter;
    use crate::tool::bench::boosters::event_counter::{EventCounter, Parameters, Silence};
    use crate::tool::bench::boosters::theory::goodput::relative_error;
    use crate::tool::bench::boosters::transport::PAPER;

    const SECOND_NS: u64 = 1_000_000_000;
    const SEED: u64 = 1;

    /// Mbit/s of a static connection of 100 s.
    fn megabits(variant: usize, bit_error_rate: f64) -> f64 {
        let wave = Wave {
            half_ns: None,
            bit_error_rate,
        };
        let outcome = run(&PAPER, wave, &mut Always(variant), 100 * SECOND_NS, SEED);
        outcome.goodput * 12_000.0 / 1e6
    }

    /// Counters whose polls wait for frames, with a maximum of 25 and of 8, and the filter.
    fn policies() -> [Box<dyn Decision>; 3] {
        let silence = Silence::Waits;
        let counter = |most| {
            EventCounter::new(Parameters {
                silence,
                ..PAPER.counter(most)
            })
        };
        let filter = BayesFilter::new(&PAPER.variants(), PAPER.cost_ns as f64 * 1e-9);
        [
            Box::new(counter(25)),
            Box::new(counter(8)),
            Box::new(filter),
        ]
    }

    /// The error of each policy, in percent.
    fn errors(half_s: u64, bit_error_rate: f64, duration_s: u64) -> [f64; 3] {
        let wave = Wave {
            half_ns: Some(half_s * SECOND_NS),
            bit_error_rate,
        };
        let best = [0.0, bit_error_rate].map(|rate| best(&PAPER, rate, 60 * SECOND_NS, SEED));
        let ideal = 0.5 * (best[0] + best[1]);
        policies().map(|mut policy| {
            let outcome = run(&PAPER, wave, &mut *policy, duration_s * SECOND_NS, SEED);
            100.0 * relative_error(ideal, outcome.goodput)
        })
    }

    /// Figure 3: within 12 %.
    #[test]
    fn static_connections_have_the_goodput_of_the_paper() {
        println!("seed {SEED}");
        for (rate, expected) in [(0.0, 43.9), (1e-8, 30.2), (1e-7, 7.5), (1e-6, 1.0)] {
            let found = megabits(0, rate);
            assert!((found / expected - 1.0).abs() < 0.12, "{rate:e}: {found}");
        }
        assert!((megabits(1, 1e-6) / 30.0 - 1.0).abs() < 0.01);
    }

    /// At 1e-6, in percent, within 4: simulated before.
    #[test]
    fn policies_have_the_errors_simulated_before() {
        println!("seed {SEED}");
        for (half_s, expected) in [(10, [34.8, 18.7, 4.5]), (40, [8.6, 4.4, 1.1])] {
            let found = errors(half_s, 1e-6, 4 * half_s);
            for (found, expected) in found.into_iter().zip(expected) {
                assert!(
                    (found - expected).abs() < 4.0,
                    "T0 {half_s} s: {found} {expected}"
                );
            }
        }
    }

    /// The whole table: mean and worst error in percent over the bit error rates, within 4 and 8.
    /// Without 1e-3, where decoders were simulated before that fail three times less. The worst
    /// errors vary most at 1e-4, since one frame more or less decides over a second of silence.
    #[test]
    #[ignore = "takes a minute"]
    fn policies_have_all_errors_simulated_before() {
        println!("seed {SEED}");
        let expected = [
            (1, [[33.0, 44.0], [29.0, 44.0], [20.0, 23.0]]),
            (2, [[31.0, 47.0], [45.0, 54.0], [22.0, 25.0]]),
            (5, [[41.0, 55.0], [30.0, 36.0], [12.0, 15.0]]),
            (10, [[28.0, 40.0], [17.0, 22.0], [6.0, 9.0]]),
            (20, [[17.0, 27.0], [9.0, 14.0], [3.0, 5.0]]),
            (40, [[10.0, 17.0], [5.0, 14.0], [2.0, 3.0]]),
        ];
        let rates = [3e-8, 1e-7, 3e-7, 1e-6, 3e-6, 1e-5, 1e-4];
        for (half_s, expected) in expected {
            let duration_s = 400.max(30 * half_s);
            let found = rates.map(|rate| errors(half_s, rate, duration_s));
            for (policy, [mean, worst]) in expected.into_iter().enumerate() {
                let found = found.map(|errors| errors[policy]);
                let found_mean = found.iter().sum::<f64>() / rates.len() as f64;
                let found_worst = found.iter().copied().fold(0.0, f64::max);
                println!("T0 {half_s} s, policy {policy}: {found_mean:.1} / {found_worst:.1}");
                assert!(
                    (found_mean - mean).abs() < 4.0,
                    "T0 {half_s}, policy {policy}: mean"
                );
                assert!(
                    (found_worst - worst).abs() < 8.0,
                    "T0 {half_s}, policy {policy}: worst"
                );
            }
        }
    }

    #[test]
    fn the_better_code_is_the_best() {
        for (rate, expected) in [(0.0, 43.9), (1e-5, 30.0)] {
            let megabits = best(&PAPER, rate, 60 * SECOND_NS, SEED) * 12_000.0 / 1e6;
            assert!((megabits - expected).abs() < 0.1, "{rate}: {megabits}");
        }
    }

    #[test]
    fn equal_seeds_give_equal_runs() {
        let wave = Wave {
            half_ns: Some(SECOND_NS),
            bit_error_rate: 1e-6,
        };
        let swaps = [1, 1].map(|seed| {
            let [_, _, mut filter] = policies();
            let outcome = run(&PAPER, wave, &mut *filter, 20 * SECOND_NS, seed);
            (
                outcome.goodput.to_bits(),
                outcome.swaps_per_s.to_bits(),
                outcome.boosted.to_bits(),
            )
        });
        assert_eq!(swaps[0], swaps[1]);
        assert!(f64::from_bits(swaps[0].1) > 0.0, "the booster was swapped");
    }
}
