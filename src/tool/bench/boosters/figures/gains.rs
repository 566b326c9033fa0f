//! Figures 13 to 15: the errors of policies, and their gains over static codes.
//!
//! In: the runs of a transport. Out: the error of each policy (equation 5), and its gain
//! (equation 7) over no code, over the paper's code, and over RS(255,247), by bit error rate and by
//! the time between changes.

use super::plot::{Axis, Curve, Look, Panel, Plot};
use super::trials::Trials;
use super::way::Way;
use super::{Figure, Statement, statements};
use crate::tool::bench::boosters::tables::{Table, power};

/// A quantity of a way, at the numbers of a time and of a bit error rate.
type Quantity = fn(&Trials, Way, usize, usize) -> f64;

/// The quantities of the figures.
const ERROR: Quantity = |trials, way, half, rate| trials.error(way, half, rate);
const OVER_OFF: Quantity = |trials, way, half, rate| trials.gain(way, Way::Off, half, rate);
const OVER_CODE: Quantity =
    |trials, way, half, rate| trials.gain(way, Way::Convolutional, half, rate);
const OVER_REED_SOLOMON: Quantity =
    |trials, way, half, rate| trials.gain(way, Way::ReedSolomon, half, rate);

/// The paper's policy.
const PAPERS: Way = Way::Counting(25);

/// Times between changes that are drawn, in seconds: the paper's.
const DRAWN: [u64; 4] = [5, 10, 20, 40];

/// Returns figures 13, 14 and 15.
pub fn figures(trials: &Trials) -> [Figure; 3] {
    let of_number = |number: u32| {
        let of_figure = |table: &(u32, Table)| table.0 == number;
        let own = tables(trials).into_iter().filter(of_figure);
        own.map(|table| table.1).collect::<Vec<Table>>()
    };
    let titles = [
        (
            13,
            "error, in percent of the ideal",
            "error, percent",
            60.0,
            ERROR,
        ),
        (14, "gain over no code", "gain, percent", 300.0, OVER_OFF),
        (
            15,
            "gain over the paper's code",
            "gain, percent",
            60.0,
            OVER_CODE,
        ),
    ];
    titles.map(|(number, title, label, highest, quantity)| {
        let up = Axis {
            ends: [if number == 13 { 0.0 } else { -50.0 }, highest],
            ..Axis::linear(label, highest)
        };
        let panels = trials.ways().filter(|way| is_drawn(*way));
        let mut tables = of_number(number);
        if trials.ways().any(|way| way == PAPERS) {
            tables.push(statements(number, &texts(trials, number)));
        }
        Figure {
            number,
            tables,
            plot: Plot {
                title: format!("Figure {number}, simulated: {title}"),
                panels: panels
                    .map(|way| panel(trials, way, &up, quantity))
                    .collect(),
            },
        }
    })
}

/// Returns true if a way has a panel: all but the paper's baselines, and but one counter.
fn is_drawn(way: Way) -> bool {
    match way {
        Way::Off | Way::Convolutional | Way::Counting(8) => false,
        Way::ReedSolomon | Way::Counting(_) | Way::Filter | Way::Ladder => true,
    }
}

fn panel(trials: &Trials, way: Way, up: &Axis, quantity: Quantity) -> Panel {
    let halves = DRAWN
        .iter()
        .filter_map(|&half_s| Some((half_s, trials.half(half_s)?)));
    let curves = halves.enumerate().map(|(colour, (half_s, half))| {
        let rates = trials.plan.rates.iter().enumerate();
        let point = |(at, &rate): (usize, &f64)| [rate, 100.0 * quantity(trials, way, half, at)];
        Curve {
            name: format!("T0 = {half_s} s"),
            points: rates.map(point).collect(),
            look: Look::Line,
            colour,
        }
    });
    Panel {
        title: way.name(),
        across: Axis::bit_error_rate([1e-8, 1e-3]),
        up: up.clone(),
        curves: curves.collect(),
    }
}

