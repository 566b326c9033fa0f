//! Link devices: what carries a stack's frames.
//!
//! In: what `--link` says, `tap:tap0`, `tun:tun0,virtio`, `packet:eth0`, `udp:HERE,THERE` or
//! `pcap:IN,OUT`. Out: a `Device`. None of them ever blocks the host: a device is asked when its
//! descriptor is ready, a capture when the time of its next frame has come. Every `now_ns` counts
//! from 1970.

use super::capture::{Direction, Frame, LinkType, Reader, Writer};
use super::failure::{Failure, plain};
use super::recorded;
use super::tunnel::{Offload, Tunnel};
use super::virtio::Virtio;
use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use nix::sys::socket::{
    AddressFamily, LinkAddr, MsgFlags, SockFlag, SockProtocol, SockType, bind, recvmsg, send,
    setsockopt, socket,
};
use nix::{setsockopt_impl, sockopt_impl};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;
use tun_rs::Layer;

/// What carries the frames of one link.
pub trait Device {
    /// Receives a frame into `room`, cut to it, and answers its length before the cut; none if
    /// there is none now.
    fn receive(&mut self, room: &mut [u8], now_ns: u64) -> io::Result<Option<usize>>;

    /// Sends a frame; false if the device could not take it, and it is lost.
    fn send(&mut self, frame: &[u8], now_ns: u64) -> io::Result<bool>;

    /// What to poll for frames; a capture has none.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;

    /// When the next frame of a capture is due; none at its end, and for what has a descriptor.
    fn due_ns(&self) -> Option<u64> {
        None
    }

    /// What its frames begin with in a capture.
    fn link_type(&self) -> LinkType {
        LinkType::Ethernet
    }

    /// A frame as a capture shows it, if that is more than the stack saw of it.
    fn shown(&self, _frame: &[u8], _direction: Direction) -> Option<Vec<u8>> {
        None
    }

    /// Writes out what is still in memory.
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A device as the command line names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A TAP interface: Ethernet frames to and from the kernel.
    Tap(String, Offload),
    /// A TUN interface: IP packets to and from the kernel.
    Tun(String, Offload),
    /// A packet socket on an interface.
    Packet(String),
    /// A UDP socket here, and who is at the other end; if nobody is named, whoever sent last.
    Udp(SocketAddr, Option<SocketAddr>),
    /// A capture to read, and one to write what the stack sends.
    Capture(PathBuf, Option<PathBuf>),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Address, String> {
        let wrong = format!(
            "`{text}` is not a device: write tap:NAME, tun:NAME, packet:INTERFACE, \
            udp:LOCAL,REMOTE or pcap:IN,OUT"
        );
        let (kind, rest) = text
            .split_once(':')
            .filter(|(_, rest)| !rest.is_empty())
            .ok_or(&wrong)?;
        match kind {
            "tap" => tunnel(rest).map(|(name, offload)| Address::Tap(name, offload)),
            "tun" => tunnel(rest).map(|(name, offload)| Address::Tun(name, offload)),
            "packet" => Ok(Address::Packet(rest.to_string())),
            "udp" => {
                let (here, there) = match rest.split_once(',') {
                    Some((here, there)) => (here, Some(there)),
                    None => (rest, None),
                };
                let address = |text: &str| {
                    let wrong =
                        format!("`{text}` is not a UDP address: write it as in 127.0.0.1:7000");
                    text.trim().parse::<SocketAddr>().map_err(|_| wrong)
                };
                let there = there.map(address).transpose()?;
                Ok(Address::Udp(address(here)?, there))
            }
            "pcap" => {
                let (read, write) = rest.split_once(',').unwrap_or((rest, ""));
                let write = (!write.is_empty()).then(|| PathBuf::from(write));
                Ok(Address::Capture(PathBuf::from(read), write))
            }
            _ => Err(wrong),
        }
    }
}

/// The name of an interface, and `,virtio` or nothing.
fn tunnel(text: &str) -> Result<(String, Offload), String> {
    match text.split_once(',') {
        None => Ok((interface(text)?, Offload::None)),
        Some((name, "virtio")) => Ok((interface(name)?, Offload::Virtio)),
        Some((name, option)) => Err(format!(
            "{name} has no option `{option}`; the only option is `virtio`"
        )),
    }
}

/// A name that Linux takes for an interface.
fn interface(name: &str) -> Result<String, String> {
    let forbidden = |letter: char| letter == '/' || letter.is_whitespace() || letter == '%';
    match name.len() < 16 && !name.contains(forbidden) {
        true => Ok(name.to_string()),
        false => Err(format!(
            "`{name}` is not the name of an interface: a name has at most 15 letters"
        )),
    }
}

