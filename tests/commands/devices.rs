//! run, on devices of the Linux kernel, in network namespaces of their own.

use super::building::example;
use super::shell::{Running, Said, Shell};
use nix::sched::{CloneFlags, unshare};
use stackloom::tool::netlink;
use stackloom::tool::peer::{self, Task};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::{Duration, Instant};

const KERNEL: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const STACK: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
pub const SETTINGS: &[&str] = &[
    "--set",
    "address=10.0.0.2",
    "--set",
    "prefix=24",
    "--set",
    "mac=2",
];

/// A network for this thread and its children, in which nothing is but what it makes.
pub fn is_alone() -> bool {
    let alone = unshare(CloneFlags::CLONE_NEWNET).is_ok();
    if !alone {
        println!("skipped: only root makes network namespaces");
    }
    alone
}

/// Starts an example on a device and gives the kernel's end its address; none where the machine
/// has no such devices.
pub fn start(shell: &Shell, stack: &str, words: &[&str], interface: &str) -> Option<Running> {
    let stack = example(stack);
    let mut running = shell.start(shell.command(&[&["run", &stack], words].concat()));
    let end = Instant::now() + Duration::from_secs(30);
    while !running.note().contains("Ctrl-C ends it") {
        if running.has_ended() || Instant::now() > end {
            println!("skipped: {}", running.note());
            return None;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    netlink::add_address(interface, KERNEL, 24).expect("root sets addresses");
    Some(running)
}

/// The kernel sends so many pings, and as many datagrams to port 7: all come back.
pub fn converse(pings: u64, datagrams: u64) {
    let end = Instant::now() + Duration::from_secs(30);
    let task = |count| Task {
        count,
        longest: 4000,
        window: 1,
        seed: 3,
    };
    let alive = |_: u64| Instant::now() < end;
    let outcome = peer::ping(KERNEL, STACK, task(pings), &alive).expect("sockets");
    assert!(outcome.is_whole(pings), "{outcome:?}");
    let port = SocketAddrV4::new(STACK, 7);
    let outcome = peer::datagrams(KERNEL, port, task(datagrams), &alive).expect("sockets");
    assert!(outcome.is_whole(datagrams), "{outcome:?}");
}

/// The report of a run that is interrupted now.
pub fn report(running: Running) -> serde_json::Value {
    running.interrupt();
    let said: Said = running.end();
    assert!(said.result.ends_with("}\n"), "{}", said.result);
    serde_json::from_str(&said.fine()).expect("JSON")
}

#[test]
fn a_tap_connects_a_stack_with_the_kernel() {
    if !is_alone() {
        return;
    }
    let shell = Shell::new();
    let words = [
        "--json",
        "--link",
        "tap=tap:loom3",
        "--app",
        "datagrams(port=7)=echo",
    ];
    let words = [SETTINGS, &words].concat();
    let Some(running) = start(&shell, "host/host.loom", &words, "loom3") else {
        return;
    };
    converse(5, 20);
    let report = report(running);
    assert_eq!(report["delivered"], 20, "{report}");
}

#[test]
fn a_tun_connects_a_stack_with_the_kernel() {
    if !is_alone() {
        return;
    }
    let shell = Shell::new();
    let words = [
        "--json",
        "--link",
        "tun=tun:loom4",
        "--set",
        "address=10.0.0.2",
    ];
    let Some(running) = start(&shell, "ping/ping.loom", &words, "loom4") else {
        return;
    };
    let end = Instant::now() + Duration::from_secs(30);
    let task = Task {
        count: 10,
        longest: 1000,
        window: 1,
        seed: 3,
    };
    let outcome = peer::ping(KERNEL, STACK, task, &|_| Instant::now() < end).expect("sockets");
    assert!(outcome.is_whole(10), "{outcome:?}");
    assert!(report(running)["consumed"].as_u64() >= Some(10));
}

#[test]
fn a_packet_socket_connects_a_stack_with_the_kernel() {
    if !is_alone() {
        return;
    }
    netlink::make_veth("loom5", "loom6").expect("root makes interfaces");
    netlink::bring_up("loom5").expect("root sets them");
    netlink::bring_up("loom6").expect("root sets them");
    let shell = Shell::new();
    let words = [
        "--json",
        "--link",
        "tap=packet:loom6",
        "--app",
        "datagrams(port=7)=echo",
    ];
    let words = [SETTINGS, &words].concat();
    let running = start(&shell, "host/host.loom", &words, "loom5");
    let running = running.expect("a packet socket attaches to what is there");
    converse(5, 20);
    assert_eq!(report(running)["delivered"], 20);
}
