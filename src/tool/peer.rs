//! The Linux kernel as a peer: pings and datagrams to a stack, each answer compared byte for byte.
//!
//! In: addresses, how many, a seed for sizes and contents. Out: an `Outcome` that counts what came
//! back whole. A few are in flight at a time, so that a full socket buffer is not taken for a loss.
//! `Round` is that count alone; `neighbour` keeps it too, in virtual time.

use super::checksum::checksum;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, bind, recv, sendto,
    setsockopt, socket, sockopt,
};
use nix::sys::time::{TimeVal, TimeValLike};
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

/// What is to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// How many messages.
    pub count: u64,
    /// No message is longer.
    pub longest: usize,
    /// How many may be under way at a time.
    pub window: usize,
    /// Makes sizes and contents.
    pub seed: u64,
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

/// Told how many were answered so far; false stops.
pub type Progress<'run> = dyn Fn(u64) -> bool + 'run;

/// Sends echo requests from a raw ICMP socket.
pub fn ping(
    from: Ipv4Addr,
    to: Ipv4Addr,
    task: Task,
    progress: &Progress<'_>,
) -> io::Result<Outcome> {
    let flags = SockFlag::SOCK_CLOEXEC;
    let socket = socket(
        AddressFamily::Inet,
        SockType::Raw,
        flags,
        SockProtocol::Icmp,
    )?;
    bind(
        socket.as_raw_fd(),
        &SockaddrIn::from(SocketAddrV4::new(from, 0)),
    )?;
    setsockopt(
        &socket,
        sockopt::ReceiveTimeout,
        &TimeVal::milliseconds(100),
    )?;
    let to = SocketAddrV4::new(to, 0).into();
    exchange(
        task,
        progress,
        &mut Pings {
            socket,
            to,
            number: 0,
        },
    )
}

/// Sends datagrams from a UDP socket.
pub fn datagrams(
    from: Ipv4Addr,
    to: SocketAddrV4,
    task: Task,
    progress: &Progress<'_>,
) -> io::Result<Outcome> {
    let socket = UdpSocket::bind(SocketAddrV4::new(from, 0))?;
    socket.connect(to)?;
    socket.set_read_timeout(Some(Duration::from_millis(100)))?;
    exchange(task, progress, &mut Datagrams { socket })
}

/// How messages of one kind go out and come back.
trait Exchange {
    /// Sends a message with this content, and answers what its answer will read like.
    fn send(&mut self, content: Vec<u8>) -> io::Result<Vec<u8>>;
    /// Waits a little for an answer.
    fn receive(&mut self) -> io::Result<Option<Vec<u8>>>;
}

fn exchange(
    task: Task,
    progress: &Progress<'_>,
    messages: &mut dyn Exchange,
) -> io::Result<Outcome> {
    let start = Instant::now();
    let now_ns = || u64::try_from(start.elapsed().as_nanos()).expect("no demo takes centuries");
    let mut round = Round::new(task);
    while !round.is_over() && progress(round.outcome().answered) {
        while round.may_send() {
            let content = round.next_content();
            round.sent(messages.send(content)?, now_ns());
        }
        match messages.receive()? {
            Some(answer) => round.received(&answer, now_ns()),
            None => round.expire(now_ns()),
        }
    }
    round.give_up();
    Ok(round.outcome())
}

/// How long an answer may take before its message counts as lost.
const PATIENCE_NS: u64 = 2_000_000_000;

/// A task that is being done.
pub struct Round {
    task: Task,
    random: fastrand::Rng,
    outcome: Outcome,
    /// The answers that are awaited.
    flying: Vec<Vec<u8>>,
    /// When one came, or when the first of them began to be awaited.
    heard_ns: u64,
}

impl Round {
    /// A task that begins.
    pub fn new(task: Task) -> Round {
        let (random, outcome) = (fastrand::Rng::with_seed(task.seed), Outcome::default());
        Round {
            task,
            random,
            outcome,
            flying: Vec::new(),
            heard_ns: 0,
        }
    }

    /// Whether one more message may be sent now.
    pub fn may_send(&self) -> bool {
        self.flying.len() < self.task.window && self.outcome.sent < self.task.count
    }

    /// The content of the next message.
    pub fn next_content(&mut self) -> Vec<u8> {
        let mut content = vec![0; self.random.usize(0..=self.task.longest)];
        self.random.fill(&mut content);
        content
    }

