//! Compiled C that does what a trace says, in a process of its own.
//!
//! In: a program, its C and a trace. Out: what a host sees after each call. The C is compiled with
//! a main function that is written here; it reads calls, one a line, and prints what it sees.
//!
//! ```text
//! i LINK NOW HEX                      a frame comes in         r TAKEN
//! s PORT SESSION NOW HEX ATTRIBUTES   an application sends     r TAKEN
//! o PORT NOW KEYS                     … opens                  r SESSION
//! n PORT SESSION NOTICE NOW VALUES    … gives a notice         r 0
//! e NOW                               time has passed          r 0
//!     outputs: f LINK HEX   d PORT SESSION HEX ATTRIBUTES   t PORT SESSION NOTICE VALUES
//!     then: w DEADLINE   c COUNTERS
//! ```

use stackloom::emit::Emitted as Files;
use stackloom::simulate::state::Emitted;
use stackloom::simulate::trace::{Call, Seen, Step, Trace};
use stackloom::simulate::value::Datum;
use stackloom::types::program::{AttributeId, LinkId, NoticeId, PortId, Program};
use stackloom::types::value::Type;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program that runs traces.
pub struct Compiled<'p> {
    program: &'p Program,
    binary: PathBuf,
}

/// Compiles a stack with its main function, so that the sanitizers watch it.
pub fn compile<'p>(program: &'p Program, files: &Files, folder: &Path) -> Compiled<'p> {
    let name = &program.name;
    std::fs::create_dir_all(folder).expect("a folder to compile in");
    std::fs::write(folder.join(format!("{name}.c")), &files.c).expect("written");
    std::fs::write(folder.join(format!("{name}.h")), &files.h).expect("written");
    std::fs::write(folder.join("main.c"), main_of(program)).expect("written");
    let binary = folder.join("run");
    let output = Command::new("gcc")
        .args(["-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Wno-unused"])
        .args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"])
        .args(["main.c", "-o", "run"])
        .current_dir(folder)
        .output()
        .expect("gcc is there");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    Compiled { program, binary }
}

