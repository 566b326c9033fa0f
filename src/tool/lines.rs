//! The application `lines`: each line of stdin is a message, and each message is a line on stdout.
//!
//! In: what somebody types, or a pipe. Out: whole lines, as soon as they are there; it never waits.

use super::failure::Failure;
use super::terminal::result;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// A conversation with whoever types.
#[derive(Debug, Default)]
pub struct Lines {
    /// The port at which it sits.
    pub port: usize,
    /// The session to which it speaks: the one that was opened, then whoever was heard last.
    pub session: u32,
    begun: Vec<u8>,
    whole: VecDeque<Vec<u8>>,
    ended: bool,
}

impl Lines {
    /// At a port, to its first session.
    pub fn new(port: usize) -> Lines {
        Lines {
            port,
            ..Lines::default()
        }
    }

    /// The next line that was typed, without its end.
    pub fn typed(&mut self) -> io::Result<Option<Vec<u8>>> {
        while self.whole.is_empty() && !self.ended && is_readable()? {
            let mut bytes = [0; 4096];
            match nix::unistd::read(io::stdin(), &mut bytes) {
                Ok(0) => self.end(),
                Ok(count) => self.take(&bytes[..count]),
                Err(Errno::EINTR | Errno::EAGAIN) => break,
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(self.whole.pop_front())
    }

    /// Takes back a line that the stack does not take yet; it is the next one again.
    pub fn put_back(&mut self, line: Vec<u8>) {
        self.whole.push_front(line);
    }

    /// How many lines were typed and not sent.
    pub fn unsent(&self) -> usize {
        self.whole.len()
    }

    /// Returns true if no more will be typed.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Says what came.
    pub fn heard(&mut self, session: u32, bytes: &[u8]) -> Result<(), Failure> {
        self.session = session;
        result(format_args!("{}\n", plain(bytes)))
    }

    /// What to wait for, unless it has ended, or the stack is to take what was typed first.
    pub fn descriptor<'a>(&self, stdin: &'a io::Stdin) -> Option<BorrowedFd<'a>> {
        (!self.ended && self.whole.is_empty()).then(|| stdin.as_fd())
    }

    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                b'\n' => self.whole.push_back(std::mem::take(&mut self.begun)),
                byte => self.begun.push(*byte),
            }
        }
    }

    fn end(&mut self) {
        self.ended = true;
        if !self.begun.is_empty() {
            self.whole.push_back(std::mem::take(&mut self.begun));
        }
    }
}

/// A message that no terminal obeys.
fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let shown = |letter: char| match letter.is_control() {
        true => char::REPLACEMENT_CHARACTER,
        false => letter,
    };
    text.chars().map(shown).collect()
}

fn is_readable() -> io::Result<bool> {
    let stdin = io::stdin();
    let mut polled = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
    match poll(&mut polled, PollTimeout::ZERO) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::EINTR) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_and_the_last_needs_no_end() {
        let mut lines = Lines::default();
        lines.take(b"one\ntw");
        lines.take(b"o\n\nthr");
        lines.end();
        assert_eq!(lines.whole, [&b"one"[..], b"two", b"", b"thr"]);
        assert_eq!(plain(b"a\x1b[2J\xff"), "a\u{fffd}[2J\u{fffd}");
    }
}
