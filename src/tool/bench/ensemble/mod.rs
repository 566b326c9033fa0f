//! `loom bench ensemble`: tables 1 and 2 of the Ensemble paper (Liu, Kreitz, van Renesse and
//! others, SOSP 1999) for stacks of the same layers.
//!
//! In: the stacks, the driver and the bypass of `bench/ensemble`. Out: instructions of a message
//! down a stack and up another, by parts and sizes; data references, fetches and misses; bytes of
//! code; the paper's figures.
//!
//! ```text
//! forms    the forms of a stack: HAND, MACH, IMP and FUNC
//! parts    instructions by parts: of the stack, and of transport
//! printed  the paper's figures, and the goals
//! table    the report as text
//! ```

pub mod forms;
mod parts;
mod printed;
pub mod table;

pub use printed::goals;

use super::sized::sized;
use super::{Bench, Row};
use crate::tool::counting::{self, Counted};
use crate::tool::failure::{Failure, about};
use forms::{Built, Form, NAME, STACKS};
use parts::{Lines, Parts, parts};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

/// Bytes of a message.
const SIZES: [u32; 4] = [4, 24, 100, 1024];

/// Messages that a program of the bench prints.
const MESSAGES: f64 = 1000.0;

/// The receivers of a message, as the driver names them.
const ALL: &str = "all";
const ONE: &str = "one";

/// The parts of table 1, in its order, and their sum.
const PARTS: [&str; 5] = [
    "down stack",
    "down transport",
    "up transport",
    "up stack",
    "total",
];

/// The metrics of table 2a.
const FETCHES: &str = "instruction fetches";
const REFERENCES: &str = "data references";
const MISSES: &str = "fetches missed, 16 KiB, 4 ways, lines of 32 bytes";
const LINES: &str = "lines of 64 bytes with instructions";

/// The metrics of table 2b; a layer stands before the last two.
const WHOLE: &str = "code of the stack";
const DOWN: &str = "code down";
const UP: &str = "code up";
const BYPASS: &str = "bypass";

/// The caches of a Pentium II, on which the paper counted.
const CACHES: [&str; 3] = ["--cache-sim=yes", "--I1=16384,4,32", "--D1=16384,4,32"];

/// The ending of files with layers.
const ENDING: &str = "loom";

/// Before the address of an instruction.
const HEXADECIMAL: &str = "0x";

/// Absolute lines and whole names.
const PLAIN: [&str; 2] = ["--compress-pos=no", "--compress-strings=no"];

/// A program that was built.
struct One {
    form: Form,
    stack: &'static str,
    layers: u32,
    built: Built,
}

/// All rows of all forms; if not alone, the paper's too. In a hurry, messages of 4 bytes only.
pub(super) fn rows(bench: &Bench, alone: bool, is_quick: bool) -> Result<Vec<Row>, Failure> {
    let folder = bench.folder.join(NAME);
    let driver = folder.join("drive.c");
    let mut rows = Vec::new();
    for (stack, layers) in STACKS {
        for form in Form::ALL.into_iter().filter(|form| form.is_of(stack)) {
            (bench.say)(&format!("{stack}, {}", form.name()));
            let output = bench.keep.join(format!("{NAME}-{stack}-{}", form.name()));
            let output = std::path::absolute(output)?;
            let built = form.build((stack, &folder), &driver, bench.work, &output)?;
            let one = One {
                form,
                stack,
                layers,
                built,
            };
            if bench.counts {
                rows.extend(one.instructions(is_quick)?);
                rows.extend(one.fetched()?);
            }
            rows.extend(one.code(&folder)?);
        }
    }
    if !alone {
        rows.extend(printed::rows());
    }
    Ok(rows)
}

/// The name of the messages of a row: their stack, receivers and size.
fn variant(stack: &str, size: u32) -> String {
    format!("{stack}, {ALL}, {size}")
}

/// The same of messages of 4 bytes to one member.
fn variant_to_one(stack: &str) -> String {
    format!("{stack}, {ONE}, {}", SIZES[0])
}

impl One {
    fn row(&self, variant: &str, metric: &str, unit: &str, value: f64) -> Row {
        let whose = [self.form.name(), variant, self.form.flags()];
        Row {
            checksums: String::new(),
            layers: Some(self.layers),
            ..Row::without_sums(whose, metric, unit, value)
        }
    }

    fn counted(&self, size: u32, to: &str) -> Counted {
        Counted {
            program: self.built.program.clone(),
            given: vec![OsString::from(size.to_string()), OsString::from(to)],
        }
    }

    /// Instructions of a message by parts, for each size and for a message to one member.
    fn instructions(&self, is_quick: bool) -> Result<Vec<Row>, Failure> {
        let read = |path: &Path| -> Result<Lines, Failure> {
            let text = std::fs::read_to_string(path).map_err(about(path))?;
            Ok(Lines::new(path, &text))
        };
        let mut files = vec![read(&self.built.source)?];
        if self.form == Form::Hand {
            files.push(read(&self.built.unit)?);
        }
        let sizes = if is_quick { &SIZES[..1] } else { &SIZES[..] };
        let mut messages: Vec<(String, u32, &str)> = sizes
            .iter()
            .map(|size| (variant(self.stack, *size), *size, ALL))
            .collect();
        if !is_quick {
            messages.push((variant_to_one(self.stack), SIZES[0], ONE));
        }
        let mut rows = Vec::new();
        for (variant, size, to) in messages {
            let of = |mode: &str| -> Result<Parts, Failure> {
                let found = self.counted(size, to).collected(&PLAIN, mode)?;
                Ok(parts(&found.text, &files, MESSAGES))
            };
            let (down, up) = (of("down")?, of("up")?);
            let parts = [down.stack, down.transport, up.transport, up.stack];
            let all = parts.into_iter().chain([parts.iter().sum()]);
            rows.extend(
                PARTS
                    .iter()
                    .zip(all)
                    .map(|(part, value)| self.row(&variant, part, "instructions", value)),
            );
        }
        Ok(rows)
    }

