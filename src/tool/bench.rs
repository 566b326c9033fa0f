//! `loom bench`: instructions, counted, beside those of others.
//!
//! In: the programs of `bench/`, which stand in Stackloom's own source tree. Out: a table, or JSON;
//! with `--keep` the programs that were counted. What the machine lacks is said on stderr, and the
//! rows that can be had without it follow all the same.
//!
//! ```text
//! programs   what is compiled: our stack in all variants, the floor, the peers
//! counting   instructions by callgrind; the compiler's own, and its memory
//! rows       what was found, and the goals
//! ```

use super::counting::{self, Counted};
use super::failure::{Failure, Status, about};
use super::progress;
use super::terminal::{note, result};
use clap::Args;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What `loom bench` is told.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  loom bench udp --keep counted      the table, and the programs \
                        that were counted\n  valgrind --tool=callgrind --collect-atstart=no \
                        --toggle-collect=bench_step counted/udp-stackloom-off-O2 count"
)]
pub struct Arguments {
    /// What is measured: udp
    name: String,
    /// Prints JSON instead of a table
    #[arg(long)]
    json: bool,
    /// Leaves the counted programs here, as NAME-VARIANT
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    /// Fails if a goal is missed
    #[arg(long)]
    strict: bool,
    /// Counts our own stack alone: no peers, and not the compiler
    #[arg(long)]
    alone: bool,
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
}

/// A figure that is to be reached.
#[derive(Clone, Debug, Serialize)]
pub struct Goal {
    /// Which.
    pub metric: String,
    /// At most.
    pub limit: f64,
    /// What was found.
    pub value: f64,
    /// Whether that is enough.
    pub met: bool,
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
    let name = &arguments.name;
    if name != "udp" {
        let advice = "there is `udp`";
        return Err(Failure::environment(format!(
            "no bench is called `{name}`: {advice}"
        )));
    }
    let folder = Path::new("bench");
    if !folder.join(format!("{name}.loom")).is_file() {
        return Err(Failure::environment(format!(
            "bench/{name}.loom is not here: `loom bench` runs in Stackloom's source tree"
        )));
    }
    if let Some(keep) = &arguments.keep {
        std::fs::create_dir_all(keep).map_err(about(keep))?;
    }
    let report = measured(arguments, folder)?;
    if arguments.json {
        let text = serde_json::to_string(&report);
        let text = text.expect("numbers and names can be written as JSON");
        result(format_args!("{text}\n"))?;
    } else {
        result(table(&report))?;
    }
    let missed: Vec<&str> = report
        .goals
        .iter()
        .filter(|goal| !goal.met)
        .map(|goal| goal.metric.as_str())
        .collect();
    match (arguments.strict, &report.goals[..], &missed[..]) {
        (true, [], _) => Err(Failure {
            status: Status::Undecided,
            message: "no goal could be measured".to_string(),
        }),
        (true, _, [_, ..]) => Err(Failure::refused(format!("missed: {}", missed.join("; ")))),
        _ => Ok(()),
    }
}

fn measured(arguments: &Arguments, folder: &Path) -> Result<Report, Failure> {
    let mut rows = Vec::new();
    let spinner = progress::spinner("bench");
    let say = |text: &str| spinner.set_message(text.to_string());
    let counts = counting::can_count();
    if !arguments.alone {
        say("loom build examples/host/host.loom");
        rows.extend(counting::own_work(counts));
    }
    let work = tempfile::tempdir()?;
    let keep = arguments.keep.as_deref().unwrap_or(work.path());
    for program in programs(arguments) {
        say(&program.title());
        match program.build(folder, keep, work.path()) {
            Ok(counted) if counts => match counted.instructions() {
                Ok(value) => rows.push(program.row(value)),
                Err(failure) => missing(&program, &failure),
            },
            Ok(_) => {}
            Err(failure) if program.is_ours() => return Err(failure),
            Err(failure) => missing(&program, &failure),
        }
    }
    spinner.finish_and_clear();
    let goals = goals(&rows);
    Ok(Report {
        bench: arguments.name.clone(),
        machine: counting::machine(),
        date: counting::date(),
        rows,
        goals,
    })
}

fn missing(program: &Program, failure: &Failure) {
    note(format_args!(
        "no row for {}: {}",
        program.title(),
        failure.message
    ));
}

/// A program that is compiled and counted.
struct Program {
    who: &'static str,
    /// As it stands in the name of the file.
    variant: String,
    compiler: String,
    flags: &'static str,
    sums: bool,
}

const QUICK: &str = "-O2";
const WHOLE: &str = "-O3 -march=haswell -flto";

