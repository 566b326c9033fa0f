//! Messages: handles, the buffers in which their bytes stand, and what becomes of them.
//!
//! In: frames, bytes, handles. Out: handles, views, and counts. A buffer has one handle, which says
//! where the message begins and ends; views of its bytes are read as long as the buffer is taken.
//!
//! ```text
//! buffer    ........[ethernet][ipv4][data]
//! handle                      ^start, length     behind two `pull`s
//! view              ^base, length                what `look` gave before the first
//! ```

use super::values::{Buffer, Handle, Held, Trapped, View};
use crate::ir::op::Op;
use crate::ir::{Module, ReasonId};
use crate::simulate::state::{Fates, Limits};

/// A place for a buffer.
#[derive(Clone, Debug)]
struct Store {
    taken: u64,
    bytes: Option<Vec<u8>>,
}

/// All messages of a stack.
#[derive(Clone, Debug)]
pub struct Messages {
    stores: Vec<Store>,
    vacant: Vec<usize>,
    /// The attributes of a message that nobody gave any.
    defaults: Vec<Held>,
    /// Attributes that a copy does not have.
    marks: Vec<usize>,
    headroom: usize,
    /// Bytes of a message at most.
    room: usize,
    /// Buffers that are free.
    free: u32,
    /// Buffers that frames and an application's messages leave for the stack's own.
    reserve: u32,
    /// Buffers that the host has for frames that are still to be taken.
    pub lent: usize,
    /// All counters.
    pub fates: Fates,
    /// Messages that applications have sent.
    pub sends: u64,
    /// The number of the one that is being sent, 0 if it has a copy; none if it was dropped.
    pub sending: Option<u64>,
}

impl Messages {
    /// No messages yet.
    pub fn new(module: &Module, limits: &Limits) -> Messages {
        let defaults = module.attributes.iter().map(|one| match &one.default {
            Op::Number(_, number) => Held::Number(*number),
            Op::Bytes(bytes) => Held::bytes(bytes),
            other => panic!("the attribute {} begins as {other:?}", one.name),
        });
        let marks = module.attributes.iter().enumerate();
        let marks = marks.filter(|(_, one)| one.is_mark).map(|(at, _)| at);
        Messages {
            stores: Vec::new(),
            vacant: Vec::new(),
            defaults: defaults.collect(),
            marks: marks.collect(),
            headroom: module.headroom as usize,
            room: limits.room,
            free: limits.buffers,
            reserve: limits.reserve,
            lent: 0,
            fates: Fates {
                dropped: vec![0; module.reasons.len()],
                unsent: vec![0; module.reasons.len()],
                counts: vec![0; module.counters.len()],
                ..Fates::default()
            },
            sends: 0,
            sending: None,
        }
    }

    /// The host takes buffers for frames, as far as there are any: for how many it has one then.
    pub fn lend_buffers(&mut self, frames: usize) -> usize {
        while self.lent < frames && self.free > self.reserve {
            self.free -= 1;
            self.lent += 1;
        }
        self.lent.min(frames)
    }

    /// A message of an application, if it leaves enough buffers for the stack's own.
    pub fn host_message(&mut self, bytes: &[u8]) -> Option<Handle> {
        if self.free <= self.reserve {
            return None;
        }
        self.message(bytes)
    }

    /// A new message, if a buffer is free.
    pub fn message(&mut self, bytes: &[u8]) -> Option<Handle> {
        self.take()?;
        Some(self.blank(bytes))
    }

    /// A new message, if a buffer is free and holds so much.
    pub fn message_within(&mut self, bytes: &[u8]) -> Option<Handle> {
        (bytes.len() <= self.room).then(|| self.message(bytes))?
    }

    /// A message in a buffer that is taken, with the attributes of all that nobody gave any.
    pub fn blank(&mut self, bytes: &[u8]) -> Handle {
        let mut all = vec![0; self.headroom];
        all.extend_from_slice(bytes);
        Handle {
            buffer: self.store(all),
            start: self.headroom,
            length: bytes.len(),
            came_in: false,
            sent: None,
            attributes: self.defaults.clone(),
        }
    }

    /// Takes a free buffer.
    fn take(&mut self) -> Option<()> {
        self.free = self.free.checked_sub(1)?;
        Some(())
    }

    /// Returns true if a buffer is free.
    pub fn has_buffer(&self) -> bool {
        self.free > 0
    }

    /// The buffer of an output is free again.
    pub fn give_back(&mut self) {
        self.free += 1;
    }

    /// The buffer of a message has room for so many bytes behind all that stands before it.
    pub fn fits(&self, message: &Handle, length: usize) -> bool {
        message.start + length <= self.headroom + self.room
    }

    /// A second handle of a message, which is of our own.
    pub fn share(&mut self, message: &Handle) -> Option<Handle> {
        self.take()?;
        let end = message.start + message.length;
        let bytes = self.whole(message)[..end].to_vec();
        let mut other = Handle {
            buffer: self.store(bytes),
            came_in: false,
            sent: None,
            ..message.clone()
        };
        self.forget_marks(&mut other);
        self.is_copied(message.sent);
        Some(other)
    }

    /// A copy of a part of a message, as far as it reaches.
    pub fn piece(&mut self, message: &Handle, at: usize, length: usize) -> Option<Handle> {
        let data = self.data(message);
        let from = at.min(data.len());
        let piece = data[from..from + length.min(data.len() - from)].to_vec();
        let mut piece = self.message(&piece)?;
        piece.attributes.clone_from(&message.attributes);
        self.forget_marks(&mut piece);
        self.is_copied(message.sent);
        Some(piece)
    }

