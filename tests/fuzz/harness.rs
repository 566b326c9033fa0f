//! A compiled stack that is fed frames, under sanitizers, and accounts for each of them.
//!
//! In: an example; records of `fuzz/frames.c`. Out: its counters at the end, or what it broke with.

use crate::frames;
use crate::random::Random;
use crate::stacks::Example;
use crate::traffic;
use crate::watched::watched;
use stackloom::pipeline::Compiled;
use stackloom::simulate::trace::Call;
use stackloom::tool::case::played::limits;
use stackloom::types::program::LinkId;
use std::fs;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// How many calls of the traffic are looked at for frames.
const CAPTURED: usize = 2_000;

/// A program that reads records.
pub struct Harness {
    example: &'static Example,
    compiled: Compiled,
    program: PathBuf,
}

impl Harness {
    /// Compiles it.
    pub fn new(example: &'static Example) -> Harness {
        Harness::made(example, "", |c| c)
    }

    /// Compiles it with a fault: other words in a place of its C.
    pub fn faulty(example: &'static Example, from: &str, to: &str) -> Harness {
        let name = format!("-faulty-{}{}", from.len(), to.len());
        Harness::made(example, &name, |c| {
            assert!(c.contains(from), "the C has no `{from}`");
            c.replace(from, to)
        })
    }

    fn made(example: &'static Example, suffix: &str, change: impl Fn(String) -> String) -> Harness {
        let compiled = example.compiled(Path::new(env!("CARGO_MANIFEST_DIR")));
        let name = example.name;
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join("fuzz")
            .join(format!("{name}{suffix}-{:?}", std::thread::current().id()));
        fs::create_dir_all(&folder).expect("a folder to compile in");
        let [c, header] = watched(&compiled.emitted.c, &compiled.emitted.h);
        let c = change(c);
        let files = [
            (format!("{name}.c"), c),
            (format!("{name}.h"), header),
            ("fuzz.c".to_string(), example.harness(&compiled)),
        ];
        for (file, text) in &files {
            fs::write(folder.join(file), text).expect("written");
        }
        let arguments = [
            "-std=c11",
            "-O1",
            "-g1",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-DALONE",
            "-o",
            "fuzz",
            "-fsanitize=address,undefined",
            "-fno-sanitize-recover=all",
            "fuzz.c",
            &files[0].0,
        ];
        let output = Command::new("gcc")
            .args(arguments)
            .current_dir(&folder)
            .output()
            .expect("gcc is installed");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        Harness {
            example,
            compiled,
            program: folder.join("fuzz"),
        }
    }

    /// Feeds records.
    pub fn feed(&self, records: &[u8]) -> Result<Vec<String>, String> {
        let records = records.to_vec();
        self.run(false, move |input| input.write_all(&records).is_ok())
    }

    /// Feeds hostile frames, made of those in records and of those that two ends exchange.
    pub fn hostile(
        &self,
        records: Vec<u8>,
        seed: u64,
        count: usize,
        shows: bool,
    ) -> Result<Vec<String>, String> {
        let usual = limits(&self.compiled.emitted);
        let trace = traffic::trace(&self.compiled.program, seed, CAPTURED, usual);
        let captured = trace.steps.into_iter().filter_map(|step| match step.call {
            Call::Input(link, frames) => Some(frames.into_iter().map(move |frame| (link, frame))),
            _ => None,
        });
        let captured: Vec<(LinkId, Vec<u8>)> = in_records(&records)
            .into_iter()
            .chain(captured.flatten())
            .collect();
        let mut random = Random(seed);
        self.run(shows, move |input| {
            let whole = captured.clone().into_iter();
            let hostile = frames::hostile(captured, &mut random, usual.room);
            let mut all = whole.chain(hostile).take(count);
            all.all(|(link, frame)| {
                // Now and then a second goes by, and what waited too long is given up.
                let pass = match random.percent(2) {
                    true => 128 + 1 + random.below(30),
                    false => random.below(18),
                };
                let length = u16::try_from(frame.len()).unwrap_or(u16::MAX);
                let [low, high] = length.to_le_bytes();
                let head = [link.0 as u8, pass as u8, low, high];
                let frame = &frame[..usize::from(length)];
                input.write_all(&[&head[..], frame].concat()).is_ok()
            })
        })
    }

    /// Runs it on what is written to it. One that a sanitizer stops reads no further: that is no
    /// mistake of who writes.
    fn run(
        &self,
        shows: bool,
        write: impl FnOnce(&mut dyn Write) -> bool + Send,
    ) -> Result<Vec<String>, String> {
        let mut child = Command::new(&self.program)
            .env("ASAN_OPTIONS", "detect_leaks=0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("what was compiled runs");
        let input = child.stdin.take().expect("its input is a pipe");
        let output = child.stdout.take().expect("its output is a pipe");
        let start = Instant::now();
        let mut counters = Vec::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut input = BufWriter::new(input);
                write(&mut input) && input.flush().is_ok()
            });
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                match line.parse::<u64>() {
                    Err(_) => counters.push(line),
                    Ok(count) if shows && count % 100_000 == 0 => {
                        let (name, seconds) = (self.example.name, start.elapsed().as_secs());
                        eprintln!("{name}: {count} frames, {seconds} s");
                    }
                    Ok(_) => {}
                }
            }
        });
        let ended = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        match ended.status.success() {
            true => Ok(counters),
            false => Err(said),
        }
    }
}

/// The frames of records.
fn in_records(mut records: &[u8]) -> Vec<(LinkId, Vec<u8>)> {
    let mut frames = Vec::new();
    while let [link, _, low, high, rest @ ..] = records {
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
        let (frame, behind) = rest.split_at(length);
        frames.push((LinkId(u32::from(*link)), frame.to_vec()));
        records = behind;
    }
    frames
}
