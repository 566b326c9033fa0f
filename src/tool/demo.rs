//! `loom demo`: a compiled stack and the Linux kernel talk to each other.
//!
//! In: a stack with a link, settings for its address, and a port for datagrams. Out: a page about
//! how many pings and datagrams came back byte for byte, and a capture of every frame; and then one
//! about a web server (`web`). The network is private to this process, so nothing is left of it
//! afterwards.

mod web;

use super::compiler::{self, Options};
use super::device::Device;
use super::failure::{Failure, about};
use super::host::{Clock, Report, Seen, Until};
use super::namespace::{self, KERNEL, LINK_ADDRESS, PREFIX, STACK};
use super::neighbour::{Addresses, Neighbour};
use super::page::grouped;
use super::peer::{self, Outcome, Progress, Task};
use super::recorded::{KEPT, Recorded};
use super::run::{
    ApplicationArgument, Places, Setting, prepare, start, stop_on_signals, unless_stopped,
};
use super::simulate::compiled::Compiled;
use super::simulate::record::{Form, Interface, Record};
use super::simulate::words::Words;
use super::stack::Program;
use super::terminal::{note, result};
use super::{c_compiler, progress};
use crate::simulate::network::application::{Application, Grants, Step};
use crate::simulate::network::link::Faults;
use crate::simulate::network::{self, End, Link, Named, Network, Stuck};
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Connects a compiled stack to the Linux kernel in a private network.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  loom demo examples/host/host.loom --datagrams 100000")]
pub struct Arguments {
    /// File with the stack [default: the built-in example host]
    pub stack: Option<PathBuf>,
    /// Number of pings to send
    #[arg(long, default_value_t = 1_000)]
    pub pings: u64,
    /// Number of datagrams to send
    #[arg(long, default_value_t = 10_000)]
    pub datagrams: u64,
    /// Bytes to transfer over HTTP [default: 4 MiB, or 0 with STACK]
    #[arg(long)]
    pub bytes: Option<usize>,
    /// Seed of sizes and contents, to repeat a run [default: random]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Simulates the kernel in virtual time
    #[arg(long)]
    pub simulated: bool,
    /// File for the capture, in pcapng
    #[arg(long, default_value = "build/demo.pcapng")]
    pub capture: PathBuf,
}

/// The stack of who names none.
const HOST: &str = "examples/host/host.loom";
const HOST_TEXT: &str = include_str!("../../examples/host/host.loom");

/// How long the whole traffic may take.
const PATIENCE: Duration = Duration::from_secs(45);
const LONGEST: usize = 8_000;
const WINDOW: usize = 8;
const ECHO_PORT: u16 = 7;
const FILE_BYTES: usize = 4 << 20;

/// The command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    // First, because only a process with one thread may enter a user namespace.
    let link = match arguments.simulated {
        true => None,
        false => namespace::enter()
            .map_err(|reason| {
                note(format_args!(
                    "cannot create a private network with the kernel ({reason}); the demo \
                    simulates the kernel"
                ));
            })
            .ok(),
    };
    let stop = stop_on_signals()?;
    let bytes = match arguments.stack {
        Some(_) => arguments.bytes.unwrap_or(0),
        None => arguments.bytes.unwrap_or(FILE_BYTES),
    };
    let steps = if bytes > 0 && link.is_some() { 4 } else { 2 };
    let stack = arguments.stack.as_deref().unwrap_or(Path::new(HOST));
    let stack = stack.display().to_string();
    let spinner = progress::step((1, steps), &format!("compiling {stack}"));
    let began = Instant::now();
    let compiled = match &arguments.stack {
        Some(stack) => compiler::compile(stack, &Options::default())?,
        None => compiler::compile_text(HOST, HOST_TEXT)?,
    };
    let program = c_compiler::load(&compiled.source, &compiled.header, &compiled.description);
    let program = unless_stopped(&stop, program)?;
    let compile_time = began.elapsed();
    spinner.finish_and_clear();
    if let Some(folder) = arguments.capture.parent() {
        std::fs::create_dir_all(folder).map_err(about(folder))?;
    }
    let plan = Plan {
        pings: arguments.pings,
        datagrams: arguments.datagrams,
        seed: arguments.seed.unwrap_or_else(|| fastrand::u64(..1_000_000)),
        capture: arguments.capture.clone(),
        stop,
    };
    let web = match &link {
        Some(link) if bytes > 0 => Some(web::begin(link.device.as_ref())?),
        Some(_) | None => None,
    };
    let (pings, datagrams) = (grouped(plan.pings), grouped(plan.datagrams));
    let sending = format!("sending {pings} pings and {datagrams} datagrams");
    progress::step((2, steps), &sending).finish_and_clear();
    let (peer, outcomes) = match link {
        Some(link) => {
            let peer = format!("the Linux kernel as {KERNEL}, over {}", link.description);
            (peer, converse(&program, link.device, &plan)?)
        }
        None => (
            format!("a simulated neighbour as {KERNEL}"),
            simulate(&program, &plan)?,
        ),
    };
    let peer = lines(&[("peer", format!("{peer}; the stack is {STACK}"))]);
    result(title(&stack, &compiled, compile_time) + &peer)?;
    result(outcomes.summary(&plan))?;
    outcomes.verdict(&plan)?;
    match web {
        Some(web) => result(web.go_on(bytes, &plan)?),
        None if bytes > 0 => result("\nweb         skipped: the kernel is simulated"),
        None => Ok(()),
    }
}

