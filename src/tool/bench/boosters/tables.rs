//! Tables of words and numbers, and those of transports and codes.
//!
//! In: the models of this folder. Out: tables, each with a line that says what its numbers are.

use super::theory::codes::{CODES, Code};
use super::theory::critical::window;
use super::theory::ladder::ladder;
use super::transport::{LINUX, OURS, PAPER};
use serde::Serialize;

/// Bytes of a message, for the codes.
const BYTES: u32 = 1400;

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
    /// A table without rows.
    pub fn new<'a>(title: &str, heads: impl IntoIterator<Item = &'a str>) -> Table {
        let heads = heads.into_iter().map(str::to_string).collect();
        Table {
            title: title.to_string(),
            heads,
            rows: Vec::new(),
        }
    }
}

/// Returns the tables of transports and codes, which are computed.
pub fn computed() -> [Table; 3] {
    [transports(), codes(), ladders()]
}

/// The cost of a lost frame, and the critical bit error rate of the code of constraint length 3.
fn transports() -> Table {
    let title = "Transports, computed from fitted constants: the cost of a lost frame, and the bit \
                 error rate above which convolutional(k = 3) pays";
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
    let title = "Codes, computed: frame error rates behind the decoder, of 1,400 bytes, by \
                 bit error rate";
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
    let title = "Ladders, computed: the bit error rate from which on a code is the best, by kappa";
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
pub fn power(rate: f64) -> String {
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
