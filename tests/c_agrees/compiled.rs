//! The generated C as one more thing that runs a stack: it is compiled with a driver that reads
//! traces and writes what a host sees.
//!
//! In: a program and its C. Out: what the C shows for each step of a trace.

#[path = "watched.rs"]
mod watched;

use super::glue;
use stackloom::back::c::Printed as Code;
use stackloom::ir::Module;
use stackloom::simulate::state::{Emitted, Limits};
use stackloom::simulate::trace::{Call, Seen, Step, Trace};
use stackloom::simulate::value::Datum;
use stackloom::tool::case::run::Run;
use stackloom::tool::layout::limits;
use stackloom::types::program::{AttributeId, KindId, LinkId, NoticeId, PortId, Program};
use stackloom::types::value::Type;
use std::fmt::Write;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use watched::watched;

/// Every compiler has to be content with these.
const WARNINGS: [&str; 7] = [
    "-std=c11",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wshadow",
    "-Werror",
];

const SANITIZERS: [&str; 3] = [
    "-g1",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
];

/// What the sanitizers watch: unoptimised C, and with `WATCHED=1` optimised C, too. They make its
/// compiler take seven times as long.
fn sanitizers(level: &str) -> &'static [&'static str] {
    match level == "-O0" || std::env::var_os("WATCHED").is_some() {
        true => &SANITIZERS,
        false => &[],
    }
}

/// The counter of who asks for a buffer that was cut; it stands last.
const CUT_BUFFER: &str = "count stack.cut_buffer";

/// The text of the driver, in the folder of what it drives.
const DRIVER: &str = "driver.c";

/// A stack that was compiled, in any number of ways.
pub struct Compiled<'p> {
    program: &'p Program,
    /// Each with what it was made by.
    builds: Vec<(String, PathBuf)>,
    /// No other test compiles in the folder before this is dropped.
    _lock: File,
}

