//! Numbers among the bits of bytes: in, some bytes, the first bit and how many; out, a number read
//! or written there. Where the most significant byte comes first, so does the most significant bit.

use super::value::mask;

/// Bits of bytes, as a number.
pub fn load(big: bool, bytes: &[u8], bit: usize, width: u32) -> u64 {
    let (at, end) = (bit / 8, (bit + width as usize).div_ceil(8));
    let join = |number: u128, byte: &u8| number << 8 | u128::from(*byte);
    let number = match big {
        true => bytes[at..end].iter().fold(0, join) >> (8 * end - bit - width as usize),
        false => bytes[at..end].iter().rev().fold(0, join) >> (bit - 8 * at),
    };
    number as u64 & mask(width as u8)
}

/// Writes a number into bits of bytes.
pub fn store(big: bool, bytes: &mut [u8], bit: usize, width: u32, number: u64) {
    for place in 0..width as usize {
        let (at, within) = match big {
            true => (
                (bit + width as usize - 1 - place) / 8,
                7 - (bit + width as usize - 1 - place) % 8,
            ),
            false => ((bit + place) / 8, (bit + place) % 8),
        };
        let one = (number >> place & 1) as u8;
        bytes[at] = bytes[at] & !(1 << within) | one << within;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_stand_as_on_the_wire() {
        let mut bytes = [0; 3];
        store(true, &mut bytes, 3, 13, 0x1abc);
        assert_eq!(bytes, [0x1a, 0xbc, 0]);
        assert_eq!(load(true, &bytes, 3, 13), 0x1abc);
        store(false, &mut bytes, 4, 12, 0xfed);
        assert_eq!(bytes, [0xda, 0xfe, 0]);
        assert_eq!(load(false, &bytes, 4, 12), 0xfed);
    }

    #[test]
    fn numbers_of_all_bytes_go_both_ways() {
        let mut bytes = [0; 8];
        for big in [false, true] {
            store(big, &mut bytes, 0, 64, 0x0123_4567_89ab_cdef);
            assert_eq!(load(big, &bytes, 0, 64), 0x0123_4567_89ab_cdef);
        }
        assert_eq!(bytes[0], 0x01);
    }
}
