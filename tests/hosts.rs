//! The loader, the event loop and the devices, around a stack that was written by hand.

use nix::sched::{CloneFlags, unshare};
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::UdpGsoSegment;
use stackloom::tool::c_compiler;
use stackloom::tool::capture::{Direction, LinkType, Reader, Writer};
use stackloom::tool::checksum::checksum;
use stackloom::tool::demo::{Plan, converse, simulate};
use stackloom::tool::device::{Address, Device};
use stackloom::tool::host::{Clock, Report, Seen, Until};
use stackloom::tool::layout::{Description, Kind, Member, Port};
use stackloom::tool::namespace::{self, PrivateLink};
use stackloom::tool::netlink;
use stackloom::tool::run::{ApplicationArgument, Places, Setting, start};
use stackloom::tool::stack::Program;
use stackloom::tool::tunnel::Offload;
use std::net::{Ipv4Addr, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

fn member(name: &str, kind: Kind) -> Member {
    Member {
        name: name.to_string(),
        kind,
        optional: false,
        needed: true,
        names: Vec::new(),
    }
}

fn with_default(name: &str, kind: Kind) -> Member {
    Member {
        needed: false,
        ..member(name, kind)
    }
}

fn optional(name: &str, kind: Kind) -> Member {
    Member {
        optional: true,
        needed: false,
        ..member(name, kind)
    }
}

fn mirror() -> Program {
    let description = Description {
        name: "mirror".to_string(),
        links: vec!["wire".to_string()],
        ports: vec![Port {
            name: "datagrams".to_string(),
            keys: vec![
                member("port", Kind::Unsigned(16)),
                optional("peer", Kind::Unsigned(32)),
            ],
            attributes: vec![
                member("peer", Kind::Unsigned(32)),
                member("peer_port", Kind::Unsigned(16)),
            ],
            passes: true,
            opens: true,
            ..Port::default()
        }],
        config: vec![
            with_default("mac", Kind::Unsigned(48)),
            with_default("address", Kind::Unsigned(32)),
            with_default("prefix", Kind::Unsigned(5)),
            optional("gateway", Kind::Unsigned(32)),
        ],
        ..Description::default()
    };
    let (source, header) = (
        include_str!("fixture/mirror.c"),
        include_str!("fixture/mirror.h"),
    );
    c_compiler::load(source, header, &description).unwrap()
}

fn settings(pairs: &[(&str, &str)]) -> Vec<Setting> {
    let setting = |(name, value): &(&str, &str)| Setting {
        name: name.to_string(),
        value: value.to_string(),
    };
    pairs.iter().map(setting).collect()
}

fn sum(bytes: &[u8]) -> u16 {
    checksum(&[bytes])
}

/// An IPv4 datagram, or a piece of one, from 10.0.0.1 to 10.0.0.2 in an Ethernet frame.
fn ipv4(protocol: u8, identification: u8, offset: u16, data: &[u8]) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
    let mut header = vec![0x45, 0, 0, 0, 0, identification, 0, 0, 64, protocol, 0, 0];
    header.extend([10, 0, 0, 1, 10, 0, 0, 2]);
    header[2..4].copy_from_slice(&u16::try_from(20 + data.len()).unwrap().to_be_bytes());
    header[6..8].copy_from_slice(&offset.to_be_bytes());
    let checksum = sum(&header).to_be_bytes();
    header[10..12].copy_from_slice(&checksum);
    frame.extend(header);
    frame.extend(data);
    frame
}

fn ping(content: &[u8]) -> Vec<u8> {
    let mut message = vec![8, 0, 0, 0, 1, 2, 3, 4];
    message.extend(content);
    let checksum = sum(&message).to_be_bytes();
    message[2..4].copy_from_slice(&checksum);
    message
}

/// A UDP datagram from port 5000 without a checksum.
fn datagram(port: u16, content: &[u8]) -> Vec<u8> {
    let mut message = vec![0x13, 0x88];
    message.extend(port.to_be_bytes());
    message.extend(u16::try_from(8 + content.len()).unwrap().to_be_bytes());
    message.extend([0, 0]);
    message.extend(content);
    message
}

struct Fed {
    report: Report,
    seen: Seen,
    answers: Vec<(u64, Vec<u8>)>,
    file: Vec<u8>,
}

