//! `loom run`: compiles a stack, loads it and drives it on devices.
//!
//! In: what the command line says about links, settings and applications. Out: what happened to
//! every frame, for people or as one line of JSON.

use super::c_compiler;
use super::compiler::{self, Options};
use super::device::{Address, Device};
use super::failure::Failure;
use super::host::{Application, Clock, Host, Report, Seen, Until};
use super::layout::{Description, Layout, Port, Values, instead};
use super::progress;
use super::recorded::Recorded;
use super::stack::{Program, Stack};
use super::terminal::{note, result};
use super::written::duration_ns;
use indicatif::ProgressBar;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Runs a stack on real devices or captures.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// File with the stack; FILE:STACK if the file declares several
    pub stack: PathBuf,
    /// What is around it
    #[command(flatten)]
    pub around: Around,
    /// C file with functions that the stack declares `extern`; repeatable
    #[arg(long = "c", value_name = "FILE")]
    pub functions: Vec<PathBuf>,
    /// Writes frames of link NAME, both directions, to a pcapng capture
    #[arg(long = "record", value_name = "NAME=FILE")]
    pub records: Vec<Setting>,
    /// Replays captures in virtual time, as fast as the machine can
    #[arg(long = "virtual")]
    pub virtual_time: bool,
    /// Stops after this time, such as 10 s or 500 ms
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    pub after: Option<Duration>,
    /// Prints the counters as one line of JSON
    #[arg(long)]
    pub json: bool,
    /// Folder that `use` searches before the standard library; repeatable
    #[arg(long = "path", value_name = "FOLDER")]
    pub search: Vec<PathBuf>,
}

/// What is around a stack that runs.
#[derive(clap::Args, Clone, Debug)]
pub struct Around {
    /// Device that carries the frames of link NAME; each link needs one
    #[arg(long = "link", value_name = "NAME=DEVICE")]
    pub links: Vec<LinkArgument>,
    /// Value of config.NAME; required if it has no default
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub settings: Vec<Setting>,
    /// Application at a port: echo, lines, sink; KEYS open or listen
    #[arg(long = "app", value_name = "PORT[(KEYS)]=APP")]
    pub applications: Vec<ApplicationArgument>,
}

const EXAMPLES: &str = "\
Devices, for --link NAME=DEVICE:
  tap:TAP[,virtio]      Ethernet frames to and from the kernel (needs root)
  tun:TUN[,virtio]      IP packets to and from the kernel (needs root); with virtio the kernel
                        leaves checksums to the stack, and passes several datagrams at once
  packet:INTERFACE      frames of an interface, which the kernel also receives (needs root)
  udp:LOCAL[,REMOTE]    one frame per datagram; REMOTE defaults to the sender of the last datagram
  pcap:IN[,OUT]         frames of the capture IN; frames that the stack sends are written to OUT

Values, for --set NAME=VALUE and for keys:
  42, 0x2a, 10.0.0.2, 02:00:00:00:00:02, true, 1.5 s, 200 ms, 00ff (bytes), none

Applications, for --app PORT=APP or --app 'PORT(KEY=VALUE,...)=APP':
  echo                  sends each message back
  lines                 sends each line of stdin, and prints each message; without --for, the run
                        ends after the end of stdin and 2 s without traffic
  sink                  discards all messages; the default
  With the keys of a listener, the application listens; with the keys of a session, it opens one.

Examples:
  Answer pings and echo datagrams on a TAP device (as root), until Ctrl-C:
    loom run examples/host/host.loom --link tap=tap:tap0 \\
        --set address=10.0.0.2 --set prefix=24 --set mac=02:00:00:00:00:02 \\
        --app 'datagrams(port=7)=echo'

  Replay a capture in virtual time, and write the replies of the stack to another:
    loom run examples/host/host.loom --link tap=pcap:in.pcap,out.pcapng --virtual --json \\
        --set address=10.0.0.2 --set prefix=24 --set mac=02:00:00:00:00:02";