fn title(stack: &str, compiled: &compiler::Compiled, time: Duration) -> String {
    let (name, c_bytes) = (
        &compiled.description.name,
        grouped(compiled.source.len() as u64),
    );
    let milliseconds = grouped(time.as_millis() as u64);
    let text = format!("{stack} to {name}.c, {c_bytes} bytes of C, in {milliseconds} ms");
    lines(&[("compiled", text)])
}

/// Lines of the page, each with a word before it.
fn lines(lines: &[(&str, String)]) -> String {
    let lines = lines.iter();
    lines
        .map(|(title, text)| format!("{title:<11} {text}\n"))
        .collect()
}

fn traffic(report: &Report) -> String {
    let (came_in, went_out) = (grouped(report.frames_in), grouped(report.frames_out));
    format!("{came_in} to the stack, {went_out} from it")
}

/// How often what happened.
fn list(counted: &BTreeMap<String, u64>) -> String {
    if counted.is_empty() {
        return "none".to_string();
    }
    let counted = counted.iter();
    let parts = counted.map(|(reason, count)| format!("{reason} {}", grouped(*count)));
    parts.collect::<Vec<_>>().join(", ")
}

/// What the kernel is to send.
pub struct Plan {
    /// How many pings.
    pub pings: u64,
    /// How many datagrams.
    pub datagrams: u64,
    /// Makes their sizes and contents.
    pub seed: u64,
    /// Where every frame is written.
    pub capture: PathBuf,
    /// Set by a signal.
    pub stop: Arc<AtomicBool>,
}

/// What came of it.
pub struct Outcomes {
    /// Of the pings.
    pub pings: Outcome,
    /// Of the datagrams.
    pub datagrams: Outcome,
    /// What the stack counted.
    pub report: Report,
    /// What the host saw.
    pub seen: Seen,
    time: Duration,
}

/// Drives the stack in one thread while another sends from the kernel's sockets.
pub fn converse(
    program: &Program,
    device: Box<dyn Device + Send>,
    plan: &Plan,
) -> Result<Outcomes, Failure> {
    let began = Instant::now();
    let finished = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let host = scope.spawn(|| plan.drive(program, device, &finished));
        let alive = || !host.is_finished() && !plan.stop.load(Ordering::Relaxed);
        let sent = plan.send(began + PATIENCE, &alive);
        finished.store(true, Ordering::Relaxed);
        let (report, seen) = host.join().expect("the host answers, it does not panic")?;
        let failed = |error| Failure::environment(format!("the kernel's sockets: {error}"));
        let (pings, datagrams) = sent.map_err(failed)?;
        Ok(Outcomes {
            pings,
            datagrams,
            report,
            seen,
            time: began.elapsed(),
        })
    })
}

