//! All simulated runs of a transport.
//!
//! In: a transport and a plan: bit error rates, times between changes, and policies. Out: the
//! goodput of static codes at each constant bit error rate, the ideal goodput, and the outcome of
//! each static code and each policy at each square wave.

use super::way::{SEED, STATIC, Way};
use crate::tool::bench::boosters::tables::power;
use crate::tool::bench::boosters::theory::codes::Code;
use crate::tool::bench::boosters::theory::goodput::{boost, relative_error};
use crate::tool::bench::boosters::transport::{
    CODES, FRAME_BYTES, LADDER, REED_SOLOMON, Transport,
};
use crate::tool::bench::boosters::trial::{Outcome, Wave, best};
use crate::tool::failure::Failure;

/// The extent of a simulation.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Constant bit error rates of static codes (Figure 3).
    pub constant: &'static [f64],
    /// Bit error rates of the noisy half of a wave.
    pub rates: &'static [f64],
    /// Times between two changes, `T0`, in seconds.
    pub halves_s: &'static [u64],
    /// The policies.
    pub policies: &'static [Way],
    /// The duration of a run at a constant bit error rate, in seconds.
    pub constant_s: u64,
    /// The duration of a run at a wave: so many seconds at least, and so many halves.
    pub least_s: u64,
    /// The number of halves.
    pub halves: u64,
}

/// All bit error rates and times of the paper.
pub const FULL: Plan = Plan {
    constant: &[
        0.0, 1e-10, 1e-9, 3e-9, 1e-8, 3e-8, 1e-7, 3e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3,
        3e-3, 1e-2,
    ],
    rates: &[
        1e-8, 3e-8, 1e-7, 3e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3,
    ],
    halves_s: &[1, 2, 5, 10, 20, 40],
    policies: &[
        Way::Counting(25),
        Way::Counting(8),
        Way::Filter,
        Way::Ladder,
    ],
    constant_s: 300,
    least_s: 300,
    halves: 20,
};

/// Three bit error rates, two times, and half as long runs.
pub const QUICK: Plan = Plan {
    constant: &[0.0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4],
    rates: &[1e-7, 1e-6, 1e-5],
    halves_s: &[5, 10],
    policies: &[Way::Counting(25), Way::Filter, Way::Ladder],
    constant_s: 60,
    least_s: 100,
    halves: 10,
};

/// A place where connections run: in a model, or over stacks.
pub trait Connections {
    /// Returns the transport.
    fn transport(&self) -> Transport;

    /// Returns the words that say how numbers are found.
    fn origin(&self) -> String;

    /// Runs a connection of a way for so many seconds.
    fn run(&self, way: Way, wave: Wave, duration_s: u64) -> Result<Outcome, Failure>;

    /// Returns the goodput of the best of these codes at a constant bit error rate, in frames per
    /// second.
    fn best(&self, codes: &'static [Code], rate: f64, duration_s: u64) -> Result<f64, Failure>;
}

/// Connections in the model of this folder.
pub struct Model(pub Transport);

impl Connections for Model {
    fn transport(&self) -> Transport {
        self.0
    }

    fn origin(&self) -> String {
        format!("simulated by the model; TCP: {}", self.0.name)
    }

    fn run(&self, way: Way, wave: Wave, duration_s: u64) -> Result<Outcome, Failure> {
        Ok(way.run(&self.0, wave, duration_s))
    }

