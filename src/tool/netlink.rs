//! Netlink: how interfaces are made, brought up, given addresses and told their features.
//!
//! In: names and addresses. Out: the kernel has done it, or said why not. Only what the demo's
//! network namespace needs; each request is built here byte by byte, because it is shorter than
//! any description of it.
//!
//! ```text
//! length u32 | kind u16 | flags u16 | number u32 | port u32 | fixed part | attributes
//! attribute: length u16 | kind u16 | value, padded to 4 bytes
//! ```

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendto, socket,
};
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsRawFd, OwnedFd};

/// Makes a pair of Ethernet interfaces that are joined to each other.
pub fn make_veth(name: &str, peer: &str) -> io::Result<()> {
    const VETH_INFO_PEER: u16 = 1;
    let mut request = Request::new(libc::RTM_NEWLINK, CREATE, &[0; 16]);
    request.text(libc::IFLA_IFNAME, name);
    request.nested(libc::IFLA_LINKINFO, |request| {
        request.text(libc::IFLA_INFO_KIND, "veth");
        request.nested(libc::IFLA_INFO_DATA, |request| {
            request.nested(VETH_INFO_PEER, |request| {
                request.bytes.extend([0; 16]);
                request.text(libc::IFLA_IFNAME, peer);
            });
        });
    });
    request.call(SockProtocol::NetlinkRoute).map(drop)
}

/// Moves an interface to another network namespace.
pub fn move_to(name: &str, namespace: &OwnedFd) -> io::Result<()> {
    let fixed = [&[0; 4][..], &index(name)?.to_ne_bytes(), &[0; 8]].concat();
    let mut request = Request::new(libc::RTM_NEWLINK, 0, &fixed);
    let namespace = namespace.as_raw_fd().to_ne_bytes();
    request.attribute(libc::IFLA_NET_NS_FD, &namespace);
    request.call(SockProtocol::NetlinkRoute).map(drop)
}

/// Brings an interface up.
pub fn bring_up(name: &str) -> io::Result<()> {
    let up = libc::IFF_UP.to_ne_bytes();
    let fixed = [&[0; 4][..], &index(name)?.to_ne_bytes(), &up, &up].concat();
    Request::new(libc::RTM_NEWLINK, 0, &fixed)
        .call(SockProtocol::NetlinkRoute)
        .map(drop)
}

/// Gives an interface an address in a network of `prefix` bits; one of IPv6 is used at once,
/// without asking who else has it.
pub fn add_address(name: &str, address: impl Into<IpAddr>, prefix: u8) -> io::Result<()> {
    const AT_ONCE: u8 = 2;
    let (family, flags, octets) = match address.into() {
        IpAddr::V4(address) => (libc::AF_INET, 0, address.octets().to_vec()),
        IpAddr::V6(address) => (libc::AF_INET6, AT_ONCE, address.octets().to_vec()),
    };
    let family = u8::try_from(family).expect("the number of a family is small");
    let fixed = [&[family, prefix, flags, 0][..], &index(name)?.to_ne_bytes()].concat();
    let mut request = Request::new(libc::RTM_NEWADDR, CREATE, &fixed);
    request.attribute(libc::IFA_LOCAL, &octets);
    request.attribute(libc::IFA_ADDRESS, &octets);
    request.call(SockProtocol::NetlinkRoute).map(drop)
}

/// Tells the kernel the link address of a neighbour, so that it asks nobody.
pub fn add_neighbour(name: &str, address: Ipv4Addr, link_address: [u8; 6]) -> io::Result<()> {
    let inet = u8::try_from(libc::AF_INET).expect("the number of a family is small");
    let permanent = libc::NUD_PERMANENT.to_ne_bytes();
    let family = [inet, 0, 0, 0];
    let fixed = [
        &family[..],
        &index(name)?.to_ne_bytes(),
        &permanent,
        &[0, 0],
    ]
    .concat();
    let mut request = Request::new(libc::RTM_NEWNEIGH, CREATE, &fixed);
    request.attribute(libc::NDA_DST, &address.octets());
    request.attribute(libc::NDA_LLADDR, &link_address);
    request.call(SockProtocol::NetlinkRoute).map(drop)
}

/// Makes the kernel compute the checksums of what it sends on an interface. Between two ends of a
/// veth it leaves them to hardware that is not there, and a packet socket sees them unfinished.
pub fn finish_checksums(name: &str) -> io::Result<()> {
    turn_off(name, &["tx-checksum-ip-generic"])
}