/// Lets a simulated neighbour send the same to the stack, in virtual time.
pub fn simulate(program: &Program, plan: &Plan) -> Result<Outcomes, Failure> {
    let began = Instant::now();
    let mut network = network(program, plan)?;
    let link = program.description().links.iter().take(1);
    let link = link
        .map(|name| Interface {
            name: name.clone(),
            form: Form::ETHERNET,
        })
        .collect();
    let path = &plan.capture;
    let record = Record::to_file(&plan.stop, path, &[link, Vec::new()], Some(KEPT));
    let mut record = record?;
    // A run that is stopped has its outcome, too; the verdict says that it was interrupted.
    let ran = network.run(&mut record);
    record.finish()?;
    let happened = network.outcome();
    let mut wrong = happened.mismatches.iter().chain(&happened.failures);
    let broken = match ran {
        Err(Stuck::Instant { .. }) => Some("the stack does not become idle"),
        Err(Stuck::Stopped) | Ok(()) => wrong.next().map(String::as_str),
    };
    if let Some(broken) = broken {
        return Err(Failure::refused(format!("the demo failed: {broken}")));
    }
    let [pings, datagrams] = Neighbour::outcomes(&happened, 1);
    let counters = happened.nodes[0].counters.iter();
    let counters: Vec<_> = counters
        .map(|(name, value)| (name.as_str(), *value))
        .collect();
    let refused = happened.applications.iter().map(|one| one.refused).sum();
    Ok(Outcomes {
        pings,
        datagrams,
        report: Report::new(&counters),
        seen: Seen {
            cut: happened.nodes[0].cut,
            refused,
            ..Seen::default()
        },
        time: began.elapsed(),
    })
}

/// The stack, echoing at its port, and the neighbour, on a short cable.
fn network<'p>(program: &'p Program, plan: &Plan) -> Result<Network<'p>, Failure> {
    let (settings, applications) = settings(program)?;
    let places = Places {
        settings: &settings,
        applications: &applications,
    };
    let prepared = prepare(program, &places)?;
    let sessions = prepared.sessions.into_iter().map(|one| (false, one));
    let listeners = prepared.listeners.into_iter().map(|one| (true, one));
    let (mut words, mut applications) = (Words::default(), Vec::new());
    for (at, (listens, (port, keys))) in sessions.chain(listeners).enumerate() {
        let begin = if listens {
            Step::Listen(at)
        } else {
            Step::Open(at)
        };
        words.conversations.push((port, listens, keys));
        applications.push(Application {
            name: "echo".to_string(),
            node: 0,
            port,
            grants: Grants::default(),
            steps: vec![begin, Step::Echo],
        });
    }
    let stack = Compiled::start(program, &prepared.config, &words)?;
    let addresses = Addresses {
        ours: KERNEL,
        stack: STACK,
        port: ECHO_PORT,
    };
    let neighbour = Neighbour::new(addresses, plan.tasks());
    let links = program.description().links.len();
    let nodes: Vec<Named<'p>> = vec![
        ("stack".to_string(), Box::new(stack), links),
        ("neighbour".to_string(), Box::new(neighbour), 1),
    ];
    let end = |node| End {
        node,
        link: 0,
        faults: Faults {
            delay_ns: 10_000,
            ..Faults::default()
        },
    };
    let cable = Link {
        name: "cable".to_string(),
        ends: vec![end(0), end(1)],
    };
    let plan = network::Plan {
        seed: plan.seed,
        links: vec![cable],
        applications,
        until_ns: None,
        sample_ns: None,
    };
    Ok(Network::new(nodes, plan))
}

/// What the stack is told, and what sits at its port.
fn settings(program: &Program) -> Result<(Vec<Setting>, [ApplicationArgument; 1]), Failure> {
    let settings = [
        ("address", STACK.to_string()),
        ("prefix", PREFIX.to_string()),
        ("gateway", KERNEL.to_string()),
        ("mac", LINK_ADDRESS.to_string()),
    ];
    let known = &program.description().config;
    let settings: Vec<Setting> = settings
        .into_iter()
        .filter(|(name, _)| known.iter().any(|member| member.name == *name))
        .map(|(name, value)| Setting {
            name: name.to_string(),
            value,
        })
        .collect();
    let application = format!("datagrams(port={ECHO_PORT})=echo");
    let application = application.parse().map_err(Failure::environment)?;
    Ok((settings, [application]))
}