    /// Fetches, data references and misses of a cast of 4 bytes; lines that most casts touch.
    fn fetched(&self) -> Result<Vec<Row>, Failure> {
        let counted = self.counted(SIZES[0], ALL);
        let options = [&CACHES[..], &PLAIN[..1], &["--dump-instr=yes"]].concat();
        let found = counted.collected(&options, "count")?;
        let [fetches, reads, writes, missed, ..] = found.totals[..] else {
            return Err(Failure::refused("callgrind did not simulate caches"));
        };
        let at = |line: &str| {
            let mut words = line.strip_prefix(HEXADECIMAL)?.split(' ');
            let at = u64::from_str_radix(words.next()?, 16).ok()?;
            let count: f64 = words.nth(1)?.parse().ok()?;
            (count >= MESSAGES / 2.0).then_some(at)
        };
        let lines: BTreeSet<u64> = found
            .text
            .lines()
            .filter_map(at)
            .map(|at| at / 64)
            .collect();
        let variant = variant(self.stack, SIZES[0]);
        let row = |metric: &str, unit: &str, value: f64| self.row(&variant, metric, unit, value);
        Ok(vec![
            row(FETCHES, "instructions", fetches / MESSAGES),
            row(REFERENCES, "references", (reads + writes) / MESSAGES),
            row(MISSES, "misses", missed / MESSAGES),
            row(LINES, "lines", lines.len() as f64),
        ])
    }

    /// Bytes of code: of the whole stack; of FUNC also what each layer has for messages, and of
    /// MACH the bypass.
    fn code(&self, folder: &Path) -> Result<Vec<Row>, Failure> {
        let flags: Vec<&str> = self.form.flags().split_whitespace().collect();
        let variant = format!("{}, code", self.stack);
        let row = |metric: &str, value: f64| self.row(&variant, metric, "bytes", value);
        let size = counting::size_of(&self.built.unit, &flags)?;
        let mut rows: Vec<Row> = size.map(|size| row(WHOLE, size.text)).into_iter().collect();
        let bytes = |flags: &[&str], is_meant: &dyn Fn(&str) -> bool| -> Result<f64, Failure> {
            let object = counting::object_of(&self.built.source, flags)?;
            Ok(sized(&object, is_meant)?.text)
        };
        match self.form {
            Form::Func => {
                for layer in layers(folder)? {
                    let is_own = |name: &str| {
                        let rest = name.strip_prefix(&*layer);
                        rest.is_some_and(|rest| rest.starts_with('_'))
                    };
                    let any = |name: &str, ends: &[&str]| {
                        is_own(name) && ends.iter().any(|end| name.contains(end))
                    };
                    let down = bytes(&flags, &|name| any(name, &SENDS))?;
                    let up = bytes(&flags, &|name| any(name, &ARRIVES))?;
                    if down > 0.0 {
                        rows.push(row(&format!("{layer}: {DOWN}"), down));
                        rows.push(row(&format!("{layer}: {UP}"), up));
                    }
                }
            }
            Form::Mach => {
                let apart: Vec<&str> = Form::Func.flags().split_whitespace().collect();
                let any = |ends: &'static [&'static str]| {
                    move |name: &str| ends.iter().any(|end| name.contains(end))
                };
                let down = bytes(&apart, &any(&FAST_SENDS))?;
                let up = bytes(&apart, &any(&FAST_ARRIVES))?;
                rows.push(row(&format!("{BYPASS}: {DOWN}"), down));
                rows.push(row(&format!("{BYPASS}: {UP}"), up));
            }
            Form::Hand | Form::Imp => {}
        }
        Ok(rows)
    }
}

/// Parts of the names of functions that handle messages down and up, in the layers and in the fast
/// paths; the function that takes a frame contains the fast path that is tried first.
const SENDS: [&str; 1] = ["_send"];
const ARRIVES: [&str; 2] = ["_arrive", "_deliver"];
const FAST_SENDS: [&str; 2] = ["_send_fast", "_send_hot"];
const FAST_ARRIVES: [&str; 3] = ["_arrive_fast", "_arrive_hot", "ensemble_stack_take"];

/// The layers of the stacks, by name.
fn layers(folder: &Path) -> Result<BTreeSet<String>, Failure> {
    let mut all = BTreeSet::new();
    for entry in std::fs::read_dir(folder).map_err(about(folder))? {
        let path = entry.map_err(about(folder))?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let is_layer = path.extension().is_some_and(|ending| ending == ENDING) && name != NAME;
        if is_layer {
            all.insert(name.into_owned());
        }
    }
    Ok(all)
}
