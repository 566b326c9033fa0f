//! The kernel's sockets: they never wait, and what comes is looked at between turns of a stack.

use super::namespace::Namespace;
use super::station::{Station, until};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrStorage, recv, sendto,
    socket,
};
use stackloom::tool::peer::echo;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};

/// So many bytes, of which each says a little about where it stands.
pub fn content(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8).collect()
}

/// A UDP socket in a namespace.
pub struct Udp(UdpSocket);

impl Udp {
    /// At an address, from which it speaks and at which it hears.
    #[track_caller]
    pub fn bind(namespace: &Namespace, address: &str) -> Udp {
        let (address, name) = (address.to_string(), address.to_string());
        let socket = namespace.run(move || UdpSocket::bind(address));
        let socket = socket.unwrap_or_else(|error| panic!("{name}: {error}"));
        socket.set_nonblocking(true).expect("it need not wait");
        Udp(socket)
    }

    /// Hears of errors, too, of what it sends to this address.
    #[track_caller]
    pub fn connect(&self, peer: &str) {
        self.0.connect(peer).expect("it is connected");
    }

    #[track_caller]
    pub fn send(&self, to: &str, message: &[u8]) {
        let to: SocketAddr = to.parse().expect("an address");
        let sent = self.0.send_to(message, to);
        assert_eq!(sent.ok(), Some(message.len()), "to {to}");
    }

    /// On a connected socket: what the kernel says of it.
    pub fn try_send(&self, message: &[u8]) -> Result<usize, ErrorKind> {
        self.0.send(message).map_err(|error| error.kind())
    }

    /// What has come, and from whom.
    pub fn receive(&self) -> Option<(Vec<u8>, SocketAddr)> {
        let mut room = vec![0; 65_536];
        let (length, from) = self.0.recv_from(&mut room).ok()?;
        Some((room[..length].to_vec(), from))
    }

    /// The error that is waiting.
    pub fn error(&self) -> Option<ErrorKind> {
        self.0.take_error().ok()?.map(|error| error.kind())
    }

    /// Sends a message, and sees the same come back from there.
    #[track_caller]
    pub fn echoed(&self, stations: &mut [Station], to: &str, message: &[u8]) {
        self.send(to, message);
        let what = format!("the echo of {} bytes by {to}", message.len());
        let (came, from) = until(stations, &what, |_| self.receive());
        assert_eq!(
            from.ip(),
            to.parse::<SocketAddr>().expect("an address").ip()
        );
        assert!(came == message, "other {} bytes came back", came.len());
    }

    /// Sees a message come from a station.
    #[track_caller]
    pub fn hears(&self, stations: &mut [Station], message: &[u8]) {
        let what = format!("{} bytes to the kernel", message.len());
        let (came, _) = until(stations, &what, |_| self.receive());
        assert!(came == message, "other {} bytes came", came.len());
    }
}

/// A raw socket of ICMP, for either network.
pub struct Ping {
    socket: OwnedFd,
    is_new: bool,
}

impl Ping {
    pub fn new(namespace: &Namespace, to: IpAddr) -> Ping {
        let (family, protocol) = match to {
            IpAddr::V4(_) => (AddressFamily::Inet, SockProtocol::Icmp),
            IpAddr::V6(_) => (AddressFamily::Inet6, SockProtocol::IcmpV6),
        };
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let socket = namespace.run(move || socket(family, SockType::Raw, flags, protocol));
        Ping {
            socket: socket.expect("root opens raw sockets"),
            is_new: to.is_ipv6(),
        }
    }

    /// Sends an echo request of so many bytes.
    pub fn send(&self, to: SocketAddr, length: usize) {
        // The kernel sums those of IPv6.
        let kind = if self.is_new { 128 } else { 8 };
        let request = echo(kind, 1, &content(length));
        let to = SockaddrStorage::from(to);
        // Where nobody was found before, the kernel says so; the next one asks again.
        let _ = sendto(self.socket.as_raw_fd(), &request, &to, MsgFlags::empty());
    }

    /// A message of ICMP that has come, from its kind on.
    pub fn receive(&self) -> Option<Vec<u8>> {
        let mut room = vec![0; 65_536];
        let length = recv(self.socket.as_raw_fd(), &mut room, MsgFlags::empty()).ok()?;
        room.truncate(length);
        let header = if self.is_new {
            0
        } else {
            usize::from(room[0] & 15) * 4
        };
        Some(room.split_off(header))
    }

    /// Whether what has come answers a request of so many bytes.
    pub fn is_answered(&self, length: usize) -> Option<()> {
        let reply = self.receive()?;
        let kind = if self.is_new { 129 } else { 0 };
        (reply[0] == kind && reply[8..] == content(length)).then_some(())
    }
}

/// The kernel pings an address, until it answers with so many bytes.
#[track_caller]
pub fn pinged(namespace: &Namespace, stations: &mut [Station], to: &str, length: usize) {
    let to = SocketAddr::new(to.parse().expect("an address"), 0);
    let ping = Ping::new(namespace, to.ip());
    let mut turns = 0_u32;
    let what = format!("an answer of {length} bytes from {to}");
    until(stations, &what, |_| {
        if turns.is_multiple_of(500) {
            ping.send(to, length);
        }
        turns += 1;
        ping.is_answered(length)
    });
}
