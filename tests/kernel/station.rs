//! A compiled stack on a device, driven by the test itself.
//!
//! In: a file with a stack, settings, applications as `loom run` takes them. Out: what its
//! applications were given and told, and what it counted.

use crate::end::load;
use stackloom::simulate::network::driven::{Address, Driven, Output, Told};
use stackloom::simulate::value::Datum;
use stackloom::tool::device::Device;
use stackloom::tool::host::{Clock, Report};
use stackloom::tool::layout::Port;
use stackloom::tool::run::{ApplicationArgument, Places, Setting, prepare};
use stackloom::tool::simulate::compiled::Compiled;
use stackloom::tool::simulate::words::Words;
use stackloom::tool::stack::Program;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Nothing that a test waits for takes longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// A host that cuts and joins, on both networks.
pub fn peer() -> &'static Program {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    PROGRAM.get_or_init(|| load("tests/kernel/peer.loom"))
}

/// A host that never cuts, and so says that nobody may.
pub fn whole() -> &'static Program {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    PROGRAM.get_or_init(|| load("tests/kernel/whole.loom"))
}

/// A host with a slot whose second layer each end asks for at once.
pub fn boosted() -> &'static Program {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    PROGRAM.get_or_init(|| load("tests/kernel/boosted.loom"))
}

/// A started stack, its device and its applications.
pub struct Station {
    stack: Compiled<'static>,
    device: Box<dyn Device + Send>,
    clock: Clock,
    ports: &'static [Port],
    /// Those that are always there, and then those that were opened, in order: port and number.
    sessions: Vec<(usize, u32)>,
    /// Ports that send back what they are given.
    echoing: Vec<usize>,
    /// What the others were given: port, session and message.
    given: Vec<(usize, u32, Vec<u8>)>,
    /// What applications were told: port, session, and the notice in words.
    told: Vec<(usize, u32, String)>,
}

impl Station {
    /// Starts a stack with `NAME=VALUE` and `PORT(KEYS)=APPLICATION`, each behind a space.
    #[track_caller]
    pub fn start(
        program: &'static Program,
        device: Box<dyn Device + Send>,
        settings: &str,
        applications: &[&str],
    ) -> Station {
        let settings = settings.split(' ').map(|one| one.parse::<Setting>());
        let settings: Vec<Setting> = settings.map(|one| one.expect("a setting")).collect();
        let arguments = applications.iter().map(|one| one.parse());
        let arguments: Vec<ApplicationArgument> =
            arguments.map(|one| one.expect("an application")).collect();
        let places = Places {
            settings: &settings,
            applications: &arguments,
        };
        let prepared = prepare(program, &places).expect("it is prepared");
        let opened: Vec<usize> = prepared.sessions.iter().map(|(port, _)| *port).collect();
        let conversations = prepared.sessions.into_iter();
        let conversations = conversations.map(|(port, keys)| (port, false, keys));
        let words = Words {
            conversations: conversations.collect(),
            ..Words::default()
        };
        let stack = Compiled::start(program, &prepared.config, &words);
        let ports = &program.description().ports;
        let echoes = arguments.iter().zip(applications);
        let echoes = echoes.filter(|(_, text)| text.ends_with("=echo"));
        let port = |name: &String| ports.iter().position(|port| port.name == *name);
        let echoing = echoes.filter_map(|(one, _)| port(&one.port)).collect();
        let mut station = Station {
            stack: stack.expect("it starts"),
            device,
            clock: Clock::real(),
            ports,
            sessions: Vec::new(),
            echoing,
            given: Vec::new(),
            told: Vec::new(),
        };
        let always = ports.iter().enumerate();
        let always = always
            .filter(|(_, port)| !port.opens)
            .map(|(at, _)| (at, 0));
        station.sessions.extend(always);
        for (at, port) in opened.into_iter().enumerate() {
            let session = station.stack.open(at, station.clock.now_ns());
            station.sessions.push((port, session.expect("it opens")));
        }
        station.drain();
        station
    }

    /// Sends on a session, counted in the order of opening; whether it was taken.
    pub fn send(&mut self, opened: usize, message: &[u8]) -> bool {
        let (port, session) = self.sessions[opened];
        let to = Address {
            port,
            session,
            attributes: None,
        };
        let taken = self.stack.send(to, message, self.clock.now_ns());
        self.drain();
        taken
    }

    /// What a session was given since the last look, in order.
    pub fn take(&mut self, opened: usize) -> Vec<Vec<u8>> {
        let (port, session) = self.sessions[opened];
        let own = |one: &mut (usize, u32, Vec<u8>)| (one.0, one.1) == (port, session);
        self.given
            .extract_if(.., own)
            .map(|(_, _, message)| message)
            .collect()
    }

