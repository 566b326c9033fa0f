//! The Linux kernel as a peer: pings and datagrams to a stack, each answer compared byte for byte.
//!
//! In: addresses, how many, a seed for sizes and contents. Out: an `Outcome` that counts what came
//! back whole. A few are in flight at a time, so that a full socket buffer is not taken for a loss.

use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, recv, sendto,
    setsockopt, socket, sockopt,
};
use nix::sys::time::{TimeVal, TimeValLike};
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

/// What a peer is to do.
pub struct Task<'run> {
    /// How many messages are sent.
    pub count: u64,
    /// No message is longer.
    pub longest: usize,
    /// How many may be under way at a time.
    pub window: usize,
    /// Makes sizes and contents.
    pub seed: u64,
    /// When to give up.
    pub end: Instant,
    /// Told how many were answered so far; false stops.
    pub progress: &'run dyn Fn(u64) -> bool,
}

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Messages that were sent.
    pub sent: u64,
    /// Answers that were the same, byte for byte.
    pub answered: u64,
    /// Messages without an answer.
    pub lost: u64,
    /// Answers to nothing that was sent.
    pub wrong: u64,
}

impl Outcome {
    /// Whether everything was sent and came back.
    pub fn is_whole(&self, count: u64) -> bool {
        *self
            == Outcome {
                sent: count,
                answered: count,
                lost: 0,
                wrong: 0,
            }
    }
}

/// How long an answer may take before its message counts as lost.
const PATIENCE: Duration = Duration::from_secs(2);

/// Sends echo requests from a raw ICMP socket.
pub fn ping(from: Ipv4Addr, to: Ipv4Addr, task: &Task<'_>) -> io::Result<Outcome> {
    let flags = SockFlag::SOCK_CLOEXEC;
    let socket = socket(
        AddressFamily::Inet,
        SockType::Raw,
        flags,
        SockProtocol::Icmp,
    )?;
    nix::sys::socket::bind(
        socket.as_raw_fd(),
        &SockaddrIn::from(SocketAddrV4::new(from, 0)),
    )?;
    setsockopt(
        &socket,
        sockopt::ReceiveTimeout,
        &TimeVal::milliseconds(100),
    )?;
    exchange(
        task,
        &mut Pings {
            socket,
            to: SocketAddrV4::new(to, 0).into(),
            number: 0,
        },
    )
}

/// Sends datagrams from a UDP socket.
pub fn datagrams(from: Ipv4Addr, to: SocketAddrV4, task: &Task<'_>) -> io::Result<Outcome> {
    let socket = UdpSocket::bind(SocketAddrV4::new(from, 0))?;
    socket.connect(to)?;
    socket.set_read_timeout(Some(Duration::from_millis(100)))?;
    exchange(task, &mut Datagrams { socket })
}

/// How messages of one kind go out and come back.
trait Exchange {
    /// Sends a message with this content, and answers what its answer will read like.
    fn send(&mut self, content: Vec<u8>) -> io::Result<Vec<u8>>;
    /// Waits a little for an answer.
    fn receive(&mut self) -> io::Result<Option<Vec<u8>>>;
}

fn exchange(task: &Task<'_>, messages: &mut dyn Exchange) -> io::Result<Outcome> {
    let mut random = fastrand::Rng::with_seed(task.seed);
    let mut outcome = Outcome::default();
    let mut flying: Vec<Vec<u8>> = Vec::new();
    let mut heard = Instant::now();
    while outcome.answered + outcome.lost < task.count {
        while flying.len() < task.window && outcome.sent < task.count {
            let mut content = vec![0; random.usize(0..=task.longest)];
            random.fill(&mut content);
            flying.push(messages.send(content)?);
            outcome.sent += 1;
        }
        match messages.receive()? {
            Some(answer) => match flying.iter().position(|sent| *sent == answer) {
                Some(found) => {
                    flying.remove(found);
                    outcome.answered += 1;
                    heard = Instant::now();
                }
                None => outcome.wrong += 1,
            },
            None if heard.elapsed() > PATIENCE => {
                outcome.lost += flying.drain(..).len() as u64;
                heard = Instant::now();
            }
            None => {}
        }
        if !(task.progress)(outcome.answered) || Instant::now() > task.end {
            break;
        }
    }
    outcome.lost += flying.len() as u64;
    Ok(outcome)
}

const ECHO_REPLY: u8 = 0;
const ECHO_REQUEST: u8 = 8;

struct Pings {
    socket: OwnedFd,
    to: SockaddrIn,
    number: u16,
}

