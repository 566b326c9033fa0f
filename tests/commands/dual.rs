//! run, as a host of IPv4 and IPv6 beside the Linux kernel, in a network namespace of its own.

use super::devices::{SETTINGS, converse, is_alone, report, start};
use super::shell::Shell;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn6, recv, sendto,
    setsockopt, socket, sockopt,
};
use nix::sys::time::{TimeVal, TimeValLike};
use stackloom::tool::netlink;
use std::io::ErrorKind;
use std::net::{Ipv6Addr, SocketAddrV6, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

const KERNEL: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1);
const STACK: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2);
const LINK_LOCAL: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0x200, 0xff, 0xfe00, 2);

#[test]
fn a_host_of_two_networks_answers_the_kernel_on_both() {
    if !is_alone() {
        return;
    }
    let shell = Shell::new();
    let words = [
        "--json",
        "--link",
        "tap=tap:loom8",
        "--set",
        "address6=fd00::2",
        "--app",
        "datagrams(port=7)=echo",
        "--app",
        "datagrams6(port=7)=echo",
    ];
    let words = [SETTINGS, &words].concat();
    let Some(running) = start(&shell, "dual/dual.loom", &words, "loom8") else {
        return;
    };
    netlink::add_address("loom8", KERNEL, 64).expect("root sets addresses");
    let link = nix::net::if_::if_nametoindex("loom8").expect("it is there");
    let end = Instant::now() + Duration::from_secs(20);
    // It asks first whether somebody has its addresses.
    while !answers(STACK, 0, 8) {
        assert!(Instant::now() < end, "the host does not answer");
    }
    for length in [0, 1000, 1452, 1453, 4000, 8000] {
        assert!(answers(STACK, 0, length), "a ping of {length} bytes");
    }
    assert!(answers(LINK_LOCAL, link, 8), "a ping on the link");
    let lengths = [0, 1, 1000, 1452, 1453, 1460, 4000, 16_000];
    for length in lengths {
        assert!(echoes(length), "a datagram of {length} bytes");
    }
    let socket = UdpSocket::bind((KERNEL, 0)).expect("a socket");
    socket.connect((STACK, 9)).expect("it is connected");
    socket.send(&[1]).expect("it is sent");
    patient(&socket);
    let refused = socket.recv(&mut [0; 8]).expect_err("nobody listens");
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    converse(3, 5);
    let report = report(running);
    assert_eq!(report["delivered"], 5 + lengths.len(), "{report}");
}

fn patient(socket: &UdpSocket) {
    let patience = Some(Duration::from_secs(3));
    socket.set_read_timeout(patience).expect("a timeout");
}

/// Whether a datagram to port 7 comes back as it was.
fn echoes(length: usize) -> bool {
    let socket = UdpSocket::bind((KERNEL, 0)).expect("a socket");
    patient(&socket);
    let data = content(length);
    let sent = socket.send_to(&data, (STACK, 7)).expect("it is sent");
    let mut room = [0; 20_000];
    let came = socket.recv(&mut room).unwrap_or(usize::MAX);
    sent == length && came == length && room[..length] == data
}

/// Whether a ping comes back as it was, within a second or two.
fn answers(to: Ipv6Addr, link: u32, length: usize) -> bool {
    let socket = pinger();
    let data = [&[128, 0, 0, 0, 0, 7, 0, 1][..], &content(length)].concat();
    let to = SockaddrIn6::from(SocketAddrV6::new(to, 0, 0, link));
    sendto(socket.as_raw_fd(), &data, &to, MsgFlags::empty()).expect("it is sent");
    let end = Instant::now() + Duration::from_secs(2);
    let mut room = [0; 20_000];
    while Instant::now() < end {
        // Whatever is said on the link is heard here, and answers that come late.
        match recv(socket.as_raw_fd(), &mut room, MsgFlags::empty()) {
            Ok(came) if room[0] == 129 && room[4..came] == data[4..] => return true,
            Ok(_) | Err(_) => {}
        }
    }
    false
}

fn pinger() -> OwnedFd {
    let flags = SockFlag::SOCK_CLOEXEC;
    let protocol = SockProtocol::IcmpV6;
    let socket = socket(AddressFamily::Inet6, SockType::Raw, flags, protocol).expect("root may");
    let patience = TimeVal::milliseconds(200);
    setsockopt(&socket, sockopt::ReceiveTimeout, &patience).expect("a timeout");
    socket
}

fn content(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8).collect()
}
