//! Capture files: reads pcap and pcapng, writes pcapng.
//!
//! In: a file that anyone may have written. Out: its frames with their times since 1970, or one
//! clear error that says which frame is wrong. What is written opens in Wireshark, with
//! nanoseconds and the direction of each frame.

use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::blocks::Block;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::{PcapNgReader, PcapNgWriter};
use pcap_file::{DataLink, PcapError, TsResolution};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::Path;
use std::time::Duration;

/// A frame of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// When it was captured, since 1970.
    pub time: Duration,
    /// What was captured of it.
    pub bytes: Vec<u8>,
}

/// What a capture's frames begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkType {
    /// An Ethernet header.
    Ethernet,
    /// An IP header.
    Ip,
    /// Something else, by its number in the registry of link types.
    Other(u32),
}

/// Which way a frame went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Into the stack.
    In = 1,
    /// Out of the stack.
    Out = 2,
}

/// Reads the frames of a capture, one after the other.
pub struct Reader {
    name: String,
    source: Source,
    link_type: LinkType,
    count: u64,
    last: Duration,
}

enum Source {
    Pcap(PcapReader<File>),
    PcapNg(PcapNgReader<File>),
}

impl Reader {
    /// Opens a capture and reads its first header.
    pub fn open(path: &Path) -> io::Result<Reader> {
        let name = path.display().to_string();
        let named = |error: io::Error| named(&name, &error);
        let mut file = File::open(path).map_err(named)?;
        let mut magic = Vec::new();
        Read::by_ref(&mut file)
            .take(4)
            .read_to_end(&mut magic)
            .map_err(named)?;
        file.rewind().map_err(named)?;
        let (source, link_type) = match magic.as_slice() {
            [0x0a, 0x0d, 0x0d, 0x0a] => {
                let reader = PcapNgReader::new(file).map_err(|error| bad(&name, 0, &error))?;
                (Source::PcapNg(reader), LinkType::Ethernet)
            }
            [0xa1, 0xb2, 0xc3, 0xd4] | [0xd4, 0xc3, 0xb2, 0xa1] | // microseconds
            [0xa1, 0xb2, 0x3c, 0x4d] | [0x4d, 0x3c, 0xb2, 0xa1] => { // nanoseconds
                let reader = PcapReader::new(file).map_err(|error| bad(&name, 0, &error))?;
                let link_type = LinkType::from(reader.header().datalink);
                (Source::Pcap(reader), link_type)
            }
            _ => {
                return Err(invalid(format!(
                    "{name}: not a pcap or pcapng capture"
                )));
            }
        };
        Ok(Reader {
            name,
            source,
            link_type,
            count: 0,
            last: Duration::ZERO,
        })
    }

    /// What the frames begin with; of a pcapng known once its first frame was read.
    pub fn link_type(&self) -> LinkType {
        self.link_type
    }

    /// The next frame; none at the end.
    pub fn next_frame(&mut self) -> io::Result<Option<Frame>> {
        self.count += 1;
        let read = match &mut self.source {
            Source::Pcap(reader) => next_of_pcap(reader),
            Source::PcapNg(reader) => next_of_pcapng(reader, self.last, &mut self.link_type),
        };
        let frame = read.map_err(|error| bad(&self.name, self.count, &error))?;
        self.last = frame.as_ref().map_or(self.last, |frame| frame.time);
        Ok(frame)
    }
}

fn next_of_pcap(reader: &mut PcapReader<File>) -> Result<Option<Frame>, PcapError> {
    let resolution = reader.header().ts_resolution;
    // The raw form, because the other refuses frames that are longer than what was kept of them.
    let Some(packet) = reader.next_raw_packet().transpose()? else {
        return Ok(None);
    };
    let fraction = u64::from(packet.ts_frac);
    let fraction = match resolution {
        TsResolution::MicroSecond => Duration::from_micros(fraction),
        TsResolution::NanoSecond => Duration::from_nanos(fraction),
    };
    let time = Duration::from_secs(u64::from(packet.ts_sec)) + fraction;
    Ok(Some(Frame {
        time,
        bytes: packet.data.into_owned(),
    }))
}