    fn best(&self, codes: &'static [Code], rate: f64, duration_s: u64) -> Result<f64, Failure> {
        let transport = self.0.with(codes);
        Ok(best(&transport, rate, duration_s * 1_000_000_000, SEED))
    }
}

/// The plan of `Stacks`: no rate at which a run of this length has but a few errors.
pub const STACKS: Plan = Plan {
    constant: &[0.0, 1e-7, 3e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 1e-3],
    rates: &[1e-6, 1e-5, 3e-5, 1e-4, 1e-3],
    halves_s: &[5, 10, 40],
    policies: &[Way::Counting(25), Way::Filter, Way::Ladder],
    constant_s: 60,
    least_s: 100,
    halves: 10,
};

/// Two bit error rates, one time, and short runs.
pub const QUICK_STACKS: Plan = Plan {
    constant: &[0.0, 1e-7, 3e-7, 1e-6, 1e-3],
    rates: &[1e-3],
    halves_s: &[5],
    policies: &[Way::Filter],
    constant_s: 20,
    least_s: 20,
    halves: 4,
};

/// The results of a transport.
#[derive(Clone, Debug)]
pub struct Trials {
    /// The transport.
    pub transport: Transport,
    /// The words that say how its numbers were found.
    origin: String,
    /// The plan.
    pub plan: Plan,
    /// Goodput of each static code, at each constant bit error rate of the plan.
    pub constant: Vec<[f64; STATIC.len()]>,
    /// The best goodput of the paper's codes, and of Reed-Solomon codes: without bit errors, and at
    /// each bit error rate.
    best: [(f64, Vec<f64>); 2],
    /// The outcomes of each static code and then of each policy: by time, by bit error rate.
    outcomes: Vec<Vec<Vec<Outcome>>>,
}

impl Trials {
    /// Runs all of a plan; tells `say` how far it is.
    pub fn run(
        connections: &dyn Connections,
        plan: Plan,
        say: &dyn Fn(&str),
    ) -> Result<Trials, Failure> {
        let static_run = |&bit_error_rate: &f64| {
            say(&format!("bit error rate {}", power(bit_error_rate)));
            let constant = Wave {
                half_ns: None,
                bit_error_rate,
            };
            let mut goodput = [0.0; STATIC.len()];
            for (goodput, way) in goodput.iter_mut().zip(STATIC) {
                *goodput = connections.run(way, constant, plan.constant_s)?.goodput;
            }
            Ok(goodput)
        };
        let best = |codes: &'static [Code]| {
            let best = |rate: f64| connections.best(codes, rate, plan.constant_s);
            let noisy = plan.rates.iter().map(|&rate| best(rate));
            let noisy = noisy.collect::<Result<Vec<f64>, Failure>>()?;
            Ok::<_, Failure>((best(0.0)?, noisy))
        };
        // The codes of the ladder need not run where no way of the plan uses them.
        let has_ladder = plan.policies.contains(&Way::Ladder);
        let ladder = if has_ladder { LADDER } else { REED_SOLOMON };
        let outcomes = |half_s: u64, bit_error_rate: f64| {
            say(&format!("T0 = {half_s} s, {}", power(bit_error_rate)));
            let half_ns = Some(half_s * 1_000_000_000);
            let wave = Wave {
                half_ns,
                bit_error_rate,
            };
            let duration_s = plan.least_s.max(plan.halves * half_s);
            let ways = STATIC.iter().chain(plan.policies);
            let outcomes = ways.map(|way| connections.run(*way, wave, duration_s));
            outcomes.collect::<Result<Vec<Outcome>, Failure>>()
        };
        let at = |&half_s: &u64| {
            let rates = plan.rates.iter();
            rates.map(|&rate| outcomes(half_s, rate)).collect()
        };
        Ok(Trials {
            transport: connections.transport(),
            origin: connections.origin(),
            plan,
            constant: plan
                .constant
                .iter()
                .map(static_run)
                .collect::<Result<_, Failure>>()?,
            best: [best(CODES)?, best(ladder)?],
            outcomes: plan.halves_s.iter().map(at).collect::<Result<_, _>>()?,
        })
    }

    /// Returns the words that say how its numbers were found.
    pub fn origin(&self) -> String {
        format!("{}, seed {SEED}", self.origin)
    }

    /// Returns all ways, static codes first.
    pub fn ways(&self) -> impl Iterator<Item = Way> {
        STATIC.into_iter().chain(self.plan.policies.iter().copied())
    }

    /// Returns the outcome of a way at the numbers of a time and of a bit error rate.
    pub fn outcome(&self, way: Way, half: usize, rate: usize) -> Outcome {
        let number = self.ways().position(|one| one == way);
        self.outcomes[half][rate][number.expect("the way was simulated")]
    }

    /// Returns the ideal goodput at the number of a bit error rate (equation 6), and that without
    /// and with bit errors alone: of Reed-Solomon codes if the way uses them, else of the paper's.
    pub fn ideal(&self, way: Way, rate: usize) -> [f64; 3] {
        let is_reed_solomon = matches!(way, Way::Ladder | Way::ReedSolomon);
        let (clean, noisy) = &self.best[usize::from(is_reed_solomon)];
        [0.5 * (clean + noisy[rate]), *clean, noisy[rate]]
    }

    /// Returns the goodput of the number of a static way at a constant bit error rate of the plan.
    pub fn fixed(&self, way: usize, rate: f64) -> f64 {
        let at = self.plan.constant.iter().position(|&one| one == rate);
        at.map_or(f64::NAN, |at| self.constant[at][way])
    }

    /// Returns the error of a way (equation 5).
    pub fn error(&self, way: Way, half: usize, rate: usize) -> f64 {
        let goodput = self.outcome(way, half, rate).goodput;
        relative_error(self.ideal(way, rate)[0], goodput)
    }

    /// Returns the gain of a way over a static code (equation 7).
    pub fn gain(&self, way: Way, over: Way, half: usize, rate: usize) -> f64 {
        let goodput = |way| self.outcome(way, half, rate).goodput;
        boost(goodput(over), goodput(way))
    }

    /// Returns the number of a time `T0`, in seconds, if the plan has it.
    pub fn half(&self, half_s: u64) -> Option<usize> {
        self.plan.halves_s.iter().position(|&one| one == half_s)
    }

    /// Returns the number of a bit error rate, if the plan has it.
    pub fn rate(&self, rate: f64) -> Option<usize> {
        self.plan.rates.iter().position(|&one| one == rate)
    }
}

/// Converts frames per second to Mbit/s.
pub fn megabits(frames: f64) -> f64 {
    frames * f64::from(8 * FRAME_BYTES) / 1e6
}