/// Feeds frames at their times, in nanoseconds, to a mirror that echoes on port 7.
fn feed(frames: &[(u64, Vec<u8>)]) -> Fed {
    let directory = tempfile::tempdir().unwrap();
    let (read, write) = (
        directory.path().join("in.pcapng"),
        directory.path().join("out.pcapng"),
    );
    let mut writer = Writer::create(&read, "wire", LinkType::Ethernet).unwrap();
    for (time_ns, frame) in frames {
        writer
            .write(Duration::from_nanos(*time_ns), frame, Direction::In)
            .unwrap();
    }
    writer.finish().unwrap();
    let program = mirror();
    let devices = vec![Address::Capture(read, Some(write.clone())).open().unwrap()];
    let clock = Clock::starting_with(&devices);
    let applications: [ApplicationArgument; 1] = ["datagrams(port=7)=echo".parse().unwrap()];
    let settings = settings(&[("address", "10.0.0.2"), ("mac", "02:00:00:00:00:02")]);
    let places = Places {
        settings: &settings,
        applications: &applications,
    };
    let mut host = start(&program, devices, &places, clock).unwrap();
    host.run(&Until {
        stop: &AtomicBool::new(false),
        after: None,
    })
    .unwrap();
    Fed {
        report: host.report(),
        seen: host.seen(),
        answers: frames_of(&write),
        file: std::fs::read(&write).unwrap(),
    }
}

fn frames_of(path: &Path) -> Vec<(u64, Vec<u8>)> {
    let mut reader = Reader::open(path).unwrap();
    let mut frames = Vec::new();
    while let Some(frame) = reader.next_frame().unwrap() {
        frames.push((u64::try_from(frame.time.as_nanos()).unwrap(), frame.bytes));
    }
    frames
}

#[test]
fn a_capture_is_answered_at_its_own_times() {
    let request = ping(b"hello");
    let fed = feed(&[
        (1_000_000_000, ipv4(1, 1, 0, &request)),
        (1_500_000_000, ipv4(17, 2, 0, &datagram(7, b"echo me"))),
        (1_500_000_000, ipv4(17, 3, 0, &datagram(8, b"nobody"))),
        (1_600_000_000, vec![1, 2, 3]),
    ]);
    assert!(fed.report.adds_up());
    assert_eq!((fed.report.frames_in, fed.report.frames_out), (4, 2));
    assert_eq!((fed.report.consumed, fed.report.delivered), (1, 1));
    let dropped: Vec<_> = fed
        .report
        .dropped
        .iter()
        .map(|(name, n)| (name.as_str(), *n))
        .collect();
    assert_eq!(dropped, [("mirror.no_port", 1), ("mirror.too_short", 1)]);
    let [(ping_ns, reply), (echo_ns, echo)] = fed.answers.as_slice() else {
        panic!("{} answers", fed.answers.len());
    };
    assert_eq!((*ping_ns, *echo_ns), (1_000_000_000, 1_500_000_000));
    assert_eq!(reply[34], 0);
    assert_eq!(reply[38..], request[4..]);
    assert_eq!(&echo[42..], b"echo me");
    assert_eq!(
        echo[34..38],
        [0, 7, 0x13, 0x88],
        "the attributes were relayed"
    );
}

#[test]
fn the_same_capture_gives_the_same_answers_byte_for_byte() {
    let frames: Vec<_> = (0..200_u8)
        .map(|number| {
            (
                u64::from(number) * 1000,
                ipv4(1, number, 0, &ping(&[number; 200])),
            )
        })
        .collect();
    let (first, second) = (feed(&frames), feed(&frames));
    assert_eq!(first.answers.len(), 200);
    assert_eq!(first.file, second.file);
}

#[test]
fn timers_run_on_after_the_last_frame() {
    let more = 0x2000;
    let fed = feed(&[(0, ipv4(1, 1, more, &[0; 64]))]);
    assert_eq!(fed.report.dropped.get("mirror.timeout"), Some(&1));
    assert_eq!(fed.report.held, 0);
    assert!(fed.report.adds_up());
}

#[test]
fn pieces_that_are_put_together_are_merged_into_one_message() {
    let whole = datagram(7, &[9; 100]);
    let more = 0x2000;
    let fed = feed(&[
        (0, ipv4(17, 1, 8, &whole[64..])),
        (5, ipv4(17, 1, more, &whole[..64])),
    ]);
    assert_eq!((fed.report.delivered, fed.report.merged), (1, 1));
    assert!(fed.report.adds_up());
    assert_eq!(fed.answers[0].1[42..], [9; 100]);
}

#[test]
fn a_frame_that_is_longer_than_the_buffers_is_cut_and_counted() {
    let fed = feed(&[(0, ipv4(1, 1, 0, &ping(&[7; 5000])))]);
    assert_eq!(fed.seen.cut, 1);
    assert_eq!(fed.report.dropped.get("mirror.too_short"), Some(&1));
}

