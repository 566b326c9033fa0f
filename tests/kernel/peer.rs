//! The kernel's end of streams: its sockets, which never wait.
//!
//! In: whom to call, or where to listen, and what to say. Out: what became of each conversation.

use super::content::content;
use super::end::Talk;
use super::namespace::Namespace;
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrStorage, connect, setsockopt, socket, sockopt,
};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;

/// A conversation of the kernel's.
pub struct Socket {
    stream: TcpStream,
    talk: Talk,
    sent: usize,
    /// Bytes that came, all of them as they should be.
    pub read: usize,
    shut: bool,
    /// Whether the peer said that it sends no more.
    pub finished: bool,
    /// What the kernel says of it.
    pub failed: Option<ErrorKind>,
}

impl Socket {
    /// Calls somebody.
    pub fn call(namespace: &Namespace, to: SocketAddr, talk: Talk) -> Socket {
        let family = match to {
            SocketAddr::V4(_) => AddressFamily::Inet,
            SocketAddr::V6(_) => AddressFamily::Inet6,
        };
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let socket = namespace.run(move || {
            let socket = socket(family, SockType::Stream, flags, None)?;
            match connect(socket.as_raw_fd(), &SockaddrStorage::from(to)) {
                Ok(()) | Err(Errno::EINPROGRESS) => Ok(socket),
                Err(errno) => Err(errno),
            }
        });
        Socket::new(socket.expect("the kernel calls").into(), talk)
    }

    /// One that came to a listener, if any did.
    pub fn accept(listener: &TcpListener, talk: Talk) -> Option<Socket> {
        let (stream, _) = listener.accept().ok()?;
        stream.set_nonblocking(true).expect("it need not wait");
        Some(Socket::new(stream, talk))
    }

    fn new(stream: TcpStream, talk: Talk) -> Socket {
        Socket {
            stream,
            talk,
            sent: 0,
            read: 0,
            shut: false,
            finished: false,
            failed: None,
        }
    }

    /// Says and hears what it can now; whether that was anything.
    pub fn turn(&mut self) -> bool {
        if self.is_over() {
            return false;
        }
        let turned = self.speak().and_then(|spoke| Ok(self.hear()? || spoke));
        turned.unwrap_or_else(|failed| {
            self.failed = Some(failed);
            true
        })
    }

    /// Whether all was sent and read, and both said that there is no more.
    pub fn is_whole(&self) -> bool {
        let Talk { sends, reads, .. } = self.talk;
        self.shut && self.finished && (self.sent, self.read) == (sends, reads)
    }

    /// Whether nothing will happen any more.
    pub fn is_over(&self) -> bool {
        self.failed.is_some() || self.shut && self.finished
    }

    /// Ends it without a word to the peer but a reset.
    pub fn abort(self) {
        //= rfc9293#3.10.5  what the kernel does when nobody may linger
        let linger = nix::libc::linger {
            l_onoff: 1,
            l_linger: 0,
        };
        setsockopt(&self.stream, sockopt::Linger, &linger).expect("it need not linger");
    }

    fn speak(&mut self) -> Result<bool, ErrorKind> {
        let Talk { sends, from, .. } = self.talk;
        let text = content(from + self.sent, (sends - self.sent).min(65_536));
        if text.is_empty() {
            let is_first = !self.shut && self.stream.peer_addr().is_ok();
            if is_first {
                self.shut = self.stream.shutdown(Shutdown::Write).is_ok();
            }
            return Ok(is_first);
        }
        match passing(self.stream.write(text))? {
            None => Ok(false),
            Some(length) => {
                self.sent += length;
                Ok(true)
            }
        }
    }

    fn hear(&mut self) -> Result<bool, ErrorKind> {
        let mut room = [0; 65_536];
        if self.finished {
            return Ok(false);
        }
        let Some(length) = passing(self.stream.read(&mut room))? else {
            return Ok(false);
        };
        let from = self.talk.reads_from + self.read;
        assert!(room[..length] == *content(from, length), "other bytes came");
        self.read += length;
        self.finished = length == 0;
        Ok(true)
    }
}

impl std::fmt::Display for Socket {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Talk { sends, reads, .. } = self.talk;
        let (sent, read, failed) = (self.sent, self.read, self.failed);
        write!(
            out,
            "kernel sent {sent} of {sends}, read {read} of {reads}, {failed:?}"
        )
    }
}

/// How many bytes; none if there is nothing now.
fn passing(done: std::io::Result<usize>) -> Result<Option<usize>, ErrorKind> {
    match done {
        Ok(length) => Ok(Some(length)),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error.kind()),
    }
}
