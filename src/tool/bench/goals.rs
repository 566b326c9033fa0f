//! What is to be reached, and what the papers say: in, what was counted; out, goals, met or not,
//! and rows that nobody counted here.

use super::hippco::{DATA, MISSED_IN_SMALL, TEXT};
use super::programs::{QUICK, WHOLE};
use super::{Goal, Name, Row, coders, layers};
use crate::tool::counting::DEMO;

/// What HIPPCO 6 measures of TCP.
pub const METRICS: [&str; 3] = [
    "I_c: a segment arrives, and is not answered",
    "O_c: an answer",
    "IC = (2 I_c + O_c) / 2",
];

/// What its table 2 says of the variant that is most like ours: with probabilities that whoever
/// wrote the layers knew (`likely`), and not those of one application.
pub const HIPPCO: [f64; 3] = [166.0, 168.0, 220.0];

/// The rows of its table 2; of the interpreted one that table says 2113, and table 1, which takes
/// the optimisations one by one, 2133.
const PRINTED: [(&str, Option<f64>, Option<f64>, f64); 6] = [
    ("BSD TCP by hand", Some(186.0), Some(422.0), 397.0),
    ("Esterel, interpreted", None, None, 2133.0),
    ("HIPPCO, no profile", None, None, 320.0),
    (
        "HIPPCO, default profile",
        Some(HIPPCO[0]),
        Some(HIPPCO[1]),
        HIPPCO[2],
    ),
    (
        "HIPPCO, application profile",
        Some(143.0),
        Some(147.0),
        204.0,
    ),
    ("HIPPCO, specialised", Some(139.0), Some(142.0), 193.0),
];

/// Figures of a paper, counted on another machine.
pub fn printed(name: Name) -> Vec<Row> {
    let row = |who: &str, metric: &str, value: f64| Row {
        who: who.to_string(),
        variant: "printed".to_string(),
        compiler: "Alpha, 1997".to_string(),
        flags: String::new(),
        checksums: "off".to_string(),
        metric: metric.to_string(),
        value,
        unit: "instructions".to_string(),
        paper: Some(value),
        spread: None,
        layers: None,
    };
    match name {
        Name::Udp | Name::Layers | Name::Bulk | Name::Traffic | Name::Size => Vec::new(),
        Name::Boosters | Name::Coders | Name::Ensemble | Name::Law => Vec::new(),
        Name::Hippco => tables(&row),
        Name::Tcp => PRINTED
            .iter()
            .flat_map(|(who, input, output, both)| {
                let figures = METRICS.iter().zip([*input, *output, Some(*both)]);
                figures.filter_map(|(metric, value)| Some(row(who, metric, value?)))
            })
            .collect(),
    }
}

/// Tables 1 and 2: IC, what was missed of a hundred in 8 KiB, bytes of text and of data.
const TABLES: [(&str, [Option<f64>; 4]); 15] = [
    (
        "BSD TCP by hand",
        [Some(397.0), Some(1.0), Some(16864.0), Some(1760.0)],
    ),
    (
        "Esterel, interpreted",
        [Some(2133.0), Some(3.5), Some(8200.0), Some(155_000.0)],
    ),
    (
        "Esterel, compiled",
        [None, None, Some(1_772_000.0), Some(1500.0)],
    ),
    (
        "Esterel, + O",
        [Some(421.0), Some(3.86), Some(45700.0), Some(1200.0)],
    ),
    (
        "HIPPCO, + S",
        [Some(465.0), Some(4.07), Some(30480.0), Some(3520.0)],
    ),
    ("+ I", [Some(423.0), Some(3.7), Some(30816.0), Some(3600.0)]),
    (
        "+ E",
        [Some(206.0), Some(0.0364), Some(32240.0), Some(3600.0)],
    ),
    ("+ T", [None, Some(0.0345), Some(33136.0), Some(3600.0)]),
    (
        "+ U",
        [Some(206.0), Some(0.0289), Some(34160.0), Some(3800.0)],
    ),
    (
        "+ P, G",
        [Some(195.0), Some(0.0217), Some(6672.0), Some(1000.0)],
    ),
    ("+ R", [Some(193.0), None, None, None]),
    (
        "HIPPCO, raw profile",
        [Some(320.0), Some(4.7), Some(32000.0), None],
    ),
    (
        "HIPPCO, default profile",
        [Some(220.0), Some(0.0298), Some(24840.0), None],
    ),
    (
        "HIPPCO, application profile",
        [Some(204.0), Some(0.0289), Some(21072.0), None],
    ),
    (
        "HIPPCO, specialised",
        [Some(193.0), Some(0.0217), Some(10624.0), None],
    ),
];