/// Our stack, the floor and the peers; the peers are compiled as they come, and as well as may be.
fn programs(arguments: &Arguments) -> Vec<Program> {
    let mut all = Vec::new();
    let others: &[&str] = match arguments.alone {
        true => &["stackloom"],
        false => &["stackloom", "floor", "lwip", "smoltcp"],
    };
    for &who in others {
        let ways: &[(&str, &'static str)] = match who {
            "smoltcp" => &[("O3", ""), ("O3-haswell", "-C target-cpu=haswell")],
            _ => &[("O2", QUICK), ("O3-lto", WHOLE)],
        };
        let compiler = match who {
            "smoltcp" => counting::version("rustc", "--version"),
            _ => counting::version("gcc", "-dumpfullversion"),
        };
        for (sums, word) in [(false, "off"), (true, "on")] {
            all.extend(ways.iter().map(|(way, flags)| Program {
                who,
                variant: format!("{who}-{word}-{way}"),
                compiler: compiler.clone(),
                flags,
                sums,
            }));
        }
    }
    all
}

impl Program {
    fn is_ours(&self) -> bool {
        self.who == "stackloom"
    }

    fn title(&self) -> String {
        format!("{} {}", self.who, self.variant)
    }

    fn sums(&self) -> &'static str {
        if self.sums { "on" } else { "off" }
    }

    /// The program as a static executable.
    fn build(&self, folder: &Path, keep: &Path, work: &Path) -> Result<Counted, Failure> {
        let output = keep.join(format!("udp-{}", self.variant));
        let output = std::path::absolute(output)?;
        let flags: Vec<&str> = self.flags.split_whitespace().collect();
        if self.is_ours() {
            let stack = if self.sums { "summed" } else { "offloaded" };
            counting::compile_stack(folder, stack, &flags, work, &output)?;
        } else {
            let script = folder.join("peers").join(self.who).join("build.sh");
            let mut build = Command::new("sh");
            build.arg(script).arg(&output).arg(self.sums()).args(flags);
            counting::quietly(&mut build)?;
        }
        Ok(Counted { program: output })
    }

    fn row(&self, value: f64) -> Row {
        Row {
            who: self.who.to_string(),
            variant: self.variant.clone(),
            compiler: self.compiler.clone(),
            flags: match self.who {
                "smoltcp" => format!("-C opt-level=3 -C lto=fat {}", self.flags)
                    .trim_end()
                    .to_string(),
                _ => self.flags.to_string(),
            },
            checksums: self.sums().to_string(),
            metric: "one 4-byte message, down and up".to_string(),
            value,
            unit: "instructions".to_string(),
            paper: None,
        }
    }
}

/// What is to be reached by weaving alone, and by the compiler itself when it is optimised.
fn goals(rows: &[Row]) -> Vec<Goal> {
    let goal = |metric: &str, limit: f64, holds: &dyn Fn(&Row) -> bool| {
        let row = rows.iter().find(|row| holds(row))?;
        Some(Goal {
            metric: metric.to_string(),
            limit,
            value: row.value,
            met: row.value <= limit,
        })
    };
    let ours = |sums: &'static str| {
        move |row: &Row| row.who == "stackloom" && row.flags == QUICK && row.checksums == sums
    };
    let compiler = |row: &Row| row.variant == "release" && row.unit == "instructions";
    let all = [
        goal("a message, sums off, gcc -O2", 300.0, &ours("off")),
        goal("a message, sums on, gcc -O2", 450.0, &ours("on")),
        goal("loom build examples/host/host.loom", 1.5e9, &compiler),
    ];
    all.into_iter().flatten().collect()
}

fn table(report: &Report) -> String {
    let mut text = format!(
        "{} on {}, {}\n\n",
        report.bench, report.machine, report.date
    );
    let heads = ["who", "checksums", "compiler", "flags", "what", "", ""];
    let mut lines: Vec<[String; 7]> = vec![heads.map(String::from)];
    lines.extend(report.rows.iter().map(|row| {
        let figure = spaced(row.value);
        let cells = [
            &row.who,
            &row.checksums,
            &row.compiler,
            &row.flags,
            &row.metric,
        ];
        let [a, b, c, d, e] = cells.map(String::clone);
        [a, b, c, d, e, figure, row.unit.clone()]
    }));
    let width = |at: usize| {
        let cells = lines.iter().map(|line| line[at].chars().count());
        cells.max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..7).map(width).collect();
    for line in &lines {
        let cells = line.iter().zip(&widths).enumerate();
        let cells = cells.map(|(at, (cell, &width))| match at {
            5 => format!("{cell:>width$}"),
            _ => format!("{cell:<width$}"),
        });
        let cells: Vec<String> = cells.collect();
        writeln!(text, "{}", cells.join("  ").trim_end()).expect("a string takes every line");
    }
    text += "\ncounted by callgrind within bench_step; the copy that stands for the wire is not\n";
    for goal in &report.goals {
        let sign = if goal.met { "met" } else { "missed" };
        let (limit, value) = (spaced(goal.limit), spaced(goal.value));
        writeln!(
            text,
            "goal {sign}: {}: {value} of at most {limit}",
            goal.metric
        )
        .expect("a string takes every line");
    }
    text
}

/// `1,245`
fn spaced(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at != 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::spaced;

    #[test]
    fn thousands_are_parted() {
        let texts = [7.0, 844.0, 1245.0, 340_888_224.0].map(spaced);
        assert_eq!(texts, ["7", "844", "1,245", "340,888,224"]);
    }
}