impl Plan {
    /// The stack's side, until it is told to stop.
    fn drive(
        &self,
        program: &Program,
        device: Box<dyn Device>,
        stop: &AtomicBool,
    ) -> Result<(Report, Seen), Failure> {
        let path = &self.capture;
        let name = program
            .description()
            .links
            .first()
            .map_or("link", String::as_str);
        let device = Recorded::new(device, path, name, Some(KEPT))?;
        let (settings, applications) = settings(program)?;
        let places = Places {
            settings: &settings,
            applications: &applications,
        };
        let mut host = start(program, vec![Box::new(device)], &places, Clock::real())?;
        host.run(&Until { stop, after: None })?;
        Ok((host.report(), host.seen()))
    }

    /// The kernel's side.
    fn send(&self, end: Instant, alive: &dyn Fn() -> bool) -> io::Result<(Outcome, Outcome)> {
        let [pings, datagrams] = self.tasks();
        let to = SocketAddrV4::new(STACK, ECHO_PORT);
        let pings = shown("pings", pings.count, end, alive, &|progress| {
            peer::ping(KERNEL, STACK, pings, progress)
        })?;
        let datagrams = shown("datagrams", datagrams.count, end, alive, &|progress| {
            peer::datagrams(KERNEL, to, datagrams, progress)
        })?;
        Ok((pings, datagrams))
    }

    /// The pings, one at a time, and the datagrams.
    fn tasks(&self) -> [Task; 2] {
        let pings = Task {
            count: self.pings,
            longest: LONGEST,
            window: 1,
            seed: self.seed,
        };
        [
            pings,
            Task {
                count: self.datagrams,
                window: WINDOW,
                ..pings
            },
        ]
    }
}

/// Does something with a bar that shows how far it is, until an end.
fn shown(
    name: &str,
    count: u64,
    end: Instant,
    alive: &dyn Fn() -> bool,
    work: &dyn Fn(&Progress<'_>) -> io::Result<Outcome>,
) -> io::Result<Outcome> {
    let bar = progress::bar(name, count);
    let outcome = work(&|answered| {
        bar.set_position(answered);
        alive() && Instant::now() < end
    });
    bar.finish_and_clear();
    outcome
}

impl Outcomes {
    fn summary(&self, plan: &Plan) -> String {
        let (sizes, seed) = (grouped(LONGEST as u64), plan.seed);
        let line = |outcome: &Outcome| {
            let (sent, answered) = (grouped(outcome.sent), grouped(outcome.answered));
            format!("{sent} sent, {answered} came back byte for byte")
        };
        let lost = self.pings.lost + self.datagrams.lost;
        let wrong = self.pings.wrong + self.datagrams.wrong;
        let losses = match (lost, wrong) {
            (0, 0) => "none".to_string(),
            _ => format!("{lost} without an answer, {wrong} wrong answers"),
        };
        lines(&[
            ("pings", line(&self.pings)),
            ("datagrams", line(&self.datagrams)),
            (
                "sizes",
                format!("0 to {sizes} bytes, {WINDOW} in flight, seed {seed}"),
            ),
            ("frames", traffic(&self.report)),
            ("losses", losses),
            ("drops", list(&self.report.dropped)),
            ("unsent", list(&self.report.unsent)),
            ("time", format!("{:.1} s", self.time.as_secs_f64())),
            (
                "traffic",
                format!("{}, the first {KEPT} bytes of each", plan.capture.display()),
            ),
        ])
    }

    /// Whether everything came back, and every frame had one fate.
    pub fn verdict(&self, plan: &Plan) -> Result<(), Failure> {
        let reasons = [
            (plan.stop.load(Ordering::Relaxed), "interrupted"),
            (self.time > PATIENCE, "timeout"),
            (!self.pings.is_whole(plan.pings), "a ping was not answered"),
            (
                !self.datagrams.is_whole(plan.datagrams),
                "a datagram was not answered",
            ),
            (!self.report.adds_up(), "the counters do not add up"),
            (self.seen.unsent > 0, "the device refused a frame"),
        ];
        match reasons.iter().find(|(holds, _)| *holds) {
            Some((_, reason)) => Err(Failure::refused(format!("the demo failed: {reason}"))),
            None => Ok(()),
        }
    }
}
