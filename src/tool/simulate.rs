//! `loom simulate`: stacks on links with faults, in virtual time, from a seed.
//!
//! In: a stack, of which two copies talk to each other, or a network file. Out: what happened to
//! every frame and message, a capture of all frames, and whether all promises were kept. A run
//! that fails says how to repeat it.
//!
//! ```text
//! scenario (document)   what is written       prepare   found to fit the stacks (words, phrases)
//! compiled, interpreted what runs a stack     record    what watches it
//! compiled_network      stacks that are compiled once, for many runs
//! promise, verdict      what has to hold, and what people read of it
//! ```
//!
//! The network itself is in `simulate/network`; here are the stacks, files and words.

pub mod compiled;
pub mod compiled_network;
mod document;
mod estelle;
mod esterel;
mod interpreted;
mod phrases;
mod prepare;
mod promise;
pub mod record;
mod scenario;
mod text;
mod verdict;
pub mod words;

use super::compiler::Options;
use super::esterel::is_esterel;
use super::failure::{Failure, Status};
use super::page::{grouped, time_text};
use super::run::{Setting, stop_on_signals};
use super::switches::Switches;
use super::terminal::{note, result};
use super::written::duration_ns;
use super::{library, progress};
use crate::simulate::externs::Externs;
use crate::simulate::network::link::Faults;
use crate::simulate::network::{Named, Network, Plan, Stuck};
use prepare::Prepared;
use scenario::Scenario;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use text::Mistake;
use verdict::Verdict;

/// Simulates stacks in virtual time, on links with loss, delay and other faults. Runs programs of
/// Esterel and specifications of Estelle.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Network (.toml), stack (two copies, left and right), Esterel (.strl) or Estelle (.stl)
    pub network: PathBuf,
    /// Seed of all random choices [default: random, and printed]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Number of runs, each with the next seed [default: 1]
    #[arg(long, value_name = "N", conflicts_with = "pcapng",
        value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: Option<u64>,
    /// Stops at this virtual time at the latest
    #[arg(long = "for", value_name = "TIME", value_parser = duration_ns)]
    pub after_ns: Option<u64>,
    /// Stack only: number of messages that `left` sends [default: 1000]
    #[arg(long, value_name = "N")]
    pub messages: Option<u64>,
    /// Stack only: bytes per message [default: 16..64, if they fit]
    #[arg(long, value_name = "BYTES", value_parser = checked(phrases::size_range))]
    pub size: Option<String>,
    /// Stack only: time between two messages [default: 1 ms]
    #[arg(long, value_name = "TIME", value_parser = checked(duration_ns))]
    pub every: Option<String>,
    /// Stack only: `right` sends each message back
    #[arg(long)]
    pub echo: bool,
    /// Value of config.NAME or of a constant; required without a default
    #[arg(long = "set", value_name = "[NODE.]NAME=VALUE")]
    pub settings: Vec<Setting>,
    /// Application at a port: the steps of a script, separated by `;`
    #[arg(long = "app", value_name = "[NODE.]PORT=STEPS")]
    pub scripts: Vec<ScriptArgument>,
    /// Condition at the end; the command fails if it does not hold
    #[arg(long = "expect", value_name = "FACT")]
    pub promises: Vec<String>,
    /// Writes all frames to a pcapng capture; in UDP if not Ethernet or IP
    #[arg(long, value_name = "FILE")]
    pub pcapng: Option<PathBuf>,
    /// Prints the results as one line of JSON
    #[arg(long)]
    pub json: bool,
    /// With --json: also a line for each interval [default: 100 ms]
    #[arg(long = "series", value_name = "TIME", requires = "json", num_args = 0..=1,
        require_equals = true, default_missing_value = "100 ms", value_parser = interval)]
    pub series_ns: Option<u64>,
    /// Interprets the stacks instead of compiling them to C
    #[arg(long)]
    pub interpret: bool,
    /// Esterel only: module to run [default: the one that no other runs]
    #[arg(long, value_name = "MODULE")]
    pub main: Option<String>,
    /// Estelle only: first, all, or seed, the default with --seed
    #[arg(long, value_enum, hide_possible_values = true)]
    pub choice: Option<estelle::Decision>,
    /// Estelle only: stops after this many steps of all systems together
    #[arg(long, value_name = "N")]
    pub steps: Option<u64>,
    /// Estelle only: time that a step of a system takes [default: none]
    #[arg(long = "step-time", value_name = "TIME", value_parser = duration_ns)]
    pub step_time_ns: Option<u64>,
    /// Estelle only: limit of --choice all [default: 1000000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub situations: Option<u32>,
    /// Estelle only: most turns of `while` and `repeat` [default: 1000000]
    #[arg(long, value_name = "TURNS")]
    pub loop_limit: Option<u64>,
    /// Estelle only, with --json: also the situation before each selection
    #[arg(long, requires = "json")]
    pub dump: bool,
    /// Size limit of an automaton, in nodes [default: 250000]
    #[arg(long, value_name = "NODES")]
    pub budget: Option<usize>,
    /// Esterel and Estelle only: runs the generated C
    #[arg(long, conflicts_with = "interpret")]
    pub compiled: bool,
    /// C file with `extern` functions, or functions and types of Esterel
    #[arg(long = "c", value_name = "FILE")]
    pub functions: Vec<PathBuf>,
    /// Folder that `use` searches before the standard library; repeatable
    #[arg(long = "path", value_name = "FOLDER")]
    pub search: Vec<PathBuf>,
    #[command(flatten)]
    switches: Switches,
    #[command(flatten)]
    faults: FaultArguments,
}

