//! Messages of many sizes over links of many sizes, on both networks.

use super::namespace::Namespace;
use super::sockets::{self, content, pinged};
use super::station::{Station, add_up, peer, until};
use crate::end::load;
use stackloom::tool::device::Udp;
use stackloom::tool::stack::Program;
use std::net::Ipv4Addr;

const SETTINGS: &str =
    "mac=2 address=10.0.0.2 gateway=0 address6=fd00::2 gateway6=:: careful=false";
const ECHO: &[&str] = &["datagrams(port=7)=echo", "datagrams6(port=7)=echo"];

/// A host on a link that carries so much, beside the kernel.
fn beside_the_kernel(carried: u32) -> Option<(Namespace, Station)> {
    let namespace = Namespace::new()?;
    let device = namespace.wire("loom0", carried);
    namespace.add_addresses("loom0", &["10.0.0.1/24"]);
    if carried >= 1280 {
        namespace.add_addresses("loom0", &["fd00::1/64"]);
    }
    // On a narrow link each of 64 pieces has a buffer.
    let settings = format!("{SETTINGS} carried={carried} buffers=128 outputs=128 events=512");
    Some((namespace, Station::start(peer(), device, &settings, ECHO)))
}

/// Messages that just fit into a frame, just do not, and need some more.
fn sizes(carried: usize, headers: usize, most: usize) -> Vec<usize> {
    let whole = carried - headers;
    let all = [0, 1, whole - 1, whole, whole + 1, 2 * whole + 9, most];
    all.into_iter().filter(|size| *size <= most).collect()
}

#[test]
fn messages_of_ipv4_pass_where_frames_carry_from_68_to_9000_bytes() {
    for carried in [68, 100, 576, 1500, 4096, 9000] {
        let Some((namespace, station)) = beside_the_kernel(carried) else {
            return;
        };
        let mut stations = [station];
        let socket = sockets::Udp::bind(&namespace, "10.0.0.1:0");
        // A message has 64 pieces at most, and fits into a buffer.
        let carried = carried as usize;
        let most = ((carried - 20) / 8 * 8 * 64 - 8).min(16_000);
        for size in sizes(carried, 28, most) {
            socket.echoed(&mut stations, "10.0.0.2:7", &content(size));
        }
        pinged(&namespace, &mut stations, "10.0.0.2", most);
        add_up(&stations);
    }
}

#[test]
fn messages_of_ipv6_pass_where_frames_carry_from_1280_to_9000_bytes() {
    for carried in [1280, 1281, 1500, 9000] {
        let Some((namespace, station)) = beside_the_kernel(carried) else {
            return;
        };
        let mut stations = [station];
        pinged(&namespace, &mut stations, "fd00::2", 16_000);
        let socket = sockets::Udp::bind(&namespace, "[fd00::1]:0");
        for size in sizes(carried as usize, 48, 16_000) {
            socket.echoed(&mut stations, "[fd00::2]:7", &content(size));
        }
        add_up(&stations);
    }
}

#[test]
fn a_link_of_ten_bytes_carries_six_of_a_message() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let program: &'static Program = Box::leak(Box::new(load("examples/radio/radio.loom")));
    let mut stations = [(7001, 7002), (7002, 7001)].map(|(own, other)| {
        let device = namespace.run(move || {
            let [own, other] = [own, other].map(|port| (Ipv4Addr::LOCALHOST, port).into());
            Udp::open(own, Some(other))
        });
        let device = Box::new(device.expect("a socket"));
        Station::start(program, device, "buffers=16", &[])
    });
    for message in [&[1; 6][..], &[2], &[], &[3; 6]] {
        for (from, to) in [(0, 1), (1, 0)] {
            assert!(stations[from].send(0, message));
            let came = until(&mut stations, "a frame of ten bytes", |stations| {
                stations[to].take(0).pop()
            });
            assert_eq!(came, message);
        }
    }
    add_up(&stations);
}
