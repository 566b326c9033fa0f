//! `loom bench`: instructions, counted, and throughput, beside those of others.
//!
//! In: the programs of `bench/`, which stand in Stackloom's own source tree. Out: a table, or JSON;
//! with `--keep` the programs that were counted. What the machine lacks is said on stderr, and the
//! rows that can be had without it follow all the same.
//!
//! ```text
//! programs   what is compiled: our stack in all variants, the floor, the peers
//! counting   instructions by callgrind; the compiler's own, and its memory
//! bulk       throughput through a TUN; network: the kernel's ends
//! layers     what a layer more takes: instructions, text, the compiler's work
//! hippco     what each rewrite does; tables, those of the paper by its letters; matrix, of
//!            profiles; fetched: what a step has to fetch; interpreted: the same trees without C
//! traffic    each kind of TCP traffic, by a scripted client
//! ratchet    the recorded figures of udp, tcp, traffic and size; code_size: bytes of code
//! boosters   theory and simulation of policies that insert error correction; nothing is measured
//! coders     speed of the error-correcting coders of the runtime, beside libraries
//! law        each rewrite and pass off in turn: none makes a workload longer
//! ensemble   tables 1 and 2 of the Ensemble paper: forms of stacks of four and ten layers
//! goals      what is to be reached, and what the papers say
//! table      all that as text; picture: the rows of hippco
//! ```

mod boosters;
mod bulk;
mod coders;
pub mod ensemble;
mod fetched;
mod goals;
mod hippco;
mod interpreted;
pub mod law;
mod layers;
mod network;
mod picture;
mod programs;
mod ratchet;
mod sized;
mod steps;
mod table;
mod traffic;

use super::counting;
use super::failure::{Failure, Status, about};
use super::progress;
use super::terminal::{note, result};
use clap::{Args, ValueEnum};
use programs::{Program, programs};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What `loom bench` is told.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  loom bench udp --keep counted      prints the table, and keeps \
                        the programs\n  valgrind --tool=callgrind --collect-atstart=no \
                        --toggle-collect=bench_step counted/udp-stackloom-off-O2 count"
)]
pub struct Arguments {
    /// Benchmark to run
    #[arg(value_enum)]
    name: Name,
    /// Prints JSON instead of a table
    #[arg(long)]
    json: bool,
    /// Keeps the measured programs in FOLDER, as NAME-VARIANT
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    /// Fails if a goal is missed, or the law of passes is broken
    #[arg(long)]
    strict: bool,
    /// Measures only Stackloom's stacks: no other implementations, and not the compiler
    #[arg(long)]
    alone: bool,
    /// `bulk` only: bytes per direction and round
    #[arg(long, value_name = "COUNT", default_value_t = 256 << 20)]
    bytes: u64,
    /// `layers` only: numbers of additional layers
    #[arg(
        long,
        value_name = "COUNT,COUNT",
        value_delimiter = ',',
        value_parser = clap::value_parser!(u32).range(..=layers::MOST),
        default_values_t = layers::COUNTS
    )]
    layers: Vec<u32>,
    /// Draws the counts of `hippco` into an SVG file, or the figures of `boosters` into a folder
    #[arg(long, value_name = "PATH")]
    picture: Option<PathBuf>,
    /// `boosters` only: prints the computed tables, without simulated policies
    #[arg(long)]
    theory: bool,
    /// `boosters`: simulates three bit error rates and two times between changes; `size`:
    /// measures only the examples at -Os; `ensemble`: counts only casts of 4 bytes
    #[arg(long, conflicts_with = "theory")]
    quick: bool,
    /// `udp`, `tcp` and `traffic`: counts only these programs, named as in `--keep` without the
    /// name of the benchmark
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// `udp`, `tcp`, `traffic` and `size`: writes the figures of Stackloom's stacks to
    /// bench/figures.toml
    #[arg(long)]
    record: bool,
    #[command(flatten)]
    hippco: hippco::Form,
    #[command(flatten)]
    traffic: traffic::Choice,
    #[command(flatten)]
    law: law::Selection,
    /// Interprets the segments of a script: what `hippco` counts of loom itself
    #[arg(long, hide = true, num_args = 2, value_names = ["SCRIPT", "MODE"])]
    interpreted: Vec<PathBuf>,
}

