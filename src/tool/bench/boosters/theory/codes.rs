//! Frame error rates behind decoders, for independent bit errors.
//!
//! In: a code, a bit error rate and a frame length. Out: the probability that the decoder does not
//! return the frame, and the share of the link that carries data.

use super::bernoulli::{at_least, errors, frame_error_rate};

/// A code that corrects bit errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// No code.
    Off,
    /// The Hamming code of 4 data bits in 7.
    Hamming,
    /// The convolutional code of rate 1/2 with generators 7 and 5 (octal), constraint length 3.
    Convolutional3,
    /// The convolutional code of rate 1/2 with generators 171 and 133 (octal), constraint length 7.
    Convolutional7,
    /// RS(255, 255 - 2t) over GF(256), shortened: the frame is dealt to as few codewords as
    /// possible, of lengths as equal as possible, each with 2t bytes of parity.
    ReedSolomon {
        /// `2t`: bytes of parity in a codeword; half as many damaged bytes are corrected.
        parity: u32,
    },
}

/// All codes that are compared, the fastest first.
pub const CODES: [Code; 9] = [
    Code::Off,
    Code::ReedSolomon { parity: 8 },
    Code::ReedSolomon { parity: 16 },
    Code::ReedSolomon { parity: 32 },
    Code::ReedSolomon { parity: 64 },
    Code::Hamming,
    Code::Convolutional3,
    Code::Convolutional7,
    Code::ReedSolomon { parity: 128 },
];

/// The distance of an error event, and how many events of a trellis node have it.
type Spectrum = [(u32, f64)];

/// The first terms of the distance spectrum: `2^(d - 5)` events of distance `d`, from 5 on.
const SPECTRUM_3: [(u32, f64); 8] = [
    (5, 1.0),
    (6, 2.0),
    (7, 4.0),
    (8, 8.0),
    (9, 16.0),
    (10, 32.0),
    (11, 64.0),
    (12, 128.0),
];

/// The first terms of the distance spectrum, as in textbooks (Proakis, Digital Communications).
const SPECTRUM_7: [(u32, f64); 5] = [
    (10, 11.0),
    (12, 38.0),
    (14, 193.0),
    (16, 1331.0),
    (18, 7275.0),
];

impl Code {
    /// Returns the share of the link that carries data, for frames of so many bytes.
    pub fn rate(self, bytes: u32) -> f64 {
        match self {
            Code::Off => 1.0,
            Code::Hamming => 4.0 / 7.0,
            Code::Convolutional3 | Code::Convolutional7 => 0.5,
            Code::ReedSolomon { parity } => {
                let all = bytes + bytes.div_ceil(255 - parity) * parity;
                f64::from(bytes) / f64::from(all)
            }
        }
    }

    /// Returns the probability that a frame of so many bytes is damaged behind the decoder.
    pub fn frame_error_rate(self, bit_error_rate: f64, bytes: u32) -> f64 {
        let bits = f64::from(8 * bytes);
        match self {
            Code::Off => frame_error_rate(bit_error_rate, bits),
            // The decoder corrects one error of a word, and returns another word for two.
            Code::Hamming => frame_error_rate(at_least(2, 7, bit_error_rate), bits / 4.0),
            Code::Convolutional3 => union_bound(&SPECTRUM_3, bit_error_rate, bits),
            Code::Convolutional7 => union_bound(&SPECTRUM_7, bit_error_rate, bits),
            Code::ReedSolomon { parity } => reed_solomon(parity, bit_error_rate, bytes),
        }
    }
}

/// Returns the union bound of a Viterbi decoder with hard decisions: the sum, over the nodes of the
/// trellis and the events that may begin there, of the probability that the event is at least as
/// likely as the truth, with ties one half. It is an upper bound: one pattern of errors may lie
/// nearer to several events.
fn union_bound(spectrum: &Spectrum, bit_error_rate: f64, bits: f64) -> f64 {
    let wins = |distance: u32| {
        let errors = errors(distance, bit_error_rate);
        let tie = if distance.is_multiple_of(2) {
            0.5 * errors[distance as usize / 2]
        } else {
            0.0
        };
        tie + errors.iter().skip(distance as usize / 2 + 1).sum::<f64>()
    };
    let events = spectrum
        .iter()
        .map(|&(distance, ways)| ways * wins(distance));
    (bits * events.sum::<f64>()).min(1.0)
}

/// Returns the probability that one of the codewords has more damaged bytes than it corrects.
fn reed_solomon(parity: u32, bit_error_rate: f64, bytes: u32) -> f64 {
    let byte_error_rate = frame_error_rate(bit_error_rate, 8.0);
    let words = bytes.div_ceil(255 - parity);
    let (short, longer) = (bytes / words, bytes % words);
    let survives = |data: u32, words: u32| {
        let fails = at_least(parity / 2 + 1, data + parity, byte_error_rate);
        f64::from(words) * (-fails.min(1.0)).ln_1p()
    };
    let short = if longer < words {
        survives(short, words - longer)
    } else {
        0.0
    };
    let long = if longer > 0 {
        survives(bytes / words + 1, longer)
    } else {
        0.0
    };
    -(short + long).exp_m1()
}

