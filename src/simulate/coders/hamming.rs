//! The Hamming code with 4 data bits in 7 (R. W. Hamming, Error Detecting and Error Correcting
//! Codes, 1950), each codeword spread over the whole data.
//!
//! The positions of a codeword are 1 to 7; those of each parity bit (1, 2 and 4) and of the data
//! bits whose position contains it add up to 0. Data of 7 n bytes holds 8 n codewords: bit i of
//! each of seven runs of n bytes. The first four runs are the data, positions 3, 5, 6 and 7; the
//! last three the parity, positions 1, 2 and 4.

/// The position in the codeword that each run of bytes holds.
const POSITIONS: [usize; 7] = [3, 5, 6, 7, 1, 2, 4];

/// Writes the parity behind the first four sevenths of the data.
pub fn encoded(data: &mut [u8]) {
    for_each_codeword(data, |word| {
        let found = codewords().find(|code| {
            let data = POSITIONS[..4].iter();
            data.into_iter().all(|at| code[*at] == word[*at])
        });
        found.expect("each four data bits have a codeword")
    });
}

/// Corrects one bit of each codeword; returns the number of corrected bits.
pub fn decoded(data: &mut [u8]) -> u32 {
    let mut corrected = 0;
    for_each_codeword(data, |word| {
        let distance = |code: &[bool; 8]| (1..8).filter(|at| code[*at] != word[*at]).count();
        let found = codewords().find(|code| distance(code) <= 1);
        let found = found.expect("the code is perfect: one codeword is at most one bit away");
        corrected += distance(&found) as u32;
        found
    });
    corrected
}

/// All codewords; place 0 is unused.
fn codewords() -> impl Iterator<Item = [bool; 8]> {
    let words = (0..128_u32).map(|bits| {
        let mut word = [false; 8];
        (1..8).for_each(|at| word[at] = bits >> (at - 1) & 1 == 1);
        word
    });
    words.filter(|word| {
        // The positions of the bits that are set add up to 0, by exclusive or.
        let set = (1..8).filter(|at| word[*at]);
        set.fold(0, |sum, at| sum ^ at) == 0
    })
}

fn for_each_codeword(data: &mut [u8], mut change: impl FnMut([bool; 8]) -> [bool; 8]) {
    let run = data.len() / 7;
    for bit in 0..8 * run {
        let mask = 0x80 >> (bit % 8);
        let mut word = [false; 8];
        for (which, position) in POSITIONS.into_iter().enumerate() {
            word[position] = data[which * run + bit / 8] & mask != 0;
        }
        let word = change(word);
        for (which, position) in POSITIONS.into_iter().enumerate() {
            let byte = &mut data[which * run + bit / 8];
            *byte = if word[position] {
                *byte | mask
            } else {
                *byte & !mask
            };
        }
    }
}