/// What there is to be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Name {
    /// A 4-byte datagram, down one stack and up another
    Udp,
    /// A received TCP segment, and half of the acknowledgement of two segments
    Tcp,
    /// A datagram through a growing number of layers
    Layers,
    /// A TCP segment, with rewrites added one by one, beside the HIPPCO paper
    Hippco,
    /// Throughput through a TUN device, with the Linux kernel as the peer
    Bulk,
    /// TCP traffic of a scripted client, beside lwIP, smoltcp and hand-written C
    Traffic,
    /// Bytes of code of all examples and of stacks of the benchmarks
    Size,
    /// Policies that insert error correction: computed and simulated figures of the Boosters paper
    Boosters,
    /// Speed of the error-correcting coders of the runtime, beside libfec and ISA-L
    Coders,
    /// Each rewrite and pass off in turn: none may make a workload over 2 % longer
    Law,
    /// A cast in stacks of four and ten layers, in four forms, beside the Ensemble paper
    Ensemble,
}

impl Name {
    /// As its files are called.
    pub fn text(self) -> &'static str {
        match self {
            Name::Udp => "udp",
            Name::Tcp => "tcp",
            Name::Layers => "layers",
            Name::Hippco => "hippco",
            Name::Bulk => "bulk",
            Name::Traffic => "traffic",
            Name::Size => "size",
            Name::Boosters => "boosters",
            Name::Coders => "coders",
            Name::Law => "law",
            Name::Ensemble => ensemble::forms::NAME,
        }
    }
}

/// One figure.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Whose.
    pub who: String,
    /// Which of its programs.
    pub variant: String,
    /// What compiled it.
    pub compiler: String,
    /// With which flags.
    pub flags: String,
    /// Whether sums are written and checked: `on`, `off`, or empty where there are none.
    pub checksums: String,
    /// What the figure is.
    pub metric: String,
    /// The figure.
    pub value: f64,
    /// Of what.
    pub unit: String,
    /// What a paper says, where one does.
    pub paper: Option<f64>,
    /// The least and the greatest of several runs, where the figure is their median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<[f64; 2]>,
    /// With how many layers more, where that is asked; the figure is what each takes if not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layers: Option<u32>,
}

impl Row {
    /// One of a stack of ours without sums: whose it is, of which program, compiled with which
    /// flags.
    fn without_sums([who, variant, flags]: [&str; 3], metric: &str, unit: &str, value: f64) -> Row {
        Row {
            who: who.to_string(),
            variant: variant.to_string(),
            compiler: counting::version("gcc", "-dumpfullversion"),
            flags: flags.to_string(),
            checksums: "off".to_string(),
            metric: metric.to_string(),
            value,
            unit: unit.to_string(),
            paper: None,
            spread: None,
            layers: None,
        }
    }
}

/// Where things are, and what can be done.
struct Bench<'a> {
    /// With the sources.
    folder: &'a Path,
    /// Where programs are left, and all else is written.
    keep: &'a Path,
    work: &'a Path,
    /// Whether instructions can be counted.
    counts: bool,
    /// For who waits.
    say: &'a dyn Fn(&str),
}

/// A figure that is to be reached.
#[derive(Clone, Debug, Serialize)]
pub struct Goal {
    /// Which.
    pub metric: String,
    /// At most, or of a ratio at least.
    pub limit: f64,
    /// What was found.
    pub value: f64,
    /// Whether that is enough.
    pub met: bool,
    /// `at most` or `at least`.
    #[serde(skip)]
    pub bound: &'static str,
}

/// All that was found.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    bench: String,
    machine: String,
    date: String,
    rows: Vec<Row>,
    goals: Vec<Goal>,
}