impl<'p> Compiled<'p> {
    /// Compiles the C of a program by all these compilers at these levels of optimisation; those
    /// that are not installed are left out. `place` is a name for the text that the
    /// program comes from: what was compiled there before, of the same C, is used again.
    pub fn new(
        place: &str,
        program: &'p Program,
        (module, code): (&Module, &Code),
        ways: &[(&str, &str)],
    ) -> Compiled<'p> {
        let folder = place.replace(['/', '.'], "-") + "-" + &program.name;
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join("compiled")
            .join(folder);
        fs::create_dir_all(&folder).expect("a folder to compile in");
        let lock = File::create(folder.join("lock")).expect("a file to lock");
        lock.lock().expect("one at a time compiles in a folder");
        let driver = glue::driver(program, limits(module).room);
        let [watched, header] = watched(&code.c, &code.h);
        let [c, h] = ["c", "h"].map(|ending| format!("{}.{ending}", program.name));
        for (file, text) in [
            (&c, &watched),
            (&h, &header),
            (&DRIVER.to_string(), &driver),
        ] {
            fs::write(folder.join(file), text).expect("written");
        }
        let types = glue::texts(program).1.replace("STACK", &program.name);
        let types_name = format!("{}_extern.h", program.name);
        fs::write(folder.join(types_name), &types).expect("written");
        let made_of = [&watched[..], &header, &driver, &types].concat();
        let mut builds = Vec::new();
        for (compiler, level) in ways {
            let Ok(version) = Command::new(compiler).arg("--version").output() else {
                println!("{compiler} is not installed: skipped");
                continue;
            };
            let way = format!("{compiler}{level}");
            let version = String::from_utf8_lossy(&version.stdout);
            let watched = sanitizers(level);
            let made_of = format!("{version}{WARNINGS:?}{watched:?}\n{made_of}");
            let known = folder.join(format!("{way}.made-of"));
            let program = folder.join(&way);
            if !program.exists() || fs::read_to_string(&known).ok().as_ref() != Some(&made_of) {
                let object = format!("{way}.o");
                let stack = [&WARNINGS[..], watched, &[level, "-c", &c]].concat();
                compile(compiler, &stack, &object, &folder);
                let linked = [watched, &["-std=c11", level, DRIVER, &object]].concat();
                compile(compiler, &linked, &way, &folder);
                fs::write(known, made_of).expect("written");
            }
            builds.push((way, program));
        }
        assert!(!builds.is_empty(), "no compiler of C is installed");
        Compiled {
            program,
            builds,
            _lock: lock,
        }
    }

    /// By what it was made, each time.
    pub fn ways(&self) -> impl Iterator<Item = &str> {
        self.builds.iter().map(|(way, _)| way.as_str())
    }

    /// What each of these traces shows, by a program made in this way, and what it complains about.
    pub fn run(&self, way: &str, traces: &[Trace]) -> (Vec<Run>, String) {
        let (_, program) = self
            .builds
            .iter()
            .find(|(one, _)| one == way)
            .expect("it was made");
        let mut child = Command::new(program)
            .env("ASAN_OPTIONS", "detect_leaks=0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("what was compiled runs");
        let mut input = child.stdin.take().expect("its input is a pipe");
        let text: String = traces.iter().map(|trace| self.lines(trace)).collect();
        // One that a sanitizer stops reads no further: that is seen in what it writes.
        let writer = std::thread::spawn(move || input.write_all(text.as_bytes()).is_ok());
        let output = child.wait_with_output().expect("it ends");
        writer.join().expect("the writer ends with the pipe");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let mut runs = self.runs(&String::from_utf8_lossy(&output.stdout));
        runs.resize(traces.len(), Run::default());
        (runs, said)
    }

    fn lines(&self, trace: &Trace) -> String {
        let Limits {
            buffers,
            reserve,
            outputs,
            events,
            budget,
            ..
        } = trace.limits;
        let mut text = format!(
            "S {} {buffers} {reserve} {outputs} {events} {budget} {}",
            trace.start_ns,
            trace.start_ns / 3
        );
        trace.config.iter().for_each(|value| push(&mut text, value));
        text.push('\n');
        for step in &trace.steps {
            self.line(step, &mut text);
            text.push('\n');
        }
        text.push_str("B\n");
        text
    }

    fn line(&self, step: &Step, text: &mut String) {
        let mut begin = |what: char| {
            let _ = write!(text, "{what} {} {}", step.now_ns, u8::from(step.takes));
        };
        match &step.call {
            Call::Input(link, frames) => {
                begin('i');
                let _ = write!(text, " {} {}", link.0, frames.len());
                frames.iter().for_each(|frame| push_bytes(text, frame));
            }
            Call::Send {
                port,
                session,
                attributes,
                bytes,
            } => {
                begin('s');
                let _ = write!(text, " {} {session}", port.0);
                push_bytes(text, bytes);
                let _ = write!(text, " {}", u8::from(!attributes.is_empty()));
                if !attributes.is_empty() {
                    for id in &self.program.ports[port.at()].attributes {
                        push(text, &self.given(attributes, *id));
                    }
                }
            }
            Call::Open(port, keys) => {
                begin('o');
                let _ = write!(text, " {}", port.0);
                self.keys(self.program.ports[port.at()].opens, keys, text);
            }
            Call::Listen(port, keys, backlog) => {
                begin('l');
                let _ = write!(text, " {} {backlog}", port.0);
                let kind = self.program.ports[port.at()]
                    .listens
                    .map(|how| how.listener);
                self.keys(kind, keys, text);
            }
            Call::Unlisten(port, listener) => {
                begin('u');
                let _ = write!(text, " {} {listener}", port.0);
            }
            Call::Notice {
                port,
                session,
                notice,
                arguments,
            } => {
                begin('n');
                let _ = write!(text, " {} {} {session}", port.0, notice.0);
                arguments.iter().for_each(|value| push(text, value));
            }
            Call::Carrier(link, up) => {
                begin('c');
                let _ = write!(text, " {} {}", link.0, u8::from(*up));
            }
            Call::Expire => begin('e'),
        }
    }

    /// Keys; those that may be left out are behind whether they are there.
    fn keys(&self, kind: Option<KindId>, keys: &[Datum], text: &mut String) {
        let kind = kind.expect("what has no keys is not made");
        for (key, value) in self.program.kinds[kind.at()].keys.iter().zip(keys) {
            match (&key.default, value) {
                (Some(_), Datum::Absent) => text.push_str(" 0"),
                (Some(_), value) => {
                    text.push_str(" 1");
                    push(text, value);
                }
                (None, value) => push(text, value),
            }
        }
    }

    fn given(&self, attributes: &[(AttributeId, Datum)], id: AttributeId) -> Datum {
        if let Some((_, value)) = attributes.iter().find(|(given, _)| *given == id) {
            return value.clone();
        }
        let attribute = &self.program.attributes[id.at()];
        match &attribute.default {
            Some(value) => Datum::of(self.program, value, &attribute.kind),
            None => Datum::empty(self.program, &attribute.kind),
        }
    }

    /// What the driver wrote.
    fn runs(&self, text: &str) -> Vec<Run> {
        let mut all: Vec<Run> = Vec::new();
        let mut names: Vec<&str> = Vec::new();
        let mut outputs = Vec::new();
        let mut returned = None;
        for line in text.lines() {
            let mut words = line.split(' ');
            match words.next() {
                Some("r") => {
                    returned = words.next().and_then(|word| word.parse().ok());
                }
                Some("c") => {
                    let mut values = words.map(|word| word.parse().expect("a number"));
                    let deadline_ns: u64 = values.next().expect("a deadline");
                    let run = all.last_mut().expect("a trace has started");
                    run.seen.push(Seen {
                        returned,
                        outputs: std::mem::take(&mut outputs),
                        deadline_ns: Some(deadline_ns).filter(|at| *at != u64::MAX),
                        counters: names
                            .iter()
                            .map(|name| Arc::from(*name))
                            .zip(values)
                            .collect(),
                    });
                }
                Some("B") => {
                    let run = all.last_mut().expect("a trace has started");
                    let free = words.next().and_then(|word| word.parse().ok());
                    run.free_buffers = free.expect("a number");
                }
                Some(_) if line.starts_with('S') => {
                    // What only a host can do no interpreter counts.
                    let counted = line.split('|').skip(1);
                    names = counted.filter(|name| *name != CUT_BUFFER).collect();
                    let started = !names.is_empty();
                    all.push(Run {
                        started,
                        ..Run::default()
                    });
                }
                _ => outputs.extend(self.output(line)),
            }
        }
        all
    }

    fn output(&self, line: &str) -> Option<Emitted> {
        let mut words = line.split(' ');
        let what = words.next()?;
        let place: u32 = words.next()?.parse().ok()?;
        if what == "f" {
            return Some(Emitted::Frame {
                link: LinkId(place),
                bytes: bytes(words.next()?),
            });
        }
        let port = PortId(place);
        let session: u32 = words.next()?.parse().ok()?;
        if what == "d" {
            let data = bytes(words.next()?);
            let mut attributes = Vec::new();
            for id in &self.program.ports[port.at()].attributes {
                let kind = &self.program.attributes[id.at()].kind;
                attributes.push((*id, value(kind, &mut words)?));
            }
            return Some(Emitted::Deliver {
                port,
                session,
                bytes: data,
                attributes,
            });
        }
        if what == "a" {
            let listener: u32 = words.next()?.parse().ok()?;
            let kind = self.program.ports[port.at()].opens?;
            let keys = &self.program.kinds[kind.at()].keys;
            let keys = keys.iter().map(|key| value(&key.kind, &mut words));
            return Some(Emitted::Accepted {
                port,
                session,
                listener: Some(listener).filter(|listener| *listener != u32::MAX),
                keys: keys.collect::<Option<_>>()?,
            });
        }
        let notice = NoticeId(words.next()?.parse().ok()?);
        let mut arguments = Vec::new();
        for parameter in &self.program.notices[notice.at()].parameters {
            arguments.push(value(&parameter.kind, &mut words)?);
        }
        let carried = match self.program.notices[notice.at()].message {
            true => Some(bytes(words.next()?)),
            false => None,
        };
        Some(Emitted::Notice {
            port,
            session,
            notice,
            arguments,
            bytes: carried,
        })
    }
}

