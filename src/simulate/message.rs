//! Messages: bytes at a position of a buffer, and what travels beside them.
//!
//! In: frames of links, bytes of applications. Out: the same bytes with headers stripped and
//! pushed. A message owns its bytes; that it stands in one of the stack's few buffers is counted
//! in [`super::state::State`], which makes and releases messages.

use super::value::Datum;
use crate::types::program::{AttributeId, HeaderId};
use std::rc::Rc;

/// A message.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The buffer up to the end of the message, what was stripped still in it.
    buffer: Vec<u8>,
    /// Where the message begins.
    start: usize,
    /// Whether it came in by a link, so that its fate is counted.
    pub came_in: bool,
    /// In which sending call an application gave it.
    pub sent: Option<u64>,
    /// Its attributes.
    pub attributes: Vec<Datum>,
    /// The header that was stripped last, and the bytes from its start on as they were then.
    pub stripped: Option<(HeaderId, Rc<[u8]>)>,
}

impl Message {
    /// These bytes, behind so much headroom.
    pub fn new(headroom: usize, bytes: &[u8], attributes: Vec<Datum>) -> Message {
        let mut buffer = vec![0; headroom];
        buffer.extend_from_slice(bytes);
        Message {
            buffer,
            start: headroom,
            came_in: false,
            sent: None,
            attributes,
            stripped: None,
        }
    }

    /// What is not stripped.
    pub fn data(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// The same, to be written.
    pub fn data_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[self.start..]
    }

    /// How many bytes that is.
    pub fn length(&self) -> usize {
        self.buffer.len() - self.start
    }

    /// How many bytes of the buffer stand before the message.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Takes bytes off the front, or all there are.
    pub fn skip(&mut self, count: u64) {
        self.start += self.clamp(count);
    }

    /// Takes off all bytes behind the first so many.
    pub fn cut(&mut self, count: u64) {
        let kept = self.clamp(count);
        self.buffer.truncate(self.start + kept);
    }

    /// Puts zero bytes behind the message.
    pub fn pad(&mut self, count: u64) {
        self.buffer.resize(self.buffer.len() + count as usize, 0);
    }

    /// Puts bytes before the message.
    pub fn push(&mut self, bytes: &[u8]) {
        assert!(
            bytes.len() <= self.start,
            "the headroom fits all headers of the stack"
        );
        self.start -= bytes.len();
        self.buffer[self.start..self.start + bytes.len()].copy_from_slice(bytes);
    }

    /// Makes what stands behind so many bytes of the buffer data again; false if nothing of it is
    /// stripped.
    pub fn restore(&mut self, start: u64) -> bool {
        let stripped = start <= self.start as u64;
        if stripped {
            self.start = start as usize;
        }
        stripped
    }

    /// Puts other data in the place of the message's.
    pub fn replace(&mut self, data: &[u8]) {
        self.buffer.truncate(self.start);
        self.buffer.extend_from_slice(data);
    }

    /// An attribute.
    pub fn attribute(&self, id: AttributeId) -> &Datum {
        &self.attributes[id.at()]
    }

    fn clamp(&self, count: u64) -> usize {
        count.min(self.length() as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stripped_can_be_restored() {
        let mut message = Message::new(4, b"header and data", Vec::new());
        let start = message.start();
        message.skip(11);
        assert_eq!(message.data(), b"data");
        message.cut(2);
        assert!(message.restore(start as u64));
        assert_eq!(message.data(), b"header and da");
        message.push(b"new ");
        assert_eq!(message.data(), b"new header and da");
        assert!(!message.restore(5));
    }

    #[test]
    fn nothing_is_taken_that_is_not_there() {
        let mut message = Message::new(0, b"abc", Vec::new());
        message.cut(9);
        message.skip(9);
        assert_eq!(message.length(), 0);
    }
}