/// What happens to frames, on all links.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Links")]
struct FaultArguments {
    /// Propagation delay of a frame [default: 0]
    #[arg(long, value_name = "TIME", value_parser = fault("delay"))]
    delay: Option<String>,
    /// Maximum random extra delay of a frame; the order is kept [default: 0]
    #[arg(long, value_name = "TIME", value_parser = fault("jitter"))]
    jitter: Option<String>,
    /// Rate of the link, in bits per second [default: unlimited]
    #[arg(long, value_parser = fault("rate"))]
    rate: Option<String>,
    /// Capacity of the queue in front of the link, in frames [default: 64]
    #[arg(long, value_name = "FRAMES", value_parser = fault("queue"))]
    queue: Option<String>,
    /// Longest frame, in bytes; longer frames are lost [default: unlimited]
    #[arg(long, value_name = "BYTES", value_parser = fault("mtu"))]
    mtu: Option<String>,
    /// Share of frames that are lost [default: 0]
    #[arg(long, value_name = "SHARE", value_parser = fault("loss"))]
    loss: Option<String>,
    /// Mean number of frames lost in a row
    #[arg(long, value_name = "FRAMES", value_parser = fault("burst"))]
    burst: Option<String>,
    /// Share of frames that arrive after the next frame [default: 0]
    #[arg(long, value_name = "SHARE", value_parser = fault("reorder"))]
    reorder: Option<String>,
    /// Share of frames that arrive twice [default: 0]
    #[arg(long, value_name = "SHARE", value_parser = fault("duplicate"))]
    duplicate: Option<String>,
    /// Share of frames with one changed byte [default: 0]
    #[arg(long, value_name = "SHARE", value_parser = fault("corrupt"))]
    corrupt: Option<String>,
    /// Bit error rate, such as 1e-6, or '0 for 5 s, 1e-6 for 5 s' [default: 0]
    #[arg(long, value_name = "SHARE", value_parser = fault("bit_errors"))]
    bit_errors: Option<String>,
    /// Fate of changed frames: deliver or drop [default: deliver]
    #[arg(long, value_name = "FATE", value_parser = fault("damaged"))]
    damaged: Option<String>,
    /// Times in which all frames are lost, such as '10 s..12 s'
    #[arg(long, value_name = "TIMES", value_parser = fault("outage"))]
    outage: Option<String>,
}

