//! The demo's second half: the web server of the examples, and TCP of the Linux kernel.
//!
//! In: the device at which the stack stands, and how many bytes there are to carry. Out: a page
//! about what `curl` fetched and what a socket of the kernel was sent, over IPv4 and over IPv6,
//! each compared byte for byte and by its hash, and about what the stack did with every frame. The
//! programs that run are those of `examples/web`, as they stand there.

use super::{Plan, lines, list, title, traffic};
use crate::tool::compiler::{self, Compiled};
use crate::tool::device::Device;
use crate::tool::failure::{Failure, plain};
use crate::tool::host::Report;
use crate::tool::namespace::{self, KERNEL, KERNEL6, STACK, STACK6};
use crate::tool::page::{grouped, rate_text};
use crate::tool::{c_compiler, progress};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const STACK_FILE: &str = "examples/web/web.loom";
const STACK_TEXT: &str = include_str!("../../../examples/web/web.loom");
const FILES: [(&str, &str); 6] = [
    ("web.c", include_str!("../../../examples/web/web.c")),
    ("send.c", include_str!("../../../examples/web/send.c")),
    ("host.c", include_str!("../../../examples/web/host.c")),
    ("host.h", include_str!("../../../examples/web/host.h")),
    ("http.c", include_str!("../../../examples/web/http.c")),
    ("http.h", include_str!("../../../examples/web/http.h")),
];

/// No program runs longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// So often somebody looks whether it still runs.
const GLANCE: Duration = Duration::from_millis(100);

/// The programs while they are compiled, beside the first half of the demo.
pub struct Begun {
    /// The stack's end of the link.
    device: OwnedFd,
    building: JoinHandle<Result<Programs, Failure>>,
}

struct Programs {
    folder: TempDir,
    heading: String,
}

/// Begins to compile the programs that are to stand at a device of the kernel.
pub fn begin(device: &dyn Device) -> Result<Begun, Failure> {
    let device = device.descriptor().expect("the kernel knows its devices");
    Ok(Begun {
        device: device.try_clone_to_owned()?,
        building: std::thread::spawn(build),
    })
}

/// Compiles the programs, into a folder that is gone when they are.
fn build() -> Result<Programs, Failure> {
    let folder = tempfile::tempdir()?;
    let began = Instant::now();
    let compiled = make(folder.path())?;
    let heading = title(STACK_FILE, &compiled, began.elapsed());
    Ok(Programs { folder, heading })
}

/// `FOLDER/web` and `FOLDER/send`.
fn make(folder: &Path) -> Result<Compiled, Failure> {
    let compiled = compiler::compile_text(STACK_FILE, STACK_TEXT)?;
    let generated = folder.join("build");
    std::fs::create_dir(&generated)?;
    std::fs::write(generated.join("web.c"), &compiled.source)?;
    std::fs::write(generated.join("web.h"), &compiled.header)?;
    for (name, text) in FILES {
        std::fs::write(folder.join(name), text)?;
    }
    let to_program = |sources: &[&str], program: &str, flags: &[&str]| {
        let sources: Vec<&Path> = sources.iter().map(Path::new).collect();
        c_compiler::executable(folder, &sources, &folder.join(program), flags)
    };
    to_program(&["build/web.c"], "build/stack.o", &["-O2", "-c"])?;
    to_program(
        &["web.c", "http.c", "host.c", "build/stack.o"],
        "web",
        &["-O2"],
    )?;
    to_program(&["send.c", "host.c", "build/stack.o"], "send", &["-O2"])?;
    Ok(compiled)
}

impl Begun {
    /// Lets the programs talk to the kernel; the page, if so many bytes went each way.
    pub fn go_on(self, bytes: usize, plan: &Plan) -> Result<String, Failure> {
        let spinner = progress::step((3, 4), "compiling examples/web");
        let programs = self.building.join().expect("the compiler does not panic")?;
        spinner.finish_and_clear();
        let mut exchange = Exchange {
            device: &self.device,
            folder: programs.folder.path(),
            stop: &plan.stop,
            content: vec![0; bytes],
            hash: String::new(),
            counters: BTreeMap::new(),
        };
        fastrand::Rng::with_seed(plan.seed).fill(&mut exchange.content);
        std::fs::write(exchange.folder.join("file"), &exchange.content)?;
        exchange.hash = exchange.hash_of(&exchange.content)?;
        namespace::prefer_reno();
        let mut addresses = vec![(IpAddr::from(KERNEL), IpAddr::from(STACK))];
        if namespace::add_address6().is_ok() {
            addresses.push((KERNEL6.into(), STACK6.into()));
        }
        let fetched = exchange.fetch_all(&addresses)?;
        let sent = exchange.send_all(&addresses)?;
        let page = exchange.page(&fetched, &sent)?;
        Ok(format!("\n{}{page}", programs.heading))
    }
}