/// `loom bench`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.refuse_foreign()?;
    if arguments.name == Name::Boosters {
        let extent = match (arguments.theory, arguments.quick) {
            (true, _) => boosters::Extent::Theory,
            (false, true) => boosters::Extent::Quick,
            (false, false) => boosters::Extent::Full,
        };
        let (json, strict) = (arguments.json, arguments.strict);
        return boosters::run(extent, json, arguments.picture.as_deref(), strict);
    }
    let folder = Path::new("bench");
    let source = match arguments.name {
        Name::Hippco | Name::Size => format!("{}.loom", Name::Tcp.text()),
        Name::Law => format!("{}.loom", Name::Traffic.text()),
        Name::Coders => "coders.c".to_string(),
        Name::Ensemble => "ensemble/ensemble.loom".to_string(),
        name => format!("{}.loom", name.text()),
    };
    if !folder.join(&source).is_file() {
        return Err(Failure::environment(format!(
            "bench/{source} does not exist: run `loom bench` in the source tree of Stackloom"
        )));
    }
    if let [script, mode] = &arguments.interpreted[..] {
        return interpreted::receive(folder, script, &mode.to_string_lossy());
    }
    if let Some(keep) = &arguments.keep {
        std::fs::create_dir_all(keep).map_err(about(keep))?;
    }
    if arguments.name == Name::Law {
        let (workloads, keep) = (
            arguments.traffic.workload_names(),
            arguments.keep.as_deref(),
        );
        let form = (arguments.json, arguments.strict);
        return law::run(folder, &arguments.law, workloads, keep, form);
    }
    let figures = ratchet::Figures::read(folder)?;
    let rows = found(arguments, folder)?;
    let report = if arguments.record {
        figures.record(folder, arguments.name, &rows, arguments.is_complete())?;
        report(arguments, &ratchet::Figures::read(folder)?, rows)
    } else {
        report(arguments, &figures, rows)
    };
    if let Some(path) = &arguments.picture {
        std::fs::write(path, picture::picture(&report.rows)).map_err(about(path))?;
    }
    if arguments.json {
        let text = serde_json::to_string(&report);
        let text = text.expect("numbers and names can be written as JSON");
        result(format_args!("{text}\n"))?;
    } else {
        let own = match &arguments.hippco {
            choice if choice.tables => Some(hippco::tables::text(&report.rows)),
            choice if choice.matrix => Some(hippco::matrix::text(&report.rows)),
            _steps => None,
        };
        result(table::text(&report, own))?;
    }
    match arguments.strict {
        true => report.reaches_its_goals(),
        false => Ok(()),
    }
}

impl Report {
    /// Fails if a goal is missed, or if there is none.
    fn reaches_its_goals(&self) -> Result<(), Failure> {
        let missed = self.goals.iter().filter(|goal| !goal.met);
        let missed: Vec<&str> = missed.map(|goal| goal.metric.as_str()).collect();
        match (&self.goals[..], &missed[..]) {
            ([], _) => Err(Failure {
                status: Status::Undecided,
                message: "no goal was measured".to_string(),
            }),
            (_, [_, ..]) => Err(Failure::refused(format!(
                "missed goals: {}",
                missed.join("; ")
            ))),
            (_, []) => Ok(()),
        }
    }
}

impl Arguments {
    /// Refuses options of another benchmark.
    fn refuse_foreign(&self) -> Result<(), Failure> {
        use Name::{Boosters, Ensemble, Hippco, Law, Size, Tcp, Traffic, Udp};
        let options: [(bool, &[Name], &str); 10] = [
            (
                self.picture.is_some(),
                &[Hippco, Boosters],
                "--picture applies",
            ),
            (
                !self.traffic.workload_names().is_empty() && !self.hippco.matrix,
                &[Traffic, Law],
                "--workloads applies, besides `loom bench hippco --matrix`,",
            ),
            (
                self.traffic.has_units() && !self.hippco.matrix,
                &[Traffic],
                "--units applies, besides `loom bench hippco --matrix`,",
            ),
            (self.law.is_made(), &[Law], "--stacks and --passes apply"),
            (self.hippco.tables, &[Hippco], "--tables applies"),
            (self.hippco.matrix, &[Hippco], "--matrix applies"),
            (
                !self.only.is_empty(),
                &[Udp, Tcp, Traffic],
                "--only applies",
            ),
            (self.record, &[Udp, Tcp, Traffic, Size], "--record applies"),
            (self.theory, &[Boosters], "--theory applies"),
            (self.quick, &[Boosters, Size, Ensemble], "--quick applies"),
        ];
        for (is_given, own, options) in options {
            if is_given && !own.contains(&self.name) {
                let own = own
                    .iter()
                    .map(|name| format!("`loom bench {}`", name.text()));
                let own = own.collect::<Vec<String>>().join(" and ");
                let says = format!("{options} only to {own}");
                return Err(Failure::environment(says));
            }
        }
        Ok(())
    }