const EXAMPLES: &str = "\
SHARE is written as 1%, 0.01 or 1e-6, TIME as 10 ms, RATE as 10 Mbit/s.

Steps of a script, for --app:
  open (KEY = VALUE, ...)      opens a session; `listen (KEY = VALUE, ...)` listens
  send 1000 of 4..64 bytes every 10 ms with (ATTRIBUTE = VALUE, ...)
  stream 60 s of 1400 bytes    sends as fast as the port grants; also `stream 1000000 bytes`
  expect 1000 within 5 s       waits for 1000 more messages, and fails if they do not arrive
  expect NOTICE (NAME = VALUE, ...), tell NOTICE (NAME = VALUE | VALUE, ...) every 50 ms
  wait 1 s, echo, close

Facts, for --expect FACT, 'NODE: FACT' or 'NODE.PORT: FACT':
  in order, no duplicates, no losses, no damage, buffers back
  delivered >= 99%, answered = sent, latency < 50 ms, median latency, round trip, throughput,
  sent, refused, missing, repeated, damaged, and each counter: sequencer.late_or_repeated = 0

An Esterel program reads the inputs of each instant from stdin, as in `A B(3) ;`, and prints its
outputs as a line, as in `O P(4)`.

A specification of Estelle prints a line for each transition that fires. Choices, for --choice:
  first                 the order of declaration and of creation, and the earliest time
  seed                  generators that --seed sets up
  all                   tries everything: prints deadlocks, faults, and what never fires

Examples:
  loom simulate abro.strl < events
  loom simulate examples/estelle/abracadabra.stl --set losses=3 --seed 7
  loom simulate examples/estelle/alternating.stl --choice all
  loom simulate examples/radio/radio.loom --loss 5% --reorder 1% --delay 20ms --expect 'in order'
  loom simulate examples/radio/radio.toml --pcapng radio.pcapng";

/// Takes the words as they are if they can be read.
fn checked<T>(
    read: fn(&str) -> Result<T, String>,
) -> impl Fn(&str) -> Result<String, String> + Clone + Send + Sync + 'static
where
    T: 'static,
{
    move |words| read(words).map(|_| words.to_string())
}

fn fault(name: &'static str) -> impl Fn(&str) -> Result<String, String> + Clone + Send + Sync {
    move |words| phrases::set_fault(&mut Faults::default(), name, words).map(|()| words.to_string())
}

/// Some time.
fn interval(words: &str) -> Result<u64, String> {
    match duration_ns(words)? {
        0 => Err("an interval has a length".to_string()),
        interval_ns => Ok(interval_ns),
    }
}

/// `--app left.messages=send 5`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptArgument {
    /// `NODE.PORT`, or `PORT` for each node.
    pub place: String,
    /// The steps.
    pub steps: String,
}

impl FromStr for ScriptArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<ScriptArgument, String> {
        let example = "left.messages=send 100 every 5 ms";
        let (place, steps) = text
            .split_once('=')
            .filter(|(place, _)| !place.trim().is_empty() && !place.contains(['(', ' ']))
            .ok_or_else(|| format!("cannot read `{text}`: write it as in {example}"))?;
        Ok(ScriptArgument {
            place: place.trim().to_string(),
            steps: steps.trim().to_string(),
        })
    }
}

impl Arguments {
    fn faults(&self) -> Vec<(&'static str, &String)> {
        let given = &self.faults;
        let all = [
            ("delay", &given.delay),
            ("jitter", &given.jitter),
            ("rate", &given.rate),
            ("queue", &given.queue),
            ("mtu", &given.mtu),
            ("loss", &given.loss),
            ("burst", &given.burst),
            ("reorder", &given.reorder),
            ("duplicate", &given.duplicate),
            ("corrupt", &given.corrupt),
            ("bit_errors", &given.bit_errors),
            ("damaged", &given.damaged),
            ("outage", &given.outage),
        ];
        let given = all.into_iter().filter_map(|(name, words)| {
            let words = words.as_ref()?;
            Some((name, words))
        });
        given.collect()
    }