fn next_of_pcapng(
    reader: &mut PcapNgReader<File>,
    last: Duration,
    link_type: &mut LinkType,
) -> Result<Option<Frame>, PcapError> {
    loop {
        let Some(block) = reader.next_block().transpose()? else {
            return Ok(None);
        };
        // The crate takes the ticks of any clock for nanoseconds, so that here they are ticks.
        let (interface, ticks, bytes) = match block {
            Block::EnhancedPacket(packet) => {
                let ticks = packet.timestamp.as_nanos();
                (packet.interface_id, Some(ticks), packet.data.into_owned())
            }
            Block::Packet(packet) => {
                let ticks = u128::from(packet.timestamp);
                (
                    u32::from(packet.interface_id),
                    Some(ticks),
                    packet.data.into_owned(),
                )
            }
            Block::SimplePacket(packet) => {
                let mut bytes = packet.data.into_owned();
                bytes.truncate(packet.original_len as usize);
                (0, None, bytes)
            }
            // The other blocks, of whatever kind, hold no frames.
            _ => continue,
        };
        let interface = reader
            .interfaces()
            .get(interface as usize)
            .ok_or(PcapError::InvalidInterfaceId(interface))?;
        *link_type = LinkType::from(interface.linktype);
        let time = match ticks {
            Some(ticks) => time_of(interface, ticks)?,
            None => last,
        };
        return Ok(Some(Frame { time, bytes }));
    }
}

/// The time that a number of ticks of an interface's clock stands for.
fn time_of(interface: &InterfaceDescriptionBlock<'_>, ticks: u128) -> Result<Duration, PcapError> {
    let (mut resolution, mut offset) = (6, 0);
    for option in &interface.options {
        if let InterfaceDescriptionOption::IfTsResol(value) = option {
            resolution = *value;
        }
        if let InterfaceDescriptionOption::IfTsOffset(value) = option {
            offset = *value;
        }
    }
    let wrong =
        PcapError::InvalidField("the time resolution of the interface is finer than a nanosecond");
    let per_second = if resolution & 0x80 != 0 {
        1_u128.checked_shl(u32::from(resolution & 0x7f))
    } else {
        10_u128.checked_pow(u32::from(resolution))
    };
    let per_second = per_second.filter(|ticks| *ticks <= 1 << 64).ok_or(wrong)?;
    let seconds = u64::try_from(ticks / per_second).unwrap_or(u64::MAX);
    let nanoseconds = ticks % per_second * 1_000_000_000 / per_second;
    let nanoseconds = u64::try_from(nanoseconds).expect("a fraction is less than a second");
    let seconds = seconds.checked_add(offset);
    let seconds = seconds.ok_or(PcapError::InvalidField(
        "the time stamp does not fit into 64 bits",
    ))?;
    Ok(Duration::from_secs(seconds) + Duration::from_nanos(nanoseconds))
}

/// Writes a pcapng capture with one interface, or with several.
pub struct Writer {
    name: String,
    writer: PcapNgWriter<BufWriter<File>>,
    /// How many bytes of a frame are kept.
    most: usize,
}

impl Writer {
    /// Creates the file, over an old one of the same name.
    pub fn create(path: &Path, interface: &str, link_type: LinkType) -> io::Result<Writer> {
        Writer::create_short(path, interface, link_type, None)
    }

    /// The same, but of each frame no more than so many bytes are kept, and how long it was.
    pub fn create_short(
        path: &Path,
        interface: &str,
        link_type: LinkType,
        most: Option<u32>,
    ) -> io::Result<Writer> {
        Writer::create_several(path, &[(interface.to_string(), link_type)], most)
    }

    /// The same, with several interfaces.
    pub fn create_several(
        path: &Path,
        interfaces: &[(String, LinkType)],
        most: Option<u32>,
    ) -> io::Result<Writer> {
        let name = path.display().to_string();
        let named = |error: io::Error| named(&name, &error);
        let file = File::create(path).map_err(named)?;
        let mut writer = PcapNgWriter::new(BufWriter::new(file)).map_err(plain)?;
        for (interface, link_type) in interfaces {
            let options = vec![
                InterfaceDescriptionOption::IfName(Cow::Borrowed(interface)),
                InterfaceDescriptionOption::IfTsResol(9),
            ];
            let block = InterfaceDescriptionBlock {
                linktype: DataLink::from(*link_type),
                snaplen: most.unwrap_or(0),
                options,
            };
            writer.write_pcapng_block(block).map_err(plain)?;
        }
        let most = most.map_or(usize::MAX, |most| most as usize);
        Ok(Writer { name, writer, most })
    }