    /// What a session has heard since the last look, in order.
    pub fn hear(&mut self, opened: usize) -> Vec<String> {
        let (port, session) = self.sessions[opened];
        let own = |one: &mut (usize, u32, String)| (one.0, one.1) == (port, session);
        let heard = self.told.extract_if(.., own);
        heard.map(|(_, _, notice)| notice).collect()
    }

    /// A counter, by the name under which it is printed.
    #[track_caller]
    pub fn counted(&self, name: &str) -> u64 {
        let counters = self.stack.counters();
        let found = counters.iter().find(|(known, _)| known == name);
        found
            .unwrap_or_else(|| panic!("nothing is counted as `{name}`"))
            .1
    }

    /// What became of every frame.
    pub fn report(&self) -> Report {
        let counters = self.stack.counters();
        let counters: Vec<(&str, u64)> = counters
            .iter()
            .map(|(name, value)| (name.as_str(), *value))
            .collect();
        Report::new(&counters)
    }

    /// Does what there is to do now; whether there was anything.
    fn turn(&mut self) -> bool {
        let now_ns = self.clock.now_ns();
        if self
            .stack
            .deadline_ns()
            .is_some_and(|due_ns| due_ns <= now_ns)
        {
            self.stack.expire(now_ns);
            self.drain();
        }
        let mut room = vec![0; 65_536];
        let received = self.device.receive(&mut room, now_ns);
        let Some(length) = received.expect("the device is there") else {
            return false;
        };
        self.stack.input(0, &room[..length], now_ns);
        self.drain();
        true
    }

    fn drain(&mut self) {
        while let Some(output) = self.stack.next() {
            let now_ns = self.clock.now_ns();
            match output {
                Output::Frame { bytes, .. } => {
                    // A device that takes nothing has lost a frame, as links do.
                    self.device
                        .send(&bytes, now_ns)
                        .expect("the device is there");
                }
                Output::Deliver { port, bytes, .. } if self.echoing.contains(&port) => {
                    self.stack.answer(&bytes, now_ns);
                }
                Output::Deliver {
                    port,
                    session,
                    bytes,
                } => self.given.push((port, session, bytes)),
                Output::Notice {
                    port,
                    session,
                    told,
                    arguments,
                } => {
                    let words = in_words(&self.ports[port], told, &arguments);
                    self.told.push((port, session, words));
                }
            }
        }
    }
}

/// A notice, as `mtu 1472`.
fn in_words(port: &Port, told: Told, arguments: &[Datum]) -> String {
    let mut words = match told {
        Told::Accepted => "accepted".to_string(),
        Told::Notice(place) => port.up[place].name.clone(),
    };
    for argument in arguments {
        match argument {
            Datum::Number(number) => words.push_str(&format!(" {number}")),
            other => words.push_str(&format!(" {other:?}")),
        }
    }
    words
}

impl std::fmt::Display for Station {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}{:?}", self.report(), self.told)
    }
}

/// Lets stations run until something has happened, which has to be soon.
#[track_caller]
pub fn until<R>(
    stations: &mut [Station],
    what: &str,
    mut happened: impl FnMut(&mut [Station]) -> Option<R>,
) -> R {
    let end = Instant::now() + PATIENCE;
    loop {
        let busy = stations
            .iter_mut()
            .fold(false, |busy, one| one.turn() | busy);
        if let Some(outcome) = happened(stations) {
            return outcome;
        }
        let said: Vec<String> = stations.iter().map(Station::to_string).collect();
        assert!(
            Instant::now() < end,
            "{what} did not happen:\n{}",
            said.join("\n")
        );
        if !busy {
            std::thread::sleep(Duration::from_micros(300));
        }
    }
}

/// Waits until a session of the first station has heard so many notices.
#[track_caller]
pub fn heard(stations: &mut [Station], opened: usize, count: usize) -> Vec<String> {
    let mut heard = Vec::new();
    until(stations, "a notice", |stations| {
        heard.extend(stations[0].hear(opened));
        (heard.len() >= count).then_some(())
    });
    heard
}

/// Lets stations run for a while.
pub fn pass(stations: &mut [Station], time: Duration) {
    let end = Instant::now() + time;
    until(stations, "the end", |_| {
        (Instant::now() >= end).then_some(())
    });
}

/// Whether each frame that came to a station had one fate.
#[track_caller]
pub fn add_up(stations: &[Station]) {
    for station in stations {
        assert!(station.report().adds_up(), "{station}");
    }
}
