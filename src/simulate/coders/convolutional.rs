//! The convolutional code of rate 1/2 and constraint length 3, generators 7 and 5 (octal), decoded
//! by the algorithm of Viterbi (Error Bounds for Convolutional Codes, 1967).
//!
//! Rows of 16 bytes: byte i of each row belongs to lane i, which is a code of its own, so that an
//! error burst of 16 bytes damages at most 8 bits in a row of each. A lane is read from the most
//! significant bit on; each bit becomes two, that of generator 7 first. Two zero bits end a lane,
//! and a row of its own holds their four bits in its upper half: n rows become 2 n + 1.

/// The lanes, each with a byte in each row.
const LANES: usize = 16;

/// The most rows of data that are decoded.
const ROWS: usize = 96;

/// Encodes the rows in the first half of the data, which has an odd number of rows.
pub fn encoded(data: &mut [u8]) {
    let Some(rows) = rows(data) else {
        return;
    };
    for lane in 0..LANES {
        let bits = (0..8 * rows).map(|bit| bit_of(data, lane, bit));
        let bits: Vec<bool> = bits.chain([false; 2]).collect();
        let mut past = [false; 2];
        let mut coded = Vec::new();
        for bit in bits {
            coded.extend(pair(bit, past));
            past = [bit, past[0]];
        }
        coded.extend([false; 4]);
        write(data, lane, &coded);
    }
}

/// Decodes the data into its first rows, and returns in how many bits it differs from what these
/// encode; none, and unchanged data, if no such data is encoded.
pub fn decoded(data: &mut [u8]) -> Option<u32> {
    let rows = rows(data).filter(|rows| *rows <= ROWS)?;
    let mut corrected = 0;
    for lane in 0..LANES {
        let steps = 8 * rows + 2;
        // The best way to each state, which is the last two bits: its bits, and its distance.
        let mut ways: [Option<(Vec<bool>, u32)>; 4] = [const { None }; 4];
        ways[0] = Some((Vec::new(), 0));
        for step in 0..steps {
            let received = [0, 1].map(|half| bit_of(data, lane, 2 * step + half));
            ways = [0, 1, 2, 3].map(|state| best(&ways, state, received));
        }
        let (bits, distance) = ways[0]
            .take()
            .expect("each state is reached after two bits");
        corrected += distance;
        write(data, lane, &bits[..8 * rows]);
    }
    Some(corrected)
}

/// The rows of data that so many bytes encode; none if they encode none.
fn rows(data: &[u8]) -> Option<usize> {
    let coded = data.len() / LANES;
    (data.len().is_multiple_of(LANES) && coded % 2 == 1).then_some(coded / 2)
}

/// The shortest way to a state: of two that are equally short, that from the state whose older bit
/// is 0.
fn best(
    ways: &[Option<(Vec<bool>, u32)>; 4],
    state: usize,
    received: [bool; 2],
) -> Option<(Vec<bool>, u32)> {
    let [newest, newer] = [state & 2 != 0, state & 1 != 0];
    let longer = [false, true].map(|oldest| {
        let (bits, distance) = ways[usize::from(newer) * 2 + usize::from(oldest)].as_ref()?;
        let expected = pair(newest, [newer, oldest]);
        let wrong = expected.iter().zip(received).filter(|(a, b)| **a != *b);
        let bits = bits.iter().copied().chain([newest]).collect();
        Some((bits, distance + wrong.count() as u32))
    });
    let ways = longer.into_iter().flatten();
    ways.min_by_key(|(_, distance): &(Vec<bool>, u32)| *distance)
}

/// The two bits for a bit behind two others, of which the newer comes first.
fn pair(bit: bool, past: [bool; 2]) -> [bool; 2] {
    [bit ^ past[0] ^ past[1], bit ^ past[1]]
}

fn bit_of(data: &[u8], lane: usize, bit: usize) -> bool {
    data[bit / 8 * LANES + lane] & 0x80 >> (bit % 8) != 0
}

fn write(data: &mut [u8], lane: usize, bits: &[bool]) {
    for (row, bits) in bits.chunks(8).enumerate() {
        let byte = bits.iter().fold(0, |byte, bit| byte << 1 | u8::from(*bit));
        data[row * LANES + lane] = byte;
    }
}
