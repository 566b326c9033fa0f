//! What a kernel leaves undone in frames that it gives to virtual devices, done here.
//!
//! In: a frame as a TAP, a TUN or a packet socket with virtio headers gives it, which may lack its
//! sum, or be a train of datagrams or segments that was not cut yet. Out: the frames as they would
//! be on a wire, one after another. (Virtual I/O Device specification 1.3, section 5.1.6.)

use super::checksum::checksum;
use std::io;
use tun_rs::{IDEAL_BATCH_SIZE, VIRTIO_NET_HDR_LEN, VirtioNetHdr, gso_split};

/// A flag: the sum is not complete.
const NEEDS_SUM: u8 = 1;

/// A kind: a frame, and no train.
const SINGLE: u8 = 0;

/// A kind: datagrams of UDP; all other trains are segments of TCP.
const DATAGRAMS: u8 = 5;

/// More than a frame with its virtio header can be long, in bytes.
const ROOM: usize = 1 << 17;

/// The longest frame that a train is cut into, in bytes.
const CAR: usize = 1 << 16;

/// Where the sum of a UDP header is, in bytes.
const UDP_SUM: u16 = 6;

/// A frame that was received, and those that it was cut into.
pub struct Virtio {
    /// What stands before the IP packet of each frame, in bytes.
    link_header: usize,
    received: Vec<u8>,
    cars: Vec<Vec<u8>>,
    lengths: [usize; IDEAL_BATCH_SIZE],
    /// Which of the cars is the next to go on, and how many there are.
    next: usize,
    count: usize,
}

impl Virtio {
    /// For frames with a link header of so many bytes before the IP packet.
    pub fn new(link_header: usize) -> Virtio {
        Virtio {
            link_header,
            received: vec![0; ROOM],
            cars: Vec::new(),
            lengths: [0; IDEAL_BATCH_SIZE],
            next: 0,
            count: 0,
        }
    }

    /// Whether a frame is ready without the device being asked.
    pub fn is_ready(&self) -> bool {
        self.next < self.count
    }

