//! The networks of `loom bench bulk`: namespaces in which the kernel speaks TCP, with itself over a
//! veth, or with one of our stacks over a TUN.
//!
//! In: closures, and who is to say or hear how many bytes. Out: how long that took, or what went
//! wrong: whoever hears compares each byte. A namespace has no name and ends with its thread, so
//! that nothing is left however the process ends.

use crate::tool::failure::{Failure, plain};
use nix::sched::{CloneFlags, unshare};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

/// As long as nothing moves, nobody waits longer.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// What is said repeats after so many bytes, a prime: who loses a segment hears others.
const PERIOD: usize = 65_521;

/// Bytes that a socket is given, or asked for, at a time.
const BLOCK: usize = 1 << 18;

type Work = Box<dyn FnOnce() + Send>;

/// A network of its own.
pub struct Place {
    work: Sender<Work>,
    namespace: OwnedFd,
}

impl Place {
    /// A namespace with nothing in it.
    pub fn new() -> Result<Place, Failure> {
        let (work, todo) = channel::<Work>();
        let (tell, told) = channel();
        thread::spawn(move || {
            let entered = unshare(CloneFlags::CLONE_NEWNET).map_err(io::Error::from);
            let namespace = entered.and_then(|()| std::fs::File::open("/proc/thread-self/ns/net"));
            tell.send(namespace).expect("it is waited for");
            todo.iter().for_each(|work| work());
        });
        let namespace = told.recv().expect("it says so").map_err(|error| {
            let why = plain(&error);
            Failure::environment(format!(
                "cannot create a network namespace, which needs root: {why}"
            ))
        })?;
        let place = Place {
            work,
            namespace: namespace.into(),
        };
        place.set("net/ipv4/tcp_congestion_control", "reno")?;
        // Where there is no IPv6, there is nothing to turn off.
        let without = place.set("net/ipv6/conf/default/disable_ipv6", "1");
        without.unwrap_or_default();
        Ok(place)
    }

    /// Another handle to the namespace.
    pub fn namespace(&self) -> io::Result<OwnedFd> {
        self.namespace.as_fd().try_clone_to_owned()
    }

    /// Does something there.
    pub fn run<R: Send + 'static>(&self, what: impl FnOnce() -> R + Send + 'static) -> R {
        let (answer, answered) = channel();
        let work = move || drop(answer.send(what()));
        self.work.send(Box::new(work)).expect("its thread waits");
        answered.recv().expect("what is done there does not panic")
    }

    /// Sets one of the kernel's parameters.
    pub fn set(&self, parameter: &'static str, value: &'static str) -> io::Result<()> {
        self.run(move || std::fs::write(format!("/proc/sys/{parameter}"), value))
    }
}

/// What is said and heard.
pub struct Talk {
    total: u64,
    pattern: Vec<u8>,
}

impl Talk {
    /// Of so many bytes.
    pub fn new(total: u64) -> Talk {
        let byte = |at: usize| ((at % PERIOD) as u32).wrapping_mul(2_654_435_761) >> 13;
        let pattern = (0..PERIOD + BLOCK).map(|at| byte(at) as u8);
        Talk {
            total,
            pattern: pattern.collect(),
        }
    }

    /// The bytes from a place on, as many as may be said or heard at a time.
    fn from(&self, moved: u64) -> &[u8] {
        &self.pattern[(moved % PERIOD as u64) as usize..][..BLOCK]
    }

    /// Says all of it, and waits until the peer has heard it, and closes.
    pub fn say(&self, mut stream: TcpStream) -> io::Result<()> {
        patient(&stream)?;
        let mut moved = 0;
        while moved < self.total {
            let block = self.from(moved);
            let most = (self.total - moved).min(block.len() as u64) as usize;
            moved += stream.write(&block[..most])? as u64;
        }
        stream.shutdown(Shutdown::Write)?;
        match stream.read(&mut [0])? {
            0 => Ok(()),
            _ => Err(wrong("an unexpected byte arrived".to_string())),
        }
    }

    /// Hears all of it, and nothing else.
    pub fn hear(&self, mut stream: TcpStream) -> io::Result<()> {
        patient(&stream)?;
        let mut room = vec![0; BLOCK];
        let mut moved = 0;
        loop {
            let length = stream.read(&mut room)?;
            if length == 0 && moved == self.total {
                return Ok(());
            }
            if length == 0 || room[..length] != self.from(moved)[..length] {
                let total = self.total;
                return Err(wrong(format!(
                    "the data is wrong or ends after {moved} of {total} bytes"
                )));
            }
            moved += length as u64;
        }
    }
}

fn patient(stream: &TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))
}

fn wrong(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