    /// Appends a frame that passed at a time since 1970.
    pub fn write(&mut self, time: Duration, bytes: &[u8], direction: Direction) -> io::Result<()> {
        self.write_on(0, time, bytes, direction)
    }

    /// The same, at one of several interfaces.
    pub fn write_on(
        &mut self,
        interface_id: u32,
        time: Duration,
        bytes: &[u8],
        direction: Direction,
    ) -> io::Result<()> {
        let block = EnhancedPacketBlock {
            interface_id,
            timestamp: time,
            original_len: u32::try_from(bytes.len()).expect("a frame is shorter than 4 GiB"),
            data: Cow::Borrowed(&bytes[..bytes.len().min(self.most)]),
            options: vec![EnhancedPacketOption::Flags(direction as u32)],
        };
        let written = self.writer.write_pcapng_block(block).map_err(plain);
        written.map_err(|error| named(&self.name, &error))?;
        Ok(())
    }

    /// Writes out what is still in memory.
    pub fn finish(&mut self) -> io::Result<()> {
        let flushed = self.writer.get_mut().flush();
        flushed.map_err(|error| named(&self.name, &error))
    }
}

impl From<DataLink> for LinkType {
    fn from(number: DataLink) -> LinkType {
        match u32::from(number) {
            1 => LinkType::Ethernet,
            101 => LinkType::Ip,
            other => LinkType::Other(other),
        }
    }
}

impl From<LinkType> for DataLink {
    fn from(link_type: LinkType) -> DataLink {
        DataLink::from(match link_type {
            LinkType::Ethernet => 1,
            LinkType::Ip => 101,
            LinkType::Other(number) => number,
        })
    }
}

fn bad(name: &str, frame: u64, error: &PcapError) -> io::Error {
    let reason = match error {
        PcapError::IoError(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            "the file ends too early".to_string()
        }
        PcapError::IoError(error) => error.to_string(),
        other => other.to_string().to_lowercase(),
    };
    match frame {
        0 => invalid(format!("{name}: the header of the capture: {reason}")),
        frame => invalid(format!("{name}: frame {frame}: {reason}")),
    }
}

