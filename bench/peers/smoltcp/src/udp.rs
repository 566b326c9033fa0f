//! Two ends that are smoltcp and send datagrams of 4 bytes, as in `../../../udp.c`.
//!
//! In: `count`; whether sums are written and checked was said by PEER_SUMS, `on` or `off`, when
//! this was compiled. Out: how many datagrams went, each by one call of `bench_step`. Frames are
//! handed over in place: the wire is a cell that both ends borrow in turn.

mod end;

use end::{Arrived, NOW, ROOM, capabilities, interface};
use smoltcp::iface::{Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, TxToken};
use smoltcp::socket::udp;
use smoltcp::time::Instant;
use smoltcp::wire::{IpAddress, IpEndpoint};
use std::process::ExitCode;

const MESSAGES: u32 = 1000;

/// The one frame between the ends; none where its length is 0.
struct Wire {
    length: usize,
    bytes: [u8; ROOM],
}

/// What an end has of the wire while it works: all of it.
struct Link<'a> {
    wire: &'a mut Wire,
    capabilities: &'a DeviceCapabilities,
}

struct Leaving<'a>(&'a mut Wire);
struct Nothing;

impl TxToken for Leaving<'_> {
    #[inline(always)]
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, write: F) -> R {
        self.0.length = length;
        write(&mut self.0.bytes[..length])
    }
}

/// The end that sends.
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
        None
    }

    #[inline(always)]
    fn transmit(&mut self, _: Instant) -> Option<Leaving<'_>> {
        Some(Leaving(self.wire))
    }

    #[inline(always)]
    fn capabilities(&self) -> DeviceCapabilities {
        self.capabilities.clone()
    }
}

/// The end that receives, and answers nothing.
struct Listening<'a>(Link<'a>);

impl TxToken for Nothing {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, write: F) -> R {
        write(&mut vec![0; length])
    }
}

impl Device for Listening<'_> {
    type RxToken<'a>
        = Arrived<'a>
    where
        Self: 'a;
    type TxToken<'a>
        = Nothing
    where
        Self: 'a;

    #[inline(always)]
    fn receive(&mut self, _: Instant) -> Option<(Arrived<'_>, Nothing)> {
        let length = std::mem::take(&mut self.0.wire.length);
        (length != 0).then(|| (Arrived(&self.0.wire.bytes[..length]), Nothing))
    }

    #[inline(always)]
    fn transmit(&mut self, _: Instant) -> Option<Nothing> {
        None
    }

    #[inline(always)]
    fn capabilities(&self) -> DeviceCapabilities {
        self.0.capabilities.clone()
    }
}

struct End {
    interface: Interface,
    sockets: SocketSet<'static>,
    socket: SocketHandle,
    capabilities: DeviceCapabilities,
}

impl End {
    fn new(address: u8, port: u16, wire: &mut Wire, sums: bool) -> End {
        let capabilities = capabilities(sums);
        let mut link = Link {
            wire,
            capabilities: &capabilities,
        };
        let interface = interface(address, &mut link);
        let buffer = || udp::PacketBuffer::new(vec![udp::PacketMetadata::EMPTY; 16], vec![0; 4096]);
        let mut own = udp::Socket::new(buffer(), buffer());
        own.bind(port).expect("the port is free");
        let mut sockets = SocketSet::new(vec![]);
        let socket = sockets.add(own);
        End {
            interface,
            sockets,
            socket,
            capabilities,
        }
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
fn bench_step(sender: &mut End, receiver: &mut End, wire: &mut Wire, number: u32) -> u32 {
    let to = IpEndpoint::new(IpAddress::v4(10, 0, 0, 2), 7);
    let socket = sender.sockets.get_mut::<udp::Socket>(sender.socket);
    socket
        .send_slice(&number.to_le_bytes(), to)
        .expect("the buffer takes it");
    let mut link = Link {
        wire,
        capabilities: &sender.capabilities,
    };
    sender
        .interface
        .poll_egress(NOW, &mut link, &mut sender.sockets);
    let mut link = Listening(Link {
        wire,
        capabilities: &receiver.capabilities,
    });
    receiver
        .interface
        .poll_ingress_single(NOW, &mut link, &mut receiver.sockets);
    let socket = receiver.sockets.get_mut::<udp::Socket>(receiver.socket);
    let (bytes, _) = socket.recv().expect("it has arrived");
    u32::from_le_bytes(bytes[..4].try_into().expect("4 bytes were sent"))
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let sums = match words[1..] {
        ["count"] => option_env!("PEER_SUMS") == Some("on"),
        _ => {
            eprintln!("usage: {} count", words[0]);
            return ExitCode::from(2);
        }
    };
    let mut wire = Wire {
        length: 0,
        bytes: [0; ROOM],
    };
    let mut sender = End::new(1, 40000, &mut wire, sums);
    let mut receiver = End::new(2, 7, &mut wire, sums);
    let all = 1..=MESSAGES;
    let sum: u32 = all
        .map(|number| bench_step(&mut sender, &mut receiver, &mut wire, number))
        .sum();
    assert_eq!(sum, MESSAGES * (MESSAGES + 1) / 2, "all arrive");
    println!("messages {MESSAGES}");
    ExitCode::SUCCESS
}
