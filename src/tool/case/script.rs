//! Scripts of a host: the sections `config`, `host` and `in` of a case, read and written.
//!
//! In: lines. Out: what the host calls; or the other way round, so that a trace that was found by
//! chance is a case that replays.
//!
//! ```text
//! frame tap 0a00 0001 aa*40     a frame comes in; further lines with more of it are indented
//! frames tap 0a00 | 0b00 | -    several in one call; the last is empty
//! open datagrams 7 none none    an application opens a conversation, by its keys
//! listen calls 7 backlog 2      it listens, by the listener's keys; `any` leaves a key out
//! unlisten calls 0
//! send datagrams 0 peer=10.0.0.1 peer_port=7 : 6869
//! tell messages 0 grant_delivers 4
//! carrier tap down              a link went down, or up again
//! wait 1 s                      time passes; every timer on the way expires
//! expire                        the host says that time has passed
//! at 5 ms: CALL                 this call at this time, and nothing by itself
//! at 5 ms, busy: CALL           the same, and the host takes nothing of what comes out
//! restart                       the stack starts anew, with the same settings
//! // a word to the reader       up to the end of the line
//! ```

use crate::simulate::state::Limits;
use crate::simulate::trace::{Call, Step, Trace};
use crate::simulate::value::{Datum, fit};
use crate::types::program::{Attribute, KindId, LinkId, Notice, NoticeId, PortId, Program};
use crate::types::value::Type;
use std::fmt::Write;
use std::net::Ipv6Addr;

/// A line of a script.
pub enum Line {
    /// A call, now.
    Call(Call),
    /// Time passes.
    Wait(u64),
    /// A call at its own time.
    Exact(Step),
}

/// What a host sets before it starts a stack.
#[derive(Clone)]
pub struct Beginning {
    /// Values of the stack's configuration.
    pub config: Vec<Datum>,
    /// What the stack may use.
    pub limits: Limits,
    /// When it starts.
    pub start_ns: u64,
}

/// Reads the sections `config` and `host`; what the second does not say is as in `limits`.
pub fn beginning(
    program: &Program,
    config: &str,
    host: &str,
    mut limits: Limits,
) -> Result<Beginning, String> {
    let mut start_ns = 0;
    for line in host.lines().filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once('=').unwrap_or((line, ""));
        let (name, value) = (name.trim(), value.trim());
        let number = || {
            value
                .parse()
                .map_err(|_| format!("`{line}` lacks a number"))
        };
        match name {
            "buffers" => limits.buffers = number()?,
            "budget" => limits.budget = number()?,
            "reserve" => limits.reserve = number()?,
            "outputs" => limits.outputs = number()? as usize,
            "events" => limits.events = number()? as usize,
            "start" => start_ns = time(value).ok_or(format!("`{line}` lacks a time"))?,
            _ => return Err(format!("a host cannot set `{name}`")),
        }
    }
    Ok(Beginning {
        config: settings(program, config)?,
        limits,
        start_ns,
    })
}

/// Reads the section `in`: what is done to a stack, and to each that starts anew in its place.
pub fn lives(program: &Program, script: &str) -> Result<Vec<Vec<Line>>, String> {
    let names = |names: Vec<&str>| names.join(", ");
    let links = names(program.links.iter().map(|link| &*link.name).collect());
    let ports = names(program.ports.iter().map(|port| &*port.name).collect());
    let read = |text: &String| {
        line(program, text).ok_or_else(|| {
            format!("`{text}` is no call of this stack (links: {links}; ports: {ports})")
        })
    };
    let lines = joined(script);
    let lives = lines.split(|line| line == "restart");
    lives.map(|life| life.iter().map(read).collect()).collect()
}

/// A trace as the three sections, which say all of it: read again, they are the same trace.
pub fn written(program: &Program, trace: &Trace, usual: &Limits) -> String {
    let text = sections(program, trace, usual);
    let again = trace_of(program, &text, usual).expect("what is written can be read");
    assert!(again == *trace, "it does not replay:\n{text}");
    text
}

/// The trace in a text of sections.
fn trace_of(program: &Program, text: &str, usual: &Limits) -> Result<Trace, String> {
    let part = |kind: &str| {
        let mut parts = text.split("=== ").filter(|part| part.starts_with(kind));
        let part = parts.next().and_then(|part| part.split_once('\n'));
        part.map_or("", |(_, text)| text)
    };
    let Beginning {
        config,
        limits,
        start_ns,
    } = beginning(program, part("config"), part("host"), usual.clone())?;
    let mut trace = Trace {
        config,
        limits,
        start_ns,
        steps: Vec::new(),
    };
    for line in lives(program, part("in"))?.into_iter().flatten() {
        match line {
            Line::Exact(step) => trace.steps.push(step),
            Line::Call(call) => return Err(format!("{call:?} has no time")),
            Line::Wait(ns) => return Err(format!("a wait of {ns} ns is no call")),
        }
    }
    Ok(trace)
}

