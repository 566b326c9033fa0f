//! Figures 9 and 10: the paper's counter as a Markov chain.
//!
//! In: counter maxima. Out: the stationary probabilities of the state that removes and of the one
//! that inserts, by bit error rate; and how these change after errors begin. All is computed.

use super::plot::{Axis, Curve, Look, Panel, Plot};
use super::{Figure, Statement, statements};
use crate::tool::bench::boosters::tables::{Table, power};
use crate::tool::bench::boosters::theory::counter::Counter;

/// Counter maxima that are drawn.
const DRAWN: [u32; 4] = [5, 10, 25, 50];
/// Counter maxima of tables: the quick ones leave out the last, which takes most of the time.
pub const MAXIMA: [u32; 5] = [5, 10, 25, 50, 100];
/// The time between two polls, in seconds.
const PERIOD_S: f64 = 0.15;
/// The polls of Figure 10.
const POLLS: usize = 600;

/// Returns figure 9, of these counter maxima.
pub fn stationary(maxima: &[u32]) -> Figure {
    let rates = (0..=52).map(|step| 1e-8 * 10_f64.powf(f64::from(step) / 40.0));
    let curves = DRAWN.iter().enumerate().flat_map(|(colour, &most)| {
        let counter = Counter::of_paper(most);
        let shares: Vec<(f64, [f64; 3])> = rates
            .clone()
            .map(|rate| (rate, counter.shares(rate)))
            .collect();
        both(most, colour, |state| {
            shares
                .iter()
                .map(|(rate, all)| [*rate, all[state]])
                .collect()
        })
    });
    let panel = Panel {
        title: "W = 512 and 768 frames".to_string(),
        across: Axis::bit_error_rate([1e-8, 2e-7]),
        up: Axis::linear("probability", 1.0),
        curves: curves.collect(),
    };
    let middles = |most| {
        let rates = [0.1, 0.5, 0.9].map(|share| Counter::of_paper(most).rate_of_share(share));
        format!(
            "50 %: {}, 90 / 10 %: {:.2}",
            power(rates[1]),
            rates[2] / rates[0]
        )
    };
    let texts = [Statement {
        paper: "a larger N makes the uncertain region narrower",
        section: "5.2",
        model: format!("N = 5: {}; N = 25: {}", middles(5), middles(25)),
    }];
    Figure {
        number: 9,
        tables: vec![shares(maxima), regions(maxima), statements(9, &texts)],
        plot: Plot {
            title: "Figure 9, computed: the states that remove and insert".to_string(),
            panels: vec![panel],
        },
    }
}

/// Returns figure 10, of these counter maxima.
pub fn transition(maxima: &[u32]) -> Figure {
    let shares = DRAWN.map(|most| Counter::of_paper(most).transition(1e-7, POLLS));
    let curves = shares.iter().zip(DRAWN).enumerate();
    let curves = curves.flat_map(|(colour, (shares, most))| {
        both(most, colour, |state| {
            let times = (1..).map(|poll| f64::from(poll) * PERIOD_S);
            let points = times.zip(shares).map(|(time_s, all)| [time_s, all[state]]);
            points.collect()
        })
    });
    let panel = Panel {
        title: "bit error rate 1e-7 from 0 s on, T = 150 ms".to_string(),
        across: Axis::linear("time, s", POLLS as f64 * PERIOD_S),
        up: Axis::linear("probability", 1.0),
        curves: curves.collect(),
    };
    let half = |most| {
        let polls = Counter::of_paper(most).polls_until_inserted(1e-7, 0.5, 10_000);
        polls.map_or_else(String::new, |polls| polls.to_string())
    };
    let texts = [Statement {
        paper: "at 1e-7 it is clear that the booster should be in; a larger N is slower",
        section: "5.2",
        model: format!(
            "polls until half are in, by N: {}",
            DRAWN.map(half).join(", ")
        ),
    }];
    Figure {
        number: 10,
        tables: vec![
            over_time(&shares),
            insertion(maxima),
            statements(10, &texts),
        ],
        plot: Plot {
            title: "Figure 10, computed: the states that remove and insert, over time".to_string(),
            panels: vec![panel],
        },
    }
}

