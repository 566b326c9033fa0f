//! Connections of the TCP of the standard library over two stacks with a slot, on a link with bit
//! errors, in virtual time.
//!
//! In: a way to run a connection, a square wave of bit errors, and a duration. Out: goodput, and
//! for a single swap the time that it takes. The stacks are compiled to C, once for each way.

use super::figures::trials::Connections;
use super::figures::way::{SEED, Way};
use super::theory::codes::Code;
use super::transport::Transport;
use super::trial::{Outcome, Wave};
use crate::simulate::network::Watch;
use crate::tool::failure::{Failure, about};
use crate::tool::simulate::compiled_network::CompiledNetwork;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use tempfile::TempDir;

/// The stack without a code.
const STACK: &str = include_str!("../../../../bench/boosted.loom");
/// Its slot.
const SLOT: &str = "slot repair(protected = true) { off }";
/// The longest message of IPv4, with the sum of `intact`, in bytes.
const LONGEST: u32 = 1506;
/// Bits of a frame, by which goodput is counted as in the model.
const FRAME_BITS: f64 = 12_000.0;
/// The frames that wait for the link; the short queue delays what is signalled by 2 ms at most.
const QUEUE: usize = 40;
const SHORT_QUEUE: usize = 4;
/// The delay of the link, in milliseconds each way.
const DELAY_MS: u64 = 10;

impl Connections for Stacks {
    fn transport(&self) -> Transport {
        self.transport
    }

    fn origin(&self) -> String {
        "in virtual time, by the stacks of the library over a link of 20 Mbit/s".to_string()
    }

    fn run(&self, way: Way, wave: Wave, duration_s: u64) -> Result<Outcome, Failure> {
        self.outcome(&self.slotted(way), wave, duration_s)
    }

    fn best(&self, codes: &'static [Code], rate: f64, duration_s: u64) -> Result<f64, Failure> {
        let constant = Wave {
            half_ns: None,
            bit_error_rate: rate,
        };
        let mut best = 0.0_f64;
        for code in codes {
            let stack = with_slot("", "", &[*code]);
            best = best.max(self.outcome(&stack, constant, duration_s)?.goodput);
        }
        Ok(best)
    }
}

/// The stacks of a transport, each compiled when it is first run.
pub struct Stacks {
    transport: Transport,
    folder: TempDir,
    /// By stack.
    compiled: RefCell<BTreeMap<String, Rc<CompiledNetwork>>>,
    /// By stack and network file: the outcomes of what has run.
    known: RefCell<BTreeMap<(String, String), Outcome>>,
}

impl Stacks {
    /// Prepares for connections of a transport that the library has.
    pub fn new(transport: Transport) -> Result<Stacks, Failure> {
        let folder = tempfile::tempdir().map_err(about(&std::env::temp_dir()))?;
        Ok(Stacks {
            transport,
            folder,
            compiled: RefCell::default(),
            known: RefCell::default(),
        })
    }

    /// Returns the median time from a wish at the receiver to the first coded frame there, in
    /// round-trip times of the link. The link has a short queue, and its bit errors come and go.
    /// None if nothing was wished.
    pub fn swap_round_trips(&self) -> Result<Option<f64>, Failure> {
        let wave = Wave {
            half_ns: Some(2_000_000_000),
            bit_error_rate: 1e-6,
        };
        let source = network_file(wave, 60, SHORT_QUEUE);
        let (_, mut swaps) = self.played(&self.slotted(Way::Filter), &source)?;
        swaps.times_ns.sort_unstable();
        let middle = swaps.times_ns.get(swaps.times_ns.len() / 2);
        let round_trip_ns = (2 * DELAY_MS * 1_000_000) as f64;
        Ok(middle.map(|time_ns| *time_ns as f64 / round_trip_ns))
    }

    fn outcome(&self, stack: &str, wave: Wave, duration_s: u64) -> Result<Outcome, Failure> {
        let network = network_file(wave, duration_s, QUEUE);
        let key = (stack.to_string(), network.clone());
        if let Some(known) = self.known.borrow().get(&key) {
            return Ok(*known);
        }
        let (bytes, swaps) = self.played(stack, &network)?;
        let duration = duration_s as f64;
        let outcome = Outcome {
            goodput: 8.0 * bytes as f64 / FRAME_BITS / duration,
            swaps_per_s: swaps.count as f64 / duration,
            boosted: swaps.boosted_ns as f64 * 1e-9 / duration,
        };
        self.known.borrow_mut().insert(key, outcome);
        Ok(outcome)
    }

    /// Plays a network file.
    fn played(&self, stack: &str, source: &str) -> Result<(u64, Swaps), Failure> {
        let network = self.compiled(stack, source)?;
        let mut swaps = Swaps::default();
        let found = network.run(source, SEED, &mut swaps)?;
        let mut applications = found.applications.iter();
        let far = applications.find(|one| one.name == "far.streams");
        Ok((far.map_or(0, |one| one.delivered), swaps))
    }

    /// Returns the compiled network of a stack, which is compiled at its first use.
    fn compiled(&self, stack: &str, source: &str) -> Result<Rc<CompiledNetwork>, Failure> {
        if let Some(known) = self.compiled.borrow().get(stack) {
            return Ok(Rc::clone(known));
        }
        let path = self.folder.path().join("boosted.loom");
        std::fs::write(&path, stack).map_err(about(&path))?;
        let network = CompiledNetwork::new(source, &self.folder.path().join("boosted.toml"))?;
        let network = Rc::new(network);
        let mut compiled = self.compiled.borrow_mut();
        compiled.insert(stack.to_string(), Rc::clone(&network));
        Ok(network)
    }