impl Compiled<'_> {
    /// What the host sees after each call of a trace.
    pub fn run(&self, trace: &Trace) -> Vec<Seen> {
        let mut script = self.start(trace);
        for step in &trace.steps {
            script += &self.line(step);
        }
        let mut child = Command::new(&self.binary)
            .env("UBSAN_OPTIONS", "print_stacktrace=1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it was compiled");
        let mut input = child.stdin.take().expect("a pipe");
        let writer = std::thread::spawn(move || input.write_all(script.as_bytes()));
        let output = child.wait_with_output().expect("it ends");
        let _ = writer.join();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "the compiled stack failed:\n{errors}"
        );
        self.seen(&String::from_utf8_lossy(&output.stdout), trace)
    }

    fn start(&self, trace: &Trace) -> String {
        let config = self.program.config.iter().zip(&trace.config);
        let config: String = config
            .map(|(_, value)| format!(" {}", token(value)))
            .collect();
        format!("{} {}{config}\n", trace.start_ns, trace.limits.buffers)
    }

    fn line(&self, step: &Step) -> String {
        let now = step.now_ns;
        match &step.call {
            Call::Input(link, frames) => {
                let frames: String = frames
                    .iter()
                    .map(|frame| format!(" {}", hex(frame)))
                    .collect();
                format!("i {} {now}{frames}\n", link.0)
            }
            Call::Send {
                port,
                session,
                attributes,
                bytes,
            } => {
                let own = self.program.ports[port.at()].attributes.iter();
                let values: String = own
                    .map(|id| {
                        let given = attributes.iter().find(|(one, _)| one == id);
                        let value = match given {
                            Some((_, value)) => value.clone(),
                            None => self.default(*id),
                        };
                        format!(" {}", token(&value))
                    })
                    .collect();
                format!("s {} {session} {now} {}{values}\n", port.0, hex(bytes))
            }
            Call::Open(port, keys) => {
                let keys: String = keys.iter().map(|key| format!(" {}", token(key))).collect();
                format!("o {} {now}{keys}\n", port.0)
            }
            Call::Notice {
                port,
                session,
                notice,
                arguments,
            } => {
                let all: String = arguments
                    .iter()
                    .map(|one| format!(" {}", token(one)))
                    .collect();
                format!("n {} {session} {} {now}{all}\n", port.0, notice.0)
            }
            Call::Expire => format!("e {now}\n"),
        }
    }

    fn default(&self, id: AttributeId) -> Datum {
        let attribute = &self.program.attributes[id.at()];
        match &attribute.default {
            Some(value) => Datum::of(self.program, value, &attribute.kind),
            None => Datum::empty(self.program, &attribute.kind),
        }
    }

    fn seen(&self, text: &str, trace: &Trace) -> Vec<Seen> {
        let mut all = Vec::new();
        let mut outputs = Vec::new();
        let mut returned = None;
        let mut deadline_ns = None;
        for line in text.lines() {
            let mut words = line.split(' ');
            let kind = words.next().expect("a line says what it is");
            let words: Vec<&str> = words.collect();
            match kind {
                "r" => returned = Some(number(words[0])),
                "w" => deadline_ns = Some(number(words[0])).filter(|at| *at != u64::MAX),
                "c" => {
                    let call = &trace.steps[all.len()].call;
                    let values: Vec<u64> = words.iter().map(|word| number(word)).collect();
                    all.push(Seen {
                        returned: returned_by(call, returned.take()),
                        outputs: std::mem::take(&mut outputs),
                        deadline_ns,
                        counters: self.counters(&values),
                    });
                }
                _ => outputs.push(self.output(kind, &words)),
            }
        }
        assert_eq!(all.len(), trace.steps.len(), "every call has its answer");
        all
    }

    fn output(&self, kind: &str, words: &[&str]) -> Emitted {
        let place = number(words[0]) as u32;
        if kind == "f" {
            return Emitted::Frame {
                link: LinkId(place),
                bytes: unhex(words[1]),
            };
        }
        let (port, session) = (PortId(place), number(words[1]) as u32);
        let own = &self.program.ports[port.at()];
        if kind == "d" {
            let kinds = own
                .attributes
                .iter()
                .map(|id| &self.program.attributes[id.at()].kind);
            let values = kinds.zip(&words[3..]).map(|(kind, word)| datum(kind, word));
            return Emitted::Deliver {
                port,
                session,
                bytes: unhex(words[2]),
                attributes: own.attributes.iter().copied().zip(values).collect(),
            };
        }
        let notice = NoticeId(number(words[2]) as u32);
        let parameters = self.program.notices[notice.at()].parameters.iter();
        let values = parameters
            .zip(&words[3..])
            .map(|(one, word)| datum(&one.kind, word));
        Emitted::Notice {
            port,
            session,
            notice,
            arguments: values.collect(),
        }
    }

    /// The counters under the names and in the order of the interpreters.
    fn counters(&self, values: &[u64]) -> Vec<(String, u64)> {
        let own = [
            "frames_in",
            "frames_out",
            "delivered",
            "consumed",
            "merged",
            "held",
        ];
        let program = self.program;
        let reasons = program.reasons.len();
        let mut all: Vec<(String, u64)> = own
            .iter()
            .zip(values)
            .map(|(name, value)| (name.to_string(), *value))
            .collect();
        let (dropped, unsent) = (6, 6 + reasons + 2);
        for (from, after) in [(dropped, ""), (unsent, ".unsent")] {
            for (at, reason) in program.reasons.iter().enumerate() {
                let entity = &program.entities[reason.entity.at()].name;
                all.push((
                    format!("{entity}.{}{after}", reason.name),
                    values[from + at],
                ));
            }
        }
        all.push((
            "stack.agenda_full".to_string(),
            values[dropped + reasons + 1],
        ));
        all.push((
            "stack.agenda_full.unsent".to_string(),
            values[unsent + reasons + 1],
        ));
        for (at, count) in program.counts.iter().enumerate() {
            let entity = &program.entities[count.entity.at()].name;
            all.push((
                format!("{entity}.{}", count.name),
                values[unsent + reasons + 2 + at],
            ));
        }
        all
    }
}

fn returned_by(call: &Call, returned: Option<u64>) -> Option<u64> {
    match call {
        Call::Input(..) | Call::Send { .. } => returned,
        Call::Open(..) => returned.filter(|session| *session != u64::from(u32::MAX)),
        Call::Notice { .. } | Call::Expire => None,
    }
}

fn number(word: &str) -> u64 {
    word.parse().expect("a number")
}

fn hex(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("x{digits}")
}

fn unhex(word: &str) -> Vec<u8> {
    let digits: Vec<char> = word.chars().skip(1).collect();
    let byte = |pair: &[char]| {
        let text: String = pair.iter().collect();
        u8::from_str_radix(&text, 16).expect("two digits")
    };
    digits.chunks(2).map(byte).collect()
}

fn token(datum: &Datum) -> String {
    match datum {
        Datum::Number(number) => number.to_string(),
        Datum::Bytes(bytes) => hex(bytes),
        Datum::Optional(None) => "none".to_string(),
        Datum::Optional(Some(value)) => token(value),
        other => panic!("{other:?} does not cross the border"),
    }
}

fn datum(kind: &Type, word: &str) -> Datum {
    match (kind, word) {
        (Type::Optional(_), "none") => Datum::Optional(None),
        (Type::Optional(inner), word) => Datum::some(datum(inner, word)),
        (Type::Bytes(_), word) => Datum::Bytes(unhex(word)),
        (_, word) => Datum::Number(number(word)),
    }
}

