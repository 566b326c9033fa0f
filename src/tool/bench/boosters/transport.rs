//! The transports whose goodput is modelled, and the variants that a policy swaps.
//!
//! In: constants of the paper, or fitted to measurements. Out: what a simulated connection and a
//! filter need to know.

use super::bayes_filter::{self, LEVELS};
use super::event_counter::{self, Silence};
use super::theory::bernoulli::frame_error_rate;
use super::theory::codes::Code;
use super::theory::critical::{self, OMEGA};
use super::theory::goodput;

/// Bytes of a frame without a code.
pub const FRAME_BYTES: u32 = 1500;

/// The reaction of a sender to losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Each loss costs a retransmission timeout, as in 1999.
    Timeout,
    /// Fast retransmission: a timeout only if fewer than three frames of a round arrive.
    Fast,
}

/// A sender on a link, and the codes between which a policy chooses.
#[derive(Clone, Copy, Debug)]
pub struct Transport {
    /// Its name in tables.
    pub name: &'static str,
    /// The codes, the weakest first.
    pub codes: &'static [Code],
    /// The time of a frame, in nanoseconds, without a code and with the convolutional code of
    /// constraint length 3.
    pub frame_ns: [u64; 2],
    /// The round-trip time, in nanoseconds.
    pub round_trip_ns: u64,
    /// The first retransmission timeout, in nanoseconds.
    pub timeout_ns: u64,
    /// The greatest congestion window, in frames.
    pub window: u32,
    /// The reaction to losses.
    pub recovery: Recovery,
    /// The cost of a lost frame, in nanoseconds, for the filter.
    pub cost_ns: u64,
}

/// The paper's code, which doubles the bits on the air, and none.
pub const CODES: &[Code] = &[Code::Off, Code::Convolutional3];
/// RS(255,247), and no code.
pub const REED_SOLOMON: &[Code] = &[Code::Off, Code::ReedSolomon { parity: 8 }];
/// Reed-Solomon codes of rising strength.
pub const LADDER: &[Code] = &[
    Code::Off,
    Code::ReedSolomon { parity: 8 },
    Code::ReedSolomon { parity: 16 },
    Code::ReedSolomon { parity: 32 },
    Code::ReedSolomon { parity: 64 },
    Code::ReedSolomon { parity: 128 },
];

/// The paper's: Linux 2.0.29 at 43.9 Mbit/s, 30 Mbit/s coded.
pub const PAPER: Transport = Transport {
    name: "paper",
    codes: CODES,
    frame_ns: [273_349, 400_000],
    round_trip_ns: 8_000_000,
    timeout_ns: 1_000_000_000,
    window: 43,
    recovery: Recovery::Timeout,
    cost_ns: 1_050_000_000,
};

/// Ours, of the standard library, at 19.3 Mbit/s, with 10 ms each way and some frames in the queue.
/// It is fitted to `Stacks` at bit error rates from 1e-8 to 3e-6, and 6 % from them at most.
pub const OURS: Transport = Transport {
    name: "ours",
    codes: CODES,
    frame_ns: [621_762, 1_243_523],
    round_trip_ns: 22_000_000,
    timeout_ns: 400_000_000,
    window: 43,
    recovery: Recovery::Fast,
    cost_ns: 245_000_000,
};

/// Linux 6.18, Reno with selective acknowledgement, at 19.3 Mbit/s with a round-trip time of 8 ms.
pub const LINUX: Transport = Transport {
    name: "linux",
    codes: CODES,
    frame_ns: [621_762, 1_243_523],
    round_trip_ns: 8_000_000,
    timeout_ns: 250_000_000,
    window: 43,
    recovery: Recovery::Fast,
    cost_ns: 30_000_000,
};

impl Transport {
    /// Returns how many frames of goodput a lost frame costs.
    pub fn kappa(&self) -> f64 {
        goodput::kappa(self.frame_ns[0] as f64, self.cost_ns as f64)
    }

    /// Returns the additional time of a frame of the convolutional code, as a part of that of a
    /// plain one.
    pub fn overhead(&self) -> f64 {
        self.frame_ns[1] as f64 / self.frame_ns[0] as f64 - 1.0
    }

    /// Returns the bit error rate above which the convolutional code pays.
    pub fn critical(&self) -> Option<f64> {
        critical::by_overhead(self.overhead(), self.kappa(), air_bits(Code::Off))
    }

    /// Returns the same transport with other codes.
    pub fn with(self, codes: &'static [Code]) -> Transport {
        Transport { codes, ..self }
    }

    /// Returns the time of a frame of a code, in nanoseconds: the convolutional code's is given,
    /// that of all others follows from their redundancy.
    pub fn code_ns(&self, code: Code) -> u64 {
        match code {
            Code::Convolutional3 => self.frame_ns[1],
            Code::Off | Code::Hamming | Code::Convolutional7 | Code::ReedSolomon { .. } => {
                (self.frame_ns[0] as f64 / code.rate(FRAME_BYTES)).round() as u64
            }
        }
    }

    /// Returns the shares of frames that are damaged on the air and that are lost, for each code,
    /// at a bit error rate.
    pub fn losses(&self, bit_error_rate: f64) -> Vec<Losses> {
        let losses = |code: &Code| Losses {
            bit_error_rate,
            air_bits: air_bits(*code),
            damaged: frame_error_rate(bit_error_rate, air_bits(*code)),
            lost: code.frame_error_rate(bit_error_rate, FRAME_BYTES),
        };
        self.codes.iter().map(losses).collect()
    }

    /// Returns the variants as a filter sees them.
    pub fn variants(&self) -> Vec<bayes_filter::Variant> {
        let lost =
            |code: Code, level| code.frame_error_rate(bayes_filter::level(level), FRAME_BYTES);
        let variant = |code: &Code| bayes_filter::Variant {
            frame_s: self.code_ns(*code) as f64 * 1e-9,
            air_bits: air_bits(*code),
            lost: std::array::from_fn::<f64, LEVELS, _>(|level| lost(*code, level)),
        };
        self.codes.iter().map(variant).collect()
    }

    /// Returns the counter with this maximum: the paper's, or one whose windows follow from what a
    /// lost frame costs, with an eighth more where boosted, and polls at least two round-trip times
    /// apart.
    pub fn counter(&self, most: u64) -> event_counter::Parameters {
        let (windows, period_ns) = match self.recovery {
            _ if self.name == PAPER.name => ([512, 768], 150_000_000),
            Recovery::Timeout | Recovery::Fast => {
                let window = (OMEGA * self.kappa() / self.overhead()).round() as u64;
                let fills_ns = window * self.frame_ns[0];
                (
                    [window, window * 9 / 8],
                    fills_ns.max(2 * self.round_trip_ns),
                )
            }
        };
        event_counter::Parameters {
            windows,
            most,
            period_ns,
            silence: Silence::Polls,
        }
    }
}

/// Returns the bits of a coded frame on the air.
fn air_bits(code: Code) -> f64 {
    f64::from(8 * FRAME_BYTES) / code.rate(FRAME_BYTES)
}

/// The effect of bit errors on frames of a variant.
#[derive(Clone, Copy, Debug)]
pub struct Losses {
    /// The share of wrong bits.
    pub bit_error_rate: f64,
    /// Bits of a frame on the air.
    pub air_bits: f64,
    /// The share of frames with a wrong bit on the air, which a monitor counts.
    pub damaged: f64,
    /// The share of frames that are lost behind the decoder.
    pub lost: f64,
}
