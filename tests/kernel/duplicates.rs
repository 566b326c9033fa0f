//! Addresses that two would like to have.

use super::namespace::Namespace;
use super::sockets::pinged;
use super::station::{Station, add_up, pass, peer, until};
use std::time::Duration;

/// A host that asks first, for both of its addresses, and talks to the kernel on both networks.
fn host(namespace: &Namespace, address: &str, address6: &str) -> [Station; 1] {
    let device = namespace.addressed_wire("loom0", &["10.0.0.1/24", "fd00::1/64"]);
    let settings = format!(
        "mac=2 address={address} gateway=0 address6={address6} gateway6=:: careful=true \
         carried=1500"
    );
    let conversations = [
        "datagrams(peer=10.0.0.3,peer_port=9)=sink",
        "datagrams6(peer=fd00::3,peer_port=9)=sink",
    ];
    [Station::start(peer(), device, &settings, &conversations)]
}

#[test]
fn addresses_that_the_kernel_has_are_left_to_it() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let mut stations = host(&namespace, "10.0.0.1", "fd00::1");
    //= rfc5227#2.1.1, rfc4862#5.4.4  somebody answers
    until(
        &mut stations,
        "an objection of the kernel to both",
        |stations| {
            let counts = ["arp", "discovery"].map(|layer| format!("count {layer}.address_in_use"));
            counts
                .iter()
                .all(|name| stations[0].counted(name) == 1)
                .then_some(())
        },
    );
    pass(&mut stations, Duration::from_secs(3));
    // And from then on nothing is sent from them.
    for conversation in [0, 1] {
        stations[0].send(conversation, b"from whom?");
    }
    for reason in ["unsent arp.no_address", "unsent discovery.no_address"] {
        assert_eq!(stations[0].counted(reason), 1, "{reason}");
    }
    let shown = namespace.ip("address show dev loom0");
    assert!(
        !shown.contains("dadfailed"),
        "the kernel keeps its own: {shown}"
    );
    add_up(&stations);
}

#[test]
fn an_address_that_nobody_has_is_used_after_it_was_asked_for() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let mut stations = host(&namespace, "10.0.0.2", "fd00::2");
    for to in ["10.0.0.2", "fd00::2"] {
        pinged(&namespace, &mut stations, to, 100);
    }
    for name in ["count arp.address_in_use", "count discovery.address_in_use"] {
        assert_eq!(stations[0].counted(name), 0, "{name}");
    }
    add_up(&stations);
}

#[test]
fn the_kernel_leaves_us_the_address_that_we_have() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let mut stations = host(&namespace, "10.0.0.2", "fd00::2");
    pinged(&namespace, &mut stations, "fd00::2", 1);
    //= rfc4862#5.4.3  the kernel asks, and we say that it is ours
    namespace.ip("address add fd00::2/64 dev loom0");
    let mut turns = 0_u32;
    until(&mut stations, "that the kernel gives it up", |_| {
        turns += 1;
        let shown = turns
            .is_multiple_of(100)
            .then(|| namespace.ip("address show dev loom0"))?;
        shown.contains("dadfailed").then_some(())
    });
    add_up(&stations);
}
