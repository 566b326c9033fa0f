//! A network namespace: a thread that lives in it, and does there what it is given.
//!
//! In: closures, and the words of `ip`. Out: what they answer. A socket that is made in a
//! namespace stays there, whoever uses it. The namespace has no name and ends with its thread, or
//! with the process.

use nix::sched::{CloneFlags, unshare};
use nix::unistd::geteuid;
use stackloom::tool::device::{Device, Packet};
use stackloom::tool::netlink;
use stackloom::tool::tunnel::{Offload, Tunnel};
use std::process::Command;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use tun_rs::Layer;

type Work = Box<dyn FnOnce() + Send>;

/// A network of its own.
pub struct Namespace {
    work: Sender<Work>,
    /// The thread, by the number that `ip` knows it by.
    thread: i32,
}

impl Namespace {
    /// A namespace in which nothing is; none where the machine does not allow it.
    pub fn new() -> Option<Namespace> {
        let (work, todo) = channel::<Work>();
        let (tell, told) = channel();
        thread::spawn(move || {
            let alone = unshare(CloneFlags::CLONE_NEWNET).map(|()| nix::unistd::gettid().as_raw());
            tell.send(alone).expect("it is waited for");
            todo.iter().for_each(|work| work());
        });
        let thread = match told.recv().expect("it says so") {
            Ok(thread) => thread,
            Err(reason) => {
                println!("skipped: no network namespace can be made here ({reason})");
                return None;
            }
        };
        let namespace = Namespace { work, thread };
        namespace.ip("link set lo up");
        Some(namespace)
    }

    /// Does something there.
    pub fn run<R: Send + 'static>(&self, what: impl FnOnce() -> R + Send + 'static) -> R {
        let (answer, answered) = channel();
        let work = move || drop(answer.send(what()));
        self.work.send(Box::new(work)).expect("its thread waits");
        answered.recv().expect("what is done there does not panic")
    }

    /// Lets `ip` do something there; answers what it printed.
    #[track_caller]
    pub fn ip(&self, words: &str) -> String {
        let words: Vec<String> = words.split(' ').map(str::to_string).collect();
        let said = self.run(move || Command::new("ip").args(words).output());
        let said = said.expect("the package iproute2 is installed");
        let wrong = String::from_utf8_lossy(&said.stderr);
        assert!(said.status.success(), "ip: {wrong}");
        String::from_utf8(said.stdout).expect("ip writes text")
    }

    /// Sets one of the kernel's parameters, by its path below `net`.
    #[track_caller]
    pub fn set(&self, parameter: &str, value: &str) {
        let (path, value) = (format!("/proc/sys/net/{parameter}"), value.to_string());
        let written = self.run(move || std::fs::write(path, value));
        written.unwrap_or_else(|error| panic!("{parameter}: {error}"));
    }

    /// An interface of the kernel that carries so much, and what is at the other end of its cable.
    pub fn wire(&self, name: &str, carried: u32) -> Box<dyn Device + Send> {
        let own = name.to_string();
        let tap = self.run(move || Tunnel::open(&own, Layer::L2, Offload::None).ok());
        if let Some(tap) = tap {
            self.ip(&format!("link set {name} mtu {carried}"));
            return Box::new(tap);
        }
        let far = format!("{name}x");
        let (near, end) = (name.to_string(), far.clone());
        self.run(move || netlink::make_veth(&near, &end))
            .expect("a veth is made");
        // What is at the far end is not the kernel's to answer.
        self.set(&format!("ipv6/conf/{far}/disable_ipv6"), "1");
        self.set(&format!("ipv4/conf/{far}/arp_ignore"), "8");
        for end in [name, &far] {
            self.ip(&format!("link set {end} mtu {carried}"));
        }
        let (near, end) = (name.to_string(), far.clone());
        self.run(move || {
            netlink::finish_checksums(&near)?;
            netlink::bring_up(&near)?;
            netlink::bring_up(&end)?;
            Packet::open(&end)
        })
        .map(Box::new)
        .expect("a packet socket is attached")
    }

    /// An interface for bare datagrams; none where there are no such interfaces.
    pub fn tunnel(&self, name: &str, carried: u32) -> Option<Box<dyn Device + Send>> {
        let own = name.to_string();
        match self.run(move || Tunnel::open(&own, Layer::L3, Offload::None)) {
            Ok(tun) => {
                self.ip(&format!("link set {name} mtu {carried}"));
                Some(Box::new(tun))
            }
            Err(reason) => {
                println!("skipped: no TUN device can be made here ({reason})");
                None
            }
        }
    }

    /// A wire with these addresses, of which the kernel asks nobody.
    pub fn addressed_wire(&self, name: &str, addresses: &[&str]) -> Box<dyn Device + Send> {
        let device = self.wire(name, 1500);
        self.add_addresses(name, addresses);
        device
    }

    /// Gives an interface addresses, to be used at once.
    #[track_caller]
    pub fn add_addresses(&self, name: &str, addresses: &[&str]) {
        for address in addresses {
            let at_once = if address.contains(':') { " nodad" } else { "" };
            self.ip(&format!("address add {address} dev {name}{at_once}"));
        }
    }

    /// A cable from here to there, both ends up.
    pub fn cable(&self, here: &str, other: &Namespace, there: &str) {
        let far = other.thread;
        self.ip(&format!(
            "link add {here} type veth peer name {there} netns {far}"
        ));
        self.ip(&format!("link set {here} up"));
        other.ip(&format!("link set {there} up"));
    }
}

/// A test of its own, so that whoever is not root sees all the others.
#[test]
fn without_root_all_this_holds_in_a_user_namespace() {
    if geteuid().is_root() {
        return;
    }
    let this = std::env::current_exe().expect("a test knows where it is");
    let said = Command::new("unshare")
        .args(["--user", "--map-root-user"])
        .arg(this)
        .output()
        .expect("unshare is there");
    let (result, note) = (
        String::from_utf8_lossy(&said.stdout),
        String::from_utf8_lossy(&said.stderr),
    );
    if note.contains("unshare failed") {
        println!("skipped: {note}");
        return;
    }
    assert!(said.status.success(), "{result}\n{note}");
}
