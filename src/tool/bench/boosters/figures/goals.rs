//! Bars that the models and the stacks must meet.
//!
//! In: the runs of the paper's transport, and those over stacks. Out: goals, met or not: errors of
//! policies, goodput at constant bit error rates, the theory of the counter beside simulated
//! decisions, and stacks beside the model.

use super::trials::Trials;
use super::way::{SEED, STATIC, Way};
use crate::tool::bench::Goal;
use crate::tool::bench::boosters::Extent;
use crate::tool::bench::boosters::decision::{Damage, Decision};
use crate::tool::bench::boosters::event_counter::{EventCounter, Parameters, Silence};
use crate::tool::bench::boosters::tables::{Table, power};
use crate::tool::bench::boosters::theory::bernoulli::frame_error_rate;
use crate::tool::bench::boosters::theory::counter::Counter;
use crate::tool::bench::boosters::trial::Wave;
use fastrand::Rng;

/// The greatest difference between the theory and simulated decisions, in percent.
const APART: f64 = 10.0;

/// Returns the goals that these runs can decide; the theory's alone if there are none.
pub fn goals(extent: Extent, trials: Option<&Trials>) -> Vec<Goal> {
    let mut all = match extent {
        Extent::Theory => Vec::new(),
        Extent::Quick | Extent::Full => theory(),
    };
    if let Some(trials) = trials {
        all.extend(errors(trials));
        all.push(constant(trials));
    }
    all
}

/// The longest time from a wish at the receiver to the first frame of the new layer there, in
/// round-trip times.
const SWAP_LIMIT: f64 = 1.5;

/// Returns the goals that connections over stacks can decide, beside the same runs in the model.
/// `swap` is the time from a wish at the receiver to the first coded frame there, in round-trip
/// times.
pub fn of_stacks(found: &Trials, model: &Trials, swap: Option<f64>) -> Vec<Goal> {
    let mut all = vec![
        at_most(
            "figure 3, stacks from the model, percent".to_string(),
            20.0,
            apart(found, model),
        ),
        at_most(
            "from a wish to the first coded frame, round-trip times".to_string(),
            SWAP_LIMIT,
            swap.unwrap_or(f64::INFINITY),
        ),
    ];
    all.extend(
        [1e-4, 1e-3]
            .into_iter()
            .filter_map(|rate| alive(found, rate)),
    );
    all.extend(gain(found));
    all
}

/// Returns how far static codes over stacks are from the model at most, in percent, where TCP does
/// not stall: where a tenth of what the link carries arrives.
fn apart(found: &Trials, model: &Trials) -> f64 {
    let all = found.constant.iter().zip(&model.constant);
    let pairs = all.flat_map(|(found, model)| found.iter().zip(model));
    let least = 0.1 * model.fixed(0, 0.0);
    let pairs = pairs.filter(|(_, model)| **model >= least);
    let apart = pairs.map(|(found, model)| percent(*found, *model));
    apart.fold(0.0, f64::max)
}

/// The goodput of the filter beside that of the static code, where the link without a code stalls.
fn alive(trials: &Trials, rate: f64) -> Option<Goal> {
    let at = trials.rate(rate)?;
    let halves = 0..trials.plan.halves_s.len();
    let share = |half| {
        let goodput = |way| trials.outcome(way, half, at).goodput;
        goodput(Way::Filter) / goodput(Way::Convolutional)
    };
    let value = halves.map(share).fold(f64::INFINITY, f64::min);
    let metric = format!("goodput of filter / convolutional code, at {}", power(rate));
    Some(at_least(metric, 0.5, value))
}

/// The gain of the filter over no code at 100 times the critical bit error rate, as a part of the
/// gain of an ideal policy.
fn gain(trials: &Trials) -> Option<Goal> {
    let (half, rate) = (trials.half(40)?, 100.0 * trials.transport.critical()?);
    let nearest = |one: &&f64, other: &&f64| {
        let far = |rate_of: f64| (rate_of / rate).ln().abs();
        far(**one).total_cmp(&far(**other))
    };
    let rate = *trials.plan.rates.iter().min_by(nearest)?;
    let at = trials.rate(rate)?;
    let [clean, coded, plain] = [
        trials.fixed(0, 0.0),
        trials.fixed(1, rate),
        trials.fixed(0, rate),
    ];
    let limit = (clean + coded) / (clean + plain) - 1.0;
    let value = trials.gain(Way::Filter, Way::Off, half, at) / limit;
    let metric = format!("gain over no code / limit, T0 = 40 s, at {}", power(rate));
    Some(at_least(metric, 0.85, value))
}

