//! Plays a script of a host's calls to a stack that runs in an interpreter.
//!
//! In: the sections `config` and `in`. Out: the section `out`: what the stack gave its host, and
//! when, and all counters that are not zero.
//!
//! ```text
//! frame tap 0a00 0001 aa*40     a frame comes in; further lines with more of it are indented
//! open datagrams 7 none none    an application opens a conversation, by its keys
//! send datagrams 0 peer=10.0.0.1 peer_port=7 : 6869
//! tell messages 0 grant_delivers 4
//! wait 1 s                      time passes
//! ```

use stackloom::simulate::stack::{Control, Stack};
use stackloom::simulate::state::{Emitted, Limits};
use stackloom::simulate::value::Datum;
use stackloom::types::program::{LinkId, NoticeId, PortId, Program};
use stackloom::types::value::Type;
use std::fmt::Write;

/// Plays a script, and tells what came of it.
pub fn play<'p, C: Control<'p>>(
    program: &'p Program,
    control: C,
    config: &str,
    script: &str,
) -> Result<String, String> {
    if let [function, ..] = program.functions_in_c()[..] {
        return Err(format!(
            "`{function}` is written in C, so nothing can be played"
        ));
    }
    let stack = Stack::start(
        control,
        program,
        settings(program, config)?,
        Limits::default(),
        0,
    );
    let mut player = Player {
        program,
        stack,
        now_ns: 0,
        out: String::new(),
    };
    for line in joined(script) {
        player
            .perform(&line)
            .ok_or_else(|| format!("`{line}` is no call of a host to this stack"))?;
        player.drain();
    }
    player.finish()
}

/// The lines of a script; those that are indented belong to the one before.
fn joined(script: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in script.lines().filter(|line| !line.trim().is_empty()) {
        match lines.last_mut() {
            Some(before) if line.starts_with(' ') => {
                before.push(' ');
                before.push_str(line.trim());
            }
            Some(_) | None => lines.push(line.to_string()),
        }
    }
    lines
}

fn settings(program: &Program, text: &str) -> Result<Vec<Datum>, String> {
    let find = |name: &str| {
        let lines = text.lines().filter_map(|line| line.split_once('='));
        let mut values = lines.filter(|(set, _)| set.trim() == name);
        values.next().map(|(_, value)| value.trim().to_string())
    };
    let value = |config: &stackloom::types::program::Config| {
        let default = config.default.as_ref();
        match (find(&config.name), default) {
            (Some(text), _) => datum(&text, &config.kind),
            (None, Some(value)) => Some(Datum::of(program, value, &config.kind)),
            (None, None) => None,
        }
        .ok_or_else(|| format!("`config.{}` has no value that fits", config.name))
    };
    program.config.iter().map(value).collect()
}

struct Player<'p, C> {
    program: &'p Program,
    stack: Stack<'p, C>,
    now_ns: u64,
    out: String,
}