/// Returns the tables of figures 13 to 15, each with the number of its figure, and that of swaps.
pub fn tables(trials: &Trials) -> Vec<(u32, Table)> {
    let quantities: [(u32, &str, Quantity); 4] = [
        (
            13,
            "error, in percent of the ideal of the paper's codes or of RS codes",
            ERROR,
        ),
        (
            14,
            "gain over the link without a code, in percent",
            OVER_OFF,
        ),
        (
            15,
            "gain over the link that is always coded, in percent",
            OVER_CODE,
        ),
        (
            15,
            "gain over static RS(255,247), in percent",
            OVER_REED_SOLOMON,
        ),
    ];
    let mut all: Vec<(u32, Table)> = quantities
        .into_iter()
        .map(|(number, title, quantity)| {
            let title = format!("Figure {number}, {}: {title}", trials.origin());
            let cell = |way, half, rate| rounded(100.0 * quantity(trials, way, half, rate));
            (number, table(trials, &title, &cell))
        })
        .collect();
    let title = format!(
        "Figure 13, {}: swaps in 100 s, and the share of time boosted",
        trials.origin()
    );
    let swaps = |way, half, rate| {
        let outcome = trials.outcome(way, half, rate);
        format!("{:.0} {:.2}", 100.0 * outcome.swaps_per_s, outcome.boosted)
    };
    all.push((13, table(trials, &title, &swaps)));
    all
}

/// Returns a whole number, and no negative zero.
fn rounded(value: f64) -> String {
    format!("{:.0}", value.round() + 0.0)
}

/// Returns a table of all ways and times, by bit error rate.
fn table(trials: &Trials, title: &str, cell: &dyn Fn(Way, usize, usize) -> String) -> Table {
    let rates: Vec<String> = trials.plan.rates.iter().map(|&rate| power(rate)).collect();
    let heads = ["way", "T0, s"].into_iter();
    let mut table = Table::new(title, heads.chain(rates.iter().map(String::as_str)));
    for (half, half_s) in trials.plan.halves_s.iter().enumerate() {
        for way in trials.ways() {
            let cells = (0..rates.len()).map(|rate| cell(way, half, rate));
            let names = [way.name(), half_s.to_string()];
            table.rows.push(names.into_iter().chain(cells).collect());
        }
    }
    table
}

fn texts(trials: &Trials, number: u32) -> Vec<Statement> {
    let slowest = trials.plan.halves_s.len() - 1;
    let fastest = trials.half(5).unwrap_or_default();
    let percent = |quantity: Quantity, half: usize, rate: f64| {
        let half_s = trials.plan.halves_s[half];
        trials.rate(rate).map_or("not simulated".to_string(), |at| {
            let value = 100.0 * quantity(trials, PAPERS, half, at);
            format!("{value:.0} % at {}, T0 = {half_s} s", power(rate))
        })
    };
    let worst = || {
        let errors = trials.plan.rates.iter().enumerate();
        let errors = errors.filter(|(_, rate)| **rate >= 3e-8);
        errors
            .map(|(at, _)| 100.0 * trials.error(PAPERS, slowest, at))
            .fold(0.0, f64::max)
    };
    let statement = |paper, model| Statement {
        paper,
        section: "6.3",
        model,
    };
    match number {
        13 => vec![statement(
            "the error is below 20 % if the bit error rate changes slowly",
            format!(
                "at most {:.0} % with N = 25, T0 = {} s",
                worst(),
                trials.plan.halves_s[slowest]
            ),
        )],
        14 => vec![
            statement(
                "throughput improves by up to 50 % up to 1e-6",
                percent(OVER_OFF, slowest, 1e-6),
            ),
            statement(
                "practically infinite above 1e-4: TCP stalls for longer than T0",
                percent(OVER_OFF, slowest, 1e-4),
            ),
        ],
        _ => vec![
            statement(
                "about 30 % at low bit error rates",
                percent(OVER_CODE, slowest, 1e-8),
            ),
            statement(
                "almost no improvement at high bit error rates if T0 = 5 s",
                percent(OVER_CODE, fastest, 1e-4),
            ),
        ],
    }
}
