//! The generated C as one more thing that runs a stack: it is compiled with a driver that reads
//! the steps of a trace, line by line, and writes what a host sees.
//!
//! In: a program and its C. Out: what the C shows for each step of a trace.

use crate::traffic::can_tell;
use stackloom::emit::Emitted as Code;
use stackloom::simulate::state::{Emitted, Limits};
use stackloom::simulate::trace::{Call, Seen, Trace};
use stackloom::simulate::value::Datum;
use stackloom::types::program::{AttributeId, LinkId, NoticeId, Port, PortId, Program};
use stackloom::types::value::Type;
use std::fmt::Write;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A stack that was compiled.
pub struct Compiled<'p> {
    program: &'p Program,
    binary: PathBuf,
    /// What the C may use, as far as its text says so.
    pub limits: Limits,
}

impl<'p> Compiled<'p> {
    /// Compiles the C of a program with the checks of the compiler, and its driver.
    pub fn new(program: &'p Program, code: &Code, variant: &str) -> Compiled<'p> {
        let name = format!("agree_{}_{variant}", program.name);
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&folder).expect("a folder to compile in");
        let files = [
            (format!("{}.c", program.name), code.c.clone()),
            (format!("{}.h", program.name), code.h.clone()),
            ("driver.c".to_string(), driver(program)),
        ];
        for (file, text) in files {
            std::fs::write(folder.join(file), text).expect("written");
        }
        let output = Command::new("gcc")
            .args(["-std=c11", "-g", "-O1", "-fsanitize=address,undefined"])
            .args(["-fno-sanitize-recover=all", "driver.c", "-o", "driver"])
            .current_dir(&folder)
            .output()
            .expect("there is a C compiler");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        let constant = |name: &str| {
            let text = code.c.split_once(&format!("    {name} = "));
            let number = text.and_then(|(_, rest)| rest.split_once(','));
            let number = number.and_then(|(number, _)| number.parse::<usize>().ok());
            number.unwrap_or_else(|| panic!("the C says its {name}"))
        };
        Compiled {
            program,
            binary: folder.join("driver"),
            limits: Limits {
                reserve: constant("RESERVE") as u32,
                room: constant("BUFFER_SIZE") - constant("HEADROOM"),
                agenda: constant("AGENDA"),
                outputs: constant("OUTPUTS"),
                ..Limits::default()
            },
        }
    }

