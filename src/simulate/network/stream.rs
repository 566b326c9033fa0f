//! Streams of bytes between applications: their content, and how far each reader is.
//!
//! In: how many bytes a writer adds to its stream, and bytes that came up somewhere. Out: the bytes
//! to send; and how many of those that came are as they were written, new, or damaged.
//!
//! If a port counts its credit in bytes, the bytes of one `send` may come up in several pieces, or
//! joined with others. So each stream is a sequence of words of 8 bytes, and each word follows from
//! the number of the stream and its place. The function is a bijection (the finalizer of
//! SplitMix64), so eight bytes tell their stream and their place in it.

use std::collections::BTreeMap;

/// All streams of a network.
#[derive(Debug)]
pub struct Streams {
    seed: u64,
    streams: Vec<Stream>,
    /// The place up to which each conversation was read, by its node, port and session.
    readers: BTreeMap<(usize, usize, u32), Reader>,
    room: Vec<u8>,
}

/// A stream that is written.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    /// By which application.
    pub by: usize,
    /// When it began.
    pub began_ns: u64,
    /// Bytes that were written.
    pub sent: u64,
    /// Bytes that came up elsewhere.
    pub arrived: u64,
}

/// The reader of a stream.
#[derive(Clone, Copy, Debug)]
struct Reader {
    stream: usize,
    /// The place of the next byte.
    next: u64,
}

/// The bytes that came up at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// The stream; none if no bytes tell.
    pub stream: Option<usize>,
    /// Bytes that are as they were written, and are new.
    pub new: u64,
    /// Bytes from before what was read.
    pub repeated: u64,
    /// Bytes that are not as they were written.
    pub damaged: u64,
}

/// Bytes of a word.
const WORD: usize = 8;
/// The bits of a word's number that hold its place; the number of the stream is above.
const PLACE_BITS: u32 = 40;

impl Streams {
    /// No streams yet; the seed tells those of one run from those of another.
    pub fn new(seed: u64) -> Streams {
        Streams {
            seed,
            streams: Vec::new(),
            readers: BTreeMap::new(),
            room: Vec::new(),
        }
    }

    /// Begins a stream, and answers its number.
    pub fn begin(&mut self, by: usize, now_ns: u64) -> usize {
        self.streams.push(Stream {
            by,
            began_ns: now_ns,
            sent: 0,
            arrived: 0,
        });
        self.streams.len() - 1
    }

    /// The next bytes of a stream.
    pub fn compose(&mut self, stream: usize, length: usize) -> &[u8] {
        self.fill(stream, self.streams[stream].sent, length);
        &self.room
    }

    /// So many of them were sent.
    pub fn sent(&mut self, stream: usize, length: usize) {
        self.streams[stream].sent += length as u64;
    }

    /// A stream by its number.
    pub fn stream(&self, number: usize) -> Stream {
        self.streams[number]
    }

    /// Returns the bytes that an application sent, and how many of them came up nowhere else.
    pub fn missing(&self, by: usize) -> (u64, u64) {
        let own = self.streams.iter().filter(|stream| stream.by == by);
        own.fold((0, 0), |(sent, missing), stream| {
            let lost = stream.sent.saturating_sub(stream.arrived);
            (sent + stream.sent, missing + lost)
        })
    }

    /// Bytes of a stream have come up elsewhere.
    pub fn is_known(&mut self, stream: usize, bytes: u64) {
        self.streams[stream].arrived += bytes;
    }

    /// A conversation begins, perhaps under a number that was in use before.
    pub fn forget(&mut self, place: (usize, usize, u32)) {
        self.readers.remove(&place);
    }

    /// Reads what came up in a conversation.
    pub fn read(&mut self, place: (usize, usize, u32), bytes: &[u8]) -> Arrival {
        let known = self.readers.get(&place).copied();
        let is_next = known.is_some_and(|one| self.matches(one.stream, one.next, bytes));
        let located = match is_next {
            true => known,
            false => self.locate(bytes).or(known),
        };
        let Some(found) = located else {
            return Arrival {
                damaged: bytes.len() as u64,
                ..Arrival::default()
            };
        };
        let next = known
            .filter(|one| one.stream == found.stream)
            .map_or(0, |one| one.next);
        let mut arrival = Arrival {
            stream: Some(found.stream),
            ..Arrival::default()
        };
        self.fill(found.stream, found.next, bytes.len());
        let written = self.streams[found.stream].sent;
        for ((at, byte), expected) in (found.next..).zip(bytes).zip(&self.room) {
            match () {
                () if byte != expected || at >= written => arrival.damaged += 1,
                () if at < next => arrival.repeated += 1,
                () => arrival.new += 1,
            }
        }
        let reader = Reader {
            stream: found.stream,
            next: next.max(found.next + bytes.len() as u64),
        };
        self.readers.insert(place, reader);
        arrival
    }

