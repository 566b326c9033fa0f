//! `loom run`: compiles a stack, loads it and drives it on devices.
//!
//! In: what the command line says about links, settings and applications. Out: what happened to
//! every frame, for people or as one line of JSON.

use super::c_compiler;
use super::compiler::{self, Options};
use super::device::{Address, Device};
use super::failure::Failure;
use super::host::{Application, Clock, Host, Seen, Until};
use super::layout::duration_ns;
use super::progress;
use super::stack::{Program, Stack};
use indicatif::ProgressBar;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Runs a stack on real devices or captures.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The file with the stack
    pub stack: PathBuf,
    /// A device for a link: NAME=tap:TAP, tun:TUN, packet:INTERFACE or pcap:IN,OUT
    #[arg(long = "link", value_name = "NAME=DEVICE")]
    pub links: Vec<LinkArgument>,
    /// A setting of the stack, which its program reads as config.NAME
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub settings: Vec<Setting>,
    /// What sits at a port: echo or sink; with keys, a session is opened for it
    #[arg(long = "app", value_name = "PORT(KEY=VALUE,...)=APP")]
    pub applications: Vec<ApplicationArgument>,
    /// Feeds captures at their own times, as fast as the machine can
    #[arg(long = "virtual")]
    pub virtual_time: bool,
    /// Stops after so much time: 10 s, 500 ms
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    pub after: Option<Duration>,
    /// Prints one line of JSON
    #[arg(long)]
    pub json: bool,
    /// Where `use` looks before the library inside the binary
    #[arg(long = "path", value_name = "FOLDER")]
    pub search: Vec<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  Answer pings and echo datagrams on a TAP device (as root), until Ctrl-C:
    loom run examples/host/host.loom --link tap=tap:tap0 \\
        --set address=10.0.0.2 --set mac=02:00:00:00:00:02 --app 'datagrams(port=7)=echo'

  Feed a capture in virtual time and write what the stack answers:
    loom run examples/host/host.loom --link tap=pcap:in.pcap,out.pcapng --virtual --json \\
        --set address=10.0.0.2";

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
    /// The keys of the session to open, if one is.
    pub keys: Option<Vec<Setting>>,
    /// What sits there.
    pub application: Application,
}

impl FromStr for ApplicationArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<ApplicationArgument, String> {
        let example = "datagrams(port=7)=echo";
        let wrong = || format!("`{text}` should read like {example}");
        let (place, application) = text.rsplit_once('=').ok_or_else(wrong)?;
        let application = match application.trim() {
            "echo" => Application::Echo,
            "sink" => Application::Sink,
            other => {
                return Err(format!(
                    "`{other}` is no application: there are echo and sink"
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
        None => Err(format!("`{text}` should read like {example}")),
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    duration_ns(text).map(Duration::from_nanos)
}

/// The command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let options = Options {
        name: None,
        search: arguments.search.clone(),
    };
    let spinner = progress::spinner("compiling");
    let compiled = compiler::compile(&arguments.stack, &options)?;
    let program = c_compiler::load(&compiled.source, &compiled.header, &compiled.description)?;
    spinner.finish_and_clear();
    let devices = devices(&program, &arguments.links)?;
    if arguments.virtual_time && devices.iter().any(|device| device.descriptor().is_some()) {
        let reason = "--virtual is for captures: a device lives in real time";
        return Err(Failure::environment(reason));
    }
    let stop = stop_on_signals()?;
    if !arguments.json && !arguments.virtual_time {
        eprintln!("running {}; Ctrl-C ends it", program.description().name);
    }
    let clock = match arguments.virtual_time {
        true => Clock::starting_with(&devices),
        false => Clock::real(),
    };
    let places = Places {
        settings: &arguments.settings,
        applications: &arguments.applications,
    };
    let mut host = start(&program, devices, &places, clock)?;
    let until = Until {
        stop: &stop,
        after: arguments.after,
    };
    let spinner = arguments
        .virtual_time
        .then(|| progress::spinner("feeding the captures"));
    host.run(&until)
        .map_err(|error| Failure::environment(error.to_string()))?;
    spinner.iter().for_each(ProgressBar::finish_and_clear);
    let report = host.report();
    if arguments.json {
        println!("{}", report.to_json());
    } else {
        print!("{report}");
    }
    host.seen().warn();
    match report.adds_up() {
        true => Ok(()),
        false => Err(Failure::refused(
            "the counters do not add up: a frame has no fate or two",
        )),
    }
}

/// A flag that SIGINT and SIGTERM set, so that a run ends with its report and its files.
pub fn stop_on_signals() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
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

/// Starts a stack, opens its sessions and puts it onto its devices.
pub fn start<'program>(
    program: &'program Program,
    devices: Vec<Box<dyn Device>>,
    places: &Places<'_>,
    clock: Clock,
) -> Result<Host<'program>, Failure> {
    let mut config = program.config();
    for setting in places.settings {
        config
            .set(&setting.name, &setting.value)
            .map_err(Failure::environment)?;
    }
    let now_ns = clock.now_ns();
    let mut stack = Stack::start(program, &config, now_ns)?;
    let ports = &program.description().ports;
    let mut applications = vec![Application::default(); ports.len()];
    for argument in places.applications {
        let names = ports.iter().map(|port| port.name.as_str());
        let port = position("port", &argument.port, names)?;
        applications[port] = argument.application;
        if let Some(keys) = &argument.keys {
            open(&mut stack, port, keys, now_ns)?;
        }
    }
    Ok(Host::new(stack, devices, applications, clock))
}

