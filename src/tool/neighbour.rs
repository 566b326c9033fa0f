//! A simulated neighbour on an Ethernet: does in virtual time what the kernel does in the demo.
//!
//! In: what is to be sent. Out: a node of a network that sends it as frames, in pieces where it is
//! too long for one, and takes the stack's answers apart again; an `Outcome` of pings and one of
//! datagrams. It shares no code with the stack, answers to nobody's privileges, and is the same
//! every time.

use super::checksum::checksum;
use super::peer::{ECHO_REPLY, ECHO_REQUEST, Outcome, Round, Task, echo};
use crate::simulate::network::driven::{Driven, Intake, Output};
use crate::simulate::network::outcome::Outcome as Happened;
use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

const ARP: [u8; 2] = [8, 6];
const IPV4: [u8; 2] = [8, 0];
const ICMP: u8 = 1;
const UDP: u8 = 17;
/// The neighbour's link address.
const OURS: [u8; 6] = [2, 0, 0, 0, 0, 1];
/// The neighbour's UDP port.
const OUR_PORT: u16 = 5_000;
/// How much of a datagram one frame carries.
const PIECE: usize = 1_480;

/// Two hosts and the port at which the stack echoes.
#[derive(Clone, Copy, Debug)]
pub struct Addresses {
    /// The neighbour's.
    pub ours: Ipv4Addr,
    /// The stack's.
    pub stack: Ipv4Addr,
    /// Where the stack echoes datagrams.
    pub port: u16,
}

/// The neighbour.
pub struct Neighbour {
    addresses: Addresses,
    /// First of the pings, then of the datagrams.
    rounds: [Round; 2],
    /// The stack's link address, once it has told us.
    theirs: Option<[u8; 6]>,
    ready: VecDeque<Vec<u8>>,
    /// Pieces of what is not whole yet, by protocol and identification.
    pieces: BTreeMap<(u8, [u8; 2]), Pieces>,
    number: u16,
    now_ns: u64,
    /// Frames that came.
    came: u64,
    /// Frames that went.
    went: u64,
}

/// What its tasks are called, and what is counted of each.
const TASKS: [&str; 2] = ["pings", "datagrams"];
const COUNTED: [&str; 4] = ["sent", "answered", "lost", "wrong"];

/// Parts of a datagram by their place in it.
#[derive(Default)]
struct Pieces {
    parts: BTreeMap<usize, Vec<u8>>,
    length: Option<usize>,
}

impl Neighbour {
    /// A neighbour with its tasks.
    pub fn new(addresses: Addresses, tasks: [Task; 2]) -> Neighbour {
        let (ours, stack) = (addresses.ours.octets(), addresses.stack.octets());
        let request = [&[0, 1, 8, 0, 6, 4, 0, 1], &OURS[..], &ours, &[0; 6], &stack].concat();
        Neighbour {
            addresses,
            rounds: tasks.map(Round::new),
            theirs: None,
            ready: VecDeque::from([frame(&[0xff; 6], ARP, &request)]),
            pieces: BTreeMap::new(),
            number: 0,
            now_ns: 0,
            came: 0,
            went: 0,
        }
    }

    /// What came of the pings and of the datagrams of the neighbour that was this node.
    pub fn outcomes(happened: &Happened, node: usize) -> [Outcome; 2] {
        TASKS.map(|task| {
            let counter = |what: &str| happened.counter(node, &format!("{task}.{what}"));
            let [sent, answered, lost, wrong] = COUNTED.map(|what| counter(what).unwrap_or(0));
            Outcome {
                sent,
                answered,
                lost,
                wrong,
            }
        })
    }

    /// Makes the next message, if one may go now.
    fn compose(&mut self) {
        let (Some(theirs), Some(current)) = (self.theirs, self.current()) else {
            return;
        };
        let round = &mut self.rounds[current];
        if !round.may_send() {
            return;
        }
        self.number = self.number.wrapping_add(1);
        let content = round.next_content();
        let (protocol, message, answer) = match current {
            0 => {
                let answer = echo(ECHO_REPLY, self.number, &content);
                (ICMP, echo(ECHO_REQUEST, self.number, &content), answer)
            }
            _ => (UDP, self.addresses.datagram(&content), content),
        };
        self.rounds[current].sent(answer, self.now_ns);
        let last = message.len().saturating_sub(1) / PIECE;
        for index in 0..=last {
            let part = &message[index * PIECE..message.len().min((index + 1) * PIECE)];
            let packet = self.packet(protocol, index, index < last, part);
            self.ready.push_back(frame(&theirs, IPV4, &packet));
        }
    }

    /// The first round that is not over.
    fn current(&self) -> Option<usize> {
        self.rounds.iter().position(|round| !round.is_over())
    }