/// Turns off what an interface does for the kernel, by the names that `ethtool` shows.
pub fn turn_off(name: &str, features: &[&str]) -> io::Result<()> {
    const FEATURES_SET: u8 = 12;
    const FEATURES_HEADER: u16 = 1;
    const HEADER_DEV_NAME: u16 = 2;
    const FEATURES_WANTED: u16 = 3;
    const BITSET_BITS: u16 = 3;
    const BITS_BIT: u16 = 1;
    const BIT_NAME: u16 = 2;
    let mut request = Request::new(generic_family("ethtool")?, 0, &[FEATURES_SET, 1, 0, 0]);
    request.nested(FEATURES_HEADER, |request| {
        request.text(HEADER_DEV_NAME, name)
    });
    request.nested(FEATURES_WANTED, |request| {
        request.nested(BITSET_BITS, |request| {
            for feature in features {
                // Named and without a value: off.
                request.nested(BITS_BIT, |request| request.text(BIT_NAME, feature));
            }
        });
    });
    request.call(SockProtocol::NetlinkGeneric).map(drop)
}

/// The number that the kernel gave to a family of generic netlink.
fn generic_family(name: &str) -> io::Result<u16> {
    let fixed = [
        u8::try_from(libc::CTRL_CMD_GETFAMILY).expect("a command is small"),
        1,
        0,
        0,
    ];
    let mut request = Request::new(GENERIC_CONTROL, 0, &fixed);
    request.text(attribute(libc::CTRL_ATTR_FAMILY_NAME), name);
    let answer = request.call(SockProtocol::NetlinkGeneric)?;
    // Headers of 16 and 4 bytes, then attributes.
    let mut rest = answer.get(20..).unwrap_or_default();
    while let [a, b, c, d, ..] = rest {
        let length = usize::from(u16::from_ne_bytes([*a, *b]));
        let kind = u16::from_ne_bytes([*c, *d]);
        if let (true, Some([low, high])) =
            (kind == attribute(libc::CTRL_ATTR_FAMILY_ID), rest.get(4..6))
        {
            return Ok(u16::from_ne_bytes([*low, *high]));
        }
        rest = rest
            .get(length.max(4).next_multiple_of(4)..)
            .unwrap_or_default();
    }
    Err(io::Error::other(format!(
        "the kernel has no netlink family `{name}`"
    )))
}

const GENERIC_CONTROL: u16 = 16;
const CREATE: u16 = (libc::NLM_F_CREATE | libc::NLM_F_EXCL) as u16;

fn attribute(kind: libc::c_int) -> u16 {
    u16::try_from(kind).expect("the kinds of attributes are small")
}

fn index(name: &str) -> io::Result<u32> {
    Ok(nix::net::if_::if_nametoindex(name)?)
}

/// A request as it goes to the kernel.
struct Request {
    bytes: Vec<u8>,
}

impl Request {
    fn new(kind: u16, flags: u16, fixed: &[u8]) -> Request {
        let flags = flags | (libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16;
        let mut bytes = vec![0; 4];
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(flags.to_ne_bytes());
        bytes.extend([0; 8]);
        bytes.extend(fixed);
        Request { bytes }
    }

    fn attribute(&mut self, kind: u16, value: &[u8]) {
        self.enclose(kind, |request| request.bytes.extend(value));
    }

    fn text(&mut self, kind: u16, value: &str) {
        self.attribute(kind, &[value.as_bytes(), &[0]].concat());
    }

    fn nested(&mut self, kind: u16, inside: impl FnOnce(&mut Request)) {
        const NESTED: u16 = 1 << 15;
        self.enclose(kind | NESTED, inside);
    }

    fn enclose(&mut self, kind: u16, inside: impl FnOnce(&mut Request)) {
        let start = self.bytes.len();
        self.bytes.extend([0; 2]);
        self.bytes.extend(kind.to_ne_bytes());
        inside(self);
        let length = u16::try_from(self.bytes.len() - start).expect("a request is short");
        self.bytes[start..start + 2].copy_from_slice(&length.to_ne_bytes());
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    /// Sends the request and answers the kernel's first message, which is the acknowledgement
    /// where there is nothing else to say.
    fn call(mut self, protocol: SockProtocol) -> io::Result<Vec<u8>> {
        let length = u32::try_from(self.bytes.len()).expect("a request is short");
        self.bytes[..4].copy_from_slice(&length.to_ne_bytes());
        let socket: OwnedFd = socket(
            AddressFamily::Netlink,
            SockType::Raw,
            SockFlag::SOCK_CLOEXEC,
            protocol,
        )?;
        let kernel = NetlinkAddr::new(0, 0);
        sendto(socket.as_raw_fd(), &self.bytes, &kernel, MsgFlags::empty())?;
        let mut answer = vec![0; 16_384];
        let length = recv(socket.as_raw_fd(), &mut answer, MsgFlags::empty())?;
        answer.truncate(length);
        let kind = answer
            .get(4..6)
            .map(|kind| u16::from_ne_bytes([kind[0], kind[1]]));
        if let (Some(2), Some(code)) = (kind, answer.get(16..20)) {
            let code = i32::from_ne_bytes([code[0], code[1], code[2], code[3]]);
            if code != 0 {
                return Err(Errno::from_raw(-code).into());
            }
        }
        Ok(answer)
    }
}