/// `--link tap=tap:tap0`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkArgument {
    /// The link's name in the stack.
    pub name: String,
    /// The device for it.
    pub address: Address,
}

impl FromStr for LinkArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<LinkArgument, String> {
        let (name, address) = halves(text, "tap=tap:tap0")?;
        Ok(LinkArgument {
            name,
            address: address.parse()?,
        })
    }
}

/// `--set address=10.0.0.2`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The setting's name.
    pub name: String,
    /// What people wrote for it.
    pub value: String,
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Setting, String> {
        let (name, value) = halves(text, "address=10.0.0.2")?;
        Ok(Setting { name, value })
    }
}

/// `--app datagrams(port=7)=echo`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplicationArgument {
    /// The port's name in the stack.
    pub port: String,
    /// The keys of the session to open, or of the listener, if there is one.
    pub keys: Option<Vec<Setting>>,
    /// What sits there.
    pub application: Application,
}

impl FromStr for ApplicationArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<ApplicationArgument, String> {
        let example = "datagrams(port=7)=echo";
        let wrong = || format!("cannot read `{text}`: write it as in {example}");
        let (place, application) = text.rsplit_once('=').ok_or_else(wrong)?;
        let application = match application.trim() {
            "echo" => Application::Echo,
            "sink" => Application::Sink,
            "lines" => Application::Lines,
            other => {
                return Err(format!(
                    "`{other}` is not an application: the applications are echo, lines and sink"
                ));
            }
        };
        let (port, keys) = match place.trim().strip_suffix(')') {
            None => (place.trim(), None),
            Some(open) => {
                let (port, keys) = open.split_once('(').ok_or_else(wrong)?;
                let keys = keys.split(',').filter(|key| !key.trim().is_empty());
                (
                    port.trim(),
                    Some(keys.map(str::parse).collect::<Result<_, _>>()?),
                )
            }
        };
        if port.is_empty() || port.contains(['(', '=']) {
            return Err(wrong());
        }
        Ok(ApplicationArgument {
            port: port.to_string(),
            keys,
            application,
        })
    }
}

fn halves(text: &str, example: &str) -> Result<(String, String), String> {
    let split = text
        .split_once('=')
        .map(|(name, rest)| (name.trim(), rest.trim()));
    match split.filter(|(name, rest)| !name.is_empty() && !rest.is_empty()) {
        Some((name, rest)) => Ok((name.to_string(), rest.to_string())),
        None => Err(format!("cannot read `{text}`: write it as in {example}")),
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    duration_ns(text).map(Duration::from_nanos)
}

/// The command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let options = Options {
        search: arguments.search.clone(),
        ..Options::default()
    };
    drive(arguments, &options).map(drop)
}

/// Compiles a stack as the options say, runs it until it ends, and prints what happened. Answers
/// the name of its C, too.
pub fn drive(arguments: &Arguments, options: &Options) -> Result<(String, Report), Failure> {
    let stop = stop_on_signals()?;
    let spinner = progress::spinner("compiling");
    let compiled = compiler::compile(&arguments.stack, options)?;
    let Around {
        settings,
        applications,
        ..
    } = &arguments.around;
    let places = Places {
        settings,
        applications,
    };
    places.check(&compiled.description)?;
    let addresses = addresses(&compiled.description.links, arguments)?;
    let program = c_compiler::load_with(
        &compiled.source,
        &compiled.header,
        &compiled.description,
        &arguments.functions,
    );
    let program = unless_stopped(&stop, program)?;
    spinner.finish_and_clear();
    let prepared = prepare(&program, &places)?;
    let devices = devices(&compiled.description.links, addresses, &arguments.records)?;
    if !arguments.virtual_time {
        let name = &program.description().name;
        note(format_args!("running {name}; Ctrl-C ends it"));
    }
    let clock = match arguments.virtual_time {
        true => Clock::starting_with(&devices),
        false => Clock::real(),
    };
    let mut host = prepared.start(&program, devices, clock)?;
    let until = Until {
        stop: &stop,
        after: arguments.after,
    };
    let is_typed = |one: &ApplicationArgument| one.application == Application::Lines;
    let counters = match applications.iter().any(is_typed) {
        true => ProgressBar::hidden(),
        false => progress::spinner("running"),
    };
    let ran = host.run_shown(&until, &counters);
    counters.finish_and_clear();
    ran?;
    let report = host.report();
    if arguments.json {
        result(format_args!("{}\n", report.to_json()))?;
    } else {
        result(&report)?;
    }
    host.seen().warn();
    match report.adds_up() {
        true => Ok((compiled.description.name, report)),
        false => Err(Failure::refused(
            "the counters do not add up: a frame is counted never or twice",
        )),
    }
}

