//! Figure 7: the bit error rates at which a window of the paper's counter inserts and removes the
//! booster.
//!
//! In: windows. Out: the critical bit error rate by equation 3, that without drift, and the one at
//! which half of the simulated connections are swapped in time.

use super::plot::{Axis, Curve, Look, Panel, Plot};
use super::way::SEED;
use super::{Figure, Statement, statements};
use crate::tool::bench::boosters::event_counter::{EventCounter, Parameters, Silence};
use crate::tool::bench::boosters::tables::{Table, power};
use crate::tool::bench::boosters::theory::critical::{by_drift, by_expectation};
use crate::tool::bench::boosters::transport::PAPER;
use crate::tool::bench::boosters::trial::swaps_within;

/// The windows that are computed.
const WINDOWS: [u32; 7] = [31, 128, 256, 512, 768, 1024, 2048];
/// Bits of a frame on the air, without and with the paper's code.
const BITS: [f64; 2] = [12_000.0, 24_000.0];

/// The meaning of polls while TCP waits for a retransmission timeout.
const SILENCES: [(Silence, &str); 2] = [
    (Silence::Polls, "all polls count"),
    (Silence::Waits, "polls wait for frames"),
];

/// Windows, and the bit error rate for each meaning of polls.
type Found = Vec<(u32, [f64; SILENCES.len()])>;

/// The extent of a simulation.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The windows that are simulated without and with the booster.
    pub windows: [&'static [u32]; 2],
    /// The number of runs at a bit error rate, which is odd.
    pub runs: u64,
    /// The time in which a run swaps or does not, in seconds.
    pub limit_s: u64,
}

/// No simulation.
pub const NONE: Plan = Plan {
    windows: [&[], &[]],
    runs: 0,
    limit_s: 0,
};

/// The paper's windows alone.
pub const QUICK: Plan = Plan {
    windows: [&[512], &[768]],
    runs: 3,
    limit_s: 20,
};

/// All windows of the paper's figure.
pub const FULL: Plan = Plan {
    windows: [&[128, 256, 512, 768, 1024], &[128, 256, 512, 768, 1024]],
    runs: 11,
    limit_s: 60,
};

/// Returns the figure.
pub fn figure(plan: &Plan) -> Figure {
    let found = [false, true].map(|boosted| {
        let windows = plan.windows[usize::from(boosted)].iter();
        let rates = |window| SILENCES.map(|one| simulated(plan, window, boosted, one.0));
        windows.map(|&window| (window, rates(window))).collect()
    });
    let mut tables = vec![computed()];
    if plan.runs > 0 {
        tables.push(measured(plan, &found));
    }
    tables.push(statements(7, &texts(&found)));
    let plot = Plot {
        title: "Figure 7: critical bit error rate of a window".to_string(),
        panels: vec![
            panel("insertion, frames of 1,500 bytes", BITS[0], &found[0]),
            panel("removal, frames of 3,000 bytes", BITS[1], &found[1]),
        ],
    };
    Figure {
        number: 7,
        tables,
        plot,
    }
}

/// Returns the table of critical bit error rates that follow from formulas.
fn computed() -> Table {
    let title = "Figure 7, computed: the critical bit error rate of a window";
    let heads = [
        "frames",
        "insert, eq. 3",
        "no drift",
        "remove, eq. 3",
        "no drift",
    ];
    let mut table = Table::new(title, heads);
    for window in WINDOWS {
        let rates = BITS.map(|bits| [by_expectation, by_drift].map(|of| of(window, bits)));
        let rates = rates.as_flattened().iter().map(|&rate| power(rate));
        table
            .rows
            .push([window.to_string()].into_iter().chain(rates).collect());
    }
    table
}