impl Exchange for Pings {
    fn send(&mut self, content: Vec<u8>) -> io::Result<Vec<u8>> {
        self.number = self.number.wrapping_add(1);
        let request = echo(ECHO_REQUEST, self.number, &content);
        sendto(
            self.socket.as_raw_fd(),
            &request,
            &self.to,
            MsgFlags::empty(),
        )?;
        Ok(echo(ECHO_REPLY, self.number, &content))
    }

    fn receive(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut packet = vec![0; 65_536];
        match recv(self.socket.as_raw_fd(), &mut packet, MsgFlags::empty()) {
            Ok(length) => {
                packet.truncate(length);
                // A raw socket sees the IP header too; its length stands in the first byte.
                let header = usize::from(packet.first().unwrap_or(&0) & 15) * 4;
                let message = packet.split_off(header.min(length));
                Ok(Some(message).filter(|message| message.first() == Some(&ECHO_REPLY)))
            }
            Err(errno) => nothing(errno.into()).map(|()| None),
        }
    }
}

/// An echo request or reply with its checksum.
fn echo(kind: u8, number: u16, content: &[u8]) -> Vec<u8> {
    let [high, low] = number.to_be_bytes();
    let mut message = vec![kind, 0, 0, 0, 0x10, 0x0f, high, low];
    message.extend(content);
    let words = message.chunks(2).map(|pair| {
        u32::from(u16::from_be_bytes([
            pair[0],
            pair.get(1).copied().unwrap_or(0),
        ]))
    });
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    let checksum = !u16::try_from(sum).expect("a folded sum has 16 bits");
    message[2..4].copy_from_slice(&checksum.to_be_bytes());
    message
}

struct Datagrams {
    socket: UdpSocket,
}

impl Exchange for Datagrams {
    fn send(&mut self, content: Vec<u8>) -> io::Result<Vec<u8>> {
        // What is refused now is about an earlier datagram; this one then counts as lost.
        self.socket.send(&content).map(drop).or_else(nothing)?;
        Ok(content)
    }

    fn receive(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut content = vec![0; 65_536];
        match self.socket.recv(&mut content) {
            Ok(length) => {
                content.truncate(length);
                Ok(Some(content))
            }
            Err(error) => nothing(error).map(|()| None),
        }
    }
}

/// An error that only says that no answer came, or that one said so: it counts as lost later.
fn nothing(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::WouldBlock
        | io::ErrorKind::TimedOut
        | io::ErrorKind::Interrupted
        | io::ErrorKind::ConnectionRefused
        | io::ErrorKind::HostUnreachable => Ok(()),
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::collections::VecDeque;

    /// A peer that answers, except where it is told to spoil or to lose an answer.
    struct Mirror {
        answers: VecDeque<Vec<u8>>,
        spoil: u64,
        sent: u64,
    }

    impl Exchange for Mirror {
        fn send(&mut self, content: Vec<u8>) -> io::Result<Vec<u8>> {
            self.sent += 1;
            let mut answer = content.clone();
            if self.sent == self.spoil {
                answer.push(1);
            }
            self.answers.push_front(answer);
            Ok(content)
        }

        fn receive(&mut self) -> io::Result<Option<Vec<u8>>> {
            Ok(self.answers.pop_front())
        }
    }

    fn run(spoil: u64, end: Duration) -> Outcome {
        let told = RefCell::new(0);
        let progress = |answered| {
            *told.borrow_mut() = answered;
            true
        };
        let end = Instant::now() + end;
        let task = Task {
            count: 100,
            longest: 50,
            window: 8,
            seed: 3,
            end,
            progress: &progress,
        };
        let outcome = exchange(
            &task,
            &mut Mirror {
                answers: VecDeque::new(),
                spoil,
                sent: 0,
            },
        );
        let outcome = outcome.unwrap();
        assert_eq!(outcome.answered, *told.borrow());
        outcome
    }

    #[test]
    fn answers_may_come_in_any_order() {
        assert!(run(0, Duration::from_secs(60)).is_whole(100));
    }

    #[test]
    fn a_spoiled_answer_is_seen() {
        let outcome = run(100, Duration::from_millis(10));
        assert_eq!(
            outcome,
            Outcome {
                sent: 100,
                answered: 99,
                lost: 1,
                wrong: 1
            }
        );
    }

    #[test]
    fn an_echo_request_sums_to_nothing() {
        let message = echo(ECHO_REQUEST, 0x1234, &[1, 2, 3]);
        let words = message
            .chunks(2)
            .map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
        let sum: u32 = words.sum();
        assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff);
        assert_eq!(message[4..], [0x10, 0x0f, 0x12, 0x34, 1, 2, 3]);
    }
}
