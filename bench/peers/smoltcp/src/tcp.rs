//! Two ends that are smoltcp, of which one sends 4 MiB, as in `../../../tcp.c`.
//!
//! In: `count`, `silent`, or `copy`; whether sums are written and checked was said by PEER_SUMS,
//! `on` or `off`, when this was compiled. Out: how many segments arrived, each by one call of
//! `bench_step`; with `silent` those alone that are not answered, with `copy` no more than what
//! smoltcp does beyond the others: it copies what arrives into a buffer of its own. Frames are
//! handed over in place, and the application reads once for two segments, of which the second is
//! answered.

mod end;

use end::{Arrived, NOW, ROOM, capabilities, interface};
use smoltcp::iface::{Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, TxToken};
use smoltcp::socket::tcp;
use smoltcp::time::Instant;
use smoltcp::wire::IpAddress;
use std::hint::black_box;
use std::process::ExitCode;

const TOTAL: usize = 4 << 20;
const SEGMENT: usize = 1460;
const HEADERS: usize = 40;
const FLIGHT: usize = 256;
const COPIES: usize = 100;

/// Frames that go one way.
struct Wire {
    frames: Vec<Frame>,
    first: usize,
    behind: usize,
}

struct Frame {
    length: usize,
    bytes: [u8; ROOM],
}

impl Wire {
    fn new() -> Wire {
        let frame = || Frame {
            length: 0,
            bytes: [0; ROOM],
        };
        Wire {
            frames: (0..FLIGHT).map(|_| frame()).collect(),
            first: 0,
            behind: 0,
        }
    }

    fn left(&self) -> usize {
        self.behind - self.first
    }

    /// The text of the segment that comes next.
    fn next(&self) -> &[u8] {
        let frame = &self.frames[self.first % FLIGHT];
        &frame.bytes[HEADERS..frame.length]
    }
}

/// What an end has of both wires while it works.
struct Link<'a> {
    from: &'a mut Wire,
    to: &'a mut Wire,
    capabilities: &'a DeviceCapabilities,
}

struct Leaving<'a>(&'a mut Wire);

impl TxToken for Leaving<'_> {
    #[inline(always)]
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, write: F) -> R {
        let frame = &mut self.0.frames[self.0.behind % FLIGHT];
        frame.length = length;
        let written = write(&mut frame.bytes[..length]);
        self.0.behind += 1;
        written
    }
}

impl Device for Link<'_> {
    type RxToken<'a>
        = Arrived<'a>
    where
        Self: 'a;
    type TxToken<'a>
        = Leaving<'a>
    where
        Self: 'a;

    #[inline(always)]
    fn receive(&mut self, _: Instant) -> Option<(Arrived<'_>, Leaving<'_>)> {
        if self.from.left() == 0 {
            return None;
        }
        let frame = &self.from.frames[self.from.first % FLIGHT];
        self.from.first += 1;
        Some((Arrived(&frame.bytes[..frame.length]), Leaving(self.to)))
    }

    #[inline(always)]
    fn transmit(&mut self, _: Instant) -> Option<Leaving<'_>> {
        (self.to.left() < FLIGHT - 8).then(|| Leaving(self.to))
    }

    #[inline(always)]
    fn capabilities(&self) -> DeviceCapabilities {
        self.capabilities.clone()
    }
}

struct End {
    interface: Interface,
    sockets: SocketSet<'static>,
    socket: SocketHandle,
    capabilities: DeviceCapabilities,
}

impl End {
    fn new(address: u8, sums: bool) -> End {
        let capabilities = capabilities(sums);
        let (mut from, mut to) = (Wire::new(), Wire::new());
        let mut link = Link {
            from: &mut from,
            to: &mut to,
            capabilities: &capabilities,
        };
        let interface = interface(address, &mut link);
        let buffer = || tcp::SocketBuffer::new(vec![0; 44 * SEGMENT]);
        let mut own = tcp::Socket::new(buffer(), buffer());
        own.set_nagle_enabled(false);
        let mut sockets = SocketSet::new(vec![]);
        let socket = sockets.add(own);
        End {
            interface,
            sockets,
            socket,
            capabilities,
        }
    }

    fn socket(&mut self) -> &mut tcp::Socket<'static> {
        self.sockets.get_mut::<tcp::Socket>(self.socket)
    }

    fn poll(&mut self, from: &mut Wire, to: &mut Wire) {
        let mut link = Link {
            from,
            to,
            capabilities: &self.capabilities,
        };
        self.interface.poll(NOW, &mut link, &mut self.sockets);
    }

    /// Takes a segment; with every second one reads, and answers. How much was read.
    #[inline(always)]
    fn step(&mut self, from: &mut Wire, to: &mut Wire, work: Work) -> usize {
        if work == Work::Copy {
            let (from, to) = (&from.frames[0].bytes, &mut to.frames[0].bytes);
            for _ in 0..COPIES {
                to[..SEGMENT].copy_from_slice(&black_box(from)[..SEGMENT]);
            }
            return 0;
        }
        let mut link = Link {
            from,
            to,
            capabilities: &self.capabilities,
        };
        let (interface, sockets) = (&mut self.interface, &mut self.sockets);
        interface.poll_ingress_single(NOW, &mut link, sockets);
        if work == Work::Silent {
            return 0;
        }
        let socket = sockets.get_mut::<tcp::Socket>(self.socket);
        let read = socket.recv(|bytes| (bytes.len(), bytes.len()));
        interface.poll_egress(NOW, &mut link, sockets);
        read.expect("they are connected")
    }
}

