//! What is compiled to be counted: in, which bench; out, our stack in all variants, the floor and
//! the peers, and their figures.

use super::sized::sized;
use super::{Bench, Name, Row, goals};
use crate::tool::compiler::Options;
use crate::tool::counting::{self, Counted, Size};
use crate::tool::failure::Failure;
use std::path::Path;
use std::process::Command;

/// A program that is compiled and counted.
pub struct Program {
    name: Name,
    who: &'static str,
    /// As it stands in the name of the file.
    variant: String,
    compiler: String,
    flags: &'static str,
    sums: bool,
}

/// Whose a stack of ours is whose port and link call functions of its host.
pub const CALLED: &str = "stackloom, called";

/// A calling stack whose host also asks `NAME_next` what else to do, as the contract demands.
const ASKING: &str = "stackloom, called, asks next";

/// Macros for calling stacks, and for those whose hosts ask `NAME_next` all the same.
pub const CALLS: &str = "-DCALLS";
const ASKS: &str = "-DASKS";

/// How a stack is compiled in a hurry, and as well as may be.
pub const QUICK: &str = "-O2";
pub const WHOLE: &str = "-O3 -march=haswell -flto";

/// Our stack, the floor and the peers; the peers are compiled as they come, and as well as may be.
pub fn programs(name: Name, alone: bool) -> Vec<Program> {
    let mut all = Vec::new();
    let mut others = vec!["stackloom", CALLED];
    // The driver of `traffic` asks in any case.
    if name != Name::Traffic {
        others.push(ASKING);
    }
    if !alone {
        others.extend(["floor", "lwip", "smoltcp"]);
    }
    for who in others {
        let ways: &[(&str, &'static str)] = match who {
            "smoltcp" => &[("O3", ""), ("O3-haswell", "-C target-cpu=haswell")],
            _ => &[("O2", QUICK), ("O3-lto", WHOLE)],
        };
        let compiler = match who {
            "smoltcp" => counting::version("rustc", "--version"),
            _ => counting::version("gcc", "-dumpfullversion"),
        };
        let file = who.replace(", ", "-").replace(' ', "-");
        for (sums, word) in [(false, "off"), (true, "on")] {
            all.extend(ways.iter().map(|(way, flags)| Program {
                name,
                who,
                variant: format!("{file}-{word}-{way}"),
                compiler: compiler.clone(),
                flags,
                sums,
            }));
        }
    }
    all
}

/// What else is counted of a segment of TCP: who, how that is written in a file's name, which
/// stack, and how the driver is compiled for it.
pub const OTHERS: [[&str; 4]; 3] = [
    [
        "stackloom, Ethernet",
        "ethernet",
        "whole.loom",
        "-DETHERNET",
    ],
    [
        "stackloom, Ethernet, an idle slot",
        "slotted",
        "slotted.loom",
        "-DETHERNET",
    ],
    [
        "stackloom, 8 connections in turn",
        "turns",
        "tcp.loom:offloaded",
        "-DCONNECTIONS=8",
    ],
];

/// One of these, without sums.
pub fn other(bench: &Bench, [who, word, stack, driven]: [&str; 4]) -> Result<Vec<Row>, Failure> {
    let stack = bench.folder.join(stack);
    let (source, _) = counting::written(&stack, "tcp", Options::default(), bench.work)?;
    let driver = bench.folder.join("tcp.c");
    let mut rows = Vec::new();
    for (way, flags) in [("O2", QUICK), ("O3-lto", WHOLE)] {
        let variant = format!("stackloom-{word}-{way}");
        let program = std::path::absolute(bench.keep.join(format!("tcp-{variant}")))?;
        let all: Vec<&str> = flags.split_whitespace().chain([driven]).collect();
        counting::compile_driven(&source, &driver, &all, &program)?;
        if bench.counts {
            let figures = Counted::alone(program).of_segments()?;
            rows.extend(goals::METRICS.iter().zip(figures).map(|(metric, value)| {
                Row::without_sums([who, &variant, flags], metric, "instructions", value)
            }));
        }
    }
    Ok(rows)
}

impl Program {
    /// Whether it is a stack that Loom made.
    pub fn is_ours(&self) -> bool {
        ["stackloom", CALLED, ASKING].contains(&self.who)
    }

    /// Whether it is another's, as it is compiled in a hurry, without sums.
    pub fn is_beside(&self) -> bool {
        !self.is_ours() && !self.sums && matches!(self.flags, QUICK | "")
    }

    /// Its name behind that of the bench.
    pub fn variant(&self) -> &str {
        &self.variant
    }

    /// For who waits.
    pub fn title(&self) -> String {
        format!("{} {}", self.who, self.variant)
    }

    fn sums(&self) -> &'static str {
        if self.sums { "on" } else { "off" }
    }

    /// Returns true if a host of the stack asks `NAME_next` until it has nothing, as its contract
    /// demands, and all is compiled as well as may be.
    pub fn is_best_use(&self) -> bool {
        let asks = match self.name {
            Name::Traffic => self.is_ours(),
            _ => ["stackloom", ASKING].contains(&self.who),
        };
        asks && self.flags == WHOLE
    }

    /// Returns the name of the stack in the file of its bench.
    pub fn stack(&self) -> &'static str {
        match (self.sums, self.who) {
            (true, "stackloom") => "summed",
            (true, _) => "called_summed",
            (false, "stackloom") => "offloaded",
            (false, _) => "called",
        }
    }

    /// Returns macros of the driver for this stack, and its other file of C.
    pub fn words(&self, folder: &Path) -> Vec<String> {
        let mut words = Vec::new();
        if self.who != "stackloom" {
            words.push(CALLS.to_string());
        }
        if self.who == ASKING {
            words.push(ASKS.to_string());
        }
        if self.name == Name::Traffic {
            if self.sums {
                words.push("-DSUMS=1".to_string());
            }
            let client = folder.join("traffic").join("client.c");
            words.push(client.to_string_lossy().into_owned());
        }
        words
    }

    /// The program as a static executable.
    pub fn build(&self, bench: &Bench) -> Result<Counted, Failure> {
        let name = self.name.text();
        let output = bench.keep.join(format!("{name}-{}", self.variant));
        let output = std::path::absolute(output)?;
        let flags: Vec<&str> = self.flags.split_whitespace().collect();
        if self.is_ours() {
            let words = self.words(bench.folder);
            let words = words.iter().map(String::as_str);
            let flags: Vec<&str> = flags.into_iter().chain(words).collect();
            let stack = self.stack();
            counting::compile_stack(bench.folder, name, stack, &flags, bench.work, &output)?;
        } else {
            let script = bench.folder.join("peers").join(self.who).join("build.sh");
            let mut build = Command::new("sh");
            build
                .arg(script)
                .arg(name)
                .arg(&output)
                .arg(self.sums())
                .args(flags);
            counting::quietly(&mut build)?;
        }
        Ok(Counted::alone(output))
    }

    /// How large what is theirs is, of one that stands beside ours.
    pub fn size(&self, counted: &Counted) -> Result<Size, Failure> {
        let is_step = |name: &str| name == "bench_step";
        match self.who {
            "lwip" => sized(&counted.program.with_extension("o"), |_| true),
            // Some of it is inlined into the step, and generic code is no part of its crate.
            "smoltcp" => sized(&counted.program, |name| {
                is_step(name) || name.contains("smoltcp")
            }),
            _floor => sized(&counted.program, is_step),
        }
    }

    /// What is counted of it.
    pub fn rows(&self, counted: &Counted) -> Result<Vec<Row>, Failure> {
        let all = counted.instructions("count")?;
        match self.name {
            Name::Udp
            | Name::Layers
            | Name::Bulk
            | Name::Traffic
            | Name::Size
            | Name::Boosters
            | Name::Coders
            | Name::Law
            | Name::Ensemble => Ok(vec![self.row("one 4-byte message, down and up", all, None)]),
            Name::Tcp | Name::Hippco => {
                // smoltcp alone copies what arrives into a buffer of its own.
                let copy = match self.who {
                    "smoltcp" => counted.instructions("copy")?,
                    _ => 0.0,
                };
                let input = counted.instructions("silent")? - copy;
                let both = all - copy;
                let figures = [input, 2.0 * (both - input), both];
                let paper = (self.is_ours() && !self.sums).then_some(goals::HIPPCO);
                let rows = goals::METRICS.iter().zip(figures).enumerate();
                let rows = rows
                    .map(|(at, (metric, value))| self.row(metric, value, paper.map(|all| all[at])));
                let mut rows: Vec<Row> = rows.collect();
                if self.is_ours() && self.flags == QUICK {
                    rows.extend(self.paths(counted)?);
                }
                Ok(rows)
            }
        }
    }

    /// Which paths its messages went: whether the common one is what was counted.
    fn paths(&self, counted: &Counted) -> Result<Vec<Row>, Failure> {
        let went = counted.paths()?.into_iter();
        let rows = went.map(|(path, count)| Row {
            unit: "segments".to_string(),
            ..self.row(&path, count, None)
        });
        Ok(rows.collect())
    }

    /// One of its figures.
    pub fn row(&self, metric: &str, value: f64, paper: Option<f64>) -> Row {
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
            metric: metric.to_string(),
            value,
            unit: "instructions".to_string(),
            paper,
            spread: None,
            layers: None,
        }
    }
}
