//! Bytes by modular position, as interpreters hold them: the meaning of `runtime/stream.h`, one
//! byte at a time.
//!
//! ```
//! use stackloom::simulate::stream::Stream;
//! let mut data = Stream::new(8, u32::from(u16::MAX));
//! assert!(data.insert(4, b"loom"));
//! assert!(!data.insert(2, b"ack"));                        // its last byte is here already
//! assert!(data.insert(0, b"back"));
//! assert!(data.covers(0, 8));
//! assert_eq!(data.copy(2, 4), b"cklo");
//! assert_eq!(data.release(6), 6);
//! ```

use std::collections::VecDeque;

/// Runs of bytes that a stream holds behind gaps, at most.
pub const RANGES: usize = 16;

/// Bytes by position, of which those from `begin` to `begin + capacity - 1` can be held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// a byte, or a gap, for each position from the first that can be held to the last
    places: VecDeque<Option<u8>>,
    /// how many of them there are up to the last byte
    span: usize,
    /// the first position
    begin: u32,
    largest: u32,
}

impl Stream {
    /// An empty stream that begins at 0; `largest` is the largest position of its type.
    pub fn new(capacity: u32, largest: u32) -> Stream {
        assert!(
            capacity <= largest,
            "the positions do not tell the bytes apart"
        );
        Stream {
            places: VecDeque::from(vec![None; capacity as usize]),
            span: 0,
            begin: 0,
            largest,
        }
    }

    /// Empties the stream, and lets it begin at a position.
    pub fn restart(&mut self, at: u32) {
        self.places.iter_mut().for_each(|place| *place = None);
        self.span = 0;
        self.begin = at;
    }

    /// The first position that can be held.
    pub fn begin(&self) -> u32 {
        self.begin
    }

    /// The position behind the last byte that is held.
    pub fn end(&self) -> u32 {
        self.begin.wrapping_add(self.span as u32) & self.largest
    }

    /// Adds bytes from the position `at` on. Refuses all of them if one is held already or lies
    /// outside of what the stream can hold, or if they would be one run behind a gap too many. No
    /// bytes at all fit even at its very end.
    pub fn insert(&mut self, at: u32, data: &[u8]) -> bool {
        let ahead = self.ahead(at);
        let fits = ahead + data.len() <= self.places.len()
            && self
                .places
                .range(ahead..ahead + data.len())
                .all(Option::is_none)
            && self.has_range_for(ahead, data.len());
        if fits {
            for (place, byte) in self.places.range_mut(ahead..).zip(data) {
                *place = Some(*byte);
            }
        }
        if fits && !data.is_empty() {
            self.span = self.span.max(ahead + data.len());
        }
        fits
    }

    /// Adds bytes behind the last that is held. Refuses all of them if not all fit.
    pub fn append(&mut self, data: &[u8]) -> bool {
        self.insert(self.end(), data)
    }

    /// How many bytes are held from the position `at` on without a gap.
    pub fn ready(&self, at: u32) -> u32 {
        self.places
            .iter()
            .skip(self.ahead(at))
            .take_while(|place| place.is_some())
            .count() as u32
    }

    /// Whether all of `length` bytes from the position `at` on are held. No bytes at all are so
    /// from the first position up to the end.
    pub fn covers(&self, at: u32, length: u32) -> bool {
        self.ahead(at) <= self.span && self.ready(at) >= length
    }

    /// A copy of bytes, which the stream must cover.
    pub fn copy(&self, at: u32, length: u32) -> Vec<u8> {
        let from = self.ahead(at);
        self.places
            .range(from..from + length as usize)
            .map(|place| place.expect("what is copied is covered"))
            .collect()
    }

    /// Lets the stream begin at `to`, and returns how many held bytes have left it. A position
    /// that lies behind the beginning, and is not within the capacity, changes nothing.
    pub fn release(&mut self, to: u32) -> u32 {
        let (ahead, capacity) = (self.ahead(to), self.places.len());
        if ahead > capacity && ahead > self.largest as usize / 2 {
            return 0;
        }
        let left = self.places.drain(..ahead.min(capacity));
        let freed = left.filter(Option::is_some).count() as u32;
        self.places.resize(capacity, None);
        self.span = self.span.saturating_sub(ahead);
        self.begin = to & self.largest;
        freed
    }

    /// Whether so many bytes, of which none is held, touch what is held or the beginning, or may
    /// be one more run behind a gap.
    fn has_range_for(&self, ahead: usize, length: usize) -> bool {
        let is_held = |at: usize| self.places.get(at).is_some_and(Option::is_some);
        let touches = ahead == 0 || is_held(ahead - 1) || is_held(ahead + length);
        let starts = (1..self.span).filter(|at| is_held(*at) && !is_held(at - 1));
        length == 0 || touches || starts.count() < RANGES
    }

    fn ahead(&self, at: u32) -> usize {
        (at.wrapping_sub(self.begin) & self.largest) as usize
    }
}