    /// Receives a frame into `room`, cut to it, and answers its length before the cut; none if a
    /// train had nothing in it.
    pub fn receive(
        &mut self,
        room: &mut [u8],
        device: impl FnOnce(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<Option<usize>> {
        if !self.is_ready() {
            let length = device(&mut self.received)?;
            self.complete(length)?;
        }
        if !self.is_ready() {
            return Ok(None);
        }
        let frame = &self.cars[self.next][..self.lengths[self.next]];
        self.next += 1;
        let taken = frame.len().min(room.len());
        room[..taken].copy_from_slice(&frame[..taken]);
        Ok(Some(frame.len()))
    }

    /// The frame with a virtio header that says that nothing is left to be done.
    pub fn send(
        frame: &[u8],
        device: impl FnOnce(&[u8]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let mut sent = vec![0; VIRTIO_NET_HDR_LEN];
        sent.extend_from_slice(frame);
        device(&sent)
    }

    /// Does what was left undone in the first `length` bytes that were received.
    fn complete(&mut self, length: usize) -> io::Result<()> {
        if self.cars.is_empty() {
            self.cars.resize(IDEAL_BATCH_SIZE, vec![0; CAR]);
        }
        let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_string());
        let received = &mut self.received[..length];
        let mut header = VirtioNetHdr::decode(received)
            .map_err(|_| wrong("a frame lacks the virtio header that the device promises"))?;
        let frame = &mut received[VIRTIO_NET_HDR_LEN..];
        let before = self.link_header as u16;
        if header.gso_type == SINGLE {
            if header.flags & NEEDS_SUM != 0 {
                write_sum(frame, header).ok_or_else(|| {
                    wrong("a virtio header places the checksum outside its frame")
                })?;
            }
            let car = &mut self.cars[0];
            let kept = frame.len().min(car.len());
            car[..kept].copy_from_slice(&frame[..kept]);
            self.lengths[0] = kept;
            (self.next, self.count) = (0, 1);
            return Ok(());
        }
        let short = || wrong("a batch of segments is shorter than its headers");
        let split = frame.split_at_mut_checked(self.link_header);
        let (link, packet) = split.ok_or_else(short)?;
        let is_version_6 = packet.first().ok_or_else(short)? >> 4 == 6;
        header.csum_start = header.csum_start.checked_sub(before).ok_or_else(short)?;
        header.hdr_len = headers_length(packet, header).ok_or_else(short)?;
        let (cars, lengths) = (&mut self.cars, &mut self.lengths);
        let count = gso_split(packet, header, cars, lengths, link.len(), is_version_6)?;
        for (car, length) in cars.iter_mut().zip(lengths).take(count) {
            car[..link.len()].copy_from_slice(link);
            *length += link.len();
        }
        (self.next, self.count) = (0, count);
        Ok(())
    }
}

/// The bytes of all headers of an IP packet that is to be cut, as they say themselves: what the
/// kernel says may be all that was in one piece of its memory. None if they are not there.
fn headers_length(packet: &[u8], header: VirtioNetHdr) -> Option<u16> {
    let transport = packet.get(usize::from(header.csum_start)..)?;
    let length = match header.gso_type {
        DATAGRAMS => 8,
        _ => u16::from(transport.get(12)? >> 4) * 4,
    };
    header.csum_start.checked_add(length)
}

/// Writes the sum that the header says is missing; none if it would be outside the frame.
fn write_sum(frame: &mut [u8], header: VirtioNetHdr) -> Option<()> {
    let (start, offset) = (header.csum_start, header.csum_offset);
    let at = usize::from(start.checked_add(offset)?);
    frame.get(at..at + 2)?;
    // The field holds the sum of the pseudo header.
    let sum = checksum(&[&frame[usize::from(start)..]]);
    frame[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    // Zero would say that there is none.
    if offset == UDP_SUM && frame[at..at + 2] == [0, 0] {
        frame[at..at + 2].fill(0xff);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(header: [u8; VIRTIO_NET_HDR_LEN], frame: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        let mut virtio = Virtio::new(2);
        let mut room = [0; 64];
        let mut frames = Vec::new();
        let all = [&header, frame].concat();
        let device = |received: &mut [u8]| {
            received[..all.len()].copy_from_slice(&all);
            Ok(all.len())
        };
        while frames.is_empty() || virtio.is_ready() {
            match virtio.receive(&mut room, device)? {
                Some(length) => frames.push(room[..length.min(room.len())].to_vec()),
                None => break,
            }
        }
        Ok(frames)
    }

    #[test]
    fn a_header_that_does_not_fit_its_frame_is_an_error() {
        let needs_sum = |start: u8, offset: u8| [1, 0, 0, 0, 0, 0, start, 0, offset, 0];
        assert_eq!(received([0; 10], b"frame").unwrap(), [b"frame"]);
        assert_eq!(received([0; 10], b"").unwrap(), [b""]);
        let summed = received(needs_sum(1, 2), &[9, 1, 2, 0, 0, 4]).unwrap();
        assert_eq!(summed, [[9, 1, 2, 0xfe - 4, 0xfd, 4]]);
        let zero = received(needs_sum(0, 6), &[0, 0, 0, 0, 0, 0, 0xff, 0xff]).unwrap();
        assert_eq!(zero[0][6..], [0xff, 0xff]);
        for (header, frame) in [
            (needs_sum(4, 0), &b"frame"[..]),
            (needs_sum(255, 255), b"frame"),
            ([1, 5, 0, 0, 1, 0, 9, 0, 6, 0], b"frame"),
            ([1, 5, 0, 0, 1, 0, 1, 0, 6, 0], b"frame"),
            ([1, 1, 0, 0, 0, 0, 22, 0, 16, 0], &[0x45; 60]),
            ([1, 77, 0, 0, 1, 0, 22, 0, 6, 0], &[0x45; 60]),
        ] {
            assert!(received(header, frame).is_err(), "{header:?}");
        }
    }
}
