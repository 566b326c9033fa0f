//! The figures of the Ensemble paper, and what is to be reached: in, the rows that were counted;
//! out, rows of the paper, and goals.

use super::forms::{Form, STACKS};
use super::{BYPASS, DOWN, PARTS, SIZES, UP, variant};
use crate::tool::bench::{Goal, Row};

/// The unit of table 1.
pub const MICROSECONDS: &str = "us";

/// Tables 1a and 1b: microseconds on an UltraSPARC with 300 MHz.
const TABLE_1: [(u32, Form, [f64; 5]); 7] = [
    (10, Form::Mach, [9.0, 8.0, 7.0, 8.0, 32.0]),
    (10, Form::Imp, [20.0, 27.0, 20.0, 14.0, 81.0]),
    (10, Form::Func, [42.0, 30.0, 22.0, 38.0, 132.0]),
    (4, Form::Hand, [2.0, 4.0, 6.0, 2.0, 14.0]),
    (4, Form::Mach, [2.0, 6.0, 7.0, 4.0, 19.0]),
    (4, Form::Imp, [13.0, 4.0, 8.0, 10.0, 35.0]),
    (4, Form::Func, [14.0, 6.0, 9.0, 13.0, 42.0]),
];

/// Table 2b: bytes of code down and up.
const TABLE_2B: [(&str, f64, f64); 11] = [
    ("partial_appl", 684.0, 392.0),
    ("total", 820.0, 1348.0),
    ("local", 1388.0, 1420.0),
    ("collect", 44.0, 2685.0),
    ("frag", 900.0, 144.0),
    ("pt2ptw", 932.0, 4899.0),
    ("mflow", 596.0, 572.0),
    ("pt2pt", 268.0, 1040.0),
    ("mnak", 152.0, 428.0),
    ("bottom", 300.0, 5052.0),
    (BYPASS, 3592.0, 2108.0),
];

/// The rows of the paper.
pub fn rows() -> Vec<Row> {
    let row = |(who, layers): (&str, u32), metric: &str, unit: &str, value: f64| Row {
        who: format!("{who}, Ensemble"),
        variant: "printed".to_string(),
        compiler: "OCaml, 1999".to_string(),
        flags: String::new(),
        checksums: String::new(),
        metric: metric.to_string(),
        value,
        unit: unit.to_string(),
        paper: Some(value),
        spread: None,
        layers: Some(layers),
    };
    let times = TABLE_1.iter().flat_map(|(layers, form, times)| {
        let times = PARTS.iter().zip(times);
        times.map(|(part, time)| row((form.name(), *layers), part, MICROSECONDS, *time))
    });
    let code = TABLE_2B.iter().flat_map(|(layer, down, up)| {
        [(DOWN, down), (UP, up)].map(|(way, bytes)| {
            let metric = format!("{layer}: {way}");
            row((Form::Mach.name(), 10), &metric, "bytes", *bytes)
        })
    });
    times.chain(code).collect()
}

/// A figure of table 1, of the paper.
pub fn printed(rows: &[Row], form: Form, layers: u32, part: &str) -> Option<f64> {
    let who = format!("{}, Ensemble", form.name());
    let row = rows.iter().find(|row| {
        let is_part = row.metric == part && row.unit == MICROSECONDS;
        row.who == who && row.layers == Some(layers) && is_part
    });
    row.map(|row| row.value)
}

/// A figure of ours.
pub fn found(rows: &[Row], form: Form, variant: &str, metric: &str) -> Option<f64> {
    let row = rows.iter().find(|row| {
        let is_meant = row.variant == variant && row.metric == metric;
        row.who == form.name() && is_meant
    });
    row.map(|row| row.value)
}

/// The sum of two parts of ours.
pub fn sum(rows: &[Row], form: Form, variant: &str, parts: [&str; 2]) -> Option<f64> {
    let [one, other] = parts.map(|part| found(rows, form, variant, part));
    Some(one? + other?)
}

/// The parts of a message down, and up.
pub const WAYS: [[&str; 2]; 2] = [[PARTS[0], PARTS[1]], [PARTS[2], PARTS[3]]];

/// The goals: instructions of a cast of 4 bytes, and the quotients of the forms.
pub fn goals(rows: &[Row]) -> Vec<Goal> {
    let at_most = |metric: String, limit: f64, value: Option<f64>| {
        Some(Goal {
            metric,
            limit,
            value: value?,
            met: value? <= limit,
            bound: "at most",
        })
    };
    let total = |form: Form, stack: &str| {
        let total = PARTS[4];
        found(rows, form, &variant(stack, SIZES[0]), total)
    };
    let quotient = |stack: &str, other: Form, limit: f64| {
        let title = format!("{stack} layers, MACH : {}", other.name());
        let value = total(Form::Mach, stack).zip(total(other, stack));
        at_most(title, limit, value.map(|(one, other)| one / other))
    };
    let way = |stack: &str, at: usize, limit: f64| {
        let title = format!("{stack} layers, a cast of 4 bytes, {}", ["down", "up"][at]);
        let variant = variant(stack, SIZES[0]);
        at_most(title, limit, sum(rows, Form::Mach, &variant, WAYS[at]))
    };
    let longer = |size: u32| sum(rows, Form::Mach, &variant(STACKS[0].0, size), WAYS[1]);
    let grown = longer(SIZES[3])
        .zip(longer(SIZES[0]))
        .map(|(one, other)| one - other);
    let all = [
        quotient("ten", Form::Imp, 0.2),
        quotient("ten", Form::Func, 0.25),
        quotient("four", Form::Hand, 1.25),
        way("four", 0, 130.0),
        way("four", 1, 65.0),
        way("ten", 0, 190.0),
        way("ten", 1, 100.0),
        at_most("four layers, up, 1,024 bytes more".to_string(), 5.0, grown),
    ];
    all.into_iter().flatten().collect()
}