/// Returns the table of goals.
pub fn table(title: &str, goals: &[Goal]) -> Table {
    let mut table = Table::new(title, ["goal", "found", "bound", "limit", "met"]);
    for goal in goals {
        let met = if goal.met { "yes" } else { "no" };
        let [found, limit] = [goal.value, goal.limit].map(|value| format!("{value:.2}"));
        let cells = [&*goal.metric, &found, goal.bound, &limit, met];
        table.rows.push(cells.map(str::to_string).to_vec());
    }
    table
}

fn at_least(metric: String, limit: f64, value: f64) -> Goal {
    Goal {
        metric,
        limit,
        value,
        met: value >= limit,
        bound: "at least",
    }
}

fn at_most(metric: String, limit: f64, value: f64) -> Goal {
    Goal {
        metric,
        limit,
        value,
        met: value <= limit,
        bound: "at most",
    }
}

/// The worst errors of the policies, over bit error rates from 3e-8 on.
fn errors(trials: &Trials) -> Vec<Goal> {
    let limits = [
        (Way::Counting(25), 40, 20.0),
        (Way::Filter, 40, 5.0),
        (Way::Filter, 10, 12.0),
    ];
    let goal = |(way, half_s, limit): (Way, u64, f64)| {
        let half = trials.half(half_s)?;
        let metric = format!("worst error of {}, T0 = {half_s} s, percent", way.name());
        Some(at_most(metric, limit, worst(trials, way, half)))
    };
    limits.into_iter().filter_map(goal).collect()
}

/// Returns the worst error of a policy at the number of a time, in percent.
fn worst(trials: &Trials, way: Way, half: usize) -> f64 {
    let rates = trials.plan.rates.iter().enumerate();
    let rates = rates.filter(|(_, rate)| **rate >= 3e-8);
    let errors = rates.map(|(at, _)| 100.0 * trials.error(way, half, at));
    errors.fold(0.0, f64::max)
}

/// The goodput of the filter beside the better static code, at constant bit error rates.
fn constant(trials: &Trials) -> Goal {
    let (plan, transport) = (&trials.plan, &trials.transport);
    let rates = plan.constant.iter().zip(&trials.constant);
    let shares = rates.filter(|(_, all)| all[0].max(all[1]) > 1.0);
    let share = |(&bit_error_rate, all): (&f64, &[f64; STATIC.len()])| {
        let constant = Wave {
            half_ns: None,
            bit_error_rate,
        };
        let goodput = Way::Filter
            .run(transport, constant, plan.constant_s)
            .goodput;
        goodput / all[0].max(all[1])
    };
    let value = shares.map(share).fold(f64::INFINITY, f64::min);
    let metric = "worst goodput of filter / better static code, constant bit errors";
    at_least(metric.to_string(), 0.95, value)
}

/// The theory of the counter beside simulated decisions.
fn theory() -> Vec<Goal> {
    let polls = [
        (5, 1e-7, true),
        (25, 1.5e-7, true),
        (25, 1e-6, true),
        (25, 0.0, false),
        (25, 1e-8, false),
    ];
    let polls = polls.map(|(most, rate, inserts)| {
        let counter = Counter::of_paper(most);
        let (verb, expected) = match inserts {
            true => ("insert", counter.mean_polls_to_insert(rate)),
            false => ("remove", counter.mean_polls_to_remove(rate)),
        };
        let apart = percent(mean_polls(most, rate, inserts), expected);
        let metric = format!(
            "polls to {verb}, N = {most}, at {}, from theory, percent",
            power(rate)
        );
        at_most(metric, APART, apart)
    });
    let points = [5, 10].map(|most| {
        let expected = Counter::of_paper(most).rate_of_share(0.5);
        let apart = percent(rate_of_half(most), expected);
        let metric = format!("50 % point, N = {most}, from theory, percent");
        at_most(metric, APART, apart)
    });
    polls.into_iter().chain(points).collect()
}

/// Returns how far a value is from another, in percent.
fn percent(found: f64, expected: f64) -> f64 {
    100.0 * (found / expected - 1.0).abs()
}

