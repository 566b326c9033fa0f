//! Throughput through a TUN: in, how many bytes go each way; out, megabytes each second of our
//! stack with the kernel as its peer, beside those of the kernel with itself in the same rounds.
//!
//! ```text
//! ours      kernel's sockets ---- TUN ---- bulk.c, which reads and writes it
//! Linux's   kernel's sockets ---- veth, in another namespace ---- kernel's sockets
//! ```
//!
//! Both once with what links do for hosts (sums, cutting, joining) and once without. A window of
//! ours has 65535 bytes at most; so has the kernel's, in rows of their own.

use super::network::{PATIENCE, Place, Talk};
use super::{Bench, Row};
use crate::tool::counting::{self, compile_stack};
use crate::tool::failure::{Failure, about, plain};
use crate::tool::netlink;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Rounds, of which each row is the median; but no new one begins when it is late. The spread is
/// that of these rounds.
const ROUNDS: usize = 5;
const LATE: Duration = Duration::from_secs(40);

/// The flags of our end.
const FLAGS: &str = "-O2";

/// Who talks with whom.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pair {
    /// The kernel with itself; perhaps with windows as small as ours.
    Kernel { narrow: bool },
    /// The kernel with us.
    Ours { sends: bool },
}

const PAIRS: [Pair; 4] = [
    Pair::Kernel { narrow: false },
    Pair::Kernel { narrow: true },
    Pair::Ours { sends: false },
    Pair::Ours { sends: true },
];

/// What is measured in each round.
#[derive(Clone, Copy)]
struct Variant {
    pair: Pair,
    offload: bool,
}

impl Variant {
    /// Who talks with whom, and how that stands in names.
    fn names(self) -> (&'static str, &'static str) {
        match self.pair {
            Pair::Kernel { narrow: false } => ("linux", "linux"),
            Pair::Kernel { narrow: true } => ("linux, window 65535", "linux-narrow"),
            Pair::Ours { sends: false } => ("stackloom receives", "stackloom-receive"),
            Pair::Ours { sends: true } => ("stackloom sends", "stackloom-send"),
        }
    }

    fn row(self, megabytes: f64, of_linux: bool) -> Row {
        let (way, sums) = match self.offload {
            true => ("offload", "off"),
            false => ("plain", "on"),
        };
        let (compiler, flags) = match self.pair {
            Pair::Kernel { .. } => ("as it runs here".to_string(), ""),
            Pair::Ours { .. } => (counting::version("gcc", "-dumpfullversion"), FLAGS),
        };
        let (metric, unit) = match of_linux {
            true => (format!("{way}, of linux"), "ratio"),
            false => (way.to_string(), "MB/s"),
        };
        let (who, name) = self.names();
        Row {
            who: who.to_string(),
            variant: format!("{name}-{way}"),
            compiler,
            flags: flags.to_string(),
            checksums: sums.to_string(),
            metric,
            value: megabytes,
            unit: unit.to_string(),
            paper: None,
            spread: None,
            layers: None,
        }
    }
}

/// Measures all variants, in turns.
pub fn rows(bench: &Bench, bytes: u64) -> Result<Vec<Row>, Failure> {
    let tun = Path::new("/dev/net/tun");
    let open = std::fs::File::options().read(true).write(true).open(tun);
    open.map_err(about(tun))?;
    let scene = Scene::new(bench, bytes)?;
    let ways = [true, false].into_iter();
    let variants = ways.flat_map(|offload| PAIRS.map(|pair| Variant { pair, offload }));
    let mut found: Vec<(Variant, Vec<f64>)> = variants.map(|one| (one, Vec::new())).collect();
    let begun = Instant::now();
    for round in 1..=ROUNDS {
        for (variant, rates) in &mut found {
            (bench.say)(&format!(
                "round {round}: {}",
                variant.row(0.0, false).variant
            ));
            rates.push(scene.rate(*variant)?);
        }
        if begun.elapsed() > LATE {
            break;
        }
    }
    let mut rows = Vec::new();
    for way in found.chunks(PAIRS.len()) {
        // The ratio is of the rates of one round.
        let linux = way[0].1.clone();
        for (variant, rates) in way {
            let ratios = rates.iter().zip(&linux).map(|(own, linux)| own / linux);
            let ratios: Vec<f64> = ratios.collect();
            rows.push(spread(variant.row(0.0, false), rates.clone()));
            if variant.pair != PAIRS[0] {
                rows.push(spread(variant.row(0.0, true), ratios));
            }
        }
    }
    Ok(rows)
}

/// The median of several runs, with the least and the greatest.
fn spread(row: Row, mut values: Vec<f64>) -> Row {
    values.sort_by(f64::total_cmp);
    Row {
        value: values[values.len() / 2],
        spread: Some([values[0], values[values.len() - 1]]),
        ..row
    }
}

/// The networks, and our end, compiled with offload and without.
struct Scene {
    here: Place,
    there: Place,
    programs: [PathBuf; 2],
    talk: Arc<Talk>,
    bytes: u64,
}

/// The far end of each link, by whether it sums and cuts; the near one is a number lower.
const FAR: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 80, 0, 2), Ipv4Addr::new(10, 79, 0, 2)];
const NEAR: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 80, 0, 1), Ipv4Addr::new(10, 79, 0, 1)];
const PORT: u16 = 5001;

