//! Frames between 10.0.0.1 (02:..:01) and the stack of `examples/host`, 10.0.0.2 (02:..:02).

use super::shell::Shell;
use stackloom::tool::capture::{Direction, LinkType, Reader, Writer};
use stackloom::tool::checksum::checksum;
use stackloom::tool::peer::echo;
use std::time::Duration;

/// An Ethernet frame to the stack.
pub fn ethernet(kind: u16, data: &[u8]) -> Vec<u8> {
    let header = [
        &[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1][..],
        &kind.to_be_bytes(),
    ];
    [&header.concat(), data].concat()
}

/// An ARP request (1) or reply (2) from 10.0.0.1.
pub fn arp(operation: u8) -> Vec<u8> {
    let fixed = [0, 1, 8, 0, 6, 4, 0, operation];
    let sender = [2, 0, 0, 0, 0, 1, 10, 0, 0, 1];
    let target = [2, 0, 0, 0, 0, 2, 10, 0, 0, 2];
    ethernet(0x0806, &[&fixed[..], &sender, &target].concat())
}

/// An IPv4 datagram, or a piece of one: `offset` as in its header.
pub fn ipv4(protocol: u8, identification: u8, offset: u16, data: &[u8]) -> Vec<u8> {
    let mut header = vec![0x45, 0, 0, 0, 0, identification, 0, 0, 64, protocol, 0, 0];
    header.extend([10, 0, 0, 1, 10, 0, 0, 2]);
    let length = u16::try_from(20 + data.len()).expect("a short datagram");
    header[2..4].copy_from_slice(&length.to_be_bytes());
    header[6..8].copy_from_slice(&offset.to_be_bytes());
    let sum = checksum(&[&header]).to_be_bytes();
    header[10..12].copy_from_slice(&sum);
    ethernet(0x0800, &[&header, data].concat())
}

/// A ping.
pub fn ping(identification: u8, content: &[u8]) -> Vec<u8> {
    ipv4(1, identification, 0, &echo(8, 7, content))
}

/// A UDP datagram from port 5000, without a checksum.
pub fn udp(port: u16, content: &[u8]) -> Vec<u8> {
    let mut message = vec![0x13, 0x88];
    message.extend(port.to_be_bytes());
    let length = u16::try_from(8 + content.len()).expect("a short datagram");
    message.extend(length.to_be_bytes());
    message.extend([0, 0]);
    message.extend(content);
    message
}

/// Writes a capture of Ethernet frames with their times in milliseconds.
pub fn capture(shell: &Shell, name: &str, frames: &[(u64, Vec<u8>)]) {
    let path = shell.path(name);
    let mut writer = Writer::create(&path, "in", LinkType::Ethernet).expect("a capture");
    for (time_ms, frame) in frames {
        let time = Duration::from_millis(*time_ms);
        writer.write(time, frame, Direction::In).expect("a frame");
    }
    writer.finish().expect("the end of the capture");
}

/// The frames of a capture with their times in milliseconds.
pub fn frames(shell: &Shell, name: &str) -> Vec<(u64, Vec<u8>)> {
    let mut reader = Reader::open(&shell.path(name)).expect("a capture");
    let mut all = Vec::new();
    while let Some(frame) = reader.next_frame().expect("a whole capture") {
        let time_ms = u64::try_from(frame.time.as_millis()).expect("not that late");
        all.push((time_ms, frame.bytes));
    }
    all
}