    /// Finds the stream and place of bytes that are not the ones expected next.
    fn locate(&mut self, bytes: &[u8]) -> Option<Reader> {
        for (offset, word) in bytes.windows(WORD).take(WORD).enumerate() {
            let word = u64::from_le_bytes(word.try_into().expect("a window has its length"));
            let number = unmixed(word) ^ self.seed;
            let stream = (number >> PLACE_BITS) as usize;
            let place = (number & ((1 << PLACE_BITS) - 1)) * WORD as u64;
            let sent = self.streams.get(stream).map_or(0, |stream| stream.sent);
            if place < sent && place >= offset as u64 {
                let next = place - offset as u64;
                return Some(Reader { stream, next });
            }
        }
        // Fewer bytes than a word can only be the beginning of a stream that nobody has read.
        let unread = |one: &Stream| one.sent > 0 && one.arrived == 0;
        let mut all = 0..self.streams.len();
        let begins = all.find(|one| unread(&self.streams[*one]) && self.matches(*one, 0, bytes));
        begins
            .filter(|_| bytes.len() < WORD)
            .map(|stream| Reader { stream, next: 0 })
    }

    /// Returns true if the bytes are those of a stream from a place on.
    fn matches(&mut self, stream: usize, from: u64, bytes: &[u8]) -> bool {
        self.fill(stream, from, bytes.len());
        let end = from + bytes.len() as u64;
        self.room == bytes && end <= self.streams[stream].sent
    }

    /// Writes bytes of a stream into the room.
    fn fill(&mut self, stream: usize, from: u64, length: usize) {
        let skipped = (from % WORD as u64) as usize;
        let mut number = ((stream as u64) << PLACE_BITS) | (from / WORD as u64);
        self.room.clear();
        while self.room.len() < skipped + length {
            self.room.extend(mixed(number ^ self.seed).to_le_bytes());
            number += 1;
        }
        self.room.drain(..skipped);
        self.room.truncate(length);
    }
}

/// The finalizer of SplitMix64 (Steele, Lea and Flood 2014).
fn mixed(mut number: u64) -> u64 {
    number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

/// Its inverse: both factors by their inverses, and each shift until nothing is left of it.
fn unmixed(mut number: u64) -> u64 {
    number = (number ^ number >> 31 ^ number >> 62).wrapping_mul(0x3196_42b2_d24d_8ec3);
    number = (number ^ number >> 27 ^ number >> 54).wrapping_mul(0x96de_1b17_3f11_9089);
    number ^ number >> 30 ^ number >> 60
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: (usize, usize, u32) = (1, 0, 5);

    /// Streams of which the last has so many bytes, and those bytes.
    fn written(length: usize) -> (Streams, Vec<u8>) {
        let mut streams = Streams::new(9);
        streams.begin(0, 0);
        let stream = streams.begin(3, 0);
        let bytes = streams.compose(stream, length).to_vec();
        streams.sent(stream, length);
        (streams, bytes)
    }

    #[test]
    fn a_word_tells_its_number() {
        for number in [0, 1, 77, u64::MAX, 0x0123_4567_89ab_cdef] {
            assert_eq!(unmixed(mixed(number)), number);
        }
    }

    #[test]
    fn bytes_come_up_in_any_pieces() {
        for pieces in [1, 3, 7, 8, 9, 100] {
            let (mut streams, bytes) = written(1_000);
            for piece in bytes.chunks(pieces) {
                let arrival = streams.read(PLACE, piece);
                assert_eq!(arrival.stream, Some(1), "{pieces}");
                assert_eq!(arrival.new, piece.len() as u64, "{pieces}");
            }
        }
    }

    #[test]
    fn bytes_are_missing_or_damaged_or_come_twice() {
        let (mut streams, mut bytes) = written(1_000);
        assert_eq!(streams.read(PLACE, &bytes[..100]).new, 100);
        // 50 are lost, and the reader finds where it is.
        assert_eq!(streams.read(PLACE, &bytes[150..200]).new, 50);
        let twice = streams.read(PLACE, &bytes[180..260]);
        assert_eq!((twice.repeated, twice.new), (20, 60));
        bytes[270] ^= 1;
        let damaged = streams.read(PLACE, &bytes[260..300]);
        assert_eq!((damaged.damaged, damaged.new), (1, 39));
        assert_eq!(streams.read(PLACE, &[0; 30]).damaged, 30);
        // Bytes that are not written yet cannot have come.
        let (mut streams, bytes) = written(1_000);
        streams.streams[1].sent = 10;
        assert_eq!(streams.read(PLACE, &bytes).new, 10);
        streams.forget(PLACE);
        assert_eq!(streams.read(PLACE, &[7; 3]).stream, None);
    }
}