/// What was compiled, unless a signal came meanwhile, which may have ended the C compiler too.
pub fn unless_stopped(
    stop: &AtomicBool,
    program: Result<Program, Failure>,
) -> Result<Program, Failure> {
    match stop.load(Ordering::Relaxed) {
        true => Err(Failure::refused("interrupted during compilation")),
        false => program,
    }
}

/// A flag that signals to end set, so that a run ends with its report and its files.
pub fn stop_on_signals() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop))
            .map_err(|error| Failure::environment(format!("signals cannot be caught: {error}")))?;
    }
    Ok(stop)
}

/// What is set and what sits where.
pub struct Places<'run> {
    /// The settings of the stack.
    pub settings: &'run [Setting],
    /// The applications at its ports.
    pub applications: &'run [ApplicationArgument],
}

/// Reads what is set and what sits where, into the structs of a loaded stack.
pub fn prepare(program: &Program, places: &Places<'_>) -> Result<Prepared, Failure> {
    let keys = |port: usize, listens: bool| match listens {
        true => program.listener_keys(port),
        false => program.keys(port),
    };
    places.prepare(program.description(), program.config(), keys)
}

/// Starts a stack, opens its sessions and puts it onto its devices.
pub fn start<'program>(
    program: &'program Program,
    devices: Vec<Box<dyn Device>>,
    places: &Places<'_>,
    clock: Clock,
) -> Result<Host<'program>, Failure> {
    prepare(program, places)?.start(program, devices, clock)
}

/// How many sessions of a listener may wait; the host takes what it is given at once.
const BACKLOG: u32 = 128;

/// What was said about settings and applications, found to fit the stack.
pub struct Prepared {
    /// The settings.
    pub config: Values,
    applications: Vec<Application>,
    /// The sessions to open: their ports and keys.
    pub sessions: Vec<(usize, Values)>,
    /// Where to listen.
    pub listeners: Vec<(usize, Values)>,
}

