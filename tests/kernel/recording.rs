//! The recording of what the kernel and a host say to each other, made anew.
//!
//! In: nothing. Out: `tests/streams/recorded.pcapng`, in which frames were lost, came late or
//! twice, windows closed, and conversations ended well and badly. `tcp` and `c_agrees` read it.

use super::lane::Lane;
use super::namespace::Namespace;
use crate::content::content;
use crate::recorded::{ADDRESSES, Host, Role, SPOKEN, STACK, THEIRS, path};
use crate::stacks;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockType, SockaddrIn, connect, send, setsockopt, socket,
    sockopt,
};
use stackloom::simulate::network::link::Faults;
use stackloom::tool::capture::{Direction, LinkType, Writer};
use stackloom::tool::device::Device;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

/// When both have said nothing for so long, nothing more is kept.
const QUIET: Duration = Duration::from_millis(2500);

#[test]
#[ignore = "it writes a file of the repository"]
fn make_a_recording() {
    let program = stacks::example(STACK);
    let namespace = Namespace::new().expect("a namespace");
    namespace.set("ipv4/tcp_congestion_control", "reno");
    namespace.set("ipv6/conf/default/disable_ipv6", "1");
    let device = namespace.tunnel("loom0", 576).expect("a tunnel");
    namespace.add_addresses("loom0", &["10.0.0.1/24"]);
    let mut cable = Cable::new(device);
    let mut host = Host::start(&program);
    let mut kernel = conversations(&namespace);
    while !kernel.is_empty() || cable.heard.elapsed() < QUIET {
        cable.pass(&mut host);
        for done in kernel.extract_if(.., |one| one.is_finished()) {
            done.join().expect("each conversation goes as it should");
        }
        sleep(Duration::from_micros(300));
    }
    cable.writer.finish().expect("it is written");
}

/// What is between the host and the kernel, and keeps what the host sees.
struct Cable {
    device: Box<dyn Device + Send>,
    /// From the host, and to it.
    ways: [Lane; 2],
    writer: Writer,
    begin: Instant,
    /// When the host last said something.
    heard: Instant,
}

impl Cable {
    fn new(device: Box<dyn Device + Send>) -> Cable {
        let faults = Faults {
            loss: 0.05,
            duplicate: 0.03,
            reorder: 0.05,
            delay_ns: 3_000_000,
            ..Faults::default()
        };
        let writer = Writer::create(&path(), "loom0", LinkType::Ip);
        Cable {
            device,
            ways: [0, 1].map(|seed| Lane::new(&faults, seed)),
            writer: writer.expect("it is written"),
            begin: Instant::now(),
            heard: Instant::now(),
        }
    }

    fn now_ns(&self) -> u64 {
        self.begin.elapsed().as_nanos() as u64
    }

    /// The host does what is due, and hears what has come; its answers are on their way.
    fn pass(&mut self, host: &mut Host<'_>) {
        loop {
            let now_ns = self.now_ns();
            let mut room = [0; 2048];
            while let Some(length) = self.device.receive(&mut room, now_ns).expect("it is there") {
                self.ways[1].send(&room[..length], now_ns);
            }
            host.until(now_ns);
            self.take(host, now_ns);
            let Some(flight) = self.ways[1].next(now_ns) else {
                break;
            };
            self.keep(Duration::from_nanos(now_ns), &flight.bytes, Direction::In);
            host.frame(&flight.bytes);
            self.take(host, now_ns);
        }
    }

    /// Takes what the host says.
    fn take(&mut self, host: &mut Host<'_>, now_ns: u64) {
        for frame in host.sent.drain(..) {
            self.keep(frame.time, &frame.bytes, Direction::Out);
            self.ways[0].send(&frame.bytes, now_ns);
            self.heard = Instant::now();
        }
        while let Some(flight) = self.ways[0].next(now_ns) {
            let sent = self.device.send(&flight.bytes, now_ns);
            sent.expect("it is there");
        }
    }

