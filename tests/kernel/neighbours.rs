//! Neighbours that are silent, that move, and that ask whether we are still there.

use super::namespace::Namespace;
use super::sockets::{Udp, pinged};
use super::station::{Station, add_up, heard, peer, until};

const SETTINGS: &str = "mac=2 address=10.0.0.2 gateway=0 address6=fd00::2 gateway6=:: \
                        careful=false carried=1500";

/// The kernel, and a host that talks to it and to somebody who is not there, on both networks.
fn beside_the_kernel() -> Option<(Namespace, [Station; 1])> {
    let namespace = Namespace::new()?;
    let device = namespace.addressed_wire("loom0", &["10.0.0.1/24", "fd00::1/64"]);
    let conversations = [
        "datagrams(peer=10.0.0.1,peer_port=9)=sink",
        "datagrams(peer=10.0.0.9,peer_port=9)=sink",
        "datagrams6(peer=fd00::1,peer_port=9)=sink",
        "datagrams6(peer=fd00::9,peer_port=9)=sink",
    ];
    let mut stations = [Station::start(peer(), device, SETTINGS, &conversations)];
    // Its addresses are its own from now on.
    pinged(&namespace, &mut stations, "fd00::2", 1);
    Some((namespace, stations))
}

#[test]
fn who_sends_to_a_neighbour_that_is_silent_is_told_and_nobody_else() {
    let Some((namespace, mut stations)) = beside_the_kernel() else {
        return;
    };
    let sockets = ["10.0.0.1:9", "[fd00::1]:9"].map(|address| Udp::bind(&namespace, address));
    for conversation in 0..4 {
        assert!(stations[0].send(conversation, b"is somebody there?"));
    }
    //= rfc1122#3.2.2.1, rfc4861#7.2.2  three questions, and then no host is there
    for conversation in [1, 3] {
        assert_eq!(heard(&mut stations, conversation, 1), ["failed"]);
    }
    for socket in &sockets {
        socket.hears(&mut stations, b"is somebody there?");
    }
    for conversation in [0, 2] {
        assert_eq!(stations[0].hear(conversation), [""; 0]);
    }
    for reason in ["unsent ipv4.unresolved", "unsent ipv6.unresolved"] {
        assert_eq!(stations[0].counted(reason), 1, "{reason}");
    }
    add_up(&stations);
}

#[test]
fn a_neighbour_that_moves_is_found_again_as_soon_as_it_speaks() {
    let Some((namespace, mut stations)) = beside_the_kernel() else {
        return;
    };
    let sockets = ["10.0.0.1:9", "[fd00::1]:9"].map(|address| Udp::bind(&namespace, address));
    for mac in ["02:00:00:00:00:11", "02:00:00:00:00:12"] {
        namespace.ip(&format!("link set loom0 address {mac}"));
        namespace.ip("neighbour flush dev loom0");
        //= rfc826, rfc4861#7.2.3  the kernel asks for us, and says with it who it is
        for to in ["10.0.0.2", "fd00::2"] {
            pinged(&namespace, &mut stations, to, 100);
        }
        for (socket, conversation) in sockets.iter().zip([0, 2]) {
            assert!(stations[0].send(conversation, mac.as_bytes()));
            socket.hears(&mut stations, mac.as_bytes());
        }
    }
    // Nothing else asked in between.
    assert_eq!(stations[0].counted("unsent ipv4.unresolved"), 0);
    add_up(&stations);
}

#[test]
fn the_kernel_probes_us_when_it_has_not_heard_of_us_and_finds_us_reachable() {
    let Some((namespace, mut stations)) = beside_the_kernel() else {
        return;
    };
    for network in ["ipv4", "ipv6"] {
        let parameter = |name: &str| format!("{network}/neigh/loom0/{name}");
        namespace.set(&parameter("base_reachable_time_ms"), "500");
        namespace.set(&parameter("delay_first_probe_time"), "1");
    }
    namespace.ip("neighbour flush dev loom0");
    let sockets = ["10.0.0.1:9", "[fd00::1]:9"].map(|address| Udp::bind(&namespace, address));
    let places = [("10.0.0.2", "10.0.0.2:7"), ("fd00::2", "[fd00::2]:7")];
    for (socket, (address, place)) in sockets.iter().zip(places) {
        pinged(&namespace, &mut stations, address, 1);
        let state = |stations: &mut [Station; 1], wanted: &[&str]| {
            let mut turns = 0_u32;
            until(
                stations,
                &format!("that {address} is {}", wanted.join(" or ")),
                |_| {
                    turns += 1;
                    let due = turns.is_multiple_of(100);
                    let said = due.then(|| namespace.ip(&format!("neighbour show {address}")))?;

                    wanted
                        .iter()
                        .any(|wanted| said.contains(wanted))
                        .then_some(())
                },
            );
        };
        // Nothing confirms but an answer to its probe.
        state(&mut stations, &["STALE", "DELAY", "PROBE"]);
        socket.send(place, b"nobody listens there");
        state(&mut stations, &["DELAY", "PROBE"]);
        state(&mut stations, &["REACHABLE"]);
    }
    add_up(&stations);
}
