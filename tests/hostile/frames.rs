//! Hostile frames, made of frames that were captured.
//!
//! In: captured frames. Out: any number of others: first every captured one cut at every place,
//! then changes that lie about lengths, places and kinds.

use crate::random::Random;
use stackloom::types::program::LinkId;

/// Bytes within which headers stand.
const HEADERS: usize = 64;

/// Hostile frames for ever.
pub fn hostile(
    captured: Vec<(LinkId, Vec<u8>)>,
    random: &mut Random,
    room: usize,
) -> impl Iterator<Item = (LinkId, Vec<u8>)> + use<> {
    let mut chosen: Vec<(LinkId, Vec<u8>)> = Vec::new();
    for (link, frame) in captured {
        // One of each length will do, and of each of its kinds.
        let kind = |frame: &[u8]| {
            (
                frame.len().min(HEADERS),
                frame.get(12..24).map(<[u8]>::to_vec),
            )
        };
        if !frame.is_empty() && !chosen.iter().any(|(_, known)| kind(known) == kind(&frame)) {
            chosen.push((link, frame));
        }
    }
    if chosen.is_empty() {
        chosen.push((LinkId(0), vec![0; 60]));
    }
    let mut cut = Vec::new();
    for (link, frame) in chosen.iter().take(8) {
        for length in 0..frame.len().min(HEADERS + 16) {
            cut.push((*link, frame[..length].to_vec()));
        }
    }
    let mut own = Random(random.next());
    let worse = std::iter::repeat_with(move || {
        let (link, frame) = own.one(&chosen).clone();
        (link, changed(frame, &mut own, room))
    });
    cut.into_iter().chain(worse)
}

fn changed(mut frame: Vec<u8>, random: &mut Random, room: usize) -> Vec<u8> {
    for _ in 0..random.below(4) {
        change(&mut frame, random, room);
    }
    frame
}

fn change(frame: &mut Vec<u8>, random: &mut Random, room: usize) {
    let near = frame.len().clamp(1, HEADERS);
    // Half of the changes are behind the lower headers, which refuse most others.
    let at = match random.percent(50) {
        true => random.below(near),
        false => near / 2 + random.below(near - near / 2),
    };
    let value = *random.one(&[0, 0xff, 0x7f, 0x80, 1, 0x45, 0x4f, 0x60, 8]);
    match random.below(10) {
        0 => frame.truncate(at),
        1 => frame.resize(*random.one(&[room, room - 1, 1514, 1515, 60, 9000]), value),
        2 => fill(frame, at, 1 + random.below(4), value),
        3 => fill(frame, 0, usize::MAX, value),
        4 if at < frame.len() => frame[at] ^= 1 << random.below(8),
        5 if at < frame.len() => frame[at] = frame[at].wrapping_add(1),
        6 => frame.extend(random.bytes()),
        7 if at < frame.len() => {
            frame.remove(at);
        }
        8 if at < frame.len() => frame.insert(at, value),
        _ => piece(frame, random),
    }
}

fn fill(frame: &mut [u8], from: usize, count: usize, value: u8) {
    let bytes = frame.iter_mut().skip(from).take(count);
    bytes.for_each(|byte| *byte = value);
}

/// Says that it is a piece of a datagram, somewhere in it, and sums its header anew: behind an
/// Ethernet header, or at the start.
fn piece(frame: &mut [u8], random: &mut Random) {
    let start = if frame.get(12..14) == Some(&[8, 0]) {
        14
    } else {
        0
    };
    let Some(header) = frame.get_mut(start..start + 20) else {
        return;
    };
    let place = random.below(12) as u16 | *random.one(&[0, 0x2000, 0x2000, 0x1fff]);
    header[4..6].copy_from_slice(&[0, random.below(3) as u8]);
    header[6..8].copy_from_slice(&place.to_be_bytes());
    header[10..12].fill(0);
    let words = header
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]));
    let sum: u32 = words.sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    header[10..12].copy_from_slice(&sum.to_be_bytes());
}