fn open(stack: &mut Stack<'_>, port: usize, given: &[Setting], now_ns: u64) -> Result<(), Failure> {
    let name = stack.program().description().ports[port].name.clone();
    let mut keys = stack.program().keys(port);
    for key in given {
        keys.set(&key.name, &key.value)
            .map_err(Failure::environment)?;
    }
    let missing = keys.missing().join(", ");
    if !missing.is_empty() {
        let message =
            format!("a session of `{name}` also needs {missing}: --app '{name}(...)=echo'");
        return Err(Failure::environment(message));
    }
    match stack.open(port, &keys, now_ns) {
        Some(_) => Ok(()),
        None => Err(Failure::refused(format!(
            "the stack refuses this session of `{name}`"
        ))),
    }
}

/// A device for each link, in the order of the stack.
fn devices(program: &Program, given: &[LinkArgument]) -> Result<Vec<Box<dyn Device>>, Failure> {
    let links = &program.description().links;
    let mut opened: Vec<Option<Box<dyn Device>>> = links.iter().map(|_| None).collect();
    for argument in given {
        let link = position("link", &argument.name, links.iter().map(String::as_str))?;
        if opened[link].is_some() {
            let message = format!("link `{}` has two devices", argument.name);
            return Err(Failure::environment(message));
        }
        opened[link] = Some(argument.address.open()?);
    }
    let with_names = links.iter().zip(opened);
    with_names
        .map(|(name, device)| {
            device.ok_or_else(|| {
                let advice = format!("--link {name}=tap:tap0, or see loom run --help");
                Failure::environment(format!("link `{name}` has no device: {advice}"))
            })
        })
        .collect()
}

fn position<'names>(
    what: &str,
    name: &str,
    names: impl Iterator<Item = &'names str> + Clone,
) -> Result<usize, Failure> {
    names
        .clone()
        .position(|known| known == name)
        .ok_or_else(|| {
            let known: Vec<&str> = names.collect();
            let known = if known.is_empty() {
                "none".to_string()
            } else {
                known.join(", ")
            };
            Failure::environment(format!(
                "the stack has no {what} `{name}`: there is {known}"
            ))
        })
}

impl Seen {
    /// Says what the stack's own counters cannot know.
    fn warn(&self) {
        let lines = [
            (
                self.cut,
                "frames were longer than the stack's buffers and were cut",
            ),
            (self.unsent, "frames were not taken by their device"),
            (
                self.refused,
                "messages could not be sent by their application",
            ),
        ];
        for (count, what) in lines.iter().filter(|(count, _)| *count > 0) {
            eprintln!("loom: {count} {what}");
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
        assert!(of_application("datagrams=ech").contains("there are echo and sink"));
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
