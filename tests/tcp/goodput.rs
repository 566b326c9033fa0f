//! How much passes in a second, by how many segments are lost and how far it is.
//!
//! In: a line that loses by chance and delays, without a rate. Out: `goodput.txt`, in which beside
//! each figure stands what share it is of what theory says: a window in each round trip, or where
//! losses come first, `segment / round trip * sqrt(3 / (2 * acknowledged at once * share lost))`
//! (Mathis and others 1997). `BLESS=1` writes the table. It takes about 10 s.

use crate::end::{End, Talk, load};
use crate::line::{ADDRESSES, Line};
use stackloom::simulate::network::link::Faults;
use stackloom::tool::stack::Program;
use std::fmt::Write;
use std::path::Path;
use std::sync::OnceLock;

/// Thousandths of all segments that are lost.
const LOST: [u32; 6] = [0, 1, 3, 10, 30, 100];

/// Milliseconds that a segment takes.
const DELAYS_MS: [u64; 4] = [1, 10, 50, 200];

/// How many bytes pass.
const BYTES: usize = 4 << 20;

/// What both ends are set to.
pub const SETTINGS: &str = "secret=000102030405060708090a0b0c0d0e0f";

/// The stack of both ends, as C.
pub fn program() -> &'static Program {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    PROGRAM.get_or_init(|| load("tests/tcp/line.loom"))
}

#[test]
fn goodput_is_as_it_was() {
    let mut table = String::from("kbit/s, and its share of what theory says\n\n    lost");
    for delay_ms in DELAYS_MS {
        write!(table, "  {:>15}", format!("{delay_ms} ms")).expect("a string grows");
    }
    for lost in LOST {
        write!(table, "\n{:>8}", format!("{:.1} %", f64::from(lost) / 10.0)).expect("as above");
        for delay_ms in DELAYS_MS {
            let faults = Faults {
                loss: f64::from(lost) / 1000.0,
                delay_ns: delay_ms * 1_000_000,
                ..Faults::default()
            };
            let took_s = passes(&faults);
            let kbit = BYTES as f64 * 8.0 / 1000.0 / took_s;
            let share = kbit / theory(lost, delay_ms);
            write!(table, "  {kbit:>8.0}  x{share:.2}").expect("as above");
        }
    }
    table.push('\n');
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tcp/goodput.txt");
    if std::env::var("BLESS").is_ok() {
        std::fs::write(&path, &table).expect("it can be written");
    }
    let known = std::fs::read_to_string(&path).expect("it was written once");
    assert!(table == known, "now it is\n{table}and was\n{known}");
}

/// Sends all one way; how many seconds until the last byte was read.
fn passes(faults: &Faults) -> f64 {
    let mut line = Line::start(program(), SETTINGS, faults, 1);
    let [ours, theirs] = Talk::pair(BYTES, 0, 0);
    line.ends[1].listen(7, theirs, 0);
    assert!(line.ends[0].call((ADDRESSES[1], 7), ours, 0));
    let mut read_ns = None;
    while line.step() {
        let End { live, over, .. } = &line.ends[1];
        let reads = live.values().chain(over).any(|one| one.read == BYTES);
        read_ns = read_ns.or(reads.then_some(line.now_ns));
    }
    assert!(line.ends.iter().all(|end| end.over[0].is_whole()));
    line.leave();
    read_ns.expect("all was read") as f64 / 1e9
}

/// In kbit/s.
fn theory(lost: u32, delay_ms: u64) -> f64 {
    let round_s = 2.0 * delay_ms as f64 / 1000.0;
    let window: f64 = 65_535.0;
    let share = f64::from(lost) / 1000.0;
    // One acknowledgement for two segments.
    let by_loss = 1460.0 * (3.0 / (4.0 * share)).sqrt();
    window.min(by_loss) / round_s * 8.0 / 1000.0
}
