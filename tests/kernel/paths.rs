//! Paths behind a router that are narrower than our own link, and what is refused on the way.

use super::namespace::Namespace;
use super::sockets::{Ping, Udp, content, pinged};
use super::station::{Station, add_up, heard, peer, until, whole};
use std::io::ErrorKind;

/// A router, the kernel's end of our link; behind a narrow cable another host.
struct Path {
    router: Namespace,
    far: Namespace,
}

impl Path {
    /// Whose second cable carries so much.
    fn new(narrow: u32) -> Option<Path> {
        let (router, far) = (Namespace::new()?, Namespace::new()?);
        router.cable("far0", &far, "near0");
        for (namespace, cable) in [(&router, "far0"), (&far, "near0")] {
            namespace.ip(&format!("link set {cable} mtu {narrow}"));
        }
        router.set("ipv4/ip_forward", "1");
        router.set("ipv6/conf/all/forwarding", "1");
        router.add_addresses("far0", &["10.1.0.1/24", "fd01::1/64"]);
        far.add_addresses("near0", &["10.1.0.2/24", "fd01::2/64"]);
        far.ip("route add default via 10.1.0.1");
        far.ip("route add default via fd01::1");
        Some(Path { router, far })
    }

    /// Our link, with the router's addresses on it.
    fn link(&self) -> Box<dyn stackloom::tool::device::Device + Send> {
        self.router
            .addressed_wire("loom0", &["10.0.0.1/24", "fd00::1/64"])
    }
}

#[test]
fn a_router_that_may_not_cut_says_so_and_the_conversation_hears_it() {
    let Some(path) = Path::new(1300) else { return };
    let conversations = [
        "datagrams(port=5,peer=10.1.0.2,peer_port=9)=sink",
        "datagrams(port=6,peer=10.1.0.2,peer_port=9)=sink",
        "datagrams(port=7)=echo",
    ];
    let settings = "mac=2 address=10.0.0.2 gateway=10.0.0.1";
    let mut stations = [Station::start(
        whole(),
        path.link(),
        settings,
        &conversations,
    )];
    let socket = Udp::bind(&path.far, "10.1.0.2:9");
    //= rfc1191#4  what is too long for the path is told to who sent it, with what would pass
    assert!(stations[0].send(0, &content(1400)));
    assert_eq!(heard(&mut stations, 0, 2), ["mtu 1272", "failed"]);
    assert_eq!(
        stations[0].hear(1),
        [""; 0],
        "it is not of this conversation"
    );
    assert!(stations[0].send(0, &content(1272)));
    socket.hears(&mut stations, &content(1272));
    // The other way the kernel learns it from its own router, and cuts nothing either.
    socket.echoed(&mut stations, "10.0.0.2:7", &content(1200));
    add_up(&stations);
}

#[test]
fn a_message_of_ipv6_is_cut_to_what_the_path_carries_once_the_router_has_told() {
    let Some(path) = Path::new(1280) else { return };
    let conversations = [
        "datagrams6(port=5,peer=fd01::2,peer_port=9)=sink",
        "datagrams6(port=6,peer=fd00::1,peer_port=9)=sink",
        "datagrams(port=5,peer=10.1.0.2,peer_port=9)=sink",
    ];
    let settings = "mac=2 address=10.0.0.2 gateway=10.0.0.1 address6=fd00::2 gateway6=fd00::1 \
                    careful=false carried=1500";
    let mut stations = [Station::start(
        peer(),
        path.link(),
        settings,
        &conversations,
    )];
    pinged(&path.far, &mut stations, "fd00::2", 3000);
    let [new, old] = ["[fd01::2]:9", "10.1.0.2:9"].map(|address| Udp::bind(&path.far, address));
    //= rfc8201#4  the first is lost, and what follows is cut to what the path carries
    assert!(stations[0].send(0, &content(1400)));
    // The application may send as much as before: it is cut.
    assert_eq!(heard(&mut stations, 0, 2), ["mtu 16376", "failed"]);
    assert_eq!(
        stations[0].hear(1),
        [""; 0],
        "it is not of this conversation"
    );
    for length in [1400, 1232, 1233, 9000] {
        assert!(stations[0].send(0, &content(length)));
        new.hears(&mut stations, &content(length));
    }
    //= rfc791#3.2  of IPv4 the router itself cuts what has a number
    assert!(stations[0].send(2, &content(1400)));
    old.hears(&mut stations, &content(1400));
    add_up(&stations);
}

#[test]
fn the_kernel_is_told_what_we_refuse() {
    let Some(path) = Path::new(1500) else { return };
    let settings = "mac=2 address=10.0.0.2 gateway=10.0.0.1 address6=fd00::2 gateway6=fd00::1 \
                    careful=false carried=1500";
    let conversations = ["datagrams(port=7)=echo", "datagrams6(port=7)=echo"];
    let mut stations = [Station::start(
        peer(),
        path.link(),
        settings,
        &conversations,
    )];
    for (own, there) in [("10.1.0.2:0", "10.0.0.2"), ("[fd01::2]:0", "[fd00::2]")] {
        pinged(&path.far, &mut stations, there.trim_matches(['[', ']']), 1);
        let socket = Udp::bind(&path.far, own);
        socket.connect(&format!("{there}:9"));
        //= rfc1122#4.1.3.1, rfc4443#3.1  nobody is at this port
        for length in [1, 1400] {
            assert_eq!(socket.try_send(&content(length)), Ok(length));
            let heard = until(&mut stations, "a refusal", |_| socket.error());
            assert_eq!(heard, ErrorKind::ConnectionRefused);
        }
    }
    add_up(&stations);
}

#[test]
fn what_never_reached_its_host_is_told_to_who_sent_it() {
    let Some(path) = Path::new(1500) else { return };
    let conversations = [
        "datagrams(port=5,peer=10.2.0.1,peer_port=9)=sink",
        "datagrams(port=6,peer=10.1.0.2,peer_port=9)=sink",
        "datagrams6(port=5,peer=fd02::1,peer_port=9)=sink",
        "datagrams6(port=6,peer=fd01::2,peer_port=9)=sink",
    ];
    let settings = "mac=2 address=10.0.0.2 gateway=10.0.0.1 address6=fd00::2 gateway6=fd00::1 \
                    careful=false carried=1500";
    let mut stations = [Station::start(
        peer(),
        path.link(),
        settings,
        &conversations,
    )];
    pinged(&path.router, &mut stations, "fd00::2", 1);
    //= rfc1122#4.1.3.3  the router knows no way, and nobody is at the port of the host
    for conversation in 0..4 {
        assert!(stations[0].send(conversation, b"hello"));
    }
    for conversation in 0..4 {
        assert_eq!(heard(&mut stations, conversation, 1), ["failed"]);
    }
    let ping = Ping::new(&path.far, "10.0.0.2".parse().expect("an address"));
    assert_eq!(ping.receive(), None);
    add_up(&stations);
}
