//! What a network drives: a stack, whatever runs it.
//!
//! In: frames, what applications do, time. Out: frames, messages and notices, one at a time, a
//! deadline, counters. A compiled stack and the interpreters are driven alike, and so is whatever
//! else speaks the same protocols; what has no ports leaves those calls as they are.

use crate::simulate::value::Datum;

/// Something with links and ports that runs in virtual time.
///
/// After each call the network asks [`Driven::next`] until there is nothing more, and calls
/// [`Driven::expire`] as soon as the deadline has come: then a frame is taken if a buffer is free.
pub trait Driven {
    /// Takes a frame that comes in by a link.
    fn input(&mut self, link: usize, frame: &[u8], now_ns: u64) -> Intake;

    /// What is to be done next, if anything.
    fn next(&mut self) -> Option<Output>;

    /// When [`Driven::expire`] is to be called, if ever.
    fn deadline_ns(&self) -> Option<u64>;

    /// Time has passed.
    fn expire(&mut self, now_ns: u64);

    /// Opens one of the conversations that were prepared; none if it is refused.
    fn open(&mut self, _conversation: usize, _now_ns: u64) -> Option<u32> {
        None
    }

    /// Listens for one of the conversations that were prepared; false if it is refused.
    fn listen(&mut self, _conversation: usize, _now_ns: u64) -> bool {
        false
    }

    /// Ends a conversation, where its port can.
    fn close(&mut self, _port: usize, _session: u32, _now_ns: u64) {}

    /// Says one of the notices that were prepared.
    fn tell(&mut self, _notice: usize, _session: u32, _now_ns: u64) {}

    /// Sends in a conversation; false if the message is not taken. Beside it stand the attributes
    /// that were prepared, if any.
    fn send(&mut self, _to: Address, _bytes: &[u8], _now_ns: u64) -> bool {
        false
    }

    /// Sends to where the message came from that was delivered last; false if it is not taken.
    fn answer(&mut self, _bytes: &[u8], _now_ns: u64) -> bool {
        false
    }

    /// An application has read a message of so many bytes, and has room for as much again.
    fn read(&mut self, _port: usize, _session: u32, _length: usize, _now_ns: u64) {}

    /// Whether it wants to know when a link goes down.
    fn hears_carrier(&self) -> bool {
        false
    }

    /// A link went down, or up again.
    fn carrier(&mut self, _link: usize, _up: bool, _now_ns: u64) {}

    /// Whether it has something of its own to do, besides what scripts do at its ports.
    fn is_busy(&self) -> bool {
        false
    }

    /// All counters by name.
    fn counters(&self) -> Vec<(String, u64)>;

    /// How many buffers could be taken when it had just been started.
    fn buffers(&self) -> usize;

    /// Takes all buffers that are free, for ever, and answers how many there were.
    fn take_buffers(&mut self) -> usize;
}

/// To where an application sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// By this port.
    pub port: usize,
    /// In this conversation.
    pub session: u32,
    /// Which of the attributes that were prepared stand beside it.
    pub attributes: Option<usize>,
}

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intake {
    /// It was taken.
    Taken,
    /// It was longer than the buffers, and was cut.
    Cut,
    /// There was no buffer.
    Refused,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// A frame is to be sent on a link.
    Frame {
        /// The link.
        link: usize,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// A message is for an application.
    Deliver {
        /// The port.
        port: usize,
        /// The conversation.
        session: u32,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// An application is told something.
    Notice {
        /// The port.
        port: usize,
        /// The conversation.
        session: u32,
        /// Which notice.
        told: Told,
        /// What is said with it.
        arguments: Vec<Datum>,
    },
}

/// What an application is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// A listener made this conversation.
    Accepted,
    /// The notice at this place among those of its port.
    Notice(usize),
}
