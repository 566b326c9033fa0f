//! Random traffic: two stacks of one program talk with each other over links that lose, repeat,
//! reorder and damage; what the host of the first one did is the trace.
//!
//! In: a program and a seed. Out: a [`Trace`]. The second stack makes the first one's frames, so
//! that most are as a real peer would send them.

#[path = "crafted.rs"]
mod crafted;

use crate::random::Random;
use crate::run::supplied;
use crafted::{altered, crafted};
use stackloom::simulate::reference::Reference;
use stackloom::simulate::stack::Stack;
use stackloom::simulate::state::{Emitted, Limits};
use stackloom::simulate::trace::{Call, Driver, Step, Trace};
use stackloom::simulate::value::{Datum, fit, mask};
use stackloom::types::program::{KindId, LinkId, NoticeId, Population, PortId, Program};
use stackloom::types::value::{Type, Value};
use std::collections::VecDeque;

/// A trace of so many calls.
pub fn trace(program: &Program, seed: u64, length: usize, limits: Limits) -> Trace {
    let mut random = Random(seed);
    let configs = configs(program, &mut random);
    let start_ns = random.next() >> 20;
    let mut ends: Vec<End<'_>> = configs
        .iter()
        .map(|config| End::new(program, config.clone(), limits.clone(), start_ns))
        .collect();
    let mut values = Values {
        program,
        random,
        known: known_values(program, &configs),
        own: [0, 1].map(|end| addresses(program, &configs, end)),
        hot: Vec::new(),
        seen: VecDeque::new(),
        sent: [0, 1].map(|_| VecDeque::new()),
    };
    let mut now_ns = start_ns;
    let patience = *values.random.one(&[95, 60, 15]);
    let mut steps = Vec::new();
    while steps.len() < length {
        let at = usize::from(values.random.percent(40));
        let deadline_ns = ends[at].deadline_ns;
        let call = next_call(program, &mut values, &mut ends, at);
        if call == Call::Expire {
            now_ns = later(&mut values.random, now_ns, deadline_ns);
        } else {
            now_ns += values.random.next() % 1_000;
        }
        let takes = values.random.percent(patience);
        let step = Step {
            now_ns,
            call,
            takes,
        };
        let frames = ends[at].step(&step);
        values.sent[at].extend(frames.iter().cloned());
        let old = values.sent[at].len().saturating_sub(6);
        values.sent[at].drain(..old);
        ends[1 - at].waiting.extend(frames);
        if at == 0 {
            steps.push(step);
        }
    }
    let config = configs.into_iter().next();
    Trace {
        config: config.expect("there are two ends"),
        limits,
        start_ns,
        steps,
    }
}

/// One of the two stacks.
struct End<'p> {
    stack: Stack<'p, Reference<'p>>,
    /// Frames on their way to it.
    waiting: VecDeque<(LinkId, Vec<u8>)>,
    /// Conversations that were opened.
    open: Vec<(PortId, u32)>,
    /// Listeners.
    listening: Vec<(PortId, u32)>,
    deadline_ns: Option<u64>,
}