/// Returns the table of simulated critical bit error rates.
fn measured(plan: &Plan, found: &[Found; 2]) -> Table {
    let Plan { runs, limit_s, .. } = plan;
    let title = format!(
        "Figure 7, simulated by the model: the bit error rate at which half of {runs} connections \
         swap within {limit_s} s; N = 25, T = 150 ms, TCP: paper, seed {SEED}"
    );
    let heads = ["swap", "frames", "no drift"].into_iter();
    let mut table = Table::new(&title, heads.chain(SILENCES.map(|one| one.1)));
    for (at, name) in ["insert", "remove"].into_iter().enumerate() {
        for (window, rates) in &found[at] {
            let names = [name.to_string(), window.to_string()];
            let rates = [by_drift(*window, BITS[at])].into_iter().chain(*rates);
            table
                .rows
                .push(names.into_iter().chain(rates.map(power)).collect());
        }
    }
    table
}

/// Returns the paper's sentences.
fn texts(found: &[Found; 2]) -> Vec<Statement> {
    let simulated = |at: usize, window: u32| {
        let found = found[at].iter().find(|one| one.0 == window);
        found.map_or("not simulated".to_string(), |(_, rates)| {
            let texts = SILENCES.iter().zip(rates);
            let texts = texts.map(|((_, name), &rate)| format!("{} ({name})", power(rate)));
            texts.collect::<Vec<String>>().join(", ")
        })
    };
    vec![
        Statement {
            paper: "insertion is guaranteed above equation 3 (W = 512)",
            section: "5.1",
            model: format!(
                "equation 3: {}, no drift: {}",
                power(by_expectation(512, BITS[0])),
                power(by_drift(512, BITS[0]))
            ),
        },
        Statement {
            paper: "measured hysteresis, insertion: 4e-8 (W = 512)",
            section: "5.1",
            model: simulated(0, 512),
        },
        Statement {
            paper: "measured hysteresis, removal: 3e-8 (W = 768)",
            section: "5.1",
            model: simulated(1, 768),
        },
    ]
}

/// Returns the bit error rate at which half of the connections of the paper's TCP are swapped.
fn simulated(plan: &Plan, window: u32, boosted: bool, silence: Silence) -> f64 {
    let parameters = Parameters {
        windows: [u64::from(window); 2],
        silence,
        ..PAPER.counter(25)
    };
    let is_swapped = |rate: f64, seed: u64| {
        let mut counter = match boosted {
            true => EventCounter::boosted(parameters),
            false => EventCounter::new(parameters),
        };
        let limit_ns = plan.limit_s * 1_000_000_000;
        swaps_within(&PAPER, rate, &mut counter, limit_ns, seed)
    };
    let (mut low, mut high) = (1e-9_f64, 1e-5_f64);
    while high / low > 1.05 {
        let middle = (low * high).sqrt();
        let seeds = SEED..SEED + plan.runs;
        let swapped = seeds.filter(|&seed| is_swapped(middle, seed)).count() as u64;
        // Insertion is for high bit error rates, removal for low ones.
        if (2 * swapped > plan.runs) == boosted {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low * high).sqrt()
}

fn panel(title: &str, bits: f64, found: &Found) -> Panel {
    let line = |name: &str, of: fn(u32, f64) -> f64, look, colour| {
        let windows = (0..=20).map(|step| 100.0 * 20_f64.powf(f64::from(step) / 20.0));
        let point = |window: f64| [window, of(window as u32, bits)];
        let points = windows.map(point).collect();
        let name = name.to_string();
        Curve {
            name,
            points,
            look,
            colour,
        }
    };
    let marks = SILENCES.iter().enumerate().map(|(at, (_, name))| Curve {
        name: format!("half swap, simulated, {name}"),
        points: found
            .iter()
            .map(|(window, rates)| [f64::from(*window), rates[at]])
            .collect(),
        look: Look::Marks,
        colour: 6 - 4 * at,
    });
    let lines = [
        line("equation 3, computed", by_expectation, Look::Dashed, 0),
        line("no drift, computed", by_drift, Look::Line, 1),
    ];
    Panel {
        title: title.to_string(),
        across: Axis::logarithmic("window W, frames", [100.0, 2000.0]),
        up: Axis::logarithmic("critical bit error rate", [5e-9, 1e-6]),
        curves: lines.into_iter().chain(marks).collect(),
    }
}