/// The programs run, one after the other.
struct Exchange<'a> {
    device: &'a OwnedFd,
    folder: &'a Path,
    stop: &'a AtomicBool,
    /// What is carried.
    content: Vec<u8>,
    /// And its SHA-256.
    hash: String,
    /// What all of them have counted.
    counters: BTreeMap<String, u64>,
}

impl<'a> Exchange<'a> {
    /// `curl` fetches the file at each address of the stack: how fast.
    fn fetch_all(&mut self, addresses: &[(IpAddr, IpAddr)]) -> Result<String, Failure> {
        let carrying = "transferring a file with curl in both directions, over IPv4 and IPv6";
        let spinner = progress::step((4, 4), carrying);
        let mut server = self.start("web", &[".".to_string()])?;
        let rates = addresses.iter().map(|(_, stack)| self.fetch(*stack));
        let rates = rates.collect::<Result<Vec<_>, _>>();
        server.still_runs()?; // else that is why
        let rates = rates?;
        server.interrupt();
        self.finish(server)?;
        spinner.finish_and_clear();
        Ok(rates.join(", "))
    }

    fn fetch(&self, from: IpAddr) -> Result<String, Failure> {
        let copy = self.folder.join("copy");
        let curl = Command::new("curl")
            // Whatever its user has set, and until the stack knows that its address is its own.
            .args([
                "-q",
                "--silent",
                "--show-error",
                "--globoff",
                "--noproxy",
                "*",
            ])
            .args([
                "--max-time",
                "20",
                "--retry",
                "5",
                "--retry-delay",
                "1",
                "--retry-all-errors",
            ])
            .args([
                "--write-out",
                "%{time_pretransfer} %{time_total}",
                "--output",
            ])
            .arg(&copy)
            .arg(format!("http://{}/file", SocketAddr::new(from, 80)))
            .output()
            .map_err(|error| {
                let reason = plain(&error);
                Failure::environment(format!(
                    "curl cannot be run ({reason}); install curl, or skip the transfer with \
                    --bytes 0"
                ))
            })?;
        let (said, note) = (
            String::from_utf8_lossy(&curl.stdout),
            String::from_utf8_lossy(&curl.stderr),
        );
        let times: Vec<f64> = said.split(' ').flat_map(str::parse).collect();
        match times[..] {
            [before, after] if curl.status.success() => {
                let time = Duration::from_secs_f64(after - before);
                self.carried(from, &std::fs::read(&copy)?, time)
            }
            _ => Err(Failure::refused(format!(
                "the demo failed: {}",
                note.trim()
            ))),
        }
    }

    /// The stack calls a socket at each address of the kernel, and sends the file: how fast.
    fn send_all(&mut self, addresses: &[(IpAddr, IpAddr)]) -> Result<String, Failure> {
        let spinner = progress::spinner("sending it back");
        let mut rates = Vec::new();
        for (kernel, _) in addresses {
            let listener = TcpListener::bind((*kernel, 0))?;
            let port = listener.local_addr()?.port().to_string();
            let words = ["file".to_string(), kernel.to_string(), port];
            let mut sender = self.start("send", &words)?;
            let (heard, time) = receive(&listener, &mut sender)?;
            self.finish(sender)?;
            rates.push(self.carried(*kernel, &heard, time)?);
        }
        spinner.finish_and_clear();
        Ok(rates.join(", "))
    }

    /// How fast it was, if it is what it was.
    fn carried(&self, over: IpAddr, came: &[u8], time: Duration) -> Result<String, Failure> {
        if came != self.content || self.hash_of(came)? != self.hash {
            let wrong = format!(
                "the demo failed: the file received over {over} differs from the file sent"
            );
            return Err(Failure::refused(wrong));
        }
        let bits = 8.0 * self.content.len() as f64;
        let rate = rate_text((bits / time.as_secs_f64()) as u64);
        let version = if over.is_ipv4() { "IPv4" } else { "IPv6" };
        Ok(format!("{rate} on {version}"))
    }

    /// A SHA-256, by a program that others wrote.
    fn hash_of(&self, bytes: &[u8]) -> Result<String, Failure> {
        std::fs::write(self.folder.join("hashed"), bytes)?;
        let mut program = Command::new("sha256sum");
        let said = program.arg("hashed").current_dir(self.folder).output();
        let said = said.map_err(|error| {
            let reason = plain(&error);
            Failure::environment(format!(
                "sha256sum cannot be run ({reason}); install coreutils, \
                or skip the transfer with --bytes 0"
            ))
        })?;
        match String::from_utf8_lossy(&said.stdout).split_once(' ') {
            Some((hash, _)) => Ok(hash.to_string()),
            None => Err(Failure::refused(
                "the demo failed: sha256sum printed nothing",
            )),
        }
    }