impl Places<'_> {
    /// Whether all this fits the stack, which is not compiled to C yet.
    pub fn check(&self, stack: &Description) -> Result<(), Failure> {
        let config = Values::new("setting", &Layout::assumed(&stack.config));
        let keys = |port: usize, listens: bool| {
            let port = &stack.ports[port];
            let members = match listens {
                true => port.listener_keys.as_deref().unwrap_or_default(),
                false => &port.keys,
            };
            Values::new("key", &Layout::assumed(members))
        };
        self.prepare(stack, config, keys).map(drop)
    }

    /// Fills the settings, and the keys of the sessions to open; nothing is opened or made yet.
    fn prepare(
        &self,
        stack: &Description,
        mut config: Values,
        keys: impl Fn(usize, bool) -> Values,
    ) -> Result<Prepared, Failure> {
        set_all(&mut config, self.settings)?;
        let missing = config.missing();
        if !missing.is_empty() {
            let given: Vec<String> = missing
                .iter()
                .map(|name| format!("--set {name}="))
                .collect();
            return Err(Failure::environment(format!(
                "no value for {}: add {}",
                missing.join(", "),
                given.join(" ")
            )));
        }
        let mut applications = vec![Application::default(); stack.ports.len()];
        let [mut sessions, mut listeners] = [const { Vec::new() }; 2];
        for argument in self.applications {
            let names: Vec<&str> = stack.ports.iter().map(|port| port.name.as_str()).collect();
            let port = position("port", &argument.port, &names)?;
            applications[port] = argument.application;
            if let Some(given) = &argument.keys {
                let listens = listens(&stack.ports[port], given);
                let what = if listens { "listener" } else { "session" };
                let keys = filled(keys(port, listens), (what, &argument.port), given)?;
                match listens {
                    true => listeners.push((port, keys)),
                    false => sessions.push((port, keys)),
                }
            }
        }
        let typed = applications.iter();
        let typed = typed.filter(|one| **one == Application::Lines).count();
        if typed > 1 {
            let message = "`lines` is given twice, but stdin can be read only once";
            return Err(Failure::environment(message));
        }
        Ok(Prepared {
            config,
            applications,
            sessions,
            listeners,
        })
    }
}

fn set_all(values: &mut Values, given: &[Setting]) -> Result<(), Failure> {
    given.iter().try_for_each(|setting| {
        let set = values.set(&setting.name, &setting.value);
        set.map_err(Failure::environment)
    })
}

/// Whether these are keys of a listener: they say whom to call, not who calls.
fn listens(port: &Port, given: &[Setting]) -> bool {
    let listener = port.listener_keys.as_ref();
    listener.is_some_and(|keys| {
        let mut given = given.iter();
        given.all(|given| keys.iter().any(|key| key.name == given.name))
    })
}

/// The keys of a session to open at a port, or of a listener.
fn filled(
    mut keys: Values,
    (what, port): (&str, &str),
    given: &[Setting],
) -> Result<Values, Failure> {
    set_all(&mut keys, given)?;
    let missing = keys.missing().join(", ");
    if missing.is_empty() {
        return Ok(keys);
    }
    let example = format!("--app '{port}({missing}=...)=echo'");
    Err(Failure::environment(format!(
        "a {what} of `{port}` also needs a value for {missing}: {example}"
    )))
}

impl Prepared {
    fn start<'program>(
        self,
        program: &'program Program,
        devices: Vec<Box<dyn Device>>,
        clock: Clock,
    ) -> Result<Host<'program>, Failure> {
        let now_ns = clock.now_ns();
        let mut stack = Stack::start(program, &self.config, now_ns)?;
        for (port, keys) in &self.listeners {
            if stack.listen(*port, keys, BACKLOG, now_ns).is_none() {
                let name = &program.description().ports[*port].name;
                let message = format!("the stack refuses this listener of `{name}`");
                return Err(Failure::refused(message));
            }
        }
        let mut opened = Vec::new();
        for (port, keys) in &self.sessions {
            let Some(session) = stack.open(*port, keys, now_ns) else {
                let name = &program.description().ports[*port].name;
                let message = format!("the stack refuses this session of `{name}`");
                return Err(Failure::refused(message));
            };
            opened.push((*port, session));
        }
        let mut host = Host::new(stack, devices, self.applications, clock);
        for (port, session) in opened {
            host.opened(port, session);
        }
        Ok(host)
    }
}

/// Opens the devices of all links, and the captures of what passes them.
fn devices(
    links: &[String],
    addresses: Vec<&Address>,
    records: &[Setting],
) -> Result<Vec<Box<dyn Device>>, Failure> {
    let names: Vec<&str> = links.iter().map(String::as_str).collect();
    for record in records {
        position("link", &record.name, &names)?;
    }
    let mut devices = Vec::new();
    for (name, address) in names.iter().zip(addresses) {
        let mut device = address.open()?;
        for record in records.iter().filter(|record| record.name == *name) {
            let path = Path::new(&record.value);
            let recorded = Recorded::new(device, path, name, None);
            device = Box::new(recorded.map_err(Failure::from)?);
        }
        devices.push(device);
    }
    Ok(devices)
}