impl<'p> End<'p> {
    fn new(program: &'p Program, config: Vec<Datum>, limits: Limits, now_ns: u64) -> End<'p> {
        let reference = Reference::new(program);
        let standing = program.ports.iter().enumerate();
        let standing = standing.filter(|(_, port)| port.opens.is_none());
        End {
            stack: Stack::start(
                reference,
                program,
                supplied(program, false),
                config,
                limits,
                now_ns,
            )
            .expect("both ends have settings that go together"),
            waiting: VecDeque::new(),
            open: standing.map(|(id, _)| (PortId(id as u32), 0)).collect(),
            listening: Vec::new(),
            deadline_ns: Some(now_ns),
        }
    }

    /// The numbers by which its last conversations are found.
    fn keys(&self, program: &Program) -> Vec<(Type, u64)> {
        let mut all = Vec::new();
        for (port, session) in self.open.iter().rev().take(4) {
            let kind = program.ports[port.at()].opens;
            let (Some(kind), Some(keys)) = (kind, self.stack.keys(*port, *session)) else {
                continue;
            };
            let keys = program.kinds[kind.at()].keys.iter().zip(keys);
            all.extend(keys.filter_map(|(key, value)| match (&key.kind, value) {
                (Type::Optional(kind), Datum::Optional(Some(value))) => match **value {
                    Datum::Number(number) => Some(((**kind).clone(), number)),
                    _ => None,
                },
                (kind, Datum::Number(number)) => Some((kind.clone(), *number)),
                _ => None,
            }));
        }
        all
    }

    /// Does a call. Returns the frames that leave.
    fn step(&mut self, step: &Step) -> Vec<(LinkId, Vec<u8>)> {
        let seen = self.stack.step(step);
        match (&step.call, seen.returned) {
            (Call::Open(port, _), Some(session)) => self.open.push((*port, session as u32)),
            (Call::Listen(port, ..), Some(listener)) => {
                self.listening.push((*port, listener as u32));
            }
            _ => {}
        }
        for output in &seen.outputs {
            match output {
                Emitted::Accepted { port, session, .. } => self.open.push((*port, *session)),
                Emitted::Deliver { port, session, .. } | Emitted::Notice { port, session, .. } => {
                    let opens = self.stack.state().program.ports[port.at()].opens.is_some();
                    let known = opens || self.open.contains(&(*port, *session));
                    assert!(
                        known,
                        "an application hears of a session on which it can send"
                    );
                }
                Emitted::Frame { .. } => {}
            }
        }
        self.deadline_ns = seen.deadline_ns;
        let frames = seen.outputs.into_iter().filter_map(|output| match output {
            Emitted::Frame { link, bytes } => Some((link, bytes)),
            Emitted::Deliver { .. } | Emitted::Accepted { .. } | Emitted::Notice { .. } => None,
        });
        frames.collect()
    }
}

/// Random values of all types, mostly such that mean something.
struct Values<'p> {
    program: &'p Program,
    random: Random,
    /// Numbers that the program or its configuration names, by type.
    known: Vec<(Type, u64)>,
    /// The settings by which the two ends differ: their addresses.
    own: [Vec<(Type, u64)>; 2],
    /// Numbers that are wanted just now.
    hot: Vec<(Type, u64)>,
    /// Some frames that came before.
    seen: VecDeque<(LinkId, Vec<u8>)>,
    /// What each end has sent of late.
    sent: [VecDeque<(LinkId, Vec<u8>)>; 2],
}

impl Values<'_> {
    fn value(&mut self, kind: &Type) -> Datum {
        match kind {
            Type::Optional(inner) => match self.random.percent(50) {
                true => Datum::Optional(None),
                false => Datum::some(self.value(inner)),
            },
            Type::Bytes(length) => {
                Datum::Bytes((0..*length).map(|_| self.random.next() as u8).collect())
            }
            Type::BoundedBytes(most) => {
                let length = self.random.next() % u64::from(most + 1);
                Datum::Bytes((0..length).map(|_| self.random.next() as u8).collect())
            }
            Type::Enum(id) => {
                let names = &self.program.enums[id.at()].names;
                Datum::Number(self.random.one(names).1)
            }
            _ => Datum::Number(fit(kind, self.number(kind))),
        }
    }

    /// Keeps a frame to come again, changed.
    fn remember(&mut self, link: LinkId, frames: &[Vec<u8>]) {
        let frames = frames.iter().filter(|frame| frame.len() < 2000);
        self.seen.extend(frames.map(|frame| (link, frame.clone())));
        let old = self.seen.len().saturating_sub(12);
        self.seen.drain(..old);
    }

    fn number(&mut self, kind: &Type) -> u64 {
        let same = |known: &[(Type, u64)]| -> Vec<u64> {
            let known = known.iter().filter(|(of, _)| of == kind);
            known.map(|(_, number)| *number).collect()
        };
        let (hot, known) = (same(&self.hot), same(&self.known));
        match self.random.below(10) {
            0..6 if !hot.is_empty() => *self.random.one(&hot),
            0..7 if !known.is_empty() => *self.random.one(&known),
            0..9 => self.random.next() % 3,
            _ => self.random.next() >> (self.random.next() % 64),
        }
    }
}

