//! What is sent in streams: each byte follows from where it stands.

use std::sync::OnceLock;

/// A prime, so that no window, segment or power of two fits into it evenly.
const ROUND: usize = 131_071;

/// The most that can be asked for at once.
const MOST: usize = 65_536;

/// So many bytes, from this place of a stream on.
pub fn content(at: usize, length: usize) -> &'static [u8] {
    static ALL: OnceLock<Vec<u8>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let mut chance = fastrand::Rng::with_seed(1);
        let mut all: Vec<u8> = (0..ROUND).map(|_| chance.u8(..)).collect();
        all.extend_from_within(..MOST);
        all
    });
    &all[at % ROUND..][..length]
}