fn tables(row: &dyn Fn(&str, &str, f64) -> Row) -> Vec<Row> {
    let metrics = [
        (METRICS[2], "instructions"),
        (MISSED_IN_SMALL, "of 100"),
        (TEXT, "bytes"),
        (DATA, "bytes"),
    ];
    let of_one = |(who, figures): &(&str, [Option<f64>; 4])| {
        let figures = metrics.iter().zip(*figures);
        let rows = figures.filter_map(|((metric, unit), value)| {
            let unit = unit.to_string();
            Some(Row {
                unit,
                ..row(who, metric, value?)
            })
        });
        rows.collect::<Vec<Row>>()
    };
    TABLES.iter().flat_map(of_one).collect()
}

/// What is to be reached by weaving alone, and by the compiler itself when it is optimised.
pub fn goals(name: Name, rows: &[Row]) -> Vec<Goal> {
    let compiler = |row: &Row| {
        let is_demo = row.metric.starts_with(DEMO);
        row.variant == "release" && row.unit == "instructions" && is_demo
    };
    let layer = |row: &Row| {
        let is_woven = row.who == layers::WOVEN && row.flags == WHOLE;
        is_woven && row.metric == layers::BOTH && row.layers.is_none()
    };
    let share = |way: &str| {
        let (who, metric) = (format!("stackloom {way}"), "offload, of linux");
        let title = format!("{who}, {metric}");
        let own = |row: &Row| row.who == who && row.metric == metric;
        reached(rows, &title, 0.9, "at least", &own)
    };
    let mut all = match name {
        Name::Udp => [("off", 400.0), ("on", 550.0)]
            .map(|(sums, limit)| {
                let title = format!("a message, sums {sums}, gcc -O2");
                let own = |row: &Row| is_ours(row, QUICK, sums);
                reached(rows, &title, limit, "at most", &own)
            })
            .to_vec(),
        Name::Tcp => below_lwip(rows),
        Name::Layers => {
            let title = "each layer, woven, down and up, gcc -O3";
            vec![reached(rows, title, 2.0, "at most", &layer)]
        }
        Name::Hippco | Name::Traffic | Name::Size | Name::Boosters => Vec::new(),
        Name::Ensemble | Name::Law => Vec::new(),
        Name::Bulk => ["receives", "sends"].map(share).to_vec(),
        Name::Coders => coders::goals(rows),
    };
    let own_work = format!("loom {DEMO}");
    all.push(reached(rows, &own_work, 1.5e9, "at most", &compiler));
    all.into_iter().flatten().collect()
}

/// What lwIP takes; where it is not counted beside ours, what it took once.
fn below_lwip(rows: &[Row]) -> Vec<Option<Goal>> {
    let all = [
        ("off", QUICK, 811.0),
        ("off", WHOLE, 646.0),
        ("on", QUICK, 2412.0),
        ("on", WHOLE, 1445.0),
    ];
    let goals = all.map(|(sums, flags, once)| {
        let lwip = rows.iter().find(|row| {
            let same = row.flags == flags && row.checksums == sums;
            row.who == "lwip" && same && row.metric == METRICS[2]
        });
        let level = flags.split(' ').next().unwrap_or(flags);
        let title = format!("IC, sums {sums}, gcc {level}");
        let limit = lwip.map_or(once, |row| row.value);
        let own = |row: &Row| is_ours(row, flags, sums) && row.metric == METRICS[2];
        reached(rows, &title, limit, "at most", &own)
    });
    goals.to_vec()
}

fn is_ours(row: &Row, flags: &str, sums: &str) -> bool {
    row.who == "stackloom" && row.flags == flags && row.checksums == sums
}

/// A goal, if its figure is there.
fn reached(
    rows: &[Row],
    metric: &str,
    limit: f64,
    bound: &'static str,
    holds: &dyn Fn(&Row) -> bool,
) -> Option<Goal> {
    let row = rows.iter().find(|row| holds(row))?;
    let met = match bound {
        "at least" => row.value >= limit,
        _at_most => row.value <= limit,
    };
    Some(Goal {
        metric: metric.to_string(),
        limit,
        value: row.value,
        met,
        bound,
    })
}
