//! Figures 3 and 12: the goodput of static codes, and that of an ideal policy.
//!
//! In: the runs of a transport. Out: goodput by bit error rate, simulated, beside the formula
//! `1 / (t + f c)`.

use super::plot::{Axis, Curve, Look, Panel, Plot};
use super::trials::{Trials, megabits};
use super::way::{STATIC, Way};
use super::{Figure, Statement, statements};
use crate::tool::bench::boosters::tables::{Table, power};
use crate::tool::bench::boosters::theory::codes::Code;
use crate::tool::bench::boosters::theory::goodput::goodput;
use crate::tool::bench::boosters::transport::{FRAME_BYTES, Transport};

/// The highest goodput of the pictures, in Mbit/s.
const HIGHEST: f64 = 50.0;
/// The label of all axes of goodput.
const GOODPUT: &str = "goodput, Mbit/s";

/// Returns the goodput of a static way by the formula, in Mbit/s.
fn formula(transport: &Transport, way: Way, rate: f64) -> f64 {
    let code = match way {
        Way::Off => Code::Off,
        Way::Convolutional | Way::ReedSolomon | Way::Counting(_) | Way::Filter | Way::Ladder => {
            way.codes()[1]
        }
    };
    let frame_s = transport.code_ns(code) as f64 * 1e-9;
    let lost = code.frame_error_rate(rate, FRAME_BYTES);
    megabits(goodput(frame_s, transport.cost_ns as f64 * 1e-9, lost))
}

/// Returns figure 3.
pub fn fixed(trials: &Trials) -> Figure {
    let mut tables = vec![fixed_table(trials)];
    let plan = trials.plan;
    let lines = STATIC.iter().enumerate().flat_map(|(number, &way)| {
        let steps = (0..=160).map(|step| 10_f64.powf(-10.0 + f64::from(step) / 20.0));
        let line = steps.map(|rate| [rate, formula(&trials.transport, way, rate)]);
        let found = plan.constant.iter().zip(&trials.constant);
        let marks = found.map(|(&rate, all)| [rate, megabits(all[number])]);
        let curve = |kind: &str, points, look| Curve {
            name: format!("{}, {kind}", way.name()),
            points,
            look,
            colour: number,
        };
        [
            curve("computed", line.collect(), Look::Line),
            curve("simulated", marks.collect(), Look::Marks),
        ]
    });
    let says = Curve {
        name: "the paper's text".to_string(),
        points: vec![[1e-10, 43.9], [1e-8, 30.0], [1e-10, 30.0]],
        look: Look::Marks,
        colour: 6,
    };
    let panel = Panel {
        title: format!("TCP: {}", trials.transport.name),
        across: Axis::bit_error_rate([1e-10, 1e-2]),
        up: Axis::linear(GOODPUT, HIGHEST),
        curves: lines.chain([says]).collect(),
    };
    tables.push(statements(3, &fixed_texts(trials)));
    Figure {
        number: 3,
        tables,
        plot: Plot {
            title: "Figure 3: goodput of static codes".to_string(),
            panels: vec![panel],
        },
    }
}

/// Returns the table of figure 3.
pub fn fixed_table(trials: &Trials) -> Table {
    let title = format!(
        "Figure 3, {}: goodput in Mbit/s of static codes, and computed, 1 / (t + f c)",
        trials.origin()
    );
    let names: Vec<String> = STATIC
        .iter()
        .flat_map(|way| [way.name(), "computed".to_string()])
        .collect();
    let heads = ["rate"].into_iter().chain(names.iter().map(String::as_str));
    let mut table = Table::new(&title, heads);
    for (&rate, found) in trials.plan.constant.iter().zip(&trials.constant) {
        let cells = STATIC.iter().zip(found).flat_map(|(&way, &goodput)| {
            [megabits(goodput), formula(&trials.transport, way, rate)]
        });
        let cells = cells.map(|value| format!("{value:.2}"));
        table
            .rows
            .push([power(rate)].into_iter().chain(cells).collect());
    }
    table
}