    /// What it shows for each step of a trace, up to where it broke.
    pub fn run(&self, trace: &Trace) -> Vec<Seen> {
        let mut child = Command::new(&self.binary)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("what was compiled runs");
        let mut input = child.stdin.take().expect("it reads");
        let text = self.steps(trace);
        // It may end before it has read all; what it has written says why.
        let writer = std::thread::spawn(move || input.write_all(text.as_bytes()).is_ok());
        let output = child.wait_with_output().expect("it ends");
        let _ = writer.join();
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            eprintln!("{said}");
        }
        self.seen(&String::from_utf8_lossy(&output.stdout))
    }

    /// The lines that the driver reads.
    fn steps(&self, trace: &Trace) -> String {
        let mut text = format!(
            "{} {} {}",
            trace.start_ns, trace.limits.buffers, trace.limits.budget
        );
        trace.config.iter().for_each(|value| push(&mut text, value));
        for step in &trace.steps {
            let _ = write!(text, "\n{} {} ", step.now_ns, u8::from(step.takes));
            match &step.call {
                Call::Input(link, frames) => {
                    let _ = write!(text, "i{} {}", link.0, frames.len());
                    frames.iter().for_each(|frame| push_bytes(&mut text, frame));
                }
                Call::Send {
                    port,
                    session,
                    attributes,
                    bytes,
                } => {
                    let _ = write!(text, "s{} {session}", port.0);
                    for id in &self.program.ports[port.at()].attributes {
                        push(&mut text, &self.given(attributes, *id));
                    }
                    push_bytes(&mut text, bytes);
                }
                Call::Open(port, keys) => {
                    let _ = write!(text, "o{}", port.0);
                    keys.iter().for_each(|value| push(&mut text, value));
                }
                Call::Notice {
                    port,
                    session,
                    notice,
                    arguments,
                } => {
                    let _ = write!(text, "n{}.{} {session}", port.0, notice.0);
                    arguments.iter().for_each(|value| push(&mut text, value));
                }
                Call::Expire => text.push('e'),
            }
        }
        text.push('\n');
        text
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
    fn seen(&self, text: &str) -> Vec<Seen> {
        let mut lines = text.lines();
        let names: Vec<&str> = lines.next().unwrap_or("").split('|').collect();
        let mut all = Vec::new();
        let mut outputs = Vec::new();
        let mut returned = None;
        let mut deadline_ns = None;
        for line in lines {
            let mut words = line.split(' ');
            match words.next() {
                Some("r") => returned = words.next().and_then(|word| word.parse().ok()),
                Some("t") => deadline_ns = words.next().and_then(|word| word.parse().ok()),
                Some("c") => {
                    let values = words.map(|word| word.parse().expect("a counter is a number"));
                    let named = names.iter().map(|name| name.to_string());
                    all.push(Seen {
                        returned,
                        outputs: std::mem::take(&mut outputs),
                        deadline_ns,
                        counters: named.zip(values).collect(),
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
        let table = &self.program.ports[port.at()];
        if what == "d" {
            let data = bytes(words.next()?);
            let mut attributes = Vec::new();
            for id in &table.attributes {
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
        let notice = NoticeId(what.strip_prefix('n')?.parse().ok()?);
        let mut arguments = Vec::new();
        for parameter in &self.program.notices[notice.at()].parameters {
            arguments.push(value(&parameter.kind, &mut words)?);
        }
        Some(Emitted::Notice {
            port,
            session,
            notice,
            arguments,
        })
    }
}

/// A value as words: that of an optional behind whether it is there.
fn push(text: &mut String, value: &Datum) {
    let _ = match value {
        Datum::Number(number) => write!(text, " {number}"),
        Datum::Optional(None) => write!(text, " 0 0"),
        Datum::Optional(Some(value)) => {
            text.push_str(" 1");
            push(text, value);
            Ok(())
        }
        other => panic!("the driver reads numbers and optionals, not {other:?}"),
    };
}

fn push_bytes(text: &mut String, bytes: &[u8]) {
    text.push_str(" x");
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
}

fn value<'a>(kind: &Type, words: &mut impl Iterator<Item = &'a str>) -> Option<Datum> {
    let number: u64 = words.next()?.parse().ok()?;
    let Type::Optional(inner) = kind else {
        return Some(Datum::Number(number));
    };
    let value = value(inner, words)?;
    Some(match number {
        0 => Datum::Optional(None),
        _ => Datum::some(value),
    })
}

fn bytes(text: &str) -> Vec<u8> {
    let digits = &text.as_bytes()[1..];
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).expect("digits are plain");
        u8::from_str_radix(pair, 16).expect("a byte is two digits")
    };
    digits.chunks(2).map(byte).collect()
}

/// The text of a driver for one program.
fn driver(program: &Program) -> String {
    let text = include_str!("driver.c");
    let config = program.config.iter();
    let config = config.map(|config| format!("config.{} = number();", config.name));
    let mut opens = String::new();
    let mut sends = String::new();
    let mut notices = String::new();
    let mut delivered = String::new();
    let mut told = String::new();
    for (at, port) in program.ports.iter().enumerate() {
        opens += &open(program, at, port);
        sends += &send(program, at, port);
        delivered += &delivery(program, at, port);
        let down = port.down.iter().copied();
        for id in down.filter(|id| can_tell(program, PortId(at as u32), *id)) {
            notices += &notice(program, at, port, id);
        }
        for id in &port.up {
            told += &told_up(program, at, port, *id);
        }
    }
    text.replace("CONFIGURE", &config.collect::<Vec<_>>().join("\n    "))
        .replace("OPENS", &opens)
        .replace("SENDS", &sends)
        .replace("NOTICES", &notices)
        .replace("DELIVERED", &delivered)
        .replace("TOLD", &told)
        .replace("STACK", &program.name)
        .replace("UPPER", &program.name.to_uppercase())
}

fn open(program: &Program, at: usize, port: &Port) -> String {
    let Some(kind) = port.opens else {
        return String::new();
    };
    let mut text = format!(
        "if (place == {at}) {{ struct STACK_{}_keys keys = {{0}};\n",
        port.name
    );
    for key in &program.kinds[kind.at()].keys {
        text += &read(&format!("keys.{}", key.name), &key.kind);
    }
    text + &format!(
        "opened = STACK_{}_open(stack, &keys, now_ns); }}\n",
        port.name
    )
}

fn send(program: &Program, at: usize, port: &Port) -> String {
    let mut text = format!("if (place == {at}) {{ uint32_t session = (uint32_t)number();\n");
    let with = if port.attributes.is_empty() {
        "NULL"
    } else {
        "&with"
    };
    if with != "NULL" {
        text += &format!("struct STACK_{}_attributes with = {{0}};\n", port.name);
    }
    for id in &port.attributes {
        let attribute = &program.attributes[id.at()];
        text += &read(&format!("with.{}", attribute.name), &attribute.kind);
    }
    text + &format!(
        "size_t length = bytes(data, sizeof data);\n\
         returned = STACK_{}_send(stack, session, {with}, data, length, now_ns); }}\n",
        port.name
    )
}

fn notice(program: &Program, at: usize, port: &Port, id: NoticeId) -> String {
    let told = &program.notices[id.at()];
    let mut text = format!("if (place == {at} && which == {}) {{\n", id.0);
    text += "uint32_t session = (uint32_t)number();\n";
    let mut arguments = String::new();
    for (place, parameter) in told.parameters.iter().enumerate() {
        text += &format!("uint64_t argument_{place} = number();\n");
        if let Type::Optional(_) = parameter.kind {
            text += &format!("uint64_t inner_{place} = number();\n");
        }
        arguments += &format!("argument_{place}, ");
        if let Type::Optional(_) = parameter.kind {
            arguments += &format!("inner_{place}, ");
        }
    }
    text + &format!(
        "STACK_{}_{}(stack, session, {arguments}now_ns); }}\n",
        port.name, told.name
    )
}

fn delivery(program: &Program, at: usize, port: &Port) -> String {
    let mut text = format!("if (output.place == {at}) {{\n");
    for id in &port.attributes {
        let attribute = &program.attributes[id.at()];
        let place = format!("output.with.{}.{}", port.name, attribute.name);
        text += &shown(&place, &attribute.kind);
    }
    text + "}\n"
}

fn told_up(program: &Program, at: usize, port: &Port, id: NoticeId) -> String {
    let told = &program.notices[id.at()];
    let name = told.name.to_uppercase();
    let mut text = format!(
        "if (next == UPPER_{name} && output.place == {at}) {{ \
         printf(\"n{} %u %u\", output.place, output.session);\n",
        id.0
    );
    for parameter in &told.parameters {
        let place = format!("output.with.{}_{}.{}", port.name, told.name, parameter.name);
        text += &shown(&place, &parameter.kind);
    }
    text + "}\n"
}

fn read(place: &str, kind: &Type) -> String {
    match kind {
        Type::Optional(inner) => {
            let (before, name) = place.rsplit_once('.').expect("a member");
            format!("{before}.has_{name} = number() != 0;\n") + &read(place, inner)
        }
        _ => format!("{place} = number();\n"),
    }
}

fn shown(place: &str, kind: &Type) -> String {
    match kind {
        Type::Optional(inner) => {
            let (before, name) = place.rsplit_once('.').expect("a member");
            format!("show({before}.has_{name});\n") + &shown(place, inner)
        }
        _ => format!("show({place});\n"),
    }
}