    fn until_ns(&self) -> Option<u64> {
        self.after_ns
    }

    /// What `left` does.
    fn sends(&self) -> String {
        let count = self.messages.unwrap_or(1_000);
        let size = self.size.as_deref();
        let size = size.map_or(String::new(), |size| format!(" of {size} bytes"));
        let every = self.every.as_deref().unwrap_or("1 ms");
        format!("send {count}{size} every {every}")
    }

    fn is_network(&self) -> bool {
        self.network
            .extension()
            .is_some_and(|extension| extension == "toml")
    }

    /// Refuses what would do nothing: a network says who sends what, and Esterel has no links.
    fn check(&self) -> Result<(), Failure> {
        let of_copies = given(&[
            (self.messages.is_some(), "--messages"),
            (self.size.is_some(), "--size"),
            (self.every.is_some(), "--every"),
            (self.echo, "--echo"),
        ]);
        let of_stacks = given(&[
            (!self.faults().is_empty(), "an option of links"),
            (!self.scripts.is_empty(), "--app"),
            (!self.promises.is_empty(), "--expect"),
            (self.pcapng.is_some(), "--pcapng"),
            (self.runs.is_some(), "--runs"),
            (self.series_ns.is_some(), "--series"),
            (self.switches.given().is_some(), "an option of rewrites"),
        ]);
        let not_of_esterel = given(&[
            (!self.settings.is_empty(), "--set"),
            (self.seed.is_some(), "--seed"),
            (self.after_ns.is_some(), "--for"),
            (self.json, "--json"),
        ]);
        let wrong = if let Some(wrong) = self.of_one_language() {
            Some(wrong)
        } else if is_esterel(&self.network) {
            let of_others = of_stacks.or(of_copies).or(not_of_esterel);
            let says = "stacks; an Esterel program reads its inputs from stdin";
            of_others.map(|option| (option, says))
        } else if estelle::is_estelle(&self.network) {
            of_stacks.or(of_copies).map(|option| (option, "stacks"))
        } else if self.is_network() {
            let says = "a stack of which two copies run; set it in the file of the network instead";
            let has_c = (!self.functions.is_empty()).then_some("--c");
            of_copies.or(has_c).map(|option| (option, says))
        } else {
            None
        };
        match wrong {
            Some((option, whom)) => {
                let says = format!("{option} applies only to {whom}");
                Err(Failure::environment(says))
            }
            None => Ok(()),
        }
    }

    /// Returns an option of Esterel or Estelle that stands with a file of another language, or one
    /// that means nothing to Estelle; and to whom it applies.
    fn of_one_language(&self) -> Option<(&'static str, &'static str)> {
        let of_esterel = given(&[(self.main.is_some(), "--main")]);
        let of_both = given(&[(self.compiled, "--compiled")]);
        let of_estelle = given(&[
            (self.choice.is_some(), "--choice"),
            (self.steps.is_some(), "--steps"),
            (self.step_time_ns.is_some(), "--step-time"),
            (self.situations.is_some(), "--situations"),
            (self.loop_limit.is_some(), "--loop-limit"),
            (self.dump, "--dump"),
        ]);
        let not_of_estelle = given(&[
            (self.budget.is_some(), "--budget"),
            (!self.search.is_empty(), "--path"),
            (self.interpret, "--interpret"),
        ]);
        let is_estelle = estelle::is_estelle(&self.network);
        let of_esterel = of_esterel.filter(|_| !is_esterel(&self.network));
        let of_estelle = of_estelle.filter(|_| !is_estelle);
        let of_both = of_both.filter(|_| !is_estelle && !is_esterel(&self.network));
        let not_of_estelle = not_of_estelle.filter(|_| is_estelle);
        let of_esterel = of_esterel.map(|option| (option, "Esterel programs"));
        let of_estelle = of_estelle.map(|option| (option, "Estelle specifications"));
        let of_both = of_both.map(|option| (option, "Esterel programs and Estelle specifications"));
        let not_of_estelle = not_of_estelle.map(|option| (option, "stacks and Esterel programs"));
        of_esterel.or(of_estelle).or(of_both).or(not_of_estelle)
    }
}