impl<'p, C: Control<'p>> Player<'p, C> {
    /// One call of the host; none if it does not make sense.
    fn perform(&mut self, line: &str) -> Option<()> {
        let (verb, rest) = line.split_once(' ')?;
        match verb {
            "frame" => self.frame(rest),
            "open" => self.open(rest),
            "send" => self.send(rest),
            "tell" => self.tell(rest),
            "wait" => self.wait(time(rest)?),
            _ => None,
        }
    }

    fn frame(&mut self, rest: &str) -> Option<()> {
        let (link, bytes) = rest.split_once(' ')?;
        let link = self.program.links.iter().position(|it| it.name == link)?;
        let bytes = hexadecimal(bytes)?;
        let taken = self.stack.input(LinkId(link as u32), &[bytes], self.now_ns);
        if taken == 0 {
            self.say("the frame is not taken");
        }
        Some(())
    }

    fn open(&mut self, rest: &str) -> Option<()> {
        let mut words = rest.split_whitespace();
        let port = self.port(words.next()?)?;
        let kind = self.program.ports[port.at()].opens?;
        let keys = self.program.kinds[kind.at()].keys.iter();
        let keys: Option<Vec<Datum>> = keys
            .map(|key| words.next().and_then(|word| datum(word, &key.kind)))
            .collect();
        match self.stack.open(port, keys?, self.now_ns) {
            Some(session) => self.say(&format!("opened {session}")),
            None => self.say("refused to open"),
        }
        Some(())
    }

    fn send(&mut self, rest: &str) -> Option<()> {
        let (to, bytes) = rest.split_once(':')?;
        let mut words = to.split_whitespace();
        let port = self.port(words.next()?)?;
        let session = words.next()?.parse().ok()?;
        let mut attributes = Vec::new();
        for word in words {
            let (name, value) = word.split_once('=')?;
            let listed = self.program.ports[port.at()].attributes.iter().copied();
            let declared = |id: &stackloom::types::program::AttributeId| {
                self.program.attributes[id.at()].name == name
            };
            let id = listed.clone().find(declared)?;
            attributes.push((id, datum(value, &self.program.attributes[id.at()].kind)?));
        }
        let bytes = hexadecimal(bytes)?;
        let taken = self
            .stack
            .send((port, session), &attributes, &bytes, self.now_ns);
        if taken != bytes.len() {
            self.say(&format!("{taken} bytes are taken"));
        }
        Some(())
    }

    fn tell(&mut self, rest: &str) -> Option<()> {
        let mut words = rest.split_whitespace();
        let port = self.port(words.next()?)?;
        let session = words.next()?.parse().ok()?;
        let name = words.next()?;
        let mut down = self.program.ports[port.at()].down.iter().copied();
        let notice: NoticeId = down.find(|id| self.program.notices[id.at()].name == name)?;
        let parameters = self.program.notices[notice.at()].parameters.iter();
        let arguments: Option<Vec<Datum>> = parameters
            .map(|parameter| words.next().and_then(|word| datum(word, &parameter.kind)))
            .collect();
        self.stack
            .notice((port, session), notice, arguments?, self.now_ns);
        Some(())
    }

    /// Time passes, from deadline to deadline.
    fn wait(&mut self, duration_ns: u64) -> Option<()> {
        let until_ns = self.now_ns + duration_ns;
        while let Some(deadline_ns) = self.stack.deadline_ns()
            && deadline_ns <= until_ns
        {
            self.now_ns = self.now_ns.max(deadline_ns);
            self.stack.expire(self.now_ns);
            self.drain();
        }
        self.now_ns = until_ns;
        Some(())
    }

    fn drain(&mut self) {
        loop {
            while let Some(output) = self.stack.next_output() {
                self.tell_of(&output);
            }
            if self
                .stack
                .deadline_ns()
                .is_none_or(|deadline_ns| deadline_ns > self.now_ns)
            {
                return;
            }
            self.stack.expire(self.now_ns);
        }
    }

    fn tell_of(&mut self, output: &Emitted) {
        let program = self.program;
        match output {
            Emitted::Frame { link, bytes } => {
                self.say(&format!("frame {}", program.links[link.at()].name));
                self.show(bytes);
            }
            Emitted::Deliver {
                port,
                session,
                bytes,
                attributes,
            } => {
                let mut line = format!("deliver {} {session}", program.ports[port.at()].name);
                for (id, value) in attributes {
                    let name = &program.attributes[id.at()].name;
                    let _ = write!(line, " {name}={}", shown(value));
                }
                self.say(&line);
                self.show(bytes);
            }
            Emitted::Notice {
                port,
                session,
                notice,
                arguments,
            } => {
                let name = &program.notices[notice.at()].name;
                let port = &program.ports[port.at()].name;
                let arguments = arguments.iter().map(|value| format!(" {}", shown(value)));
                let arguments: String = arguments.collect();
                self.say(&format!("tell {port} {session} {name}{arguments}"));
            }
        }
    }

    fn say(&mut self, line: &str) {
        let _ = writeln!(self.out, "{} {line}", moment(self.now_ns));
    }

    fn show(&mut self, bytes: &[u8]) {
        let mut row = String::new();
        for word in words(bytes) {
            if row.len() + word.len() > 80 {
                let _ = writeln!(self.out, "   {row}");
                row.clear();
            }
            let _ = write!(row, " {word}");
        }
        if !row.is_empty() {
            let _ = writeln!(self.out, "   {row}");
        }
    }

    /// The counters, at the end.
    fn finish(mut self) -> Result<String, String> {
        for (name, value) in self.stack.counters() {
            if value > 0 {
                let _ = writeln!(self.out, "{name} {value}");
            }
        }
        match self.stack.adds_up() {
            true => Ok(self.out),
            false => Err(format!("the fates of frames do not add up\n{}", self.out)),
        }
    }

    fn port(&self, name: &str) -> Option<PortId> {
        let at = self.program.ports.iter().position(|it| it.name == name)?;
        Some(PortId(at as u32))
    }
}