/// A counter that is polled when its window is new, and the frames that it sees.
struct Polled {
    counter: EventCounter,
    boosted: bool,
    random: Rng,
    shares: [f64; 2],
}

impl Polled {
    fn new(most: u32, bit_error_rate: f64, boosted: bool, seed: u64) -> Polled {
        let parameters = Parameters {
            windows: [512, 768],
            most: u64::from(most),
            period_ns: 1,
            silence: Silence::Polls,
        };
        Polled {
            counter: match boosted {
                true => EventCounter::boosted(parameters),
                false => EventCounter::new(parameters),
            },
            boosted,
            random: Rng::with_seed(seed),
            shares: [12_000.0, 24_000.0].map(|bits| frame_error_rate(bit_error_rate, bits)),
        }
    }

    /// Shows the counter a window of frames, and polls it. Returns true if it swaps.
    fn poll(&mut self) -> bool {
        let variant = usize::from(self.boosted);
        for _ in 0..[512, 768][variant] {
            let is_damaged = self.random.f64() < self.shares[variant];
            let damage = [Damage::None, Damage::Lost][usize::from(is_damaged)];
            self.counter.frame(damage, 0);
        }
        self.counter.expired();
        let wish = self.counter.wish();
        if wish != variant {
            self.boosted = wish > 0;
            self.counter.swapped(wish);
        }
        wish != variant
    }
}

/// Returns the mean number of polls until a simulated counter swaps, of about 20,000 polls:
/// infinity if it never does.
fn mean_polls(most: u32, bit_error_rate: f64, inserts: bool) -> f64 {
    const LIMIT: u32 = 20_000;
    let (mut polls, mut swaps) = (0, 0);
    let mut seeds = SEED..;
    while polls < LIMIT {
        let seed = seeds.next().expect("there is a next seed");
        let mut polled = Polled::new(most, bit_error_rate, !inserts, seed);
        let swap = (1..=LIMIT).find(|_| polled.poll());
        polls += swap.unwrap_or(LIMIT);
        swaps += u32::from(swap.is_some());
    }
    f64::from(polls) / f64::from(swaps)
}

/// Returns the bit error rate at which a simulated counter is boosted half of the time.
fn rate_of_half(most: u32) -> f64 {
    let share = |rate: f64| {
        let mut polled = Polled::new(most, rate, false, SEED);
        let boosted = (0..8_000).filter(|_| {
            polled.poll();
            polled.boosted
        });
        boosted.count() as f64 / 8_000.0
    };
    let (mut low, mut high) = (2e-8_f64, 2e-7_f64);
    while high / low > 1.03 {
        let middle = (low * high).sqrt();
        if share(middle) > 0.5 {
            high = middle;
        } else {
            low = middle;
        }
    }
    (low * high).sqrt()
}

#[cfg(test)]
mod tests {
    use super::{SEED, Trials, Way, at_most, goals, table, worst};
    use crate::tool::bench::boosters::Extent;
    use crate::tool::bench::boosters::figures::trials::{Model, Plan};
    use crate::tool::bench::boosters::transport::PAPER;

    const PLAN: Plan = Plan {
        constant: &[0.0, 3e-8, 1e-7, 1e-5, 1e-3],
        rates: &[3e-8, 1e-6, 1e-4],
        halves_s: &[5, 10, 40],
        policies: &[Way::Counting(25), Way::Filter],
        constant_s: 100,
        least_s: 100,
        halves: 10,
    };

    fn trials() -> Trials {
        let run = Trials::run(&Model(PAPER), PLAN, &|_| {});
        run.expect("the model runs")
    }

    #[test]
    fn the_model_meets_all_bars() {
        println!("seed {SEED}");
        let goals = goals(Extent::Quick, Some(&trials()));
        assert_eq!(goals.len(), 11);
        for goal in &goals {
            assert!(goal.met, "{goal:?}");
        }
    }

    /// The counter cannot follow changes each 5 s.
    #[test]
    fn a_bar_can_be_missed() {
        println!("seed {SEED}");
        let trials = trials();
        let worst = worst(&trials, Way::Counting(25), 0);
        assert!(worst > 20.0, "{worst}");
        let missed = [at_most("too slow".to_string(), 20.0, worst)];
        assert_eq!(table("goals", &missed).rows[0][4], "no");
    }
}