/// An error with the file that it is about.
fn named(name: &str, error: &io::Error) -> io::Error {
    io::Error::new(
        error.kind(),
        format!("{name}: {}", super::failure::plain(error)),
    )
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

fn plain(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pcap of one frame whose header says that it was longer on the wire.
    fn pcap(magic: u32, kept: &[u8]) -> Vec<u8> {
        let mut file = Vec::new();
        let words = [magic, 0x0004_0002, 0, 0, 64, 101];
        words
            .iter()
            .for_each(|word: &u32| file.extend(word.to_le_bytes()));
        let length = u32::try_from(kept.len()).unwrap();
        [7, 500, length, 9000]
            .iter()
            .for_each(|word: &u32| file.extend(word.to_le_bytes()));
        file.extend(kept);
        file
    }

    fn frames(bytes: &[u8]) -> (io::Result<Vec<Frame>>, LinkType) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.capture");
        std::fs::write(&path, bytes).unwrap();
        let mut reader = match Reader::open(&path) {
            Ok(reader) => reader,
            Err(error) => return (Err(error), LinkType::Other(0)),
        };
        let mut frames = Vec::new();
        loop {
            match reader.next_frame() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => return (Ok(frames), reader.link_type()),
                Err(error) => return (Err(error), reader.link_type()),
            }
        }
    }

    #[test]
    fn both_clocks_of_pcap_are_read() {
        let (read, link_type) = frames(&pcap(0xa1b2_c3d4, &[1, 2, 3]));
        let time = Duration::new(7, 500_000);
        assert_eq!(
            read.unwrap(),
            [Frame {
                time,
                bytes: vec![1, 2, 3]
            }]
        );
        assert_eq!(link_type, LinkType::Ip);
        let (read, _) = frames(&pcap(0xa1b2_3c4d, &[]));
        assert_eq!(
            read.unwrap(),
            [Frame {
                time: Duration::new(7, 500),
                bytes: vec![]
            }]
        );
    }

    #[test]
    fn what_was_written_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("b.pcapng");
        let mut writer = Writer::create(&path, "tap", LinkType::Ethernet).unwrap();
        let written: Vec<Frame> = (0..50)
            .map(|index: u8| Frame {
                time: Duration::new(1_700_000_000 + u64::from(index), 123_456_789),
                bytes: vec![index; usize::from(index)],
            })
            .collect();
        for frame in &written {
            writer
                .write(frame.time, &frame.bytes, Direction::Out)
                .unwrap();
        }
        writer.finish().unwrap();
        let (read, link_type) = frames(&std::fs::read(&path).unwrap());
        assert_eq!(read.unwrap(), written);
        assert_eq!(link_type, LinkType::Ethernet);
    }

    #[test]
    fn a_short_capture_keeps_the_beginning_of_each_frame() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("short.pcapng");
        let mut writer = Writer::create_short(&path, "tap", LinkType::Ethernet, Some(6)).unwrap();
        for length in [4_u8, 6, 200] {
            let bytes = vec![length; usize::from(length)];
            writer.write(Duration::ZERO, &bytes, Direction::In).unwrap();
        }
        writer.finish().unwrap();
        let (read, _) = frames(&std::fs::read(&path).unwrap());
        let lengths: Vec<_> = read
            .unwrap()
            .iter()
            .map(|frame| frame.bytes.len())
            .collect();
        assert_eq!(lengths, [4, 6, 6]);
    }

    #[test]
    fn a_clock_of_microseconds_or_of_powers_of_two_is_understood() {
        let clock = |options| InterfaceDescriptionBlock {
            linktype: DataLink::ETHERNET,
            snaplen: 0,
            options,
        };
        let time = time_of(&clock(vec![]), 2_000_001).unwrap();
        assert_eq!(time, Duration::new(2, 1_000));
        let binary = clock(vec![InterfaceDescriptionOption::IfTsResol(0x80 | 10)]);
        assert_eq!(
            time_of(&binary, 1024 + 512).unwrap(),
            Duration::from_millis(1500)
        );
        let shifted = clock(vec![InterfaceDescriptionOption::IfTsOffset(5)]);
        assert_eq!(time_of(&shifted, 0).unwrap(), Duration::from_secs(5));
        let absurd = clock(vec![InterfaceDescriptionOption::IfTsResol(0xff)]);
        assert!(time_of(&absurd, 1).is_err());
    }

    #[test]
    fn a_bad_capture_is_answered_with_what_is_wrong() {
        let whole = pcap(0xa1b2_c3d4, &[1; 40]);
        let cut = frames(&whole[..whole.len() - 1]).0.unwrap_err().to_string();
        assert!(
            cut.ends_with("a.capture: frame 1: the file ends too early"),
            "{cut}"
        );
        let header = frames(&whole[..10]).0.unwrap_err().to_string();
        assert!(header.contains("the header of the capture"), "{header}");
        let other = frames(b"GIF89a").0.unwrap_err().to_string();
        assert!(other.ends_with("not a pcap or pcapng capture"), "{other}");
        let near = frames(&pcap(0xa1b2_c3d5, &[1])).0.unwrap_err().to_string();
        assert!(near.ends_with("not a pcap or pcapng capture"), "{near}");
        assert!(frames(b"").0.is_err());
        assert!(Reader::open(Path::new("/nowhere/at/all")).is_err());
    }

    #[test]
    fn no_capture_makes_the_reader_fall_over() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("c.pcapng");
        let mut writer = Writer::create(&path, "tap", LinkType::Ethernet).unwrap();
        (0..4).for_each(|index| {
            writer
                .write(Duration::from_secs(index), &[7; 60], Direction::In)
                .unwrap();
        });
        writer.finish().unwrap();
        let whole = std::fs::read(&path).unwrap();
        let mut random = fastrand::Rng::with_seed(1);
        let mut refused = 0;
        for _ in 0..300 {
            let mut broken = whole.clone();
            let at = random.usize(4..broken.len());
            broken[at] = random.u8(..);
            refused += usize::from(frames(&broken).0.is_err());
        }
        assert!(refused > 50, "only {refused} of 300 were refused");
    }
}