impl Address {
    /// Opens the device.
    pub fn open(&self) -> Result<Box<dyn Device>, Failure> {
        let named = |kind: &str, name: &str, error: io::Error| {
            let reason = match error.kind() {
                io::ErrorKind::PermissionDenied => {
                    "permission denied: the device needs root or CAP_NET_ADMIN".to_string()
                }
                io::ErrorKind::InvalidInput if kind != "udp" => {
                    format!("an interface of this name exists and is not a {kind} device")
                }
                _ => plain(&error),
            };
            Failure::environment(format!("{kind}:{name}: {reason}"))
        };
        Ok(match self {
            Address::Tap(name, offload) => Box::new(
                Tunnel::open(name, Layer::L2, *offload)
                    .map_err(|error| named("tap", name, error))?,
            ),
            Address::Tun(name, offload) => Box::new(
                Tunnel::open(name, Layer::L3, *offload)
                    .map_err(|error| named("tun", name, error))?,
            ),
            Address::Packet(name) => {
                Box::new(Packet::open(name).map_err(|error| named("packet", name, error))?)
            }
            Address::Udp(here, there) => Box::new(
                Udp::open(*here, *there).map_err(|error| named("udp", &here.to_string(), error))?,
            ),
            Address::Capture(read, write) => Box::new(Capture::open(read, write.as_deref())?),
        })
    }
}

/// More than a socket can hold.
const MOST_STRAY_FRAMES: usize = 10_000;

sockopt_impl!(
    /// A virtio header before each frame of a packet socket.
    VirtioHeaders,
    SetOnly,
    libc::SOL_PACKET,
    libc::PACKET_VNET_HDR,
    bool
);

/// How long the link header of Ethernet is, in bytes.
const ETHERNET: usize = 14;

/// A packet socket: the frames of an interface, beside the kernel's own stack. What the kernel at
/// the other end of a veth leaves to a network card is done here.
pub struct Packet {
    socket: OwnedFd,
    interface: String,
    /// None where a kernel does not say what it left.
    virtio: Option<Virtio>,
}

impl Packet {
    /// Attaches to an interface that is there.
    pub fn open(interface: &str) -> io::Result<Packet> {
        let address = link_address(interface)?;
        let socket = socket(
            AddressFamily::Packet,
            SockType::Raw,
            SockFlag::SOCK_CLOEXEC,
            SockProtocol::EthAll,
        )?;
        bind(socket.as_raw_fd(), &address)?;
        let says = setsockopt(&socket, VirtioHeaders, &true).is_ok();
        let mut packet = Packet {
            socket,
            interface: interface.to_string(),
            virtio: says.then(|| Virtio::new(ETHERNET)),
        };
        // Away with what came from other interfaces before the socket was bound to this one.
        for _ in 0..MOST_STRAY_FRAMES {
            if packet.receive(&mut [], 0)?.is_none() {
                break;
            }
        }
        Ok(packet)
    }
}

/// The address to which a packet socket is bound: the interface's, as the system lists it.
fn link_address(interface: &str) -> io::Result<LinkAddr> {
    nix::ifaddrs::getifaddrs()?
        .filter(|entry| entry.interface_name == interface)
        .find_map(|entry| entry.address?.as_link_addr().copied())
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "there is no such interface"))
}

/// Receives what came in: frames that go out are seen by a packet socket, too.
fn incoming(socket: &OwnedFd, room: &mut [u8]) -> io::Result<usize> {
    /// The kernel's mark of a frame that goes out of the interface.
    const OUTGOING: u8 = 4;
    let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_TRUNC;
    loop {
        let mut room = [io::IoSliceMut::new(room)];
        let message = recvmsg::<LinkAddr>(socket.as_raw_fd(), &mut room, None, flags)?;
        if message
            .address
            .is_none_or(|from| from.pkttype() != OUTGOING)
        {
            return Ok(message.bytes);
        }
    }
}

impl Device for Packet {
    fn receive(&mut self, room: &mut [u8], _now_ns: u64) -> io::Result<Option<usize>> {
        let received = match &mut self.virtio {
            Some(virtio) => virtio.receive(room, |received| incoming(&self.socket, received)),
            None => incoming(&self.socket, room).map(Some),
        };
        let is_down = |error: &io::Error| error.raw_os_error() == Some(Errno::ENETDOWN as i32);
        match received {
            Err(error) if is_down(&error) && if_nametoindex(&*self.interface).is_err() => {
                let message = "the interface was removed";
                Err(io::Error::new(io::ErrorKind::NotFound, message))
            }
            Err(error) if passing(&error) => Ok(None),
            received => received,
        }
    }

