//! Segments of TCP in datagrams of IPv4, written and read by hand.

/// The address of the host under test.
pub const OURS: u32 = 0x0a00_0002;
/// That of its peer.
pub const THEIRS: u32 = 0x0a00_0001;

/// A segment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Segment {
    /// Its port of origin.
    pub source: u16,
    /// Where it goes.
    pub destination: u16,
    /// SEG.SEQ
    pub number: u32,
    /// SEG.ACK
    pub acknowledgement: u32,
    /// URG ACK PSH RST SYN FIN, from the highest bit to the lowest.
    pub flags: u8,
    /// SEG.WND
    pub window: u16,
    /// SEG.UP
    pub urgent: u16,
    /// As they stand, a multiple of 4 bytes.
    pub options: Vec<u8>,
    /// The text.
    pub text: Vec<u8>,
}

/// The bits of [`Segment::flags`].
pub const FIN: u8 = 1;
/// See [`FIN`].
pub const SYN: u8 = 2;
/// See [`FIN`].
pub const RST: u8 = 4;
/// See [`FIN`].
pub const PSH: u8 = 8;
/// See [`FIN`].
pub const ACK: u8 = 16;
/// See [`FIN`].
pub const URG: u8 = 32;

impl Segment {
    /// Whether all of these bits are set.
    pub fn has(&self, flags: u8) -> bool {
        self.flags & flags == flags
    }

    /// The datagram that carries it.
    pub fn datagram(&self, from: u32, to: u32) -> Vec<u8> {
        let mut segment = Vec::new();
        segment.extend(self.source.to_be_bytes());
        segment.extend(self.destination.to_be_bytes());
        segment.extend(self.number.to_be_bytes());
        segment.extend(self.acknowledgement.to_be_bytes());
        segment.push(((20 + self.options.len()) * 4) as u8);
        segment.push(self.flags);
        segment.extend(self.window.to_be_bytes());
        segment.extend([0, 0]);
        segment.extend(self.urgent.to_be_bytes());
        segment.extend(&self.options);
        segment.extend(&self.text);
        let mut summed = [from.to_be_bytes(), to.to_be_bytes()].concat();
        summed.extend([0, 6]);
        summed.extend((segment.len() as u16).to_be_bytes());
        summed.extend(&segment);
        segment[16..18].copy_from_slice(&sum(&summed).to_be_bytes());
        let length = (20 + segment.len()) as u16;
        let mut datagram = vec![0x45, 0];
        datagram.extend(length.to_be_bytes());
        datagram.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
        datagram.extend(from.to_be_bytes());
        datagram.extend(to.to_be_bytes());
        let header = sum(&datagram);
        datagram[10..12].copy_from_slice(&header.to_be_bytes());
        datagram.extend(segment);
        datagram
    }

    /// What a datagram carries.
    pub fn of(datagram: &[u8]) -> Segment {
        assert_eq!(datagram[0], 0x45, "no options of IPv4 are sent");
        assert_eq!(datagram[9], 6, "nothing but TCP is sent");
        let segment = &datagram[20..];
        let two = |at: usize| u16::from_be_bytes([segment[at], segment[at + 1]]);
        let four = |at: usize| u32::from(two(at)) << 16 | u32::from(two(at + 2));
        let header = usize::from(segment[12] >> 4) * 4;
        let mut summed = datagram[12..20].to_vec();
        summed.extend([0, 6]);
        summed.extend((segment.len() as u16).to_be_bytes());
        summed.extend(segment);
        assert_eq!(sum(&summed), 0, "what is sent is summed");
        Segment {
            source: two(0),
            destination: two(2),
            number: four(4),
            acknowledgement: four(8),
            flags: segment[13],
            window: two(14),
            urgent: two(18),
            options: segment[20..header].to_vec(),
            text: segment[header..].to_vec(),
        }
    }
}

/// RFC 1071.
fn sum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2);
    let values = words.map(|word| u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0)));
    let mut sum: u32 = values.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
