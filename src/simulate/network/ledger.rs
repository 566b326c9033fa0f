//! The messages that applications send: made here, and recognised where they come up.
//!
//! In: who sends how much, and bytes that came up. Out: bytes, and whose message they are. The
//! first four bytes of a message are its number, spread so that damaged ones rarely look like
//! another; the rest follows from the number.

use std::collections::BTreeMap;

/// The shortest message: its number.
pub const SHORTEST: usize = 4;

/// Every message that was sent.
#[derive(Debug)]
pub struct Ledger {
    spread: u32,
    messages: Vec<Sent>,
    room: Vec<u8>,
}

/// A message that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// By which application.
    pub by: usize,
    /// When.
    pub at_ns: u64,
    length: u32,
    /// Whether it came up anywhere but where it was sent.
    pub is_known: bool,
}

/// An odd number, so that multiplying by it loses nothing (Knuth 6.4).
const SPREAD: u32 = 2_654_435_769;
/// Multiplied by `SPREAD` it gives 1.
const GATHER: u32 = 340_573_321;

impl Ledger {
    /// No messages yet; the seed tells those of one run from those of another.
    pub fn new(seed: u64) -> Ledger {
        Ledger {
            spread: (seed ^ seed >> 32) as u32,
            messages: Vec::new(),
            room: Vec::new(),
        }
    }

    /// The next message.
    pub fn compose(&mut self, length: usize) -> &[u8] {
        let number = u32::try_from(self.messages.len()).unwrap_or(u32::MAX);
        self.fill(number, length);
        &self.room
    }

    /// The next message was sent.
    pub fn sent(&mut self, by: usize, length: usize, at_ns: u64) {
        self.messages.push(Sent {
            by,
            at_ns,
            length: u32::try_from(length).unwrap_or(u32::MAX),
            is_known: false,
        });
    }

    /// The number of a message that came up; none if it is not as it was sent.
    pub fn recognise(&mut self, bytes: &[u8]) -> Option<usize> {
        let head = bytes.first_chunk()?;
        let number = (u32::from_le_bytes(*head) ^ self.spread).wrapping_mul(GATHER);
        let message = self.messages.get(number as usize)?;
        if message.length as usize != bytes.len() {
            return None;
        }
        self.fill(number, bytes.len());
        (self.room == bytes).then_some(number as usize)
    }

    /// A message by its number.
    pub fn message(&self, number: usize) -> Sent {
        self.messages[number]
    }

    /// A message has come up elsewhere.
    pub fn is_known(&mut self, number: usize) {
        self.messages[number].is_known = true;
    }

    /// How many messages an application sent, and how many of them came up nowhere else.
    pub fn missing(&self) -> BTreeMap<usize, (u64, u64)> {
        let mut missing = BTreeMap::new();
        for message in &self.messages {
            let entry: &mut (u64, u64) = missing.entry(message.by).or_default();
            entry.0 += 1;
            entry.1 += u64::from(!message.is_known);
        }
        missing
    }

    fn fill(&mut self, number: u32, length: usize) {
        let head = number.wrapping_mul(SPREAD) ^ self.spread;
        self.room.clear();
        self.room.extend(head.to_le_bytes());
        let mut word = u64::from(head) << 32 | u64::from(number);
        while self.room.len() < length {
            word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            self.room.extend((word ^ word >> 29).to_le_bytes());
        }
        self.room.truncate(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_recognised_and_one_with_a_wrong_byte_is_not() {
        let mut ledger = Ledger::new(7);
        for number in 0..200 {
            let bytes = ledger.compose(SHORTEST + number).to_vec();
            assert_eq!(bytes.len(), SHORTEST + number);
            assert_eq!(ledger.recognise(&bytes), None, "it was not sent yet");
            ledger.sent(1, bytes.len(), 5);
            assert_eq!(ledger.recognise(&bytes), Some(number));
            for at in 0..bytes.len() {
                let mut wrong = bytes.clone();
                wrong[at] ^= 4;
                assert_eq!(ledger.recognise(&wrong), None, "byte {at}");
            }
            assert_eq!(ledger.recognise(&bytes[..bytes.len() - 1]), None);
        }
    }

    #[test]
    fn what_came_up_nowhere_is_missing() {
        let mut ledger = Ledger::new(1);
        for by in [0, 0, 3] {
            ledger.compose(8);
            ledger.sent(by, 8, 0);
        }
        ledger.is_known(1);
        assert_eq!(ledger.missing(), BTreeMap::from([(0, (2, 1)), (3, (1, 1))]));
    }
}