    fn send(&mut self, frame: &[u8], _now_ns: u64) -> io::Result<bool> {
        // May wait for room in the interface's queue, which empties by itself.
        let sent = |bytes: &[u8]| {
            let sent = send(self.socket.as_raw_fd(), bytes, MsgFlags::empty());
            sent.map_err(io::Error::from)
        };
        taken(match self.virtio {
            Some(_) => Virtio::send(frame, sent),
            None => sent(frame),
        })
    }

    /// At once, if there is one of which the descriptor does not know.
    fn due_ns(&self) -> Option<u64> {
        let mut virtio = self.virtio.iter();
        virtio.any(Virtio::is_ready).then_some(0)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.socket.as_fd())
    }
}

/// A UDP socket: each datagram is a frame, so that two stacks can talk without root.
pub struct Udp {
    socket: UdpSocket,
    there: Option<SocketAddr>,
    /// Whether nobody was named, and answers go to whoever sent last.
    follows: bool,
}

impl Udp {
    /// Binds a socket.
    pub fn open(here: SocketAddr, there: Option<SocketAddr>) -> io::Result<Udp> {
        let socket = UdpSocket::bind(here)?;
        socket.set_nonblocking(true)?;
        let follows = there.is_none();
        Ok(Udp {
            socket,
            there,
            follows,
        })
    }
}

impl Device for Udp {
    fn receive(&mut self, room: &mut [u8], _now_ns: u64) -> io::Result<Option<usize>> {
        match self.socket.recv_from(room) {
            Ok((length, from)) => {
                if self.follows {
                    self.there = Some(from);
                }
                Ok(Some(length))
            }
            Err(error) if passing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn send(&mut self, frame: &[u8], _now_ns: u64) -> io::Result<bool> {
        match self.there {
            Some(there) => taken(self.socket.send_to(frame, there)),
            None => Ok(false),
        }
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.socket.as_fd())
    }

    fn link_type(&self) -> LinkType {
        LinkType::Ip
    }

    /// The datagram that carries the frame.
    fn shown(&self, frame: &[u8], direction: Direction) -> Option<Vec<u8>> {
        let (here, there) = (self.socket.local_addr().ok()?, self.there?);
        Some(match direction {
            Direction::In => recorded::datagram(there, here, frame),
            Direction::Out => recorded::datagram(here, there, frame),
        })
    }
}

/// Whether an error of `receive` only says that there is nothing now.
pub(super) fn passing(error: &io::Error) -> bool {
    // An interface that is down gives nothing, and may come up again; nobody may be listening at
    // the other end of a UDP socket yet.
    let number = error.raw_os_error();
    let quiet = [Errno::ENETDOWN, Errno::ECONNREFUSED].map(|errno| Some(errno as i32));
    quiet.contains(&number)
        || matches!(
            error.kind(),
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
        )
}

/// What became of a frame: sent, lost as links lose frames, or the device is broken.
pub(super) fn taken(sent: io::Result<usize>) -> io::Result<bool> {
    const LOSSES: [Errno; 9] = [
        Errno::ECONNREFUSED,
        Errno::ENETUNREACH,
        Errno::EHOSTUNREACH,
        Errno::EAGAIN,
        Errno::ENOBUFS,
        Errno::ENETDOWN,
        Errno::EIO, // a TAP that is down
        Errno::EMSGSIZE,
        Errno::EINVAL, // a TUN that is given what is no IP, a packet socket that is given nothing
    ];
    match sent {
        Ok(_) => Ok(true),
        Err(error) => match error.raw_os_error().map(Errno::from_raw) {
            Some(errno) if LOSSES.contains(&errno) => Ok(false),
            Some(_) | None => Err(error),
        },
    }
}

/// A capture file that is fed to the stack at its own times, and one for what the stack sends.
pub struct Capture {
    reader: Reader,
    writer: Option<Writer>,
    next: Option<(u64, Frame)>,
}

impl Capture {
    /// Opens the capture to read and creates the one to write.
    pub fn open(read: &Path, write: Option<&Path>) -> io::Result<Capture> {
        let mut reader = Reader::open(read)?;
        if write.is_some_and(|write| is_same(read, write)) {
            let read = read.display();
            let message = format!("{read}: a capture cannot be both input and output");
            return Err(io::Error::other(message));
        }
        let next = reader
            .next_frame()?
            .map(|frame| (nanoseconds(frame.time), frame));
        let link_type = reader.link_type();
        let writer = write
            .map(|path| Writer::create(path, "out", link_type))
            .transpose()?;
        Ok(Capture {
            reader,
            writer,
            next,
        })
    }
}

/// Whether two paths lead to one file that is there.
fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other && one.is_file(),
        (Ok(_) | Err(_), _) => false,
    }
}

