//! What is to be reached, and what the papers say: in, what was counted; out, goals, met or not,
//! and rows that nobody counted here.

use super::programs::{QUICK, WHOLE};
use super::{Goal, Name, Row, layers};
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
        layers: None,
    };
    match name {
        Name::Udp | Name::Layers | Name::Bulk => Vec::new(),
        Name::Tcp => PRINTED
            .iter()
            .flat_map(|(who, input, output, both)| {
                let figures = METRICS.iter().zip([*input, *output, Some(*both)]);
                figures.filter_map(|(metric, value)| Some(row(who, metric, value?)))
            })
            .collect(),
    }
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
        Name::Udp => [("off", 300.0), ("on", 450.0)]
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
        Name::Bulk => ["receives", "sends"].map(share).to_vec(),
    };
    let own_work = format!("loom {DEMO}");
    all.push(reached(rows, &own_work, 1.5e9, "at most", &compiler));
    all.into_iter().flatten().collect()
}

/// What lwIP takes; where it is not counted beside ours, what it took once.
fn below_lwip(rows: &[Row]) -> Vec<Option<Goal>> {
    let all = [
        ("off", QUICK, 796.0),
        ("off", WHOLE, 776.0),
        ("on", QUICK, 4799.0),
        ("on", WHOLE, 1570.0),
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
