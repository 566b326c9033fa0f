//! Traces: what a host did, to be done again with whatever runs a stack, and compared.
//!
//! In: calls of a host, and two things that run the same stack (a [`Driver`] each: an interpreter,
//! or compiled C). Out: the first step after which a host could tell them apart, and the shortest
//! trace that still shows it.

use super::stack::{Control, Stack};
use super::state::{Emitted, Limits};
use super::value::Datum;
use crate::types::program::{AttributeId, LinkId, NoticeId, PortId};
use std::fmt;
use std::sync::Arc;

/// What a host did, from the start of a stack on.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The values of the stack's configuration.
    pub config: Vec<Datum>,
    /// What the stack may use.
    pub limits: Limits,
    /// When the stack was started.
    pub start_ns: u64,
    /// What was called then.
    pub steps: Vec<Step>,
}

/// A call, and what the host does behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// When it calls.
    pub now_ns: u64,
    /// What it calls.
    pub call: Call,
    /// Whether it then takes all outputs.
    pub takes: bool,
}

/// A call of a host.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// Frames come in.
    Input(LinkId, Vec<Vec<u8>>),
    /// An application sends.
    Send {
        /// By this port.
        port: PortId,
        /// In this conversation.
        session: u32,
        /// With these attributes.
        attributes: Vec<(AttributeId, Datum)>,
        /// These bytes.
        bytes: Vec<u8>,
    },
    /// An application opens a conversation with these keys.
    Open(PortId, Vec<Datum>),
    /// An application listens with these keys and this backlog.
    Listen(PortId, Vec<Datum>, u32),
    /// An application ends a listener.
    Unlisten(PortId, u32),
    /// An application gives a notice.
    Notice {
        /// By this port.
        port: PortId,
        /// In this conversation.
        session: u32,
        /// Which one.
        notice: NoticeId,
        /// Its arguments.
        arguments: Vec<Datum>,
    },
    /// A link went down, or up again.
    Carrier(LinkId, bool),
    /// Time has passed.
    Expire,
}

/// What a host sees after a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// What the call returned: frames taken, what became of a message, or the conversation that
    /// was opened.
    pub returned: Option<u64>,
    /// All outputs, in order, behind what functions of applications were called with.
    pub outputs: Vec<Emitted>,
    /// The deadline.
    pub deadline_ns: Option<u64>,
    /// The counters, by name.
    pub counters: Vec<(Arc<str>, u64)>,
}

/// Something that runs a stack.
pub trait Driver {
    /// Does what a host did, and says what the host sees.
    fn step(&mut self, step: &Step) -> Seen;
}

/// Where what two of them show differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// After which call.
    pub step: usize,
    /// What the first one shows; nothing if it broke.
    pub one: Option<Seen>,
    /// What the other one shows.
    pub other: Option<Seen>,
}

impl Difference {
    /// The first difference, if there is any.
    pub fn first(one: &[Seen], other: &[Seen]) -> Option<Difference> {
        let steps = 0..one.len().max(other.len());
        let differ = |step: &usize| one.get(*step) != other.get(*step);
        steps.into_iter().find(differ).map(|step| Difference {
            step,
            one: one.get(step).cloned(),
            other: other.get(step).cloned(),
        })
    }
}

impl Trace {
    /// What a host sees that does all of this with something that was just started.
    pub fn run(&self, driver: &mut dyn Driver) -> Vec<Seen> {
        self.steps.iter().map(|step| driver.step(step)).collect()
    }

    /// The shortest trace that leaving out calls, frames and bytes leads to, as long as it still
    /// differs.
    pub fn shortened(&self, differs: impl Fn(&Trace) -> bool) -> Trace {
        let mut shortest = self.clone();
        let mut length = shortest.steps.len();
        while length > 0 {
            let mut from = 0;
            while from < shortest.steps.len() {
                let to = (from + length).min(shortest.steps.len());
                let mut shorter = shortest.clone();
                shorter.steps.drain(from..to);
                if differs(&shorter) {
                    shortest = shorter;
                } else {
                    from = to;
                }
            }
            length /= 2;
        }
        for at in 0..shortest.steps.len() {
            while let Some(simpler) = shortest.steps[at]
                .simpler()
                .into_iter()
                .map(|step| shortest.with(at, step))
                .find(&differs)
            {
                shortest = simpler;
            }
        }
        shortest
    }

    /// The same trace with another step in the place of one.
    fn with(&self, at: usize, step: Step) -> Trace {
        let mut other = self.clone();
        other.steps[at] = step;
        other
    }
}

impl Step {
    /// Steps that are like this one, and simpler.
    fn simpler(&self) -> Vec<Step> {
        let mut all = Vec::new();
        let mut add = |call: Call| {
            all.push(Step {
                call,
                ..self.clone()
            });
        };
        match &self.call {
            Call::Input(link, frames) => {
                for at in 0..frames.len() {
                    let mut fewer = frames.clone();
                    fewer.remove(at);
                    add(Call::Input(*link, fewer));
                    for bytes in shorter(&frames[at]) {
                        let mut frames = frames.clone();
                        frames[at] = bytes;
                        add(Call::Input(*link, frames));
                    }
                }
            }
            Call::Send { bytes, .. } => {
                for fewer in shorter(bytes) {
                    let mut call = self.call.clone();
                    if let Call::Send { bytes, .. } = &mut call {
                        *bytes = fewer;
                    }
                    add(call);
                }
            }
            Call::Open(..)
            | Call::Listen(..)
            | Call::Unlisten(..)
            | Call::Notice { .. }
            | Call::Carrier(..)
            | Call::Expire => {}
        }
        if !self.takes {
            all.push(Step {
                takes: true,
                ..self.clone()
            });
        }
        all
    }
}

