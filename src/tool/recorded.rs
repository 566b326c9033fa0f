//! A device whose frames are also written to a capture, each way.
//!
//! In: a device. Out: the same device, and a pcapng that opens in Wireshark. A frame that travels
//! in a UDP socket is shown in its datagram, with the addresses of both ends, as it was on the way;
//! what the kernel alone knows of its IP header is left at zero.

use super::capture::{Direction, LinkType, Writer};
use super::checksum::checksum;
use super::device::Device;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::Duration;

/// How many bytes of a frame a short capture keeps: all headers, and a look at what is in it.
pub const KEPT: u32 = 300;

/// UDP, as IP numbers what it carries.
const UDP: u8 = 17;

/// A device with a capture.
pub struct Recorded {
    device: Box<dyn Device>,
    writer: Writer,
}

impl Recorded {
    /// Records what passes a device; of each frame `most` bytes, or all.
    pub fn new(
        device: Box<dyn Device>,
        path: &Path,
        name: &str,
        most: Option<u32>,
    ) -> io::Result<Recorded> {
        let writer = Writer::create_short(path, name, device.link_type(), most)?;
        Ok(Recorded { device, writer })
    }

    fn record(&mut self, now_ns: u64, frame: &[u8], direction: Direction) -> io::Result<()> {
        let shown = self.device.shown(frame, direction);
        let bytes = shown.as_deref().unwrap_or(frame);
        let time = Duration::from_nanos(now_ns);
        self.writer.write(time, bytes, direction)
    }
}

impl Device for Recorded {
    fn receive(&mut self, room: &mut [u8], now_ns: u64) -> io::Result<Option<usize>> {
        let received = self.device.receive(room, now_ns)?;
        if let Some(length) = received {
            let length = length.min(room.len());
            self.record(now_ns, &room[..length], Direction::In)?;
        }
        Ok(received)
    }

    fn send(&mut self, frame: &[u8], now_ns: u64) -> io::Result<bool> {
        let sent = self.device.send(frame, now_ns)?;
        self.record(now_ns, frame, Direction::Out)?;
        Ok(sent)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.device.descriptor()
    }

    fn due_ns(&self) -> Option<u64> {
        self.device.due_ns()
    }

    fn link_type(&self) -> LinkType {
        self.device.link_type()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.writer.finish()?;
        self.device.finish()
    }
}

/// A datagram with its IP header. Both ends of a socket are of one family.
pub fn datagram(from: SocketAddr, to: SocketAddr, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(8 + data.len()).unwrap_or(u16::MAX);
    let mut udp = [from.port(), to.port(), length, 0]
        .map(u16::to_be_bytes)
        .concat();
    udp.extend_from_slice(data);
    let addresses = match (from.ip(), to.ip()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => [from.octets(), to.octets()].concat(),
        (from, to) => [from, to].map(sixteen).concat(),
    };
    let mut pseudo = addresses.clone();
    pseudo.extend_from_slice(&[0, UDP]);
    pseudo.extend_from_slice(&length.to_be_bytes());
    let sum = match checksum(&[&pseudo, &udp]) {
        0 => 0xffff,
        sum => sum,
    };
    udp[6..8].copy_from_slice(&sum.to_be_bytes());
    let mut ip = match addresses.len() {
        8 => {
            let [high, low] = (length.saturating_add(20)).to_be_bytes();
            vec![0x45, 0, high, low, 0, 0, 0x40, 0, 64, UDP, 0, 0]
        }
        _ => {
            let [high, low] = length.to_be_bytes();
            vec![0x60, 0, 0, 0, high, low, UDP, 64]
        }
    };
    ip.extend_from_slice(&addresses);
    if addresses.len() == 8 {
        let sum = checksum(&[&ip]).to_be_bytes();
        ip[10..12].copy_from_slice(&sum);
    }
    ip.extend_from_slice(&udp);
    ip
}

fn sixteen(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_is_one_that_sums_up() {
        let [from, to] = [7001, 7002].map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        let four = datagram(from, to, b"odd");
        assert_eq!(four.len(), 20 + 8 + 3);
        assert_eq!(checksum(&[&four[..20]]), 0);
        let pseudo = [&four[12..20], &[0, UDP, 0, 11]].concat();
        assert_eq!(checksum(&[&pseudo, &four[20..]]), 0);
        assert_eq!(four[20..24], [0x1b, 0x59, 0x1b, 0x5a]);
        let [from, to] = ["[::1]:1", "[::1]:2"].map(|text| text.parse().expect("an address"));
        let six = datagram(from, to, b"even");
        assert_eq!(six[..8], [0x60, 0, 0, 0, 0, 12, UDP, 64]);
        let pseudo = [&six[8..40], &[0, UDP, 0, 12]].concat();
        assert_eq!(checksum(&[&pseudo, &six[40..]]), 0);
    }
}