/// Nanoseconds since 1970; what is later than 2262 stays there, so that timers have a future.
fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos())
        .unwrap_or(u64::MAX)
        .min(1 << 63)
}

impl Device for Capture {
    fn receive(&mut self, room: &mut [u8], now_ns: u64) -> io::Result<Option<usize>> {
        let Some((due_ns, frame)) = self.next.take_if(|(due_ns, _)| *due_ns <= now_ns) else {
            return Ok(None);
        };
        let length = frame.bytes.len().min(room.len());
        room[..length].copy_from_slice(&frame.bytes[..length]);
        // Frames are fed in the order of the file, so one that claims to be earlier comes now.
        self.next = self
            .reader
            .next_frame()?
            .map(|following| (nanoseconds(following.time).max(due_ns), following));
        Ok(Some(frame.bytes.len()))
    }

    fn send(&mut self, frame: &[u8], now_ns: u64) -> io::Result<bool> {
        if let Some(writer) = &mut self.writer {
            writer.write(Duration::from_nanos(now_ns), frame, Direction::Out)?;
        }
        Ok(true)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn due_ns(&self) -> Option<u64> {
        self.next.as_ref().map(|(due_ns, _)| *due_ns)
    }

    fn link_type(&self) -> LinkType {
        self.reader.link_type()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.writer.as_mut().map_or(Ok(()), Writer::finish)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_written_as_kind_and_name() {
        let plain = Address::Tap("tap0".to_string(), Offload::None);
        assert_eq!("tap:tap0".parse(), Ok(plain));
        let virtio = Address::Tun("tun0".to_string(), Offload::Virtio);
        assert_eq!("tun:tun0,virtio".parse(), Ok(virtio));
        let wrong = "tun:tun0,vertigo".parse::<Address>().unwrap_err();
        assert!(wrong.contains("the only option is `virtio`"), "{wrong}");
        assert_eq!(
            "packet:eth0".parse(),
            Ok(Address::Packet("eth0".to_string()))
        );
        let both = Address::Capture(PathBuf::from("a.pcap"), Some(PathBuf::from("b.pcapng")));
        assert_eq!("pcap:a.pcap,b.pcapng".parse(), Ok(both));
        assert_eq!(
            "pcap:a".parse(),
            Ok(Address::Capture(PathBuf::from("a"), None))
        );
        let here = "127.0.0.1:7000".parse().unwrap();
        assert_eq!("udp:127.0.0.1:7000".parse(), Ok(Address::Udp(here, None)));
        let pair = "udp:127.0.0.1:7000, [::1]:9".parse();
        assert_eq!(pair, Ok(Address::Udp(here, "[::1]:9".parse().ok())));
        assert!(
            "udp:7000"
                .parse::<Address>()
                .unwrap_err()
                .contains("127.0.0.1:7000")
        );
        assert!("tap:far_too_long_for_it".parse::<Address>().is_err());
        for text in ["tap", "tap:", "tape:tap0", ""] {
            let error = text.parse::<Address>().unwrap_err();
            assert!(error.contains("write tap:NAME"), "{error}");
        }
    }

    #[test]
    fn a_capture_is_fed_when_its_frames_are_due() {
        let directory = tempfile::tempdir().unwrap();
        let (read, write) = (directory.path().join("in"), directory.path().join("out"));
        let mut writer = Writer::create(&read, "tap", LinkType::Ip).unwrap();
        // The second frame claims to be earlier than the first.
        for (time_ns, byte) in [(5_000, 1), (4_000, 2), (9_000, 3)] {
            let time = Duration::from_nanos(time_ns);
            writer.write(time, &[byte; 10], Direction::In).unwrap();
        }
        writer.finish().unwrap();
        let mut capture = Capture::open(&read, Some(&write)).unwrap();
        let mut room = [0; 4];
        assert_eq!(capture.receive(&mut room, 4_999).unwrap(), None);
        assert_eq!(capture.due_ns(), Some(5_000));
        assert_eq!(capture.receive(&mut room, 5_000).unwrap(), Some(10));
        assert_eq!((room, capture.due_ns()), ([1; 4], Some(5_000)));
        assert_eq!(capture.receive(&mut room, 5_000).unwrap(), Some(10));
        assert_eq!((room, capture.due_ns()), ([2; 4], Some(9_000)));
        assert!(capture.send(b"answer", 7_000).unwrap());
        capture.finish().unwrap();
        let mut sent = Reader::open(&write).unwrap();
        let frame = sent.next_frame().unwrap().unwrap();
        assert_eq!(
            (frame.time, frame.bytes),
            (Duration::from_nanos(7_000), b"answer".to_vec())
        );
        assert_eq!(sent.link_type(), LinkType::Ip);
    }
}