/// Less of some bytes: the first half, all but the last, and as many zeros.
fn shorter(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    if !bytes.is_empty() {
        all.push(bytes[..bytes.len() / 2].to_vec());
        all.push(bytes[..bytes.len() - 1].to_vec());
    }
    if bytes.iter().any(|byte| *byte != 0) {
        all.push(vec![0; bytes.len()]);
    }
    all
}

impl<'p, C: Control<'p>> Stack<'p, C> {
    /// Any call of the host, and what the C returns.
    pub fn call(&mut self, call: &Call, now_ns: u64) -> Option<u64> {
        match call {
            Call::Input(link, frames) => Some(self.input(*link, frames, now_ns) as u64),
            Call::Send {
                port,
                session,
                attributes,
                bytes,
            } => Some(self.send((*port, *session), attributes, bytes, now_ns) as u64),
            Call::Open(port, keys) => self.open(*port, keys.clone(), now_ns).map(u64::from),
            Call::Listen(port, keys, backlog) => {
                let listener = self.listen(*port, keys.clone(), *backlog, now_ns);
                listener.map(u64::from)
            }
            Call::Unlisten(port, listener) => {
                self.unlisten(*port, *listener, now_ns);
                None
            }
            Call::Notice {
                port,
                session,
                notice,
                arguments,
            } => {
                self.notice((*port, *session), *notice, arguments.clone(), now_ns);
                None
            }
            Call::Carrier(link, up) => {
                self.carrier(*link, *up, now_ns);
                None
            }
            Call::Expire => {
                self.expire(now_ns);
                None
            }
        }
    }
}

impl<'p, C: Control<'p>> Driver for Stack<'p, C> {
    fn step(&mut self, step: &Step) -> Seen {
        let returned = self.call(&step.call, step.now_ns);
        let mut outputs = self.called();
        while step.takes
            && let Some(output) = self.next_output()
        {
            outputs.push(output);
        }
        assert!(self.adds_up(), "every frame that came in has one fate");
        Seen {
            returned,
            outputs,
            deadline_ns: self.deadline_ns(),
            counters: self.counters(),
        }
    }
}

/// What differs, line by line; the first driver's lines begin with `-`, the other's with `+`.
impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "after call {}:", self.step + 1)?;
        let (Some(one), Some(other)) = (&self.one, &self.other) else {
            let broken = if self.one.is_none() { '-' } else { '+' };
            return writeln!(out, "{broken} broke");
        };
        if one.returned != other.returned {
            writeln!(out, "- returned {:?}", one.returned)?;
            writeln!(out, "+ returned {:?}", other.returned)?;
        }
        if one.outputs != other.outputs {
            for output in &one.outputs {
                writeln!(out, "- {}", shown(output))?;
            }
            for output in &other.outputs {
                writeln!(out, "+ {}", shown(output))?;
            }
        }
        if one.deadline_ns != other.deadline_ns {
            writeln!(out, "- deadline {:?}", one.deadline_ns)?;
            writeln!(out, "+ deadline {:?}", other.deadline_ns)?;
        }
        if one.counters.len() != other.counters.len() {
            writeln!(out, "not the same number of counters")?;
        }
        for (one, other) in one.counters.iter().zip(&other.counters) {
            if one != other {
                writeln!(out, "- {} {}", one.0, one.1)?;
                writeln!(out, "+ {} {}", other.0, other.1)?;
            }
        }
        Ok(())
    }
}

fn shown(output: &Emitted) -> String {
    match output {
        Emitted::Frame { link, bytes } => format!("frame on link {}: {}", link.0, hex(bytes)),
        Emitted::Deliver {
            port,
            session,
            bytes,
            attributes,
        } => {
            let values = attributes.iter().map(|(_, value)| plain(value));
            let values: Vec<String> = values.collect();
            let values = values.join(", ");
            format!(
                "port {} {session} deliver {} ({values})",
                port.0,
                hex(bytes)
            )
        }
        Emitted::Accepted {
            port,
            session,
            listener,
            keys,
        } => format!(
            "port {} {session} accepted by {listener:?} ({})",
            port.0,
            list(keys)
        ),
        Emitted::Notice {
            port,
            session,
            notice,
            arguments,
            bytes,
        } => {
            let arguments = list(arguments);
            let carried = bytes.iter().map(|bytes| format!(" {}", hex(bytes)));
            let carried: String = carried.collect();
            format!(
                "port {} {session} notice {} ({arguments}){carried}",
                port.0, notice.0
            )
        }
    }
}

fn list(data: &[Datum]) -> String {
    let all: Vec<String> = data.iter().map(plain).collect();
    all.join(", ")
}

fn plain(datum: &Datum) -> String {
    match datum {
        Datum::Number(number) => format!("{number:#x}"),
        Datum::Bytes(bytes) => hex(bytes),
        Datum::Optional(None) => "none".to_string(),
        Datum::Optional(Some(value)) => plain(value),
        Datum::Absent => "unset".to_string(),
        Datum::Record(_)
        | Datum::Array(_)
        | Datum::Message(_)
        | Datum::Header(_)
        | Datum::Queue(_)
        | Datum::Window(_)
        | Datum::Stream(_)
        | Datum::Set(_) => format!("{datum:?}"),
    }
}

fn hex(bytes: &[u8]) -> String {
    let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    digits.concat()
}