    /// Starts a program at the link. What it prints goes to a file, so that it never waits for us.
    fn start(&self, program: &'static str, words: &[String]) -> Result<Running<'a>, Failure> {
        let addresses = ["-".to_string(), STACK.to_string(), STACK6.to_string()];
        let child = Command::new(self.folder.join(program))
            .args(addresses.iter().chain(words))
            .current_dir(self.folder)
            .stdin(Stdio::from(self.device.try_clone()?))
            .stdout(File::create(self.folder.join("printed"))?)
            .spawn()?;
        Ok(Running {
            program,
            child,
            stop: self.stop,
            late: Instant::now() + PATIENCE,
        })
    }

    /// Waits for the end of a program, and adds what it has counted.
    fn finish(&mut self, mut running: Running<'_>) -> Result<(), Failure> {
        let status = loop {
            match running.child.try_wait()? {
                Some(status) => break status,
                None => running.may_take_longer()?,
            }
        };
        if !status.success() {
            return Err(running.failed(status));
        }
        let printed = std::fs::read_to_string(self.folder.join("printed"))?;
        for line in printed.lines() {
            let (name, value) = line.rsplit_once(' ').unwrap_or_default();
            let value: u64 = value.parse().map_err(|_| {
                let program = running.program;
                Failure::refused(format!("the demo failed: {program} counted `{line}`"))
            })?;
            *self.counters.entry(name.to_string()).or_default() += value;
        }
        Ok(())
    }

    /// What happened, if every frame had one fate.
    fn page(&self, fetched: &str, sent: &str) -> Result<String, Failure> {
        let counters = self.counters.iter();
        let counters: Vec<_> = counters
            .map(|(name, value)| (name.as_str(), *value))
            .collect();
        let report = Report::new(&counters);
        if !report.adds_up() {
            let wrong = "the demo failed: the counters do not add up";
            return Err(Failure::refused(wrong));
        }
        let bytes = grouped(self.content.len() as u64);
        let fetched = format!("{bytes} bytes by curl, byte for byte: {fetched}");
        let sent = format!("{bytes} bytes to a server of Linux, as well: {sent}");
        Ok(lines(&[
            ("fetched", fetched),
            ("sent back", sent),
            ("sha256", self.hash.clone()),
            ("frames", traffic(&report)),
            ("drops", list(&report.dropped)),
            ("unsent", list(&report.unsent)),
        ]))
    }
}

/// What the first who calls has to say, and how long that took.
fn receive(
    listener: &TcpListener,
    sender: &mut Running<'_>,
) -> Result<(Vec<u8>, Duration), Failure> {
    listener.set_nonblocking(true)?;
    let mut stream: TcpStream = loop {
        match listener.accept() {
            Ok((stream, _)) => break stream,
            Err(error) => sender.is_waited_for(error)?,
        }
    };
    let began = Instant::now();
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(GLANCE))?;
    let mut heard = Vec::new();
    while let Err(error) = stream.read_to_end(&mut heard) {
        sender.is_waited_for(error)?;
    }
    Ok((heard, began.elapsed()))
}

/// A program that runs, and does not outlive us.
struct Running<'a> {
    program: &'static str,
    child: Child,
    stop: &'a AtomicBool,
    late: Instant,
}

impl Running<'_> {
    /// Nothing came of it, for the time being: waits a moment, if something may come yet.
    fn is_waited_for(&mut self, error: io::Error) -> Result<(), Failure> {
        if error.kind() != ErrorKind::WouldBlock {
            return Err(error.into());
        }
        self.still_runs()?;
        self.may_take_longer()
    }

    /// Refuses if it has ended by itself.
    fn still_runs(&mut self) -> Result<(), Failure> {
        match self.child.try_wait()? {
            Some(status) => Err(self.failed(status)),
            None => Ok(()),
        }
    }

    fn failed(&self, status: ExitStatus) -> Failure {
        let program = self.program;
        Failure::refused(format!("the demo failed: {program} ended ({status})"))
    }

    /// Waits a moment, if there still is a reason to.
    fn may_take_longer(&self) -> Result<(), Failure> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Failure::refused("the demo failed: interrupted"));
        }
        if Instant::now() > self.late {
            return Err(Failure::refused("the demo failed: timeout"));
        }
        std::thread::sleep(Duration::from_millis(1));
        Ok(())
    }

    /// Tells it to end.
    fn interrupt(&self) {
        let id = i32::try_from(self.child.id()).expect("the numbers of processes are small");
        // It may have ended by itself, which is seen when it is waited for.
        kill(Pid::from_raw(id), Signal::SIGTERM).unwrap_or_default();
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // Neither can fail but for a program that has ended.
        self.child.kill().unwrap_or_default();
        self.child.wait().map(drop).unwrap_or_default();
    }
}
