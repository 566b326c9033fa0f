//! What is to be reached, and what the papers say: in, what was counted; out, goals, met or not,
//! and rows that nobody counted here.

use super::programs::{QUICK, WHOLE};
use super::{Goal, Name, Row};

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
    };
    match name {
        Name::Udp | Name::Bulk => Vec::new(),
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
    let goal = |metric: &str, limit: f64, holds: &dyn Fn(&Row) -> bool| {
        let row = rows.iter().find(|row| holds(row))?;
        Some(Goal {
            metric: metric.to_string(),
            limit,
            value: row.value,
            met: row.value <= limit,
            bound: "at most",
        })
    };
    let share = |who: &str, metric: &str, limit: f64| {
        let mut rows = rows.iter();
        let row = rows.find(|row| row.who == who && row.metric == metric)?;
        Some(Goal {
            metric: format!("{who}, {metric}"),
            limit,
            value: row.value,
            met: row.value >= limit,
            bound: "at least",
        })
    };
    let ours = |flags: &'static str, sums: &'static str, metric: Option<&'static str>| {
        move |row: &Row| {
            row.who == "stackloom"
                && row.flags == flags
                && row.checksums == sums
                && metric.is_none_or(|metric| row.metric == metric)
        }
    };
    let compiler = |row: &Row| row.variant == "release" && row.unit == "instructions";
    let mut all = match name {
        Name::Udp => vec![
            goal(
                "a message, sums off, gcc -O2",
                300.0,
                &ours(QUICK, "off", None),
            ),
            goal(
                "a message, sums on, gcc -O2",
                450.0,
                &ours(QUICK, "on", None),
            ),
        ],
        Name::Tcp => {
            // What lwIP takes; where it is not counted beside ours, what it took once.
            let below = |metric: &str, flags, sums, once| {
                let lwip = rows.iter().find(|row| {
                    let same = row.flags == flags && row.checksums == sums;
                    row.who == "lwip" && same && row.metric == METRICS[2]
                });
                let limit = lwip.map_or(once, |row| row.value);
                goal(metric, limit, &ours(flags, sums, Some(METRICS[2])))
            };
            vec![
                below("IC, sums off, gcc -O2", QUICK, "off", 796.0),
                below("IC, sums off, gcc -O3", WHOLE, "off", 776.0),
                below("IC, sums on, gcc -O2", QUICK, "on", 4799.0),
                below("IC, sums on, gcc -O3", WHOLE, "on", 1570.0),
            ]
        }
        Name::Bulk => ["receives", "sends"]
            .map(|way| share(&format!("stackloom {way}"), "offload, of linux", 0.9))
            .to_vec(),
    };
    all.push(goal("loom build examples/host/host.loom", 1.5e9, &compiler));
    all.into_iter().flatten().collect()
}