    /// One piece of a datagram in an IPv4 header.
    fn packet(&self, protocol: u8, index: usize, more: bool, part: &[u8]) -> Vec<u8> {
        let length = u16::try_from(20 + part.len()).expect("a piece is short");
        let place = u16::try_from(index * PIECE / 8).expect("a datagram has less than 64 KiB");
        let place = place | u16::from(more) << 13;
        let mut header = vec![0x45, 0];
        header.extend(length.to_be_bytes());
        header.extend(self.number.to_be_bytes());
        header.extend(place.to_be_bytes());
        header.extend([64, protocol, 0, 0]);
        header.extend(self.addresses.ours.octets());
        header.extend(self.addresses.stack.octets());
        let sum = checksum(&[&header]).to_be_bytes();
        header[10..12].copy_from_slice(&sum);
        [&header, part].concat()
    }

    /// Answers a question about our link address, and learns theirs from whatever they say.
    fn take_arp(&mut self, packet: &[u8]) {
        let ours = self.addresses.ours.octets();
        let stack = self.addresses.stack.octets();
        let Some(packet) = packet.get(..28).filter(|packet| packet[14..18] == stack) else {
            return;
        };
        let theirs: [u8; 6] = packet[8..14].try_into().expect("six bytes are six bytes");
        self.theirs = Some(theirs);
        if packet[6..8] == [0, 1] && packet[24..28] == ours {
            let answer = [&[0, 1, 8, 0, 6, 4, 0, 2], &OURS[..], &ours, &theirs, &stack].concat();
            self.ready.push_back(frame(&theirs, ARP, &answer));
        }
    }

    /// Takes a piece of an answer, and the answer once it is whole.
    fn take_ipv4(&mut self, packet: &[u8]) {
        let Some((header, rest)) = packet.split_at_checked(20) else {
            return;
        };
        let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
        let between = [self.addresses.stack.octets(), self.addresses.ours.octets()].concat();
        let good = header[0] == 0x45 && checksum(&[header]) == 0 && header[12..20] == between;
        let Some(part) = length.checked_sub(20).and_then(|length| rest.get(..length)) else {
            return;
        };
        if !good {
            return;
        }
        let (protocol, place) = (header[9], u16::from_be_bytes([header[6], header[7]]));
        let key = (protocol, [header[4], header[5]]);
        let pieces = self.pieces.entry(key).or_default();
        let at = usize::from(place & 0x1fff) * 8;
        pieces.parts.insert(at, part.to_vec());
        if place & 0x2000 == 0 {
            pieces.length = Some(at + part.len());
        }
        if let Some(message) = pieces.whole() {
            self.pieces.remove(&key);
            self.take_message(protocol, &message);
        }
    }

    fn take_message(&mut self, protocol: u8, message: &[u8]) {
        let content = match protocol {
            ICMP if message.first() == Some(&ECHO_REPLY) => Some(message),
            UDP => self.addresses.content(message),
            _ => None,
        };
        if let (Some(content), Some(current)) = (content, self.current()) {
            self.rounds[current].received(content, self.now_ns);
        }
    }
}

impl Pieces {
    fn whole(&self) -> Option<Vec<u8>> {
        let mut message = Vec::new();
        for (at, part) in &self.parts {
            if *at != message.len() {
                return None;
            }
            message.extend(part);
        }
        (Some(message.len()) == self.length).then_some(message)
    }
}

impl Addresses {
    /// A datagram to the stack's port.
    fn datagram(&self, content: &[u8]) -> Vec<u8> {
        let length = u16::try_from(8 + content.len()).expect("a datagram has less than 64 KiB");
        let ports = [OUR_PORT.to_be_bytes(), self.port.to_be_bytes()].concat();
        let mut message = [&ports, &length.to_be_bytes()[..], &[0, 0], content].concat();
        let sum = self.sum(&message);
        message[6..8].copy_from_slice(&if sum == 0 {
            [0xff; 2]
        } else {
            sum.to_be_bytes()
        });
        message
    }

    /// What a datagram from the stack's port carries, if it is right.
    fn content<'message>(&self, message: &'message [u8]) -> Option<&'message [u8]> {
        let (header, content) = message.split_at_checked(8)?;
        let ports = [self.port.to_be_bytes(), OUR_PORT.to_be_bytes()].concat();
        let length = usize::from(u16::from_be_bytes([header[4], header[5]]));
        let summed = header[6..8] == [0, 0] || self.sum(message) == 0;
        (header[..4] == ports && length == message.len() && summed).then_some(content)
    }

    /// The checksum of a datagram with its pseudo header; either order of addresses sums alike.
    fn sum(&self, message: &[u8]) -> u16 {
        let length = u16::try_from(message.len()).expect("a datagram has less than 64 KiB");
        let addresses = [self.ours.octets(), self.stack.octets()].concat();
        checksum(&[&addresses, &[0, UDP], &length.to_be_bytes(), message])
    }
}