#[test]
fn wrong_settings_and_keys_are_refused_by_name() {
    let program = mirror();
    let failure = |pairs: &[(&str, &str)], application: &str| {
        let settings = settings(pairs);
        let applications = [application.parse().unwrap()];
        let places = Places {
            settings: &settings,
            applications: &applications,
        };
        let clock = Clock::Virtual { now_ns: 0 };
        start(&program, Vec::new(), &places, clock)
            .map(|_| ())
            .unwrap_err()
            .message
    };
    let fine = "datagrams(port=7)=echo";
    assert_eq!(
        failure(&[("adress", "1")], fine),
        "there is no setting `adress`: did you mean `address`?"
    );
    assert!(failure(&[("prefix", "32")], fine).contains("does not fit into 5 bits"));
    assert!(failure(&[("address", "0")], fine).contains("does not start with this configuration"));
    assert!(failure(&[], "streams=echo").contains("no port `streams`: the only one is datagrams"));
    assert!(failure(&[], "datagrams(peer=10.0.0.1)=echo").contains("also needs a value for port"));
    assert!(failure(&[], "datagrams(port=0)=echo").contains("refuses this session"));
}

/// A private link for this thread and its children; none where the machine does not allow it.
fn private_link() -> Option<PrivateLink> {
    match namespace::enter() {
        Ok(link) => {
            println!("over {}", link.description);
            Some(link)
        }
        Err(reason) => {
            println!("skipped: no private network can be made here ({reason})");
            None
        }
    }
}

#[test]
fn the_kernel_gets_its_pings_and_datagrams_back() {
    if let Some(link) = private_link() {
        converses(link);
    }
}

#[test]
fn a_simulated_neighbour_gets_the_same_back_and_the_same_every_time() {
    let directory = tempfile::tempdir().unwrap();
    let captures = ["first.pcapng", "second.pcapng"].map(|name| directory.path().join(name));
    for capture in &captures {
        let stop = Arc::new(AtomicBool::new(false));
        let plan = Plan {
            pings: 50,
            datagrams: 200,
            seed: 5,
            capture: capture.clone(),
            stop,
        };
        let outcomes = simulate(&mirror(), &plan).unwrap();
        outcomes.verdict(&plan).unwrap();
    }
    let [first, second] = captures.map(|capture| std::fs::read(capture).unwrap());
    assert_eq!(first, second);
}

fn converses(link: PrivateLink) {
    let directory = tempfile::tempdir().unwrap();
    let capture: PathBuf = directory.path().join("demo.pcapng");
    let stop = Arc::new(AtomicBool::new(false));
    let plan = Plan {
        pings: 100,
        datagrams: 500,
        seed: 1,
        capture: capture.clone(),
        stop,
    };
    let outcomes = converse(&mirror(), link.device, &plan).unwrap();
    assert!(outcomes.pings.is_whole(100), "{:?}", outcomes.pings);
    assert!(outcomes.datagrams.is_whole(500), "{:?}", outcomes.datagrams);
    outcomes.verdict(&plan).unwrap();
    let recorded = frames_of(&capture);
    let passed = outcomes.report.frames_in + outcomes.report.frames_out;
    assert_eq!(recorded.len() as u64, passed);
    let to_kernel = |frame: &[u8]| frame.get(30..34) == Some(&namespace::KERNEL.octets());
    assert!(recorded.iter().any(|(_, frame)| to_kernel(frame)));
}

#[test]
fn a_veth_and_a_packet_socket_do_as_well_as_a_tap() {
    if unshare(CloneFlags::CLONE_NEWNET).is_err() {
        println!("skipped: no network namespace can be made here");
        return;
    }
    converses(namespace::veth().unwrap());
}

/// Waits a moment for a frame that is the right one.
fn receive(device: &mut dyn Device, right: impl Fn(&[u8]) -> bool) -> Option<Vec<u8>> {
    let end = Instant::now() + Duration::from_secs(5);
    let mut room = [0; 2048];
    while Instant::now() < end {
        match device.receive(&mut room, 0).unwrap() {
            Some(length) if right(&room[..length]) => return Some(room[..length].to_vec()),
            Some(_) => {}
            None => std::thread::yield_now(),
        }
    }
    None
}

/// The sum of what an IPv4 packet carries, with its pseudo header: zero if it is right.
fn carried_sum(packet: &[u8]) -> u16 {
    let carried = &packet[20..];
    let length = u16::try_from(carried.len()).unwrap().to_be_bytes();
    let pseudo = [&packet[12..20], &[0, packet[9]], &length].concat();
    sum(&[&pseudo, carried].concat())
}