/// What one host does next.
fn next_call<'p>(
    program: &'p Program,
    values: &mut Values<'p>,
    ends: &mut [End<'p>],
    at: usize,
) -> Call {
    let spoken = [0, 1].map(|end| ends[end].keys(program));
    let end = &mut ends[at];
    // Who opens or sends mostly means the other end, and who makes a frame this one.
    values.hot = [&values.own[1 - at][..], &spoken[1 - at]].concat();
    let known = end.open.clone();
    let passes = |(port, _): &&(PortId, u32)| program.ports[port.at()].passes;
    let speaking: Vec<_> = known.iter().filter(passes).copied().collect();
    let port = PortId(values.random.below(program.ports.len().max(1)) as u32);
    let link = LinkId(values.random.below(program.links.len()) as u32);
    let hears = program.links.iter().any(|link| link.carrier.is_some());
    if program.ports.iter().any(|port| port.listens.is_some()) && values.random.percent(12) {
        return open_or_listen(program, values, port, &end.listening);
    }
    match values.random.below(20) {
        0..10 if !end.waiting.is_empty() => {
            let (link, frame) = arriving(&mut values.random, &mut end.waiting);
            let mut frames = vec![frame];
            while values.random.percent(30) {
                let (other, frame) = arriving(&mut values.random, &mut end.waiting);
                if other == link {
                    frames.push(frame);
                }
            }
            values.remember(link, &frames);
            Call::Input(link, frames)
        }
        10 | 11 if !values.seen.is_empty() => altered(program, values, &end.stack),
        0..14 if !speaking.is_empty() => send(program, values, &speaking),
        14 if !program.ports.is_empty() => open_or_listen(program, values, port, &end.listening),
        15 if !known.is_empty() => notice(program, values, &known).unwrap_or(Call::Expire),
        16..18 => {
            values.hot = [&values.own[at][..], &spoken[at]].concat();
            let call = crafted(program, values, &end.stack, at);
            if let Call::Input(link, frames) = &call {
                values.remember(*link, frames);
            }
            call
        }
        18 if hears => Call::Carrier(link, values.random.percent(60)),
        _ => Call::Expire,
    }
}

/// A frame on its way: mostly the first; some get lost, come twice, or are damaged.
fn arriving(random: &mut Random, waiting: &mut VecDeque<(LinkId, Vec<u8>)>) -> (LinkId, Vec<u8>) {
    if waiting.len() > 20 || random.percent(5) {
        waiting.pop_back();
    }
    let place = match random.percent(10) {
        true => random.below(waiting.len().max(1)),
        false => 0,
    };
    let Some((link, mut frame)) = waiting.get(place).cloned() else {
        return (LinkId(0), Vec::new());
    };
    if !random.percent(10) {
        waiting.remove(place);
    }
    if random.percent(12) && !frame.is_empty() {
        let at = random.below(frame.len().min(64));
        match random.below(4) {
            0 => frame.truncate(at),
            1 => frame.extend(random.bytes()),
            _ => frame[at] ^= 1 << random.below(8),
        }
    }
    (link, frame)
}

fn send(program: &Program, values: &mut Values<'_>, known: &[(PortId, u32)]) -> Call {
    let &(port, session) = values.random.one(known);
    let mut attributes = Vec::new();
    for id in &program.ports[port.at()].attributes {
        let attribute = &program.attributes[id.at()];
        if attribute.default.is_none() || values.random.percent(20) {
            attributes.push((*id, values.value(&attribute.kind)));
        }
    }
    let bytes = values.random.bytes();
    Call::Send {
        port,
        session,
        attributes,
        bytes,
    }
}

fn open(program: &Program, values: &mut Values<'_>, port: PortId) -> Call {
    let Some(kind) = program.ports[port.at()].opens else {
        return Call::Expire;
    };
    Call::Open(port, keys(program, values, kind))
}

/// At a port that can listen every second time; now and then a listener ends.
fn open_or_listen(
    program: &Program,
    values: &mut Values<'_>,
    port: PortId,
    listening: &[(PortId, u32)],
) -> Call {
    let how = program.ports[port.at()].listens;
    match how.filter(|_| values.random.percent(50)) {
        None => open(program, values, port),
        Some(_) if values.random.percent(20) && !listening.is_empty() => {
            let &(port, listener) = values.random.one(listening);
            Call::Unlisten(port, listener)
        }
        Some(how) => {
            let backlog = values.random.below(4) as u32;
            Call::Listen(port, keys(program, values, how.listener), backlog)
        }
    }
}

