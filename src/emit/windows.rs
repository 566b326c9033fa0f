//! In which words a mask is compared: its bytes come in, the cheapest words that hold all of its
//! bits go out.
//!
//! ```text
//! ff 00 ff ff 00 ..        1 byte at 0, 2 bytes at 2
//! ```

/// Where words begin, and how many bytes each has, that hold all bits of a mask: the cheapest.
pub fn windows(mask: &[u8]) -> Vec<(usize, usize)> {
    // By where bytes are still to be compared from: what that costs, and the first word.
    let mut best: Vec<(u32, Option<(usize, usize)>)> = vec![(0, None); mask.len() + 32];
    for from in (0..mask.len()).rev() {
        best[from] = match mask[from] {
            0 => best[from + 1],
            byte => {
                let words = [32, 16, 8, 4, 2, 1]
                    .into_iter()
                    .filter(|bytes| *bytes <= mask.len());
                let costs = words.map(|bytes| {
                    let at = from.min(mask.len() - bytes);
                    let cost = match bytes {
                        32 => 5,
                        1 if byte == 0xff => 3,
                        _ => 4,
                    };
                    (cost + best[at + bytes].0, Some((at, bytes)))
                });
                costs.min_by_key(|(cost, _)| *cost).expect("one byte fits")
            }
        };
    }
    let mut all = Vec::new();
    let mut from = 0;
    while let Some((at, bytes)) = best[from].1 {
        all.push((at, bytes));
        from = at + bytes;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_hold_all_bits_of_a_mask_and_nothing_beyond_it() {
        let mut seed = 1_u32;
        for length in 1..80 {
            let mask = Vec::from_iter((0..length).map(|_| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                if seed >> 30 == 0 {
                    (seed >> 16) as u8
                } else {
                    0
                }
            }));
            let words = windows(&mask);
            let held = |at: usize| {
                words
                    .iter()
                    .any(|(from, bytes)| (*from..from + bytes).contains(&at))
            };
            for (at, byte) in mask.iter().enumerate() {
                assert!(*byte == 0 || held(at), "byte {at} of {mask:?} in {words:?}");
            }
            let is_inside = |(at, bytes): &(usize, usize)| at + bytes <= mask.len();
            assert!(words.iter().all(is_inside), "{mask:?} in {words:?}");
        }
    }

    #[test]
    fn words_are_few() {
        let alone = [vec![0xff, 0, 0, 0], vec![0xff; 32]].concat();
        assert_eq!(windows(&alone), [(0, 1), (4, 32)]);
        assert_eq!(windows(&[0; 40]), []);
        assert_eq!(windows(&[0, 3, 0xff, 1, 0]), [(1, 4)]);
    }
}