    /// The bytes of a message.
    pub fn data(&self, message: &Handle) -> &[u8] {
        &self.whole(message)[message.start..message.start + message.length]
    }

    /// The bytes of a view.
    pub fn viewed(&self, view: View) -> Trapped<&[u8]> {
        let store = &self.stores[view.buffer.at];
        let bytes = store.bytes.as_ref();
        let bytes = bytes.filter(|_| store.taken == view.buffer.taken);
        let bytes = bytes.ok_or("the buffer of a view is free")?;
        let part = bytes.get(view.base..view.base + view.length);
        part.ok_or_else(|| "a view is longer than its buffer".to_string())
    }

    /// Writes bytes into a message.
    pub fn write(&mut self, message: &Handle, at: usize, bytes: &[u8]) -> Trapped<()> {
        let length = message.length;
        if at + bytes.len() > length {
            return Err(format!("{at} + {} of {length} bytes", bytes.len()));
        }
        let from = message.start + at;
        self.whole_mut(message)[from..from + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    /// Puts zeros behind a message.
    pub fn pad(&mut self, message: &mut Handle, count: usize) {
        let end = message.start + message.length;
        let bytes = self.whole_mut(message);
        bytes.truncate(end);
        bytes.resize(end + count, 0);
        message.length += count;
    }

    /// Puts other data in the place of a message's, which is not longer.
    pub fn replace(&mut self, message: &mut Handle, data: &[u8]) -> Trapped<()> {
        if data.len() > message.length {
            let length = message.length;
            return Err(format!("{} bytes in place of {length}", data.len()));
        }
        self.write(message, 0, data)?;
        message.cut(data.len())
    }

    /// Puts other data in the place of a message's; false if no buffer is free in which it could be
    /// made, or it has no room. The stripped bytes before it stay.
    pub fn rewrite(&mut self, message: &mut Handle, data: &[u8]) -> bool {
        let has_room = self.free > 0 && self.fits(message, data.len());
        if has_room {
            let start = message.start;
            let bytes = self.whole_mut(message);
            bytes.truncate(start);
            bytes.extend_from_slice(data);
            message.length = data.len();
        }
        has_room
    }

    /// A message leaves the stack: its bytes. Its buffer is taken until the host gives it back.
    pub fn leave(&mut self, message: Handle) -> Vec<u8> {
        let data = self.data(&message).to_vec();
        self.release(&message);
        data
    }

    /// A message is gone without a fate: it was of our own, or its fate is another's.
    pub fn forget(&mut self, message: Handle) {
        self.release(&message);
        self.free += 1;
    }

    /// A message has done its duty.
    pub fn consume(&mut self, message: Handle) {
        self.fates.consumed += u64::from(message.came_in);
        self.forget(message);
    }

    /// A message is dropped.
    pub fn discard(&mut self, message: Handle, reason: ReasonId) {
        self.count_drop(u64::from(message.came_in), !message.came_in, reason);
        self.refuse(&message);
        self.forget(message);
    }

    /// Counts messages that are dropped.
    pub fn count_drop(&mut self, came_in: u64, own: bool, reason: ReasonId) {
        self.fates.dropped[reason.at()] += came_in;
        self.fates.unsent[reason.at()] += u64::from(own);
    }

    /// A message is dropped: if an application sends it in this call, it is refused.
    pub fn refuse(&mut self, message: &Handle) {
        if message.sent.is_some() && message.sent == self.sending {
            self.sending = None;
        }
    }

    /// A message of which there is a copy is not refused any more, if an application sends it: that
    /// copy may go on.
    fn is_copied(&mut self, sent: Option<u64>) {
        if sent.is_some() && sent == self.sending {
            self.sending = Some(0);
        }
    }

    fn forget_marks(&self, message: &mut Handle) {
        for mark in &self.marks {
            message.attributes[*mark] = self.defaults[*mark].clone();
        }
    }

    fn store(&mut self, bytes: Vec<u8>) -> Buffer {
        let at = self.vacant.pop().unwrap_or_else(|| {
            self.stores.push(Store {
                taken: 0,
                bytes: None,
            });
            self.stores.len() - 1
        });
        let store = &mut self.stores[at];
        store.bytes = Some(bytes);
        let taken = store.taken;
        Buffer { at, taken }
    }

    fn release(&mut self, message: &Handle) -> Vec<u8> {
        let bytes = std::mem::take(self.whole_mut(message));
        let store = &mut self.stores[message.buffer.at];
        store.bytes = None;
        store.taken += 1;
        self.vacant.push(message.buffer.at);
        bytes
    }

    fn whole(&self, message: &Handle) -> &Vec<u8> {
        let store = &self.stores[message.buffer.at];
        assert_eq!(store.taken, message.buffer.taken, "a handle has a buffer");
        let bytes = store.bytes.as_ref();
        bytes.expect("a handle has a buffer")
    }

    fn whole_mut(&mut self, message: &Handle) -> &mut Vec<u8> {
        let store = &mut self.stores[message.buffer.at];
        assert_eq!(store.taken, message.buffer.taken, "a handle has a buffer");
        let bytes = store.bytes.as_mut();
        bytes.expect("a handle has a buffer")
    }
}