    /// The stack of a way.
    fn slotted(&self, way: Way) -> String {
        let Transport {
            cost_ns, frame_ns, ..
        } = self.transport;
        match way {
            Way::Off => with_slot("", "", &[Code::Off]),
            Way::Convolutional | Way::ReedSolomon => with_slot("", "", &way.codes()[1..]),
            Way::Counting(most) => {
                let counter = self.transport.counter(most);
                let [window, window_on] = counter.windows;
                let period_ns = counter.period_ns;
                let parts = format!(
                    "monitor errors(window = {window}, window_on = {window_on})\n\
                     decision counting(most = {most}, period = {period_ns} ns)\nsignal spp"
                );
                with_slot(
                    "use policy.errors\nuse policy.counting\n",
                    &parts,
                    way.codes(),
                )
            }
            Way::Filter | Way::Ladder => {
                let frame_ns = frame_ns[0];
                let decision = format!("bayes(cost = {cost_ns} ns, frame = {frame_ns} ns)");
                let parts = format!("decision {decision}\nsignal spp");
                with_slot("use policy.bayes\n", &parts, way.codes())
            }
        }
    }
}

/// Returns the stack with these codes in its slot, and with a policy of these parts, if there are
/// any.
fn with_slot(uses: &str, parts: &str, codes: &[Code]) -> String {
    let mut uses = uses.to_string();
    let layers: Vec<String> = codes.iter().map(|code| layer(*code)).collect();
    let is_used = |name: &str| layers.iter().any(|layer| layer.starts_with(name));
    for name in ["convolutional", "reed_solomon"] {
        if is_used(name) {
            uses.push_str(&format!("use boost.{name}\n"));
        }
    }
    let (policy, by) = match parts {
        "" => (String::new(), ""),
        parts => {
            uses.push_str("use policy.spp\n");
            (format!("policy noise {{\n{parts}\n}}\n"), " by noise")
        }
    };
    let slot = format!(
        "slot repair(protected = true){by} {{\n{}\n}}",
        layers.join("\n")
    );
    assert!(
        STACK.contains(SLOT),
        "the stack has the slot without a code"
    );
    let stack = STACK.replace(SLOT, &slot);
    let at = stack.find("/// boosted");
    let at = at.expect("the stack has its documentation");
    format!("{uses}{}{policy}{}", &stack[..at], &stack[at..])
}

/// A code as a layer of a slot.
fn layer(code: Code) -> String {
    match code {
        Code::Convolutional3 => format!("convolutional(longest = {LONGEST})"),
        Code::ReedSolomon { parity } => {
            format!("reed_solomon(parity = {parity}, longest = {LONGEST}) as rs{parity}")
        }
        Code::Off => "off".to_string(),
        Code::Hamming | Code::Convolutional7 => panic!("no way has the code {code:?}"),
    }
}

/// The network: 20 Mbit/s, and one stream.
fn network_file(wave: Wave, duration_s: u64, queue: usize) -> String {
    let rate = wave.bit_error_rate;
    let bit_errors = match wave.half_ns {
        None => format!("{rate:e}"),
        Some(half_ns) => format!("\"0 for {half_ns} ns, {rate:e} for {half_ns} ns\""),
    };
    let node = |own: u8, word: &str| {
        format!(
            "stack = \"boosted.loom\"\nset = {{ address = \"10.0.0.{own}\", secret = \"{word}\" }}"
        )
    };
    let near = node(1, "000102030405060708090a0b0c0d0e0f");
    let far = node(2, "0f0e0d0c0b0a09080706050403020100");
    format!(
        "for = \"{duration_s} s\"\n\
         [node.near]\n{near}\n\
         app.streams = \"open (port = 7000, peer = 10.0.0.2, peer_port = 80); \
         stream {duration_s} s\"\n\
         [node.far]\n{far}\napp.streams = \"listen (port = 80)\"\n\
         [link.radio]\nends = [\"near\", \"far\"]\n\
         delay = \"{DELAY_MS} ms\"\nrate = \"20 Mbit/s\"\n\
         queue = {queue}\nbit_errors = {bit_errors}\n"
    )
}

/// The swaps of what the near node sends, as the bytes of the slot say.
#[derive(Default)]
struct Swaps {
    count: u64,
    /// The label of the last frame of a layer, and when it was sent.
    last: (u8, u64),
    /// The time for which a layer other than the first was active.
    boosted_ns: u64,
    /// When the far node asked for a layer, while the first one is active.
    asked_ns: Option<u64>,
    /// The times from then to the first frame of a layer that arrives.
    times_ns: Vec<u64>,
}

/// The label of the policy, and its word `boost`.
const CONTROL: u8 = 15;
const BOOST: u8 = 6;

impl Watch for Swaps {
    fn frame(&mut self, now_ns: u64, node: usize, _: usize, is_out: bool, bytes: &[u8]) {
        // Four bits of each of the first two bytes are the label and the epoch.
        let [label, _epoch, word, ..] = bytes else {
            return;
        };
        match (node, is_out, label % 16) {
            (0, true, CONTROL) => {}
            (0, true, label) => {
                let (before, since_ns) = self.last;
                self.count += u64::from(label != before);
                if before > 0 {
                    self.boosted_ns += now_ns - since_ns;
                }
                self.last = (label, now_ns);
            }
            (1, true, CONTROL) if *word == BOOST && self.last.0 == 0 => {
                self.asked_ns.get_or_insert(now_ns);
            }
            (1, false, 1..CONTROL) => {
                let asked_ns = self.asked_ns.take();
                self.times_ns
                    .extend(asked_ns.map(|asked_ns| now_ns - asked_ns));
            }
            _another_frame => {}
        }
    }

    fn goes_on(&mut self, _: u64, _: u64) -> bool {
        true
    }
}
