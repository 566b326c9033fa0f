//! The tables of `loom bench boosters`: figures 7, 9, 10 and 13 to 15 of the paper, and tables of
//! transports and codes.
//!
//! In: the models of this folder. Out: tables of words and numbers, each with a line that says what
//! they are.

use super::bayes_filter::BayesFilter;
use super::codes::{CODES, Code};
use super::counter::Counter;
use super::critical::{by_drift, by_expectation, window};
use super::decision::{Always, Decision};
use super::event_counter::EventCounter;
use super::goodput::{boost, relative_error};
use super::ladder::ladder;
use super::transport::{LINUX, OURS, PAPER, Transport};
use super::trial::{Wave, ideal, run};
use serde::Serialize;

/// Counter maxima that are compared.
const MAXIMA: [u32; 5] = [5, 10, 25, 50, 100];
/// Bytes of a message, for the codes.
const BYTES: u32 = 1400;
/// The seed of the simulations.
pub const SEED: u64 = 1;

/// A table of words and numbers.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// A sentence about it.
    pub title: String,
    /// The head of each column.
    pub heads: Vec<String>,
    /// The cells of each row.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    fn new<'a>(title: &str, heads: impl IntoIterator<Item = &'a str>) -> Table {
        let heads = heads.into_iter().map(str::to_string).collect();
        Table {
            title: title.to_string(),
            heads,
            rows: Vec::new(),
        }
    }
}

/// Returns the tables that are computed.
pub fn computed() -> Vec<Table> {
    vec![
        windows(),
        shares(),
        regions(),
        insertion(),
        transports(),
        codes(),
        ladders(),
    ]
}

/// Figure 7.
fn windows() -> Table {
    let title =
        "Figure 7: the critical bit error rate of a window, by equation 3 and without drift";
    let heads = [
        "frames",
        "insert, eq. 3",
        "no drift",
        "remove, eq. 3",
        "no drift",
    ];
    let mut table = Table::new(title, heads);
    for window in [31, 128, 256, 512, 768, 1024, 2048] {
        let rates =
            [12_000.0, 24_000.0].map(|bits| [by_expectation, by_drift].map(|of| of(window, bits)));
        let rates = rates.as_flattened().iter().map(|&rate| power(rate));
        table
            .rows
            .push([window.to_string()].into_iter().chain(rates).collect());
    }
    table
}