/// The device of each link, in the order of the stack; none is opened yet.
fn addresses<'run>(
    links: &[String],
    arguments: &'run Arguments,
) -> Result<Vec<&'run Address>, Failure> {
    let mut addresses: Vec<Option<&Address>> = vec![None; links.len()];
    for argument in &arguments.around.links {
        let names: Vec<&str> = links.iter().map(String::as_str).collect();
        let link = position("link", &argument.name, &names)?;
        if addresses[link].replace(&argument.address).is_some() {
            let message = format!("link `{}` is given two devices", argument.name);
            return Err(Failure::environment(message));
        }
        let is_capture = matches!(argument.address, Address::Capture(..));
        if arguments.virtual_time && !is_capture {
            let reason = "--virtual is for captures: a device lives in real time";
            return Err(Failure::environment(reason));
        }
    }
    let with_names = links.iter().zip(addresses);
    with_names
        .map(|(name, address)| {
            address.ok_or_else(|| {
                let advice = format!("--link {name}=tap:tap0, or see loom run --help");
                Failure::environment(format!("link `{name}` has no device: add {advice}"))
            })
        })
        .collect()
}

fn position(what: &str, name: &str, known: &[&str]) -> Result<usize, Failure> {
    let found = known.iter().position(|known| *known == name);
    found.ok_or_else(|| {
        let instead = instead(name, known);
        Failure::environment(format!("the stack has no {what} `{name}`: {instead}"))
    })
}

impl Seen {
    /// Says what the stack's own counters cannot know.
    fn warn(&self) {
        let lines = [
            (
                self.cut,
                "frames truncated because they were longer than the buffers of the stack",
            ),
            (self.unsent, "frames that a device refused"),
            (self.refused, "messages that an application could not send"),
        ];
        for (count, what) in lines.iter().filter(|(count, _)| *count > 0) {
            note(format_args!("loom: {what}: {count}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_read_as_they_are_documented() {
        let setting = |name: &str, value: &str| Setting {
            name: name.into(),
            value: value.into(),
        };
        let link: LinkArgument = "tap=pcap:a,b".parse().unwrap();
        assert_eq!(
            (link.name.as_str(), link.address),
            ("tap", "pcap:a,b".parse().unwrap())
        );
        assert_eq!("a=1".parse(), Ok(setting("a", "1")));
        let application: ApplicationArgument = "datagrams(port=7, peer=none)=echo".parse().unwrap();
        assert_eq!(application.port, "datagrams");
        assert_eq!(
            application.keys,
            Some(vec![setting("port", "7"), setting("peer", "none")])
        );
        assert_eq!(application.application, Application::Echo);
        let plain: ApplicationArgument = "streams=sink".parse().unwrap();
        assert_eq!((plain.port.as_str(), plain.keys), ("streams", None));
    }

    #[test]
    fn a_wrong_argument_is_answered_with_an_example() {
        let of_application = |text: &str| text.parse::<ApplicationArgument>().unwrap_err();
        for text in ["", "datagrams", "(port=7)=echo", "port=7)=echo"] {
            let message = of_application(text);
            assert!(
                message.contains("datagrams(port=7)=echo"),
                "{text}: {message}"
            );
        }
        assert!(
            of_application("datagrams=ech").contains("the applications are echo, lines and sink")
        );
        assert!(
            "tap0"
                .parse::<LinkArgument>()
                .unwrap_err()
                .contains("tap=tap:tap0")
        );
        assert!(
            "=5".parse::<Setting>()
                .unwrap_err()
                .contains("address=10.0.0.2")
        );
    }
}
