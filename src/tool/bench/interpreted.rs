//! The row of what is interpreted, with which the paper's table 1 begins.
//!
//! In: what whoever receives was given and answered in `loom bench tcp`, as its program says it.
//! Out: the same trees as are compiled where no rewrite is done, interpreted on these segments in
//! a process of its own, in which callgrind counts steps like those of any program.
//!
//! ```text
//! stack tcp.loom:offloaded           in which file and of which name the stack is
//! set address = 10.0.0.2             config.address of the stack
//! open streams 5001 10.0.0.1 40000   a call of the host, as in a case
//! frame tun 45000028..               a step: it arrives, what it carries is delivered, and
//!                                    credit is given
//! answer 45000028..                  and this must leave
//! ```

use super::{Bench, Row, fetched, goals, hippco};
use crate::simulate::externs::Externs;
use crate::simulate::stack::Stack;
use crate::simulate::state::{Emitted, Limits};
use crate::simulate::trace::Call;
use crate::simulate::trees::Trees;
use crate::simulate::value::Datum;
use crate::tool::case::script::{self, Beginning, Line};
use crate::tool::compiler::{self, Options};
use crate::tool::counting::{self, Counted};
use crate::tool::failure::{Failure, about};
use crate::tool::terminal::result;
use crate::tree::rewrites::Rewrites;
use crate::types::program::{LinkId, NoticeId, Program};
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// As it stands in the table.
pub const INTERPRETED: &str = "interpreted";

/// How lines of a script begin that are no calls; the first names the stack.
const STACK: &str = "stack ";
const SET: &str = "set ";
const ANSWER: &str = "answer ";

/// Its rows for a stack; the program is that of the C.
pub fn rows(bench: &Bench, stack: &str, compiled: &Path) -> Result<Vec<Row>, Failure> {
    let said = Command::new(compiled).arg("script").output()?;
    let script = bench.work.join("tcp.script");
    let said = [format!("{STACK}{stack}\n").as_bytes(), &said.stdout].concat();
    std::fs::write(&script, said).map_err(about(&script))?;
    let counted = Counted {
        program: std::env::current_exe()?,
        given: ["bench", "hippco", "--interpreted"]
            .map(OsString::from)
            .into_iter()
            .chain([script.into_os_string()])
            .collect(),
    };
    let row = |metric: &str, unit: &str, value: f64| {
        let own = counting::own_row(metric, unit, value);
        Row {
            who: INTERPRETED.to_string(),
            flags: own.variant,
            variant: INTERPRETED.to_string(),
            checksums: "off".to_string(),
            ..own
        }
    };
    let figures = goals::METRICS.iter().zip(counted.of_segments()?);
    let rows = figures.map(|(metric, value)| row(metric, "instructions", value));
    let mut rows: Vec<Row> = rows.collect();
    rows.extend(hippco::of_memory(&fetched::collected(&counted)?, &row));
    Ok(rows)
}

/// Interprets what a script says, and compares the answers: what is done in the process that is
/// counted. In mode `silent` every second segment is not.
pub fn receive(folder: &Path, script: &Path, mode: &str) -> Result<(), Failure> {
    let text = std::fs::read_to_string(script).map_err(about(script))?;
    let (first, text) = text.split_once('\n').unwrap_or_default();
    let stack = first.strip_prefix(STACK).ok_or_else(|| {
        let script = script.display();
        Failure::refused(format!("{script}: the first line does not name a stack"))
    })?;
    let (set, lines): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with(SET));
    let set = set.iter().map(|line| &line[SET.len()..]);
    let set = Vec::from_iter(set).join("\n");
    let options = Options {
        rewrites: Rewrites::NONE,
        ..Options::default()
    };
    let (program, forest) = compiler::woven(&folder.join(stack), &options)?;
    let beginning = script::beginning(&program, &set, "", Limits::default());
    let Beginning { config, limits, .. } = beginning.map_err(Failure::refused)?;
    let (trees, externs) = (Trees::new(&program, &forest), Externs::default());
    let stack = Stack::start(trees, &program, &externs, config, limits, 0);
    let mut receiver = Receiver {
        stack: stack.ok_or_else(|| Failure::refused("the stack does not start"))?,
        credit: credit(&program),
        delivered: Vec::new(),
        answer: Vec::new(),
    };
    let counted = receiver.all(&program, &lines, mode == "silent")?;
    result(format_args!("messages {counted}\n"))
}

/// How the application of a port gives credit, if it does.
fn credit(program: &Program) -> Option<NoticeId> {
    let mut told = program.ports.iter().flat_map(|port| &port.down);
    let found = told.find(|notice| program.notices[notice.at()].name == "grant_delivers");
    found.copied()
}

/// Who receives.
struct Receiver<'p> {
    stack: Stack<'p, Trees<'p>>,
    credit: Option<NoticeId>,
    /// What was delivered in a step, and what left.
    delivered: Vec<u8>,
    answer: Vec<u8>,
}

impl Receiver<'_> {
    /// All that a script says: how many steps were counted.
    fn all(&mut self, program: &Program, lines: &[&str], silent: bool) -> Result<usize, Failure> {
        let (mut segments, mut counted) = (0, 0);
        let mut lines = lines.iter().peekable();
        while let Some(line) = lines.next() {
            let (link, frames) = match call(program, line)? {
                Call::Input(link, frames) => (link, frames),
                other => {
                    self.stack.call(&other, 0);
                    while self.stack.next_output().is_some() {}
                    continue;
                }
            };
            match silent && segments % 2 == 1 {
                true => other_step(self, link, &frames),
                false => {
                    bench_step(self, link, &frames);
                    counted += 1;
                }
            }
            segments += 1;
            let answer = lines.next_if(|line| line.starts_with(ANSWER));
            let answer = answer.map_or("", |line| &line[ANSWER.len()..]);
            let own: String = self
                .answer
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            let arrived = !self.delivered.is_empty() && frames[0].ends_with(&self.delivered);
            if own != answer || !arrived {
                return Err(Failure::refused(format!(
                    "the interpreter and the C differ at segment {segments}"
                )));
            }
        }
        Ok(counted)
    }

    #[inline(always)]
    fn step(&mut self, link: LinkId, frames: &[Vec<u8>]) {
        self.delivered.clear();
        self.answer.clear();
        self.stack.input(link, frames, 1);
        while let Some(output) = self.stack.next_output() {
            match output {
                Emitted::Deliver {
                    port,
                    session,
                    bytes,
                    ..
                } => {
                    let length = Datum::Number(bytes.len() as u64);
                    self.delivered = bytes;
                    if let Some(credit) = self.credit {
                        self.stack.notice((port, session), credit, vec![length], 1);
                    }
                }
                Emitted::Frame { bytes, .. } => self.answer = bytes,
                Emitted::Accepted { .. } | Emitted::Notice { .. } => {}
            }
        }
    }
}

#[inline(never)]
fn bench_step(receiver: &mut Receiver<'_>, link: LinkId, frames: &[Vec<u8>]) {
    receiver.step(link, frames);
}

#[inline(never)]
fn other_step(receiver: &mut Receiver<'_>, link: LinkId, frames: &[Vec<u8>]) {
    receiver.step(link, std::hint::black_box(frames));
}

/// What a line lets the host call.
fn call(program: &Program, line: &str) -> Result<Call, Failure> {
    let lives = script::lives(program, line).map_err(Failure::refused)?;
    match lives.into_iter().flatten().next() {
        Some(Line::Call(call)) => Ok(call),
        Some(Line::Wait(_) | Line::Exact(_)) | None => {
            Err(Failure::refused(format!("`{line}` is not a call")))
        }
    }
}