fn sections(program: &Program, trace: &Trace, usual: &Limits) -> String {
    let mut text = String::new();
    if !program.config.is_empty() {
        text.push_str("=== config\n");
        for (config, value) in program.config.iter().zip(&trace.config) {
            let _ = writeln!(
                text,
                "{} = {}",
                config.name,
                word(program, &config.kind, value)
            );
        }
        text.push('\n');
    }
    let _ = writeln!(text, "=== host\nstart = {}", moment(trace.start_ns));
    let limits = |of: &Limits| {
        [
            ("buffers", of.buffers),
            ("budget", of.budget),
            ("reserve", of.reserve),
            ("outputs", of.outputs as u32),
            ("events", of.events as u32),
        ]
    };
    for ((name, value), (_, usual)) in limits(&trace.limits).into_iter().zip(limits(usual)) {
        if value != usual {
            let _ = writeln!(text, "{name} = {value}");
        }
    }
    text.push_str("\n=== in\n");
    for step in &trace.steps {
        let busy = if step.takes { "" } else { ", busy" };
        let _ = write!(text, "at {}{busy}: ", moment(step.now_ns));
        call(program, &step.call, &mut text);
    }
    text
}

fn settings(program: &Program, text: &str) -> Result<Vec<Datum>, String> {
    let find = |name: &str| {
        let lines = text.lines().filter_map(|line| line.split_once('='));
        let mut values = lines.filter(|(set, _)| set.trim() == name);
        values.next().map(|(_, value)| value.trim().to_string())
    };
    let value = |config: &crate::types::program::Config| {
        let default = config.default.as_ref();
        match (find(&config.name), default) {
            (Some(text), _) => datum(program, &text, &config.kind),
            (None, Some(value)) => Some(Datum::of(program, value, &config.kind)),
            (None, None) => None,
        }
        .ok_or_else(|| format!("`config.{}` has no value that fits", config.name))
    };
    program.config.iter().map(value).collect()
}

