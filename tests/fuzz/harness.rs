//! A compiled stack that is fed frames, under sanitizers, and accounts for each of them.
//!
//! In: an example; records of `fuzz/frames.c`. Out: its counters at the end, or what it broke with.

use crate::frames;
use crate::random::Random;
use crate::stacks::Example;
use crate::watched::watched;
use stackloom::pipeline::Compiled;
use stackloom::tool::layout::limits;
use stackloom::types::program::LinkId;
use std::fs;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// What takes long to compile pays for a million frames alone, and those are for a release.
const LEVEL: &str = if cfg!(debug_assertions) { "-O0" } else { "-O1" };

/// What records of `fuzz/frames.c` are: below these a frame.
const ACTS: u8 = 16;
const PASSES: u8 = 128;
const ACTED: usize = (PASSES - ACTS) as usize;

/// A program that reads records.
pub struct Harness {
    example: &'static Example,
    /// What it feeds.
    pub compiled: Compiled,
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
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let compiled = example.compiled(root);
        let name = example.name;
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join("fuzz")
            .join(format!("{name}{suffix}-{:?}", std::thread::current().id()));
        fs::create_dir_all(&folder).expect("a folder to compile in");
        let [c, header] = watched(&compiled.code.c, &compiled.code.h);
        let c = change(c);
        let beside = example.beside.iter().map(|path| {
            let text = fs::read_to_string(root.join(path)).expect("what is in C is there");
            (path.replace('/', "_"), text)
        });
        let files = [
            (format!("{name}.c"), c),
            (format!("{name}.h"), header),
            ("fuzz.c".to_string(), example.harness(&compiled)),
        ];
        let files: Vec<(String, String)> = files.into_iter().chain(beside).collect();
        for (file, text) in &files {
            fs::write(folder.join(file), text).expect("written");
        }
        let arguments = [
            "-std=c11",
            LEVEL,
            "-g1",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-DALONE",
            "-o",
            "fuzz",
            "-fsanitize=address,undefined",
            "-fno-sanitize-recover=all",
        ];
        let names = files.iter().map(|(name, _)| name);
        let output = Command::new("clang-16")
            .args(arguments)
            .args(names.filter(|name| name.ends_with(".c")))
            .current_dir(&folder)
            .output()
            .expect("clang is installed");
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
        self.run(usize::MAX, false, move |input| {
            let _ = input.write_all(&records);
        })
    }

    /// Lets a stack and its peer talk until the first has taken so many frames: those of records,
    /// those of the peer, whole or changed, and hostile ones that are made of the records.
    pub fn hostile(
        &self,
        records: Vec<u8>,
        seed: u64,
        count: usize,
        shows: bool,
    ) -> Result<Vec<String>, String> {
        let room = limits(&self.compiled.module).room;
        let known = in_records(&records);
        let mut random = Random(seed);
        self.run(count, shows, move |input| {
            let mut hostile = frames::hostile(known, &mut random, room);
            if input.write_all(&records).is_err() {
                return;
            }
            // Who reads has enough at some time, and one that a sanitizer stops reads no further:
            // that is no mistake of who writes.
            loop {
                let (what, bytes) = match random.below(8) {
                    0 | 1 => (ACTS + random.below(ACTED) as u8, random.bytes()),
                    2 if !records.is_empty() => {
                        let (link, frame) = hostile.next().expect("there are always more");
                        (link.0 as u8, frame)
                    }
                    _ => (PASSES + passing(&mut random), changes(&mut random)),
                };
                if input.write_all(&record(&mut random, what, bytes)).is_err() {
                    return;
                }
            }
        })
    }

    /// Runs it on what is written to it, until it has taken so many frames.
    fn run(
        &self,
        count: usize,
        shows: bool,
        write: impl FnOnce(&mut dyn Write) + Send,
    ) -> Result<Vec<String>, String> {
        let mut child = Command::new(&self.program)
            .arg(count.to_string())
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
                write(&mut input);
                let _ = input.flush();
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

/// A record. Now and then the time of a timer comes, or a second goes by, and what waited too long
/// is given up.
fn record(random: &mut Random, what: u8, mut bytes: Vec<u8>) -> Vec<u8> {
    let time = match random.below(50) {
        0 => 128 + 1 + random.below(30),
        1..10 => 128 + random.below(24),
        _ => random.below(18),
    };
    bytes.truncate(u16::MAX.into());
    let [low, high] = (bytes.len() as u16).to_le_bytes();
    [&[what, time as u8, low, high], &bytes[..]].concat()
}

/// Which frame of the peer's passes: most in order; some come again, are overtaken, or are lost.
fn passing(random: &mut Random) -> u8 {
    match random.below(16) {
        0 => 1,
        1 => 2,
        2 => 4,
        _ => 3,
    }
}

/// How it is changed on its way: every second one is not.
fn changes(random: &mut Random) -> Vec<u8> {
    let count = random.below(6).saturating_sub(2);
    let places = (0..4 * count).map(|_| match random.percent(80) {
        true => random.below(72) as u8,
        false => random.next() as u8,
    });
    places.collect()
}

/// The frames of records.
fn in_records(mut records: &[u8]) -> Vec<(LinkId, Vec<u8>)> {
    let mut frames = Vec::new();
    while let [what, _, low, high, rest @ ..] = records {
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
        let (frame, behind) = rest.split_at(length);
        if *what < ACTS {
            frames.push((LinkId(u32::from(*what)), frame.to_vec()));
        }
        records = behind;
    }
    frames
}