/// What is done in a step.
#[derive(Clone, Copy, PartialEq)]
enum Work {
    Silent,
    Answered,
    Copy,
}

#[unsafe(no_mangle)]
#[inline(never)]
fn bench_step(receiver: &mut End, from: &mut Wire, to: &mut Wire, work: Work) -> usize {
    receiver.step(from, to, work)
}

#[inline(never)]
fn other_step(receiver: &mut End, from: &mut Wire, to: &mut Wire, work: Work) -> usize {
    receiver.step(black_box(from), to, work)
}

/// Both ends, and the wires between them.
struct Pair {
    sender: End,
    receiver: End,
    there: Wire,
    back: Wire,
}

impl Pair {
    fn connected(sums: bool) -> Pair {
        let mut pair = Pair {
            sender: End::new(1, sums),
            receiver: End::new(2, sums),
            there: Wire::new(),
            back: Wire::new(),
        };
        pair.receiver.socket().listen(5001).expect("it is free");
        let sender = &mut pair.sender;
        let socket = sender.sockets.get_mut::<tcp::Socket>(sender.socket);
        let to = (IpAddress::v4(10, 0, 0, 2), 5001);
        let begun = socket.connect(sender.interface.context(), to, 40000);
        begun.expect("it is free");
        for _ in 0..4 {
            pair.sender.poll(&mut pair.back, &mut pair.there);
            pair.receiver.poll(&mut pair.there, &mut pair.back);
        }
        assert!(pair.sender.socket().may_send() && pair.receiver.socket().may_recv());
        pair
    }

    /// All of a text, and how many segments were counted.
    fn carry(&mut self, text: &[u8], silent: bool) -> usize {
        let (mut sent, mut arrived, mut read) = (0, 0, 0);
        let (mut segments, mut counted) = (0, 0);
        while arrived < text.len() {
            self.sender.poll(&mut self.back, &mut self.there);
            let socket = self.sender.socket();
            while sent < text.len() && socket.can_send() {
                sent += socket
                    .send_slice(&text[sent..])
                    .expect("they are connected");
            }
            self.sender.poll(&mut self.back, &mut self.there);
            assert!(self.there.left() > 0, "it goes on");
            while self.there.left() > 0 {
                let next = self.there.next();
                assert!(text[arrived..].starts_with(next), "it is what was sent");
                arrived += next.len();
                let second = segments % 2 == 1;
                let (work, step) = match (second, silent) {
                    (false, _) => (Work::Silent, bench_step as fn(_, _, _, _) -> _),
                    (true, false) => (Work::Answered, bench_step as fn(_, _, _, _) -> _),
                    (true, true) => (Work::Answered, other_step as fn(_, _, _, _) -> _),
                };
                let before = self.back.left();
                read += step(&mut self.receiver, &mut self.there, &mut self.back, work);
                let answers = self.back.left() - before;
                assert_eq!(answers, usize::from(second), "every second one is answered");
                assert!(!second || read == arrived, "all that arrived is read");
                segments += 1;
                counted += usize::from(!silent || work == Work::Silent);
            }
        }
        // Of an odd number the last one is read, and answered, beside what is counted.
        let work = Work::Answered;
        read += other_step(&mut self.receiver, &mut self.there, &mut self.back, work);
        assert_eq!(read, text.len(), "all arrived");
        counted
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let ["count" | "silent" | "copy"] = words[1..] else {
        eprintln!("usage: {} count|silent|copy", words[0]);
        return ExitCode::from(2);
    };
    let text = (0..TOTAL).map(|at| ((at as u32).wrapping_mul(2_654_435_761) >> 13) as u8);
    let text: Vec<u8> = text.collect();
    let mut pair = Pair::connected(option_env!("PEER_SUMS") == Some("on"));
    let segments = match words[1] {
        "copy" => {
            let mut copy = || {
                bench_step(
                    &mut pair.receiver,
                    &mut pair.there,
                    &mut pair.back,
                    Work::Copy,
                )
            };
            (0..10).map(|_| copy()).count() * COPIES
        }
        "silent" => pair.carry(&text, true),
        _ => pair.carry(&text, false),
    };
    println!("messages {segments}");
    ExitCode::SUCCESS
}
