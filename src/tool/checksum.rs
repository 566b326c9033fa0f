//! The checksum of the Internet protocols, for frames that the tool itself makes or completes.

/// The sum of RFC 1071 over all parts as one; zero over what holds a right one. Each part but the
/// last has an even number of bytes.
pub fn checksum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks(2));
    let word = |pair: &[u8]| u64::from(pair[0]) << 8 | u64::from(*pair.get(1).unwrap_or(&0));
    let mut sum: u64 = words.map(word).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !u16::try_from(sum).expect("a folded sum has 16 bits")
}