/// Figure 9.
fn shares() -> Table {
    let title = "Figure 9: probability of the state that removes, and of the one that inserts";
    let heads: Vec<String> = MAXIMA
        .iter()
        .map(|most| format!("N = {most}: remove, insert"))
        .collect();
    let mut table = Table::new(
        title,
        ["rate"].into_iter().chain(heads.iter().map(String::as_str)),
    );
    for rate in [
        1e-8, 2e-8, 3e-8, 4e-8, 5e-8, 6e-8, 7e-8, 8e-8, 1e-7, 1.5e-7, 2e-7,
    ] {
        let shares = MAXIMA.map(|most| {
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
fn regions() -> Table {
    let title = "The bit error rates at which a share of the time is boosted";
    let mut table = Table::new(title, ["N", "10 %", "50 %", "90 %", "90 % / 10 %"]);
    for most in MAXIMA {
        let rates = [0.1, 0.5, 0.9].map(|share| Counter::of_paper(most).rate_of_share(share));
        let width = format!("{:.2}", rates[2] / rates[0]);
        let rates = rates.map(power);
        table.rows.push(
            [most.to_string()]
                .into_iter()
                .chain(rates)
                .chain([width])
                .collect(),
        );
    }
    table
}

/// Figure 10, and the other direction.
fn insertion() -> Table {
    let title =
        "Figure 10: polls until half of all runs are boosted; mean polls to insert, to remove";
    let (inserts, removes) = ([1e-7, 1.5e-7, 2e-7, 1e-6, 1e-5], [0.0, 1e-8, 3e-8]);
    let heads: Vec<String> = ["N", "half at 1e-7"]
        .into_iter()
        .map(str::to_string)
        .chain(inserts.map(|rate| format!("insert at {}", power(rate))))
        .chain(removes.map(|rate| format!("remove at {}", power(rate))))
        .collect();
    let mut table = Table::new(title, heads.iter().map(String::as_str));
    for most in MAXIMA {
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

/// The cost of a lost frame, and the critical bit error rate of the code of constraint length 3.
fn transports() -> Table {
    let title = "Transports: what a lost frame costs, and from where on convolutional(k = 3) pays";
    let mut table = Table::new(
        title,
        [
            "whose", "cost, ms", "kappa", "overhead", "critical", "window",
        ],
    );
    for transport in [PAPER, OURS, LINUX] {
        let (overhead, kappa) = (transport.overhead(), transport.kappa());
        table.rows.push(vec![
            transport.name.to_string(),
            format!("{}", transport.cost_ns / 1_000_000),
            format!("{kappa:.0}"),
            format!("{overhead:.2}"),
            transport.critical().map_or_else(String::new, power),
            format!("{:.0}", window(overhead, kappa)),
        ]);
    }
    table
}

/// Frame error rates behind the decoders.
fn codes() -> Table {
    let title = "Codes: frame error rates behind the decoder, of 1,400 bytes, by bit error rate";
    let rates = [1e-6, 1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2];
    let heads: Vec<String> = rates.iter().map(|&rate| power(rate)).collect();
    let heads = ["code", "rate"]
        .into_iter()
        .chain(heads.iter().map(String::as_str));
    let mut table = Table::new(title, heads);
    for code in CODES {
        let names = [name(code), format!("{:.3}", code.rate(BYTES))];
        let found = rates.map(|rate| power(code.frame_error_rate(rate, BYTES)));
        table.rows.push(names.into_iter().chain(found).collect());
    }
    table
}

/// The best code of each bit error rate.
fn ladders() -> Table {
    let title = "Ladders: from which bit error rate on a code is the best, by kappa";
    let mut table = Table::new(title, ["kappa", "from", "code"]);
    for kappa in [30.0, 400.0, 3_800.0] {
        for rung in ladder(&CODES, kappa, BYTES) {
            table
                .rows
                .push(vec![format!("{kappa}"), power(rung.from), name(rung.code)]);
        }
    }
    table
}

/// A policy that is compared.
#[derive(Clone, Copy, Debug)]
enum Policy {
    Counting(u64),
    Filter,
}

/// All policies that are compared.
const POLICIES: [Policy; 3] = [Policy::Counting(25), Policy::Counting(8), Policy::Filter];

impl Policy {
    fn name(self) -> String {
        match self {
            Policy::Counting(most) => format!("counting, N = {most}"),
            Policy::Filter => "filter".to_string(),
        }
    }

    fn decision(self, transport: &Transport) -> Box<dyn Decision> {
        let cost_s = transport.cost_ns as f64 * 1e-9;
        match self {
            Policy::Counting(most) => Box::new(EventCounter::new(transport.counter(most))),
            Policy::Filter => Box::new(BayesFilter::new(&transport.variants(), cost_s)),
        }
    }
}

/// The titles of the tables of simulated policies.
const SHOWN: [&str; 4] = [
    "Figure 13: error, in percent of the ideal",
    "Figure 14: gain over the link without a code, in percent",
    "Figure 15: gain over the link that is always coded, in percent",
    "Swaps in 100 s, and the share of time boosted",
];

/// Returns the tables of simulated policies (figures 13 to 15) of a transport.
pub fn simulated(transport: &Transport) -> Vec<Table> {
    let rates = [3e-8, 1e-7, 3e-7, 1e-6, 1e-5, 1e-4, 1e-3];
    let heads: Vec<String> = rates.iter().map(|&rate| power(rate)).collect();
    let heads = ["policy", "T0, s"]
        .into_iter()
        .chain(heads.iter().map(String::as_str));
    let title = |shown: &str| format!("{shown}; {}, seed {SEED}", transport.name);
    let mut tables = SHOWN.map(|shown| Table::new(&title(shown), heads.clone()));
    for half_s in [1, 2, 5, 10, 20, 40] {
        let found = rates.map(|rate| policies(transport, half_s, rate));
        for (at, policy) in POLICIES.iter().enumerate() {
            for (number, table) in tables.iter_mut().enumerate() {
                let cells = found.iter().map(|policies| policies[at][number].clone());
                let names = [policy.name(), half_s.to_string()];
                table.rows.push(names.into_iter().chain(cells).collect());
            }
        }
    }
    tables.to_vec()
}

/// Returns what is shown of each policy, at a square wave.
fn policies(
    transport: &Transport,
    half_s: u64,
    bit_error_rate: f64,
) -> [[String; SHOWN.len()]; POLICIES.len()] {
    let half_ns = Some(half_s * 1_000_000_000);
    let wave = Wave {
        half_ns,
        bit_error_rate,
    };
    let duration_ns = (20 * half_s).max(300) * 1_000_000_000;
    let result = |decision: &mut dyn Decision| run(transport, wave, decision, duration_ns, SEED);
    let fixed = [0, 1].map(|variant| result(&mut Always(variant)).goodput);
    let ideal = ideal(transport, wave, 300_000_000_000, SEED);
    POLICIES.map(|policy| {
        let outcome = result(&mut *policy.decision(transport));
        let error = relative_error(ideal, outcome.goodput);
        let [off, on] = fixed.map(|fixed| boost(fixed, outcome.goodput));
        let swaps = outcome.swaps as f64 * 1e11 / duration_ns as f64;
        let [error, off, on] = [error, off, on].map(|part| format!("{:.0}", 100.0 * part));
        [error, off, on, format!("{swaps:.0} {:.2}", outcome.boosted)]
    })
}

/// The name of a code, as in a stack.
fn name(code: Code) -> String {
    match code {
        Code::Off => "off".to_string(),
        Code::Hamming => "hamming".to_string(),
        Code::Convolutional3 => "convolutional(k = 3)".to_string(),
        Code::Convolutional7 => "convolutional(k = 7)".to_string(),
        Code::ReedSolomon { parity } => format!("reed_solomon(parity = {parity})"),
    }
}

/// `8.14e-8`, and `0`
fn power(rate: f64) -> String {
    if rate == 0.0 {
        return "0".to_string();
    }
    let text = format!("{rate:.2e}");
    let (digits, exponent) = text
        .split_once('e')
        .expect("a power of ten has an exponent");
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    format!("{digits}e{exponent}")
}

#[cfg(test)]
mod tests {
    use super::power;

    #[test]
    fn rates_are_powers_of_ten() {
        let texts = [8.138e-8, 1.5e-7, 1e-7, 1e-100, 0.0].map(power);
        assert_eq!(texts, ["8.14e-8", "1.5e-7", "1e-7", "1e-100", "0"]);
    }
}