/// The lines of a script, without words to its reader; those that are indented belong to the one
/// before.
fn joined(script: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let said = |line| str::split(line, "//").next().unwrap_or_default().trim_end();
    for line in script.lines().map(said).filter(|line| !line.is_empty()) {
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

/// One line; none if it does not make sense.
fn line(program: &Program, text: &str) -> Option<Line> {
    let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
    let call = match verb {
        "wait" => return Some(Line::Wait(time(rest)?)),
        "at" => {
            let (when, call) = rest.split_once(": ")?;
            let (when, takes) = match when.strip_suffix(", busy") {
                Some(when) => (when, false),
                None => (when, true),
            };
            let Line::Call(call) = line(program, call)? else {
                return None;
            };
            return Some(Line::Exact(Step {
                now_ns: time(when)?,
                call,
                takes,
            }));
        }
        "expire" => Call::Expire,
        "frame" | "frames" => frames(program, rest)?,
        "open" => open(program, rest)?,
        "listen" => listen(program, rest)?,
        "unlisten" => unlisten(program, rest)?,
        "send" => send(program, rest)?,
        "tell" => tell(program, rest)?,
        "carrier" => carrier(program, rest)?,
        _ => return None,
    };
    Some(Line::Call(call))
}

fn frames(program: &Program, rest: &str) -> Option<Call> {
    let (link, bytes) = rest.split_once(' ').unwrap_or((rest, ""));
    let link = program.links.iter().position(|it| it.name == link)?;
    let frames: Option<Vec<Vec<u8>>> = match bytes {
        "" => Some(Vec::new()),
        _ => bytes.split('|').map(hexadecimal).collect(),
    };
    Some(Call::Input(LinkId(link as u32), frames?))
}

fn open(program: &Program, rest: &str) -> Option<Call> {
    let mut words = rest.split_whitespace();
    let port = port(program, words.next()?)?;
    let kind = program.ports[port.at()].opens?;
    Some(Call::Open(port, keys(program, kind, &mut words)?))
}

fn listen(program: &Program, rest: &str) -> Option<Call> {
    let (rest, backlog) = rest.split_once(" backlog ")?;
    let mut words = rest.split_whitespace();
    let port = port(program, words.next()?)?;
    let kind = program.ports[port.at()].listens?.listener;
    let keys = keys(program, kind, &mut words)?;
    Some(Call::Listen(port, keys, backlog.trim().parse().ok()?))
}

fn unlisten(program: &Program, rest: &str) -> Option<Call> {
    let (name, listener) = rest.split_once(' ')?;
    let listener = listener.trim().parse().ok()?;
    Some(Call::Unlisten(port(program, name)?, listener))
}

/// Keys; `any` leaves out one that may be.
fn keys<'w>(
    program: &Program,
    kind: KindId,
    words: &mut impl Iterator<Item = &'w str>,
) -> Option<Vec<Datum>> {
    let keys = program.kinds[kind.at()].keys.iter();
    keys.map(|key| match words.next()? {
        "any" => key.default.as_ref().map(|_| Datum::Absent),
        word => datum(program, word, &key.kind),
    })
    .collect()
}

fn send(program: &Program, rest: &str) -> Option<Call> {
    let (to, bytes) = rest.split_once(" :")?;
    let mut words = to.split_whitespace();
    let port = port(program, words.next()?)?;
    let session = words.next()?.parse().ok()?;
    let mut attributes = Vec::new();
    for word in words {
        let (name, value) = word.split_once('=')?;
        let mut listed = program.ports[port.at()].attributes.iter().copied();
        let id = listed.find(|id| program.attributes[id.at()].name == name)?;
        attributes.push((
            id,
            datum(program, value, &program.attributes[id.at()].kind)?,
        ));
    }
    let bytes = hexadecimal(bytes)?;
    Some(Call::Send {
        port,
        session,
        attributes,
        bytes,
    })
}

fn tell(program: &Program, rest: &str) -> Option<Call> {
    let mut words = rest.split_whitespace();
    let port = port(program, words.next()?)?;
    let session = words.next()?.parse().ok()?;
    let name = words.next()?;
    let mut down = program.ports[port.at()].down.iter().copied();
    let notice: NoticeId = down.find(|id| program.notices[id.at()].name == name)?;
    let parameters = program.notices[notice.at()].parameters.iter();
    let arguments: Option<Vec<Datum>> = parameters
        .map(|parameter| {
            words
                .next()
                .and_then(|word| datum(program, word, &parameter.kind))
        })
        .collect();
    Some(Call::Notice {
        port,
        session,
        notice,
        arguments: arguments?,
    })
}

fn carrier(program: &Program, rest: &str) -> Option<Call> {
    let (link, state) = rest.split_once(' ')?;
    let link = program.links.iter().position(|it| it.name == link)?;
    let up = match state {
        "up" => true,
        "down" => false,
        _ => return None,
    };
    Some(Call::Carrier(LinkId(link as u32), up))
}

fn port(program: &Program, name: &str) -> Option<PortId> {
    let at = program.ports.iter().position(|it| it.name == name)?;
    Some(PortId(at as u32))
}

fn call(program: &Program, call: &Call, text: &mut String) {
    match call {
        Call::Input(link, frames) => {
            let verb = if frames.len() == 1 { "frame" } else { "frames" };
            let _ = writeln!(text, "{verb} {}", program.links[link.at()].name);
            for (at, frame) in frames.iter().enumerate() {
                let bytes = rows(frame);
                let bytes = if frame.is_empty() { "    -\n" } else { &bytes };
                text.push_str(if at == 0 { "" } else { "    |\n" });
                text.push_str(bytes);
            }
        }
        Call::Send {
            port,
            session,
            attributes,
            bytes,
        } => {
            let _ = write!(text, "send {} {session}", program.ports[port.at()].name);
            for (id, value) in attributes {
                let Attribute { name, kind, .. } = &program.attributes[id.at()];
                let _ = write!(text, " {name}={}", word(program, kind, value));
            }
            let _ = write!(text, " :\n{}", rows(bytes));
        }
        Call::Open(port, keys) => {
            let port = &program.ports[port.at()];
            let _ = writeln!(
                text,
                "open {}{}",
                port.name,
                key_words(program, port.opens, keys)
            );
        }
        Call::Listen(port, keys, backlog) => {
            let port = &program.ports[port.at()];
            let kind = port.listens.map(|how| how.listener);
            let keys = key_words(program, kind, keys);
            let _ = writeln!(text, "listen {}{keys} backlog {backlog}", port.name);
        }
        Call::Unlisten(port, listener) => {
            let port = &program.ports[port.at()].name;
            let _ = writeln!(text, "unlisten {port} {listener}");
        }
        Call::Notice {
            port,
            session,
            notice,
            arguments,
        } => {
            let port = &program.ports[port.at()].name;
            let notice = &program.notices[notice.at()];
            let given = argument_words(program, notice, arguments);
            let _ = writeln!(text, "tell {port} {session} {}{given}", notice.name);
        }
        Call::Carrier(link, up) => {
            let state = if *up { "up" } else { "down" };
            let _ = writeln!(text, "carrier {} {state}", program.links[link.at()].name);
        }
        Call::Expire => text.push_str("expire\n"),
    }
}

/// The keys of an instance of a kind, each with a blank before it.
pub fn key_words(program: &Program, kind: Option<KindId>, values: &[Datum]) -> String {
    let keys = kind.map_or(&[][..], |kind| &program.kinds[kind.at()].keys);
    spaced(program, keys.iter().map(|key| &key.kind), values)
}

/// The arguments of a notice, each with a blank before it.
pub fn argument_words(program: &Program, notice: &Notice, values: &[Datum]) -> String {
    let kinds = notice.parameters.iter().map(|parameter| &parameter.kind);
    spaced(program, kinds, values)
}

fn spaced<'t>(
    program: &Program,
    kinds: impl Iterator<Item = &'t Type>,
    values: &[Datum],
) -> String {
    let words = kinds.zip(values);
    words
        .map(|(kind, value)| format!(" {}", word(program, kind, value)))
        .collect()
}