/// The statements that read a value into a place.
fn read(kind: &Type, place: &str, name: &str) -> String {
    match kind {
        Type::Optional(inner) => format!(
            "    word = next_word();\n    {place}has_{name} = strcmp(word, \"none\") != 0;\n    \
             if ({place}has_{name}) {{\n    back = word;\n{}    }}\n",
            read(inner, place, name)
        ),
        Type::Bytes(length) => format!(
            "    word = next_word();\n    for (size_t n = 0; n < {length}; n++) {{ \
             {place}{name}.at[n] = digits(word + 1 + 2 * n); }}\n"
        ),
        Type::Signed(width) => {
            let wide = u32::from(*width).next_power_of_two().max(8);
            format!("    {place}{name} = (int{wide}_t)strtoull(next_word(), NULL, 10);\n")
        }
        _ => format!("    {place}{name} = strtoull(next_word(), NULL, 10);\n"),
    }
}

/// The statements that print one.
fn print(kind: &Type, place: &str, name: &str) -> String {
    match kind {
        Type::Optional(inner) => format!(
            "    if (!{place}has_{name}) {{ printf(\" none\"); }} else {{\n{}    }}\n",
            print(inner, place, name)
        ),
        Type::Bytes(length) => {
            format!("    printf(\" \"); hex({place}{name}.at, {length});\n")
        }
        _ => format!("    printf(\" %llu\", (unsigned long long){place}{name});\n"),
    }
}

fn main_of(program: &Program) -> String {
    let name = &program.name;
    let mut config = String::new();
    for one in &program.config {
        config += &read(&one.kind, "config.", &one.name);
    }
    let mut calls = [
        String::new(),
        String::new(),
        String::new(),
        String::new(),
        String::new(),
    ];
    let mut port_names = Vec::new();
    for (at, port) in program.ports.iter().enumerate() {
        let own = &port.name;
        port_names.push(own.clone());
        let attributes = port
            .attributes
            .iter()
            .map(|id| &program.attributes[id.at()]);
        let declared = match port.attributes.is_empty() {
            true => "    const void *with_address = NULL;\n".to_string(),
            false => {
                let reads: String = attributes
                    .clone()
                    .map(|one| read(&one.kind, "with.", &one.name))
                    .collect();
                format!(
                    "    struct {name}_{own}_attributes with; memset(&with, 0, sizeof with);\n\
                     {reads}    const struct {name}_{own}_attributes *with_address = &with;\n"
                )
            }
        };
        calls[0] += &format!(
            "if (port == {at}) {{\n{declared}    returned = {name}_{own}_send(stack, session, \
             with_address, bytes, length, now);\n}}\n"
        );
        if let Some(kind) = port.opens {
            let keys = &program.kinds[kind.at()].keys;
            let reads: String = keys
                .iter()
                .map(|key| read(&key.kind, "keys.", &key.name))
                .collect();
            calls[1] += &format!(
                "if (port == {at}) {{\n    struct {name}_{own}_keys keys; \
                 memset(&keys, 0, sizeof keys);\n{reads}    \
                 returned = {name}_{own}_open(stack, &keys, now);\n}}\n"
            );
        }
        for notice in &port.down {
            let told = &program.notices[notice.at()];
            let mut declared = String::new();
            let mut given = String::new();
            for (n, one) in told.parameters.iter().enumerate() {
                declared += &format!("    unsigned long long value_{n};\n");
                declared += &read(&Type::Unsigned(64), "value_", &n.to_string());
                assert!(!matches!(one.kind, Type::Optional(_) | Type::Bytes(_)));
                given += &format!("value_{n}, ");
            }
            calls[2] += &format!(
                "if (port == {at} && notice == {}) {{\n{declared}    \
                 {name}_{own}_{}(stack, session, {given}now);\n}}\n",
                notice.0, told.name
            );
        }
        let prints: String = attributes
            .map(|one| print(&one.kind, &format!("output.with.{own}."), &one.name))
            .collect();
        calls[3] += &format!("if (output.place == {at}) {{\n{prints}}}\n");
        for notice in &port.up {
            let told = &program.notices[notice.at()];
            let prints: String = told
                .parameters
                .iter()
                .map(|one| {
                    let place = format!("output.with.{own}_{}.", told.name);
                    print(&one.kind, &place, &one.name)
                })
                .collect();
            let what = format!("{name}_{}", told.name).to_uppercase();
            calls[4] += &format!(
                "if (what == {what} && output.place == {at}) {{\n    printf(\"t {at} %u {}\", \
                 (unsigned)output.session);\n{prints}}}\n",
                notice.0
            );
        }
    }
    let [send, open, tell, deliver, notice] = calls;
    include_str!("main.c")
        .replace("NAME", name)
        .replace("UPPER", &name.to_uppercase())
        .replace("/* CONFIG */", &config)
        .replace("/* SEND */", &send)
        .replace("/* OPEN */", &open)
        .replace("/* TELL */", &tell)
        .replace("/* DELIVER */", &deliver)
        .replace("/* NOTICE */", &notice)
}