    /// A message went out whose answer will read like this.
    pub fn sent(&mut self, answer: Vec<u8>, now_ns: u64) {
        if self.flying.is_empty() {
            self.heard_ns = now_ns;
        }
        self.flying.push(answer);
        self.outcome.sent += 1;
    }

    /// An answer came in.
    pub fn received(&mut self, answer: &[u8], now_ns: u64) {
        match self.flying.iter().position(|awaited| awaited == answer) {
            Some(found) => {
                self.flying.remove(found);
                self.outcome.answered += 1;
                self.heard_ns = now_ns;
            }
            None => self.outcome.wrong += 1,
        }
    }

    /// When what is under way counts as lost; none if nothing is.
    pub fn deadline_ns(&self) -> Option<u64> {
        (!self.flying.is_empty()).then_some(self.heard_ns + PATIENCE_NS)
    }

    /// Gives up what has been under way for too long.
    pub fn expire(&mut self, now_ns: u64) {
        if self
            .deadline_ns()
            .is_some_and(|deadline_ns| deadline_ns <= now_ns)
        {
            self.give_up();
        }
    }

    /// Gives up all that is under way.
    fn give_up(&mut self) {
        self.outcome.lost += self.flying.drain(..).len() as u64;
    }

    /// Whether nothing is left to send or to await.
    pub fn is_over(&self) -> bool {
        self.flying.is_empty() && self.outcome.sent == self.task.count
    }

    /// What came of it so far.
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// What will have come of it if nothing comes any more.
    pub fn at_end(&self) -> Outcome {
        Outcome {
            lost: self.outcome.lost + self.flying.len() as u64,
            ..self.outcome
        }
    }
}

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

/// The first byte of an answer to a ping.
pub const ECHO_REPLY: u8 = 0;
/// The first byte of a ping.
pub const ECHO_REQUEST: u8 = 8;

/// An echo request or reply with its checksum.
pub fn echo(kind: u8, number: u16, content: &[u8]) -> Vec<u8> {
    let [high, low] = number.to_be_bytes();
    let mut message = vec![kind, 0, 0, 0, 0x10, 0x0f, high, low];
    message.extend(content);
    let sum = checksum(&[&message]).to_be_bytes();
    message[2..4].copy_from_slice(&sum);
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
    use std::cell::Cell;
    use std::collections::VecDeque;

    /// A peer that answers the last message first, and one of them wrong if it is told to.
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

    /// What comes of a hundred messages, and how many looks at the progress there were.
    fn run(spoil: u64) -> (Outcome, u64) {
        let looks = Cell::new(0);
        let progress = |_| {
            looks.set(looks.get() + 1);
            looks.get() < 1_000
        };
        let task = Task {
            count: 100,
            longest: 50,
            window: 8,
            seed: 3,
        };
        let mut mirror = Mirror {
            answers: VecDeque::new(),
            spoil,
            sent: 0,
        };
        (exchange(task, &progress, &mut mirror).unwrap(), looks.get())
    }

    #[test]
    fn answers_may_come_in_any_order() {
        let (outcome, looks) = run(0);
        assert!(outcome.is_whole(100), "{outcome:?}");
        assert_eq!(looks, 100);
    }

    #[test]
    fn a_spoiled_answer_is_seen_and_the_awaited_one_is_lost() {
        let (outcome, looks) = run(100);
        assert_eq!(
            outcome,
            Outcome {
                sent: 100,
                answered: 99,
                lost: 1,
                wrong: 1
            }
        );
        assert_eq!(looks, 1_000, "it ends when it is told to");
    }

    #[test]
    fn what_is_not_answered_in_time_is_lost() {
        let mut round = Round::new(Task {
            count: 3,
            longest: 4,
            window: 2,
            seed: 1,
        });
        for _ in 0..2 {
            let content = round.next_content();
            round.sent(content, 1_000);
        }
        assert!(!round.may_send());
        let deadline_ns = round.deadline_ns().unwrap();
        round.expire(deadline_ns - 1);
        assert_eq!(round.outcome().lost, 0);
        round.expire(deadline_ns);
        assert_eq!(
            round.outcome(),
            Outcome {
                sent: 2,
                lost: 2,
                ..Outcome::default()
            }
        );
        assert!(round.may_send() && !round.is_over());
    }

    #[test]
    fn an_echo_request_sums_to_nothing() {
        let message = echo(ECHO_REQUEST, 0x1234, &[1, 2, 3]);
        assert_eq!(checksum(&[&message]), 0);
        assert_eq!(message[4..], [0x10, 0x0f, 0x12, 0x34, 1, 2, 3]);
    }
}