/// Returns the first option that is given.
fn given(all: &[(bool, &'static str)]) -> Option<&'static str> {
    all.iter().find(|(is, _)| *is).map(|one| one.1)
}

/// The command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.check()?;
    if is_esterel(&arguments.network) {
        return esterel::run(arguments);
    }
    if estelle::is_estelle(&arguments.network) {
        return estelle::run(arguments);
    }
    let stop = stop_on_signals()?;
    let switched = arguments.switches.options(arguments.search.clone())?;
    let options = Options {
        budget: arguments.budget,
        profile: switched.profile.lent(),
        ..switched
    };
    let path = &arguments.network;
    let spinner = progress::spinner("compiling");
    let (source, scenario) = match arguments.is_network() {
        false => (String::new(), None),
        true => {
            let source = library::text_of(path)?;
            let read = read_network(&source, path, arguments);
            let scenario = read.map_err(|mistake| mistake.show(path, &source))?;
            (source, Some(scenario))
        }
    };
    let shown = |mistake: Mistake| mistake.show(path, &source);
    let (scenario, kinds) = match scenario {
        Some(scenario) => {
            let kinds = prepare::kinds(&scenario, &options, &shown)?;
            (scenario, kinds)
        }
        None => {
            let kind = prepare::Kind::read(path, &arguments.functions, &options)?;
            let scenario = Scenario::of_copies(arguments, kind.description()).map_err(shown)?;
            (scenario, vec![kind])
        }
    };
    let prepared = Prepared::new(scenario, &kinds, &source).map_err(shown)?;
    let seed = prepared.seed.unwrap_or_else(|| fastrand::u64(..1_000_000));
    let plan = Run {
        arguments,
        seed,
        stop: &stop,
        source: &source,
    };
    match arguments.interpret {
        false => {
            let programs = kinds.iter().map(prepare::Kind::load);
            let programs = programs.collect::<Result<Vec<_>, _>>()?;
            spinner.finish_and_clear();
            plan.perform(&prepared, &|| prepared.compiled(&programs).map_err(shown))
        }
        true => {
            let programs = kinds.iter().map(|kind| kind.program(&options));
            let programs = programs.collect::<Result<Vec<_>, _>>()?;
            spinner.finish_and_clear();
            let externs = Externs::default();
            let stacks = || prepared.interpreted(&programs, &externs).map_err(shown);
            plan.perform(&prepared, &stacks)
        }
    }
}

fn read_network(source: &str, path: &Path, arguments: &Arguments) -> Result<Scenario, Mistake> {
    let mut scenario = document::read(source, path)?;
    scenario.add(arguments)?;
    Ok(scenario)
}

/// What takes no longer is not worth a word.
const SOON: Duration = Duration::from_secs(1);

/// What a run needs besides the network.
struct Run<'run> {
    arguments: &'run Arguments,
    seed: u64,
    stop: &'run AtomicBool,
    source: &'run str,
}

impl Run<'_> {
    /// Runs the network once, or with one seed after the other.
    fn perform<'p>(&self, prepared: &Prepared<'_>, stacks: &Stacks<'p>) -> Result<(), Failure> {
        let Some(runs) = self.arguments.runs else {
            return self.simulate(prepared, stacks()?, self.seed, &|verdict| match self
                .arguments
                .json
            {
                true => result(format_args!("{}\n", verdict.to_json())),
                false => result(verdict.page()),
            });
        };
        let seeds = self.seed..self.seed.saturating_add(runs);
        let mut failed = Vec::new();
        for seed in seeds.clone() {
            let ran = self.simulate(
                prepared,
                stacks()?,
                seed,
                &|verdict| match self.arguments.json {
                    true => result(format_args!("{}\n", verdict.to_json())),
                    false => result(verdict.line()),
                },
            );
            if let Err(failure) = ran {
                if self.stop.load(Ordering::Relaxed) || failure.status != Status::Refused {
                    return Err(failure);
                }
                failed.push(failure);
            }
        }
        if !self.arguments.json {
            let kept = runs - failed.len() as u64;
            result(format_args!("{kept} of {runs} runs met all expectations\n"))?;
        }
        match failed.into_iter().next() {
            None => Ok(()),
            Some(first) => Err(first),
        }
    }

    /// Runs started stacks, and says what came of it.
    fn simulate(
        &self,
        prepared: &Prepared<'_>,
        stacks: Vec<Named<'_>>,
        seed: u64,
        show: &dyn Fn(&Verdict<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let path = &self.arguments.network;
        let promises = prepared
            .promises(&stacks)
            .map_err(|mistake| mistake.show(path, self.source))?;
        let capture = self.arguments.pcapng.as_deref();
        let mut record = match capture {
            None => record::Record::new(self.stop),
            Some(file) => {
                let interfaces = prepared.interfaces();
                record::Record::to_file(self.stop, file, &interfaces, None)?
            }
        };
        let began = Instant::now();
        record.series = self.arguments.series_ns.map(|_| seed);
        let plan = Plan {
            sample_ns: self.arguments.series_ns,
            ..prepared.plan(seed)
        };
        let mut network = Network::new(stacks, plan);
        let ran = network.run(&mut record);
        record.finish()?;
        if let Err(Stuck::Instant { now_ns }) = ran {
            note(format_args!(
                "loom: endless loop at {}: a timer restarts with no delay, stacks answer each \
                other's frames on a link without delay, or a script streams without a rate",
                time_text(now_ns)
            ));
        }
        let verdict = Verdict {
            network: path.display().to_string(),
            seed,
            outcome: network.outcome(),
            promises: &promises,
            holders: &prepared.holders(),
            stopped: ran.is_err(),
            again: again(std::env::args().skip(1), seed),
        };
        // Elsewhere than on the page, which is the same each time.
        let took = began.elapsed();
        if took > SOON {
            let frames = grouped(verdict.outcome.frames);
            note(format_args!(
                "{frames} frames in {:.1} s",
                took.as_secs_f64()
            ));
        }
        show(&verdict)?;
        match self.stop.load(Ordering::Relaxed) {
            true => Err(Failure::refused("interrupted")),
            false => verdict.judge(),
        }
    }
}

