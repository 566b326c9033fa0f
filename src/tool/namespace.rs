//! The demo's private network: a network namespace with the Linux kernel on one side of a link and
//! our stack on the other.
//!
//! In: nothing. Out: the process is in a namespace of its own, and the device of our end. The
//! namespace has no name and lives as long as the process, so that it is gone however the process
//! ends, even by SIGKILL.
//!
//! ```text
//! as root:    kernel (loom0, 10.77.0.1) ---- TAP --------------------------- stack (10.77.0.2)
//! as anyone:  kernel (loom0, 10.77.0.1) ---- veth ---- loom1, packet socket - stack (10.77.0.2)
//! ```

use super::device::{Device, Packet};
use super::netlink;
use super::tunnel::{Offload, Tunnel};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getegid, geteuid};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use tun_rs::Layer;

/// The kernel's address on the link.
pub const KERNEL: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
/// The stack's address on the link.
pub const STACK: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);
/// How many bits of them name the network.
pub const PREFIX: u8 = 24;
/// The kernel's address of IPv6, which it has when `add_address6` has given it.
pub const KERNEL6: Ipv6Addr = Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 1);
/// The stack's.
pub const STACK6: Ipv6Addr = Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 2);
/// The link address of the stack.
pub const LINK_ADDRESS: &str = "02:00:00:00:00:02";

const KERNEL_END: &str = "loom0";
const STACK_END: &str = "loom1";

/// Our end of a private link to the kernel.
pub struct PrivateLink {
    /// What carries the stack's frames.
    pub device: Box<dyn Device + Send>,
    /// The same in words.
    pub description: &'static str,
}

/// Enters a network namespace and makes the link; why not, where the machine does not let us.
/// To be called while the process has one thread, because only that may enter a user namespace.
pub fn enter() -> Result<PrivateLink, String> {
    if geteuid().is_root() && unshare(CloneFlags::CLONE_NEWNET).is_ok() {
        return tap().or_else(|first| veth().map_err(|second| format!("{first}; {second}")));
    }
    enter_user_namespace()?;
    veth()
}

/// A TAP device in the network namespace of this thread.
pub fn tap() -> Result<PrivateLink, String> {
    let made = Tunnel::open(KERNEL_END, Layer::L2, Offload::None).and_then(|device| {
        netlink::add_address(KERNEL_END, KERNEL, PREFIX)?;
        Ok(device)
    });
    let device = made.map_err(|error| format!("cannot create a TAP device: {error}"))?;
    Ok(PrivateLink {
        device: Box::new(device),
        description: "a TAP device",
    })
}

/// A veth in the network namespace of this thread, with a packet socket at its far end.
pub fn veth() -> Result<PrivateLink, String> {
    let made = netlink::make_veth(KERNEL_END, STACK_END)
        .and_then(|()| netlink::finish_checksums(KERNEL_END))
        .and_then(|()| netlink::add_address(KERNEL_END, KERNEL, PREFIX))
        .and_then(|()| netlink::bring_up(KERNEL_END))
        .and_then(|()| netlink::bring_up(STACK_END))
        .and_then(|()| Packet::open(STACK_END));
    let device =
        made.map_err(|error| format!("cannot open a packet socket on a veth pair: {error}"))?;
    Ok(PrivateLink {
        device: Box::new(device),
        description: "a veth pair and a packet socket",
    })
}

/// Gives the kernel's end of the link its address of IPv6, where there is IPv6.
pub fn add_address6() -> io::Result<()> {
    netlink::add_address(KERNEL_END, KERNEL6, 64)
}

/// Lets the kernel's TCP, in our namespace alone, do as RFC 5681 says: what else it may be set to
/// needs times of a network that is none.
pub fn prefer_reno() {
    let file = "/proc/sys/net/ipv4/tcp_congestion_control";
    // Where that is not ours to say, the kernel's choice stays.
    std::fs::write(file, "reno").unwrap_or_default();
}

/// A network namespace of our own for who is not root: inside it, we may make interfaces.
fn enter_user_namespace() -> Result<(), String> {
    let (user, group) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET)
        .map_err(|errno| format!("cannot create a user namespace: {}", errno.desc()))?;
    // Whoever we are outside, we are inside too; where that is not allowed, we are nobody, and
    // may make interfaces all the same.
    let maps = [
        ("setgroups", "deny".to_string()),
        ("uid_map", format!("{user} {user} 1")),
        ("gid_map", format!("{group} {group} 1")),
    ];
    for (file, map) in maps {
        std::fs::write(format!("/proc/self/{file}"), map).unwrap_or_default();
    }
    Ok(())
}
