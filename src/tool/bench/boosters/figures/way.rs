//! The ways to run a connection that are compared: static codes, and policies.
//!
//! In: a transport and a square wave of bit errors. Out: the outcome of a run.

use crate::tool::bench::boosters::bayes_filter::BayesFilter;
use crate::tool::bench::boosters::decision::{Always, Decision};
use crate::tool::bench::boosters::event_counter::EventCounter;
use crate::tool::bench::boosters::theory::codes::Code;
use crate::tool::bench::boosters::transport::{CODES, LADDER, REED_SOLOMON, Transport};
use crate::tool::bench::boosters::trial::{Outcome, Wave, run};

/// The seed of the simulations.
pub const SEED: u64 = 1;

/// A static code or a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// No code.
    Off,
    /// Always the paper's code.
    Convolutional,
    /// Always RS(255,247).
    ReedSolomon,
    /// The paper's policy on the paper's code, with this maximum of the counter.
    Counting(u64),
    /// The Bayesian filter on the paper's code.
    Filter,
    /// The Bayesian filter on Reed-Solomon codes.
    Ladder,
}

/// The static ways.
pub const STATIC: [Way; 3] = [Way::Off, Way::Convolutional, Way::ReedSolomon];

impl Way {
    /// Returns its name in tables.
    pub fn name(self) -> String {
        match self {
            Way::Off => "off".to_string(),
            Way::Convolutional => "convolutional(k = 3)".to_string(),
            Way::ReedSolomon => "reed_solomon(parity = 8)".to_string(),
            Way::Counting(most) => format!("counting, N = {most}"),
            Way::Filter => "filter".to_string(),
            Way::Ladder => "filter, RS ladder".to_string(),
        }
    }

    /// Returns the codes between which it chooses.
    pub fn codes(self) -> &'static [Code] {
        match self {
            Way::Off | Way::Convolutional | Way::Counting(_) | Way::Filter => CODES,
            Way::ReedSolomon => REED_SOLOMON,
            Way::Ladder => LADDER,
        }
    }

    fn decision(self, transport: &Transport) -> Box<dyn Decision> {
        match self {
            Way::Off => Box::new(Always(0)),
            Way::Convolutional | Way::ReedSolomon => Box::new(Always(1)),
            Way::Counting(most) => Box::new(EventCounter::new(transport.counter(most))),
            Way::Filter | Way::Ladder => {
                let cost_s = transport.cost_ns as f64 * 1e-9;
                Box::new(BayesFilter::new(&transport.variants(), cost_s))
            }
        }
    }

    /// Runs a connection.
    pub fn run(self, transport: &Transport, wave: Wave, duration_s: u64) -> Outcome {
        let transport = transport.with(self.codes());
        let mut decision = self.decision(&transport);
        let duration_ns = duration_s * 1_000_000_000;
        run(&transport, wave, &mut *decision, duration_ns, SEED)
    }
}
