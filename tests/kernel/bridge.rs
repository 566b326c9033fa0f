//! Two stacks and the kernel on one bridge.

use super::namespace::Namespace;
use super::sockets::{Udp, content, pinged};
use super::station::{Station, add_up, peer, until};

/// A host on a port of the bridge: both echo, and each has a conversation with the kernel and one
/// with the other host, on each network.
fn host(namespace: &Namespace, own: u8, other: u8) -> Station {
    let name = format!("loom{own}");
    let device = namespace.wire(&name, 1500);
    namespace.ip(&format!("link set {name} master bridge0"));
    let settings = format!(
        "mac={own} address=10.0.0.{own} gateway=0 address6=fd00::{own} gateway6=:: \
         careful=false carried=1500"
    );
    let conversations = [
        "datagrams(peer=10.0.0.1,peer_port=9)=sink".to_string(),
        format!("datagrams(port=9,peer=10.0.0.{other},peer_port=9)=sink"),
        "datagrams6(peer=fd00::1,peer_port=9)=sink".to_string(),
        format!("datagrams6(port=9,peer=fd00::{other},peer_port=9)=sink"),
    ];
    let conversations = conversations.each_ref().map(String::as_str);
    Station::start(peer(), device, &settings, &conversations)
}

const WITH_KERNEL: [usize; 2] = [0, 2];
const WITH_EACH_OTHER: [usize; 2] = [1, 3];

#[test]
fn two_hosts_and_the_kernel_talk_on_one_bridge_all_at_once() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    namespace.ip("link add bridge0 type bridge");
    namespace.ip("link set bridge0 up");
    namespace.add_addresses("bridge0", &["10.0.0.1/24", "fd00::1/64"]);
    let mut stations = [host(&namespace, 2, 3), host(&namespace, 3, 2)];
    let sockets = ["10.0.0.1:9", "[fd00::1]:9"].map(|address| Udp::bind(&namespace, address));
    // Each asks first whether somebody has its addresses.
    for to in ["fd00::2", "fd00::3", "10.0.0.2", "10.0.0.3"] {
        pinged(&namespace, &mut stations, to, 4000);
    }
    for length in [1, 1400, 4000] {
        for station in &mut stations {
            for conversation in 0..4 {
                assert!(station.send(conversation, &content(length)));
            }
        }
        // The kernel sends back what it hears, and knows by then who said it.
        let mut left = [2, 2];
        until(&mut stations, "what both send to the kernel", |_| {
            for (socket, left) in sockets.iter().zip(&mut left) {
                if let Some((message, from)) = socket.receive() {
                    assert!(message == content(length), "from {from}");
                    socket.send(&from.to_string(), &message);
                    *left -= 1;
                }
            }
            (left == [0, 0]).then_some(())
        });
        for at in 0..2 {
            for conversation in WITH_KERNEL.into_iter().chain(WITH_EACH_OTHER) {
                let came = until(&mut stations, "what the others send", |stations| {
                    stations[at].take(conversation).pop()
                });
                assert!(came == content(length), "{conversation} of host {at}");
            }
        }
    }
    add_up(&stations);
    for station in &stations {
        assert_eq!(station.report().unsent.len(), 0, "{station}");
    }
}