/// Returns the curves of both states for a counter maximum.
fn both(most: u32, colour: usize, points: impl Fn(usize) -> Vec<[f64; 2]>) -> [Curve; 2] {
    let looks = [(0, "removes", Look::Dashed), (1, "inserts", Look::Line)];
    looks.map(|(state, verb, look)| Curve {
        name: format!("N = {most}: {verb}"),
        points: points(state),
        look,
        colour,
    })
}

fn shares(maxima: &[u32]) -> Table {
    let title =
        "Figure 9, computed: probability of the state that removes, and of the one that inserts";
    let heads: Vec<String> = maxima
        .iter()
        .map(|most| format!("N = {most}: remove, insert"))
        .collect();
    let heads = ["rate"].into_iter().chain(heads.iter().map(String::as_str));
    let mut table = Table::new(title, heads);
    for rate in [
        1e-8, 2e-8, 3e-8, 4e-8, 5e-8, 6e-8, 7e-8, 8e-8, 1e-7, 1.5e-7, 2e-7,
    ] {
        let shares = maxima.iter().map(|&most| {
            let [removes, inserts, _] = Counter::of_paper(most).shares(rate);
            format!("{removes:.4} {inserts:.4}")
        });
        table
            .rows
            .push([power(rate)].into_iter().chain(shares).collect());
    }
    table
}

/// The uncertain region of Figure 9.
fn regions(maxima: &[u32]) -> Table {
    let title = "Figure 9, computed: the bit error rates at which a share of the time is boosted";
    let mut table = Table::new(title, ["N", "10 %", "50 %", "90 %", "90 % / 10 %"]);
    for &most in maxima {
        let rates = [0.1, 0.5, 0.9].map(|share| Counter::of_paper(most).rate_of_share(share));
        let width = format!("{:.2}", rates[2] / rates[0]);
        let cells = [most.to_string()].into_iter().chain(rates.map(power));
        table.rows.push(cells.chain([width]).collect());
    }
    table
}

fn over_time(shares: &[Vec<[f64; 2]>]) -> Table {
    let title = "Figure 10, computed: probability of the state that removes, and of the one that \
                 inserts, at 1e-7 from 0 s on";
    let heads = DRAWN.map(|most| format!("N = {most}: remove, insert"));
    let heads = ["s"].into_iter().chain(heads.iter().map(String::as_str));
    let mut table = Table::new(title, heads);
    for poll in [10, 20, 50, 100, 200, 400, 600] {
        let cells = shares.iter().map(|all| {
            let [removes, inserts] = all[poll - 1];
            format!("{removes:.4} {inserts:.4}")
        });
        let time = format!("{}", poll as f64 * PERIOD_S);
        table.rows.push([time].into_iter().chain(cells).collect());
    }
    table
}

/// Insertion at more bit error rates, and removal.
fn insertion(maxima: &[u32]) -> Table {
    let title = "Figure 10, computed: polls until half of all runs are boosted; mean polls to \
                 insert, to remove";
    let (inserts, removes) = ([1e-7, 1.5e-7, 2e-7, 1e-6, 1e-5], [0.0, 1e-8, 3e-8]);
    let heads: Vec<String> = ["N", "half at 1e-7"]
        .into_iter()
        .map(str::to_string)
        .chain(inserts.map(|rate| format!("insert at {}", power(rate))))
        .chain(removes.map(|rate| format!("remove at {}", power(rate))))
        .collect();
    let mut table = Table::new(title, heads.iter().map(String::as_str));
    for &most in maxima {
        let counter = Counter::of_paper(most);
        let half = counter.polls_until_inserted(1e-7, 0.5, 10_000);
        let half = half.map_or_else(String::new, |polls| polls.to_string());
        let means = inserts
            .map(|rate| counter.mean_polls_to_insert(rate))
            .into_iter();
        let means = means.chain(removes.map(|rate| counter.mean_polls_to_remove(rate)));
        let means = means.map(|polls| format!("{polls:.1}"));
        table
            .rows
            .push([most.to_string(), half].into_iter().chain(means).collect());
    }
    table
}