impl Driven for Neighbour {
    fn input(&mut self, _link: usize, frame: &[u8], now_ns: u64) -> Intake {
        self.now_ns = now_ns;
        self.came += 1;
        let (header, packet) = frame.split_at_checked(14).unwrap_or_default();
        if header.starts_with(&OURS) || header.starts_with(&[0xff; 6]) {
            if header[12..] == ARP {
                self.take_arp(packet);
            } else if header[12..] == IPV4 {
                self.take_ipv4(packet);
            }
        }
        Intake::Taken
    }

    fn next(&mut self) -> Option<Output> {
        if self.ready.is_empty() {
            self.compose();
        }
        let bytes = self.ready.pop_front()?;
        self.went += 1;
        Some(Output::Frame { link: 0, bytes })
    }

    fn deadline_ns(&self) -> Option<u64> {
        self.rounds[self.current()?].deadline_ns()
    }

    fn expire(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
        if let Some(current) = self.current() {
            self.rounds[current].expire(now_ns);
        }
    }

    fn is_busy(&self) -> bool {
        self.current().is_some()
    }

    fn counters(&self) -> Vec<(String, u64)> {
        let frames = [
            ("frames_in", self.came),
            ("consumed", self.came),
            ("frames_out", self.went),
        ];
        let frames = frames.map(|(name, value)| (name.to_string(), value));
        let mut counters = frames.to_vec();
        for (task, round) in TASKS.iter().zip(&self.rounds) {
            let outcome = round.at_end();
            let values = [outcome.sent, outcome.answered, outcome.lost, outcome.wrong];
            for (what, value) in COUNTED.iter().zip(values) {
                counters.push((format!("count {task}.{what}"), value));
            }
        }
        counters
    }

    fn buffers(&self) -> usize {
        0
    }

    fn take_buffers(&mut self) -> usize {
        0
    }
}

fn frame(to: &[u8; 6], kind: [u8; 2], packet: &[u8]) -> Vec<u8> {
    let mut frame = [to, &OURS[..], &kind, packet].concat();
    // Ethernet has no shorter ones.
    frame.resize(frame.len().max(60), 0);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loopback() -> Addresses {
        let (ours, stack) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
        Addresses {
            ours,
            stack,
            port: OUR_PORT,
        }
    }

    #[test]
    fn a_spoiled_datagram_is_not_taken_for_the_right_one() {
        let message = loopback().datagram(b"as it was sent");
        assert_eq!(loopback().content(&message), Some(&b"as it was sent"[..]));
        for at in 0..message.len() {
            let mut spoiled = message.clone();
            spoiled[at] ^= 0x10;
            assert_eq!(loopback().content(&spoiled), None, "byte {at}");
        }
    }

    /// The frames that are to be sent now.
    fn frames(neighbour: &mut Neighbour) -> usize {
        std::iter::from_fn(|| neighbour.next()).count()
    }

    #[test]
    fn a_stack_that_never_answers_is_asked_once_and_not_waited_for() {
        let task = Task {
            count: 3,
            longest: 100,
            window: 1,
            seed: 1,
        };
        let mut neighbour = Neighbour::new(loopback(), [task, task]);
        assert_eq!(frames(&mut neighbour), 1, "it asks who we are");
        assert_eq!(neighbour.deadline_ns(), None);
        assert!(
            neighbour
                .rounds
                .iter()
                .all(|round| round.at_end() == Outcome::default())
        );
    }

    #[test]
    fn what_the_stack_keeps_to_itself_is_lost() {
        let task = Task {
            count: 1,
            longest: 4_000,
            window: 1,
            seed: 1,
        };
        let none = Task { count: 0, ..task };
        let mut neighbour = Neighbour::new(loopback(), [task, none]);
        neighbour.theirs = Some([2; 6]);
        neighbour.now_ns = 5;
        assert!(frames(&mut neighbour) > 1);
        let deadline_ns = neighbour.deadline_ns().unwrap();
        assert!(deadline_ns > 5 && neighbour.is_busy());
        neighbour.expire(deadline_ns);
        assert_eq!(frames(&mut neighbour), 0);
        assert!(neighbour.deadline_ns().is_none() && !neighbour.is_busy());
        let lost = Outcome {
            sent: 1,
            lost: 1,
            ..Outcome::default()
        };
        assert_eq!(neighbour.rounds[0].at_end(), lost);
    }
}