/// What bulk.c says of itself.
const OURS: Ipv4Addr = Ipv4Addr::new(10, 78, 0, 2);
const KERNEL: Ipv4Addr = Ipv4Addr::new(10, 78, 0, 1);

impl Scene {
    fn new(bench: &Bench, bytes: u64) -> Result<Scene, Failure> {
        let (here, there) = (Place::new()?, Place::new()?);
        for (at, (near, far)) in NEAR.into_iter().zip(FAR).enumerate() {
            let [one, other] = ["a", "b"].map(|end| format!("loom{}{end}{at}", std::process::id()));
            let (name, peer) = (one.clone(), other.clone());
            let namespace = there.namespace()?;
            here.run(move || {
                netlink::make_veth(&name, &peer)?;
                netlink::move_to(&peer, &namespace)
            })?;
            for (place, name, address) in [(&here, one, near), (&there, other, far)] {
                place.run(move || {
                    if at == 0 {
                        netlink::turn_off(&name, &OFFLOADS)?;
                    }
                    netlink::add_address(&name, address, 24)?;
                    netlink::bring_up(&name)
                })?;
            }
        }
        let build = |stack: &str, flags: &[&str]| {
            let output = bench.keep.join(format!("bulk-stackloom-{stack}"));
            let output = std::path::absolute(output)?;
            compile_stack(bench.folder, "bulk", stack, flags, bench.work, &output)?;
            Ok::<_, Failure>(output)
        };
        let plain = build("plain", &[FLAGS])?;
        let offloaded = build("offloaded", &[FLAGS, "-DVIRTIO"])?;
        Ok(Scene {
            here,
            there,
            programs: [plain, offloaded],
            talk: Arc::new(Talk::new(bytes)),
            bytes,
        })
    }

    /// Megabytes a second.
    fn rate(&self, variant: Variant) -> Result<f64, Failure> {
        let took = match variant.pair {
            Pair::Kernel { narrow } => self.kernels(variant.offload, narrow),
            Pair::Ours { sends } => self.ours(variant.offload, sends),
        };
        let took = took.map_err(|error| {
            let name = variant.row(0.0, false).variant;
            Failure::refused(format!("{name}: {}", plain(&error)))
        })?;
        Ok(self.bytes as f64 / 1e6 / took.as_secs_f64())
    }

    fn kernels(&self, offload: bool, narrow: bool) -> io::Result<Duration> {
        let scaling = if narrow { "0" } else { "1" };
        for place in [&self.here, &self.there] {
            place.set("net/ipv4/tcp_window_scaling", scaling)?;
        }
        let far = SocketAddr::from((FAR[usize::from(offload)], PORT));
        let listener = self.there.run(move || TcpListener::bind(far))?;
        let stream = self
            .here
            .run(move || TcpStream::connect_timeout(&far, PATIENCE))?;
        let (peer, _) = listener.accept()?;
        let talk = Arc::clone(&self.talk);
        let hearing = thread::spawn(move || talk.hear(peer));
        let begun = Instant::now();
        let said = self.talk.say(stream);
        let took = begun.elapsed();
        hearing.join().expect("whoever hears does not panic")?;
        said.map(|()| took)
    }

    fn ours(&self, offload: bool, sends: bool) -> io::Result<Duration> {
        let name = format!("loom{}t", std::process::id());
        let mut command = Command::new(&self.programs[usize::from(offload)]);
        command.arg(if sends { "send" } else { "receive" });
        command.args([&name, &self.bytes.to_string()]);
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        self.here.set("net/ipv4/tcp_window_scaling", "1")?;
        let (child, stream) = self.here.run(move || called(command, &name, offload))?;
        let begun = Instant::now();
        let done = match sends {
            true => self.talk.hear(stream),
            false => self.talk.say(stream),
        };
        let took = begun.elapsed();
        ended(child, done)?;
        Ok(took)
    }
}

/// What a link can do for a host, by its names in Linux.
const OFFLOADS: [&str; 2] = ["tx-checksum-ip-generic", "tx-generic-segmentation"];

/// Starts our end, gives the kernel's end of its device an address, and calls.
fn called(mut command: Command, name: &str, offload: bool) -> io::Result<(Child, TcpStream)> {
    let mut child = command.spawn()?;
    let begun = Instant::now();
    while nix::net::if_::if_nametoindex(name).is_err() {
        if child.try_wait()?.is_some() || begun.elapsed() > PATIENCE {
            return ended(child, Ok(())).and(Err(io::Error::other("the device was not created")));
        }
        thread::sleep(Duration::from_millis(1));
    }
    let connected = || {
        if !offload {
            netlink::turn_off(name, &OFFLOADS[1..])?;
        }
        netlink::add_address(name, KERNEL, 24)?;
        netlink::bring_up(name)?;
        TcpStream::connect_timeout(&SocketAddr::from((OURS, PORT)), PATIENCE)
    };
    match connected() {
        Ok(stream) => Ok((child, stream)),
        Err(error) => {
            ended(child, Err(error)).and(Err(io::Error::other("the transfer did not start")))
        }
    }
}

/// Our end has ended well, or says why not.
fn ended(mut child: Child, done: io::Result<()>) -> io::Result<()> {
    if done.is_err() {
        child.kill()?;
    }
    let output = child.wait_with_output()?;
    done?;
    match output.status.success() {
        true => Ok(()),
        false => Err(io::Error::other(
            String::from_utf8_lossy(&output.stderr).trim().to_string(),
        )),
    }
}