/// A value as one word: of an enum its name, where the number has one.
pub fn word(program: &Program, kind: &Type, value: &Datum) -> String {
    let plain = match kind {
        Type::Optional(inner) => inner,
        kind => kind,
    };
    match value {
        Datum::Optional(None) => "none".to_string(),
        Datum::Optional(Some(inner)) => word(program, plain, inner),
        Datum::Number(number) => match plain {
            Type::Enum(id) => program.enums[id.at()].word(*number),
            _ => number.to_string(),
        },
        Datum::Absent => "any".to_string(),
        Datum::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        other => format!("{other:?}"),
    }
}

/// Bytes in indented rows.
pub fn rows(bytes: &[u8]) -> String {
    let (mut text, mut row) = (String::new(), String::new());
    for word in words(bytes) {
        if row.len() + word.len() > 80 {
            let _ = writeln!(text, "   {row}");
            row.clear();
        }
        let _ = write!(row, " {word}");
    }
    if !row.is_empty() {
        let _ = writeln!(text, "   {row}");
    }
    text
}

/// A point in time, in the largest unit that is exact.
pub fn moment(at_ns: u64) -> String {
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
    number.parse::<u64>().ok()?.checked_mul(size)
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

/// Bytes: `0800 45`, `aa*1480` for one that repeats, and `-` for none.
fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for word in text.split_whitespace().filter(|word| *word != "-") {
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

/// A number, the name of an enum's value, `true`, an address with dots (32 bits) or colons (48
/// bits), a length of time, bytes, or `none`.
fn datum(program: &Program, text: &str, kind: &Type) -> Option<Datum> {
    match kind {
        Type::Enum(id) if let Some(number) = program.enums[id.at()].value(text) => {
            return Some(Datum::Number(number));
        }
        Type::Optional(_) if text == "none" => return Some(Datum::Optional(None)),
        Type::Optional(inner) => return datum(program, text, inner).map(Datum::some),
        Type::Bytes(length) => {
            let address = text.parse::<Ipv6Addr>().ok().filter(|_| *length == 16);
            let bytes = address.map(|address| address.octets().to_vec());
            let bytes = bytes.or_else(|| hexadecimal(text));
            let fits = |bytes: &Vec<u8>| bytes.len() == *length as usize;
            return bytes.filter(fits).map(Datum::Bytes);
        }
        Type::BoundedBytes(most) => {
            let fits = |bytes: &Vec<u8>| bytes.len() <= *most as usize;
            return hexadecimal(text).filter(fits).map(Datum::Bytes);
        }
        _ => {}
    }
    let bytes = |separator: char, radix: u32, count: usize| {
        let mut number = 0;
        for part in text.split(separator) {
            number = number << 8 | u64::from(u8::from_str_radix(part, radix).ok()?);
        }
        (text.split(separator).count() == count).then_some(number)
    };
    let number = match text {
        "true" => Some(1),
        "false" => Some(0),
        _ if text.contains(' ') => time(text),
        _ if text.contains('.') => bytes('.', 10, 4),
        _ if text.contains(':') => bytes(':', 16, 6),
        _ => match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        },
    };
    let number = number.filter(|number| {
        !matches!(kind, Type::Unsigned(_) | Type::Sequence(_)) || fit(kind, *number) == *number
    });
    number.map(Datum::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_value_of_its_type_is_refused() {
        let program = Program::default();
        let is_value = |text, kind| datum(&program, text, &kind).is_some();
        assert!(is_value("4095", Type::Unsigned(12)));
        assert!(!is_value("4096", Type::Unsigned(12)));
        assert!(is_value("0a 0b", Type::BoundedBytes(2)));
        assert!(!is_value("0a 0b 0c", Type::BoundedBytes(2)));
        assert!(!is_value("0a 0b", Type::Bytes(3)));
        assert!(is_value("10.0.0.2", Type::Unsigned(32)));
        assert!(!is_value("10.0", Type::Unsigned(32)));
        assert!(!is_value("0:1", Type::Unsigned(48)));
        assert!(is_value("1500 ms", Type::Time));
    }
}