/// Keys; what may be left out is, every second time.
fn keys(program: &Program, values: &mut Values<'_>, kind: KindId) -> Vec<Datum> {
    let keys = program.kinds[kind.at()].keys.iter();
    let keys = keys.map(|key| match key.default {
        Some(_) if values.random.percent(50) => Datum::Absent,
        _ => values.value(&key.kind),
    });
    keys.collect()
}

fn notice(program: &Program, values: &mut Values<'_>, known: &[(PortId, u32)]) -> Option<Call> {
    let &(port, session) = values.random.one(known);
    let down = program.ports[port.at()].down.iter().copied();
    let down: Vec<NoticeId> = down.filter(|id| can_tell(program, port, *id)).collect();
    if down.is_empty() {
        return None;
    }
    let notice = *values.random.one(&down);
    let parameters = program.notices[notice.at()].parameters.iter();
    Some(Call::Notice {
        port,
        session,
        notice,
        arguments: parameters.map(|field| values.value(&field.kind)).collect(),
    })
}

/// Whether an application can give this notice: it carries no message, and is not what opening
/// gives by itself.
pub fn can_tell(program: &Program, port: PortId, notice: NoticeId) -> bool {
    let notice = &program.notices[notice.at()];
    let given_by_opening = program.ports[port.at()].opens.is_some() && notice.name == "open";
    !notice.message && !given_by_opening
}

/// The configurations of both ends: addresses differ, all else is the same.
fn configs(program: &Program, random: &mut Random) -> Vec<Vec<Datum>> {
    let mut both = vec![Vec::new(), Vec::new()];
    for config in &program.config {
        let same = match (&config.default, &config.kind) {
            (Some(value), kind) => Some(Datum::of(program, value, kind)),
            (None, Type::Unsigned(32 | 48)) => None,
            (None, Type::Unsigned(5)) => Some(Datum::Number(24)),
            (None, Type::Bytes(length)) => {
                Some(Datum::Bytes((0..*length).map(|b| b as u8).collect()))
            }
            (None, kind) => Some(Datum::Number(fit(kind, 3 + random.next() % 5))),
        };
        for (end, values) in both.iter_mut().enumerate() {
            let own = match config.kind {
                Type::Unsigned(48) => 0x0200_0000_0001 + end as u64,
                _ if config.name.contains("gateway") => 0x0a00_0009,
                _ => 0x0a00_0001 + end as u64,
            };
            values.push(same.clone().unwrap_or(Datum::Number(own)));
        }
    }
    both
}

/// The settings of an end that the other one has otherwise.
fn addresses(program: &Program, configs: &[Vec<Datum>], end: usize) -> Vec<(Type, u64)> {
    let pairs = program
        .config
        .iter()
        .zip(&configs[end])
        .zip(&configs[1 - end]);
    let own = pairs.filter_map(|((config, own), other)| match own {
        Datum::Number(number) if own != other => Some((config.kind.clone(), *number)),
        _ => None,
    });
    own.collect()
}

fn known_values(program: &Program, configs: &[Vec<Datum>]) -> Vec<(Type, u64)> {
    let mut known = Vec::new();
    for values in configs {
        for (config, value) in program.config.iter().zip(values) {
            if let Datum::Number(number) = value {
                known.push((config.kind.clone(), *number));
            }
        }
    }
    for kind in &program.kinds {
        if let Population::Static(instances) = &kind.population {
            for instance in instances {
                for (key, value) in kind.keys.iter().zip(&instance.keys) {
                    if let Value::Number(number) = value {
                        known.push((key.kind.clone(), *number));
                    }
                }
            }
        }
    }
    for width in [8, 16, 32, 48] {
        known.push((Type::Unsigned(width), mask(width)));
        known.push((Type::Unsigned(width), 7));
    }
    known
}

/// A later time: the deadline, or some time that has nothing to do with it.
fn later(random: &mut Random, now_ns: u64, deadline_ns: Option<u64>) -> u64 {
    let pause_ns = random.next() % (1 << random.below(36));
    match deadline_ns {
        Some(deadline_ns) if random.percent(60) => deadline_ns.max(now_ns),
        _ => now_ns + pause_ns,
    }
}