/// Starts all stacks anew.
type Stacks<'p> = dyn Fn() -> Result<Vec<Named<'p>>, Failure> + 'p;

/// The command that does the same again: once, with this seed.
fn again(words: impl Iterator<Item = String>, seed: u64) -> String {
    let mut kept = vec!["loom".to_string()];
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        let option = word.split('=').next().unwrap_or_default();
        if ["--seed", "--runs"].contains(&option) {
            // What stands behind it belongs to it.
            words.next_if(|_| option.len() == word.len());
            continue;
        }
        kept.push(quoted(&word));
    }
    kept.push(format!("--seed {seed}"));
    kept.join(" ")
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_./=:,%+".contains(letter);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::{again, quoted};

    #[test]
    fn a_command_is_repeated_with_the_seed_of_its_run() {
        let repeated = |words: &str| again(words.split(' ').map(String::from), 9);
        assert_eq!(
            repeated("simulate x.loom --echo"),
            "loom simulate x.loom --echo --seed 9"
        );
        let words = "simulate --seed 5 --runs=3 x.loom --runs 7 --loss=1%";
        assert_eq!(repeated(words), "loom simulate x.loom --loss=1% --seed 9");
    }

    #[test]
    fn a_shell_reads_what_was_given() {
        assert_eq!(quoted("--loss=5%"), "--loss=5%");
        assert_eq!(quoted("in order"), "'in order'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }
}