/// A point in time, in the largest unit that is exact.
fn moment(at_ns: u64) -> String {
    let units = [
        ("s", 1_000_000_000),
        ("ms", 1_000_000),
        ("us", 1_000),
        ("ns", 1),
    ];
    let fits = units.iter().find(|(_, size)| at_ns.is_multiple_of(*size));
    let (unit, size) = fits.expect("every time is a number of nanoseconds");
    format!("{} {unit}", at_ns / size)
}

fn time(text: &str) -> Option<u64> {
    let (number, unit) = text.trim().split_once(' ')?;
    let size = match unit {
        "s" => 1_000_000_000,
        "ms" => 1_000_000,
        "us" => 1_000,
        "ns" => 1,
        _ => return None,
    };
    Some(number.parse::<u64>().ok()? * size)
}

/// Bytes as words of two, and what repeats for long as `aa*1480`.
fn words(bytes: &[u8]) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = bytes;
    while let Some(first) = rest.first() {
        let same = rest.iter().take_while(|byte| *byte == first).count();
        let taken = if same >= LONG {
            same
        } else {
            rest.len().min(2)
        };
        words.push(match same >= LONG {
            true => format!("{first:02x}*{same}"),
            false => rest[..taken]
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect(),
        });
        rest = &rest[taken..];
    }
    words
}

/// How often a byte repeats before it is said how often.
const LONG: usize = 24;

/// Bytes: `0800 45`, and `aa*1480` for one that repeats.
fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for word in text.split_whitespace() {
        let (digits, times) = match word.split_once('*') {
            Some((digits, times)) => (digits, times.parse().ok()?),
            None => (word, 1),
        };
        for _ in 0..times {
            for at in (0..digits.len()).step_by(2) {
                bytes.push(u8::from_str_radix(digits.get(at..at + 2)?, 16).ok()?);
            }
        }
    }
    Some(bytes)
}

/// A number, `true`, an address with dots or colons, a length of time, or `none`.
fn datum(text: &str, kind: &Type) -> Option<Datum> {
    if let Type::Optional(inner) = kind {
        return match text {
            "none" => Some(Datum::Optional(None)),
            _ => datum(text, inner).map(Datum::some),
        };
    }
    let bytes = |separator: char, radix: u32| {
        let mut number = 0;
        for part in text.split(separator) {
            number = number << 8 | u64::from(u8::from_str_radix(part, radix).ok()?);
        }
        Some(number)
    };
    let number = match text {
        "true" => Some(1),
        "false" => Some(0),
        _ if text.contains('.') => bytes('.', 10),
        _ if text.contains(':') => bytes(':', 16),
        _ if text.contains(' ') => time(text),
        _ => match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        },
    };
    number.map(Datum::Number)
}

fn shown(value: &Datum) -> String {
    match value {
        Datum::Optional(None) => "none".to_string(),
        Datum::Optional(Some(inner)) => shown(inner),
        Datum::Number(number) => number.to_string(),
        other => format!("{other:?}"),
    }
}
