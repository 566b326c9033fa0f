//! A slot with a key of its own, beside a kernel that has no slot, and beside another such slot.

use super::namespace::Namespace;
use super::sockets::{Udp, pinged};
use super::station::{Station, add_up, boosted, until};

fn host(namespace: &Namespace, own: u8, peer: u8) -> Station {
    let name = format!("loom{own}");
    let device = namespace.wire(&name, 1500);
    namespace.ip(&format!("link set {name} master bridge0"));
    let settings = format!("mac={own} address=10.0.0.{own}");
    let conversation = format!("datagrams(port=9,peer=10.0.0.{peer},peer_port=9)=sink");
    Station::start(boosted(), device, &settings, &[&conversation])
}

fn bridge() -> Option<Namespace> {
    let namespace = Namespace::new()?;
    namespace.ip("link add bridge0 type bridge");
    namespace.ip("link set bridge0 up");
    namespace.add_addresses("bridge0", &["10.0.0.1/24"]);
    Some(namespace)
}

#[test]
fn a_far_end_without_a_slot_gets_what_the_first_layer_makes() {
    let Some(namespace) = bridge() else {
        return;
    };
    let mut stations = [host(&namespace, 2, 1)];
    let socket = Udp::bind(&namespace, "10.0.0.1:9");
    for count in 0..20_u8 {
        pinged(&namespace, &mut stations, "10.0.0.2", 1);
        assert!(stations[0].send(0, &[count]));
        socket.hears(&mut stations, &[count]);
        socket.send("10.0.0.2:9", &[count, count]);
        let came = until(&mut stations, "an answer", |stations| {
            stations[0].take(0).pop()
        });
        assert_eq!(came, [count, count]);
    }
    assert_eq!(stations[0].counted("count repair_eager.seen"), 0);
    // Both layers have room for 848 bytes, with the headers of IPv4 and UDP.
    assert!(stations[0].send(0, &[7; 820]));
    socket.hears(&mut stations, &[7; 820]);
    assert!(!stations[0].send(0, &[7; 821]));
    add_up(&stations);
}

#[test]
fn a_far_end_with_a_slot_is_asked_and_swaps() {
    let Some(namespace) = bridge() else {
        return;
    };
    let mut stations = [host(&namespace, 2, 3), host(&namespace, 3, 2)];
    let mut number = 0_u32;
    let has_seen = |station: &Station| station.counted("count repair_eager.seen") > 0;
    until(&mut stations, "that both ends have swapped", |stations| {
        number += 1;
        let done = stations.iter().all(has_seen);
        if number.is_multiple_of(8) {
            for station in &mut *stations {
                station.send(0, b"how are you?");
            }
        }
        done.then_some(())
    });
    for count in 0..20_u8 {
        for (from, to) in [(0, 1), (1, 0)] {
            let long = [count; 820];
            assert!(stations[from].send(0, &long));
            until(&mut stations, "the message", |stations| {
                let came = stations[to].take(0);
                came.contains(&long.to_vec()).then_some(())
            });
        }
    }
    add_up(&stations);
}