    /// Returns the programs that are to be counted.
    fn programs(&self) -> Result<Vec<Program>, Failure> {
        let all = programs(self.name, self.alone);
        let variant = |name: &String| all.iter().any(|one| one.variant() == name);
        if let Some(wrong) = self.only.iter().find(|name| !variant(name)) {
            let names: Vec<&str> = all.iter().map(Program::variant).collect();
            let names = names.join(", ");
            let says = format!("there is no program `{wrong}`; the programs are {names}");
            return Err(Failure::environment(says));
        }
        let is_chosen = |one: &Program| {
            self.only.is_empty() || self.only.iter().any(|name| name == one.variant())
        };
        Ok(all.into_iter().filter(is_chosen).collect())
    }

    /// Returns true if all figures of a benchmark are measured.
    fn is_complete(&self) -> bool {
        self.only.is_empty() && !self.quick && !self.traffic.is_made()
    }
}

/// What a bench found.
fn found(arguments: &Arguments, folder: &Path) -> Result<Vec<Row>, Failure> {
    let (name, alone) = (arguments.name, arguments.alone);
    let spinner = progress::spinner("bench");
    let work = tempfile::tempdir()?;
    let bench = Bench {
        folder,
        keep: arguments.keep.as_deref().unwrap_or(work.path()),
        work: work.path(),
        counts: !matches!(name, Name::Bulk | Name::Coders) && counting::can_count(),
        say: &|text| spinner.set_message(text.to_string()),
    };
    let rows = match name {
        Name::Udp | Name::Tcp => counted(&bench, arguments),
        Name::Layers => layers::rows(&bench, &arguments.layers, alone),
        Name::Hippco if arguments.hippco.tables => hippco::tables::rows(&bench),
        Name::Hippco if arguments.hippco.matrix => hippco::matrix::rows(&bench, &arguments.traffic),
        Name::Hippco => hippco::rows(&bench, alone),
        Name::Bulk => bulk::rows(&bench, arguments.bytes),
        Name::Traffic => traffic::rows(&bench, &arguments.traffic, arguments.programs()?),
        Name::Size => ratchet::code_size::rows(&bench, arguments.quick),
        Name::Coders => coders::rows(&bench, alone),
        Name::Ensemble => ensemble::rows(&bench, alone, arguments.quick),
        // They have tables of their own.
        Name::Boosters | Name::Law => Ok(Vec::new()),
    };
    spinner.finish_and_clear();
    let mut rows = rows?;
    if !alone && !arguments.hippco.tables && !arguments.hippco.matrix {
        rows.extend(goals::printed(name));
    }
    Ok(rows)
}

fn counted(bench: &Bench, arguments: &Arguments) -> Result<Vec<Row>, Failure> {
    let (name, is_all) = (arguments.name, arguments.only.is_empty());
    let mut rows = Vec::new();
    if !arguments.alone && is_all {
        (bench.say)("loom build examples/host/host.loom");
        rows.extend(counting::own_work(bench.counts));
    }
    for program in arguments.programs()? {
        (bench.say)(&program.title());
        match program.build(bench) {
            Ok(counted) if bench.counts => match program.rows(&counted) {
                Ok(found) => rows.extend(found),
                Err(failure) => missing(&program, &failure),
            },
            Ok(_) => {}
            Err(failure) if program.is_ours() => return Err(failure),
            Err(failure) => missing(&program, &failure),
        }
    }
    if name == Name::Tcp && is_all {
        for other in programs::OTHERS {
            (bench.say)(other[0]);
            rows.extend(programs::other(bench, other)?);
        }
        (bench.say)("the size of a stack");
        rows.extend(counting::sizes(bench.folder, bench.work)?);
    }
    Ok(rows)
}

fn report(arguments: &Arguments, figures: &ratchet::Figures, rows: Vec<Row>) -> Report {
    let name = arguments.name;
    let mut goals = match name {
        Name::Hippco if arguments.hippco.matrix => hippco::matrix::goals(&rows),
        Name::Traffic => traffic::goals(&rows),
        Name::Ensemble => ensemble::goals(&rows),
        _ => goals::goals(name, &rows),
    };
    goals.extend(figures.goals(name, &rows));
    Report {
        bench: name.text().to_string(),
        machine: counting::machine(),
        date: counting::date(),
        goals,
        rows,
    }
}

fn missing(program: &Program, failure: &Failure) {
    note(format_args!(
        "no row for {}: {}",
        program.title(),
        failure.message
    ));
}