#[test]
fn with_virtio_the_kernel_hands_over_many_datagrams_at_once_and_leaves_their_sums() {
    if unshare(CloneFlags::CLONE_NEWNET).is_err() {
        println!("skipped: no network namespace can be made here");
        return;
    }
    for (name, kind, before) in [("loom7", "tun", 0), ("loom6", "tap", 14)] {
        let address: Address = format!("{kind}:{name},virtio").parse().unwrap();
        let Ok(mut device) = address.open() else {
            println!("skipped: there are no {kind} devices here");
            return;
        };
        let octet = 70 + before;
        netlink::add_address(name, Ipv4Addr::new(10, octet, 0, 1), 24).unwrap();
        let neighbour = Ipv4Addr::new(10, octet, 0, 2);
        if kind == "tap" {
            netlink::add_neighbour(name, neighbour, [2, 0, 0, 0, 0, 2]).unwrap();
        }
        let socket = UdpSocket::bind((Ipv4Addr::new(10, octet, 0, 1), 0)).unwrap();
        setsockopt(&socket, UdpGsoSegment, &100).unwrap();
        let train: Vec<u8> = (0..=249).collect();
        socket.send_to(&train, (neighbour, 9)).unwrap();
        let before = usize::from(before);
        for car in train.chunks(100) {
            let right = |frame: &[u8]| frame.ends_with(car);
            let frame = receive(device.as_mut(), right).unwrap();
            let packet = &frame[before..];
            assert_eq!((packet.len(), carried_sum(packet)), (28 + car.len(), 0));
        }
        setsockopt(&socket, UdpGsoSegment, &0).unwrap();
        socket.send_to(b"alone", (neighbour, 9)).unwrap();
        let frame = receive(device.as_mut(), |frame| frame.ends_with(b"alone")).unwrap();
        assert_eq!(carried_sum(&frame[before..]), 0);
        assert_eq!(device.due_ns(), None);
        answered(device.as_mut(), &socket, &frame, before);
    }
}

/// The datagram goes back, and the kernel takes it.
fn answered(device: &mut dyn Device, socket: &UdpSocket, frame: &[u8], before: usize) {
    let mut back = frame.to_vec();
    let (link, packet) = back.split_at_mut(before);
    if let Some((there, here)) = link.get_mut(..12).map(|both| both.split_at_mut(6)) {
        there.swap_with_slice(here);
    }
    let (from, to) = packet[12..20].split_at_mut(4);
    from.swap_with_slice(to);
    let (from, to) = packet[20..24].split_at_mut(2);
    from.swap_with_slice(to);
    assert!(device.send(&back, 0).unwrap());
    socket
        .set_read_timeout(Some(Duration::from_secs(5)))
        .unwrap();
    let mut room = [0; 16];
    let length = socket.recv(&mut room).unwrap();
    assert_eq!(&room[..length], b"alone");
}

#[test]
fn a_tun_carries_packets_and_a_packet_socket_carries_frames() {
    let Some(mut link) = private_link() else {
        return;
    };
    let Ok(mut tun) = Address::Tun("loom9".to_string(), Offload::None).open() else {
        println!("skipped: there are no TUN devices here");
        return;
    };
    netlink::add_address("loom9", Ipv4Addr::new(10, 78, 0, 1), 24).unwrap();
    let socket = UdpSocket::bind("10.78.0.1:0").unwrap();
    socket.send_to(b"down the tunnel", "10.78.0.2:9").unwrap();
    let packet = receive(tun.as_mut(), |packet| packet[0] == 0x45).unwrap();
    assert!(packet.ends_with(b"down the tunnel"));

    let mut packets = Address::Packet("loom0".to_string()).open().unwrap();
    let frame = [&[0xff; 6][..], &[2, 0, 0, 0, 0, 9, 0x88, 0xb5], &[42; 50]].concat();
    assert!(link.device.send(&frame, 0).unwrap());
    assert_eq!(
        receive(packets.as_mut(), |found| found == frame),
        Some(frame.clone())
    );
    let answer = [&frame[..14], &[43; 50]].concat();
    assert!(packets.send(&answer, 0).unwrap());
    assert_eq!(
        receive(link.device.as_mut(), |found| found == answer),
        Some(answer)
    );
    let missing = Address::Packet("loom8".to_string())
        .open()
        .map(|_| ())
        .unwrap_err();
    assert_eq!(missing.message, "packet:loom8: there is no such interface");
}