#[cfg(test)]
mod tests {
    use super::{CODES, Code};
    use crate::tool::bench::boosters::theory::bernoulli::apart;

    /// Frames of 1,400 bytes; figures of one digit are within 8 %, others to their digits.
    #[test]
    fn codes_of_bits_have_the_rates_computed_before() {
        let rates = [1e-6, 1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2];
        let expected = [
            (Code::Off, [1.11e-2, 0.106, 0.67, 0.97, 1.0, 1.0, 1.0]),
            (
                Code::Hamming,
                [5.9e-8, 5.9e-6, 5.9e-4, 5.3e-3, 0.057, 0.41, 1.0],
            ),
            (
                Code::Convolutional3,
                [3.4e-13, 3.4e-10, 3.4e-7, 9.1e-6, 3.4e-4, 9.4e-3, 0.38],
            ),
            (
                Code::Convolutional7,
                [1.6e-23, 1.6e-18, 1.6e-13, 3.8e-11, 1.6e-8, 3.9e-6, 1.7e-3],
            ),
        ];
        for (code, expected) in expected {
            for (rate, expected) in rates.into_iter().zip(expected) {
                let found = code.frame_error_rate(rate, 1400);
                assert!(
                    apart(found, expected) < 3e-2,
                    "{code:?} at {rate:e}: {found:e}"
                );
            }
        }
    }

    /// Full codewords, as many as 1,400 bytes need: they were computed without shortening.
    #[test]
    fn full_codewords_have_the_rates_computed_before() {
        let expected = [
            (8, 1e-4, 1.4e-5),
            (8, 3e-4, 2.5e-3),
            (8, 1e-3, 0.29),
            (16, 1e-4, 7.3e-12),
            (16, 1e-3, 1.5e-3),
            (32, 1e-3, 3.3e-10),
            (32, 3e-3, 1.1e-3),
            (64, 1e-2, 2.1e-2),
            (128, 2e-2, 9.2e-5),
        ];
        for (parity, rate, expected) in expected {
            let data = 255 - parity;
            let bytes = 1400_u32.div_ceil(data) * data;
            let code = Code::ReedSolomon { parity };
            let found = code.frame_error_rate(rate, bytes);
            assert!(
                apart(found, expected) < 4e-2,
                "{parity} at {rate:e}: {found:e}"
            );
            assert!(apart(code.rate(bytes), f64::from(data) / 255.0) < 1e-12);
        }
    }

    #[test]
    fn shorter_codewords_fail_less() {
        let code = Code::ReedSolomon { parity: 8 };
        let [shortened, full] = [1400, 1482].map(|bytes| code.frame_error_rate(1e-3, bytes));
        assert!(
            0.75 * full < shortened && shortened < full,
            "{shortened} {full}"
        );
        let shares = [1400, 1482].map(|bytes| code.rate(bytes));
        assert!(apart(shares[0], 1400.0 / 1448.0) < 1e-12 && shares[0] < shares[1]);
    }

    #[test]
    fn the_list_begins_with_the_fastest_code() {
        let rates = CODES.map(|code| code.rate(1400));
        assert!(rates.is_sorted_by(|one, next| one >= next), "{rates:?}");
    }

    /// Decodes a frame of zeros with these bits wrong. Returns true if another path of the trellis
    /// is nearer, with ties as told.
    fn viterbi_fails(wrong: &[usize], bits: usize, tie_fails: bool) -> bool {
        const FAR: u32 = 1 << 20;
        // By the two newest bits, and by whether a bit so far was one.
        let mut distances = [[FAR; 2]; 4];
        distances[0][0] = 0;
        for step in 0..bits {
            let received = [0, 1].map(|half| usize::from(wrong.contains(&(2 * step + half))));
            let mut next = [[FAR; 2]; 4];
            for (state, row) in distances.iter().enumerate() {
                for (differs, distance) in row.iter().enumerate() {
                    for bit in 0..=usize::from(step + 2 < bits) {
                        let (newer, older) = (state >> 1, state & 1);
                        let sent = [bit ^ newer ^ older, bit ^ older];
                        let far = (sent[0] ^ received[0]) + (sent[1] ^ received[1]);
                        let least = &mut next[(bit << 1) | newer][differs | bit];
                        *least = (*least).min(distance + far as u32);
                    }
                }
            }
            distances = next;
        }
        let [truth, other] = distances[0];
        other < truth || (tie_fails && other == truth)
    }

    /// All patterns of three errors that begin in one step of the trellis: the bound counts 10 and
    /// 20 per bit for events of distance 5 and 6; 26.5 differ.
    #[test]
    fn the_union_bound_is_little_above_the_decoder() {
        let (bits, step) = (18, 4);
        let mut fails = 0.0;
        for first in [2 * step, 2 * step + 1] {
            for second in first + 1..first + 18 {
                for third in second + 1..first + 18 {
                    for tie in [false, true] {
                        let wrong = [first, second, third];
                        fails += 0.5 * f64::from(u8::from(viterbi_fails(&wrong, bits, tie)));
                    }
                }
            }
        }
        let bound = Code::Convolutional3.frame_error_rate(1e-6, 1) / 8.0 / 1e-18;
        assert!(apart(bound, 30.0) < 1e-3, "{bound}");
        assert_eq!(fails, 26.5);
    }
}