    fn keep(&mut self, time: Duration, bytes: &[u8], direction: Direction) {
        let written = self.writer.write(time, bytes, direction);
        written.expect("it is written");
    }
}

/// What the kernel's sockets do, each by itself.
fn conversations(namespace: &Namespace) -> Vec<JoinHandle<()>> {
    namespace.run(|| {
        let listener = TcpListener::bind(("10.0.0.1", THEIRS[0])).expect("it is free");
        vec![
            spawn(whole),
            spawn(full),
            spawn(narrow),
            spawn(given_up),
            spawn(giving_up),
            spawn(refused),
            spawn(move || answered(&listener)),
        ]
    })
}

fn called(port: u16) -> TcpStream {
    TcpStream::connect((Ipv4Addr::from(ADDRESSES[0]), port)).expect("the host answers")
}

/// It says something, and reads the same.
fn whole() {
    let mut stream = called(Role::Echo as u16);
    stream
        .write_all(content(0, SPOKEN / 2))
        .expect("it is sent");
    stream.shutdown(Shutdown::Write).expect("it is open");
    let mut read = Vec::new();
    stream.read_to_end(&mut read).expect("it ends well");
    assert!(read == content(0, SPOKEN / 2));
}

/// The host has no room for what it says, of which a byte is urgent.
fn full() {
    let mut stream = called(Role::Slow as u16);
    stream
        .write_all(content(0, 2 * SPOKEN))
        .expect("it is sent");
    send(stream.as_raw_fd(), &[1], MsgFlags::MSG_OOB).expect("it is sent");
    stream.shutdown(Shutdown::Write).expect("it is open");
    let mut read = Vec::new();
    stream.read_to_end(&mut read).expect("it ends well");
    assert!(read.is_empty());
}

/// It has little room itself, and does not read for a while.
fn narrow() {
    let flags = SockFlag::SOCK_CLOEXEC;
    let socket = socket(AddressFamily::Inet, SockType::Stream, flags, None).expect("a socket");
    setsockopt(&socket, sockopt::RcvBuf, &2304).expect("it can be small");
    let [a, b, c, d] = ADDRESSES[0];
    let to = SockaddrIn::new(a, b, c, d, Role::Source as u16);
    connect(socket.as_raw_fd(), &to).expect("the host answers");
    let mut stream = TcpStream::from(socket);
    sleep(Duration::from_secs(4));
    let mut read = Vec::new();
    stream.read_to_end(&mut read).expect("it ends well");
    assert!(read == content(0, SPOKEN));
}

/// The host gives up.
fn given_up() {
    let mut stream = called(Role::Abort as u16);
    stream.write_all(content(0, 10)).expect("it is sent");
    let read = stream.read(&mut [0; 10]).map_err(|error| error.kind());
    assert_eq!(read, Err(ErrorKind::ConnectionReset));
}

/// The kernel gives up.
fn giving_up() {
    let mut stream = called(Role::Echo as u16);
    stream.write_all(content(0, 100)).expect("it is sent");
    stream.read_exact(&mut [0; 100]).expect("it comes back");
    let linger = nix::libc::linger {
        l_onoff: 1,
        l_linger: 0,
    };
    setsockopt(&stream, sockopt::Linger, &linger).expect("it need not linger");
}

/// Nobody listens.
fn refused() {
    let failed = TcpStream::connect((Ipv4Addr::from(ADDRESSES[0]), 1));
    assert_eq!(
        failed.err().map(|error| error.kind()),
        Some(ErrorKind::ConnectionRefused)
    );
}

/// The host calls, and is first to say that it is done.
fn answered(listener: &TcpListener) {
    let (mut stream, _) = listener.accept().expect("the host calls");
    let mut read = Vec::new();
    stream.read_to_end(&mut read).expect("it ends well");
    assert!(read == content(0, SPOKEN));
    stream
        .write_all(content(0, SPOKEN / 4))
        .expect("it is sent");
}