fn compile(compiler: &str, arguments: &[&str], output: &str, folder: &Path) {
    let result = Command::new(compiler)
        .args(arguments)
        .args(["-o", output])
        .current_dir(folder)
        .output()
        .expect("the compiler runs");
    let said = String::from_utf8_lossy(&result.stderr);
    assert!(result.status.success(), "{compiler} {arguments:?}\n{said}");
}

/// A value as words: that of an optional behind whether it is there.
fn push(text: &mut String, value: &Datum) {
    let _ = match value {
        Datum::Number(number) => write!(text, " {number}"),
        Datum::Bytes(bytes) => {
            push_bytes(text, bytes);
            Ok(())
        }
        Datum::Optional(None) => write!(text, " 0"),
        Datum::Optional(Some(value)) => {
            text.push_str(" 1");
            push(text, value);
            Ok(())
        }
        other => panic!("a driver reads numbers, bytes and optionals, not {other:?}"),
    };
}

fn push_bytes(text: &mut String, bytes: &[u8]) {
    text.push_str(" x");
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
}

fn value<'a>(kind: &Type, words: &mut impl Iterator<Item = &'a str>) -> Option<Datum> {
    let word = words.next()?;
    match kind {
        Type::Optional(_) if word == "0" => Some(Datum::Optional(None)),
        Type::Optional(inner) => value(inner, words).map(Datum::some),
        Type::Bytes(_) | Type::BoundedBytes(_) => Some(Datum::Bytes(bytes(word))),
        _ => word.parse().ok().map(Datum::Number),
    }
}

fn bytes(text: &str) -> Vec<u8> {
    let digits = &text.as_bytes()[1..];
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).expect("digits are plain");
        u8::from_str_radix(pair, 16).expect("a byte is two digits")
    };
    digits.chunks(2).map(byte).collect()
}