fn fixed_texts(trials: &Trials) -> [Statement; 4] {
    let simulated = |way: usize, rate: f64| megabits(trials.fixed(way, rate));
    let critical = trials.transport.critical();
    [
        Statement {
            paper: "about 43.9 Mbit/s without errors and without the code",
            section: "6.3",
            model: format!("{:.1} (fitted)", simulated(0, 0.0)),
        },
        Statement {
            paper: "about 30 Mbit/s with rate control or with the code",
            section: "4.2",
            model: format!("{:.1} (fitted)", simulated(1, 0.0)),
        },
        Statement {
            paper: "the code pays above 1e-8",
            section: "4.2",
            model: critical.map_or_else(String::new, power),
        },
        Statement {
            paper: "without the code, TCP almost stalls above 1e-4",
            section: "6.3",
            model: format!("{:.3} Mbit/s at 1e-4", simulated(0, 1e-4)),
        },
    ]
}

/// Returns figure 12.
pub fn ideal(trials: &Trials) -> Figure {
    let kinds = [
        (Way::Filter, "off or convolutional(k = 3)"),
        (Way::Ladder, "RS ladder"),
    ];
    let curves = kinds.iter().enumerate().flat_map(|(number, (way, name))| {
        let parts = [(0, "ideal", Look::Line), (2, "in error mode", Look::Dashed)];
        parts.map(|(part, what, look)| {
            let rates = trials.plan.rates.iter().enumerate();
            let point = |(at, &rate): (usize, &f64)| [rate, megabits(trials.ideal(*way, at)[part])];
            Curve {
                name: format!("{name}: {what}"),
                points: rates.map(point).collect(),
                look,
                colour: number,
            }
        })
    });
    let rates = trials.plan.rates.iter();
    let fixed = Curve {
        name: "static RS(255,247)".to_string(),
        points: rates
            .map(|&rate| [rate, megabits(static_mean(trials, rate))])
            .collect(),
        look: Look::Line,
        colour: 2,
    };
    let panel = Panel {
        title: format!("TCP: {}", trials.transport.name),
        across: Axis::bit_error_rate([1e-8, 1e-3]),
        up: Axis::linear(GOODPUT, HIGHEST),
        curves: curves.chain([fixed]).collect(),
    };
    let highest = trials.plan.rates.iter().position(|&rate| rate >= 1e-6);
    let model = highest.map_or_else(String::new, |at| {
        let all = trials.ideal(Way::Filter, at).map(megabits);
        format!(
            "({:.1} + {:.1}) / 2 = {:.1} at 1e-6",
            all[1], all[2], all[0]
        )
    });
    let texts = [Statement {
        paper: "R_good is about 43.9 Mbit/s; the ideal is (R_good + R_bad) / 2",
        section: "6.3",
        model,
    }];
    Figure {
        number: 12,
        tables: vec![ideal_table(trials), statements(12, &texts)],
        plot: Plot {
            title: "Figure 12, simulated: goodput of an ideal policy".to_string(),
            panels: vec![panel],
        },
    }
}

/// Returns the goodput of static RS(255,247), half of the time without bit errors.
fn static_mean(trials: &Trials, rate: f64) -> f64 {
    0.5 * [0.0, rate]
        .map(|rate| trials.fixed(2, rate))
        .iter()
        .sum::<f64>()
}

/// Returns the table of figure 12.
pub fn ideal_table(trials: &Trials) -> Table {
    let title = format!(
        "Figure 12, {}: goodput in Mbit/s of the best static code, and of an ideal policy \
         (equation 6)",
        trials.origin()
    );
    let heads = [
        "rate",
        "R_good",
        "R_bad, convolutional",
        "ideal",
        "R_bad, RS ladder",
        "ideal",
        "static RS(255,247)",
    ];
    let mut table = Table::new(&title, heads);
    for (at, &rate) in trials.plan.rates.iter().enumerate() {
        let [paper, ladder] = [Way::Filter, Way::Ladder].map(|way| trials.ideal(way, at));
        let fixed = static_mean(trials, rate);
        let cells = [paper[1], paper[2], paper[0], ladder[2], ladder[0], fixed];
        let cells = cells.map(|value| format!("{:.2}", megabits(value)));
        table
            .rows
            .push([power(rate)].into_iter().chain(cells).collect());
    }
    table
}
